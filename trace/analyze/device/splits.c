#include "trace/analyze/device/splits.h"

#include <math.h>
#include <stdlib.h>

#include "trace/analyze/device/hlo_text.h"
#include "trace/analyze/device/op_places.h"
#include "trace/analyze/device/ops.h"
#include "trace/analyze/result/order_statistics.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* The largest parts of an op that are listed; and the CV above which one mean says nothing. */
#define SPLITS_MAX 8u
#define NO_PART UINT32_MAX
#define WIDE_CV 0.5

/* Shapes as such, and with layout and memory space ("f32[8]{0:T(256)S(1)}"): vp_split_by. */
typedef enum by {
    BY_SHAPE = VP_SPLIT_SHAPE,
    BY_LAYOUT = VP_SPLIT_LAYOUT,
    BY_SCOPE = VP_SPLIT_SCOPE,
    BY_SOURCE = VP_SPLIT_SOURCE,
    WAYS
} by;

/* How far durations spread. Offsets are from the op's mean, so that their squares lose no digits.
 */
typedef struct spread {
    double offset, squares; /* sums */
} spread;

/* A kind that belongs to a large op. */
typedef struct member {
    uint32_t op;    /* of h->ops */
    uint32_t label; /* the id of the text that it is sorted by */
    uint32_t kind;
    uint32_t at; /* in the device's list of kinds */
} member;

typedef struct part {
    uint32_t op, kind; /* kind: the one whose scope and source are shown */
    vp_str label;
    by way;
    int64_t calls, self_ps;
    size_t first, filled; /* its durations */
} part;

typedef struct splitting {
    analysis *a;
    const kind_list *times;
    track_set set;
    member *members; /* by op */
    size_t member_count;
    spread *spread_of; /* by kind */
    uint32_t *part_of; /* by kind: its op while spreads are taken, then its part */
    part *parts;
    size_t part_count, part_cap;
    vp_arena arena;
    vp_intern shapes;
} splitting;

/* "f32[8,128]" of "f32[8,128]{1,0:T(8,128)}". */
static int shape_id(uint32_t *out, splitting *s, const trace_kind *k, bool layout)
{
    const trace *t = s->a->t;
    vp_str shape = trace_str(t, k->shape);
    hlo_text h;
    vp_buf text;
    int depth = 0;
    if (!shape.n && hlo_split(&h, trace_str(t, k->long_name)))
        shape = h.shape;
    vp_buf_init(&text, shape.n + 64);
    for (size_t i = 0; i < shape.n; i++) {
        depth += shape.p[i] == '{';
        if (layout || !depth)
            vp_buf_putc(&text, shape.p[i]);
        depth -= shape.p[i] == '}' && depth > 0;
    }
    int rc = text.status < 0 ? text.status : vp_intern_put(&s->shapes, vp_buf_view(&text), out);
    vp_buf_free(&text);
    return rc;
}

static int label_id(uint32_t *out, splitting *s, uint32_t kind, by way)
{
    const trace_kind *k = &s->a->t->kinds[kind];
    if (way == BY_SHAPE || way == BY_LAYOUT)
        return shape_id(out, s, k, way == BY_LAYOUT);
    *out = way == BY_SCOPE ? k->scope : k->source;
    return 0;
}

static vp_str label_text(const splitting *s, uint32_t id, by way)
{
    static const vp_str none[WAYS] = {VP_STR_INIT("(no shape)"), VP_STR_INIT("(no shape)"),
                                      VP_STR_INIT("(no scope)"), VP_STR_INIT("(no source)")};
    vp_str label = way == BY_SHAPE || way == BY_LAYOUT ? vp_intern_get(&s->shapes, id)
                                                       : trace_str(s->a->t, id);
    return label.n ? label : none[way];
}

