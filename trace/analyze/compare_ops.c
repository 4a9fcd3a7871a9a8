#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/compare_parts.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Ops of both reports, summed over the devices of a kind and shared out among them, joined on what
 * names them; what is left is joined on where it stands, since compilers renumber fusions. */

typedef struct side_list {
    cmp_op *v;
    size_t n;
} side_list;

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int text_order(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int by_name(const void *pa, const void *pb)
{
    const cmp_op *a = pa, *b = pb;
    int order = compare(a->kind, b->kind);
    if (!order)
        order = compare(a->op->op_class, b->op->op_class);
    if (!order)
        order = text_order(a->op->category, b->op->category);
    return order ? order : text_order(a->op->name, b->op->name);
}

/* The shape of most of it, else the scope; NULL says nothing. */
static const char *place_of(const vp_op *op)
{
    return op->scope ? op->scope : op->split_count ? op->splits[0].label : NULL;
}

static int by_place(const cmp_op *a, const cmp_op *b)
{
    int order = compare(a->kind, b->kind);
    if (!order)
        order = compare(a->op->op_class, b->op->op_class);
    if (!order)
        order = text_order(a->op->category, b->op->category);
    return order ? order : text_order(place_of(a->op), place_of(b->op));
}

static int by_place_and_time(const void *pa, const void *pb)
{
    const cmp_op *a = pa, *b = pb;
    int order = compare(a->matched, b->matched);
    if (!order)
        order = by_place(a, b);
    if (!order)
        order = compare(b->self_ps, a->self_ps);
    return order ? order : text_order(a->op->name, b->op->name);
}

/* Of the span only: a step's share of what the whole capture says. */
static int64_t span_of(int64_t whole, int64_t span_ps, int64_t self_ps)
{
    if (whole < 0 || self_ps <= 0)
        return whole < 0 ? VP_UNKNOWN : 0;
    __int128 v = (__int128)whole * span_ps / self_ps;
    return v > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)v;
}

static void add(cmp_op *sum, const cmp_op *x)
{
    if (x->op->self_ps > sum->op->self_ps)
        sum->op = x->op;
    sum->self_ps += x->self_ps;
    sum->calls += x->calls;
    if (x->flops != VP_UNKNOWN)
        sum->flops = (sum->flops == VP_UNKNOWN ? 0 : sum->flops) + x->flops;
}

/* Rows of one report: one a kind of device and name, the mean of the devices of that kind. */
int cmp_ops_of(cmp_op **out, size_t *count, const cmp_side *s)
{
    const vp_report *r = s->r;
    size_t n = 0, kept = 0;
    cmp_op *v = vp_calloc(r->op_count, sizeof *v);
    if (!v)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (size_t i = 0; i < r->op_count; i++) {
        const vp_op *op = &r->ops[i];
        int64_t self = cmp_op_self(s, op);
        if (self == VP_UNKNOWN)
            continue;
        v[n++] = (cmp_op){.op = op,
                          .kind = r->devices[op->device].kind,
                          .self_ps = self,
                          .calls = op->calls,
                          .flops = span_of(op->flops, self, op->self_ps)};
    }
    qsort(v, n, sizeof *v, by_name);
    for (size_t i = 0; i < n; i++) {
        if (kept && by_name(&v[kept - 1], &v[i]) == 0)
            add(&v[kept - 1], &v[i]);
        else
            v[kept++] = v[i];
    }
    for (size_t i = 0; i < kept; i++) {
        int64_t devices = (int64_t)s->devices[v[i].kind];
        v[i].self_ps = cmp_mean(v[i].self_ps, devices);
        if (v[i].flops != VP_UNKNOWN)
            v[i].flops = cmp_mean(v[i].flops, devices);
    }
    *out = v;
    *count = kept;
    return 0;
}

/* ---- Why a difference counts, or not ---- */

/* |difference| of the time per FLOP below 5 %: the rates are equal as far as anybody measures. */
static bool same_rate(const vp_compared_op *x)
{
    if (x->flops_a <= 0 || x->flops_b <= 0 || x->self.a_ps <= 0 || x->self.b_ps <= 0)
        return false;
    double a = (double)x->self.a_ps / (double)x->flops_a;
    double b = (double)x->self.b_ps / (double)x->flops_b;
    return fabs(a - b) <= 0.05 * fmin(a, b) && x->flops_a != x->flops_b;
}

