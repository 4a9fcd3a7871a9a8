/* The request target: what is taken apart, and what is refused
 * (docs/reference/http.md#request-checks). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "server/net/request/path.h"

#define LITERAL(s)                                                                                 \
    {                                                                                              \
        (s), sizeof(s) - 1                                                                         \
    }

static const struct {
    vp_str raw;
    int status;
    const char *segments; /* joined with '|'; a trailing '/' for a trailing slash */
} rows[] = {
    {LITERAL("/"), 0, ""},
    {LITERAL("/a"), 0, "a"},
    {LITERAL("/a/"), 0, "a/"},
    {LITERAL("/a/b.json"), 0, "a|b.json"},
    {LITERAL("/a%20b"), 0, "a b"},
    {LITERAL("/a+b"), 0, "a+b"},
    {LITERAL("/%41%4a%4A"), 0, "AJJ"},
    {LITERAL("/caf%C3%A9"), 0, "caf\303\251"},
    {LITERAL("/%E6%97%A5"), 0, "\346\227\245"},
    {LITERAL("/%F0%9F%98%80"), 0, "\360\237\230\200"},
    {LITERAL("/a..b"), 0, "a..b"},
    {LITERAL("/..a"), 0, "..a"},
    {LITERAL("/..."), 0, "..."},
    {LITERAL("/.hidden"), 0, ".hidden"},   /* not listed by the catalog, so 404 later */
    {LITERAL("/%252e%252e"), 0, "%2e%2e"}, /* decoded once: a literal name */
    {LITERAL("/%2541"), 0, "%41"},
    {LITERAL("/a?"), 0, "a"},
    {LITERAL("/a?x=/../.."), 0, "a"},
    {LITERAL("/a;b=c"), 0, "a;b=c"},
    {LITERAL("/a:b@c"), 0, "a:b@c"},
    {LITERAL("/1/2/3/4/5/6/7/8/9/10/11/12"), 0, "1|2|3|4|5|6|7|8|9|10|11|12"},
    {LITERAL("/1/2/3/4/5/6/7/8/9/10/11/12/13"), 404, NULL},
    {LITERAL(""), 400, NULL},
    {LITERAL("a"), 400, NULL},
    {LITERAL("*"), 400, NULL},
    {LITERAL("?a"), 400, NULL},
    {LITERAL("http://127.0.0.1/"), 400, NULL}, /* absolute form is the guard's business */
    {LITERAL("//"), 400, NULL},
    {LITERAL("//evil.example/"), 400, NULL},
    {LITERAL("/a//b"), 400, NULL},
    {LITERAL("/a//"), 400, NULL},
    {LITERAL("/."), 400, NULL},
    {LITERAL("/.."), 400, NULL},
    {LITERAL("/../etc/passwd"), 400, NULL},
    {LITERAL("/a/./b"), 400, NULL},
    {LITERAL("/a/../b"), 400, NULL},
    {LITERAL("/a/.."), 400, NULL},
    {LITERAL("/a/../"), 400, NULL},
    {LITERAL("/%2e"), 400, NULL},
    {LITERAL("/%2e%2e"), 400, NULL},
    {LITERAL("/%2E%2E/%2E%2E/etc/passwd"), 400, NULL},
    {LITERAL("/.%2e"), 400, NULL},
    {LITERAL("/%2e."), 400, NULL},
    {LITERAL("/..%2f..%2fetc"), 400, NULL},
    {LITERAL("/%2e%2e%2fetc"), 400, NULL},
    {LITERAL("/a%2fb"), 400, NULL},
    {LITERAL("/a%2Fb"), 400, NULL},
    {LITERAL("/a%5cb"), 400, NULL},
    {LITERAL("/a%5Cb"), 400, NULL},
    {LITERAL("/a\\b"), 400, NULL},
    {LITERAL("/..\\..\\etc"), 400, NULL},
    {LITERAL("/..%5c..%5cetc"), 400, NULL},
    {LITERAL("/%00"), 400, NULL},
    {LITERAL("/a%00.json"), 400, NULL},
    {LITERAL("/a%0ab"), 400, NULL},
    {LITERAL("/a%0d%0aSet-Cookie:x=1"), 400, NULL},
    {LITERAL("/a%1bb"), 400, NULL},
    {LITERAL("/a%7f"), 400, NULL},
    {LITERAL("/a%c2%85"), 400, NULL}, /* U+0085, a C1 control */
    {LITERAL("/a%c2%9b"), 400, NULL},
    {LITERAL("/a%c2%a0"), 0, "a\302\240"},
    {LITERAL("/%"), 400, NULL},
    {LITERAL("/%4"), 400, NULL},
    {LITERAL("/%zz"), 400, NULL},
    {LITERAL("/%4g"), 400, NULL},
    {LITERAL("/%-1"), 400, NULL},
    {LITERAL("/a%"), 400, NULL},
    {LITERAL("/%c3"), 400, NULL},          /* half a character */
    {LITERAL("/%c3/%a9"), 400, NULL},      /* the other half elsewhere */
    {LITERAL("/%c0%ae%c0%ae"), 400, NULL}, /* overlong ".." */
    {LITERAL("/%c0%af"), 400, NULL},       /* overlong "/" */
    {LITERAL("/%e0%80%af"), 400, NULL},
    {LITERAL("/%ed%a0%80"), 400, NULL},    /* a surrogate */
    {LITERAL("/%f4%90%80%80"), 400, NULL}, /* above U+10FFFF */
    {LITERAL("/%ff"), 400, NULL},
    {LITERAL("/a b"), 400, NULL},
    {LITERAL("/a\tb"), 400, NULL},
    {LITERAL("/a\0b"), 400, NULL},
    {LITERAL("/caf\303\251"), 400, NULL}, /* must be escaped */
    {LITERAL("/a#b"), 400, NULL},
    {LITERAL("/a?x#b"), 400, NULL},
    {LITERAL("/a?x=%00"), 400, NULL},
    {LITERAL("/a?x=%0a"), 400, NULL},
    {LITERAL("/a?x=%zz"), 400, NULL},
    {LITERAL("/a?%ff=1"), 400, NULL},
    {LITERAL("/a?x=\\"), 400, NULL},
};

