/* trace/analyze/host_ops (docs/reference/metrics.md#host-ops): the host's own top, and how much of
 * it while all devices idle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/trace_maker.h"

typedef struct rig {
    trace *t;
    uint32_t main, worker, ops[2];
    host_result h;
} rig;

static rig make(void)
{
    rig r = {.t = tm_new()};
    uint32_t host = tm_process(r.t, SINK_PROCESS_HOST, "python", 1);
    r.main = tm_track(r.t, host, "main", SINK_ROLE_PLAIN);
    r.worker = tm_track(r.t, host, "", SINK_ROLE_PLAIN);
    for (int i = 0; i < 2; i++)
        r.ops[i] = tm_track(r.t, tm_process(r.t, SINK_PROCESS_GPU, "GPU", i), "s", SINK_ROLE_OPS);
    return r;
}

static const vp_host_op *op(const rig *r, const char *thread, const char *name)
{
    for (size_t i = 0; i < r->h.host_op_count; i++)
        if (!strcmp(r->h.host_ops[i].thread, thread) && !strcmp(r->h.host_ops[i].name, name))
            return &r->h.host_ops[i];
    return NULL;
}

/* A6's line: step[0,100), f[0,40) with an inner f[1,39), compile[5,25), execute[26,38) and
 * overflow[90,110), which crosses the step's end. Self: step 50, f 8, compile 20, execute 12,
 * overflow 20; total of f 40. GPU 0 runs [0,10) and [30,60), GPU 1 [20,35): all idle in [10,20) and
 * from 60 on. Of compile [10,20), of step [60,90), of overflow all. */
static void self_and_idle(void **state)
{
    rig r = make();
    (void)state;
    tm_put(r.t, r.main, "step", 0, 100);
    tm_put(r.t, r.main, "f", 0, 40);
    tm_put(r.t, r.main, "f", 1, 39);
    tm_put(r.t, r.main, "backend_compile", 5, 25);
    tm_put(r.t, r.main, "execute", 26, 38);
    tm_put(r.t, r.main, "overflow", 90, 110);
    tm_put(r.t, r.worker, "cudaStreamSynchronize", 55, 75);
    tm_put(r.t, r.ops[0], "k", 0, 10);
    tm_put(r.t, r.ops[0], "k", 30, 60);
    tm_put(r.t, r.ops[1], "k", 20, 35);
    tm_analyze(&r.h, r.t);
    static const struct {
        const char *name;
        int64_t calls, total, self, idle, longest;
    } want[] = {{"step", 1, 100, 50, 30, 100},
                {"f", 2, 40, 8, 0, 40},
                {"backend_compile", 1, 20, 20, 10, 20},
                {"execute", 1, 12, 12, 0, 12},
                {"overflow", 1, 20, 20, 20, 20}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const vp_host_op *o = op(&r, "main", want[i].name);
        assert_non_null(o);
        assert_int_equal(o->calls, want[i].calls);
        assert_int_equal(o->total_ps, want[i].total);
        assert_int_equal(o->self_ps, want[i].self);
        assert_int_equal(o->idle_ps, want[i].idle);
        assert_int_equal(o->max_ps, want[i].longest);
    }
    assert_int_equal(r.h.host_op_count, 6);
    assert_string_equal(r.h.host_ops[0].name, "step"); /* by self time */
    assert_int_equal(op(&r, "main", "backend_compile")->cause, VP_CAUSE_COMPILE);
    const vp_host_op *sync = op(&r, "thread 2", "cudaStreamSynchronize");
    assert_non_null(sync);
    assert_true(sync->blocking);
    assert_int_equal(sync->idle_ps, 15);
    assert_int_equal(sync->max_start_ps, 55);
    assert_false(op(&r, "main", "step")->blocking);
    tm_free(&r.h, r.t);
}

/* GPU 0 runs [10,20) and [60,70): both idle in [20,60) between ops. A call that blocks counts from
 * begin to end, with the frames that do its waiting, and of calls that nest the outermost alone;
 * [0,10) and [70,90) lie outside of the window. */
static void blocking_calls_count_whole(void **state)
{
    rig r = make();
    (void)state;
    tm_put(r.t, r.main, "$api.py:3154 block_until_ready", 5, 50);
    tm_put(r.t, r.main, "$api.py:3165 try_to_block", 6, 49);
    tm_put(r.t, r.main, "PjRtFuture::Await", 8, 48);
    tm_put(r.t, r.main, "PjRtFuture::Await", 55, 90);
    tm_put(r.t, r.worker, "cudaStreamSynchronize", 0, 200);
    tm_put(r.t, r.ops[0], "k", 10, 20);
    tm_put(r.t, r.ops[0], "k", 60, 70);
    tm_analyze(&r.h, r.t);
    assert_int_equal(op(&r, "main", "$api.py:3154 block_until_ready")->blocked_ps, 30);
    assert_int_equal(op(&r, "main", "$api.py:3165 try_to_block")->blocked_ps, 0);
    assert_int_equal(op(&r, "main", "PjRtFuture::Await")->blocked_ps, 5);
    assert_int_equal(op(&r, "thread 2", "cudaStreamSynchronize")->blocked_ps, 40);
    tm_free(&r.h, r.t);
}

