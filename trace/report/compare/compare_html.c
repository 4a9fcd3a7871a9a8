/* The page about two reports: whether B is slower than A and for sure, and which parts make up the
 * difference. A bar to the right is time that B takes more. */
#include <math.h>

#include "trace/base/err.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/compare/delta_cells.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/words/escape.h"
#include "trace/report/words/shown_rows.h"
#include "trace/report/words/words.h"

#define OPS_MAX 60u
/* Ops within the noise are listed up to this row: they show that nothing moved. */
#define NOISE_MAX 20u
#define SCOPES_MAX 60u
#define INDENT_MAX 12u
#define TITLE_MAX 8192u

typedef struct comparison {
    page p;
    const vp_comparison *c;
} comparison;

/* ---- The verdict ---- */

static void put_side(page *p, const char *letter, const char *id, const char *name)
{
    vp_buf_printf(p->b, "<div><dt>%s</dt><dd>", letter);
    if (p->links.base && id) {
        html_puts(p, "<a href=\"");
        html_text(p, p->links.base);
        html_puts(p, "/session/");
        html_url(p, id);
        html_puts(p, "/\">");
    }
    html_text(p, name);
    html_puts(p, p->links.base && id ? "</a></dd></div>\n" : "</dd></div>\n");
}

static void put_swap(page *p, const vp_comparison *c)
{
    if (!p->links.base || !c->a_id || !c->b_id)
        return;
    html_open_fact(p, "The other way");
    html_puts(p, "<a href=\"");
    html_text(p, p->links.base);
    html_puts(p, "/compare/");
    html_url(p, c->b_id);
    html_puts(p, "/");
    html_url(p, c->a_id);
    html_puts(p, "\">Swap A and B</a>");
    html_close_fact(p);
}

void html_verdict(page *p, const char *a, const char *b, vp_verdict verdict, const char *reason)
{
    static const char *const levels[] = {"bad", "good", "low", "warn"};
    html_puts(p, "<div class=\"title\"><h1>");
    html_text(p, b);
    html_puts(p, " against ");
    html_text(p, a);
    vp_buf_printf(p->b, "</h1>\n<span class=\"badge %s\">%s</span></div>\n", levels[verdict],
                  rep_verdict_name(verdict));
    if (!reason)
        return;
    html_puts(p, "<p class=\"note\">");
    html_text(p, reason);
    html_puts(p, "</p>\n");
}

static void put_header(comparison *x)
{
    page *p = &x->p;
    const vp_comparison *c = x->c;
    html_verdict(p, c->a_name, c->b_name, c->verdict, c->verdict_reason);
    html_puts(p, "<dl class=\"facts\">\n");
    put_side(p, "A", c->a_id, c->a_name);
    put_side(p, "B", c->b_id, c->b_name);
    html_delta_fact(p, c->per_step ? "Mean step" : "Window", &c->step);
    html_delta_fact(p, "Median step", &c->median);
    html_delta_fact(p, "p90", &c->p90);
    if (c->steps_a >= 0 && c->steps_b >= 0) {
        html_open_fact(p, "Steps that count");
        vp_buf_printf(p->b, "%lld and %lld", (long long)c->steps_a, (long long)c->steps_b);
        html_close_fact(p);
    }
    html_duration_fact(p, "Noise up to", c->threshold_ps);
    put_swap(p, c);
    html_puts(p, "</dl>\n</header>\n");
}

static void put_caveats(comparison *x)
{
    page *p = &x->p;
    if (!x->c->caveat_count)
        return;
    html_section(p, "caveats", "Mind");
    html_puts(p, "<ul class=\"caveats\">\n");
    for (size_t i = 0; i < x->c->caveat_count; i++) {
        html_puts(p, "<li>");
        html_text(p, x->c->caveats[i]);
        html_puts(p, "</li>\n");
    }
    html_puts(p, "</ul>\n");
    html_section_end(p);
}

