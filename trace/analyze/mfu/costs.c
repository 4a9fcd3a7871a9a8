#include "trace/analyze/mfu/costs.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

static int by_outer_number(const void *a, const void *b)
{
    int64_t x = ((const outer_op *)a)->number, y = ((const outer_op *)b)->number;
    return (x > y) - (x < y);
}

static int add_outer_of(costs *c, const trace_track *k)
{
    for (size_t i = 0; k->attr[SINK_EXTERNAL] && i < k->count; i++) {
        int64_t number = trace_attr(k, SINK_EXTERNAL, i);
        if (number == SINK_NO_VALUE || c->t->kinds[trace_kind_of(k, i)].flops < 0)
            continue;
        VP_TRY(
            vp_grow(&c->outer, &c->outer_cap, c->outer_count + 1, sizeof *c->outer, VP_EVENTS_MAX));
        c->outer[c->outer_count++] = (outer_op){number, trace_kind_of(k, i), {0, SIZE_MAX}, -1};
    }
    return 0;
}

static outer_op *outer_of(const costs *c, int64_t number)
{
    const outer_op key = {.number = number};
    return c->outer_count && number != SINK_NO_VALUE
               ? bsearch(&key, c->outer, c->outer_count, sizeof key, by_outer_number)
               : NULL;
}

static void find_longest_outer(costs *c, uint32_t track)
{
    const trace_track *k = &c->t->tracks[track];
    for (size_t i = 0; k->attr[SINK_EXTERNAL] && i < k->count; i++) {
        outer_op *o = outer_of(c, trace_attr(k, SINK_EXTERNAL, i));
        if (o && trace_dur(k, i) > o->longest_ps) {
            o->longest = (sweep_event){track, i};
            o->longest_ps = trace_dur(k, i);
        }
    }
}

static int join_outer(costs *c)
{
    for (uint32_t i = 0; i < c->t->track_count; i++)
        if (c->t->tracks[i].role == SINK_ROLE_PLAIN)
            VP_TRY(add_outer_of(c, &c->t->tracks[i]));
    if (!c->outer_count)
        return 0;
    qsort(c->outer, c->outer_count, sizeof *c->outer, by_outer_number);
    for (uint32_t i = 0; i < c->t->track_count; i++)
        if (c->t->tracks[i].role == SINK_ROLE_OPS)
            find_longest_outer(c, i);
    return 0;
}

static bool has_gpu_process(const trace *t)
{
    for (uint32_t i = 0; i < t->process_count; i++)
        if (t->processes[i].kind == SINK_PROCESS_GPU)
            return true;
    return false;
}

int costs_new(costs *out, analysis *a)
{
    const bool gpu = has_gpu_process(a->t);
    *out = (costs){.t = a->t};
    out->by_kind = vp_calloc((size_t)a->t->kind_count + 1, sizeof *out->by_kind);
    out->tiles = vp_calloc((size_t)a->t->kind_count + 1, sizeof *out->tiles);
    VP_NEED(out->by_kind && out->tiles);
    for (uint32_t i = 0; i < a->t->kind_count; i++) {
        uint32_t origin = trace_kind_origin(a->t, i);
        if (origin != i) {
            out->by_kind[i] = out->by_kind[origin];
            out->tiles[i] = out->tiles[origin];
        } else if (a->t->kinds[i].is_op) {
            out->by_kind[i] = cost_of_kind(a->t, &a->t->kinds[i]);
            if (gpu)
                out->tiles[i] = tile_of_kernel(trace_str(a->t, a->t->kinds[i].name));
        }
    }
    VP_TRY(costs_by_hlo(out, a));
    VP_TRY(costs_once(out, a));
    return join_outer(out);
}

void costs_free(costs *c)
{
    vp_free(c->by_kind);
    vp_free(c->tiles);
    vp_free(c->outer);
}

static void place_on(op_cost *x, gpu_tile tile, const peaks *p)
{
    x->padded = x->flops;
    if (x->what != COST_PRODUCT)
        return;
    if (p->mxu)
        x->padded = x->mxu_flops[p->mxu > 128];
    else
        x->padded = tile_padded(x->flops, &x->shape, tile, p->cores);
    x->padded = x->padded > x->flops ? x->padded : x->flops;
    if (!p->mxu)
        x->passes = 1;
}

void costs_on(costs *c, const kind_list *kinds, const peaks *p)
{
    c->cores = p->cores;
    for (uint32_t i = 0; i < kinds->n; i++)
        place_on(&c->by_kind[kinds->kind[i]], c->tiles[kinds->kind[i]], p);
}

/* f32 uses tensor cores if the kernel's name shows it. */
static uint8_t type_in(const trace *t, const trace_kind *kernel, uint8_t type)
{
    vp_str name = trace_str(t, kernel->name);
    bool tf32 = vp_str_find_nocase(name, VP_STR("tf32")) < name.n ||
                vp_str_find_nocase(name, VP_STR("s1688gemm")) < name.n;
    return type == VP_DTYPE_F32 && tf32 ? VP_DTYPE_TF32 : type;
}

op_cost costs_of_kind(const costs *c, uint32_t kind)
{
    op_cost own = c->by_kind[kind];
    own.dtype = type_in(c->t, &c->t->kinds[kind], own.dtype);
    return own;
}

bool costs_are_own(const costs *c, const trace_track *k, sweep_event e)
{
    return c->outer_count && outer_of(c, trace_attr(k, SINK_EXTERNAL, e.index));
}

op_cost costs_of(const costs *c, const trace_track *k, sweep_event e)
{
    const outer_op *o = outer_of(c, trace_attr(k, SINK_EXTERNAL, e.index));
    uint32_t kind = trace_kind_of(k, e.index);
    const trace_kind *op = &c->t->kinds[o->kind];
    bool all = o->longest.track == e.track && o->longest.index == e.index;
    const product_shape shape = {op->rows, op->columns, 1, op->batch};
    const int64_t flops = all ? op->flops : 0;
    return (op_cost){.what = COST_PRODUCT,
                     .dtype = type_in(c->t, &c->t->kinds[kind], op->dtype),
                     .source = VP_COST_SHAPES,
                     .flops = flops,
                     .padded = tile_padded(flops, &shape, c->tiles[kind], c->cores),
                     .bytes = all && op->bytes > 0 ? op->bytes : 0};
}
