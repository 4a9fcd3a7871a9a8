#include "trace/report/compare/html_flames.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/flame/flame_svg.h"
#include "trace/report/labels/escape.h"
#include "trace/report/labels/words.h"

/* A difference below this share of the longer step has no color. */
#define CALM_PARTS 1000

typedef enum side { SIDE_A, SIDE_B, SIDE_BOTH } side;

/* Nodes: the step, and the graph's. */
typedef struct flames {
    page *p;
    const vp_comparison *c;
    flame_node *nodes;
    size_t n;
    side side;
    int64_t span;  /* the longer step */
    int64_t whole; /* weight of the width of the pictures of A and B */
    vp_unit unit;
    bool by_stack; /* ops are frames, too */
} flames;

static int64_t larger_weight(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

/* A report from a file may contain any time. */
static void add_saturated_time(int64_t *sum, int64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum))
        *sum = more > 0 ? INT64_MAX : -INT64_MAX;
}

static const vp_delta *delta_of(const flames *f, uint32_t node)
{
    return node ? &f->c->graph[node - 1].total : &f->c->step;
}

static bool same_time(const vp_delta *x, const vp_delta *y)
{
    return x->a_ps == y->a_ps && x->b_ps == y->b_ps;
}

/* Parents of a list in pre-order, derived from its depths; levels: space for all nodes. */
static void link_nodes(flames *f, uint32_t *levels)
{
    const vp_comparison *c = f->c;
    size_t depth = 0;
    f->nodes[0] = (flame_node){.parent = FLAME_NO_PARENT};
    for (size_t i = 0; i < c->graph_count; i++) {
        depth = c->graph[i].depth < depth ? c->graph[i].depth : depth;
        uint32_t up = depth ? levels[depth - 1] : 0;
        f->nodes[i + 1] = (flame_node){
            .parent = up, .joined = up && same_time(delta_of(f, up), &c->graph[i].total)};
        levels[depth++] = (uint32_t)i + 1;
    }
    f->n = c->graph_count + 1;
    for (size_t i = 0; i < c->graph_count; i++)
        f->by_stack = f->by_stack || c->graph[i].is_op;
}

/* For one side, its time. For both, the longer of their self times, plus the children, so that
 * removed and new nodes both have a width. */
static void weigh_flame_nodes(flames *f, int64_t *own_a, int64_t *own_b)
{
    flame_node *v = f->nodes;
    for (size_t i = 1; i < f->n; i++) {
        const vp_delta *d = delta_of(f, (uint32_t)i);
        add_saturated_time(&own_a[i], d->a_ps);
        add_saturated_time(&own_b[i], d->b_ps);
        add_saturated_time(&own_a[v[i].parent], -d->a_ps);
        add_saturated_time(&own_b[v[i].parent], -d->b_ps);
        v[i].weight = f->side == SIDE_A ? d->a_ps : f->side == SIDE_B ? d->b_ps : 0;
    }
    v[0].weight = 0;
    int64_t all = 0;
    for (size_t i = f->n; i-- > 1;) {
        if (f->side == SIDE_BOTH)
            add_saturated_time(&v[i].weight, larger_weight(larger_weight(own_a[i], own_b[i]), 0));
        if (!v[i].parent)
            add_saturated_time(&all, v[i].weight);
        else if (f->side == SIDE_BOTH)
            add_saturated_time(&v[v[i].parent].weight, v[i].weight);
    }
    int64_t step = f->side == SIDE_A   ? f->c->step.a_ps
                   : f->side == SIDE_B ? f->c->step.b_ps
                                       : larger_weight(f->c->step.a_ps, f->c->step.b_ps);
    v[0].weight = larger_weight(step, all);
}

static int weigh_flame_side(flames *f, side s)
{
    VP_CLEANUP(vp_free_ptr) int64_t *own_a = vp_calloc(f->n, sizeof *own_a);
    VP_CLEANUP(vp_free_ptr) int64_t *own_b = vp_calloc(f->n, sizeof *own_b);
    VP_NEED(own_a && own_b);
    f->side = s;
    weigh_flame_nodes(f, own_a, own_b);
    return 0;
}