static void put_ids(page *p, const char *what, const char *const *ids, size_t n)
{
    if (!n)
        return;
    html_open_fact(p, what);
    for (size_t i = 0; i < n; i++) {
        html_puts(p, i ? ", " : "");
        html_text(p, ids[i]);
    }
    html_close_fact(p);
}

static void put_findings(comparison *x)
{
    const vp_comparison *c = x->c;
    if (!c->new_count && !c->gone_count)
        return;
    html_section(&x->p, "findings", "Findings");
    html_puts(&x->p, "<dl class=\"facts\">\n");
    put_ids(&x->p, "Only in B", c->findings_new, c->new_count);
    put_ids(&x->p, "Only in A", c->findings_gone, c->gone_count);
    html_puts(&x->p, "</dl>\n");
    html_section_end(&x->p);
}

/* ---- Where the difference comes from ---- */

static void part_row(page *p, const char *css_class, const char *name, const vp_delta *d,
                     vp_unit unit, int64_t scale)
{
    html_puts(p, "<tr><th scope=\"row\" class=\"text\">");
    if (css_class)
        vp_buf_printf(p->b, "<i class=\"dot %s\"></i>", css_class);
    vp_buf_printf(p->b, "%s</th>", name);
    html_delta_cells(p, d, unit, scale);
    html_puts(p, "</tr>\n");
}

static void put_device(comparison *x, const vp_compared_device *d)
{
    static const char *const classes[REP_PARTS] = {"comp", "comm", "copy", "idle"};
    const vp_delta *parts[REP_PARTS] = {&d->compute, &d->exposed_comm, &d->exposed_copy, &d->idle};
    page *p = &x->p;
    int64_t longest = d->window.a_ps > d->window.b_ps ? d->window.a_ps : d->window.b_ps;
    int64_t scale = rep_delta_size(&d->window);
    for (size_t i = 0; i < REP_PARTS; i++)
        scale = rep_delta_size(parts[i]) > scale ? rep_delta_size(parts[i]) : scale;
    vp_unit unit = rep_unit_for(VP_UNIT_AUTO, longest);
    html_puts(p, "<div class=\"what\"><h3>");
    html_text(p, d->name);
    html_puts(p, "</h3></div>\n");
    html_table(p, "list", "Parts of the difference");
    html_head(p, "text", "Part", NULL, NULL);
    html_delta_heads(p, rep_unit_sign(unit));
    html_rows(p);
    for (size_t i = 0; i < REP_PARTS; i++)
        part_row(p, classes[i], rep_part_names[i], parts[i], unit, scale);
    part_row(p, NULL, x->c->per_step ? "step" : "window", &d->window, unit, scale);
    html_table_end(p, 0);
}

static void put_devices(comparison *x)
{
    if (!x->c->device_count)
        return;
    html_section(&x->p, "where", "Where the difference comes from");
    vp_buf_printf(
        x->p.b,
        "<p class=\"note\">%s. The four parts sum to the difference exactly; a bar to the "
        "right is time that B takes more.</p>\n",
        x->c->per_step ? "Means of the steps that count" : "Whole windows, as not both have steps");
    for (size_t i = 0; i < x->c->device_count; i++)
        put_device(x, &x->c->devices[i]);
    html_section_end(&x->p);
}

/* ---- Ops ---- */

static double gflop_per_s(int64_t flops, int64_t ps)
{
    return flops < 0 || ps <= 0 ? NAN : (double)flops / (double)ps * 1000;
}

/* Ops of several devices, or kinds of devices. */
static bool has_devices(const vp_comparison *c)
{
    for (size_t i = 1; i < c->op_count; i++)
        if (!vp_str_eq(vp_str_of(c->ops[i].device), vp_str_of(c->ops[0].device)))
            return true;
    return false;
}

static bool has_flops(const vp_comparison *c)
{
    for (size_t i = 0; i < c->op_count; i++)
        if (c->ops[i].flops_a > 0 && c->ops[i].flops_b > 0)
            return true;
    return false;
}

