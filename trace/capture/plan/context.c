/* Contexts and scopes of a profiler, as called by applications. */
#include <stdio.h>

#include "trace/base/err.h"
#include "trace/base/str.h"
#include "trace/capture/disk/small_files.h"
#include "trace/capture/plan/profiler.h"
#include "trace/capture/threads/own_time.h"
#include "trace/capture/threads/step_marks.h"

bool vp_profile_due(const vp_profiler *const_p, uint64_t step)
{
    vp_profiler *p = (vp_profiler *)const_p; /* for its lock */
    if (!p)
        return false;
    pthread_mutex_lock(&p->lock);
    bool due = sched_due(&p->s, p->state.captures, step);
    pthread_mutex_unlock(&p->lock);
    return due;
}

/* The directory passed to the recording: without plugins/profile/<run>. */
static void recording_directory(char out[VP_PATH_MAX], const vp_recording *r)
{
    vp_str run = vp_str_of(vp_recording_dir(r));
    size_t n = run.n;
    for (int up = 0; up < 3; up++)
        n = vp_str_rfind_char((vp_str){run.p, n}, '/');
    snprintf(out, VP_PATH_MAX, "%.*s", (int)n, run.p);
}

/* NULL: no recording was started. If one is active, the context becomes a zone of it. */
static vp_recording *start_own_recording(vp_profiler *p, uint64_t step, const char *name)
{
    char dir[VP_PATH_MAX];
    vp_recording *r = NULL;
    int rc = cap_step_dir(dir, p->dir, name, step);
    if (rc >= 0)
        rc = prof_start(p, &r, dir);
    if (rc >= 0) {
        cap_log(&p->s.recording, VP_SAY_INFO, "Starting capture: %s", vp_path_name(dir));
    } else if (rc == VP_EBUSY) {
        prof_say_in_use(p, step);
    } else if (prof_may_say(p, MISS_CONTEXT_FAILED)) {
        char why[700];
        cap_log(&p->s.recording, VP_SAY_ERROR, "Capture %s could not start: %s", vp_path_name(dir),
                vp_error_line(vp_error_last(), why, sizeof why));
    }
    return rc < 0 ? NULL : r;
}

static void say_limit(vp_profiler *p, uint64_t step)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    bool limited = sched_is_limited(&p->s, p->state.captures, step);
    pthread_mutex_unlock(&p->lock);
    if (limited && !vp_is_profiling(p))
        prof_say_limit(p, step);
}

vp_context vp_context_begin(vp_profiler *p, uint64_t step, const char *name)
{
    vp_context c = {.profiler = p, .step = step};
    if (p)
        step_mark_begin(step);
    say_limit(p, step);
    if (vp_profile_due(p, step) && !vp_is_profiling(p)) {
        own_time_begin();
        c.recording = start_own_recording(p, step, name ? name : "profile");
        own_time_end();
    }
    if (!cap_generation())
        return c;
    cap_begun z;
    cap_begin(&z, vp_name(name ? name : "profile"), c.recording != NULL, step);
    c.start = z.start;
    c.name = z.name;
    c.generation = z.generation;
    c.place = z.place;
    return c;
}

static void stop_own(vp_profiler *p, vp_recording *r)
{
    char dir[VP_PATH_MAX];
    recording_directory(dir, r);
    if (prof_stop(p, r, false) >= 0)
        cap_log(&p->s.recording, VP_SAY_INFO, "Finished capture: %s", vp_path_name(dir));
}

void vp_context_end(vp_context *c)
{
    if (!c)
        return;
    cap_begun z = {.start = c->start,
                   .number = c->step,
                   .name = c->name,
                   .generation = c->generation,
                   .place = c->place,
                   .is_step = c->recording != NULL};
    cap_end(&z);
    vp_recording *r = c->recording;
    vp_profiler *p = c->profiler;
    int64_t begin_ns;
    uint64_t ns;
    c->generation = 0; /* a second end does nothing */
    c->recording = NULL;
    c->profiler = NULL;
    if (p && step_mark_end(c->step, &begin_ns, &ns))
        prof_count_marked(p, begin_ns, ns);
    if (!r)
        return;
    own_time_begin();
    stop_own(p, r);
    own_time_end();
}

void *vp_profile_call(vp_profiler *p, uint64_t step, const char *name, void *(*fn)(void *arg),
                      void *arg)
{
    vp_context c = vp_context_begin(p, step, name);
    void *out = fn(arg);
    vp_context_end(&c);
    return out;
}
