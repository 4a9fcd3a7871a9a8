#include "trace/timeline/tl_slices.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/timeline/tl_tally.h"

#define HEAD_BYTES 56u
#define SECTION_BYTES 24u
#define RECORD_BYTES 24u
/* Minimum width of a window that is narrowed because it has many rows; less would show nothing. */
#define PX_LEAST 16u

/* A divisor that is used often: replaced by a multiplication with 2^64 divided by it, rounded up.
 */
typedef struct divisor {
    uint64_t by, times;
} divisor;

static divisor divisor_of(int64_t by)
{
    return (divisor){(uint64_t)by, by > 1 ? UINT64_MAX / (uint64_t)by + 1 : 0};
}

/* n: at least 0. The product is at most one too large, since n is below 2^63. */
static uint64_t fast_divide(int64_t n, const divisor *d)
{
    if (!d->times)
        return (uint64_t)n;
    uint64_t q = (uint64_t)((unsigned __int128)(uint64_t)n * d->times >> 64);
    return q - (q * d->by > (uint64_t)n);
}

typedef struct painter {
    const tl_index *x;
    const tl_row *r;
    vp_buf *out;
    int64_t from_ps, until_ps, unit_ps;
    int64_t pixel_ps;
    int64_t grid_ps; /* start of the pixel two before the window */
    divisor by_unit, by_pixel;
    tl_seam seam;     /* of r */
    uint32_t records; /* of all rows */
    vp_map *named;    /* kinds whose names are needed */
    uint32_t *kinds;  /* they */
    size_t kind_count, kind_cap;
} painter;

static void put_u32(char *at, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        at[i] = (char)(v >> (8 * i) & 0xff);
}

static void put_i64(char *at, int64_t v)
{
    put_u32(at, (uint32_t)((uint64_t)v & UINT32_MAX));
    put_u32(at + 4, (uint32_t)((uint64_t)v >> 32));
}

/* ---- Names ---------------------------------------------------------------------------------- */

static int want_name(painter *p, uint32_t kind)
{
    if (vp_map_get(p->named, kind) != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_map_set(p->named, kind, 1));
    VP_TRY(vp_grow(&p->kinds, &p->kind_cap, p->kind_count + 1, sizeof *p->kinds, UINT32_MAX));
    p->kinds[p->kind_count++] = kind;
    return 0;
}

static int put_label_table(painter *p)
{
    char head[8];
    for (size_t i = 0; i < p->kind_count; i++) {
        /* maximum bytes of a label */
        vp_str name = vp_str_head(tl_text(p->x, p->x->kinds[p->kinds[i]].name), 400);
        name.n = vp_utf8_span(name);
        put_u32(head, p->x->first_kind + p->kinds[i]);
        put_u32(head + 4, (uint32_t)name.n);
        vp_buf_put(p->out, head, sizeof head);
        vp_buf_str(p->out, name);
        VP_TRY(vp_buf_pad(p->out, 0, (4 - name.n % 4) % 4));
    }
    return 0;
}

/* ---- Records -------------------------------------------------------------------------------- */

/* Events [i, end) of the row as one record. */
typedef struct run {
    uint64_t i, end;
    int64_t start_ps, end_ps, busy_ps;
    uint32_t kind; /* of the longest */
} run;

static uint16_t share_u16(int64_t part, int64_t whole)
{
    if (whole <= 0 || part >= whole)
        return UINT16_MAX;
    if (whole < INT64_MAX / UINT16_MAX)
        return (uint16_t)(part * UINT16_MAX / whole);
    return (uint16_t)((unsigned __int128)(uint64_t)part * UINT16_MAX / (uint64_t)whole);
}

static int put_slice_record(painter *p, const run *g)
{
    const tl_kind *k = &p->x->kinds[g->kind];
    uint64_t count = g->end - g->i;
    int64_t start = g->start_ps > p->from_ps ? g->start_ps : p->from_ps;
    int64_t end = g->end_ps < p->until_ps ? g->end_ps : p->until_ps;
    end = end > start ? end : start;
    uint8_t flags =
        (uint8_t)((g->start_ps < start ? TL_RECORD_CUT_LEFT : 0) |
                  (g->end_ps > end ? TL_RECORD_CUT_RIGHT : 0) | (k->is_op ? TL_RECORD_OP : 0));
    uint16_t busy = share_u16(g->busy_ps, g->end_ps - g->start_ps);
    char *at = vp_buf_reserve(p->out, RECORD_BYTES);
    if (!at)
        return p->out->status;
    uint32_t from = (uint32_t)fast_divide(start - p->from_ps, &p->by_unit);
    uint32_t until = (uint32_t)fast_divide(end - p->from_ps, &p->by_unit);
    put_u32(at, from);
    put_u32(at + 4, until - from);
    put_u32(at + 8, p->x->first_kind + g->kind);
    put_u32(at + 12, (uint32_t)g->i);
    put_u32(at + 16, (uint32_t)count);
    put_u32(at + 20, busy | (uint32_t)k->hue << 16 | (uint32_t)flags << 24);
    p->out->n += RECORD_BYTES;
    p->records++;
    if (count == 1 && end - start >= p->pixel_ps * TL_LABEL_PX)
        return want_name(p, g->kind);
    return 0;
}

