#include "trace/capture/control/control.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/base/time.h"
#include "trace/capture/control/control_request.h"
#include "trace/capture/control/control_wake.h"
#include "trace/capture/plan/control_failure.h"
#include "trace/capture/plan/profiler.h"
#include "trace/capture/plan/schedule.h"

/* Steps of a CAPTURE without numbers. */
#define DEFAULT_STEPS 5
#define DEFAULT_MS 3000

/* The lock guards all members that are not atomic. It is held while a recording starts, never while
 * one is written. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t written;
    environment env;
    vp_profiler *profiler; /* captures steps; NULL: control counts steps itself */
    uint64_t seen;         /* number of its last known capture */
    _Atomic bool waiting;  /* a capture waits for its first or last step */
    _Atomic uint64_t steps, last_step;
    bool armed; /* a capture will begin with the first step from `first` on … */
    uint64_t first, count;
    _Atomic uint64_t next; /* step at which the environment's next capture begins; 0: never */
    uint64_t rounds;       /* captures of the environment that have begun or are armed */
    vp_gpu gpu;
    vp_recording *recording; /* … and ends after `left` steps, or at `deadline_ms` */
    uint64_t left;           /* 0: not limited by steps */
    int64_t deadline_ms;     /* 0: not limited by time */
    /* Time at which a capture that waits for a first step gives up; 0: it keeps waiting, because
     * there are steps. */
    int64_t patience_ms;
    unsigned writing;  /* captures that are being written */
    uint64_t captures; /* captures with complete files */
    char last_run[VP_PATH_MAX];
} g = {.lock = PTHREAD_MUTEX_INITIALIZER, .written = PTHREAD_COND_INITIALIZER};

/* ---- Failures ---- */

/* Failures of captures requested by the environment go to stderr, because there is no caller. A
 * client of the socket can request the status. */
static void say_control_failure(int level, const char *what)
{
    char text[CONTROL_FAILURE_MAX], line[VP_PATH_MAX + sizeof text];
    snprintf(text, sizeof text, "%s: %s", what, vp_error_last()->message);
    control_keep_failure(text, vp_error_last()->path);
    if (g.env.on)
        vp_log(level, "%s: %s", what, vp_error_line(vp_error_last(), line, sizeof line));
}

static void control_say(void *ctx, int level, const char *message)
{
    (void)ctx;
    if (level < VP_SAY_WARNING)
        return;
    control_keep_failure(message, "");
    if (g.env.on)
        vp_log(level == VP_SAY_ERROR ? VP_LOG_ERROR : VP_LOG_WARN, "%s", message);
}

/* ---- Recording ---- */

/* Settings of captures: from the environment, else from the program's own captures. */
static vp_config control_config(void)
{
    vp_config cfg = VP_CONFIG_INIT;
    if (g.profiler && !g.env.on) {
        cfg = prof_config(g.profiler);
    } else {
        cfg.dir = g.env.dir;
        cfg.gpu = g.env.gpu;
    }
    cfg.log = control_say;
    cfg.follow_fork = g.env.follows;
    if (g.env.ring_bytes) {
        cfg.mode = VP_RING;
        cfg.pool_bytes = (size_t)g.env.ring_bytes;
    }
    return cfg;
}

/* ---- Captures: the caller holds the lock ---- */

static int begin_capture(void)
{
    vp_config cfg = control_config();
    cfg.gpu = g.gpu;
    g.armed = false;
    int rc = cap_start(&g.recording, &cfg);
    if (cap_lacks_gpu(rc, &cfg)) {
        /* the program's own zones are useful without the GPU, too */
        say_control_failure(VP_LOG_WARN, "without the GPU");
        cfg.gpu = VP_GPU_OFF;
        rc = cap_start(&g.recording, &cfg);
    }
    if (rc < 0) {
        g.recording = NULL;
        atomic_store(&g.waiting, false);
        say_control_failure(VP_LOG_ERROR, "the capture cannot start");
    }
    return rc;
}

static void set_last_run(const vp_result *r)
{
    char path[VP_PATH_MAX];
    snprintf(g.last_run, sizeof g.last_run, "%s", realpath(r->run_dir, path) ? path : r->run_dir);
}

/* Results of the profiler since the last call. Also called before each capture that is written
 * here, so that the last of all captures is known. */
static prof_told ask_profiler(void)
{
    prof_told told = {.captures = 0};
    if (g.profiler)
        prof_tell(&told, g.profiler);
    if (told.number > g.seen) {
        g.seen = told.number;
        set_last_run(&told.last);
    }
    return told;
}

static void note_result(const vp_result *r)
{
    (void)ask_profiler();
    g.captures++;
    set_last_run(r);
}

