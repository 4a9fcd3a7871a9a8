/* Which instructions the kernels of one replay of a CUDA graph belong to. XLA records a piece of a
 * program as a graph (a command buffer); the profiler then names at each kernel the graph's launch,
 * and not the instruction. Two things are certain all the same:
 *   by name: XLA names the kernel of a fusion after it, `.` and what else PTX does not take as `_`;
 *     equal fusions share one kernel, so a name counts that one kernel of the replay has;
 *   by order: between two kernels known by name, or the ends of a recorded computation, kernels run
 *     one after the other in the program's order. Where each instruction there launches one kernel
 *     at least and there are as many of both, or one instruction only, they are its.
 * All else is left alone. trace/model includes this, to place the kernels of a trace. */
#ifndef VP_MODEL_GRAPH_KERNELS_H
#define VP_MODEL_GRAPH_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/str.h"
#include "trace/read/hlo/hlo_program.h"

/* A program's instructions by the names of their kernels, and their places in its order. */
typedef struct graph_program {
    hlo_program *hlo;
    uint32_t *place;  /* of each instruction, in its computation */
    vp_map by_kernel; /* hash of a kernel's name → the fusion; none where several have it */
} graph_program;

/* VP_ECORRUPT, VP_ELIMIT, VP_ENOMEM. The proto must outlive it. */
int graph_program_open(graph_program *g, vp_str proto);
void graph_program_close(graph_program *g);

typedef struct graph_kernel {
    vp_str name;
    bool overlaps;  /* it began before all those in front of it were over */
    uint32_t instr; /* found: its instruction; HLO_NONE */
    bool by_order;
} graph_kernel;

/* Finds the instructions of a replay's n kernels, which stand in the order in which they began.
 * launch: what their events name as their instruction, the call that is the graph or nothing of the
 * program. in_order: they are known to be one replay. 0 or VP_ENOMEM. */
int graph_kernels_find(const graph_program *g, vp_str launch, graph_kernel *k, size_t n,
                       bool in_order);

#endif
