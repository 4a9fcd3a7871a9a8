/* JSON made from hand-made XSpaces: jaxlib's ids, order, names and args (xprof.md 3.1), Perfetto's
 * rules where they clash, exact times, and damage. */
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
#include "trace/export/xspace_json.h"

static int convert(vp_str space, char **out, size_t *n, int *damage)
{
    rd_source *in = NULL;
    rd_stream *s = NULL;
    int rc = rd_source_memory(&in, space.p, space.n);
    if (rc >= 0)
        rc = ex_json_from_xspace(&s, in);
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
        int64_t ps;
        const char *text;
    } cases[] = {
        {0, "0"},
        {1, "0.000001"},
        {999999, "0.999999"},
        {1000000, "1"},
        {1234500, "1.2345"},
        {-1, "-0.000001"},
        {INT64_MAX, "9223372036854.775807"},
        {INT64_MIN, "-9223372036854.775808"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vp_buf b;
        vp_buf_init(&b, 64);
        xj_put_us(&b, cases[i].ps);
        assert_string_equal(vp_buf_cstr(&b), cases[i].text);
        vp_buf_free(&b);
    }
}

/* The host is 701 and comes first among the events, devices are 1 + id, one family only, and what
 * has no place in jaxlib's JSON has none here. */
static void processes_and_threads(void **state)
{
    (void)state;
    vp_buf space = mk_new(), p = plane_with_names(2, "/device:TPU:0");
    add_line(&p, 7, "XLA Ops", 1, 500, 2000000);
    add_line(&p, 8, "Async XLA Ops", 1, 0, 1);
    mk_nest(&space, 1, &p);
    p = plane_with_names(9, "/device:CUSTOM:0");
    add_line(&p, 1, "x", 0, 0, 1);
    mk_nest(&space, 1, &p);
    p = plane_with_names(0, "/host:metadata");
    add_line(&p, 1, "x", 0, 0, 1);
    mk_nest(&space, 1, &p);
    p = plane_with_names(0, "/host:CPU");
    add_line(&p, -1, "main/-1", 0, 3, 0);
    add_line(&p, 5, "", 0, 4, -7);
    mk_nest(&space, 1, &p);
    becomes(&space, HEAD
            "{'ph':'M','pid':3,'name':'process_name','args':{'name':'/device:TPU:0'}},\n"
            "{'ph':'M','pid':3,'name':'process_sort_index','args':{'sort_index':3}},\n"
            "{'ph':'M','pid':3,'tid':7,'name':'thread_name','args':{'name':'XLA Ops'}},\n"
            "{'ph':'M','pid':3,'tid':7,'name':'thread_sort_index','args':{'sort_index':7}},\n"
            "{'ph':'M','pid':3,'tid':8,'name':'thread_name','args':{'name':'Async XLA Ops'}},\n"
            "{'ph':'M','pid':3,'tid':8,'name':'thread_sort_index','args':{'sort_index':8}},\n"
            "{'ph':'M','pid':701,'name':'process_name','args':{'name':'/host:CPU'}},\n"
            "{'ph':'M','pid':701,'name':'process_sort_index','args':{'sort_index':701}},\n"
            "{'ph':'M','pid':701,'tid':5,'name':'thread_sort_index','args':{'sort_index':2}},\n"
            "{'ph':'M','pid':701,'tid':4294967295,'name':'thread_name',"
            "'args':{'name':'main/-1'}},\n"
            "{'ph':'M','pid':701,'tid':4294967295,'name':'thread_sort_index',"
            "'args':{'sort_index':1}},\n"
            "{'ph':'X','pid':701,'tid':4294967295,'ts':0.000003,'dur':0.000001,'name':'op'},\n"
            "{'ph':'X','pid':701,'tid':5,'ts':0.000004,'dur':0.000001,'name':'op'},\n"
            "{'ph':'X','pid':3,'tid':7,'ts':0.0015,'dur':2,'name':'op'}" TAIL);
}