static void calls_cell(page *p, double calls)
{
    html_puts(p, "<td>");
    rep_put_calls(p->b, calls);
    html_puts(p, "</td>");
}

static void op_row(comparison *x, const vp_compared_op *o, vp_unit unit, int64_t scale, bool flops)
{
    page *p = &x->p;
    html_puts(p, o->significant ? "<tr>" : "<tr class=\"noise\">");
    html_name_cell(p, o->name, o->scope ? o->scope : o->category);
    if (has_devices(x->c))
        html_text_cell(p, o->device);
    html_delta_cells(p, &o->self, unit, scale);
    calls_cell(p, o->span_calls_a);
    calls_cell(p, o->span_calls_b);
    if (flops) {
        html_double_cell(p, gflop_per_s(o->flops_a, o->self.a_ps), 0);
        html_double_cell(p, gflop_per_s(o->flops_b, o->self.b_ps), 0);
    }
    html_puts(p, "<td class=\"text judged\">");
    if (o->is_new || o->is_gone)
        vp_buf_printf(p->b, "<span class=\"badge\">%s</span> ", o->is_new ? "new" : "gone");
    if (o->reason)
        html_text(p, o->reason);
    html_puts(p, "</td></tr>\n");
}

static void put_ops(comparison *x)
{
    page *p = &x->p;
    const vp_comparison *c = x->c;
    size_t n = c->op_count < OPS_MAX ? c->op_count : OPS_MAX, shown = 0;
    bool flops = has_flops(c);
    const char *span = c->per_step ? "In a step, on one device" : "In the window, on one device";
    int64_t longest = 0, scale = 0;
    if (!n)
        return;
    for (size_t i = 0; i < n; i++) {
        const vp_delta *d = &c->ops[i].self;
        longest = d->a_ps > longest ? d->a_ps : d->b_ps > longest ? d->b_ps : longest;
        scale = rep_delta_size(d) > scale ? rep_delta_size(d) : scale;
    }
    vp_unit unit = rep_unit_for(VP_UNIT_AUTO, longest);
    html_section(p, "ops", "Ops that moved");
    html_table(p, "list", "Ops that moved");
    html_head(p, "op", "Op", NULL, "Its name, and the scope or category that it stands in");
    if (has_devices(c))
        html_head(p, "text", "Device", NULL, NULL);
    html_delta_heads(p, rep_unit_sign(unit));
    html_head(p, "", "Calls A", NULL, span);
    html_head(p, "", "Calls B", NULL, span);
    if (flops) {
        html_head(p, "", "A", "GFLOP/s", "More work at a rate no worse is not slower");
        html_head(p, "", "B", "GFLOP/s", NULL);
    }
    html_head(p, "text", "Judged", NULL, "Why this counts as a change, or not");
    html_rows(p);
    for (size_t i = 0; i < n; i++) {
        if (!rep_moved(c, &c->ops[i]) && shown >= NOISE_MAX)
            continue;
        op_row(x, &c->ops[i], unit, scale, flops);
        shown++;
    }
    html_table_end(p, c->op_count - shown);
    html_section_end(p);
}

/* ---- Scopes ---- */

/* The nearest row above that the path continues, or NULL: only scopes that moved are listed. */
static const vp_compared_scope *parent_of(const vp_comparison *c, size_t i)
{
    vp_str path = vp_str_of(c->scopes[i].path);
    for (size_t k = i; k-- > 0;) {
        vp_str above = vp_str_of(c->scopes[k].path);
        if (above.n < path.n && path.p[above.n] == '/' && vp_str_starts(path, above))
            return &c->scopes[k];
    }
    return NULL;
}

