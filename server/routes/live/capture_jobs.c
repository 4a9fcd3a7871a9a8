#include "server/routes/live/capture_jobs.h"

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/base/time.h"

struct captures {
    pthread_mutex_t lock; /* protects the following fields */
    pthread_t thread;
    bool has_thread, gone;
    uint32_t last_id;
    int64_t starts[CAPTURE_STARTS_MAX]; /* start times of the last jobs; a ring */
    uint32_t started;
    size_t n;
    capture_job jobs[CAPTURES_KEPT]; /* the newest first */
    capture_targets known;
    capture_event event; /* used only by the thread */
};

/* ---- What is heard --------------------------------------------------------------------------- */

static capture_job *find_capture_job(captures *c, uint32_t id)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->jobs[i].id == id)
            return &c->jobs[i];
    return NULL;
}

static void take_job_text(char *out, size_t cap, const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    snprintf(out, cap, "%s", text ? text : "");
}

static int64_t take_count(const json_t *o, const char *key)
{
    json_int_t v = json_integer_value(json_object_get(o, key));
    return v > 0 ? v : 0;
}

/* Removes the path of the directory from messages for clients. */
static void take_error(char *out, size_t cap, const char *text, const char *dir)
{
    size_t n = strlen(dir);
    snprintf(out, cap, "%s", text ? text : "");
    for (char *at = out; n > 1 && (at = strstr(at, dir));)
        memmove(at, at + n, strlen(at + n) + 1);
}

static void take_target(capture_job *j, const json_t *o, const char *dir)
{
    const char *name = json_string_value(json_object_get(o, "target"));
    const char *error = json_string_value(json_object_get(o, "error"));
    for (size_t i = 0; name && i < j->n; i++) {
        capture_target *t = &j->targets[i];
        if (strcmp(t->name, name) != 0)
            continue;
        t->bytes = take_count(o, "bytes");
        t->left_ms = take_count(o, "left_ms");
        take_job_text(t->state, sizeof t->state, o, "state");
        take_job_text(t->code, sizeof t->code, o, "code");
        take_error(t->error, sizeof t->error, error, dir);
    }
}

static void take_job_line(capture_job *j, const char *text, const char *dir)
{
    json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const char *event = json_string_value(json_object_get(o, "event"));
    const json_t *ended = json_object_get(o, "targets");
    if (event && !strcmp(event, "progress"))
        take_target(j, o, dir);
    if (event && (!strcmp(event, "begin") || !strcmp(event, "end")))
        take_job_text(j->path, sizeof j->path, o, "path");
    for (size_t i = 0; event && !strcmp(event, "end") && i < json_array_size(ended); i++)
        take_target(j, json_array_get(ended, i), dir);
    json_decref(o);
}

/* The message of the job takes precedence over those of its targets, and these over its exit code.
 */
static void take_job_end(captures *c, capture_job *j, const capture_event *e, const char *dir)
{
    bool empty = true;
    for (size_t i = 0; i < j->n; i++)
        empty &= !j->targets[i].bytes;
    bool ok = e->exit_code == 0; /* canceled, but its data was received completely */
    j->state = j->cancelled ? CAPTURE_CANCELLED : ok ? CAPTURE_DONE : CAPTURE_FAILED;
    if (ok) {
        capture_targets_add(&c->known, vp_str_of(j->asked));
        return;
    }
    if (empty)
        j->path[0] = 0;
    take_error(j->error, sizeof j->error, e->text, dir);
    if (!j->error[0] && !j->cancelled)
        snprintf(j->error, sizeof j->error, "the capture failed with exit code %d", e->exit_code);
}

static void take_capture_event(captures *c, const char *dir)
{
    const capture_event *e = &c->event;
    pthread_mutex_lock(&c->lock);
    capture_job *j = find_capture_job(c, e->job);
    if (j && e->ended)
        take_job_end(c, j, e, dir);
    else if (j)
        take_job_line(j, e->text, dir);
    pthread_mutex_unlock(&c->lock);
}

