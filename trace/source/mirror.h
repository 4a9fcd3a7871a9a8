/* A remote log directory or file (gs://, s3://, az://, http(s)://) as a tree of names, sizes and
 * times in memory. The catalog walks it like a directory, and reads content through it, by the
 * identity that a file has in the tree. Small content is cached beneath
 * $XDG_CACHE_HOME/view_profile/remote.
 *
 * Reference counted. Thread-safe, except that only one thread at a time may call mirror_renew, and
 * functions that read the tree must not run during a renewal. Invalid names (such as "..") and
 * names that no profile has are omitted. */
#ifndef VP_SOURCE_MIRROR_H
#define VP_SOURCE_MIRROR_H

#include <stdatomic.h>

#include "trace/base/fs.h"
#include "trace/base/log.h"
#include "trace/read/bytes/byte_stream.h"
#include "trace/source/source_ask.h"

typedef struct mirror mirror;

/* True if the user's path is an address that can be mirrored. */
bool mirror_is_url(const char *path);
/* Creates the local directories, without any request. VP_EARG: url is not an address; VP_EIO: no
 * cache directory. `ask` is copied, and its ctx must outlive the mirror; drop (may be NULL) is
 * called with ask->ctx at its end. */
int mirror_open(mirror **out, const char *url, const source_ask *ask, void (*drop)(void *ctx));
/* The same with this process's view_profile-fetch, which is started on first use, so call it before
 * entering a sandbox. VP_EUNSUPPORTED: not installed. */
int mirror_open_url(mirror **out, const char *url, bool is_unsigned);
mirror *mirror_ref(mirror *m);
void mirror_free(mirror *m); /* releases a reference; NULL is allowed */

/* Directory that contains all data of mirrors, for the sandbox. */
const char *mirror_cache(const mirror *m);
/* The displayable address, without password and query. */
const char *mirror_url(const mirror *m);

typedef struct mirror_renewal {
    vp_progress_fn *progress; /* entries so far, -1; may be NULL */
    void *progress_ctx;
    const _Atomic bool *stop; /* set by another thread to cancel with VP_ECANCELLED; may be NULL */
} mirror_renewal;
/* Lists the address again, unless that was done a moment ago. *root belongs to the mirror: an
 * absolute path that ends like the address, and exists on no disk. VP_ENOTFOUND: nothing exists
 * there; VP_EREMOTE, VP_EPERM, …: the failure contains the address, and the tree is unchanged. */
int mirror_renew(mirror *m, const mirror_renewal *how, const char **root);
/* Makes the next renewal list, regardless of the time of the last one. */
void mirror_spoil(mirror *m);
/* True if the address is one file; known after the first renewal. */
bool mirror_is_file(const mirror *m);
/* Number of omitted names that may matter, and the reason for the first; 0: none. */
uint64_t mirror_left_out(const mirror *m, const char **why);

/* is_dir: directory or file. A nonzero result ends the iteration. */
typedef int mirror_tell(void *ctx, vp_str name, bool is_dir);
/* Iterates in order over a directory, given its path without '/' at the ends ("": the root).
 * VP_ENOMEM, or the result of `tell`. */
int mirror_each(const mirror *m, const char *dir, mirror_tell *tell, void *ctx);
/* The identity of a file ("" if the address is one file). false: not found. */
bool mirror_find(const mirror *m, const char *path, vp_file_id *id);

/* 0 if the tree has a file with this identity. VP_ENOTFOUND, VP_EIO: it has changed. */
int mirror_check(mirror *m, const vp_file_id *id);
/* Reads the first bytes of the file with this identity. VP_EIO: it changed after it was listed. */
int mirror_head(mirror *m, const vp_file_id *id, char *p, size_t n, size_t *got);
/* Opens a descriptor of a complete local copy: VP_ELIMIT above VP_REMOTE_WHOLE_MAX. */
int mirror_whole(mirror *m, const vp_file_id *id, int *fd);
int mirror_source(mirror *m, const vp_file_id *id, rd_source **out);
/* text: like rd_stream_text, if it is on disk. */
int mirror_stream(mirror *m, const vp_file_id *id, bool text, rd_stream **out);

#endif
