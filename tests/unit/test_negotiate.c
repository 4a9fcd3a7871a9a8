/* Accept-Encoding, entity tags and ranges, against RFC 9110 and nginx
 * (docs/reference/http.md#content-negotiation). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "server/net/request/negotiate.h"

static const struct {
    const char *accept;
    http_coding can, cannot; /* where gzip can be had, and where not */
} encodings[] = {
    {"gzip", HTTP_GZIP, HTTP_IDENTITY},
    {"GZIP", HTTP_GZIP, HTTP_IDENTITY},
    {"x-gzip", HTTP_GZIP, HTTP_IDENTITY},
    {"gzip, deflate, br, zstd", HTTP_GZIP, HTTP_IDENTITY},
    {"br, gzip", HTTP_GZIP, HTTP_IDENTITY},
    {"br,gzip;q=0.001", HTTP_GZIP, HTTP_IDENTITY},
    {"gzip;q=1", HTTP_GZIP, HTTP_IDENTITY},
    {"gzip ; q=0.5", HTTP_GZIP, HTTP_IDENTITY},
    {"gzip;q=x", HTTP_GZIP, HTTP_IDENTITY},
    {"gzip;level=9", HTTP_GZIP, HTTP_IDENTITY},
    {"*", HTTP_GZIP, HTTP_IDENTITY},
    {"*;q=0.1", HTTP_GZIP, HTTP_IDENTITY},
    {"br, *", HTTP_GZIP, HTTP_IDENTITY},
    {"gzip;q=0.5, identity;q=0.5", HTTP_GZIP, HTTP_IDENTITY},
    {"gzip;q=0.6, identity;q=0.5", HTTP_GZIP, HTTP_IDENTITY},
    /* identity preferred */
    {"gzip;q=0.5, identity", HTTP_IDENTITY, HTTP_IDENTITY},
    {"gzip;q=0.499, identity;q=0.5", HTTP_IDENTITY, HTTP_IDENTITY},
    {"*;q=0.5, identity", HTTP_IDENTITY, HTTP_IDENTITY},
    /* nothing asked for */
    {"", HTTP_IDENTITY, HTTP_IDENTITY},
    {"identity", HTTP_IDENTITY, HTTP_IDENTITY},
    {"br", HTTP_IDENTITY, HTTP_IDENTITY},
    {"deflate", HTTP_IDENTITY, HTTP_IDENTITY},
    {"gzipped", HTTP_IDENTITY, HTTP_IDENTITY},
    /* gzip refused, in every spelling of 0 */
    {"gzip;q=0", HTTP_IDENTITY, HTTP_IDENTITY},
    {"gzip;q=0.", HTTP_IDENTITY, HTTP_IDENTITY},
    {"gzip;q=0.0", HTTP_IDENTITY, HTTP_IDENTITY},
    {"gzip;q=0.000", HTTP_IDENTITY, HTTP_IDENTITY},
    {"gzip; Q=0", HTTP_IDENTITY, HTTP_IDENTITY},
    {"gzip;q=0, *", HTTP_IDENTITY, HTTP_IDENTITY}, /* named beats the star */
    {"*, gzip;q=0", HTTP_IDENTITY, HTTP_IDENTITY},
    /* identity refused */
    {"identity;q=0, *", HTTP_GZIP, HTTP_NO_CODING},
    {"identity;q=0", HTTP_GZIP, HTTP_NO_CODING},
    {"identity;q=0.000, gzip", HTTP_GZIP, HTTP_NO_CODING},
    {"identity;q=0, gzip;q=0", HTTP_NO_CODING, HTTP_NO_CODING},
    {"*;q=0", HTTP_NO_CODING, HTTP_NO_CODING},
    {"*;q=0, gzip", HTTP_GZIP, HTTP_NO_CODING},
    {"br, *;q=0.0", HTTP_NO_CODING, HTTP_NO_CODING},
    {"identity, *;q=0", HTTP_IDENTITY, HTTP_IDENTITY},
};

static void test_encodings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        vp_str accept = vp_str_of(encodings[i].accept);
        if (http_choose_coding(accept, true) != encodings[i].can ||
            http_choose_coding(accept, false) != encodings[i].cannot)
            fail_msg("Accept-Encoding: %s", encodings[i].accept);
    }
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
    static const char date[] = "Sat, 21 Nov 2026 14:40:05 GMT";
    static const struct {
        const char *value, *etag, *date;
        bool match;
    } rows[] = {
        {"\"a\"", "\"a\"", "", true},
        {" \"a\" ", "\"a\"", "", true},
        {"\"b\"", "\"a\"", "", false},
        {"\"a\"", "W/\"a\"", "", false},
        {"W/\"a\"", "W/\"a\"", "", false},
        {"W/\"a\"", "\"a\"", "", false},
        {"*", "\"a\"", "", false},
        {date, "\"a\"", date, true},
        {date, "\"a\"", "Sat, 21 Nov 2026 14:40:06 GMT", false},
        {date, "\"a\"", "", false},
        {"Saturday, 21-Nov-26 14:40:05 GMT", "\"a\"", date, false}, /* the same, but not exactly */
        {"", "", "", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (http_if_range(vp_str_of(rows[i].value), vp_str_of(rows[i].etag),
                          vp_str_of(rows[i].date)) != rows[i].match)
            fail_msg("If-Range: %s", rows[i].value);
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
