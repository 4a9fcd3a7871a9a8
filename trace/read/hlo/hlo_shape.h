/* Size and text of a shape. Sizes are bytes; HLO_UNSIZED if a dimension is negative, a number
 * overflows, or the tiles are inconsistent. */
#ifndef VP_READ_HLO_SHAPE_H
#define VP_READ_HLO_SHAPE_H

#include "trace/base/buf.h"
#include "trace/read/hlo/hlo_program.h"

#define HLO_UNSIZED (-1)

/* Number of elements of an array; 1 for a scalar, 0 for a tuple. */
int64_t hlo_shape_elements(const hlo_program *p, uint32_t shape);
/* Bytes of the array; a tuple counts as its table of 8-byte pointers. */
int64_t hlo_shape_bytes(const hlo_program *p, uint32_t shape);
/* Bytes without padding of an array, or of all arrays of a tuple (the first 4096). HLO_NONE: 0. */
int64_t hlo_shape_all_bytes(const hlo_program *p, uint32_t shape);
/* Bytes with the padding of its tiles; allocators may still round up. */
int64_t hlo_shape_padded(const hlo_program *p, uint32_t shape);
/* The element of a shape at the position numbers[index…]; HLO_NONE if there is none. */
uint32_t hlo_shape_at(const hlo_program *p, uint32_t shape, uint32_t index, uint32_t count);
/* Appends "f32[128,64]{1,0:T(8,128)}", or a tuple "(f32[8]{0}, s32[])". */
int hlo_put_shape(vp_buf *b, const hlo_program *p, uint32_t shape);

#endif
