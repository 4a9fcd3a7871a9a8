/* The JSON reader on hand-written inputs: containers, phases, times, oddities. What it must say
 * about them follows from the Trace Event Format, docs/reference/formats.md#trace-event-json and
 * the traces' README; figures are worked out in the comments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/json_sink.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

#define US INT64_C(1000000) /* ps */

static int read_chunks(rec *r, const char *p, size_t n, size_t chunk, const rd_options *opts)
{
    rd_stream *in;
    assert_int_equal(rd_stream_memory(&in, p, n, chunk), 0);
    if (opts && opts->threads > 1)
        in->raw_total = INT64_MAX; /* worth threads, however short it is */
    int rc = cj_read(&r->s, in, opts);
    rd_stream_close(&in);
    return rc;
}

static rec *read_ok(const char *text)
{
    rec *r = rec_new();
    assert_int_equal(read_chunks(r, text, strlen(text), 0, NULL), 0);
    return r;
}

static const rec_quality *quality_of(const rec *r, const char *code)
{
    for (size_t i = 0; i < r->quality_n; i++)
        if (!strcmp(r->quality[i].code, code))
            return &r->quality[i];
    return NULL;
}

static const char *event_name(const rec *r, size_t i)
{
    return r->kinds[r->events[i].kind].k.name.p;
}

static const rec_track *event_track(const rec *r, size_t i)
{
    return &r->tracks[r->events[i].track];
}

static const char *event_process(const rec *r, size_t i)
{
    return r->processes[event_track(r, i)->process].name;
}

/* The only event named so. */
static size_t find_event(const rec *r, const char *name)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < r->event_n; i++)
        if (!strcmp(event_name(r, i), name)) {
            assert_int_equal(found, SIZE_MAX);
            found = i;
        }
    assert_int_not_equal(found, SIZE_MAX);
    return found;
}

static void check_event(const rec *r, const char *name, int64_t start_ps, int64_t dur_ps)
{
    size_t i = find_event(r, name);
    assert_int_equal(r->events[i].start_ps, start_ps);
    assert_int_equal(r->events[i].dur_ps, dur_ps);
}

/* ---- containers ---- */

#define EVENT(name) "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":5,\"name\":\"" name "\"}"

static void check_names(const char *text, const char *names, const char *quality)
{
    rec *r = read_ok(text);
    char got[256] = "";
    for (size_t i = 0; i < r->event_n; i++)
        strcat(strcat(got, i ? " " : ""), event_name(r, i));
    assert_string_equal(got, names);
    if (quality)
        assert_non_null(quality_of(r, quality));
    else
        assert_int_equal(r->quality_n, 0);
    rec_free(r);
}

static void test_containers(void **state)
{
    (void)state;
    check_names("{\"traceEvents\":[" EVENT("a") "," EVENT("b") "]}", "a b", NULL);
    check_names("[" EVENT("a") ",\n" EVENT("b") "]", "a b", NULL);
    check_names("\xef\xbb\xbf[" EVENT("a") "]\n", "a", NULL);
    check_names("  \r\n\t{\"x\":{\"y\":[1,{\"traceEvents\":[" EVENT(
                    "no") "]}]},\"s\":\"]}\\\"\","
                          "\"traceEvents\" : [ " EVENT("a") " ] , \"z\":[[[]]],\"t\":null}",
                "a", NULL);
    check_names("{\"traceEvents\":[" EVENT("a") "],\"traceEvents\":[" EVENT("b") "]}", "a b", NULL);
    check_names("{\"traceEvents\":null,\"traceEvents\":[" EVENT("a") "]}", "a", NULL);
    check_names("[" EVENT("a") ",]", "a", NULL);
    check_names("{\"traceEvents\":[" EVENT("a") ",{}]}", "a", NULL);
    check_names(EVENT("a") "\n" EVENT("b") "\n", "a b", NULL);
    check_names("[" EVENT("a") "]\n[" EVENT("b") "]", "a b", NULL);
    check_names("[" EVENT("a") "]\nEOF", "a", "trailing-data");
}

static void named(char *out, const char *layout, char name)
{
    strcpy(out, layout);
    *strchr(out, '@') = name;
}

/* Writers change their layout from event to event: what the event before looked like must not show
 * in the next. Every pair of layouts, and each one after itself. */
static void test_layouts_may_change(void **state)
{
    static const char *const layouts[] = {
        "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":5,\"name\":\"@\"}",
        "{\"ph\": \"X\", \"pid\": 1, \"tid\": 2, \"ts\": 10, \"dur\": 5, \"name\": \"@\"}",
        "{\"ph\":  \"X\",\"pid\":\n1,\"tid\":\t2,\"ts\":   10,\"dur\": 5,\"name\":\n\n\"@\"}",
        "{\n  \"name\": \"@\",\n  \"dur\": 5,\n  \"ts\": 10,\n  \"ph\": \"X\",\n  \"pid\": 1,\n  "
        "\"tid\": 2\n}",
        "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"tx\":99,\"ts\":10,\"dur\":5,\"name\":\"@\"}",
        "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":10,\"dux\":7,\"dur\":5,\"name\":\"@\",}",
        "{\"a key that is longer than what is remembered of a layout\":{},\"ph\":\"X\",\"pid\":1,"
        "\"tid\":2,\"ts\":10,\"dur\":5,\"name\":\"@\"}",
        "{,,\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":5,\"name\":\"@\"}"};
    enum { N = sizeof layouts / sizeof *layouts };
    char text[1024], first[400], second[400];
    (void)state;
    for (size_t i = 0; i < N * N; i++) {
        named(first, layouts[i / N], 'a');
        named(second, layouts[i % N], 'b');
        snprintf(text, sizeof text, "[%s,%s]", first, second);
        rec *r = read_ok(text);
        assert_int_equal(r->event_n, 2);
        check_event(r, "a", 10 * US, 5 * US);
        check_event(r, "b", 10 * US, 5 * US);
        rec_free(r);
    }
}

/* More layouts than are remembered at one place, and than fit, in a file that goes from one to
 * another. */
static void test_layouts_are_forgotten(void **state)
{
    enum { KEYS = 9, EVENTS = 400 };
    char *text, key[KEYS + 1];
    size_t n;
    FILE *f = open_memstream(&text, &n);
    (void)state;
    fputc('[', f);
    for (int i = 0; i < EVENTS; i++) {
        memset(key, 'k', sizeof key);
        key[i % KEYS] = 0;
        fprintf(f, "%s{\"%s\":%d,\"ph\":\"X\",\"%s%d\":[],\"ts\":%d,\"dur\":1,\"name\":\"%d\"}",
                i ? "," : "", key, i, key, i / 40, i, i);
    }
    fputc(']', f);
    fclose(f);
    rec *r = read_ok(text);
    assert_int_equal(r->event_n, EVENTS);
    for (size_t i = 0; i < EVENTS; i++) {
        assert_int_equal(r->events[i].start_ps, (int64_t)i * US);
        assert_int_equal(strtoul(event_name(r, i), NULL, 10), i);
    }
    rec_free(r);
    free(text);
}

