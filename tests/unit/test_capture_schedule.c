/* When captures happen: every combination of the schedule's fields against an oracle that says in
 * sets what the decisions say step by step; and the defects of the originals, each by its case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <limits.h>
#include <string.h>

#include <cmocka.h>

#include "trace/capture/plan/schedule.h"

#define STEPS 40u   /* of a run */
#define STEP_MS 10u /* what each takes */

/* Bit i: step first + i was captured. */
typedef uint64_t step_set;

typedef struct run {
    vp_schedule s;
    uint64_t first;     /* the step with which training begins or goes on */
    uint64_t failures;  /* bit i: the i-th attempt to start fails */
    uint64_t unwritten; /* bit i: the i-th capture that started is not written */
} run;

/* ---- The oracle ---- */

static step_set contexts_by_rule(const run *r)
{
    step_set out = 0;
    uint64_t ok = 0;
    unsigned attempt = 0, started = 0;
    for (uint64_t k = 0; r->s.profile_start_step + k < r->first + STEPS;
         k += r->s.profile_every_n_steps) {
        uint64_t step = r->s.profile_start_step + k;
        if (step < r->first || (step == 0 && !r->s.keep_first_step))
            continue;
        if (ok == r->s.max_profile_count || !r->s.enable_profiling)
            break;
        if (r->failures >> attempt++ & 1)
            continue;
        out |= UINT64_C(1) << (step - r->first);
        ok += !(r->unwritten >> started++ & 1);
    }
    return out;
}

static step_set window_by_rule(const run *r)
{
    uint64_t from = r->s.start_step > 0 ? (uint64_t)r->s.start_step : 0;
    uint64_t by_time = (r->s.profile_duration_ms + STEP_MS - 1) / STEP_MS;
    uint64_t length = r->s.num_steps < by_time ? r->s.num_steps : by_time;
    from = from == 0 && r->first == 0 && !r->s.keep_first_step ? 1 : from;
    from = from < r->first ? r->first : from;
    if (r->s.start_step < 0 || !r->s.max_profile_count || (r->failures & 1))
        return 0;
    step_set out = 0;
    for (uint64_t step = from; step < from + length && step < r->first + STEPS; step++)
        out |= UINT64_C(1) << (step - r->first);
    return out;
}

/* ---- The decisions, driven as the profiler does ---- */

static step_set contexts_taken(const run *r)
{
    step_set out = 0;
    uint64_t captures = 0;
    unsigned attempt = 0, started = 0;
    for (uint64_t i = 0; i < STEPS; i++) {
        if (!sched_due(&r->s, captures, r->first + i) || (r->failures >> attempt++ & 1))
            continue;
        out |= UINT64_C(1) << i;
        captures += !(r->unwritten >> started++ & 1);
    }
    return out;
}

static step_set steps_taken(const run *r, const uint64_t *asked)
{
    step_set out = 0;
    sched_state st = {0};
    unsigned attempt = 0, started = 0;
    uint64_t ran_ms = 0;
    for (uint64_t i = 0; i < STEPS; i++) {
        uint64_t wish = asked ? asked[i] : 0;
        sched_cause cause = sched_start(&r->s, &st, r->first + i, wish);
        if (cause != SCHED_NOTHING) {
            sched_started(&st, &r->s, cause, r->first + i, wish, !(r->failures >> attempt++ & 1));
            ran_ms = 0;
        }
        if (st.want)
            out |= UINT64_C(1) << i;
        ran_ms += STEP_MS;
        if (sched_step_ends(&st, &r->s, ran_ms)) {
            sched_ended(&st);
            st.captures += !(r->unwritten >> started++ & 1);
        }
    }
    return out;
}

/* ---- The matrix ---- */

static const uint64_t firsts[] = {0, 1, 7, 150, 151, 1000};

