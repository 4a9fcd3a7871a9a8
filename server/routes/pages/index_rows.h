/* The rows of the index, one per run, optionally grouped by directory. Every row has a data-key,
 * by which app.js identifies it. */
#ifndef VP_ROUTES_INDEX_ROWS_H
#define VP_ROUTES_INDEX_ROWS_H

#include "server/routes/site/listing.h"
#include "server/routes/site/site.h"

/* One <tbody>, or one per group; rows [first, end) of the listing. */
void index_rows_put(vp_buf *b, const site *at, const listing *l, bool grouped, size_t first,
                    size_t end);

#endif
