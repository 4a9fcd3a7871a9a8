/* The figures of a session in short: how busy its devices were, its slowest op, and, where it was
 * analysed in full, what is wrong first of all. The index shows them; they come from the one
 * report, like every figure. */
#ifndef VP_ROUTES_HEADLINE_H
#define VP_ROUTES_HEADLINE_H

#include "server/routes/site/site.h"

/* Appends the headline as HTML phrasing content. */
void headline_put(vp_buf *b, const vp_report *r);

#endif
