/* Writes the content of archives to a directory, safely: regular files only; every path component
 * is opened beneath the previous one without following links; existing files of others are never
 * replaced; each file is complete or absent, even if the process is killed. A later run keeps
 * complete files. Names come from untrusted archives. The caller closes the unpack. Failures:
 * VP_EREFUSED, VP_EIO, VP_ELIMIT, VP_ENOMEM.
 *
 * A file is written under a temporary name, synced, recorded in the directory's ledger
 * (.view_profile.unpacked: source, its size and time, target, bytes), and only then renamed, so
 * every named file is complete. Temporary trees are locked while their process lives; the next
 * process removes unlocked ones (temp_tree). */
#ifndef VP_MODEL_UNPACK_H
#define VP_MODEL_UNPACK_H

#include "trace/read/bytes/byte_stream.h"

typedef struct unpack_copy {
    int64_t max;              /* maximum of bytes to write */
    int64_t written;          /* bytes written */
    bool full;                /* the target has no space left */
    vp_progress_fn *progress; /* reports the read position in the stream's file; may be NULL */
    void *progress_ctx;
} unpack_copy;

/* Writes a whole stream to a descriptor. Damage is a failure, and so is more than `max` bytes
 * (VP_ELIMIT). */
int unpack_stream(int fd, rd_stream *in, unpack_copy *c);

/* Identity of a source: if any member differs, it is another file. */
typedef struct unpack_source {
    const char *path;       /* as in the catalog */
    int64_t size, mtime_ns; /* of the file on disk: the archive */
    int64_t member;         /* index in the archive, or -1 */
} unpack_source;

typedef struct unpack unpack;

/* Creates `dir` (its parents must exist), accepts it if it is empty, or continues where an earlier
 * run ended. VP_EREFUSED: it contains anything else, it is inside `profile_dir`, which is never
 * written to (NULL: not a directory), or another process unpacks into it. */
int unpack_open(unpack **out, const char *dir, const char *profile_dir);
void unpack_close(unpack *u); /* NULL is allowed */
/* True if the file exists and is complete. */
bool unpack_has(unpack *u, const unpack_source *src);
/* Opens it for reading. VP_ENOTFOUND. */
int unpack_open_copy(unpack *u, const unpack_source *src, int *fd);
/* Copies the stream to `path` beneath the directory; if that exists, to a name with "-2", "-3", ….
 * A file from an earlier state of the same source is replaced. Damage at the stream's end is a
 * failure, and the file is removed. mtime_ns (Unix) is set. Not thread-safe, but the two functions
 * above may run at the same time. */
int unpack_file(unpack *u, const unpack_source *src, const char *path, rd_stream *in,
                int64_t mtime_ns, vp_progress_fn *progress, void *ctx);
/* True if the target is full or the limit of bytes is reached; then no further call can succeed. */
bool unpack_is_full(const unpack *u);
int64_t unpack_written(const unpack *u); /* bytes of new files so far */

#endif
