#include "trace/base/err.h"
#include "trace/capture/profiler.h"

static void say_failed(const vp_profiler *p, const char *what)
{
    char why[512];
    cap_log(&p->s.recording, VP_SAY_ERROR, "%s: %s", what,
            vp_error_line(vp_error_last(), why, sizeof why));
}

static vp_recording *take(vp_profiler *p, vp_recording **from)
{
    pthread_mutex_lock(&p->lock);
    vp_recording *r = *from;
    *from = NULL;
    pthread_mutex_unlock(&p->lock);
    return r;
}

/* What became of a capture that was counted when it stopped; the recorder has said it. */
static void settle(vp_profiler *p, int rc, const vp_result *result)
{
    pthread_mutex_lock(&p->lock);
    if (rc >= 0) {
        p->last = *result;
        p->has_last = true;
    } else
        p->state.captures--;
    pthread_mutex_unlock(&p->lock);
}

void prof_settle(vp_profiler *p)
{
    vp_result result = VP_RESULT_INIT;
    vp_recording *r = take(p, &p->writing);
    if (r) {
        int rc = vp_wait(r, &result);
        settle(p, rc, &result);
    }
}

void prof_end_ring(vp_profiler *p)
{
    vp_recording *r = take(p, &p->ring);
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

int prof_start(vp_profiler *p, vp_recording **out, const char *dir)
{
    vp_config cfg = config_of(p, dir);
    say_directory(p);
    prof_settle(p);
    prof_end_ring(p);
    VP_TRY(vp_start(out, &cfg));
    atomic_fetch_add(&p->on, 1);
    return 0;
}

int prof_stop(vp_profiler *p, vp_recording *r, bool early)
{
    vp_result result = VP_RESULT_INIT;
    /* One that its time limit has ended is being written: waiting for that can wait, too. */
    int rc = !vp_recording_active(r) ? 0
             : early                 ? cap_stop_early(r, &result, true)
                                     : vp_stop(r, &result);
    bool written = rc < 0 || result.export_ns > 0;
    atomic_fetch_sub(&p->on, 1);
    pthread_mutex_lock(&p->lock);
    p->state.captures++;
    p->writing = written ? NULL : r;
    pthread_mutex_unlock(&p->lock);
    if (written)
        settle(p, rc, &result);
    else if (p->s.recording.export_now)
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
        say_failed(p, "Slow steps are not watched for");
    }
}

void prof_write_past(vp_profiler *p, double seconds)
{
    vp_result result = VP_RESULT_INIT;
    pthread_mutex_lock(&p->lock);
    vp_recording *ring = p->ring;
    bool may = ring && p->state.captures < p->s.max_profile_count;
    pthread_mutex_unlock(&p->lock);
    if (!may)
        return;
    say_directory(p);
    if (vp_capture_past(ring, seconds, &result) < 0) {
        say_failed(p, "The slow step could not be written");
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->state.captures++;
    p->last = result;
    p->has_last = true;
    pthread_mutex_unlock(&p->lock);
}
