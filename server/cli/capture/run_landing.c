#include "server/cli/capture/run_landing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/str.h"
#include "trace/capture/disk/small_files.h"

#define SAME_NAME_MAX 10000
#define NAME_MAX_BYTES 200

/* ---- The run --------------------------------------------------------------------------------- */

static int check_name(const char *name)
{
    size_t n = strlen(name);
    bool fine = n && n <= NAME_MAX_BYTES && name[0] != '.';
    for (size_t i = 0; i < n; i++)
        fine = fine && name[i] != '/' && (unsigned char)name[i] >= 0x20 && name[i] != 0x7f;
    return fine ? 0 : vp_fail(VP_EARG, "--name \"%.80s\": must be a valid directory name", name);
}

/* An object store has no atomic "create if missing" for a run, so a random suffix keeps captures
 * that start in the same second apart. */
static int add_chance(char *second, size_t n, size_t cap)
{
    uint32_t random;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return vp_fail(VP_EIO, "getrandom failed");
    snprintf(second + n, cap - n, "_%06u", random % 1000000);
    return 0;
}

static int make_by_time(run_landing *r, size_t base, bool elsewhere)
{
    char second[48];
    time_t now = time(NULL);
    struct tm t;
    if (!localtime_r(&now, &t) || !strftime(second, sizeof second, "%Y_%m_%d_%H_%M_%S", &t))
        return vp_fail(VP_ECLOCK, "cannot read the local time");
    if (elsewhere)
        VP_TRY(add_chance(second, strlen(second), sizeof second));
    for (int i = 1; i <= SAME_NAME_MAX; i++) {
        snprintf(r->path + base, sizeof r->path - base, i > 1 ? "%s_%d" : "%s", second, i);
        if (mkdir(r->path, 0777) == 0)
            return 0;
        if (errno != EEXIST)
            return cap_file_fail("create the directory", r->path, errno);
    }
    return vp_fail_at(vp_fail(VP_EBUSY, "more than %d runs in the same second", SAME_NAME_MAX),
                      r->path, -1, -1);
}

/* Length of the part of the path that already exists. */
static size_t existing_path_length(const char *path)
{
    char part[VP_PATH_MAX];
    size_t n = strlen(path);
    snprintf(part, sizeof part, "%s", path);
    while (n && access(part, F_OK) < 0) {
        size_t slash = vp_str_rfind_char((vp_str){part, n}, '/');
        n = slash < n ? slash : 0;
        part[n] = 0;
    }
    return n;
}

int run_landing_make(run_landing *r, const char *out, const char *name, bool elsewhere)
{
    char full[VP_PATH_MAX];
    size_t n = strlen(out);
    while (n > 1 && out[n - 1] == '/')
        n--;
    if (name)
        VP_TRY(check_name(name));
    if (n + NAME_MAX_BYTES + 300 > VP_PATH_MAX / 2)
        return vp_fail(VP_EARG, "--out: the path is too long");
    snprintf(r->path, sizeof r->path, "%.*s%splugins/profile", (int)n, out,
             n == 1 && *out == '/' ? "" : "/");
    r->was_there = existing_path_length(r->path);
    VP_TRY(cap_make_dirs(r->path));
    /* Passed to other processes, some of which do not accept "..". */
    snprintf(r->root, sizeof r->root, "%s",
             realpath(r->path, full) ? full : cap_full_dir(full, r->path));
    size_t base = strlen(r->path) + 1;
    r->path[base - 1] = '/';
    r->run = r->path + base;
    if (!name)
        return make_by_time(r, base, elsewhere);
    snprintf(r->path + base, sizeof r->path - base, "%s", name);
    if (access(r->path, F_OK) == 0)
        r->was_there = strlen(r->path);
    return cap_make_dirs(r->path);
}

void run_landing_remove(const run_landing *r)
{
    char part[VP_PATH_MAX];
    size_t n = strlen(r->path);
    snprintf(part, sizeof part, "%s", r->path);
    while (n > r->was_there && rmdir(part) == 0) {
        size_t slash = vp_str_rfind_char((vp_str){part, n}, '/');
        n = slash < n ? slash : 0;
        part[n] = 0;
    }
}

/* ---- A file ---------------------------------------------------------------------------------- */

int landing_look(landing_file *f, const run_landing *r, const char *host)
{
    struct stat st;
    snprintf(f->final, sizeof f->final, "%.3800s/%.200s.xplane.pb", r->path, host);
    return lstat(f->final, &st) == 0
               ? vp_fail_at(vp_fail(VP_EBUSY, LANDING_IS_THERE), f->final, -1, -1)
               : 0;
}

int landing_open(landing_file *f, const run_landing *r, const char *host)
{
    f->temp[0] = 0;
    VP_TRY(landing_look(f, r, host));
    /* An unnamed file (O_TMPFILE) leaves nothing behind if the process is killed. If that is not
     * supported, a hidden name is used that readers of profiles ignore. */
    f->fd = open(r->path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (f->fd >= 0)
        return 0;
    snprintf(f->temp, sizeof f->temp, "%.3700s/.%.200s.%ld.tmp", r->path, host, (long)getpid());
    f->fd = open(f->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (f->fd >= 0)
        return 0;
    int err = errno;
    f->temp[0] = 0;
    return cap_file_fail("create a file in the directory", r->path, err);
}

/* Gives the file its final name; fails if the name exists. */
static int name_it(const landing_file *f)
{
    char self[32];
    if (!f->temp[0]) {
        snprintf(self, sizeof self, "/proc/self/fd/%d", f->fd);
        return linkat(AT_FDCWD, self, AT_FDCWD, f->final, AT_SYMLINK_FOLLOW);
    }
    if (renameat2(AT_FDCWD, f->temp, AT_FDCWD, f->final, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    return link(f->temp, f->final) == 0 ? unlink(f->temp)
                                        : -1; /* for file systems without RENAME_NOREPLACE */
}

/* Syncs the directory, so that the name survives a power loss; errors are ignored. */
static void sync_directory(const char *file)
{
    char dir[VP_PATH_MAX];
    snprintf(dir, sizeof dir, "%.*s", (int)vp_str_rfind_char(vp_str_of(file), '/'), file);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

int landing_keep(landing_file *f)
{
    int rc = 0;
    if (fsync(f->fd) < 0 && errno != EINVAL)
        rc = cap_file_fail("write", f->final, errno);
    else if (name_it(f) < 0)
        rc =
            errno == EEXIST
                ? vp_fail_at(vp_fail(VP_EBUSY, "another process created this file in the meantime"),
                             f->final, -1, -1)
                : cap_file_fail("rename the file", f->final, errno);
    if (rc == 0) {
        sync_directory(f->final);
        f->temp[0] = 0;
    }
    landing_drop(f);
    return rc;
}

void landing_drop(landing_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    if (f->temp[0])
        unlink(f->temp);
    f->fd = -1;
    f->temp[0] = 0;
}
