#include "trace/timeline/tl_track.h"

#include <stdlib.h>

#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/model/sort.h"

/* The events of a track as they are drawn: on the host's clock, in the order of their starts. */
typedef struct source {
    const trace_track *k;
    const trace_times *times;
    bool in_order; /* the i-th is the i-th of k; else the one given by its kind in `sorted` */
    size_t count;
    trace_track sorted; /* a copy of a trace with another order */
} source;

/* ---- Events --------------------------------------------------------------------------------- */

static bool is_in_start_order(const trace_track *k, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        int64_t before = trace_aligned_start(k, i - 1), start = trace_aligned_start(k, i);
        if (start < before ||
            (start == before && trace_aligned_dur(k, i) > trace_aligned_dur(k, i - 1)))
            return false;
    }
    return true;
}

static void close_source(source *s)
{
    trace_times_free(&s->sorted.own);
}

/* For a clock that is not needed any more, or that was copied. */
static void forget_clock(const trace_times *t, size_t from, size_t n)
{
    vp_mem_forget(t->v + from, n * sizeof *t->v);
}

/* Two clocks may order events differently: then those of the host's are sorted in a copy. */
static int sort_copy(source *s, bool last)
{
    trace_track *c = &s->sorted;
    VP_TRY(trace_times_resize(&c->own, 0, s->count));
    for (size_t i = 0; i < s->count; i++)
        VP_TRY(trace_times_put(&c->own, i, trace_aligned_start(s->k, i), trace_aligned_dur(s->k, i),
                               (uint32_t)i));
    c->count = s->count;
    if (last && s->times != &s->k->own)
        forget_clock(s->times, 0, s->count);
    VP_TRY(trace_sort_track(c, 1));
    s->times = &c->own;
    s->in_order = false;
    return 0;
}

static int open_track_source(source *s, const trace_track *k, size_t count, bool last)
{
    *s = (source){.k = k, .times = trace_host_times(k), .count = count, .in_order = true};
    return is_in_start_order(k, count) ? 0 : sort_copy(s, last);
}

static bool has_attrs(const trace_track *k)
{
    for (size_t a = 0; a < SINK_ATTRS; a++)
        if (k->attr[a])
            return true;
    return false;
}

static int64_t source_start(const source *s, size_t i)
{
    return trace_times_start(s->times, i);
}

static int64_t source_dur(const source *s, size_t i)
{
    int64_t dur = s->in_order ? trace_aligned_dur(s->k, i) : trace_times_dur(s->times, i);
    return dur > 0 ? dur : 0;
}

static int pack_event(tl_maker *m, const source *s, size_t i, uint32_t row)
{
    uint32_t kind = trace_kind_of(s->k, s->in_order ? i : trace_times_kind(s->times, i));
    int64_t dur = source_dur(s, i);
    tl_calls *c = &m->kinds[kind];
    c->calls++;
    c->total_ps = tl_sum(c->total_ps, dur);
    return tl_pack_put(&m->packer, row, source_start(s, i), dur, kind, (uint32_t)i);
}

/* Number of events that are released together. */
#define FORGET 65536u

/* Releases the events before `to` after they were packed. Copies of them (sort_copy) are freed
 * later in one piece. */
static void forget_packed_events(const tl_maker *m, const source *s, size_t to)
{
    if (!m->last || !s->in_order || !to || (to % FORGET && to < s->count))
        return;
    size_t from = (to - 1) / FORGET * FORGET;
    forget_clock(s->times, from, to - from);
    if (s->times != &s->k->own)
        forget_clock(&s->k->own, from, to - from);
}

static int pack_one_by_one(tl_maker *m, const source *s)
{
    for (size_t i = 0; i < s->count; i++) {
        uint32_t row;
        VP_TRY(
            tl_place(&m->places, source_start(s, i), source_start(s, i) + source_dur(s, i), &row));
        VP_TRY(pack_event(m, s, i, row));
        forget_packed_events(m, s, i + 1);
    }
    return 0;
}

/* ---- By two threads ------------------------------------------------------------------------- */

/* Number of events whose rows are passed together, and of batches that may wait. */
#define HEAP 8192u
#define HEAPS 16u
_Static_assert(FORGET % HEAP == 0, "a packed heap may end what is forgotten");

/* One thread places, the other packs. */
typedef struct pair {
    tl_maker *m;
    const source *s;
    vp_mem_budget *budget;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t placed, packed; /* events, under the lock */
    bool ended;            /* one of the two failed */
    uint16_t rows[HEAPS][HEAP];
} pair;
_Static_assert(TL_ROWS_MAX <= UINT16_MAX, "a row's number is 16 bits in a pair");

static uint16_t *heap_of(pair *p, size_t i)
{
    return p->rows[i / HEAP % HEAPS];
}

