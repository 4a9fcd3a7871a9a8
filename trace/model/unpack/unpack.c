#include "trace/model/unpack/unpack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/model/unpack/ledger.h"

#define TEMP_NAME ".view_profile.tmp" /* one file is written at a time */
#define NAMES_MAX 1000                /* maximum number of files with one name */

struct unpack {
    int root_fd;
    int64_t written;      /* bytes of all files so far */
    bool full;            /* the target is full: stop */
    pthread_mutex_t lock; /* guards the ledger */
    ledger done;
};

static int unpack_os_fail(const char *what)
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

/* Checks that the directory is empty, or belongs to an earlier run. */
static int check_ours(int fd)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *e;
    if (!d) {
        vp_fs_close(&copy);
        return unpack_os_fail("cannot be read");
    }
    if (faccessat(fd, LEDGER_NAME, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
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
        return unpack_os_fail("cannot be opened");
    return is_inside(real, root)
               ? vp_fail(
                     VP_EREFUSED,
                     "is inside the profile directory, which is never written to; choose another")
               : 0;
}

/* Removes the incomplete file of a killed run. */
static int unpack_begin(unpack *u)
{
    VP_TRY(check_ours(u->root_fd));
    VP_TRY(ledger_open(&u->done, u->root_fd));
    if (unlinkat(u->root_fd, TEMP_NAME, 0) != 0 && errno != ENOENT)
        return unpack_os_fail("holds what cannot be removed");
    return 0;
}

int unpack_open(unpack **out, const char *dir, const char *profile_dir)
{
    bool made = mkdir(dir, 0700) == 0;
    if (!made && errno != EEXIST)
        return vp_fail_at(unpack_os_fail("cannot be made"), dir, -1, -1);
    unpack *u = vp_calloc(1, sizeof *u);
    VP_NEED(u);
    pthread_mutex_init(&u->lock, NULL);
    u->done.fd = -1;
    u->root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = u->root_fd < 0 ? unpack_os_fail("cannot be opened") : check_outside(dir, profile_dir);
    if (rc >= 0)
        rc = unpack_begin(u);
    if (rc < 0) {
        unpack_close(u);
        if (made)
            rmdir(dir);
        return vp_fail_at(rc, dir, -1, -1);
    }
    *out = u;
    return 0;
}

void unpack_close(unpack *u)
{
    if (!u)
        return;
    ledger_close(&u->done);
    vp_fs_close(&u->root_fd);
    pthread_mutex_destroy(&u->lock);
    vp_free(u);
}

bool unpack_is_full(const unpack *u)
{
    return u->full;
}

int64_t unpack_written(const unpack *u)
{
    return u->written;
}

/* ---- Existing files ---- */

static int open_whole(const unpack *u, const ledger_entry *e, int *fd)
{
    vp_file_id id;
    bool is_dir;
    VP_CLEANUP(vp_fs_close) int f = -1;
    VP_TRY(vp_fs_open_beneath(u->root_fd, e->target, &f, &is_dir, &id));
    if (is_dir || id.size != e->bytes)
        return vp_fail(VP_ENOTFOUND, "is not whole");
    *fd = vp_fs_take(&f);
    return 0;
}

int unpack_open_copy(unpack *u, const unpack_source *src, int *fd)
{
    pthread_mutex_lock(&u->lock);
    const ledger_entry *e = ledger_of_source(&u->done, src->path);
    bool same =
        e && e->size == src->size && e->mtime_ns == src->mtime_ns && e->member == src->member;
    int rc = same ? open_whole(u, e, fd) : vp_fail(VP_ENOTFOUND, "was not unpacked");
    pthread_mutex_unlock(&u->lock);
    return rc;
}

bool unpack_has(unpack *u, const unpack_source *src)
{
    int fd = -1;
    bool there = unpack_open_copy(u, src, &fd) == 0;
    vp_fs_close(&fd);
    return there;
}

/* ---- One file -------------------------------------------------------------------------------- */

/* Creates the directory of `path` beneath the root; *base is the part after its last '/'. */
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
            return unpack_os_fail("cannot be made");
        int next = openat(dir, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0)
            return unpack_os_fail("cannot be made");
        vp_fs_close(&dir);
        dir = next;
    }
    if (!*path || !strcmp(path, ".") || !strcmp(path, ".."))
        return vp_fail(VP_EREFUSED, "a file name that cannot be made");
    *base = path;
    *out = vp_fs_take(&dir);
    return 0;
}

int unpack_stream(int fd, rd_stream *in, unpack_copy *c)
{
    char *p;
    size_t n;
    int rc;
    while ((rc = in->next(in, &p, &n)) > 0) {
        if ((int64_t)n > c->max - c->written)
            return vp_fail(VP_ELIMIT, "larger than %lld bytes", (long long)c->max);
        if ((rc = vp_fs_write_all(fd, p, n)) < 0) {
            c->full = true;
            return rc;
        }
        c->written += (int64_t)n;
        if (c->progress && c->progress(c->progress_ctx, in->raw_done, in->raw_total))
            return vp_fail(VP_ECANCELLED, "interrupted");
    }
    return rc >= 0 && in->damage.code < 0 ? vp_fail_copy(&in->damage) : rc;
}

