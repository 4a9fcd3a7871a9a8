/* JSON made from hand-made XSpaces: jaxlib's ids, order, names and args
 * (docs/reference/xprof.md#trace-json), Perfetto's rules where they clash, times of whole ns,
 * tracks on which all events nest, and damage. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/xspace_maker.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/export/export.h"
#include "trace/export/shared/quote.h"
#include "trace/export/shared/times.h"
#include "trace/export/xspace/xspace_json.h"

static int convert(vp_str space, char **out, size_t *n, int *damage)
{
    rd_source *in = NULL;
    rd_stream *s = NULL;
    int rc = rd_source_memory(&in, space.p, space.n);
    if (rc >= 0)
        rc = ex_json_from_xspace(&s, in, NULL);
    if (rc < 0)
        return rc;
    rc = rd_stream_slurp(s, (size_t)1 << 30, out, n);
    if (damage)
        *damage = s->damage.code;
    rd_stream_close(&s);
    return rc;
}

/* What stands around the events, with ' for ". */
#define HEAD "{'displayTimeUnit':'ns','traceEvents':["
#define TAIL "]}\n"

/* The JSON of a space, which is freed; `text` has ' for ". */
static void becomes(vp_buf *space, const char *text)
{
    char *out = NULL, want[8192];
    size_t n, want_n = strlen(text);
    int damage;
    assert_true(want_n < sizeof want);
    for (size_t i = 0; i <= want_n; i++)
        want[i] = text[i] == '\'' ? '"' : text[i];
    assert_int_equal(convert(vp_buf_view(space), &out, &n, &damage), 0);
    vp_buf_free(space);
    assert_int_equal(damage, 0);
    if (n != want_n || memcmp(out, want, n) != 0)
        fail_msg("got  %.*s\nwant %s", (int)n, out, want);
    vp_free(out);
}

static vp_buf plane_with_names(int64_t id, const char *name)
{
    vp_buf p = mk_plane(id, name);
    mk_event_meta(&p, 1, VP_STR("op"), NULL, NULL);
    return p;
}

static void add_line(vp_buf *plane, int64_t id, const char *name, int64_t timestamp_ns,
                     int64_t offset_ps, int64_t duration_ps)
{
    vp_buf l = mk_line(id, name, timestamp_ns);
    mk_event(&l, 1, offset_ps, duration_ps, NULL);
    mk_nest(plane, 3, &l);
}

static void microseconds_are_exact(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "0"},
        {1, "0.001"},
        {20, "0.02"},
        {300, "0.3"},
        {999, "0.999"},
        {1000, "1"},
        {1050, "1.05"},
        {123456, "123.456"},
        {1200, "1.2"},
        {1000001, "1000.001"},
        {INT64_MAX, "9223372036854775.807"},
        {-1050, "-1.05"},
        {-3000, "-3"},
        {INT64_MIN, "-9223372036854775.808"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vp_buf b;
        vp_buf_init(&b, 64);
        ex_put_us(&b, cases[i].ns);
        assert_string_equal(vp_buf_cstr(&b), cases[i].text);
        vp_buf_free(&b);
    }
}

