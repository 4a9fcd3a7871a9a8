/* Steps: where they are found, and their windows on devices; traces in memory, then real files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/analyze/host_analysis.h"
#include "trace/analyze/result/host_result.h"
#include "trace/base/mem.h"

#define NONE SINK_NO_VALUE

typedef struct made {
    trace *t;
    uint32_t host, main, other; /* a process with two threads */
    uint32_t device[2], ops[2], copies[2], modules[2], line[2];
    host_result h;
} made;

static uint32_t new_process(made *m, const char *name, sink_process_kind kind, int32_t ordinal)
{
    uint32_t id;
    sink_process p = {vp_str_of(name), ordinal + 10, kind, ordinal};
    assert_int_equal(m->t->sink.process(&m->t->sink, &p, &id), 0);
    return id;
}

static uint32_t new_track(made *m, uint32_t process, const char *name, sink_role role)
{
    uint32_t id;
    sink_track k = {process, vp_str_of(name), m->t->track_count, role, false};
    assert_int_equal(m->t->sink.track(&m->t->sink, &k, &id), 0);
    return id;
}

static made make(sink_process_kind kind)
{
    made m = {0};
    assert_int_equal(trace_new(&m.t), 0);
    m.host = new_process(&m, "/host:CPU", SINK_PROCESS_HOST, -1);
    m.main = new_track(&m, m.host, "main", SINK_ROLE_PLAIN);
    m.other = new_track(&m, m.host, "other", SINK_ROLE_PLAIN);
    for (int d = 0; d < 2; d++) {
        m.device[d] = new_process(&m, d ? "dev 1" : "dev 0", kind, d);
        m.ops[d] = new_track(&m, m.device[d], "ops", SINK_ROLE_OPS);
        m.copies[d] = new_track(&m, m.device[d], "copies", SINK_ROLE_OPS);
        m.modules[d] = new_track(&m, m.device[d], "modules", SINK_ROLE_MODULES);
        m.line[d] = new_track(&m, m.device[d], "Steps", SINK_ROLE_STEPS);
    }
    return m;
}

static uint32_t kind_of(made *m, const char *name, const char *module)
{
    for (uint32_t i = 0; i < m->t->kind_count; i++)
        if (vp_str_eq(trace_str(m->t, m->t->kinds[i].name), vp_str_of(name)))
            return i;
    sink_kind k = {.name = vp_str_of(name),
                   .module = vp_str_of(module),
                   .program_id = -1,
                   .bytes = -1,
                   .flops = -1,
                   .group_size = -1,
                   .is_op = true};
    uint32_t id;
    assert_int_equal(m->t->sink.kind(&m->t->sink, &k, &id), 0);
    return id;
}

static void put_with(made *m, uint32_t track, const char *name, int64_t start, int64_t end,
                     const sink_extra *x)
{
    sink_event e = {start, end - start, SINK_NO_TIME, 0, track, kind_of(m, name, ""), x};
    assert_int_equal(m->t->sink.events(&m->t->sink, &e, 1), 0);
}

static void put(made *m, uint32_t track, const char *name, int64_t start, int64_t end)
{
    put_with(m, track, name, start, end, NULL);
}

static void put_attr(made *m, uint32_t track, const char *name, int64_t start, int64_t end,
                     sink_attr a, int64_t v)
{
    sink_extra x = {.has = 0};
    sink_extra_set(&x, a, v);
    put_with(m, track, name, start, end, &x);
}

/* "_r" = 1 and step_num, as jax.profiler.StepTraceAnnotation writes them. */
static void put_root(made *m, uint32_t track, const char *name, int64_t start, int64_t end,
                     int64_t number)
{
    sink_extra x = {.has = 0};
    sink_extra_set(&x, SINK_ROOT, 1);
    sink_extra_set(&x, SINK_STEP, number);
    put_with(m, track, name, start, end, &x);
}

/* A kernel [start, end) of device d and the call at [at, at + 2) that launched it. */
static void launch(made *m, uint32_t thread, int64_t at, int d, int64_t start, int64_t end,
                   int64_t id)
{
    put_attr(m, thread, "cudaLaunchKernel", at, at + 2, SINK_CORRELATION, id);
    put_attr(m, m->ops[d], "kernel", start, end, SINK_CORRELATION, id);
}

/* On the device's own clock at [start, end), at aligned + … on the host's. */
static void put_aligned(made *m, uint32_t track, const char *name, int64_t start, int64_t end,
                        int64_t aligned)
{
    sink_event e = {start, end - start, aligned, end - start, track, kind_of(m, name, ""), NULL};
    assert_int_equal(m->t->sink.events(&m->t->sink, &e, 1), 0);
}

