#include "trace/report/text/text_parts.h"

#include <math.h>
#include <stdio.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"
#include "trace/report/words/words.h"

/* Devices without a table of their own get a line each, up to a screenful. */
#define OTHER_DEVICES_MAX 24u

/* ---- Header ---- */

/* "word text" as one piece of the header; text may be hostile. */
static void put_fact(grid_flow *f, const char *word, const char *text)
{
    vp_buf piece;
    vp_buf_init(&piece, VP_REPORT_BYTES_MAX);
    vp_buf_puts(&piece, word);
    vp_buf_puts(&piece, *word ? " " : "");
    vp_put_escaped(&piece, text ? vp_str_of(text) : VP_STR("-"));
    grid_flow_put(f, &piece);
    vp_buf_free(&piece);
}

static void put_duration_fact(grid_flow *f, const char *word, int64_t ps, const vp_view *v,
                              const char *note)
{
    vp_buf piece;
    vp_buf_init(&piece, VP_REPORT_BYTES_MAX);
    vp_buf_printf(&piece, "%s ", word);
    rep_duration(&piece, ps, v->unit, ps);
    vp_buf_puts(&piece, note);
    grid_flow_put(f, &piece);
    vp_buf_free(&piece);
}

static void put_header(vp_buf *b, const vp_report *r, const vp_view *v, const vp_device *d)
{
    grid_flow f = {.b = b, .width = text_width(v), .indent = 2, .gap = 2};
    vp_buf share;
    vp_buf_init(&share, VP_REPORT_BYTES_MAX);
    put_fact(&f, "run", r->session_name);
    if (d->host)
        put_fact(&f, "host", d->host);
    put_fact(&f, r->has_devices ? "" : "process", d->name);
    if (r->step != VP_UNKNOWN) {
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)r->step);
        put_fact(&f, "step", number);
    }
    put_duration_fact(&f, "window", d->breakdown.window_ps, v,
                      r->step != VP_UNKNOWN ? " (the step)"
                      : !r->has_devices     ? " (first..last event)"
                      : d->own_clock        ? " (first..last op, device clock)"
                                            : " (first..last op)");
    vp_buf_puts(&share, "busy ");
    rep_put_percent(&share, d->breakdown.busy_ps, d->breakdown.window_ps);
    grid_flow_put(&f, &share);
    if (r->capture_ps >= 0 && r->step == VP_UNKNOWN)
        put_duration_fact(&f, "capture", r->capture_ps, v, "");
    grid_flow_end(&f);
    vp_buf_free(&share);
}

/* "Showing 9 of 30 groups, 66.269 ms, 98.60% of 67.209 ms op time; …" */
static void put_summary(vp_buf *b, const vp_report *r, const vp_view *v, const rep_rows *t)
{
    grid_flow f = {.b = b, .width = text_width(v), .indent = 2, .gap = 1};
    size_t more = t->others - t->hidden;
    vp_buf line;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_printf(&line, "Showing %zu of %zu group%s", t->shown, t->matching,
                  t->matching == 1 ? "" : "s");
    if (v->sort != VP_BY_SELF)
        vp_buf_printf(&line, " by %s", rep_sort_name(v->sort));
    vp_buf_puts(&line, ", ");
    rep_duration(&line, t->shown_self_ps, v->unit, t->shown_self_ps);
    vp_buf_puts(&line, ", ");
    rep_put_percent(&line, t->shown_self_ps, t->all_self_ps);
    vp_buf_puts(&line, " of ");
    rep_duration(&line, t->all_self_ps, v->unit, t->all_self_ps);
    vp_buf_puts(&line, rep_self_of(r));
    if (more) {
        vp_buf_printf(&line, "; %zu more (", more);
        rep_duration(&line, t->others_self_ps - t->hidden_self_ps, v->unit,
                     t->others_self_ps - t->hidden_self_ps);
        vp_buf_putc(&line, ')');
    }
    if (t->hidden) {
        vp_buf_printf(&line, "; %zu group%s below 0.5%% hidden (", t->hidden,
                      t->hidden == 1 ? "" : "s");
        rep_duration(&line, t->hidden_self_ps, v->unit, t->hidden_self_ps);
        vp_buf_putc(&line, ')');
    }
    grid_flow_words(&f, &line);
    grid_flow_end(&f);
    vp_buf_free(&line);
}

