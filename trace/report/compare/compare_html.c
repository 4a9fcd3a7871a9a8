/* The page about two reports: whether B is slower than A, whether that is certain, and which parts
 * make up the difference. A bar to the right is time that B takes longer. */
#include "trace/base/err.h"
#include "trace/report/compare/compare_tables.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/compare/delta_cells.h"
#include "trace/report/compare/html_flames.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/labels/escape.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

#define OPS_MAX 60u
/* Ops within the noise are listed up to this row, to show that they did not change. */
#define NOISE_MAX 20u
#define SCOPES_MAX 60u
#define IDLE_MAX 20u
#define INDENT_MAX 12u
#define HOLDERS_MAX 8u /* of one allocator or program */
#define TITLE_MAX 8192u

typedef struct comparison {
    page p;
    const vp_comparison *c;
} comparison;

/* ---- The verdict ---- */

static void html_put_run_side(page *p, const char *letter, const char *id, const char *name)
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

/* A fact that links to another page about both runs. */
static void put_way(page *p, const char *name, const char *a, const char *b, const char *rest)
{
    if (!p->links.base || !a || !b)
        return;
    html_open_fact(p, name);
    html_puts(p, "<a href=\"");
    html_text(p, p->links.base);
    html_puts(p, "/compare/");
    html_url(p, a);
    html_puts(p, "/");
    html_url(p, b);
    html_puts(p, rest);
    html_puts(p, "</a>");
    html_close_fact(p);
}

void html_verdict(page *p, const char *a, const char *b, vp_verdict verdict, const char *reason)
{
    static const char *const levels[] = {"bad", "good", "low", "warn"};
    html_puts(p, "<div class=\"title\"><h1>");
    html_text(p, b);
    html_puts(p, " compared with ");
    html_text(p, a);
    vp_buf_printf(p->b, "</h1>\n<span class=\"badge %s\">%s</span></div>\n", levels[verdict],
                  rep_verdict_name(verdict));
    if (!reason)
        return;
    html_puts(p, "<p class=\"note\">");
    html_text(p, reason);
    html_puts(p, "</p>\n");
}

static void html_put_captures(page *p, const char *what, const vp_compared_capture *list, size_t n)
{
    VP_CLEANUP(vp_buf_free) vp_buf line;
    vp_buf_init(&line, TITLE_MAX);
    if (n < 2)
        return;
    rep_put_captures(&line, list, n, VP_UNIT_AUTO);
    html_open_fact(p, what);
    html_text(p, vp_buf_cstr(&line));
    html_close_fact(p);
}

static void html_put_compare_header(comparison *x)
{
    page *p = &x->p;
    const vp_comparison *c = x->c;
    html_verdict(p, c->a_name, c->b_name, c->verdict, c->verdict_reason);
    if (c->cause) {
        html_puts(p, "<p class=\"note\">Main change: ");
        html_text(p, c->cause);
        html_puts(p, "</p>\n");
    }
    html_puts(p, "<dl class=\"facts\">\n");
    html_put_run_side(p, "A", c->a_id, c->a_name);
    html_put_run_side(p, "B", c->b_id, c->b_name);
    html_delta_fact(p, c->per_step ? "Mean step" : "Window", &c->step);
    html_delta_fact(p, "Median step", &c->median);
    html_delta_fact(p, "p90", &c->p90);
    if (c->steps_a >= 0 && c->steps_b >= 0) {
        html_open_fact(p, "Steps counted");
        vp_buf_printf(p->b, "%lld and %lld", (long long)c->steps_a, (long long)c->steps_b);
        html_close_fact(p);
    }
    html_duration_fact(p, "Noise up to", c->threshold_ps);
    html_put_captures(p, "Captures of A", c->captures_a, c->captures_a_count);
    html_put_captures(p, "Captures of B", c->captures_b, c->captures_b_count);
    if (c->per_step && c->between_ps == VP_UNKNOWN) {
        html_open_fact(p, "Noise between captures");
        html_puts(p, "unknown: each side has one");
        html_close_fact(p);
    }
    put_way(p, "Timelines", c->a_id, c->b_id, "/timeline\" aria-keyshortcuts=\"l\">A above B");
    put_way(p, "Order", c->b_id, c->a_id, "\">Swap A and B");
    html_puts(p, "</dl>\n</header>\n");
}

static void put_caveats(comparison *x)
{
    page *p = &x->p;
    if (!x->c->caveat_count)
        return;
    html_section(p, "caveats", "Notes");
    html_puts(p, "<ul class=\"caveats\">\n");
    for (size_t i = 0; i < x->c->caveat_count; i++) {
        html_puts(p, "<li>");
        html_text(p, x->c->caveats[i]);
        html_puts(p, "</li>\n");
    }
    html_puts(p, "</ul>\n");
    html_section_end(p);
}

