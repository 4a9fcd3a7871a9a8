/* Accept-Encoding, entity tags and ranges, against RFC 9110 and nginx (quality.md 2.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "server/net/negotiate.h"

static const struct {
    const char *accept;
    bool gzip;
} encodings[] = {
    {"gzip", true},
    {"GZIP", true},
    {"x-gzip", true},
    {"gzip, deflate, br, zstd", true},
    {"br, gzip", true},
    {"br,gzip;q=0.001", true},
    {"gzip;q=1", true},
    {"gzip ; q=0.5", true},
    {"gzip;level=9", true},
    {"*", true},
    {"*;q=0.1", true},
    {"br, *", true},
    {"identity;q=0, *", true},
    {"", false},
    {"identity", false},
    {"br", false},
    {"deflate", false},
    {"gzipped", false},
    {"gzip;q=0", false},
    {"gzip;q=0.", false},
    {"gzip;q=0.0", false},
    {"gzip;q=0.000", false},
    {"gzip; Q=0", false},
    {"gzip;q=0, *", false}, /* named beats the star */
    {"*, gzip;q=0", false},
    {"*;q=0", false},
    {"br, *;q=0.0", false},
};

static void test_encodings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
        if (http_accepts_gzip(vp_str_of(encodings[i].accept)) != encodings[i].gzip)
            fail_msg("Accept-Encoding: %s", encodings[i].accept);
}

static const struct {
    const char *list, *etag;
    bool weak, strong;
} tags[] = {
    {"\"a\"", "\"a\"", true, true},
    {"*", "\"a\"", true, true},
    {" * ", "\"a\"", true, true},
    {"W/\"a\"", "\"a\"", true, false},
    {"\"a\"", "W/\"a\"", true, false},
    {"W/\"a\"", "W/\"a\"", true, false},
    {"\"b\", \"a\"", "\"a\"", true, true},
    {"\"b\",W/\"a\",\"c\"", "\"a\"", true, false},
    {"W/\"a\", \"a\"", "\"a\"", true, true},
    {",, \"a\"", "\"a\"", true, true},
    {"\"x,y\"", "\"x,y\"", true, true}, /* a comma inside a tag */
    {"\"b\"", "\"a\"", false, false},
    {"\"aa\"", "\"a\"", false, false},
    {"\"A\"", "\"a\"", false, false},
    {"a", "\"a\"", false, false},
    {"\"a", "\"a\"", false, false},
    {"w/\"a\"", "\"a\"", false, false},
    {"\"b\" junk \"a\"", "\"a\"", false, false},
    {"", "\"a\"", false, false},
    {"W/", "\"a\"", false, false},
    {"*", "", false, false}, /* nothing to compare with */
};

static void test_tags(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        vp_str list = vp_str_of(tags[i].list), etag = vp_str_of(tags[i].etag);
        if (http_etag_listed(list, etag) != tags[i].weak)
            fail_msg("weak: %s against %s", tags[i].list, tags[i].etag);
        if (http_etag_listed_strong(list, etag) != tags[i].strong)
            fail_msg("strong: %s against %s", tags[i].list, tags[i].etag);
    }
}

static void test_if_range(void **state)
{
    (void)state;
    assert_true(http_if_range(VP_STR("\"a\""), VP_STR("\"a\"")));
    assert_true(http_if_range(VP_STR(" \"a\" "), VP_STR("\"a\"")));
    assert_false(http_if_range(VP_STR("\"b\""), VP_STR("\"a\"")));
    assert_false(http_if_range(VP_STR("W/\"a\""), VP_STR("W/\"a\"")));
    assert_false(http_if_range(VP_STR("*"), VP_STR("\"a\"")));
    assert_false(http_if_range(VP_STR("Sat, 21 Nov 2026 14:40:05 GMT"), VP_STR("\"a\"")));
    assert_false(http_if_range(VP_STR(""), VP_STR("")));
}

#define BIG INT64_MAX

static const struct {
    const char *value;
    int64_t size;
    int status;
    int64_t first, last;
} ranges[] = {
    {"bytes=0-1", 8, 206, 0, 1},
    {"bytes=0-0", 8, 206, 0, 0},
    {"bytes=7-7", 8, 206, 7, 7},
    {"bytes=0-", 8, 206, 0, 7},
    {"bytes=3-", 8, 206, 3, 7},
    {"bytes=3-100", 8, 206, 3, 7},
    {"bytes=-2", 8, 206, 6, 7},
    {"bytes=-8", 8, 206, 0, 7},
    {"bytes=-100", 8, 206, 0, 7},
    {"BYTES=0-1", 8, 206, 0, 1},
    {"bytes= 0-1 ", 8, 206, 0, 1},
    {"bytes=0-99999999999999999999999", 8, 206, 0, 7},
    {"bytes=-99999999999999999999999", 8, 206, 0, 7},
    {"bytes=9223372036854775806-", BIG, 206, BIG - 1, BIG - 1},
    {"bytes=8-", 8, 416, 0, 0},
    {"bytes=100-", 8, 416, 0, 0},
    {"bytes=100-200", 8, 416, 0, 0},
    {"bytes=5-2", 8, 416, 0, 0},
    {"bytes=-0", 8, 416, 0, 0},
    {"bytes=0-", 0, 416, 0, 0},
    {"bytes=-1", 0, 416, 0, 0},
    {"bytes=99999999999999999999999-", 8, 416, 0, 0},
    {"bytes=18446744073709551616-", 8, 416, 0, 0}, /* 2^64 does not wrap to 0 */
    {"bytes=18446744073709551616-18446744073709551617", 8, 416, 0, 0},
    {"bytes=", 8, 416, 0, 0},
    {"bytes=-", 8, 416, 0, 0},
    {"bytes=a-b", 8, 416, 0, 0},
    {"bytes=1", 8, 416, 0, 0},
    {"bytes=1-2x", 8, 416, 0, 0},
    {"bytes=--2", 8, 416, 0, 0},
    {"bytes=0-1,3-4", 8, 200, 0, 0}, /* several: everything is a valid answer */
    {"items=0-1", 8, 200, 0, 0},
    {"0-1", 8, 200, 0, 0},
    {"", 8, 200, 0, 0},
};

static void test_ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        int64_t first = -7, last = -7;
        int status = http_range(vp_str_of(ranges[i].value), ranges[i].size, &first, &last);
        if (status != ranges[i].status)
            fail_msg("Range: %s of %lld: %d", ranges[i].value, (long long)ranges[i].size, status);
        if (status == 206) {
            assert_int_equal(first, ranges[i].first);
            assert_int_equal(last, ranges[i].last);
        } else {
            assert_int_equal(first, -7); /* outputs stay untouched */
            assert_int_equal(last, -7);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_if_range),
        cmocka_unit_test(test_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
