/* trace/analyze/compare: what changed from one report to another, on reports written by hand (read
 * back from JSON) and on real pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/rows.h"
#include "tests/unit/traces.h"
#include "trace/analyze/analyze.h"
#include "trace/analyze/compare/compare.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/model/catalog/catalog.h"
#include "trace/report/report.h"

#define MS INT64_C(1000000000)

/* ---- Reports by hand ---- */

typedef struct text {
    char p[60000];
    size_t n;
} text;

__attribute__((format(printf, 2, 3))) static void add(text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    t->n += (size_t)vsnprintf(t->p + t->n, sizeof t->p - t->n, fmt, args);
    va_end(args);
    assert_true(t->n < sizeof t->p);
}

static void begin(text *t, const char *id, const char *kind, int steps)
{
    t->n = 0;
    add(t,
        "{\"schema\":\"view_profile.report/1\",\"session\":{\"id\":\"%s\",\"name\":\"%s\",\"path\":"
        "\"%s\",\"hosts\":[\"h\"],\"files\":[]},\"analysis\":{\"events\":9,\"has_devices\":true},"
        "\"complete\":true,\"devices\":[{\"name\":\"dev\",\"host\":\"h\",\"kind\":\"%s\","
        "\"steps_counted\":%d,\"breakdown\":{\"window_ps\":100,\"compute_ps\":60,"
        "\"exposed_comm_ps\":20,\"exposed_copy_ps\":10,\"idle_ps\":10}}],\"ops\":[",
        id, id, id, kind, steps);
}

/* per_step: self time of a step in ps; the whole is that of `steps` steps. */
static void op(text *t, const char *name, const char *scope, int steps, int64_t per_step,
               int64_t calls, int64_t flops)
{
    add(t,
        "%s{\"device_index\":0,\"class\":\"compute\",\"category\":\"fusion\",\"name\":\"%s\","
        "\"scope\":%s%s%s,\"calls\":%lld,\"self_ps\":%lld,\"step_self_ps\":%lld,\"flops\":",
        t->p[t->n - 1] == '[' ? "" : ",", name, scope ? "\"" : "", scope ? scope : "null",
        scope ? "\"" : "", (long long)calls, (long long)(per_step * steps),
        (long long)(per_step * steps));
    add(t, flops < 0 ? "null}" : "%lld}", (long long)flops);
}

/* Steps whose compute is all of their time but 1 ps of communication, 2 of copies, 3 of idle. */
static vp_report *end(text *t, const int64_t *steps, size_t n)
{
    vp_report *r = NULL;
    int64_t at = 0;
    add(t, "],\"steps\":{\"source\":\"annotation\",\"list\":[");
    for (size_t i = 0; i < n; at += steps[i++])
        add(t,
            "%s{\"number\":%zu,\"start_ps\":%lld,\"dur_ps\":%lld,\"device_index\":0,\"devices\":[{"
            "\"device_index\":0,\"start_ps\":%lld,\"dur_ps\":%lld,\"breakdown\":{\"window_ps\":%"
            "lld,\"compute_ps\":%lld,\"exposed_comm_ps\":1,\"exposed_copy_ps\":2,\"idle_ps\":3}}]}",
            i ? "," : "", i, (long long)at, (long long)steps[i], (long long)at, (long long)steps[i],
            (long long)steps[i], (long long)steps[i] - 6);
    add(t, "]}}");
    if (rep_read(&r, vp_str_of(t->p)) < 0)
        fail_msg("%s", vp_error_last()->message);
    return r;
}

static vp_report *plain(const char *id, const int64_t *steps, size_t n)
{
    static text t;
    begin(&t, id, "gpu", (int)n);
    op(&t, "dot", "jit(f)/dot", (int)n, n ? steps[0] : 0, 10, -1);
    return end(&t, steps, n);
}

static vp_comparison *compared(const vp_report *a, const vp_report *b)
{
    vp_comparison *c = NULL;
    if (compare_make(&c, a, b) < 0)
        fail_msg("%s", vp_error_last()->message);
    return c;
}

static const vp_compared_op *op_named(const vp_comparison *c, const char *name)
{
    for (size_t i = 0; i < c->op_count; i++)
        if (!strcmp(c->ops[i].name, name))
            return &c->ops[i];
    fail_msg("no op %s", name);
    return NULL;
}

static bool has_caveat(const vp_comparison *c, const char *part)
{
    for (size_t i = 0; i < c->caveat_count; i++)
        if (strstr(c->caveats[i], part))
            return true;
    return false;
}

