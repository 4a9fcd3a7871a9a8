/* Tables of the computation graph: forward scopes with what is done for them, and modules. Included
 * by sections on the terminal and on pages; for who owns what see tbl.h. */
#ifndef VP_REPORT_GRAPH_TABLES_H
#define VP_REPORT_GRAPH_TABLES_H

#include "trace/report/table/tbl.h"

/* of: the self time of all scopes, int64_t. On a page its bars are the caller's own. */
void tbl_folded(tbl *t, const vp_report *r, const vp_view *v, const int64_t *all_ps);
void tbl_modules(tbl *t, const vp_report *r, const vp_view *v);
/* Forward, backward and repeated work. */
int64_t folded_whole_ps(const vp_folded_scope *s);

#endif
