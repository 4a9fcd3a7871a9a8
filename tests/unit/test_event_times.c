/* Packed events against plain arrays: every start, length and kind comes back as it was put, event
 * by event or as the columns of a line that are in the reader's buffer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/mem.h"
#include "trace/model/trace.h"

#define EVENTS 2000
#define SECOND INT64_C(1000000000000)

typedef struct plain {
    int64_t start, dur, aligned_start, aligned_dur;
    uint32_t kind;
    bool own_clock;
} plain;

static uint64_t seed;

static uint64_t random_below(uint64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (seed >> 20) % n;
}

/* How starts go on: by a microsecond, over more than 140 s at once, to and fro, or anywhere. */
typedef enum pace { CLOSE, SLOW, LEAPS, TO_AND_FRO, ANYWHERE, PACES } pace;

static int64_t next_start(int64_t last, pace p, size_t i)
{
    switch (p) {
    case CLOSE:
        return last + (int64_t)random_below(1000000);
    case SLOW:
        return last + (int64_t)random_below(5 * (uint64_t)SECOND);
    case LEAPS:
        return last + (random_below(100) ? 1000 : 500 * SECOND);
    case TO_AND_FRO:
        return i % 2 ? last + 150 * SECOND : last - 149 * SECOND;
    default:
        return (int64_t)random_below(UINT64_C(1) << 40) * (INT64_C(1) << 21) - (INT64_C(1) << 60);
    }
}

/* Lengths on either side of what fits, no length, and one that is negative, as exporters use. */
static int64_t random_length(void)
{
    static const int64_t lengths[] = {0,
                                      1,
                                      INT64_C(0x7fffffff),
                                      INT64_C(0x80000000),
                                      INT64_C(0x80000000) / 250 * 250 + 250,
                                      INT64_C(402653183) * 1000,
                                      (INT64_C(3) << 29) * 250 - 250,
                                      (INT64_C(3) << 29) * 250,
                                      5 * SECOND,
                                      -1,
                                      -250,
                                      INT64_MAX / 4};
    return random_below(3) ? (int64_t)random_below(1000)
                           : lengths[random_below(sizeof lengths / sizeof *lengths)];
}

static void fill(plain *v, size_t n, pace p, uint32_t kinds)
{
    int64_t last = -70 * SECOND;
    for (size_t i = 0; i < n; i++) {
        last = next_start(last, p, i);
        v[i] = (plain){.start = last,
                       .dur = random_length(),
                       .aligned_start = last + 3 * SECOND,
                       .aligned_dur = random_length(),
                       .kind = (uint32_t)random_below(kinds)};
    }
}

static void same(const trace_times *t, const plain *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(trace_times_start(t, i), v[i].start);
        assert_int_equal(trace_times_dur(t, i), v[i].dur);
        assert_int_equal(trace_times_kind(t, i), v[i].kind);
    }
}

static trace_times put_all(const plain *v, size_t n)
{
    trace_times t = {0};
    for (size_t i = 0; i < n; i++) {
        if (i == t.cap)
            assert_int_equal(trace_times_resize(&t, i, i ? i * 2 : 3), 0);
        assert_int_equal(trace_times_put(&t, i, v[i].start, v[i].dur, v[i].kind), 0);
    }
    return t;
}

static void what_is_put_comes_back(void **state)
{
    static plain v[EVENTS];
    (void)state;
    seed = 1;
    for (pace p = CLOSE; p < PACES; p++)
        for (uint32_t kinds = 3; kinds < 100000; kinds *= 30000) {
            fill(v, EVENTS, p, kinds);
            trace_times t = put_all(v, EVENTS), copy;
            same(&t, v, EVENTS);
            assert_int_equal(trace_times_copy_starts(&copy, &t, EVENTS - 7, EVENTS), 0);
            for (size_t i = 0; i < EVENTS - 7; i++) {
                assert_int_equal(trace_times_set_kind(&copy, i, v[i].kind), 0);
                v[i].dur = 0;
            }
            same(&copy, v, EVENTS - 7);
            trace_times_free(&copy);
            trace_times_free(&t);
        }
}

/* Lengths up to 402 ms that a clock of 1 ns or 1.25 ns can measure take no buffer in the
 * list.
 */
