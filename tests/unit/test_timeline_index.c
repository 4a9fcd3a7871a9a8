/* The index of a timeline holds what the trace holds: every event once, on rows on which none lies
 * over another, for any window and any width; found by text, and summed over ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/trace_maker.h"
#include "trace/base/limits.h"
#include "trace/timeline/tl_derived.h"
#include "trace/timeline/tl_find.h"
#include "trace/timeline/tl_range.h"
#include "trace/timeline/tl_slices.h"
#include "trace/timeline/tl_track.h"

static tl_index *built(trace *t)
{
    tl_index *x = NULL;
    assert_int_equal(trace_seal(t), 0);
    assert_int_equal(tl_build(&x, t), 0);
    return x;
}

static uint64_t seed;
static uint64_t next(uint64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % below;
}

/* ---- What the index holds ------------------------------------------------------------------- */

static void check_row(const tl_row *r)
{
    int64_t busy = 0, end = INT64_MIN;
    for (uint64_t i = 0; i < r->count; i++) {
        int64_t start = tl_start(r, i);
        if (i % TL_BLOCK == 0)
            assert_int_equal(r->blocks[i / TL_BLOCK].busy_ps, busy);
        assert_true(!i || start >= tl_start(r, i - 1));
        if (!r->overlaps)
            assert_true(start >= end);
        end = tl_end(r, i) > end ? tl_end(r, i) : end;
        busy += tl_dur(r, i);
        if (i % TL_BLOCK == TL_BLOCK - 1 || i + 1 == r->count)
            assert_int_equal(r->blocks[i / TL_BLOCK].end_ps, end);
    }
}

/* Each event of a nested row lies in one of the row above. */
static void check_nested(const tl_row *r)
{
    uint64_t k = 0;
    for (uint64_t i = 0; r->depth && i < r->count; i++) {
        while (k + 1 < r[-1].count && tl_start(r - 1, k + 1) <= tl_start(r, i))
            k++;
        assert_true(tl_start(r - 1, k) <= tl_start(r, i));
        assert_true(tl_end(r, i) <= tl_end(r - 1, k));
    }
}

/* What is the same for an event wherever it lies, summed so that order does not matter. */
static uint64_t mark(int64_t start, int64_t dur, uint64_t kind, const trace_column *const *attr,
                     size_t i)
{
    uint64_t h = (uint64_t)start * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)dur * 1000003u ^ kind;
    for (size_t a = 0; a < SINK_ATTRS; a++)
        if (attr[a])
            h = h * 31 + (uint64_t)trace_column_get(attr[a], i, SINK_NO_VALUE);
    h ^= h >> 29;
    return h * UINT64_C(0xbf58476d1ce4e5b9);
}

static void check_track(const tl_index *x, const trace *t, uint32_t n)
{
    const tl_track *k = &x->tracks[n];
    const trace_track *from = &t->tracks[n];
    uint64_t want = 0, got = 0, count = 0;
    int64_t dur = 0;
    bool marked = false;
    for (size_t a = 0; a < SINK_ATTRS; a++)
        marked = marked || from->attr[a];
    for (size_t i = 0; i < from->count; i++) {
        int64_t start = trace_aligned_start(from, i), ps = trace_aligned_end(from, i) - start;
        want += mark(start, ps, trace_kind_of(from, i), (const trace_column *const *)from->attr, i);
        dur += ps;
    }
    for (uint32_t r = 0; r < k->row_count; r++) {
        const tl_row *row = &x->rows[k->first_row + r];
        check_row(row);
        check_nested(row);
        for (uint64_t i = 0; i < row->count; i++)
            got += mark(tl_start(row, i), tl_dur(row, i), tl_kind_of(row, i),
                        (const trace_column *const *)k->attr, marked ? tl_order(row, i) : 0);
        count += row->count;
    }
    assert_int_equal(count, from->count);
    assert_int_equal(k->count, from->count);
    assert_int_equal(k->dur_ps, dur);
    assert_int_equal(got, want);
}

static void check_index(const tl_index *x, const trace *t)
{
    assert_int_equal(x->event_count, t->event_count);
    assert_int_equal(x->left_out, 0);
    assert_int_equal(x->track_count, t->track_count);
    for (uint32_t i = 0; i < t->track_count; i++)
        check_track(x, t, i);
}

/* ---- Windows -------------------------------------------------------------------------------- */

typedef struct record {
    uint32_t start, dur, kind, index, count, rest;
} record;

static uint32_t u32_at(const char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static int64_t i64_at(const char *p)
{
    int64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Events of a row that the window touches. */
static uint64_t touched(const tl_row *r, int64_t from, int64_t until)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < r->count; i++)
        n += tl_start(r, i) < until && (tl_end(r, i) > from || tl_start(r, i) >= from);
    return n;
}

