/* Iterates over the scope tree in display order: siblings by time, chains without self time folded
 * into one row, depth and breadth limited, with sums for the rest. Iterative with an explicit
 * stack, because the input determines the depth. The caller frees the iterator. */
#ifndef VP_REPORT_TREE_H
#define VP_REPORT_TREE_H

#include "include/view_profile.h"
#include "trace/base/str.h"

/* Limit of levels on a page; deeper scopes are counted in the row above them. */
#define TREE_DEPTH_MAX 64u

typedef struct tree_limits {
    unsigned depth;   /* levels of rows, at most TREE_DEPTH_MAX */
    unsigned breadth; /* children of one row */
    size_t rows;      /* altogether */
    int64_t min_ps;   /* siblings below this go into "n more" */
} tree_limits;

typedef enum tree_event {
    TREE_END,
    TREE_OPEN, /* a row whose children follow, then TREE_CLOSE */
    TREE_LEAF, /* a row without shown children; `below` counts the scopes not shown below it */
    TREE_MORE, /* siblings not shown: `more`, total_ps */
    TREE_CLOSE
} tree_event;

typedef struct tree_level {
    size_t next, end;
    unsigned shown;
} tree_level;

typedef struct tree {
    const vp_report *r;
    tree_limits limits;
    uint32_t *order; /* scopes by parent, then total descending, then name */
    uint32_t *first; /* by scope + 1 (0: the roots): its children in order; one more at the end */
    tree_level levels[TREE_DEPTH_MAX + 1];
    unsigned depth; /* open levels */
    size_t rows;
    int64_t all_ps; /* Σ total of the roots: the denominator */
    /* the current row of tree_next: */
    const vp_scope *scope; /* the last of a folded chain; the row has its self, total and calls */
    vp_str label;          /* "while/body/attn", part of scope->path */
    unsigned row_depth;
    size_t more, below;
    int64_t more_total_ps, more_calls;
} tree;

/* Label of a folded chain: from the name of its first scope to the end of the path of its last. A
 * slice of that path. */
vp_str tree_chain_label(const vp_scope *first, const vp_scope *last);

int tree_init(tree *t, const vp_report *r, const tree_limits *limits);
tree_event tree_next(tree *t);
void tree_free(tree *t);

#endif
