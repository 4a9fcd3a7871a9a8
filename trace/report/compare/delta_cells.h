/* Differences as cells of tables and as facts, in text and on pages. Included by report/'s pages
 * and tables about two runs. */
#ifndef VP_REPORT_DELTA_CELLS_H
#define VP_REPORT_DELTA_CELLS_H

#include "trace/report/html/html_parts.h"
#include "trace/report/text/text_parts.h"

/* Four cells: the difference, its share of A, A and B; and what stands above them. */
void text_delta(grid *g, const vp_delta *d, vp_unit unit, tbl_style style);
void text_delta_heads(grid *g, vp_unit unit);

void html_delta(page *p, const vp_delta *d, vp_unit unit); /* "+1.234", "–" */
void html_change(page *p, const vp_delta *d);              /* of A: "−5.00%", "–" */
/* A, B, their difference with a bar to the right where B takes more, and its share of A. */
void html_delta_heads(page *p, const char *unit);
void html_delta_cells(page *p, const vp_delta *d, vp_unit unit, int64_t scale);
/* Nothing where both sides are unknown. */
void html_delta_fact(page *p, const char *name, const vp_delta *d);

/* The head of a comparison: "B against A", what is to be made of it, and why (NULL: not said). */
void html_verdict(page *p, const char *a, const char *b, vp_verdict verdict, const char *reason);

#endif
