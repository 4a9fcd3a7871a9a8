/* The log directory of our own TensorBoard: a private temporary tree of links to the xplane files
 * of the profile. XProf writes caches next to these links (docs/reference/xprof.md#tensorboard: up
 * to 1.4 times the file), so the user's directory is not changed. With `in_place`, run directories
 * with the layout of TensorBoard are linked themselves and keep the caches. Trees of killed
 * processes are removed. The caller closes it. Not thread-safe except where stated. */
#ifndef VP_LOCAL_TB_SCRATCH_H
#define VP_LOCAL_TB_SCRATCH_H

#include "trace/model/catalog/catalog.h"

typedef struct tb_scratch tb_scratch;

/* Creates the empty tree. */
int tb_scratch_new(tb_scratch **out, bool in_place);
/* The log directory; owned by the scratch tree. */
const char *tb_scratch_dir(const tb_scratch *s);
/* True if the tree contains the current state of the run. */
bool tb_scratch_has(tb_scratch *s, const cat_session *session);
/* Bytes that have to be copied for the run: archive members and .gz; 0 if links suffice. */
int64_t tb_scratch_to_copy(const cat_session *session);
/* Adds the xplane files of a run to plugins/profile/ID/: links, and copies of archive members.
 * Replaces an earlier state of the run. Can run concurrently with the functions above, in one
 * thread at a time. VP_EUNSUPPORTED: the run has no xplane file. */
int tb_scratch_add(tb_scratch *s, const catalog *c, const cat_session *session,
                   vp_progress_fn *progress, void *ctx);
/* Removes the tree with all files that were written into it. NULL is allowed. */
void tb_scratch_free(tb_scratch *s);

/* Index of the next xplane file of a run at or after i, or file_count. */
size_t tb_next_xplane(const cat_session *session, size_t i);
/* True if in_place links the directory of the run itself. */
bool tb_scratch_in_place(const tb_scratch *s, const cat_session *session);
/* TensorBoard's name of the host of a file. links: in the tree of links, the host's name with every
 * byte except [A-Za-z0-9._-] replaced by '_', and a number if two would be equal. Otherwise, in the
 * user's directory, the stem of the file. out has VP_MEMBER_NAME_MAX bytes. */
void tb_host_name(char *out, const cat_session *session, size_t file, bool links);

#endif
