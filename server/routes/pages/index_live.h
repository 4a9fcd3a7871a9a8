/* The part of the index for programs that run: the place for those that live.js lists, and the form
 * that captures one over the network, or why that is not possible. */
#ifndef VP_ROUTES_INDEX_LIVE_H
#define VP_ROUTES_INDEX_LIVE_H

#include "server/routes/site/site.h"

/* open: the form is seen at once. */
void index_live_put(vp_buf *b, const site *at, bool open);

#endif