static void explain(vp_compared_op *x, const vp_comparison *c)
{
    bool above = cmp_size(&x->self) > c->threshold_ps;
    x->significant = above && !same_rate(x);
    if (!above)
        x->reason = "within the noise of a step";
    else if (!x->significant)
        x->reason =
            x->self.delta_ps > 0 ? "more work at the same rate" : "less work at the same rate";
    else if (x->is_new)
        x->reason = "only in B";
    else if (x->is_gone)
        x->reason = "only in A";
    else if (x->calls_a != x->calls_b && x->flops_a < 0)
        x->reason = x->calls_b > x->calls_a ? "called more often" : "called less often";
    else
        x->reason = x->self.delta_ps > 0 ? (c->per_step ? "slower" : "longer")
                                         : (c->per_step ? "faster" : "shorter");
}

/* The device's name where there is one of its kind, else the kind. */
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

/* Either may be NULL. A side whose ops were not there took 0 ps. */
static void put(comparing *k, const cmp_op *a, const cmp_op *b)
{
    const vp_op *op = a ? a->op : b->op;
    vp_compared_op *x = &k->c->ops[k->c->op_count++];
    *x = (vp_compared_op){.device = device_text(k, a ? a->kind : b->kind),
                          .category = cmp_text(k, op->category),
                          .name = cmp_text(k, op->name),
                          .scope = cmp_text(k, op->scope),
                          .op_class = op->op_class,
                          .self = cmp_delta(a ? a->self_ps : 0, b ? b->self_ps : 0),
                          .calls_a = a ? a->calls : 0,
                          .calls_b = b ? b->calls : 0,
                          .flops_a = a ? a->flops : VP_UNKNOWN,
                          .flops_b = b ? b->flops : VP_UNKNOWN,
                          .is_new = !a,
                          .is_gone = !b};
    explain(x, k->c);
}

/* ---- Joining ---- */

static void join_names(comparing *k, side_list *a, side_list *b)
{
    size_t i = 0, n = 0;
    while (i < a->n && n < b->n) {
        int order = by_name(&a->v[i], &b->v[n]);
        if (order == 0) {
            put(k, &a->v[i], &b->v[n]);
            a->v[i].matched = b->v[n].matched = true;
        }
        i += order <= 0;
        n += order >= 0;
    }
}

/* Calls within a fifth of each other. */
static bool similar(const cmp_op *a, const cmp_op *b)
{
    return place_of(a->op) && a->calls <= b->calls + b->calls / 5 &&
           b->calls <= a->calls + a->calls / 5;
}

/* The unmatched of both in the order of their places, the largest of one place first. */
static void join_places(comparing *k, side_list *a, side_list *b)
{
    size_t i = 0, n = 0;
    qsort(a->v, a->n, sizeof *a->v, by_place_and_time);
    qsort(b->v, b->n, sizeof *b->v, by_place_and_time);
    while (i < a->n && n < b->n && !a->v[i].matched && !b->v[n].matched) {
        int order = by_place(&a->v[i], &b->v[n]);
        if (order == 0 && similar(&a->v[i], &b->v[n])) {
            put(k, &a->v[i], &b->v[n]);
            a->v[i].matched = b->v[n].matched = true;
        }
        i += order <= 0;
        n += order >= 0;
    }
}

static int by_size(const void *pa, const void *pb)
{
    const vp_compared_op *a = pa, *b = pb;
    int order = compare(cmp_size(&b->self), cmp_size(&a->self));
    if (!order)
        order = compare(b->self.a_ps + b->self.b_ps, a->self.a_ps + a->self.b_ps);
    if (!order)
        order = text_order(a->name, b->name);
    if (!order)
        order = text_order(a->category, b->category);
    if (!order)
        order = compare(a->op_class, b->op_class);
    return order ? order : text_order(a->device, b->device);
}

static void join(comparing *k, side_list *a, side_list *b)
{
    join_names(k, a, b);
    join_places(k, a, b);
    for (size_t i = 0; i < a->n; i++)
        if (!a->v[i].matched)
            put(k, &a->v[i], NULL);
    for (size_t i = 0; i < b->n; i++)
        if (!b->v[i].matched)
            put(k, NULL, &b->v[i]);
    qsort(k->c->ops, k->c->op_count, sizeof *k->c->ops, by_size);
}

int cmp_ops(comparing *k)
{
    side_list a = {0}, b = {0};
    int rc = cmp_ops_of(&a.v, &a.n, &k->a);
    if (rc >= 0)
        rc = cmp_ops_of(&b.v, &b.n, &k->b);
    if (rc >= 0) {
        k->c->ops = vp_arena_zalloc(k->arena, (a.n + b.n) * sizeof *k->c->ops);
        if (k->c->ops)
            join(k, &a, &b);
        else
            rc = vp_fail(VP_ENOMEM, "out of memory");
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
        int64_t self = cmp_op_self(s, op), flops = span_of(op->flops, self, op->self_ps);
        if (self == VP_UNKNOWN || flops == VP_UNKNOWN)
            continue;
        known = true;
        sum += flops;
    }
    return !known ? VP_UNKNOWN : sum > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)sum;
}