static int unpack_copy_stream(unpack *u, int fd, rd_stream *in, int64_t *bytes,
                              vp_progress_fn *progress, void *ctx)
{
    int64_t left = VP_ARCHIVE_TOTAL_MAX - u->written;
    bool last = left < VP_ARCHIVE_MEMBER_MAX;
    unpack_copy c = {
        .max = last ? left : VP_ARCHIVE_MEMBER_MAX, .progress = progress, .progress_ctx = ctx};
    int rc = unpack_stream(fd, in, &c);
    if (rc == VP_ELIMIT && last) {
        u->full = true;
        return vp_fail(VP_ELIMIT, "more than %lld bytes in all", (long long)VP_ARCHIVE_TOTAL_MAX);
    }
    u->full = u->full || c.full;
    *bytes = c.written;
    return rc;
}

/* "vm-2.trace.json" from "vm.trace.json": the number precedes the first dot of the last
 * component. */
static int put_numbered_name(char *out, const char *path, int i)
{
    const char *base = vp_path_name(path);
    int stem = (int)(base - path) + (int)strcspn(base + 1, ".") + 1;
    int n = i == 1 ? snprintf(out, VP_PATH_MAX * 2, "%s", path)
                   : snprintf(out, VP_PATH_MAX * 2, "%.*s-%d%s", stem, path, i, path + stem);
    return n < (int)VP_PATH_MAX * 2 && strlen(vp_path_name(out)) <= NAME_MAX
               ? 0
               : vp_fail(VP_EREFUSED, "a file name that is too long");
}

/* Chooses the source's own name from an earlier run, else the first free name. A name is free if it
 * is neither on disk nor in the ledger, which may list a file that a kill prevented. *base is its
 * last part. */
static int choose_name(const unpack *u, char *out, const unpack_source *src, const char *path,
                       int dir)
{
    const ledger_entry *before = ledger_of_source(&u->done, src->path);
    if (before && strlen(before->target) < VP_PATH_MAX * 2) {
        snprintf(out, VP_PATH_MAX * 2, "%s", before->target);
        return 0;
    }
    for (int i = 1; i <= NAMES_MAX; i++) {
        VP_TRY(put_numbered_name(out, path, i));
        if (!ledger_of_target(&u->done, out) &&
            faccessat(dir, vp_path_name(out), F_OK, AT_SYMLINK_NOFOLLOW) != 0)
            return 0;
    }
    return vp_fail(VP_ELIMIT, "%d files of one name", NAMES_MAX);
}

/* Writes the ledger's line first: a file without one would be treated as belonging to someone
 * else. */
static int give_name(unpack *u, const unpack_source *src, const char *path, int64_t bytes)
{
    VP_CLEANUP(vp_fs_close) int dir = -1;
    VP_CLEANUP(vp_free_ptr) char *target = vp_malloc(VP_PATH_MAX * 2);
    const char *base = path;
    VP_NEED(target);
    VP_TRY(open_parent(u, path, &dir, &base));
    VP_TRY(choose_name(u, target, src, path, dir));
    vp_fs_close(&dir);
    VP_TRY(open_parent(u, target, &dir, &base));
    ledger_entry e = {.source = src->path,
                      .target = target,
                      .size = src->size,
                      .mtime_ns = src->mtime_ns,
                      .member = src->member,
                      .bytes = bytes};
    int rc = ledger_add(&u->done, &e);
    if (rc < 0)
        u->full = true;
    if (rc == 0 && renameat(u->root_fd, TEMP_NAME, dir, base) != 0)
        rc = unpack_os_fail("cannot be named");
    return rc;
}

int unpack_file(unpack *u, const unpack_source *src, const char *path, rd_stream *in,
                int64_t mtime_ns, vp_progress_fn *progress, void *ctx)
{
    int64_t bytes = 0;
    VP_CLEANUP(vp_fs_close)
    int fd =
        openat(u->root_fd, TEMP_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return unpack_os_fail("cannot be made");
    int rc = unpack_copy_stream(u, fd, in, &bytes, progress, ctx);
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                {mtime_ns / 1000000000, mtime_ns % 1000000000}};
    if (rc >= 0 && mtime_ns > 0)
        (void)futimens(fd, times);
    if (rc >= 0 && fsync(fd) < 0) {
        u->full = true;
        rc = unpack_os_fail("cannot be written");
    }
    if (rc >= 0) {
        pthread_mutex_lock(&u->lock);
        rc = give_name(u, src, path, bytes);
        pthread_mutex_unlock(&u->lock);
    }
    if (rc < 0)
        unlinkat(u->root_fd, TEMP_NAME, 0);
    else
        u->written += bytes;
    return rc;
}