/* The sums that hold in every result. */
static void must_add_up(const host_result *h)
{
    for (size_t i = 0; i < h->steps.count; i++) {
        const vp_step *s = &h->steps.list[i];
        assert_true(s->dur_ps >= 0);
        assert_true(!i || s->start_ps >= h->steps.list[i - 1].start_ps);
        for (size_t k = 0; k < s->device_count; k++) {
            const vp_breakdown *b = &s->devices[k].breakdown;
            assert_int_equal(b->window_ps, s->devices[k].dur_ps);
            assert_int_equal(b->compute_ps + b->exposed_comm_ps + b->exposed_copy_ps + b->idle_ps,
                             b->window_ps);
            assert_true(b->idle_ps >= 0 && s->devices[k].dur_ps <= s->dur_ps);
            int64_t causes = 0;
            for (int c = 0; c < VP_CAUSES; c++)
                causes += s->devices[k].cause_ps[c];
            assert_int_equal(causes, b->idle_ps);
        }
    }
    for (size_t i = 0; i < h->op_count; i++) {
        assert_true(h->ops[i].step_self_ps <= h->ops[i].self_ps);
        assert_true(h->ops[i].step_calls <= h->ops[i].calls);
    }
}

static const vp_steps *analyze(made *m)
{
    assert_int_equal(trace_seal(m->t), 0);
    host_result_init(&m->h);
    assert_int_equal(host_analyze(&m->h, m->t, VP_GROUP_NAME, VP_DEPTH_FULL), 0);
    must_add_up(&m->h);
    return &m->h.steps;
}

static void done(made *m)
{
    host_result_free(&m->h);
    trace_free(m->t);
}

static const vp_op *op_of(const made *m, const char *name, uint32_t device)
{
    for (size_t i = 0; i < m->h.op_count; i++)
        if (m->h.ops[i].device == device && strcmp(m->h.ops[i].name, name) == 0)
            return &m->h.ops[i];
    fail_msg("no op %s", name);
    return NULL;
}

/* ---- Sources ---- */

static void without_any_mark_there_are_no_steps(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    put(&m, m.main, "work", 0, 100);
    put(&m, m.ops[0], "k", 10, 20);
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->source, VP_STEPS_NONE);
    assert_int_equal(s->count, 0);
    assert_int_equal(s->counted, VP_UNKNOWN);
    assert_int_equal(op_of(&m, "k", 0)->step_self_ps, VP_UNKNOWN);
    assert_int_equal(op_of(&m, "k", 0)->step_calls, VP_UNKNOWN);
    assert_int_equal(m.h.devices[0].steps_counted, VP_UNKNOWN);
    done(&m);
}

static int none_watches(void *ctx, const analysis *a)
{
    (void)ctx;
    (void)a;
    return 0;
}

/* A program whose second thread works for the first one's step, which only flows tell. */
static made with_hand_over(bool marked)
{
    made m = make(SINK_PROCESS_GPU);
    put(&m, m.modules[0], "jit_f(7)", 0, 40);
    put(&m, m.modules[0], "jit_f(7)", 50, 90);
    if (marked)
        put_root(&m, m.main, "train", 0, 30, 3);
    put_attr(&m, m.main, "enqueue", 10, 20, SINK_FLOW_OUT, 9);
    put_attr(&m, m.other, "execute", 40, 60, SINK_FLOW_IN, 9);
    launch(&m, m.other, 45, 0, 50, 70, 1);
    put_attr(&m, m.main, "alloc", 11, 12, SINK_MEM_USED, 100);
    assert_int_equal(trace_seal(m.t), 0);
    host_result_init(&m.h);
    return m;
}

static bool any_has(const trace *t, sink_attr a)
{
    for (uint32_t i = 0; i < t->track_count; i++)
        if (t->tracks[i].attr[a])
            return true;
    return false;
}

