/* The log directory that our own TensorBoard sees: a private temporary tree of links to the
 * profile's xplane files. XProf writes caches beside these (docs/reference/xprof.md#tensorboard: up
 * to 1.4 x the file), which so never land in the user's directory. With `in_place`, run directories
 * that are in the layout which TensorBoard wants are linked themselves, and the caches stay there
 * for the next time. Trees that a killed process left behind are removed. Only server/local
 * includes this. Not thread-safe but for what says so. */
#ifndef VP_LOCAL_TB_SCRATCH_H
#define VP_LOCAL_TB_SCRATCH_H

#include "trace/model/catalog/catalog.h"

typedef struct tb_scratch tb_scratch;

/* Makes the empty tree. */
int tb_scratch_new(tb_scratch **out, bool in_place);
/* The log directory; belongs to the scratch. */
const char *tb_scratch_dir(const tb_scratch *s);
/* True when the session is in the tree, as it is now. */
bool tb_scratch_has(tb_scratch *s, const cat_session *session);
/* Bytes that have to be copied for it: archive members and .gz; 0 when links are enough. */
int64_t tb_scratch_to_copy(const cat_session *session);
/* Puts a session's xplane files into plugins/profile/ID/: links, and copies of archive members.
 * What was there of an earlier state of the session is replaced. May run beside the functions
 * above, in one thread at a time. VP_EUNSUPPORTED: it has no xplane file. */
int tb_scratch_add(tb_scratch *s, const catalog *c, const cat_session *session,
                   vp_progress_fn *progress, void *ctx);
/* Removes the tree and everything that was written into it. NULL is fine. */
void tb_scratch_free(tb_scratch *s);

/* A session's xplane files: index of the next one at or after i, or file_count. */
size_t tb_next_xplane(const cat_session *session, size_t i);
/* True when in_place links the session's own directory. */
bool tb_scratch_in_place(const tb_scratch *s, const cat_session *session);
/* The host of a file as TensorBoard names it. links: in our tree of links, where it is the host's
 * name with '_' for every byte but [A-Za-z0-9._-], and a number where two would be alike. Else in
 * the user's directory, where it is the file's stem. out has VP_MEMBER_NAME_MAX bytes. */
void tb_host_name(char *out, const cat_session *session, size_t file, bool links);

#endif