typedef struct stopped {
    vp_recording *recording;
    vp_result result;
} stopped;

/* Waits for the files of a capture. One that ended by itself was written when it was stopped, and
 * its handle is gone. */
static void *finish_thread(void *arg)
{
    stopped *s = arg;
    vp_result result = VP_RESULT_INIT;
    int rc = vp_wait(s->recording, &result);
    if (rc == VP_EINACTIVE) {
        result = s->result;
        rc = 0;
    }
    vp_free(s);
    if (rc < 0)
        say_control_failure(VP_LOG_ERROR, "the capture was not written");
    pthread_mutex_lock(&g.lock);
    if (rc >= 0)
        note_result(&result);
    g.writing--;
    pthread_cond_broadcast(&g.written);
    pthread_mutex_unlock(&g.lock);
    return NULL;
}

/* early: before the last of its steps. Another thread waits for its files, because neither the
 * program's step nor the socket must be blocked. */
static void control_end_capture(bool early)
{
    pthread_t thread;
    vp_recording *r = g.recording;
    g.recording = NULL;
    g.left = 0;
    g.deadline_ms = 0;
    atomic_store(&g.waiting, false);
    stopped *s = vp_calloc(1, sizeof *s);
    if (s)
        *s = (stopped){.recording = r, .result = VP_RESULT_INIT};
    vp_result *result = s ? &s->result : NULL;
    int rc = early ? cap_stop_early(r, result, false) : vp_stop(r, result);
    if (rc < 0 || !s) {
        if (!s)
            vp_no_memory();
        say_control_failure(VP_LOG_ERROR, "the capture was not written");
        vp_free(s);
        return;
    }
    g.writing++;
    if (vp_thread_start(&thread, finish_thread, s) == 0) {
        pthread_detach(thread);
        return;
    }
    pthread_mutex_unlock(&g.lock);
    finish_thread(s);
    pthread_mutex_lock(&g.lock);
}

static void arm_capture(uint64_t first, uint64_t count, vp_gpu gpu)
{
    g.armed = true;
    g.patience_ms = 0;
    g.first = first;
    g.count = count;
    g.gpu = gpu;
    atomic_store(&g.waiting, true);
}

static int capture_for(int64_t ms, vp_gpu gpu)
{
    g.gpu = gpu;
    VP_TRY(begin_capture());
    g.deadline_ms = vp_now_ms() + ms;
    control_wake(false);
    return 0;
}

/* A program without steps so far may never have any, or may mark them in a way that does not match
 * the capture. After a timeout a period of time is captured instead. */
static void wait_a_while(uint64_t steps, vp_gpu gpu)
{
    g.count = steps;
    g.gpu = gpu;
    g.patience_ms = vp_now_ms() + DEFAULT_MS;
    atomic_store(&g.waiting, true);
    control_wake(false);
}

static bool lose_patience(void)
{
    bool waited = g.armed || (g.profiler && prof_forget_asked(g.profiler));
    g.armed = false;
    g.patience_ms = 0;
    atomic_store(&g.waiting, false);
    return waited;
}

/* ---- Steps ---------------------------------------------------------------------------------- */

/* The first step decides who captures. A profiler would have started the waiting capture by now; if
 * it has not, control counts the steps itself. */
static void first_step(void)
{
    uint64_t count = g.count;
    bool by_profiler = !g.armed;
    g.patience_ms = 0;
    if (by_profiler && g.profiler && prof_forget_asked(g.profiler))
        arm_capture(0, count, g.gpu);
    else if (by_profiler)
        atomic_store(&g.waiting, false);
}

static void plan_next_step(uint64_t number)
{
    const environment *e = &g.env;
    bool again = e->step_every && g.rounds < e->step_times;
    atomic_store(&g.next, again ? sched_next(e->first_step, e->step_every, number) : 0);
}

static void step_begins(uint64_t number)
{
    if (g.patience_ms)
        first_step();
    uint64_t next = atomic_load(&g.next);
    if (next && number >= next) {
        bool idle = !g.armed && !g.recording;
        if (idle)
            arm_capture(number, g.env.step_count, g.env.gpu);
        g.rounds += idle;
        plan_next_step(number);
    }
    if (!g.armed || number < g.first || g.recording)
        return;
    g.left = g.count;
    if (begin_capture() < 0)
        g.left = 0;
}