static void check_record(const tl_row *r, const record *v, const tl_window *w, int64_t unit,
                         int64_t pixel)
{
    int64_t start = tl_start(r, v->index), end = tl_end(r, v->index + v->count - 1);
    int64_t seen_from = start > w->from_ps ? start : w->from_ps;
    int64_t seen_until = end < w->until_ps ? end : w->until_ps;
    assert_int_equal(v->start, (seen_from - w->from_ps) / unit);
    assert_int_equal(v->start + v->dur, (seen_until - w->from_ps) / unit);
    if (v->count == 1)
        return;
    int64_t longest = -1, sum = 0;
    uint32_t kind = 0;
    for (uint32_t i = 0; i < v->count; i++) {
        int64_t dur = tl_dur(r, v->index + i);
        assert_true(dur < pixel);
        kind = dur > longest ? tl_kind_of(r, v->index + i) : kind;
        longest = dur > longest ? dur : longest;
        sum += dur;
    }
    assert_int_equal(v->kind, kind);
    assert_int_equal(v->rest & 0xffff, end > start ? (__int128)sum * 65535 / (end - start) : 65535);
    assert_true(tl_start(r, v->index + v->count - 1) - start < pixel);
}

static void check_window(const tl_index *x, int64_t from, int64_t until, uint32_t px)
{
    vp_buf b;
    tl_wanted *all = calloc(x->track_count + 1, sizeof *all);
    for (uint32_t i = 0; i < x->track_count; i++)
        all[i] = (tl_wanted){.track = i, .rows = UINT32_MAX};
    tl_window w = {from, until, px, all, x->track_count};
    vp_buf_init(&b, 256u << 20);
    assert_int_equal(tl_slices(&b, x, &w), 0);
    assert_memory_equal(b.p, "VPTL", 4);
    assert_int_equal(i64_at(b.p + 8), from);
    assert_int_equal(i64_at(b.p + 16), until);
    int64_t unit = i64_at(b.p + 24);
    uint32_t used = u32_at(b.p + 32), sections = u32_at(b.p + 36), records = u32_at(b.p + 40);
    int64_t pixel = (until - from - 1) / used + 1;
    const char *section = b.p + 56, *at = section + (size_t)sections * 24;
    uint32_t seen = 0;
    assert_int_equal(sections, x->row_count);
    for (uint32_t s = 0; s < sections; s++, section += 24) {
        const tl_row *r = &x->rows[x->tracks[u32_at(section)].first_row + u32_at(section + 4)];
        uint64_t count = 0;
        for (uint32_t i = u32_at(section + 20); i > 0; i--, at += sizeof(record), seen++) {
            record v;
            memcpy(&v, at, sizeof v);
            if (!r->overlaps)
                check_record(r, &v, &w, unit, pixel);
            count += v.count;
        }
        assert_int_equal(count, touched(r, from, until));
        assert_true(u32_at(section + 20) <= (r->overlaps ? 1 : 2) * (uint64_t)used + 4);
    }
    assert_int_equal(seen, records);
    for (uint32_t i = u32_at(b.p + 44); i > 0; i--) {
        uint32_t n = u32_at(at + 4);
        vp_str name = tl_text(x, x->kinds[u32_at(at)].name);
        assert_memory_equal(at + 8, name.p, n);
        at += 8 + (n + 3) / 4 * 4;
    }
    assert_ptr_equal(at, b.p + b.n);
    vp_buf_free(&b);
    free(all);
}

static void check_windows(const tl_index *x)
{
    static const uint32_t px[] = {1, 7, 1000, 16384};
    int64_t from = x->start_ps, span = x->end_ps - x->start_ps + 1;
    for (size_t p = 0; p < sizeof px / sizeof *px; p++) {
        check_window(x, from, from + span, px[p]);
        check_window(x, from - span, from + 2 * span, px[p]);
        for (int i = 0; i < 4; i++) {
            int64_t at = from + (int64_t)next((uint64_t)span);
            check_window(x, at, at + 1 + (int64_t)next((uint64_t)span / 3 + 1), px[p]);
        }
    }
}

/* ---- Made traces ---------------------------------------------------------------------------- */

static void put_random(trace *t, uint32_t track, int n, int64_t at, int64_t scale, bool nest)
{
    char name[24];
    for (int i = 0; i < n; i++) {
        int64_t start = at + (int64_t)next((uint64_t)scale * 100);
        int64_t dur = next(9) ? (int64_t)next((uint64_t)scale) : 0;
        if (nest)
            dur = dur / 10 * (int64_t)(1 + next(20));
        snprintf(name, sizeof name, "op.%d", (int)next(30));
        if (next(3) == 0)
            tm_linked(t, track, name, start, start + dur, (int64_t)next(50));
        else
            tm_put(t, track, name, start, start + dur);
    }
}

