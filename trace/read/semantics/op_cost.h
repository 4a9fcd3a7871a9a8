/* What a framework's op costs by its shapes: FLOP of PyTorch's products, convolutions and attention
 * and the bytes of their operands and results, as Kineto writes these in the args of an op
 * ("Input Dims", "Input type", "Concrete Inputs"). Pure functions over slices
 * (docs/reference/memory-and-mfu.md#flop-of-pytorch); readers include this. */
#ifndef VP_READ_OP_COST_H
#define VP_READ_OP_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

/* The three arrays as text: "[[4, 8], [8, 2], []]", "[\"float\", …]", "[\"\", \"[1, 1]\", …]". */
typedef struct rd_op_shapes {
    vp_str dims, types, concrete;
} rd_op_shapes;

typedef struct rd_op_cost_of {
    int64_t flops, bytes;         /* of one execution */
    int64_t rows, columns, batch; /* of its result, if it is a product; else 0 */
    uint8_t dtype;                /* vp_dtype of the first operand */
} rd_op_cost_of;

/* Whether ops of that name have a cost by their shapes. */
bool rd_op_has_cost(vp_str name);
/* false: the name has none, its shapes are not there, make no sense or are too large. */
bool rd_op_cost(rd_op_cost_of *out, vp_str name, const rd_op_shapes *shapes);

#endif
