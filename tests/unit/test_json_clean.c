/* The clean-up stream: what the Perfetto importer refuses is gone, everything else stays byte for
 * byte, and neither depends on how the input was cut into chunks. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/export.h"

/* Cleans n bytes in chunks of `chunk`; *out is freed by the caller. */
static int clean(const char *p, size_t n, size_t chunk, char **out, size_t *out_n,
                 ex_clean_counts *counts, int *damage)
{
    rd_stream *s = NULL;
    int rc = rd_stream_memory(&s, p, n, chunk);
    if (rc >= 0)
        rc = ex_json_clean(&s, s);
    if (rc < 0)
        return rc;
    rc = rd_stream_slurp(s, (size_t)1 << 30, out, out_n);
    if (rc >= 0 && counts)
        ex_json_clean_counts(s, counts);
    if (damage)
        *damage = s->damage.code;
    rd_stream_close(&s);
    return rc;
}

typedef struct example {
    const char *in, *out;
    unsigned events, empty, refused, keys, strings, numbers, commas;
    bool cut;
} example;

#define EMPTY "{\"traceEvents\":[]}\n"
#define ONLY(events) "{\"traceEvents\":[" events "]}\n"
/* Something follows the trace. */
#define ENDS(events)                                                                               \
    "{\"traceEvents\":[" events                                                                    \
    "],\"view_profile_damage\":\"the file has data after the end of the trace\"}\n"

/* What must be true of each is said by docs/reference/perfetto.md#json-container and
 * docs/reference/perfetto.md#json-values. */
