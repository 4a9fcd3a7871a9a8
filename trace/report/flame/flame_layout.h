/* Layout of a flame graph: the root at the top, children below their parent from its left edge,
 * self time uncovered at the right. Integers only, so frames never exceed their parent or overlap.
 * The caller frees the layout. */
#ifndef VP_REPORT_FLAME_LAYOUT_H
#define VP_REPORT_FLAME_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLAME_NO_PARENT UINT32_MAX
/* A frame is at least this part of the whole picture wide. */
#define FLAME_PARTS_MAX 1000

typedef struct flame_node {
    uint32_t parent; /* stands before it; FLAME_NO_PARENT: a root */
    bool joined;     /* is one frame with its parent, where it is all that its parent has */
    int64_t weight;  /* of what its parent has left at most, so that damage shows in no picture */
} flame_node;

typedef struct flame_box {
    uint32_t first, last; /* nodes: those that are one frame */
    uint32_t row;         /* 0: a root */
    int64_t x, width;     /* in hundredths of a percent of the picture */
} flame_box;

typedef struct flame_layout {
    flame_box *v; /* in the order of their nodes */
    size_t n;
    uint32_t rows;
    int64_t all; /* what the width of the picture is */
    /* Nodes with a weight that have no frame, being thinner than 1/FLAME_PARTS_MAX, below
     * VP_FLAME_ROWS_MAX rows, or not among the VP_FLAME_FRAMES_MAX widest; and Σ weights of the
     * uppermost of them. */
    size_t hidden;
    int64_t hidden_weight;
} flame_layout;

/* whole: what all of the picture's width is, where that is more than the roots sum to; 0: what they
 * sum to. Siblings are drawn in the order of the nodes. Takes O(n log n) time; no node's depth
 * costs more.
 */
int flame_layout_of(flame_layout *out, const flame_node *nodes, size_t n, int64_t whole);
void flame_layout_free(flame_layout *l);

#endif
