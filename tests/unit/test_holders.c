/* trace/analyze/memory: who held the peak, by hand; leaks by steps; curves of any length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/analyze/memory/curve.h"
#include "trace/analyze/memory/holders.h"
#include "trace/analyze/memory/rows.h"
#include "trace/base/mem.h"

/* Holder 1 has 10, 2 comes with 5: the peak. Then 1 goes, 3 comes with 4: what 1 and 2 had at the
 * peak stands, and 3 had nothing. */
static void the_peak_is_that_of_its_moment(void **state)
{
    mem_holders h = {0};
    (void)state;
    assert_int_equal(mem_holders_take(&h, 100, 10, 1, 0), 0);
    mem_holders_at_peak(&h);
    assert_int_equal(mem_holders_take(&h, 200, 5, 2, 1), 0);
    mem_holders_at_peak(&h);
    assert_int_equal(mem_holders_give(&h, 100)->bytes, 10);
    assert_int_equal(mem_holders_take(&h, 100, 4, 3, 2), 0);
    assert_null(mem_holders_give(&h, 300));
    mem_holders_end(&h);
    assert_int_equal(h.v[1].peak_bytes, 10);
    assert_int_equal(h.v[1].bytes, 0);
    assert_int_equal(h.v[2].peak_bytes, 5);
    assert_int_equal(h.v[2].peak_count, 1);
    assert_int_equal(h.v[3].peak_bytes, 0);
    assert_int_equal(h.v[3].bytes, 4);
    mem_holders_free(&h);
}

static void an_address_is_held_once(void **state)
{
    mem_holders h = {0};
    (void)state;
    assert_int_equal(mem_holders_take(&h, 7, 10, 0, 0), 0);
    assert_int_equal(mem_holders_take(&h, 7, 30, 1, 1), 0);
    assert_int_equal(h.v[0].bytes, 0);
    assert_int_equal(h.v[1].bytes, 30);
    assert_int_equal(mem_holders_find(&h, 7)->holder, 1);
    assert_non_null(mem_holders_give(&h, 7));
    assert_null(mem_holders_give(&h, 7));
    mem_holders_free(&h);
}

/* Six steps of ten: holder 0 leaves 2 bytes in each, 1 once in the first, 2 only in the last two,
 * which may still be freed; 3 is outside any. */
static void leaks_are_what_two_steps_later_is_there(void **state)
{
    static const int64_t start[] = {0, 10, 20, 30, 40, 50}, end[] = {9, 20, 30, 40, 50, 60};
    const mem_steps steps = {start, end, 6};
    mem_holders h = {0};
    mem_leak *leaks;
    size_t n;
    int64_t judged;
    (void)state;
    for (int64_t i = 0; i < 6; i++)
        assert_int_equal(mem_holders_take(&h, (uint64_t)i, 2, 0, i * 10 + 3), 0);
    assert_int_equal(mem_holders_take(&h, 50, 9, 1, 4), 0);
    assert_int_equal(mem_holders_take(&h, 51, 9, 2, 44), 0);
    assert_int_equal(mem_holders_take(&h, 52, 9, 2, 54), 0);
    assert_int_equal(mem_holders_take(&h, 53, 9, 3, 9), 0);
    assert_int_equal(mem_step_of(&steps, 9), 6);
    assert_int_equal(mem_step_of(&steps, 19), 1);
    assert_int_equal(mem_step_of(&steps, -1), 6);
    assert_int_equal(mem_step_of(&steps, 60), 6);
    assert_int_equal(mem_holders_leaks(&leaks, &n, &judged, &h, &steps, NULL), 0);
    assert_int_equal(judged, 4);
    assert_int_equal(n, 2);
    assert_int_equal(leaks[0].holder, 1);
    assert_int_equal(leaks[0].steps, 1);
    assert_int_equal(leaks[1].holder, 0);
    assert_int_equal(leaks[1].bytes, 8);
    assert_int_equal(leaks[1].count, 4);
    assert_int_equal(leaks[1].steps, 4);
    vp_free(leaks);
    mem_holders_free(&h);
}

static void rows_sum_to_the_peak(void **state)
{
    vp_arena arena;
    vp_memory m = {.peak_bytes = 10000};
    mem_rows rows;
    int64_t sum = 0;
    (void)state;
    vp_arena_init(&arena);
    assert_int_equal(mem_rows_new(&rows, 60), 0);
    for (uint32_t i = 0; i < 60; i++)
        mem_rows_add(&rows, i, i, 1);
    mem_rows_choose(&rows);
    assert_int_equal(rows.v[0].who, 59);
    for (size_t i = 0; i < rows.n; i++)
        rows.v[i].item.name = "x";
    assert_int_equal(mem_rows_give(&m, &arena, &rows, "(before)"), 0);
    for (size_t i = 0; i < m.top_count; i++)
        sum += m.top[i].bytes;
    assert_int_equal(sum, 10000);
    assert_true(m.top_count <= MEM_ROWS_MAX);
    assert_string_equal(m.top[m.top_count - 2].name, "(others)");
    assert_string_equal(m.top[m.top_count - 1].name, "(before)");
    m = (vp_memory){.peak_bytes = 100}; /* less than is held: frees were not seen */
    assert_int_equal(mem_rows_give(&m, &arena, &rows, "(before)"), 0);
    assert_int_equal(m.top_count, 1);
    assert_string_equal(m.top[0].name, "(unknown)");
    assert_int_equal(m.top[0].bytes, 100);
    mem_rows_free(&rows);
    vp_arena_free(&arena);
}

static void curves_keep_their_highest_point(void **state)
{
    static const int64_t paces[] = {1, 7, 1000003, INT64_C(1) << 40};
    (void)state;
    for (size_t k = 0; k < sizeof paces / sizeof *paces; k++) {
        mem_curve c = {0};
        bool found = false;
        for (int64_t i = 0; i < 100000; i++)
            mem_curve_add(&c, i * paces[k], i == 71717 ? 9 : i % 5, i);
        mem_curve_add(&c, -5, 3, 7); /* goes back */
        mem_curve_end(&c);
        assert_true(c.n <= MEM_CURVE_MAX && c.n >= MEM_CURVE_MAX / 4);
        for (size_t i = 0; i < c.n; i++) {
            found = found || (c.v[i].level == 9 && c.v[i].at == 71717 * paces[k]);
            assert_true(!i || c.v[i].at > c.v[i - 1].at);
        }
        assert_true(found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peak_is_that_of_its_moment),
        cmocka_unit_test(an_address_is_held_once),
        cmocka_unit_test(leaks_are_what_two_steps_later_is_there),
        cmocka_unit_test(rows_sum_to_the_peak),
        cmocka_unit_test(curves_keep_their_highest_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
