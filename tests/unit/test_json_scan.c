#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/rows.h"
#include "trace/read/json/json_scan.h"
#include "trace/read/json/json_text.h"
#include "trace/read/json/json_walk.h"
#include "trace/read/bytes/byte_stream.h"

static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* A byte machine, written for this test: in a string or not, escaped or not, how deep. */
static ptrdiff_t skip_slowly(const char *p, size_t n)
{
    bool string = false, escaped = false;
    size_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        bool hidden = escaped && (p[i] == '"' || p[i] == '\\');
        escaped = !hidden && p[i] == '\\';
        if (hidden || escaped)
            continue;
        if (p[i] == '"')
            string = !string;
        else if (!string && (p[i] == '{' || p[i] == '['))
            depth++;
        else if (!string && (p[i] == '}' || p[i] == ']') && --depth == 0)
            return (ptrdiff_t)i + 1;
    }
    return -1;
}

static void check_backend(js_skip_fn *skip_to_end, const char *p, size_t n)
{
    const char *q = skip_to_end(p, p + n);
    assert_int_equal(q ? q - p : -1, skip_slowly(p, n));
}

static const struct backend {
    const char *name;
    js_backend id;
} backends[] = {{"portable", JS_PORTABLE}, {"SSE2", JS_SSE2}, {"AVX2", JS_AVX2}};

/* Every backend agrees with the byte machine on text made of what matters, in blocks of all sizes;
 * behind the end lie brackets that must not be believed. */
static void test_backend_agrees(void **state)
{
    const struct backend *b = *state;
    static const char alphabet[] = "{}[]\"\"\\\\,:x \xff{}";
    js_skip_fn *skip_to_end = js_skip_backend(b->id);
    if (!skip_to_end)
        skip_because("this CPU has no such instructions, their scanner is not tested");
    for (int round = 0; round < 200000; round++) {
        char text[400 + RD_PAD];
        size_t n = 1 + next_random() % (round & 1 ? 400 : 90);
        uint64_t dense = 1 + next_random() % 40; /* long runs of plain text, or hardly any */
        for (size_t i = 0; i < n; i++)
            text[i] = next_random() % dense ? 'a' : alphabet[next_random() % (sizeof alphabet - 1)];
        text[0] = next_random() & 1 ? '{' : '[';
        memset(text + n, next_random() & 1 ? '}' : '"', RD_PAD);
        check_backend(skip_to_end, text, n);
    }
}

static void test_deep_and_long(void **state)
{
    (void)state;
    enum { N = 100000 };
    char *text = malloc(2 * N + RD_PAD);
    memset(text, '[', N);
    memset(text + N, ']', N);
    for (js_backend b = JS_PORTABLE; b <= JS_AVX2; b++) {
        js_skip_fn *skip_to_end = js_skip_backend(b);
        if (!skip_to_end)
            continue;
        assert_ptr_equal(skip_to_end(text, text + 2 * N), text + 2 * N);
        assert_null(skip_to_end(text, text + 2 * N - 1));
        assert_null(skip_to_end(text, text + 1));
    }
    free(text);
}

static void test_string_end(void **state)
{
    (void)state;
    for (size_t n = 0; n < 100; n++) {
        char text[200 + RD_PAD];
        memset(text, 'a', sizeof text);
        text[n] = '"';
        assert_ptr_equal(js_string_end(text, text + 200), text + n);
        assert_null(js_string_end(text, text + n));
        if (n == 0)
            continue;
        text[n - 1] = '\\';
        text[n + 1] = '"';
        assert_ptr_equal(js_string_end(text, text + 200), text + n + 1);
        assert_null(js_string_end(text, text + n + 1));
        if (n < 2)
            continue;
        text[n - 2] = '\\';
        assert_ptr_equal(js_string_end(text, text + 200), text + n);
    }
}

