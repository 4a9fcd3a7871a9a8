/* trace/analyze/gaps (docs/reference/metrics.md#idle-gaps), by hand, against brute force, and on
 * real files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/trace_maker.h"

typedef struct rig {
    trace *t;
    uint32_t main, other, ops;
    host_result h;
} rig;

static rig make(sink_process_kind kind)
{
    rig r = {.t = tm_new()};
    uint32_t host = tm_process(r.t, SINK_PROCESS_HOST, "python", 1);
    uint32_t device = tm_process(r.t, kind, "device", 0);
    r.main = tm_track(r.t, host, "main", SINK_ROLE_PLAIN);
    r.other = tm_track(r.t, host, "worker", SINK_ROLE_PLAIN);
    r.ops = tm_track(r.t, device, "ops", SINK_ROLE_OPS);
    return r;
}

static const vp_device *analyzed(rig *r)
{
    tm_analyze(&r->h, r->t);
    const vp_device *d = &r->h.devices[0];
    int64_t sum = 0;
    for (int c = 0; c < VP_CAUSES; c++) {
        assert_true(d->cause_ps[c] >= 0);
        sum += d->cause_ps[c];
    }
    assert_int_equal(sum, d->breakdown.idle_ps);
    return d;
}

static void done(rig *r)
{
    tm_free(&r->h, r->t);
}

/* A3's example: gap [70,90), launch [84,88): host late 14, in the call 4, latency 2. The data
 * loader held the thread for [60,80). */
static void a_gap_is_late_then_called_then_latency(void **state)
{
    rig r = make(SINK_PROCESS_GPU);
    (void)state;
    tm_linked(r.t, r.ops, "k1", 0, 70, 1);
    tm_linked(r.t, r.ops, "k2", 90, 100, 2);
    tm_linked(r.t, r.main, "cudaLaunchKernel", 0, 3, 1);
    tm_put(r.t, r.main, "enumerate(DataLoader)#_Iter.__next__", 60, 80);
    tm_linked(r.t, r.main, "cudaLaunchKernel", 84, 88, 2);
    const vp_device *d = analyzed(&r);
    assert_int_equal(d->gap_count, 1);
    assert_int_equal(d->cause_ps[VP_CAUSE_INPUT], 10);
    assert_int_equal(d->cause_ps[VP_CAUSE_HOST], 4);
    assert_int_equal(d->cause_ps[VP_CAUSE_CALL], 4);
    assert_int_equal(d->cause_ps[VP_CAUSE_LATENCY], 2);
    assert_int_equal(r.h.gap_count, 1);
    const vp_gap *g = &r.h.gaps[0];
    assert_int_equal(g->start_ps, 70);
    assert_int_equal(g->dur_ps, 20);
    assert_int_equal(g->host_late_ps, 14);
    assert_int_equal(g->in_call_ps, 4);
    assert_int_equal(g->latency_ps, 2);
    assert_string_equal(g->label, "enumerate(DataLoader)#_Iter.__next__");
    assert_string_equal(g->thread, "main");
    assert_string_equal(g->next_op, "k2");
    assert_int_equal(r.h.idle_label_count, 4);
    assert_int_equal(r.h.idle_labels[0].cause, VP_CAUSE_INPUT);
    assert_int_equal(r.h.idle_labels[0].total_ps, 10);
    assert_int_equal(r.h.idle_labels[0].gaps, 1);
    done(&r);
}

/* Launched long before: all latency. Launched in time but slowly: the call reaches into the gap. */
static void launches_before_the_gap(void **state)
{
    rig r = make(SINK_PROCESS_GPU);
    (void)state;
    tm_linked(r.t, r.ops, "k1", 0, 10, 1);
    tm_linked(r.t, r.ops, "k2", 15, 20, 2);
    tm_linked(r.t, r.ops, "k3", 40, 50, 3);
    tm_linked(r.t, r.main, "cudaLaunchKernel", 0, 1, 1);
    tm_linked(r.t, r.main, "cudaLaunchKernel", 2, 3, 2);
    tm_linked(r.t, r.main, "cudaLaunchKernel", 18, 33, 3);
    const vp_device *d = analyzed(&r);
    assert_int_equal(d->cause_ps[VP_CAUSE_LATENCY], 5 + 7);
    assert_int_equal(d->cause_ps[VP_CAUSE_CALL], 13);
    done(&r);
}

