#include "trace/timeline/tl_tally.h"

static void tally_join(tl_tally *t, const tl_tally *more)
{
    int64_t sum = tl_sum(t->sum_ps, more->sum_ps);
    if (more->longest_ps > t->longest_ps)
        *t = *more;
    t->sum_ps = sum;
}

/* Only 8-byte durations may overflow a sum. */
static int64_t sum_of(const tl_row *r, uint64_t i, uint64_t end, uint64_t units)
{
    const tl_block *b = &r->blocks[i / TL_BLOCK];
    int64_t sum = 0;
    if (b->dur_w < 8)
        return __builtin_mul_overflow(units, b->unit, &sum) ? INT64_MAX : sum;
    for (; i < end; i++)
        sum = tl_sum(sum, tl_dur(r, i));
    return sum;
}

/* Sums events of one block individually. */
static tl_tally tally_of_events(const tl_row *r, uint64_t i, uint64_t end)
{
    const tl_block *b = &r->blocks[i / TL_BLOCK];
    const uint8_t *at = tl_record(r, b, i % TL_BLOCK) + b->start_w, *longest_at = at;
    const unsigned width = b->dur_w, step = b->record_w;
    const uint64_t mask = width < 8 ? (UINT64_C(1) << 8 * width) - 1 : UINT64_MAX;
    uint64_t units = 0, longest = tl_load(at, 8) & mask;
    for (uint64_t n = end - i; n > 0; n--, at += step) {
        uint64_t dur = tl_load(at, 8) & mask;
        units += dur;
        longest_at = dur > longest ? at : longest_at;
        longest = dur > longest ? dur : longest;
    }
    const uint8_t *first = tl_record(r, b, 0) + b->start_w;
    return (tl_tally){.longest_ps = (int64_t)(longest * b->unit),
                      .sum_ps = sum_of(r, i, end, units),
                      .longest =
                          i - i % TL_BLOCK + (step ? (uint64_t)(longest_at - first) / step : 0),
                      .kind = (uint32_t)tl_load(longest_at + width, b->kind_w)};
}

static void join_block(tl_tally *t, const tl_row *r, uint64_t block)
{
    const tl_block *b = &r->blocks[block];
    if (b->longest_ps > t->longest_ps) {
        t->longest_ps = b->longest_ps;
        t->longest = block * TL_BLOCK + b->longest;
        t->kind = b->longest_kind;
    }
}

/* Sums blocks [block, end), none of which is the row's last; uses the table of longest blocks where
 * possible. */
static void join_blocks(tl_tally *t, const tl_row *r, uint64_t block, uint64_t end)
{
    t->sum_ps = tl_sum(t->sum_ps, r->blocks[end].busy_ps - r->blocks[block].busy_ps);
    while (block < end) {
        bool whole = block % TL_SUPER == 0 && block + TL_SUPER <= end;
        join_block(t, r, whole ? r->supers[block / TL_SUPER] : block);
        block += whole ? TL_SUPER : 1;
    }
}

/* The events of a block before `at` and from there on. The longest of the block is on one side, so
 * only the other side is read. */
static void tally_split_block(tl_tally *before, tl_tally *behind, const tl_row *r, uint64_t at)
{
    uint64_t block = at / TL_BLOCK, first = block * TL_BLOCK, next = first + TL_BLOCK;
    const tl_block *b = &r->blocks[block];
    if (next >= r->count) { /* the sum of the last block is unknown */
        *before = tally_of_events(r, first, at);
        *behind = tally_of_events(r, at, r->count);
        return;
    }
    bool later = first + b->longest >= at;
    tl_tally seen = later ? tally_of_events(r, first, at) : tally_of_events(r, at, next);
    int64_t sum = b[1].busy_ps - b->busy_ps - seen.sum_ps;
    tl_tally rest = {b->longest_ps, sum > 0 ? sum : 0, first + b->longest, b->longest_kind};
    *before = later ? seen : rest;
    *behind = later ? rest : seen;
}

tl_tally tl_tally_of(tl_seam *seam, const tl_row *r, uint64_t i, uint64_t end)
{
    uint64_t first = (i + TL_BLOCK - 1) / TL_BLOCK, last = (end - 1) / TL_BLOCK;
    tl_tally t = {.longest_ps = -1, .longest = i}, before;
    if (i / TL_BLOCK == last)
        return tally_of_events(r, i, end);
    if (end % TL_BLOCK == 0 && end < r->count)
        last++;
    if (i % TL_BLOCK && seam->at == i)
        t = seam->rest;
    else if (i % TL_BLOCK)
        tally_split_block(&before, &t, r, i);
    if (first < last)
        join_blocks(&t, r, first, last);
    if (last * TL_BLOCK == end)
        return t;
    if (end == r->count) {
        before = tally_of_events(r, last * TL_BLOCK, end);
    } else {
        tally_split_block(&before, &seam->rest, r, end);
        seam->at = end;
    }
    tally_join(&t, &before);
    return t;
}