/* What no question reads any more is freed where nobody needs the trace, and changes no answer. */
static void an_expendable_trace_gives_the_same_steps(void **state)
{
    (void)state;
    for (int marked = 0; marked < 2; marked++) {
        made whole = with_hand_over(marked), spent = with_hand_over(marked);
        assert_int_equal(host_analyze_with(&whole.h, whole.t, VP_GROUP_NAME, VP_DEPTH_FULL,
                                           (host_watch){.done = none_watches}),
                         0);
        assert_int_equal(host_analyze_with(&spent.h, spent.t, VP_GROUP_NAME, VP_DEPTH_FULL,
                                           (host_watch){.expendable = spent.t}),
                         0);
        assert_int_equal(host_unpack_steps(&spent.h, 1), 0);
        const vp_steps *a = &whole.h.steps, *b = &spent.h.steps;
        assert_int_equal(a->source, marked ? VP_STEPS_ANNOTATION : VP_STEPS_MODULES);
        assert_int_equal(a->count, b->count);
        for (size_t i = 0; i < a->count; i++) {
            assert_int_equal(a->list[i].device_count, 1);
            assert_int_equal(b->list[i].device_count, 1);
            assert_memory_equal(a->list[i].devices, b->list[i].devices, sizeof(vp_step_device));
        }
        if (marked)
            assert_int_equal(a->list[0].devices[0].start_ps + a->list[0].devices[0].dur_ps, 70);
        assert_int_equal(spent.h.memory_count, whole.h.memory_count);
        assert_true(any_has(whole.t, SINK_FLOW_OUT) && any_has(whole.t, SINK_FLOW_IN) &&
                    any_has(whole.t, SINK_MEM_USED));
        assert_false(any_has(spent.t, SINK_FLOW_OUT) || any_has(spent.t, SINK_FLOW_IN) ||
                     any_has(spent.t, SINK_MEM_USED));
        assert_true(any_has(spent.t, SINK_CORRELATION));
        done(&whole);
        done(&spent);
    }
}

/* The profiler's line goes before numbers of the program, these before ProfilerStep, and that
 * before modules. */
static void sources_come_in_order(void **state)
{
    (void)state;
    for (int with = 0; with < 4; with++) {
        made m = make(SINK_PROCESS_GPU);
        put(&m, m.modules[0], "jit_f(7)", 0, 40);
        put(&m, m.modules[0], "jit_f(7)", 50, 90);
        put(&m, m.ops[0], "k", 5, 15);
        put(&m, m.ops[0], "k", 60, 70);
        if (with >= 1)
            put_attr(&m, m.main, "ProfilerStep#4", 0, 100, SINK_STEP, 4);
        if (with >= 2)
            put_root(&m, m.main, "train", 0, 100, 3);
        if (with >= 3)
            put(&m, m.line[0], "5", 0, 45);
        const vp_steps *s = analyze(&m);
        static const vp_step_source want[] = {VP_STEPS_MODULES, VP_STEPS_PROFILER,
                                              VP_STEPS_ANNOTATION, VP_STEPS_LINE};
        static const int64_t number[] = {VP_UNKNOWN, 4, 3, 5};
        static const char *const name[] = {"jit_f", "ProfilerStep#4", "train", "5"};
        assert_int_equal(s->source, want[with]);
        assert_int_equal(s->list[0].number, number[with]);
        assert_string_equal(s->list[0].name, name[with]);
        assert_int_equal(s->count, with ? 1 : 2);
        done(&m);
    }
}

/* What lies in a step of its thread is a part of it; TensorFlow's iterations are no steps. */
static void only_outermost_annotations_are_steps(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    put(&m, m.ops[0], "k", 10, 20);
    put_root(&m, m.main, "train", 0, 100, 0);
    put_root(&m, m.main, "inner", 10, 90, 1);
    put_root(&m, m.main, "train", 100, 200, 1);
    put_root(&m, m.main, "empty", 150, 150, 2);
    put_attr(&m, m.other, "ExecutorState::Process", 300, 310, SINK_STEP, 0);
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->count, 2);
    assert_int_equal(s->list[1].number, 1);
    assert_int_equal(s->list[1].dur_ps, 100);
    done(&m);
}

/* Where a clock's ticks are long, a step may begin and end in the one in which the next begins. */
static void steps_of_no_time_count(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    static const int64_t end[] = {10, 20, 20, 20, 30, 30};
    for (int64_t i = 1; i < 6; i++)
        put_root(&m, m.main, "train", end[i - 1], end[i], i);
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->count, 5);
    for (int64_t i = 0; i < 5; i++)
        assert_int_equal(s->list[i].number, i + 1);
    done(&m);
}

/* XLA's JSON has step_num but no "_r". */
static void numbers_alone_make_steps(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    put(&m, m.ops[0], "k", 10, 20);
    put_attr(&m, m.main, "train", 0, 100, SINK_STEP, 7);
    put_attr(&m, m.other, "ExecutorState::Process", 0, 310, SINK_STEP, 0);
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->source, VP_STEPS_ANNOTATION);
    assert_int_equal(s->count, 1);
    assert_int_equal(s->list[0].number, 7);
    done(&m);
}