/* Where the launching thread does nothing, the main thread says why; where neither does, the host
 * was late all the same. */
static void other_threads_fall_back_to_the_main_one(void **state)
{
    rig r = make(SINK_PROCESS_GPU);
    (void)state;
    tm_put(r.t, r.ops, "k1", 0, 10);
    tm_linked(r.t, r.ops, "k2", 100, 110, 2);
    tm_linked(r.t, r.other, "cudaLaunchKernel", 100, 101, 2);
    tm_put(r.t, r.other, "autograd", 80, 95);
    tm_put(r.t, r.main, "ProfilerStep#1", 0, 70);
    tm_put(r.t, r.main, "load_batch", 20, 50);
    const vp_device *d = analyzed(&r);
    assert_int_equal(d->cause_ps[VP_CAUSE_INPUT], 30);
    assert_int_equal(d->cause_ps[VP_CAUSE_HOST], 60);
    for (size_t i = 0; i < r.h.idle_label_count; i++)
        if (r.h.idle_labels[i].label && !strcmp(r.h.idle_labels[i].label, "autograd")) {
            assert_int_equal(r.h.idle_labels[i].total_ps, 15);
            assert_string_equal(r.h.idle_labels[i].thread, "worker");
        }
    assert_int_equal(r.h.idle_label_count, 4); /* and the step itself, and nobody at all */
    done(&r);
}

/* Without correlations the thread that runs the steps, else calls functions, says why. */
static void without_a_launch_the_main_thread_says_why(void **state)
{
    rig r = make(SINK_PROCESS_TPU);
    (void)state;
    tm_put(r.t, r.ops, "f1", 0, 10);
    tm_put(r.t, r.ops, "f2", 110, 120);
    tm_put(r.t, r.other, "Iterator::Model", 0, 120); /* another thread */
    tm_put(r.t, r.main, "PjitFunction(f)", 20, 100);
    tm_put(r.t, r.main, "backend_compile", 30, 60);
    tm_put(r.t, r.main, "XlaLinearize", 40, 50); /* within a compilation it is one */
    tm_put(r.t, r.main, "ParseArguments", 65, 70);
    tm_put(r.t, r.main, "TfrtTpuLoadedExecutable::Execute", 70, 95);
    const vp_device *d = analyzed(&r);
    assert_int_equal(d->cause_ps[VP_CAUSE_COMPILE], 30);
    assert_int_equal(d->cause_ps[VP_CAUSE_CALL], 25);
    assert_int_equal(d->cause_ps[VP_CAUSE_HOST], 80 - 30 - 25);
    assert_int_equal(d->cause_ps[VP_CAUSE_UNKNOWN], 20);
    assert_string_equal(r.h.gaps[0].label, "backend_compile");
    done(&r);
}

static const vp_idle_label *label_named(const rig *r, const char *name)
{
    for (size_t i = 0; i < r->h.idle_label_count; i++)
        if (r->h.idle_labels[i].label && !strcmp(r->h.idle_labels[i].label, name))
            return &r->h.idle_labels[i];
    fail_msg("no label %s", name);
    return NULL;
}

/* Named is the outermost span below the step and the call, not what leads there or what is inside
 * it: main > step > annotation > inner; and a python frame that launches nothing itself. */
