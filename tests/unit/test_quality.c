/* trace/analyze/quality: each doubt has a trace that raises it and a near one that does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/xspace_maker.h"
#include "trace/analyze/host_analysis.h"
#include "trace/analyze/result/host_result.h"
#include "trace/model/trace.h"
#include "trace/read/json/chrome_json.h"
#include "trace/read/xspace/xspace.h"

static void analyze(host_result *h, trace *t)
{
    assert_int_equal(trace_seal(t), 0);
    host_result_init(h);
    assert_int_equal(host_analyze(h, t, VP_GROUP_NAME, VP_DEPTH_FULL), 0);
    trace_free(t);
}

static const vp_quality *note_of(const host_result *h, const char *code)
{
    for (size_t i = 0; i < h->quality_count; i++)
        if (!strcmp(h->quality[i].code, code))
            return &h->quality[i];
    return NULL;
}

/* Whether the events, a comma-separated list, raise the code; its message must hold `part`. */
static bool raises(const char *events, const char *code, const char *part)
{
    char text[4096];
    const rd_options all = {.device_only = false};
    trace *t;
    rd_stream *in;
    host_result h;
    snprintf(text, sizeof text, "{\"traceEvents\":[%s]}", events);
    assert_int_equal(rd_stream_memory(&in, text, strlen(text), 0), 0);
    assert_int_equal(trace_new(&t), 0);
    assert_int_equal(cj_read(&t->sink, in, &all), 0);
    rd_stream_close(&in);
    analyze(&h, t);
    const vp_quality *q = note_of(&h, code);
    if (q && part)
        assert_non_null(strstr(q->message, part));
    host_result_free(&h);
    return q;
}

#define CALL(name, ts, id)                                                                         \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts  \
    ",\"dur\":1,\"args\":{\"correlation\":" id "}}"
#define KERNEL(name, ts, id)                                                                       \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" ts        \
    ",\"dur\":2,\"args\":{\"device\":0,\"correlation\":" id "}}"
#define NAMED                                                                                      \
    "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"main\"}},"

static void launches_without_a_device(void **state)
{
    (void)state;
    assert_true(raises(CALL("cudaLaunchKernel", "1", "1"), "no-device", "1 calls launch"));
    assert_false(raises(CALL("cudaGetDevice", "1", "1"), "no-device", NULL));
    assert_false(
        raises(CALL("cudaLaunchKernel", "1", "1") "," KERNEL("k", "3", "1"), "no-device", NULL));
}

/* Two launches of graphs with one op each show what the graphs are, not what they do. */
static void graphs_traced_as_a_whole(void **state)
{
    (void)state;
    assert_true(raises(CALL("cudaGraphLaunch", "1", "1") "," KERNEL("graph", "3", "1") "," CALL(
                           "cudaGraphLaunch", "6", "2") "," KERNEL("graph", "8", "2"),
                       "graph-captured", "2 launches of recorded graphs show 2 device ops"));
    assert_false(raises(
        CALL("cudaGraphLaunch", "1", "1") "," KERNEL("a", "3", "1") "," KERNEL("b", "6", "1"),
        "graph-captured", NULL));
    assert_false(raises(CALL("cudaLaunchKernel", "1", "1") "," KERNEL("a", "3", "1"),
                        "graph-captured", NULL));
}

/* One of two is above a tenth; where nothing is linked at all the platform may not link. */
static void ops_without_a_launch(void **state)
{
    (void)state;
    assert_true(raises(
        CALL("cudaLaunchKernel", "1", "1") "," KERNEL("a", "3", "1") "," KERNEL("b", "6", "2"),
        "unlinked-ops", "1 of 2 device ops"));
    assert_false(
        raises(CALL("cudaLaunchKernel", "1", "1") "," KERNEL("a", "3", "1"), "unlinked-ops", NULL));
    assert_false(raises("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
                        "\"ts\":1,\"dur\":2,\"args\":{\"device\":0}}",
                        "unlinked-ops", NULL));
}

static void nothing_took_time(void **state)
{
    (void)state;
    assert_true(raises("{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":1,\"args\":{\"v\":1}}",
                       "empty-window", "only counters"));
    assert_true(
        raises("{\"ph\":\"i\",\"name\":\"i\",\"pid\":1,\"tid\":1,\"ts\":1}", "no-durations", NULL));
    assert_false(raises(CALL("f", "1", "1"), "no-durations", NULL));
    assert_false(raises(KERNEL("k", "1", "1"), "no-durations", NULL));
    assert_false(raises(CALL("f", "1", "1"), "empty-window", NULL));
}

static void threads_without_names(void **state)
{
    (void)state;
    assert_true(raises(CALL("f", "1", "1"), "thread-names", "1 of 1"));
    assert_false(raises(NAMED CALL("f", "1", "1"), "thread-names", NULL));
}

static host_result analyze_space(vp_buf *space)
{
    host_result h;
    trace *t;
    rd_source *in;
    vp_str bytes = vp_buf_view(space);
    assert_int_equal(rd_source_memory(&in, bytes.p, bytes.n), 0);
    assert_int_equal(trace_new(&t), 0);
    assert_int_equal(xs_read(&t->sink, in, NULL), 0);
    rd_source_close(in);
    vp_buf_free(space);
    analyze(&h, t);
    return h;
}

static void the_profiler_dropped_events(void **state)
{
    vp_buf space = mk_new(), plane = mk_plane(1, "/device:GPU:0"),
           line = mk_line(1, "Stream #1", 0), st = mk_new();
    (void)state;
    mk_event(&line, 1, 0, 5, &st);
    mk_nest(&plane, 3, &line);
    mk_event_meta(&plane, 1, VP_STR("k"), NULL, NULL);
    mk_stat_meta(&plane, 1, "dropped_traces");
    mk_stat_u(&plane, 6, 1, 3, 17);
    mk_nest(&space, 1, &plane);
    host_result h = analyze_space(&space);
    assert_non_null(note_of(&h, "dropped-events"));
    assert_string_equal(note_of(&h, "dropped-events")->message,
                        "17 events of /device:GPU:0 were dropped by the profiler");
    assert_true(note_of(&h, "dropped-events")->partial);
    host_result_free(&h);
    space = mk_new();
    plane = mk_plane(1, "/host:CPU");
    mk_nest(&space, 1, &plane);
    vp_pb_put_len(&space, 3, VP_STR("clock is coarse"));
    h = analyze_space(&space);
    assert_null(note_of(&h, "dropped-events"));
    assert_non_null(note_of(&h, "profiler-warning"));
    assert_non_null(strstr(note_of(&h, "empty-window")->message, "no events"));
    host_result_free(&h);
    space = mk_new();
    plane = mk_plane(1, "/host:CPU");
    mk_stat_meta(&plane, 1, "dropped_traces");
    mk_stat_text(&plane, 6, 1, 5, VP_STR("0")); /* a text is a number, too: none */
    mk_nest(&space, 1, &plane);
    vp_pb_put_len(&space, 3, VP_STR("Dropped 5 events"));
    h = analyze_space(&space);
    assert_non_null(note_of(&h, "dropped-events"));
    host_result_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_without_a_device), cmocka_unit_test(graphs_traced_as_a_whole),
        cmocka_unit_test(ops_without_a_launch),      cmocka_unit_test(nothing_took_time),
        cmocka_unit_test(threads_without_names),     cmocka_unit_test(the_profiler_dropped_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
