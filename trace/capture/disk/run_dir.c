#include "trace/capture/disk/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/capture/disk/small_files.h"

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

static int put_run_stamp(char *dst, size_t cap)
{
    time_t now = time(NULL);
    struct tm t;
    if (!localtime_r(&now, &t) || !strftime(dst, cap, "%Y_%m_%d_%H_%M_%S", &t))
        return vp_fail(VP_ECLOCK, "cannot read the time of day");
    return 0;
}

int run_dir_make(cap_run *run, const char *dir)
{
    char second[32];
    size_t length = strlen(dir);
    while (length && dir[length - 1] == '/')
        length--;
    int n = length >= sizeof run->path
                ? -1
                : snprintf(run->path, sizeof run->path, "%.*s/plugins/profile", (int)length, dir);
    run->fd = -1;
    if (n < 0 || (size_t)n >= sizeof run->path - sizeof second)
        return vp_fail(VP_EARG, "the directory's name is too long");
    VP_TRY(cap_make_dirs(run->path));
    VP_TRY(put_run_stamp(second, sizeof second));
    snprintf(run->path + n, sizeof run->path - (size_t)n, "/%s", second);
    VP_TRY(cap_make_alone(run->path));
    run->fd = open(run->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run->fd < 0) {
        int err = errno;
        rmdir(run->path);
        return cap_file_fail("open the directory", run->path, err);
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
    if (run->path[0])
        rmdir(run->path);
}