static void labels_stand_below_step_and_call(void **state)
{
    rig r = make(SINK_PROCESS_TPU);
    (void)state;
    tm_put(r.t, r.ops, "f1", 0, 1);
    tm_put(r.t, r.ops, "f2", 201, 202);
    tm_put(r.t, r.main, "$train.py:1 main", 0, 201);
    tm_step(r.t, r.main, "train", 10, 150, 7);
    tm_put(r.t, r.main, "augment", 20, 40);
    tm_put(r.t, r.main, "resize", 25, 35);
    tm_put(r.t, r.main, "$model.py:9 call", 50, 100);
    tm_put(r.t, r.main, "$text.py:3 tokenize", 60, 70);
    tm_put(r.t, r.main, "PjitFunction(f)", 80, 95);
    tm_put(r.t, r.main, "shard_args", 82, 90);
    tm_put(r.t, r.main, "$log.py:5 write", 160, 190);
    analyzed(&r);
    assert_int_equal(label_named(&r, "augment")->total_ps, 20);
    assert_int_equal(label_named(&r, "$text.py:3 tokenize")->total_ps, 10);
    assert_int_equal(label_named(&r, "shard_args")->total_ps, 8);
    assert_int_equal(label_named(&r, "PjitFunction(f)")->total_ps, 7);
    assert_int_equal(label_named(&r, "$model.py:9 call")->total_ps, 50 - 10 - 15);
    assert_int_equal(label_named(&r, "$log.py:5 write")->total_ps, 30);
    assert_int_equal(label_named(&r, "$train.py:1 main")->total_ps, 9 + 10 + 11);
    assert_int_equal(r.h.idle_label_count, 8); /* and the step itself, without a name */
    done(&r);
}

/* Taking the next batch is waiting for input, by whatever name the loader goes: with next(), with
 * its own __next__, from a queue. A generator that trains itself is none, and neither is the one of
 * a context manager, which is entered and left by next(). */
static void the_next_of_an_iterator_is_input(void **state)
{
    rig r = make(SINK_PROCESS_TPU);
    (void)state;
    tm_put(r.t, r.ops, "f1", 0, 1);
    tm_put(r.t, r.ops, "f2", 301, 302);
    tm_step(r.t, r.main, "train", 1, 301, 7);
    tm_put(r.t, r.main, "$builtins next", 10, 40);
    tm_put(r.t, r.main, "$images.py:3 decode", 12, 38);
    tm_put(r.t, r.main, "$queue.py:154 get", 50, 70);
    tm_put(r.t, r.main, "$threading.py:323 wait", 55, 69);
    tm_put(r.t, r.main, "$loader.py:8 __next__", 80, 90);
    tm_put(r.t, r.main, "$dataloader.py:517 __next__", 82, 86); /* known to load */
    tm_put(r.t, r.main, "$builtins next", 100, 200);            /* steps inside of it */
    tm_put(r.t, r.main, "$fit.py:9 batches", 101, 199);
    tm_put(r.t, r.main, "PjitFunction(f)", 120, 150);
    tm_put(r.t, r.main, "$contextlib.py:132 __enter__", 210, 260);
    tm_put(r.t, r.main, "$builtins next", 211, 259);
    tm_put(r.t, r.main, "$log.py:3 write", 270, 280); /* takes something from a list in passing */
    tm_put(r.t, r.main, "$builtins next", 271, 279);
    const vp_device *d = analyzed(&r);
    assert_int_equal(d->cause_ps[VP_CAUSE_INPUT], 30 + 20 + 10);
    assert_int_equal(label_named(&r, "$builtins next")->cause, VP_CAUSE_INPUT);
    assert_int_equal(label_named(&r, "$images.py:3 decode")->cause, VP_CAUSE_INPUT);
    assert_int_equal(label_named(&r, "$images.py:3 decode")->total_ps, 38 - 12);
    assert_int_equal(label_named(&r, "$builtins next")->total_ps, 2 + 2);
    assert_int_equal(label_named(&r, "$queue.py:154 get")->total_ps, 20);
    assert_int_equal(label_named(&r, "$loader.py:8 __next__")->total_ps, 10 - 4);
    assert_int_equal(label_named(&r, "$dataloader.py:517 __next__")->total_ps, 4);
    assert_int_equal(label_named(&r, "$contextlib.py:132 __enter__")->total_ps, 50);
    assert_int_equal(label_named(&r, "$log.py:3 write")->total_ps, 10);
    done(&r);
}