static void lengths_in_steps_are_in_no_list(void **state)
{
    static const struct {
        int64_t dur;
        bool listed;
    } cases[] = {{INT64_C(0x7fffffff), false},      {INT64_C(0x80000000), true},
                 {INT64_C(2147484000), false},      {INT64_C(65000001250), false},
                 {INT64_C(65000001251), true},      {INT64_C(402653183750), false},
                 {INT64_C(402653184000), true},     {-1, true},
                 {INT64_MIN / 4 / 250 * 250, true}, {0, false}};
    size_t listed = 0;
    trace_times t = {0};
    (void)state;
    assert_int_equal(trace_times_resize(&t, 0, 64), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        listed += cases[i].listed;
        assert_int_equal(trace_times_put(&t, i, 0, cases[i].dur, 0), 0);
        assert_int_equal(trace_times_dur(&t, i), cases[i].dur);
        assert_int_equal(t.long_n, listed);
    }
    trace_times_free(&t);
}

/* 12 bytes an event, where a capture is not longer than 140 s, and an eighth of a byte more where
 * no 64 events lie 281 s apart: no list has more than it needs. */
static void starts_take_no_more_than_they_need(void **state)
{
    static plain v[EVENTS];
    static const unsigned shift[] = {[CLOSE] = 63, [SLOW] = 6, [LEAPS] = 0, [TO_AND_FRO] = 6};
    (void)state;
    seed = 2;
    for (pace p = CLOSE; p <= TO_AND_FRO; p++) {
        fill(v, EVENTS, p, 2);
        trace_times t = put_all(v, EVENTS);
        assert_int_equal(t.shift, shift[p]);
        trace_times_free(&t);
    }
    for (size_t i = 0; i < EVENTS; i++)
        v[i] = (plain){.start = (int64_t)i * SECOND};
    trace_times t = put_all(v, EVENTS);
    assert_int_equal(t.shift, 6);
    same(&t, v, EVENTS);
    trace_times_free(&t);
}

/* A pause between copies of a profile that were laid one behind the other: 64 events with one of
 * them are told from the time in its middle, up to 2^48 ps. In that order, and in the opposite. */
static void blocks_reach_over_a_pause(void **state)
{
    static plain v[EVENTS], back[EVENTS];
    static uint32_t order[EVENTS];
    static const int64_t most = (INT64_C(1) << 48) - 1 - 63 * 1000;
    sort_buffer buffer = {0};
    (void)state;
    for (int64_t pause = most; pause <= most + 1; pause++) {
        for (size_t i = 0; i < EVENTS; i++) {
            order[i] = (uint32_t)(EVENTS - 1 - i);
            /* behind the 40th event of every other block */
            v[i] = (plain){.start = (int64_t)i * 1000 + (int64_t)((i + 88) / 128) * pause};
            back[EVENTS - 1 - i] = v[i];
        }
        trace_times t = put_all(v, EVENTS);
        assert_int_equal(t.shift, pause == most ? 6 : 0);
        same(&t, v, EVENTS);
        assert_int_equal(trace_times_permute(&t, order, EVENTS, &buffer), 0);
        same(&t, back, EVENTS);
        trace_times_free(&t);
    }
    vp_free(buffer.p);
}

static void another_order(void **state)
{
    static plain v[EVENTS], want[EVENTS];
    static uint32_t order[EVENTS];
    sort_buffer buffer = {0};
    (void)state;
    seed = 3;
    for (pace p = CLOSE; p < PACES; p++)
        for (uint64_t span = 2; span < 2 * EVENTS; span *= 30) {
            fill(v, EVENTS, p, 70000);
            trace_times t = put_all(v, EVENTS);
            for (uint32_t i = 0; i < EVENTS; i++)
                order[i] = i;
            for (size_t i = EVENTS - 1; i; i--) {
                size_t with = i - random_below(i < span ? i + 1 : span);
                uint32_t other = order[with];
                order[with] = order[i];
                order[i] = other;
            }
            for (size_t i = 0; i < EVENTS; i++)
                want[i] = v[order[i]];
            assert_int_equal(trace_times_permute(&t, order, EVENTS, &buffer), 0);
            same(&t, want, EVENTS);
            trace_times_free(&t);
        }
    vp_free(buffer.p);
}

