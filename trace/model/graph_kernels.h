/* Finds the instructions of the kernels in one replay of a CUDA graph. XLA records a part of a
 * program as a graph (a command buffer). The profiler then records the graph's launch for each
 * kernel, not the instruction. Two sources identify the instruction:
 *
 * - by name: XLA names the kernel of a fusion after it, with `_` for `.` and other characters that
 *   PTX does not allow. Equal fusions share one kernel; graph_match.h finds which of them runs
 *   where.
 * - by order: between two kernels known by name, or the ends of a recorded computation, kernels run
 *   one after the other in the program's order. If each instruction there launches at least one
 *   kernel and there are as many of both, or only one instruction, the kernels are assigned.
 *
 * Both need a chain of nodes. If branches run concurrently, only names are used, and only those
 * with a single kernel in a complete replay. All other kernels stay unassigned. Failures:
 * VP_ENOMEM. */
#ifndef VP_MODEL_GRAPH_KERNELS_H
#define VP_MODEL_GRAPH_KERNELS_H

#include "trace/model/graph_program.h"

/* A replay: its n kernels, ordered by start. */
typedef struct graph_replay {
    /* Instruction named by its events: the call that is the graph, or none of the program. */
    vp_str launch;
    graph_kernel *k;
    size_t n;
    bool one_launch; /* the kernels are known to belong to one launch */
    bool chain;      /* they run one after the other, according to their times */
    /* Instructions of the program that ran before and after it; empty: unknown. */
    vp_str before, after;
    /* Steps left for all replays of a trace, from VP_GRAPH_STEPS_MAX. At 0, no kernel of a chain is
     * assigned. */
    uint64_t *steps;
} graph_replay;

/* Sets their instructions. 0 or VP_ENOMEM. */
int graph_kernels_find(const graph_program *g, const graph_replay *r);

#endif
