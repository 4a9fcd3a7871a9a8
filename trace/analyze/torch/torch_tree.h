/* Calls of the user's functions as a tree, to find loops that call the same operator or module many
 * times (docs/reference/metrics.md#pytorch-programs). A function's node has a child for everything
 * that it calls directly: an operator, a module, a library's frame. A function of the user that is
 * called inside of a child is a node below it. The owner frees the tree. */
#ifndef VP_ANALYZE_TORCH_TREE_H
#define VP_ANALYZE_TORCH_TREE_H

#include "trace/base/map.h"
#include "trace/model/trace.h"

#define TREE_NONE UINT32_MAX
/* Calls of one child in one run of a function, from which on they are a loop. */
#define TREE_LOOP_LEAST 16

typedef struct tree_node {
    uint32_t parent, kind;
    uint32_t function; /* the node of the user's function: its own, or that around it */
    int64_t calls, total_ps;
    /* Operators in it, those that read a value, and the time of operators beyond their overhead;
     * without nodes below it until torch_tree_finish. */
    int64_t ops, reads, work_ps;
    int64_t backward_ps, backward_work_ps; /* the same of the backward pass of its operators */
    int64_t backward_ops;                  /* operators of a backward pass that it runs */
    uint64_t run; /* of the function around it, in which it was called last */
    int64_t run_calls, run_start, run_end;
    int64_t loops, loop_calls, loop_ps; /* runs with TREE_LOOP_LEAST calls, from first to last */
    int64_t longest_start, longest_ps;  /* of these runs */
} tree_node;

typedef struct torch_tree {
    tree_node *v;
    size_t n, cap;
    vp_map at; /* parent << 32 | kind → node */
} torch_tree;

void torch_tree_init(torch_tree *t);
void torch_tree_free(torch_tree *t);
/* The node of a kind below `parent` (TREE_NONE: outermost). VP_ENOMEM, VP_ELIMIT. */
int torch_tree_node(uint32_t *out, torch_tree *t, uint32_t parent, uint32_t kind, bool is_user);
/* Counts a call of a node in a run of the function around it: a new number for each call of the
 * function and for each step. */
void torch_tree_count(torch_tree *t, uint32_t node, uint64_t run, int64_t start, int64_t end);
/* Ends open runs, and adds the figures of each node to those around it. */
void torch_tree_finish(torch_tree *t);

/* A loop in a function of the user. */
typedef struct tree_loop {
    uint32_t function, callee; /* the child that takes longest; of those that read, if any do */
    int64_t calls, loops;      /* of it, in loops */
    int64_t callee_ps;
    bool reads;               /* at least every second pass reads a value */
    int64_t total_ps;         /* from the first to the last pass, and their backward pass */
    int64_t saved_ps;         /* overhead of all passes but one */
    int64_t start_ps, dur_ps; /* the longest */
} tree_loop;

/* By function, its loop; calls is 0 if it has none. in_steps: steps stand for functions, so a loop
 * may also contain the work of operators that are called once. VP_ENOMEM. */
int torch_tree_loops(tree_loop **out, const torch_tree *t, bool in_steps);

#endif
