/* Short lists of integers, usually dimensions, in fields that hlo_program.h leaves undecoded. For
 * code that computes the cost of an instruction or prints it. Nothing is allocated and nothing
 * fails. */
#ifndef VP_READ_HLO_NUMBERS_H
#define VP_READ_HLO_NUMBERS_H

#include "trace/base/pb.h"

#define HLO_NUMBERS_MAX 16u /* no shape has a higher rank */

typedef struct hlo_numbers {
    int64_t v[HLO_NUMBERS_MAX];
    size_t n;
    bool beyond; /* there were more numbers, which are not stored */
} hlo_numbers;

void hlo_add_number(hlo_numbers *l, uint64_t v);
/* Appends the numbers of a field, packed or not. */
void hlo_add_numbers(hlo_numbers *l, const vp_pb_field *f);
/* Reads all numbers of a repeated field, up to damage. */
void hlo_numbers_of(hlo_numbers *out, vp_str message, uint32_t field);

#endif