/* Two threads that step at once: the busier one's count, the other's do where they stand alone. */
static void steps_of_threads_do_not_overlap(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    put(&m, m.ops[0], "k", 10, 20);
    for (int i = 0; i < 4; i++)
        put_root(&m, m.main, "train", i * 100, i * 100 + 90, i);
    put_root(&m, m.other, "train", 50, 150, 4);
    put_root(&m, m.other, "train", 191, 199, 5);
    put_root(&m, m.other, "train", 500, 600, 6);
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->count, 6);
    assert_int_equal(s->list[2].number, 5); /* 191 */
    assert_int_equal(s->list[5].number, 6); /* 500 */
    assert_int_equal(m.h.quality_count, 1);
    assert_string_equal(m.h.quality[0].code, "steps-overlap");
    assert_non_null(strstr(m.h.quality[0].message, "1 step of another thread runs"));
    done(&m);
}

/* Two loops side by side, which do not do the same: when the main one is over, the other's further
 * steps are not outliers of it. A loop that comes after the main one is a part of the program. */
static void another_loop_beside_is_left_out_whole(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    put(&m, m.ops[0], "k", 10, 20);
    for (int i = 0; i < 8; i++)
        put_root(&m, m.main, "actor", i * 10, i * 10 + 9, i);
    for (int i = 0; i < 3; i++) /* 5..55, 60..110, 115..165: the third is alone */
        put_root(&m, m.other, "learner", 5 + i * 55, 55 + i * 55, i);
    put_root(&m, m.other, "eval", 200, 210, 0);
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->count, 8 + 1);
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(s->list[i].name, "actor");
    assert_string_equal(s->list[8].name, "eval");
    assert_int_equal(m.h.quality_count, 1);
    assert_non_null(strstr(m.h.quality[0].message, "3 steps of other threads run"));
    done(&m);
}

/* A loop that hands out work and goes on has steps that say nothing about the work. Where only a
 * part of the work is outside of steps, they do. */
static void steps_apart_from_their_work_are_noted(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        made m = make(SINK_PROCESS_CPU);
        for (int i = 0; i < 5; i++) {
            put_root(&m, m.main, "train", apart ? i * 10 : i * 200,
                     apart ? i * 10 + 9 : i * 200 + 90, i);
            put(&m, m.ops[0], "k", 20 + i * 200, 120 + i * 200);
        }
        const vp_steps *s = analyze(&m);
        assert_int_equal(s->count, 5);
        assert_int_equal(m.h.quality_count, apart);
        if (apart) { /* 5 steps of 9, 5 ops of 100 */
            assert_string_equal(m.h.quality[0].code, "steps-apart");
            assert_non_null(strstr(m.h.quality[0].message, "cover only 9.00% of device busy time"));
        }
        done(&m);
    }
}

/* ---- Windows on GPUs ---- */

/* Work outlives the host's part of its step, and pushes the next one's start
 * (docs/reference/metrics.md#steps). Device 0: step 0 ends with its last kernel at 130, step 1
 * begins there and ends on the host, at 200. */
static void windows_follow_the_devices_work(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    put_attr(&m, m.main, "ProfilerStep#0", 0, 100, SINK_STEP, 0);
    put_attr(&m, m.main, "ProfilerStep#1", 100, 200, SINK_STEP, 1);
    launch(&m, m.main, 10, 0, 20, 50, 1);
    launch(&m, m.other, 90, 0, 60, 130, 2); /* of any thread, by time */
    launch(&m, m.main, 110, 0, 140, 150, 3);
    launch(&m, m.main, 112, 0, 152, 160, 5);
    launch(&m, m.main, 120, 1, 150, 250, 4);
    put(&m, m.copies[1], "MemcpyH2D", 0, 5);
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->count, 2);
    assert_int_equal(s->list[0].devices[0].start_ps, 0);
    assert_int_equal(s->list[0].devices[0].dur_ps, 130);
    assert_int_equal(s->list[0].devices[0].breakdown.compute_ps, 30 + 70);
    assert_int_equal(s->list[0].devices[1].dur_ps, 100);
    assert_int_equal(s->list[0].device, 0);
    assert_int_equal(s->list[0].dur_ps, 130);
    assert_int_equal(s->list[1].devices[0].start_ps, 130);
    assert_int_equal(s->list[1].devices[0].dur_ps, 70);
    assert_int_equal(s->list[1].devices[1].start_ps, 100);
    assert_int_equal(s->list[1].devices[1].dur_ps, 150);
    assert_int_equal(s->list[1].device, 1);
    assert_int_equal(s->list[1].start_ps, 100);
    assert_int_equal(op_of(&m, "kernel", 0)->step_self_ps, 30 + 70 + 10 + 8);
    assert_int_equal(op_of(&m, "kernel", 1)->step_self_ps, 100);
    done(&m);
}

