#include "trace/timeline/tl_slices.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

#define HEAD_BYTES 56u
#define SECTION_BYTES 24u
#define RECORD_BYTES 24u
/* A pixel at least of a window this wide has this many records; fewer pixels show nothing. */
#define PX_LEAST 16u

typedef struct painter {
    const tl_index *x;
    const tl_row *r;
    vp_buf *out;
    int64_t from_ps, until_ps, unit_ps;
    int64_t pixel_ps;
    uint32_t records; /* of all rows */
    vp_map *named;    /* kinds whose names are wanted */
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

static int put_names(painter *p)
{
    char head[8];
    for (size_t i = 0; i < p->kind_count; i++) {
        /* a label: more of it has no room anywhere */
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
    uint64_t longest;
} run;

static uint16_t share(int64_t part, int64_t whole)
{
    if (whole <= 0 || part >= whole)
        return UINT16_MAX;
    return (uint16_t)((unsigned __int128)(uint64_t)part * UINT16_MAX / (uint64_t)whole);
}

static int put_record(painter *p, const run *g)
{
    uint32_t kind = tl_kind_of(p->r, g->longest);
    const tl_kind *k = &p->x->kinds[kind];
    uint64_t count = g->end - g->i;
    int64_t start = g->start_ps > p->from_ps ? g->start_ps : p->from_ps;
    int64_t end = g->end_ps < p->until_ps ? g->end_ps : p->until_ps;
    end = end > start ? end : start;
    uint8_t flags =
        (uint8_t)((g->start_ps < start ? TL_RECORD_CUT_LEFT : 0) |
                  (g->end_ps > end ? TL_RECORD_CUT_RIGHT : 0) | (k->is_op ? TL_RECORD_OP : 0));
    uint16_t busy = share(g->busy_ps, g->end_ps - g->start_ps);
    char at[RECORD_BYTES];
    uint32_t from = (uint32_t)((start - p->from_ps) / p->unit_ps);
    put_u32(at, from);
    put_u32(at + 4, (uint32_t)((end - p->from_ps) / p->unit_ps) - from);
    put_u32(at + 8, p->x->first_kind + kind);
    put_u32(at + 12, (uint32_t)g->i);
    put_u32(at + 16, (uint32_t)count);
    put_u32(at + 20, busy | (uint32_t)k->hue << 16 | (uint32_t)flags << 24);
    p->records++;
    if (count == 1 && end - start >= p->pixel_ps * TL_LABEL_PX)
        VP_TRY(want_name(p, kind));
    return vp_buf_put(p->out, at, sizeof at);
}

static int put_slice(painter *p, uint64_t i)
{
    int64_t start = tl_start(p->r, i), dur = tl_dur(p->r, i);
    return put_record(p, &(run){i, i + 1, start, start + dur, dur, i});
}

/* ---- Runs ----------------------------------------------------------------------------------- */

/* The longest and the sum of some events. */
typedef struct tally {
    int64_t longest_ps, sum_ps;
    uint64_t longest;
} tally;

static void take_longest(tally *t, int64_t ps, uint64_t i)
{
    if (ps > t->longest_ps) {
        t->longest_ps = ps;
        t->longest = i;
    }
}

/* Events of one block. */
static void take_events(const painter *p, tally *t, uint64_t i, uint64_t end)
{
    if (i == end)
        return;
    const tl_block *b = &p->r->blocks[i / TL_BLOCK];
    const uint8_t *at = tl_record(p->r, b, i % TL_BLOCK) + b->start_w;
    for (; i < end; i++, at += b->record_w) {
        int64_t ps = (int64_t)(tl_load(at, b->dur_w) * b->unit);
        take_longest(t, ps, i);
        t->sum_ps = tl_sum(t->sum_ps, ps);
    }
}

static void take_block(const painter *p, tally *t, uint64_t block)
{
    uint64_t i = block * TL_BLOCK + p->r->blocks[block].longest;
    take_longest(t, tl_dur(p->r, i), i);
}

/* Blocks [block, end), none of which is the row's last; by supers where these lie inside. */
static void take_blocks(const painter *p, tally *t, uint64_t block, uint64_t end)
{
    const tl_block *b = p->r->blocks;
    t->sum_ps = tl_sum(t->sum_ps, b[end].busy_ps - b[block].busy_ps);
    while (block < end) {
        bool whole = block % TL_SUPER == 0 && block + TL_SUPER <= end;
        take_block(p, t, whole ? p->r->supers[block / TL_SUPER] : block);
        block += whole ? TL_SUPER : 1;
    }
}

static tally tally_of(const painter *p, uint64_t i, uint64_t end)
{
    tally t = {.longest_ps = -1, .longest = i};
    uint64_t first = (i + TL_BLOCK - 1) / TL_BLOCK, last = (end - 1) / TL_BLOCK;
    if (first >= last) { /* no whole block before that of the last event */
        uint64_t middle = first * TL_BLOCK < end ? first * TL_BLOCK : end;
        take_events(p, &t, i, middle);
        take_events(p, &t, middle, end);
        return t;
    }
    take_events(p, &t, i, first * TL_BLOCK);
    take_blocks(p, &t, first, last);
    take_events(p, &t, last * TL_BLOCK, end);
    return t;
}

static int put_run(painter *p, uint64_t i, uint64_t end)
{
    run g = {.i = i, .end = end, .start_ps = tl_start(p->r, i)};
    if (end == i + 1)
        return put_slice(p, i);
    g.end_ps = tl_end(p->r, end - 1);
    tally t = tally_of(p, i, end);
    g.busy_ps = t.sum_ps;
    g.longest = t.longest;
    return put_record(p, &g);
}

/* Where the pixel ends in which a time lies; the pixels stand still when the window moves. */
static int64_t pixel_end(const painter *p, int64_t ps)
{
    int64_t late = ps % p->pixel_ps;
    return ps - (late < 0 ? late + p->pixel_ps : late) + p->pixel_ps;
}

/* Of events [i, end), which begin before the window, those that reach into it, as one record. */
static int put_begun(painter *p, uint64_t i, uint64_t end)
{
    run g = {.longest = UINT64_MAX};
    uint64_t n = 0;
    for (; i < end; i++) {
        int64_t start = tl_start(p->r, i), dur = tl_dur(p->r, i);
        if (start + dur <= p->from_ps)
            continue;
        if (!n++)
            g = (run){.i = i, .start_ps = start, .end_ps = start + dur, .longest = i};
        g.end_ps = start + dur > g.end_ps ? start + dur : g.end_ps;
        g.busy_ps = tl_sum(g.busy_ps, dur);
        g.longest = dur > tl_dur(p->r, g.longest) ? i : g.longest;
    }
    g.end = g.i + n;
    return n ? put_record(p, &g) : 0;
}

/* Any number of events lies over each other: one record a pixel, of those that begin in it. The
 * longest of them ends less than a pixel before the last end. */
static int put_overlaps(painter *p)
{
    const tl_row *r = p->r;
    uint64_t i = tl_first_at(r, p->from_ps), end = tl_first_from(r, i, p->from_ps);
    VP_TRY(put_begun(p, i, end));
    for (i = end; i < r->count && tl_start(r, i) < p->until_ps; i = end) {
        int64_t start = tl_start(r, i), until = pixel_end(p, start);
        end = tl_first_from(r, i, until < p->until_ps ? until : p->until_ps);
        tally t = tally_of(p, i, end);
        VP_TRY(put_record(p, &(run){i, end, start, tl_end(r, t.longest), t.sum_ps, t.longest}));
    }
    return 0;
}

static int put_row(painter *p)
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
            VP_TRY(put_slice(p, i++));
            continue;
        }
        int64_t until = pixel_end(p, start);
        until = until < p->until_ps ? until : p->until_ps;
        uint64_t end = tl_first_from(r, i, until);
        if (end > i + 1 && tl_dur(r, end - 1) >= p->pixel_ps)
            end--; /* a slice of its own, which begins in this pixel */
        VP_TRY(put_run(p, i, end));
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

/* Rows that a window shows, and how many it leaves out beyond VP_TIMELINE_CELLS_MAX / PX_LEAST. */
static uint32_t rows_of(const tl_index *x, const tl_wanted *w)
{
    uint32_t n = x->tracks[w->track].row_count;
    return n < w->rows ? n : w->rows;
}

typedef struct layout {
    uint32_t rows, left_out, px;
} layout;

static layout lay_out(const tl_index *x, const tl_window *w)
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

static int put_rows(painter *p, char *sections, const tl_window *w, uint32_t rows)
{
    uint32_t done = 0;
    for (size_t i = 0; i < w->track_count; i++) {
        const tl_track *k = &p->x->tracks[w->tracks[i].track];
        uint32_t n = rows_of(p->x, &w->tracks[i]);
        for (uint32_t row = 0; row < n && done < rows; row++, done++) {
            uint32_t before = p->records;
            p->r = &p->x->rows[k->first_row + row];
            VP_TRY(put_row(p));
            put_section(sections + (size_t)done * SECTION_BYTES, p->x, p->r, p->records - before);
        }
    }
    return 0;
}

static int put_all(painter *p, const tl_window *w, const layout *l)
{
    VP_CLEANUP(vp_free_ptr) char *sections = vp_calloc((size_t)l->rows + 1, SECTION_BYTES);
    size_t head = p->out->n;
    VP_NEED(sections);
    VP_TRY(vp_buf_pad(p->out, 0, HEAD_BYTES + (size_t)l->rows * SECTION_BYTES));
    VP_TRY(put_rows(p, sections, w, l->rows));
    VP_TRY(put_names(p));
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
    layout l = lay_out(x, w);
    vp_map named;
    int64_t span = w->until_ps - w->from_ps;
    painter p = {.x = x,
                 .out = out,
                 .from_ps = w->from_ps,
                 .until_ps = w->until_ps,
                 .unit_ps = span / INT32_MAX + 1,
                 .pixel_ps = (span - 1) / l.px + 1,
                 .named = &named};
    vp_map_init(&named);
    int rc = put_all(&p, w, &l);
    vp_map_free(&named);
    vp_free(p.kinds);
    return rc < 0 ? vp_buf_fail(out, rc) : 0;
}