static void test_events_among_junk_are_found(void **state)
{
    (void)state;
    check_names("[1,\"x]\",null,[[{}]]," EVENT("a") ",}" EVENT("b") "]", "a b", "bad-event");
    check_names(
        "[{\"ph\":\"X\" \"name\"}," EVENT("a") ",{ph:\"X\",\"args\":{\"}\":1}}," EVENT("b") "]",
        "a b", "bad-event");
    rec *r = read_ok("[1," EVENT("a") ",[2],{\"ph\":1}]");
    const rec_quality *q = quality_of(r, "bad-event");
    assert_int_equal(q->event, 0);
    assert_int_equal(q->byte, 1);
    assert_true(q->partial);
    assert_non_null(strstr(q->message, "3 events")); /* 1, [2] and the one without a phase */
    rec_free(r);
}

static void test_a_cut_off_file_gives_its_prefix(void **state)
{
    (void)state;
    const char *cut = "{\"traceEvents\":[" EVENT("a") ",{\"ph\":\"X\",\"na";
    rec *r = read_ok(cut);
    const rec_quality *q = quality_of(r, "truncated");
    assert_int_equal(r->event_n, 1);
    assert_int_equal(q->event, 1);
    assert_int_equal(q->byte, strlen("{\"traceEvents\":[" EVENT("a") ","));
    assert_true(q->partial);
    rec_free(r);

    r = read_ok("[" EVENT("a") ","); /* the format allows it: crash-safe writers */
    assert_int_equal(quality_of(r, "truncated")->severity, SINK_INFO);
    assert_false(quality_of(r, "truncated")->partial);
    rec_free(r);

    r = read_ok("{\"traceEvents\":[" EVENT("a") "]");
    assert_false(quality_of(r, "truncated")->partial);
    rec_free(r);
}

static void check_refused(const char *text, int code)
{
    rec *r = rec_new();
    assert_int_equal(read_chunks(r, text, strlen(text), 0, NULL), code);
    assert_int_equal(vp_error_last()->code, code);
    rec_free(r);
}

static void test_what_holds_no_events_is_refused(void **state)
{
    (void)state;
    check_refused("{\"schema\":\"1.0.1\",\"nodes\":[{\"id\":1,\"name\":\"[pytorch]\"}]}",
                  VP_EEMPTY);
    check_refused("[]", VP_EEMPTY);
    check_refused("{}", VP_EEMPTY);
    check_refused("", VP_EEMPTY);
    check_refused("[[1,2],[3,4]]", VP_EEMPTY);
    check_refused("{\"traceEvents\":[]}", VP_EEMPTY);
    check_refused("version https://git-lfs.github.com/spec/v1\n", VP_ECORRUPT);
    check_refused("{\"metadata\":{\"a\":", VP_ECORRUPT);
    check_refused("[{\"ph\":\"X\"", VP_ECORRUPT);
}

static void test_metadata_alone_is_an_empty_trace(void **state)
{
    (void)state;
    rec *r = read_ok("{\"traceEvents\":[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\","
                     "\"args\":{\"name\":\"/host:CPU\"}},{}]}");
    assert_int_equal(r->event_n, 0);
    assert_int_equal(r->quality_n, 0);
    rec_free(r);
}

/* ---- values ---- */

static void test_times_are_exact(void **state)
{
    (void)state;
    rec *r =
        read_ok("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1212219.252076,\"dur\":4.4153659999999997},"
                "{\"ph\":\"X\",\"name\":\"b\",\"ts\":\"5.1\",\"dur\":\"500.1\",\"pid\":\"3\","
                "\"tid\":\"4\"},"
                "{\"ph\":\"X\",\"name\":\"c\",\"ts\":-17000,\"dur\":9.9999999999999995e-07},"
                "{\"ph\":\"X\",\"name\":\"d\",\"ts\":1e3},"
                "{\"ph\":\"X\",\"name\":\"e\",\"ts\":0.0000005,\"dur\":0.0000015},"
                "{\"ph\":\"X\",\"name\":\"f\",\"ts\":7,\"dur\":-0.5}]");
    check_event(r, "a", INT64_C(1212219252076), 4415366);
    check_event(r, "b", 5100000, 500100000);
    check_event(r, "c", -17000 * US, 1);
    check_event(r, "d", 1000 * US, 0);
    check_event(r, "e", 0, 2); /* half to even */
    check_event(r, "f", 7 * US, 0);
    assert_non_null(quality_of(r, "negative-duration"));
    assert_int_equal(quality_of(r, "negative-duration")->event, 5);
    assert_false(r->has_base);
    rec_free(r);
}

/* 1.7e15 µs are 1.7e21 ps: relative to the first event everything fits, to the picosecond. */
static void test_unix_times_are_relative_to_the_first(void **state)
{
    (void)state;
    rec *r = read_ok("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1700000000000000.123,\"dur\":1},"
                     "{\"ph\":\"X\",\"name\":\"b\",\"ts\":1699999999999999.999,\"dur\":1}]");
    check_event(r, "a", 123000, US);
    check_event(r, "b", -1000, US);
    assert_true(r->has_base);
    assert_int_equal(r->base_ns, INT64_C(1700000000000000000));
    rec_free(r);
    r = read_ok("[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1.7e15}]");
    assert_int_equal(r->base_ns, INT64_C(1700000000000000000));
    check_event(r, "a", 0, 0);
    rec_free(r);
}

/* Events that have no time say 0: they are left out, and cost none of the others. */
static void test_zeros_before_unix_times_are_no_times(void **state)
{
    (void)state;
    rec *r =
        read_ok("[{\"ph\":\"i\",\"name\":\"z\",\"ts\":0},{\"ph\":\"X\",\"name\":\"y\",\"ts\":0,"
                "\"dur\":3},{\"ph\":\"X\",\"name\":\"a\",\"ts\":1700000000000005,\"dur\":1},"
                "{\"ph\":\"X\",\"name\":\"b\",\"ts\":1700000000000000,\"dur\":1},"
                "{\"ph\":\"i\",\"name\":\"w\",\"ts\":0.0}]");
    assert_int_equal(r->event_n, 2);
    check_event(r, "a", 0, US);
    check_event(r, "b", -5 * US, US);
    assert_int_equal(r->base_ns, INT64_C(1700000000000005000));
    const rec_quality *told = quality_of(r, "no-time");
    assert_non_null(told);
    assert_true(!strncmp(told->message, "3 events", 8) && told->event == 0);
    assert_null(quality_of(r, "bad-event"));
    rec_free(r);
    r = read_ok("[{\"ph\":\"i\",\"name\":\"z\",\"ts\":0},{\"ph\":\"i\",\"name\":\"y\",\"ts\":0}]");
    check_event(r, "z", 0, 0);
    check_event(r, "y", 0, 0);
    rec_free(r);
    r = read_ok("[{\"ph\":\"i\",\"name\":\"z\",\"ts\":0},{\"ph\":\"i\",\"name\":\"a\",\"ts\":1},"
                "{\"ph\":\"i\",\"name\":\"far\",\"ts\":1700000000000000},"
                "{\"ph\":\"i\",\"name\":\"b\",\"ts\":2}]");
    check_event(r, "b", 2 * US, 0);
    assert_non_null(quality_of(r, "bad-event"));
    rec_free(r);
}

/* Kineto: µs since baseTimeNanoseconds; 2211714153399.54 µs after 1751410836 s. */
static void test_kineto_says_its_base(void **state)
{
    (void)state;
    rec *r = read_ok("{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":2211714153399.54,"
                     "\"dur\":1}],\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":"
                     "1751410836000000000}");
    check_event(r, "a", 540000, US);
    assert_int_equal(r->base_ns, INT64_C(1751410836000000000) + INT64_C(2211714153399000));
    rec_free(r);
    r = read_ok("{\"baseTimeNanoseconds\": 5000 ,\"traceEvents\":[" EVENT("a") "]}");
    check_event(r, "a", 10 * US, 5 * US);
    assert_int_equal(r->base_ns, 5000);
    rec_free(r);
}

