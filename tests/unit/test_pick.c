/* Picking the longest: exactly as many as asked for, none shorter than one that is left out, of
 * equal ones the first; and without a limit all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/base/limits.h"
#include "trace/export/shared/pick.h"

enum { SLICES = 2000 };

static void count_all(ex_pick *p, const int64_t *length, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(ex_pick_count(p, length[i]), 0);
    ex_pick_decide(p, 0);
}

static void the_longest_are_taken(void **state)
{
    static int64_t length[SLICES];
    (void)state;
    srand(3);
    for (int round = 0; round < 300; round++) {
        ex_pick p = {.most = 1 + (uint64_t)rand() % SLICES};
        uint64_t taken = 0;
        int64_t shortest = INT64_MAX, longest_left = -1, last_equal = -1;
        for (int i = 0; i < SLICES; i++) {
            length[i] = rand() >> rand() % 31;
            length[i] *= round % 3 ? 1 : INT64_C(1) << 31;
            length[i] = round % 5 ? length[i] : length[i] % 7;
        }
        count_all(&p, length, SLICES);
        for (int i = 0; i < SLICES; i++) {
            bool takes = ex_pick_takes(&p, 5, 5 + length[i]);
            taken += takes;
            if (takes && length[i] < shortest)
                shortest = length[i];
            if (!takes && length[i] > longest_left)
                longest_left = length[i];
            if (!takes && length[i] == p.least_ns)
                last_equal = i;
            assert_false(takes && length[i] == p.least_ns && last_equal >= 0);
        }
        assert_int_equal(taken, p.most);
        assert_int_equal(taken + p.left_out, SLICES);
        assert_true(longest_left <= shortest);
    }
}

static void numbers_decide_what_comes_in_another_order(void **state)
{
    const int64_t length[] = {7, 7, 9, 7, 7, 3};
    ex_pick p = {.most = 3};
    (void)state;
    count_all(&p, length, 6);
    assert_true(p.cut);
    assert_int_equal(p.least_ns, 7);
    assert_int_equal(p.spare, 2);
    p.last = 1;
    for (uint64_t i = 6; i-- > 0;)
        assert_int_equal(ex_pick_takes_number(&p, 0, length[i], i), i <= 2);
    assert_int_equal(p.left_out, 3);
}

static void more_lengths_than_are_kept(void **state)
{
    ex_pick p = {.most = UINT64_MAX};
    uint64_t taken = 0;
    (void)state;
    for (int64_t i = 0; i < 2 * (int64_t)VP_PICK_LENGTHS_MAX; i++)
        assert_int_equal(ex_pick_count(&p, i), 0);
    assert_true(p.length_cap <= VP_PICK_LENGTHS_MAX);
    ex_pick_decide(&p, 0);
    for (int64_t i = 0; i < 2 * (int64_t)VP_PICK_LENGTHS_MAX; i++)
        taken += ex_pick_takes(&p, 0, i);
    assert_int_equal(taken, VP_PICK_LENGTHS_MAX / 2);
    assert_int_equal(p.least_ns, 2 * (int64_t)VP_PICK_LENGTHS_MAX - VP_PICK_LENGTHS_MAX / 2);
}

static void ends_of_the_scale(void **state)
{
    static const int64_t lengths[] = {0, 1, 15, 16, 17, 31, 32, INT64_MAX - 5, INT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const int64_t twice[] = {lengths[i], lengths[i]};
        ex_pick p = {.most = 1}, equal = {.most = 1}, all = {.most = 2};
        count_all(&p, twice, 1);
        assert_true(ex_pick_takes(&p, 0, lengths[i]));
        count_all(&equal, twice, 2);
        assert_true(ex_pick_takes(&equal, 0, lengths[i]));
        assert_false(ex_pick_takes(&equal, 0, lengths[i]));
        count_all(&all, twice, 2);
        assert_false(all.cut);
    }
    ex_pick none = {.most = 3};
    ex_pick_decide(&none, 0);
    assert_true(ex_pick_takes(&none, 0, 0));
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
        cmocka_unit_test(numbers_decide_what_comes_in_another_order),
        cmocka_unit_test(more_lengths_than_are_kept),
        cmocka_unit_test(ends_of_the_scale),
        cmocka_unit_test(a_window_is_half_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
