/* Lines of figures, one a capture, that `trend` reads. */
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

/* In one write, as others may append, too; half a line would spoil all that come after it. */
static int append_line_at_once(int fd, vp_str line, const char *name)
{
    struct stat before;
    if (fstat(fd, &before) < 0)
        return cap_file_fail("look at", name, errno);
    ssize_t n = write(fd, line.p, line.n);
    int err = n < 0 ? errno : ENOSPC;
    if (n == (ssize_t)line.n && fsync(fd) == 0)
        return 0;
    err = n == (ssize_t)line.n ? errno : err;
    if (n > 0 && ftruncate(fd, before.st_size) < 0)
        return cap_file_fail("take half a line away from", name, errno);
    return cap_file_fail("add a line to", name, err);
}

int watch_history_append(const watch_store *s, const watch_job *j, vp_str line)
{
    char name[VP_PATH_MAX];
    VP_CLEANUP(vp_fs_close) int fd = -1;
    watch_history_name(s, j, name);
    fd = openat(s->dir, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    return fd < 0 ? cap_file_fail("write", name, errno) : append_line_at_once(fd, line, name);
}
