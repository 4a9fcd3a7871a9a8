/* Layout of a flame graph: the root at the top, children below their parent from its left edge,
 * self time uncovered at the right. Integers only, so frames never exceed their parent or overlap.
 * The caller frees the layout. */
#ifndef VP_REPORT_FLAME_LAYOUT_H
#define VP_REPORT_FLAME_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLAME_NO_PARENT UINT32_MAX
/* Minimum width of a frame, as a fraction of the picture. */
#define FLAME_PARTS_MAX 1000

typedef struct flame_node {
    uint32_t parent; /* index below its own; FLAME_NO_PARENT: a root */
    bool joined;     /* may be merged with its parent if it has all of the parent's weight */
    int64_t weight;  /* limited to what remains of its parent's weight, so that damaged input cannot
                      * break the picture */
} flame_node;

typedef struct flame_box {
    uint32_t first, last; /* nodes: those merged into this frame */
    uint32_t row;         /* 0: a root */
    int64_t x, width;     /* in hundredths of a percent of the picture */
} flame_box;

typedef struct flame_layout {
    flame_box *v; /* in the order of their nodes */
    size_t n;
    uint32_t rows;
    int64_t all; /* weight of the whole width */
    /* Nodes with a weight that have no frame, because they are thinner than 1/FLAME_PARTS_MAX,
     * below VP_FLAME_ROWS_MAX rows, or not among the VP_FLAME_FRAMES_MAX widest; and Σ weights of
     * the uppermost of them. */
    size_t hidden;
    int64_t hidden_weight;
} flame_layout;

/* whole: the weight of the whole width, if more than the sum of the roots; 0: their sum. Siblings
 * are drawn in the order of the nodes. O(n log n) at any depth. */
int flame_layout_of(flame_layout *out, const flame_node *nodes, size_t n, int64_t whole);
void flame_layout_free(flame_layout *l);

#endif
