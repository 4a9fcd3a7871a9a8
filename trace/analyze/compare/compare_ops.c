/* Joins the ops of both reports, each as the mean over the devices of a kind: first by name, and
 * the rest by place, since compilers renumber fusions. */
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/compare/compare_parts.h"
#include "trace/base/order.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

typedef struct side_list {
    cmp_op *v;
    size_t n;
} side_list;

static int text_order(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

/* Parts in new scopes are sorted after the rest of their group; those of A and of B are never
 * equal. */
static int order_ops_by_news(const cmp_op *a, const cmp_op *b)
{
    return vp_order(a->new_scope != NULL, b->new_scope != NULL);
}

static int by_op_name(const void *pa, const void *pb)
{
    const cmp_op *a = pa, *b = pb;
    int order = vp_order(a->kind, b->kind);
    if (!order)
        order = vp_order(a->op->op_class, b->op->op_class);
    if (!order)
        order = text_order(a->op->category, b->op->category);
    if (!order)
        order = text_order(a->op->name, b->op->name);
    return order ? order : order_ops_by_news(a, b);
}

/* The shape with most of its time, or else its scope; NULL: unknown. */
static const char *op_shape_or_scope(const vp_op *op)
{
    return op->scope ? op->scope : op->split_count ? op->splits[0].label : NULL;
}

static int order_ops_by_place(const cmp_op *a, const cmp_op *b)
{
    int order = vp_order(a->kind, b->kind);
    if (!order)
        order = vp_order(a->op->op_class, b->op->op_class);
    if (!order)
        order = text_order(a->op->category, b->op->category);
    return order ? order : text_order(op_shape_or_scope(a->op), op_shape_or_scope(b->op));
}

static int by_place_and_time(const void *pa, const void *pb)
{
    const cmp_op *a = pa, *b = pb;
    int order = vp_order(a->matched || a->new_scope, b->matched || b->new_scope);
    if (!order)
        order = order_ops_by_place(a, b);
    if (!order)
        order = vp_order(b->self_ps, a->self_ps);
    return order ? order : text_order(a->op->name, b->op->name);
}

/* A value of the whole capture, scaled to the span by op time. */
static int64_t scale_to_span(int64_t whole, int64_t span_ps, int64_t self_ps)
{
    if (whole < 0 || self_ps <= 0)
        return whole < 0 ? VP_UNKNOWN : 0;
    __int128 v = (__int128)whole * span_ps / self_ps;
    return v > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)v;
}

/* If a report has no calls per step, calls are scaled by op time too: a call takes as long inside
 * the span as outside. */
static double calls_of_span(const cmp_side *s, const vp_op *op, int64_t span_ps)
{
    if (op->calls <= 0)
        return 0;
    if (s->per_step && op->step_calls >= 0)
        return (double)op->step_calls / (double)s->r->devices[op->device].steps_counted;
    if (op->self_ps > 0)
        return (double)op->calls * (double)span_ps / (double)op->self_ps;
    return (double)op->calls / (double)(s->per_step ? s->r->devices[op->device].steps_counted : 1);
}

static void cmp_op_add(cmp_op *sum, const cmp_op *x)
{
    if (x->op->self_ps > sum->op->self_ps)
        sum->op = x->op;
    sum->self_ps += x->self_ps;
    sum->calls += x->calls;
    sum->span_calls += x->span_calls;
    if (x->flops != VP_UNKNOWN)
        sum->flops = (sum->flops == VP_UNKNOWN ? 0 : sum->flops) + x->flops;
}

/* The rows of one report: one for each kind of device and name, with the mean over those devices.
 */
int cmp_ops_of(cmp_op **out, size_t *count, const cmp_side *s)
{
    const vp_report *r = s->r;
    size_t n = 0, kept = 0;
    cmp_op *v = vp_calloc(r->op_count, sizeof *v);
    VP_NEED(v);
    for (size_t i = 0; i < r->op_count; i++) {
        const vp_op *op = &r->ops[i];
        int64_t self = cmp_op_self(s, op);
        if (self == VP_UNKNOWN)
            continue;
        v[n++] = (cmp_op){.op = op,
                          .kind = r->devices[op->device].kind,
                          .self_ps = self,
                          .calls = op->calls,
                          .span_calls = calls_of_span(s, op, self),
                          .flops = scale_to_span(op->flops, self, op->self_ps)};
    }
    qsort(v, n, sizeof *v, by_op_name);
    for (size_t i = 0; i < n; i++) {
        if (kept && by_op_name(&v[kept - 1], &v[i]) == 0)
            cmp_op_add(&v[kept - 1], &v[i]);
        else
            v[kept++] = v[i];
    }
    for (size_t i = 0; i < kept; i++) {
        int64_t devices = (int64_t)s->devices[v[i].kind];
        v[i].self_ps = cmp_mean(v[i].self_ps, devices);
        v[i].span_calls /= (double)devices;
        if (v[i].flops != VP_UNKNOWN)
            v[i].flops = cmp_mean(v[i].flops, devices);
    }
    *out = v;
    *count = kept;
    return 0;
}

