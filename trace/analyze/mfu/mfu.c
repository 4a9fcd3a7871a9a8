#include "trace/analyze/mfu/mfu.h"

#include "trace/analyze/device/ops.h"
#include "trace/analyze/mfu/costs.h"
#include "trace/analyze/mfu/peaks.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/sums.h"

/* More bytes than any device has. */
#define MEMORY_MAX (INT64_C(1) << 50)

/* An op that may still own time. */
typedef struct open_op {
    int64_t start, end;
    int64_t owned_ps, step_ps; /* so far; and in the current step */
    size_t step;               /* the window of step_ps */
    uint32_t slot;             /* index of its kind in the device's list */
    op_cost cost;
    op_price price;
} open_op;

typedef struct open_ops {
    open_op *v;
    size_t n, cap;
} open_ops;

/* The cost of the events of a kind, computed at the first. */
typedef struct priced {
    bool known;
    op_cost cost;
    op_price price;
} priced;

/* One device's events by start. Every instant of its compute time belongs to the op that started
 * last of those that run; containers own the time that no op covers. */
typedef struct fall {
    const analysis *a;
    const costs *costs;
    const uint8_t *class_of;
    const kind_list *list;
    peaks peaks;
    vp_mfu *mfu;
    vp_roof *roofs;    /* by index in the list */
    priced *priced;    /* the same */
    uint32_t *slot_of; /* the index in the list, by kind */
    int64_t dtype_flops[VP_DTYPES];
    const step_windows *steps;                 /* NULL: none */
    int64_t (*step_cells)[STEP_CELLS_FIGURES]; /* by window */
    size_t step;                               /* earlier windows do not occur again */
    int64_t from, to;                          /* only time within it counts */
    int64_t now, reach; /* reach: the end of the last copy or collective so far */
    open_ops ops, containers;
    bool over;
} fall;

static int64_t span_overlap(int64_t start, int64_t end, int64_t from, int64_t to)
{
    int64_t a = start > from ? start : from, b = end < to ? end : to;
    return b > a ? b - a : 0;
}

/* Ends an op's part in a step. */
static void leave_step(fall *f, open_op *o)
{
    if (!o->step_ps)
        return;
    int64_t part =
        span_overlap(o->start, o->end, f->steps->start_ps[o->step], f->steps->end_ps[o->step]);
    op_price p = price_part(&o->price, part, o->end - o->start);
    int64_t *cells = f->step_cells[o->step], *peak_ps = &cells[VP_CELLS];
    cells_add(cells, &p, o->step_ps);
    if (!p.remat)
        *peak_ps = vp_add_most(*peak_ps, p.compute_ps);
    o->step_ps = 0;
}

static void give_step(fall *f, open_op *o, int64_t start, int64_t end)
{
    const step_windows *w = f->steps;
    while (w && f->step < w->count && w->end_ps[f->step] <= start)
        f->step++;
    for (size_t i = f->step; w && i < w->count && w->start_ps[i] < end; i++) {
        if (o->step != i)
            leave_step(f, o);
        o->step = i;
        o->step_ps += span_overlap(start, end, w->start_ps[i], w->end_ps[i]);
    }
}

static void give_op_time(fall *f, open_op *o, int64_t start, int64_t end)
{
    o->owned_ps += span_overlap(start, end, f->from, f->to);
    give_step(f, o, start, end);
}

static int64_t scale_part(int64_t v, int64_t part, int64_t whole)
{
    return part >= whole ? v : (int64_t)((__int128)v * part / whole);
}

static void count_flops(fall *f, const open_op *o, int64_t flops, const op_price *p, int64_t length)
{
    vp_mfu *m = f->mfu;
    int64_t *sum = o->cost.remat ? &m->recompute_flops : &m->flops;
    int64_t *time = o->cost.remat ? &m->recompute_peak_ps : &m->peak_ps;
    *sum = vp_add_most(*sum < 0 ? 0 : *sum, flops);
    *time = vp_add_most(*time, p->compute_ps);
    f->dtype_flops[o->cost.dtype] = vp_add_most(f->dtype_flops[o->cost.dtype], flops);
    if (p->compute_ps <= length)
        return;
    m->above_ops++;
    m->above_ps = vp_add_most(m->above_ps, p->compute_ps - length);
}