static const example examples[] = {
    /* containers */
    {"", EMPTY, .cut = true},
    {"  \n", EMPTY, .cut = true},
    {"[]", EMPTY, .cut = false},
    {"{}", EMPTY, .cut = false},
    {"\xef\xbb\xbf[]", EMPTY, .cut = false},
    {"\xef\xbb\xbf{\"traceEvents\":[{\"a\":1}]}", ONLY("{\"a\":1}"), .events = 1},
    {"{\"traceEvents\":null}", EMPTY, .cut = false},
    {"{\"traceEvents\":{}}", EMPTY, .cut = false},
    {"[{\"a\":1}] \n", ONLY("{\"a\":1}"), .events = 1},
    {"[{\"a\":1}]garbage", ENDS("{\"a\":1}"), .events = 1, .cut = true},
    {"{\"traceEvents\":[{\"a\":1}]}}}", ENDS("{\"a\":1}"), .events = 1, .cut = true},
    {"{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\"traceEvents\":[{\"a\":1},"
     "{}]}",
     "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[{\"a\":1}]}\n", .events = 1, .empty = 1},
    {"{ \"x\" : [1, {\"y\":2}] , \"traceEvents\" : [ {\"a\" : 1} ,\n {\"b\":2} ] , \"z\":\"}\"}",
     "{\"x\":[1, {\"y\":2}],\"traceEvents\":[{\"a\" : 1},\n{\"b\":2}],\"z\":\"}\"}\n", .events = 2},
    {"{\"traceEvents\":[{\"a\":1}],\"u\":18446744073709551615,\"f\":-1.5e+300}",
     "{\"traceEvents\":[{\"a\":1}],\"u\":18446744073709551615,\"f\":-1.5e+300}\n", .events = 1},
    {"{\"traceEvents\":[{\"a\":1}],\"traceEvents\":[{\"b\":1}]}",
     "{\"traceEvents\":[{\"a\":1}],\"traceEvents\":[{\"b\":1}]}\n", .events = 2},
    /* metadata: any shape, any place, more than once; not inside events */
    {"{\"metadata\":\"x\\\"}\",\"traceEvents\":[]}", EMPTY, .cut = false},
    {"{\"metadata\":17,\"traceEvents\":[]}", EMPTY, .cut = false},
    {"{\"metadata\":[{\"]\":\"}\"},[[]]],\"traceEvents\":[]}", EMPTY, .cut = false},
    {"{\"traceEvents\":[{\"metadata\":1}],\"metadata\":null}", ONLY("{\"metadata\":1}"),
     .events = 1},
    {"{\"metadata\":{},\"metadata\" : {\"HF_TOKEN\":\"secret\"}}", EMPTY, .cut = false},
    {"{\"metadata\":{\"HF_TOKEN\":\"secr", EMPTY, .cut = true},
    {"{\"metadata\":,\"a\":1,\"traceEvents\":[]}", "{\"a\":1,\"traceEvents\":[]}\n", .cut = false},
    {"{\"metadata\" {\"HF_TOKEN\":\"secret\"},\"traceEvents\":[]}", EMPTY, .cut = false},
    /* cut off */
    {"{\"traceEvents\":[{\"a\":1},{\"b\":", ONLY("{\"a\":1}"), .events = 1, .cut = true},
    {"{\"traceEvents\":[{\"a\":1},", ONLY("{\"a\":1}"), .events = 1, .cut = true},
    {"{\"traceEvents\":[{\"a\":1}", ONLY("{\"a\":1}"), .events = 1, .cut = true},
    {"{\"traceEvents\":[{\"a\":1}]", ONLY("{\"a\":1}"), .events = 1, .cut = true},
    {"{\"traceEvents\":[{\"a\":\"\\ud83d", EMPTY, .cut = true},
    {"{\"traceEvents\":[{\"a\":1}],\"b\":[1,", ONLY("{\"a\":1}"), .events = 1, .cut = true},
    {"[{\"a\":1},{\"b\":2}", ONLY("{\"a\":1},\n{\"b\":2}"), .events = 2, .cut = false},
    {"[{\"a\":1},{\"b\":2},\n", ONLY("{\"a\":1},\n{\"b\":2}"), .events = 2, .cut = false},
    {"[{\"a\":1},{\"b\":2", ONLY("{\"a\":1}"), .events = 1, .cut = true},
    /* commas */
    {"[{\"a\":1},]", ONLY("{\"a\":1}"), .events = 1},
    {"[{\"a\":1 , } , {\"b\":[1,2, ]}]", ONLY("{\"a\":1  },\n{\"b\":[1,2 ]}"), .events = 2,
     .commas = 2},
    {"[{},{ },{\"a\":1},{}]", ONLY("{\"a\":1}"), .events = 1, .empty = 3},
    /* strings */
    {"[{\"n\":\"\\ud83d\\ude80\"}]", ONLY("{\"n\":\"\xf0\x9f\x9a\x80\"}"), .events = 1,
     .strings = 1},
    {"[{\"n\":\"a\\uD800b\\udc00\\ud83d\\u0041\"}]",
     ONLY("{\"n\":\"a\xef\xbf\xbd"
          "b\xef\xbf\xbd\xef\xbf\xbd"
          "A\"}"),
     .events = 1, .strings = 4},
    {"[{\"\\udbff\\udfff\":1}]", ONLY("{\"\xf4\x8f\xbf\xbf\":1}"), .events = 1, .strings = 1},
    {"[{\"n\":\"\\u12g4\\u\"}]",
     ONLY("{\"n\":\"\xef\xbf\xbd"
          "12g4\xef\xbf\xbd\"}"),
     .events = 1, .strings = 2},
    {"[{\"n\":\"\\\\ud800\\\"\\u00e9\\n\\/\x01\xff\"}]",
     ONLY("{\"n\":\"\\\\ud800\\\"\xc3\xa9\\n/\\u0001\xef\xbf\xbd\"}"), .events = 1, .strings = 4},
    /* what JSON must escape stays; a backslash at the end has its long form */
    {"[{\"n\":\"\\u0000\\u001F\\u0022\\u005c\\u007f\\u20ac\"}]",
     ONLY("{\"n\":\"\\u0000\\u001F\\u0022\\u005c\\u007f\xe2\x82\xac\"}"), .events = 1,
     .strings = 1},
    {"[{\"n\":\"C:\\\\\",\"m\":\"\\\\\\\\\"}]", ONLY("{\"n\":\"C:\\u005c\",\"m\":\"\\\\\\u005c\"}"),
     .events = 1, .strings = 2},
    /* no text of systrace */
    {"{\"systemTraceEvents\":{\"a\":1},\"traceEvents\":[]}", EMPTY, .keys = 1},
    {"{\"systemTraceEvents\":\"x\",\"traceEvents\":[]}",
     "{\"systemTraceEvents\":\"x\",\"traceEvents\":[]}\n"},
    {"[{\"\xe2\x82\":\"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x9a\x80 "
     "\xf0\x9f\x9a\",\"a\":\"\xed\xa0\x80\xc0\xaf\"}]",
     ONLY("{\"\xef\xbf\xbd\xef\xbf\xbd\":\"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x9a\x80 "
          "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\",\"a\":\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
          "\xef\xbf\xbd\xef\xbf\xbd\"}"),
     .events = 1, .strings = 10},
    {"[{\"n\":\"C:\\vol\\x41\\'\\\n\\\x7f\"}]",
     ONLY("{\"n\":\"C:\\\\vol\\\\x41\\\\'\\\\\\u000a\\\\\x7f\"}"), .events = 1, .strings = 6},
    {"{\"\\k\xff\x1f\":1,\"traceEvents\":[]}",
     "{\"\\\\k\xef\xbf\xbd\\u001f\":1,\"traceEvents\":[]}\n", .strings = 3},
    /* white space of browsers */
    {"[{\"a\":[1,\v],\f\"b\":{\"c\":2 ,\f}\v, }\v,\v{\"d\":\f[\v]}\f]",
     ONLY("{\"a\":[1],\"b\":{\"c\":2 } },\n{\"d\":[]}"), .events = 2, .commas = 3},
    /* numbers */
    {"[{\"ts\":1,\"dur\":null}]", ONLY("{\"ts\":1,\"dur\":0}"), .events = 1, .numbers = 1},
    {"[{\"ts\":1.5,\"dur\":true,\"pid\":null,\"tid\":NaN,\"tts\":false,\"tdur\":None}]",
     ONLY("{\"ts\":1.5,\"dur\":0,\"pid\":0,\"tid\":0,\"tts\":0,\"tdur\":0}"), .events = 1,
     .numbers = 5},
    {"[{\"ts\":007,\"dur\":.5,\"pid\":+3,\"tid\":5.,\"x\":-.25,\"y\":-00.5e3}]",
     ONLY("{\"ts\":7,\"dur\":0.5,\"pid\":3,\"tid\":5.0,\"x\":-0.25,\"y\":-0.5e3}"), .events = 1,
     .numbers = 6},
    {"[{\"ts\":1,\"args\":{\"a\":NaN,\"b\":[Infinity,-Infinity],\"c\":null,\"dur\":null}}]",
     ONLY("{\"ts\":1,\"args\":{\"a\":\"NaN\",\"b\":[\"Infinity\",\"-Infinity\"],\"c\":null,"
          "\"dur\":null}}"),
     .events = 1, .numbers = 3},
    /* of args alone, those that the importer would make others of */
    {"[{\"id\":18446744073709551615,\"args\":{\"a\":9223372036854775807,\"b\":-9223372036854775808,"
     "\"c\":1e300,\"d\":-1.5E-300,\"e\":1234567890.12345678901234567890}}]",
     ONLY(
         "{\"id\":18446744073709551615,\"args\":{\"a\":9223372036854775807,\"b\":-"
         "9223372036854775808,\"c\":1e300,\"d\":-1.5E-300,\"e\":1234567890.12345678901234567890}}"),
     .events = 1},
    {"[{\"args\":{\"a\":9223372036854775808,\"b\":[-9223372036854775809,{\"c\":1e400}],\"d\":"
     "0e99999999999999999999,"
     "\"e\":123456789012345678901234567890}}]",
     ONLY("{\"args\":{\"a\":\"9223372036854775808\",\"b\":[\"-9223372036854775809\",{\"c\":"
          "\"1e400\"}],"
          "\"d\":\"0e99999999999999999999\",\"e\":\"123456789012345678901234567890\"}}"),
     .events = 1, .numbers = 5},
    {"[{\"ts\":\"12.5\",\"dur\":\"1\",\"pid\":\"a\",\"tid\":\"b\"}]",
     ONLY("{\"ts\":\"12.5\",\"dur\":\"1\",\"pid\":\"a\",\"tid\":\"b\"}"), .events = 1},
    {"[{\"ts\":-1e-3,\"dur\":0,\"pid\":0,\"x\":1E+9,\"y\":1.2.3}]",
     ONLY("{\"ts\":-1e-3,\"dur\":0,\"pid\":0,\"x\":1E+9,\"y\":\"1.2.3\"}"), .events = 1,
     .numbers = 1},
    /* refused: no usable ts, a container where a number belongs, no event, no JSON */
    {"[{\"ts\":null},{\"ts\":NaN},{\"ts\":1}]", ONLY("{\"ts\":1}"), .events = 1, .refused = 2},
    {"[{\"dur\":{\"x\":[1]}},{\"tid\":[]},{\"ts\":1}]", ONLY("{\"ts\":1}"), .events = 1,
     .refused = 2},
    {"[null,1,\"x\",[{\"a\":1}],{\"b\":1}]", ONLY("{\"b\":1}"), .events = 1, .refused = 4},
    {"[{\"a\":1},{\"n\":\"a\"b\"},{\"c\":1}]", ONLY("{\"a\":1},\n{\"c\":1}"), .events = 2,
     .refused = 1},
    {"[{\"a\" 1},{\"b\":1 \"c\":2},{\"d\":[1}},{\"e\":},{'f':1},{\"g\":1}]", ONLY("{\"g\":1}"),
     .events = 1, .refused = 5},
    /* an event that is no JSON ends with its own bracket, whatever its arguments look like */
    {"[{\"v\":1 2,\"x\":[{\"k\":1},{\"k\":2}]} ,\n {\"a\":1},{\"y\":[{},{}] 1}\n]",
     ONLY("{\"a\":1}"), .events = 1, .refused = 2},
    /* where brackets do not match it may take the trace with it, but not in silence */
    {"[{\"v\":1 2,\"x\":[{\"k\":[1},{\"k\":2}]},{\"a\":1}]", ENDS("{\"k\":2}"), .events = 1,
     .refused = 1, .cut = true},
    {"{\"bad\":[1},\"b\":2,\"traceEvents\":[]}", "{\"b\":2,\"traceEvents\":[]}\n", .keys = 1},
};
enum { EXAMPLES = sizeof examples / sizeof examples[0] };