static void check_model(const char *before, const char *after, const char *model)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "{%s\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":3,\"tid\":7,"
        "\"ts\":1,\"dur\":1,\"args\":{\"device\":3}}]%s}",
        before, after);
    rec *r = read_ok(text);
    assert_string_equal(event_process(r, 0), "GPU 3");
    assert_string_equal(r->processes[event_track(r, 0)->process].model, model);
    assert_int_equal(r->quality_n, 0);
    rec_free(r);
}

static void test_kineto_names_the_model(void **state)
{
    (void)state;
    check_model(
        "\"deviceProperties\":[{\"id\":2,\"name\":\"a\"},{\"name\":\"b\",\"x\":[{}],\"id\":3}],",
        "", "b");
    check_model("", ",\"deviceProperties\": [ {\"id\": 3, \"name\": \"b]\"} ]", "b]");
    check_model("", ",\"deviceProperties\":[{\"id\":0,\"name\":\"b\"},{\"id\":1,\"name\":\"b\"}]",
                "b");
    check_model("", ",\"deviceProperties\":[{\"id\":0,\"name\":\"a\"},{\"id\":1,\"name\":\"b\"}]",
                "");
    check_model("\"deviceProperties\":[],", "", "");
    check_model("\"deviceProperties\":{\"id\":3,\"name\":\"b\"},", "", "");
    check_model("\"deviceProperties\":[{\"id\":{},\"name\":3},[[]],7],", "", "");
}

static void test_events_without_a_time_are_counted(void **state)
{
    (void)state;
    rec *r = read_ok("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":NaN,\"dur\":1},"
                     "{\"ph\":\"X\",\"name\":\"b\"},{\"ph\":\"X\",\"ts\":\"invalid\"},"
                     "{\"ph\":\"X\",\"ts\":{},\"dur\":1},{\"ph\":\"X\",\"ts\":1,\"dur\":null},"
                     "{\"ph\":\"X\",\"ts\":1,\"dur\":\"invalid\"},{\"ph\":\"i\",\"ts\":Infinity},"
                     "{\"ph\":\"X\",\"ts\":1e300},{\"ph\":\"B\",\"ts\":\"\"}]");
    assert_int_equal(r->event_n, 0);
    assert_non_null(strstr(quality_of(r, "bad-event")->message, "9 events"));
    assert_int_equal(quality_of(r, "bad-event")->event, 0);
    rec_free(r);
}

static void test_names_become_valid_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *json, *utf8;
    } cases[] = {
        {"a\\\"\\\\\\/b", "a\"\\/b"},
        {"\\b\\f\\n\\r\\t", "\b\f\n\r\t"},
        {"\\u00e9\\u20AC", "\xc3\xa9\xe2\x82\xac"},
        {"\\ud83d\\ude00", "\xf0\x9f\x98\x80"},
        {"\\ud83d!", "\xef\xbf\xbd!"},
        {"\\ude00\\ud83d", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\\ud83d\\u0041", "\xef\xbf\xbd"
                           "A"},
        {"\\u12", "\xef\xbf\xbd"
                  "12"},
        {"\\q", "q"},
        {"raw\x01\x1f\n", "raw\x01\x1f\n"},
        {"\xff\xc3(\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\\\xc3\xa9", "\xc3\xa9"},
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "[{\"ph\":\"i\",\"ts\":1,\"name\":\"%s\"}]", cases[i].json);
        rec *r = read_ok(text);
        assert_string_equal(event_name(r, 0), cases[i].utf8);
        rec_free(r);
    }
    rec *r = read_ok("[{\"ph\":\"i\",\"ts\":1,\"name\":\"a\\u0000b\"}]");
    assert_int_equal(r->kinds[0].k.name.n, 3);
    assert_memory_equal(r->kinds[0].k.name.p, "a\0b", 3);
    rec_free(r);
}

/* "7", 7 and 7.0 are one process; words, unsigned 64-bit ids and negative ones are their own. */
static void test_pids_and_tids(void **state)
{
    (void)state;
    rec *r = read_ok("[{\"ph\":\"i\",\"ts\":1,\"pid\":7,\"tid\":1},"
                     "{\"ph\":\"i\",\"ts\":1,\"pid\":\"7\",\"tid\":\"1\"},"
                     "{\"ph\":\"i\",\"ts\":1,\"pid\":7.0,\"tid\":1},"
                     "{\"ph\":\"i\",\"ts\":1,\"pid\":\"Spans\",\"tid\":\"stream 7\"},"
                     "{\"ph\":\"i\",\"ts\":1,\"pid\":\"Spans\",\"tid\":\"stream 7\"},"
                     "{\"ph\":\"i\",\"ts\":1,\"pid\":-1,\"tid\":18446744073709551615},"
                     "{\"ph\":\"i\",\"ts\":1,\"pid\":\"\",\"tid\":\"\"},"
                     "{\"ph\":\"i\",\"ts\":1,\"pid\":7,\"tid\":2},"
                     "{\"ph\":\"i\",\"ts\":1}]");
    const uint32_t want[] = {0, 0, 0, 1, 1, 2, 3, 4, 5};
    assert_int_equal(r->event_n, 9);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(r->events[i].track, want[i]);
    assert_int_equal(r->process_n, 5);
    assert_string_equal(event_process(r, 3), "Spans");
    assert_string_equal(event_track(r, 3)->name, "stream 7");
    assert_int_equal(r->processes[0].id, 7);
    assert_int_equal(r->tracks[2].id, -1); /* its bits */
    rec_free(r);
}

/* ---- phases ---- */

static void test_begin_and_end_nest(void **state)
{
    (void)state;
    rec *r = read_ok("[{\"ph\":\"B\",\"ts\":10,\"name\":\"outer\"},"
                     "{\"ph\":\"B\",\"ts\":11,\"name\":\"inner\"},"
                     "{\"ph\":\"B\",\"ts\":5,\"tid\":9,\"name\":\"elsewhere\"},"
                     "{\"ph\":\"E\",\"ts\":12},"
                     "{\"ph\":\"E\",\"ts\":15,\"name\":\"outer\"},"
                     "{\"ph\":\"E\",\"ts\":16,\"tid\":9}]");
    check_event(r, "outer", 10 * US, 5 * US);
    check_event(r, "inner", 11 * US, 1 * US);
    check_event(r, "elsewhere", 5 * US, 11 * US);
    assert_int_equal(r->quality_n, 0);
    rec_free(r);
}

/* An end of another name closes nothing; an end further out closes what lies on it; what is never
 * closed ends with its track, at 30. */