/* tid 0 is the pid to Perfetto, ids above 32 bits fold, and two planes may claim one pid. */
static void ids_that_would_collide_move(void **state)
{
    (void)state;
    vp_buf space = mk_new(), p = plane_with_names(2, "/device:TPU:0");
    add_line(&p, 0, "Steps", 0, 1, 1);
    add_line(&p, 3, "XLA Ops", 0, 2, 1); /* tid 3 = pid 3 */
    add_line(&p, (INT64_C(1) << 32) + 3, "folds", 0, 3, 1);
    add_line(&p, 3, "XLA Ops", 0, 4, 1); /* the same id is the same thread */
    mk_nest(&space, 1, &p);
    p = plane_with_names(2, "/device:TPU:1");
    add_line(&p, 0, "alone", 0, 5, 1); /* nothing has tid 501 there: 0 may stay */
    mk_nest(&space, 1, &p);
    p = plane_with_names(77, "/device:TPU:0"); /* a plane twice is one process */
    add_line(&p, 9, "more", 0, 6, 1);
    mk_nest(&space, 1, &p);
    becomes(&space, HEAD
            "{'ph':'M','pid':3,'name':'process_name','args':{'name':'/device:TPU:0'}},\n"
            "{'ph':'M','pid':3,'name':'process_sort_index','args':{'sort_index':3}},\n"
            "{'ph':'M','pid':3,'tid':1,'name':'thread_name','args':{'name':'Steps'}},\n"
            "{'ph':'M','pid':3,'tid':1,'name':'thread_sort_index','args':{'sort_index':1}},\n"
            "{'ph':'M','pid':3,'tid':2,'name':'thread_name','args':{'name':'folds'}},\n"
            "{'ph':'M','pid':3,'tid':2,'name':'thread_sort_index','args':{'sort_index':2}},\n"
            "{'ph':'M','pid':3,'tid':3,'name':'thread_name','args':{'name':'XLA Ops'}},\n"
            "{'ph':'M','pid':3,'tid':3,'name':'thread_sort_index','args':{'sort_index':3}},\n"
            "{'ph':'M','pid':3,'tid':9,'name':'thread_name','args':{'name':'more'}},\n"
            "{'ph':'M','pid':3,'tid':9,'name':'thread_sort_index','args':{'sort_index':9}},\n"
            "{'ph':'M','pid':501,'name':'process_name','args':{'name':'/device:TPU:1'}},\n"
            "{'ph':'M','pid':501,'name':'process_sort_index','args':{'sort_index':501}},\n"
            "{'ph':'M','pid':501,'tid':0,'name':'thread_name','args':{'name':'alone'}},\n"
            "{'ph':'M','pid':501,'tid':0,'name':'thread_sort_index','args':{'sort_index':0}},\n"
            "{'ph':'X','pid':3,'tid':1,'ts':0.000001,'dur':0.000001,'name':'op'},\n"
            "{'ph':'X','pid':3,'tid':3,'ts':0.000002,'dur':0.000001,'name':'op'},\n"
            "{'ph':'X','pid':3,'tid':2,'ts':0.000003,'dur':0.000001,'name':'op'},\n"
            "{'ph':'X','pid':3,'tid':3,'ts':0.000004,'dur':0.000001,'name':'op'},\n"
            "{'ph':'X','pid':501,'tid':0,'ts':0.000005,'dur':0.000001,'name':'op'},\n"
            "{'ph':'X','pid':3,'tid':9,'ts':0.000006,'dur':0.000001,'name':'op'}" TAIL);
}

/* Unix times become times since the first line, so that doubles keep their nanoseconds. */
static void unix_times_are_made_relative(void **state)
{
    (void)state;
    const int64_t unix_ns = INT64_C(1700000000123456789);
    vp_buf space = mk_new(), p = plane_with_names(0, "/host:CPU");
    add_line(&p, 1, "a", unix_ns + 1000, 1, 1);
    add_line(&p, 2, "b", unix_ns, 0, 1);
    mk_nest(&space, 1, &p);
    becomes(&space, HEAD
            "{'ph':'M','pid':701,'name':'process_name','args':{'name':'/host:CPU'}},\n"
            "{'ph':'M','pid':701,'name':'process_sort_index','args':{'sort_index':701}},\n"
            "{'ph':'M','pid':701,'tid':1,'name':'thread_name','args':{'name':'a'}},\n"
            "{'ph':'M','pid':701,'tid':1,'name':'thread_sort_index','args':{'sort_index':1}},\n"
            "{'ph':'M','pid':701,'tid':2,'name':'thread_name','args':{'name':'b'}},\n"
            "{'ph':'M','pid':701,'tid':2,'name':'thread_sort_index','args':{'sort_index':2}},\n"
            "{'ph':'X','pid':701,'tid':1,'ts':1.000001,'dur':0.000001,'name':'op'},\n"
            "{'ph':'X','pid':701,'tid':2,'ts':0,'dur':0.000001,'name':'op'}" TAIL);
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
    mk_event(&l, 2, 3000000, 1000000, NULL); /* left out, as jaxlib does */
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
            "{'ph':'X','pid':701,'tid':1,'ts':4,'dur':1,'name':'train 7',"
            "'args':{'step_name':'train 7','zeta':'0.1'}},\n"
            "{'ph':'X','pid':701,'tid':1,'ts':5,'dur':1,'name':''},\n"
            "{'ph':'X','pid':701,'tid':1,'ts':6,'dur':1,"
            "'name':'q\\\"\\\\\\n\xef\xbf\xbd\\u0000x'}" TAIL);
}

/* display_id and display_name stand behind the events and win. */
static void display_wins(void **state)
{
    (void)state;
    vp_buf space = mk_new(), p = plane_with_names(0, "/host:CPU"), l = mk_line(4, "name", 0);
    mk_event(&l, 1, 0, 1, NULL);
    vp_pb_put_u64(&l, 10, 40);
    vp_pb_put_len(&l, 11, VP_STR("shown"));
    mk_nest(&p, 3, &l);
    mk_nest(&space, 1, &p);
    becomes(&space, HEAD
            "{'ph':'M','pid':701,'name':'process_name','args':{'name':'/host:CPU'}},\n"
            "{'ph':'M','pid':701,'name':'process_sort_index','args':{'sort_index':701}},\n"
            "{'ph':'M','pid':701,'tid':40,'name':'thread_name','args':{'name':'shown'}},\n"
            "{'ph':'M','pid':701,'tid':40,'name':'thread_sort_index','args':{'sort_index':1}},\n"
            "{'ph':'X','pid':701,'tid':40,'ts':0,'dur':0.000001,'name':'op'}" TAIL);
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
        cmocka_unit_test(processes_and_threads),
        cmocka_unit_test(ids_that_would_collide_move),
        cmocka_unit_test(unix_times_are_made_relative),
        cmocka_unit_test(names_and_args),
        cmocka_unit_test(display_wins),
        cmocka_unit_test(every_prefix_is_json),
        cmocka_unit_test(broken_bytes_never_break_the_json),
        cmocka_unit_test(what_is_no_xspace_is_refused),
        cmocka_unit_test(out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
