/* What `view_profile watch --out` says of the directory that is served: its targets, their last
 * figures and what is wrong with them (docs/watch.md has the file). */
#ifndef VP_ROUTES_WATCHED_H
#define VP_ROUTES_WATCHED_H

#include "server/routes/site/site.h"

/* A table of the targets; nothing where nothing is watched. */
void watched_put(vp_buf *b, const site *at, const catalog *c);
/* Changes whenever the table would. */
uint64_t watched_state(const site *at);

#endif
