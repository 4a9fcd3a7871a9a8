/* A log directory, or one file, that lies elsewhere (gs://, s3://, az://, http(s)://), as a tree of
 * names, sizes and times in memory. The catalog walks that as any directory, and gets what it looks
 * at of a file from here, by the identity that the file has in the tree; small content is kept
 * beneath $XDG_CACHE_HOME/view_profile/remote.
 *
 * Reference counted and thread-safe but for mirror_renew, which one thread at a time calls, and
 * what looks into the tree, which threads call between two renewals. What names cannot be in it
 * (".." and the like), and names that no profile has, are left out. */
#ifndef VP_SOURCE_MIRROR_H
#define VP_SOURCE_MIRROR_H

#include <stdatomic.h>

#include "trace/base/fs.h"
#include "trace/base/log.h"
#include "trace/read/bytes/byte_stream.h"
#include "trace/source/source_ask.h"

typedef struct mirror mirror;

/* Whether a path that a user typed is an address that is mirrored. */
bool mirror_is_url(const char *path);
/* Makes the directories, and asks nothing. VP_EARG: url is none; VP_EIO: there is no cache
 * directory. ask is copied, whom it asks outlives the mirror; drop (may be NULL) is called with
 * ask->ctx at its end. */
int mirror_open(mirror **out, const char *url, const source_ask *ask, void (*drop)(void *ctx));
/* The same by this process's view_profile-fetch, which is started where it was not yet: before a
 * sandbox is entered. VP_EUNSUPPORTED: there is none. */
int mirror_open_url(mirror **out, const char *url, bool is_unsigned);
mirror *mirror_ref(mirror *m);
void mirror_free(mirror *m); /* drops a reference; NULL is fine */

/* The directory that everything of mirrors lies in and is written to, for the sandbox. */
const char *mirror_cache(const mirror *m);
/* The address, to be shown: without a password or query that stood in it. */
const char *mirror_url(const mirror *m);

typedef struct mirror_renewal {
    vp_progress_fn *progress; /* entries so far, -1; may be NULL */
    void *progress_ctx;
    const _Atomic bool *stop; /* set by another thread: VP_ECANCELLED soon; may be NULL */
} mirror_renewal;
/* Makes the tree what the address holds now, unless that was done a moment ago. *root is the
 * mirror's: an absolute path, of no file here, that ends as the address does. VP_ENOTFOUND: nothing
 * lies there; VP_EREMOTE, VP_EPERM, …: the address stands in the failure, and the tree is as it
 * was. */
int mirror_renew(mirror *m, const mirror_renewal *how, const char **root);
/* The next renewal lists, however short ago the last one was. */
void mirror_spoil(mirror *m);
/* The address is that of one file; known after the first renewal. */
bool mirror_is_file(const mirror *m);
/* How many names the last listing left out that something else than a profile may have, and why the
 * first of them; 0: none. */
uint64_t mirror_left_out(const mirror *m, const char **why);

/* is_dir: else a file. Other than 0 ends it. */
typedef int mirror_tell(void *ctx, vp_str name, bool is_dir);
/* Tells in order what lies in a directory, of a path without '/' at its ends ("": the root).
 * VP_ENOMEM, or what tell failed with. */
int mirror_each(const mirror *m, const char *dir, mirror_tell *tell, void *ctx);
/* The identity of a file; of an address that is one, of "". false: there is none. */
bool mirror_find(const mirror *m, const char *path, vp_file_id *id);

/* 0 while the tree has a file of this identity. VP_ENOTFOUND, VP_EIO: it has changed. */
int mirror_check(mirror *m, const vp_file_id *id);
/* Of the file that the tree has with this identity. VP_EIO: it has changed since it was listed. */
int mirror_head(mirror *m, const vp_file_id *id, char *p, size_t n, size_t *got);
/* A descriptor on all of it, which is then on disk: VP_ELIMIT above VP_REMOTE_WHOLE_MAX. */
int mirror_whole(mirror *m, const vp_file_id *id, int *fd);
int mirror_source(mirror *m, const vp_file_id *id, rd_source **out);
/* text: as rd_stream_text, where it lies on disk. */
int mirror_stream(mirror *m, const vp_file_id *id, bool text, rd_stream **out);

#endif