static void test_unbalanced_begin_and_end(void **state)
{
    (void)state;
    rec *r = read_ok("[{\"ph\":\"E\",\"ts\":1,\"name\":\"never\"},"
                     "{\"ph\":\"B\",\"ts\":2,\"name\":\"open\"},"
                     "{\"ph\":\"B\",\"ts\":3,\"name\":\"outer\"},"
                     "{\"ph\":\"B\",\"ts\":4,\"name\":\"inner\"},"
                     "{\"ph\":\"E\",\"ts\":5,\"name\":\"other\"},"
                     "{\"ph\":\"E\",\"ts\":6,\"name\":\"outer\"},"
                     "{\"ph\":\"X\",\"ts\":20,\"dur\":10,\"name\":\"last\"}]");
    check_event(r, "open", 2 * US, 28 * US);
    check_event(r, "outer", 3 * US, 3 * US);
    check_event(r, "inner", 4 * US, 2 * US);
    assert_int_equal(r->quality_n, 2); /* 2 ends without begin, 2 begins without an end */
    assert_string_equal(r->quality[0].code, "unbalanced");
    assert_non_null(strstr(r->quality[0].message, "2 events"));
    assert_non_null(strstr(r->quality[1].message, "2 events"));
    rec_free(r);
}

static void test_begin_and_end_out_of_order(void **state)
{
    (void)state;
    rec *r = read_ok("[{\"ph\":\"E\",\"ts\":10,\"name\":\"alpha\"},"
                     "{\"ph\":\"E\",\"ts\":9,\"name\":\"beta\"},"
                     "{\"ph\":\"B\",\"ts\":1,\"name\":\"beta\"},"
                     "{\"ph\":\"B\",\"ts\":0,\"name\":\"alpha\"}]");
    check_event(r, "alpha", 0, 10 * US);
    check_event(r, "beta", 1 * US, 8 * US);
    assert_int_equal(r->quality_n, 0);
    rec_free(r);
}

/* b/e by category and id, across threads; S/F of the same id are another pair; a local id belongs
 * to its process. */
static void test_async_events(void **state)
{
    (void)state;
    rec *r = read_ok("[{\"ph\":\"b\",\"cat\":\"net\",\"id\":\"0x1\",\"ts\":1,\"pid\":1,\"tid\":1,"
                     "\"name\":\"req\"},"
                     "{\"ph\":\"n\",\"cat\":\"net\",\"id\":\"0x1\",\"ts\":2,\"pid\":1,\"tid\":1,"
                     "\"name\":\"mark\"},"
                     "{\"ph\":\"S\",\"cat\":\"net\",\"id\":\"0x1\",\"ts\":3,\"pid\":1,\"tid\":1,"
                     "\"name\":\"old\"},"
                     "{\"ph\":\"e\",\"cat\":\"net\",\"id\":\"0x1\",\"ts\":9,\"pid\":1,\"tid\":2,"
                     "\"name\":\"req\"},"
                     "{\"ph\":\"F\",\"cat\":\"net\",\"id\":\"0x1\",\"ts\":8,\"pid\":1,\"tid\":1,"
                     "\"name\":\"old\"},"
                     "{\"ph\":\"b\",\"cat\":\"io\",\"id2\":{\"local\":\"7\"},\"ts\":1,\"pid\":1,"
                     "\"name\":\"l1\"},"
                     "{\"ph\":\"b\",\"cat\":\"io\",\"id2\":{\"local\":\"7\"},\"ts\":2,\"pid\":2,"
                     "\"name\":\"l2\"},"
                     "{\"ph\":\"e\",\"cat\":\"io\",\"id2\":{\"local\":\"7\"},\"ts\":4,\"pid\":1},"
                     "{\"ph\":\"e\",\"cat\":\"io\",\"id2\":{\"local\":\"7\"},\"ts\":6,\"pid\":2}]");
    check_event(r, "req", 1 * US, 8 * US);
    check_event(r, "mark", 2 * US, 0);
    check_event(r, "old", 3 * US, 5 * US);
    check_event(r, "l1", 1 * US, 3 * US);
    check_event(r, "l2", 2 * US, 4 * US);
    assert_int_equal(r->event_n, 5);
    assert_int_equal(r->quality_n, 0);
    assert_string_equal(event_track(r, find_event(r, "req"))->name, "async net");
    assert_string_equal(event_track(r, find_event(r, "l1"))->name, "async io");
    assert_int_not_equal(r->events[find_event(r, "l1")].track,
                         r->events[find_event(r, "l2")].track);
    assert_int_equal(event_track(r, 0)->role, SINK_ROLE_PLAIN);
    rec_free(r);
}

static void test_every_phase_is_accounted_for(void **state)
{
    (void)state;
    static const char phases[] = "CstfNODPvVc()=";
    for (const char *ph = phases; *ph; ph++) {
        char text[128];
        snprintf(text, sizeof text, "[{\"ph\":\"%c\",\"ts\":1,\"pid\":1,\"name\":\"x\"}]", *ph);
        rec *r = read_ok(text);
        assert_int_equal(r->skipped, 1);
        assert_int_equal(r->event_n + r->quality_n, 0);
        rec_free(r);
    }
    rec *r = read_ok(
        "[{\"ph\":\"i\",\"ts\":1},{\"ph\":\"I\",\"ts\":2},{\"ph\":\"R\",\"ts\":3},"
        "{\"ph\":\"?\",\"ts\":4},{\"ph\":\"\\u0000\"},{\"ph\":\"XXX\",\"ts\":5,\"dur\":1}]");
    assert_int_equal(r->event_n, 4);
    assert_int_equal(quality_of(r, "unknown-phase")->severity, SINK_INFO);
    assert_non_null(strstr(quality_of(r, "unknown-phase")->message, "2 events"));
    rec_free(r);
}

static void test_names_may_come_late(void **state)
{
    (void)state;
    rec *r = read_ok(
        "[" EVENT("a") ",{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\","
                       "\"args\":{\"name\":\"w\\u00f6rker\"}},{\"ph\":\"M\",\"pid\":1,\"name\":"
                       "\"process_name\",\"args\":{\"labels\":\"x\",\"name\":\"trainer\"}}]");
    assert_string_equal(event_process(r, 0), "trainer");
    assert_string_equal(event_track(r, 0)->name, "w\xc3\xb6rker");
    assert_int_equal(event_track(r, 0)->id, 2);
    rec_free(r);
}

/* ---- devices ---- */

/* A device by a text of any length is called so, as far as 40 characters; `pid` and `args` alike.
 */
static void test_devices_with_texts(void **state)
{
    (void)state;
    static const char d[] = "DDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDD";
    for (int n = 1; n < 64; n++) {
        char text[512], want[64];
        snprintf(want, sizeof want, "GPU %.*s", n < 40 ? n : 40, d);
        snprintf(
            text, sizeof text,
            "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"ts\":1,\"dur\":5,\"pid\":\"%.*s\","
            "\"tid\":7},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",\"ts\":1,\"dur\":5,\"pid\":"
            "1,"
            "\"tid\":7,\"args\":{\"device\":\"\\u0044%.*s\"}}]",
            n, d, n - 1, d);
        rec *r = read_ok(text);
        assert_string_equal(event_process(r, find_event(r, "a")), want);
        assert_string_equal(event_process(r, find_event(r, "b")), want);
        rec_free(r);
    }
}

