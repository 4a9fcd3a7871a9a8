/* A program from the view of CUDA graphs: which instructions launch kernels, in which order, and
 * the names of the kernels of fusions. XLA names the kernel of a fusion after it, with `_` for `.`
 * and other characters that PTX does not allow. Used by graph_kernels.h and graph_match.h. The
 * proto must outlive it. */
#ifndef VP_MODEL_GRAPH_PROGRAM_H
#define VP_MODEL_GRAPH_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/str.h"
#include "trace/read/hlo/hlo_program.h"

typedef enum graph_launch { LAUNCHES_NONE, LAUNCHES_SOME, LAUNCHES_PERHAPS } graph_launch;

typedef struct graph_instr {
    uint32_t place;    /* index in its computation's order; HLO_NONE: it does not run by itself */
    uint32_t launched; /* number of earlier instructions there that launch a kernel */
    uint8_t launches;  /* a graph_launch */
    uint64_t looks;    /* hash of a fusion's content; unequal fusions may collide */
} graph_instr;

typedef struct graph_part {
    uint64_t looks;        /* hash of its content, independent of order */
    size_t fusions;        /* index of its first fusion in the program's list, in its order */
    uint32_t fusion_count; /* 0 for the computation of a fusion */
    uint32_t launching;    /* number of instructions that launch at least one kernel */
    bool copies;           /* it only copies memory */
    bool repeats;          /* a loop or a branch calls it */
    bool has_loops;        /* it calls computations in loops or branches */
} graph_part;

/* A program's instructions by the names of their kernels, and by their order. */
typedef struct graph_program {
    hlo_program *hlo;
    graph_instr *instrs; /* parallel to those of hlo */
    graph_part *parts;   /* parallel to hlo's computations */
    uint32_t *fusions;   /* instruction indices */
    size_t fusion_count, fusion_cap;
    vp_map by_kernel; /* hash of a kernel's name → the fusion; ambiguous names are missing */
} graph_program;

/* VP_ECORRUPT, VP_ELIMIT, VP_ENOMEM. The proto must outlive it. */
int graph_program_open(graph_program *g, vp_str proto);
void graph_program_close(graph_program *g);

typedef struct graph_kernel {
    vp_str name;
    bool memory;    /* sets or copies memory, for an instruction that also launches kernels */
    int64_t node;   /* number in the graph, ascending in recording order; 0: unknown */
    uint32_t named; /* the fusion that it is named after; HLO_NONE: none, or of memory */
    uint32_t instr; /* result: its instruction; HLO_NONE */
    bool by_order;
} graph_kernel;

/* What an instruction launches; instr may be HLO_NONE, which is unknown. */
graph_launch graph_launches(const graph_program *g, uint32_t instr);

/* The fusion that a kernel with this name is named after, or HLO_NONE. */
uint32_t graph_named(const graph_program *g, vp_str kernel);

/* The instruction at an index of a computation's order, and the length of that order. If the
 * schedule is damaged, it may belong to another computation. */
uint32_t graph_instr_at(const hlo_program *p, const hlo_computation *c, uint32_t place);
uint32_t graph_length(const hlo_computation *c);

#endif
