/* Tracks that an analysis adds: slices are put in order and nest, what crosses goes to a sibling,
 * and nothing is lost; what is exported of them keeps sums, and takes no number of the file's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/export/shared/added.h"
#include "trace/model/derived.h"

static derived *new_track(derived_kind kind)
{
    derived *d = NULL;
    assert_int_equal(derived_new(&d), 0);
    assert_int_equal(derived_add_group(d, VP_STR("gpu")), 0);
    assert_int_equal(derived_add_track(d, kind, VP_STR_NONE), 0);
    return d;
}

static void add(derived *d, int64_t start, int64_t end)
{
    derived_slice s = {.start_ps = start, .end_ps = end, .number = {-1, -1}};
    assert_int_equal(derived_add(d, &s, NULL), 0);
}

static void test_slices_nest(void **state)
{
    (void)state;
    derived *d = new_track(DERIVED_SCOPES);
    add(d, 20, 30);
    add(d, 0, 100);
    add(d, 0, 20);
    add(d, 20, 20);
    add(d, 0, 100);
    assert_int_equal(derived_end_track(d), 0);
    assert_int_equal(d->track_count, 1);
    static const int64_t want[][3] = {
        {0, 100, 0}, {0, 100, 1}, {0, 20, 2}, {20, 30, 2}, {20, 20, 3}};
    assert_int_equal(d->tracks[0].count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(d->slices[i].start_ps, want[i][0]);
        assert_int_equal(d->slices[i].end_ps, want[i][1]);
        assert_int_equal(d->slices[i].depth, want[i][2]);
    }
    derived_free(d);
}

static void test_what_crosses_goes_to_siblings(void **state)
{
    (void)state;
    derived *d = new_track(DERIVED_FINDINGS);
    for (int i = 0; i < 70; i++)
        add(d, i, 1000 + i); /* each crosses all others */
    assert_int_equal(derived_end_track(d), 0);
    assert_int_equal(d->track_count, 64);
    assert_int_equal(d->left_out, 6);
    assert_int_equal(d->slice_count, 64);
    assert_true(vp_str_eq(derived_text(d, d->tracks[0].name), VP_STR("Findings")));
    assert_true(vp_str_eq(derived_text(d, d->tracks[63].name), VP_STR("Findings (64)")));
    for (size_t i = 0; i < 64; i++) {
        assert_int_equal(d->tracks[i].first, i);
        assert_int_equal(d->tracks[i].count, 1);
        assert_int_equal(d->slices[i].start_ps, (int64_t)i);
    }
    derived_free(d);
}

static void test_an_empty_track_is_none(void **state)
{
    (void)state;
    derived *d = new_track(DERIVED_IDLE);
    assert_int_equal(derived_end_track(d), 0);
    assert_int_equal(d->track_count, 0);
    derived_free(d);
}

/* ---- What is exported of them ---- */

static int give(void *ctx, const derived **out)
{
    *out = ctx;
    return 0;
}

/* 1,000 pieces of 1.4 ns are 1.4 us, not 1 us. */
static void test_idle_time_keeps_its_sum(void **state)
{
    (void)state;
    derived *d = new_track(DERIVED_IDLE);
    for (int64_t i = 0; i < 1000; i++)
        add(d, 5000 * i + 300, 5000 * i + 1700);
    assert_int_equal(derived_end_track(d), 0);
    ex_added a = {.make = give, .ctx = d};
    ex_added_slice s;
    int64_t sum = 0, end = INT64_MIN;
    assert_int_equal(ex_added_begin(&a, &(ex_pick){0}, NULL, 0, 0), 1);
    while (ex_added_next(&a, &s)) {
        assert_true(s.start_ns >= end && s.end_ns >= s.start_ns);
        assert_true(s.start_ns * 1000 - s.from->start_ps <= 1000);
        end = s.end_ns;
        sum += s.end_ns - s.start_ns;
    }
    assert_int_equal(sum, 1400);
    ex_added_free(&a);
    derived_free(d);
}

static void test_numbers_of_the_file_are_not_taken(void **state)
{
    (void)state;
    derived *d = NULL;
    assert_int_equal(derived_new(&d), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(derived_add_group(d, VP_STR("gpu")), 0);
        assert_int_equal(derived_add_track(d, DERIVED_STEPS, VP_STR_NONE), 0);
        add(d, 0, 1);
        assert_int_equal(derived_end_track(d), 0);
    }
    ex_added a = {.make = give, .ctx = d};
    static const uint32_t pids[] = {UINT32_MAX, 4, 2, 1, 1, 0};
    assert_int_equal(ex_added_begin(&a, &(ex_pick){0}, pids, 6, 0), 1);
    static const uint32_t want[] = {3, 5, 6, 7};
    for (int i = 0; i < 4; i++)
        assert_int_equal(a.group_pid[i], want[i]);
    ex_added_free(&a);
    derived_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slices_nest),
        cmocka_unit_test(test_what_crosses_goes_to_siblings),
        cmocka_unit_test(test_an_empty_track_is_none),
        cmocka_unit_test(test_idle_time_keeps_its_sum),
        cmocka_unit_test(test_numbers_of_the_file_are_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
