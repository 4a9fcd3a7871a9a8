/* Writing what archives hold into a directory of our own, by our own rules: regular files only,
 * every component opened beneath the last without following links, nothing replaced, each file
 * whole or absent. Names come from hostile archives. Only cmd_extract.c includes this. */
#ifndef VP_CLI_UNPACK_H
#define VP_CLI_UNPACK_H

#include "trace/read/stream.h"

typedef struct unpack {
    int root_fd;
    int64_t written;          /* bytes of all files so far */
    bool full;                /* the target cannot take more: stop */
    vp_progress_fn *progress; /* bytes written of the present file */
    void *progress_ctx;
} unpack;

/* Makes `dir` (its parents exist) or takes it when it is empty. VP_EREFUSED when it is not, or
 * when it lies in `profile_dir`, which is never written to (NULL: not a directory). */
int unpack_open(unpack *u, const char *dir, const char *profile_dir);
void unpack_close(unpack *u);
/* Copies the stream to `path` beneath the root; when that is taken, to a name with "-2", "-3", …
 * Damage at the stream's end is a failure, and then nothing stays. mtime_ns (Unix) is set. */
int unpack_file(unpack *u, const char *path, rd_stream *in, int64_t mtime_ns);

#endif
