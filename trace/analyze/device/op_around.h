/* Finds the operands and users of an op in its program. The result is in the caller's arena. */
#ifndef VP_ANALYZE_OP_AROUND_H
#define VP_ANALYZE_OP_AROUND_H

#include "trace/analyze/result/analysis.h"
#include "trace/analyze/result/op_graph.h"

/* out: in the arena; NULL if no member is an instruction of a readable program in the file.
 * is_member: by kind. The nodes' `op` is an index into a->h->ops. 0, VP_ENOMEM or VP_ELIMIT. */
int op_around(op_graph **out, vp_arena *arena, const analysis *a, uint32_t device,
              const uint8_t *is_member);

#endif