static int by_op(const void *a, const void *b)
{
    const member *x = a, *y = b;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static int by_label(const void *a, const void *b)
{
    const member *x = a, *y = b;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Finds the kinds of ops with at least 5% of the device's self time: smaller ones are not split. */
static void find_members(splitting *s, uint32_t device, const uint32_t *op_of_group)
{
    const host_result *h = s->a->h;
    for (uint32_t i = 0; i < s->times->n; i++) {
        uint32_t k = s->times->kind[i], op = op_of_group[grouping_groups(s->a->g)[k]];
        s->part_of[k] = NO_PART;
        s->spread_of[k] = (spread){0};
        if (h->ops[op].self_ps > 0 && h->ops[op].self_ps >= h->devices[device].self_ps / 20)
            s->members[s->member_count++] = (member){op, 0, k, i};
    }
    qsort(s->members, s->member_count, sizeof *s->members, by_op);
}

static void find_spreads(splitting *s)
{
    const host_result *h = s->a->h;
    for (size_t i = 0; i < s->member_count; i++)
        s->part_of[s->members[i].kind] = s->members[i].op;
    for (size_t i = 0; i < s->set.count; i++) {
        const trace_track *k = &s->set.t->tracks[s->set.tracks[i]];
        for (size_t e = 0; e < k->count; e++) {
            uint32_t op = s->part_of[trace_kind_of(k, e)];
            if (op == NO_PART)
                continue;
            spread *at = &s->spread_of[trace_kind_of(k, e)];
            double x = (double)(trace_dur(k, e) - h->ops[op].total_ps / h->ops[op].calls);
            at->offset += x;
            at->squares += x * x;
        }
    }
    for (size_t i = 0; i < s->member_count; i++)
        s->part_of[s->members[i].kind] = NO_PART;
}

typedef struct sample {
    double calls, offset, squares;
} sample;

static void sample_add_member(sample *out, const splitting *s, const member *m)
{
    out->calls += (double)s->times->calls[m->at];
    out->offset += s->spread_of[m->kind].offset;
    out->squares += s->spread_of[m->kind].squares;
}

/* The sum of squares around the sample's own mean. */
static double sample_scatter(const sample *x)
{
    double about_mean = x->squares - x->offset * x->offset / x->calls;
    return about_mean > 0 ? about_mean : 0;
}

/* True if one mean is not meaningful for these kinds: their CV exceeds 0.5, the limit at which
 * tables mark a row as mixed. */
static bool has_wide_spread(const splitting *s, const member *v, size_t n)
{
    const vp_op *op = &s->a->h->ops[v->op];
    sample all = {0};
    for (size_t i = 0; i < n; i++)
        sample_add_member(&all, s, &v[i]);
    double mean = (double)(op->total_ps / op->calls) + all.offset / all.calls;
    return sqrt(sample_scatter(&all) / all.calls) > WIDE_CV * mean;
}

static bool starts_part(const member *v, size_t i)
{
    return !i || v[i].label != v[i - 1].label;
}

/* True if labels explain the variation of durations: the sum of squares within labels is less than
 * half of the total. Members are sorted by label. */
static bool labels_explain(const splitting *s, const member *v, size_t n)
{
    sample all = {0}, one = {0};
    double within = 0;
    for (size_t i = 0; i < n; i++) {
        if (starts_part(v, i))
            one = (sample){0};
        sample_add_member(&all, s, &v[i]);
        sample_add_member(&one, s, &v[i]);
        if (i + 1 == n || starts_part(v, i + 1))
            within += sample_scatter(&one);
    }
    return 2 * within < sample_scatter(&all);
}

/* Labels the members and sorts them by label. */
static int sort_by(bool *differ, splitting *s, member *v, size_t n, by way)
{
    for (size_t i = 0; i < n; i++)
        VP_TRY(label_id(&v[i].label, s, v[i].kind, way));
    qsort(v, n, sizeof *v, by_label);
    *differ = v[0].label != v[n - 1].label;
    return 0;
}

/* Selects the first property in which the kinds of an op differ, and sorts by it; WAYS: none. A
 * different layout alone is not a different op, unless it explains the durations. */
static int choose_way(by *way, splitting *s, member *v, size_t n)
{
    bool differ = false, wide = has_wide_spread(s, v, n);
    for (*way = BY_SHAPE; *way < WAYS; (*way)++) {
        if (*way == BY_LAYOUT && !wide)
            continue;
        VP_TRY(sort_by(&differ, s, v, n, *way));
        if (differ && (*way != BY_LAYOUT || labels_explain(s, v, n)))
            break;
    }
    return 0;
}

static int add_member(splitting *s, const member *m, bool first, by way)
{
    if (first) {
        VP_TRY(
            vp_grow(&s->parts, &s->part_cap, s->part_count + 1, sizeof *s->parts, UINT32_MAX - 1));
        s->parts[s->part_count++] =
            (part){.op = m->op, .label = label_text(s, m->label, way), .way = way};
    }
    part *p = &s->parts[s->part_count - 1];
    s->part_of[m->kind] = (uint32_t)s->part_count - 1;
    p->calls += s->times->calls[m->at];
    p->self_ps += s->times->self_ps[m->at];
    return 0;
}

static int add_members(splitting *s, const member *v, size_t n, by way)
{
    for (size_t i = 0; i < n; i++)
        VP_TRY(add_member(s, &v[i], starts_part(v, i), way));
    return 0;
}

/* Adds members with one shape, by layout if that explains their durations. */
static int add_shape_part(splitting *s, member *v, size_t n)
{
    bool differ = false;
    if (!has_wide_spread(s, v, n))
        return add_members(s, v, n, BY_SHAPE);
    VP_TRY(sort_by(&differ, s, v, n, BY_LAYOUT));
    if (differ && labels_explain(s, v, n))
        return add_members(s, v, n, BY_LAYOUT);
    VP_TRY(sort_by(&differ, s, v, n, BY_SHAPE));
    return add_members(s, v, n, BY_SHAPE);
}

static int split_op_members(splitting *s, member *v, size_t n)
{
    by way = WAYS;
    VP_TRY(choose_way(&way, s, v, n));
    if (way == WAYS)
        return 0;
    if (way != BY_SHAPE)
        return add_members(s, v, n, way);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && !starts_part(v, end);)
            end++;
        VP_TRY(add_shape_part(s, v + i, end - i));
    }
    return 0;
}

