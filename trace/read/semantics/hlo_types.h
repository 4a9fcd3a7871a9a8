/* XLA's element types by their numbers (xla_data.proto, PrimitiveType). Readers of HLO include
 * this. */
#ifndef VP_READ_HLO_TYPES_H
#define VP_READ_HLO_TYPES_H

#include <stdint.h>

enum { HLO_TYPE_TUPLE = 13, HLO_TYPE_F32 = 11, HLO_TYPE_BF16 = 16 };

/* "f32"; "?" for a number that is no type. */
const char *hlo_type_name(int64_t type);
/* Of one element: 32 for f32; 0 for what is no array, or is unknown. Types below 8 bits take a byte
 * each unless their layout says otherwise. */
int hlo_type_bits(int64_t type);

#endif