static void test_random_traces(void **state)
{
    (void)state;
    for (int round = 0; round < 40; round++) {
        trace *t = tm_new();
        uint32_t p = tm_process(t, SINK_PROCESS_HOST, "host", 0);
        seed = (uint64_t)round;
        for (int k = 0; k < 4; k++) {
            static const int64_t scales[] = {100, 100000, INT64_C(1) << 33, INT64_C(1) << 44};
            uint32_t track = tm_track(t, p, "thread", SINK_ROLE_PLAIN);
            put_random(t, track, 1 + (int)next(400), -(int64_t)next(1000000),
                       scales[(k + round) % 4], round & 1);
        }
        tl_index *x = built(t);
        check_index(x, t);
        check_windows(x);
        tl_free(x);
        trace_free(t);
    }
}

static void test_equal_starts_and_no_length(void **state)
{
    (void)state;
    trace *t = tm_new();
    uint32_t p = tm_process(t, SINK_PROCESS_HOST, "host", 0);
    uint32_t k = tm_track(t, p, "thread", SINK_ROLE_PLAIN);
    tm_put(t, k, "outer", -100, 100);
    tm_put(t, k, "inner", -100, 50);
    tm_put(t, k, "twin", -100, 50);
    tm_put(t, k, "point", -100, -100);
    tm_put(t, k, "end", 100, 100);
    tm_put(t, k, "behind", 101, 120);
    tl_index *x = built(t);
    const tl_track *track = &x->tracks[0];
    check_index(x, t);
    check_windows(x);
    assert_int_equal(track->row_count, 4); /* from outer to point */
    assert_int_equal(track->lane_count, 1);
    assert_int_equal(x->rows[0].count, 3); /* "end" lies behind what ends there */
    assert_int_equal(x->start_ps, -100);
    assert_int_equal(x->end_ps, 120);
    tl_free(x);
    trace_free(t);
}

static void test_crossing_goes_to_another_lane(void **state)
{
    (void)state;
    trace *t = tm_new();
    uint32_t p = tm_process(t, SINK_PROCESS_HOST, "host", 0);
    uint32_t k = tm_track(t, p, "thread", SINK_ROLE_PLAIN);
    tm_put(t, k, "a", 0, 10);
    tm_put(t, k, "crosses", 5, 15);
    tm_put(t, k, "in it", 11, 14);
    tm_put(t, k, "b", 20, 30);
    tl_index *x = built(t);
    check_index(x, t);
    assert_int_equal(x->tracks[0].lane_count, 2);
    assert_int_equal(x->tracks[0].row_count, 2);
    assert_int_equal(x->rows[0].count, 3); /* a; then "in it", which fits there; b */
    assert_int_equal(x->rows[1].count, 1);
    tl_free(x);
    trace_free(t);
}

/* 4,000 events that all overlap: as many lanes as there may be, and the rest in one row, counted.
 */
static void test_more_at_once_than_lanes(void **state)
{
    (void)state;
    trace *t = tm_new();
    uint32_t p = tm_process(t, SINK_PROCESS_GPU, "gpu", 0);
    uint32_t k = tm_track(t, p, "stream", SINK_ROLE_OPS);
    for (int i = 0; i < 4000; i++)
        tm_put(t, k, "kernel", i, 10000 + i);
    tl_index *x = built(t);
    check_index(x, t);
    check_windows(x);
    assert_int_equal(x->tracks[0].lane_count, TL_LANES_MAX);
    assert_int_equal(x->tracks[0].overlaid, 4000 - TL_LANES_MAX);
    assert_int_equal(x->tracks[0].row_count, TL_LANES_MAX + 1);
    assert_true(x->rows[TL_LANES_MAX].overlaps);
    tl_free(x);
    trace_free(t);
}

/* Of thousands of blocks that lie over each other a window finds what began before it and reaches
 * into it, however long ago that was. */
static void test_overlaps_that_began_long_before(void **state)
{
    (void)state;
    trace *t = tm_new();
    uint32_t p = tm_process(t, SINK_PROCESS_GPU, "gpu", 0);
    uint32_t k = tm_track(t, p, "stream", SINK_ROLE_OPS);
    for (int i = 0; i < 20000; i++)
        tm_put(t, k, "kernel", 10 * i, i % 1000 == 200 ? 199000 + i : 10 * i + 3000);
    tl_index *x = built(t);
    const tl_row *r = &x->rows[x->row_count - 1];
    assert_true(r->overlaps && r->count > 2 * TL_BLOCK * TL_SUPER);
    uint32_t longs = 0;
    for (uint64_t i = 0; i < r->count; i++)
        longs += tl_dur(r, i) > 3000;
    assert_true(longs > 3);
    for (int64_t at = 0; at < 200000; at += 4999)
        check_window(x, at, at + 500, 100);
    tl_free(x);
    trace_free(t);
}

