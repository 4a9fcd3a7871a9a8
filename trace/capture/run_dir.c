#include "trace/capture/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/err.h"

#define SAME_SECOND_MAX 10000

int run_dir_code(int err)
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

void run_dir_hold_signal(sigset_t *before)
{
    sigset_t size;
    sigemptyset(&size);
    sigaddset(&size, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &size, before);
}

void run_dir_free_signal(const sigset_t *before)
{
    sigset_t size;
    sigemptyset(&size);
    sigaddset(&size, SIGXFSZ);
    if (!sigismember(before, SIGXFSZ))
        while (sigtimedwait(&size, NULL, &(struct timespec){0, 0}) > 0)
            continue;
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static int refuse(const char *what, const char *path, int err)
{
    return vp_fail_at(vp_fail(run_dir_code(err), "cannot %s: %s", what, strerror(err)), path, -1,
                      -1);
}

/* As mkdir -p: the path is changed and put back while walking. */
static int make_above(char *path)
{
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        int failed = mkdir(path, 0777) != 0 && errno != EEXIST ? errno : 0;
        struct stat st;
        if (failed && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            failed = 0; /* a root that may be read only, in which everything is already */
        if (failed)
            refuse("make the directory", path, failed);
        *p = '/';
        if (failed)
            return vp_error_last()->code;
    }
    return 0;
}

static int stamp(char *dst, size_t cap)
{
    time_t now = time(NULL);
    struct tm t;
    if (!localtime_r(&now, &t) || !strftime(dst, cap, "%Y_%m_%d_%H_%M_%S", &t))
        return vp_fail(VP_ECLOCK, "the time of day cannot be told");
    return 0;
}

static int make_alone(cap_run *run, size_t base)
{
    char *end = run->path + base;
    size_t room = sizeof run->path - base;
    char second[32];
    VP_TRY(stamp(second, sizeof second));
    for (int i = 0; i < SAME_SECOND_MAX; i++) {
        int n = i ? snprintf(end, room, "%s_%d", second, i) : snprintf(end, room, "%s", second);
        if (n < 0 || (size_t)n >= room)
            return vp_fail(VP_EARG, "the directory's name is too long");
        if (mkdir(run->path, 0777) == 0)
            return 0;
        if (errno != EEXIST)
            return refuse("make the directory", run->path, errno);
    }
    return vp_fail_at(vp_fail(VP_EBUSY, "%d runs in one second", SAME_SECOND_MAX), run->path, -1,
                      -1);
}

int run_dir_make(cap_run *run, const char *dir)
{
    size_t length = strlen(dir);
    while (length && dir[length - 1] == '/')
        length--;
    int n = length >= sizeof run->path
                ? -1
                : snprintf(run->path, sizeof run->path, "%.*s/plugins/profile/", (int)length, dir);
    run->fd = -1;
    if (n < 0 || (size_t)n >= sizeof run->path - 32)
        return vp_fail(VP_EARG, "the directory's name is too long");
    VP_TRY(make_above(run->path));
    VP_TRY(make_alone(run, (size_t)n));
    run->fd = open(run->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run->fd < 0) {
        int err = errno;
        rmdir(run->path);
        return refuse("open the directory", run->path, err);
    }
    return 0;
}

void run_dir_close(cap_run *run)
{
    if (run->fd >= 0)
        close(run->fd);
    run->fd = -1;
}

void run_dir_remove(cap_run *run)
{
    run_dir_close(run);
    rmdir(run->path);
}