/* ---- Rows ---- */

/* The name of the device if it is the only one of its kind, else the kind. */
static const char *device_text(comparing *k, vp_device_kind kind)
{
    static const char *const kinds[] = {"tpu", "gpu", "cpu", "other"};
    const vp_report *r = k->a.devices[kind] ? k->a.r : k->b.r;
    if (k->a.devices[kind] <= 1 && k->b.devices[kind] <= 1)
        for (size_t i = 0; i < r->device_count; i++)
            if (r->devices[i].kind == kind && (!k->c->per_step || r->devices[i].steps_counted > 0))
                return cmp_text(k, r->devices[i].name);
    return kinds[kind];
}

/* Adds a row for both sides; a or b may be NULL. A side without the op took 0 ps. */
static void put_compared_op(comparing *k, const cmp_op *a, const cmp_op *b)
{
    const vp_op *op = a ? a->op : b->op;
    vp_compared_op *x = &k->c->ops[k->c->op_count++];
    *x = (vp_compared_op){.device = device_text(k, a ? a->kind : b->kind),
                          .category = cmp_text(k, op->category),
                          .name = cmp_text(k, op->name),
                          .scope = cmp_text(k, a && a->new_scope   ? a->new_scope
                                               : b && b->new_scope ? b->new_scope
                                                                   : op->scope),
                          .op_class = op->op_class,
                          .self = cmp_delta(a ? a->self_ps : 0, b ? b->self_ps : 0),
                          .calls_a = a ? a->calls : 0,
                          .calls_b = b ? b->calls : 0,
                          .span_calls_a = a ? a->span_calls : 0,
                          .span_calls_b = b ? b->span_calls : 0,
                          .flops_a = a ? a->flops : VP_UNKNOWN,
                          .flops_b = b ? b->flops : VP_UNKNOWN,
                          .is_new = !a,
                          .is_gone = !b};
    if (a && b && text_order(a->op->name, b->op->name) != 0)
        x->name_b = cmp_text(k, b->op->name);
    cmp_explain(x, k->c);
    if (x->significant && ((a && a->new_scope) || (b && b->new_scope)))
        x->reason = a ? "only in A, in a scope that is gone" : "only in B, in a new scope";
}

/* ---- Parts of a group in new scopes ---- */

/* Adds up the parts of a group in scopes that the other side lacks; its scope is the largest of
 * these. Only groups with much time have parts. A group without parts is in one scope, or not
 * split. */
static int sum_new_parts(vp_split *sum, const vp_op *op, const cmp_scope_set *other,
                         const cmp_scope_set *own)
{
    bool lacks;
    *sum = (vp_split){0};
    if (!op->split_count && op->scopes == 1) {
        VP_TRY(cmp_lacks_scope(&lacks, other, own, op->scope));
        if (lacks)
            *sum = (vp_split){.scope = op->scope, .self_ps = op->self_ps, .calls = op->calls};
    }
    for (size_t i = 0; i < op->split_count; i++) {
        const vp_split *part = &op->splits[i];
        VP_TRY(cmp_lacks_scope(&lacks, other, own, part->scope));
        if (!lacks || part->self_ps <= 0)
            continue;
        sum->scope = part->self_ps > sum->max_ps ? part->scope : sum->scope;
        sum->max_ps = part->self_ps > sum->max_ps ? part->self_ps : sum->max_ps;
        sum->self_ps += part->self_ps;
        sum->calls += part->calls;
    }
    return 0;
}

static cmp_op part_of_op(const cmp_op *x, int64_t self_ps, int64_t calls, const char *new_scope)
{
    cmp_op part = *x;
    part.self_ps = self_ps;
    part.calls = calls;
    part.span_calls =
        x->calls > 0 ? x->span_calls * (double)calls / (double)x->calls : x->span_calls;
    part.flops = VP_UNKNOWN;
    part.new_scope = new_scope;
    return part;
}

/* Subtracts the parts in new scopes from their groups. */
static int split_new_parts(side_list *l, const cmp_scope_set *other, const cmp_scope_set *own)
{
    size_t n = l->n;
    cmp_op *v = vp_calloc(2 * n, sizeof *v);
    size_t count = 0;
    VP_NEED(v);
    for (size_t i = 0; i < n; i++) {
        const cmp_op *x = &l->v[i];
        vp_split sum;
        if (sum_new_parts(&sum, x->op, other, own) < 0) {
            vp_free(v);
            return VP_ENOMEM;
        }
        int64_t self = scale_to_span(sum.self_ps, x->self_ps, x->op->self_ps);
        self = self > x->self_ps ? x->self_ps : self;
        int64_t calls = scale_to_span(x->calls, sum.calls, x->op->calls);
        calls = calls > x->calls ? x->calls : calls;
        if (self <= 0) {
            v[count++] = *x;
            continue;
        }
        if (x->self_ps > self || x->calls > calls)
            v[count++] = part_of_op(x, x->self_ps - self, x->calls - calls, NULL);
        v[count++] = part_of_op(x, self, calls, sum.scope);
    }
    vp_free(l->v);
    *l = (side_list){v, count};
    return 0;
}