/* ---- Verdicts ---- */

static void check_verdict(const int64_t *a, size_t na, const int64_t *b, size_t nb, vp_verdict want,
                          int64_t threshold_ps)
{
    vp_report *ra = plain("a", a, na), *rb = plain("b", b, nb);
    vp_comparison *c = compared(ra, rb), *back = compared(rb, ra);
    vp_verdict opposite = want == VP_REGRESSION    ? VP_IMPROVEMENT
                          : want == VP_IMPROVEMENT ? VP_REGRESSION
                                                   : want;
    assert_int_equal(c->verdict, want);
    assert_int_equal(back->verdict, opposite);
    if (threshold_ps >= 0)
        assert_int_equal(c->threshold_ps, threshold_ps);
    assert_int_equal(back->threshold_ps, c->threshold_ps);
    compare_free(c);
    compare_free(back);
    analyze_free(ra);
    analyze_free(rb);
}

/* Steps that end before their work say how long it takes to hand it out: that a program works three
 * times as long is no noise of theirs. */
static vp_report *handed_out(const char *id, int64_t busy, size_t n)
{
    static const int64_t steps[] = {10, 10, 10, 10};
    static text t;
    t.n = 0;
    add(&t,
        "{\"schema\":\"view_profile.report/1\",\"session\":{\"id\":\"%s\",\"name\":\"%s\",\"path\":"
        "\"%s\",\"hosts\":[\"h\"],\"files\":[]},\"analysis\":{\"events\":9,\"has_devices\":true},"
        "\"complete\":true,\"devices\":[{\"name\":\"dev\",\"host\":\"h\",\"kind\":\"cpu\","
        "\"steps_counted\":%zu,\"breakdown\":{\"window_ps\":%lld,\"compute_ps\":%lld,"
        "\"exposed_comm_ps\":0,\"exposed_copy_ps\":0,\"idle_ps\":0,\"busy_ps\":%lld}}],\"ops\":[",
        id, id, id, n, (long long)busy, (long long)busy, (long long)busy);
    op(&t, "dot", NULL, (int)n, 4, 10, -1);
    return end(&t, steps, n);
}

static void test_steps_apart_from_their_work(void **state)
{
    (void)state;
    vp_report *a = handed_out("a", 1000, 4), *b = handed_out("b", 3000, 4),
              *waits = handed_out("c", 40, 4), *fewer = handed_out("d", 3000, 3);
    vp_comparison *c = compared(a, b);
    assert_false(c->per_step);
    assert_int_equal(c->verdict, VP_UNVERIFIED);
    assert_non_null(
        strstr(c->verdict_reason, "the steps of both runs end before their device work"));
    assert_int_equal(c->step.a_ps, 1000);
    assert_int_equal(c->step.b_ps, 3000);
    assert_int_equal(c->caveat_count, 0);
    compare_free(c);
    c = compared(waits, b);
    assert_false(c->per_step);
    assert_non_null(strstr(c->verdict_reason, "the steps of B end before their device work"));
    assert_true(has_caveat(c, "only one of the runs has steps that contain its work"));
    compare_free(c);
    c = compared(a, fewer);
    assert_true(has_caveat(c, "A ran 4 steps, B ran 3"));
    compare_free(c);
    c = compared(waits, waits);
    assert_true(c->per_step);
    compare_free(c);
    analyze_free(a);
    analyze_free(b);
    analyze_free(waits);
    analyze_free(fewer);
}

/* Calls of a step are counted where the report does, however much of the op's time lies outside of
 * the steps: of 20 calls 12 are in 4 steps. */
static void test_calls_of_steps_are_counted(void **state)
{
    static const int64_t steps[] = {100, 100, 100, 100};
    static text t;
    (void)state;
    begin(&t, "a", "gpu", 4);
    add(&t, "{\"device_index\":0,\"class\":\"compute\",\"category\":\"fusion\",\"name\":\"dot\","
            "\"calls\":20,\"self_ps\":1000,\"step_self_ps\":200,\"step_calls\":12}");
    vp_report *a = end(&t, steps, 4), *b = plain("b", steps, 4);
    vp_comparison *c = compared(a, b);
    assert_true(op_named(c, "dot")->span_calls_a == 3);
    assert_true(op_named(c, "dot")->span_calls_b == 2.5); /* 10 in 4 steps, by time */
    compare_free(c);
    analyze_free(a);
    analyze_free(b);
}