/* Categories of any year, the device from args or else the pid, streams by (pid, tid). */
static void test_kineto_device_work(void **state)
{
    (void)state;
    rec *r = read_ok(
        "{\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":2,"
        "\"args\":{\"device\":0,\"stream\":7}},"
        "{\"ph\":\"X\",\"cat\":\"Memcpy\",\"name\":\"m\",\"pid\":1,\"tid\":7,\"ts\":3,\"dur\":1,"
        "\"args\":{\"Bytes\":4096,\"device\":0}},"
        "{\"ph\":\"X\",\"cat\":\"gpu_memset\",\"name\":\"s\",\"pid\":3,\"tid\":\"stream "
        "9\",\"ts\":4,"
        "\"dur\":1,\"args\":{\"bytes\":\"16\"}},"
        "{\"ph\":\"X\",\"cat\":\"mtia_ccp_events\",\"name\":\"t\",\"pid\":5,\"tid\":1,\"ts\":5,"
        "\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"u\",\"pid\":0,\"tid\":7,\"ts\":1}"
        ","
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"c\",\"pid\":9,\"tid\":9,\"ts\":1,"
        "\"args\":{\"hlo_op\":\"x\"}},"
        "{\"ph\":\"M\",\"pid\":0,\"tid\":7,\"name\":\"thread_name\",\"args\":{\"name\":\"stream 7 "
        "\"}}"
        "]}");
    assert_string_equal(event_process(r, find_event(r, "k")), "GPU 0");
    assert_string_equal(event_process(r, find_event(r, "m")), "GPU 0");
    assert_string_equal(event_process(r, find_event(r, "s")), "GPU 3");
    assert_string_equal(event_process(r, find_event(r, "t")), "MTIA 5");
    assert_int_equal(r->processes[event_track(r, find_event(r, "s"))->process].ordinal, 3);
    assert_int_equal(r->processes[event_track(r, find_event(r, "t"))->process].kind,
                     SINK_PROCESS_OTHER);
    assert_string_equal(event_track(r, find_event(r, "k"))->name, "stream 7");
    assert_string_equal(event_track(r, find_event(r, "m"))->name, "stream 7");
    assert_string_equal(event_track(r, find_event(r, "s"))->name, "stream 9");
    assert_int_not_equal(r->events[0].track, r->events[1].track);
    const sink_kind *m = &r->kinds[r->events[find_event(r, "m")].kind].k;
    assert_string_equal(m->category.p, "memcpy");
    assert_int_equal(m->bytes, 4096);
    assert_true(m->is_op);
    assert_int_equal(r->kinds[r->events[find_event(r, "s")].kind].k.bytes, 16);
    for (size_t i = 0; i < r->event_n; i++)
        assert_int_equal(event_track(r, i)->role, *event_name(r, i) == 'c'   ? SINK_ROLE_PLAIN
                                                  : *event_name(r, i) == 'u' ? SINK_ROLE_DERIVED
                                                                             : SINK_ROLE_OPS);
    assert_false(r->kinds[r->events[find_event(r, "u")].kind].k.is_op);
    rec_free(r);
}

#define XLA_NAMES                                                                                  \
    "{\"ph\":\"M\",\"pid\":3,\"name\":\"process_name\",\"args\":{\"name\":\"/device:TPU:0\"}},"    \
    "{\"ph\":\"M\",\"pid\":3,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":\"Steps\"}},"   \
    "{\"ph\":\"M\",\"pid\":3,\"tid\":3,\"name\":\"thread_name\",\"args\":{\"name\":\"XLA Ops\"}}," \
    "{\"ph\":\"M\",\"pid\":4,\"name\":\"process_name\",\"args\":{\"name\":\"/device:GPU:1\"}},"    \
    "{\"ph\":\"M\",\"pid\":4,\"tid\":22,\"name\":\"thread_name\",\"args\":{\"name\":"              \
    "\"Stream #22(MemcpyH2D)\"}}"
#define XLA_OP                                                                                     \
    "{\"ph\":\"X\",\"pid\":3,\"tid\":3,\"ts\":100,\"dur\":8.5,\"name\":\"psum.1\",\"args\":{"      \
    "\"hlo_category\":\"all-reduce\",\"long_name\":\"%psum.1 = f32[8]{0} all-reduce(f32[8] %x)\"," \
    "\"bytes_accessed\":\"64\",\"model_flops\":\"7\",\"flops\":\"9\",\"tf_op\":\"jit(f)/psum:\","  \
    "\"source\":\"a.py:3\",\"hlo_module\":\"jit_f\",\"program_id\":\"-5\","                        \
    "\"shape_with_layout\":\"f32[8]{0}\",\"device_offset_ps\":\"200000000\","                      \
    "\"device_duration_ps\":7000000}}"
#define XLA_COPY                                                                                   \
    "{\"ph\":\"X\",\"pid\":4,\"tid\":22,\"ts\":1,\"dur\":2,\"name\":\"MemcpyH2D\",\"args\":{"      \
    "\"memcpy_details\":\"kind_src:pinned kind_dst:device size:512 dest:0 async:1\"}}"
#define XLA_STEP "{\"ph\":\"X\",\"pid\":3,\"tid\":2,\"ts\":90,\"dur\":20,\"name\":\"1\"}"

/* Kineto's marks of the recording itself (its real ones, of a run without GPU) are no work; a pid
 * "" is, where nothing says that Kineto wrote the file, and so is a process that is named Spans. */
