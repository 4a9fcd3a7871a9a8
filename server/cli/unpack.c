#include "server/cli/unpack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/fs.h"
#include "trace/base/limits.h"

#define TEMP_NAME ".view_profile.tmp" /* one file is written at a time, in a directory of ours */
#define NAMES_MAX 1000                /* how many times one name may be taken */

static int os_fail(const char *what)
{
    return vp_fail(errno == ELOOP || errno == ENOTDIR ? VP_EREFUSED : VP_EIO, "%s: %s", what,
                   strerror(errno));
}

static bool is_inside(const char *path, const char *root)
{
    size_t n = strlen(root);
    while (n > 1 && root[n - 1] == '/')
        n--;
    return !strncmp(path, root, n) && (path[n] == 0 || path[n] == '/' || n == 1);
}

static int check_empty(int fd)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *e;
    if (!d) {
        vp_fs_close(&copy);
        return os_fail("cannot be read");
    }
    while (!rc && (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            rc = vp_fail(VP_EREFUSED, "is not empty; give a new or empty directory");
    closedir(d);
    return rc;
}

static int check_outside(const char *dir, const char *profile_dir)
{
    char real[PATH_MAX], root[PATH_MAX];
    if (!profile_dir || !realpath(profile_dir, root))
        return 0;
    if (!realpath(dir, real))
        return os_fail("cannot be opened");
    return is_inside(real, root)
               ? vp_fail(VP_EREFUSED,
                         "lies in the profile directory, which is never written to; give another")
               : 0;
}

int unpack_open(unpack *u, const char *dir, const char *profile_dir)
{
    bool made = mkdir(dir, 0700) == 0;
    VP_CLEANUP(vp_fs_close) int fd = -1;
    int rc;
    if (!made && errno != EEXIST)
        return vp_fail_at(os_fail("cannot be made"), dir, -1, -1);
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    rc = fd < 0 ? os_fail("cannot be opened") : check_outside(dir, profile_dir);
    if (rc >= 0)
        rc = check_empty(fd);
    if (rc < 0) {
        if (made)
            rmdir(dir);
        return vp_fail_at(rc, dir, -1, -1);
    }
    u->root_fd = vp_fs_take(&fd);
    return 0;
}

void unpack_close(unpack *u)
{
    vp_fs_close(&u->root_fd);
}

/* The directory of `path`, made beneath the root; *base is what follows its last '/'. */
static int open_parent(const unpack *u, const char *path, int *out, const char **base)
{
    VP_CLEANUP(vp_fs_close) int dir = fcntl(u->root_fd, F_DUPFD_CLOEXEC, 0);
    const char *slash;
    char part[NAME_MAX + 1];
    for (; (slash = strchr(path, '/')); path = slash + 1) {
        size_t n = (size_t)(slash - path);
        if (!n || (n == 1 && path[0] == '.'))
            continue;
        if (n > NAME_MAX || (n == 2 && !strncmp(path, "..", 2)))
            return vp_fail(VP_EREFUSED, "a directory name that cannot be made");
        memcpy(part, path, n);
        part[n] = 0;
        if (mkdirat(dir, part, 0700) < 0 && errno != EEXIST)
            return os_fail("cannot be made");
        int next = openat(dir, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0)
            return os_fail("cannot be made");
        vp_fs_close(&dir);
        dir = next;
    }
    if (!*path || !strcmp(path, ".") || !strcmp(path, ".."))
        return vp_fail(VP_EREFUSED, "a file name that cannot be made");
    *base = path;
    *out = vp_fs_take(&dir);
    return 0;
}

static int copy(unpack *u, int fd, rd_stream *in)
{
    int64_t bytes = 0;
    char *p;
    size_t n;
    int rc;
    while ((rc = in->next(in, &p, &n)) > 0) {
        bytes += (int64_t)n;
        if (bytes > VP_ARCHIVE_MEMBER_MAX)
            return vp_fail(VP_ELIMIT, "larger than %lld bytes", (long long)VP_ARCHIVE_MEMBER_MAX);
        if (u->written > VP_ARCHIVE_TOTAL_MAX - bytes) {
            u->full = true;
            return vp_fail(VP_ELIMIT, "more than %lld bytes in all",
                           (long long)VP_ARCHIVE_TOTAL_MAX);
        }
        if ((rc = vp_fs_write_all(fd, p, n)) < 0) {
            u->full = true;
            return rc;
        }
        if (u->progress && u->progress(u->progress_ctx, in->raw_done, in->raw_total))
            return vp_fail(VP_ECANCELLED, "interrupted");
    }
    if (rc >= 0 && in->damage.code < 0)
        rc = vp_fail_copy(&in->damage);
    if (rc >= 0)
        u->written += bytes;
    return rc;
}

/* rename that never replaces; 0, or -1 with errno. */
static int rename_new(int dir, const char *from, const char *to)
{
    struct stat st;
    if (renameat2(dir, from, dir, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    /* A file system without the flag; nobody else writes into this directory. */
    if (fstatat(dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    return renameat(dir, from, dir, to);
}

/* Gives the finished file its name, or the first free one with a number before its first dot. */
static int give_name(int dir, const char *base)
{
    char name[NAME_MAX + 1];
    int stem = (int)strcspn(base + 1, ".") + 1;
    for (int i = 1; i <= NAMES_MAX; i++) {
        int n = i == 1 ? snprintf(name, sizeof name, "%s", base)
                       : snprintf(name, sizeof name, "%.*s-%d%s", stem, base, i, base + stem);
        if (n >= (int)sizeof name)
            return vp_fail(VP_EREFUSED, "a file name that is too long");
        if (rename_new(dir, TEMP_NAME, name) == 0)
            return 0;
        if (errno != EEXIST)
            return os_fail("cannot be named");
    }
    return vp_fail(VP_ELIMIT, "%d files of one name", NAMES_MAX);
}

int unpack_file(unpack *u, const char *path, rd_stream *in, int64_t mtime_ns)
{
    VP_CLEANUP(vp_fs_close) int dir = -1;
    VP_CLEANUP(vp_fs_close) int fd = -1;
    const char *base = path;
    VP_TRY(open_parent(u, path, &dir, &base));
    fd = openat(dir, TEMP_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return os_fail("cannot be made");
    int rc = copy(u, fd, in);
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                {mtime_ns / 1000000000, mtime_ns % 1000000000}};
    if (rc >= 0 && mtime_ns > 0)
        (void)futimens(fd, times);
    if (rc >= 0 && fsync(fd) < 0) {
        u->full = true;
        rc = os_fail("cannot be written");
    }
    if (rc >= 0)
        rc = give_name(dir, base);
    if (rc < 0)
        unlinkat(dir, TEMP_NAME, 0);
    return rc;
}
