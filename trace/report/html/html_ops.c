/* The op tables of the page. */
#include <math.h>

#include "trace/base/err.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"
#include "trace/report/words/words.h"

/* What one table has: its units, and columns that only some profiles know. */
typedef struct table {
    page *p;
    const rep_rows *rows;
    const vp_device *device;
    vp_unit sum, call;
    bool has_bytes, has_flops, has_steps, has_idle;
    vp_unit step;
} table;

/* Parts of a mixed group that are shown below it, as long as they matter. */
#define SPLITS_MAX 4u

static void put_head(const table *t)
{
    page *p = t->p;
    const char *sum = rep_unit_sign(t->sum), *call = rep_unit_sign(t->call);
    static const char *const keys[] = {"Op", "Category", "Scope", "Source", "Module", "Raw name"};
    const char *what = p->r->has_devices ? keys[p->r->group] : "Event";
    html_puts(p, "<thead><tr>\n");
    html_head(p, "rank", "#", NULL, "Rank");
    html_head(p, "op", what, NULL,
              "Group, with its category and the scope that has most of its self time");
    html_sort_head(p, "Self", sum, "Time of its own, without what runs inside", VP_BY_SELF);
    html_head(p, "share", "Self", "%", "Self time as a share of the self time of all ops");
    html_head(p, "", "Cum.", "%", "Share of this row and those above it");
    html_sort_head(p, "Total", sum, "Time with what runs inside", VP_BY_TOTAL);
    html_sort_head(p, "Calls", NULL, "Number of calls", VP_BY_CALLS);
    html_head(p, "", "Mean", call, "Total over calls");
    html_head(p, "", "p50", call, "Median call");
    html_head(p, "", "p95", call, "95 of 100 calls are at most this long");
    html_sort_head(p, "Max", call, "Longest call", VP_BY_MAX);
    html_head(p, "", "CV", NULL, "Standard deviation over mean: above 0.5 the group is mixed");
    if (t->has_steps)
        html_head(p, "course", "Per step", rep_unit_sign(t->step),
                  "Mean self time of a step, and its course over the steps");
    if (t->has_idle)
        html_head(p, "", "Idle before", sum,
                  "Device idle time that ends where one of these starts");
    if (t->has_bytes)
        html_head(p, "", "GB/s", NULL, "Bytes accessed over total time");
    if (t->has_flops)
        html_head(p, "", "GFLOP/s", NULL, "Operations over total time");
    html_puts(p, "</tr></thead>\n");
}

/* analysis.md 5: a group whose calls differ this much is several ops under one name. */
static bool is_mixed(const table *t, const vp_op *op)
{
    return rep_cv(op) > 0.5 && (__int128)op->self_ps * 20 >= t->rows->all_self_ps;
}

static void cv_cell(const table *t, const vp_op *op)
{
    double cv = rep_cv(op);
    if (is_mixed(t, op))
        vp_buf_printf(t->p->b,
                      "<td class=\"mixed\" title=\"Calls differ this much when one name covers "
                      "several ops: group by scope or raw\">%.2f</td>",
                      cv);
    else
        html_double_cell(t->p, cv, 2);
}

static void share_cell(const table *t, int64_t self_ps, const char *css_class)
{
    html_bar_cell(t->p, css_class, self_ps, t->rows->max_self_ps, t->rows->all_self_ps);
}

static void put_tip(page *p, const char *word, const char *text)
{
    if (!text)
        return;
    vp_buf_printf(p->b, "\n%s: ", word);
    html_text(p, text);
}

static void put_path(page *p, const char *css_class, const char *path)
{
    vp_buf_printf(p->b, "<span class=\"%s\"><bdi>", css_class);
    html_text(p, path);
    html_puts(p, "</bdi></span>");
}

/* "+3 more": the group stands in other places too. */
static void put_more(page *p, int64_t all, const char *what)
{
    if (all > 1)
        vp_buf_printf(p->b,
                      "<span class=\"more\" title=\"%lld %s in this group\">+%lld more</span>",
                      (long long)all, what, (long long)(all - 1));
}

