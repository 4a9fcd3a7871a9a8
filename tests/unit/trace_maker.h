/* Traces built in memory for tests of trace/analyze: processes, tracks and events by name. Times
 * are ps. */
#ifndef VP_TESTS_TRACE_MAKER_H
#define VP_TESTS_TRACE_MAKER_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/traces.h"
#include "trace/analyze/host_analysis.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/read/json/chrome_json.h"
#include "trace/read/gzip/gzip.h"
#include "trace/read/xspace/xspace.h"

static inline trace *tm_new(void)
{
    trace *t = NULL;
    assert_int_equal(trace_new(&t), 0);
    return t;
}

static inline uint32_t tm_process(trace *t, sink_process_kind kind, const char *name, int32_t n)
{
    uint32_t id;
    sink_process p = {vp_str_of(name), n, kind, n};
    assert_int_equal(t->sink.process(&t->sink, &p, &id), 0);
    return id;
}

static inline uint32_t tm_track(trace *t, uint32_t process, const char *name, sink_role role)
{
    uint32_t id;
    sink_track k = {process, vp_str_of(name), (int64_t)t->track_count + 1, role, false};
    assert_int_equal(t->sink.track(&t->sink, &k, &id), 0);
    return id;
}

/* Kinds are identified by name and category, or for ops by name, scope and module. */
static inline uint32_t tm_kind(trace *t, const sink_kind *k)
{
    uint32_t id;
    for (uint32_t i = 0; i < t->kind_count; i++) {
        const trace_kind *x = &t->kinds[i];
        if (vp_str_eq(trace_str(t, x->name), k->name) && x->is_op == k->is_op &&
            vp_str_eq(trace_str(t, x->category), k->category) &&
            vp_str_eq(trace_str(t, x->scope), k->scope) &&
            vp_str_eq(trace_str(t, x->module), k->module))
            return i;
    }
    assert_int_equal(t->sink.kind(&t->sink, k, &id), 0);
    return id;
}

static inline sink_kind tm_plain(const char *name)
{
    return (sink_kind){.name = vp_str_of(name),
                       .program_id = SINK_UNKNOWN,
                       .bytes = SINK_UNKNOWN,
                       .flops = SINK_UNKNOWN,
                       .group_size = SINK_UNKNOWN};
}

static inline void tm_event(trace *t, uint32_t track, sink_kind k, int64_t start, int64_t end,
                            const sink_extra *extra)
{
    k.is_op = t->tracks[track].role == SINK_ROLE_OPS;
    sink_event e = {start, end - start, SINK_NO_TIME, 0, track, tm_kind(t, &k), extra};
    assert_int_equal(t->sink.events(&t->sink, &e, 1), 0);
}

static inline void tm_put(trace *t, uint32_t track, const char *name, int64_t start, int64_t end)
{
    tm_event(t, track, tm_plain(name), start, end, NULL);
}

/* A launch call, or an op that a call launched. */
static inline void tm_linked(trace *t, uint32_t track, const char *name, int64_t start, int64_t end,
                             int64_t correlation)
{
    sink_extra x = {0};
    sink_extra_set(&x, SINK_CORRELATION, correlation);
    tm_event(t, track, tm_plain(name), start, end, &x);
}

/* A step annotation as JAX writes it: any name, its number and its root level. */
static inline void tm_step(trace *t, uint32_t track, const char *name, int64_t start, int64_t end,
                           int64_t number)
{
    sink_extra x = {0};
    sink_extra_set(&x, SINK_STEP, number);
    sink_extra_set(&x, SINK_ROOT, 1);
    tm_event(t, track, tm_plain(name), start, end, &x);
}

/* An op with a clock of its own. */
static inline void tm_aligned(trace *t, uint32_t track, const char *name, int64_t start,
                              int64_t end, int64_t aligned_start, int64_t aligned_end)
{
    sink_kind k = tm_plain(name);
    k.is_op = true;
    sink_event e = {start, end - start,    aligned_start, aligned_end - aligned_start,
                    track, tm_kind(t, &k), NULL};
    assert_int_equal(t->sink.events(&t->sink, &e, 1), 0);
}

/* Times of the report are those of the trace: origin 0. */
static inline void tm_analyze(host_result *h, trace *t)
{
    t->capture_start_ps = 0;
    t->capture_end_ps = 1000000;
    assert_int_equal(trace_seal(t), 0);
    host_result_init(h);
    if (host_analyze(h, t, VP_GROUP_NAME, VP_DEPTH_FULL) < 0)
        fail_msg("%s", vp_error_last()->message);
}

static inline void tm_free(host_result *h, trace *t)
{
    host_result_free(h);
    trace_free(t);
}

/* Analyzes a real file of the collection; skips the test if only the large collection has it. */
static inline void tm_real(host_result *h, const char *path)
{
    char full[4096];
    traces_need(path);
    trace *t = tm_new();
    int fd = open(traces_path(full, sizeof full, path), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    rd_options ro = {0};
    if (strstr(path, ".pb")) {
        rd_source *in;
        assert_int_equal(rd_source_fd(&in, fd), 0);
        assert_int_equal(xs_read(&t->sink, in, &ro), 0);
        rd_source_close(in);
    } else {
        rd_stream *in, *plain;
        assert_int_equal(rd_stream_fd(&in, fd), 0);
        assert_int_equal(gz_stream(&plain, in, false), 0);
        assert_int_equal(cj_read(&t->sink, plain, &ro), 0);
        rd_stream_close(&plain);
    }
    assert_int_equal(trace_seal(t), 0);
    host_result_init(h);
    if (host_analyze(h, t, VP_GROUP_NAME, VP_DEPTH_FULL) < 0)
        fail_msg("%s", vp_error_last()->message);
    trace_free(t);
}

#define V2_TPU "jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb"
#define RESNET50                                                                                   \
    "pytorch_cuda/pytorch__kineto/samples/resnet50_num_workers_0/"                                 \
    "worker0.1623143089861.pt.trace.json.gz"
#define HTA_TEST "pytorch_cuda/facebookresearch__HolisticTraceAnalysis/trace_diff/test/test.json.gz"

#endif