/* Earlier work moves the first step's start: launched before it (until 30); of a call that was not
 * recorded, but numbered below the step's own (until 40). Later numbers do not tell (70), nor does
 * what outlives the step (120). */
static void earlier_work_moves_the_first_start(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    put_attr(&m, m.main, "ProfilerStep#0", 10, 100, SINK_STEP, 0);
    launch(&m, m.main, 1, 0, 5, 30, 100);
    launch(&m, m.main, 20, 0, 35, 60, 103);
    launch(&m, m.main, 3, 0, 90, 120, 101);
    put_attr(&m, m.copies[0], "MemcpyH2D", 32, 40, SINK_CORRELATION, 102);
    put_attr(&m, m.copies[0], "MemcpyH2D", 50, 70, SINK_CORRELATION, 110);
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->list[0].start_ps, 40);
    assert_int_equal(s->list[0].dur_ps, 60);
    done(&m);
}

/* No call was recorded at all: the step is what the host says, as on XLA:CPU. */
static void without_launches_the_host_decides(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    put_attr(&m, m.main, "ProfilerStep#0", 10, 100, SINK_STEP, 0);
    put_attr(&m, m.ops[0], "k", 20, 60, SINK_CORRELATION, 4);
    put_attr(&m, m.ops[0], "k", 80, 160, SINK_CORRELATION, 5);
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->list[0].start_ps, 10);
    assert_int_equal(s->list[0].dur_ps, 90);
    assert_int_equal(s->list[0].devices[0].breakdown.compute_ps, 40 + 20);
    done(&m);
}

/* Group ids travel with the hand-over from the annotated thread to a worker
 * (docs/reference/xprof.md#step-grouping): the launch at 150 is step 0's, though step 1 runs by
 * then. */
static void work_belongs_to_the_step_that_handed_it_over(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    put_root(&m, m.main, "train", 0, 100, 0);
    put_root(&m, m.main, "train", 100, 200, 1);
    put_attr(&m, m.main, "enqueue", 50, 60, SINK_FLOW_OUT, 77);
    put_attr(&m, m.other, "execute", 130, 170, SINK_FLOW_IN, 77);
    launch(&m, m.other, 150, 0, 155, 180, 1);
    launch(&m, m.main, 160, 0, 185, 190, 2);
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->list[0].dur_ps, 180);
    assert_int_equal(s->list[1].start_ps, 180);
    assert_int_equal(s->list[1].dur_ps, 20);
    done(&m);
}

/* A device's event names its step's group itself. */
static void group_ids_of_the_profiler_count(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    for (int i = 0; i < 2; i++) {
        sink_extra x = {.has = 0};
        sink_extra_set(&x, SINK_ROOT, 1);
        sink_extra_set(&x, SINK_STEP, i);
        sink_extra_set(&x, SINK_GROUP, 40 + i);
        put_with(&m, m.main, "train", i * 100, i * 100 + 100, &x);
    }
    put_attr(&m, m.ops[0], "k", 90, 150, SINK_GROUP, 40);
    put_attr(&m, m.ops[0], "k", 160, 230, SINK_GROUP, 41);
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->list[0].dur_ps, 150);
    assert_int_equal(s->list[1].dur_ps, 80);
    done(&m);
}

/* The last of five steps has 7 events where all others have 10: cut. With 8 it is whole. */
static void a_last_step_without_its_work_is_partial(void **state)
{
    (void)state;
    for (int events = 7; events <= 8; events++) {
        made m = make(SINK_PROCESS_GPU);
        for (int i = 0; i < 5; i++) {
            char name[24];
            snprintf(name, sizeof name, "ProfilerStep#%d", i);
            put_attr(&m, m.main, name, i * 1000, i * 1000 + 1000, SINK_STEP, i);
            for (int k = 0; k < (i == 4 ? events : 10); k++)
                launch(&m, m.main, i * 1000 + k * 50, 0, i * 1000 + k * 50 + 5,
                       i * 1000 + k * 50 + 15, i * 10 + k);
        }
        const vp_steps *s = analyze(&m);
        assert_int_equal(s->list[4].partial, events == 7);
        assert_int_equal(s->counted, events == 7 ? 4 : 5);
        assert_int_equal(op_of(&m, "kernel", 0)->step_self_ps, events == 7 ? 400 : 480);
        done(&m);
    }
}

