/* Figures as people read them: binary sizes, shares with two decimals, two significant digits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "trace/base/human.h"

static void assert_bytes(int64_t bytes, const char *want)
{
    char text[VP_HUMAN_BYTES];
    assert_string_equal(vp_bytes_text(text, bytes), want);
}

static void test_sizes_are_binary(void **state)
{
    (void)state;
    assert_bytes(-1, "-");
    assert_bytes(0, "0 B");
    assert_bytes(1023, "1023 B");
    assert_bytes(1024, "1.0 KiB");
    assert_bytes(1048524, "1023.9 KiB");
    assert_bytes(1048525, "1.0 MiB"); /* never 1024.0 KiB */
    assert_bytes(37000000, "35.3 MiB");
    assert_bytes(INT64_MAX, "8.0 EiB");
}

/* The digits of printf, ties to the even one, for sizes around every power of two and between. */
static void test_sizes_are_rounded_as_printf_rounds(void **state)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    uint64_t mixed = 1;
    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        mixed = mixed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint64_t spread = mixed >> (1 + mixed % 53); /* 1024 at least, mostly */
        uint64_t tie = (UINT64_C(512) + i % 1024 * 1024) << i % 40;
        const uint64_t sizes[] = {spread, spread & ~UINT64_C(63), tie};
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            char want[VP_HUMAN_BYTES];
            size_t unit = 0;
            double v = (double)(int64_t)sizes[k] / 1024;
            if (sizes[k] < 1024)
                continue;
            for (; v >= 1023.95 && unit < 5; unit++)
                v /= 1024;
            snprintf(want, sizeof want, "%.1f %s", v, units[unit]);
            assert_bytes((int64_t)sizes[k], want);
        }
    }
}

static void assert_percent(int64_t part, int64_t whole, const char *want)
{
    char text[VP_HUMAN_BYTES];
    assert_string_equal(vp_percent_text(text, part, whole), want);
}

static void test_shares_have_two_decimals(void **state)
{
    (void)state;
    assert_percent(1, 3, "33.33%");
    assert_percent(2, 3, "66.67%");
    assert_percent(3, 3, "100.00%");
    assert_percent(15, 10, "150.00%");
    assert_percent(0, 3, "0.00%");
    assert_percent(-1, 3, "-");
    assert_percent(1, 0, "-");
    assert_percent(INT64_MAX, INT64_MAX, "100.00%");
    assert_percent(INT64_MAX, 1, "9223372036854775807.00%"); /* and never a wrapped one */
}

/* What is not all never looks like it, nor what is not nothing like nothing. */
static void test_shares_near_the_ends(void **state)
{
    (void)state;
    assert_percent(999999, 1000000, "99.99%");
    assert_percent(INT64_MAX - 1, INT64_MAX, "99.99%");
    assert_percent(1000001, 1000000, "100.00%");
    assert_percent(1, 1000, "0.10%");
    assert_percent(949, 1000000, "0.095%");
    assert_percent(31, 1000000, "0.0031%");
    assert_percent(1, INT64_MAX, "0.0001%");
}

static void test_numbers_have_two_digits(void **state)
{
    (void)state;
    assert_int_equal(vp_decimals_for(12.3, 0), 0);
    assert_int_equal(vp_decimals_for(5.3, 0), 1);
    assert_int_equal(vp_decimals_for(-5.3, 0), 1);
    assert_int_equal(vp_decimals_for(0.5, 2), 2);
    assert_int_equal(vp_decimals_for(0.05, 2), 3);
    assert_int_equal(vp_decimals_for(0, 2), 2);
    assert_int_equal(vp_decimals_for((double)NAN, 2), 2);
    assert_int_equal(vp_decimals_for((double)INFINITY, 2), 2);
    assert_int_equal(vp_decimals_for(1e-30, 2), 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_binary),
        cmocka_unit_test(test_sizes_are_rounded_as_printf_rounds),
        cmocka_unit_test(test_shares_have_two_decimals),
        cmocka_unit_test(test_shares_near_the_ends),
        cmocka_unit_test(test_numbers_have_two_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
