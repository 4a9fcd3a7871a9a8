/* trace/report/grid: names that differ in their middle stay apart when they are shortened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"
#include "trace/report/text/grid.h"

static const grid_column column[] = {{.left = true, .want = 8, .min = 8, .tell_apart = true}};

static void fill(grid *g, const char *const *names, size_t n)
{
    grid_init(g, column, 1);
    for (size_t i = 0; i < n; i++) {
        vp_buf_puts(&g->text, names[i]);
        grid_end(g, TBL_PLAIN);
    }
}

static void assert_shown(const char *const *names, size_t n, size_t width, const char *want)
{
    vp_buf b;
    grid g;
    vp_buf_init(&b, 1u << 16);
    fill(&g, names, n);
    assert_int_equal(grid_print(&b, &g, width, false), 0);
    assert_string_equal(vp_buf_cstr(&b), want);
    grid_free(&g);
    vp_buf_free(&b);
}

static void test_names_stay_apart(void **state)
{
    (void)state;
    static const char *const two[] = {
        "at::native::elementwise_kernel_manual_unroll<gpu_kernel_impl_nocast>",
        "at::native::elementwise_kernel<gpu_kernel_impl_nocast>", "short", "at::native::other_one"};
    /* The middle begins two columns before the first character that differs. */
    assert_shown(two, 4, 24,
                 "at::n…el_manual_un…cast>\n"
                 "at::n…el<gpu_kerne…cast>\n"
                 "short\n"
                 "at::native::other_one\n");
    /* Nothing reads like another: the middle goes, as everywhere. */
    assert_shown(two + 1, 3, 24, "at::native::…mpl_nocast>\nshort\nat::native::other_one\n");
    /* The difference is near the front, or near the end: one gap. */
    static const char *const front[] = {"kern128_of_it_all", "kern256_of_it_all"};
    assert_shown(front, 2, 8, "kern12…l\nkern25…l\n");
    static const char *const back[] = {"a_long_long_long_name_128_it_was",
                                       "a_long_long_long_name_256_it_was"};
    assert_shown(back, 2, 16, "a_l…e_128_it_was\na_l…e_256_it_was\n");
    /* The same name twice has nothing to show. */
    static const char *const same[] = {"a_long_long_long_name", "a_long_long_long_name"};
    assert_shown(same, 2, 11, "a_lon…_name\na_lon…_name\n");
}

static void test_no_line_is_wider(void **state)
{
    (void)state;
    static const char *const wide[] = {
        "日本語の名前です128日本語の名前です", "日本語の名前です256日本語の名前です",
        "日本語の名前ですé日本語の名前です", "日本語の名前ですè日本語の名前です"};
    for (size_t width = 8; width < 40; width++) {
        vp_buf b;
        grid g;
        vp_buf_init(&b, 1u << 16);
        fill(&g, wide, 4);
        assert_int_equal(grid_print(&b, &g, width, false), 0);
        vp_str all = vp_buf_view(&b), line;
        while (all.n && vp_take_until(&all, '\n', all.n, &line))
            assert_true(vp_display_width(line) <= width);
        grid_free(&g);
        vp_buf_free(&b);
    }
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const names[] = {"a_long_long_128_long_name", "a_long_long_256_long_name"};
    uint64_t used, k = 0;
    grid g;
    fill(&g, names, 2);
    do {
        vp_buf b;
        vp_buf_init(&b, 1u << 16);
        vp_mem_fail_at(++k, false);
        int rc = grid_print(&b, &g, 12, false);
        used = vp_mem_fail_at(0, false);
        assert_int_equal(rc, used >= k ? VP_ENOMEM : 0);
        vp_buf_free(&b);
    } while (used >= k);
    grid_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_stay_apart),
        cmocka_unit_test(test_no_line_is_wider),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
