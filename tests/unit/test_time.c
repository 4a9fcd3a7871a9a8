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

/* Every half hour of a year with changes of clocks, as mktime has it: where an hour comes twice
 * either is right, and where it is left out the time is off by no more than the change. */
static void local_time_is_that_of_the_system(void **state)
{
    static const char *const zones[] = {"UTC", "CET-1CEST,M3.5.0,M10.5.0/3",
                                        "NST3:30NDT,M3.2.0,M11.1.0",
                                        "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"};
    (void)state;
    for (size_t z = 0; z < sizeof zones / sizeof *zones; z++) {
        zone(zones[z]);
        for (int i = 0; i < 366 * 48; i++) {
            vp_civil c = {2025, 1, 1, i % 48 / 2, i % 2 * 30, 7};
            struct tm tm = {.tm_year = 125, .tm_mday = 1 + i / 48, .tm_isdst = -1}, at;
            mktime(&tm);
            c.month = tm.tm_mon + 1;
            c.day = tm.tm_mday;
            c.year = tm.tm_year + 1900;
            struct tm want = {.tm_year = tm.tm_year,
                              .tm_mon = tm.tm_mon,
                              .tm_mday = tm.tm_mday,
                              .tm_hour = c.hour,
                              .tm_min = c.minute,
                              .tm_sec = c.second,
                              .tm_isdst = -1};
            time_t by_system = mktime(&want);
            int64_t ns;
            assert_true(vp_time_from_local(&c, &ns));
            time_t s = (time_t)(ns / S);
            localtime_r(&s, &at);
            if (want.tm_hour != c.hour || want.tm_min != c.minute) /* there is no such time */
                assert_true(labs((long)(s - by_system)) <= 3600);
            else
                assert_true(at.tm_hour == c.hour && at.tm_min == c.minute && at.tm_mday == c.day &&
                            at.tm_sec == c.second);
        }
    }
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
        cmocka_unit_test(local_time_is_that_of_the_system),
        cmocka_unit_test(other_names_have_no_time),
        cmocka_unit_test(epoch_digits_tell_their_unit_by_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
