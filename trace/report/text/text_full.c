/* `report` on the terminal: the order of its parts, and those without a file of their own. */
#include "trace/report/text/text_parts.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/report/table/files_table.h"
#include "trace/report/table/graph_tables.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/tree.h"

#define FOLDED_MAX 12u
#define MODULES_MAX 20u
#define FILES_MAX 50u
#define QUALITY_MAX 100u

/* ---- Scopes ---- */

static tbl_style text_put_scope_cell(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    const scope_row *x = row;
    (void)t;
    (void)c;
    vp_buf_pad(b, ' ', 2 * (size_t)x->at->row_depth);
    if (x->is_more)
        vp_buf_printf(b, "… %zu more", x->at->more);
    else
        vp_put_escaped(b, x->at->label);
    if (!x->is_more && x->at->below)
        vp_buf_printf(b, " (+%zu below)", x->at->below);
    return TBL_PLAIN;
}

static int text_put_scopes(vp_buf *b, const vp_report *r, const vp_view *v)
{
    tree_limits limits = {.depth = 6, .breadth = 8, .rows = 60};
    tree at;
    tree_event event;
    text_row_writer w;
    tbl t;
    if (!r->scope_count)
        return b->status;
    VP_TRY(tree_init(&at, r, &limits));
    at.limits.min_ps = at.all_ps / 200;
    tbl_scopes(&t, &at, v);
    t.own_text = text_put_scope_cell;
    text_title(b, v,
               r->device_count > 1 ? "Computation graph by op time, over all devices" : t.title);
    text_init_rows(&w, &t);
    while ((event = tree_next(&at)) != TREE_END)
        if (event != TREE_CLOSE)
            text_row(&w, &(scope_row[]){scope_row_of(&at, event)});
    int rc = text_finish(b, &w.g, v, 0);
    tree_free(&at);
    return rc;
}

/* Forward scopes of backward and repeated work, if there is any. */
static int put_folded(vp_buf *b, const vp_report *r, const vp_view *v)
{
    tbl t;
    tbl_folded(&t, r, v, NULL);
    if (!r->folded_count)
        return b->status;
    t.title = "Forward, backward and rematerialized work by scope";
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

static int text_put_files(vp_buf *b, const vp_report *r, const vp_view *v)
{
    tbl t;
    tbl_files(&t, r, v);
    t.most = FILES_MAX;
    return t.row_count ? text_titled_table(b, v, &t) : b->status;
}

/* ---- The full report ---- */

int rep_text_full(vp_buf *b, const vp_report *r, const vp_view *view)
{
    vp_view v = rep_view(view);
    VP_TRY(rep_check_filters(r, &v));
    text_session(b, r, &v);
    if (r->finding_count) {
        text_title(b, &v, "Findings");
        text_findings(b, r, &v);
    }
    if (r->device_count) {
        text_title(b, &v,
                   r->has_devices ? "Device time breakdown"
                                  : "No device in this profile: time by process");
        VP_TRY(text_breakdown(b, r, &v, NULL, SIZE_MAX));
        VP_TRY(text_mfu(b, r, &v));
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
    VP_TRY(text_put_scopes(b, r, &v));
    VP_TRY(put_folded(b, r, &v));
    VP_TRY(put_modules(b, r, &v));
    VP_TRY(text_host(b, r, &v));
    VP_TRY(text_zones(b, r, &v));
    VP_TRY(text_put_files(b, r, &v));
    return text_quality(b, r, &v, VP_SEV_INFO, QUALITY_MAX);
}