static void examples_hold_for_every_chunk_size(void **state)
{
    (void)state;
    for (unsigned i = 0; i < EXAMPLES; i++) {
        const example *e = &examples[i];
        size_t n = strlen(e->in);
        for (size_t chunk = 1; chunk <= n + 1; chunk++) {
            ex_clean_counts c = {0};
            char *out = NULL;
            size_t out_n;
            int damage;
            int rc = clean(e->in, n, chunk, &out, &out_n, &c, &damage);
            if (rc < 0 || out_n != strlen(e->out) || memcmp(out, e->out, out_n) != 0)
                fail_msg("%s\ngives %.*s\nnot   %s(chunks of %zu)", e->in, rc < 0 ? 0 : (int)out_n,
                         out, e->out, chunk);
            if (c.events != e->events || c.empty != e->empty || c.refused != e->refused ||
                c.keys != e->keys || c.strings != e->strings || c.numbers != e->numbers ||
                c.commas != e->commas || (damage < 0) != e->cut)
                fail_msg("%s: %u events, %u empty, %u refused, %u keys, %u strings, %u numbers, "
                         "%u commas, damage %d",
                         e->in, (unsigned)c.events, (unsigned)c.empty, (unsigned)c.refused,
                         (unsigned)c.keys, (unsigned)c.strings, (unsigned)c.numbers,
                         (unsigned)c.commas, damage);
            vp_free(out);
        }
    }
}

