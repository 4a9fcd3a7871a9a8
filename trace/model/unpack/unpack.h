/* Writing what archives hold into a directory of our own, by our own rules: regular files only,
 * every component opened beneath the last without following links, nothing of anybody else's
 * replaced, each file whole or absent, also when we are killed. A later run knows what is whole and
 * leaves it. Names come from hostile archives. extract.c and server/local include this.
 *
 * A file is written under a temporary name, synced, noted in the directory's ledger
 * (.view_profile.unpacked: source, its size and time, target, bytes) and only then renamed:
 * whatever is named is whole. Temporary trees are locked while their process lives; the next one of
 * us removes those that are not (temp_tree). */
#ifndef VP_MODEL_UNPACK_H
#define VP_MODEL_UNPACK_H

#include "trace/read/bytes/byte_stream.h"

typedef struct unpack_copy {
    int64_t max;              /* bytes that may be written */
    int64_t written;          /* bytes that were */
    bool full;                /* the target could not take more */
    vp_progress_fn *progress; /* how far the stream's file is read; may be NULL */
    void *progress_ctx;
} unpack_copy;

/* Writes a whole stream to a descriptor. Damage is a failure, and so is more than `max`
 * (VP_ELIMIT). */
int unpack_stream(int fd, rd_stream *in, unpack_copy *c);

/* Where a file comes from: when one of these differs, it is another file. */
typedef struct unpack_source {
    const char *path;       /* as the catalog names it */
    int64_t size, mtime_ns; /* of the file on disk: the archive */
    int64_t member;         /* in the archive, or -1 */
} unpack_source;

typedef struct unpack unpack;

/* Makes `dir` (its parents exist), takes it when it is empty, or goes on where an earlier run
 * ended. VP_EREFUSED when there is anything else in it, or when it lies in `profile_dir`, which is
 * never written to (NULL: not a directory), or when another process unpacks into it. */
int unpack_open(unpack **out, const char *dir, const char *profile_dir);
void unpack_close(unpack *u); /* NULL is fine */
/* True when the file lies there whole. */
bool unpack_has(unpack *u, const unpack_source *src);
/* Opens it for reading. VP_ENOTFOUND. */
int unpack_open_copy(unpack *u, const unpack_source *src, int *fd);
/* Copies the stream to `path` beneath the directory; when that is taken, to a name with "-2", "-3",
 * … What is there of an earlier state of the same source is replaced. Damage at the stream's end is
 * a failure, and then nothing stays. mtime_ns (Unix) is set. One thread at a time; the two
 * functions above may run beside it. */
int unpack_file(unpack *u, const unpack_source *src, const char *path, rd_stream *in,
                int64_t mtime_ns, vp_progress_fn *progress, void *ctx);
/* The target took no more, or the limit of bytes in all is reached: nothing further can succeed. */
bool unpack_is_full(const unpack *u);
int64_t unpack_written(const unpack *u); /* bytes of new files so far */

#endif
