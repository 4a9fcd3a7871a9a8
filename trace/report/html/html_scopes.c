/* The computation graph on the page, as a tree, collapsed below some level. */
#include "trace/base/err.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/table/graph_tables.h"
#include "trace/report/labels/escape.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/tree.h"

/* Rows with at least this share are expanded at first, so that the page shows where the time goes.
 */
#define OPEN_PERCENT 20
#define OPEN_DEPTH 8u

static void html_put_scope_cells(page *p, const tree *t, vp_unit unit, bool is_more)
{
    int64_t total = is_more ? t->more_total_ps : t->scope->total_ps;
    html_puts(p, "<span class=\"num\">");
    html_number(p, total, unit);
    html_puts(p, "</span><span class=\"num share\"><svg aria-hidden=\"true\">");
    html_rect(p, is_more ? "idle" : "comp", 0, html_hundredths(total, t->all_ps));
    html_puts(p, "</svg><b>");
    rep_put_percent(p->b, total, t->all_ps);
    html_puts(p, "</b></span><span class=\"num wide\">");
    if (!is_more)
        html_number(p, t->scope->self_ps, unit);
    html_puts(p, "</span><span class=\"num wide\">");
    rep_put_count(p->b, is_more ? t->more_calls : t->scope->calls, true);
    html_puts(p, "</span>");
}

static void html_put_scope_name(page *p, const tree *t)
{
    html_puts(p, "<span class=\"name\" title=\"");
    html_text(p, t->scope->path);
    html_puts(p, "\">");
    rep_html_escape(p->b, t->label);
    html_puts(p, "</span>");
    if (t->scope->source) {
        html_puts(p, "<span class=\"src\">");
        html_text(p, t->scope->source);
        html_puts(p, "</span>");
    }
    if (t->below)
        vp_buf_printf(p->b, "<span class=\"below\">+%zu below</span>", t->below);
}

static void html_put_tree_event(page *p, const tree *t, vp_unit unit, tree_event event)
{
    bool open = event == TREE_OPEN && t->row_depth < OPEN_DEPTH &&
                t->scope->total_ps >= t->all_ps / (100 / OPEN_PERCENT);
    switch (event) {
    case TREE_OPEN:
        vp_buf_printf(p->b, "<details%s><summary><span class=\"label\">", open ? " open" : "");
        html_put_scope_name(p, t);
        html_puts(p, "</span>");
        html_put_scope_cells(p, t, unit, false);
        html_puts(p, "</summary>\n");
        break;
    case TREE_LEAF:
        html_puts(p, "<div class=\"row\"><span class=\"label\">");
        html_put_scope_name(p, t);
        html_puts(p, "</span>");
        html_put_scope_cells(p, t, unit, false);
        html_puts(p, "</div>\n");
        break;
    case TREE_MORE:
        vp_buf_printf(p->b, "<div class=\"row more\"><span class=\"label\">… %zu more</span>",
                      t->more);
        html_put_scope_cells(p, t, unit, true);
        html_puts(p, "</div>\n");
        break;
    case TREE_CLOSE:
        html_puts(p, "</details>\n");
        break;
    case TREE_END:
        break;
    }
}

bool html_has_scopes(const page *p)
{
    return p->r->scope_count > 0 && p->r->where == VP_WHERE_DEVICE;
}

bool html_has_paths(const page *p)
{
    return p->r->scope_count > 0 && p->r->where == VP_WHERE_HOST;
}

int html_scopes(page *p)
{
    static const tree_limits limits = {.depth = 32, .breadth = 40, .rows = 4000};
    tree t;
    tree_event event;
    VP_TRY(tree_init(&t, p->r, &limits));
    vp_unit unit = rep_unit_for(p->v.unit, t.all_ps);
    html_section(p, "scopes",
                 p->r->has_devices ? "Computation graph by op time" : "Call paths by self time");
    html_puts(p, "<p class=\"note\">");
    html_puts(p, p->r->has_devices ? "Self time of ops below each framework path, over all devices"
                                   : "Self time of zones below each call path, over all threads");
    html_puts(p, ". Percentages: of ");
    html_duration(p, t.all_ps, t.all_ps);
    html_puts(p, ".</p>\n");
    int rc = html_flame(p, t.all_ps, unit);
    vp_buf_printf(p->b,
                  "<div class=\"tree\">\n<div class=\"row head\" aria-hidden=\"true\">"
                  "<span class=\"label\">Scope</span><span class=\"num\">Total %s</span>"
                  "<span class=\"num share\">Total %%</span><span class=\"num wide\">Self %s</span>"
                  "<span class=\"num wide\">Calls</span></div>\n",
                  rep_unit_sign(unit), rep_unit_sign(unit));
    while ((event = tree_next(&t)) != TREE_END)
        html_put_tree_event(p, &t, unit, event);
    html_puts(p, "</div>\n");
    html_section_end(p);
    tree_free(&t);
    return rc < 0 ? rc : p->b->status;
}

/* ---- Forward, backward and rematerialized work together ---- */

#define FOLDED_MAX 40u

/* Without backward or rematerialized work this table would repeat the tree. */
bool html_has_folded(const page *p)
{
    for (size_t i = 0; i < p->r->folded_count; i++)
        if (p->r->folded[i].backward_ps > 0 || p->r->folded[i].remat_ps > 0)
            return true;
    return false;
}

static void folded_bar(page *p, const tbl *t, const tbl_column *c, const void *row)
{
    const vp_folded_scope *s = row;
    const int64_t parts[] = {s->forward_ps, s->backward_ps, s->remat_ps};
    static const char *const classes[] = {"forward", "backward", "remat"};
    const int64_t *all_ps = t->of;
    int64_t from = 0;
    (void)c;
    html_puts(p, "<td class=\"share\"><svg aria-hidden=\"true\">");
    for (size_t i = 0; i < 3; i++) {
        int64_t width = html_hundredths(parts[i], folded_whole_ps(p->r->folded));
        if (width)
            html_rect(p, classes[i], from, width);
        from += width;
    }
    html_puts(p, "</svg><b>");
    rep_put_percent(p->b, folded_whole_ps(s), *all_ps);
    html_puts(p, "</b></td>");
}

int html_folded(page *p)
{
    const vp_report *r = p->r;
    int64_t all = 0;
    tbl t;
    for (size_t i = 0; i < r->folded_count; i++)
        all += folded_whole_ps(&r->folded[i]);
    tbl_folded(&t, r, &p->v, &all);
    t.most = FOLDED_MAX;
    t.own_html = folded_bar;
    html_section(p, "folded", t.title);
    html_puts(p, "<p class=\"note\">Backward and rematerialized work counts in its forward scope. "
                 "Self time of ops directly in the scope.</p>\n");
    html_put_table(p, &t);
    html_section_end(p);
    return p->b->status;
}
