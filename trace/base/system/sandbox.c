#include "trace/base/system/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"

/* Definitions of linux/landlock.h. Its system calls have the same numbers on all architectures.
 * They are repeated here so that builds with older headers work on newer kernels. */
#define NR_CREATE_RULESET 444
#define NR_ADD_RULE 445
#define NR_RESTRICT_SELF 446
#define CREATE_RULESET_VERSION 1u
#define RULE_PATH_BENEATH 1

#define FS_EXECUTE (UINT64_C(1) << 0)
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE (UINT64_C(1) << 2)
#define FS_READ_DIR (UINT64_C(1) << 3)
#define FS_REMOVE_DIR (UINT64_C(1) << 4)
#define FS_REMOVE_FILE (UINT64_C(1) << 5)
#define FS_MAKE_SOCK (UINT64_C(1) << 9)
#define FS_REFER (UINT64_C(1) << 13)    /* ABI 2 */
#define FS_TRUNCATE (UINT64_C(1) << 14) /* ABI 3 */

#define FS_READS (FS_EXECUTE | FS_READ_FILE | FS_READ_DIR)
/* All rights of ABI 1 that modify something: WRITE_FILE, and the bits from REMOVE_DIR to
 * MAKE_SYM. */
#define FS_WRITES (FS_WRITE_FILE | ((UINT64_C(1) << 13) - FS_REMOVE_DIR))
/* The rights that apply to a path that is not a directory. */
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE)

struct ruleset_attr {
    uint64_t handled_access_fs;
};

struct path_beneath_attr {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

int sandbox_abi(void)
{
    long abi = syscall(NR_CREATE_RULESET, NULL, 0, CREATE_RULESET_VERSION);
    return abi > 0 ? (int)abi : 0;
}

static uint64_t access_of(sandbox_right right)
{
    switch (right) {
    case SANDBOX_LIST:
        return FS_READ_DIR;
    case SANDBOX_READ:
        return FS_READS;
    case SANDBOX_WRITE:
        return FS_READS | FS_WRITES | FS_REFER | FS_TRUNCATE;
    case SANDBOX_FILE:
        return FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE;
    case SANDBOX_SOCKET:
        return FS_READ_DIR | FS_MAKE_SOCK | FS_REMOVE_FILE;
    }
    return 0;
}

static int add_path(int ruleset, const sandbox_path *p, uint64_t handled)
{
    VP_CLEANUP(vp_fs_close) int fd = open(p->path, O_PATH | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return 0;
    uint64_t access = access_of(p->right) & handled;
    if (!S_ISDIR(st.st_mode))
        access &= FS_OF_FILES;
    struct path_beneath_attr rule = {.allowed_access = access, .parent_fd = fd};
    if (access && syscall(NR_ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0) < 0)
        return vp_fail(VP_EIO, "Landlock refuses a rule: %s", strerror(errno));
    return 0;
}

int sandbox_enter(const sandbox_path *paths, size_t n, bool reads)
{
    int abi = sandbox_abi();
    if (!abi)
        return vp_fail(VP_EUNSUPPORTED, "this kernel has no Landlock, or it is switched off");
    struct ruleset_attr attr = {FS_WRITES | (abi >= 2 ? FS_REFER : 0) |
                                (abi >= 3 ? FS_TRUNCATE : 0) | (reads ? FS_READS : 0)};
    VP_CLEANUP(vp_fs_close)
    int ruleset = (int)syscall(NR_CREATE_RULESET, &attr, sizeof attr, 0);
    if (ruleset < 0)
        return vp_fail(VP_EIO, "Landlock refuses a set of rules: %s", strerror(errno));
    for (size_t i = 0; i < n; i++)
        VP_TRY(add_path(ruleset, &paths[i], attr.handled_access_fs));
    /* Required by the kernel: otherwise a restricted process could pass its restrictions to a
     * setuid program. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(NR_RESTRICT_SELF, ruleset, 0) < 0)
        return vp_fail(VP_EIO, "Landlock refuses: %s", strerror(errno));
    return 0;
}
