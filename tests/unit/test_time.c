/* Run names and epoch digits as times. The expected numbers are `date -u -d ... +%s`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "trace/base/time.h"

#define S INT64_C(1000000000)

static void zone(const char *tz)
{
    setenv("TZ", tz, 1);
    tzset();
}

static int64_t of_run(const char *name)
{
    int64_t ns;
    return vp_time_from_run_name(vp_str_of(name), &ns) ? ns : -1;
}

static int64_t of_digits(const char *digits)
{
    int64_t ns;
    return vp_time_from_epoch_digits(vp_str_of(digits), &ns) ? ns : -1;
}

static void run_names_of_every_writer(void **state)
{
    (void)state;
    zone("UTC");
    assert_int_equal(of_run("2026_01_11_21_26_41"), 1768166801 * S);
    assert_int_equal(of_run("2020-03-26_22-11-29"), 1585260689 * S);
    assert_int_equal(of_run("2020-06-11_23:50:01"), 1591919401 * S);
    assert_int_equal(of_run("2020-06-11_23:50:01.retry"), 1591919401 * S);
}

static void run_names_are_local_time(void **state)
{
    (void)state;
    zone("EST5"); /* UTC-5 without daylight saving */
    assert_int_equal(of_run("2026_01_11_21_26_41"), (1768166801 + 5 * 3600) * S);
    zone("CET-1CEST,M3.5.0,M10.5.0/3"); /* in July two hours ahead */
    assert_int_equal(of_run("2026_07_01_12_00_00"), 1782900000 * S);
    zone("UTC");
}

static void other_names_have_no_time(void **state)
{
    static const char *const names[] = {"",
                                        "GPU-multi-worker",
                                        "2026_01_11_21_26",
                                        "2026_01_11_21_26_411",
                                        "2026_13_11_21_26_41",
                                        "2026_02_30_00_00_00",
                                        "2026_01_11_24_00_00",
                                        "2026_01_11_21_26_4x",
                                        "1969_12_31_00_00_00",
                                        "run_2026_01_11_21_26_41"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(of_run(names[i]), -1);
}

static void epoch_digits_tell_their_unit_by_length(void **state)
{
    (void)state;
    assert_int_equal(of_digits("1623143089"), 1623143089 * S);
    assert_int_equal(of_digits("1623143089861"), INT64_C(1623143089861000000));
    assert_int_equal(of_digits("1623143089861001"), INT64_C(1623143089861001000));
    assert_int_equal(of_digits("1752215573993169006"), INT64_C(1752215573993169006));
    assert_int_equal(of_digits("9999999999999999999"), -1); /* above 2^63 */
    assert_int_equal(of_digits("-623143089"), -1);
    assert_int_equal(of_digits("12345"), -1);
    assert_int_equal(of_digits("162314308986x"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_names_of_every_writer),
        cmocka_unit_test(run_names_are_local_time),
        cmocka_unit_test(other_names_have_no_time),
        cmocka_unit_test(epoch_digits_tell_their_unit_by_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