void control_step(bool begin, uint64_t number)
{
    if (begin) {
        atomic_fetch_add_explicit(&g.steps, 1, memory_order_relaxed);
        atomic_store_explicit(&g.last_step, number, memory_order_relaxed);
    }
    uint64_t next = atomic_load_explicit(&g.next, memory_order_relaxed);
    if (!atomic_load_explicit(&g.waiting, memory_order_acquire) &&
        !(begin && next && number >= next))
        return;
    pthread_mutex_lock(&g.lock);
    if (begin)
        step_begins(number);
    else if (g.recording && g.left && (!--g.left || cap_has_ended(g.recording)))
        control_end_capture(g.left > 0);
    pthread_mutex_unlock(&g.lock);
}

/* ---- Commands ------------------------------------------------------------------------------- */

/* Fails if the next capture could not start because another one is active or waiting. A standby
 * ring does not prevent a profiler's capture: the profiler ends the ring that it keeps for slow
 * steps. */
static int refuse_if_busy(bool of_profiler)
{
    if (g.armed || g.recording || (g.profiler && prof_is_asked(g.profiler)))
        return vp_fail(VP_EBUSY, "a capture has already been requested");
    cap_kind on = cap_active_kind();
    if (on == CAP_KIND_RECORDING || (on == CAP_KIND_STANDBY && !of_profiler))
        return vp_fail(VP_EBUSY, "Profiler already active");
    return 0;
}

static int control_capture(const control_request *r)
{
    uint64_t steps = r->steps;
    bool has_steps = atomic_load(&g.steps);
    bool by_profiler = g.profiler && (!has_steps || prof_has_stepped(g.profiler));
    if (r->steps && r->ms)
        return vp_fail(VP_EARG, "steps and ms are mutually exclusive");
    if (!steps && !r->ms && has_steps)
        steps = DEFAULT_STEPS;
    VP_TRY(refuse_if_busy(steps && by_profiler));
    control_keep_failure("", "");
    vp_gpu gpu = r->has_gpu ? r->gpu : control_config().gpu;
    if (steps && by_profiler) {
        int rc = prof_ask(g.profiler, steps, r->has_gpu ? &r->gpu : NULL);
        if (rc >= 0 && !has_steps)
            wait_a_while(steps, gpu);
        return rc < 0 ? vp_fail(rc, "Profiler already active") : 0;
    }
    if (!steps)
        return capture_for(r->ms ? (int64_t)r->ms : DEFAULT_MS, gpu);
    arm_capture(0, steps, gpu);
    if (!has_steps)
        wait_a_while(steps, gpu);
    return 0;
}

/* Called without the lock, because writing may take a while. */
static int control_capture_past(double seconds)
{
    vp_result result = VP_RESULT_INIT;
    VP_TRY(cap_active_past(seconds, &result));
    pthread_mutex_lock(&g.lock);
    note_result(&result);
    pthread_mutex_unlock(&g.lock);
    return 0;
}

static int control_stop(void)
{
    vp_result result = VP_RESULT_INIT;
    int rc = 0;
    pthread_mutex_lock(&g.lock);
    bool ours = g.recording;
    bool was_armed = (g.profiler && prof_forget_asked(g.profiler)) || g.armed;
    g.armed = false;
    g.patience_ms = 0;
    atomic_store(&g.next, 0);
    atomic_store(&g.waiting, false);
    if (ours)
        control_end_capture(true);
    pthread_mutex_unlock(&g.lock);
    if (!ours && !was_armed)
        rc = cap_active_end(&result);
    return rc;
}

static int obey_request(vp_str line)
{
    control_request r;
    VP_TRY(control_read_request(&r, line));
    if (vp_str_eq(r.command, VP_STR("STATUS")))
        return 0;
    if (vp_str_eq(r.command, VP_STR("PAST")))
        return control_capture_past((double)r.past_ns / 1e9);
    if (vp_str_eq(r.command, VP_STR("STOP")))
        return control_stop();
    if (!vp_str_eq(r.command, VP_STR("CAPTURE")))
        return vp_fail(VP_EARG, "unknown command %.*s (commands: STATUS, CAPTURE, PAST, STOP)",
                       VP_STR_CUT(r.command, 60u));
    pthread_mutex_lock(&g.lock);
    int rc = control_capture(&r);
    pthread_mutex_unlock(&g.lock);
    return rc;
}

/* ---- Responses ---- */

/* The status word. After "idle" a client may capture at once. */
static const char *control_state_word(cap_kind kind, bool on, const prof_told *told)
{
    if (on)
        return "recording";
    if (g.armed || told->armed)
        return "armed";
    return g.writing || told->writing || kind == CAP_KIND_ENDING ? "writing" : "idle";
}