static void test_verdicts(void **state)
{
    (void)state;
    /* MAD 0: 1 % of the shorter median, 100 ms, is the noise. */
    static const int64_t base[] = {100 * MS, 100 * MS, 100 * MS};
    static const int64_t near[] = {101 * MS, 101 * MS, 101 * MS};
    static const int64_t far[] = {107 * MS, 107 * MS, 107 * MS};
    check_verdict(base, 3, near, 3, VP_NOISE, MS);
    check_verdict(base, 3, far, 3, VP_REGRESSION, MS);
    check_verdict(far, 3, base, 3, VP_IMPROVEMENT, MS);
    /* Two steps prove nothing, however far apart. */
    check_verdict(base, 2, far, 3, VP_UNVERIFIED, -1);
    /* 90 100 110 on either side, 4 degrees of freedom: as rare as three standard errors are 6.62:
     * 1.2533 * 6.62 * sqrt((200 + 200) / 4 * (1/3 + 1/3)) = 67.743 ms. */
    static const int64_t wide[] = {90 * MS, 100 * MS, 110 * MS};
    static const int64_t wide_later[] = {120 * MS, 130 * MS, 140 * MS};
    static const int64_t wide_far[] = {160 * MS, 170 * MS, 180 * MS};
    check_verdict(wide, 3, wide_later, 3, VP_NOISE, INT64_C(67743463915));
    check_verdict(wide, 3, wide_far, 3, VP_REGRESSION, -1);
}

static void test_without_steps_windows_are_compared(void **state)
{
    (void)state;
    static const int64_t steps[] = {100, 100, 100};
    vp_report *a = plain("a", steps, 3), *b = plain("b", NULL, 0);
    vp_comparison *c = compared(a, b);
    assert_false(c->per_step);
    assert_int_equal(c->verdict, VP_UNVERIFIED);
    assert_int_equal(c->step.a_ps, 100);
    assert_int_equal(c->median.delta_ps, VP_NO_TIME);
    assert_true(has_caveat(c, "only one of the runs has steps"));
    compare_free(c);
    analyze_free(a);
    analyze_free(b);
}

/* ---- Classes ---- */

static void test_classes_take_the_mean_and_idle_the_rounding(void **state)
{
    (void)state;
    /* A: windows 100 101 101, mean 100.67 -> 101; compute 94 95 95, mean 94.67 -> 95; so idle is
     * 101 - 95 - 1 - 2 = 3. B: 200 200 201, mean 200; compute 194 194 195, mean 194; idle 3. */
    static const int64_t sa[] = {100, 101, 101}, sb[] = {200, 200, 201};
    vp_report *a = plain("a", sa, 3), *b = plain("b", sb, 3);
    vp_comparison *c = compared(a, b);
    const vp_compared_device *d = &c->devices[0];
    assert_int_equal(c->device_count, 1);
    assert_int_equal(d->window.a_ps, 101);
    assert_int_equal(d->compute.a_ps, 95);
    assert_int_equal(d->idle.a_ps, 3);
    assert_int_equal(d->window.b_ps, 200);
    assert_int_equal(d->compute.delta_ps, 99);
    assert_int_equal(d->compute.delta_ps + d->exposed_comm.delta_ps + d->exposed_copy.delta_ps +
                         d->idle.delta_ps,
                     d->window.delta_ps);
    compare_free(c);
    analyze_free(a);
    analyze_free(b);
}

/* ---- Ops ---- */