/* Behind a hundred names with more time of their own, a call that blocks is listed all the same. */
static void a_long_wait_is_listed(void **state)
{
    rig r = make();
    (void)state;
    for (int i = 0; i < 120; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        tm_put(r.t, r.worker, name, i * 20, i * 20 + 10 + i % 5);
    }
    tm_put(r.t, r.main, "$api.py:3154 block_until_ready", 0, 5000);
    tm_put(r.t, r.main, "$api.py:3165 try_to_block", 1, 4999);
    tm_put(r.t, r.ops[0], "k", 0, 100);
    tm_put(r.t, r.ops[0], "k", 4900, 5000);
    tm_analyze(&r.h, r.t);
    assert_int_equal(r.h.host_op_count, 101);
    assert_int_equal(r.h.host_op_total, 122);
    assert_string_equal(r.h.host_ops[100].name, "$api.py:3154 block_until_ready");
    assert_int_equal(r.h.host_ops[100].blocked_ps, 4800);
    tm_free(&r.h, r.t);
}

/* 130 names, f0 the shortest: the 100 longest are listed, and the rest is counted. */
static void what_is_not_listed_is_counted(void **state)
{
    rig r = make();
    (void)state;
    tm_put(r.t, r.ops[0], "k", 0, 10);
    for (int i = 0; i < 130; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        tm_put(r.t, r.main, name, i * 200, i * 200 + 1 + i);
    }
    tm_analyze(&r.h, r.t);
    assert_int_equal(r.h.host_op_count, 100);
    assert_int_equal(r.h.host_op_total, 130);
    assert_string_equal(r.h.host_ops[0].name, "f129");
    assert_string_equal(r.h.host_ops[99].name, "f30");
    tm_free(&r.h, r.t);
}

/* Noise is not there at all; the profiler's frames hide what they call, and do not give their time
 * to the frame around them. */
static void noise_and_profiler_are_hidden(void **state)
{
    rig r = make();
    (void)state;
    tm_put(r.t, r.main, "$a.py:1 main", 0, 100);
    tm_put(r.t, r.main, "$profiler.py:226 stop_trace", 10, 60);
    tm_put(r.t, r.main, "$io.py:1 write", 20, 50);
    tm_put(r.t, r.main, "$io.py:1 write", 70, 75);
    tm_put(r.t, r.main, "ThreadpoolListener::Record", 80, 90);
    tm_put(r.t, r.ops[0], "k", 0, 1);
    tm_analyze(&r.h, r.t);
    assert_int_equal(r.h.host_op_count, 2);
    assert_int_equal(op(&r, "main", "$a.py:1 main")->self_ps, 100 - 50 - 5 - 10);
    assert_int_equal(op(&r, "main", "$io.py:1 write")->calls, 1);
    assert_int_equal(op(&r, "main", "$io.py:1 write")->self_ps, 5);
    tm_free(&r.h, r.t);
}

/* No more than a hundred are listed, those with the most self time. */
static void the_list_is_short(void **state)
{
    rig r = make();
    (void)state;
    for (int i = 0; i < 150; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        tm_put(r.t, r.main, name, i * 1000, i * 1000 + 1 + i);
    }
    tm_put(r.t, r.ops[0], "k", 0, 1);
    tm_analyze(&r.h, r.t);
    assert_int_equal(r.h.host_op_count, 100);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(r.h.host_ops[i].self_ps, 150 - (int64_t)i);
    tm_free(&r.h, r.t);
}

/* v2: nine np.asarray in 3,993.285 ms (XEvent durations of the main thread, none nested). */
static void real_tpu(void **state)
{
    rig r = {0};
    (void)state;
    tm_real(&r.h, V2_TPU);
    const vp_host_op *o = op(&r, "main/3116817", "np.asarray(jax.Array)");
    assert_non_null(o);
    assert_int_equal(o->calls, 9);
    assert_int_equal(o->total_ps / 1000000, 3993285);
    assert_true(o->blocking);
    assert_true(o->idle_ps > 0 && o->idle_ps <= o->self_ps && o->self_ps <= o->total_ps);
    host_result_free(&r.h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocking_calls_count_whole),
        cmocka_unit_test(a_long_wait_is_listed),
        cmocka_unit_test(self_and_idle),
        cmocka_unit_test(what_is_not_listed_is_counted),
        cmocka_unit_test(noise_and_profiler_are_hidden),
        cmocka_unit_test(the_list_is_short),
        cmocka_unit_test(real_tpu),
    };
    return cmocka_run_group_tests_name("host_ops", tests, NULL, NULL);
}
