/* Computation graph by time: framework paths of all hosts as one tree. The tree is in the arena of
 * the result. */
#ifndef VP_ANALYZE_SCOPES_H
#define VP_ANALYZE_SCOPES_H

#include "trace/analyze/device/self.h"
#include "trace/base/buf.h"

/* Appends to h->scopes; kt: over all devices. */
int scopes_collect(host_result *h, const trace *t, const kind_times *kt);
/* Makes a tree of the items: *count nodes in pre-order, siblings by total time, all in the arena.
 * Items with equal paths are added up; their order does not matter. Without items, *out and *count
 * are unchanged. */
int scopes_tree(vp_scope **out, size_t *count, vp_arena *arena, const scope_item *items, size_t n);
/* The inverse of scopes_tree: the values that belong directly to each of the n nodes of a tree, so
 * that trees can be merged. */
void scopes_items(scope_item *out, const vp_scope *nodes, size_t n);
/* Makes the tree of forward scopes with all work done for them, from the same items, in the arena.
 * The last component of a path, the primitive, is dropped, because the backward pass of a layer has
 * other primitives than its forward pass. Without backward and rematerialized work, *out and *count
 * are unchanged. */
int scopes_fold(vp_folded_scope **out, size_t *count, vp_arena *arena, const scope_item *items,
                size_t n);

/* ---- Paths, scopes_fold.c ---- */

/* The end of the component that starts at `at`: '/' within brackets does not separate. */
size_t scope_component_end(vp_str path, size_t at);
/* "jit(f)/transpose(jvp(loss))/mul", "gradient_tape/model/dense/MatMul" */
bool scope_is_backward(vp_str path);
/* "…/rematted_computation/…"; or an op named "fusion.3.remat2" */
bool scope_is_remat(vp_str path);
bool scope_is_remat_op(vp_str name);
/* Appends the forward scope of a path: "jit(f)/transpose(jvp(loss))/checkpoint/mul" →
 * "jit(f)/loss". */
int scope_fold(vp_buf *out, vp_str path);

#endif