/* ---- Devices' own lines ---- */

/* Two devices, a line each, numbers that do not start together: one list, by number. */
static void lines_are_joined_by_number(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "train %d", 5 + i);
        put(&m, m.line[0], name, i * 100, i * 100 + 80);
        put(&m, m.ops[0], "k", i * 100, i * 100 + 80);
        if (i) {
            put(&m, m.line[1], name, i * 100 + 10, i * 100 + 95);
            put(&m, m.ops[1], "k", i * 100 + 10, i * 100 + 95);
        }
    }
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->count, 3);
    assert_int_equal(s->list[0].number, 5);
    assert_int_equal(s->list[0].device_count, 1);
    assert_int_equal(s->list[1].number, 6);
    assert_int_equal(s->list[1].device_count, 2);
    assert_int_equal(s->list[1].device, 1);
    assert_int_equal(s->list[1].dur_ps, 85);
    assert_int_equal(s->list[2].devices[1].start_ps, 210);
    assert_int_equal(s->counted, 3);
    done(&m);
}

/* Numbers that run backwards are names; equal ones tell nothing, then the order does. */
static void numbers_may_run_backwards_or_repeat(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    static const char *const names[] = {"9", "8", "8", "7"};
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < 4; i++) {
            put(&m, m.line[d], names[i], i * 100, i * 100 + 90);
            put(&m, m.ops[d], "k", i * 100, i * 100 + 50);
        }
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->count, 4);
    assert_int_equal(s->list[0].number, 9);
    assert_int_equal(s->list[3].number, 7);
    for (int i = 0; i < 4; i++)
        assert_int_equal(s->list[i].device_count, 2);
    done(&m);
}

/* A TPU: ops carry the device's clock, runs the host's. The op at 1000 (aligned 5010) belongs to
 * the first run [5000, 5100), whose window reaches to the next run's first op; the last is cut. */
static void own_clocks_go_from_first_op_to_first_op(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_TPU);
    for (int i = 0; i < 3; i++) {
        put(&m, m.modules[0], "jit_f(7)", 5000 + i * 130, 5100 + i * 130);
        put_aligned(&m, m.ops[0], "a", 1000 + i * 100, 1040 + i * 100, 5010 + i * 130);
        put_aligned(&m, m.ops[0], "b", 1040 + i * 100, 1080 + i * 100, 5050 + i * 130);
        put(&m, m.modules[0], "jit_g(8)", 5110 + i * 130, 5112 + i * 130);
    }
    put_aligned(&m, m.ops[0], "c", 1085, 1090, 5111); /* of another module, in the window */
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->source, VP_STEPS_MODULES);
    assert_int_equal(s->count, 3);
    assert_int_equal(s->list[0].dur_ps, 100);
    assert_int_equal(s->list[0].start_ps, 5010 - m.h.origin_ps);
    assert_int_equal(s->list[0].devices[0].breakdown.compute_ps, 40 + 40 + 5);
    assert_int_equal(s->list[1].dur_ps, 100);
    assert_int_equal(s->list[2].dur_ps, 80);
    assert_true(s->list[2].partial);
    assert_int_equal(s->counted, 2);
    assert_int_equal(s->median_ps, 100);
    assert_true(s->cv == 0);
    assert_int_equal(op_of(&m, "a", 0)->step_self_ps, 80);
    assert_int_equal(op_of(&m, "a", 0)->per_step_count, 2);
    assert_int_equal(op_of(&m, "c", 0)->step_self_ps, 5);
    assert_int_equal(op_of(&m, "c", 0)->per_step_ps[0], 5);
    assert_int_equal(op_of(&m, "c", 0)->per_step_ps[1], 0);
    done(&m);
}

/* The program's steps on such a device: runs say by their producer whose they are. Step 0's host
 * part is over when its run begins. */