/* Paths are cut at their start by the style sheet: their ends say more. */
static void op_cell(const table *t, const vp_op *op)
{
    page *p = t->p;
    bool by_scope = p->r->group == VP_GROUP_SCOPE, by_source = p->r->group == VP_GROUP_SOURCE;
    const char *place = op->scope && !by_scope ? op->scope : by_source ? NULL : op->source;
    html_puts(p, "<th scope=\"row\" class=\"op\" title=\"");
    html_text(p, op->name);
    put_tip(p, "scope", op->scope);
    put_tip(p, "source", op->source);
    put_tip(p, "module", op->module);
    if (op->raw_names > 1)
        vp_buf_printf(p->b, "\n%lld names in this group", (long long)op->raw_names);
    html_puts(p, "\">");
    bool link = html_open_op(p, op);
    put_path(p, by_scope || by_source ? "name path" : "name", op->name);
    html_puts(p, link ? "</a>" : "");
    vp_buf_printf(p->b, "<span class=\"sub\"><span><i class=\"dot %s\"></i>",
                  html_class(op->op_class));
    html_text(p, op->category ? op->category : rep_class_name(op->op_class));
    html_puts(p, "</span>");
    if (place) {
        put_path(p, "path", place);
        if (place == op->scope)
            put_more(p, op->scopes, "scopes");
        else
            put_more(p, op->sources, "sources");
    }
    html_puts(p, "</span></th>");
}