static void contexts_follow_the_rule(void **state)
{
    static const uint64_t every[] = {1, 2, 3, 7, 10, 100}, starts[] = {0, 1, 5, 10, 150, 2000};
    static const uint64_t most[] = {0, 1, 2, 5, UINT64_MAX};
    unsigned tried = 0, with_captures = 0;
    (void)state;
    for (unsigned i = 0; i < 6 * 6 * 5 * 6 * 2 * 4 * 2; i++) {
        unsigned at = i;
        run r = {.s = VP_SCHEDULE_INIT};
        r.s.profile_every_n_steps = every[at % 6], at /= 6;
        r.s.profile_start_step = starts[at % 6], at /= 6;
        r.s.max_profile_count = most[at % 5], at /= 5;
        r.first = firsts[at % 6], at /= 6;
        r.s.keep_first_step = at % 2, at /= 2;
        r.failures = (at & 1) * 0xAu, r.unwritten = (at >> 1 & 1) * 0x5u, at /= 4;
        r.s.enable_profiling = at;
        step_set is = contexts_taken(&r), should = contexts_by_rule(&r);
        if (is != should)
            fail_msg("combination %u: %llx, not %llx", i, (unsigned long long)is,
                     (unsigned long long)should);
        tried++;
        with_captures += should != 0;
    }
    assert_int_equal(tried, 17280);
    assert_true(with_captures > 4000); /* the matrix is not a matrix of nothing */
}

/* Every N steps, K of them, at most M times; a step that is not there is no reason to capture every
 * one after it. */