/* A function around it that does nothing else hides no wait: of 1 ms in it, 0.9 are for input. */
static void a_wait_in_other_work_is_input(void **state)
{
    const int64_t us = 1000000;
    rig r = make(SINK_PROCESS_TPU);
    (void)state;
    tm_put(r.t, r.ops, "f1", 0, 1);
    tm_put(r.t, r.ops, "f2", 1000 * us, 1001 * us);
    tm_step(r.t, r.main, "train", 1, 1000 * us, 7);
    tm_put(r.t, r.main, "$train.py:5 fetch", 1, 1000 * us);
    tm_put(r.t, r.main, "$builtins next", 50 * us, 950 * us);
    const vp_device *d = analyzed(&r);
    assert_int_equal(d->cause_ps[VP_CAUSE_INPUT], 900 * us);
    assert_int_equal(label_named(&r, "$builtins next")->total_ps, 900 * us);
    done(&r);
}

/* Compile before input before callback before sync before transfer before the rest. */
static void causes_have_priority(void **state)
{
    static const char *const nested[] = {"work",   "H2D Dispatch",    "PjRtFuture::Await",
                                         "PyFunc", "Iterator::Model", "backend_compile"};
    static const vp_cause cause[] = {VP_CAUSE_HOST,     VP_CAUSE_TRANSFER, VP_CAUSE_SYNC,
                                     VP_CAUSE_CALLBACK, VP_CAUSE_INPUT,    VP_CAUSE_COMPILE};
    (void)state;
    for (int outward = 0; outward < 2; outward++) {
        rig r = make(SINK_PROCESS_TPU);
        tm_put(r.t, r.ops, "f1", 0, 1);
        tm_put(r.t, r.ops, "f2", 101, 102);
        tm_put(r.t, r.main, "PjitFunction(f)", 0, 101);
        for (int i = 0; i < 6; i++) /* [1,101) [6,96) … [26,76) */
            tm_put(r.t, r.main, nested[outward ? 5 - i : i], 1 + 5 * i, 101 - 5 * i);
        const vp_device *d = analyzed(&r);
        for (int i = 0; i < 6; i++)
            assert_int_equal(d->cause_ps[cause[i]], outward ? (i == 5 ? 100 : 0) : i < 5 ? 10 : 50);
        done(&r);
    }
}

/* Starting and stopping the profiler is nobody's fault, nor is what they call. */
static void the_profiler_is_never_blamed(void **state)
{
    rig r = make(SINK_PROCESS_GPU);
    (void)state;
    tm_put(r.t, r.ops, "k1", 0, 10);
    tm_linked(r.t, r.ops, "k2", 100, 110, 2);
    tm_put(r.t, r.main, "$profiler.py:226 stop_trace", 20, 90);
    tm_put(r.t, r.main, "$io.py:1 write", 30, 80);
    tm_linked(r.t, r.main, "cudaLaunchKernel", 100, 101, 2);
    const vp_device *d = analyzed(&r);
    assert_int_equal(d->cause_ps[VP_CAUSE_UNKNOWN], 70);
    assert_int_equal(d->cause_ps[VP_CAUSE_HOST], 20);
    assert_int_equal(r.h.gaps[0].host_late_ps, 20);
    assert_null(r.h.gaps[0].label);
    done(&r);
}

/* A device clock: the gap is 100 long, on the host's clock [1000,1050). Compiling in [1000,1010)
 * is a fifth of that. A second gap of 7 has [2000,2003) for it, thirds round down and add up; a
 * third one has no length left on the host's clock and goes by its last instant. */
static void device_clocks_are_stretched(void **state)
{
    rig r = make(SINK_PROCESS_TPU);
    (void)state;
    tm_aligned(r.t, r.ops, "a", 0, 10, 900, 1000);
    tm_aligned(r.t, r.ops, "b", 110, 120, 1050, 2000);
    tm_aligned(r.t, r.ops, "c", 127, 130, 2003, 2100);
    tm_aligned(r.t, r.ops, "d", 135, 140, 2100, 2200);
    tm_put(r.t, r.main, "PjitFunction(f)", 990, 991);
    tm_put(r.t, r.main, "backend_compile", 1000, 1010);
    tm_put(r.t, r.main, "Iterator::Model", 2000, 2001);
    tm_put(r.t, r.main, "PyFunc", 2001, 2002);
    tm_put(r.t, r.main, "PjRtFuture::Await", 2090, 2100);
    const vp_device *d = analyzed(&r);
    assert_int_equal(d->breakdown.idle_ps, 112);
    assert_int_equal(d->cause_ps[VP_CAUSE_COMPILE], 20);
    assert_int_equal(d->cause_ps[VP_CAUSE_INPUT], 2);    /* 0 .. 7/3 */
    assert_int_equal(d->cause_ps[VP_CAUSE_CALLBACK], 2); /* .. 14/3 */
    assert_int_equal(d->cause_ps[VP_CAUSE_SYNC], 5);
    assert_int_equal(d->cause_ps[VP_CAUSE_UNKNOWN], 80 + 3);
    assert_int_equal(r.h.gaps[0].start_ps, 1000);
    assert_int_equal(r.h.gaps[0].dur_ps, 100);
    done(&r);
}