static void html_put_finding_ids(page *p, const char *what, const char *const *ids, size_t n)
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

static void html_put_new_and_gone(comparison *x)
{
    const vp_comparison *c = x->c;
    if (!c->new_count && !c->gone_count)
        return;
    html_section(&x->p, "findings", "Findings");
    html_puts(&x->p, "<dl class=\"facts\">\n");
    html_put_finding_ids(&x->p, "Only in B", c->findings_new, c->new_count);
    html_put_finding_ids(&x->p, "Only in A", c->findings_gone, c->gone_count);
    html_puts(&x->p, "</dl>\n");
    html_section_end(&x->p);
}

/* ---- Parts of the difference ---- */

static void html_part_cell(page *p, const tbl *t, const tbl_column *c, const void *row)
{
    const part_row *x = row;
    if (delta_html(p, t, c, row))
        return;
    html_puts(p, "<th scope=\"row\" class=\"text\">");
    if (x->css_class)
        vp_buf_printf(p->b, "<i class=\"dot %s\"></i>", x->css_class);
    vp_buf_printf(p->b, "%s</th>", x->name);
}

static void html_put_device_parts(comparison *x, const vp_compared_device *d)
{
    const vp_delta *parts[REP_PARTS];
    part_row rows[REP_PARTS + 1];
    page *p = &x->p;
    delta_table table;
    rep_compare_parts(parts, d);
    for (size_t i = 0; i < REP_PARTS; i++)
        rows[i] = (part_row){rep_part_names[i], rep_part_css[i], *parts[i], TBL_PLAIN, TBL_PLAIN};
    rows[REP_PARTS] =
        (part_row){x->c->per_step ? "step" : "window", NULL, d->window, TBL_PLAIN, TBL_PLAIN};
    tbl_parts(&table, rows, REP_PARTS + 1, &p->v);
    table.t.own_html = html_part_cell;
    html_puts(p, "<div class=\"what\"><h3>");
    html_text(p, d->name);
    html_puts(p, "</h3></div>\n");
    html_put_table(p, &table.t);
}

static void html_put_device_cells(comparison *x, const vp_compared_device *d)
{
    part_row rows[PART_CELLS_MAX];
    page *p = &x->p;
    delta_table table;
    size_t n = rep_compared_cells(rows, d, x->c->per_step);
    if (!n)
        return;
    tbl_parts(&table, rows, n, &p->v);
    table.t.own_html = html_part_cell;
    html_puts(p, "<details class=\"fold\"><summary>Detailed breakdown</summary>\n");
    html_put_table(p, &table.t);
    html_puts(p, "</details>\n");
}

static void html_put_compare_devices(comparison *x)
{
    if (!x->c->device_count)
        return;
    html_section(&x->p, "where", "Breakdown of the difference");
    vp_buf_printf(
        x->p.b,
        "<p class=\"note\">%s. The four parts sum exactly to the difference. A bar to the right is "
        "additional time in B.</p>\n",
        x->c->per_step ? "Means over counted steps"
                       : "Whole windows, because not both runs have steps that contain their work");
    for (size_t i = 0; i < x->c->device_count; i++) {
        html_put_device_parts(x, &x->c->devices[i]);
        html_put_device_cells(x, &x->c->devices[i]);
    }
    html_section_end(&x->p);
}

/* ---- Ops ---- */

static void calls_cell(page *p, double calls)
{
    html_puts(p, "<td>");
    rep_put_calls(p->b, calls);
    html_puts(p, "</td>");
}

/* The row's address: it links to the timeline of both runs. */
static void judged_cell(page *p, const vp_compared_op *o, size_t row)
{
    vp_buf_printf(p->b, "<td class=\"text judged\" id=\"op-%zu\">", row);
    if (o->is_new || o->is_gone)
        vp_buf_printf(p->b, "<span class=\"badge\">%s</span> ", o->is_new ? "new" : "gone");
    if (o->reason)
        html_text(p, o->reason);
    html_puts(p, "</td>");
}

static void op_cell(page *p, const tbl *t, const tbl_column *c, const void *row)
{
    const vp_compared_op *o = row;
    if (delta_html(p, t, c, row))
        return;
    if (c->own == MOVED_WHY)
        judged_cell(p, o, (size_t)(o - ((const delta_table *)t)->c->ops));
    else
        calls_cell(p, c->own == MOVED_CALLS_A ? o->span_calls_a : o->span_calls_b);
}