static void *capture_events_thread(void *arg)
{
    const site *s = arg;
    captures *c = s->captures;
    while (outside_capture_hear(&c->event) == 0)
        take_capture_event(c, s->opts.captures);
    pthread_mutex_lock(&c->lock);
    c->gone = true;
    for (size_t i = 0; i < c->n; i++)
        if (c->jobs[i].state == CAPTURE_RUNNING)
            c->jobs[i].state = CAPTURE_FAILED;
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* ---- The site's part ------------------------------------------------------------------------- */

int captures_open(site *s)
{
    if (!s->opts.captures || !outside_capture_runs())
        return 0;
    captures *c = vp_calloc(1, sizeof *c);
    VP_NEED(c);
    pthread_mutex_init(&c->lock, NULL);
    capture_targets_load(&c->known);
    s->captures = c;
    VP_TRY(vp_thread_start(&c->thread, capture_events_thread, s));
    c->has_thread = true;
    return 0;
}

void captures_close(site *s)
{
    captures *c = s->captures;
    if (!c)
        return;
    outside_capture_hush();
    if (c->has_thread)
        pthread_join(c->thread, NULL);
    pthread_mutex_destroy(&c->lock);
    vp_free(c);
    s->captures = NULL;
}

const char *captures_refused(const site *s)
{
    if (s->captures)
        return NULL;
    return s->opts.no_captures ? s->opts.no_captures : "captures are disabled on this server";
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* Call with the lock. */
static int may_begin_capture(const captures *c, const char *targets)
{
    size_t running = 0;
    for (size_t i = 0; i < c->n; i++) {
        const capture_job *j = &c->jobs[i];
        if (j->state != CAPTURE_RUNNING)
            continue;
        running++;
        if (capture_targets_share(vp_str_of(j->asked), vp_str_of(targets)))
            return vp_fail(VP_EBUSY, "%.200s is being captured already", targets);
    }
    if (running >= CAPTURE_JOBS_MAX)
        return vp_fail(VP_ELIMIT,
                       "%u captures are already running; wait for one of them or cancel it",
                       CAPTURE_JOBS_MAX);
    if (c->started >= CAPTURE_STARTS_MAX &&
        vp_now_ms() - c->starts[c->started % CAPTURE_STARTS_MAX] < CAPTURE_STARTS_MS)
        return vp_fail(VP_ELIMIT, "%u captures started within a minute; try again later",
                       CAPTURE_STARTS_MAX);
    return 0;
}

/* With the lock held: inserts at the front; the last is dropped. */
static capture_job *add_capture_job(captures *c, const char *targets, uint32_t duration_ms)
{
    vp_str rest = vp_str_of(targets), one;
    size_t keep = c->n < CAPTURES_KEPT ? c->n : CAPTURES_KEPT - 1;
    /* A running job is never dropped. */
    while (c->n == CAPTURES_KEPT && c->jobs[keep].state == CAPTURE_RUNNING)
        keep--;
    memmove(&c->jobs[1], &c->jobs[0], keep * sizeof c->jobs[0]);
    c->n += c->n < CAPTURES_KEPT;
    capture_job *j = &c->jobs[0];
    memset(j, 0, sizeof *j);
    j->id = ++c->last_id;
    j->duration_ms = duration_ms;
    snprintf(j->asked, sizeof j->asked, "%s", targets);
    while (rest.n && j->n < CAPTURE_TARGETS_MAX) {
        vp_take_until(&rest, ',', rest.n, &one);
        capture_target *t = &j->targets[j->n++];
        snprintf(t->name, sizeof t->name, "%.*s", (int)one.n, one.p);
        snprintf(t->state, sizeof t->state, "connecting");
        t->left_ms = duration_ms;
    }
    c->starts[c->started++ % CAPTURE_STARTS_MAX] = vp_now_ms();
    return j;
}

int captures_begin(site *s, const char *targets, uint32_t duration_ms)
{
    captures *c = s->captures;
    if (!c)
        return vp_fail(VP_EREFUSED, "captures are not available: %s", captures_refused(s));
    pthread_mutex_lock(&c->lock);
    int rc = c->gone ? vp_fail(VP_EIO, "the capture process has exited; restart the server")
                     : may_begin_capture(c, targets);
    if (rc >= 0) {
        capture_job *j = add_capture_job(c, targets, duration_ms);
        rc = outside_capture_begin(j->id, targets, duration_ms);
        if (rc < 0) {
            j->state = CAPTURE_FAILED;
            snprintf(j->error, sizeof j->error, "%s", vp_error_last()->message);
        }
    }
    pthread_mutex_unlock(&c->lock);
    return rc;
}

int captures_cancel(site *s, uint32_t id)
{
    captures *c = s->captures;
    int rc = 0;
    if (!c)
        return vp_fail(VP_ENOTFOUND, "no such capture");
    pthread_mutex_lock(&c->lock);
    capture_job *j = find_capture_job(c, id);
    if (!j)
        rc = vp_fail(VP_ENOTFOUND, "no such capture");
    else if (j->state == CAPTURE_RUNNING) {
        j->cancelled = true;
        rc = outside_capture_cancel(id);
    }
    pthread_mutex_unlock(&c->lock);
    return rc;
}

size_t captures_copy(const site *s, capture_job **jobs, capture_targets **known)
{
    captures *c = s->captures;
    size_t n = 0;
    *jobs = vp_malloc(CAPTURES_KEPT * sizeof **jobs);
    *known = vp_calloc(1, sizeof **known);
    if (!c || !*jobs || !*known)
        return 0;
    pthread_mutex_lock(&c->lock);
    n = c->n;
    memcpy(*jobs, c->jobs, n * sizeof **jobs);
    **known = c->known;
    pthread_mutex_unlock(&c->lock);
    return n;
}
