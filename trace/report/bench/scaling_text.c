/* Time by the number of devices on the terminal. */
#include "trace/report/bench/result_tables.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/labels/shown_rows.h"

static tbl_style text_put_scaling_own(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    const scaling_row *r = row;
    (void)t;
    if (c->own == RESULT_SPEED_UP)
        result_put_factor(b, r->speed_up, "x", 2);
    else
        result_put_factor(b, 100 * r->efficiency, "%", 2);
    return TBL_PLAIN;
}

int rep_scaling_text(vp_buf *b, const scaling *s, const vp_view *view)
{
    vp_view v = rep_view(view);
    tbl t;
    tbl_scaling(&t, s->rows, s->count, &v);
    t.own_text = text_put_scaling_own;
    return text_table(b, &v, &t);
}
