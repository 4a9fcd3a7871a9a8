/* Perfetto-ready JSON: what must be true of single events that do not fit one another
 * (docs/reference/perfetto.md#stacking). Real files: tests/golden/test_perfetto_json.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/export/export.h"

typedef struct text {
    const char *p;
    size_t chunk;
} text;

static int open_text(void *ctx, rd_stream **out)
{
    const text *t = ctx;
    return rd_stream_memory(out, t->p, strlen(t->p), t->chunk);
}

typedef struct example {
    const char *in, *out; /* the events between the brackets */
    unsigned missing, flows;
} example;

#define P "\"pid\":1,\"tid\":"

static const example examples[] = {
    /* ends are rounded, never lengths: what touches still touches */
    {"{\"ph\":\"X\"," P "2,\"ts\":0.0006,\"dur\":0.0006},{\"ph\":\"X\"," P
     "2,\"ts\":0.0012,\"dur\":1}",
     "{\"ph\":\"X\"," P "2,\"ts\":0.001,\"dur\":0},\n{\"ph\":\"X\"," P "2,\"ts\":0.001,\"dur\":1}"},
    {"{\"ph\":\"X\"," P "2,\"ts\":1.1004,\"dur\":0.0002}",
     "{\"ph\":\"X\"," P "2,\"ts\":1.1,\"dur\":0.001}"},
    /* what fits stays byte for byte */
    {"{\"ph\":\"X\", " P "2 ,\"ts\":1.5,\"dur\":2,\"args\":{\"a\" : [1, 2]}}",
     "{\"ph\":\"X\", " P "2 ,\"ts\":1.5,\"dur\":2,\"args\":{\"a\" : [1, 2]}}"},
    /* lengths: missing, in quotes, negative, none */
    {"{\"ph\":\"X\"," P "2,\"ts\":1}", "{\"ph\":\"X\"," P "2,\"ts\":1,\"dur\":0}"},
    {"{\"ph\":\"X\"," P "2,\"ts\":\"1.25\",\"dur\":\"2\"}",
     "{\"ph\":\"X\"," P "2,\"ts\":1.25,\"dur\":2}"},
    {"{\"ph\":\"X\"," P "2,\"ts\":5,\"dur\":-3}", "{\"ph\":\"X\"," P "2,\"ts\":5,\"dur\":0}"},
    {"{\"ph\":\"X\"," P "2,\"ts\":5,\"dur\":null},{\"ph\":\"X\"," P "2,\"ts\":5,\"dur\":\"a\"},"
     "{\"ph\":\"X\"," P "2,\"ts\":\"a\",\"dur\":1}",
     "", .missing = 3},
    /* an end behind the slice around it */
    {"{\"ph\":\"X\"," P "2,\"ts\":0,\"dur\":10},{\"ph\":\"X\"," P "2,\"ts\":5,\"dur\":5.001}",
     "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":3,\"args\":{\"name\":\"2 (2)\"}},\n"
     "{\"ph\":\"X\"," P "2,\"ts\":0,\"dur\":10},\n{\"ph\":\"X\"," P "3,\"ts\":5,\"dur\":5.001}"},
    {"{\"ph\":\"M\"," P "2,\"name\":\"thread_name\",\"args\":{\"name\":\"a\\\"b\"}},"
     "{\"ph\":\"M\"," P "2,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":7}},"
     "{\"ph\":\"X\"," P "2,\"ts\":5,\"dur\":6},{\"ph\":\"X\"," P "2,\"ts\":0,\"dur\":10}",
     "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":3,\"args\":{\"name\":\"a\\\"b "
     "(2)\"}},\n"
     "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"tid\":3,\"args\":{\"sort_index\":7}}"
     ",\n"
     "{\"ph\":\"M\"," P "2,\"name\":\"thread_name\",\"args\":{\"name\":\"a\\\"b\"}},\n"
     "{\"ph\":\"M\"," P "2,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":7}},\n"
     "{\"ph\":\"X\"," P "3,\"ts\":5,\"dur\":6},\n{\"ph\":\"X\"," P "2,\"ts\":0,\"dur\":10}"},
    /* ids: 0 and none are moved, beside the pid; texts and what 32 bits do not hold get numbers */
    {"{\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":0,\"dur\":1},{\"ph\":\"X\",\"pid\":1,\"ts\":2,"
     "\"dur\":1}",
     "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":1},\n{\"ph\":\"X\",\"pid\":1,\"ts\":2,"
     "\"dur\":1,\"tid\":2}"},
    {"{\"ph\":\"X\",\"pid\":\"Spans\",\"tid\":\"a b\",\"ts\":0,\"dur\":1},"
     "{\"ph\":\"X\",\"pid\":1,\"tid\":4294967296,\"ts\":0,\"dur\":1},"
     "{\"ph\":\"X\",\"pid\":1,\"tid\":-1,\"ts\":0,\"dur\":1}",
     "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,\"args\":{\"name\":\"Spans\"}},\n"
     "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":2,\"tid\":1,\"args\":{\"name\":\"a b\"}},\n"
     "{\"ph\":\"X\",\"pid\":2,\"tid\":1,\"ts\":0,\"dur\":1},\n"
     "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":1},\n"
     "{\"ph\":\"X\",\"pid\":1,\"tid\":3,\"ts\":0,\"dur\":1}"},
    /* names and ids as they are written: escapes, bytes that are no UTF-8 */
    {"{\"ph\":\"M\"," P "2,\"name\":\"thread_name\",\"args\":{\"name\":\"\\u00e9\\ud83d\xff\"}},"
     "{\"ph\":\"X\",\"pid\":\"\\u00e9\",\"tid\":1,\"ts\":0,\"dur\":2},"
     "{\"ph\":\"X\"," P "2,\"ts\":0,\"dur\":2},{\"ph\":\"X\"," P "2,\"ts\":1,\"dur\":2}",
     "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,\"args\":{\"name\":\"\xc3\xa9\"}},\n"
     "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":3,\"args\":{\"name\":"
     "\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd (2)\"}},\n"
     "{\"ph\":\"M\"," P "2,\"name\":\"thread_name\",\"args\":{\"name\":"
     "\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\"}},\n"
     "{\"ph\":\"X\",\"pid\":2,\"tid\":1,\"ts\":0,\"dur\":2},\n"
     "{\"ph\":\"X\"," P "2,\"ts\":0,\"dur\":2},\n{\"ph\":\"X\"," P "3,\"ts\":1,\"dur\":2}"},
    /* names of threads on which nothing lies, and names that say nothing */
    {"{\"ph\":\"M\"," P "9,\"name\":\"thread_name\",\"args\":{\"name\":\"idle\"}},"
     "{\"ph\":\"M\"," P "2,\"name\":\"thread_name\",\"args\":{\"name\":\"\"}},"
     "{\"ph\":\"X\"," P "2,\"ts\":0,\"dur\":1}",
     "{\"ph\":\"X\"," P "2,\"ts\":0,\"dur\":1}"},
    /* times are lessened by a multiple of 10^12 µs, so that all are positive and whole ns are kept
     */
    {"{\"ph\":\"X\"," P "2,\"ts\":1700000000000007.123,\"dur\":1}",
     "{\"ph\":\"X\"," P "2,\"ts\":7.123,\"dur\":1}"},
    {"{\"ph\":\"X\"," P "2,\"ts\":-5.5,\"dur\":1},{\"ph\":\"X\"," P "2,\"ts\":1,\"dur\":1}",
     "{\"ph\":\"X\"," P "2,\"ts\":999999999994.5,\"dur\":1},\n{\"ph\":\"X\"," P
     "2,\"ts\":1000000000001,\"dur\":1}"},
    /* metadata has no time, whatever it says of one */
    {"{\"ph\":\"M\"," P "2,\"ts\":0,\"name\":\"thread_name\",\"args\":{\"name\":\"a\"}},"
     "{\"ph\":\"X\"," P "2,\"ts\":1700000000000007.125,\"dur\":1}",
     "{\"ph\":\"M\"," P "2,\"ts\":0,\"name\":\"thread_name\",\"args\":{\"name\":\"a\"}},\n"
     "{\"ph\":\"X\"," P "2,\"ts\":7.125,\"dur\":1}"},
    {"{\"ph\":\"X\"," P "2,\"ts\":1700000000000007,\"dur\":1},"
     "{\"ph\":\"M\"," P
     "2,\"ts\":1699999999999007,\"name\":\"thread_name\",\"args\":{\"name\":\"a\"}}",
     "{\"ph\":\"X\"," P "2,\"ts\":7,\"dur\":1},\n"
     "{\"ph\":\"M\"," P "2,\"ts\":0,\"name\":\"thread_name\",\"args\":{\"name\":\"a\"}}"},
    /* begins and ends */
    {"{\"ph\":\"B\"," P "2,\"ts\":1,\"name\":\"a\"},{\"ph\":\"E\"," P "2,\"ts\":3}",
     "{\"ph\":\"B\"," P "2,\"ts\":1,\"name\":\"a\"},\n{\"ph\":\"E\"," P "2,\"ts\":3}"},
    {"{\"ph\":\"E\"," P "2,\"ts\":3,\"name\":\"a\"}",
     "{\"ph\":\"i\"," P "2,\"ts\":3,\"name\":\"a\",\"s\":\"t\"}"},
    {"{\"ph\":\"B\"," P "2,\"ts\":1,\"name\":\"a\"},{\"ph\":\"E\"," P "2,\"ts\":1}",
     "{\"ph\":\"X\"," P "2,\"ts\":1,\"name\":\"a\",\"dur\":0}"},
    {"{\"ph\":\"B\"," P "2,\"ts\":1,\"name\":\"a\"},{\"ph\":\"B\"," P "2,\"ts\":2,\"name\":\"b\"},"
     "{\"ph\":\"E\"," P "2,\"ts\":4,\"name\":\"a\"}",
     "{\"ph\":\"B\"," P "2,\"ts\":1,\"name\":\"a\"},\n{\"ph\":\"X\"," P
     "2,\"ts\":2,\"name\":\"b\",\"dur\":2},\n"
     "{\"ph\":\"E\"," P "2,\"ts\":4,\"name\":\"a\"}"},
    {"{\"ph\":\"X\"," P "2,\"ts\":0,\"dur\":3},{\"ph\":\"B\"," P
     "2,\"ts\":1,\"name\":\"a\"},{\"ph\":\"E\"," P "2,\"ts\":4}",
     "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":3,\"args\":{\"name\":\"2 (2)\"}},\n"
     "{\"ph\":\"X\"," P "2,\"ts\":0,\"dur\":3},\n{\"ph\":\"B\"," P
     "3,\"ts\":1,\"name\":\"a\"},\n{\"ph\":\"E\"," P "3,\"ts\":4}"},
    /* flows: with the slice that starts with it, wherever it lies; two starts of one id; none */
    {"{\"ph\":\"X\"," P "2,\"ts\":5,\"dur\":3},{\"ph\":\"s\"," P
     "9,\"ts\":5,\"id\":1,\"name\":\"a\"},"
     "{\"ph\":\"X\"," P "4,\"ts\":7,\"dur\":3},{\"ph\":\"f\"," P
     "4,\"ts\":7,\"id\":1,\"name\":\"a\",\"bp\":\"e\"}",
     "{\"ph\":\"X\"," P "2,\"ts\":5,\"dur\":3},\n{\"ph\":\"s\"," P
     "2,\"ts\":5,\"id\":1,\"name\":\"a\"},\n"
     "{\"ph\":\"X\"," P "4,\"ts\":7,\"dur\":3},\n{\"ph\":\"f\"," P
     "4,\"ts\":7,\"id\":1,\"name\":\"a\",\"bp\":\"e\"}"},
    {"{\"ph\":\"s\"," P "9,\"ts\":5,\"id\":1,\"name\":\"a\"},{\"ph\":\"X\"," P
     "2,\"ts\":6,\"dur\":3}",
     "{\"ph\":\"X\"," P "2,\"ts\":6,\"dur\":3}", .flows = 1},
    {"{\"ph\":\"X\"," P "2,\"ts\":0,\"dur\":9},{\"ph\":\"s\"," P
     "2,\"ts\":1,\"id\":1},{\"ph\":\"s\"," P "2,\"ts\":2,\"id\":1}",
     "{\"ph\":\"X\"," P "2,\"ts\":0,\"dur\":9},\n{\"ph\":\"s\"," P "2,\"ts\":1,\"id\":1},\n"
     "{\"ph\":\"s\"," P "2,\"ts\":2,\"id\":4503599627370498}"},
    /* a slice of its own process, though another comes before it */
    {"{\"ph\":\"X\",\"pid\":3,\"tid\":1,\"ts\":5,\"dur\":3},{\"ph\":\"X\"," P
     "2,\"ts\":5,\"dur\":3},{\"ph\":\"s\"," P "9,\"ts\":5,\"id\":1},"
     "{\"ph\":\"s\",\"pid\":4,\"tid\":9,\"ts\":5,\"id\":2}",
     "{\"ph\":\"X\",\"pid\":3,\"tid\":1,\"ts\":5,\"dur\":3},\n{\"ph\":\"X\"," P
     "2,\"ts\":5,\"dur\":3},\n{\"ph\":\"s\"," P "2,\"ts\":5,\"id\":1},\n"
     "{\"ph\":\"s\",\"pid\":3,\"tid\":1,\"ts\":5,\"id\":2}"},
    /* counters of numbers; halves of async events that say which */
    {"{\"ph\":\"C\",\"pid\":1,\"ts\":1,\"name\":\"c\",\"args\":{\"a\":1,\"b\":null,\"c\":\"2.5\"}},"
     "{\"ph\":\"C\",\"pid\":1,\"ts\":1,\"name\":\"d\",\"args\":{}}",
     "{\"ph\":\"C\",\"pid\":1,\"ts\":1,\"name\":\"c\",\"args\":{\"a\":1,\"c\":\"2.5\"}}",
     .missing = 1},
    {"{\"ph\":\"b\",\"pid\":1,\"ts\":1},{\"ph\":\"b\",\"pid\":1,\"ts\":1,\"id2\":{\"\":1}},"
     "{\"ph\":\"b\",\"pid\":1,\"ts\":1,\"id2\":{\"local\":1}}",
     "{\"ph\":\"b\",\"pid\":1,\"ts\":1,\"id2\":{\"local\":1}}", .missing = 2},
    /* an event that is no JSON inside costs itself, and not what follows */
    {"{\"ph\":\"X\"," P "2,\"ts\":0,\"dur\":9,\"args\":{\"a\":}},{\"ph\":\"X\"," P
     "2,\"ts\":1,\"dur\":9},"
     "{\"ph\":\"X\"," P "2,\"ts\":2,\"dur\":9}",
     "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":3,\"args\":{\"name\":\"2 (2)\"}},\n"
     "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":4,\"args\":{\"name\":\"2 (3)\"}},\n"
     "{\"ph\":\"X\"," P "3,\"ts\":1,\"dur\":9},\n{\"ph\":\"X\"," P "4,\"ts\":2,\"dur\":9}",
     .missing = 1},
};

