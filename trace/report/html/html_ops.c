/* The op tables of the page. */
#include <math.h>

#include "trace/base/err.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/table/ops_table.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

typedef struct table {
    page *p;
    const rep_rows *rows;
    const vp_device *device;
    ops_table ops;
} table;

/* Parts of a mixed group that are shown below it, if they are large enough. */
#define SPLITS_MAX 4u

static void html_put_cell_tip(page *p, const char *word, const char *text)
{
    if (!text)
        return;
    vp_buf_printf(p->b, "\n%s: ", word);
    html_text(p, text);
}

static void html_put_path(page *p, const char *css_class, const char *path)
{
    vp_buf_printf(p->b, "<span class=\"%s\"><bdi>", css_class);
    html_text(p, path);
    html_puts(p, "</bdi></span>");
}

/* "+3 more": the group has other scopes, too. */
static void put_more(page *p, int64_t all, const char *what)
{
    if (all > 1)
        vp_buf_printf(p->b,
                      "<span class=\"more\" title=\"%lld %s in this group\">+%lld more</span>",
                      (long long)all, what, (long long)(all - 1));
}

/* Paths are cut at their start by the style sheet, because the end identifies them. */
static void group_cell(page *p, const vp_op *op)
{
    bool by_scope = p->r->group == VP_GROUP_SCOPE, by_source = p->r->group == VP_GROUP_SOURCE;
    const char *place = op->scope && !by_scope ? op->scope : by_source ? NULL : op->source;
    html_puts(p, "<th scope=\"row\" class=\"op\" title=\"");
    html_text(p, op->name);
    html_put_cell_tip(p, "operator", op->outermost_name ? op->operator_name : NULL);
    html_put_cell_tip(p, "scope", op->scope);
    html_put_cell_tip(p, "source", op->source);
    html_put_cell_tip(p, "module", op->module);
    if (op->raw_names > 1)
        vp_buf_printf(p->b, "\n%lld names in this group", (long long)op->raw_names);
    html_puts(p, "\">");
    bool link = html_open_op(p, op);
    html_put_path(p, by_scope || by_source ? "name path" : "name", op->name);
    html_puts(p, link ? "</a>" : "");
    vp_buf_printf(p->b, "<span class=\"sub\"><span><i class=\"dot %s\"></i>",
                  rep_class_css(op->op_class));
    html_text(p, op->category ? op->category : rep_class_name(op->op_class));
    html_puts(p, "</span>");
    if (place) {
        html_put_path(p, "path", place);
        if (place == op->scope)
            put_more(p, op->scopes, "scopes");
        else
            put_more(p, op->sources, "sources");
    }
    html_puts(p, "</span></th>");
}

static void others_cell(page *p, size_t others)
{
    vp_buf_printf(p->b,
                  "<th scope=\"row\" class=\"op\"><span class=\"name\">others</span><span "
                  "class=\"sub\">%zu group%s</span></th>",
                  others, others == 1 ? "" : "s");
}

static void html_op_name_cell(page *p, const tbl *t, const tbl_column *c, const void *row)
{
    const ops_row *x = row;
    const vp_split *s = x->split;
    (void)t;
    (void)c;
    if (x->op)
        group_cell(p, x->op);
    else if (s)
        html_name_cell(p, s->label ? s->label : s->scope,
                       s->label && s->scope ? s->scope : s->source);
    else
        others_cell(p, x->others);
}

static const char *html_op_row_class(const tbl *t, const void *row)
{
    (void)t;
    return ((const ops_row *)row)->split ? "part" : NULL;
}

/* The parts of a mixed group, without the smallest ones. */
static void put_splits(const table *t, html_row_writer *w, const vp_op *op)
{
    if (!ops_is_mixed(op, t->rows->all_self_ps) || op->split_count < 2)
        return;
    for (size_t i = 0; i < op->split_count && i < SPLITS_MAX; i++)
        if ((__int128)op->splits[i].self_ps * 20 >= op->self_ps)
            html_row(w, &(ops_row[]){ops_row_of_split(t->rows, &op->splits[i])});
}

/* Above the table and not in its caption, which would be as wide as the table and scroll with it.
 */
