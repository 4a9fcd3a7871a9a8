#include "trace/capture/plan/profiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/time.h"
#include "trace/capture/disk/small_files.h"
#include "trace/capture/threads/own_time.h"

/* The past of a slow step starts this many normal steps before it. */
#define STEPS_BEFORE_A_SLOW_ONE 8

int vp_profiler_new(vp_profiler **out, const vp_schedule *schedule)
{
    if (!out || !schedule)
        return vp_fail(VP_EARG, "no profiler or no schedule");
    VP_TRY(sched_check(schedule));
    vp_profiler *p = vp_calloc(1, sizeof *p);
    VP_NEED(p);
    p->s = *schedule;
    char given[VP_PATH_MAX], full[VP_PATH_MAX];
    int rc = cap_user_dir(given, schedule->profiling_dir, "profiles");
    if (rc >= 0)
        snprintf(p->dir, sizeof p->dir, "%s", cap_full_dir(full, given));
    if (rc >= 0 && schedule->recording.host) {
        p->host = vp_strdup(schedule->recording.host);
        rc = p->host ? 0 : vp_no_memory();
    }
    if (rc < 0) {
        vp_free(p);
        return rc;
    }
    p->s.profiling_dir = p->dir;
    p->s.recording.host = p->host;
    p->step_name = vp_name("train");
    pthread_mutex_init(&p->lock, NULL);
    prof_list_add(p);
    *out = p;
    return 0;
}

/* ---- Captures of steps ---- */

static void say_refused(vp_profiler *p)
{
    if (atomic_exchange(&p->refused, false))
        cap_log(&p->s.recording, VP_SAY_WARNING,
                "Profiler already active, ignoring capture_async()");
}

static void profiler_end_capture(vp_profiler *p, bool early)
{
    vp_recording *r = p->recording;
    uint64_t done = p->state.done;
    p->recording = NULL;
    cap_log(&p->s.recording, VP_SAY_INFO, "Stopping profiler after %llu steps",
            (unsigned long long)done);
    pthread_mutex_lock(&p->lock);
    sched_ended(&p->state);
    pthread_mutex_unlock(&p->lock);
    prof_stop(p, r, early);
    if (prof_write_flops(p) < 0)
        prof_say_no_flops(&p->s.recording);
}

static void start_capture(vp_profiler *p, sched_cause cause, uint64_t step, uint64_t asked)
{
    uint64_t steps = cause == SCHED_ASKED ? asked : p->s.num_steps;
    cap_log(&p->s.recording, VP_SAY_INFO, "Profiler enabled for next %llu steps",
            (unsigned long long)steps);
    int rc = prof_start(p, &p->recording, p->dir);
    pthread_mutex_lock(&p->lock);
    sched_started(&p->state, &p->s, cause, step, asked, rc >= 0);
    if (rc >= 0) {
        flop_stats_reset(&p->flops);
        atomic_store(&p->flops_due, getpid());
    }
    pthread_mutex_unlock(&p->lock);
    if (rc >= 0)
        p->recording_ns = vp_now_ns();
    else if (rc == VP_EBUSY)
        prof_say_in_use(p, step);
    else if (prof_may_say(p, MISS_STEP_FAILED))
        prof_say_failed(p, "Profiler could not start");
}

int vp_begin_step(vp_profiler *p, uint64_t step)
{
    if (!p)
        return vp_fail(VP_EARG, "no profiler");
    atomic_store(&p->stepped, true);
    uint64_t asked = p->recording ? 0 : atomic_exchange(&p->asked, 0);
    say_refused(p);
    pthread_mutex_lock(&p->lock);
    sched_cause cause = sched_start(&p->s, &p->state, step, asked);
    bool limited = !asked && sched_start_is_limited(&p->s, &p->state, step);
    pthread_mutex_unlock(&p->lock);
    if (limited)
        prof_say_limit(p, step);
    if (cause != SCHED_NOTHING)
        start_capture(p, cause, step, asked);
    prof_keep_ring(p);
    cap_tell_control_step(true, step);
    p->in_step = true;
    p->step = step;
    p->step_thread = pthread_self();
    p->own_ns = own_time_ns();
    p->step_ns = vp_now_ns();
    atomic_store(&p->step_seen_ns, p->step_ns);
    cap_begin(&p->zone, p->step_name, true, step);
    return 0;
}

/* Duration of the step in ns, without captures that started or ended in it. */
static uint64_t step_time_alone(const vp_profiler *p, int64_t now)
{
    int64_t ns = now - p->step_ns;
    if (pthread_equal(p->step_thread, pthread_self()))
        ns -= own_time_ns() - p->own_ns;
    return ns > 0 ? (uint64_t)ns : 0;
}

static step_pace count_step(vp_profiler *p, uint64_t ns, uint64_t tokens, int64_t now)
{
    pthread_mutex_lock(&p->lock);
    step_pace pace = step_stats_pace(&p->steps, ns, p->s.slow_step_ratio, now);
    step_stats_add(&p->steps, ns);
    p->tokens += tokens;
    p->last_ns = ns;
    pthread_mutex_unlock(&p->lock);
    return pace;
}

/* After the minute is over, logs the number of slow steps that were not written. now: the time;
 * INT64_MAX at the end. */
static void say_passed(vp_profiler *p, int64_t now)
{
    pthread_mutex_lock(&p->lock);
    uint64_t n = step_stats_passed(&p->steps, now);
    pthread_mutex_unlock(&p->lock);
    if (n)
        cap_log(&p->s.recording, VP_SAY_INFO, "%llu other slow step%s not written",
                (unsigned long long)n, n == 1 ? " was" : "s were");
}

