/* Columns are stable, new ones are appended; lines end with LF. Numbers are unformatted, unknown is
 * empty. Only texts can contain bytes from a file, so they are quoted. */
#include "trace/report/data/csv_table.h"

#include <math.h>

#include "trace/report/data/csv_cells.h"

static void csv_put_int(vp_buf *b, int64_t v, bool known)
{
    if (known)
        vp_buf_i64(b, v);
}

static void put_double(vp_buf *b, double d)
{
    if (isfinite(d))
        vp_buf_printf(b, "%.9g", d);
}

static void csv_put_share(vp_buf *b, int64_t part, int64_t whole)
{
    if (part >= 0 && whole > 0)
        vp_buf_printf(b, "%.9f", (double)part / (double)whole);
}

static void csv_put_value(vp_buf *b, const tbl *t, const tbl_column *c, const tbl_value *v)
{
    switch ((tbl_kind)c->kind) {
    case TBL_SHARE:
    case TBL_BAR:
        csv_put_share(b, v->n, v->whole);
        break;
    case TBL_NUMBER:
    case TBL_RATIO:
    case TBL_VALUE:
        put_double(b, v->d);
        break;
    case TBL_NAME:
    case TBL_TEXT:
        rep_csv_text(b, v->text);
        break;
    case TBL_WORD:
        vp_buf_puts(b, v->text ? v->text : "");
        break;
    case TBL_DEVICE:
        rep_csv_text(b, v->n < (int64_t)t->r->device_count ? t->r->devices[v->n].name : NULL);
        break;
    case TBL_WHEN:
        csv_put_int(b, v->n, v->n != VP_NO_TIME);
        break;
    default:
        csv_put_int(b, v->n, v->n >= 0);
    }
}

void csv_init_rows(csv_row_writer *w, vp_buf *b, const tbl *t)
{
    *w = (csv_row_writer){.b = b, .t = t};
    w->n = tbl_columns_of(w->columns, t, TBL_AS_CSV);
    for (size_t i = 0; i < w->n; i++)
        vp_buf_printf(b, "%s%s", i ? "," : "", w->columns[i]->key);
    vp_buf_putc(b, '\n');
}

void csv_row(void *ctx, const void *row)
{
    csv_row_writer *w = ctx;
    for (size_t i = 0; i < w->n; i++) {
        tbl_value v;
        if (i)
            vp_buf_putc(w->b, ',');
        tbl_get(&v, w->t, w->columns[i], row);
        if (!v.blank)
            csv_put_value(w->b, w->t, w->columns[i], &v);
    }
    vp_buf_putc(w->b, '\n');
}
