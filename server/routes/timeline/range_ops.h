/* Sums up the events of a range as the report sums up ops: per device, ops with the same name
 * (without numbers) and category. Without a device, by name over all tracks. The route of the
 * range owns it. */
#ifndef VP_ROUTES_RANGE_OPS_H
#define VP_ROUTES_RANGE_OPS_H

#include "trace/timeline/tl_range.h"

typedef struct range_op {
    uint32_t group;         /* group in the index: the device; RANGE_NO_GROUP without one */
    vp_sid label, category; /* in range_ops.names */
    vp_str scope;           /* name in the index; empty if the ops differ */
    uint32_t names;         /* number of different ops in this row */
    uint64_t calls;
    int64_t total_ps, self_ps; /* as in tl_sum_of_kind */
    int64_t of_ps;             /* sum of self time of its device, the denominator of shares */
} range_op;
#define RANGE_NO_GROUP UINT32_MAX

typedef struct range_ops {
    vp_arena arena;
    vp_intern names;
    range_op *v; /* by self time, then in order of appearance */
    size_t n, cap;
    uint32_t tracks; /* the rest as in tl_range */
    uint64_t events;
    int64_t busy_ps, covered_ps;
} range_ops;

/* Sums up these tracks. VP_ENOMEM; must be freed in any case. */
int range_ops_of(range_ops *out, const tl_index *x, const uint32_t *tracks, size_t count,
                 int64_t from_ps, int64_t until_ps);
void range_ops_free(range_ops *r);

#endif