/* For example "took 60.000 ms, 50.0 times the usual". */
typedef struct slow_words {
    char text[96];
} slow_words;

static slow_words say_slow(uint64_t ns, uint64_t usual)
{
    slow_words w;
    snprintf(w.text, sizeof w.text, "took %.*f ms, %.1f times the usual", ns < 1000000 ? 6 : 3,
             (double)ns / 1e6, (double)ns / (double)(usual ? usual : 1));
    return w;
}

static bool write_slow(vp_profiler *p, uint64_t ns, uint64_t usual, int64_t now)
{
    const char *why_not = prof_has_no_past(p);
    if (why_not && !p->recording) /* an active capture already contains the step */
        prof_say_missed(p, MISS_PAST, p->step, "it %s, but %s", say_slow(ns, usual).text, why_not);
    if (why_not)
        return false;
    cap_log(&p->s.recording, VP_SAY_WARNING, "Step %llu %s", (unsigned long long)p->step,
            say_slow(ns, usual).text);
    uint64_t past_ns = (uint64_t)(now - p->step_ns) + STEPS_BEFORE_A_SLOW_ONE * usual;
    return prof_write_past(p, (double)past_ns / 1e9);
}

/* A slow step whose past cannot be written does not count as written, so the next one may be. */
static void tell_slow(vp_profiler *p, step_pace pace, uint64_t ns, int64_t now)
{
    say_passed(p, now);
    pthread_mutex_lock(&p->lock);
    uint64_t usual = step_stats_recent_median_ns(&p->steps);
    pthread_mutex_unlock(&p->lock);
    bool written = pace == STEP_SLOWEST && write_slow(p, ns, usual, now);
    if (pace == STEP_SLOW)
        prof_say_missed(p, MISS_SLOW, p->step, "it %s, but within a minute of a longer one",
                        say_slow(ns, usual).text);
    pthread_mutex_lock(&p->lock);
    if (written)
        step_stats_tell_slow(&p->steps, ns, now);
    else
        step_stats_pass_slow(&p->steps);
    pthread_mutex_unlock(&p->lock);
}

int vp_end_step(vp_profiler *p, uint64_t tokens)
{
    if (!p || !p->in_step)
        return vp_fail(VP_EARG, "vp_end_step without vp_begin_step");
    int64_t now = vp_now_ns();
    uint64_t ns = step_time_alone(p, now);
    cap_end(&p->zone);
    cap_tell_control_step(false, p->step);
    atomic_store(&p->step_seen_ns, now);
    p->in_step = false;
    step_pace pace = count_step(p, ns, tokens, now);
    say_refused(p);
    if (pace != STEP_USUAL)
        tell_slow(p, pace, ns, now);
    if (!p->recording)
        return 0;
    pthread_mutex_lock(&p->lock);
    flop_stats_add(&p->flops, tokens, ns);
    uint64_t ran_ms = (uint64_t)(now - p->recording_ns) / 1000000;
    bool ends = sched_step_ends(&p->state, &p->s, ran_ms);
    pthread_mutex_unlock(&p->lock);
    if (ends || cap_has_ended(p->recording))
        profiler_end_capture(p, false);
    return 0;
}

/* ---- State ---- */

bool vp_is_profiling(const vp_profiler *p)
{
    return p && atomic_load(&p->on) > 0;
}

int vp_profiler_stats(vp_step_stats *out, const vp_profiler *const_p)
{
    vp_profiler *p = (vp_profiler *)const_p; /* for its lock */
    if (!p || !out)
        return vp_fail(VP_EARG, "no profiler, or no pointer for its statistics");
    VP_TRY(vp_check_version(out->version, 1, "vp_step_stats", "VP_STEP_STATS_INIT"));
    pthread_mutex_lock(&p->lock);
    *out = (vp_step_stats){.version = 1,
                           .steps = p->steps.count,
                           .captures = p->state.captures + p->pasts,
                           .avg_step_time = p->steps.mean,
                           .stddev = step_stats_stddev(&p->steps),
                           .median = step_stats_median(&p->steps),
                           .last = (double)p->last_ns / 1e9,
                           .tokens = p->tokens};
    pthread_mutex_unlock(&p->lock);
    return 0;
}

int vp_profiler_last(vp_result *out, vp_profiler *p)
{
    if (!p || !out)
        return vp_fail(VP_EARG, "no profiler, or no pointer for the result");
    VP_TRY(cap_check_result(out));
    prof_settle(p);
    pthread_mutex_lock(&p->lock);
    bool has = p->last_number > 0;
    if (has)
        *out = p->last;
    pthread_mutex_unlock(&p->lock);
    return has ? 0 : vp_fail(VP_EEMPTY, "nothing has been captured yet");
}

_Atomic(prof_gone_fn *) prof_gone;

void vp_profiler_free(vp_profiler *p)
{
    if (!p)
        return;
    if (p->recording) {
        if (!atomic_exchange(&p->exit_said, true))
            prof_say_still_on(&p->s.recording);
        profiler_end_capture(p, true);
    }
    say_passed(p, INT64_MAX);
    prof_settle(p);
    prof_gone_fn *gone = atomic_load(&prof_gone);
    if (gone)
        gone(p);
    prof_end_ring(p);
    prof_list_take(p);
    flop_stats_free(&p->flops);
    pthread_mutex_destroy(&p->lock);
    vp_free(p->host);
    vp_free(p);
}
