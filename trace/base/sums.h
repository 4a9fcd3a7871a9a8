/* Sums of numbers that a file says, which may be hostile: they stop where no larger number is.
 * Everyone may include this. */
#ifndef VP_BASE_SUMS_H
#define VP_BASE_SUMS_H

#include <stdint.h>

/* a + b, at most the largest number. b may be negative as long as a + b is no less than the least.
 */
static inline int64_t vp_add_most(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Of figures of which a negative one is unknown: the sum is unknown as long as all are. */
static inline int64_t vp_add_known(int64_t sum, int64_t more)
{
    return more < 0 ? sum : vp_add_most(sum < 0 ? 0 : sum, more);
}

/* each × count, at most the largest number; unknown where each is. */
static inline int64_t vp_times_known(int64_t each, int64_t count)
{
    int64_t all;
    return each < 0 ? each : __builtin_mul_overflow(each, count, &all) ? INT64_MAX : all;
}

/* a + b and a - b of any two numbers, within the largest and the least. */
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
