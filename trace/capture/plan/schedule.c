#include "trace/capture/plan/schedule.h"

#include <limits.h>

#include "trace/base/err.h"
#include "trace/capture/pool/recorder.h"

int sched_check(const vp_schedule *s)
{
    VP_TRY(vp_check_version(s->version, 1, "vp_schedule", "VP_SCHEDULE_INIT"));
    VP_TRY(cap_check_config(&s->recording));
    if (!s->profile_every_n_steps)
        return vp_fail(VP_EARG, "profile_every_n_steps must not be 0");
    if (!s->profile_duration_ms)
        return vp_fail(VP_EARG, "profile_duration_ms must not be 0 (UINT64_MAX means no limit)");
    if (!s->num_steps)
        return vp_fail(VP_EARG, "num_steps must not be 0");
    if (s->start_step < -1)
        return vp_fail(VP_EARG, "start_step must be at least -1");
    if (!(s->slow_step_ratio == 0 || s->slow_step_ratio > 1))
        return vp_fail(VP_EARG, "slow_step_ratio must be 0 or above 1");
    if (!(s->flops_per_token >= 0 && s->model_params >= 0 && s->peak_tflops >= 0))
        return vp_fail(VP_EARG,
                       "flops_per_token, model_params and peak_tflops must not be negative");
    return 0;
}

unsigned sched_duration_ms(const vp_schedule *s)
{
    return s->profile_duration_ms > UINT_MAX ? 0 : (unsigned)s->profile_duration_ms;
}

/* Step 0 compiles and is not representative, so it is skipped. */
static bool is_left_out(const vp_schedule *s, uint64_t step)
{
    return step == 0 && !s->keep_first_step;
}

static bool is_on_grid(const vp_schedule *s, uint64_t step)
{
    return s->enable_profiling && !is_left_out(s, step) && step >= s->profile_start_step &&
           (step - s->profile_start_step) % s->profile_every_n_steps == 0;
}

bool sched_due(const vp_schedule *s, uint64_t captures, uint64_t step)
{
    return captures < s->max_profile_count && is_on_grid(s, step);
}

bool sched_is_limited(const vp_schedule *s, uint64_t captures, uint64_t step)
{
    return captures >= s->max_profile_count && is_on_grid(s, step);
}

static bool is_in_window(const vp_schedule *s, const sched_state *st, uint64_t step)
{
    return s->start_step >= 0 && step >= (uint64_t)s->start_step && step >= st->next &&
           !st->start_is_over && !is_left_out(s, step);
}

sched_cause sched_start(const vp_schedule *s, const sched_state *st, uint64_t step, uint64_t asked)
{
    if (st->want)
        return SCHED_NOTHING;
    if (asked)
        return SCHED_ASKED;
    bool may = st->captures < s->max_profile_count && is_in_window(s, st, step);
    return may ? SCHED_START_STEP : SCHED_NOTHING;
}

bool sched_start_is_limited(const vp_schedule *s, const sched_state *st, uint64_t step)
{
    return !st->want && st->captures >= s->max_profile_count && is_in_window(s, st, step);
}

uint64_t sched_next(uint64_t first, uint64_t every, uint64_t step)
{
    uint64_t times = step < first ? 0 : (step - first) / every + 1, away, next;
    if (__builtin_mul_overflow(times, every, &away) || __builtin_add_overflow(first, away, &next))
        return UINT64_MAX;
    return next;
}

void sched_started(sched_state *st, const vp_schedule *s, sched_cause cause, uint64_t step,
                   uint64_t asked, bool ok)
{
    if (cause == SCHED_START_STEP && s->steps_every)
        st->next = sched_next((uint64_t)s->start_step, s->steps_every, step);
    else if (cause == SCHED_START_STEP)
        st->start_is_over = true;
    if (!ok)
        return;
    st->want = cause == SCHED_ASKED ? asked : s->num_steps;
    st->done = 0;
}

bool sched_step_ends(sched_state *st, const vp_schedule *s, uint64_t ran_ms)
{
    if (!st->want)
        return false;
    st->done++;
    return st->done >= st->want || ran_ms >= s->profile_duration_ms;
}

void sched_ended(sched_state *st)
{
    st->want = st->done = 0;
}