/* ---- Frames ---- */

static bool is_calm(const flames *f, const vp_delta *d)
{
    return rep_delta_size(d) < f->span / CALM_PARTS || !rep_delta_size(d);
}

static const char *class_of_delta(const flames *f, const vp_delta *d)
{
    return is_calm(f, d) ? "idle" : d->delta_ps > 0 ? "worse" : "better";
}

static const char *flame_delta_css_class(void *ctx, const flame_box *box)
{
    const flames *f = ctx;
    const vp_delta *d = delta_of(f, box->last);
    if (f->side == SIDE_BOTH)
        return class_of_delta(f, d);
    if (!box->first)
        return "idle";
    const vp_delta *back = &f->c->graph[box->last - 1].backward;
    bool mostly = f->side == SIDE_A ? back->a_ps > d->a_ps / 2 : back->b_ps > d->b_ps / 2;
    return mostly ? "backward" : "forward";
}

static void flame_put_time(vp_buf *b, const flames *f, int64_t ps)
{
    page p = *f->p;
    p.b = b;
    html_number(&p, ps, f->unit);
    vp_buf_printf(b, " %s", rep_unit_sign(f->unit));
}

/* Begins with the sign, which shows the direction without color, also in a narrow frame. */
static void flame_put_difference(vp_buf *b, const flames *f, const vp_delta *d)
{
    if (d->delta_ps == VP_NO_TIME) {
        vp_buf_puts(b, "–");
        return;
    }
    vp_buf_puts(b, d->delta_ps > 0 ? "+" : d->delta_ps < 0 ? "−" : "±");
    flame_put_time(b, f, rep_delta_size(d));
}

static const char *span_name(const flames *f)
{
    return f->c->per_step ? "step" : "window";
}

/* Concurrent ops add up to more than the span, and the frame is as wide as their sum. */
static void flame_put_span(vp_buf *b, const flames *f, const vp_delta *d)
{
    int64_t span = f->side == SIDE_A ? d->a_ps : d->b_ps;
    if (f->side != SIDE_BOTH && f->nodes[0].weight > span) {
        flame_put_time(b, f, f->nodes[0].weight);
        vp_buf_puts(b, " at once in a ");
    }
    vp_buf_puts(b, span_name(f));
    if (f->side == SIDE_BOTH)
        return;
    vp_buf_puts(b, f->nodes[0].weight > span ? " of " : ": ");
    flame_put_time(b, f, span);
}

static void flame_put_frame_name(vp_buf *b, void *ctx, const flame_box *box)
{
    const flames *f = ctx;
    const vp_delta *d = delta_of(f, box->last);
    uint32_t up = box->first ? f->nodes[box->first].parent : 0;
    if (f->side == SIDE_BOTH) {
        flame_put_difference(b, f, d);
        vp_buf_putc(b, ' ');
    }
    if (box->first) {
        vp_str path = vp_str_of(f->c->graph[box->last - 1].path);
        rep_html_escape(b, vp_str_skip(path, up ? vp_str_of(f->c->graph[up - 1].path).n + 1 : 0));
        return;
    }
    flame_put_span(b, f, d);
}

static void flame_put_frame_title(vp_buf *b, void *ctx, const flame_box *box)
{
    const flames *f = ctx;
    const vp_delta *d = delta_of(f, box->last);
    if (box->first)
        rep_html_escape(b, vp_str_of(f->c->graph[box->last - 1].path));
    else
        vp_buf_puts(b, span_name(f));
    vp_buf_puts(b, ": ");
    if (f->side == SIDE_BOTH) {
        flame_put_difference(b, f, d);
        vp_buf_puts(b, ", ");
        flame_put_time(b, f, d->a_ps);
        vp_buf_puts(b, " → ");
        flame_put_time(b, f, d->b_ps);
        return;
    }
    bool is_a = f->side == SIDE_A;
    int64_t step = is_a ? f->c->step.a_ps : f->c->step.b_ps;
    flame_put_time(b, f, is_a ? d->a_ps : d->b_ps);
    vp_buf_puts(b, ", ");
    rep_put_percent(b, is_a ? d->a_ps : d->b_ps, step);
    vp_buf_printf(b, " of %s’s %s", is_a ? "A" : "B", span_name(f));
}