static void test_ops_are_joined(void **state)
{
    (void)state;
    static text ta, tb;
    static const int64_t sa[] = {100 * MS, 100 * MS, 100 * MS},
                         sb[] = {130 * MS, 130 * MS, 130 * MS};
    begin(&ta, "a", "gpu", 3);
    op(&ta, "slower", NULL, 3, 20 * MS, 30, -1);
    op(&ta, "steady", NULL, 3, 20 * MS, 30, -1);
    op(&ta, "more", NULL, 3, 10 * MS, 30, 3000);
    op(&ta, "worse", NULL, 3, 10 * MS, 30, 3000);
    op(&ta, "fusion.7", "jit(f)/mlp/dot", 3, 10 * MS, 30, -1);
    op(&ta, "often", NULL, 3, 10 * MS, 30, -1);
    op(&ta, "old", NULL, 3, 20 * MS, 30, -1);
    begin(&tb, "b", "gpu", 3);
    op(&tb, "slower", NULL, 3, 30 * MS, 30, -1);
    op(&tb, "steady", NULL, 3, 20 * MS + MS / 2, 30, -1);
    op(&tb, "more", NULL, 3, 20 * MS, 30, 6000);  /* twice the work in twice the time */
    op(&tb, "worse", NULL, 3, 20 * MS, 30, 3300); /* a tenth more work in twice the time */
    op(&tb, "fusion.9", "jit(f)/mlp/dot", 3, 12 * MS, 33, -1);
    op(&tb, "often", NULL, 3, 20 * MS, 60, -1);
    op(&tb, "fresh", NULL, 3, 20 * MS, 30, -1);
    vp_report *a = end(&ta, sa, 3), *b = end(&tb, sb, 3);
    vp_comparison *c = compared(a, b);
    assert_int_equal(c->op_count, 8);
    static const struct {
        const char *name, *reason;
        int64_t delta_ps;
        bool significant;
    } want[] = {
        {"slower", "each call takes longer", 10 * MS, true},
        {"steady", "within the noise of a step", MS / 2, false},
        {"more", "more work at the same rate", 10 * MS, false},
        {"worse", "each FLOP slower", 10 * MS, true},
        {"fusion.7", "called more often", 2 * MS, true},
        {"often", "called more often", 10 * MS, true},
        {"old", "only in A", -20 * MS, true},
        {"fresh", "only in B", 20 * MS, true},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const vp_compared_op *x = op_named(c, want[i].name);
        assert_int_equal(x->self.delta_ps, want[i].delta_ps);
        assert_int_equal(x->significant, want[i].significant);
        assert_string_equal(x->reason, want[i].reason);
    }
    assert_true(op_named(c, "fresh")->is_new && op_named(c, "old")->is_gone);
    assert_string_equal(op_named(c, "fusion.7")->name_b, "fusion.9");
    assert_null(op_named(c, "often")->name_b);
    /* By |delta|. */
    for (size_t i = 1; i < c->op_count; i++)
        assert_true(llabs(c->ops[i].self.delta_ps) <= llabs(c->ops[i - 1].self.delta_ps));
    compare_free(c);
    analyze_free(a);
    analyze_free(b);
}

/* What explains most of a difference: calls or the time of one, work or the time of a FLOP. Times
 * in ms, of a step; the way back must say the opposite and count alike. */
static void test_reasons(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t a_ms, a_calls, a_flops, b_ms, b_calls, b_flops;
        const char *there, *back;
        bool significant;
    } rows[] = {
        {"calls alone", 10, 30, -1, 20, 60, -1, "called more often", "called less often", true},
        {"time alone", 10, 30, -1, 20, 30, -1, "each call takes longer",
         "each call takes less time", true},
        /* 27 times as long, of which the calls are 1.3. */
        {"time mostly", 1, 70, -1, 27, 90, -1, "each call takes longer",
         "each call takes less time", true},
        {"calls mostly", 10, 30, -1, 70, 180, -1, "called more often", "called less often", true},
        {"calls, against the time", 20, 10, -1, 30, 60, -1, "called more often",
         "called less often", true},
        {"time, against the calls", 20, 60, -1, 30, 10, -1, "each call takes longer",
         "each call takes less time", true},
        {"same rate", 10, 30, 3000, 20, 30, 6000, "more work at the same rate",
         "less work at the same rate", false},
        {"better rate", 10, 30, 3000, 30, 30, 12000, "more work, each FLOP faster",
         "less work, each FLOP slower", false},
        {"worse rate too", 10, 30, 3000, 30, 30, 7500, "more work, each FLOP slower",
         "less work, each FLOP faster", true},
        {"worse rate mostly", 10, 30, 3000, 30, 30, 3300, "each FLOP slower", "each FLOP faster",
         true},
        {"less work, far worse rate", 10, 30, 3000, 30, 30, 1000, "each FLOP slower",
         "each FLOP faster", true},
        {"no FLOPs on a side", 10, 30, 3000, 20, 60, 0, "called more often", "called less often",
         true},
        {"none before", 0, 30, 3000, 20, 30, 3000, "each call takes longer",
         "each call takes less time", true},
    };
    static text ta, tb;
    static const int64_t steps[] = {100 * MS, 100 * MS, 100 * MS, 100 * MS};
    begin(&ta, "a", "gpu", 4);
    begin(&tb, "b", "gpu", 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        op(&ta, rows[i].name, NULL, 4, rows[i].a_ms * MS, rows[i].a_calls, rows[i].a_flops);
        op(&tb, rows[i].name, NULL, 4, rows[i].b_ms * MS, rows[i].b_calls, rows[i].b_flops);
    }
    vp_report *a = end(&ta, steps, 4), *b = end(&tb, steps, 4);
    vp_comparison *c = compared(a, b), *back = compared(b, a);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const vp_compared_op *x = op_named(c, rows[i].name), *y = op_named(back, rows[i].name);
        if (strcmp(x->reason, rows[i].there) || strcmp(y->reason, rows[i].back))
            fail_msg("%s: %s; back: %s", rows[i].name, x->reason, y->reason);
        assert_int_equal(x->significant, rows[i].significant);
        assert_int_equal(y->significant, rows[i].significant);
    }
    compare_free(c);
    compare_free(back);
    analyze_free(a);
    analyze_free(b);
}