/* Half up, on start and end: what touches in ps touches in ns. */
static void start_and_end_are_rounded(void **state)
{
    static const struct {
        int64_t offset_ps, duration_ps, start, end;
    } cases[] = {
        {0, 0, 0, 0},
        {499, 1, 0, 1},
        {500, 0, 1, 1},
        {1499, 2, 1, 2},
        {400, 200, 0, 1},
        {600, 800, 1, 1},
        {1400, 1200, 1, 3},
        {-500, 0, 0, 0},
        {-501, 2, -1, 0},
        {-1500, 1000, -1, 0},
        {7000, -3000, 7, 7},
        {INT64_MAX, 0, INT64_MAX / 1000 + 1, INT64_MAX / 1000 + 1},
        {INT64_MIN, 0, INT64_MIN / 1000 - 1, INT64_MIN / 1000 - 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        xj_event e = {.offset_ps = cases[i].offset_ps, .duration_ps = cases[i].duration_ps};
        xj_span s;
        assert_true(xj_event_span(&s, &e));
        assert_int_equal(s.start, cases[i].start);
        assert_int_equal(s.end, cases[i].end);
    }
    xj_event e = {.offset_ps = INT64_MAX, .duration_ps = 1};
    xj_span s;
    assert_false(xj_event_span(&s, &e));
}

/* The host is 701 and comes first among the events, devices are 1 + id; what jaxlib leaves out
 * comes behind, and what is empty not at all. */
static void processes_and_threads(void **state)
{
    (void)state;
    vp_buf space = mk_new(), p = plane_with_names(9, "/device:CUSTOM:0");
    add_line(&p, 1, "x", 0, 0, 1);
    mk_nest(&space, 1, &p);
    p = plane_with_names(2, "/device:TPU:0");
    vp_buf empty = mk_line(9, "no event", 0);
    mk_nest(&p, 3, &empty);
    add_line(&p, 7, "XLA Ops", 1, 500, 2000000);
    mk_nest(&space, 1, &p);
    p = plane_with_names(5, "/device:TPU:1");
    empty = mk_line(9, "no event", 0);
    mk_nest(&p, 3, &empty);
    mk_nest(&space, 1, &p);
    p = plane_with_names(9, "/host:other"); /* the pid of the first plane */
    add_line(&p, 2, "y", 0, 0, 1);
    mk_nest(&space, 1, &p);
    p = plane_with_names(0, "/host:CPU");
    add_line(&p, -1, "main/-1", 0, 3000, 0);
    add_line(&p, 5, "", 0, 4000, -7);
    mk_nest(&space, 1, &p);
    becomes(&space, HEAD
            "{'ph':'M','pid':3,'name':'process_name','args':{'name':'/device:TPU:0'}},\n"
            "{'ph':'M','pid':3,'name':'process_sort_index','args':{'sort_index':3}},\n"
            "{'ph':'M','pid':3,'tid':7,'name':'thread_name','args':{'name':'TPU:0 XLA Ops'}},\n"
            "{'ph':'M','pid':3,'tid':7,'name':'thread_sort_index','args':{'sort_index':7}},\n"
            "{'ph':'M','pid':10,'name':'process_name','args':{'name':'/device:CUSTOM:0'}},\n"
            "{'ph':'M','pid':10,'name':'process_sort_index','args':{'sort_index':10}},\n"
            "{'ph':'M','pid':10,'tid':1,'name':'thread_name','args':{'name':'CUSTOM:0 x'}},\n"
            "{'ph':'M','pid':10,'tid':1,'name':'thread_sort_index','args':{'sort_index':1}},\n"
            "{'ph':'M','pid':501,'name':'process_name','args':{'name':'/host:other'}},\n"
            "{'ph':'M','pid':501,'name':'process_sort_index','args':{'sort_index':501}},\n"
            "{'ph':'M','pid':501,'tid':2,'name':'thread_name','args':{'name':'y'}},\n"
            "{'ph':'M','pid':501,'tid':2,'name':'thread_sort_index','args':{'sort_index':2}},\n"
            "{'ph':'M','pid':701,'name':'process_name','args':{'name':'/host:CPU'}},\n"
            "{'ph':'M','pid':701,'name':'process_sort_index','args':{'sort_index':701}},\n"
            "{'ph':'M','pid':701,'tid':5,'name':'thread_sort_index','args':{'sort_index':2}},\n"
            "{'ph':'M','pid':701,'tid':4294967295,'name':'thread_name',"
            "'args':{'name':'main/-1'}},\n"
            "{'ph':'M','pid':701,'tid':4294967295,'name':'thread_sort_index',"
            "'args':{'sort_index':1}},\n"
            "{'ph':'X','pid':701,'tid':4294967295,'ts':0.003,'dur':0,'name':'op'},\n"
            "{'ph':'X','pid':701,'tid':5,'ts':0.004,'dur':0,'name':'op'},\n"
            "{'ph':'X','pid':3,'tid':7,'ts':0.002,'dur':2,'name':'op'},\n"
            "{'ph':'X','pid':10,'tid':1,'ts':0,'dur':0,'name':'op'},\n"
            "{'ph':'X','pid':501,'tid':2,'ts':0,'dur':0,'name':'op'}" TAIL);
}

/* A session in which nothing was recorded is a trace all the same: never `[]` or an error. */
static void a_session_may_be_empty(void **state)
{
    (void)state;
    vp_buf space = mk_new(), p = plane_with_names(0, "/host:CPU"), l = mk_line(1, "idle", 0);
    mk_nest(&p, 3, &l);
    mk_nest(&space, 1, &p);
    becomes(&space, HEAD TAIL);
}

/* tid 0 is the pid to Perfetto, and a tid that is the pid the main thread; ids above 32 bits fold,
 * and two planes may claim one pid. */
static void ids_that_would_collide_move(void **state)
{
    (void)state;
    vp_buf space = mk_new(), p = plane_with_names(2, "/device:TPU:0");
    add_line(&p, 0, "Steps", 0, 1000, 1000);
    add_line(&p, 3, "XLA Ops", 0, 2000, 1000); /* tid 3 = pid 3 */
    add_line(&p, (INT64_C(1) << 32) + 7, "folds", 0, 3000, 1000);
    add_line(&p, 7, "first", 0, 4000, 1000);
    add_line(&p, 3, "XLA Ops", 0, 5000, 1000); /* the same id is the same thread */
    mk_nest(&space, 1, &p);
    p = plane_with_names(2, "/device:TPU:1");
    add_line(&p, 0, "alone", 0, 6000, 1000);
    mk_nest(&space, 1, &p);
    p = plane_with_names(77, "/device:TPU:0"); /* a plane twice is one process */
    add_line(&p, 9, "more", 0, 7000, 1000);
    mk_nest(&space, 1, &p);
    becomes(&space, HEAD
            "{'ph':'M','pid':3,'name':'process_name','args':{'name':'/device:TPU:0'}},\n"
            "{'ph':'M','pid':3,'name':'process_sort_index','args':{'sort_index':3}},\n"
            "{'ph':'M','pid':3,'tid':1,'name':'thread_name','args':{'name':'TPU:0 Steps'}},\n"
            "{'ph':'M','pid':3,'tid':1,'name':'thread_sort_index','args':{'sort_index':0}},\n"
            "{'ph':'M','pid':3,'tid':4,'name':'thread_name','args':{'name':'TPU:0 XLA Ops'}},\n"
            "{'ph':'M','pid':3,'tid':4,'name':'thread_sort_index','args':{'sort_index':3}},\n"
            "{'ph':'M','pid':3,'tid':7,'name':'thread_name','args':{'name':'TPU:0 first'}},\n"
            "{'ph':'M','pid':3,'tid':7,'name':'thread_sort_index','args':{'sort_index':7}},\n"
            "{'ph':'M','pid':3,'tid':8,'name':'thread_name','args':{'name':'TPU:0 folds'}},\n"
            "{'ph':'M','pid':3,'tid':8,'name':'thread_sort_index','args':{'sort_index':7}},\n"
            "{'ph':'M','pid':3,'tid':9,'name':'thread_name','args':{'name':'TPU:0 more'}},\n"
            "{'ph':'M','pid':3,'tid':9,'name':'thread_sort_index','args':{'sort_index':9}},\n"
            "{'ph':'M','pid':501,'name':'process_name','args':{'name':'/device:TPU:1'}},\n"
            "{'ph':'M','pid':501,'name':'process_sort_index','args':{'sort_index':501}},\n"
            "{'ph':'M','pid':501,'tid':1,'name':'thread_name','args':{'name':'TPU:1 alone'}},\n"
            "{'ph':'M','pid':501,'tid':1,'name':'thread_sort_index','args':{'sort_index':0}},\n"
            "{'ph':'X','pid':3,'tid':1,'ts':0.001,'dur':0.001,'name':'op'},\n"
            "{'ph':'X','pid':3,'tid':4,'ts':0.002,'dur':0.001,'name':'op'},\n"
            "{'ph':'X','pid':3,'tid':4,'ts':0.005,'dur':0.001,'name':'op'},\n"
            "{'ph':'X','pid':3,'tid':8,'ts':0.003,'dur':0.001,'name':'op'},\n"
            "{'ph':'X','pid':3,'tid':7,'ts':0.004,'dur':0.001,'name':'op'},\n"
            "{'ph':'X','pid':501,'tid':1,'ts':0.006,'dur':0.001,'name':'op'},\n"
            "{'ph':'X','pid':3,'tid':9,'ts':0.007,'dur':0.001,'name':'op'}" TAIL);
}

/* The process and the first thread of the host, as all of these spaces have them. */
#define HOST                                                                                       \
    "{'ph':'M','pid':701,'name':'process_name','args':{'name':'/host:CPU'}},\n"                    \
    "{'ph':'M','pid':701,'name':'process_sort_index','args':{'sort_index':701}},\n"                \
    "{'ph':'M','pid':701,'tid':1,'name':'thread_name','args':{'name':'t'}},\n"                     \
    "{'ph':'M','pid':701,'tid':1,'name':'thread_sort_index','args':{'sort_index':1}},\n"
/* Its second track. */
#define SIBLING                                                                                    \
    "{'ph':'M','pid':701,'tid':2,'name':'thread_name','args':{'name':'t (2)'}},\n"                 \
    "{'ph':'M','pid':701,'tid':2,'name':'thread_sort_index','args':{'sort_index':1}},\n"

typedef struct span_ns {
    int64_t start, end;
} span_ns;

/* A host with one line of ops; which is freed by who converts it. */
static vp_buf host_line(const span_ns *spans, size_t n)
{
    vp_buf space = mk_new(), p = plane_with_names(0, "/host:CPU"), l = mk_line(1, "t", 0);
    for (size_t i = 0; i < n; i++)
        mk_event(&l, 1, spans[i].start * 1000, (spans[i].end - spans[i].start) * 1000, NULL);
    mk_nest(&p, 3, &l);
    mk_nest(&space, 1, &p);
    return space;
}

/* Perfetto drops a slice that begins in another and ends behind it
 * (docs/reference/perfetto.md#stacking). */
static void what_overlaps_goes_to_a_sibling(void **state)
{
    (void)state;
    const span_ns sorted[] = {{0, 10}, {2, 5}, {4, 12}, {5, 6}, {12, 13}};
    vp_buf space = host_line(sorted, 5);
    becomes(&space,
            HEAD HOST "{'ph':'X','pid':701,'tid':1,'ts':0,'dur':0.01,'name':'op'},\n"
                      "{'ph':'X','pid':701,'tid':1,'ts':0.002,'dur':0.003,'name':'op'},\n" SIBLING
                      "{'ph':'X','pid':701,'tid':2,'ts':0.004,'dur':0.008,'name':'op'},\n"
                      "{'ph':'X','pid':701,'tid':1,'ts':0.005,'dur':0.001,'name':'op'},\n"
                      "{'ph':'X','pid':701,'tid':1,'ts':0.012,'dur':0.001,'name':'op'}" TAIL);
}

/* The same events in any order lie on the same tracks: the line is looked at before it is written.
 */
static void lines_may_be_in_any_order(void **state)
{
    (void)state;
    const span_ns unsorted[] = {{4, 12}, {12, 13}, {5, 6}, {2, 5}, {0, 10}};
    vp_buf space = host_line(unsorted, 5);
    becomes(&space,
            HEAD HOST SIBLING "{'ph':'X','pid':701,'tid':2,'ts':0.004,'dur':0.008,'name':'op'},\n"
                              "{'ph':'X','pid':701,'tid':1,'ts':0.012,'dur':0.001,'name':'op'},\n"
                              "{'ph':'X','pid':701,'tid':1,'ts':0.005,'dur':0.001,'name':'op'},\n"
                              "{'ph':'X','pid':701,'tid':1,'ts':0.002,'dur':0.003,'name':'op'},\n"
                              "{'ph':'X','pid':701,'tid':1,'ts':0,'dur':0.01,'name':'op'}" TAIL);
}

/* ps that would overlap by one ns if start and duration were rounded apart. */
static void neighbours_still_touch(void **state)
{
    (void)state;
    vp_buf space = mk_new(), p = plane_with_names(0, "/host:CPU"), l = mk_line(1, "t", 0);
    mk_event(&l, 1, 400, 1300, NULL);
    mk_event(&l, 1, 1700, 1400, NULL);
    mk_nest(&p, 3, &l);
    mk_nest(&space, 1, &p);
    becomes(&space,
            HEAD HOST "{'ph':'X','pid':701,'tid':1,'ts':0,'dur':0.002,'name':'op'},\n"
                      "{'ph':'X','pid':701,'tid':1,'ts':0.002,'dur':0.001,'name':'op'}" TAIL);
}

/* Two lines with one id are one thread, on whose track events of both must nest. */
static void lines_of_one_thread_share_its_tracks(void **state)
{
    (void)state;
    vp_buf space = mk_new(), p = plane_with_names(0, "/host:CPU");
    add_line(&p, 1, "t", 0, 0, 10000);
    add_line(&p, 9, "u", 0, 0, 10000);
    add_line(&p, 1, "t", 0, 5000, 10000);
    mk_nest(&space, 1, &p);
    becomes(&space, HEAD
            "{'ph':'M','pid':701,'name':'process_name','args':{'name':'/host:CPU'}},\n"
            "{'ph':'M','pid':701,'name':'process_sort_index','args':{'sort_index':701}},\n"
            "{'ph':'M','pid':701,'tid':1,'name':'thread_name','args':{'name':'t'}},\n"
            "{'ph':'M','pid':701,'tid':1,'name':'thread_sort_index','args':{'sort_index':3}},\n"
            "{'ph':'M','pid':701,'tid':9,'name':'thread_name','args':{'name':'u'}},\n"
            "{'ph':'M','pid':701,'tid':9,'name':'thread_sort_index','args':{'sort_index':2}},\n"
            "{'ph':'X','pid':701,'tid':1,'ts':0,'dur':0.01,'name':'op'},\n"
            "{'ph':'M','pid':701,'tid':2,'name':'thread_name','args':{'name':'t (2)'}},\n"
            "{'ph':'M','pid':701,'tid':2,'name':'thread_sort_index','args':{'sort_index':3}},\n"
            "{'ph':'X','pid':701,'tid':2,'ts':0.005,'dur':0.01,'name':'op'},\n"
            "{'ph':'X','pid':701,'tid':9,'ts':0,'dur':0.01,'name':'op'}" TAIL);
}

/* Copies and collectives in flight overlap each other as they like. */
static void what_is_in_flight_is_async(void **state)
{
    (void)state;
    vp_buf space = mk_new(), p = plane_with_names(2, "/device:TPU:0");
    vp_buf l = mk_line(8, "Async XLA Ops", 0), st = mk_new();
    mk_stat_meta(&p, 1, "key");
    mk_stat_u(&st, 4, 1, 4, 5);
    mk_event(&l, 1, 0, 10000, &st);
    mk_event(&l, 1, 5000, 10000, NULL);
    mk_nest(&p, 3, &l);
    mk_nest(&space, 1, &p);
    becomes(
        &space, HEAD
        "{'ph':'M','pid':3,'name':'process_name','args':{'name':'/device:TPU:0'}},\n"
        "{'ph':'M','pid':3,'name':'process_sort_index','args':{'sort_index':3}},\n"
        "{'ph':'M','pid':3,'tid':8,'name':'thread_name','args':{'name':'TPU:0 Async XLA Ops'}},\n"
        "{'ph':'M','pid':3,'tid':8,'name':'thread_sort_index','args':{'sort_index':8}},\n"
        "{'ph':'b','pid':3,'tid':8,'cat':'async','id2':{'local':'0x1'},'ts':0,'name':'op',"
        "'args':{'key':'5'}},\n"
        "{'ph':'e','pid':3,'tid':8,'cat':'async','id2':{'local':'0x1'},'ts':0.01,"
        "'name':'op'},\n"
        "{'ph':'b','pid':3,'tid':8,'cat':'async','id2':{'local':'0x2'},'ts':0.005,"
        "'name':'op'},\n"
        "{'ph':'e','pid':3,'tid':8,'cat':'async','id2':{'local':'0x2'},'ts':0.015,"
        "'name':'op'}" TAIL);
}

/* Not by strstr(), which under AddressSanitizer measures the rest of the text first, byte by byte.
 */
static size_t count(const char *text, const char *what)
{
    size_t n = 0, length = strlen(what);
    const char *end = text + strlen(text);
    for (const char *p = text; (p = memmem(p, (size_t)(end - p), what, length)) != NULL; p++)
        n++;
    return n;
}

/* 4,000 events that all overlap each other: 31 siblings, and what they cannot take is async. */
static void what_no_track_takes_is_async(void **state)
{
    (void)state;
    enum { EVENTS = 4000 };
    span_ns spans[EVENTS];
    for (int turned = 0; turned < 2; turned++) {
        char *out;
        size_t n;
        int damage;
        for (int i = 0; i < EVENTS; i++)
            spans[turned ? EVENTS - 1 - i : i] = (span_ns){i, EVENTS + i};
        vp_buf space = host_line(spans, EVENTS);
        assert_int_equal(convert(vp_buf_view(&space), &out, &n, &damage), 0);
        assert_int_equal(damage, 0);
        assert_int_equal(count(out, "thread_name"), EX_LANES_MAX);
        assert_int_equal(count(out, "\"ph\":\"X\""), EX_LANES_MAX);
        assert_int_equal(count(out, "\"ph\":\"b\""), EVENTS - EX_LANES_MAX);
        assert_int_equal(count(out, "\"ph\":\"e\""), EVENTS - EX_LANES_MAX);
        assert_non_null(strstr(out, "\"t (32)\""));
        vp_free(out);
        vp_buf_free(&space);
    }
}

/* Perfetto drops what is before its time 0, and loses ns beyond 2^53. What cannot be shown is
 * damage. */
static void times_that_perfetto_cannot_show(void **state)
{
    (void)state;
    char *out;
    size_t n;
    int damage;
    vp_buf space = mk_new(), p = plane_with_names(0, "/host:CPU");
    add_line(&p, 1, "t", -7, 2000, 1000);
    add_line(&p, 2, "u", 0, -1500, 1000);
    mk_nest(&space, 1, &p);
    becomes(&space, HEAD HOST
            "{'ph':'M','pid':701,'tid':2,'name':'thread_name','args':{'name':'u'}},\n"
            "{'ph':'M','pid':701,'tid':2,'name':'thread_sort_index','args':{'sort_index':2}},\n"
            "{'ph':'X','pid':701,'tid':1,'ts':0,'dur':0.001,'name':'op'},\n"
            "{'ph':'X','pid':701,'tid':2,'ts':0.004,'dur':0.001,'name':'op'}" TAIL);
    static const struct {
        int64_t timestamp_ns, offset_ps, duration_ps;
    } bad[] = {{0, INT64_MIN, 0},           {0, 0, INT64_MAX},          {0, INT64_MAX, INT64_MAX},
               {INT64_MIN, 0, 1},           {INT64_MIN, INT64_MIN, -1}, {INT64_C(1) << 53, 1000, 0},
               {-(INT64_C(1) << 52), 0, 0}, {INT64_C(1) << 53, 0, 1000}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        space = mk_new();
        p = plane_with_names(0, "/host:CPU");
        add_line(&p, 1, "t", 0, 5000, 1000);
        add_line(&p, 2, "u", bad[i].timestamp_ns, bad[i].offset_ps, bad[i].duration_ps);
        mk_nest(&space, 1, &p);
        assert_int_equal(convert(vp_buf_view(&space), &out, &n, &damage), 0);
        assert_int_equal(damage, VP_ECORRUPT);
        assert_int_equal(count(out, "\"ph\":\"X\""), 1);
        assert_non_null(strstr(out, "\"ts\":0.005,\"dur\":0.001,"));
        vp_free(out);
        vp_buf_free(&space);
    }
}

/* Unix times become times since the first line, so that doubles keep their nanoseconds. */
static void unix_times_are_made_relative(void **state)
{
    (void)state;
    const int64_t unix_ns = INT64_C(1700000000123456789);
    vp_buf space = mk_new(), p = plane_with_names(0, "/host:CPU");
    add_line(&p, 1, "t", unix_ns + 1000, 1000, 1000);
    add_line(&p, 2, "b", unix_ns, 0, 1000);
    mk_nest(&space, 1, &p);
    becomes(&space, HEAD HOST
            "{'ph':'M','pid':701,'tid':2,'name':'thread_name','args':{'name':'b'}},\n"
            "{'ph':'M','pid':701,'tid':2,'name':'thread_sort_index','args':{'sort_index':2}},\n"
            "{'ph':'X','pid':701,'tid':1,'ts':1.001,'dur':0.001,'name':'op'},\n"
            "{'ph':'X','pid':701,'tid':2,'ts':0,'dur':0.001,'name':'op'}" TAIL);
}

/* Args are strings, sorted by key, those of the event over those of its metadata. */
static void names_and_args(void **state)
{
    (void)state;
    vp_buf space = mk_new(), p = mk_plane(0, "/host:CPU"), st = mk_new(), l, d;
    static const char *const stats[] = {"zeta", "alpha", "_pt", "step_name", "long_name", "beta"};
    for (int i = 0; i < 6; i++)
        mk_stat_meta(&p, i + 1, stats[i]);
    mk_stat_text(&st, 5, 1, 5, VP_STR("of metadata"));
    mk_stat_u(&st, 5, 6, 7, 2); /* beta: a reference to "alpha" */
    mk_stat_u(&st, 5, 3, 3, 1); /* internal */
    mk_event_meta(&p, 1, VP_STR("%full = f32[] text"), "short", &st);
    mk_event_meta(&p, 2, VP_STR("MemoryAllocation"), NULL, NULL);
    mk_event_meta(&p, 3, VP_STR("q\"\\\n\xff\0x"), NULL, NULL);
    l = mk_line(1, "t", 0);
    mk_event(&l, 1, 1000000, 1000000, NULL);
    st = mk_new();
    mk_stat_u(&st, 4, 2, 4, (uint64_t)-5); /* int */
    mk_stat_u(&st, 4, 1, 3, UINT64_MAX);   /* uint, over the metadata's */
    mk_stat_text(&st, 4, 6, 6, VP_STR("\x01\x02"));
    mk_event(&l, 1, 2000000, 1000000, &st);
    mk_event(&l, 2, 3000000, 0, NULL); /* jaxlib leaves it out */
    st = mk_new();
    mk_stat_text(&st, 4, 4, 5, VP_STR("train 7"));
    d = mk_new();
    vp_pb_put_u64(&d, 1, 1);
    vp_pb_put_double(&d, 2, 0.1);
    mk_nest(&st, 4, &d);
    d = mk_new();
    vp_pb_put_u64(&d, 1, 2); /* alpha without a value: no arg */
    mk_nest(&st, 4, &d);
    mk_event(&l, 3, 4000000, 1000000, &st);
    mk_event(&l, 99, 5000000, 1000000, NULL); /* unknown metadata: no name */
    mk_event(&l, 3, 6000000, 1000000, NULL);
    mk_nest(&p, 3, &l);
    mk_nest(&space, 1, &p);
    becomes(&space, HEAD
            "{'ph':'M','pid':701,'name':'process_name','args':{'name':'/host:CPU'}},\n"
            "{'ph':'M','pid':701,'name':'process_sort_index','args':{'sort_index':701}},\n"
            "{'ph':'M','pid':701,'tid':1,'name':'thread_name','args':{'name':'t'}},\n"
            "{'ph':'M','pid':701,'tid':1,'name':'thread_sort_index','args':{'sort_index':1}},\n"
            "{'ph':'X','pid':701,'tid':1,'ts':1,'dur':1,'name':'short','args':{'beta':'alpha',"
            "'long_name':'%full = f32[] text','zeta':'of metadata'}},\n"
            "{'ph':'X','pid':701,'tid':1,'ts':2,'dur':1,'name':'short','args':{'alpha':'-5',"
            "'beta':'<opaque bytes>','long_name':'%full = f32[] text',"
            "'zeta':'18446744073709551615'}},\n"
            "{'ph':'X','pid':701,'tid':1,'ts':3,'dur':0,'name':'MemoryAllocation'},\n"
            "{'ph':'X','pid':701,'tid':1,'ts':4,'dur':1,'name':'train 7',"
            "'args':{'step_name':'train 7','zeta':'0.1'}},\n"
            "{'ph':'X','pid':701,'tid':1,'ts':5,'dur':1,'name':''},\n"
            "{'ph':'X','pid':701,'tid':1,'ts':6,'dur':1,"
            "'name':'q\\\"\\\\\\n\xef\xbf\xbd\\u0000x'}" TAIL);
}

/* An event of a space that says these numbers; values of 0 are not said. */
static void says(vp_buf *line, int64_t at_ns, const int64_t values[], size_t n)
{
    vp_buf st = mk_new();
    for (size_t i = 0; i < n; i++)
        if (values[i])
            mk_stat_u(&st, 4, (int64_t)i + 1, 4, (uint64_t)values[i]);
    mk_event(line, 1, at_ns * 1000, 1000, &st);
}

static const char *const flow_stats[] = {"correlation_id", "_pt", "_p", "_ct", "_c", "flow"};

static vp_buf plane_with_flows(int64_t id, const char *name)
{
    vp_buf p = plane_with_names(id, name);
    for (int i = 0; i < 6; i++)
        mk_stat_meta(&p, i + 1, flow_stats[i]);
    return p;
}

/* The bind_id of the event at a time, and what it says of it. */
static void binds(const char *out, const char *ts, const char *flow, char id[32])
{
    char want[64];
    snprintf(want, sizeof want, "\"ts\":%s,", ts);
    const char *line = strstr(out, want);
    assert_non_null(line);
    vp_str text = {line, (size_t)(strchr(line, '\n') - line)};
    size_t at = vp_str_find(text, VP_STR("\"bind_id\":\""));
    id[0] = 0;
    if (!flow) {
        assert_int_equal(at, text.n);
        return;
    }
    assert_true(at < text.n);
    assert_int_equal(sscanf(line + at, "\"bind_id\":\"%31[^\"]", id), 1);
    snprintf(want, sizeof want, "\"%s\",%s", id, flow);
    if (vp_str_find(text, vp_str_of(want)) == text.n)
        fail_msg("%s: %s in %.*s", ts, want, VP_STR_ARG(text));
}

#define OUT "\"flow_out\":true"
#define IN "\"flow_in\":true"

/* Launch → kernel by correlation, producer → consumers by (type, id), and XFlow. An id begins once,
 * at the first event in the file that has it: a second begin is an error to Perfetto. */
static void flows_join_events(void **state)
{
    (void)state;
    char *out, a[32], b[32], c[32];
    size_t n;
    vp_buf space = mk_new(), p = plane_with_flows(0, "/host:CPU"), l = mk_line(1, "t", 0);
    says(&l, 1, (int64_t[]){5, 7, 9}, 3); /* the launch is shown, not what it produces too */
    says(&l, 2, (int64_t[]){5}, 1);
    says(&l, 3, (int64_t[]){0, 7, 9}, 3);
    says(&l, 4, (int64_t[]){0, 7, 9}, 3);
    says(&l, 5, (int64_t[]){0, 0, 0, 7, 9}, 5);
    says(&l, 6, (int64_t[]){0, 8, 9}, 3);
    says(&l, 7, (int64_t[]){0, 7, 9, 7, 9}, 5);
    says(&l, 8, (int64_t[]){0, 7, 10, 7, 9}, 5);
    says(&l, 11, (int64_t[]){0, 0, 0, 0, 0, 3 << 2 | 2}, 6);
    says(&l, 12, (int64_t[]){0, 0, 0, 0, 0, 3 << 2 | 1}, 6);
    says(&l, 13, (int64_t[]){0, 0, 0, 0, 0, 4 << 2 | 3}, 6);
    says(&l, 14, (int64_t[]){0, 0, 0, 0, 0, 4 << 2 | 3}, 6);
    says(&l, 15, (int64_t[]){0}, 1);
    mk_nest(&p, 3, &l);
    mk_nest(&space, 1, &p);
    p = plane_with_flows(3, "/device:GPU:0");
    l = mk_line(2, "Stream #2", 0);
    says(&l, 21, (int64_t[]){5}, 1);
    says(&l, 22, (int64_t[]){5}, 1); /* a graph: many kernels of one launch */
    mk_nest(&p, 3, &l);
    mk_nest(&space, 1, &p);
    assert_int_equal(convert(vp_buf_view(&space), &out, &n, NULL), 0);
    binds(out, "0.001", OUT, a);
    assert_string_equal(a, "0x5");
    binds(out, "0.002", NULL, c);
    binds(out, "0.021", IN, b);
    binds(out, "0.022", IN, c);
    assert_string_equal(a, b);
    assert_string_equal(a, c);
    binds(out, "0.003", OUT, a);
    binds(out, "0.004", NULL, c);
    binds(out, "0.005", IN, b);
    assert_string_equal(a, b);
    binds(out, "0.006", OUT, b);
    assert_string_not_equal(a, b);
    binds(out, "0.007", OUT "," IN, c); /* it passes */
    assert_string_equal(a, c);
    binds(out, "0.008", OUT, b);
    assert_string_not_equal(a, b);
    binds(out, "0.011", OUT, a);
    binds(out, "0.012", IN, b);
    assert_string_equal(a, b);
    binds(out, "0.013", OUT ",\"args\"", a);
    binds(out, "0.014", OUT "," IN, b);
    assert_string_equal(a, b);
    binds(out, "0.015", NULL, c);
    assert_null(strstr(out, "\"_p\":"));
    vp_free(out);
    vp_buf_free(&space);
}

/* Ids above 32 bits, and more of them than a slot has. */
static void every_flow_begins_once(void **state)
{
    (void)state;
    xj_flows flows = {0};
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < 1000; i++) {
            xj_facts facts = {.has = 1u << XJ_PRODUCER};
            xj_flow flow;
            facts.v[XJ_PRODUCER] = (i << 30) + i;
            assert_int_equal(xj_flow_of(&flows, &facts, false, &flow), 0);
            assert_int_equal(flow.out, round == 0);
            assert_false(flow.in);
        }
    xj_flows_free(&flows);
}