static const char *html_compared_op_class(const tbl *t, const void *row)
{
    (void)t;
    return ((const vp_compared_op *)row)->significant ? NULL : "noise";
}

/* Of the first n. */
static void scale_to(delta_table *table, const vp_delta *first, size_t size, size_t n)
{
    int64_t longest = 0;
    for (size_t i = 0; i < n; i++) {
        const vp_delta *d = (const void *)((const char *)first + i * size);
        longest = d->a_ps > longest ? d->a_ps : d->b_ps > longest ? d->b_ps : longest;
        table->widest = rep_delta_size(d) > table->widest ? rep_delta_size(d) : table->widest;
    }
    table->t.unit[0] = rep_unit_for(VP_UNIT_AUTO, longest);
}

static void html_put_compared_ops(comparison *x)
{
    page *p = &x->p;
    const vp_comparison *c = x->c;
    size_t n = c->op_count < OPS_MAX ? c->op_count : OPS_MAX, shown = 0;
    delta_table table;
    html_row_writer w;
    if (!n)
        return;
    tbl_moved(&table, c, &p->v);
    scale_to(&table, &c->ops->self, sizeof *c->ops, n);
    table.t.own_html = op_cell;
    table.t.row_class = html_compared_op_class;
    html_section(p, "ops", table.t.title);
    html_init_rows(&w, p, &table.t);
    html_open_table(&w);
    for (size_t i = 0; i < n; i++) {
        if (!rep_moved(c, &c->ops[i]) && shown >= NOISE_MAX)
            continue;
        html_row(&w, &c->ops[i]);
        shown++;
    }
    html_table_end(p, c->op_count - shown);
    html_section_end(p);
}

/* ---- Scopes ---- */

/* The nearest row above that is an ancestor, or NULL: only changed scopes are listed. */
static const vp_compared_scope *listed_parent_scope(const vp_comparison *c, size_t i)
{
    vp_str path = vp_str_of(c->scopes[i].path);
    for (size_t k = i; k-- > 0;) {
        vp_str above = vp_str_of(c->scopes[k].path);
        if (above.n < path.n && path.p[above.n] == '/' && vp_str_starts(path, above))
            return &c->scopes[k];
    }
    return NULL;
}

/* The part of the path below its parent, indented by depth. */
static void scope_name_cell(page *p, const vp_comparison *c, size_t i)
{
    const vp_compared_scope *s = &c->scopes[i], *parent = listed_parent_scope(c, i);
    vp_str path = vp_str_of(s->path), above = vp_str_of(parent ? parent->path : NULL);
    html_puts(p, "<th scope=\"row\" class=\"op\" title=\"");
    html_text(p, s->path);
    html_puts(p, "\"><span class=\"name\">");
    for (uint32_t d = 0; parent && d < s->depth && d < INDENT_MAX; d++)
        html_puts(p, "&#160;&#160;");
    rep_html_escape(p->b, vp_str_skip(path, parent ? above.n + 1 : 0));
    html_puts(p, "</span>");
    if (!s->total.a_ps || !s->total.b_ps)
        vp_buf_printf(p->b, " <span class=\"badge\">%s</span>", s->total.a_ps ? "gone" : "new");
    html_puts(p, "</th>");
}

static void html_scope_cell(page *p, const tbl *t, const tbl_column *c, const void *row)
{
    const vp_comparison *all = ((const delta_table *)t)->c;
    if (!delta_html(p, t, c, row))
        scope_name_cell(p, all, (size_t)((const vp_compared_scope *)row - all->scopes));
}

static void html_put_compared_scopes(comparison *x)
{
    page *p = &x->p;
    const vp_comparison *c = x->c;
    size_t n = c->scope_count < SCOPES_MAX ? c->scope_count : SCOPES_MAX;
    delta_table table;
    if (!n)
        return;
    tbl_compared_scopes(&table, c, &p->v);
    scale_to(&table, &c->scopes->total, sizeof *c->scopes, n);
    table.t.own_html = html_scope_cell;
    table.t.most = SCOPES_MAX;
    html_section(p, "scopes", table.t.title);
    if (rep_has_backward(c))
        html_puts(p, "<p class=\"note\">Backward and rematerialized work counts in its forward "
                     "scope.</p>\n");
    html_put_table(p, &table.t);
    html_section_end(p);
}

/* ---- Idle time ---- */

static void html_idle_cell(page *p, const tbl *t, const tbl_column *c, const void *row)
{
    VP_CLEANUP(vp_buf_free) vp_buf name;
    vp_buf_init(&name, TITLE_MAX);
    if (delta_html(p, t, c, row))
        return;
    rep_put_idle_name(&name, row);
    html_puts(p, "<th scope=\"row\" class=\"op\"><span class=\"name\">");
    html_text(p, vp_buf_cstr(&name));
    html_puts(p, "</span></th>");
}