static void steps_repeat(void **state)
{
    (void)state;
    static const struct {
        uint64_t first, start, every, count, most, failures;
        uint64_t captured[9]; /* the first steps of captures, up to a 0 */
    } cases[] = {
        {1, 10, 20, 3, 2, 0, {10, 30}},        {1, 10, 20, 3, 9, 0, {10, 30}},
        {1, 10, 12, 3, 9, 0, {10, 22, 34}},    {1, 10, 0, 3, 9, 0, {10}},
        {1, 10, 3, 3, 4, 0, {10, 13, 16, 19}}, {1, 10, 2, 3, 2, 0, {10, 13}},
        {35, 10, 20, 3, 9, 0, {35, 50, 70}},   {1, 10, 12, 3, 2, 1, {22, 34}},
        {1000, 10, 20, 3, 1, 0, {1000}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run r = {.s = VP_SCHEDULE_INIT, .first = cases[i].first};
        step_set should = 0;
        r.s.start_step = (int64_t)cases[i].start;
        r.s.steps_every = (uint32_t)cases[i].every;
        r.s.num_steps = cases[i].count;
        r.s.max_profile_count = cases[i].most;
        r.s.profile_duration_ms = UINT64_MAX;
        r.failures = cases[i].failures;
        for (size_t k = 0; k < 9 && cases[i].captured[k]; k++)
            for (uint64_t at = 0; at < cases[i].count; at++)
                if (cases[i].captured[k] + at - r.first < STEPS)
                    should |= UINT64_C(1) << (cases[i].captured[k] + at - r.first);
        assert_int_equal(steps_taken(&r, NULL), should);
    }
}

static void steps_follow_the_rule(void **state)
{
    static const int64_t starts[] = {-1, 0, 1, 9, 150, 155, 5000};
    static const uint64_t counts[] = {1, 2, 5, 100}, limits[] = {1, 10, 25, 3000, UINT64_MAX};
    static const uint64_t most[] = {0, 1, 5};
    unsigned with_captures = 0;
    (void)state;
    for (unsigned i = 0; i < 7 * 4 * 5 * 3 * 6 * 2 * 2; i++) {
        unsigned at = i;
        run r = {.s = VP_SCHEDULE_INIT};
        r.s.start_step = starts[at % 7], at /= 7;
        r.s.num_steps = counts[at % 4], at /= 4;
        r.s.profile_duration_ms = limits[at % 5], at /= 5;
        r.s.max_profile_count = most[at % 3], at /= 3;
        r.first = firsts[at % 6], at /= 6;
        r.s.keep_first_step = at % 2, at /= 2;
        r.failures = at;
        if (r.s.profile_duration_ms == UINT64_MAX)
            r.s.profile_duration_ms = UINT64_MAX - STEP_MS; /* the oracle rounds up */
        step_set is = steps_taken(&r, NULL), should = window_by_rule(&r);
        if (is != should)
            fail_msg("combination %u: %llx, not %llx", i, (unsigned long long)is,
                     (unsigned long long)should);
        with_captures += should != 0;
    }
    assert_true(with_captures > 1000);
}

/* ---- By hand ---- */

static void the_defaults_are_the_originals(void **state)
{
    vp_schedule s = VP_SCHEDULE_INIT;
    (void)state;
    assert_int_equal(sched_check(&s), 0);
    assert_false(s.enable_profiling);
    assert_false(s.profile_gpu_trace);
    assert_int_equal(s.profile_every_n_steps, 100);
    assert_int_equal(s.profile_duration_ms, 3000);
    assert_int_equal(s.max_profile_count, 5);
    assert_int_equal(s.num_steps, 5);
    assert_int_equal(s.start_step, 150);
    assert_int_equal(sched_duration_ms(&s), 3000);
}

/* "150..154, five steps"; and a run that goes on from step 1000 is captured, too. */
static void five_steps_from_150(void **state)
{
    run r = {.s = VP_SCHEDULE_INIT, .first = 140};
    (void)state;
    assert_int_equal(steps_taken(&r, NULL), 0x1F << 10);
    r.first = 1000;
    assert_int_equal(steps_taken(&r, NULL), 0x1F);
}

static void asked_for_it_starts_with_the_next_step(void **state)
{
    uint64_t asked[STEPS] = {[3] = 2, [4] = 7, [20] = 1};
    run r = {.s = VP_SCHEDULE_INIT};
    (void)state;
    r.s.start_step = -1;
    r.s.max_profile_count = 0; /* stands against the schedule, not against who asks */
    /* 3 and 4; what is asked while a capture is on (at 4) does nothing; 20 */
    assert_int_equal(steps_taken(&r, asked), 3u << 3 | 1u << 20);
}

static void asked_for_it_leaves_the_start_step_alone(void **state)
{
    uint64_t asked[STEPS] = {[2] = 1};
    run r = {.s = VP_SCHEDULE_INIT};
    (void)state;
    r.s.start_step = 10;
    r.s.num_steps = 2;
    assert_int_equal(steps_taken(&r, asked), 1u << 2 | 3u << 10);
    asked[2] = 0;
    asked[8] = 4; /* 8..11 overlap it: start_step starts at 12 */
    assert_int_equal(steps_taken(&r, asked), 0xFu << 8 | 3u << 12);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 9; i++) {
        vp_schedule s = VP_SCHEDULE_INIT;
        switch (i) {
        case 0:
            s.version = 0;
            break;
        case 8:
            s.recording = (vp_config){.version = 0};
            break;
        case 1:
            s.profile_every_n_steps = 0;
            break;
        case 2:
            s.profile_duration_ms = 0;
            break;
        case 3:
            s.num_steps = 0;
            break;
        case 4:
            s.start_step = -2;
            break;
        case 5:
            s.slow_step_ratio = 1;
            break;
        case 6:
            s.peak_tflops = -1;
            break;
        default:
            s.slow_step_ratio = __builtin_nan("");
        }
        assert_int_equal(sched_check(&s), i == 0 || i == 8 ? VP_EVERSION : VP_EARG);
    }
}

static void time_limits_as_the_recorder_takes_them(void **state)
{
    vp_schedule s = VP_SCHEDULE_INIT;
    (void)state;
    s.profile_duration_ms = UINT64_MAX;
    assert_int_equal(sched_duration_ms(&s), 0);
    s.profile_duration_ms = UINT_MAX;
    assert_int_equal(sched_duration_ms(&s), UINT_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_follow_the_rule),
        cmocka_unit_test(steps_repeat),
        cmocka_unit_test(steps_follow_the_rule),
        cmocka_unit_test(the_defaults_are_the_originals),
        cmocka_unit_test(five_steps_from_150),
        cmocka_unit_test(asked_for_it_starts_with_the_next_step),
        cmocka_unit_test(asked_for_it_leaves_the_start_step_alone),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(time_limits_as_the_recorder_takes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
