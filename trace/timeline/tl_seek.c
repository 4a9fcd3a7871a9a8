/* Binary search by time in a row. */
#include "trace/timeline/tl_slices.h"

static uint64_t block_count(const tl_row *r)
{
    return (r->count + TL_BLOCK - 1) / TL_BLOCK;
}

uint64_t tl_first_at(const tl_row *r, int64_t ps)
{
    const tl_block *b = r->blocks;
    uint64_t low = 0, high = block_count(r);
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (b[mid].end_ps < ps)
            low = mid + 1;
        else
            high = mid;
    }
    for (uint64_t i = low * TL_BLOCK; i < r->count; i++)
        if (tl_end(r, i) > ps || tl_start(r, i) >= ps)
            return i;
    return r->count;
}

/* The block in which the search ends: the last that begins before ps, from `low` on. */
static uint64_t block_before(const tl_row *r, uint64_t low, int64_t ps)
{
    const tl_block *b = r->blocks;
    uint64_t n = block_count(r), step = 1, high = low + 1;
    while (high < n && b[high].base_ps < ps) {
        low = high;
        high += step;
        step *= 2;
    }
    high = high < n ? high : n;
    while (low + 1 < high) {
        uint64_t mid = low + (high - low) / 2;
        if (b[mid].base_ps < ps)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Among a block's events [low, high), the first that begins at or after ps, which is above the
 * block's base. */
static uint64_t event_from(const tl_row *r, const tl_block *b, uint64_t low, uint64_t high,
                           int64_t ps)
{
    const uint8_t *at = tl_record(r, b, 0);
    uint64_t mask = b->start_w < 8 ? (UINT64_C(1) << 8 * b->start_w) - 1 : UINT64_MAX;
    uint64_t late = (uint64_t)ps - (uint64_t)b->base_ps;
    for (uint64_t n = high - low; n > 0;) {
        uint64_t half = n / 2;
        bool before = (tl_load(at + (low + half) * b->record_w, 8) & mask) * b->unit < late;
        low += before ? half + 1 : 0;
        n = before ? n - half - 1 : half;
    }
    return low;
}

/* Prefetches all of a block's records, because a search would wait for one after another. */
static void prefetch_block(const tl_row *r, const tl_block *b)
{
    const uint8_t *at = tl_record(r, b, 0);
    for (unsigned n = 0; n < TL_BLOCK * b->record_w; n += 64)
        __builtin_prefetch(at + n);
}

uint64_t tl_first_from(const tl_row *r, uint64_t i, int64_t ps)
{
    if (i >= r->count || tl_start(r, i) >= ps)
        return i;
    uint64_t block = block_before(r, i / TL_BLOCK, ps);
    uint64_t first = block * TL_BLOCK, n = r->count - first;
    if (first > i)
        prefetch_block(r, &r->blocks[block]);
    return first + event_from(r, &r->blocks[block], i > first ? i - first : 0,
                              n < TL_BLOCK ? n : TL_BLOCK, ps);
}
