/* Short lists of integers in the fields that hlo_program.h leaves raw: dimensions, most of them.
 * Who counts what an instruction costs, and who prints it, include this. */
#ifndef VP_READ_HLO_NUMBERS_H
#define VP_READ_HLO_NUMBERS_H

#include "trace/base/pb.h"

#define HLO_NUMBERS_MAX 16u /* no shape has a higher rank */

typedef struct hlo_numbers {
    int64_t v[HLO_NUMBERS_MAX];
    size_t n;
    bool beyond; /* there were more, which are left out */
} hlo_numbers;

void hlo_add_number(hlo_numbers *l, uint64_t v);
/* Those of a field, packed or not. */
void hlo_add_numbers(hlo_numbers *l, const vp_pb_field *f);
/* All of a message's field of that number; damage ends them. */
void hlo_numbers_of(hlo_numbers *out, vp_str message, uint32_t field);

#endif