static void single_events_move(void **state)
{
    static plain v[EVENTS];
    size_t moved = 0;
    (void)state;
    seed = 4;
    for (pace p = CLOSE; p < PACES; p++) {
        fill(v, EVENTS, p, 50);
        trace_times t = put_all(v, EVENTS);
        for (int n = 0; n < 3000; n++) {
            size_t from = 1 + random_below(EVENTS - 1), back = 1 + random_below(64);
            size_t to = back < from ? from - back : 0;
            if (!trace_times_move(&t, from, to))
                continue;
            plain x = v[from];
            memmove(v + to + 1, v + to, (from - to) * sizeof *v);
            v[to] = x;
            moved++;
        }
        same(&t, v, EVENTS);
        trace_times_free(&t);
    }
    assert_true(moved >= 3000);
}

/* ---- Columns -------------------------------------------------------------------------------- */

typedef struct lists {
    int64_t longs[EVENTS];
    sink_far far[EVENTS];
} lists;

/* Packs the events of a run as a reader does. */
static sink_times pack(sink_packed *to, lists *l, const plain *v, size_t n, bool aligned)
{
    sink_times s = {.v = to, .n = n, .longs = l->longs, .far = l->far};
    int64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        bool other = aligned && v[i].own_clock;
        int64_t start = other ? v[i].aligned_start : v[i].start;
        int64_t dur = v[i].dur;
        if (aligned)
            dur = sink_dur_beside(other ? v[i].aligned_dur : dur, dur);
        if (!i)
            s.first_ps = s.least_ps = s.most_ps = start;
        else if (!sink_is_near(start, last))
            l->far[s.far_n++] = (sink_far){i, start};
        s.least_ps = start < s.least_ps ? start : s.least_ps;
        s.most_ps = start > s.most_ps ? start : s.most_ps;
        last = start;
        uint32_t packed = sink_pack_dur(dur);
        if (packed == SINK_PACKED_LONG) {
            packed = SINK_PACKED_LONG + (uint32_t)s.long_n;
            l->longs[s.long_n++] = dur;
        }
        sink_pack(&to[i], start, packed, aligned ? 0 : v[i].kind % 8);
    }
    return s;
}

static void put_one(trace *t, uint32_t track, const plain *x)
{
    sink_event e = {.start_ps = x->start,
                    .dur_ps = x->dur,
                    .aligned_start_ps = x->own_clock ? x->aligned_start : SINK_NO_TIME,
                    .aligned_dur_ps = x->aligned_dur,
                    .track = track,
                    .kind = x->kind};
    assert_int_equal(t->sink.events(&t->sink, &e, 1), 0);
}

static void check_track(const trace_track *k, const plain *v, size_t n)
{
    assert_int_equal(k->count, n);
    for (size_t i = 0; i < n; i++) {
        int64_t start = v[i].own_clock ? v[i].aligned_start : v[i].start;
        int64_t dur = v[i].own_clock ? v[i].aligned_dur : v[i].dur;
        assert_int_equal(trace_start(k, i), v[i].start);
        assert_int_equal(trace_dur(k, i), v[i].dur);
        assert_int_equal(trace_kind_of(k, i), v[i].kind);
        assert_int_equal(trace_aligned_start(k, i), start);
        assert_int_equal(trace_aligned_end(k, i), start + dur);
    }
}

/* One line in runs: some shorter than was said, so that what is behind moves up; from some run on
 * with a clock of its own; and, now and then, an event that comes alone to the same track, before
 * which the track leaves the buffer. Settled at the end or, as when reading fails, before. */
static void put_line(trace *t, uint32_t track, const uint32_t *kinds, const plain *v, size_t n,
                     bool own_clock, bool alone)
{
    static lists own, other;
    sink_buffer buffer = {.cap = n + 100};
    buffer.own = vp_calloc(buffer.cap, sizeof *buffer.own);
    buffer.aligned = vp_calloc(buffer.cap, sizeof *buffer.aligned);
    size_t at = 0;
    for (size_t i = 0; i < n;) {
        size_t run = 1 + random_below(200);
        run = run < n - i ? run : n - i;
        if (alone && random_below(4) == 0) {
            put_one(t, track, &v[i++]);
            continue;
        }
        sink_columns c = {
            .track = track, .buffer = &buffer, .kinds = kinds, .first_dur_ps = v[i].dur};
        c.own = pack(buffer.own + at, &own, v + i, run, false);
        if (own_clock && v[i + run - 1].own_clock)
            c.aligned = pack(buffer.aligned + at, &other, v + i, run, true);
        assert_int_equal(t->sink.columns(&t->sink, &c), 0);
        i += run;
        at += run;
        at += at + 100 < n && random_below(3) == 0 ? random_below(100 - 99 * (at > i)) : 0;
        at = at > buffer.cap - (n - i) ? buffer.cap - (n - i) : at;
    }
    t->sink.settle(&t->sink, track, &buffer);
    vp_free(buffer.own);
    vp_free(buffer.aligned);
}

