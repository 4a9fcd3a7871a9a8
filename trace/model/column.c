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

static bool fits(const trace_column *c, int64_t v)
{
    return (uint64_t)v - (uint64_t)c->base <= UINT32_MAX;
}

/* Eight bytes a value from now on. */
static int widen(trace_column *c)
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

/* What a value that does not fit as it is needs. */
static __attribute__((noinline)) int make_fit(trace_column *c, int64_t v)
{
    if (!c->v && !c->low)
        c->base = (int64_t)((uint64_t)v - (UINT64_C(1) << 31));
    if (c->n == c->cap)
        VP_TRY(c->v ? vp_grow(&c->v, &c->cap, c->n + 1, sizeof *c->v, VP_EVENTS_MAX)
                    : vp_grow(&c->low, &c->cap, c->n + 1, sizeof *c->low, VP_EVENTS_MAX));
    return !c->v && !fits(c, v) ? widen(c) : 0;
}

static inline int put_value(trace_column *c, int64_t v)
{
    if (c->n == c->cap || !(c->v || fits(c, v)))
        VP_TRY(make_fit(c, v));
    if (c->v)
        c->v[c->n] = v;
    else
        c->low[c->n] = (uint32_t)((uint64_t)v - (uint64_t)c->base);
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
    VP_TRY(put_value(c, v));
    trace_block *b = &c->block[i / 64];
    if (!b->has)
        b->first = (uint32_t)c->n - 1;
    b->has |= UINT64_C(1) << i % 64;
    return 0;
}

/* Values of the first `count` events. */
static size_t values_below(const trace_column *c, size_t count)
{
    size_t i = trace_column_next(c, count);
    if (i == SIZE_MAX)
        return c->n;
    const trace_block *b = &c->block[i / 64];
    return b->first + trace_count_bits(b->has & ((UINT64_C(1) << i % 64) - 1));
}

/* Room for n > 0 values like those of another and so many blocks, without slack: it stays as long
 * as the trace. */
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

static bool has_value(const trace_column *c, size_t i)
{
    return i / 64 < c->block_n && c->block[i / 64].has >> i % 64 & 1u;
}

static size_t values_of(const trace_column *c, const uint32_t *order, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += has_value(c, order[i]);
    return n;
}

int trace_column_permute(trace_column **column, const uint32_t *order, size_t count)
{
    const trace_column *old = *column;
    trace_column *c = NULL;
    int rc = 0;
    size_t n = values_of(old, order, count);
    if (n)
        rc = column_new(&c, old, n, (count + 63) / 64);
    for (size_t i = 0; rc == 0 && n && i < count; i++)
        if (has_value(old, order[i]))
            rc = trace_column_put(&c, i, trace_column_get(old, order[i], 0));
    if (rc < 0) {
        trace_column_free(c);
        return rc;
    }
    trace_column_free(*column);
    *column = c;
    return 0;
}

size_t trace_column_bytes(const trace_column *c)
{
    return c->cap * (c->v ? sizeof *c->v : sizeof *c->low) + c->block_cap * sizeof *c->block;
}
