/* Dates of HTTP against RFC 9110 5.6.7 and the C library's calendar. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <time.h>

#include "server/net/request/date.h"

/* 2026-11-21 00:00:00 UTC */
#define NOW 1795219200

static const struct {
    const char *text;
    int64_t seconds; /* -1: no date */
} rows[] = {
    /* the three forms of RFC 9110's example */
    {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
    {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
    {"Sun Nov  6 08:49:37 1994", 784111777},
    {" Sun, 06 Nov 1994 08:49:37 GMT ", 784111777},
    {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
    {"Fri, 31 Dec 9999 23:59:59 GMT", HTTP_DATE_END - 1},
    {"Tue, 29 Feb 2000 12:00:00 GMT", 951825600},
    {"Tue Feb 29 12:00:00 2000", 951825600},
    /* two digits: 2076 is 50 years ahead, 2077 is more and means 1977 */
    {"Sunday, 01-Jan-76 00:00:00 GMT", 3345062400},
    {"Saturday, 01-Jan-77 00:00:00 GMT", 220924800},
    {"Saturday, 01-Jan-00 00:00:00 GMT", 946684800},
    /* a leap second is the first second after it */
    {"Sat, 31 Dec 2016 23:59:60 GMT", 1483228800},
    {"", -1},
    {"0", -1},
    {"-1", -1},
    {"now", -1},
    {"Mon, 29 Feb 2100 00:00:00 GMT", -1},
    {"Wed, 29 Feb 2023 00:00:00 GMT", -1},
    {"Sun, 00 Nov 1994 08:49:37 GMT", -1},
    {"Sun, 31 Nov 1994 08:49:37 GMT", -1},
    {"Sun, 06 Nov 1994 24:00:00 GMT", -1},
    {"Sun, 06 Nov 1994 08:60:37 GMT", -1},
    {"Sun, 06 Nov 1994 08:49:61 GMT", -1},
    {"Sun, 06 Nov 1994 08:49:37", -1},
    {"Sun, 06 Nov 1994 08:49:37 UTC", -1},
    {"Sun, 06 Nov 1994 08:49:37 +0000", -1},
    {"Sun, 6 Nov 1994 08:49:37 GMT", -1},
    {"Sun, 06 nov 1994 08:49:37 GMT", -1},
    {"Sun, 06 Nov 94 08:49:37 GMT", -1},
    {"Sun, 06-Nov-1994 08:49:37 GMT", -1},
    {"Sun, 06 Nov 1994 08:49:37 GMTx", -1},
    {"06 Nov 1994 08:49:37 GMT", -1},
    {"Sun Nov 6 08:49:37 1994", -1},
    {"Sun Nov  6 08:49:37 1994 GMT", -1},
    {"1994-11-06T08:49:37Z", -1},
    {"Sun, 06 Nov 99999999999999999999 08:49:37 GMT", -1},
};

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t got = -1;
        bool ok = http_date_parse(vp_str_of(rows[i].text), NOW, &got);
        if (ok != (rows[i].seconds >= 0) || got != rows[i].seconds)
            fail_msg("%s: %d, %lld", rows[i].text, ok, (long long)got);
    }
}

static void test_writing(void **state)
{
    char out[HTTP_DATE_SIZE];
    (void)state;
    assert_true(http_date_put(out, 784111777));
    assert_string_equal(out, "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_true(http_date_put(out, HTTP_DATE_END - 1));
    assert_string_equal(out, "Fri, 31 Dec 9999 23:59:59 GMT");
    assert_false(http_date_put(out, HTTP_DATE_END));
    assert_string_equal(out, "");
    assert_false(http_date_put(out, -1));
    assert_false(http_date_put(out, INT64_MAX));
    assert_false(http_date_put(out, INT64_MIN));
}

/* 100,000 moments from 1970 to 9999, steps coprime to days and weeks. */
static void test_against_the_c_library(void **state)
{
    char ours[HTTP_DATE_SIZE], theirs[HTTP_DATE_SIZE];
    (void)state;
    for (int64_t t = 0; t < HTTP_DATE_END; t += 2534023) {
        struct tm tm;
        time_t when = (time_t)t;
        int64_t back;
        gmtime_r(&when, &tm);
        strftime(theirs, sizeof theirs, "%a, %d %b %Y %H:%M:%S GMT", &tm);
        assert_true(http_date_put(ours, t));
        assert_string_equal(ours, theirs);
        assert_true(http_date_parse(vp_str_of(ours), NOW, &back));
        assert_int_equal(back, t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_writing),
        cmocka_unit_test(test_against_the_c_library),
    };
    return cmocka_run_group_tests_name("date", tests, NULL, NULL);
}
