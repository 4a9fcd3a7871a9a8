/* Kernels of a CUDA graph's replay along the fusions of a computation. A fusion launches one kernel
 * that XLA calls after it, and equal fusions share that of the first of them (its
 * kernel_reuse_cache.h): a kernel's name allows the fusion that is called so and those that look
 * alike, are not called as another kernel of the replay, and come later (in another computation
 * only where no loop or branch may have run it more than once). What runs one after the other keeps
 * the program's order, and between two fusions no more instructions can have launched something
 * than kernels of libraries ran there. Where all ways to lay the kernels along a computation agree
 * on a fusion, it is told. trace/model/graph_kernels.c includes this. */
#ifndef VP_MODEL_GRAPH_MATCH_H
#define VP_MODEL_GRAPH_MATCH_H

#include "trace/model/graph_program.h"

/* What is known of where a replay lies. */
typedef struct graph_place {
    uint32_t body; /* the computation that is recorded whole; HLO_NONE: some stretch of any */
    uint32_t before, after; /* instructions whose kernels ran next to it, of the same program;
                               HLO_NONE: unknown. Where no way fits them, one and then both are
                               left out: they are of another run of the program. */
} graph_place;

/* Sets `instr` of those of n kernels, in the order in which they ran, that are told by it, and
 * HLO_NONE of the others. 0 or VP_ENOMEM. *steps: see graph_replay. */
int graph_match(const graph_program *g, graph_kernel *k, size_t n, graph_place at, uint64_t *steps);

#endif
