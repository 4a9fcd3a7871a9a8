/* `report` on the terminal: the order of its parts, and those that fit no other file. */
#include "trace/report/text/text_parts.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
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
    static const grid_column columns[] = {
        {.drop = 0}, {.drop = 0}, {.drop = 0}, {.drop = 1}, {.left = true, .want = 24, .min = 12}};
    size_t n = r->folded_count < FOLDED_MAX ? r->folded_count : FOLDED_MAX;
    grid g;
    if (!n)
        return b->status;
    vp_unit unit = rep_unit_for(v->unit, r->folded->forward_ps + r->folded->backward_ps);
    text_title(b, v, "The same with backward and repeated work where it belongs");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "forward", rep_unit_name(unit));
    text_head(&g, "backward", NULL);
    text_head(&g, "remat", NULL);
    text_head(&g, "calls", NULL);
    text_head(&g, "scope", NULL);
    for (size_t i = 0; i < n; i++) {
        const vp_folded_scope *s = &r->folded[i];
        text_ps(&g, s->forward_ps, unit);
        text_ps(&g, s->backward_ps, unit);
        text_ps(&g, s->remat_ps, unit);
        text_count(&g, s->calls);
        grid_escaped(&g, s->path, TBL_PLAIN);
    }
    return text_finish(b, &g, v, r->folded_count - n);
}

/* ---- Modules and files ---- */

static int put_modules(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const grid_column columns[] = {
        {.drop = 0}, {.drop = 1}, {.drop = 2}, {.drop = 3}, {.left = true, .want = 24, .min = 12}};
    size_t n = r->module_count < MODULES_MAX ? r->module_count : MODULES_MAX;
    int64_t scale = 0;
    grid g;
    if (!n)
        return b->status;
    for (size_t i = 0; i < n; i++)
        if (r->modules[i].total_ps > scale)
            scale = r->modules[i].total_ps;
    vp_unit unit = rep_unit_for(v->unit, scale);
    text_title(b, v, "Modules");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "total", rep_unit_name(unit));
    text_head(&g, "p50", rep_unit_name(unit));
    text_head(&g, "runs", NULL);
    text_head(&g, "program", NULL);
    text_head(&g, "module", NULL);
    for (size_t i = 0; i < n; i++) {
        const vp_module *m = &r->modules[i];
        text_ps(&g, m->total_ps, unit);
        text_ps(&g, m->p50_ps, unit);
        text_count(&g, m->runs);
        if (m->program_id == VP_UNKNOWN)
            vp_buf_putc(&g.text, '-');
        else
            vp_buf_u64(&g.text, (uint64_t)m->program_id);
        grid_end(&g, TBL_PLAIN);
        grid_escaped(&g, m->name, TBL_PLAIN);
    }
    int rc = grid_print(b, &g, text_width(v), v->color);
    grid_free(&g);
    if (r->module_count > n)
        vp_buf_printf(b, "… %zu more\n", r->module_count - n);
    return rc;
}

static int put_files(vp_buf *b, const vp_report *r, const vp_view *v)
{
    static const grid_column columns[] = {
        {.drop = 0}, {.drop = 1}, {.left = true, .drop = 2}, {.left = true, .want = 24, .min = 12}};
    size_t n = r->file_count < FILES_MAX ? r->file_count : FILES_MAX;
    grid g;
    if (!n)
        return b->status;
    text_title(b, v, "Files");
    grid_init(&g, columns, sizeof columns / sizeof *columns);
    text_head(&g, "size", NULL);
    text_head(&g, "events", NULL);
    text_head(&g, "kind", NULL);
    text_head(&g, "file", NULL);
    for (size_t i = 0; i < n; i++) {
        const vp_report_file *file = &r->files[i];
        rep_put_bytes(&g.text, file->bytes);
        grid_end(&g, TBL_PLAIN);
        text_count(&g, file->events);
        vp_put_escaped(&g.text, vp_str_of(file->kind));
        vp_buf_puts(&g.text, file->partial ? " (partial)" : "");
        grid_end(&g, file->partial ? TBL_BAD : TBL_PLAIN);
        grid_escaped(&g, file->path, TBL_PLAIN);
    }
    int rc = grid_print(b, &g, text_width(v), v->color);
    grid_free(&g);
    if (r->file_count > n)
        vp_buf_printf(b, "… %zu more\n", r->file_count - n);
    return rc;
}

/* ---- Quality ---- */

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
