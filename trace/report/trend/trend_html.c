/* Many runs on a page. */
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/trend/trend_tables.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

#define OPS_MAX 40u

static int html_put_trend_curve(page *p, const trend *t)
{
    VP_CLEANUP(vp_free_ptr) int64_t *y = vp_calloc(t->count, sizeof *y);
    VP_NEED(y);
    for (size_t i = 0; i < t->count; i++)
        y[i] = trend_time_of(&t->runs[i]);
    html_curve(p, "curve", NULL, y, t->count, 0);
    return 0;
}

typedef struct runs_table {
    tbl t;          /* first: the argument of own cells */
    int64_t widest; /* window */
} runs_table;

/* The classes of a run as a bar, scaled to the longest run. */
static void parts_cell(page *p, const trend_run *r, int64_t widest)
{
    const int64_t parts[REP_PARTS] = {r->compute_ps, r->exposed_comm_ps, r->exposed_copy_ps,
                                      r->idle_ps};
    int64_t from = 0;
    html_puts(p, "<td class=\"share\"><svg class=\"stack\" aria-hidden=\"true\">");
    for (size_t i = 0; i < REP_PARTS; i++) {
        int64_t width = parts[i] > 0 ? html_hundredths(parts[i], widest) : 0;
        if (width)
            html_rect(p, rep_part_css[i], from, width);
        from += width;
    }
    html_puts(p, "</svg></td>");
}

static void html_trend_own_cell(page *p, const tbl *t, const tbl_column *c, const void *row)
{
    const trend *all = t->of;
    if (c->own == TREND_PARTS) {
        parts_cell(p, row, ((const runs_table *)t)->widest);
        return;
    }
    html_puts(p, "<td class=\"text\">");
    html_curve(p, "spark", NULL, ((const trend_row *)row)->self_ps, all->count, 0);
    html_puts(p, "</td>");
}

static void html_put_trend_ops(page *p, const trend *t, const trend_row *rows, size_t n)
{
    tbl table;
    if (!n || t->count < 2)
        return;
    tbl_trend_ops(&table, t, rows, n, &p->v);
    table.own_html = html_trend_own_cell;
    table.most = OPS_MAX;
    html_table_section(p, "ops", &table);
}

static int put_main(page *p, const trend *t, const trend_row *rows, size_t n)
{
    runs_table runs = {0};
    tbl_runs(&runs.t, t, &p->v);
    runs.t.own_html = html_trend_own_cell;
    runs.widest = tbl_largest(&runs.t, offsetof(trend_run, window_ps));
    html_section(p, "runs", "Step time by run");
    VP_TRY(html_put_trend_curve(p, t));
    html_put_table(p, &runs.t);
    html_section_end(p);
    html_put_trend_ops(p, t, rows, n);
    return p->b->status;
}

int rep_trend_html(vp_buf *b, const trend *t, const vp_view *view)
{
    page p = {.b = b, .v = rep_view(view)};
    trend_row *rows;
    size_t n;
    vp_arena arena;
    vp_arena_init(&arena);
    int rc = trend_rows(&rows, &n, &arena, t->runs, t->count);
    if (rc >= 0) {
        html_begin(&p, "Trend");
        vp_buf_printf(b, "<h1>Trend over %zu runs</h1>\n</header>\n<main id=\"main\">\n", t->count);
        rc = put_main(&p, t, rows, n);
        html_puts(&p, "</main>\n");
        html_end(&p);
    }
    vp_arena_free(&arena);
    return rc < 0 ? rc : b->status;
}