static void what_is_no_trace_is_refused(void **state)
{
    static const char *const inputs[] = {"x", "\"a\"", "1", "\x1f\x8b", "<html>", "version https"};
    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        char *out;
        size_t n;
        assert_int_equal(clean(inputs[i], strlen(inputs[i]), 0, &out, &n, NULL, NULL), VP_ECORRUPT);
        assert_int_equal(vp_error_last()->offset, 0);
    }
}

static const char mixed[] =
    "{\"displayTimeUnit\":\"ns\", \"metadata\":{\"a\":[1,{\"b\":\"]}\"}]}, "
    "\"traceEvents\":[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"/"
    "d\"}},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1.5,\"dur\":null,\"name\":\"\\ud83d\\ude80,{}\"},  "
    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":3,\"dur\":.5,\"name\":\"b\",\"args\":{\"v\":[1,[],{}]"
    ",}},"
    "{},{\"ph\":\"C\",\"pid\":1,\"ts\":4,\"args\":{\"x\":NaN}},{}],\"stackFrames\":{\"1\":{}}}";

static void parses(const char *p, size_t n, const char *what)
{
    json_error_t error;
    json_t *root = json_loadb(p, n, 0, &error);
    if (!root)
        fail_msg("%s: output is no JSON (%s): %.*s", what, error.text, (int)n, p);
    assert_true(json_is_array(json_object_get(root, "traceEvents")));
    assert_null(json_object_get(root, "metadata"));
    json_decref(root);
}

