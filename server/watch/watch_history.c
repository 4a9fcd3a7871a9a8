/* The history: one line of figures per capture, read by `trend`. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/watch/watch_store.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/capture/disk/small_files.h"

void watch_history_name(const watch_store *s, const watch_job *j, char out[VP_PATH_MAX])
{
    snprintf(out, VP_PATH_MAX, "history%s%s.jsonl", s->single ? "" : "-", s->single ? "" : j->name);
}

/* Appends with a single write, because other processes may append as well; removes an incomplete
 * line. */
static int append_line_at_once(int fd, vp_str line, const char *name)
{
    struct stat before;
    if (fstat(fd, &before) < 0)
        return cap_file_fail("stat", name, errno);
    ssize_t n = write(fd, line.p, line.n);
    int err = n < 0 ? errno : ENOSPC;
    if (n == (ssize_t)line.n && fsync(fd) == 0)
        return 0;
    err = n == (ssize_t)line.n ? errno : err;
    if (n > 0 && ftruncate(fd, before.st_size) < 0)
        return cap_file_fail("remove an incomplete line from", name, errno);
    return cap_file_fail("append a line to", name, err);
}

int watch_history_append(const watch_store *s, const watch_job *j, vp_str line)
{
    char name[VP_PATH_MAX];
    VP_CLEANUP(vp_fs_close) int fd = -1;
    watch_history_name(s, j, name);
    fd = openat(s->dir, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    return fd < 0 ? cap_file_fail("write", name, errno) : append_line_at_once(fd, line, name);
}
