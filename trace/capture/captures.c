#include <string.h>
#include <unistd.h>

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

/* What became of a capture that was counted when it ended; the recorder has said it. */
static void settle(vp_profiler *p, const prof_written *w, int rc, const vp_result *result)
{
    pthread_mutex_lock(&p->lock);
    if (rc < 0)
        --*(w->is_past ? &p->pasts : &p->state.captures);
    else if (w->number > p->last_number) {
        p->last = *result;
        p->last_number = w->number;
    }
    pthread_mutex_unlock(&p->lock);
}

static bool take_oldest(vp_profiler *p, prof_written *w, bool only_if_written)
{
    pthread_mutex_lock(&p->lock);
    bool any = p->writing_count && (!only_if_written || cap_is_written(p->writing[0].recording));
    if (any) {
        *w = p->writing[0];
        p->writing_count--;
        memmove(p->writing, p->writing + 1, p->writing_count * sizeof *w);
    }
    pthread_mutex_unlock(&p->lock);
    return any;
}

/* false: there was none to be settled. */
static bool settle_oldest(vp_profiler *p, bool only_if_written)
{
    vp_result result = VP_RESULT_INIT;
    prof_written w;
    if (!take_oldest(p, &w, only_if_written))
        return false;
    int rc = vp_wait(w.recording, &result);
    settle(p, &w, rc, &result);
    return true;
}

void prof_settle(vp_profiler *p)
{
    while (settle_oldest(p, false))
        continue;
}

/* Those that are written; and, where there are too many that are not, one of these. */
static void make_room(vp_profiler *p)
{
    while (settle_oldest(p, true))
        continue;
    pthread_mutex_lock(&p->lock);
    bool full = p->writing_count == PROF_WRITING_MAX;
    pthread_mutex_unlock(&p->lock);
    if (full)
        settle_oldest(p, false);
}

/* Counts it. false: it is not on the list, for which there is no room. */
static bool note_ended(vp_profiler *p, prof_written *w, bool is_written)
{
    pthread_mutex_lock(&p->lock);
    bool room = is_written || p->writing_count < PROF_WRITING_MAX;
    w->number = ++p->ended;
    ++*(w->is_past ? &p->pasts : &p->state.captures);
    if (!is_written && room)
        p->writing[p->writing_count++] = *w;
    pthread_mutex_unlock(&p->lock);
    return room;
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
    make_room(p);
    prof_end_ring(p);
    VP_TRY(vp_start(out, &cfg));
    atomic_store(&p->on_pid, getpid());
    atomic_fetch_add(&p->on, 1);
    prof_tell_exits();
    return 0;
}

int prof_stop(vp_profiler *p, vp_recording *r, bool early)
{
    vp_result result = VP_RESULT_INIT;
    /* One that its time limit has ended is being written: waiting for that can wait, too. */
    int rc = cap_has_ended(r) ? 0 : early ? cap_stop_early(r, &result, true) : vp_stop(r, &result);
    bool written = rc < 0 || result.export_ns > 0;
    prof_written w = {.recording = r};
    atomic_fetch_sub(&p->on, 1);
    bool listed = note_ended(p, &w, written);
    if (!written && !listed)
        rc = vp_wait(r, &result);
    if (written || !listed)
        settle(p, &w, rc, &result);
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

bool prof_may_write_past(vp_profiler *p)
{
    while (settle_oldest(p, true))
        continue;
    pthread_mutex_lock(&p->lock);
    bool may = p->ring && p->writing_count < PROF_WRITING_MAX;
    pthread_mutex_unlock(&p->lock);
    return may;
}

/* Another thread's capture may have taken the ring, or the place, since it was asked for. */
bool prof_write_past(vp_profiler *p, double seconds)
{
    prof_written w = {.is_past = true};
    pthread_mutex_lock(&p->lock);
    vp_recording *ring = p->ring;
    pthread_mutex_unlock(&p->lock);
    say_directory(p);
    if (cap_past_start(&w.recording, ring, seconds) < 0) {
        say_failed(p, "The slow step could not be written");
        return false;
    }
    if (!note_ended(p, &w, false)) {
        vp_result result = VP_RESULT_INIT;
        int rc = vp_wait(w.recording, &result);
        settle(p, &w, rc, &result);
    }
    return true;
}