/* Ends this op. */
static void close_op(fall *f, open_op *o)
{
    int64_t whole = o->end - o->start, part = span_overlap(o->start, o->end, f->from, f->to);
    leave_step(f, o);
    if (whole && !part)
        return;
    op_price p = price_part(&o->price, part, whole);
    vp_roof add = {.flops = VP_UNKNOWN,
                   .bytes = VP_UNKNOWN,
                   .peak_ps = p.compute_ps,
                   .memory_ps = p.memory_ps,
                   .source = (vp_cost_source)o->cost.source};
    cells_add(add.cell_ps, &p, o->owned_ps);
    if (o->cost.what != COST_UNKNOWN && o->cost.source)
        add.bytes = scale_part(o->cost.bytes, part, whole);
    if (o->cost.what == COST_PRODUCT) {
        add.flops = scale_part(o->cost.flops, part, whole);
        count_flops(f, o, add.flops, &p, part);
    }
    if (o->cost.formatting)
        f->mfu->formatting_ps += add.cell_ps[VP_CELL_NM_MEMORY] + add.cell_ps[VP_CELL_NM_EXCESS];
    roof_add(&f->roofs[o->slot], &add);
}

static open_op *top_at(fall *f, open_ops *s, int64_t now)
{
    while (s->n && s->v[s->n - 1].end <= now)
        close_op(f, &s->v[--s->n]);
    return s->n ? &s->v[s->n - 1] : NULL;
}

static void fall_advance(fall *f, int64_t to)
{
    while (f->now < to) {
        open_op *o = top_at(f, &f->ops, f->now);
        if (!o && f->reach > f->now && (o = top_at(f, &f->containers, f->now))) {
            f->now = f->reach < to ? f->reach : to;
            continue;
        }
        o = o ? o : top_at(f, &f->containers, f->now);
        int64_t end = o && o->end < to ? o->end : to;
        if (o)
            give_op_time(f, o, f->now, end);
        f->now = end;
    }
}

static void price_op(fall *f, op_cost *cost, op_price *price)
{
    *price = price_of(cost, peaks_of(&f->peaks, (vp_dtype)cost->dtype), f->peaks.mb_s, &f->over);
}

static const priced *priced_kind(fall *f, uint32_t slot)
{
    priced *x = &f->priced[slot];
    if (!x->known) {
        x->known = true;
        x->cost = costs_of_kind(f->costs, f->list->kind[slot]);
        price_op(f, &x->cost, &x->price);
    }
    return x;
}

static int fall_open_event(fall *f, open_ops *s, const trace_track *k, sweep_event e)
{
    int64_t start = trace_start(k, e.index);
    open_op o = {.start = start,
                 .end = start + trace_dur(k, e.index),
                 .slot = f->slot_of[trace_kind_of(k, e.index)]};
    if (costs_are_own(f->costs, k, e)) {
        o.cost = costs_of(f->costs, k, e);
        price_op(f, &o.cost, &o.price);
    } else {
        const priced *x = priced_kind(f, o.slot);
        o.cost = x->cost;
        o.price = x->price;
    }
    if (o.start == o.end) {
        close_op(f, &o);
        return 0;
    }
    VP_TRY(vp_grow(&s->v, &s->cap, s->n + 1, sizeof o, SIZE_MAX / 256));
    s->v[s->n++] = o;
    return 0;
}

static int fall_on_event(void *ctx, const trace_track *k, sweep_event e)
{
    fall *f = ctx;
    int64_t start = trace_start(k, e.index), end = start + trace_dur(k, e.index);
    unsigned class = f->class_of[trace_kind_of(k, e.index)];
    if (f->now == INT64_MIN)
        f->now = f->reach = start;
    fall_advance(f, start);
    if (class == VP_COMPUTE)
        return fall_open_event(f, &f->ops, k, e);
    if (class == SWEEP_CONTAINER)
        return fall_open_event(f, &f->containers, k, e);
    f->reach = end > f->reach ? end : f->reach;
    return 0;
}

