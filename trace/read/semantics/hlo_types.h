/* XLA's element types by number (xla_data.proto, PrimitiveType). */
#ifndef VP_READ_HLO_TYPES_H
#define VP_READ_HLO_TYPES_H

#include <stdint.h>

enum {
    HLO_TYPE_TUPLE = 13,
    HLO_TYPE_F32 = 11,
    HLO_TYPE_F64 = 12,
    HLO_TYPE_BF16 = 16,
    HLO_TYPE_TOKEN = 17
};

/* "f32"; "?" for an unknown number. */
const char *hlo_type_name(int64_t type);
/* Bits of one element: 32 for f32; 0 if unknown or not an array type. Types below 8 bits take a
 * byte each unless their layout states otherwise. */
int hlo_type_bits(int64_t type);

#endif