/* ---- Pictures ---- */

static int draw_flame_side(flames *f, side s)
{
    static const char *const titles[] = {"A", "B", "Difference: B minus A"};
    static const char *const labels[] = {
        "Flame graph of A by scope", "Flame graph of B by scope",
        "Flame graph of the difference by scope; the tables of this page list the changes"};
    const flame_look look = {f, flame_delta_css_class, flame_put_frame_name, flame_put_frame_title};
    flame_layout l;
    VP_TRY(weigh_flame_side(f, s));
    VP_TRY(flame_layout_of(&l, f->nodes, f->n, s == SIDE_BOTH ? 0 : f->whole));
    vp_buf_printf(f->p->b, "<div class=\"what\"><h3>%s</h3></div>\n", titles[s]);
    flame_svg(f->p->b, &l, &look, labels[s]);
    flame_layout_free(&l);
    return f->p->b->status;
}

static void flame_put_note(flames *f)
{
    page *p = f->p;
    vp_buf_printf(
        p->b,
        "<p class=\"note\">Op time of %s, mean over devices. A and B have the same scale: the full "
        "width is ",
        f->c->per_step ? "a step"
                       : "the whole window, because not both runs have steps that contain their "
                         "work");
    flame_put_time(p->b, f, f->whole);
    vp_buf_printf(
        p->b,
        "; uncovered width is self time. Scopes%s below 0.1%% of the longer %s are not shown.",
        f->by_stack ? " and ops" : "", span_name(f));
    if (p->links.base && !f->by_stack)
        vp_buf_printf(p->b, " <a href=\"?group=%s#flames\">Show ops within scopes</a>",
                      rep_group_name(VP_GROUP_STACK));
    vp_buf_puts(p->b, "</p>\n");
}

static void flame_put_legend(flames *f)
{
    vp_buf_printf(f->p->b,
                  "<p class=\"legend\"><span><i class=\"dot mark\"></i>+ longer in B</span>\n"
                  "<span><i class=\"dot light\"></i>− shorter in B</span>\n"
                  "<span><i class=\"dot idle\"></i>less than 0.1%% of the longer %s</span>\n"
                  "<span>In the difference, a frame is as wide as the longer side, summed over the "
                  "frames below it.</span></p>\n",
                  span_name(f));
}

static int flame_put_pictures(flames *f)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *levels = vp_calloc(f->c->graph_count + 1, sizeof *levels);
    f->nodes = vp_calloc(f->c->graph_count + 1, sizeof *f->nodes);
    VP_NEED(levels && f->nodes);
    link_nodes(f, levels);
    f->span = larger_weight(f->c->step.a_ps, f->c->step.b_ps);
    for (side s = SIDE_A; s <= SIDE_B; s++) {
        VP_TRY(weigh_flame_side(f, s));
        f->whole = larger_weight(f->whole, f->nodes[0].weight);
    }
    f->unit = rep_unit_for(f->p->v.unit, f->whole);
    html_section(f->p, "flames", "By scope");
    flame_put_note(f);
    for (side s = SIDE_A; s <= SIDE_BOTH; s++)
        VP_TRY(draw_flame_side(f, s));
    flame_put_legend(f);
    html_section_end(f->p);
    return f->p->b->status;
}

int html_flames(page *p, const vp_comparison *c)
{
    flames f = {.p = p, .c = c};
    int rc = c->graph_count ? flame_put_pictures(&f) : 0;
    vp_free(f.nodes);
    return rc;
}
