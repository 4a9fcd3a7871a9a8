/* Many runs on the terminal. */
#include "trace/base/err.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/trend/trend_tables.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"

#define SPARKS_MAX 24u /* number of runs in a sparkline: the last ones */

/* Compared with the previous run that has the same kind of figure. */
static void text_put_run_change(vp_buf *b, const trend *t, const trend_run *run)
{
    int64_t now = trend_time_of(run);
    int64_t before =
        run > t->runs && run[-1].per_step == run->per_step ? trend_time_of(&run[-1]) : VP_UNKNOWN;
    if (now < 0 || before <= 0)
        vp_buf_putc(b, '-');
    else
        vp_buf_printf(b, "%+.2f%%", 100 * ((double)now / (double)before - 1));
}

/* "▁▃█ ▂": from 0 to the row's maximum; a run without a value is a space. */
static void put_sparks(vp_buf *b, const trend_row *row, size_t runs)
{
    size_t from = runs > SPARKS_MAX ? runs - SPARKS_MAX : 0;
    for (size_t i = from; i < runs; i++)
        rep_put_spark(b, row->self_ps[i], row->op->self_ps);
}

static tbl_style text_put_trend_own(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    const trend *all = t->of;
    if (c->own == TREND_CAPTURED)
        rep_put_time(b, ((const trend_run *)row)->captured_unix_ns);
    else if (c->own == TREND_CHANGE)
        text_put_run_change(b, all, row);
    else
        put_sparks(b, row, all->count);
    return TBL_PLAIN;
}

static int text_put_trend_runs(vp_buf *b, const trend *t, const vp_view *v)
{
    tbl table;
    tbl_runs(&table, t, v);
    table.own_text = text_put_trend_own;
    return text_table(b, v, &table);
}

static int text_put_trend_ops(vp_buf *b, const trend *t, const vp_view *v, const trend_row *rows,
                              size_t n)
{
    tbl table;
    if (!n || t->count < 2)
        return b->status;
    tbl_trend_ops(&table, t, rows, n, v);
    table.title = "Most changed ops, by self time";
    table.own_text = text_put_trend_own;
    table.most = v->top;
    return text_titled_table(b, v, &table);
}

int rep_trend_text(vp_buf *b, const trend *t, const vp_view *view)
{
    vp_view v = rep_view(view);
    trend_row *rows;
    size_t n;
    vp_arena arena;
    VP_TRY(text_put_trend_runs(b, t, &v));
    vp_arena_init(&arena);
    int rc = trend_rows(&rows, &n, &arena, t->runs, t->count);
    if (rc >= 0)
        rc = text_put_trend_ops(b, t, &v, rows, n);
    vp_arena_free(&arena);
    return rc < 0 ? rc : b->status;
}
