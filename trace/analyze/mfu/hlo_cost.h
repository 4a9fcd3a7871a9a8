/* Cost of an HLO instruction from its shapes (docs/reference/memory-and-mfu.md#flop-of-hlo): FLOP
 * of matmuls and convolutions, including its fused body, and bytes of operands and results. The
 * program is untrusted: operands may be missing, computations may be recursive, sizes may overflow;
 * the cost is then unknown. */
#ifndef VP_ANALYZE_HLO_COST_H
#define VP_ANALYZE_HLO_COST_H

#include "trace/analyze/mfu/waterfall.h"
#include "trace/read/hlo/hlo_program.h"

/* For one execution; .what is COST_UNKNOWN if the shapes are not sufficient. */
op_cost hlo_cost_of(const hlo_program *p, uint32_t instruction);

#endif
