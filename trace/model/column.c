#include "trace/model/column.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

static int add_blocks(trace_column *c, size_t n)
{
    VP_TRY(vp_grow(&c->block, &c->block_cap, n, sizeof *c->block, VP_EVENTS_MAX));
    memset(c->block + c->block_n, 0, (n - c->block_n) * sizeof *c->block);
    c->block_n = n;
    return 0;
}

/* Steps from the base to v. */
static uint64_t steps_to(const trace_column *c, int64_t v)
{
    return ((uint64_t)v - (uint64_t)c->base) >> c->shift;
}

static bool column_fits(const trace_column *c, int64_t v)
{
    uint64_t steps = steps_to(c, v);
    return steps <= UINT32_MAX && (uint64_t)c->base + (steps << c->shift) == (uint64_t)v;
}

/* Changes to eight bytes per value. */
static int column_widen(trace_column *c)
{
    int64_t *v = vp_realloc_array(NULL, c->cap, sizeof *v);
    VP_NEED(v);
    for (size_t i = 0; i < c->n; i++)
        v[i] = trace_column_at(c, i);
    vp_free(c->low);
    c->low = NULL;
    c->v = v;
    return 0;
}

/* Maximum number of base changes, each of which rewrites all values. */
#define REFITS_MAX 8

/* Chooses base and shift again for the present values and v. false: impossible. */
static bool column_refit(trace_column *c, int64_t v)
{
    trace_column to = *c;
    int64_t least = v, most = v;
    uint64_t differ = 0; /* differences from v: their lowest set bit gives the step */
    if (!c->n || c->refits == REFITS_MAX)
        return false;
    for (size_t i = 0; i < c->n; i++) {
        int64_t x = trace_column_at(c, i);
        least = x < least ? x : least;
        most = x > most ? x : most;
        differ |= (uint64_t)x - (uint64_t)v;
    }
    to.shift = (uint8_t)__builtin_ctzll(differ); /* not 0: v differs from the present values */
    uint64_t steps = ((uint64_t)most - (uint64_t)least) >> to.shift;
    if (steps > UINT32_MAX)
        return false;
    to.base = (int64_t)((uint64_t)least - ((UINT32_MAX - steps) / 2 << to.shift));
    for (size_t i = 0; i < c->n; i++)
        to.low[i] = (uint32_t)steps_to(&to, trace_column_at(c, i));
    to.refits++;
    *c = to;
    return true;
}

/* Makes space for a value that does not fit at present. */
static __attribute__((noinline)) int make_fit(trace_column *c, int64_t v)
{
    if (!c->v && !c->low)
        c->base = (int64_t)((uint64_t)v - (UINT64_C(1) << 31));
    if (c->n == c->cap)
        VP_TRY(c->v ? vp_grow(&c->v, &c->cap, c->n + 1, sizeof *c->v, VP_EVENTS_MAX)
                    : vp_grow(&c->low, &c->cap, c->n + 1, sizeof *c->low, VP_EVENTS_MAX));
    return c->v || column_fits(c, v) || column_refit(c, v) ? 0 : column_widen(c);
}

static inline int column_put_value(trace_column *c, int64_t v)
{
    if (c->n == c->cap || !(c->v || column_fits(c, v)))
        VP_TRY(make_fit(c, v));
    if (c->v)
        c->v[c->n] = v;
    else
        c->low[c->n] = (uint32_t)steps_to(c, v);
    c->n++;
    return 0;
}

int trace_column_put(trace_column **column, size_t i, int64_t v)
{
    trace_column *c = *column;
    if (!c)
        c = *column = vp_calloc(1, sizeof *c);
    VP_NEED(c);
    if (i / 64 >= c->block_n)
        VP_TRY(add_blocks(c, i / 64 + 1));
    VP_TRY(column_put_value(c, v));
    trace_block *b = &c->block[i / 64];
    if (!b->has)
        b->first = (uint32_t)c->n - 1;
    b->has |= UINT64_C(1) << i % 64;
    return 0;
}

/* Number of values of the first `count` events. */
static size_t values_below(const trace_column *c, size_t count)
{
    size_t i = trace_column_next(c, count);
    return i == SIZE_MAX ? c->n : trace_column_place(c, i);
}

/* Allocates space for n > 0 values like those of another column, and for the blocks; exactly,
 * because it lives as long as the trace. */
static int column_new(trace_column **out, const trace_column *like, size_t n, size_t blocks)
{
    trace_column *c = *out = vp_calloc(1, sizeof *c);
    VP_NEED(c);
    c->block = vp_calloc(blocks, sizeof *c->block);
    if (like->v)
        c->v = vp_realloc_array(NULL, n, sizeof *c->v);
    else
        c->low = vp_realloc_array(NULL, n, sizeof *c->low);
    VP_NEED(c->block && (c->v || c->low));
    c->base = like->base;
    c->shift = like->shift;
    c->block_n = c->block_cap = blocks;
    c->cap = n;
    return 0;
}