/* Between ops of one run nobody launches anything: the program was launched as a whole. What the
 * device asks of the host in between is its own cause. */
static void inside_a_run_no_host_is_late(void **state)
{
    (void)state;
    for (int cpu = 0; cpu < 2; cpu++) {
        rig r = make(cpu ? SINK_PROCESS_CPU : SINK_PROCESS_TPU);
        sink_extra run[2] = {{0}, {0}};
        sink_extra_set(&run[0], SINK_RUN, -5);
        sink_extra_set(&run[1], SINK_RUN, 8);
        tm_event(r.t, r.ops, tm_plain("a"), 0, 10, &run[0]);
        tm_event(r.t, r.ops, tm_plain("b"), 40, 50, &run[0]); /* [10,40) in a run */
        tm_event(r.t, r.ops, tm_plain("c"), 70, 80, &run[1]); /* [50,70) between runs */
        uint32_t runs = tm_track(r.t, 1, "XLA Modules", cpu ? SINK_ROLE_PLAIN : SINK_ROLE_MODULES);
        tm_put(r.t, runs, "jit_f(1)", 0, 50);
        tm_put(r.t, runs, "jit_f(1)", 70, 80);
        tm_put(r.t, r.main, "PjRtFuture::Await", 0, 20);
        tm_put(r.t, r.main, "PyFunc", 25, 31);
        tm_put(r.t, r.main, "PjitFunction(f)", 50, 80);
        tm_put(r.t, r.main, "load_batch", 55, 65);
        const vp_device *d = analyzed(&r);
        assert_int_equal(d->cause_ps[VP_CAUSE_LATENCY], 24);
        assert_int_equal(d->cause_ps[VP_CAUSE_CALLBACK], 6);
        assert_int_equal(d->cause_ps[VP_CAUSE_INPUT], 10);
        assert_int_equal(d->cause_ps[VP_CAUSE_HOST], 10);
        done(&r);
    }
}

/* Idle before an op is charged to its group and its scope; an op without a length ends a gap. */
static void ops_and_scopes_know_what_came_before(void **state)
{
    rig r = make(SINK_PROCESS_GPU);
    sink_kind mm = tm_plain("mm.1"), add = tm_plain("add");
    (void)state;
    mm.scope = VP_STR("jit(f)/mm");
    tm_event(r.t, r.ops, mm, 0, 10, NULL);
    tm_event(r.t, r.ops, mm, 20, 30, NULL);
    tm_event(r.t, r.ops, add, 37, 37, NULL);
    tm_event(r.t, r.ops, mm, 40, 50, NULL);
    const vp_device *d = analyzed(&r);
    assert_int_equal(d->gap_count, 3);
    for (size_t i = 0; i < r.h.op_count; i++)
        assert_int_equal(r.h.ops[i].idle_before_ps, !strcmp(r.h.ops[i].name, "add") ? 7 : 13);
    assert_int_equal(r.h.scope_count, 2);
    for (size_t i = 0; i < r.h.scope_count; i++)
        assert_int_equal(r.h.scopes[i].idle_before_ps,
                         !strcmp(r.h.scopes[i].path, "jit(f)/mm") ? 13 : 7);
    done(&r);
}

/* Steps begin before their first op and end after the last: that idle time is the step's, not the
 * device's. Step 1 [0,100): before its first op input 20, host 5, call 3, latency 2; between the
 * two host 2, call 3, latency 5; up to its end host 20. Step 2 [100,200): host 40, call 5, latency
 * 5, and after its last op host 20. */