static int find_parts(splitting *s)
{
    for (size_t i = 0, end; i < s->member_count; i = end) {
        for (end = i + 1; end < s->member_count && s->members[end].op == s->members[i].op;)
            end++;
        VP_TRY(split_op_members(s, s->members + i, end - i));
    }
    return 0;
}

static int place_parts(splitting *s)
{
    VP_CLEANUP(vp_free_ptr)
    op_place *places = vp_realloc_array(NULL, s->part_count, sizeof *places);
    VP_NEED(places);
    VP_TRY(op_places(places, (uint32_t)s->part_count, s->a->t, s->part_of, s->times));
    for (size_t i = 0; i < s->part_count; i++)
        s->parts[i].kind = places[i].kind;
    return 0;
}

static void fill_part_durations(splitting *s, int64_t *durations)
{
    for (size_t i = 0; i < s->set.count; i++) {
        const trace_track *k = &s->set.t->tracks[s->set.tracks[i]];
        for (size_t e = 0; e < k->count; e++) {
            uint32_t at = s->part_of[trace_kind_of(k, e)];
            if (at != NO_PART)
                durations[s->parts[at].first + s->parts[at].filled++] = trace_dur(k, e);
        }
    }
}

static int by_op_then_self(const void *a, const void *b)
{
    const part *x = a, *y = b;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static int emit_split(vp_split *out, const splitting *s, const part *p, const int64_t *durations)
{
    host_result *h = s->a->h;
    const trace *t = s->a->t;
    const int64_t *d = durations + p->first;
    *out = (vp_split){.calls = p->calls,
                      .self_ps = p->self_ps,
                      .stddev_ps = deviation_of(d, (size_t)p->calls),
                      .by = (vp_split_by)p->way};
    for (int64_t i = 0; i < p->calls; i++)
        out->max_ps = d[i] > out->max_ps ? d[i] : out->max_ps;
    VP_TRY(host_text(&out->label, h, p->label));
    VP_TRY(host_text(&out->scope, h, trace_str(t, t->kinds[p->kind].scope)));
    return host_text(&out->source, h, trace_str(t, t->kinds[p->kind].source));
}

static int emit_all(splitting *s, const int64_t *durations)
{
    host_result *h = s->a->h;
    qsort(s->parts, s->part_count, sizeof *s->parts, by_op_then_self);
    for (size_t i = 0, end; i < s->part_count; i = end) {
        vp_op *op = &h->ops[s->parts[i].op];
        for (end = i + 1; end < s->part_count && s->parts[end].op == s->parts[i].op;)
            end++;
        size_t n = end - i < SPLITS_MAX ? end - i : SPLITS_MAX;
        op->splits = vp_arena_zalloc(&h->arena, n * sizeof *op->splits);
        VP_NEED(op->splits);
        for (size_t k = 0; k < n; k++)
            VP_TRY(emit_split(&op->splits[k], s, &s->parts[i + k], durations));
        op->split_count = n;
    }
    return 0;
}

static int split_op(splitting *s, uint32_t device, const uint32_t *op_of_group)
{
    size_t events = 0;
    find_members(s, device, op_of_group);
    find_spreads(s);
    VP_TRY(find_parts(s));
    if (!s->part_count)
        return 0;
    VP_TRY(place_parts(s));
    for (size_t i = 0; i < s->part_count; i++) {
        s->parts[i].first = events;
        events += (size_t)s->parts[i].calls;
    }
    VP_CLEANUP(vp_free_ptr) int64_t *durations = vp_realloc_array(NULL, events, sizeof *durations);
    VP_NEED(durations);
    fill_part_durations(s, durations);
    return emit_all(s, durations);
}

int splits_of_device(analysis *a, uint32_t device, const uint32_t *op_of_group)
{
    splitting s = {.a = a, .times = &a->devices[device].times, .set = a->devices[device].set};
    vp_arena_init(&s.arena);
    s.members = vp_realloc_array(NULL, a->t->kind_count, sizeof *s.members);
    s.part_of = vp_realloc_array(NULL, a->t->kind_count, sizeof *s.part_of);
    s.spread_of = vp_realloc_array(NULL, a->t->kind_count, sizeof *s.spread_of);
    int rc = vp_intern_init(&s.shapes, &s.arena);
    if (!s.members || !s.part_of || !s.spread_of)
        rc = vp_no_memory();
    if (rc >= 0)
        rc = split_op(&s, device, op_of_group);
    vp_intern_free(&s.shapes);
    vp_arena_free(&s.arena);
    vp_free(s.members);
    vp_free(s.part_of);
    vp_free(s.spread_of);
    vp_free(s.parts);
    return rc;
}
