/* Which part of an instruction's work is avoidable, in permille of its weight: FLOP of products,
 * elements of other work, more for functions that take long
 * (docs/reference/metrics.md#avoidable-work). A fusion counts the weights of its instructions. */
#ifndef VP_ANALYZE_HLO_SHARES_H
#define VP_ANALYZE_HLO_SHARES_H

#include "trace/analyze/avoidable/hlo_values.h"

typedef struct hlo_shares {
    uint16_t lookup, update, recomputed, repeated; /* of 1000 */
} hlo_shares;

hlo_shares hlo_shares_of(const hlo_program *p, const hlo_values *x, uint32_t at);
/* The weight of one instruction; 0: it does no work of its own. */
int64_t hlo_weight_of(const hlo_program *p, const hlo_value *v, const hlo_instr *in);
/* 0 if there is no whole. */
uint16_t hlo_permille_of(int64_t part, int64_t all);
/* Transcendental functions and the like, which take longer than to read their operands. */
bool hlo_is_slow(const hlo_instr *in);

#endif