static void test_kineto_marks_are_no_work(void **state)
{
    (void)state;
    rec *r = read_ok(
        "[{\"ph\":\"X\",\"name\":\"early\",\"pid\":\"\",\"tid\":\"t\",\"ts\":1,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"work\",\"pid\":7,\"tid\":7,\"ts\":2,\"dur\":3}"
        ","
        "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler (0)\",\"pid\":\"Spans\","
        "\"tid\":\"PyTorch Profiler\",\"ts\":1,\"dur\":90},"
        "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Iteration Start: PyTorch Profiler\","
        "\"pid\":\"Traces\",\"tid\":\"Trace PyTorch Profiler\",\"ts\":1},"
        "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Record Window "
        "End\",\"pid\":\"\",\"tid\":\"\",\"ts\":91}]");
    assert_int_equal(r->event_n, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(event_track(r, i)->role, i < 2 ? SINK_ROLE_PLAIN : SINK_ROLE_DERIVED);
    rec_free(r);
    r = read_ok("[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":\"Spans\",\"args\":{\"name\":"
                "\"Spans\"}},{\"ph\":\"i\",\"pid\":\"Spans\",\"tid\":\"a\",\"ts\":1},"
                "{\"ph\":\"i\",\"pid\":\"Spans\",\"tid\":3,\"ts\":1}]");
    assert_int_equal(event_track(r, 0)->role, SINK_ROLE_PLAIN);
    assert_int_equal(event_track(r, 1)->role, SINK_ROLE_PLAIN);
    rec_free(r);
}

static void check_xla(const char *text)
{
    rec *r = read_ok(text);
    size_t op = find_event(r, "psum.1"), copy = find_event(r, "MemcpyH2D");
    const sink_event *e = &r->events[op];
    const sink_kind *k = &r->kinds[e->kind].k;
    assert_int_equal(e->start_ps, 200000000); /* the device's clock */
    assert_int_equal(e->dur_ps, 7000000);
    assert_int_equal(e->aligned_start_ps, 100 * US);
    assert_int_equal(e->aligned_dur_ps, 8500000);
    assert_string_equal(k->category.p, "all-reduce");
    assert_string_equal(k->long_name.p, "%psum.1 = f32[8]{0} all-reduce(f32[8] %x)");
    assert_string_equal(k->opcode.p, "all-reduce");
    assert_string_equal(k->scope.p, "jit(f)/psum");
    assert_string_equal(k->source.p, "a.py:3");
    assert_string_equal(k->module.p, "jit_f");
    assert_string_equal(k->shape.p, "f32[8]{0}");
    assert_int_equal(k->bytes, 64);
    assert_int_equal(k->flops, 7);
    assert_int_equal(k->program_id, -5);
    assert_true(k->is_op);
    assert_int_equal(event_track(r, op)->role, SINK_ROLE_OPS);
    assert_string_equal(event_process(r, op), "/device:TPU:0");
    assert_int_equal(r->processes[event_track(r, op)->process].kind, SINK_PROCESS_TPU);
    assert_int_equal(event_track(r, find_event(r, "1"))->role, SINK_ROLE_STEPS);
    assert_int_equal(r->events[find_event(r, "1")].aligned_start_ps, SINK_NO_TIME);
    assert_int_equal(event_track(r, copy)->role, SINK_ROLE_OPS);
    assert_int_equal(r->processes[event_track(r, copy)->process].ordinal, 1);
    rec_free(r);
}

static void test_xla_devices(void **state)
{
    (void)state;
    check_xla("{\"traceEvents\":[" XLA_NAMES "," XLA_OP "," XLA_COPY "," XLA_STEP ",{}]}");
    rec *r = read_ok("[" XLA_NAMES "," XLA_COPY "]");
    assert_string_equal(r->kinds[0].k.stream_label.p, "MemcpyH2D");
    assert_int_equal(r->kinds[0].k.bytes, 512);
    rec_free(r);
}

static void test_xla_names_may_come_late(void **state)
{
    (void)state;
    check_xla("{\"traceEvents\":[" XLA_OP "," XLA_COPY "," XLA_STEP "," XLA_NAMES "]}");
    rec *r = read_ok("[" XLA_OP "]"); /* never named: said, not dropped */
    assert_int_equal(r->event_n, 1);
    assert_non_null(quality_of(r, "unplaced-ops"));
    rec_free(r);
}

/* The same name with other args is another kind; the device's clock makes no kind. */
static void test_kinds_are_told_once(void **state)
{
    (void)state;
    char text[4096];
    snprintf(text, sizeof text, "[%s,%s,%s,%s]", XLA_NAMES, XLA_OP, XLA_OP, XLA_OP);
    char *second = strstr(strstr(text, "psum.1") + 400, "\"200000000\"");
    memcpy(second, "\"300000000\"", 11);
    rec *r = read_ok(text);
    assert_int_equal(r->event_n, 3);
    assert_int_equal(r->kind_n, 1);
    rec_free(r);
    memcpy(strstr(text, "a.py:3"), "a.py:4", 6);
    r = read_ok(text);
    assert_int_equal(r->kind_n, 2);
    rec_free(r);
}

static void test_xla_on_cpu(void **state)
{
    (void)state;
    rec *r = read_ok(
        "{\"traceEvents\":[{\"ph\":\"M\",\"pid\":701,\"name\":\"process_name\",\"args\":{\"name\":"
        "\"/host:CPU\"}},"
        "{\"ph\":\"X\",\"pid\":701,\"tid\":1,\"ts\":1,\"dur\":2,\"name\":\"dot\",\"args\":{\"hlo_"
        "op\":"
        "\"dot.3\",\"hlo_module\":\"jit_f\",\"device_ordinal\":\"2\",\"program_id\":\"4\"}},"
        "{\"ph\":\"X\",\"pid\":701,\"tid\":1,\"ts\":5,\"dur\":1,\"name\":\"add\",\"args\":{\"hlo_"
        "op\":"
        "\"add.1\"}},"
        "{\"ph\":\"X\",\"pid\":701,\"tid\":1,\"ts\":7,\"dur\":1,\"name\":\"host\",\"args\":{\"x\":"
        "\"hlo_op\"}}]}");
    size_t dot = find_event(r, "dot.3"), add = find_event(r, "add.1");
    assert_int_equal(r->event_n, 5); /* the two ops are host events, too */
    check_event(r, "dot.3", 1 * US, 2 * US);
    check_event(r, "dot", 1 * US, 2 * US);
    assert_string_equal(event_process(r, dot), "/host:CPU:2");
    assert_string_equal(event_process(r, add), "/host:CPU:0");
    assert_string_equal(event_process(r, find_event(r, "dot")), "/host:CPU");
    assert_int_equal(r->processes[event_track(r, dot)->process].kind, SINK_PROCESS_CPU);
    assert_true(event_track(r, dot)->one_timeline);
    assert_int_equal(event_track(r, dot)->role, SINK_ROLE_OPS);
    assert_string_equal(r->kinds[r->events[dot].kind].k.module.p, "jit_f");
    assert_int_equal(quality_of(r, "cpu-async-unjoined")->severity, SINK_INFO);
    rec_free(r);
}

static void test_device_only_skips_the_host(void **state)
{
    (void)state;
    const char *text = "[" EVENT("before") "," XLA_NAMES "," XLA_OP "," EVENT(
        "after") ","
                 "{\"ph\":\"B\",\"ts\":1,\"pid\":1},{\"ph\":\"b\",\"ts\":1,\"pid\":1,\"id\":1}]";
    const rd_options opts = {.device_only = true};
    rec *r = rec_new();
    assert_int_equal(read_chunks(r, text, strlen(text), 0, &opts), 0);
    assert_int_equal(r->event_n, 2); /* what came before the device was known, and the op */
    assert_int_equal(r->skipped, 3);
    find_event(r, "before");
    find_event(r, "psum.1");
    rec_free(r);
}

/* ---- what must be said ---- */

static void check_credential(const char *key, const char *value, bool fires)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"env\":[{\"%s\":%s}]},\"traceEvents\":[" EVENT("a") "]}", key, value);
    rec *r = read_ok(text);
    const rec_quality *q = quality_of(r, "credentials");
    assert_int_equal(q != NULL, fires);
    if (q) {
        assert_non_null(strstr(q->message, key));
        assert_null(strstr(q->message, "hunter2"));
    }
    rec_free(r);
}

static void test_credentials_are_named_never_shown(void **state)
{
    (void)state;
    check_credential("HF_TOKEN", "\"hunter2\"", true);
    check_credential("aws-secret-access-id", "\"hunter2\"", true);
    check_credential("db.password", "\"hunter2\"", true);
    check_credential("api_key", "\"hunter2\"", true);
    check_credential("TOKEN", "\"hunter2\"", true);
    check_credential("HF_TOKEN", "\"\"", false);
    check_credential("HF_TOKEN", "17", false);
    check_credential("HF_TOKEN", "true", false);
    check_credential("keyboard", "\"hunter2\"", false);
    check_credential("MONKEY", "\"hunter2\"", false);
    check_credential("key", "\"hunter2\"", false);
    check_credential("tokenizer_class", "\"hunter2\"", false);
    rec *r = read_ok("[{\"ph\":\"i\",\"ts\":1,\"args\":{\"HF_TOKEN\":\"x\"}}]");
    assert_int_equal(r->quality_n, 0); /* args are not passed on either */
    rec_free(r);
    r = read_ok("{\"HF_TOKEN\":\"x\",\"traceEvents\":[" EVENT("a") "],\"o\":{\"A_KEY\":\"y\","
                                                                   "\"A_KEY\":\"z\"}}");
    assert_int_equal(r->quality_n, 2); /* each key once */
    rec_free(r);
}