static int split_sides(const comparing *k, side_list *a, side_list *b)
{
    cmp_scope_set of_a, of_b;
    int rc = cmp_scope_sets(&of_a, &of_b, k);
    if (rc >= 0)
        rc = split_new_parts(a, &of_b, &of_a);
    if (rc >= 0)
        rc = split_new_parts(b, &of_a, &of_b);
    cmp_scope_set_free(&of_a);
    cmp_scope_set_free(&of_b);
    return rc;
}

/* ---- Joining ---- */

static void join_names(comparing *k, side_list *a, side_list *b)
{
    size_t i = 0, n = 0;
    while (i < a->n && n < b->n) {
        int order = by_op_name(&a->v[i], &b->v[n]);
        if (order == 0 && !a->v[i].new_scope) {
            put_compared_op(k, &a->v[i], &b->v[n]);
            a->v[i].matched = b->v[n].matched = true;
        }
        i += order <= 0;
        n += order >= 0;
    }
}

/* True if the numbers of calls differ by less than a fifth. */
static bool has_similar_calls(const cmp_op *a, const cmp_op *b)
{
    return op_shape_or_scope(a->op) && a->span_calls <= 1.2 * b->span_calls &&
           b->span_calls <= 1.2 * a->span_calls;
}

static bool is_left(const cmp_op *op)
{
    return !op->matched && !op->new_scope;
}

/* Joins the ops without an equal name by place: in each place, the largest of one side with that of
 * the other. */
static void join_places(comparing *k, side_list *a, side_list *b)
{
    size_t i = 0, n = 0;
    qsort(a->v, a->n, sizeof *a->v, by_place_and_time);
    qsort(b->v, b->n, sizeof *b->v, by_place_and_time);
    while (i < a->n && n < b->n && is_left(&a->v[i]) && is_left(&b->v[n])) {
        int order = order_ops_by_place(&a->v[i], &b->v[n]);
        if (order == 0 && has_similar_calls(&a->v[i], &b->v[n])) {
            put_compared_op(k, &a->v[i], &b->v[n]);
            a->v[i].matched = b->v[n].matched = true;
        }
        i += order <= 0;
        n += order >= 0;
    }
}

static int by_delta_size(const void *pa, const void *pb)
{
    const vp_compared_op *a = pa, *b = pb;
    int order = vp_order(cmp_size(&b->self), cmp_size(&a->self));
    if (!order)
        order = vp_order(b->self.a_ps + b->self.b_ps, a->self.a_ps + a->self.b_ps);
    if (!order)
        order = text_order(a->name, b->name);
    if (!order)
        order = text_order(a->category, b->category);
    if (!order)
        order = vp_order(a->op_class, b->op_class);
    return order ? order : text_order(a->device, b->device);
}

static void join_side_ops(comparing *k, side_list *a, side_list *b)
{
    join_names(k, a, b);
    join_places(k, a, b);
    for (size_t i = 0; i < a->n; i++)
        if (!a->v[i].matched)
            put_compared_op(k, &a->v[i], NULL);
    for (size_t i = 0; i < b->n; i++)
        if (!b->v[i].matched)
            put_compared_op(k, NULL, &b->v[i]);
    qsort(k->c->ops, k->c->op_count, sizeof *k->c->ops, by_delta_size);
}

int cmp_ops(comparing *k)
{
    side_list a = {0}, b = {0};
    int rc = cmp_ops_of(&a.v, &a.n, &k->a);
    if (rc >= 0)
        rc = cmp_ops_of(&b.v, &b.n, &k->b);
    if (rc >= 0)
        rc = split_sides(k, &a, &b);
    if (rc >= 0) {
        k->c->ops = vp_arena_zalloc(k->arena, (a.n + b.n) * sizeof *k->c->ops);
        if (k->c->ops)
            join_side_ops(k, &a, &b);
        else
            rc = vp_no_memory();
    }
    vp_free(a.v);
    vp_free(b.v);
    return rc;
}

int64_t cmp_flops(const cmp_side *s)
{
    __int128 sum = 0;
    bool known = false;
    for (size_t i = 0; i < s->r->op_count; i++) {
        const vp_op *op = &s->r->ops[i];
        int64_t self = cmp_op_self(s, op), flops = scale_to_span(op->flops, self, op->self_ps);
        if (self == VP_UNKNOWN || flops == VP_UNKNOWN)
            continue;
        known = true;
        sum += flops;
    }
    return !known ? VP_UNKNOWN : sum > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)sum;
}
