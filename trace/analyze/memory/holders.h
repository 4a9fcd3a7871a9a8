/* Holders of memory, now and at the peak: replays allocations and frees by address, summed by call
 * site. Each analysis of an allocator owns one and frees it.
 *
 * The peak is known only at the end. So each new maximum is announced, and the value of a holder at
 * that time is saved when it next changes: O(1) per event for any number of holders. */
#ifndef VP_ANALYZE_HOLDERS_H
#define VP_ANALYZE_HOLDERS_H

#include <stdbool.h>

#include "trace/base/map.h"

typedef struct mem_holder {
    int64_t bytes, count;           /* now */
    int64_t peak_bytes, peak_count; /* at the highest level so far, if `peak` is its number */
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
    uint32_t peak; /* how many highest levels there were */
} mem_holders;

void mem_holders_free(mem_holders *h);
/* holder `who`, any number below 2^29, takes bytes (>= 0) at an address. What was there is gone
 * first: its free was not seen. */
int mem_holders_take(mem_holders *h, uint64_t address, int64_t bytes, uint32_t who, int64_t at);
/* What lay at the address, which is live no more; NULL: nobody saw it come. */
const mem_piece *mem_holders_give(mem_holders *h, uint64_t address);
/* What lies there now; NULL: nothing that was seen to come. */
const mem_piece *mem_holders_find(const mem_holders *h, uint64_t address);
/* The level is the highest so far. */
void mem_holders_at_peak(mem_holders *h);
/* All is over: peak_bytes and peak_count of all are those of the last highest level. */
void mem_holders_end(mem_holders *h);
/* Room for a holder of that number; its figures are zero where it is new. */
int mem_holders_room(mem_holders *h, uint32_t who);

/* What of memory stays: bytes that a holder took in a step and still has when two more steps are
 * over. */
typedef struct mem_leak {
    uint32_t holder;
    int64_t bytes, count;
    int64_t steps; /* in how many of the steps that can be judged it left some */
} mem_leak;

/* Steps as times, ascending: n of them, and what comes behind the last. */
typedef struct mem_steps {
    const int64_t *start, *end;
    size_t n;
} mem_steps;

/* The step that holds a time; n: none. */
size_t mem_step_of(const mem_steps *s, int64_t at);
/* The leaks at the end, largest first, to be freed by vp_free; *judged: the steps that had two more
 * behind them. group: holders that count as one, by number (NULL: each is its own). */
int mem_holders_leaks(mem_leak **out, size_t *n, int64_t *judged, const mem_holders *h,
                      const mem_steps *steps, const uint32_t *group);

#endif