static void examples_hold_for_every_chunk_size(void **state)
{
    char in[2048], want[2048];
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        snprintf(in, sizeof in, "{\"traceEvents\":[%s]}", examples[i].in);
        char missing[80] = "";
        if (examples[i].missing || examples[i].flows)
            snprintf(missing, sizeof missing,
                     ",\"view_profile_missing\":{\"events\":%u,\"flows\":%u}", examples[i].missing,
                     examples[i].flows);
        snprintf(want, sizeof want, "{\"traceEvents\":[%s]%s}\n", examples[i].out, missing);
        for (size_t chunk = 1; chunk <= strlen(in) + 1; chunk++) {
            rd_stream *s;
            char *out = NULL;
            size_t n = 0;
            assert_int_equal(ex_json_whole(&s, &(ex_input){open_text, &(text){in, chunk}}, NULL),
                             0);
            assert_int_equal(rd_stream_slurp(s, 1 << 20, &out, &n), 0);
            if (n != strlen(want) || memcmp(out, want, n) != 0)
                fail_msg("%s\ngives %.*s\nnot   %s(chunks of %zu)", in, (int)n, out, want, chunk);
            vp_free(out);
            rd_stream_close(&s);
        }
    }
}

/* As many as there may be on the tracks of a thread, and the rest beside it. */
static void thousands_at_once_are_all_there(void **state)
{
    static char in[400000];
    size_t at = 0, n, slices = 0, begins = 0, ends = 0;
    char *out;
    rd_stream *s;
    (void)state;
    at += (size_t)sprintf(in, "[");
    for (int i = 0; i < 4000; i++)
        at += (size_t)sprintf(in + at,
                              "{\"ph\":\"X\"," P "2,\"ts\":%d,\"dur\":5000,\"name\":\"k\"},", i);
    sprintf(in + at - 1, "]");
    assert_int_equal(ex_json_whole(&s, &(ex_input){open_text, &(text){in, 0}}, NULL), 0);
    assert_int_equal(rd_stream_slurp(s, 1 << 24, &out, &n), 0);
    for (const char *p = out; (p = memmem(p, n - (size_t)(p - out), "\"ph\":\"", 6)); p += 6) {
        slices += p[6] == 'X';
        begins += p[6] == 'b';
        ends += p[6] == 'e';
    }
    assert_int_equal(slices, 32);
    assert_int_equal(begins, 4000 - 32);
    assert_int_equal(ends, begins);
    vp_free(out);
    rd_stream_close(&s);
}

