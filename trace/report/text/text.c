#include "trace/report/text/text_parts.h"

#include <stdio.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/report/table/ops_table.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

/* Devices without a table of their own have one line each, up to one screen. */
#define OTHER_DEVICES_MAX 24u

/* ---- Header ---- */

/* "word text" as one piece of the header; text may be hostile. */
static void flow_put_fact(grid_flow *f, const char *word, const char *text)
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

static void text_put_ops_header(vp_buf *b, const vp_report *r, const vp_view *v, const vp_device *d)
{
    grid_flow f = {.b = b, .width = text_width(v), .indent = 2, .gap = 2};
    vp_buf share;
    vp_buf_init(&share, VP_REPORT_BYTES_MAX);
    flow_put_fact(&f, "run", r->session_name);
    if (d->host)
        flow_put_fact(&f, "host", d->host);
    flow_put_fact(&f, r->has_devices ? "" : "process", d->name);
    if (r->step != VP_UNKNOWN) {
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)r->step);
        flow_put_fact(&f, "step", number);
    }
    put_duration_fact(&f, "window", d->breakdown.window_ps, v,
                      r->step != VP_UNKNOWN ? " (the step)"
                      : r->one_window       ? " (selected)"
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
static void text_put_ops_summary(vp_buf *b, const vp_report *r, const vp_view *v, const rep_rows *t)
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

static int text_put_ops_table(vp_buf *b, const vp_report *r, const vp_view *v, const rep_rows *rows)
{
    ops_table table;
    text_row_writer w;
    int64_t cumulative = 0;
    tbl_ops(&table, r, v);
    table.t.unit[OPS_SUM] =
        rep_unit_for(v->unit, v->sort == VP_BY_TOTAL ? rows->max_total_ps : rows->max_self_ps);
    table.t.unit[OPS_CALL] = rep_unit_for(v->unit, rows->max_call_ps);
    text_init_rows(&w, &table.t);
    for (size_t i = 0; i < rows->shown; i++) {
        ops_row row = ops_row_of(&r->ops[rows->index[i]], rows->all_self_ps, rows->max_self_ps);
        row.cumulative_ps = cumulative += row.self_ps;
        text_row(&w, &row);
    }
    if (rows->others)
        text_row(&w, &(ops_row[]){ops_row_of_others(rows)});
    return text_finish(b, &w.g, v, 0);
}

int text_ops(vp_buf *b, const vp_report *r, const vp_view *v, size_t device)
{
    rep_rows t;
    int rc = 0;
    VP_TRY(rep_rows_of(&t, r, v, device));
    text_put_ops_header(b, r, v, &r->devices[device]);
    if (t.matching) {
        text_put_ops_summary(b, r, v, &t);
        rc = text_put_ops_table(b, r, v, &t);
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
    VP_NEED(full);
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
             "%zu other %s (show the table of one with --device NAME):", matching - shown,
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
