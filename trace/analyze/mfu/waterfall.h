/* Arithmetic of the MFU breakdown (docs/reference/memory-and-mfu.md#waterfall): splits the time of
 * an op into cells by its work at the device's peaks. Each cell is a minimum or a remainder, so
 * cells add up to the time for any costs. Pure functions. */
#ifndef VP_ANALYZE_WATERFALL_H
#define VP_ANALYZE_WATERFALL_H

#include <stdbool.h>
#include <stdint.h>

#include "include/view_profile.h"
#include "trace/analyze/mfu/tiles.h"

typedef enum cost_what {
    COST_UNKNOWN,
    COST_PRODUCT, /* it is a matmul or convolution: its FLOP count */
    COST_OTHER
} cost_what;

/* Of one execution. */
typedef struct op_cost {
    uint8_t what, dtype, source; /* cost_what, vp_dtype, vp_cost_source */
    uint8_t passes;              /* number of passes of its FLOP; 0 is 1 */
    bool remat, formatting;
    int64_t flops, padded, bytes; /* padded >= flops: including the padding of tiles */
    product_shape shape;          /* of its only matmul */
    int64_t mxu_flops[2];         /* including the padding of matrix units of 128 and of 256; 0 */
} op_cost;

/* Time at the peaks, in ps. */
typedef struct op_price {
    uint8_t what;
    bool remat;
    int64_t compute_ps, pad_ps, memory_ps; /* padding is in addition to compute_ps */
} op_price;

/* Maximum of a price, so that prices of a trace's events can be added in 64 bits. */
#define PRICE_MAX INT64_C(1000000000000000000)

/* gflops: peak for the cost's type, 0: unknown, then all is unknown. mb_s: 0: unknown, then bytes
 * take no time. *over is set if a price was limited to PRICE_MAX. */
op_price price_of(const op_cost *c, int64_t gflops, int64_t mb_s, bool *over);
/* The share of a price for `part` of `whole` ps. */
op_price price_part(const op_price *p, int64_t part, int64_t whole);
/* Adds t ps of an op to cells. */
void cells_add(int64_t cells[VP_CELLS], const op_price *p, int64_t t);

#endif