/* FLOPs of a collective are not its work: its calls are. */
static void test_a_collective_is_judged_by_its_calls(void **state)
{
    (void)state;
    static text ta, tb;
    static const int64_t steps[] = {100 * MS, 100 * MS, 100 * MS};
    begin(&ta, "a", "tpu", 3);
    op(&ta, "all-reduce", NULL, 3, 34 * MS, 258, 6763);
    begin(&tb, "b", "tpu", 3);
    op(&tb, "all-reduce", NULL, 3, 5 * MS, 2, 52);
    vp_report *a = end(&ta, steps, 3), *b = end(&tb, steps, 3);
    a->ops[0].op_class = b->ops[0].op_class = VP_COMMUNICATION;
    vp_comparison *c = compared(a, b);
    assert_string_equal(c->ops[0].reason, "called less often");
    assert_true(c->ops[0].significant);
    compare_free(c);
    analyze_free(a);
    analyze_free(b);
}

/* A capture of twice the steps calls every op twice as often, and a step of it does not. */
static void test_calls_are_those_of_a_step(void **state)
{
    (void)state;
    static text ta, tb;
    static const int64_t steps[] = {100 * MS, 100 * MS, 100 * MS, 100 * MS, 100 * MS, 100 * MS};
    begin(&ta, "a", "gpu", 3);
    op(&ta, "dot", NULL, 3, 10 * MS, 30, -1);
    op(&ta, "fusion.7", "jit(f)/mlp/dot", 3, 10 * MS, 30, -1);
    begin(&tb, "b", "gpu", 6);
    op(&tb, "dot", NULL, 6, 15 * MS, 60, -1);
    op(&tb, "fusion.9", "jit(f)/mlp/dot", 6, 10 * MS, 60, -1);
    vp_report *a = end(&ta, steps, 3), *b = end(&tb, steps, 6);
    vp_comparison *c = compared(a, b);
    assert_int_equal(c->op_count, 2); /* the renumbered one is joined */
    assert_string_equal(op_named(c, "dot")->reason, "each call takes longer");
    assert_int_equal(op_named(c, "dot")->calls_b, 60);
    assert_true(op_named(c, "dot")->span_calls_a == 10 && op_named(c, "dot")->span_calls_b == 10);
    compare_free(c);
    analyze_free(a);
    analyze_free(b);
}

static vp_scope forward[] = {
    {.parent = UINT32_MAX, .path = "jit(f)", .name = "jit(f)", .total_ps = 90 * MS, .calls = 3},
    {.depth = 1, .path = "jit(f)/jvp(x)", .name = "jvp(x)", .total_ps = 90 * MS, .calls = 3},
    {.depth = 2,
     .parent = 1,
     .path = "jit(f)/jvp(x)/dot",
     .name = "dot",
     .self_ps = 90 * MS,
     .total_ps = 90 * MS,
     .calls = 3},
};
static vp_scope both[] = {
    {.parent = UINT32_MAX,
     .path = "jit(f)",
     .name = "jit(f)",
     .total_ps = 300 * MS,
     .calls = 6,
     .backward_ps = 180 * MS},
    {.depth = 1,
     .path = "jit(f)/transpose(jvp(x))",
     .name = "transpose(jvp(x))",
     .total_ps = 180 * MS,
     .calls = 3,
     .backward_ps = 180 * MS},
    {.depth = 2,
     .parent = 1,
     .path = "jit(f)/transpose(jvp(x))/mul",
     .name = "mul",
     .self_ps = 180 * MS,
     .total_ps = 180 * MS,
     .calls = 3,
     .backward_ps = 180 * MS},
    {.depth = 1, .path = "jit(f)/jvp(x)", .name = "jvp(x)", .total_ps = 120 * MS, .calls = 3},
    {.depth = 2,
     .parent = 3,
     .path = "jit(f)/jvp(x)/dot",
     .name = "dot",
     .self_ps = 120 * MS,
     .total_ps = 120 * MS,
     .calls = 3},
};