static void test_deeper_than_a_lane(void **state)
{
    (void)state;
    trace *t = tm_new();
    uint32_t p = tm_process(t, SINK_PROCESS_HOST, "host", 0);
    uint32_t k = tm_track(t, p, "thread", SINK_ROLE_PLAIN);
    for (int i = 0; i < 6000; i++)
        tm_put(t, k, "f", i, 100000 - i);
    tl_index *x = built(t);
    check_index(x, t);
    assert_true(x->tracks[0].row_count <= TL_ROWS_MAX);
    assert_int_equal(x->tracks[0].overlaid, 6000 - (TL_ROWS_MAX - 1));
    tl_free(x);
    trace_free(t);
}

/* Sorted by the device's clock they are not by the host's. */
static void test_two_clocks(void **state)
{
    (void)state;
    trace *t = tm_new();
    uint32_t p = tm_process(t, SINK_PROCESS_TPU, "tpu", 0);
    uint32_t k = tm_track(t, p, "XLA Ops", SINK_ROLE_OPS);
    for (int i = 0; i < 500; i++) {
        int64_t at = 1000 * (i % 2 ? i - 1 : i + 1);
        tm_aligned(t, k, i % 3 ? "a" : "b", i * 1000, i * 1000 + 900, at, at + 400);
    }
    tl_index *x = built(t);
    check_index(x, t);
    check_windows(x);
    assert_true(x->groups[0].has_ops);
    tl_free(x);
    trace_free(t);
}

static void test_nothing(void **state)
{
    (void)state;
    trace *t = tm_new();
    uint32_t p = tm_process(t, SINK_PROCESS_HOST, "host", 0);
    tm_track(t, p, "thread", SINK_ROLE_PLAIN);
    tl_index *x = built(t);
    check_index(x, t);
    assert_true(x->start_ps > x->end_ps);
    check_window(x, 0, 10, 100);
    tl_free(x);
    trace_free(t);
}

/* Windows at the ends of time, and lengths whose sum fits nowhere. */
static void test_ends_of_time(void **state)
{
    (void)state;
    vp_buf b;
    trace *t = tm_new();
    uint32_t p = tm_process(t, SINK_PROCESS_HOST, "host", 0);
    uint32_t k = tm_track(t, p, "thread", SINK_ROLE_PLAIN);
    for (int i = 0; i < 2000; i++)
        tm_put(t, k, "long", -VP_TIME_MAX_PS + i % 1000, VP_TIME_MAX_PS - (i & 1 ? i : 0));
    tl_index *x = built(t);
    tl_range sums;
    uint32_t all = 0;
    tl_wanted wanted = {.rows = UINT32_MAX};
    vp_buf_init(&b, 64u << 20);
    assert_int_equal(x->tracks[0].dur_ps, INT64_MAX);
    assert_int_equal(
        tl_slices(&b, x, &(tl_window){-VP_TIME_MAX_PS, VP_TIME_MAX_PS, 100, &wanted, 1}), 0);
    assert_int_equal(tl_range_of(&sums, x, &all, 1, -VP_TIME_MAX_PS, VP_TIME_MAX_PS), 0);
    assert_int_equal(sums.events, 2000);
    tl_range_free(&sums);
    vp_buf_free(&b);
    tl_free(x);
    trace_free(t);
}

/* Enough events that several threads make the tracks: whoever makes which, the result is the same.
 */
static void check_same(const tl_index *again, const tl_index *x)
{
    assert_int_equal(again->row_count, x->row_count);
    assert_int_equal(tl_bytes(again), tl_bytes(x));
    for (uint32_t i = 0; i < x->track_count; i++) {
        const tl_track *a = &x->tracks[i], *b = &again->tracks[i];
        assert_int_equal(a->first_row, b->first_row);
        assert_int_equal(a->byte_count, b->byte_count);
        assert_memory_equal(a->bytes, b->bytes, a->byte_count);
    }
    for (uint32_t i = 0; i < x->kind_count; i++) {
        assert_int_equal(x->kinds[i].calls, again->kinds[i].calls);
        assert_int_equal(x->kinds[i].total_ps, again->kinds[i].total_ps);
    }
}

static void test_the_same_from_any_thread(void **state)
{
    (void)state;
    trace *t = tm_new();
    uint32_t p = tm_process(t, SINK_PROCESS_HOST, "host", 0);
    seed = 9;
    for (int k = 0; k < 12; k++)
        put_random(t, tm_track(t, p, "thread", SINK_ROLE_PLAIN), 9000, 0,
                   k & 1 ? INT64_C(1) << 40 : 100, k & 2);
    tl_index *x = built(t), *again = NULL;
    check_index(x, t);
    assert_true(x->event_count >= 100000);
    assert_int_equal(tl_build(&again, t), 0);
    check_same(again, x);
    tl_free(again);
    assert_int_equal(tl_build_last(&again, t), 0);
    check_same(again, x);
    tl_free(again);
    tl_free(x);
    trace_free(t);
}

