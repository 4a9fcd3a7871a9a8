/* How the kernels of an op were launched, where the profile tells: one row for each configuration.
 * Only op_details.c includes this. */
#ifndef VP_ANALYZE_OP_LAUNCHES_H
#define VP_ANALYZE_OP_LAUNCHES_H

#include "trace/analyze/op_details.h"
#include "trace/analyze/result/analysis.h"

/* is_member: by kind. 0, VP_ENOMEM or VP_ELIMIT. */
int op_launches(op_details *d, vp_arena *arena, const analysis *a, uint32_t device,
                const uint8_t *is_member);

#endif
