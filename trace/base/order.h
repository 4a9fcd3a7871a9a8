/* The order of two numbers, as callbacks of sorts tell it, and a sort of what mostly is in order.
 * Everyone may include this. */
#ifndef VP_BASE_ORDER_H
#define VP_BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Below, equal to or above 0, as a is to b. */
static inline int vp_order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* qsort, but what is in order already, as most lists by time are, is only compared once. */
static inline void vp_put_in_order(void *v, size_t n, size_t size,
                                   int (*cmp)(const void *, const void *))
{
    const char *p = v;
    for (size_t i = 1; i < n; i++, p += size)
        if (cmp(p, p + size) > 0) {
            qsort(v, n, size, cmp);
            return;
        }
}

#endif
