#include "trace/capture/disk/small_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"

/* File names have at most 255 bytes: this much of the name is kept, because a step and an extension
 * follow it. */
#define NAME_KEPT 200u

#define SAME_NAME_MAX 10000

int cap_file_code(int err)
{
    switch (err) {
    case EACCES:
    case EPERM:
    case EROFS:
        return VP_EPERM;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return VP_ENOSPC;
    default:
        return VP_EIO;
    }
}

int cap_file_fail(const char *what, const char *path, int err)
{
    int code = vp_fail(cap_file_code(err), "cannot %s: %s", what, strerror(err));
    return vp_fail_at(code, path, -1, -1);
}

static int too_long(const char *dir)
{
    vp_fail(VP_ELIMIT, "the path is too long");
    return vp_fail_at(VP_ELIMIT, dir, -1, -1);
}

static bool is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int cap_make_dirs(const char *path)
{
    char part[VP_PATH_MAX];
    size_t n = strlen(path);
    if (n >= sizeof part)
        return too_long(path);
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i])
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        int err = mkdir(part, 0777) != 0 ? errno : 0;
        if (err && err != EEXIST && !is_dir(part))
            return cap_file_fail("create the directory", part, err);
    }
    return 0;
}

int cap_make_alone(char path[VP_PATH_MAX])
{
    size_t base = strlen(path), room = VP_PATH_MAX - base;
    for (int i = 0; i < SAME_NAME_MAX; i++) {
        int n = i ? snprintf(path + base, room, "_%d", i) : 0;
        if (n < 0 || (size_t)n >= room)
            return too_long(path);
        if (mkdir(path, 0777) == 0)
            return 0;
        if (errno != EEXIST)
            return cap_file_fail("create the directory", path, errno);
    }
    return vp_fail_at(vp_fail(VP_EBUSY, "%d directories with this name exist", SAME_NAME_MAX), path,
                      -1, -1);
}

static int write_by_temp_file(const char *temp, const char *path, vp_str content)
{
    VP_CLEANUP(vp_fs_close) int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return cap_file_fail("write", path, errno);
    VP_TRY(vp_fs_write_all(fd, content.p, content.n));
    return rename(temp, path) != 0 ? cap_file_fail("write", path, errno) : 0;
}

int cap_write_path(const char *path, vp_str content)
{
    char temp[VP_PATH_MAX + 32];
    int n = snprintf(temp, sizeof temp, "%s.%ld.tmp", path, (long)getpid());
    if (n < 0 || (size_t)n >= sizeof temp)
        return too_long(path);
    unlink(temp); /* left by a dead process with the same id */
    int rc = write_by_temp_file(temp, path, content);
    if (rc < 0)
        unlink(temp);
    return rc;
}

int cap_write_file(const char *dir, const char *name, vp_str content)
{
    char path[VP_PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", dir, name);
    if (n < 0 || (size_t)n >= sizeof path)
        return too_long(dir);
    VP_TRY(cap_make_dirs(dir));
    return cap_write_path(path, content);
}

int cap_user_dir(char out[VP_PATH_MAX], const char *dir, const char *fallback)
{
    const char *home = getenv("HOME");
    const char *given = dir && *dir ? dir : fallback;
    bool at_home = home && given[0] == '~' && (given[1] == '/' || !given[1]);
    int n = snprintf(out, VP_PATH_MAX, "%s%s", at_home ? home : "", at_home ? given + 1 : given);
    return n < 0 || (size_t)n >= VP_PATH_MAX ? too_long(given) : 0;
}

const char *cap_full_dir(char full[VP_PATH_MAX], const char *dir)
{
    if (dir[0] == '/' || !getcwd(full, VP_PATH_MAX) || !is_dir(full))
        return dir;
    while (dir[0] == '.' && dir[1] == '/')
        dir += 2;
    size_t n = strlen(full), more = strlen(dir);
    bool at_root = n == 1;
    if (n + 1 + more >= VP_PATH_MAX)
        return dir;
    full[at_root ? 0 : n] = '/';
    memcpy(full + (at_root ? 1 : n + 1), dir, more + 1);
    return full;
}

static bool may_stand(size_t at, unsigned char c)
{
    return c >= 0x20 && c != 0x7f && c != '/' && !(at == 0 && c == '.');
}

/* Keeps at most NAME_KEPT bytes, in whole characters. */
static size_t file_name_of(char out[NAME_KEPT + 1], const char *name)
{
    size_t n = strnlen(name, NAME_KEPT + 1);
    if (n > NAME_KEPT)
        for (n = NAME_KEPT; n && ((unsigned char)name[n] & 0xC0) == 0x80; n--)
            ;
    for (size_t i = 0; i < n; i++)
        out[i] = may_stand(i, (unsigned char)name[i]) ? name[i] : '_';
    out[n] = '\0';
    return n;
}

int cap_named_dir(char out[VP_PATH_MAX], const char *dir, const char *name, const char *suffix)
{
    char kept[NAME_KEPT + 1];
    if (!file_name_of(kept, name))
        kept[0] = '_', kept[1] = '\0';
    int n = snprintf(out, VP_PATH_MAX, "%s/%s%s", dir, kept, suffix);
    return n < 0 || (size_t)n >= VP_PATH_MAX ? too_long(dir) : 0;
}

int cap_step_dir(char out[VP_PATH_MAX], const char *dir, const char *name, uint64_t step)
{
    char suffix[32];
    snprintf(suffix, sizeof suffix, "_step_%llu", (unsigned long long)step);
    return cap_named_dir(out, dir, name, suffix);
}