/* ---- The table ---- */

enum { OPS_COLUMNS = 11 };
static const grid_column ops_columns[OPS_COLUMNS] = {
    {.drop = 0},                                      /* self */
    {.drop = 4},                                      /* self% */
    {.drop = 5},                                      /* sum% */
    {.drop = 0},                                      /* total */
    {.drop = 3},                                      /* calls */
    {.drop = 2},                                      /* mean */
    {.drop = GRID_DROP_LATE},                         /* p95 */
    {.drop = GRID_DROP_LATE + 1},                     /* max */
    {.drop = GRID_DROP_LATE + 2},                     /* cv */
    {.left = true, .drop = 1, .want = 14, .min = 11}, /* category */
    {.left = true, .want = 30, .min = 8},             /* op */
};
/* The total has a column only where it ranks the rows. */
#define TOTAL_COLUMN 3u

static void head_cell(grid *g, const char *word, const char *unit)
{
    vp_buf_puts(&g->text, word);
    if (unit)
        vp_buf_printf(&g->text, " %s", unit);
    grid_end(g, TBL_BOLD);
}

static void ps_cell(grid *g, int64_t ps, vp_unit unit, tbl_style style)
{
    rep_put_ps(&g->text, ps, unit);
    grid_end(g, style);
}

static void percent_cell(grid *g, int64_t part, int64_t whole, tbl_style style)
{
    rep_put_percent(&g->text, part, whole);
    grid_end(g, style);
}

static void count_cell(grid *g, int64_t n, tbl_style style)
{
    rep_put_count(&g->text, n, false);
    grid_end(g, style);
}

static tbl_style class_style(vp_op_class c)
{
    return c == VP_COMMUNICATION ? TBL_COMM : c == VP_COPY ? TBL_COPY : TBL_PLAIN;
}

static void head_row(grid *g, bool with_total, vp_unit sum, vp_unit call, const vp_report *r)
{
    head_cell(g, "self", rep_unit_name(sum));
    head_cell(g, "self%", NULL);
    head_cell(g, "sum%", NULL);
    if (with_total)
        head_cell(g, "total", rep_unit_name(sum));
    head_cell(g, "calls", NULL);
    head_cell(g, "mean", rep_unit_name(call));
    head_cell(g, "p95", rep_unit_name(call));
    head_cell(g, "max", rep_unit_name(call));
    head_cell(g, "cv", NULL);
    head_cell(g, r->group == VP_GROUP_CATEGORY ? "class" : "category", NULL);
    head_cell(g,
              !r->has_devices             ? "event"
              : r->group == VP_GROUP_NAME ? "op"
                                          : rep_group_name(r->group),
              NULL);
}

/* What stands beside the name: its category, or for a category its class. */
static const char *kind_of(const vp_report *r, const vp_op *op)
{
    return r->group == VP_GROUP_CATEGORY ? rep_class_name(op->op_class) : op->category;
}

static void op_row(grid *g, const vp_report *r, bool with_total, vp_unit sum, vp_unit call,
                   const vp_op *op, const rep_rows *t, int64_t cumulative)
{
    double cv = rep_cv(op);
    ps_cell(g, op->self_ps, sum, TBL_PLAIN);
    percent_cell(g, op->self_ps, t->all_self_ps, TBL_PLAIN);
    percent_cell(g, cumulative, t->all_self_ps, TBL_PLAIN);
    if (with_total)
        ps_cell(g, op->total_ps, sum, TBL_PLAIN);
    count_cell(g, op->calls, TBL_PLAIN);
    ps_cell(g, rep_mean_ps(op), call, TBL_PLAIN);
    ps_cell(g, op->p95_ps, call, TBL_PLAIN);
    ps_cell(g, op->max_ps, call, TBL_PLAIN);
    if (isfinite(cv))
        vp_buf_printf(&g->text, "%.2f", cv);
    else
        vp_buf_putc(&g->text, '-');
    grid_end(g, TBL_PLAIN);
    grid_escaped(g, kind_of(r, op), class_style(op->op_class));
    grid_escaped(g, op->name, TBL_PLAIN);
}

