#include "trace/capture/control.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/base/time.h"
#include "trace/capture/recorder.h"

/* What a CAPTURE without numbers takes. */
#define DEFAULT_STEPS 5
#define DEFAULT_MS 3000
#define MS_MAX 3600000

/* The lock guards everything that is not atomic. It is held while a recording starts, never while
 * one is written. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t written;
    environment env;
    vp_profiler *profiler; /* NULL: steps are counted here */
    _Atomic bool waiting;  /* a capture waits for a step, or for its last one */
    _Atomic uint64_t steps, last_step;
    bool armed; /* starts with the first step from `first` on … */
    uint64_t first, count;
    vp_gpu gpu;
    vp_recording *recording; /* … and ends after `left` steps, or at `deadline_ms` */
    uint64_t left;           /* 0: not by steps */
    int64_t deadline_ms;     /* 0: not by time */
    unsigned writing;        /* captures whose files are being written */
    uint64_t captures;       /* that are written */
    char last_run[VP_PATH_MAX];
} g = {.lock = PTHREAD_MUTEX_INITIALIZER, .written = PTHREAD_COND_INITIALIZER};

/* The environment has asked for recordings, and nobody else hears why one failed. */
static void say(void *ctx, int level, const char *message)
{
    (void)ctx;
    if (level >= VP_SAY_WARNING)
        vp_log(level == VP_SAY_ERROR ? VP_LOG_ERROR : VP_LOG_WARN, "%s", message);
}

static vp_config config(vp_gpu gpu)
{
    vp_config cfg = VP_CONFIG_INIT;
    cfg.dir = g.env.dir;
    cfg.gpu = gpu;
    cfg.log = say;
    if (g.env.ring_bytes) {
        cfg.mode = VP_RING;
        cfg.pool_bytes = (size_t)g.env.ring_bytes;
    }
    return cfg;
}

/* ---- Captures: with the lock held ------------------------------------------------------------ */

static int begin_capture(void)
{
    vp_config cfg = config(g.gpu);
    g.armed = false;
    int rc = cap_start(&g.recording, &cfg);
    if (rc == VP_EGPU_UNAVAILABLE || rc == VP_EGPU_BUSY || (rc == VP_EPERM && g.gpu)) {
        /* What the program itself says is worth having without the GPU, too. */
        vp_log(VP_LOG_WARN, "without the GPU: %s", vp_error_last()->message);
        cfg.gpu = VP_GPU_OFF;
        rc = cap_start(&g.recording, &cfg);
    }
    if (rc < 0) {
        g.recording = NULL;
        atomic_store(&g.waiting, false);
        vp_log(VP_LOG_ERROR, "the capture cannot start: %s", vp_error_last()->message);
    }
    return rc;
}

static void note(const vp_result *r)
{
    char path[VP_PATH_MAX];
    g.captures++;
    snprintf(g.last_run, sizeof g.last_run, "%s", realpath(r->run_dir, path) ? path : r->run_dir);
}

typedef struct stopped {
    vp_recording *recording;
    vp_result result;
} stopped;

/* One that ended by itself was written when it was stopped, and is no more. */
static void *finish(void *arg)
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
        vp_log(VP_LOG_ERROR, "the capture was not written: %s", vp_error_last()->message);
    pthread_mutex_lock(&g.lock);
    if (rc >= 0)
        note(&result);
    g.writing--;
    pthread_cond_broadcast(&g.written);
    pthread_mutex_unlock(&g.lock);
    return NULL;
}

/* early: not with the last of its steps. Its files are waited for aside: neither the program's step
 * nor the socket has the time. */
static void end_capture(bool early)
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
        vp_log(VP_LOG_ERROR, "the capture was not written: %s",
               s ? vp_error_last()->message : "out of memory");
        vp_free(s);
        return;
    }
    g.writing++;
    if (vp_thread_start(&thread, finish, s) == 0) {
        pthread_detach(thread);
        return;
    }
    pthread_mutex_unlock(&g.lock);
    finish(s);
    pthread_mutex_lock(&g.lock);
}