/* A layer whose backward work grows is one row under its forward name, even when the other run goes
 * forward only; times are those of a step: the whole is that of three. */
static void test_backward_work_stands_with_its_scope(void **state)
{
    (void)state;
    static const int64_t steps[] = {100 * MS, 100 * MS, 100 * MS};
    vp_report *a = plain("a", steps, 3), *b = plain("b", steps, 3);
    a->scopes = forward;
    a->scope_count = 3;
    b->scopes = both;
    b->scope_count = 5;
    vp_comparison *c = compared(a, b);
    assert_int_equal(c->scope_count, 2);
    for (size_t i = 0; i < c->scope_count; i++) {
        const vp_compared_scope *s = &c->scopes[i];
        assert_string_equal(s->path, i ? "jit(f)/x" : "jit(f)");
        assert_int_equal(s->depth, i);
        assert_int_equal(s->total.a_ps, 30 * MS);
        assert_int_equal(s->total.b_ps, 100 * MS);
        assert_int_equal(s->backward.a_ps, 0);
        assert_int_equal(s->backward.delta_ps, 60 * MS);
    }
    compare_free(c);
    /* Nothing goes back: paths and primitives stay as they were written. */
    vp_comparison *same = compared(a, a);
    assert_int_equal(same->scope_count, 0);
    compare_free(same);
    vp_scope slower[3];
    memcpy(slower, forward, sizeof slower);
    slower[0].total_ps = slower[1].total_ps = slower[2].total_ps = slower[2].self_ps = 120 * MS;
    b->scopes = slower;
    b->scope_count = 3;
    c = compared(a, b);
    assert_int_equal(c->scope_count, 3);
    assert_string_equal(c->scopes[2].path, "jit(f)/jvp(x)/dot");
    compare_free(c);
    a->scopes = b->scopes = NULL;
    a->scope_count = b->scope_count = 0;
    analyze_free(a);
    analyze_free(b);
}

static void test_more_work_is_no_regression(void **state)
{
    (void)state;
    static text ta, tb;
    static const int64_t sa[] = {100 * MS, 100 * MS, 100 * MS},
                         sb[] = {200 * MS, 200 * MS, 200 * MS};
    begin(&ta, "a", "tpu", 3);
    op(&ta, "dot", NULL, 3, 90 * MS, 30, 9000000);
    begin(&tb, "b", "tpu", 3);
    op(&tb, "dot", NULL, 3, 180 * MS, 30, 18000000);
    vp_report *a = end(&ta, sa, 3), *b = end(&tb, sb, 3);
    vp_comparison *c = compared(a, b);
    assert_int_equal(c->verdict, VP_UNVERIFIED);
    assert_non_null(strstr(c->verdict_reason, "2.00 × the FLOP"));
    compare_free(c);
    analyze_free(a);
    analyze_free(b);
}

static void test_caveats(void **state)
{
    (void)state;
    static text t;
    static const int64_t steps[] = {100, 100, 100};
    vp_report *a = plain("a", steps, 3);
    begin(&t, "b", "tpu", 3);
    op(&t, "dot", NULL, 3, 50, 10, -1);
    vp_report *b = end(&t, steps, 3);
    b->devices[0].breakdown.compute_ps++;
    b->devices[0].breakdown.idle_ps--;
    vp_comparison *c = compared(a, b), *same = compared(a, a);
    assert_true(has_caveat(c, "different kinds of devices"));
    assert_false(has_caveat(c, "same capture"));
    assert_int_equal(same->caveat_count, 1);
    assert_true(has_caveat(same, "same capture"));
    assert_int_equal(same->verdict, VP_NOISE);
    compare_free(c);
    compare_free(same);
    b->group = VP_GROUP_SCOPE;
    c = NULL;
    assert_int_equal(compare_make(&c, a, b), VP_EARG);
    b->group = a->group;
    b->depth = VP_DEPTH_OPS;
    assert_int_equal(compare_make(&c, a, b), VP_EARG);
    assert_null(c);
    analyze_free(a);
    analyze_free(b);
}