static void html_put_ops_summary(const table *t)
{
    page *p = t->p;
    const rep_rows *rows = t->rows;
    html_puts(p, "<div class=\"what\"><h3>");
    html_text(p, t->device->name);
    html_puts(p, "</h3>");
    if (t->device->host) {
        html_puts(p, " <span class=\"host\">");
        html_text(p, t->device->host);
        html_puts(p, "</span>");
    }
    vp_buf_printf(p->b, " <span>%zu of %zu group%s by %s: ", rows->shown, rows->matching,
                  rows->matching == 1 ? "" : "s", rep_sort_name(p->v.sort));
    html_duration(p, rows->shown_self_ps, rows->shown_self_ps);
    html_puts(p, ", ");
    rep_put_percent(p->b, rows->shown_self_ps, rows->all_self_ps);
    html_puts(p, " of ");
    html_duration(p, rows->all_self_ps, rows->all_self_ps);
    html_puts(p, rep_self_of(p->r));
    if (rows->hidden) {
        vp_buf_printf(p->b, "; %zu group%s below 0.5%% hidden (", rows->hidden,
                      rows->hidden == 1 ? "" : "s");
        html_duration(p, rows->hidden_self_ps, rows->hidden_self_ps);
        html_puts(p, ")");
    }
    html_puts(p, "</span></div>\n");
}

/* Notes that a page has fewer rows than requested, because browsers cannot show more. */
static void html_put_ops_cut_note(const table *t)
{
    page *p = t->p;
    size_t max = p->links.rows_max;
    if (max && t->rows->others && t->rows->shown == max && (!p->v.top || p->v.top > max))
        vp_buf_printf(p->b,
                      "<p class=\"note\">Shows the first %zu of %zu rows. The CSV has all rows; "
                      "the filter searches all rows.</p>\n",
                      max, t->rows->matching);
}

static void html_put_op_rows(const table *t, html_row_writer *w)
{
    int64_t cumulative = 0;
    for (size_t i = 0; i < t->rows->shown; i++) {
        const vp_op *op = &t->p->r->ops[t->rows->index[i]];
        ops_row row = ops_row_of(op, t->rows->all_self_ps, t->rows->max_self_ps);
        row.rank = (int64_t)i + 1;
        row.cumulative_ps = cumulative += op->self_ps;
        html_row(w, &row);
        put_splits(t, w, op);
    }
}

static void html_put_ops_table(const table *t)
{
    page *p = t->p;
    html_row_writer w;
    html_init_rows(&w, p, &t->ops.t);
    html_put_ops_summary(t);
    html_puts(p, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Slowest of ");
    html_text(p, t->device->name);
    html_puts(p, "\">\n<table class=\"ops\">\n<caption class=\"vh\">Slowest of ");
    html_text(p, t->device->name);
    html_puts(p, "</caption>\n<thead><tr>\n");
    html_heads(&w);
    html_rows(p);
    html_put_op_rows(t, &w);
    html_puts(p, "</tbody>\n");
    if (t->rows->others)
        html_last_row(&w, &(ops_row[]){ops_row_of_others(t->rows)});
    html_puts(p, "</table>\n</div>\n");
    html_put_ops_cut_note(t);
}

/* Columns that only some profiles have. */
static void note_columns(table *t, const vp_op *op)
{
    tbl *x = &t->ops.t;
    x->has |= isfinite(rep_gb_per_s(op)) ? OPS_BYTES : 0;
    x->has |= isfinite(rep_gflop_per_s(op)) ? OPS_FLOPS : 0;
    x->has |= op->idle_before_ps > 0 ? OPS_IDLE : 0;
    if (t->device->steps_counted > 0 && op->step_self_ps > 0) {
        vp_unit unit = rep_unit_for(t->p->v.unit, op->step_self_ps / t->device->steps_counted);
        bool longer = !(x->has & OPS_STEPS) || unit > x->unit[OPS_STEP];
        x->unit[OPS_STEP] = longer ? unit : x->unit[OPS_STEP];
        x->has |= OPS_STEPS;
    }
}

static void put_no_match(const table *t)
{
    page *p = t->p;
    html_puts(p, "<div class=\"what\"><h3>");
    html_text(p, t->device->name);
    html_puts(p, "</h3> <span>no group contains “");
    html_text(p, p->v.filter);
    html_puts(p, "”</span></div>\n");
}

int html_ops(page *p, size_t device)
{
    rep_rows rows;
    VP_TRY(rep_rows_most(&rows, p->r, &p->v, device, p->links.rows_max));
    table t = {.p = p, .rows = &rows, .device = &p->r->devices[device]};
    int64_t scale = rows.max_total_ps > rows.max_self_ps ? rows.max_total_ps : rows.max_self_ps;
    tbl_ops(&t.ops, p->r, &p->v);
    t.ops.t.own_html = html_op_name_cell;
    t.ops.t.row_class = html_op_row_class;
    t.ops.t.unit[OPS_SUM] = rep_unit_for(p->v.unit, scale);
    t.ops.t.unit[OPS_CALL] = rep_unit_for(p->v.unit, rows.max_call_ps);
    for (size_t i = 0; i < rows.shown; i++)
        note_columns(&t, &p->r->ops[rows.index[i]]);
    if (rows.matching)
        html_put_ops_table(&t);
    else if (p->v.filter)
        put_no_match(&t);
    rep_rows_free(&rows);
    return p->b->status;
}
