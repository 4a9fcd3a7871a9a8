/* The short figures of a run: how busy its devices were, its slowest op and, if it was analyzed in
 * full, its most important finding. The index shows them. They come from the same report as all
 * other figures. */
#ifndef VP_ROUTES_HEADLINE_H
#define VP_ROUTES_HEADLINE_H

#include "server/routes/site/site.h"

/* Appends the headline as HTML phrasing content. */
void headline_put(vp_buf *b, const vp_report *r);

#endif
