/* The section of the index for running programs: the list that live.js fills, and the form that
 * captures a program, or the reason why captures are not available. */
#ifndef VP_ROUTES_INDEX_LIVE_H
#define VP_ROUTES_INDEX_LIVE_H

#include "server/routes/site/site.h"

/* open: show the form expanded. */
void index_live_put(vp_buf *b, const site *at, bool open);

#endif
