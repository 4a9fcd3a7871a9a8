/* Columns of a difference, and the tables of two runs. For ownership see tbl.h. */
#ifndef VP_REPORT_DELTA_COLUMNS_H
#define VP_REPORT_DELTA_COLUMNS_H

#include "trace/report/table/columns.h"

/* Cells of their own that tables of differences have: of the vp_delta at the column's `at`. */
enum {
    DELTA_BAR,    /* the difference, on a page as a bar to the right where B takes more */
    DELTA_FIGURE, /* the difference alone */
    DELTA_CHANGE, /* its share of A */
    DELTA_OTHERS  /* the table's further cells begin here */
};

/* Two figures, their difference and its share of A; on a terminal from place `first` on, the
 * difference before the figures. Figures go at rank `sides`. */
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
    tbl t;          /* first: what own cells are given */
    int64_t widest; /* the difference that fills a bar */
    const vp_comparison *c;
} delta_table;

/* Own cells: false, and nothing put, for those from DELTA_OTHERS on. */
bool delta_text(vp_buf *b, const tbl *t, const tbl_column *c, const void *row);
bool delta_html(struct page *p, const tbl *t, const tbl_column *c, const void *row);
const vp_delta *delta_at(const tbl_column *c, const void *row);

#endif
