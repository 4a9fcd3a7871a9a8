/* `report` on the terminal: the order of its parts, and those that fit no other file. */
#include "trace/report/text/text_parts.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/report/table/files_table.h"
#include "trace/report/table/graph_tables.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"
#include "trace/report/words/tree.h"

#define FOLDED_MAX 12u
#define MODULES_MAX 20u
#define FILES_MAX 50u
#define QUALITY_MAX 100u

/* ---- Scopes ---- */

static void scope_row(grid *g, const tree *t, vp_unit unit, tree_event event)
{
    bool is_more = event == TREE_MORE;
    int64_t total = is_more ? t->more_total_ps : t->scope->total_ps;
    tbl_style style = is_more ? TBL_DIM : TBL_PLAIN;
    rep_put_ps(&g->text, total, unit);
    grid_end(g, style);
    rep_put_percent(&g->text, total, t->all_ps);
    grid_end(g, style);
    if (is_more)
        grid_blank(g);
    else
        text_ps(g, t->scope->self_ps, unit);
    rep_put_count(&g->text, is_more ? t->more_calls : t->scope->calls, false);
    grid_end(g, style);
    vp_buf_pad(&g->text, ' ', 2 * (size_t)t->row_depth);
    if (is_more)
        vp_buf_printf(&g->text, "… %zu more", t->more);
    else
        vp_put_escaped(&g->text, t->label);
    if (!is_more && t->below)
        vp_buf_printf(&g->text, " (+%zu below)", t->below);
    grid_end(g, style);
}

static int put_scopes(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const grid_column columns[] = {
        {.drop = 0}, {.drop = 1}, {.drop = 2}, {.drop = 3}, {.left = true, .want = 24, .min = 12}};
    tree_limits limits = {.depth = 6, .breadth = 8, .rows = 60};
    tree t;
    tree_event event;
    grid g;
    if (!r->scope_count)
        return b->status;
    VP_TRY(tree_init(&t, r, &limits));
    t.limits.min_ps = t.all_ps / 200;
    vp_unit unit = rep_unit_for(v->unit, t.all_ps);
    text_title(b, v,
               r->device_count > 1 ? "Computation graph by op time, over all devices"
                                   : "Computation graph by op time");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "total", rep_unit_name(unit));
    text_head(&g, "total%", NULL);
    text_head(&g, "self", rep_unit_name(unit));
    text_head(&g, "calls", NULL);
    text_head(&g, "scope", NULL);
    while ((event = tree_next(&t)) != TREE_END)
        if (event != TREE_CLOSE)
            scope_row(&g, &t, unit, event);
    int rc = grid_print(b, &g, text_width(v), v->color);
    grid_free(&g);
    tree_free(&t);
    return rc;
}

/* Where there is work going back or done again: which forward scope it is done for. */
static int put_folded(vp_buf *b, const vp_report *r, const vp_view *v)
{
    tbl t;
    tbl_folded(&t, r, v, NULL);
    if (!r->folded_count)
        return b->status;
    t.title = "The same with backward and repeated work where it belongs";
    t.most = FOLDED_MAX;
    t.unit[0] = rep_unit_for(v->unit, r->folded->forward_ps + r->folded->backward_ps);
    return text_titled_table(b, v, &t);
}

/* ---- Modules and files ---- */

static int put_modules(vp_buf *b, const vp_report *r, const vp_view *v)
{
    tbl t;
    tbl_modules(&t, r, v);
    t.most = MODULES_MAX;
    return t.row_count ? text_titled_table(b, v, &t) : b->status;
}

static int put_files(vp_buf *b, const vp_report *r, const vp_view *v)
{
    tbl t;
    tbl_files(&t, r, v);
    t.most = FILES_MAX;
    return t.row_count ? text_titled_table(b, v, &t) : b->status;
}

/* ---- The whole ---- */

static void put_session(vp_buf *b, const vp_report *r, const vp_view *v)
{
    grid_flow f = {.b = b, .width = text_width(v), .indent = 2, .gap = 2};
    vp_buf line;
    vp_buf_init(&line, VP_REPORT_BYTES_MAX);
    vp_buf_puts(&line, "run ");
    vp_put_escaped(&line, vp_str_of(r->session_name));
    grid_flow_put(&f, &line);
    if (r->step != VP_UNKNOWN) {
        vp_buf_printf(&line, "only step %lld", (long long)r->step);
        grid_flow_put(&f, &line);
    }
    vp_buf_puts(&line, "captured ");
    rep_put_time(&line, r->captured_unix_ns);
    grid_flow_put(&f, &line);
    vp_buf_printf(&line, "%zu host%s, %zu device%s, %lld events%s", r->host_count,
                  r->host_count == 1 ? "" : "s", r->has_devices ? r->device_count : 0,
                  r->has_devices && r->device_count == 1 ? "" : "s", (long long)r->events,
                  r->partial ? " (partial)" : "");
    grid_flow_put(&f, &line);
    grid_flow_end(&f);
    vp_buf_free(&line);
}

int rep_text_full(vp_buf *b, const vp_report *r, const vp_view *view)
{
    vp_view v = rep_view(view);
    VP_TRY(rep_check_filters(r, &v));
    put_session(b, r, &v);
    if (r->finding_count) {
        text_title(b, &v, "Findings");
        text_findings(b, r, &v);
    }
    if (r->device_count) {
        text_title(b, &v,
                   r->has_devices ? "Where each device's window went"
                                  : "No device in this profile: processes and their tracks");
        VP_TRY(text_breakdown(b, r, &v, NULL, SIZE_MAX));
        text_title(b, &v, r->has_devices ? "Slowest ops" : "Slowest events");
        VP_TRY(text_tables(b, r, &v));
    } else {
        vp_buf_puts(b, "\nNo events in this profile.\n");
    }
    VP_TRY(text_steps(b, r, &v));
    VP_TRY(text_idle(b, r, &v));
    VP_TRY(text_launches(b, r, &v));
    VP_TRY(text_communication(b, r, &v));
    VP_TRY(text_hygiene(b, r, &v));
    VP_TRY(put_scopes(b, r, &v));
    VP_TRY(put_folded(b, r, &v));
    VP_TRY(put_modules(b, r, &v));
    VP_TRY(text_host(b, r, &v));
    VP_TRY(text_zones(b, r, &v));
    VP_TRY(put_files(b, r, &v));
    return text_quality(b, r, &v, VP_SEV_INFO, QUALITY_MAX);
}
