/* Keys of values: equal for instructions that compute the same from the same values. */
#ifndef VP_ANALYZE_HLO_KEYS_H
#define VP_ANALYZE_HLO_KEYS_H

#include "trace/analyze/avoidable/hlo_values.h"

/* The key of an instruction's value; those of its operands are set. What a loop carries has the key
 * of its first value, marked as carried. Opcodes with effects have keys of their own. */
uint64_t hlo_key_of(const hlo_program *p, const hlo_values *x, uint32_t at);
/* The place and the shapes of a product, which a copy of it shares: source line, direction, and the
 * shapes of operands and result. `arguments`: also which arguments of the program are its operands,
 * or parts of them. */
uint64_t hlo_product_key(const hlo_program *p, const hlo_values *x, uint32_t at, bool arguments);

#endif