static void columns_come_back(void **state)
{
    static plain v[EVENTS];
    (void)state;
    seed = 5;
    for (int n = 0; n < 60; n++) {
        trace *t;
        uint32_t process, track, kinds[8];
        bool own_clock = n % 2, alone = n % 3 == 2;
        assert_int_equal(trace_new(&t), 0);
        t->sink.process(&t->sink, &(sink_process){.name = VP_STR("p")}, &process);
        t->sink.track(&t->sink, &(sink_track){.process = process, .name = VP_STR("t")}, &track);
        for (int i = 0; i < 8; i++)
            t->sink.kind(&t->sink, &(sink_kind){.name = VP_STR("k")}, &kinds[i]);
        fill(v, EVENTS, (pace)(n % PACES), 8);
        size_t from = random_below(EVENTS);
        for (size_t i = from; i < EVENTS && own_clock; i++)
            v[i].own_clock = true;
        /* A second line of the same track finds it filled. */
        size_t first = n % 5 ? EVENTS : random_below(EVENTS);
        put_line(t, track, kinds, v, first, own_clock, alone);
        if (first < EVENTS)
            put_line(t, track, kinds, v + first, EVENTS - first, own_clock, alone);
        check_track(&t->tracks[track], v, EVENTS);
        trace_free(t);
    }
}

static void values_widen(void **state)
{
    static int64_t want[EVENTS];
    static uint32_t order[EVENTS];
    (void)state;
    seed = 6;
    for (uint64_t range = 1000; range; range = range < UINT64_C(1) << 62 ? range << 20 : 0) {
        trace_column *c = NULL, *copy;
        for (size_t i = 0; i < EVENTS; i++) {
            want[i] = random_below(3) ? (int64_t)random_below(range) - (int64_t)(range / 2)
                                      : SINK_NO_VALUE;
            order[i] = (uint32_t)(EVENTS - 1 - i);
            if (want[i] != SINK_NO_VALUE)
                assert_int_equal(trace_column_put(&c, i, want[i]), 0);
        }
        assert_int_equal(c->v != NULL, range > UINT32_MAX);
        assert_int_equal(trace_column_copy(&copy, c, EVENTS / 2), 0);
        assert_int_equal(trace_column_permute(&c, order, EVENTS), 0);
        for (size_t i = 0; i < EVENTS; i++) {
            assert_int_equal(trace_column_get(c, i, SINK_NO_VALUE), want[order[i]]);
            assert_int_equal(trace_column_get(copy, i, SINK_NO_VALUE),
                             i < EVENTS / 2 ? want[i] : SINK_NO_VALUE);
        }
        trace_column_free(copy);
        trace_column_free(c);
    }
}

/* What allocators say: bytes in multiples of a power of two, over more than 2^32 of them. */
static void values_in_steps_stay_narrow(void **state)
{
    static int64_t want[EVENTS];
    static uint32_t order[EVENTS];
    (void)state;
    seed = 7;
    for (unsigned step = 0; step <= 12; step += 3) {
        trace_column *c = NULL, *copy;
        for (size_t i = 0; i < EVENTS; i++) {
            want[i] =
                (int64_t)(random_below(UINT64_C(1) << (35 - step)) << step) - (INT64_C(1) << 34);
            order[i] = (uint32_t)(EVENTS - 1 - i);
            assert_int_equal(trace_column_put(&c, i, want[i]), 0);
        }
        assert_int_equal(c->v != NULL, step < 3); /* 2^35 are 2^32 steps of 8 */
        assert_int_equal(trace_column_copy(&copy, c, EVENTS), 0);
        assert_int_equal(trace_column_permute(&c, order, EVENTS), 0);
        assert_int_equal(trace_column_put(&copy, EVENTS, 1), 0);
        assert_non_null(copy->v);
        for (size_t i = 0; i < EVENTS; i++) {
            assert_int_equal(trace_column_get(c, i, SINK_NO_VALUE), want[order[i]]);
            assert_int_equal(trace_column_get(copy, i, SINK_NO_VALUE), want[i]);
        }
        assert_int_equal(trace_column_get(copy, EVENTS, SINK_NO_VALUE), 1);
        trace_column_free(copy);
        trace_column_free(c);
    }
}

