/* What the values of a program are: one pass over its instructions, in an order in which operands
 * precede users, through fusions, calls and loops (docs/reference/metrics.md#avoidable-work). The
 * program is untrusted: operands may be missing or form circles, and computations may be called
 * twice; a value is then unknown. The owner frees the values. */
#ifndef VP_ANALYZE_HLO_VALUES_H
#define VP_ANALYZE_HLO_VALUES_H

#include "trace/read/hlo/hlo_program.h"
#include "trace/read/hlo/hlo_shape.h"

enum {
    VALUE_IOTA = 1 << 0,     /* counts along one dimension */
    VALUE_IDENTITY = 1 << 1, /* an identity matrix */
    VALUE_ONE_HOT = 1 << 2,  /* at most one non-zero element along the dimension of an iota */
    VALUE_ZERO = 1 << 3,
    VALUE_STATE = 1 << 4, /* element-wise from arguments, loop carries and scalars */
    VALUE_FEW_ROWS =
        1 << 5, /* a scatter of few rows into zeros, or element-wise from such and state */
    VALUE_PRODUCT = 1 << 6, /* a matmul or convolution */
    VALUE_LOOKUP = 1 << 7,  /* a product with a one-hot factor, or what makes that factor */
    VALUE_UPDATE = 1 << 8,  /* few rows on the way to a result of the program, or the zeros below */
    VALUE_RECOMPUTED = 1 << 9, /* under rematted_computation, and the forward pass has it, too */
    VALUE_REPEATED = 1 << 10   /* of a loop whose products another loop computes as well */
};

typedef struct hlo_value {
    uint16_t flags;
    uint32_t width; /* size of the dimension of an iota, an identity or a one-hot value */
    uint32_t depth; /* products on the longest path that leads to it */
    int64_t flops;  /* of a product */
    uint64_t key;   /* equal if two instructions compute the same from the same values */
} hlo_value;

typedef struct hlo_values {
    hlo_value *v;     /* by instruction */
    uint32_t *caller; /* by computation: the instruction that calls it; HLO_NONE */
} hlo_values;

/* Elements of the result; 0: unknown, a tuple, or no instruction. */
static inline int64_t hlo_elements_of(const hlo_program *p, const hlo_instr *in)
{
    int64_t n = in && in->shape != HLO_NONE ? hlo_shape_elements(p, in->shape) : 0;
    return n > 0 ? n : 0;
}

/* VP_ENOMEM. */
int hlo_values_new(hlo_values *out, const hlo_program *p);
void hlo_values_free(hlo_values *x);

/* A one-hot value narrower than this is no look-up: a product may then be as fast. */
#define HLO_LOOKUP_WIDTH 128u
/* A table has at least this many elements, and at least this many times those that are scattered.
 */
#define HLO_TABLE_ELEMENTS 65536
#define HLO_TABLE_FACTOR 4

#endif
