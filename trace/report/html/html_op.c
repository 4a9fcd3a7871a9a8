/* The page about one op. */
#include "trace/report/html/html_graph.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/report/table/calls_tables.h"
#include "trace/report/labels/escape.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

/* The page about one op: the sums over its calls, the slowest calls with their places in time, the
 * distribution of durations, and the names in the group. */
typedef struct op_page {
    page *p;
    const vp_op *op;
    const op_details *d;
    const vp_device *device;
    vp_unit call;
} op_page;

/* ---- Sums over all calls
 * ------------------------------------------------------------------------- */

static bool html_open_source_link(page *p, const char *source)
{
    const char *root = p->links.source_root;
    bool opens = rep_put_source_url(p->b, "<a href=\"", vp_str_of(source), root ? root : "");
    html_puts(p, opens ? "\">" : "");
    return opens;
}

/* A place of the group and the number of others. */
static void place_fact(page *p, const char *name, const char *text, int64_t all, bool source)
{
    if (!text)
        return;
    html_open_fact(p, name);
    bool link = source && html_open_source_link(p, text);
    html_puts(p, "<code>");
    html_text(p, text);
    html_puts(p, link ? "</code></a>" : "</code>");
    if (all > 1)
        vp_buf_printf(p->b, "<span class=\"sub\">+%lld more in this group</span>",
                      (long long)(all - 1));
    html_close_fact(p);
}

static void share_fact(const op_page *o)
{
    page *p = o->p;
    html_open_fact(p, "Self time");
    html_puts(p, "<b>");
    html_duration(p, o->op->self_ps, o->op->self_ps);
    html_puts(p, "</b>, ");
    rep_put_percent(p->b, o->op->self_ps, o->device->self_ps);
    html_puts(p, " of");
    html_puts(p, rep_self_of(p->r));
    html_close_fact(p);
}

static void call_fact(const op_page *o, const char *name, int64_t ps)
{
    html_open_fact(o->p, name);
    html_number(o->p, ps, o->call);
    vp_buf_printf(o->p->b, " %s", rep_unit_sign(o->call));
    html_close_fact(o->p);
}

static void put_back(const op_page *o)
{
    page *p = o->p;
    html_puts(p, "<p class=\"crumbs\"><a href=\"");
    html_text(p, p->links.base);
    html_text(p, p->links.session);
    html_query(p, "", NULL);
    html_puts(p, "#ops\">");
    html_text(p, p->r->session_name);
    html_puts(p, "</a></p>\n");
}

/* Operators found by launches. An operator that is the end of an XLA op's scope is not repeated. */
static void put_operator_facts(const op_page *o)
{
    const vp_op *op = o->op;
    const char *outer = op->outermost_name;
    if (!outer)
        return;
    place_fact(o->p, "Operator", op->operator_name, op->operators, false);
    if (strcmp(outer, op->operator_name ? op->operator_name : outer))
        place_fact(o->p, "Called by", outer, 1, false);
}

static void html_put_op_head(const op_page *o)
{
    page *p = o->p;
    const vp_op *op = o->op;
    if (p->links.session)
        put_back(o);
    html_puts(p, "<div class=\"title\"><h1 class=\"code\">");
    html_text(p, op->name);
    vp_buf_printf(p->b, "</h1>\n<span class=\"badge\"><i class=\"dot %s\"></i>",
                  rep_class_css(op->op_class));
    html_text(p, op->category ? op->category : rep_class_name(op->op_class));
    html_puts(p, "</span></div>\n<dl class=\"facts\">\n");
    html_open_fact(p, "Device");
    html_text(p, o->device->name);
    html_puts(p, o->device->host ? ", " : "");
    html_text(p, o->device->host ? o->device->host : "");
    html_close_fact(p);
    if (p->r->step != VP_UNKNOWN) {
        html_open_fact(p, "Step filter");
        vp_buf_printf(p->b, "step %lld", (long long)p->r->step);
        html_close_fact(p);
    }
    html_count_fact(p, "Calls", op->calls);
    share_fact(o);
    html_duration_fact(p, "Total time", op->total_ps);
    call_fact(o, "Mean", rep_mean_ps(op));
    call_fact(o, "p50", op->p50_ps);
    call_fact(o, "p95", op->p95_ps);
    call_fact(o, "Longest", op->max_ps);
    html_puts(p, "</dl>\n<dl class=\"facts\">\n");
    put_operator_facts(o);
    place_fact(p, "Scope", p->r->group == VP_GROUP_SCOPE ? NULL : op->scope, op->scopes, false);
    place_fact(p, "Source", p->r->group == VP_GROUP_SOURCE ? NULL : op->source, op->sources, true);
    place_fact(p, "Module", p->r->group == VP_GROUP_MODULE ? NULL : op->module, 1, false);
    html_puts(p, "</dl>\n</header>\n");
}

