/* What a shape takes, and how it is written. Sizes count in bytes; HLO_UNSIZED where a dimension is
 * negative, a number does not fit, or the tiles make no sense. Analyses include this. */
#ifndef VP_READ_HLO_SHAPE_H
#define VP_READ_HLO_SHAPE_H

#include "trace/base/buf.h"
#include "trace/read/hlo/hlo_program.h"

#define HLO_UNSIZED (-1)

/* Elements of one array; 1 of a scalar, 0 of a tuple. */
int64_t hlo_shape_elements(const hlo_program *p, uint32_t shape);
/* The array alone; a tuple is its table of 8-byte pointers. */
int64_t hlo_shape_bytes(const hlo_program *p, uint32_t shape);
/* Without padding: of an array, or of all arrays of a tuple, of 4096 at most. HLO_NONE: 0. */
int64_t hlo_shape_all_bytes(const hlo_program *p, uint32_t shape);
/* What the tiles of its layout make of it; allocators may still round up. */
int64_t hlo_shape_padded(const hlo_program *p, uint32_t shape);
/* The shape at a place in another one: numbers[index…]. HLO_NONE where there is none. */
uint32_t hlo_shape_at(const hlo_program *p, uint32_t shape, uint32_t index, uint32_t count);
/* Appends "f32[128,64]{1,0:T(8,128)}", a tuple "(f32[8]{0}, s32[])". */
int hlo_put_shape(vp_buf *b, const hlo_program *p, uint32_t shape);

#endif