static size_t heap_end(const pair *p, size_t i)
{
    return p->s->count - i < HEAP ? p->s->count : i + HEAP;
}

/* Publishes the progress of one thread and waits until the other allows it to continue: until `i`
 * is at least `least`. false: the other failed. */
static bool pair_hand_over(pair *p, size_t *mine, size_t i, const size_t *other, size_t least)
{
    pthread_mutex_lock(&p->lock);
    *mine = i;
    pthread_cond_signal(&p->changed);
    while (*other < least && !p->ended)
        pthread_cond_wait(&p->changed, &p->lock);
    bool ended = p->ended;
    pthread_mutex_unlock(&p->lock);
    return !ended;
}

static int pair_end(pair *p, int rc)
{
    pthread_mutex_lock(&p->lock);
    p->ended = p->ended || rc < 0;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return rc;
}

static int place_heap(pair *p, size_t from, size_t to)
{
    const source *s = p->s;
    uint16_t *rows = heap_of(p, from);
    for (size_t i = from; i < to; i++) {
        uint32_t row;
        VP_TRY(tl_place(&p->m->places, source_start(s, i), source_start(s, i) + source_dur(s, i),
                        &row));
        rows[i - from] = (uint16_t)row;
    }
    return 0;
}

static int place_track_events(void *ctx)
{
    pair *p = ctx;
    vp_mem_budget *before = vp_mem_enter(p->budget);
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < p->s->count;) {
        size_t end = heap_end(p, i), room = (size_t)HEAP * HEAPS;
        rc = place_heap(p, i, end);
        i = end;
        if (rc >= 0 &&
            !pair_hand_over(p, &p->placed, i, &p->packed, i + HEAP > room ? i + HEAP - room : 0))
            break;
    }
    vp_mem_enter(before);
    return pair_end(p, rc);
}

static int pack_all(pair *p)
{
    for (size_t i = 0; i < p->s->count;) {
        size_t end = heap_end(p, i);
        if (!pair_hand_over(p, &p->packed, i, &p->placed, end))
            return 0;
        const uint16_t *rows = heap_of(p, i);
        for (size_t k = i; k < end; k++)
            VP_TRY(pack_event(p->m, p->s, k, rows[k - i]));
        i = end;
        forget_packed_events(p->m, p->s, i);
    }
    return 0;
}

static int pack_by_two(tl_maker *m, const source *s)
{
    vp_aside placing;
    pair *p = vp_malloc(sizeof *p);
    VP_NEED(p);
    p->m = m;
    p->s = s;
    p->budget = vp_mem_enter(NULL);
    vp_mem_enter(p->budget);
    p->placed = p->packed = 0;
    p->ended = false;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    int rc = vp_aside_try(&placing, place_track_events, p);
    bool alone = rc < 0;
    if (!alone) {
        rc = vp_aside_join(&placing, pair_end(p, pack_all(p)));
    }
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    vp_free(p);
    return alone ? pack_one_by_one(m, s) : rc;
}

