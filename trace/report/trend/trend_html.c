/* Many runs on a page. */
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/trend/trend_view.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"

#define OPS_MAX 40u

static int64_t time_of(const trend_run *r)
{
    return r->per_step ? r->median_ps : r->window_ps;
}

static int put_curve(page *p, const trend *t)
{
    VP_CLEANUP(vp_free_ptr) int64_t *y = vp_calloc(t->count, sizeof *y);
    if (!y)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (size_t i = 0; i < t->count; i++)
        y[i] = time_of(&t->runs[i]);
    html_curve(p, "curve", NULL, y, t->count);
    return 0;
}

/* The classes of a run as a bar, as long as the run is of the longest. */
static void put_bar(page *p, const trend_run *r, int64_t scale)
{
    static const char *const classes[REP_PARTS] = {"comp", "comm", "copy", "idle"};
    const int64_t parts[REP_PARTS] = {r->compute_ps, r->exposed_comm_ps, r->exposed_copy_ps,
                                      r->idle_ps};
    int64_t from = 0;
    html_puts(p, "<td class=\"share\"><svg class=\"stack\" aria-hidden=\"true\">");
    for (size_t i = 0; i < REP_PARTS; i++) {
        int64_t width = parts[i] > 0 ? html_hundredths(parts[i], scale) : 0;
        if (width)
            html_rect(p, classes[i], from, width);
        from += width;
    }
    html_puts(p, "</svg></td>");
}

static void put_runs(page *p, const trend *t, vp_unit unit, int64_t scale)
{
    const char *name = rep_unit_name(unit);
    html_table(p, "runs", "Runs");
    html_head(p, "op", "Run", NULL, NULL);
    html_head(p, "", "Steps", NULL, NULL);
    html_head(p, "", "Median", name, "Of the steps that count; the window where there are none");
    html_head(p, "", "p90", name, NULL);
    html_head(p, "", "Compute", name, "Mean of the slowest device");
    html_head(p, "", "Exposed comm", name, NULL);
    html_head(p, "", "Exposed copy", name, NULL);
    html_head(p, "", "Idle", name, NULL);
    html_head(p, "share", "Its parts", NULL, NULL);
    html_rows(p);
    for (size_t i = 0; i < t->count; i++) {
        const trend_run *r = &t->runs[i];
        html_puts(p, "<tr>");
        html_name_cell(p, r->name, r->device);
        html_count_cell(p, r->steps);
        html_ps_cell(p, time_of(r), unit);
        html_ps_cell(p, r->p90_ps, unit);
        html_ps_cell(p, r->compute_ps, unit);
        html_ps_cell(p, r->exposed_comm_ps, unit);
        html_ps_cell(p, r->exposed_copy_ps, unit);
        html_ps_cell(p, r->idle_ps, unit);
        put_bar(p, r, scale);
        html_puts(p, "</tr>\n");
    }
    html_table_end(p, 0);
}

static void put_ops(page *p, const trend *t, const trend_row *rows, size_t n)
{
    size_t shown = n < OPS_MAX ? n : OPS_MAX;
    if (!n || t->count < 2)
        return;
    vp_unit unit = rep_unit_for(p->v.unit, rows->op->self_ps);
    html_section(p, "ops", "Ops that moved most");
    html_table(p, "ops", "Ops that moved most");
    html_head(p, "op", "Op", NULL, NULL);
    html_head(p, "", "Moved", rep_unit_name(unit), "Largest less smallest self time");
    html_head(p, "", "Largest", rep_unit_name(unit), NULL);
    html_head(p, "text", "By run", NULL, NULL);
    html_rows(p);
    for (size_t i = 0; i < shown; i++) {
        html_puts(p, "<tr>");
        html_name_cell(p, rows[i].op->name, rows[i].op->category);
        html_ps_cell(p, rows[i].moved_ps, unit);
        html_ps_cell(p, rows[i].op->self_ps, unit);
        html_puts(p, "<td class=\"text\">");
        html_curve(p, "spark", NULL, rows[i].self_ps, t->count);
        html_puts(p, "</td></tr>\n");
    }
    html_table_end(p, n - shown);
    html_section_end(p);
}

static int put_main(page *p, const trend *t, const trend_row *rows, size_t n)
{
    int64_t scale = 0, widest = 0;
    for (size_t i = 0; i < t->count; i++) {
        scale = time_of(&t->runs[i]) > scale ? time_of(&t->runs[i]) : scale;
        widest = t->runs[i].window_ps > widest ? t->runs[i].window_ps : widest;
    }
    html_section(p, "runs", "Step time by run");
    VP_TRY(put_curve(p, t));
    put_runs(p, t, rep_unit_for(p->v.unit, scale), widest);
    html_section_end(p);
    put_ops(p, t, rows, n);
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
