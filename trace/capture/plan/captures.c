/* Begin, end and results of a profiler's captures. */
#include <string.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/capture/plan/control_failure.h"
#include "trace/capture/plan/profiler.h"

void prof_say_failed(const vp_profiler *p, const char *what)
{
    char why[960];
    cap_log(&p->s.recording, VP_SAY_ERROR, "%s: %s", what,
            vp_error_line(vp_error_last(), why, sizeof why));
}

static vp_recording *take_recording(vp_profiler *p, vp_recording **from)
{
    pthread_mutex_lock(&p->lock);
    vp_recording *r = *from;
    *from = NULL;
    pthread_mutex_unlock(&p->lock);
    return r;
}

/* Stores the result of a counted capture. The recorder has already reported it. The caller holds
 * the lock. */
static void settle_written_capture(vp_profiler *p, const prof_written *w, int rc,
                                   const vp_result *result)
{
    if (rc < 0) {
        --*(w->is_past ? &p->pasts : &p->state.captures);
        if (!w->is_told)
            control_failed(p, "the capture was not written");
    } else if (w->number > p->last_number) {
        p->last = *result;
        p->last_number = w->number;
    }
}

/* Removes the oldest capture from the list, after waiting until it is written; only_if_written:
 * does nothing instead of waiting. Until it is removed it is visible to prof_tell, and its result
 * replaces it under the same lock, so counts never decrease. false: there was none. */
static bool settle_oldest(vp_profiler *p, bool only_if_written)
{
    vp_result result = VP_RESULT_INIT;
    pthread_mutex_lock(&p->lock);
    vp_recording *oldest = p->writing_count ? p->writing[0].recording : NULL;
    pthread_mutex_unlock(&p->lock);
    if (oldest && !only_if_written)
        cap_await(oldest);
    pthread_mutex_lock(&p->lock);
    bool any = oldest && p->writing_count && p->writing[0].recording == oldest;
    if (any && (!only_if_written || cap_is_written(oldest))) {
        prof_written w = p->writing[0];
        p->writing_count--;
        memmove(p->writing, p->writing + 1, p->writing_count * sizeof w);
        settle_written_capture(p, &w, vp_wait(w.recording, &result), &result);
    } else if (any) {
        oldest = NULL;
    }
    pthread_mutex_unlock(&p->lock);
    return oldest != NULL;
}

void prof_settle(vp_profiler *p)
{
    while (settle_oldest(p, false))
        continue;
}

/* Settles all written captures and, if too many are unwritten, the oldest of these. */
static void settle_written_captures(vp_profiler *p)
{
    while (settle_oldest(p, true))
        continue;
    pthread_mutex_lock(&p->lock);
    bool full = p->writing_count == PROF_WRITING_MAX;
    pthread_mutex_unlock(&p->lock);
    if (full)
        settle_oldest(p, false);
}

/* Counts a capture as ended, and no longer as active: a caller that sees the count may request the
 * next. The caller holds the lock. */
static void count_ended_capture(vp_profiler *p, prof_written *w)
{
    if (!w->is_past)
        atomic_fetch_sub(&p->on, 1);
    w->number = ++p->ended;
    ++*(w->is_past ? &p->pasts : &p->state.captures);
}

static bool enlist_capture(vp_profiler *p, prof_written *w)
{
    pthread_mutex_lock(&p->lock);
    bool room = p->writing_count < PROF_WRITING_MAX;
    if (room) {
        count_ended_capture(p, w);
        p->writing[p->writing_count++] = *w;
    }
    pthread_mutex_unlock(&p->lock);
    return room;
}

/* Counts a capture that is being written. */
static void note_ended(vp_profiler *p, prof_written *w)
{
    while (!enlist_capture(p, w))
        settle_oldest(p, false);
}

static void note_written(vp_profiler *p, prof_written *w, int rc, const vp_result *result)
{
    pthread_mutex_lock(&p->lock);
    count_ended_capture(p, w);
    settle_written_capture(p, w, rc, result);
    pthread_mutex_unlock(&p->lock);
}

void prof_end_ring(vp_profiler *p)
{
    vp_recording *r = take_recording(p, &p->ring);
    if (r)
        cap_discard(r);
}

static void say_directory(vp_profiler *p)
{
    if (!atomic_exchange(&p->dir_said, true))
        cap_log(&p->s.recording, VP_SAY_INFO, "Profiling directory: %s", p->dir);
}

static vp_config config_of(const vp_profiler *p, const char *dir)
{
    vp_config cfg = p->s.recording;
    cfg.dir = dir;
    cfg.duration_ms = sched_duration_ms(&p->s);
    if (p->s.profile_gpu_trace && cfg.gpu == VP_GPU_OFF)
        cfg.gpu = VP_GPU_AUTO;
    return cfg;
}

/* p->outside: OUTSIDE is a request without a GPU mode; from OUTSIDE_GPU on it includes one. */
enum { OUTSIDE = 1, OUTSIDE_GPU };

static int start_for_outside(const vp_profiler *p, vp_recording **out, vp_config *cfg,
                             unsigned outside)
{
    if (outside >= OUTSIDE_GPU)
        cfg->gpu = (vp_gpu)(outside - OUTSIDE_GPU);
    int rc = vp_start(out, cfg);
    if (outside < OUTSIDE_GPU || !cap_lacks_gpu(rc, cfg))
        return rc;
    control_failed(p, "without the GPU");
    cap_log(cfg, VP_SAY_WARNING, "Without the GPU: %s", vp_error_last()->message);
    cfg->gpu = VP_GPU_OFF;
    return vp_start(out, cfg);
}