static void test_skip_space(void **state)
{
    (void)state;
    for (size_t n = 0; n < 70; n++) {
        char text[100 + RD_PAD];
        memset(text, n & 1 ? ' ' : '\n', sizeof text);
        text[n] = (char)(n % 3 ? '"' : 0xff);
        assert_ptr_equal(js_skip_space(text, text + 100, n & 2), text + n);
        assert_ptr_equal(js_skip_space(text, text + n, n & 2), text + n);
        assert_ptr_equal(js_skip_line(text, text + 100, true), text + n);
        assert_ptr_equal(js_skip_line(text, text + n, true), text + n);
        text[0] = n ? '\n' : text[0]; /* a line's end and its indentation */
        assert_ptr_equal(js_skip_line(text, text + 100, true), text + n);
        assert_ptr_equal(js_skip_line(text, text + n, true), text + n);
    }
}

/* Which bytes are white space (RFC 8259 2), at every place of the vectors that look for them. */
static void test_what_is_space(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        bool json = c == ' ' || c == '\t' || c == '\n' || c == '\r', odd = c == '\v' || c == '\f';
        assert_int_equal(js_is_space((char)c), json || odd);
        assert_int_equal(js_is_odd_space((char)c), odd);
        for (size_t n = 0; n < 40; n++) {
            char text[64 + RD_PAD];
            memset(text, ' ', sizeof text);
            text[n] = (char)c;
            text[n + 1] = '1';
            assert_ptr_equal(js_skip_space(text, text + 64, false), text + n + json);
            assert_ptr_equal(js_skip_space(text, text + 64, true), text + n + (json || odd));
            assert_ptr_equal(js_skip_line(text, text + 64, true), text + n + (json || odd));
        }
    }
}

static void test_members(void **state)
{
    (void)state;
    const char text[256] =
        " , \"a\" : 12 ,,\"b\":\"x\\\"y\" \"c\":[1,{}],\"d\":{\"}\":1},\"e\":NaN} rest";
    const char *p = text, *end = text + strlen(text);
    static const struct {
        const char *key, *value;
        js_type type;
    } want[] = {{"a", "12", JS_SCALAR},
                {"b", "x\\\"y", JS_STRING},
                {"c", "[1,{}]", JS_NESTED},
                {"d", "{\"}\":1}", JS_NESTED},
                {"e", "NaN", JS_SCALAR}};
    vp_str key;
    js_value v;
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(js_next_member(&p, end, js_skip_best(), &key, &v), JS_MEMBER);
        assert_true(vp_str_eq(key, vp_str_of(want[i].key)));
        assert_true(vp_str_eq(v.s, vp_str_of(want[i].value)));
        assert_int_equal(v.type, want[i].type);
    }
    assert_int_equal(js_next_member(&p, end, js_skip_best(), &key, &v), JS_CLOSE);
    assert_string_equal(p, " rest");
}

static js_step step_of(const char *text)
{
    char padded[128 + RD_PAD];
    memset(padded, '}', sizeof padded);
    memcpy(padded, text, strlen(text));
    const char *p = padded;
    vp_str key;
    js_value v;
    js_step step = js_next_member(&p, padded + strlen(text), js_skip_best(), &key, &v);
    if (step < 0)
        assert_ptr_equal(p, padded);
    return step;
}

