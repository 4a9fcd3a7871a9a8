/* The figures of a session in one line: how busy its devices were, and its slowest op. The index
 * shows them; they come from the one report, like every figure. Included by pages_*.c only. */
#ifndef VP_ROUTES_HEADLINE_H
#define VP_ROUTES_HEADLINE_H

#include "server/routes/routes.h"

/* Appends the headline as HTML phrasing content. */
void headline_put(vp_buf *b, const vp_report *r);

#endif
