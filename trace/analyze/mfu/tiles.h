/* Estimates the tile padding of matmuls (docs/reference/memory-and-mfu.md#tile-padding). A TPU
 * matrix unit rounds rows up to 8, and the other dimensions up to its side length. A GPU kernel
 * computes whole tiles, whose size is in its name, and its last wave may leave cores idle. Pure
 * functions. */
#ifndef VP_ANALYZE_TILES_H
#define VP_ANALYZE_TILES_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

/* `batch` matmuls of m x k and k x n; m 0: unknown. */
typedef struct product_shape {
    int64_t m, n, k, batch;
} product_shape;

/* The tile of a kernel; m 0: its name has none. */
typedef struct gpu_tile {
    uint16_t m, n;
    uint16_t split; /* number of splits of k; 0: unknown, waves are then not counted */
} gpu_tile;

gpu_tile tile_of_kernel(vp_str name);
/* flops, multiplied by the padding of tiles. The orientation of the tile is unknown: the one with
 * less padding is assumed. cores: the number of concurrent tiles; 0: unknown. */
int64_t tile_padded(int64_t flops, const product_shape *s, gpu_tile tile, int64_t cores);
/* The same for a matrix unit with sides of `side`. */
int64_t mxu_padded(int64_t flops, const product_shape *s, int64_t side);
/* v x part / whole, at most INT64_MAX; v if whole is not positive. */
int64_t tile_scaled(int64_t v, int64_t part, int64_t whole);

#endif
