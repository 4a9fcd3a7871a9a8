/* Aligns the kernels of a CUDA graph's replay with the fusions of a computation. A fusion launches
 * one kernel named after it, and equal fusions share the kernel of the first of them (XLA's
 * kernel_reuse_cache.h). So a kernel's name allows the fusion with this name, and fusions that look
 * alike, are not named like another kernel of the replay, and come later. (In another computation
 * this holds only if no loop or branch may have run it more than once.) Kernels that run one after
 * the other keep the program's order. Between two fusions, no more instructions can have launched
 * kernels than kernels of libraries ran there. A fusion is assigned if all possible alignments
 * agree on it. Failures: VP_ENOMEM. */
#ifndef VP_MODEL_GRAPH_MATCH_H
#define VP_MODEL_GRAPH_MATCH_H

#include "trace/model/graph_program.h"

/* Known facts about the position of a replay. */
typedef struct graph_place {
    uint32_t body; /* computation that is recorded as a whole; HLO_NONE: any part of any */
    /* Instructions of the same program whose kernels ran before and after it; HLO_NONE: unknown. If
     * no alignment fits them, one is ignored, then both: they belong to another run of the
     * program. */
    uint32_t before, after;
} graph_place;

/* Sets `instr` of those of the n kernels, ordered by start, that are determined, and HLO_NONE for
 * the others. 0 or VP_ENOMEM. *steps: see graph_replay. */
int graph_match(const graph_program *g, graph_kernel *k, size_t n, graph_place at, uint64_t *steps);

#endif