static void runs_belong_to_the_step_that_enqueued_them(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_TPU);
    for (int i = 0; i < 3; i++) {
        put_root(&m, m.main, "train", 5000 + i * 10, 5009 + i * 10, 20 + i);
        put_attr(&m, m.main, "enqueue", 5001 + i * 10, 5005 + i * 10, SINK_FLOW_OUT, 60 + i);
        put_attr(&m, m.modules[0], "jit_f(7)", 6000 + i * 100, 6090 + i * 100, SINK_FLOW_IN,
                 60 + i);
        put_aligned(&m, m.ops[0], "a", 1000 + i * 95, 1080 + i * 95, 6001 + i * 100);
    }
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->source, VP_STEPS_ANNOTATION);
    assert_int_equal(s->count, 3);
    assert_int_equal(s->list[0].number, 20);
    assert_int_equal(s->list[0].dur_ps, 95);
    assert_int_equal(s->list[1].dur_ps, 95);
    assert_true(s->list[2].partial);
    done(&m);
}

/* Runs of a module that only its kernels show: one opening op and the same ops in each. */
static void gpu_modules_repeat_by_their_ops(void **state)
{
    (void)state;
    for (int twisted = 0; twisted < 2; twisted++) {
        made m = make(SINK_PROCESS_GPU);
        kind_of(&m, "open", "jit_f");
        kind_of(&m, "loop", "jit_f");
        kind_of(&m, "tail", "jit_f");
        for (int i = 0; i < 4; i++) {
            put(&m, m.ops[0], "open", i * 100, i * 100 + 10);
            put(&m, m.ops[0], "loop", i * 100 + 10, i * 100 + 30);
            put(&m, m.ops[0], "loop", i * 100 + 30, i * 100 + 50);
            int64_t at = twisted ? 360 + i * 5 : i * 100 + 60;
            put(&m, m.ops[0], "tail", at, at + 5);
        }
        const vp_steps *s = analyze(&m);
        assert_int_equal(s->source, twisted ? VP_STEPS_NONE : VP_STEPS_MODULES);
        if (!twisted) {
            assert_int_equal(s->count, 4);
            assert_int_equal(s->list[0].dur_ps, 100);
            assert_true(s->list[3].partial);
        }
        done(&m);
    }
}

/* ---- Bad input ---- */

static void a_single_step_and_empty_ones(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    put(&m, m.ops[0], "k", 5, 5);
    put_root(&m, m.main, "train", 5, 5, 0);
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->count, 1);
    assert_int_equal(s->counted, 1);
    assert_int_equal(s->median_ps, 0);
    assert_true(s->cv == 0);
    done(&m);
    m = make(SINK_PROCESS_TPU);
    put_aligned(&m, m.ops[0], "k", 5, 5, 100);
    put(&m, m.line[0], "0", 100, 100);
    put(&m, m.line[0], "1", 100, 100);
    s = analyze(&m);
    assert_int_equal(s->count, 2);
    assert_int_equal(s->counted, 0);
    done(&m);
}

/* Overlaps of the host's steps never count an instant twice. */
static void overlapping_steps_share_nothing(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    for (int i = 0; i < 5; i++)
        put_root(&m, m.main, "train", i * 50, i * 50 + 120, i);
    for (int i = 0; i < 10; i++)
        put(&m, m.ops[0], "k", i * 30, i * 30 + 20);
    const vp_steps *s = analyze(&m);
    int64_t sum = 0, busy = 0;
    assert_int_equal(s->count, 5);
    for (size_t i = 0; i < s->count; i++) {
        sum += s->list[i].dur_ps;
        busy += s->list[i].devices[0].breakdown.busy_ps;
    }
    assert_int_equal(sum, 4 * 50 + 120);
    assert_int_equal(busy, 200);
    done(&m);
}

/* Device clocks that jump back against the host's: windows stay in order. */
static void disorder_between_clocks_is_survived(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_TPU);
    for (int i = 0; i < 6; i++) {
        put(&m, m.line[0], "x", 1000 + i * 100, 1090 + i * 100);
        put_aligned(&m, m.ops[0], "k", i * 50, i * 50 + 60, 1000 + (5 - i) * 100);
    }
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->count, 6);
    done(&m);
}

/* Without devices steps are what the host says. */
static void hosts_alone_have_steps_without_devices(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    put_root(&m, m.main, "train", 10, 100, 0);
    put_root(&m, m.main, "train", 110, 230, 1);
    put(&m, m.other, "work", 20, 150);
    const vp_steps *s = analyze(&m);
    assert_int_equal(s->count, 2);
    assert_int_equal(s->list[1].dur_ps, 120);
    assert_int_equal(s->list[1].device, VP_NO_DEVICE);
    assert_int_equal(s->list[1].device_count, 0);
    assert_false(s->list[1].partial);
    assert_int_equal(op_of(&m, "work", 0)->step_self_ps, 80 + 40);
    done(&m);
}