static void steps_share_the_idle_time(void **state)
{
    static const int64_t want[2][VP_CAUSES] = {
        {[VP_CAUSE_INPUT] = 20,
         [VP_CAUSE_HOST] = 5 + 2 + 20,
         [VP_CAUSE_CALL] = 3 + 3,
         [VP_CAUSE_LATENCY] = 2 + 5},
        {[VP_CAUSE_HOST] = 40 + 20, [VP_CAUSE_CALL] = 5, [VP_CAUSE_LATENCY] = 5}};
    rig r = make(SINK_PROCESS_GPU);
    (void)state;
    tm_step(r.t, r.main, "train", 0, 100, 1);
    tm_put(r.t, r.main, "load_batch", 0, 20);
    tm_linked(r.t, r.main, "cudaLaunchKernel", 25, 28, 1);
    tm_linked(r.t, r.main, "cudaLaunchKernel", 52, 55, 2);
    tm_step(r.t, r.main, "train", 100, 200, 2);
    tm_linked(r.t, r.main, "cudaLaunchKernel", 140, 145, 3);
    tm_linked(r.t, r.ops, "k", 30, 50, 1);
    tm_linked(r.t, r.ops, "k", 60, 80, 2);
    tm_linked(r.t, r.ops, "k", 150, 180, 3);
    const vp_device *d = analyzed(&r);
    assert_int_equal(d->breakdown.idle_ps, 10 + 70);
    assert_int_equal(d->cause_ps[VP_CAUSE_INPUT], 0);
    assert_int_equal(r.h.steps.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const vp_step *step = &r.h.steps.list[i];
        assert_int_equal(step->device_count, 1);
        for (int c = 0; c < VP_CAUSES; c++)
            assert_int_equal(step->devices[0].cause_ps[c], want[i][c]);
    }
    done(&r);
}

/* 300 gaps of 1..300 in mixed order: the hundred longest are listed, in order. */
static void the_longest_are_listed(void **state)
{
    rig r = make(SINK_PROCESS_GPU);
    int64_t at = 0;
    (void)state;
    for (int i = 0; i < 300; i++) {
        tm_put(r.t, r.ops, "k", at, at + 5);
        at += 5 + (i * 7 % 300) + 1;
    }
    tm_put(r.t, r.ops, "k", at, at + 5);
    assert_int_equal(analyzed(&r)->gap_count, 300);
    assert_int_equal(r.h.gap_count, 100);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(r.h.gaps[i].dur_ps, 300 - (int64_t)i);
    done(&r);
}

/* ---- Brute force: every instant on its own ---- */

enum { END = 600, SPANS = 40, OPS = 25 };

typedef struct scene {
    struct {
        int64_t start, end;
        int kind, thread;
    } span[SPANS];
    struct {
        int64_t start, end, call_start, call_end;
        int thread; /* of the call; -1: not linked */
    } op[OPS];
} scene;

static const char *const span_names[] = {"backend_compile",   "Iterator::Model", "PyFunc",
                                         "PjRtFuture::Await", "H2D Dispatch",    "work"};

static scene random_scene(unsigned *seed)
{
    scene s;
    for (int i = 0; i < SPANS; i++) {
        s.span[i].start = rand_r(seed) % END;
        s.span[i].end = s.span[i].start + 1 + rand_r(seed) % 60;
        s.span[i].kind = rand_r(seed) % 6;
        s.span[i].thread = rand_r(seed) % 2;
    }
    for (int i = 0; i < OPS; i++) {
        s.op[i].start = rand_r(seed) % END;
        s.op[i].end = s.op[i].start + rand_r(seed) % 20;
        s.op[i].call_start = s.op[i].start - rand_r(seed) % 60;
        s.op[i].call_end = s.op[i].call_start + 1 + rand_r(seed) % 30;
        s.op[i].thread = rand_r(seed) % 3 - 1;
    }
    return s;
}

/* The best cause among a thread's open spans, -1 without any. Which span is open does not depend
 * on nesting here: each has its own cause, and the best of all counts while it is open. */
static int open_cause(const scene *s, int thread, int64_t t)
{
    int best = -1;
    for (int i = 0; i < SPANS; i++)
        if (s->span[i].thread == thread && s->span[i].start <= t && t < s->span[i].end &&
            (best < 0 || s->span[i].kind < best))
            best = s->span[i].kind;
    return best;
}

