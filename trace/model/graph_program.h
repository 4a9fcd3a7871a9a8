/* A program as the kernels of CUDA graphs see it: which instructions launch kernels, in which
 * order, and what the kernels of fusions are called. XLA names the kernel of a fusion after it, `.`
 * and what else PTX does not take as `_`. Who places kernels (graph_kernels.h, graph_match.h)
 * includes this. */
#ifndef VP_MODEL_GRAPH_PROGRAM_H
#define VP_MODEL_GRAPH_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/str.h"
#include "trace/read/hlo/hlo_program.h"

typedef enum graph_launch { LAUNCHES_NONE, LAUNCHES_SOME, LAUNCHES_PERHAPS } graph_launch;

typedef struct graph_instr {
    uint32_t place;    /* in its computation's order; HLO_NONE: it does not run by itself */
    uint32_t launched; /* how many before it there launch a kernel at least */
    uint8_t launches;  /* a graph_launch */
    uint64_t looks;    /* of a fusion: a hash that equal ones have in common; others may */
} graph_instr;

typedef struct graph_part {
    uint64_t looks;        /* of what is in it, in whatever order */
    size_t fusions;        /* the first of its own in the program's, in its order */
    uint32_t fusion_count; /* 0: of a fusion's computation */
    uint32_t launching;    /* instructions that launch a kernel at least */
    bool copies;           /* it does nothing but copy memory */
    bool repeats;          /* a loop or a branch calls it */
    bool has_loops;        /* or branches: it calls such ones */
} graph_part;

/* A program's instructions by the names of their kernels, and their places in its order. */
typedef struct graph_program {
    hlo_program *hlo;
    graph_instr *instrs; /* as those of hlo */
    graph_part *parts;   /* as hlo's computations */
    uint32_t *fusions;   /* instructions */
    size_t fusion_count, fusion_cap;
    vp_map by_kernel; /* hash of a kernel's name → the fusion; none where several have it */
} graph_program;

/* VP_ECORRUPT, VP_ELIMIT, VP_ENOMEM. The proto must outlive it. */
int graph_program_open(graph_program *g, vp_str proto);
void graph_program_close(graph_program *g);

typedef struct graph_kernel {
    vp_str name;
    bool memory;    /* sets or copies memory, for an instruction that launches kernels as well */
    int64_t node;   /* its number in the graph, which rises as nodes are recorded; 0: unknown */
    uint32_t named; /* the fusion that it is called after; HLO_NONE: none, or of memory */
    uint32_t instr; /* found: its instruction; HLO_NONE */
    bool by_order;
} graph_kernel;

/* What an instruction launches; instr may be HLO_NONE, of which nobody knows. */
graph_launch graph_launches(const graph_program *g, uint32_t instr);

/* The fusion that a kernel of that name is called after, or HLO_NONE. */
uint32_t graph_named(const graph_program *g, vp_str kernel);

/* The instruction at a place of a computation's order, and how many places there are. It may be of
 * another computation where the schedule is damaged. */
uint32_t graph_instr_at(const hlo_program *p, const hlo_computation *c, uint32_t place);
uint32_t graph_length(const hlo_computation *c);

#endif
