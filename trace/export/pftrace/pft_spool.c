#include "trace/export/pftrace/pft_spool.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"

/* What is read at once is twice what was wanted of the last: much of records that lie one behind
 * the other, and little of those that others lie between. */
#define AHEAD_MIN ((size_t)512)
#define AHEAD_MAX ((size_t)256 << 10)

int pft_spool_put(vp_buf *b, vp_str bytes)
{
    vp_pb_put_varint(b, bytes.n);
    return vp_buf_str(b, bytes);
}

static int load(pft_spool *s, int64_t offset, size_t n)
{
    size_t ahead = 2 * s->served;
    ahead = ahead < AHEAD_MIN ? AHEAD_MIN : ahead > AHEAD_MAX ? AHEAD_MAX : ahead;
    size_t want = n > ahead ? n : ahead;
    VP_TRY(vp_grow(&s->window, &s->cap, want, 1, SIZE_MAX / 2));
    s->base = offset;
    s->have = 0;
    s->served = 0;
    return rd_source_read(s->source, s->window, want, offset, &s->have);
}

/* At least n bytes at offset, fewer at the end of the source only. */
static int need(pft_spool *s, int64_t offset, size_t n, vp_str *bytes)
{
    if (offset < s->base || offset - s->base > (int64_t)s->have ||
        s->have - (size_t)(offset - s->base) < n)
        VP_TRY(load(s, offset, n));
    size_t at = (size_t)(offset - s->base);
    *bytes = (vp_str){s->window + at, s->have - at};
    return 0;
}

int pft_spool_get(pft_spool *s, int64_t offset, vp_str *bytes)
{
    vp_str all;
    uint64_t n = 0;
    VP_TRY(need(s, offset, 10, &all));
    vp_pb r = vp_pb_of(all);
    if (!vp_pb_varint(&r, &n) || n > (uint64_t)rd_source_size(s->source))
        return vp_fail(VP_ECORRUPT, "a temporary file was changed");
    size_t head = (size_t)((const char *)r.p - all.p);
    VP_TRY(need(s, offset, head + (size_t)n, &all));
    if (all.n < head + n)
        return vp_fail(VP_ECORRUPT, "a temporary file was changed");
    *bytes = (vp_str){all.p + head, (size_t)n};
    s->served += head + n;
    return 0;
}

void pft_spool_free(pft_spool *s)
{
    rd_source_close(s->source);
    vp_free(s->window);
    *s = (pft_spool){0};
}
