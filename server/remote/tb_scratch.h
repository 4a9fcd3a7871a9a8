/* The log directory that our own TensorBoard sees: a private temporary tree of links to the
 * profile's xplane files, so that the caches XProf writes beside them (peers.md: up to 1.4 x the
 * file) never land in the user's directory. Only server/remote includes this. */
#ifndef VP_REMOTE_TB_SCRATCH_H
#define VP_REMOTE_TB_SCRATCH_H

#include "trace/model/catalog.h"

typedef struct tb_scratch tb_scratch;

/* Makes the empty tree. */
int tb_scratch_new(tb_scratch **out);
/* The log directory; belongs to the scratch. */
const char *tb_scratch_dir(const tb_scratch *s);
/* Puts a session's xplane files into plugins/profile/ID/: links, and copies of archive members.
 * Once a session; later calls do nothing. VP_EUNSUPPORTED: it has no xplane file. */
int tb_scratch_add(tb_scratch *s, const catalog *c, const cat_session *session);
/* Removes the tree and everything that was written into it. NULL is fine. */
void tb_scratch_free(tb_scratch *s);

/* A session's xplane files: index of the next one at or after i, or file_count. */
size_t tb_next_xplane(const cat_session *session, size_t i);
/* The host as TensorBoard will name it: the file's stem with every byte but [A-Za-z0-9._-] made
 * '_'. out has VP_MEMBER_NAME_MAX bytes. */
void tb_host_name(char *out, const cat_session *session, const cat_file *file);

#endif