/* What alone tells b from a, which are otherwise equal. */
static void check_tells(vp_report *b, const vp_report *a, int64_t *figure)
{
    vp_comparison *same = compared(a, b);
    assert_true(has_caveat(same, "same capture"));
    compare_free(same);
    ++*figure;
    vp_comparison *c = compared(a, b);
    assert_false(has_caveat(c, "same capture"));
    compare_free(c);
    --*figure;
}

/* Two runs of one short program may take the same time; they do not begin at the same time, and
 * those that cannot say when they began are not files of the same size. */
static void test_only_the_same_capture_is_called_so(void **state)
{
    (void)state;
    static const int64_t steps[] = {100, 100, 100};
    vp_report_file files[] = {{"a", "kineto", 700, 9, false}, {"b", "kineto", 700, 9, false}};
    vp_report *a = plain("a", steps, 3), *b = plain("b", steps, 3);
    a->base_unix_ns = b->base_unix_ns = 1700000000000000000;
    check_tells(b, a, &b->base_unix_ns);
    check_tells(b, a, &b->start_ps);
    check_tells(b, a, &b->end_ps);
    check_tells(b, a, &b->events);
    check_tells(b, a, &b->devices[0].breakdown.idle_ps);
    check_tells(b, a, &b->ops[0].calls);
    check_tells(b, a, &b->ops[0].self_ps);
    check_tells(b, a, &b->ops[0].slowest_start_ps);
    a->base_unix_ns = b->base_unix_ns = -1;
    a->files = &files[0];
    b->files = &files[1];
    a->file_count = b->file_count = 1;
    check_tells(b, a, &b->files[0].bytes);
    a->files = b->files = NULL;
    a->file_count = b->file_count = 0;
    analyze_free(a);
    analyze_free(b);
}

/* ---- Real pairs: swapping negates ---- */

static vp_report *analyzed(const char *dir, const char *path, const char *session)
{
    char full[4096];
    catalog *c = NULL;
    vp_report *r = NULL;
    vp_report_options opts = VP_REPORT_OPTIONS_INIT;
    snprintf(full, sizeof full, "%s/%s", dir, path);
    assert_int_equal(catalog_open(&c, full, NULL), 0);
    const cat_session *s = session ? catalog_find(c, vp_str_of(session)) : catalog_latest(c);
    assert_non_null(s);
    assert_int_equal(analyze_session(&r, c, s, &opts), 0);
    catalog_free(c);
    return r;
}

static void must_negate(const vp_delta *x, const vp_delta *y)
{
    assert_int_equal(x->a_ps, y->b_ps);
    assert_int_equal(x->b_ps, y->a_ps);
    assert_int_equal(x->delta_ps, y->delta_ps == VP_NO_TIME ? VP_NO_TIME : -y->delta_ps);
}

/* The row of the other comparison: ops are ordered by |delta| and what does not change on swapping,
 * so that equal rows stand at equal places but for ties of renamed ops. */
static const vp_compared_op *counterpart(const vp_comparison *c, const vp_compared_op *x)
{
    for (size_t i = 0; i < c->op_count; i++) {
        const vp_compared_op *y = &c->ops[i];
        bool renamed = !x->is_new && !x->is_gone && x->scope && y->scope &&
                       !strcmp(x->scope, y->scope) && y->calls_a == x->calls_b;
        if (y->op_class == x->op_class && y->self.a_ps == x->self.b_ps &&
            y->self.b_ps == x->self.a_ps && (!strcmp(x->name, y->name) || renamed))
            return y;
    }
    fail_msg("no counterpart of %s", x->name);
    return NULL;
}

static void check_swap(const vp_report *a, const vp_report *b)
{
    vp_comparison *c = compared(a, b), *back = compared(b, a);
    must_negate(&c->step, &back->step);
    must_negate(&c->median, &back->median);
    must_negate(&c->p90, &back->p90);
    assert_int_equal(c->op_count, back->op_count);
    assert_int_equal(c->device_count, back->device_count);
    for (size_t i = 0; i < c->device_count; i++) {
        const vp_compared_device *d = &c->devices[i];
        if (d->window.delta_ps != VP_NO_TIME)
            assert_int_equal(d->compute.delta_ps + d->exposed_comm.delta_ps +
                                 d->exposed_copy.delta_ps + d->idle.delta_ps,
                             d->window.delta_ps);
    }
    for (size_t i = 0; i < c->op_count; i++) {
        const vp_compared_op *x = &c->ops[i], *y = counterpart(back, x);
        must_negate(&x->self, &y->self);
        assert_int_equal(x->is_new, y->is_gone);
        assert_int_equal(x->significant, y->significant);
    }
    assert_int_equal(c->scope_count, back->scope_count);
    for (size_t i = 0; i < c->scope_count; i++) {
        assert_string_equal(c->scopes[i].path, back->scopes[i].path);
        must_negate(&c->scopes[i].total, &back->scopes[i].total);
    }
    assert_int_equal(c->new_count, back->gone_count);
    compare_free(c);
    compare_free(back);
}

