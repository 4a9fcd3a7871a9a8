/* Comparison of two numbers for sort callbacks, and a sort for input that is usually in order. */
#ifndef VP_BASE_ORDER_H
#define VP_BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Negative, 0 or positive, as a is less than, equal to or greater than b. */
static inline int vp_order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* qsort that returns after one pass of comparisons if the input is sorted, as most lists by time
 * are. */
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
