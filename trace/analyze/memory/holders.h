/* Holders of memory, now and at the peak: replays allocations and frees by address, summed by call
 * site. Each analysis of an allocator owns one and frees it.
 *
 * The peak is known only at the end. Therefore each new maximum is announced, and the value of a
 * holder at that time is saved when it next changes: O(1) per event for any number of holders. */
#ifndef VP_ANALYZE_HOLDERS_H
#define VP_ANALYZE_HOLDERS_H

#include <stdbool.h>

#include "trace/base/map.h"

typedef struct mem_holder {
    int64_t bytes, count;           /* now */
    int64_t peak_bytes, peak_count; /* bytes at the maximum so far, if `peak` is its number */
    uint32_t peak;
} mem_holder;

typedef struct mem_piece {
    int64_t bytes, at;
    uint32_t holder;
    bool live;
} mem_piece;

typedef struct mem_holders {
    mem_holder *v; /* by number */
    size_t n, cap;
    mem_piece *pieces;
    size_t piece_n, piece_cap;
    vp_map by_address;
    uint32_t peak; /* number of maxima so far */
} mem_holders;

void mem_holders_free(mem_holders *h);
/* Holder `who`, any number below 2^29, allocates bytes (>= 0) at an address. A previous block there
 * is freed first, because its free was not recorded. */
int mem_holders_take(mem_holders *h, uint64_t address, int64_t bytes, uint32_t who, int64_t at);
/* Removes the block at the address and returns it; NULL: its allocation was not recorded. */
const mem_piece *mem_holders_give(mem_holders *h, uint64_t address);
/* The block at the address; NULL: no recorded allocation. */
const mem_piece *mem_holders_find(const mem_holders *h, uint64_t address);
/* Announces that the level is the maximum so far. */
void mem_holders_at_peak(mem_holders *h);
/* Ends the replay: peak_bytes and peak_count of all holders are those of the last maximum. */
void mem_holders_end(mem_holders *h);
/* Allocates a holder with that number, zeroed if it is new. */
int mem_holders_room(mem_holders *h, uint32_t who);

/* Memory that is not freed: bytes that a holder allocates in a step and still has at the end of the
 * second step after it. */
typedef struct mem_leak {
    uint32_t holder;
    int64_t bytes, count;
    int64_t steps; /* number of steps, among those that can be checked, with such memory */
} mem_leak;

/* Steps by start time, ascending: n of them, and the end of the last. */
typedef struct mem_steps {
    const int64_t *start, *end;
    size_t n;
} mem_steps;

/* The step at a time; n: none. */
size_t mem_step_of(const mem_steps *s, int64_t at);
/* The leaks at the end, largest first, freed by vp_free; *judged: the number of steps with two more
 * steps after them. group: holders that count as one, by number (NULL: each separately). */
int mem_holders_leaks(mem_leak **out, size_t *n, int64_t *judged, const mem_holders *h,
                      const mem_steps *steps, const uint32_t *group);

#endif
