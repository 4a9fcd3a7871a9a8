#include "trace/report/html_parts.h"

#include "trace/base/err.h"
#include "trace/report/tree.h"

/* Rows of at least this share stand open at first, so that the page shows where the time goes. */
#define OPEN_PERCENT 20
#define OPEN_DEPTH 8u

static void put_cells(page *p, const tree *t, vp_unit unit, bool is_more)
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

static void put_name(page *p, const tree *t)
{
    html_puts(p, "<span class=\"name\" title=\"");
    html_text(p, t->scope->path);
    html_puts(p, "\">");
    rep_html_escape(p->b, t->label);
    html_puts(p, "</span>");
    if (t->below)
        vp_buf_printf(p->b, "<span class=\"below\">+%zu below</span>", t->below);
}

static void put_event(page *p, const tree *t, vp_unit unit, tree_event event)
{
    bool open = event == TREE_OPEN && t->row_depth < OPEN_DEPTH &&
                t->scope->total_ps >= t->all_ps / (100 / OPEN_PERCENT);
    switch (event) {
    case TREE_OPEN:
        vp_buf_printf(p->b, "<details%s><summary><span class=\"label\">", open ? " open" : "");
        put_name(p, t);
        html_puts(p, "</span>");
        put_cells(p, t, unit, false);
        html_puts(p, "</summary>\n");
        break;
    case TREE_LEAF:
        html_puts(p, "<div class=\"row\"><span class=\"label\">");
        put_name(p, t);
        html_puts(p, "</span>");
        put_cells(p, t, unit, false);
        html_puts(p, "</div>\n");
        break;
    case TREE_MORE:
        vp_buf_printf(p->b, "<div class=\"row more\"><span class=\"label\">… %zu more</span>",
                      t->more);
        put_cells(p, t, unit, true);
        html_puts(p, "</div>\n");
        break;
    case TREE_CLOSE:
        html_puts(p, "</details>\n");
        break;
    case TREE_END:
        break;
    }
}

int html_scopes(page *p)
{
    static const tree_limits limits = {.depth = 32, .breadth = 40, .rows = 4000};
    tree t;
    tree_event event;
    if (!p->r->scope_count)
        return p->b->status;
    VP_TRY(tree_init(&t, p->r, &limits));
    vp_unit unit = rep_unit_for(p->v.unit, t.all_ps);
    html_puts(p,
              "<section aria-labelledby=\"scopes-h\">\n<h2 id=\"scopes-h\">Computation graph by "
              "time</h2>\n<p class=\"note\">Self time of the ops below each framework path, over "
              "all devices. Shares are of ");
    html_duration(p, t.all_ps, t.all_ps);
    vp_buf_printf(p->b,
                  ".</p>\n<div class=\"tree\">\n<div class=\"row head\" aria-hidden=\"true\">"
                  "<span class=\"label\">Scope</span><span class=\"num\">Total %s</span>"
                  "<span class=\"num share\">Total %%</span><span class=\"num wide\">Self %s</span>"
                  "<span class=\"num wide\">Calls</span></div>\n",
                  rep_unit_sign(unit), rep_unit_sign(unit));
    while ((event = tree_next(&t)) != TREE_END)
        put_event(p, &t, unit, event);
    html_puts(p, "</div>\n</section>\n");
    tree_free(&t);
    return p->b->status;
}