/* A copy on any thread comes before plain work and before nothing. */
static bool is_copied(const scene *s, int64_t t)
{
    for (int i = 0; i < SPANS; i++)
        if (s->span[i].kind == VP_CAUSE_TRANSFER && s->span[i].start <= t && t < s->span[i].end)
            return true;
    return false;
}

/* In scenes without crossing spans and with distinct starts of ops. */
static void brute(const scene *s, int64_t cause[VP_CAUSES])
{
    int64_t first = END, last = 0;
    for (int i = 0; i < OPS; i++) {
        first = s->op[i].start < first ? s->op[i].start : first;
        last = s->op[i].end > last ? s->op[i].end : last;
    }
    for (int64_t t = first; t < last; t++) {
        int next = -1, c;
        bool busy = false;
        for (int i = 0; i < OPS; i++) {
            busy = busy || (s->op[i].start <= t && t < s->op[i].end);
            if (s->op[i].start > t && (next < 0 || s->op[i].start < s->op[next].start))
                next = i;
        }
        if (busy)
            continue;
        int thread = s->op[next].thread;
        if (thread >= 0 && t >= s->op[next].call_end)
            c = VP_CAUSE_LATENCY;
        else if (thread >= 0 && t >= s->op[next].call_start)
            c = VP_CAUSE_CALL;
        else {
            c = thread >= 0 ? open_cause(s, thread, t) : -1;
            if (c < 0)
                c = open_cause(s, 0, t);
            if ((c < 0 || c == VP_CAUSE_HOST) && is_copied(s, t))
                c = VP_CAUSE_TRANSFER;
            if (c < 0)
                c = thread >= 0 ? VP_CAUSE_HOST : VP_CAUSE_UNKNOWN;
        }
        cause[c]++;
    }
}

static bool fits(const scene *s)
{
    for (int i = 0; i < SPANS; i++)
        for (int j = 0; j < SPANS; j++) /* neither crossing nor of one start */
            if (i != j && s->span[i].thread == s->span[j].thread &&
                s->span[i].start <= s->span[j].start && s->span[j].start < s->span[i].end &&
                (s->span[j].end > s->span[i].end || s->span[i].start == s->span[j].start))
                return false;
    for (int i = 0; i < OPS; i++)
        for (int j = 0; j < i; j++)
            if (s->op[i].start == s->op[j].start)
                return false;
    return true;
}

/* Cuts what crosses short, so that random scenes fit. */
static void repair(scene *s)
{
    for (int i = 0; i < SPANS; i++)
        for (int j = 0; j < SPANS; j++)
            if (i != j && s->span[i].thread == s->span[j].thread &&
                s->span[i].start < s->span[j].start && s->span[j].start < s->span[i].end &&
                s->span[j].end > s->span[i].end)
                s->span[j].end = s->span[i].end;
}

static void play(const scene *s, rig *r)
{
    tm_put(r->t, r->main, "ProfilerStep#1", -100, -99); /* makes it the main thread */
    for (int i = 0; i < SPANS; i++)
        tm_put(r->t, s->span[i].thread ? r->other : r->main, span_names[s->span[i].kind],
               s->span[i].start, s->span[i].end);
    for (int i = 0; i < OPS; i++) {
        tm_linked(r->t, r->ops, "k", s->op[i].start, s->op[i].end, 1000 + i);
        if (s->op[i].thread >= 0) /* calls are on lines of their own: they label nothing here */
            tm_linked(r->t, s->op[i].thread ? r->other : r->main, "cudaLaunchKernel",
                      s->op[i].call_start, s->op[i].call_start, 1000 + i);
    }
}

