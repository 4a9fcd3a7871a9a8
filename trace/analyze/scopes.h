/* The computation graph by time: framework paths of all hosts as one tree. Only analyze/ includes
 * this. */
#ifndef VP_ANALYZE_SCOPES_H
#define VP_ANALYZE_SCOPES_H

#include "trace/analyze/host.h"

/* *out: `*count` nodes in pre-order, siblings by total time; all of it lives in the arena. Items of
 * one path are summed, in any order. Without items *out and *count stay untouched. */
int scopes_tree(vp_scope **out, size_t *count, vp_arena *arena, const scope_item *items, size_t n);
/* The way back: what stands exactly at each of n nodes of a tree, so that trees can be merged. */
void scopes_items(scope_item *out, const vp_scope *nodes, size_t n);
/* The forward pass with all work done for it, from the same items; the arena owns it. */
int scopes_fold(vp_folded_scope **out, size_t *count, vp_arena *arena, const scope_item *items,
                size_t n);

#endif