/* A counter an allocator, of what the report calls in use: XLA's stacks are beside the heap. */
static void memory_in_use_is_a_counter(void **state)
{
    (void)state;
    static const char *const stats[] = {"bytes_allocated", "bytes_available", "bytes_reserved",
                                        "index_on_host",   "allocator_name",  "GPU_4_bfc"};
    vp_buf space = mk_new(), p = mk_plane(0, "/host:CPU"), l = mk_line(1, "t", 0), st = mk_new();
    for (int i = 0; i < 6; i++)
        mk_stat_meta(&p, i + 1, stats[i]);
    mk_event_meta(&p, 1, VP_STR("MemoryAllocation"), NULL, NULL);
    mk_stat_u(&st, 4, 1, 4, 1000);
    mk_stat_u(&st, 4, 2, 4, 5000);
    mk_stat_u(&st, 4, 3, 4, 200);
    mk_stat_u(&st, 4, 4, 4, 3);
    mk_event(&l, 1, 1000, 0, &st);
    st = mk_new();
    mk_stat_u(&st, 4, 1, 4, 2000);
    mk_stat_u(&st, 4, 5, 7, 6);
    mk_event(&l, 1, 2000, 0, &st);
    st = mk_new();
    mk_stat_u(&st, 4, 1, 4, 3000);
    mk_stat_text(&st, 4, 5, 5, VP_STR("a\"b\\"));
    mk_event(&l, 1, 3000, 0, &st);
    st = mk_new();
    mk_stat_u(&st, 4, 1, 4, INT64_MAX); /* more than there is */
    mk_stat_u(&st, 4, 2, 4, 1);
    mk_stat_u(&st, 4, 3, 4, 1);
    mk_event(&l, 1, 4000, 0, &st);
    st = mk_new();
    mk_stat_u(&st, 4, 1, 4, 7000); /* a call that says it, no allocator's event */
    mk_event(&l, 1, 5000, 1000, &st);
    mk_nest(&p, 3, &l);
    mk_nest(&space, 1, &p);
    char *out;
    size_t n;
    assert_int_equal(convert(vp_buf_view(&space), &out, &n, NULL), 0);
    vp_buf_free(&space);
    assert_int_equal(count(out, "\"ph\":\"X\""), 5);
    assert_int_equal(count(out, "\"ph\":\"C\""), 3);
    assert_non_null(strstr(out, "\"bytes_reserved\":\"200\",\"index_on_host\":\"3\"}},\n"
                                "{\"ph\":\"C\",\"pid\":701,\"ts\":0.001,\"name\":\"memory 3\","
                                "\"args\":{\"bytes in use\":1200}},\n"));
    assert_non_null(strstr(out, "\"ts\":0.002,\"name\":\"GPU_4_bfc\","
                                "\"args\":{\"bytes in use\":2000}}"));
    assert_non_null(strstr(out, "\"ts\":0.003,\"name\":\"a\\\"b\\u005c\","));
    vp_free(out);
}