static void every_instant_agrees_with_brute_force(void **state)
{
    unsigned seed = 11;
    int played = 0;
    (void)state;
    for (int round = 0; round < 3000 && played < 200; round++) {
        scene s = random_scene(&seed);
        int64_t want[VP_CAUSES] = {0};
        for (int i = 0; i < OPS; i++) /* a call without a length labels nothing itself */
            s.op[i].call_end = s.op[i].call_start;
        for (int i = 0; i < SPANS; i++)
            repair(&s);
        if (!fits(&s))
            continue;
        rig r = make(SINK_PROCESS_GPU);
        play(&s, &r);
        const vp_device *d = analyzed(&r);
        brute(&s, want);
        for (int c = 0; c < VP_CAUSES; c++)
            assert_int_equal(d->cause_ps[c], want[c]);
        done(&r);
        played++;
    }
    assert_true(played >= 50);
}

/* ---- Real files ---- */

/* docs/reference/metrics.md#sample-profiles: the three longest gaps of TPU:0, on the device's
 * clock. */
static void real_tpu(void **state)
{
    static const int64_t longest[] = {5547053171250, 3349549146250, 2743199430000};
    host_result h;
    size_t n = 0;
    (void)state;
    tm_real(&h, V2_TPU);
    for (size_t i = 0; i < h.gap_count && n < 3; i++)
        if (h.gaps[i].device == 0)
            assert_int_equal(h.gaps[i].dur_ps, longest[n++]);
    assert_int_equal(n, 3);
    for (size_t d = 0; d < h.device_count; d++) {
        int64_t sum = 0;
        for (int c = 0; c < VP_CAUSES; c++)
            sum += h.devices[d].cause_ps[c];
        assert_int_equal(sum, h.devices[d].breakdown.idle_ps);
    }
    assert_int_equal(h.devices[0].breakdown.idle_ps, 13691961556250);
    host_result_free(&h);
}

/* By an independent script over the JSON: 8,921 gaps; late 363,053 us of which 283,707 inside the
 * data loader, in calls 14,946, latency 14,920: the input dominates. */
static void real_gpu(void **state)
{
    const int64_t us = 1000000;
    host_result h;
    (void)state;
    tm_real(&h, RESNET50);
    const vp_device *d = &h.devices[0];
    int64_t late = 0;
    for (int c = 0; c <= VP_CAUSE_HOST; c++)
        late += d->cause_ps[c];
    assert_int_equal(d->gap_count, 8921);
    assert_int_equal(d->breakdown.idle_ps, 392919 * us);
    assert_int_equal(late, 363053 * us);
    assert_int_equal(d->cause_ps[VP_CAUSE_INPUT], 283707 * us);
    assert_int_equal(d->cause_ps[VP_CAUSE_CALL], 14946 * us);
    assert_int_equal(d->cause_ps[VP_CAUSE_LATENCY], 14920 * us);
    assert_string_equal(h.idle_labels[0].label,
                        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    assert_int_equal(h.steps.count, 6);
    for (size_t i = 0; i < 6; i++) {
        const vp_step_device *s = &h.steps.list[i].devices[0];
        int64_t sum = 0;
        for (int c = 0; c < VP_CAUSES; c++)
            sum += s->cause_ps[c];
        assert_int_equal(sum, s->breakdown.idle_ps);
        assert_true(s->cause_ps[VP_CAUSE_INPUT] > s->breakdown.idle_ps / 2);
    }
    host_result_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_is_late_then_called_then_latency),
        cmocka_unit_test(launches_before_the_gap),
        cmocka_unit_test(other_threads_fall_back_to_the_main_one),
        cmocka_unit_test(without_a_launch_the_main_thread_says_why),
        cmocka_unit_test(labels_stand_below_step_and_call),
        cmocka_unit_test(the_next_of_an_iterator_is_input),
        cmocka_unit_test(a_wait_in_other_work_is_input),
        cmocka_unit_test(causes_have_priority),
        cmocka_unit_test(the_profiler_is_never_blamed),
        cmocka_unit_test(device_clocks_are_stretched),
        cmocka_unit_test(inside_a_run_no_host_is_late),
        cmocka_unit_test(ops_and_scopes_know_what_came_before),
        cmocka_unit_test(steps_share_the_idle_time),
        cmocka_unit_test(the_longest_are_listed),
        cmocka_unit_test(every_instant_agrees_with_brute_force),
        cmocka_unit_test(real_tpu),
        cmocka_unit_test(real_gpu),
    };
    return cmocka_run_group_tests_name("gaps", tests, NULL, NULL);
}
