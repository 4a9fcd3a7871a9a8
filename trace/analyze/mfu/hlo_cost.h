/* What an HLO instruction costs, counted from shapes
 * (docs/reference/memory-and-mfu.md#flop-of-hlo): FLOP of products and convolutions, its fused
 * body's included, and the bytes of its operands and results. The program is not believed: operands
 * may be missing, computations may call each other in circles, sizes may not fit. Only
 * trace/analyze/mfu includes this. */
#ifndef VP_ANALYZE_HLO_COST_H
#define VP_ANALYZE_HLO_COST_H

#include "trace/analyze/mfu/waterfall.h"
#include "trace/read/hlo/hlo_program.h"

/* Of one execution; .what is COST_UNKNOWN where the shapes do not tell it. */
op_cost hlo_cost_of(const hlo_program *p, uint32_t instruction);

#endif
