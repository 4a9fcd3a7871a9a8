/* Saturating arithmetic for numbers from files, which may be hostile. */
#ifndef VP_BASE_SUMS_H
#define VP_BASE_SUMS_H

#include <stdint.h>

/* a + b, at most INT64_MAX. The sum must not underflow; b may be negative otherwise. */
static inline int64_t vp_add_most(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Adds figures whose negative values mean unknown. The sum is unknown until one is known. */
static inline int64_t vp_add_known(int64_t sum, int64_t more)
{
    return more < 0 ? sum : vp_add_most(sum < 0 ? 0 : sum, more);
}

/* each × count, at most INT64_MAX; unknown (negative) if `each` is. */
static inline int64_t vp_times_known(int64_t each, int64_t count)
{
    int64_t all;
    return each < 0 ? each : __builtin_mul_overflow(each, count, &all) ? INT64_MAX : all;
}

/* a + b and a - b, clamped to the range of int64. */
static inline int64_t vp_add_within(int64_t a, int64_t b)
{
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum : b < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t vp_sub_within(int64_t a, int64_t b)
{
    int64_t left;
    return !__builtin_sub_overflow(a, b, &left) ? left : b < 0 ? INT64_MAX : INT64_MIN;
}

#endif