/* "steps" is the larger of the steps counted here and by the profiler. */
static void put_control_status(vp_json *j)
{
    vp_result now = VP_RESULT_INIT;
    vp_json_ki64(j, "pid", getpid());
    vp_json_kcstr(j, "program", program_invocation_short_name);
    pthread_mutex_lock(&g.lock);
    prof_told told = ask_profiler();
    cap_kind kind = cap_active_kind();
    bool on = kind == CAP_KIND_RECORDING && cap_active_status(&now) == 0;
    uint64_t steps = atomic_load(&g.steps);
    vp_json_kcstr(j, "state", control_state_word(kind, on, &told));
    vp_json_ki64(j, "steps", (int64_t)(told.steps > steps ? told.steps : steps));
    vp_json_ki64(j, "captures", (int64_t)(g.captures + told.captures));
    vp_json_kcstr(j, "last_run", g.last_run[0] ? g.last_run : NULL);
    control_put_failure(j);
    pthread_mutex_unlock(&g.lock);
    vp_json_kcstr(j, "run_dir", on ? now.run_dir : NULL);
    vp_json_ki64(j, "zones", (int64_t)now.zones);
    vp_json_ki64(j, "dropped", (int64_t)(now.dropped_full + now.dropped_signal));
}

void control_answer(vp_buf *out, vp_str line)
{
    vp_json j;
    (void)control_tick();
    int rc = obey_request(vp_str_trim(line));
    vp_json_init(&j, out);
    vp_json_begin_object(&j);
    vp_json_kcstr(&j, "schema", "view_profile.control/1");
    vp_json_kbool(&j, "ok", rc >= 0);
    if (rc < 0) {
        vp_json_kcstr(&j, "code", vp_status_name(rc));
        vp_json_kcstr(&j, "error", vp_error_last()->message);
    }
    put_control_status(&j);
    vp_json_end_object(&j);
    vp_buf_putc(out, '\n');
}

void control_signalled(void)
{
    if (control_capture_past(0) >= 0)
        return;
    pthread_mutex_lock(&g.lock);
    if (control_capture(&(control_request){.steps = 0}) < 0)
        say_control_failure(VP_LOG_WARN, "a signal requested a capture");
    pthread_mutex_unlock(&g.lock);
}

int control_tick(void)
{
    int wait = -1;
    pthread_mutex_lock(&g.lock);
    if (g.recording && !vp_recording_active(g.recording))
        control_end_capture(true);
    if (g.patience_ms) {
        int64_t left = g.patience_ms - vp_now_ms();
        wait = left > 0 ? (int)left : -1;
        if (left <= 0 && lose_patience())
            (void)capture_for(DEFAULT_MS, g.gpu);
    }
    if (g.recording && g.deadline_ms) {
        int64_t left = g.deadline_ms - vp_now_ms();
        if (left <= 0)
            control_end_capture(true);
        else
            wait = (int)left;
    }
    pthread_mutex_unlock(&g.lock);
    return wait;
}

static void set_profiler(vp_profiler *p)
{
    if (p != g.profiler)
        g.seen = 0;
    g.profiler = p;
    control_hear(p);
}

/* Captures of a freed profiler remain counted. */
static void drop_profiler(const vp_profiler *p)
{
    pthread_mutex_lock(&g.lock);
    if (g.profiler == p) {
        prof_told told = ask_profiler();
        g.captures += told.captures;
        set_profiler(NULL);
    }
    pthread_mutex_unlock(&g.lock);
}

void control_set_profiler(vp_profiler *p)
{
    atomic_store(&prof_gone, drop_profiler);
    pthread_mutex_lock(&g.lock);
    set_profiler(p);
    pthread_mutex_unlock(&g.lock);
}

/* ---- Begin and end ---- */

environment *control_environment(void)
{
    return &g.env;
}

void control_begin(void)
{
    pthread_mutex_lock(&g.lock);
    g.gpu = g.env.gpu;
    if (g.env.has_steps) {
        arm_capture(g.env.first_step, g.env.step_count, g.env.gpu);
        g.rounds = 1;
        plan_next_step(g.env.first_step);
    } else
        (void)begin_capture();
    pthread_mutex_unlock(&g.lock);
}

void control_end(void)
{
    pthread_mutex_lock(&g.lock);
    if (g.recording)
        control_end_capture(true);
    while (g.writing)
        pthread_cond_wait(&g.written, &g.lock);
    pthread_mutex_unlock(&g.lock);
}

void control_forget(void)
{
    pthread_mutex_init(&g.lock, NULL);
    control_forget_failure_lock();
    pthread_cond_init(&g.written, NULL);
    g.recording = NULL;
    g.armed = false;
    g.patience_ms = 0;
    g.writing = 0;
    atomic_store(&g.waiting, false);
}