/* Each value asks for another base or other steps than those before, until that is given up. */
static void values_are_not_fitted_without_end(void **state)
{
    int64_t want[80];
    trace_column *c = NULL;
    (void)state;
    for (size_t i = 0; i < 80; i++) {
        want[i] = i < 40 ? (int64_t)((UINT64_C(1) << 62) - (UINT64_C(1) << (61 - i)))
                         : (int64_t)(UINT64_C(1) << (102 - i)) * (i % 2 ? 1 : -1);
        assert_int_equal(trace_column_put(&c, i, want[i]), 0);
        for (size_t k = 0; k <= i; k++)
            assert_int_equal(trace_column_get(c, k, SINK_NO_VALUE), want[k]);
    }
    assert_non_null(c->v);
    assert_true(c->refits > 0 && c->refits < 20);
    trace_column_free(c);
}

enum { MOVED = 1000 };

static void check_values(const trace_column *c, const int64_t *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(c ? trace_column_get(c, i, SINK_NO_VALUE) : SINK_NO_VALUE, want[i]);
}

/* One event of so many has a value. */
static trace_column *some_values(int64_t *want, uint64_t share, uint64_t range)
{
    trace_column *c = NULL;
    for (size_t i = 0; i < MOVED; i++) {
        bool has = i == MOVED / 2 || !random_below(share);
        want[i] = has ? (int64_t)random_below(range) : SINK_NO_VALUE;
        if (has)
            assert_int_equal(trace_column_put(&c, i, want[i]), 0);
    }
    return c;
}

static void move_some(trace_column *c, int64_t *want)
{
    for (unsigned k = 0; k < 5000; k++) {
        size_t from = 1 + (size_t)random_below(MOVED - 1);
        size_t to = from - 1 - (size_t)random_below(from < 64 ? from : 64);
        int64_t moved = want[from];
        trace_column_move(c, from, to);
        memmove(want + to + 1, want + to, (from - to) * sizeof *want);
        want[to] = moved;
        if (k % 16 == 0 || k > 4990)
            check_values(c, want, MOVED);
    }
}

/* Values go with their events, one at a time or all in another order, where all have one, some, or
 * hardly any. */
static void values_move(void **state)
{
    static int64_t want[MOVED], then[MOVED];
    static uint32_t order[MOVED];
    (void)state;
    seed = 7;
    for (unsigned round = 0; round < 24; round++) {
        uint64_t share = (uint64_t[]){1, 2, 30, 300}[round % 4];
        trace_column *c = some_values(want, share, round % 3 ? 1000 : UINT64_C(1) << 40);
        size_t values = c->n, kept = round % 2 ? MOVED : MOVED / 3;
        assert_int_equal(trace_column_cover(c, MOVED), 0);
        move_some(c, want);
        assert_int_equal(c->n, values);
        for (size_t i = 0; i < MOVED; i++) {
            order[i] = (uint32_t)(i * 7 % MOVED);
            then[i] = want[order[i]];
        }
        assert_int_equal(trace_column_permute(&c, order, kept), 0);
        check_values(c, then, kept);
        trace_column_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_comes_back),
        cmocka_unit_test(lengths_in_steps_are_in_no_list),
        cmocka_unit_test(starts_take_no_more_than_they_need),
        cmocka_unit_test(blocks_reach_over_a_pause),
        cmocka_unit_test(another_order),
        cmocka_unit_test(single_events_move),
        cmocka_unit_test(columns_come_back),
        cmocka_unit_test(values_widen),
        cmocka_unit_test(values_in_steps_stay_narrow),
        cmocka_unit_test(values_are_not_fitted_without_end),
        cmocka_unit_test(values_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