int trace_column_copy(trace_column **out, const trace_column *c, size_t count)
{
    size_t blocks = count / 64 + 1 < c->block_n ? count / 64 + 1 : c->block_n;
    size_t n = values_below(c, count);
    *out = NULL;
    if (!n)
        return 0;
    VP_TRY(column_new(out, c, n, blocks));
    trace_column *to = *out;
    memcpy(to->block, c->block, blocks * sizeof *to->block);
    if (c->v)
        memcpy(to->v, c->v, n * sizeof *to->v);
    else
        memcpy(to->low, c->low, n * sizeof *to->low);
    to->n = n;
    if (count / 64 < blocks)
        to->block[count / 64].has &= (UINT64_C(1) << count % 64) - 1;
    return 0;
}

void trace_column_free(trace_column *c)
{
    if (!c)
        return;
    vp_free(c->block);
    vp_free(c->v);
    vp_free(c->low);
    vp_free(c);
}

/* ---- Reordering ---- */

static void copy_value(trace_column *to, size_t place, const trace_column *from, size_t i)
{
    if (to->v)
        to->v[place] = from->v[i];
    else
        to->low[place] = from->low[i];
}

/* True if the events that have a value are the first n, without a gap. */
static bool is_full_column(const trace_column *c)
{
    size_t before = c->block_n ? (c->block_n - 1) * 64 : 0, n = c->n - before;
    return c->block_n && c->n > before && n <= 64 &&
           c->block[c->block_n - 1].has == UINT64_MAX >> (64 - n);
}

static size_t values_of(const trace_column *c, bool full, const uint32_t *order, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; full && i < count; i++)
        n += order[i] < c->n;
    for (size_t i = 0; !full && i < count; i++)
        n += trace_column_has(c, order[i]);
    return n;
}

static void permute_full(trace_column *to, const trace_column *from, const uint32_t *order,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        copy_value(to, i, from, order[i]);
    for (size_t b = 0; b < to->block_n; b++) {
        size_t n = count - b * 64 < 64 ? count - b * 64 : 64;
        to->block[b] = (trace_block){UINT64_MAX >> (64 - n), (uint32_t)(b * 64)};
    }
}

static void permute_some(trace_column *to, const trace_column *from, const uint32_t *order,
                         size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = order[i];
        if (!trace_column_has(from, at))
            continue;
        trace_block *made = &to->block[i / 64];
        if (!made->has)
            made->first = (uint32_t)n;
        made->has |= UINT64_C(1) << i % 64;
        copy_value(to, n++, from, trace_column_place(from, at));
    }
}

int trace_column_permute(trace_column **column, const uint32_t *order, size_t count)
{
    const trace_column *old = *column;
    trace_column *c = NULL;
    bool full = is_full_column(old);
    size_t n = values_of(old, full, order, count);
    if (n) {
        int rc = column_new(&c, old, n, (count + 63) / 64);
        if (rc < 0) {
            trace_column_free(c);
            return rc;
        }
        c->n = n;
        if (full && n == count)
            permute_full(c, old, order, count);
        else
            permute_some(c, old, order, count);
    }
    trace_column_free(*column);
    *column = c;
    return 0;
}

int trace_column_cover(trace_column *c, size_t count)
{
    size_t blocks = (count + 63) / 64;
    return blocks > c->block_n ? add_blocks(c, blocks) : 0;
}

/* Moves the value at index `from` before the one at `to`. */
static void move_value(trace_column *c, size_t from, size_t to)
{
    if (c->v) {
        int64_t v = c->v[from];
        memmove(c->v + to + 1, c->v + to, (from - to) * sizeof v);
        c->v[to] = v;
    } else {
        uint32_t v = c->low[from];
        memmove(c->low + to + 1, c->low + to, (from - to) * sizeof v);
        c->low[to] = v;
    }
}

/* Shifts bits to … from of a block up by one; the lowest becomes `in`. Returns the former highest
 * bit. */
static bool shift_bits(uint64_t *has, unsigned from, unsigned to, bool in)
{
    uint64_t part = UINT64_MAX >> (63 - from) & UINT64_MAX << to, old = *has & part;
    *has = (*has & ~part) | (old << 1 & part) | (uint64_t)in << to;
    return old >> from & 1u;
}

void trace_column_move(trace_column *c, size_t from, size_t to)
{
    trace_block *a = &c->block[to / 64], *b = &c->block[from / 64];
    bool moved = trace_column_has(c, from);
    /* index of the first value from event `to` on, and of the first in both blocks */
    size_t at = a->has ? trace_column_place(c, to) : b->first, first = a->has ? a->first : b->first;
    if (moved)
        move_value(c, trace_column_place(c, from), at);
    if (a == b) {
        shift_bits(&a->has, from % 64, to % 64, moved);
        return;
    }
    shift_bits(&b->has, from % 64, 0, shift_bits(&a->has, 63, to % 64, moved));
    a->first = (uint32_t)first;
    b->first = (uint32_t)first + trace_count_bits(a->has);
}

size_t trace_column_bytes(const trace_column *c)
{
    return c->cap * (c->v ? sizeof *c->v : sizeof *c->low) + c->block_cap * sizeof *c->block;
}
