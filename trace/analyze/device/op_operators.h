/* Framework operators of a group of ops: one op such as a gemm kernel is launched by several of
 * them. Definitions: docs/reference/links.md#operators. The caller owns the output. */
#ifndef VP_ANALYZE_OP_OPERATORS_H
#define VP_ANALYZE_OP_OPERATORS_H

#include "trace/analyze/result/analysis.h"

typedef struct op_operator {
    uint32_t kind;   /* the kind whose operators are shown; if `count` is 0, there are none */
    uint32_t chosen; /* private */
    int64_t count;   /* number of distinct innermost operators, without unknown ones */
} op_operator;

/* The innermost operator of a kind, or the outermost; empty: unknown or none. */
vp_str kind_operator(const trace *t, const trace_kind *k, bool outermost);
/* For each group: its innermost operator with the most self time, and the outermost operator that
 * called it for most of that time. Ties: the first by text. group_of: by kind of the list,
 * UINT32_MAX for none. out: by group, for group_count groups. O(kinds). VP_ENOMEM. */
int op_operators(op_operator *out, uint32_t group_count, const trace *t, const uint32_t *group_of,
                 const kind_list *l);

#endif
