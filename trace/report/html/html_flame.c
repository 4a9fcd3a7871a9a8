/* The computation graph, or the call paths, as a flame graph. The tree below it has the same data
 * as text. */
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/flame/flame_svg.h"
#include "trace/report/flame/stacks.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/labels/escape.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/tree.h"
#include "trace/report/labels/words.h"

/* Kinds of frames; the legend lists those that occur. */
enum { FORWARD, BACKWARD, REMAT, COMM, COPY, KINDS };

static const char *const kind_css[KINDS] = {"forward", "backward", "remat", "comm", "copy"};
static const char *const kind_text[KINDS] = {"forward", "mostly backward", "mostly rematerialized",
                                             "communication op", "copy op"};

/* Nodes: the root, the scopes, the ops in them. */
typedef struct drawing {
    const page *p;
    const vp_report *r;
    flame_stacks ops; /* empty unless the report separates ops by scope */
    flame_node *nodes;
    size_t n;
    flame_layout l;
    int64_t all_ps;
    vp_unit unit;
} drawing;

static const vp_scope *scope_at(const drawing *d, uint32_t node)
{
    return node && node <= d->r->scope_count ? &d->r->scopes[node - 1] : NULL;
}

static const flame_stack *op_at(const drawing *d, uint32_t node)
{
    return node > d->r->scope_count ? &d->ops.v[node - 1 - d->r->scope_count] : NULL;
}

static int make_nodes(drawing *d)
{
    const vp_report *r = d->r;
    if (r->group == VP_GROUP_STACK && r->has_devices)
        VP_TRY(flame_stacks_joined(&d->ops, r));
    d->nodes = vp_calloc(r->scope_count + d->ops.n + 1, sizeof *d->nodes);
    VP_NEED(d->nodes);
    d->nodes[d->n++] = (flame_node){.parent = FLAME_NO_PARENT, .weight = d->all_ps};
    for (size_t i = 0; i < r->scope_count; i++) {
        const vp_scope *s = &r->scopes[i], *up = s->parent < i ? &r->scopes[s->parent] : NULL;
        d->nodes[d->n++] = (flame_node){.parent = up ? s->parent + 1 : 0,
                                        .joined = up && !up->self_ps && up->total_ps == s->total_ps,
                                        .weight = s->total_ps};
    }
    for (size_t i = 0; i < d->ops.n; i++) {
        uint32_t scope = d->ops.v[i].scope;
        d->nodes[d->n++] = (flame_node){.parent = scope == FLAME_NO_SCOPE ? 0 : scope + 1,
                                        .weight = d->ops.v[i].self_ps};
    }
    return 0;
}

static int kind_of_scope(const vp_scope *s)
{
    if (s->remat_ps > s->total_ps / 2)
        return REMAT;
    return s->backward_ps > s->total_ps / 2 ? BACKWARD : FORWARD;
}

/* A computing op has the kind of its scope. */
static int scope_kind_of_node(const drawing *d, uint32_t node)
{
    const flame_stack *op = op_at(d, node);
    if (op && op->op_class != VP_COMPUTE)
        return op->op_class == VP_COPY ? COPY : COMM;
    const vp_scope *s = op ? scope_at(d, d->nodes[node].parent) : scope_at(d, node);
    return s ? kind_of_scope(s) : FORWARD;
}

static const char *scope_css_class(void *ctx, const flame_box *box)
{
    return box->first ? kind_css[scope_kind_of_node(ctx, box->first)] : "idle";
}

static void scope_put_share(vp_buf *b, const drawing *d, int64_t ps)
{
    page p = *d->p;
    p.b = b;
    html_number(&p, ps, d->unit);
    vp_buf_printf(b, " %s", rep_unit_sign(d->unit));
}

static void scope_put_frame_name(vp_buf *b, void *ctx, const flame_box *box)
{
    const drawing *d = ctx;
    const flame_stack *op = op_at(d, box->first);
    if (op) {
        rep_html_escape(b, vp_str_of(op->op));
    } else if (box->first) {
        rep_html_escape(b, tree_chain_label(scope_at(d, box->first), scope_at(d, box->last)));
    } else {
        vp_buf_puts(b, "all: ");
        scope_put_share(b, d, d->all_ps);
        vp_buf_puts(b, rep_self_of(d->r));
    }
}

static void scope_put_frame_title(vp_buf *b, void *ctx, const flame_box *box)
{
    const drawing *d = ctx;
    const flame_stack *op = op_at(d, box->first);
    const vp_scope *s = scope_at(d, op ? d->nodes[box->first].parent : box->last);
    if (op)
        rep_html_escape(b, vp_str_of(op->op));
    vp_buf_puts(b, op && s ? " in " : "");
    if (s)
        rep_html_escape(b, vp_str_of(s->path));
    vp_buf_puts(b, s || op ? ": " : "all: ");
    scope_put_share(b, d, d->nodes[box->last].weight);
    vp_buf_puts(b, ", ");
    rep_put_percent(b, d->nodes[box->last].weight, d->all_ps);
    vp_buf_printf(b, " of all%s", rep_self_of(d->r));
}

static void scope_put_legend(page *p, const drawing *d)
{
    bool has[KINDS] = {false};
    size_t n = 0;
    for (size_t i = 0; i < d->l.n; i++)
        if (d->l.v[i].first)
            has[scope_kind_of_node(d, d->l.v[i].first)] = true;
    for (size_t i = 0; i < KINDS; i++)
        n += has[i];
    html_puts(p, "<p class=\"legend\">");
    for (size_t i = 0; i < KINDS && n > 1; i++)
        if (has[i])
            vp_buf_printf(p->b, "<span><i class=\"dot %s\"></i>%s</span>\n", kind_css[i],
                          kind_text[i]);
    html_puts(p, "<span>The width of a frame is its share of the time; uncovered width is self "
                 "time.</span>\n");
    if (d->l.hidden) {
        vp_buf_printf(p->b, "<span>Not shown (below 0.1%%, too deep or too many): %zu, ",
                      d->l.hidden);
        scope_put_share(p->b, d, d->l.hidden_weight);
        html_puts(p, "</span>\n");
    }
    if (p->links.controls && d->r->has_devices && d->r->group != VP_GROUP_STACK) {
        html_puts(p, "<span><a href=\"");
        html_query(p, "group", rep_group_name(VP_GROUP_STACK));
        html_puts(p, "#scopes\">Show ops within scopes</a></span>\n");
    }
    html_puts(p, "</p>\n");
}

static int draw_scope_flame(page *p, drawing *d)
{
    const flame_look look = {d, scope_css_class, scope_put_frame_name, scope_put_frame_title};
    VP_TRY(make_nodes(d));
    VP_TRY(flame_layout_of(&d->l, d->nodes, d->n, 0));
    VP_TRY(flame_svg(p->b, &d->l, &look,
                     "Flame graph of the scopes by time; the rows below have the same numbers"));
    scope_put_legend(p, d);
    return p->b->status;
}

int html_flame(page *p, int64_t all_ps, vp_unit unit)
{
    drawing d = {.p = p, .r = p->r, .all_ps = all_ps, .unit = unit};
    int rc = all_ps > 0 ? draw_scope_flame(p, &d) : 0;
    flame_layout_free(&d.l);
    flame_stacks_free(&d.ops);
    vp_free(d.nodes);
    return rc;
}