/* 65,536 go at a time, without the page that they share with the next ones. */
static void check_forgotten(const trace_times *t, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        kept += t->v[i].low || t->v[i].high || t->v[i].dur;
    assert_true(kept <= (count / 65536 + 2) * (size_t)sysconf(_SC_PAGESIZE) / sizeof *t->v);
}

/* Of one track of 300,000 events, packed while another thread places: 3.6 MB of columns are gone.
 * Of the tracks with two clocks, one in the same order on both, those of the host's, and of that
 * one its own. */
static void test_the_last_who_reads_them_forgets_events(void **state)
{
    (void)state;
    trace *t = tm_new();
    uint32_t p = tm_process(t, SINK_PROCESS_HOST, "host", 0);
    seed = 10;
    put_random(t, tm_track(t, p, "thread", SINK_ROLE_PLAIN), 300000, 0, INT64_C(1) << 40, false);
    put_random(t, tm_track(t, p, "short", SINK_ROLE_PLAIN), 70000, 0, 100, false);
    uint32_t same = tm_track(t, p, "same order", SINK_ROLE_OPS),
             other = tm_track(t, p, "another order", SINK_ROLE_OPS);
    for (int i = 0; i < 70000; i++) {
        int64_t at = 1000 * (i % 2 ? i - 1 : i + 1);
        tm_aligned(t, same, "a", i * 1000 + 5, i * 1000 + 900, i * 1000 + 7, i * 1000 + 900);
        tm_aligned(t, other, "a", i * 1000 + 5, i * 1000 + 900, at + 7, at + 400);
    }
    tl_index *x = built(t), *last = NULL;
    assert_int_equal(tl_build_last(&last, t), 0);
    check_same(last, x);
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        check_forgotten(trace_host_times(k), k->count);
        if (i != other)
            check_forgotten(&k->own, k->count);
    }
    tl_free(last);
    tl_free(x);
    trace_free(t);
}

/* A track made by one thread and by two: 0, or what tl_track_make returned. */
static int make_track(tl_track *out, tl_row **rows, const trace *t, size_t pair_from)
{
    tl_maker m = {.pair_from = pair_from};
    m.kinds = vp_calloc((size_t)t->kind_count + 1, sizeof *m.kinds);
    assert_non_null(m.kinds);
    *out = (tl_track){.count = t->tracks[0].count, .start_ps = INT64_MAX, .end_ps = INT64_MIN};
    *rows = NULL;
    int rc = tl_track_make(out, rows, &m, &t->tracks[0], 0);
    tl_maker_free(&m);
    return rc;
}

static void check_same_track(const tl_track *a, const tl_track *b)
{
    assert_int_equal(a->row_count, b->row_count);
    assert_int_equal(a->lane_count, b->lane_count);
    assert_int_equal(a->dur_ps, b->dur_ps);
    assert_int_equal(a->overlaid, b->overlaid);
    assert_int_equal(a->byte_count, b->byte_count);
    assert_memory_equal(a->bytes, b->bytes, a->byte_count);
    assert_int_equal(a->block_count, b->block_count);
    for (size_t i = 0; i < a->block_count; i++) {
        assert_int_equal(a->blocks[i].base_ps, b->blocks[i].base_ps);
        assert_int_equal(a->blocks[i].at, b->blocks[i].at);
    }
    assert_int_equal(a->super_count, b->super_count);
    assert_memory_equal(a->supers, b->supers, a->super_count * sizeof *a->supers);
}

/* Of more events than two threads hand over at a time, and of as many as fit exactly. */
static void test_one_track_by_two_threads(void **state)
{
    (void)state;
    const unsigned counts[] = {1, 8191, 8192, 8193, 16 * 8192, 300001};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        trace *t = tm_new();
        uint32_t p = tm_process(t, SINK_PROCESS_HOST, "host", 0);
        tl_track one, two;
        tl_row *rows_one, *rows_two;
        seed = i;
        put_random(t, tm_track(t, p, "thread", SINK_ROLE_PLAIN), (int)counts[i], 0, 1000000, true);
        assert_int_equal(trace_seal(t), 0);
        assert_int_equal(make_track(&one, &rows_one, t, SIZE_MAX), 0);
        assert_int_equal(make_track(&two, &rows_two, t, 1), 0);
        check_same_track(&one, &two);
        for (uint32_t k = 0; k < one.row_count; k++)
            assert_int_equal(rows_one[k].count, rows_two[k].count);
        tl_track_free(&one);
        tl_track_free(&two);
        vp_free(rows_one);
        vp_free(rows_two);
        trace_free(t);
    }
}

