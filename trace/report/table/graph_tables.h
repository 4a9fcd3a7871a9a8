/* Tables of the computation graph: forward scopes with their backward work, and modules. Ownership:
 * see tbl.h. */
#ifndef VP_REPORT_GRAPH_TABLES_H
#define VP_REPORT_GRAPH_TABLES_H

#include "trace/report/table/tbl.h"
#include "trace/report/labels/tree.h"

/* of: the self time of all scopes, int64_t. On a page the caller writes its bars. */
void tbl_folded(tbl *t, const vp_report *r, const vp_view *v, const int64_t *all_ps);
/* One row of the tree of scopes, at the current position of the tree's iterator; the caller writes
 * its text. */
typedef struct scope_row {
    const tree *at;
    bool is_more; /* "n more", without a self time */
    int64_t total_ps, all_ps, self_ps, calls;
} scope_row;
scope_row scope_row_of(const tree *at, tree_event event);
/* Rows are put individually. */
void tbl_scopes(tbl *t, const tree *at, const vp_view *v);

void tbl_modules(tbl *t, const vp_report *r, const vp_view *v);
/* Forward, backward and repeated work. */
int64_t folded_whole_ps(const vp_folded_scope *s);

#endif