/* As many slices start with them on another thread: whoever looked at all of both would never end.
 */
static void flows_of_one_moment_find_a_slice(void **state)
{
    enum { N = 300000 };
    size_t room = (size_t)N * 128, at = 0, n, moved = 0;
    char *in = vp_calloc(room, 1), *out;
    rd_stream *s;
    (void)state;
    assert_non_null(in);
    in[at++] = '[';
    for (int i = 0; i < N; i++)
        at += (size_t)snprintf(in + at, room - at,
                               "{\"ph\":\"X\"," P "1,\"ts\":5,\"dur\":9},{\"ph\":\"s\"," P
                               "2,\"ts\":5,\"id\":%d},",
                               i);
    in[at - 1] = ']';
    assert_int_equal(ex_json_whole(&s, &(ex_input){open_text, &(text){in, 0}}, NULL), 0);
    assert_int_equal(rd_stream_slurp(s, 1 << 26, &out, &n), 0);
    for (const char *p = out, *end = out + n; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        moved += end - p > 27 && !memcmp(p, "\n{\"ph\":\"s\"," P, 25) && p[25] != '2';
    assert_int_equal(moved, N);
    vp_free(out);
    vp_free(in);
    rd_stream_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_hold_for_every_chunk_size),
        cmocka_unit_test(thousands_at_once_are_all_there),
        cmocka_unit_test(flows_of_one_moment_find_a_slice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
