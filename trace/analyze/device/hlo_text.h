/* Parses HLO text as XLA prints it: "%psum.896 = bf16[8,128]{1,0:T(8,128)S(1)}
 * all-reduce(bf16[8,128] %x), …": sizes of shapes and their memory spaces. Pure functions; results
 * are slices of the input. */
#ifndef VP_ANALYZE_HLO_TEXT_H
#define VP_ANALYZE_HLO_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

typedef struct hlo_text {
    vp_str shape;    /* of the result */
    vp_str opcode;   /* "all-reduce" */
    vp_str operands; /* between the parentheses */
} hlo_text;

/* Splits one instruction. false: not an instruction. */
bool hlo_split(hlo_text *out, vp_str text);
/* Element i of a tuple shape; element 0 of another shape is the shape itself. Empty: no such
 * element. */
vp_str hlo_element(vp_str shape, unsigned i);
/* Bytes of a shape, or of all elements of a tuple; -1 if unknown or beyond int64. Elements of less
 * than a byte are packed; tokens and opaque values have 0. */
int64_t hlo_bytes(vp_str shape);
/* The same for operands ("f32[8] %a, f32[] %b"); -1 if one is printed without its shape. */
int64_t hlo_operand_bytes(vp_str operands);
/* n of "S(n)" in the layout: 0 is the device's own memory, 5 that of the host. For a tuple, that of
 * the first element. */
int hlo_memory_space(vp_str shape);
/* The name of the last operand, which is the "-start" op of a "-done". Empty: none. */
vp_str hlo_last_operand(vp_str operands);

#endif
