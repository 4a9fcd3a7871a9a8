/* Cost of each op of a trace: FLOP of matmuls and bytes of main memory. Sources in order: the stats
 * of the op, the shapes of its HLO instruction, the shapes of the framework operator that launched
 * it. If an instruction or operator launches several kernels, only one of them has the cost, so
 * executions are counted, not kernels (docs/reference/memory-and-mfu.md#flop-of-hlo). The caller
 * frees the costs. */
#ifndef VP_ANALYZE_COSTS_H
#define VP_ANALYZE_COSTS_H

#include "trace/analyze/device/sweep.h"
#include "trace/analyze/mfu/peaks.h"
#include "trace/analyze/mfu/waterfall.h"

/* An op of the framework, whose kernels carry its number. */
typedef struct outer_op {
    int64_t number;
    uint32_t kind;       /* its own */
    sweep_event longest; /* of its kernels: has the cost; index SIZE_MAX: none was seen */
    int64_t longest_ps;
} outer_op;

typedef struct costs {
    const trace *t;
    op_cost *by_kind; /* of one execution */
    gpu_tile *tiles;  /* by kind */
    int64_t cores;    /* of the device at hand */
    outer_op *outer;  /* by number */
    size_t outer_count, outer_cap;
} costs;

int costs_new(costs *out, analysis *a);
void costs_free(costs *c);
/* From here on costs are those on a device with these peaks: what its tiles have beyond shapes, and
 * in how many passes a TPU makes products of f32. */
void costs_on(costs *c, const kind_list *kinds, const peaks *p);
/* Whether a framework's op launched this event: then its cost is the event's own. */
bool costs_are_own(const costs *c, const trace_track *k, sweep_event e);
/* Of this event, by the framework's op; and of every other event of a kind. */
op_cost costs_of(const costs *c, const trace_track *k, sweep_event e);
op_cost costs_of_kind(const costs *c, uint32_t kind);

/* costs_hlo.c: of kinds without stats, by their instructions; and then, of several kernels of one
 * instruction on a device, of one only. */
int costs_by_hlo(costs *c, analysis *a);
int costs_once(costs *c, const analysis *a);
/* costs_kind.c: what a kind's own stats say. */
op_cost cost_of_kind(const trace *t, const trace_kind *k);

#endif