/* Perfetto takes a string that ends in an escaped backslash for unclosed. */
static void no_string_ends_in_a_backslash(void **state)
{
    static const char *const cases[][2] = {
        {"", "\"\""},
        {"\\", "\"\\u005c\""},
        {"C:\\dir\\", "\"C:\\\\dir\\u005c\""},
        {"\\\\", "\"\\\\\\u005c\""},
        {"\\\"", "\"\\\\\\\"\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vp_buf b;
        vp_buf_init(&b, 64);
        assert_int_equal(ex_quote(&b, vp_str_of(cases[i][0])), 0);
        assert_string_equal(vp_buf_cstr(&b), cases[i][1]);
        vp_buf_free(&b);
    }
}

/* display_id and display_name stand behind the events and win. */
static void display_wins(void **state)
{
    (void)state;
    vp_buf space = mk_new(), p = plane_with_names(0, "/host:CPU"), l = mk_line(4, "name", 0);
    mk_event(&l, 1, 0, 1000, NULL);
    vp_pb_put_u64(&l, 10, 40);
    vp_pb_put_len(&l, 11, VP_STR("shown"));
    mk_nest(&p, 3, &l);
    mk_nest(&space, 1, &p);
    becomes(&space, HEAD
            "{'ph':'M','pid':701,'name':'process_name','args':{'name':'/host:CPU'}},\n"
            "{'ph':'M','pid':701,'name':'process_sort_index','args':{'sort_index':701}},\n"
            "{'ph':'M','pid':701,'tid':40,'name':'thread_name','args':{'name':'shown'}},\n"
            "{'ph':'M','pid':701,'tid':40,'name':'thread_sort_index','args':{'sort_index':1}},\n"
            "{'ph':'X','pid':701,'tid':40,'ts':0,'dur':0.001,'name':'op'}" TAIL);
}

static vp_buf sample_space(void)
{
    vp_buf space = mk_new(), p = plane_with_names(0, "/host:CPU");
    mk_stat_meta(&p, 1, "key");
    vp_buf l = mk_line(3, "thread", 5);
    for (int i = 0; i < 5; i++) {
        vp_buf st = mk_new();
        mk_stat_text(&st, 4, 1, 5, VP_STR("value"));
        mk_event(&l, 1, i * 1000, 10, &st);
    }
    mk_nest(&p, 3, &l);
    mk_nest(&space, 1, &p);
    p = plane_with_names(1, "/device:GPU:0");
    add_line(&p, 7, "Stream #7(Compute)", 0, 1, 1);
    mk_nest(&space, 1, &p);
    return space;
}

static size_t events_of(const char *p, size_t n)
{
    json_error_t error;
    json_t *root = json_loadb(p, n, 0, &error), *e;
    size_t i, found = 0;
    if (!root)
        fail_msg("no JSON: %s", error.text);
    json_array_foreach(json_object_get(root, "traceEvents"), i, e) found +=
        strcmp(json_string_value(json_object_get(e, "ph")), "X") == 0;
    json_decref(root);
    return found;
}

/* Cut anywhere: JSON with the events that are whole, and a word about the damage; a refusal before
 * the first. */
static void every_prefix_is_json(void **state)
{
    (void)state;
    vp_buf space = sample_space();
    size_t most = 0;
    for (size_t cut = 0; cut <= space.n; cut++) {
        char *out = NULL;
        size_t n;
        int damage;
        int rc = convert(vp_str_head(vp_buf_view(&space), cut), &out, &n, &damage);
        if (rc < 0) {
            assert_int_equal(rc, VP_ECORRUPT);
            assert_int_equal(most, 0);
            continue;
        }
        size_t events = events_of(out, n);
        assert_true(events > 0);
        assert_true(events >= most);
        most = events;
        if (cut == space.n)
            assert_int_equal(damage, 0);
        vp_free(out);
    }
    assert_int_equal(most, 6);
    vp_buf_free(&space);
}

static void broken_bytes_never_break_the_json(void **state)
{
    (void)state;
    vp_buf space = sample_space();
    uint32_t seed = 7;
    for (int round = 0; round < 5000; round++) {
        char *copy = vp_malloc(space.n), *out = NULL;
        size_t n;
        memcpy(copy, space.p, space.n);
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525u + 1013904223u;
            copy[(seed >> 8) % space.n] = (char)(seed >> 4);
        }
        if (convert((vp_str){copy, space.n}, &out, &n, NULL) >= 0) {
            if (!strstr(out, "\\u0000")) /* jansson has no NUL in keys */
                events_of(out, n);
            vp_free(out);
        }
        vp_free(copy);
    }
    vp_buf_free(&space);
}

