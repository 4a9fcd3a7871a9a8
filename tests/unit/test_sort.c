/* The order of a sealed track against a sort that is too simple to be wrong, and columns of
 * attributes against a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/base/mem.h"
#include "trace/model/trace.h"

#define EVENTS 3000

typedef struct event {
    int64_t start, dur, step;
    uint32_t number;
} event;

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *state >> 20;
}

static int by_start(const void *a, const void *b)
{
    const event *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->dur != y->dur)
        return x->dur > y->dur ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* Seals a track of these events, each its own kind number modulo 7, and compares. */
static void check(const event *in, size_t n, bool own_clock)
{
    trace *t;
    uint32_t process, track, kinds[7];
    event *want = vp_realloc_array(NULL, n, sizeof *want);
    memcpy(want, in, n * sizeof *want);
    qsort(want, n, sizeof *want, by_start);
    assert_int_equal(trace_new(&t), 0);
    t->sink.process(&t->sink, &(sink_process){.name = VP_STR("p")}, &process);
    t->sink.track(&t->sink, &(sink_track){.process = process, .name = VP_STR("t")}, &track);
    for (int i = 0; i < 7; i++)
        t->sink.kind(&t->sink, &(sink_kind){.name = VP_STR("k")}, &kinds[i]);
    for (size_t i = 0; i < n; i++) {
        sink_extra x = {.has = 0};
        sink_event e = {in[i].start, in[i].dur, SINK_NO_TIME, 0, track, kinds[i % 7], NULL};
        if (own_clock) {
            e.aligned_start_ps = in[i].start + 5;
            e.aligned_dur_ps = in[i].dur + 1;
        }
        if (in[i].step != SINK_NO_VALUE) {
            sink_extra_set(&x, SINK_STEP, in[i].step);
            e.extra = &x;
        }
        assert_int_equal(t->sink.events(&t->sink, &e, 1), 0);
    }
    assert_int_equal(trace_seal(t), 0);
    const trace_track *k = &t->tracks[track];
    assert_int_equal(k->count, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(trace_start(k, i), want[i].start);
        assert_int_equal(trace_dur(k, i), want[i].dur);
        assert_int_equal(trace_kind_of(k, i), kinds[want[i].number % 7]);
        assert_int_equal(trace_attr(k, SINK_STEP, i), want[i].step);
        assert_int_equal(trace_aligned_start(k, i), want[i].start + (own_clock ? 5 : 0));
    }
    trace_free(t);
    vp_free(want);
}

/* Starts spread over `range` ps: from a nanosecond, where all keys are equal, to the limits of
 * time. One in `rare` has an attribute. */
static void every_range_is_sorted(void **state)
{
    static const int64_t ranges[] = {
        1, 900, 1000000, INT64_C(1) << 40, INT64_C(1) << 53, INT64_C(1) << 62};
    event e[EVENTS];
    uint64_t seed = 1;
    (void)state;
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (uint32_t rare = 1; rare < 5000; rare = rare * 40 + 1) {
            for (uint32_t i = 0; i < EVENTS; i++)
                e[i] = (event){(int64_t)(next_random(&seed) * 65537 % (uint64_t)ranges[r]) -
                                   ranges[r] / 2,
                               (int64_t)(next_random(&seed) % 3),
                               next_random(&seed) % rare ? SINK_NO_VALUE : (int64_t)i, i};
            check(e, EVENTS, r % 2);
        }
}

/* One far outlier leaves all others in few keys; few strays are merged in. */
static void outliers_and_strays(void **state)
{
    event e[EVENTS];
    (void)state;
    for (uint32_t i = 0; i < EVENTS; i++)
        e[i] = (event){(int64_t)(i * 7919 % EVENTS), 1, i, i};
    e[5].start = -(INT64_C(1) << 61);
    check(e, EVENTS, false);
    for (uint32_t i = 0; i < EVENTS; i++)
        e[i] = (event){i % 50 == 49 ? i - 20 : i, 1, i % 3 ? SINK_NO_VALUE : (int64_t)i, i};
    check(e, EVENTS, true);
    check(e, 1, true);
}

/* Runs in order of time, one behind the other in the file, as a profiler writes them that lists
 * ops first and then functions: run r of `runs` starts at r * shift and holds every step-th ps, so
 * that neighbours overlap nearly all over, in part, or not at all. Equal events stay in the file's
 * order. What overlaps too much goes to the radix sort. */
static void runs_are_merged(void **state)
{
    static const uint32_t counts[] = {2, 3, 17, 128, 129, 1500};
    event e[EVENTS];
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int64_t shift = 0; shift < 200; shift = shift * 7 + 1) {
            uint32_t each = EVENTS / counts[c], n = each * counts[c];
            for (uint32_t i = 0; i < n; i++)
                e[i] =
                    (event){(int64_t)(i / each) * shift + (int64_t)(i % each) * 9 / 2 * 1000,
                            1000 - (int64_t)(i % each % 2), i % 5 ? SINK_NO_VALUE : (int64_t)i, i};
            check(e, n, shift % 2);
        }
}

/* Runs whose ends fall out of the range of the next: only a part of each may move. */
static void runs_overlap_in_part(void **state)
{
    event e[EVENTS];
    (void)state;
    for (uint32_t i = 0; i < EVENTS; i++) {
        int64_t run = i / 300, at = i % 300;
        e[i] = (event){run * 250000 + at * 1000 - (run == 5) * 900000, at % 7,
                       at % 3 ? SINK_NO_VALUE : at, i};
    }
    check(e, EVENTS, true);
}

/* Without attributes a few steps back, of few events, are mended in place, up to the one that is
 * too far or the first too many; equal events stay in the file's order. */
static void steps_back_are_mended(void **state)
{
    event e[EVENTS];
    (void)state;
    for (uint32_t back = 1; back < 70; back++)
        for (uint32_t every = 3; every < 400; every *= 5) {
            for (uint32_t i = 0; i < EVENTS; i++)
                e[i] = (event){i / 4 * 4, i / 2 % 2, SINK_NO_VALUE, i};
            for (uint32_t i = back; i < EVENTS; i += every)
                e[i].start -= back;
            check(e, EVENTS, back % 2);
            e[EVENTS - 1].start = -1;
            check(e, EVENTS, back % 2);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_range_is_sorted), cmocka_unit_test(outliers_and_strays),
        cmocka_unit_test(runs_are_merged), cmocka_unit_test(runs_overlap_in_part),
        cmocka_unit_test(steps_back_are_mended)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