static void test_xla_caps_are_noticed(void **state)
{
    (void)state;
    const char head[] = "[" XLA_NAMES, one[] = ",{\"ph\":\"X\",\"ts\":1}";
    const size_t n = 1000000, unit = sizeof one - 1, h = sizeof head - 1;
    char *text = malloc(h + n * unit + 2);
    memcpy(text, head, h);
    for (size_t i = 0; i < n; i++)
        memcpy(text + h + i * unit, one, unit);
    strcpy(text + h + n * unit, "]");
    rec *r = read_ok(text);
    assert_int_equal(r->event_n, n);
    assert_true(quality_of(r, "capped")->partial);
    rec_free(r);
    strcpy(text + h + (n - 1) * unit, "]"); /* one less is no cap */
    r = read_ok(text);
    assert_null(quality_of(r, "capped"));
    rec_free(r);
    free(text);
}

/* ---- size and depth ---- */

static void test_args_may_nest_deeply(void **state)
{
    (void)state;
    enum { DEPTH = 20000 };
    char *text = malloc(4 * DEPTH + 512), *p = text;
    p += sprintf(p, "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":");
    for (int i = 0; i < DEPTH; i++)
        *p++ = i & 1 ? '[' : '{', i & 1 ? 0 : (p += sprintf(p, "\"\":"), 0);
    for (int i = DEPTH; i-- > 0;)
        *p++ = i & 1 ? ']' : '}';
    strcpy(p, ",\"name\":\"deep\"}]");
    text = realloc(text, strlen(text) + 1);
    rec *r = read_ok(text);
    check_event(r, "deep", US, US);
    rec_free(r);
    free(text);
}

/* An event of 16 MiB is read, one byte more is left out and said, its neighbours are read. */
static void test_oversized_events(void **state)
{
    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        const char open[] = "{\"ph\":\"X\",\"ts\":1,\"name\":\"big\",\"args\":\"";
        size_t pad = VP_JSON_EVENT_MAX - strlen(open) - 2 + extra;
        char *text = malloc(pad + 512), *p = text;
        p += sprintf(p, "[" EVENT("a") ",%s", open);
        memset(p, 'x', pad);
        strcpy(p + pad, "\"}," EVENT("b") "]");
        for (size_t chunk = 1 << 16; chunk <= 1 << 25; chunk *= 512) {
            rec *r = rec_new();
            assert_int_equal(read_chunks(r, text, strlen(text), chunk, NULL), 0);
            assert_int_equal(r->event_n, 3 - extra);
            find_event(r, "a");
            find_event(r, "b");
            assert_int_equal(quality_of(r, "oversized-event") != NULL, extra);
            if (extra)
                assert_int_equal(quality_of(r, "oversized-event")->event, 1);
            rec_free(r);
        }
        free(text);
    }
}

/* ---- any split ---- */

static char *describe(const rec *r)
{
    char *out;
    size_t n;
    FILE *f = open_memstream(&out, &n);
    for (size_t i = 0; i < r->process_n; i++)
        fprintf(f, "P %s %lld %d %d\n", r->processes[i].name, (long long)r->processes[i].id,
                r->processes[i].kind, r->processes[i].ordinal);
    for (size_t i = 0; i < r->track_n; i++)
        fprintf(f, "T %u %s %lld %d %d\n", r->tracks[i].process, r->tracks[i].name,
                (long long)r->tracks[i].id, r->tracks[i].role, r->tracks[i].one_timeline);
    for (size_t i = 0; i < r->kind_n; i++) {
        const sink_kind *k = &r->kinds[i].k;
        fprintf(f, "K %s|%s|%s|%s|%s|%s|%s|%s|%s|%s %lld %lld %lld %d\n", k->name.p, k->long_name.p,
                k->category.p, k->opcode.p, k->hlo_op.p, k->module.p, k->scope.p, k->source.p,
                k->shape.p, k->stream_label.p, (long long)k->program_id, (long long)k->bytes,
                (long long)k->flops, k->is_op);
    }
    for (size_t i = 0; i < r->event_n; i++) {
        const sink_event *e = &r->events[i];
        fprintf(f, "E %u %u %lld %lld %lld %lld\n", e->track, e->kind, (long long)e->start_ps,
                (long long)e->dur_ps, (long long)e->aligned_start_ps, (long long)e->aligned_dur_ps);
    }
    for (size_t i = 0; i < r->quality_n; i++)
        fprintf(f, "Q %s %d %s %lld %lld %d\n", r->quality[i].code, r->quality[i].severity,
                r->quality[i].message, (long long)r->quality[i].event,
                (long long)r->quality[i].byte, r->quality[i].partial);
    fprintf(f, "S %llu B %d %lld\n", (unsigned long long)r->skipped, r->has_base,
            (long long)r->base_ns);
    fclose(f);
    return out;
}

static char *describe_read(const char *text, size_t n, size_t chunk, int threads)
{
    rec *r = rec_new();
    int rc = read_chunks(r, text, n, chunk, &(rd_options){.threads = threads});
    char *out = rc == 0 ? describe(r) : NULL;
    if (rc < 0) {
        out = malloc(512);
        snprintf(out, 512, "refused %d %s %lld", rc, vp_error_last()->message,
                 (long long)vp_error_last()->offset);
    }
    rec_free(r);
    return out;
}

static void check_splits(const char *text)
{
    size_t n = strlen(text);
    char *whole = describe_read(text, n, 0, 1);
    for (size_t chunk = 1; chunk <= n; chunk = chunk < 70 ? chunk + 1 : chunk * 2)
        for (int threads = 1; threads <= 3; threads += 2) {
            char *split = describe_read(text, n, chunk, threads);
            assert_string_equal(split, whole);
            free(split);
        }
    free(whole);
}

static void test_any_split_gives_the_same(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"traceEvents\":[" XLA_NAMES "," XLA_OP "," XLA_COPY "," XLA_STEP ",{}]}",
        "{\"a\":{\"HF_TOKEN\":\"se\\\"cret\",\"k\":[1,2,{\"x\":\"]\"}]},\"baseTimeNanoseconds\":"
        "1751410836000000000,\"traceEvents\":[" XLA_OP "," EVENT(
            "a") "],\"x\":1,\"traceEvents\":["
                 "1,[2,\"]\"],\"s\"," EVENT("b") ",{\"ph\":\"X\" 1,\"s\":\"}\"}," EVENT("c") "]}\n",
        "\xef\xbb\xbf" EVENT("a") "\n" EVENT("b") "\n{\"no\":1}\n[" EVENT(
            "c") ",{\"ph\":\"B\",\"ts\":1}",
        "[{\"ph\":\"X\",\"name\":\"\\ud83d\\ude00\\\\\",\"args\":{\"a\":\"\\\\\\\"}{\"},\"ts\":12."
        "345678,"
        "\"dur\":1},{\"ph\":\"E\",\"ts\":3}, {\"ph\":\"b\",\"id\":1,\"ts\":3},}:,{}",
        "{\"nodes\":[{\"id\":\"" EVENT("no") "\"}]}",
        "no json at all",
        "[" EVENT("a") "] garbage",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_splits(texts[i]);
}

/* What looks like the beginning of an event inside strings, args, an event too large for its piece
 * and junk, and two ways to begin one: where a thread begins to scan is only a guess. */