static void others_row(grid *g, bool with_total, vp_unit sum, const rep_rows *t)
{
    ps_cell(g, t->others_self_ps, sum, TBL_DIM);
    percent_cell(g, t->others_self_ps, t->all_self_ps, TBL_DIM);
    percent_cell(g, t->shown_self_ps + t->others_self_ps, t->all_self_ps, TBL_DIM);
    if (with_total)
        ps_cell(g, t->others_total_ps, sum, TBL_DIM);
    count_cell(g, t->others_calls, TBL_DIM);
    for (int i = 0; i < 5; i++)
        grid_blank(g);
    vp_buf_printf(&g->text, "others (%zu group%s)", t->others, t->others == 1 ? "" : "s");
    grid_end(g, TBL_DIM);
}

static int put_ops(vp_buf *b, const vp_report *r, const vp_view *v, const rep_rows *t)
{
    grid_column columns[OPS_COLUMNS];
    bool with_total = v->sort == VP_BY_TOTAL;
    size_t n = 0;
    for (size_t i = 0; i < OPS_COLUMNS; i++)
        if (i != TOTAL_COLUMN || with_total)
            columns[n++] = ops_columns[i];
    if (r->group == VP_GROUP_SCOPE || r->group == VP_GROUP_SOURCE) {
        columns[n - 2].drop = GRID_DROP_LATE + 3; /* paths need the category's room, and more */
        columns[n - 1].want = 44;
        columns[n - 1].keep_end = true;
    }
    int64_t scale = with_total ? t->max_total_ps : t->max_self_ps, cumulative = 0;
    vp_unit sum = rep_unit_for(v->unit, scale), call = rep_unit_for(v->unit, t->max_call_ps);
    grid g;
    grid_init(&g, columns, n);
    head_row(&g, with_total, sum, call, r);
    for (size_t i = 0; i < t->shown; i++) {
        const vp_op *op = &r->ops[t->index[i]];
        cumulative += op->self_ps;
        op_row(&g, r, with_total, sum, call, op, t, cumulative);
    }
    if (t->others)
        others_row(&g, with_total, sum, t);
    int rc = grid_print(b, &g, text_width(v), v->color);
    grid_free(&g);
    return rc;
}

int text_ops(vp_buf *b, const vp_report *r, const vp_view *v, size_t device)
{
    rep_rows t;
    int rc = 0;
    VP_TRY(rep_rows_of(&t, r, v, device));
    put_header(b, r, v, &r->devices[device]);
    if (t.matching) {
        put_summary(b, r, v, &t);
        rc = put_ops(b, r, v, &t);
    } else {
        rc = vp_buf_puts(b, "No op events here.\n");
    }
    rep_rows_free(&t);
    return rc;
}

int text_tables(vp_buf *b, const vp_report *r, const vp_view *v)
{
    VP_CLEANUP(vp_free_ptr) bool *full = vp_calloc(r->device_count + 1, sizeof *full);
    size_t matching, shown = 0;
    if (!full)
        return vp_fail(VP_ENOMEM, "out of memory");
    rep_pick_devices(full, &matching, r, v);
    for (size_t i = 0; i < r->device_count; i++) {
        if (!full[i])
            continue;
        if (shown++)
            vp_buf_putc(b, '\n');
        VP_TRY(text_ops(b, r, v, i));
    }
    if (shown == matching)
        return b->status;
    char line[96];
    snprintf(line, sizeof line,
             "%zu other %s; --device NAME shows the table of one:", matching - shown,
             r->has_devices ? "devices" : "processes");
    vp_buf_putc(b, '\n');
    text_sentence(b, v, line);
    return text_breakdown(b, r, v, full, OTHER_DEVICES_MAX);
}

int rep_text(vp_buf *b, const vp_report *r, const vp_view *view)
{
    vp_view v = rep_view(view);
    VP_TRY(rep_check_filters(r, &v));
    if (!r->op_count)
        text_sentence(b, &v, "No events in this profile.");
    else if (!r->has_devices)
        text_sentence(b, &v, rep_host_tables(r));
    VP_TRY(text_tables(b, r, &v));
    return text_quality(b, r, &v, VP_SEV_WARNING, 3);
}
