#include "trace/analyze/analyze.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "trace/analyze/derived/derive.h"
#include "trace/analyze/device/classify.h"
#include "trace/analyze/findings/findings.h"
#include "trace/analyze/load.h"
#include "trace/analyze/mfu/asked.h"
#include "trace/analyze/mfu/peaks.h"
#include "trace/analyze/snapshots.h"
#include "trace/analyze/merge/merge.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

#define WORKERS_MAX 64

/* A few workers read hosts; each takes the next host until none is left. */
typedef struct job {
    const catalog *c;
    const cat_session *s;
    const vp_report_options *opts;
    analyze_look_fn *look; /* may be NULL */
    void *look_ctx;
    host_part *parts; /* by host */
    _Atomic size_t next;
    _Atomic bool stop;
    pthread_mutex_t lock;
    int64_t *done; /* bytes by host, under the lock */
    int64_t total;
    int threads; /* threads that read one host */
    /* For a single host, if a thread is available: its trace, which is freed while the report is
     * made. */
    trace *left;
    bool leave;
} job;

typedef struct host_progress {
    job *j;
    size_t host;
} host_progress;

static int on_host_progress(void *ctx, int64_t done, int64_t total)
{
    host_progress *p = ctx;
    job *j = p->j;
    int64_t sum = 0;
    (void)total;
    pthread_mutex_lock(&j->lock);
    j->done[p->host] = done;
    for (size_t i = 0; i < j->s->host_count; i++)
        sum += j->done[i];
    if (j->opts->progress && j->opts->progress(j->opts->progress_ctx, sum, j->total))
        atomic_store(&j->stop, true);
    pthread_mutex_unlock(&j->lock);
    return atomic_load(&j->stop);
}

/* The callback for one host, and the tracks that are made for it. */
typedef struct host_look {
    const job *j;
    uint32_t host;
    derive_task tracks;
} host_look;

static int on_trace(void *ctx, const trace *t)
{
    host_look *l = ctx;
    derive_task_end(&l->tracks); /* tracks of the preferred half before it failed */
    return l->j->look(l->j->look_ctx, l->host, t, NULL);
}

static int on_idle(void *ctx, const analysis *a, uint32_t device, const idle_gap *g,
                   const idle_piece *p)
{
    host_look *l = ctx;
    return derive_idle_piece(&l->tracks, a, device, g, p);
}

static int on_done(void *ctx, const analysis *a)
{
    host_look *l = ctx;
    VP_TRY(derived_new(&l->tracks.out));
    int rc = derive_host(&l->tracks, a);
    derive_task_end(&l->tracks);
    if (rc < 0) {
        derived_free(l->tracks.out);
        return rc;
    }
    return l->j->look(l->j->look_ctx, l->host, a->t, l->tracks.out);
}

/* Thousandths of a rate that the user passed; 0: none. */
static int64_t user_rate_milli(double rate)
{
    return rate > 0 && rate < 1e15 ? (int64_t)(rate * 1000 + 0.5) : 0;
}

static void *analyze_worker(void *ctx)
{
    job *j = ctx;
    for (;;) {
        size_t i = atomic_fetch_add(&j->next, 1);
        if (i >= j->s->host_count || atomic_load(&j->stop))
            return NULL;
        host_part *p = &j->parts[i];
        host_progress hp = {j, i};
        host_look hl = {.j = j, .host = (uint32_t)i};
        load_options lo = {.group = j->opts->group,
                           .depth = j->opts->depth,
                           .one_step = j->opts->one_step,
                           .step = j->opts->step,
                           .step_series = j->opts->step_series,
                           .steps_by = j->opts->steps_by,
                           .one_window = j->opts->one_window,
                           .from_ps = j->opts->from_ps,
                           .until_ps = j->opts->until_ps,
                           .where = j->opts->where,
                           .wish = {.chip = j->opts->chip,
                                    .gflops = user_rate_milli(j->opts->peak_tflops),
                                    .mb_s = user_rate_milli(j->opts->peak_gb_s)},
                           .uncounted = j->opts->uncounted,
                           .threads = j->threads,
                           .progress = j->opts->progress ? on_host_progress : NULL,
                           .progress_ctx = &hp};
        if (j->leave)
            lo.left = &j->left;
        if (j->look) {
            lo.look = on_trace;
            lo.watch = (host_watch){.done = on_done, .idle = on_idle, .ctx = &hl};
        }
        if (!p->wanted)
            continue;
        p->status = load_host(&p->result, &p->file, j->c, j->s, (uint32_t)i, &lo);
        if (p->status < 0)
            p->error = *vp_error_last();
        derive_task_end(&hl.tracks);
    }
}

