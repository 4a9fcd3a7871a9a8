/* Neighborhood of an op in its program: its HLO instruction, operands and users up to two levels
 * away, and the body of a fusion. It is built from the host's HLO protos (trace/read/hlo) and shown
 * on the page of an op. Its texts are in the arena of the details.
 *
 * An op is a group of names; the instruction is the one with the most self time. Each level has at
 * most GRAPH_ROW_MAX instructions in program order; the rest is counted. An instruction is shown at
 * the level at which it is reached first, so cycles in a damaged proto end. */
#ifndef VP_ANALYZE_OP_GRAPH_H
#define VP_ANALYZE_OP_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAPH_STEPS 2
#define GRAPH_ROW_MAX 8u
#define GRAPH_NODES_MAX (1u + 2u * GRAPH_STEPS * GRAPH_ROW_MAX)
#define GRAPH_BODY_MAX 60u

typedef struct graph_node {
    const char *name, *opcode, *shape, *scope, *source; /* scope, source: may be NULL */
    int64_t bytes;          /* of its result, without padding; -1: unknown */
    int64_t calls, self_ps; /* of its events on the op's device; 0: no events */
    size_t op;              /* the op of the report with its events; SIZE_MAX: none */
    int step;               /* -2, -1: operands; 0: the op's instruction; 1, 2: users */
} graph_node;

typedef struct op_graph {
    const char *program, *text; /* text: the instruction as a line of HLO */
    graph_node *nodes;          /* the op's own instruction first, then in the order of traversal */
    /* [from][to]: `to` uses the result of `from`. */
    bool edges[GRAPH_NODES_MAX][GRAPH_NODES_MAX];
    const char **body; /* of a fusion: its instructions as lines of HLO, operands first */
    size_t node_count, body_count;
    int64_t operands_left, users_left; /* adjacent to shown ones, but not shown; distinct */
    int64_t body_left;
    int64_t instructions; /* of the op; this one has the most self time */
} op_graph;

#endif