static void what_is_no_xspace_is_refused(void **state)
{
    (void)state;
    char *out;
    size_t n;
    assert_int_equal(convert(VP_STR(""), &out, &n, NULL), VP_ECORRUPT);
    assert_int_equal(convert(VP_STR("{\"traceEvents\":[]}"), &out, &n, NULL), VP_ECORRUPT);
    assert_int_equal(convert(VP_STR("version https://git-lfs"), &out, &n, NULL), VP_ECORRUPT);
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    vp_buf space = sample_space();
    char *want, *out;
    size_t want_n, n;
    unsigned failed = 0;
    assert_int_equal(convert(vp_buf_view(&space), &want, &want_n, NULL), 0);
    for (uint64_t k = 1; k < 200; k++) {
        vp_mem_fail_at(k, false);
        int rc = convert(vp_buf_view(&space), &out, &n, NULL);
        vp_mem_fail_at(0, false);
        if (rc < 0) {
            assert_int_equal(rc, VP_ENOMEM);
            failed++;
            continue;
        }
        assert_int_equal(n, want_n);
        assert_memory_equal(out, want, n);
        vp_free(out);
    }
    assert_true(failed > 20);
    vp_free(want);
    vp_buf_free(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(microseconds_are_exact),
        cmocka_unit_test(start_and_end_are_rounded),
        cmocka_unit_test(processes_and_threads),
        cmocka_unit_test(a_session_may_be_empty),
        cmocka_unit_test(ids_that_would_collide_move),
        cmocka_unit_test(what_overlaps_goes_to_a_sibling),
        cmocka_unit_test(lines_may_be_in_any_order),
        cmocka_unit_test(neighbours_still_touch),
        cmocka_unit_test(lines_of_one_thread_share_its_tracks),
        cmocka_unit_test(what_is_in_flight_is_async),
        cmocka_unit_test(what_no_track_takes_is_async),
        cmocka_unit_test(times_that_perfetto_cannot_show),
        cmocka_unit_test(unix_times_are_made_relative),
        cmocka_unit_test(names_and_args),
        cmocka_unit_test(flows_join_events),
        cmocka_unit_test(every_flow_begins_once),
        cmocka_unit_test(memory_in_use_is_a_counter),
        cmocka_unit_test(no_string_ends_in_a_backslash),
        cmocka_unit_test(display_wins),
        cmocka_unit_test(every_prefix_is_json),
        cmocka_unit_test(broken_bytes_never_break_the_json),
        cmocka_unit_test(what_is_no_xspace_is_refused),
        cmocka_unit_test(out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
