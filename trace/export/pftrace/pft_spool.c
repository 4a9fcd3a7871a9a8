#include "trace/export/pftrace/pft_spool.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"

/* A block has about 50 records and takes a few µs to read; block b is in slot b % SLOTS, so that
 * adjacent blocks never evict each other. 16 MiB in total. */
#define BLOCK ((size_t)16 << 10)
#define SLOTS ((size_t)1024)

int pft_spool_put(vp_buf *b, vp_str bytes)
{
    vp_pb_put_varint(b, bytes.n);
    return vp_buf_str(b, bytes);
}

static int make_blocks(pft_spool *s)
{
    if (!s->blocks)
        s->blocks = vp_malloc(SLOTS * BLOCK);
    if (!s->held)
        s->held = vp_calloc(SLOTS, sizeof *s->held);
    VP_NEED(s->blocks && s->held);
    return 0;
}

/* The bytes of the source from `offset` to the end of the block. */
static int to_block_end(pft_spool *s, int64_t offset, vp_str *bytes)
{
    int64_t number = offset / (int64_t)BLOCK, base = number * (int64_t)BLOCK;
    size_t slot = (size_t)number % SLOTS, got;
    char *block = s->blocks + slot * BLOCK;
    int64_t left = rd_source_size(s->source) - base;
    size_t n = left < (int64_t)BLOCK ? (size_t)left : BLOCK, at = (size_t)(offset - base);
    if (s->held[slot] != number + 1) {
        s->held[slot] = 0;
        VP_TRY(rd_source_read(s->source, block, n, base, &got));
        if (got < n)
            return vp_fail(VP_ECORRUPT, "a temporary file was truncated");
        s->held[slot] = number + 1;
    }
    *bytes = (vp_str){block + at, n - at};
    return 0;
}

/* n existing bytes at offset. */
static int spool_join_bytes(pft_spool *s, int64_t offset, size_t n, vp_str *bytes)
{
    VP_TRY(vp_grow(&s->joined, &s->joined_cap, n, 1, SIZE_MAX / 2));
    for (size_t have = 0; have < n;) {
        vp_str part;
        VP_TRY(to_block_end(s, offset + (int64_t)have, &part));
        size_t take = part.n < n - have ? part.n : n - have;
        memcpy(s->joined + have, part.p, take);
        have += take;
    }
    *bytes = (vp_str){s->joined, n};
    return 0;
}

/* n bytes at offset, possibly more; fewer only at the end of the source. */
static int spool_need_bytes(pft_spool *s, int64_t offset, size_t n, vp_str *bytes)
{
    int64_t size = rd_source_size(s->source);
    int64_t left = offset >= 0 && offset < size ? size - offset : 0;
    if (rd_source_in_memory(s->source, bytes)) {
        *bytes = vp_str_skip(*bytes, (size_t)(size - left));
        return 0;
    }
    VP_TRY(make_blocks(s));
    n = left < (int64_t)n ? (size_t)left : n;
    *bytes = (vp_str){NULL, 0};
    if (n)
        VP_TRY(to_block_end(s, offset, bytes));
    return bytes->n < n ? spool_join_bytes(s, offset, n, bytes) : 0;
}

int pft_spool_get(pft_spool *s, int64_t offset, vp_str *bytes)
{
    vp_str all;
    uint64_t n = 0;
    VP_TRY(spool_need_bytes(s, offset, 10, &all));
    vp_pb r = vp_pb_of(all);
    if (!vp_pb_varint(&r, &n) || n > (uint64_t)rd_source_size(s->source))
        return vp_fail(VP_ECORRUPT, "a temporary file was changed");
    size_t head = (size_t)((const char *)r.p - all.p);
    VP_TRY(spool_need_bytes(s, offset, head + (size_t)n, &all));
    if (all.n < head + n)
        return vp_fail(VP_ECORRUPT, "a temporary file was changed");
    *bytes = (vp_str){all.p + head, (size_t)n};
    return 0;
}

void pft_spool_free(pft_spool *s)
{
    rd_source_close(s->source);
    vp_free(s->blocks);
    vp_free(s->held);
    vp_free(s->joined);
    *s = (pft_spool){0};
}