static void html_put_compared_idle(comparison *x)
{
    page *p = &x->p;
    const vp_comparison *c = x->c;
    delta_table table;
    if (!c->idle_count)
        return;
    tbl_compared_idle(&table, c, &p->v);
    table.t.unit[0] = rep_unit_for(VP_UNIT_AUTO, table.widest);
    table.t.own_html = html_idle_cell;
    table.t.most = IDLE_MAX;
    html_section(p, "idle", table.t.title);
    html_put_table(p, &table.t);
    html_section_end(p);
}

/* ---- Memory ---- */

static void memory_row(page *p, const char *name, const char *below, int64_t a, int64_t b)
{
    html_puts(p, "<tr>");
    html_name_cell(p, name, below);
    html_bytes_cell(p, a);
    html_bytes_cell(p, b);
    html_puts(p, "<td class=\"num\">");
    rep_put_more_bytes(p->b, b - a);
    html_puts(p, "</td></tr>\n");
}

static void open_memory(page *p, const char *what)
{
    html_table(p, "list", "Peak memory");
    html_head(p, "op", what, NULL, NULL);
    html_head(p, "num", "A", NULL, NULL);
    html_head(p, "num", "B", NULL, NULL);
    html_head(p, "num", "B − A", NULL, NULL);
    html_rows(p);
}

static size_t moved_holders(const vp_compared_holder *v, size_t n)
{
    size_t moved = 0;
    for (size_t i = 0; i < n; i++)
        moved += v[i].delta_bytes != 0;
    return moved;
}

/* The totals, then the holders; the same by scope if there are several. */
static void html_put_compared_peak(page *p, const vp_compared_memory *m)
{
    VP_CLEANUP(vp_buf_free) vp_buf name;
    vp_buf_init(&name, TITLE_MAX);
    rep_compared_memory_name(&name, m);
    html_puts(p, "<div class=\"what\"><h3>");
    html_text(p, vp_buf_cstr(&name));
    html_puts(p, "</h3></div>\n");
    open_memory(p, "Holder");
    memory_row(p, "total", NULL, m->a_bytes, m->b_bytes);
    for (size_t i = 0; i < m->holder_count && i < HOLDERS_MAX; i++) {
        const vp_compared_holder *h = &m->holders[i];
        if (h->delta_bytes)
            memory_row(p, h->name,
                       h->planned  ? h->planned
                       : h->source ? h->source
                                   : h->scope,
                       h->a_bytes, h->b_bytes);
    }
    html_table_end(p, 0);
    if (m->scope_count < 2 || !moved_holders(m->scopes, m->scope_count))
        return;
    open_memory(p, "Scope");
    for (size_t i = 0; i < m->scope_count && i < HOLDERS_MAX; i++) {
        const vp_compared_holder *s = &m->scopes[i];
        if (s->delta_bytes)
            memory_row(p, s->scope ? s->scope : "(no scope)", NULL, s->a_bytes, s->b_bytes);
    }
    html_table_end(p, 0);
}

/* Peaks that differ, and below each the largest differences. */
static void html_put_compared_memory(page *p, const vp_comparison *c)
{
    bool any = false;
    for (size_t i = 0; i < c->memory_count; i++) {
        const vp_compared_memory *m = &c->memory[i];
        if (!m->delta_bytes || m->delta_bytes == VP_NO_TIME)
            continue;
        if (!any)
            html_section(p, "memory", "Peak memory");
        any = true;
        html_put_compared_peak(p, m);
    }
    if (any)
        html_section_end(p);
}

/* ---- The page ---- */

static void html_put_compare_footer(comparison *x)
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
    vp_buf_printf(&title, "%.2000s compared with %.2000s", c->b_name ? c->b_name : "B",
                  c->a_name ? c->a_name : "A");
    html_begin(&x.p, vp_buf_cstr(&title));
    html_put_compare_header(&x);
    html_puts(&x.p, "<main id=\"main\">\n");
    put_caveats(&x);
    html_put_compare_devices(&x);
    html_put_new_and_gone(&x);
    html_put_compared_scopes(&x);
    html_put_compared_idle(&x);
    html_put_compared_ops(&x);
    VP_TRY(html_flames(&x.p, c));
    html_put_compared_memory(&x.p, c);
    html_puts(&x.p, "</main>\n");
    html_put_compare_footer(&x);
    html_end(&x.p);
    return b->status;
}