/* Whichever of the two has no memory left, both end. */
static void test_two_threads_without_memory(void **state)
{
    (void)state;
    trace *t = tm_new();
    uint32_t p = tm_process(t, SINK_PROCESS_HOST, "host", 0);
    put_random(t, tm_track(t, p, "thread", SINK_ROLE_PLAIN), 200000, 0, 1000000, true);
    assert_int_equal(trace_seal(t), 0);
    bool failed = true;
    for (uint64_t k = 2; failed; k++) { /* the first is the test's own */
        tl_track out;
        tl_row *rows;
        vp_mem_fail_at(k, true);
        int rc = make_track(&out, &rows, t, 1);
        failed = vp_mem_fail_at(0, false) >= k;
        assert_int_equal(rc, failed ? VP_ENOMEM : 0);
        tl_track_free(&out);
        vp_free(rows);
    }
    trace_free(t);
}

/* Records are as wide as their block's largest value: at each border of a width and of a unit. */
static void test_values_at_the_borders_of_widths(void **state)
{
    (void)state;
    static const int64_t units[] = {1, 1000, 1000000};
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        for (int bits = 0; bits < 61 && INT64_C(1) << bits < VP_TIME_MAX_PS / units[u] / 2;
             bits++) {
            trace *t = tm_new();
            uint32_t p = tm_process(t, SINK_PROCESS_HOST, "host", 0);
            uint32_t k = tm_track(t, p, "thread", SINK_ROLE_PLAIN);
            int64_t at = INT64_C(1) << bits;
            for (int64_t near = -1; near <= 1; near++) {
                tm_put(t, k, "late", -5 + (at + near) * units[u], -5 + (at + near) * units[u]);
                tm_linked(t, k, "long", -5, -5 + (at + near) * units[u], near);
            }
            tm_put(t, k, "backwards", 5, -VP_TIME_MAX_PS);
            tl_index *x = NULL;
            assert_int_equal(trace_seal(t), 0);
            assert_int_equal(tl_build(&x, t), 0);
            assert_int_equal(x->event_count, t->event_count);
            int64_t longest = 0;
            for (size_t i = 0; i < x->row_count; i++)
                for (uint64_t e = 0; e < x->rows[i].count; e++) {
                    int64_t ps = tl_dur(&x->rows[i], e);
                    longest = ps > longest ? ps : longest;
                    assert_true(ps >= 0);
                }
            assert_int_equal(longest, (at + 1) * units[u]);
            tl_free(x);
            trace_free(t);
        }
}

/* ---- Search --------------------------------------------------------------------------------- */

static void test_search_goes_through_all(void **state)
{
    (void)state;
    trace *t = tm_new();
    uint32_t p = tm_process(t, SINK_PROCESS_HOST, "host", 0);
    uint64_t want = 0, steps = 0;
    seed = 5;
    for (int k = 0; k < 3; k++)
        put_random(t, tm_track(t, p, "thread", SINK_ROLE_PLAIN), 300, 0, 100, true);
    tl_index *x = built(t);
    for (uint32_t i = 0; i < x->kind_count; i++)
        if (vp_str_find(tl_text(x, x->kinds[i].name), VP_STR("op.2")) <
            tl_text(x, x->kinds[i].name).n)
            want += x->kinds[i].calls;
    tl_found f;
    tl_event last = {0}, seen[1000];
    int64_t at = INT64_MIN;
    for (;; steps++) {
        tl_query q = {VP_STR("OP.2"), steps ? &last : NULL, x->start_ps, false};
        assert_int_equal(tl_find(&f, x, &q), 0);
        assert_int_equal(f.total, want);
        if (!f.any)
            break;
        const tl_row *r = tl_row_of(x, &f.event);
        assert_true(tl_start(r, f.event.index) >= at);
        at = tl_start(r, f.event.index);
        seen[steps] = last = f.event;
    }
    assert_int_equal(steps, want);
    for (uint64_t i = steps - 1; i > 0; i--) { /* and the same way back */
        tl_query q = {VP_STR("op.2"), &seen[i], 0, true};
        assert_int_equal(tl_find(&f, x, &q), 0);
        assert_true(f.any && f.event.track == seen[i - 1].track && f.event.row == seen[i - 1].row &&
                    f.event.index == seen[i - 1].index);
    }
    tl_query none = {VP_STR("no such"), NULL, 0, false};
    assert_int_equal(tl_find(&f, x, &none), 0);
    assert_false(f.any);
    tl_free(x);
    trace_free(t);
}

