/* Differences as facts, and the heads of comparisons, in text and on pages. */
#ifndef VP_REPORT_DELTA_CELLS_H
#define VP_REPORT_DELTA_CELLS_H

#include "trace/report/html/html_parts.h"
#include "trace/report/text/text_parts.h"

/* Writes nothing if both sides are unknown. */
void html_delta_fact(page *p, const char *name, const vp_delta *d);

/* The head of a comparison: "B against A", the verdict, and the reason (NULL: none). */
void html_verdict(page *p, const char *a, const char *b, vp_verdict verdict, const char *reason);

#endif