static int job_threads(const job *j)
{
    return j->opts->jobs > 0 ? j->opts->jobs : vp_cpus();
}

/* Number of files read concurrently, and of threads for each of them. */
static size_t worker_count(job *j)
{
    size_t jobs = (size_t)job_threads(j), wanted = 0;
    for (size_t i = 0; i < j->s->host_count; i++)
        wanted += j->parts[i].wanted;
    size_t n = jobs < wanted ? jobs : wanted;
    n = n < WORKERS_MAX ? n : WORKERS_MAX;
    j->threads = n ? (int)(jobs / n) : 1;
    j->leave = wanted == 1 && j->threads > 1;
    return n;
}

static void run_analyze_job(job *j)
{
    pthread_t threads[WORKERS_MAX];
    size_t n = worker_count(j), started = 0;
    while (started + 1 < n && pthread_create(&threads[started], NULL, analyze_worker, j) == 0)
        started++;
    analyze_worker(j);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

static int choose_hosts(job *j)
{
    bool any = false;
    for (size_t i = 0; i < j->s->host_count; i++) {
        const cat_host *h = &j->s->hosts[i];
        bool wanted = !j->opts->host || !strcmp(j->opts->host, h->name);
        j->parts[i].wanted = wanted;
        any = any || wanted;
        if (wanted && j->s->files[h->primary].bytes > 0)
            j->total += j->s->files[h->primary].bytes;
    }
    if (!any && j->s->host_count)
        return vp_fail(VP_ENOTFOUND, "run %s has no host \"%s\"", j->s->name, j->opts->host);
    return 0;
}

/* If only one of several hosts is read, its times are relative to its own start; otherwise to the
 * earliest start of all, which is known when all are read. */
static int check_window(const vp_report_options *opts, const cat_session *s)
{
    if (!opts->one_window)
        return 0;
    if (opts->one_step)
        return vp_fail(VP_EARG, "a step and a window were given; use one of them");
    if (opts->from_ps < 0 || opts->until_ps <= opts->from_ps || opts->until_ps > VP_TIME_MAX_PS)
        return vp_fail(VP_EARG, "a window must start at 0 or later and end after its start");
    return opts->host || s->host_count <= 1
               ? 0
               : vp_fail(
                     VP_EARG,
                     "this run has %zu hosts with separate clocks: name the host of the window, "
                     "such as --host %.100s",
                     s->host_count, s->hosts[0].name);
}

static int check_asked(const vp_report_options *opts, const cat_session *s)
{
    VP_TRY(check_window(opts, s));
    return !opts->chip || peaks_know(opts->chip)
               ? 0
               : vp_fail(VP_EARG,
                         "unknown chip \"%s\": set the peaks with --peak-tflops and --peak-gbs",
                         opts->chip);
}

static int join_host_parts(vp_report **out, job *j)
{
    if (atomic_load(&j->stop))
        return vp_fail(VP_ECANCELLED, "stopped");
    for (size_t i = 0; i < j->s->host_count; i++)
        if (j->parts[i].wanted && j->parts[i].status >= 0)
            VP_TRY(
                load_unpack(&j->parts[i].result, &j->s->files[j->parts[i].file], job_threads(j)));
    VP_TRY(merge_hosts(out, j->s, j->parts, j->opts));
    mfu_ask(*out, j->opts->params, j->opts->tokens);
    return 0;
}

/* Results do not need the trace, and unmapping a large one takes long. */
static int free_left(void *ctx)
{
    trace_free(((job *)ctx)->left);
    return 0;
}

static int join_beside_free(vp_report **out, job *j)
{
    vp_aside a = {0};
    if (j->left)
        vp_aside_start(&a, free_left, j);
    int rc = join_host_parts(out, j);
    vp_aside_wait(&a);
    return rc;
}

static vp_depth depth_of_options(const vp_report_options *opts)
{
    return opts->where == VP_WHERE_HOST || opts->one_window ? VP_DEPTH_OPS : opts->depth;
}

static int analyze_within(vp_report **out, const catalog *c, const cat_session *s,
                          const vp_report_options *opts, analyze_look_fn *look, void *look_ctx)
{
    vp_report_options wanted = VP_REPORT_OPTIONS_INIT;
    job j = {.c = c,
             .s = s,
             .opts = &wanted,
             .look = look,
             .look_ctx = look_ctx,
             .lock = PTHREAD_MUTEX_INITIALIZER};
    if (opts)
        wanted = *opts;
    wanted.depth = depth_of_options(&wanted);
    VP_TRY(check_asked(&wanted, s));
    if (!s->host_count && j.opts->depth == VP_DEPTH_FULL && snapshots_any(s))
        return snapshots_report(out, c, s, j.opts);
    if (!s->host_count)
        return vp_fail(VP_EEMPTY, "run %s has no timeline to analyze%s%s", s->name,
                       s->why ? ": " : "", s->why ? s->why : "");
    j.parts = vp_calloc(s->host_count, sizeof *j.parts);
    j.done = vp_calloc(s->host_count, sizeof *j.done);
    vp_report *r = NULL;
    int rc = j.parts && j.done ? choose_hosts(&j) : vp_no_memory();
    if (rc >= 0) {
        run_analyze_job(&j);
        rc = join_beside_free(&r, &j);
    }
    for (size_t i = 0; j.parts && i < s->host_count; i++)
        if (j.parts[i].wanted)
            host_result_free(&j.parts[i].result);
    vp_free(j.parts);
    vp_free(j.done);
    if (rc >= 0 && j.opts->depth == VP_DEPTH_FULL && snapshots_any(s)) {
        rc = snapshots_add(r, c, s);
        if (rc >= 0)
            rc = findings_make(r); /* again, now with the memory data of the snapshots */
    }
    if (rc >= 0)
        *out = r;
    else
        analyze_free(r);
    return rc;
}

int analyze_session(vp_report **out, const catalog *c, const cat_session *s,
                    const vp_report_options *opts)
{
    return analyze_session_looked(out, c, s, opts, NULL, NULL);
}

int analyze_session_looked(vp_report **out, const catalog *c, const cat_session *s,
                           const vp_report_options *opts, analyze_look_fn *look, void *look_ctx)
{
    vp_mem_renew_ceiling();
    vp_mem_budget budget = {.max = load_memory_max(s->bytes)};
    vp_mem_budget *before = vp_mem_enter(&budget);
    int rc = vp_mem_explain(analyze_within(out, c, s, opts, look, look_ctx));
    if (rc == VP_ELIMIT || rc == VP_ENOMEM)
        vp_fail_at(rc, s->path, -1, -1);
    vp_mem_enter(before);
    return rc;
}

/* ---- The tracks of one host ----------------------------------------------------------------- */

typedef struct derived_look {
    derived *tracks; /* of the half that is used */
} derived_look;

static int keep_tracks(void *ctx, uint32_t host, const trace *t, derived *d)
{
    derived_look *l = ctx;
    (void)host;
    (void)t;
    derived_free(l->tracks);
    l->tracks = d;
    return 0;
}

int analyze_add_findings(derived *d, const vp_report *r, const char *host)
{
    return derive_findings(d, r, host);
}

/* The half that was read. */
static void note_file(derived *d, const vp_report *r)
{
    for (size_t i = 0; i < r->file_count; i++)
        if (r->files[i].events != VP_UNKNOWN)
            d->file = i;
}

int analyze_derived(derived **out, const catalog *c, const cat_session *s, const cat_host *h,
                    const vp_report_options *opts)
{
    vp_report_options wanted = opts ? *opts : (vp_report_options)VP_REPORT_OPTIONS_INIT;
    derived_look look = {0};
    vp_report *r = NULL;
    wanted.host = h->name;
    wanted.depth = VP_DEPTH_FULL;
    int rc = analyze_session_looked(&r, c, s, &wanted, keep_tracks, &look);
    if (rc >= 0 && look.tracks) {
        note_file(look.tracks, r);
        rc = analyze_add_findings(look.tracks, r, h->name);
    }
    analyze_free(r);
    if (rc < 0)
        derived_free(look.tracks);
    else
        *out = look.tracks;
    return rc;
}

bool analyze_knows_chip(const char *chip)
{
    return peaks_know(chip);
}

int analyze_put_label(vp_buf *b, vp_str raw)
{
    return cl_normalize(b, raw);
}
