#include "trace/report/html_parts.h"

#include <math.h>

#include "trace/base/err.h"

/* What one table has: its units, and columns that only some profiles know. */
typedef struct table {
    page *p;
    const rep_rows *rows;
    const vp_device *device;
    vp_unit sum, call;
    bool has_bytes, has_flops;
} table;

static void head_cell(page *p, const char *css_class, const char *text, const char *unit,
                      const char *title)
{
    vp_buf_printf(p->b, "<th scope=\"col\" class=\"%s\" title=\"%s\">%s", css_class, title, text);
    if (unit)
        vp_buf_printf(p->b, " <span>%s</span>", unit);
    html_puts(p, "</th>\n");
}

static void put_head(const table *t)
{
    page *p = t->p;
    const char *sum = rep_unit_sign(t->sum), *call = rep_unit_sign(t->call);
    static const char *const keys[] = {"Op", "Category", "Scope", "Source", "Module", "Raw name"};
    const char *what = p->r->has_devices ? keys[p->r->group] : "Event";
    html_puts(p, "<thead><tr>\n");
    head_cell(p, "rank", "#", NULL, "Rank");
    head_cell(p, "op", what, NULL, "Group, with its category and the scope of its slowest member");
    head_cell(p, "", "Self", sum, "Time of its own, without what runs inside");
    head_cell(p, "share", "Self", "%", "Self time as a share of the self time of all ops");
    head_cell(p, "", "Cum.", "%", "Share of this row and those above it");
    head_cell(p, "", "Total", sum, "Time with what runs inside");
    head_cell(p, "", "Calls", NULL, "Number of calls");
    head_cell(p, "", "Mean", call, "Total over calls");
    head_cell(p, "", "p50", call, "Median call");
    head_cell(p, "", "p95", call, "95 of 100 calls are at most this long");
    head_cell(p, "", "Max", call, "Longest call");
    head_cell(p, "", "CV", NULL, "Standard deviation over mean: above 0.5 the group is mixed");
    if (t->has_bytes)
        head_cell(p, "", "GB/s", NULL, "Bytes accessed over total time");
    if (t->has_flops)
        head_cell(p, "", "GFLOP/s", NULL, "Operations over total time");
    html_puts(p, "</tr></thead>\n");
}

static void ps_cell(const table *t, int64_t ps, vp_unit unit)
{
    html_puts(t->p, "<td>");
    html_number(t->p, ps, unit);
    html_puts(t->p, "</td>");
}

static void double_cell(const table *t, double v, int decimals)
{
    if (isfinite(v))
        vp_buf_printf(t->p->b, "<td>%.*f</td>", decimals, v);
    else
        html_puts(t->p, "<td>–</td>");
}

/* analysis.md 5: a group whose calls differ this much is several ops under one name. */
static void cv_cell(const table *t, const vp_op *op)
{
    double cv = rep_cv(op);
    if (cv > 0.5 && (__int128)op->self_ps * 20 >= t->rows->all_self_ps)
        vp_buf_printf(t->p->b,
                      "<td class=\"mixed\" title=\"Calls differ this much when one name covers "
                      "several ops: group by scope or raw\">%.2f</td>",
                      cv);
    else
        double_cell(t, cv, 2);
}

static void share_cell(const table *t, int64_t self_ps, const char *css_class)
{
    page *p = t->p;
    html_puts(p, "<td class=\"share\"><svg aria-hidden=\"true\">");
    html_rect(p, css_class, 0, html_hundredths(self_ps, t->rows->max_self_ps));
    html_puts(p, "</svg><b>");
    rep_put_percent(p->b, self_ps, t->rows->all_self_ps);
    html_puts(p, "</b></td>");
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
    put_path(p, by_scope || by_source ? "name path" : "name", op->name);
    vp_buf_printf(p->b, "<span class=\"sub\"><span><i class=\"dot %s\"></i>",
                  html_class(op->op_class));
    html_text(p, op->category ? op->category : rep_class_name(op->op_class));
    html_puts(p, "</span>");
    if (place)
        put_path(p, "path", place);
    html_puts(p, "</span></th>");
}

/* The longest call leads to its place on its host's timeline, in ns as Perfetto counts them: a
 * half-open range that is never empty. */