/* What the path adds to its parent, set in by depth. */
static void scope_cell(page *p, const vp_comparison *c, size_t i)
{
    const vp_compared_scope *s = &c->scopes[i], *parent = parent_of(c, i);
    vp_str path = vp_str_of(s->path), above = vp_str_of(parent ? parent->path : NULL);
    html_puts(p, "<th scope=\"row\" class=\"op\" title=\"");
    html_text(p, s->path);
    html_puts(p, "\"><span class=\"name\">");
    for (uint32_t d = 0; parent && d < s->depth && d < INDENT_MAX; d++)
        html_puts(p, "&#160;&#160;");
    rep_html_escape(p->b, vp_str_skip(path, parent ? above.n + 1 : 0));
    html_puts(p, "</span></th>");
}

static void put_scopes(comparison *x)
{
    page *p = &x->p;
    const vp_comparison *c = x->c;
    size_t n = c->scope_count < SCOPES_MAX ? c->scope_count : SCOPES_MAX;
    bool backward = rep_has_backward(c);
    int64_t longest = 0, scale = 0;
    if (!n)
        return;
    for (size_t i = 0; i < n; i++) {
        const vp_delta *d = &c->scopes[i].total;
        longest = d->a_ps > longest ? d->a_ps : d->b_ps > longest ? d->b_ps : longest;
        scale = rep_delta_size(d) > scale ? rep_delta_size(d) : scale;
    }
    vp_unit unit = rep_unit_for(VP_UNIT_AUTO, longest);
    html_section(p, "scopes", "Computation graph by difference");
    if (backward)
        html_puts(p, "<p class=\"note\">Backward and rematerialised work stands with the forward "
                     "scope that it belongs to.</p>\n");
    html_table(p, "list", "Computation graph by difference");
    html_head(p, "op", "Scope", NULL, NULL);
    html_delta_heads(p, rep_unit_sign(unit));
    if (backward)
        html_head(p, "", "Of it backward", rep_unit_sign(unit),
                  "B − A of the work that goes back, or is done again");
    html_rows(p);
    for (size_t i = 0; i < n; i++) {
        html_puts(p, "<tr>");
        scope_cell(p, c, i);
        html_delta_cells(p, &c->scopes[i].total, unit, scale);
        if (backward) {
            html_puts(p, "<td>");
            html_delta(p, &c->scopes[i].backward, unit);
            html_puts(p, "</td>");
        }
        html_puts(p, "</tr>\n");
    }
    html_table_end(p, c->scope_count - n);
    html_section_end(p);
}

/* ---- The page ---- */

static void put_footer(comparison *x)
{
    page *p = &x->p;
    html_puts(p, "<footer>\n<p>view_profile " VP_VERSION);
    if (p->links.base && x->c->a_id && x->c->b_id) {
        html_puts(p, " · <a href=\"");
        html_text(p, p->links.base);
        html_puts(p, "/api/v1/compare/");
        html_url(p, x->c->a_id);
        html_puts(p, "/");
        html_url(p, x->c->b_id);
        html_puts(p, "\">this comparison as JSON</a>");
    }
    html_puts(p, "</p>\n</footer>\n");
}

int rep_compare_html(vp_buf *b, const vp_comparison *c, const rep_links *links)
{
    comparison x = {.p = {.b = b, .v = rep_view(NULL)}, .c = c};
    VP_CLEANUP(vp_buf_free) vp_buf title;
    if (links)
        x.p.links = *links;
    vp_buf_init(&title, TITLE_MAX);
    vp_buf_printf(&title, "%.2000s against %.2000s", c->b_name ? c->b_name : "B",
                  c->a_name ? c->a_name : "A");
    html_begin(&x.p, vp_buf_cstr(&title));
    put_header(&x);
    html_puts(&x.p, "<main id=\"main\">\n");
    put_caveats(&x);
    put_devices(&x);
    put_findings(&x);
    put_ops(&x);
    put_scopes(&x);
    html_puts(&x.p, "</main>\n");
    put_footer(&x);
    html_end(&x.p);
    return b->status;
}
