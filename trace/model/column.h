/* A sparse column of values: one bit for each event, and the values of the events that have one. An
 * event without a value costs a quarter of a byte and no write. Values take four bytes while all
 * lie within 2^32 steps of each other, else eight. A step is 1, as for ids and counts, or a power
 * of two, as for memory sizes (multiples of 128 bytes and more). The track owns its columns.
 * Failures: VP_ENOMEM, VP_ELIMIT. */
#ifndef VP_MODEL_COLUMN_H
#define VP_MODEL_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 64 events. */
typedef struct trace_block {
    uint64_t has;   /* bit per event */
    uint32_t first; /* index of its first value; undefined if it has none */
} trace_block;

typedef struct trace_column {
    trace_block *block;
    int64_t *v;    /* NULL while values fit in 32 bits */
    uint32_t *low; /* offset from `base` in steps of 1 << shift */
    int64_t base;
    uint8_t shift, refits;     /* refits: number of changes of base and shift */
    size_t block_n, block_cap; /* events after the last block have no value */
    size_t n, cap;
} trace_column;

/* Appends the value of event i, which must follow all events with a value. VP_ENOMEM, VP_ELIMIT. */
int trace_column_put(trace_column **column, size_t i, int64_t v);
/* *out: a copy of the values of the first `count` events; NULL if there are none. VP_ENOMEM. */
int trace_column_copy(trace_column **out, const trace_column *c, size_t count);
void trace_column_free(trace_column *c);
/* Reorders the column of `count` events: event i becomes the former order[i]. Unchanged on
 * VP_ENOMEM. */
int trace_column_permute(trace_column **column, const uint32_t *order, size_t count);
/* Allocates blocks for the first `count` events, so that they can be moved. VP_ENOMEM. */
int trace_column_cover(trace_column *c, size_t count);
/* Moves event `from`, with its value, before event `to`, at most 64 events earlier; blocks must
 * cover both. */
void trace_column_move(trace_column *c, size_t from, size_t to);
/* Bytes of memory. */
size_t trace_column_bytes(const trace_column *c);

/* Number of set bits; the compiler's builtin is a call on older machines. */
static inline unsigned trace_count_bits(uint64_t v)
{
    v -= v >> 1 & UINT64_C(0x5555555555555555);
    v = (v & UINT64_C(0x3333333333333333)) + (v >> 2 & UINT64_C(0x3333333333333333));
    v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(v * UINT64_C(0x0101010101010101) >> 56);
}

static inline int64_t trace_column_at(const trace_column *c, size_t place)
{
    return c->v ? c->v[place]
                : (int64_t)((uint64_t)c->base + ((uint64_t)c->low[place] << c->shift));
}

static inline bool trace_column_has(const trace_column *c, size_t i)
{
    return i / 64 < c->block_n && c->block[i / 64].has >> i % 64 & 1u;
}

/* Number of values before event i. Some event in i's block must have a value. */
static inline size_t trace_column_place(const trace_column *c, size_t i)
{
    const trace_block *b = &c->block[i / 64];
    return b->first + trace_count_bits(b->has & ((UINT64_C(1) << i % 64) - 1));
}

/* The value of event i, or `none`. */
static inline int64_t trace_column_get(const trace_column *c, size_t i, int64_t none)
{
    return trace_column_has(c, i) ? trace_column_at(c, trace_column_place(c, i)) : none;
}

/* The first event from i on that has a value; SIZE_MAX: none. c may be NULL. */
static inline size_t trace_column_next(const trace_column *c, size_t i)
{
    for (size_t b = i / 64; c && b < c->block_n; b++) {
        uint64_t has = c->block[b].has & (b == i / 64 ? UINT64_MAX << i % 64 : UINT64_MAX);
        if (has)
            return b * 64 + (unsigned)__builtin_ctzll(has);
    }
    return SIZE_MAX;
}

/* The first event from i on that has a value in either column. */
static inline size_t trace_column_next_of(const trace_column *a, const trace_column *b, size_t i)
{
    size_t x = trace_column_next(a, i), y = trace_column_next(b, i);
    return x < y ? x : y;
}

#endif