static void max_cell(const table *t, const vp_op *op)
{
    page *p = t->p;
    int64_t start = op->slowest_start_ps, dur = op->slowest_dur_ps, from;
    if (!p->links.perfetto || dur < 0 ||
        __builtin_add_overflow(start / 1000, t->device->timeline_ns, &from) || from < 0) {
        ps_cell(t, op->max_ps, t->call);
        return;
    }
    int64_t until = from + (start % 1000 + dur) / 1000 + 1;
    html_puts(p, "<td><a title=\"Show this call in Perfetto\" href=\"");
    html_text(p, p->links.base ? p->links.base : "");
    html_text(p, p->links.perfetto);
    if (p->r->host_count > 1 && t->device->host) {
        html_puts(p, "/");
        html_url(p, t->device->host);
    }
    vp_buf_printf(p->b, "?at=%lld..%lld\">", (long long)from, (long long)until);
    html_number(p, op->max_ps, t->call);
    html_puts(p, "</a></td>");
}

static void put_row(const table *t, size_t rank, const vp_op *op, int64_t cumulative)
{
    page *p = t->p;
    vp_buf_printf(p->b, "<tr><td class=\"rank\">%zu</td>", rank);
    op_cell(t, op);
    ps_cell(t, op->self_ps, t->sum);
    share_cell(t, op->self_ps, html_class(op->op_class));
    html_puts(p, "<td>");
    rep_put_percent(p->b, cumulative, t->rows->all_self_ps);
    html_puts(p, "</td>");
    ps_cell(t, op->total_ps, t->sum);
    html_puts(p, "<td>");
    rep_put_count(p->b, op->calls, true);
    html_puts(p, "</td>");
    ps_cell(t, rep_mean_ps(op), t->call);
    ps_cell(t, op->p50_ps, t->call);
    ps_cell(t, op->p95_ps, t->call);
    max_cell(t, op);
    cv_cell(t, op);
    if (t->has_bytes)
        double_cell(t, rep_gb_per_s(op), 1);
    if (t->has_flops)
        double_cell(t, rep_gflop_per_s(op), 0);
    html_puts(p, "</tr>\n");
}

static void put_others(const table *t)
{
    page *p = t->p;
    const rep_rows *rows = t->rows;
    vp_buf_printf(p->b,
                  "<tfoot><tr><td class=\"rank\"></td><th scope=\"row\" class=\"op\"><span "
                  "class=\"name\">others</span><span class=\"sub\">%zu group%s</span></th>",
                  rows->others, rows->others == 1 ? "" : "s");
    ps_cell(t, rows->others_self_ps, t->sum);
    share_cell(t, rows->others_self_ps, "idle");
    html_puts(p, "<td>");
    rep_put_percent(p->b, rows->shown_self_ps + rows->others_self_ps, rows->all_self_ps);
    html_puts(p, "</td>");
    ps_cell(t, rows->others_total_ps, t->sum);
    html_puts(p, "<td>");
    rep_put_count(p->b, rows->others_calls, true);
    vp_buf_printf(p->b, "</td><td colspan=\"%d\"></td></tr></tfoot>\n",
                  5 + t->has_bytes + t->has_flops);
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
    html_puts(p, p->r->has_devices ? " op time" : " self time");
    if (rows->hidden) {
        vp_buf_printf(p->b, "; %zu group%s below 0.5%% hidden (", rows->hidden,
                      rows->hidden == 1 ? "" : "s");
        html_duration(p, rows->hidden_self_ps, rows->hidden_self_ps);
        html_puts(p, ")");
    }
    html_puts(p, "</span></div>\n");
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
    }
    html_puts(p, "</tbody>\n");
    if (t->rows->others)
        put_others(t);
    html_puts(p, "</table>\n</div>\n");
}

int html_ops(page *p, size_t device)
{
    rep_rows rows;
    VP_TRY(rep_rows_of(&rows, p->r, &p->v, device));
    table t = {.p = p, .rows = &rows, .device = &p->r->devices[device]};
    int64_t scale = rows.max_total_ps > rows.max_self_ps ? rows.max_total_ps : rows.max_self_ps;
    t.sum = rep_unit_for(p->v.unit, scale);
    t.call = rep_unit_for(p->v.unit, rows.max_call_ps);
    for (size_t i = 0; i < rows.shown; i++) {
        t.has_bytes |= isfinite(rep_gb_per_s(&p->r->ops[rows.index[i]])) != 0;
        t.has_flops |= isfinite(rep_gflop_per_s(&p->r->ops[rows.index[i]])) != 0;
    }
    if (rows.matching)
        put_table(&t);
    rep_rows_free(&rows);
    return p->b->status;
}