/* ---- Durations of calls
 * --------------------------------------------------------------------------- */

static void put_bars(const op_page *o, int64_t most)
{
    page *p = o->p;
    const int64_t width = REP_PERCENT_ALL / OP_BINS;
    html_puts(p, "<svg class=\"steps short\" role=\"img\" aria-labelledby=\"bins-h\">");
    for (size_t i = 0; i < OP_BINS; i++) {
        int64_t height = html_hundredths(o->d->bins[i], most);
        if (o->d->bins[i] && height < 100)
            height = 100; /* few are not none */
        html_block(p, rep_class_css(o->op->op_class),
                   (html_box){(int64_t)i * width, REP_PERCENT_ALL - height, width - 25, height});
    }
    html_puts(p, "</svg>\n");
}

static void html_put_call_bins(const op_page *o)
{
    page *p = o->p;
    int64_t most = 0;
    for (size_t i = 0; i < OP_BINS; i++)
        most = o->d->bins[i] > most ? o->d->bins[i] : most;
    if (o->d->max_ps <= o->d->min_ps)
        return;
    html_section(p, "bins", "Call durations");
    vp_buf_printf(p->b,
                  "<p class=\"note\">Number of calls by duration; the highest bar is %lld "
                  "call%s.</p>\n",
                  (long long)most, most == 1 ? "" : "s");
    html_puts(p, "<div class=\"chart\">\n");
    put_bars(o, most);
    html_puts(p, "</div>\n<div class=\"axis\"><span>");
    html_duration(p, o->d->min_ps, o->d->max_ps);
    html_puts(p, "</span><span>");
    html_duration(p, o->d->max_ps, o->d->max_ps);
    html_puts(p, "</span></div>\n");
    html_section_end(p);
}

/* ---- Calls and names ------------------------------------------------------------------------- */

static void raw_name_cell(page *p, const tbl *t, const tbl_column *c, const void *row)
{
    (void)t;
    (void)c;
    html_puts(p, "<td class=\"text raw\"><code>");
    html_text(p, ((const detail_call *)row)->name);
    html_puts(p, "</code></td>");
}

static void html_put_slowest_calls(const op_page *o)
{
    page *p = o->p;
    op_calls of = {o->op, o->d};
    tbl t;
    tbl_calls(&t, p->r, &p->v, &of);
    t.own_html = raw_name_cell;
    html_section(p, "calls", t.title);
    html_put_table(p, &t);
    if (o->op->calls > (int64_t)o->d->call_count)
        vp_buf_printf(p->b, "<p class=\"note\">%lld faster calls not shown.</p>\n",
                      (long long)(o->op->calls - (int64_t)o->d->call_count));
    html_section_end(p);
}

static void put_launches(const op_page *o)
{
    op_calls of = {o->op, o->d};
    tbl t;
    if (!o->d->launch_count)
        return;
    tbl_kernels(&t, o->p->r, &o->p->v, &of);
    html_table_section(o->p, "launches", &t);
}

static void put_callers(const op_page *o)
{
    op_calls of = {o->op, o->d};
    tbl t;
    if (!o->d->caller_count)
        return;
    tbl_callers(&t, o->p->r, &o->p->v, &of);
    html_table_section(o->p, "operators", &t);
}

static void html_put_group_names(const op_page *o)
{
    page *p = o->p;
    op_calls of = {o->op, o->d};
    tbl t;
    tbl_names(&t, p->r, &p->v, &of);
    html_section(p, "names", t.title);
    html_put_table(p, &t);
    html_section_end(p);
}

int rep_op_html(vp_buf *b, const vp_report *r, size_t op, const op_details *d, const vp_view *v,
                const rep_links *links)
{
    page p = {.b = b, .r = r, .v = rep_view(v), .links = *links};
    op_page o = {.p = &p,
                 .op = &r->ops[op],
                 .d = d,
                 .device = &r->devices[r->ops[op].device],
                 .call = rep_unit_for(p.v.unit, r->ops[op].max_ps)};
    html_begin(&p, o.op->name);
    html_put_op_head(&o);
    html_puts(&p, "<main id=\"main\">\n");
    html_graph(&p, d->graph);
    html_put_call_bins(&o);
    html_put_slowest_calls(&o);
    put_callers(&o);
    put_launches(&o);
    html_put_group_names(&o);
    html_puts(&p, "</main>\n<footer><p>view_profile " VP_VERSION "</p></footer>\n");
    html_end(&p);
    return b->status;
}
