/* Cost of a framework op by its shapes: FLOP of PyTorch's matmuls, convolutions and attention, and
 * bytes of operands and results. Kineto writes the shapes in the args of an op ("Input Dims",
 * "Input type", "Concrete Inputs"). Pure functions over slices; nothing is allocated
 * (docs/reference/memory-and-mfu.md#flop-of-pytorch). */
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
    int64_t rows, columns, batch; /* of the result of a matmul; else 0 */
    uint8_t dtype;                /* vp_dtype of the first operand */
} rd_op_cost_of;

/* True if ops of this name have a cost by their shapes. */
bool rd_op_has_cost(vp_str name);
/* false: the op has no cost, or its shapes are missing, inconsistent or too large. */
bool rd_op_cost(rd_op_cost_of *out, vp_str name, const rd_op_shapes *shapes);

/* True if an operand is a float64 tensor. Numbers have the type, too, but no dimensions. */
bool rd_op_has_float64(const rd_op_shapes *shapes);

#endif