/* Wherever the input ends, the output is JSON and holds the events that were whole by then. */
static void every_prefix_is_closed(void **state)
{
    (void)state;
    char *full, *out;
    size_t full_n, n;
    uint64_t last = 0;
    assert_int_equal(clean(mixed, sizeof mixed - 1, 0, &full, &full_n, NULL, NULL), 0);
    for (size_t cut = 0; cut < sizeof mixed; cut++) {
        ex_clean_counts c;
        assert_int_equal(clean(mixed, cut, 7, &out, &n, &c, NULL), 0);
        parses(out, n, "prefix");
        assert_true(c.events == last || c.events == last + 1);
        last = c.events;
        size_t same = n - 3; /* without `]}\n` of the cut one */
        if (c.events)
            assert_true(full_n >= same && memcmp(full, out, same > 40 ? 40 : same) == 0);
        vp_free(out);
    }
    assert_int_equal(last, 4);
    vp_free(full);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Bytes that matter to JSON, put anywhere or taken away: still JSON, still the same for all cuts.
 */
static void damaged_input_gives_json(void **state)
{
    static const char alphabet[] = "{}[],:\"\"01.e-N  t";
    (void)state;
    uint32_t seed = 42;
    for (int round = 0; round < 4000; round++) {
        char text[sizeof mixed + 16];
        size_t n = sizeof mixed - 1;
        memcpy(text, mixed, n);
        for (unsigned k = 1 + next_random(&seed) % 4; k; k--) {
            size_t at = 2 + next_random(&seed) % (n - 3);
            char c = alphabet[next_random(&seed) % (sizeof alphabet - 1)];
            switch (next_random(&seed) % 3) {
            case 0:
                text[at] = c;
                break;
            case 1:
                memmove(text + at, text + at + 1, n - at - 1);
                n--;
                break;
            default:
                memmove(text + at + 1, text + at, n - at);
                text[at] = c;
                n++;
            }
        }
        char *a, *b;
        size_t a_n, b_n;
        if (clean(text, n, 0, &a, &a_n, NULL, NULL) < 0)
            continue; /* the first bracket itself is gone */
        assert_int_equal(clean(text, n, 1 + next_random(&seed) % 60, &b, &b_n, NULL, NULL), 0);
        assert_int_equal(a_n, b_n);
        assert_memory_equal(a, b, a_n);
        /* A stray backslash may turn what follows into an escape that jansson does not know. */
        if (!strstr(a, "\\"))
            parses(a, a_n, text);
        vp_free(a);
        vp_free(b);
    }
}

/* `{"traceEvents":[{"a":1},<big>,{"z":1}],"metadata":<big>}`, big of n bytes. */
static char *around(size_t n, size_t *total)
{
    vp_buf b;
    vp_buf_init(&b, (size_t)1 << 30);
    vp_buf_puts(&b, "{\"traceEvents\":[{\"a\":1},{\"b\":\"");
    vp_buf_pad(&b, 'x', n - 8);
    vp_buf_puts(&b, "\"},{\"z\":1}],\"metadata\":\"");
    vp_buf_pad(&b, 'y', n);
    vp_buf_puts(&b, "\"}");
    return vp_buf_take(&b, total);
}

static void events_of_any_size(void **state)
{
    /* below and above a chunk's headroom, the window, the largest event */
    static const size_t sizes[] = {
        100, 65535, 65536, 65537, 3u << 20, VP_JSON_EVENT_MAX, VP_JSON_EVENT_MAX + 1, 40u << 20};
    static const size_t chunks[] = {0, 4096, 70000};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        bool kept = sizes[i] <= VP_JSON_EVENT_MAX;
        size_t n, out_n;
        char *text = around(sizes[i], &n), *out;
        assert_non_null(text);
        for (size_t k = 0; k < sizeof chunks / sizeof chunks[0]; k++) {
            ex_clean_counts c;
            assert_int_equal(clean(text, n, chunks[k], &out, &out_n, &c, NULL), 0);
            assert_int_equal(c.events, kept ? 3 : 2);
            assert_int_equal(c.refused, kept ? 0 : 1);
            /* {"traceEvents":[{"a":1},\n<big>,\n{"z":1}]}\n */
            assert_int_equal(out_n, 16 + 7 + 2 + (kept ? sizes[i] + 2 : 0) + 7 + 3);
            vp_free(out);
        }
        vp_free(text);
    }
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        size_t depth = k ? 40000 : 20000, n, out_n;
        vp_buf b;
        char *out;
        ex_clean_counts c;
        vp_buf_init(&b, 1u << 20);
        vp_buf_puts(&b, "[{\"a\":");
        vp_buf_pad(&b, '[', depth);
        vp_buf_pad(&b, ']', depth);
        vp_buf_puts(&b, "},{\"b\":1}]");
        char *text = vp_buf_take(&b, &n);
        assert_int_equal(clean(text, n, 1000, &out, &out_n, &c, NULL), 0);
        assert_int_equal(c.events, k ? 1 : 2);
        assert_int_equal(c.refused, k ? 1 : 0);
        vp_free(out);
        vp_free(text);
    }
}