static void close_all(fall *f)
{
    int64_t last = f->now;
    for (size_t i = 0; i < f->ops.n; i++)
        last = f->ops.v[i].end > last ? f->ops.v[i].end : last;
    for (size_t i = 0; i < f->containers.n; i++)
        last = f->containers.v[i].end > last ? f->containers.v[i].end : last;
    fall_advance(f, last);
    top_at(f, &f->ops, INT64_MAX);
    top_at(f, &f->containers, INT64_MAX);
}

/* Values of all of the device's ops, and of its groups and scopes. */
static void hand_out(fall *f, uint32_t device, const vp_map *scope_at)
{
    const uint32_t *op_of = ops_by_group(f->a, device), *groups = grouping_groups(f->a->g);
    host_result *h = f->a->h;
    for (uint32_t i = 0; i < f->list->n; i++) {
        const uint32_t kind = f->list->kind[i];
        const vp_roof *r = &f->roofs[i];
        uint32_t scope = vp_map_get(scope_at, f->a->t->kinds[kind].scope);
        roof_add(&h->ops[op_of[groups[kind]]].roof, r);
        if (scope != VP_MAP_NONE)
            roof_add(&h->scopes[scope].roof, r);
        for (size_t c = 0; c < VP_CELLS; c++)
            f->mfu->cell_ps[c] += r->cell_ps[c];
    }
}

static void tell_peaks(fall *f)
{
    vp_mfu *m = f->mfu;
    for (size_t i = 1; i < VP_DTYPES; i++)
        if (f->dtype_flops[i] > f->dtype_flops[m->dtype])
            m->dtype = (vp_dtype)i;
    int64_t gflops = peaks_of(&f->peaks, m->dtype);
    if (gflops && gflops == f->peaks.gflops[VP_DTYPE_BF16] && m->dtype == VP_DTYPE_UNKNOWN)
        m->dtype = VP_DTYPE_BF16; /* that of the peak */
    m->chip = f->peaks.chip;
    m->peak_source = f->peaks.source;
    m->bandwidth_source = f->peaks.bandwidth_source;
    m->uncertain = f->peaks.uncertain;
    m->peak_gflops = gflops ? gflops : VP_UNKNOWN;
    m->bandwidth_mb_s = f->peaks.mb_s ? f->peaks.mb_s : VP_UNKNOWN;
}

static int pack_cells(const fall *f, uint32_t device, size_t windows)
{
    packed_steps_writer w;
    int rc = 0;
    if (!windows)
        return 0;
    packed_steps_begin(&w, STEP_CELLS);
    for (size_t i = 0; rc >= 0 && i < windows; i++)
        rc = packed_steps_put(&w, f->step_cells[i]);
    return packed_steps_end(&w, &f->a->h->packed, device, rc);
}

static int fall_of_device(fall *f, uint32_t device, const vp_map *scope_at)
{
    const device_work *w = &f->a->devices[device];
    VP_CLEANUP(vp_free_ptr) vp_roof *roofs = vp_calloc((size_t)w->times.n + 1, sizeof *roofs);
    VP_CLEANUP(vp_free_ptr) priced *prices = vp_calloc((size_t)w->times.n + 1, sizeof *prices);
    size_t windows = f->steps ? f->steps->count : 0;
    VP_CLEANUP(vp_free_ptr) void *cells = vp_calloc(windows + 1, sizeof *f->step_cells);
    VP_NEED(roofs && prices && cells);
    f->step_cells = cells;
    for (uint32_t i = 0; i < w->times.n; i++) {
        roofs[i] = ROOF_NONE;
        f->slot_of[w->times.kind[i]] = i;
    }
    f->roofs = roofs;
    f->priced = prices;
    f->list = &w->times;
    f->now = INT64_MIN;
    int rc = sweep_events(w->set, fall_on_event, f);
    if (rc >= 0) {
        close_all(f);
        hand_out(f, device, scope_at);
        tell_peaks(f);
    }
    vp_free(f->ops.v);
    vp_free(f->containers.v);
    return rc < 0 ? rc : pack_cells(f, device, windows);
}