static const struct pair {
    const char *a, *a_session, *b, *b_session;
} pairs[] = {
    {"jax_cpu/three_runs", "06_34_00", "jax_cpu/three_runs", "06_34_02"},
    {"jax_tpu/vllm-project__tpu-inference/profiles", "21_26_41",
     "jax_tpu/vllm-project__tpu-inference/profiles", "00_26_20"},
    {"pytorch_cuda/AMD-AGI__TraceLens/h100/Falconsai_nsfw_image_detection__1016002.json.gz", NULL,
     "pytorch_cuda/pytorch__kineto/samples/resnet50_num_workers_0", NULL},
    {"archives/facebookresearch__param/dlrm_kineto.tar.gz", NULL,
     "jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb", NULL},
};

static void test_swapping_negates(void **state)
{
    const struct pair *x = *state;
    traces_need(x->a);
    traces_need(x->b);
    vp_report *a = analyzed(traces_root(), x->a, x->a_session);
    vp_report *b = analyzed(traces_root(), x->b, x->b_session);
    check_swap(a, b);
    analyze_free(a);
    analyze_free(b);
}

/* ---- Formats ---- */

typedef int writer(vp_buf *b, const vp_comparison *c);

static int as_text(vp_buf *b, const vp_comparison *c)
{
    return rep_compare_text(b, c, NULL);
}

static int as_md(vp_buf *b, const vp_comparison *c)
{
    return rep_compare_md(b, c, NULL);
}

static int as_junit(vp_buf *b, const vp_comparison *c)
{
    return rep_compare_junit(b, c, true);
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    static writer *const writers[] = {as_text, as_md, as_junit, rep_compare_json, rep_compare_csv};
    static const int64_t sa[] = {100 * MS, 100 * MS, 100 * MS},
                         sb[] = {130 * MS, 130 * MS, 130 * MS};
    vp_report *a = plain("a", sa, 3), *b = plain("b", sb, 3);
    uint64_t used, k = 0;
    a->scopes = forward;
    a->scope_count = sizeof forward / sizeof *forward;
    b->scopes = both;
    b->scope_count = sizeof both / sizeof *both;
    do {
        vp_comparison *c = NULL;
        vp_mem_fail_at(++k, false);
        int rc = compare_make(&c, a, b);
        used = vp_mem_fail_at(0, false);
        assert_int_equal(rc, used >= k ? VP_ENOMEM : 0);
        compare_free(c);
    } while (used >= k);
    vp_comparison *c = compared(a, b);
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        k = 0;
        do {
            vp_buf out;
            vp_buf_init(&out, 1u << 20);
            vp_mem_fail_at(++k, false);
            int rc = writers[i](&out, c);
            used = vp_mem_fail_at(0, false);
            vp_buf_free(&out);
            if (rc != (used >= k ? VP_ENOMEM : 0))
                fail_msg("writer %zu, allocation %llu: %d", i, (unsigned long long)k, rc);
        } while (used >= k);
    }
    compare_free(c);
    a->scopes = b->scopes = NULL;
    a->scope_count = b->scope_count = 0;
    analyze_free(a);
    analyze_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_of_steps_are_counted),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_steps_apart_from_their_work),
        cmocka_unit_test(test_without_steps_windows_are_compared),
        cmocka_unit_test(test_classes_take_the_mean_and_idle_the_rounding),
        cmocka_unit_test(test_ops_are_joined),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_a_collective_is_judged_by_its_calls),
        cmocka_unit_test(test_calls_are_those_of_a_step),
        cmocka_unit_test(test_backward_work_stands_with_its_scope),
        cmocka_unit_test(test_more_work_is_no_regression),
        cmocka_unit_test(test_caveats),
        cmocka_unit_test(test_only_the_same_capture_is_called_so),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + RUN_ROWS(test_swapping_negates, pairs);
}