static void join(char *out, size_t cap, const http_target *t)
{
    size_t n = 0;
    out[0] = 0;
    for (size_t i = 0; i < t->segment_count; i++)
        n += (size_t)snprintf(out + n, cap - n, "%s%s", i ? "|" : "", t->segments[i]);
    if (t->trailing_slash)
        snprintf(out + n, cap - n, "/");
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        http_target t;
        const char *why;
        char got[200];
        int status = http_target_parse(&t, rows[i].raw, &why);
        if (status != rows[i].status)
            fail_msg("%s: %d, want %d", rows[i].raw.p, status, rows[i].status);
        assert_int_equal(status != 0, why != NULL);
        if (!status) {
            join(got, sizeof got, &t);
            assert_string_equal(got, rows[i].segments);
        }
    }
}

/* A target may be as long as the limit; one byte more is 414, whatever it holds. */
static void test_length(void **state)
{
    static char raw[VP_HTTP_TARGET_MAX + 2];
    http_target t;
    const char *why;
    (void)state;
    memset(raw, 'a', sizeof raw);
    raw[0] = '/';
    assert_int_equal(http_target_parse(&t, (vp_str){raw, VP_HTTP_TARGET_MAX}, &why), 0);
    assert_int_equal(strlen(t.segments[0]), VP_HTTP_TARGET_MAX - 1);
    assert_int_equal(http_target_parse(&t, (vp_str){raw, VP_HTTP_TARGET_MAX + 1}, &why), 414);
    memset(raw, '#', sizeof raw);
    assert_int_equal(http_target_parse(&t, (vp_str){raw, VP_HTTP_TARGET_MAX + 1}, &why), 414);
}

static void test_query(void **state)
{
    http_target t;
    const char *why;
    (void)state;
    assert_int_equal(http_target_parse(&t,
                                       (vp_str)LITERAL("/a?n=5&group=scope&n=6&empty=&bare&&"
                                                       "s=a+b%2Bc%26d%3D&d=%2Fdevice%3ATPU%3A0&=x"),
                                       &why),
                     0);
    assert_string_equal(http_target_query(&t, "n"), "5");
    assert_string_equal(http_target_query(&t, "group"), "scope");
    assert_string_equal(http_target_query(&t, "empty"), "");
    assert_string_equal(http_target_query(&t, "bare"), "");
    assert_string_equal(http_target_query(&t, "s"), "a b+c&d=");
    assert_string_equal(http_target_query(&t, "d"), "/device:TPU:0");
    assert_null(http_target_query(&t, "N"));
    assert_null(http_target_query(&t, "missing"));
}

static void test_query_count(void **state)
{
    char raw[200] = "/?";
    size_t n = 2;
    http_target t;
    const char *why;
    (void)state;
    for (unsigned i = 0; i < HTTP_QUERY_MAX; i++)
        n += (size_t)snprintf(raw + n, sizeof raw - n, "a=%u&", i % 10);
    assert_int_equal(http_target_parse(&t, (vp_str){raw, n}, &why), 0);
    assert_int_equal(t.query_count, HTTP_QUERY_MAX);
    n += (size_t)snprintf(raw + n, sizeof raw - n, "b");
    assert_int_equal(http_target_parse(&t, (vp_str){raw, n}, &why), 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_length),
        cmocka_unit_test(test_query),
        cmocka_unit_test(test_query_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
