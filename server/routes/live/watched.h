/* The state of `view_profile watch --out` for the served directory: targets, last figures and
 * errors (docs/watch.md describes the file). */
#ifndef VP_ROUTES_WATCHED_H
#define VP_ROUTES_WATCHED_H

#include "server/routes/site/site.h"

/* Writes a table of the targets; nothing without a watch. */
void watched_put(vp_buf *b, const site *at, const catalog *c);
/* A hash that changes whenever the table changes. */
uint64_t watched_state(const site *at);

#endif
