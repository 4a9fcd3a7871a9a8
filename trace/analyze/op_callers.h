/* Framework operators that launched an op's calls: one row for each place in the host code. Empty
 * if no launch was within an operator. Rows are in the arena of the details. */
#ifndef VP_ANALYZE_OP_CALLERS_H
#define VP_ANALYZE_OP_CALLERS_H

#include "trace/analyze/op_details.h"
#include "trace/analyze/result/analysis.h"

/* is_member: by kind. 0, VP_ENOMEM or VP_ELIMIT. */
int op_callers(op_details *d, vp_arena *arena, const analysis *a, uint32_t device,
               const uint8_t *is_member);

#endif