static int put_single_slice(painter *p, uint64_t i)
{
    int64_t start = tl_start(p->r, i), dur = tl_dur(p->r, i);
    return put_slice_record(p, &(run){i, i + 1, start, start + dur, dur, tl_kind_of(p->r, i)});
}

/* ---- Runs ----------------------------------------------------------------------------------- */

static int put_merged_run(painter *p, uint64_t i, uint64_t end)
{
    run g = {.i = i, .end = end, .start_ps = tl_start(p->r, i)};
    if (end == i + 1)
        return put_single_slice(p, i);
    g.end_ps = tl_end(p->r, end - 1);
    tl_tally t = tl_tally_of(&p->seam, p->r, i, end);
    g.busy_ps = t.sum_ps;
    g.kind = t.kind;
    return put_slice_record(p, &g);
}

/* The end of the pixel of an event that begins in the window, or at most a pixel before; the pixel
 * grid does not move with the window. */
static int64_t pixel_end(const painter *p, int64_t ps)
{
    uint64_t pixel = fast_divide(ps - p->grid_ps, &p->by_pixel);
    return p->grid_ps + (int64_t)(pixel + 1) * p->pixel_ps;
}

/* The first block from `block` up to `last` that may contain an event which begins before the
 * window and overlaps it. */
static uint64_t first_reaching_block(const painter *p, uint64_t block, uint64_t last)
{
    const tl_block *b = p->r->blocks;
    while (block < last) {
        uint64_t many = block % TL_SUPER ? last + 1 : block + TL_SUPER;
        if (many <= last &&
            b[p->r->supers[block / TL_SUPER]].longest_ps <= p->from_ps - b[many].base_ps)
            block = many;
        else if (b[block].longest_ps <= p->from_ps - b[block + 1].base_ps)
            block++;
        else
            break;
    }
    return block;
}

static void take_begun(const painter *p, run *g, int64_t *longest, uint64_t i)
{
    int64_t start = tl_start(p->r, i), dur = tl_dur(p->r, i);
    if (start + dur <= p->from_ps)
        return;
    if (!g->end)
        *g = (run){.i = i, .end = i, .start_ps = start, .end_ps = start + dur};
    g->end++;
    g->end_ps = start + dur > g->end_ps ? start + dur : g->end_ps;
    g->busy_ps = tl_sum(g->busy_ps, dur);
    if (dur > *longest) {
        *longest = dur;
        g->kind = tl_kind_of(p->r, i);
    }
}

/* Events of [i, end), which begin before the window, that overlap it, as one record. */
static int put_begun(painter *p, uint64_t i, uint64_t end)
{
    run g = {0};
    int64_t longest = -1;
    while (i < end) {
        uint64_t block = first_reaching_block(p, i / TL_BLOCK, (end - 1) / TL_BLOCK);
        i = block * TL_BLOCK > i ? block * TL_BLOCK : i;
        for (uint64_t next = (block + 1) * TL_BLOCK; i < end && i < next; i++)
            take_begun(p, &g, &longest, i);
    }
    return g.end ? put_slice_record(p, &g) : 0;
}

/* Any number of events may overlap: one record per pixel, for those that begin in it. The longest
 * of them ends less than a pixel before the last end. */
static int put_overlaps(painter *p)
{
    const tl_row *r = p->r;
    uint64_t i = tl_first_at(r, p->from_ps), end = tl_first_from(r, i, p->from_ps);
    VP_TRY(put_begun(p, i, end));
    for (i = end; i < r->count && tl_start(r, i) < p->until_ps; i = end) {
        int64_t start = tl_start(r, i), until = pixel_end(p, start);
        end = tl_first_from(r, i, until < p->until_ps ? until : p->until_ps);
        tl_tally t = tl_tally_of(&p->seam, r, i, end);
        VP_TRY(put_slice_record(p, &(run){i, end, start, tl_end(r, t.longest), t.sum_ps, t.kind}));
    }
    return 0;
}

static int put_row_slices(painter *p)
{
    const tl_row *r = p->r;
    uint64_t i = tl_first_at(r, p->from_ps);
    if (r->overlaps)
        return put_overlaps(p);
    while (i < r->count) {
        int64_t start = tl_start(r, i);
        if (start >= p->until_ps)
            break;
        if (tl_dur(r, i) >= p->pixel_ps) {
            VP_TRY(put_single_slice(p, i++));
            continue;
        }
        int64_t until = pixel_end(p, start);
        until = until < p->until_ps ? until : p->until_ps;
        uint64_t end = tl_first_from(r, i, until);
        if (end > i + 1 && tl_dur(r, end - 1) >= p->pixel_ps)
            end--; /* a separate slice, which begins in this pixel */
        VP_TRY(put_merged_run(p, i, end));
        i = end;
    }
    return 0;
}