/* ---- What hangs on steps ---- */

/* 250 steps make 100 points, of 2 or 3 steps each: the mean of what grows by 1 a step. */
static void curves_have_at_most_100_points(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU);
    for (int i = 0; i < 250; i++) {
        put_root(&m, m.main, "train", i * 1000, i * 1000 + 900, i);
        put(&m, m.ops[0], "grows", i * 1000, i * 1000 + 300 + i);
        put(&m, m.ops[0], "small", i * 1000 + 800, i * 1000 + 801);
    }
    analyze(&m);
    const vp_op *op = op_of(&m, "grows", 0);
    assert_int_equal(op->step_self_ps, 250 * 300 + 249 * 250 / 2);
    assert_int_equal(op->per_step_count, 100);
    assert_int_equal(op->per_step_ps[0], 301);  /* 300, 301, 302 */
    assert_int_equal(op->per_step_ps[1], 303);  /* 303, 304 */
    assert_int_equal(op->per_step_ps[99], 548); /* 548, 549 */
    op = op_of(&m, "small", 0);
    assert_int_equal(op->step_self_ps, 250);
    assert_int_equal(op->step_calls, 250);
    assert_int_equal(op->per_step_count, 0);
    done(&m);
}

/* F24: a reward module runs 3 times in each of the 3 steps that count, 10 each. */
static void modules_that_repeat_within_steps(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_TPU);
    for (int i = 0; i < 4; i++) {
        int64_t at = 1000 * i;
        put(&m, m.modules[0], "jit_step(1)", at, at + 500);
        put(&m, m.modules[0], "jit_twice(3)", at + 500, at + 520);
        put(&m, m.modules[0], "jit_twice(3)", at + 520, at + 540);
        put_aligned(&m, m.ops[0], "a", at, at + 500, at);
        for (int k = 0; k < 3; k++) {
            put(&m, m.modules[0], "jit_reward(2)", at + 600 + k * 20, at + 610 + k * 20);
            put_aligned(&m, m.ops[0], "r", at + 600 + k * 20, at + 610 + k * 20, at + 600 + k * 20);
        }
    }
    analyze(&m);
    for (size_t i = 0; i < m.h.module_count; i++) {
        const module_item *x = &m.h.modules[i];
        bool reward = strcmp(x->name, "jit_reward") == 0;
        assert_int_equal(x->repeat_steps, reward ? 3 : 0);
        assert_int_equal(x->repeat_runs, reward ? 9 : 0);
        assert_int_equal(x->repeat_ps, reward ? 90 : 0);
    }
    done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_any_mark_there_are_no_steps),
        cmocka_unit_test(sources_come_in_order),
        cmocka_unit_test(an_expendable_trace_gives_the_same_steps),
        cmocka_unit_test(only_outermost_annotations_are_steps),
        cmocka_unit_test(steps_of_no_time_count),
        cmocka_unit_test(numbers_alone_make_steps),
        cmocka_unit_test(steps_of_threads_do_not_overlap),
        cmocka_unit_test(another_loop_beside_is_left_out_whole),
        cmocka_unit_test(steps_apart_from_their_work_are_noted),
        cmocka_unit_test(windows_follow_the_devices_work),
        cmocka_unit_test(earlier_work_moves_the_first_start),
        cmocka_unit_test(without_launches_the_host_decides),
        cmocka_unit_test(work_belongs_to_the_step_that_handed_it_over),
        cmocka_unit_test(group_ids_of_the_profiler_count),
        cmocka_unit_test(a_last_step_without_its_work_is_partial),
        cmocka_unit_test(lines_are_joined_by_number),
        cmocka_unit_test(numbers_may_run_backwards_or_repeat),
        cmocka_unit_test(own_clocks_go_from_first_op_to_first_op),
        cmocka_unit_test(runs_belong_to_the_step_that_enqueued_them),
        cmocka_unit_test(gpu_modules_repeat_by_their_ops),
        cmocka_unit_test(a_single_step_and_empty_ones),
        cmocka_unit_test(overlapping_steps_share_nothing),
        cmocka_unit_test(disorder_between_clocks_is_survived),
        cmocka_unit_test(hosts_alone_have_steps_without_devices),
        cmocka_unit_test(curves_have_at_most_100_points),
        cmocka_unit_test(modules_that_repeat_within_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
