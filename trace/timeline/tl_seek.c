/* Places in time in a row. */
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

uint64_t tl_first_from(const tl_row *r, uint64_t i, int64_t ps)
{
    if (i >= r->count || tl_start(r, i) >= ps)
        return i;
    uint64_t block = block_before(r, i / TL_BLOCK, ps);
    uint64_t low = block * TL_BLOCK, high = low + TL_BLOCK;
    low = low > i ? low : i;
    high = high < r->count ? high : r->count;
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (tl_start(r, mid) < ps)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}
