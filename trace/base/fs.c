#include "trace/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

#include "trace/base/err.h"
#include "trace/base/limits.h"

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static _Atomic uint64_t fault_at;
static _Atomic int fault_errno;

void vp_fs_fail_at(uint64_t k, int err)
{
    atomic_store(&fault_errno, err);
    atomic_store(&fault_at, k);
}

static bool injected_fault(void)
{
    if (!atomic_load_explicit(&fault_at, memory_order_relaxed))
        return false;
    if (atomic_fetch_sub(&fault_at, 1) != 1)
        return false;
    errno = atomic_load(&fault_errno);
    return true;
}

static int os_error(const char *what, const char *path)
{
    int e = errno;
    int code = e == ENOENT || e == ENOTDIR  ? VP_ENOTFOUND
               : e == ELOOP || e == EXDEV   ? VP_EREFUSED
               : e == ENOSPC || e == EDQUOT ? VP_ENOSPC
                                            : VP_EIO;
    if (e == EXDEV)
        vp_fail(code, "%s: it leads outside the profile directory", what);
    else
        vp_fail(code, "%s: %s", what, strerror(e));
    return vp_fail_at(code, path, -1, -1);
}

/* In ns since 1970. File systems can hold times that int64 ns cannot; these are clamped. */
static int64_t timespec_to_unix_ns(const struct timespec *t)
{
    int64_t ns;
    if (__builtin_mul_overflow((int64_t)t->tv_sec, INT64_C(1000000000), &ns) ||
        __builtin_add_overflow(ns, t->tv_nsec, &ns))
        return t->tv_sec < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

vp_file_id vp_fs_id(const struct stat *st)
{
    return (vp_file_id){st->st_dev, st->st_ino, st->st_size, timespec_to_unix_ns(&st->st_mtim)};
}

static int accept_fd(int opened, const char *path, int *fd, bool *is_dir, vp_file_id *id)
{
    VP_CLEANUP(vp_fs_close) int f = opened;
    struct stat st;
    if (fstat(f, &st) < 0)
        return os_error("cannot stat", path);
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        vp_fail(VP_EREFUSED, "not a regular file or directory");
        return vp_fail_at(VP_EREFUSED, path, -1, -1);
    }
    if (is_dir)
        *is_dir = S_ISDIR(st.st_mode);
    if (id)
        *id = vp_fs_id(&st);
    *fd = vp_fs_take(&f);
    return 0;
}

int vp_fs_open_user(const char *path, int *fd, bool *is_dir, vp_file_id *id)
{
    int f = injected_fault() ? -1 : open(path, OPEN_FLAGS);
    if (f < 0)
        return os_error("cannot open", path);
    return accept_fd(f, path, fd, is_dir, id);
}

/* For kernels before 5.6: opens one component at a time and refuses every link. */
static int open_by_component(int root_fd, const char *path)
{
    int dir = dup(root_fd);
    char part[NAME_MAX + 1];
    while (dir >= 0 && *path) {
        size_t n = strcspn(path, "/");
        int next;
        if (n >= sizeof part) {
            close(dir);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(part, path, n);
        part[n] = 0;
        path += n + strspn(path + n, "/");
        if (!strcmp(part, "..")) {
            close(dir);
            errno = EXDEV;
            return -1;
        }
        next = n ? openat(dir, part, OPEN_FLAGS | O_NOFOLLOW) : dup(dir);
        close(dir);
        dir = next;
    }
    return dir;
}

static int open_beneath(int root_fd, const char *path)
{
#ifdef SYS_openat2
    struct open_how how = {.flags = OPEN_FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long f = syscall(SYS_openat2, root_fd, path, &how, sizeof how);
    if (f >= 0 || (errno != ENOSYS && errno != EPERM))
        return (int)f;
#endif
    return open_by_component(root_fd, path);
}

int vp_fs_open_beneath(int root_fd, const char *path, int *fd, bool *is_dir, vp_file_id *id)
{
    int f = injected_fault() ? -1 : open_beneath(root_fd, *path ? path : ".");
    if (f < 0)
        return os_error("cannot open", path);
    return accept_fd(f, path, fd, is_dir, id);
}

int vp_fs_pread(int fd, void *buf, size_t n, int64_t offset, size_t *got)
{
    size_t done = 0;
    while (done < n) {
        ssize_t r =
            injected_fault() ? -1 : pread(fd, (char *)buf + done, n - done, offset + (int64_t)done);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return os_error("cannot read", NULL);
        if (r == 0)
            break;
        done += (size_t)r;
    }
    *got = done;
    return 0;
}

/* offset -1: writes at the file's own position. */
static int fs_write_at(int fd, const char *buf, size_t n, int64_t offset)
{
    size_t done = 0;
    while (done < n) {
        ssize_t r = injected_fault() ? -1
                    : offset < 0     ? write(fd, buf + done, n - done)
                                     : pwrite(fd, buf + done, n - done, offset + (int64_t)done);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return os_error("cannot write", NULL);
        done += (size_t)r;
    }
    return 0;
}

int vp_fs_write_all(int fd, const void *buf, size_t n)
{
    return fs_write_at(fd, buf, n, -1);
}

int vp_fs_pwrite_all(int fd, const void *buf, size_t n, int64_t offset)
{
    return fs_write_at(fd, buf, n, offset);
}

int vp_fs_identity(int fd, vp_file_id *id)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return os_error("cannot stat", NULL);
    *id = vp_fs_id(&st);
    return 0;
}

static const char *temp_root(void)
{
    const char *t = getenv("TMPDIR");
    return t && *t == '/' ? t : "/tmp";
}

int vp_fs_temp(int *fd)
{
    int f = injected_fault() ? -1 : open(temp_root(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (f < 0) {
        char path[VP_PATH_MAX];
        snprintf(path, sizeof path, "%s/view_profile_XXXXXX", temp_root());
        f = mkostemp(path, O_CLOEXEC);
        if (f < 0)
            return os_error("cannot make a temporary file", path);
        unlink(path);
    }
    *fd = f;
    return 0;
}

int vp_fs_temp_dir(const char *name, char *out)
{
    int n = snprintf(out, VP_PATH_MAX, "%s/%s_XXXXXX", temp_root(), name);
    if (n < 0 || n >= (int)VP_PATH_MAX)
        return vp_fail(VP_ELIMIT, "TMPDIR is too long");
    if (injected_fault() || !mkdtemp(out))
        return os_error("cannot make a temporary directory", out);
    return 0;
}

void vp_fs_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

int vp_fs_take(int *fd)
{
    int f = *fd;
    *fd = -1;
    return f;
}
