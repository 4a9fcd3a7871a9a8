/* Radix sort of numbers: O(n) for each 11 bits that differ. The caller owns both arrays; nothing is
 * allocated. */
#ifndef VP_BASE_RADIX_H
#define VP_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

/* Sorts n numbers ascending by their bits [low, high), stably; low <= high <= 64. `to` is as large
 * as `from`. Returns the array that holds the result; the other one is overwritten. */
uint64_t *vp_radix_sort(uint64_t *from, uint64_t *to, size_t n, unsigned low, unsigned high);

/* Number of significant bits of v; 0 for 0. */
static inline unsigned vp_bits_of(uint64_t v)
{
    return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

#endif
