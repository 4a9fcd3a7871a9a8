/* The computation graph by time: framework paths of all hosts as one tree. Only analyze/ includes
 * this. */
#ifndef VP_ANALYZE_SCOPES_H
#define VP_ANALYZE_SCOPES_H

#include "trace/analyze/host.h"

/* *out: `*count` nodes in pre-order, siblings by total time (vp_free); paths live in the arena.
 * Without any scope *out and *count stay untouched. */
int scopes_tree(vp_scope **out, size_t *count, vp_arena *arena, const host_result *hosts,
                size_t host_count);

#endif
