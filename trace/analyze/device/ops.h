/* Op tables: how kinds are grouped into ops, and sums over the ops of a device. The creator of a
 * grouping or a workspace frees it. */
#ifndef VP_ANALYZE_OPS_H
#define VP_ANALYZE_OPS_H

#include "trace/analyze/device/self.h"

/* Decides which kinds form one op. Made once per trace. */
int grouping_new(grouping **out, const trace *t, vp_group by, bool normalize) __attribute__((cold));
/* True if rows are scopes; without a device, call paths then replace scopes. */
bool grouping_by_scope(vp_group by);
void grouping_free(grouping *g);
/* Workspace by kind for counting one device; reused for the next one, possibly through a free list
 * (vp_freelist). */
typedef struct ops_workspace ops_workspace;
int ops_workspace_new(ops_workspace **out, const grouping *g, const trace *t);
void ops_workspace_free(ops_workspace *r);
/* Counts the ops of one device, on any thread. */
typedef struct ops_sums ops_sums;
int ops_count(ops_sums **out, const grouping *g, track_set set, ops_workspace *workspace);
void ops_sums_free(ops_sums *s);
/* Appends them to h->ops as those of h->devices[device]. *times: its kinds, in the result's arena.
 * all: sums over all devices, to which those of the device are added. */
int ops_tell(host_result *h, const grouping *g, const ops_sums *s, uint32_t device,
             kind_list *times, kind_times *all) __attribute__((cold));
const uint8_t *grouping_sweep_classes(const grouping *g); /* by kind, for sweep_run */
const uint8_t *grouping_classes(const grouping *g);       /* by kind */
const uint32_t *grouping_groups(const grouping *g);       /* by kind: below grouping_count */
uint32_t grouping_count(const grouping *g);
vp_str grouping_label(const grouping *g, uint32_t group); /* as vp_op.name */

/* The index in h->ops of each group of the device. Valid for groups with calls, until the next call
 * for another device. */
const uint32_t *ops_by_group(const analysis *a, uint32_t device);
/* The same in a buffer of the caller for grouping_count entries, for use on several threads. */
void ops_by_group_in(uint32_t *op_of, const analysis *a, uint32_t device);

#endif
