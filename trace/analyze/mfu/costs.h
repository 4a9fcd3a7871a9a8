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

/* A framework operator, whose kernels carry its number. */
typedef struct outer_op {
    int64_t number;
    uint32_t kind;       /* its own */
    sweep_event longest; /* the kernel of it that has the cost; index SIZE_MAX: none yet */
    int64_t longest_ps;
} outer_op;

typedef struct costs {
    const trace *t;
    op_cost *by_kind; /* of one execution */
    gpu_tile *tiles;  /* by kind */
    int64_t cores;    /* of the current device */
    outer_op *outer;  /* by number */
    size_t outer_count, outer_cap;
} costs;

int costs_new(costs *out, analysis *a);
void costs_free(costs *c);
/* Selects the peaks of a device: costs then include its tile padding and the number of passes in
 * which a TPU computes f32 matmuls. */
void costs_on(costs *c, const kind_list *kinds, const peaks *p);
/* True if a framework operator launched this event; then the cost is specific to the event. */
bool costs_are_own(const costs *c, const trace_track *k, sweep_event e);
/* The cost of an event by its operator; and of all other events of a kind. */
op_cost costs_of(const costs *c, const trace_track *k, sweep_event e);
op_cost costs_of_kind(const costs *c, uint32_t kind);

/* costs_hlo.c: costs of kinds without stats by their instructions; and then the selection of one
 * kernel per instruction on a device. */
int costs_by_hlo(costs *c, analysis *a);
int costs_once(costs *c, const analysis *a);
/* costs_kind.c: costs in a kind's own stats. */
op_cost cost_of_kind(const trace *t, const trace_kind *k);

#endif
