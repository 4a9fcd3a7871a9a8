#include "trace/timeline/tl_pack.h"

#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* Start, duration, kind and order. */
#define RECORD_MAX (8 + 8 + 4 + 4)

/* A block's times in one unit. */
typedef struct scaled {
    uint64_t start[TL_BLOCK], dur[TL_BLOCK];
    uint32_t unit;
} scaled;

/* Divides all times by 1,000 if they are multiples. */
static bool divide_times_by_1000(scaled *t, uint32_t n)
{
    scaled less;
    for (uint32_t i = 0; i < n; i++) {
        less.start[i] = t->start[i] / 1000;
        less.dur[i] = t->dur[i] / 1000;
        if (less.start[i] * 1000 != t->start[i] || less.dur[i] * 1000 != t->dur[i])
            return false;
    }
    memcpy(t->start, less.start, n * sizeof *t->start);
    memcpy(t->dur, less.dur, n * sizeof *t->dur);
    t->unit *= 1000;
    return true;
}

static void scale_stage_times(scaled *t, const tl_stage *s)
{
    t->unit = 1;
    for (uint32_t i = 0; i < s->n; i++)
        t->start[i] = (uint64_t)s->start_ps[i] - (uint64_t)s->start_ps[0];
    memcpy(t->dur, s->dur_ps, s->n * sizeof *t->dur);
    /* ns, and µs */
    if (divide_times_by_1000(t, s->n))
        divide_times_by_1000(t, s->n);
}

static uint8_t width_of(uint64_t most)
{
    return (uint8_t)(most ? (71 - __builtin_clzll(most)) / 8 : 0);
}

/* The number of bytes that the maximum of each needs. */
static void set_widths(tl_block *b, const scaled *t, const tl_stage *s, bool ordered)
{
    uint64_t start = 0, dur = 0;
    uint32_t kind = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        start |= t->start[i];
        dur |= t->dur[i];
        kind |= s->kind[i];
    }
    b->start_w = width_of(start);
    b->dur_w = width_of(dur);
    b->kind_w = width_of(kind);
    b->order_w = ordered ? width_of(s->order[s->n - 1] - s->order[0]) : 0;
    b->record_w = (uint8_t)(b->start_w + b->dur_w + b->kind_w + b->order_w);
    b->first_order = ordered ? s->order[0] : 0;
}

/* Writes 8 bytes; the next write keeps the first `width`. */
static uint8_t *store_bytes(uint8_t *at, uint64_t v, unsigned width)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    memcpy(at, &v, sizeof v);
    return at + width;
}

static size_t put_records(uint8_t *to, const tl_block *b, const scaled *t, const tl_stage *s)
{
    uint8_t *at = to;
    for (uint32_t i = 0; i < s->n; i++) {
        at = store_bytes(at, t->start[i], b->start_w);
        at = store_bytes(at, t->dur[i], b->dur_w);
        at = store_bytes(at, s->kind[i], b->kind_w);
        if (b->order_w)
            at = store_bytes(at, s->order[i] - b->first_order, b->order_w);
    }
    return (size_t)(at - to);
}

/* The summary of the block that windows need. */
static void summarize_block(tl_block *b, tl_stage *s)
{
    b->base_ps = s->start_ps[0];
    b->busy_ps = s->busy_ps;
    for (uint32_t i = 0; i < s->n; i++) {
        int64_t dur = (int64_t)s->dur_ps[i], end = s->start_ps[i] + dur;
        s->busy_ps = tl_sum(s->busy_ps, dur);
        if (s->dur_ps[i] > s->dur_ps[b->longest])
            b->longest = (uint8_t)i;
        s->end_ps = end > s->end_ps ? end : s->end_ps;
    }
    b->end_ps = s->end_ps;
    b->longest_ps = (int64_t)s->dur_ps[b->longest];
    b->longest_kind = s->kind[b->longest];
}

int tl_pack_flush(tl_packer *p, uint32_t row)
{
    tl_stage *s = &p->rows[row];
    size_t need = p->byte_count + (size_t)TL_BLOCK * RECORD_MAX + 8;
    scaled t;
    if (need > p->byte_cap)
        VP_TRY(vp_grow(&p->bytes, &p->byte_cap, need, 1, SIZE_MAX / 2));
    if (p->block_count == p->block_cap)
        VP_TRY(vp_grow(&p->blocks, &p->block_cap, p->block_count + 1, sizeof *p->blocks,
                       VP_EVENTS_MAX));
    tl_block b = {.at = p->byte_count};
    scale_stage_times(&t, s);
    b.unit = t.unit;
    set_widths(&b, &t, s, p->ordered);
    summarize_block(&b, s);
    p->byte_count += put_records(p->bytes + p->byte_count, &b, &t, s);
    p->blocks[p->block_count++] = (tl_packed){b, row};
    s->n = 0;
    s->blocks++;
    return 0;
}

int tl_pack_add_row(tl_packer *p, uint32_t row)
{
    VP_TRY(vp_grow(&p->rows, &p->row_cap, (size_t)row + 1, sizeof *p->rows, TL_ROWS_MAX));
    tl_stage *s = &p->rows[p->row_count++];
    s->n = 0;
    s->blocks = 0;
    s->busy_ps = 0;
    s->end_ps = INT64_MIN;
    return 0;
}

int tl_pack_end(tl_packer *p)
{
    for (uint32_t row = 0; row < p->row_count; row++)
        if (p->rows[row].n)
            VP_TRY(tl_pack_flush(p, row));
    return 0;
}

void tl_pack_begin(tl_packer *p, bool ordered)
{
    p->byte_count = p->block_count = p->row_count = 0;
    p->ordered = ordered;
}

void tl_pack_free(tl_packer *p)
{
    vp_free(p->bytes);
    vp_free(p->blocks);
    vp_free(p->rows);
}