static int pack_events(tl_maker *m, const source *s)
{
    tl_places_clear(&m->places);
    tl_pack_begin(&m->packer, has_attrs(s->k) || s->k->role == SINK_ROLE_DERIVED);
    VP_TRY(s->count >= m->pair_from ? pack_by_two(m, s) : pack_one_by_one(m, s));
    return tl_pack_end(&m->packer);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

typedef struct numbered {
    tl_spot spot;
    uint32_t was;
} numbered;

static int by_height(const void *a, const void *b)
{
    const tl_spot *x = &((const numbered *)a)->spot, *y = &((const numbered *)b)->spot;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* Numbers the rows from the top: lane by lane, in each by depth. */
static numbered *number_rows_by_lane(const tl_places *p)
{
    numbered *rows = vp_calloc(p->row_count + 1, sizeof *rows);
    for (uint32_t i = 0; rows && i < p->row_count; i++)
        rows[i] = (numbered){p->rows[i], i};
    if (rows)
        qsort(rows, p->row_count, sizeof *rows, by_height);
    return rows;
}

/* Concatenates the blocks of each row, in order. block_at: by places.rows, the next position. */
static void gather_blocks(tl_track *k, const tl_packer *p, uint64_t *block_at)
{
    for (size_t i = 0; i < p->block_count; i++)
        k->blocks[block_at[p->blocks[i].row]++] = p->blocks[i].block;
}

static size_t supers_of(uint64_t blocks)
{
    return (size_t)((blocks + TL_SUPER - 1) / TL_SUPER);
}

static void fill_supers(uint32_t *supers, const tl_row *r)
{
    uint64_t blocks = (r->count + TL_BLOCK - 1) / TL_BLOCK;
    int64_t longest = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        int64_t ps = r->blocks[i].longest_ps;
        if (i % TL_SUPER == 0 || ps > longest) {
            supers[i / TL_SUPER] = i;
            longest = ps;
        }
    }
}

/* Takes ownership of the records, without unused memory. */
static int take_packed_bytes(tl_track *k, tl_packer *p)
{
    k->byte_count = p->byte_count + 8;
    k->bytes = vp_realloc_array(p->bytes, k->byte_count, 1);
    VP_NEED(k->bytes);
    memset(k->bytes + p->byte_count, 0, 8);
    p->bytes = NULL;
    p->byte_cap = 0;
    return 0;
}

static void track_take_row(tl_track *k, const tl_row *r, int64_t busy_ps)
{
    int64_t start = tl_start(r, 0), end = r->blocks[(r->count - 1) / TL_BLOCK].end_ps;
    k->start_ps = start < k->start_ps ? start : k->start_ps;
    k->end_ps = end > k->end_ps ? end : k->end_ps;
    k->dur_ps = tl_sum(k->dur_ps, busy_ps);
    k->overlaid += r->overlaps ? r->count : 0;
}

static int make_track_rows(tl_track *k, tl_row **out, tl_maker *m, uint32_t track)
{
    const tl_packer *p = &m->packer;
    size_t n = m->places.row_count, blocks = 0, supers = 0;
    VP_CLEANUP(vp_free_ptr) numbered *rows = number_rows_by_lane(&m->places);
    VP_CLEANUP(vp_free_ptr) uint64_t *block_at = vp_calloc(n + 1, sizeof *block_at);
    tl_row *made = *out = vp_calloc(n + 1, sizeof *made);
    for (size_t i = 0; i < n; i++)
        supers += supers_of(p->rows[i].blocks);
    k->blocks = vp_realloc_array(NULL, p->block_count, sizeof *k->blocks);
    k->supers = vp_calloc(supers, sizeof *k->supers);
    VP_NEED(rows && block_at && made && k->blocks && k->supers);
    VP_TRY(take_packed_bytes(k, &m->packer));
    k->row_count = (uint32_t)n;
    k->lane_count = (uint32_t)m->places.lane_count;
    for (size_t i = 0; i < n; i++) {
        const tl_spot *s = &rows[i].spot;
        made[i] = (tl_row){track,
                           s->lane,
                           s->depth,
                           s->overlaps,
                           s->count,
                           k->blocks + blocks,
                           k->supers + k->super_count,
                           k->bytes};
        block_at[rows[i].was] = blocks;
        blocks += p->rows[rows[i].was].blocks;
        k->super_count += supers_of(p->rows[rows[i].was].blocks);
    }
    k->block_count = blocks;
    gather_blocks(k, p, block_at);
    for (size_t i = 0; i < n; i++) {
        fill_supers(k->supers + (made[i].supers - k->supers), &made[i]);
        track_take_row(k, &made[i], p->rows[rows[i].was].busy_ps);
    }
    return 0;
}

/* ---- Attributes ----------------------------------------------------------------------------- */

/* The event of the trace for each event; NULL, and rc 0: the same. */
static int source_order(uint32_t **out, const source *s)
{
    *out = NULL;
    if (s->in_order || !has_attrs(s->k))
        return 0;
    uint32_t *order = *out = vp_realloc_array(NULL, s->count, sizeof *order);
    VP_NEED(order);
    for (size_t i = 0; i < s->count; i++)
        order[i] = trace_times_kind(s->times, i);
    return 0;
}

static int take_attrs(tl_track *k, const source *s)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *order = NULL;
    VP_TRY(source_order(&order, s));
    for (size_t a = 0; a < SINK_ATTRS; a++) {
        if (!s->k->attr[a])
            continue;
        VP_TRY(trace_column_copy(&k->attr[a], s->k->attr[a], s->count));
        if (order && k->attr[a])
            VP_TRY(trace_column_permute(&k->attr[a], order, s->count));
    }
    return 0;
}

static int build_track(tl_track *k, tl_row **rows, tl_maker *m, const source *s, uint32_t track)
{
    VP_TRY(pack_events(m, s));
    VP_TRY(make_track_rows(k, rows, m, track));
    return take_attrs(k, s);
}

int tl_track_make(tl_track *out, tl_row **rows, tl_maker *m, const trace_track *from,
                  uint32_t track)
{
    source s;
    int rc = open_track_source(&s, from, (size_t)out->count, m->last);
    if (rc >= 0)
        rc = build_track(out, rows, m, &s, track);
    close_source(&s);
    return rc;
}

void tl_track_free(tl_track *k)
{
    for (size_t a = 0; a < SINK_ATTRS; a++)
        trace_column_free(k->attr[a]);
    vp_free(k->blocks);
    vp_free(k->supers);
    vp_free(k->bytes);
}

void tl_maker_free(tl_maker *m)
{
    tl_places_free(&m->places);
    tl_pack_free(&m->packer);
    vp_free(m->kinds);
}