/* ---- Sections ------------------------------------------------------------------------------- */

static void put_section(char *at, const tl_index *x, const tl_row *r, uint32_t records)
{
    put_u32(at, x->first_track + r->track);
    put_u32(at + 4, (uint32_t)(r - (x->rows + x->tracks[r->track].first_row)));
    put_u32(at + 8, r->lane);
    put_u32(at + 12, r->depth);
    put_u32(at + 16, r->overlaps ? TL_SECTION_OVERLAPS : 0);
    put_u32(at + 20, records);
}

static uint32_t rows_of(const tl_index *x, const tl_wanted *w)
{
    uint32_t n = x->tracks[w->track].row_count;
    n = n > w->first ? n - w->first : 0;
    return n < w->rows ? n : w->rows;
}

/* The number of rows that a window shows; the rest, beyond VP_TIMELINE_CELLS_MAX / PX_LEAST, is
 * counted. */

typedef struct layout {
    uint32_t rows, left_out, px;
} layout;

static layout lay_out_window(const tl_index *x, const tl_window *w)
{
    const uint32_t most = VP_TIMELINE_CELLS_MAX / PX_LEAST;
    layout l = {0, 0, w->px < VP_TIMELINE_PX_MAX ? w->px : VP_TIMELINE_PX_MAX};
    for (size_t i = 0; i < w->track_count; i++) {
        uint32_t n = rows_of(x, &w->tracks[i]);
        uint32_t room = most - l.rows;
        l.rows += n < room ? n : room;
        l.left_out += n < room ? 0 : n - room;
    }
    if (l.rows && l.px > VP_TIMELINE_CELLS_MAX / l.rows)
        l.px = VP_TIMELINE_CELLS_MAX / l.rows;
    return l;
}

static int put_window_rows(painter *p, char *sections, const tl_window *w, uint32_t rows)
{
    uint32_t done = 0;
    for (size_t i = 0; i < w->track_count; i++) {
        const tl_track *k = &p->x->tracks[w->tracks[i].track];
        uint32_t n = rows_of(p->x, &w->tracks[i]);
        for (uint32_t row = 0; row < n && done < rows; row++, done++) {
            uint32_t before = p->records;
            p->r = &p->x->rows[k->first_row + w->tracks[i].first + row];
            p->seam = (tl_seam){0};
            VP_TRY(put_row_slices(p));
            put_section(sections + (size_t)done * SECTION_BYTES, p->x, p->r, p->records - before);
        }
    }
    return 0;
}

static int put_slice_window(painter *p, const tl_window *w, const layout *l)
{
    VP_CLEANUP(vp_free_ptr) char *sections = vp_calloc((size_t)l->rows + 1, SECTION_BYTES);
    size_t head = p->out->n;
    VP_NEED(sections);
    VP_TRY(vp_buf_pad(p->out, 0, HEAD_BYTES + (size_t)l->rows * SECTION_BYTES));
    if (!vp_buf_room(p->out, (size_t)l->rows * l->px / 2 * RECORD_BYTES))
        return p->out->status;
    VP_TRY(put_window_rows(p, sections, w, l->rows));
    VP_TRY(put_label_table(p));
    char *at = p->out->p + head;
    memcpy(at, "VPTL", 4);
    put_u32(at + 4, 1);
    put_i64(at + 8, p->from_ps);
    put_i64(at + 16, p->until_ps);
    put_i64(at + 24, p->unit_ps);
    put_u32(at + 32, l->px);
    put_u32(at + 36, l->rows);
    put_u32(at + 40, p->records);
    put_u32(at + 44, (uint32_t)p->kind_count);
    put_u32(at + 48, l->left_out);
    memcpy(at + HEAD_BYTES, sections, (size_t)l->rows * SECTION_BYTES);
    return 0;
}

int tl_slices(vp_buf *out, const tl_index *x, const tl_window *w)
{
    layout l = lay_out_window(x, w);
    vp_map named;
    int64_t span = w->until_ps - w->from_ps;
    painter p = {.x = x,
                 .out = out,
                 .from_ps = w->from_ps,
                 .until_ps = w->until_ps,
                 .unit_ps = span / INT32_MAX + 1,
                 .pixel_ps = (span - 1) / l.px + 1,
                 .named = &named};
    int64_t late = p.from_ps % p.pixel_ps;
    p.grid_ps = p.from_ps - (late < 0 ? late + p.pixel_ps : late) - 2 * p.pixel_ps;
    p.by_unit = divisor_of(p.unit_ps);
    p.by_pixel = divisor_of(p.pixel_ps);
    vp_map_init(&named);
    int rc = put_slice_window(&p, w, &l);
    vp_map_free(&named);
    vp_free(p.kinds);
    return rc < 0 ? vp_buf_fail(out, rc) : 0;
}