static void max_cell(const table *t, const vp_op *op)
{
    page *p = t->p;
    uint32_t device = (uint32_t)(t->device - p->r->devices);
    html_puts(p, "<td>");
    bool link = html_open_place(p, device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
    html_number(p, op->max_ps, t->call);
    html_puts(p, link ? "</a></td>" : "</td>");
}

/* The mean of a step that counts, and its course over the steps. */
static void step_cell(const table *t, const vp_op *op)
{
    page *p = t->p;
    int64_t steps = t->device->steps_counted;
    html_puts(p, "<td class=\"course\">");
    if (op->per_step_count > 1)
        html_curve(p, "spark", NULL, op->per_step_ps, op->per_step_count);
    html_number(p, steps > 0 && op->step_self_ps >= 0 ? op->step_self_ps / steps : VP_UNKNOWN,
                t->step);
    html_puts(p, "</td>");
}

static void put_row(const table *t, size_t rank, const vp_op *op, int64_t cumulative)
{
    page *p = t->p;
    vp_buf_printf(p->b, "<tr><td class=\"rank\">%zu</td>", rank);
    op_cell(t, op);
    html_ps_cell(p, op->self_ps, t->sum);
    share_cell(t, op->self_ps, html_class(op->op_class));
    html_puts(p, "<td>");
    rep_put_percent(p->b, cumulative, t->rows->all_self_ps);
    html_puts(p, "</td>");
    html_ps_cell(p, op->total_ps, t->sum);
    html_count_cell(p, op->calls);
    html_ps_cell(p, rep_mean_ps(op), t->call);
    html_ps_cell(p, op->p50_ps, t->call);
    html_ps_cell(p, op->p95_ps, t->call);
    max_cell(t, op);
    cv_cell(t, op);
    if (t->has_steps)
        step_cell(t, op);
    if (t->has_idle)
        html_ps_cell(p, op->idle_before_ps, t->sum);
    if (t->has_bytes)
        html_double_cell(p, rep_gb_per_s(op), 1);
    if (t->has_flops)
        html_double_cell(p, rep_gflop_per_s(op), 0);
    html_puts(p, "</tr>\n");
}

static int64_t mean_of(const vp_split *s)
{
    return s->calls > 0 ? s->self_ps / s->calls : VP_UNKNOWN;
}

static void put_split(const table *t, const vp_split *s)
{
    page *p = t->p;
    double mean = s->calls > 0 ? (double)s->self_ps / (double)s->calls : 0;
    html_puts(p, "<tr class=\"part\"><td class=\"rank\"></td>");
    html_name_cell(p, s->label ? s->label : s->scope, s->label && s->scope ? s->scope : s->source);
    html_ps_cell(p, s->self_ps, t->sum);
    share_cell(t, s->self_ps, "idle");
    html_puts(p, "<td></td><td></td>");
    html_count_cell(p, s->calls);
    html_ps_cell(p, mean_of(s), t->call);
    html_puts(p, "<td></td><td></td>");
    html_ps_cell(p, s->max_ps, t->call);
    html_double_cell(p, mean > 0 ? s->stddev_ps / mean : NAN, 2);
    for (int i = 0; i < t->has_steps + t->has_idle + t->has_bytes + t->has_flops; i++)
        html_puts(p, "<td></td>");
    html_puts(p, "</tr>\n");
}

/* What a mixed group consists of; its smallest parts are left out. */
static void put_splits(const table *t, const vp_op *op)
{
    if (!is_mixed(t, op) || op->split_count < 2)
        return;
    for (size_t i = 0; i < op->split_count && i < SPLITS_MAX; i++)
        if ((__int128)op->splits[i].self_ps * 20 >= op->self_ps)
            put_split(t, &op->splits[i]);
}

static void put_others(const table *t)
{
    page *p = t->p;
    const rep_rows *rows = t->rows;
    vp_buf_printf(p->b,
                  "<tfoot><tr><td class=\"rank\"></td><th scope=\"row\" class=\"op\"><span "
                  "class=\"name\">others</span><span class=\"sub\">%zu group%s</span></th>",
                  rows->others, rows->others == 1 ? "" : "s");
    html_ps_cell(p, rows->others_self_ps, t->sum);
    share_cell(t, rows->others_self_ps, "idle");
    html_puts(p, "<td>");
    rep_put_percent(p->b, rows->shown_self_ps + rows->others_self_ps, rows->all_self_ps);
    html_puts(p, "</td>");
    html_ps_cell(p, rows->others_total_ps, t->sum);
    html_puts(p, "<td>");
    rep_put_count(p->b, rows->others_calls, true);
    vp_buf_printf(p->b, "</td><td colspan=\"%d\"></td></tr></tfoot>\n",
                  5 + t->has_steps + t->has_idle + t->has_bytes + t->has_flops);
}

/* Above the table and not its caption, which would be as wide as the table and scroll with it. */
static void put_summary(const table *t)
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

/* A page that was asked for more than a browser bears says so. */
static void put_cut(const table *t)
{
    page *p = t->p;
    size_t max = p->links.rows_max;
    if (max && t->rows->others && t->rows->shown == max && (!p->v.top || p->v.top > max))
        vp_buf_printf(p->b,
                      "<p class=\"note\">Only the first %zu of %zu rows are shown here. The CSV "
                      "has all of them; the filter finds the others.</p>\n",
                      max, t->rows->matching);
}

static void put_table(const table *t)
{
    page *p = t->p;
    int64_t cumulative = 0;
    put_summary(t);
    html_puts(p, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Slowest of ");
    html_text(p, t->device->name);
    html_puts(p, "\">\n<table class=\"ops\">\n<caption class=\"vh\">Slowest of ");
    html_text(p, t->device->name);
    html_puts(p, "</caption>\n");
    put_head(t);
    html_puts(p, "<tbody>\n");
    for (size_t i = 0; i < t->rows->shown; i++) {
        const vp_op *op = &p->r->ops[t->rows->index[i]];
        cumulative += op->self_ps;
        put_row(t, i + 1, op, cumulative);
        put_splits(t, op);
    }
    html_puts(p, "</tbody>\n");
    if (t->rows->others)
        put_others(t);
    html_puts(p, "</table>\n</div>\n");
    put_cut(t);
}

static void note_columns(table *t, const vp_op *op)
{
    t->has_bytes |= isfinite(rep_gb_per_s(op)) != 0;
    t->has_flops |= isfinite(rep_gflop_per_s(op)) != 0;
    t->has_idle |= op->idle_before_ps > 0;
    if (t->device->steps_counted > 0 && op->step_self_ps > 0) {
        vp_unit unit = rep_unit_for(t->p->v.unit, op->step_self_ps / t->device->steps_counted);
        t->step = t->has_steps && t->step > unit ? t->step : unit;
        t->has_steps = true;
    }
}

static void put_no_match(const table *t)
{
    page *p = t->p;
    html_puts(p, "<div class=\"what\"><h3>");
    html_text(p, t->device->name);
    html_puts(p, "</h3> <span>no group holds “");
    html_text(p, p->v.filter);
    html_puts(p, "”</span></div>\n");
}

int html_ops(page *p, size_t device)
{
    rep_rows rows;
    VP_TRY(rep_rows_most(&rows, p->r, &p->v, device, p->links.rows_max));
    table t = {.p = p, .rows = &rows, .device = &p->r->devices[device]};
    int64_t scale = rows.max_total_ps > rows.max_self_ps ? rows.max_total_ps : rows.max_self_ps;
    t.sum = rep_unit_for(p->v.unit, scale);
    t.call = rep_unit_for(p->v.unit, rows.max_call_ps);
    for (size_t i = 0; i < rows.shown; i++)
        note_columns(&t, &p->r->ops[rows.index[i]]);
    if (rows.matching)
        put_table(&t);
    else if (p->v.filter)
        put_no_match(&t);
    rep_rows_free(&rows);
    return p->b->status;
}
