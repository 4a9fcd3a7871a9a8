#include "server/cli/terminal/standard_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/cli/language/exit_codes.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/log.h"
#include "trace/source/mirror.h"

static int exit_code(int rc)
{
    switch (rc) {
    case VP_EARG:
        return CLI_USAGE;
    case VP_ENOTFOUND:
    case VP_EEMPTY:
        return CLI_NOT_FOUND;
    case VP_EBUSY:
        return CLI_CANNOT_SERVE;
    case VP_EREMOTE:
        return CLI_CAPTURE_FAILED;
    case VP_ECANCELLED:
        return CLI_INTERRUPTED;
    default:
        return rc < 0 ? CLI_UNREADABLE : CLI_OK;
    }
}

int cli_fail(int rc)
{
    char line[1000];
    vp_log(VP_LOG_ERROR, "%s", vp_error_line(vp_error_last(), line, sizeof line));
    /* If a store denies access or fails, its profile is unreadable. */
    bool store = rc < 0 && vp_error_last()->path[0] && mirror_is_url(vp_error_last()->path) &&
                 rc != VP_ENOTFOUND && rc != VP_ECANCELLED && rc != VP_EARG && rc != VP_EBUSY;
    return store ? CLI_UNREADABLE : exit_code(rc);
}

static int write_fd(void *ctx, const void *data, size_t n)
{
    return vp_fs_write_all(*(const int *)ctx, data, n);
}

void cli_stdout(vp_buf *b)
{
    static const int fd = STDOUT_FILENO;
    vp_buf_init_stream(b, write_fd, (void *)(uintptr_t)&fd);
}

int cli_finish(vp_buf *b)
{
    int rc = vp_buf_flush(b);
    vp_buf_free(b);
    return rc < 0 ? cli_fail(vp_fail_at(rc, "standard output", -1, -1)) : CLI_OK;
}

static int file_error(const char *what, const char *path)
{
    vp_fail(VP_EIO, "%s: %s", what, strerror(errno));
    return vp_fail_at(VP_EIO, path, -1, -1);
}

/* The file to replace: for a link its target, so that the link is kept. NULL: the link has no
 * target, or one without a name, such as /dev/stdout. */
static const char *resolve_replaced_file(const char *path, char target[VP_PATH_MAX])
{
    struct stat st;
    if (realpath(path, target))
        return target;
    return lstat(path, &st) == 0 ? NULL : path;
}

/* Creates the temporary file in the directory of `path`, so that the rename stays in one file
 * system. */
static int open_temp(cli_file *f, const char *path)
{
    int n = snprintf(f->target, sizeof f->target, "%s", path);
    int m = snprintf(f->temp, sizeof f->temp, "%s.%ld.tmp", path, (long)getpid());
    if (n < 0 || n >= (int)sizeof f->target || m < 0 || m >= (int)sizeof f->temp)
        return vp_fail(VP_EARG, "--output: the path is too long");
    f->fd = open(f->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    return f->fd < 0 ? file_error("cannot write", f->path) : 0;
}

bool cli_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

int cli_file_open(cli_file *f, const char *path)
{
    struct stat st;
    *f = (cli_file){.fd = -1};
    if (!path || !strcmp(path, "-")) {
        cli_stdout(&f->buf);
        return 0;
    }
    f->path = path;
    char target[VP_PATH_MAX];
    bool is_new = stat(path, &st) < 0;
    const char *name = is_new || S_ISREG(st.st_mode) ? resolve_replaced_file(path, target) : NULL;
    if (name) {
        VP_TRY(open_temp(f, name));
        if (!is_new) /* keep the permissions of the old file */
            (void)fchmod(f->fd, st.st_mode & 0777);
    } else { /* a pipe, /dev/null, a terminal, a link: written to, not replaced */
        f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (f->fd < 0)
            return file_error("cannot write", path);
    }
    vp_buf_init_stream(&f->buf, write_fd, &f->fd);
    return 0;
}

int cli_file_close(cli_file *f, int rc)
{
    if (rc >= 0)
        rc = vp_buf_flush(&f->buf);
    vp_buf_free(&f->buf);
    if (!f->path)
        return rc < 0 ? vp_fail_at(rc, "standard output", -1, -1) : rc;
    if (rc >= 0 && fsync(f->fd) < 0 && errno != EINVAL)
        rc = file_error("cannot write", f->path);
    vp_fs_close(&f->fd);
    if (rc >= 0 && f->temp[0] && rename(f->temp, f->target) < 0)
        rc = file_error("cannot write", f->path);
    if (rc < 0 && f->temp[0])
        unlink(f->temp);
    return rc < 0 ? vp_fail_at(rc, f->path, -1, -1) : rc;
}
