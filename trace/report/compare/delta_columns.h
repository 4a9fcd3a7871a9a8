/* Columns of a difference, and the tables of two runs. Ownership: see tbl.h. */
#ifndef VP_REPORT_DELTA_COLUMNS_H
#define VP_REPORT_DELTA_COLUMNS_H

#include "trace/report/table/columns.h"

/* Cells of difference tables that the formats write: from the vp_delta at the column's `at`. */
enum {
    DELTA_BAR,    /* the difference; on a page with a bar to the right if B takes longer */
    DELTA_FIGURE, /* only the difference */
    DELTA_CHANGE, /* its share of A */
    DELTA_OTHERS  /* first id of other cells of the table */
};

/* Two figures, their difference and its share of A; on a terminal from position `first`, with the
 * difference before the figures. Figures have rank `sides`. */
#define DELTA_COLUMNS(member, first, sides)                                                        \
    {TBL_PS, AT(member.a_ps), PAGE("A", NULL), TERM_UNIT((first) + 2, "A"), DROP(sides)},          \
        {TBL_PS, AT(member.b_ps), PAGE("B", NULL), TERM_UNIT((first) + 3, "B"), DROP(sides)},      \
        {TBL_OWN_BAR, OWN(DELTA_BAR), AT(member), PAGE("B − A", NULL), TERM_UNIT(first, "B-A")},   \
    {                                                                                              \
        TBL_OWN_FIGURE, OWN(DELTA_CHANGE), AT(member), PAGE("of A", "Difference as a share of A"), \
            TERM((first) + 1, "change")                                                            \
    }

/* A table whose own cells are of differences. */
typedef struct delta_table {
    tbl t;          /* first: the argument of own cells */
    int64_t widest; /* the difference that fills a bar */
    const vp_comparison *c;
} delta_table;

/* Writes own cells; returns false without output for ids from DELTA_OTHERS. */
bool delta_text(vp_buf *b, const tbl *t, const tbl_column *c, const void *row);
bool delta_html(struct page *p, const tbl *t, const tbl_column *c, const void *row);
const vp_delta *delta_at(const tbl_column *c, const void *row);

#endif