/* Whatever allocation fails, the caller gets an error or the right answer, and nothing leaks. */
static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    size_t n;
    char *text = around(200000, &n), *want, *out;
    size_t want_n, out_n;
    assert_int_equal(clean(text, n, 4096, &want, &want_n, NULL, NULL), 0);
    unsigned failed = 0;
    for (uint64_t k = 1; k < 100; k++) {
        vp_mem_fail_at(k, false);
        int rc = clean(text, n, 4096, &out, &out_n, NULL, NULL);
        vp_mem_fail_at(0, false);
        if (rc < 0) {
            assert_int_equal(rc, VP_ENOMEM);
            failed++;
            continue;
        }
        assert_int_equal(out_n, want_n);
        assert_memory_equal(out, want, want_n);
        vp_free(out);
    }
    assert_true(failed > 5);
    vp_free(want);
    vp_free(text);
}

static int broken_next(rd_stream *s, char **p, size_t *n)
{
    (void)s, (void)p, (void)n;
    return vp_fail(VP_EIO, "the disk is gone");
}

static void nothing_to_close(rd_stream *s)
{
    (void)s;
}

static void a_failing_source_is_passed_on(void **state)
{
    (void)state;
    rd_stream broken = {.next = broken_next, .close = nothing_to_close}, *s;
    char *p;
    size_t n;
    assert_int_equal(ex_json_clean(&s, &broken), 0);
    assert_int_equal(s->next(s, &p, &n), VP_EIO);
    rd_stream_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_hold_for_every_chunk_size),
        cmocka_unit_test(what_is_no_trace_is_refused),
        cmocka_unit_test(every_prefix_is_closed),
        cmocka_unit_test(damaged_input_gives_json),
        cmocka_unit_test(events_of_any_size),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(out_of_memory_is_an_error),
        cmocka_unit_test(a_failing_source_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