static void test_what_belongs_together(void **state)
{
    (void)state;
    trace *t = tm_new();
    uint32_t p = tm_process(t, SINK_PROCESS_HOST, "host", 0);
    uint32_t host = tm_track(t, p, "thread", SINK_ROLE_PLAIN);
    uint32_t gpu = tm_track(t, p, "stream", SINK_ROLE_OPS);
    tm_put(t, host, "call", 0, 100);
    tm_linked(t, host, "launch", 10, 20, 7);
    tm_linked(t, host, "launch", 30, 40, 8);
    tm_linked(t, gpu, "kernel", 50, 60, 7);
    tm_linked(t, gpu, "kernel", 60, 70, 8);
    tl_index *x = built(t);
    tl_event other[4];
    size_t n;
    tl_event launch = {host, 1, 1};
    assert_int_equal(tl_linked(other, 4, &n, x, &launch), 0);
    assert_int_equal(n, 1);
    assert_int_equal(other[0].track, gpu);
    assert_int_equal(tl_start(tl_row_of(x, &other[0]), other[0].index), 60);
    assert_null(tl_row_of(x, &(tl_event){9, 0, 0}));
    assert_null(tl_row_of(x, &(tl_event){0, 9, 0}));
    assert_null(tl_row_of(x, &(tl_event){0, 0, 1}));
    tl_free(x);
    trace_free(t);
}