int prof_start(vp_profiler *p, vp_recording **out, const char *dir)
{
    vp_config cfg = config_of(p, dir);
    /* Requests from outside are captures of steps, never of a context. */
    unsigned outside = out == &p->recording ? atomic_exchange(&p->outside, 0) : 0;
    say_directory(p);
    settle_written_captures(p);
    prof_end_ring(p);
    int rc = start_for_outside(p, out, &cfg, outside);
    if (rc < 0 && (outside || rc != VP_EBUSY))
        control_failed(p, "the capture cannot start");
    VP_TRY(rc);
    atomic_store(&p->on_pid, getpid());
    atomic_fetch_add(&p->on, 1);
    prof_tell_exits();
    return 0;
}

int prof_stop(vp_profiler *p, vp_recording *r, bool early)
{
    vp_result result = VP_RESULT_INIT;
    /* A recording ended by its time limit is being written; there is no need to wait for it now. */
    int rc = cap_has_ended(r) ? 0 : early ? cap_stop_early(r, &result, true) : vp_stop(r, &result);
    bool written = rc < 0 || result.export_ns > 0;
    prof_written w = {.recording = r};
    if (written)
        note_written(p, &w, rc, &result);
    else
        note_ended(p, &w);
    if (!written && p->s.recording.export_now)
        prof_settle(p);
    return rc;
}

static bool has_ring(vp_profiler *p)
{
    pthread_mutex_lock(&p->lock);
    bool has = p->ring != NULL;
    pthread_mutex_unlock(&p->lock);
    return has;
}

void prof_keep_ring(vp_profiler *p)
{
    vp_recording *r;
    if (p->s.slow_step_ratio <= 1 || p->recording || p->ring_failed || has_ring(p))
        return;
    vp_config cfg = config_of(p, p->dir);
    cfg.mode = VP_RING;
    cfg.duration_ms = 0;
    int rc = cap_start_standby(&r, &cfg);
    if (rc >= 0) {
        pthread_mutex_lock(&p->lock);
        p->ring = r;
        pthread_mutex_unlock(&p->lock);
    } else if (rc != VP_EBUSY) {
        p->ring_failed = true;
        prof_say_failed(p, "Slow steps are not captured");
    }
}

const char *prof_has_no_past(vp_profiler *p)
{
    while (settle_oldest(p, true))
        continue;
    pthread_mutex_lock(&p->lock);
    const char *why = !p->ring                               ? "another recording was active"
                      : p->writing_count == PROF_WRITING_MAX ? "four captures are being written"
                                                             : NULL;
    pthread_mutex_unlock(&p->lock);
    return why;
}

/* Since the request, a capture on another thread may have taken the ring, or the last place. */
bool prof_write_past(vp_profiler *p, double seconds)
{
    prof_written w = {.is_past = true};
    pthread_mutex_lock(&p->lock);
    vp_recording *ring = p->ring;
    pthread_mutex_unlock(&p->lock);
    say_directory(p);
    if (cap_past_start(&w.recording, ring, seconds) < 0) {
        prof_say_failed(p, "The slow step could not be written");
        return false;
    }
    note_ended(p, &w);
    return true;
}

/* ---- Requests from outside ---- */

vp_config prof_config(const vp_profiler *p)
{
    vp_config cfg = config_of(p, p->dir);
    cfg.duration_ms = 0;
    cfg.export_now = false;
    cfg.device_sync = NULL; /* it would run on one of our threads */
    return cfg;
}

/* Takes no lock, formats no text, records no error: it may be called in a signal handler. */
int vp_capture_async(vp_profiler *p, uint64_t steps)
{
    if (!p)
        return VP_EARG;
    if (atomic_load(&p->on)) {
        atomic_store(&p->refused, true);
        return VP_EBUSY;
    }
    uint64_t want = steps ? steps : p->s.num_steps, had = atomic_load(&p->asked);
    while (had < want && !atomic_compare_exchange_weak(&p->asked, &had, want))
        ;
    return 0;
}

int prof_ask(vp_profiler *p, uint64_t steps, const vp_gpu *gpu)
{
    atomic_store(&p->outside, gpu ? OUTSIDE_GPU + (unsigned)*gpu : OUTSIDE);
    int rc = vp_capture_async(p, steps);
    if (rc < 0)
        atomic_store(&p->outside, 0);
    return rc;
}

bool prof_has_stepped(const vp_profiler *p)
{
    return atomic_load(&p->stepped);
}

bool prof_is_asked(const vp_profiler *p)
{
    return atomic_load(&p->asked) > 0;
}

bool prof_forget_asked(vp_profiler *p)
{
    bool was = atomic_exchange(&p->asked, 0) > 0;
    if (was)
        atomic_store(&p->outside, 0);
    return was;
}

/* Adds one of the captures that are being written. The caller holds the lock. */
static void tell_listed(prof_told *out, const vp_profiler *p, prof_written *w)
{
    vp_result result = VP_RESULT_INIT;
    int rc = cap_peek(w->recording, &result);
    if (rc < 0)
        out->captures--;
    if (rc == VP_EBUSY) {
        out->writing = true;
    } else if (rc < 0 && !w->is_told) {
        control_failed(p, "the capture was not written");
        w->is_told = true;
    } else if (rc == 0 && w->number > out->number) {
        out->number = w->number;
        out->last = result;
    }
}

void prof_tell(prof_told *out, vp_profiler *p)
{
    *out = (prof_told){.armed = prof_is_asked(p)};
    pthread_mutex_lock(&p->lock);
    out->writing = atomic_load(&p->on);
    out->steps = p->steps.count;
    out->captures = p->state.captures + p->pasts;
    out->number = p->last_number;
    if (out->number)
        out->last = p->last;
    for (uint32_t i = 0; i < p->writing_count; i++)
        tell_listed(out, p, &p->writing[i]);
    pthread_mutex_unlock(&p->lock);
}