static void arm(uint64_t first, uint64_t count, vp_gpu gpu)
{
    g.armed = true;
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

/* ---- Steps ---------------------------------------------------------------------------------- */

static void step_begins(uint64_t number)
{
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
    if (!atomic_load_explicit(&g.waiting, memory_order_acquire))
        return;
    pthread_mutex_lock(&g.lock);
    if (begin)
        step_begins(number);
    else if (g.recording && g.left && (!--g.left || cap_has_ended(g.recording)))
        end_capture(g.left > 0);
    pthread_mutex_unlock(&g.lock);
}

/* ---- Commands ------------------------------------------------------------------------------- */

typedef struct request {
    vp_str command;
    uint64_t steps, ms, seconds; /* 0: not given */
    vp_gpu gpu;
} request;

static int take_value(request *r, vp_str word)
{
    static const char *const keys[] = {"steps", "ms", "seconds", "gpu"};
    static const uint64_t max[] = {1000000000, MS_MAX, 86400, 1};
    vp_str key;
    uint64_t v;
    if (!memchr(word.p, '=', word.n) || !vp_take_until(&word, '=', word.n, &key))
        return vp_fail(VP_EARG, "%.*s: KEY=NUMBER is needed", VP_STR_ARG(vp_str_head(word, 60)));
    for (size_t i = 0; i < 4; i++) {
        if (!vp_str_eq(key, vp_str_of(keys[i])))
            continue;
        if (!vp_str_to_u64(word, &v) || v > max[i])
            return vp_fail(VP_EARG, "%s must be a number up to %llu", keys[i],
                           (unsigned long long)max[i]);
        uint64_t *const slots[] = {&r->steps, &r->ms, &r->seconds};
        if (i < 3)
            *slots[i] = v;
        else
            r->gpu = v ? VP_GPU_REQUIRE : VP_GPU_OFF;
        return 0;
    }
    return vp_fail(VP_EARG, "%.*s: not known", VP_STR_ARG(vp_str_head(key, 60)));
}

static int read_request(request *r, vp_str line)
{
    vp_str word;
    *r = (request){.gpu = g.env.gpu};
    vp_take_until(&line, ' ', line.n, &r->command);
    while (line.n) {
        vp_take_until(&line, ' ', line.n, &word);
        if (word.n)
            VP_TRY(take_value(r, word));
    }
    return 0;
}

static int capture(const request *r)
{
    uint64_t steps = r->steps;
    bool has_steps = g.profiler || atomic_load(&g.steps);
    if (r->steps && r->ms)
        return vp_fail(VP_EARG, "steps and ms: give one of them");
    if (!steps && !r->ms && has_steps)
        steps = DEFAULT_STEPS;
    if (g.armed || g.recording)
        return vp_fail(VP_EBUSY, "a capture is asked for already");
    if (steps && g.profiler) {
        int rc = vp_capture_async(g.profiler, steps);
        return rc < 0 ? vp_fail(rc, "Profiler already active") : 0;
    }
    if (!steps)
        return capture_for(r->ms ? (int64_t)r->ms : DEFAULT_MS, r->gpu);
    arm(0, steps, r->gpu);
    return 0;
}

/* The lock is not held: writing may take a while. */
static int past(double seconds)
{
    vp_result result = VP_RESULT_INIT;
    VP_TRY(cap_active_past(seconds, &result));
    pthread_mutex_lock(&g.lock);
    note(&result);
    pthread_mutex_unlock(&g.lock);
    return 0;
}

static int stop(void)
{
    vp_result result = VP_RESULT_INIT;
    int rc = 0;
    pthread_mutex_lock(&g.lock);
    bool ours = g.recording, was_armed = g.armed;
    g.armed = false;
    atomic_store(&g.waiting, false);
    if (ours)
        end_capture(true);
    pthread_mutex_unlock(&g.lock);
    if (!ours && !was_armed)
        rc = cap_active_end(&result);
    return rc;
}

static int obey(vp_str line)
{
    request r;
    VP_TRY(read_request(&r, line));
    if (vp_str_eq(r.command, VP_STR("STATUS")))
        return 0;
    if (vp_str_eq(r.command, VP_STR("PAST")))
        return past((double)r.seconds);
    if (vp_str_eq(r.command, VP_STR("STOP")))
        return stop();
    if (!vp_str_eq(r.command, VP_STR("CAPTURE")))
        return vp_fail(VP_EARG, "%.*s: STATUS, CAPTURE, PAST and STOP are known",
                       VP_STR_ARG(vp_str_head(r.command, 60)));
    pthread_mutex_lock(&g.lock);
    int rc = capture(&r);
    pthread_mutex_unlock(&g.lock);
    return rc;
}

/* ---- Answers -------------------------------------------------------------------------------- */

/* With the lock held. Steps that a profiler of the program counts are its own affair. */
static void put_steps(vp_json *j)
{
    vp_step_stats stats = VP_STEP_STATS_INIT;
    uint64_t steps = atomic_load(&g.steps);
    if (g.profiler && vp_profiler_stats(&stats, g.profiler) == 0 && stats.steps > steps)
        steps = stats.steps;
    vp_json_ki64(j, "steps", (int64_t)steps);
    vp_json_ki64(j, "captures", (int64_t)(g.captures + stats.captures));
}

static void put_status(vp_json *j)
{
    vp_result now = VP_RESULT_INIT;
    bool on = cap_active_status(&now) == 0;
    vp_json_ki64(j, "pid", getpid());
    vp_json_kcstr(j, "program", program_invocation_short_name);
    pthread_mutex_lock(&g.lock);
    bool armed = g.armed;
    vp_json_kcstr(j, "state", on ? "recording" : armed ? "armed" : g.writing ? "writing" : "idle");
    put_steps(j);
    vp_json_kcstr(j, "last_run", g.last_run[0] ? g.last_run : NULL);
    pthread_mutex_unlock(&g.lock);
    vp_json_kcstr(j, "run_dir", on ? now.run_dir : NULL);
    vp_json_ki64(j, "zones", (int64_t)now.zones);
    vp_json_ki64(j, "dropped", (int64_t)(now.dropped_full + now.dropped_signal));
}

void control_answer(vp_buf *out, vp_str line)
{
    vp_json j;
    (void)control_tick();
    int rc = obey(vp_str_trim(line));
    vp_json_init(&j, out);
    vp_json_begin_object(&j);
    vp_json_kcstr(&j, "schema", "view_profile.control/1");
    vp_json_kbool(&j, "ok", rc >= 0);
    if (rc < 0) {
        vp_json_kcstr(&j, "code", vp_status_name(rc));
        vp_json_kcstr(&j, "error", vp_error_last()->message);
    }
    put_status(&j);
    vp_json_end_object(&j);
    vp_buf_putc(out, '\n');
}

void control_signalled(void)
{
    if (past(0) >= 0)
        return;
    pthread_mutex_lock(&g.lock);
    request r = {.gpu = g.env.gpu};
    if (capture(&r) < 0)
        vp_log(VP_LOG_WARN, "the signal asks for a capture: %s", vp_error_last()->message);
    pthread_mutex_unlock(&g.lock);
}

int control_tick(void)
{
    int wait = -1;
    pthread_mutex_lock(&g.lock);
    if (g.recording && !vp_recording_active(g.recording))
        end_capture(true);
    if (g.recording && g.deadline_ms) {
        int64_t left = g.deadline_ms - vp_now_ms();
        if (left <= 0)
            end_capture(true);
        else
            wait = (int)left;
    }
    pthread_mutex_unlock(&g.lock);
    return wait;
}

void control_set_profiler(vp_profiler *p)
{
    pthread_mutex_lock(&g.lock);
    g.profiler = p;
    pthread_mutex_unlock(&g.lock);
}

void control_drop_profiler(const vp_profiler *p)
{
    pthread_mutex_lock(&g.lock);
    if (g.profiler == p)
        g.profiler = NULL;
    pthread_mutex_unlock(&g.lock);
}

/* ---- Load and end --------------------------------------------------------------------------- */

static void end(void)
{
    control_thread_stop();
    pthread_mutex_lock(&g.lock);
    if (g.recording)
        end_capture(true);
    while (g.writing)
        pthread_cond_wait(&g.written, &g.lock);
    pthread_mutex_unlock(&g.lock);
}

void control_forget(void)
{
    pthread_mutex_init(&g.lock, NULL);
    pthread_cond_init(&g.written, NULL);
    g.recording = NULL;
    g.armed = false;
    g.writing = 0;
    atomic_store(&g.waiting, false);
}

/* The whole program is one capture, unless single steps are asked for. */
static void begin(void)
{
    pthread_mutex_lock(&g.lock);
    g.gpu = g.env.gpu;
    if (g.env.has_steps)
        arm(g.env.first_step, g.env.step_count, g.env.gpu);
    else
        (void)begin_capture();
    pthread_mutex_unlock(&g.lock);
}

void control_load(void)
{
    static _Atomic bool loaded;
    if (atomic_exchange(&loaded, true))
        return;
    if (environment_read(&g.env, NULL) < 0) {
        vp_log(VP_LOG_ERROR, "%s", vp_error_last()->message);
        return;
    }
    if (!g.env.on)
        return;
    cap_on_step(control_step);
    begin();
    atexit(end); /* after begin: it runs before whatever a recording registered */
    if (control_thread_start(true) < 0)
        vp_log(VP_LOG_WARN, "no control socket: %s", vp_error_last()->message);
    if (g.env.signal_number && vp_install_signal(g.env.signal_number, false) < 0)
        vp_log(VP_LOG_WARN, "VIEW_PROFILE_SIGNAL: %s", vp_error_last()->message);
}