/* An id that is used again leads from each kernel to the latest launch before it. */
static void test_reused_correlations(void **state)
{
    (void)state;
    trace *t = tm_new();
    uint32_t p = tm_process(t, SINK_PROCESS_HOST, "host", 0);
    uint32_t host = tm_track(t, p, "thread", SINK_ROLE_PLAIN);
    uint32_t gpu = tm_track(t, p, "stream", SINK_ROLE_OPS);
    tm_linked(t, host, "launch", 10, 20, 7);
    tm_linked(t, host, "launch", 100, 110, 7);
    tm_linked(t, gpu, "first", 50, 60, 7);
    tm_linked(t, gpu, "second", 150, 160, 7);
    tm_linked(t, gpu, "third", 170, 180, 7);
    tl_index *x = built(t);
    static const struct {
        uint32_t of; /* order among the events of the track */
        bool is_launch;
        int64_t linked[2];
        size_t n;
    } cases[] = {{0, true, {50}, 1},
                 {1, true, {150, 170}, 2},
                 {0, false, {10}, 1},
                 {1, false, {100, 170}, 2},
                 {2, false, {100, 150}, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tl_event of = {cases[i].is_launch ? host : gpu, 0, cases[i].of}, other[4];
        size_t n;
        assert_int_equal(tl_linked(other, 4, &n, x, &of), 0);
        assert_int_equal(n, cases[i].n);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(tl_start(tl_row_of(x, &other[k]), other[k].index), cases[i].linked[k]);
        assert_int_equal(tl_linked(other, 1, &n, x, &of), 0);
        assert_int_equal(n, 1);
    }
    tl_free(x);
    trace_free(t);
}

/* ---- Ranges --------------------------------------------------------------------------------- */

static void test_range_sums(void **state)
{
    (void)state;
    trace *t = tm_new();
    uint32_t p = tm_process(t, SINK_PROCESS_HOST, "host", 0);
    uint32_t k = tm_track(t, p, "thread", SINK_ROLE_PLAIN);
    tm_put(t, k, "outer", 0, 100);
    tm_put(t, k, "inner", 10, 40);
    tm_put(t, k, "inner", 50, 60);
    tm_put(t, k, "leaf", 52, 58);
    tm_put(t, k, "later", 200, 300);
    tl_index *x = built(t);
    tl_range s;
    uint32_t all = 0;
    assert_int_equal(tl_range_of(&s, x, &all, 1, 20, 210), 0);
    assert_int_equal(s.events, 5);
    assert_int_equal(s.busy_ps, 90);
    assert_int_equal(s.count, 4);
    int64_t self = 0;
    for (size_t i = 0; i < s.count; i++)
        self += s.kinds[i].self_ps;
    assert_int_equal(self, s.busy_ps); /* every moment belongs to one event */
    assert_string_equal(tl_text(x, x->kinds[s.kinds[0].kind].name).p, "outer");
    assert_int_equal(s.kinds[0].total_ps, 80);
    assert_int_equal(s.kinds[0].self_ps, 50);
    tl_range_free(&s);
    tl_free(x);
    trace_free(t);
}

/* ---- Real traces ---------------------------------------------------------------------------- */

static trace *read_real(const char *path)
{
    char full[4096];
    trace *t = tm_new();
    rd_options ro = {0};
    rd_source *in;
    int fd = open(traces_path(full, sizeof full, path), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(rd_source_fd(&in, fd), 0);
    assert_int_equal(xs_read(&t->sink, in, &ro), 0);
    rd_source_close(in);
    return t;
}

static void test_real_trace(void **state)
{
    (void)state;
    trace *t = read_real(V2_TPU);
    tl_index *x = built(t);
    seed = 1;
    check_index(x, t);
    check_windows(x);
    assert_true(tl_bytes(x) <= 50 * x->event_count);
    tl_free(x);
    trace_free(t);
}

/* ---- The tracks of an analysis -------------------------------------------------------------- */

static void put_derived(derived *d, const char *name, int64_t start, int64_t end)
{
    derived_slice s = {.start_ps = start, .end_ps = end, .number = {start, DERIVED_UNKNOWN}};
    assert_int_equal(derived_name(d, &s.name, vp_str_of(name)), 0);
    assert_int_equal(derived_add(d, &s, NULL), 0);
}

/* A device whose clock is 1,000 ps behind. */
static derived *made_tracks(void)
{
    derived *d = NULL;
    assert_int_equal(derived_new(&d), 0);
    assert_int_equal(derived_add_group(d, VP_STR("gpu")), 0);
    d->groups[0].own_clock = true;
    d->groups[0].shift_ps = 1000;
    assert_int_equal(derived_add_track(d, DERIVED_PARTS, VP_STR_NONE), 0);
    for (int i = 0; i < DERIVED_PART_COUNT; i++)
        put_derived(d, derived_part_words[i], 10 * i, 10 * i + 10);
    assert_int_equal(derived_end_track(d), 0);
    assert_int_equal(derived_add_track(d, DERIVED_SCOPES, VP_STR_NONE), 0);
    put_derived(d, "outer", 0, 40);
    put_derived(d, "inner", 0, 20);
    put_derived(d, "inner", 20, 40);
    assert_int_equal(derived_end_track(d), 0);
    return d;
}

/* The event shows the slice of its group's clock, moved to the host's. slices: those that d's notes
 * are of. */
static void check_derived(const tl_index *x, const derived *d, const derived_slice *slices,
                          const tl_event *e)
{
    const tl_row *r = tl_row_of(x, e);
    const derived_track *k = &d->tracks[e->track];
    const derived_note *n = tl_derived_note(x, d, e);
    const derived_slice *s = &slices[n - d->notes];
    const tl_kind *kind = &x->kinds[tl_kind_of(r, e->index)];
    assert_true(s >= slices + k->first && s < slices + k->first + k->count);
    assert_memory_equal(n->number, s->number, sizeof n->number);
    assert_memory_equal(n->text, s->text, sizeof n->text);
    assert_int_equal(tl_start(r, e->index), s->start_ps + 1000);
    assert_int_equal(tl_end(r, e->index), s->end_ps + 1000);
    assert_int_equal(r->depth, s->depth);
    assert_true(vp_str_eq(tl_text(x, kind->name), derived_text(d, s->name)));
    if (k->kind == DERIVED_PARTS) {
        assert_true(kind->hue < DERIVED_PART_COUNT);
        assert_string_equal(derived_part_words[kind->hue], tl_text(x, kind->category).p);
    }
}

static void test_tracks_of_an_analysis(void **state)
{
    (void)state;
    trace *t = tm_new();
    uint32_t gpu = tm_process(t, SINK_PROCESS_GPU, "gpu", 0);
    tm_put(t, tm_track(t, gpu, "stream", SINK_ROLE_OPS), "k", 0, 40);
    tl_index *file = built(t), *x = NULL;
    derived *d = made_tracks();
    assert_int_equal(tl_build_derived(&x, d, file), 0);
    assert_int_equal(x->first_track, 1);
    assert_int_equal(x->first_kind, file->kind_count);
    assert_int_equal(x->event_count, 7);
    derived_slice slices[7];
    uint64_t before = derived_bytes(d);
    memcpy(slices, d->slices, sizeof slices);
    derived_keep_notes(d);
    assert_true(derived_bytes(d) < before);
    assert_true(vp_str_eq(tl_text(x, x->groups[0].name), VP_STR("gpu (analysis, device clock)")));
    for (uint32_t k = 0; k < x->track_count; k++)
        for (uint32_t r = 0; r < x->tracks[k].row_count; r++)
            for (uint64_t i = 0; i < x->rows[x->tracks[k].first_row + r].count; i++)
                check_derived(x, d, slices, &(tl_event){k, r, i});
    tl_free(x);
    tl_free(file);
    derived_free(d);
    trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_traces),
        cmocka_unit_test(test_equal_starts_and_no_length),
        cmocka_unit_test(test_crossing_goes_to_another_lane),
        cmocka_unit_test(test_more_at_once_than_lanes),
        cmocka_unit_test(test_overlaps_that_began_long_before),
        cmocka_unit_test(test_deeper_than_a_lane),
        cmocka_unit_test(test_two_clocks),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_ends_of_time),
        cmocka_unit_test(test_the_same_from_any_thread),
        cmocka_unit_test(test_the_last_who_reads_them_forgets_events),
        cmocka_unit_test(test_one_track_by_two_threads),
        cmocka_unit_test(test_two_threads_without_memory),
        cmocka_unit_test(test_values_at_the_borders_of_widths),
        cmocka_unit_test(test_search_goes_through_all),
        cmocka_unit_test(test_what_belongs_together),
        cmocka_unit_test(test_reused_correlations),
        cmocka_unit_test(test_range_sums),
        cmocka_unit_test(test_real_trace),
        cmocka_unit_test(test_tracks_of_an_analysis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