static int mfu_add_device(const analysis *a, costs *c, uint32_t device, const vp_map *scope_at,
                          uint32_t *slot_of, bool *over)
{
    const trace_process *p = &a->t->processes[a->devices[device].process];
    vp_mfu *m = &a->h->devices[device].mfu;
    bool part = p->part_start_ps != SINK_NO_TIME;
    fall f = {.a = a,
              .costs = c,
              .class_of = grouping_sweep_classes(a->g),
              .mfu = m,
              .slot_of = slot_of,
              .steps = a->windows ? &a->windows[device] : NULL,
              .from = part ? p->part_start_ps : INT64_MIN,
              .to = part ? p->part_end_ps : INT64_MAX};
    *m = (vp_mfu){.flops = VP_UNKNOWN,
                  .recompute_flops = VP_UNKNOWN,
                  .asked_flops = VP_UNKNOWN,
                  .asked_window_ps = VP_UNKNOWN};
    peaks_choose(&f.peaks, trace_str(a->t, p->model), &p->chip, &a->h->wish);
    costs_on(c, &a->devices[device].times, &f.peaks);
    if (f.peaks.memory_bytes > 0 && f.peaks.memory_bytes < MEMORY_MAX)
        a->h->devices[device].memory_bytes = f.peaks.memory_bytes;
    int rc = fall_of_device(&f, device, scope_at);
    *over = *over || f.over;
    return rc;
}

/* By the name of a path: its index in h->scopes, which are in the order of first use by kinds. */
static int index_scopes(vp_map *at, const analysis *a)
{
    vp_map by_path;
    int rc = 0;
    vp_map_init(&by_path);
    for (size_t i = 0; rc >= 0 && i < a->h->scope_count; i++) {
        vp_str path = vp_str_of(a->h->scopes[i].path);
        rc = vp_map_set(&by_path, vp_hash(path.p, path.n, 3), (uint32_t)i);
    }
    for (uint32_t k = 0; rc >= 0 && k < a->t->kind_count; k++) {
        vp_str path = trace_str(a->t, a->t->kinds[k].scope);
        path = path.n ? path : VP_STR("(no scope)");
        uint32_t i = vp_map_get(&by_path, vp_hash(path.p, path.n, 3));
        if (i != VP_MAP_NONE)
            rc = vp_map_set(at, a->t->kinds[k].scope, i);
    }
    vp_map_free(&by_path);
    return rc;
}

static int mfu_add_devices(analysis *a, costs *c, const vp_map *scope_at)
{
    VP_CLEANUP(vp_free_ptr)
    uint32_t *slot_of = vp_realloc_array(NULL, (size_t)a->t->kind_count + 1, sizeof *slot_of);
    VP_CLEANUP(vp_free_ptr)
    uint32_t *op_of = vp_realloc_array(NULL, (size_t)grouping_count(a->g) + 1, sizeof *op_of);
    VP_NEED(slot_of && op_of);
    analysis own =
        *a; /* other analyses run concurrently, so ops_by_group needs a buffer of our own */
    own.op_of_group = op_of;
    for (uint32_t d = 0; d < a->device_count; d++)
        VP_TRY(mfu_add_device(&own, c, d, scope_at, slot_of, &a->cost_overflow));
    return 0;
}

int mfu_collect(analysis *a)
{
    costs c = {0};
    vp_map scope_at;
    if (!a->h->has_devices)
        return 0;
    vp_map_init(&scope_at);
    int rc = index_scopes(&scope_at, a);
    if (rc >= 0)
        rc = costs_new(&c, a);
    if (rc >= 0)
        rc = mfu_add_devices(a, &c, &scope_at);
    costs_free(&c);
    vp_map_free(&scope_at);
    return rc;
}
