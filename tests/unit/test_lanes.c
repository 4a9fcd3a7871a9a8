/* Lanes: on no track does a slice begin inside another and end behind it, none lies too deep,
 * every span has exactly one track, and what fits the thread's own track stays there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/base/mem.h"
#include "trace/export/shared/lanes.h"

typedef struct span {
    int64_t start, end;
    bool late;
} span;

enum { SPANS_MAX = 5000 };

/* The lane of each span. */
static uint32_t lanes_of(const span *s, uint32_t n, uint32_t *lane)
{
    ex_spans spans = {0};
    ex_moves moves = {0};
    uint32_t used = 0;
    for (uint32_t i = 0; i < n; i++) {
        int (*add)(ex_spans *, int64_t, int64_t, uint32_t) =
            s[i].late ? ex_spans_add_late : ex_spans_add;
        assert_int_equal(add(&spans, s[i].start, s[i].end, i), 0);
    }
    assert_int_equal(ex_spans_lanes(&spans, &moves, &used), 0);
    ex_moves_sort(&moves);
    for (uint32_t i = 0, at = 0; i < n; i++)
        lane[i] = at < moves.count && moves.list[at].id == i ? moves.list[at++].lane : 0;
    vp_free(moves.list);
    return used;
}

static bool cross(span a, span b)
{
    return (a.start < b.start && b.start < a.end && a.end < b.end) ||
           (b.start < a.start && a.start < b.end && b.end < a.end);
}

static void check_no_crossing(const span *s, uint32_t n, const uint32_t *lane)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            assert_false(lane[i] == lane[k] && lane[i] < EX_LANE_ASYNC && cross(s[i], s[k]));
}

static void what_nests_stays(void **state)
{
    const span s[] = {{0, 100, false}, {0, 50, false},    {50, 100, false}, {60, 60, false},
                      {60, 70, false}, {100, 100, false}, {100, 120, false}};
    uint32_t lane[7];
    (void)state;
    assert_int_equal(lanes_of(s, 7, lane), 1);
    for (int i = 0; i < 7; i++)
        assert_int_equal(lane[i], 0);
}

static void a_nanosecond_beyond_its_parent_moves(void **state)
{
    const span s[] = {{10, 21, false}, {0, 20, false}};
    uint32_t lane[2];
    (void)state;
    assert_int_equal(lanes_of(s, 2, lane), 2);
    assert_int_equal(lane[1], 0); /* it starts first, whatever the file's order */
    assert_int_equal(lane[0], 1);
}

/* A pair of begin and end is sorted behind complete events that start with it. */
static void a_pair_lies_below_what_starts_with_it(void **state)
{
    const span longer[] = {{0, 20, true}, {0, 10, false}},
               shorter[] = {{0, 10, true}, {0, 20, false}};
    uint32_t lane[2];
    (void)state;
    lanes_of(longer, 2, lane);
    assert_int_equal(lane[0], 1);
    assert_int_equal(lane[1], 0);
    assert_int_equal(lanes_of(shorter, 2, lane), 1);
    assert_int_equal(lane[0], 0);
}

static void random_spans_never_cross(void **state)
{
    static span s[400];
    static uint32_t lane[400];
    (void)state;
    srand(7);
    for (int round = 0; round < 200; round++) {
        uint32_t n = 1 + (uint32_t)rand() % 400;
        for (uint32_t i = 0; i < n; i++) {
            s[i].start = rand() % (round + 10);
            s[i].end = s[i].start + rand() % 40;
            s[i].late = rand() % 10 == 0 && s[i].end > s[i].start;
        }
        lanes_of(s, n, lane);
        check_no_crossing(s, n, lane);
    }
}

static void thousands_at_once_go_to_async(void **state)
{
    static span s[4000];
    static uint32_t lane[4000];
    uint32_t count[EX_LANES_MAX + 1] = {0};
    (void)state;
    for (int i = 0; i < 4000; i++)
        s[i] = (span){i, 10000 + i, false};
    assert_int_equal(lanes_of(s, 4000, lane), EX_LANES_MAX);
    for (int i = 0; i < 4000; i++)
        count[lane[i]]++;
    for (uint32_t i = 0; i < EX_LANES_MAX; i++)
        assert_int_equal(count[i], 1);
    assert_int_equal(count[EX_LANE_ASYNC], 4000 - EX_LANES_MAX);
}

static void the_deepest_go_to_the_next_track(void **state)
{
    static span s[SPANS_MAX];
    static uint32_t lane[SPANS_MAX];
    (void)state;
    for (int i = 0; i < 600; i++)
        s[i] = (span){i, 10000 - i, false};
    assert_int_equal(lanes_of(s, 600, lane), 2);
    for (uint32_t i = 0; i < 600; i++)
        assert_int_equal(lane[i], i < EX_LANE_DEPTH ? 0 : 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nests_stays),
        cmocka_unit_test(a_nanosecond_beyond_its_parent_moves),
        cmocka_unit_test(a_pair_lies_below_what_starts_with_it),
        cmocka_unit_test(random_spans_never_cross),
        cmocka_unit_test(thousands_at_once_go_to_async),
        cmocka_unit_test(the_deepest_go_to_the_next_track),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
