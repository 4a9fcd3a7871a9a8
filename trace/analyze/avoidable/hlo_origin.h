/* The origin of a value of a program: through tuples, fusions, calls and loops. The program is
 * untrusted: operands may be missing or form circles. */
#ifndef VP_ANALYZE_HLO_ORIGIN_H
#define VP_ANALYZE_HLO_ORIGIN_H

#include "trace/read/hlo/hlo_program.h"

/* An element of a tuple: of what a loop carries and its body changes, or of an argument. */
typedef struct hlo_carry {
    uint32_t of; /* the loop, or the parameter of the program; HLO_NONE: the value is none */
    int64_t element;
} hlo_carry;

/* The instruction that makes a value, through tuples, fusions, calls and what loops do not change.
 * callers: by computation, the instruction that calls it; HLO_NONE. HLO_NONE: it is carried, or
 * unknown. */
uint32_t hlo_origin(const hlo_program *p, const uint32_t *callers, uint32_t at, hlo_carry *carry);

#endif
