/* A curve of levels over time of unknown length: at most MEM_CURVE_MAX points, each the maximum in
 * a slice of time. The width of slices doubles when the curve is full. The caller owns it. */
#ifndef VP_ANALYZE_CURVE_H
#define VP_ANALYZE_CURVE_H

#include <stddef.h>
#include <stdint.h>

#define MEM_CURVE_MAX 200u

typedef struct mem_curve {
    int64_t first, width; /* width 0: empty */
    size_t n;
    struct {
        int64_t slice, at, level, beside;
    } v[2 * MEM_CURVE_MAX];
} mem_curve;

/* beside: a value stored with the level. Times that go back count as the latest. */
void mem_curve_add(mem_curve *c, int64_t at, int64_t level, int64_t beside);
/* Reduces it to MEM_CURVE_MAX points. */
void mem_curve_end(mem_curve *c);

#endif
