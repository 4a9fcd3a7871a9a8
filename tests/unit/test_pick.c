/* Picking the longest: at most as many as asked for, none longer than one that is left out by more
 * than a sixteenth, and without a limit all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/export/pick.h"

enum { SLICES = 2000 };

static void the_longest_are_taken(void **state)
{
    static int64_t length[SLICES];
    (void)state;
    srand(3);
    for (int round = 0; round < 300; round++) {
        ex_pick p = {.most = 1 + (uint64_t)rand() % SLICES};
        uint64_t taken = 0;
        int64_t shortest = INT64_MAX, longest_left = -1;
        for (int i = 0; i < SLICES; i++) {
            length[i] = rand() >> rand() % 31;
            length[i] *= round % 3 ? 1 : INT64_C(1) << 31;
            ex_pick_count(&p, length[i]);
        }
        ex_pick_decide(&p, 0);
        for (int i = 0; i < SLICES; i++) {
            bool takes = ex_pick_takes(&p, 5, 5 + length[i]);
            taken += takes;
            if (takes && length[i] < shortest)
                shortest = length[i];
            if (!takes && length[i] > longest_left)
                longest_left = length[i];
        }
        assert_true(taken <= p.most);
        assert_int_equal(taken + p.left_out, SLICES);
        assert_true(longest_left < shortest);
        assert_int_equal(p.most == SLICES, taken == SLICES);
    }
}

static void ends_of_the_scale(void **state)
{
    static const int64_t lengths[] = {0, 1, 15, 16, 17, 31, 32, INT64_MAX - 5, INT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        ex_pick p = {.most = 1};
        ex_pick_count(&p, lengths[i]);
        ex_pick_decide(&p, 0);
        assert_true(ex_pick_takes(&p, 0, lengths[i]));
        ex_pick none = {.most = 1};
        ex_pick_count(&none, lengths[i]);
        ex_pick_count(&none, lengths[i]);
        ex_pick_decide(&none, 0);
        assert_false(ex_pick_takes(&none, 0, lengths[i]) && lengths[i] < INT64_MAX);
    }
}

static void a_window_is_half_open(void **state)
{
    ex_pick p = {.window = true, .from_ns = 10, .until_ns = 20};
    (void)state;
    ex_pick_decide(&p, 100);
    assert_false(ex_pick_takes(&p, 100, 110));
    assert_true(ex_pick_takes(&p, 100, 111));
    assert_true(ex_pick_takes(&p, 110, 110));
    assert_true(ex_pick_takes(&p, 119, 300));
    assert_false(ex_pick_takes(&p, 120, 300));
    assert_false(ex_pick_shows(&p, 109));
    assert_true(ex_pick_shows(&p, 110));
    assert_false(ex_pick_shows(&p, 120));
    assert_int_equal(p.left_out, 4);
    assert_true(ex_pick_takes(NULL, 0, 0) && ex_pick_shows(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_are_taken),
        cmocka_unit_test(ends_of_the_scale),
        cmocka_unit_test(a_window_is_half_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