static void test_any_thread_gives_the_same(void **state)
{
    static const char *const events[] = {
        "{\"ph\":\"X\",\"ts\":@,\"dur\":2,\"name\":\"a\"}",
        "{\"ph\":\"X\",\"ts\":@,\"name\":\"{\\\"ph\\\":\\\"X\\\",\\\"ts\\\":1}\",\"dur\":3}",
        "{\"ph\":\"X\",\"ts\":@,\"args\":{\"a\":[{\"ph\":\"X\",\"ts\":7}],\"b\":2}}",
        "{\"name\":\"c\",\"ph\":\"X\",\"ts\":@,\"pid\":2}",
        "{\"ph\":\"B\",\"ts\":@,\"name\":\"d\"},{\"ph\":\"E\",\"ts\":900}",
        "[{\"ph\":\"X\",\"ts\":@,\"name\":\"no\"}]",
        "\"{\",{\"ph\":\"X\",\"ts\":@,\"name\":\"e\"},\"}\"",
        "{\"ph\":\"X\",\"ts\":@,\"name\" 1}"};
    enum { N = sizeof events / sizeof *events };
    (void)state;
    for (unsigned seed = 1; seed <= 4; seed++) {
        char *text;
        size_t n;
        unsigned next = seed;
        FILE *f = open_memstream(&text, &n);
        fputs(seed % 2 ? "[" : "{\"traceEvents\": [", f);
        for (int i = 0; i < 80; i++, next = next * 1103515245 + 12345) {
            size_t which = next >> 16 & 1 ? 0 : (next >> 17) % N;
            fputs(i ? ",\n" : "", f);
            const char *at = strchr(events[which], '@');
            fprintf(f, "%.*s%d%s", (int)(at - events[which]), events[which], i, at + 1);
        }
        fputs(seed % 2 ? "" : "], \"baseTimeNanoseconds\": 5}", f);
        fclose(f);
        check_splits(text);
        free(text);
    }
}

/* Cutting anywhere gives the events that were complete, in the same words. */
static void test_cut_anywhere(void **state)
{
    (void)state;
    const char *text = "{\"m\":{\"a\":[1]},\"traceEvents\":[" EVENT("a") "," EVENT("b") "]}";
    size_t n = strlen(text), first = (size_t)(strstr(text, "},{") - text) + 1;
    for (size_t cut = 0; cut < n; cut++) {
        rec *r = rec_new();
        int rc = read_chunks(r, text, cut, 7, NULL);
        assert_int_equal(rc, cut >= first ? 0 : cut ? VP_ECORRUPT : VP_EEMPTY);
        if (rc == 0)
            assert_non_null(quality_of(r, "truncated"));
        assert_int_equal(r->event_n, (cut >= first) + (cut >= n - 2));
        rec_free(r);
    }
}

static int stop_at_once(void *ctx, int64_t done, int64_t total)
{
    (void)ctx, (void)done, (void)total;
    return 1;
}

static void test_progress_can_cancel(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        const rd_options opts = {.progress = stop_at_once, .threads = threads};
        rec *r = rec_new();
        assert_int_equal(read_chunks(r, "[" EVENT("a") "]", 20, 3, &opts), VP_ECANCELLED);
        rec_free(r);
    }
}

typedef struct failing {
    rd_stream s;
    int left; /* pieces that it still gives */
} failing;

static int fill_or_fail(rd_stream *s, char *p, size_t cap, size_t *n)
{
    failing *f = (failing *)s;
    (void)cap;
    if (!f->left--)
        return vp_fail(VP_EIO, "the disk is gone");
    *n = (size_t)sprintf(p, "%s", f->left == 19 ? "[" EVENT("a") : "," EVENT("a"));
    return 1;
}

/* A failure comes when all before it was read, from whatever thread. */
static void test_a_failing_stream_fails_the_reading(void **state)
{
    (void)state;
    for (int threads = 2; threads <= 5; threads++) {
        failing in = {{.fill = fill_or_fail, .raw_total = INT64_MAX}, 20};
        rec *r = rec_new();
        assert_int_equal(cj_read(&r->s, &in.s, &(rd_options){.threads = threads}), VP_EIO);
        assert_string_equal(vp_error_last()->message, "the disk is gone");
        assert_int_equal(r->event_n, 0); /* a batch was not full */
        assert_int_equal(r->kind_n, 1);
        rec_free(r);
    }
}

static void test_no_memory_for_threads(void **state)
{
    static const char text[] = "[" EVENT("a") "]";
    const rd_options opts = {.threads = 3};
    int rc = VP_ENOMEM;
    (void)state;
    for (uint64_t k = 1; rc < 0; k++) {
        rd_stream *in;
        rec *r = rec_new();
        assert_int_equal(rd_stream_memory(&in, text, sizeof text - 1, 5), 0);
        in->raw_total = INT64_MAX;
        vp_mem_fail_at(k, false);
        rc = cj_read(&r->s, in, &opts);
        vp_mem_fail_at(0, false);
        assert_true(rc == 0 || rc == VP_ENOMEM);
        assert_true(rc < 0 || k > 19); /* 9 pieces, of two blocks each */
        rd_stream_close(&in);
        rec_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_containers),
        cmocka_unit_test(test_layouts_may_change),
        cmocka_unit_test(test_layouts_are_forgotten),
        cmocka_unit_test(test_events_among_junk_are_found),
        cmocka_unit_test(test_a_cut_off_file_gives_its_prefix),
        cmocka_unit_test(test_what_holds_no_events_is_refused),
        cmocka_unit_test(test_metadata_alone_is_an_empty_trace),
        cmocka_unit_test(test_times_are_exact),
        cmocka_unit_test(test_unix_times_are_relative_to_the_first),
        cmocka_unit_test(test_zeros_before_unix_times_are_no_times),
        cmocka_unit_test(test_kineto_says_its_base),
        cmocka_unit_test(test_kineto_names_the_model),
        cmocka_unit_test(test_events_without_a_time_are_counted),
        cmocka_unit_test(test_names_become_valid_utf8),
        cmocka_unit_test(test_pids_and_tids),
        cmocka_unit_test(test_begin_and_end_nest),
        cmocka_unit_test(test_unbalanced_begin_and_end),
        cmocka_unit_test(test_begin_and_end_out_of_order),
        cmocka_unit_test(test_async_events),
        cmocka_unit_test(test_every_phase_is_accounted_for),
        cmocka_unit_test(test_names_may_come_late),
        cmocka_unit_test(test_devices_with_texts),
        cmocka_unit_test(test_kineto_device_work),
        cmocka_unit_test(test_kineto_marks_are_no_work),
        cmocka_unit_test(test_xla_devices),
        cmocka_unit_test(test_xla_names_may_come_late),
        cmocka_unit_test(test_kinds_are_told_once),
        cmocka_unit_test(test_xla_on_cpu),
        cmocka_unit_test(test_device_only_skips_the_host),
        cmocka_unit_test(test_credentials_are_named_never_shown),
        cmocka_unit_test(test_xla_caps_are_noticed),
        cmocka_unit_test(test_args_may_nest_deeply),
        cmocka_unit_test(test_oversized_events),
        cmocka_unit_test(test_any_split_gives_the_same),
        cmocka_unit_test(test_any_thread_gives_the_same),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_progress_can_cancel),
        cmocka_unit_test(test_a_failing_stream_fails_the_reading),
        cmocka_unit_test(test_no_memory_for_threads),
    };
    return cmocka_run_group_tests_name("chrome_json", tests, NULL, NULL);
}
