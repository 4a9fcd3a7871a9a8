/* The order of two numbers, as callbacks of sorts tell it. Everyone may include this. */
#ifndef VP_BASE_ORDER_H
#define VP_BASE_ORDER_H

#include <stdint.h>

/* Below, equal to or above 0, as a is to b. */
static inline int vp_order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

#endif
