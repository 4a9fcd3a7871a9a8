/* FLOP of one matmul or convolution instruction: a dot, a convolution, a library call for one of
 * them, or cuDNN attention. Pure functions. */
#ifndef VP_ANALYZE_HLO_PRODUCT_H
#define VP_ANALYZE_HLO_PRODUCT_H

#include "trace/analyze/mfu/tiles.h"
#include "trace/read/hlo/hlo_program.h"

typedef struct hlo_product {
    int64_t flops;
    uint8_t dtype;  /* vp_dtype of the first factor */
    uint8_t passes; /* number of bf16 passes in which a TPU computes f32 matmuls, by precision */
    product_shape shape; /* of a convolution's features only; m 0: unknown */
} hlo_product;

/* false: not a matmul, or its shapes are invalid. */
bool hlo_product_of(hlo_product *out, const hlo_program *p, const hlo_instr *in);

#endif