static void test_broken_members(void **state)
{
    (void)state;
    const char *more[] = {"",          " ",       ",",         "\"",      "\"a",
                          "\"a\"",     "\"a\" ",  "\"a\":",    "\"a\": ", "\"a\":1",
                          "\"a\":\"x", "\"a\":{", "\"a\":[1,2"};
    const char *bad[] = {"a:1}", "\"a\" 1}", "\"a\":}", "\"a\":,", "1}", "]", "\"a\":]"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        assert_int_equal(step_of(more[i]), JS_MORE);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(step_of(bad[i]), JS_BAD);
}

/* The fast path for times agrees with the exact one on every shape of number. */
static void test_times_agree_with_the_slow_path(void **state)
{
    (void)state;
    static const char *const shapes[] = {"0",
                                         "12.",
                                         ".5",
                                         "1e3",
                                         "-3.25",
                                         "",
                                         "-",
                                         "1.5e-07",
                                         "abc",
                                         "1.2.3",
                                         "1 ",
                                         "+5",
                                         "0.0",
                                         "1.5x",
                                         "1.0000005",
                                         "1.0000015",
                                         "1.00000050000001",
                                         "9223372036854.775807",
                                         "9223372036854.775808",
                                         "99999999999999999999",
                                         "1.",
                                         "1.1234567e2"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        int64_t fast = -7, slow = -7;
        bool f = js_us_to_ps(vp_str_of(shapes[i]), 3, &fast);
        assert_int_equal(f, vp_str_us_to_ps(vp_str_of(shapes[i]), 3, &slow));
        assert_int_equal(fast, slow);
    }
    for (int round = 0; round < 100000; round++) {
        char text[64];
        int64_t base = (int64_t)(next_random() % 3) * INT64_C(1700000000000000), fast = 0, slow = 0;
        int digits = (int)(next_random() % 19);
        snprintf(text, sizeof text, "%llu.%0*llu",
                 (unsigned long long)(base ? (uint64_t)base + next_random() % 1000000
                                           : next_random() % 9000000000000u),
                 digits, (unsigned long long)(next_random() % 1000000000000000000u));
        bool f = js_us_to_ps(vp_str_of(text), base, &fast);
        assert_int_equal(f, vp_str_us_to_ps(vp_str_of(text), base, &slow));
        assert_int_equal(fast, slow);
    }
}

/* What js_take_int takes it takes as js_to_id does; what it leaves it leaves untouched. */
static void test_integers(void **state)
{
    static const struct {
        const char *text;
        int taken; /* bytes */
    } cases[] = {{"0,", 1},
                 {"7}", 1},
                 {"42]", 2},
                 {"-1 ", 2},
                 {"00012\n", 5},
                 {"-0,", 2},
                 {"12345678901234567,", 17},
                 {"-99999999999999999}", 18},
                 {"123456789012345678,", 0},
                 {"1.0,", 0},
                 {"1e3,", 0},
                 {"-,", 0},
                 {"\"8\",", 0},
                 {"null,", 0},
                 {"12\"", 0},
                 {"12", 0},
                 {"-", 0},
                 {"", 0},
                 {"- 1,", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char padded[128] = {0};
        const char *p = padded;
        int64_t n = 4711, want;
        size_t len = strlen(cases[i].text), taken = (size_t)cases[i].taken;
        memcpy(padded, cases[i].text, len);
        assert_int_equal(js_take_int(&p, padded + len, &n), taken > 0);
        assert_int_equal(p - padded, taken);
        if (!taken) {
            assert_int_equal(n, 4711);
            continue;
        }
        assert_true(js_to_id((vp_str){padded, taken}, &want));
        assert_int_equal(n, want);
    }
}

static void test_about(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } cases[] = {{"1700000000000000.9", true, INT64_C(1700000000000000)},
                 {"1.7e15", true, INT64_C(1700000000000000)},
                 {"-12.5E+1", true, -125},
                 {"25e-1", true, 2},
                 {"0e999", false, 0},
                 {"0e99", true, 0},
                 {"1e19", false, 0},
                 {"1e", false, 0},
                 {"", false, 0},
                 {"NaN", false, 0},
                 {"12x", false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t v = 0;
        assert_int_equal(js_about(vp_str_of(cases[i].text), &v), cases[i].ok);
        if (cases[i].ok)
            assert_int_equal(v, cases[i].value);
    }
}

static void test_counts(void **state)
{
    (void)state;
    assert_int_equal(js_to_count(VP_STR("4096")), 4096);
    assert_int_equal(js_to_count(VP_STR("4096.75")), 4096);
    assert_int_equal(js_to_count(VP_STR("")), -1);
    assert_int_equal(js_to_count(VP_STR("-1")), -1);
    assert_int_equal(js_to_count(VP_STR("4k")), -1);
    assert_int_equal(js_to_count(VP_STR("99999999999999999999")), -1);
}

/* A walk stops at the same places with the same keys whatever the pieces are. */
static void walk(const char *text, size_t piece, char *out)
{
    js_walk w = {.key_depth = 1, .find_strings = true};
    const char *p = text, *end = text + strlen(text);
    *out = 0;
    while (p < end) {
        const char *limit = (size_t)(end - p) < piece ? end : p + piece;
        js_walk_stop stop = js_walk_on(&w, &p, limit);
        vp_str key = js_walk_key(&w);
        if (stop != JS_WALK_MORE)
            sprintf(out + strlen(out), "%d@%d:%.*s ", stop, (int)(p - text), VP_STR_ARG(key));
        if (stop == JS_WALK_CLOSE || stop == JS_WALK_DELIM)
            return;
    }
}

static void test_walks(void **state)
{
    (void)state;
    const char *text =
        "{\"a\" : {\"b\":\"v\",\"c\\\"d\":\"\"}, \"e\":[\"x\",{\"f\":\"\\\"\"}],\"g\":\"y\"} tail";
    char whole[512], split[512];
    walk(text, 1000, whole);
    /* keys at depth 1: a, e, g; strings that are not empty under b, f and g; then the close */
    assert_string_equal(whole, "2@6:a 4@13:b 2@32:e 4@43:f 2@53:g 4@54:g 1@57:g ");
    for (size_t piece = 1; piece < 20; piece++) {
        walk(text, piece, split);
        assert_string_equal(split, whole);
    }
    walk("12.5,", 9, whole);
    assert_string_equal(whole, "3@4: ");
    walk("\"a]\"]", 9, whole);
    assert_string_equal(whole, "3@4:a] ");
}

/* It ends where skipping ends, on any text, in any pieces. */
static void test_walks_end_where_skipping_ends(void **state)
{
    (void)state;
    static const char alphabet[] = "{}[]\"\"\\\\,:x";
    for (int round = 0; round < 100000; round++) {
        char text[200];
        size_t n = 1 + next_random() % sizeof text, piece = 1 + next_random() % 30;
        uint64_t dense = 1 + next_random() % 8;
        for (size_t i = 0; i < n; i++)
            text[i] = next_random() % dense ? 'a' : alphabet[next_random() % (sizeof alphabet - 1)];
        text[0] = '{';
        js_walk w = {.key_depth = -1};
        const char *p = text, *end = text + n;
        js_walk_stop stop = JS_WALK_MORE;
        while (p < end && stop == JS_WALK_MORE)
            stop = js_walk_on(&w, &p, (size_t)(end - p) < piece ? end : p + piece);
        assert_int_equal(stop == JS_WALK_CLOSE ? p - text : -1, skip_slowly(text, n));
    }
}

static void test_secrets(void **state)
{
    (void)state;
    assert_true(js_names_a_secret(VP_STR("HF_TOKEN")));
    assert_true(js_names_a_secret(VP_STR("client.Secret")));
    assert_true(js_names_a_secret(VP_STR("ssh-key-path")));
    assert_true(js_names_a_secret(VP_STR("password")));
    assert_false(js_names_a_secret(VP_STR("monkey")));
    assert_false(js_names_a_secret(VP_STR("KEYBOARD_LAYOUT")));
    assert_false(js_names_a_secret(VP_STR("tokens_per_s")));
    assert_false(js_names_a_secret(VP_STR("key")));
    assert_false(js_names_a_secret(VP_STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deep_and_long),
        cmocka_unit_test(test_string_end),
        cmocka_unit_test(test_skip_space),
        cmocka_unit_test(test_what_is_space),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_broken_members),
        cmocka_unit_test(test_times_agree_with_the_slow_path),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_about),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_walks),
        cmocka_unit_test(test_walks_end_where_skipping_ends),
        cmocka_unit_test(test_secrets),
    };
    int failed = cmocka_run_group_tests_name("json_scan", tests, NULL, NULL);
    return failed + RUN_ROWS(test_backend_agrees, backends);
}
