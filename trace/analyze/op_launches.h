/* Launch configurations of an op's kernels, if the profile has them: one row per configuration.
 * Rows are in the arena of the details. */
#ifndef VP_ANALYZE_OP_LAUNCHES_H
#define VP_ANALYZE_OP_LAUNCHES_H

#include "trace/analyze/op_details.h"
#include "trace/analyze/result/analysis.h"

/* is_member: by kind. 0, VP_ENOMEM or VP_ELIMIT. */
int op_launches(op_details *d, vp_arena *arena, const analysis *a, uint32_t device,
                const uint8_t *is_member);

#endif
