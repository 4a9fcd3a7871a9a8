/* Which instructions the kernels of one replay of a CUDA graph belong to. XLA records a piece of a
 * program as a graph (a command buffer); the profiler then names at each kernel the graph's launch,
 * and not the instruction. Two things tell it all the same:
 *   by name: XLA names the kernel of a fusion after it, `.` and what else PTX does not take as `_`;
 *     equal fusions share one kernel, and graph_match.h says which of them runs where;
 *   by order: between two kernels known by name, or the ends of a recorded computation, kernels run
 *     one after the other in the program's order. Where each instruction there launches one kernel
 *     at least and there are as many of both, or one instruction only, they are its.
 * Both need a chain of nodes. Where branches run beside each other, names tell that one kernel of a
 * complete replay has. All else is left alone. trace/model includes this, to place the kernels of a
 * trace. */
#ifndef VP_MODEL_GRAPH_KERNELS_H
#define VP_MODEL_GRAPH_KERNELS_H

#include "trace/model/graph_program.h"

/* A replay: its n kernels stand in the order in which they began. */
typedef struct graph_replay {
    vp_str launch; /* what their events name as their instruction, the call that is the graph or
                      nothing of the program */
    graph_kernel *k;
    size_t n;
    bool one_launch;      /* they are known to be of one launch */
    bool chain;           /* and to run one after the other, as far as their times say */
    vp_str before, after; /* instructions of the program that ran next to it; empty: unknown */
    uint64_t *steps;      /* left for all replays of a trace, of VP_GRAPH_STEPS_MAX; without them no
                             kernel of a chain is told */
} graph_replay;

/* Finds their instructions. 0 or VP_ENOMEM. */
int graph_kernels_find(const graph_program *g, const graph_replay *r);

#endif
