/* Sorting numbers by their digits: O(n) for each 11 bits that differ. Everyone may include this;
 * both halves of the memory belong to the caller. */
#ifndef VP_BASE_RADIX_H
#define VP_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

/* Sorts n numbers ascending by their bits [low, high), those equal there in the order they came in;
 * low <= high <= 64. `to` has as much room as `from`: returned is the one of both that has them in
 * the end, and the other has anything. */
uint64_t *vp_radix_sort(uint64_t *from, uint64_t *to, size_t n, unsigned low, unsigned high);

/* How many bits v needs: 0 for 0. */
static inline unsigned vp_bits_of(uint64_t v)
{
    return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

#endif
