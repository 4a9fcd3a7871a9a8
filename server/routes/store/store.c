#include "server/routes/store/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "server/routes/store/store_index.h"
#include "server/routes/store/turns.h"
#include "trace/analyze/analyze.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

/* Maximum number of unreferenced reports: a few hundred KiB each. */
#define REPORTS_MAX 32
/* Maximum of waiting handlers. It is below the number of workers (work.c), so that cheap pages are
 * not blocked. Downloads wait on threads of their own (stream_answer.h) and do not count. */
#define WAITING_MAX 12
/* In ms: the interval of checks whether their client is still connected. */
#define LOOK_MS 200

struct store_report {
    store *st;
    store_report *next, *prev; /* most recently used first, while `listed` */
    bool listed;
    char *id;
    int64_t mtime_ns, bytes;
    store_wanted of;
    int holders;
    int askers; /* who wait for it */
    bool done;
    vp_report *report;
    char *host; /* the host whose tracks it has instead of a report; NULL: a report */
    derived *tracks;
    vp_error error; /* code 0 unless the analysis failed */
};

struct store {
    store_index *index;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    store_report *first, *last;
    turns *turns;
    int count, waiting;
    _Atomic uint64_t failures;
    _Atomic bool cancelled;
    const char *chip; /* set once, before threads use it */
    double peak_tflops, peak_gb_s;
};

/* ---- The catalog ---------------------------------------------------------------------------- */

int store_open(store **out, const char *path, const cat_copies *copies, mirror *m,
               bool keep_ranks_apart)
{
    store *st = vp_calloc(1, sizeof *st);
    VP_NEED(st);
    pthread_mutex_init(&st->lock, NULL);
    vp_cond_init(&st->changed);
    int rc = turns_new(&st->turns);
    if (rc >= 0)
        rc = index_open(&st->index, path, copies, m, keep_ranks_apart);
    if (rc < 0) {
        store_close(st);
        return rc;
    }
    *out = st;
    return 0;
}

void store_set_peaks(store *st, const char *chip, double peak_tflops, double peak_gb_s)
{
    st->chip = chip;
    st->peak_tflops = peak_tflops;
    st->peak_gb_s = peak_gb_s;
}

catalog *store_catalog(store *st)
{
    return index_catalog(st->index);
}

int store_refresh(store *st, int64_t age_ms)
{
    return index_refresh(st->index, age_ms, -1);
}

void store_refresh_soon(store *st, int64_t age_ms, int64_t wait_ms)
{
    (void)index_refresh(st->index, age_ms, wait_ms);
}

int store_rescan(store *st, int64_t wait_ms)
{
    return index_rescan(st->index, wait_ms);
}

int store_wait(store *st, int64_t wait_ms)
{
    return index_wait(st->index, wait_ms);
}

bool store_indexing(store *st, store_progress *p)
{
    store_counts c;
    store_count(st, &c);
    if (p)
        *p = (store_progress){.sessions = c.found, .looked_at = c.looked_at};
    return c.indexing;
}

void store_count(store *st, store_counts *out)
{
    index_counts(st->index, out);
    out->failures = atomic_load(&st->failures);
}

/* ---- Reports; the lock is held in what follows unless a comment says otherwise -------------- */

static void store_unlist(store *st, store_report *e)
{
    if (!e->listed)
        return;
    *(e->prev ? &e->prev->next : &st->first) = e->next;
    *(e->next ? &e->next->prev : &st->last) = e->prev;
    e->listed = false;
    st->count--;
}

static void store_list_first(store *st, store_report *e)
{
    e->prev = NULL;
    e->next = st->first;
    *(e->next ? &e->next->prev : &st->last) = e;
    st->first = e;
    e->listed = true;
    st->count++;
}

static void free_store_report(store_report *e)
{
    analyze_free(e->report);
    derived_free(e->tracks);
    vp_free(e->host);
    vp_free(e->id);
    vp_free(e);
}

/* Frees the entry if it is neither listed nor referenced. Drops the oldest unreferenced entries if
 * more than REPORTS_MAX are listed, or if their tracks take more than VP_DERIVED_KEPT_MAX. */
static void store_drop_unused(store *st, store_report *e)
{
    uint64_t bytes = 0;
    if (!e->listed && !e->holders)
        free_store_report(e);
    for (const store_report *x = st->first; x; x = x->next)
        bytes += derived_bytes(x->tracks);
    for (store_report *x = st->last; x;) {
        store_report *before = x->prev;
        uint64_t own = derived_bytes(x->tracks);
        if (!x->holders && (st->count > REPORTS_MAX || (own && bytes > VP_DERIVED_KEPT_MAX))) {
            bytes -= own;
            store_unlist(st, x);
            free_store_report(x);
        }
        x = before;
    }
}

static bool is_report_of_session(const store_report *e, const cat_session *s)
{
    return e->mtime_ns == s->newest_mtime_ns && e->bytes == s->bytes && !strcmp(e->id, s->id);
}

static store_report *store_find_report(store *st, const cat_session *s, const store_wanted *w,
                                       vp_depth depth)
{
    for (store_report *e = st->first; e; e = e->next)
        if (!e->host && e->of.group == w->group && e->of.depth == depth && e->of.step == w->step &&
            e->of.where == w->where && is_report_of_session(e, s))
            return e;
    return NULL;
}

static store_report *find_tracks(store *st, const cat_session *s, const cat_host *h)
{
    for (store_report *e = st->first; e; e = e->next)
        if (e->host && is_report_of_session(e, s) && !strcmp(e->host, h->name))
            return e;
    return NULL;
}

static bool is_ready(const store_report *e)
{
    return e && e->done && !e->error.code;
}

/* The listed report for this request: of the same parameters and at least its depth. */
static store_report *find_enough(store *st, const cat_session *s, const store_wanted *w)
{
    store_report *full = store_find_report(st, s, w, VP_DEPTH_FULL);
    if (w->depth == VP_DEPTH_FULL || is_ready(full))
        return full;
    return store_find_report(st, s, w, w->depth);
}

/* h: for tracks; NULL: for a report. */
static store_report *store_add(store *st, const cat_session *s, const store_wanted *w,
                               const cat_host *h)
{
    store_report *e = vp_calloc(1, sizeof *e);
    if (!e)
        return NULL;
    if (!(e->id = vp_strdup(s->id)) || (h && !(e->host = vp_strdup(h->name)))) {
        free_store_report(e);
        return NULL;
    }
    e->st = st;
    e->mtime_ns = s->newest_mtime_ns;
    e->bytes = s->bytes;
    e->of = *w;
    store_list_first(st, e);
    return e;
}

/* ---- Analyses ------------------------------------------------------------------------------- */

static bool asker_has_gone(const store_asker *who)
{
    return who && who->gone(who->ctx);
}

/* One scheduled analysis. */
typedef struct work {
    store *st;
    const store_asker *who; /* the client, on whose thread it runs */
    store_report *e;        /* NULL if no other client can wait for the result */
    const cat_host *host;   /* host whose tracks are made; NULL: a report */
    analyze_look_fn *look;  /* may be NULL */
    void *look_ctx;
    bool left; /* `who` is gone, and no longer counted in the clients of e */
    turn turn;
    vp_error stopped; /* code < 0: why it was stopped */
} work;

/* Returns whether all clients are gone. Then the entry is unlisted, and the next request starts
 * again. */
static bool no_asker_waits(void *ctx)
{
    work *w = ctx;
    store *st = w->st;
    bool goes = !w->left && asker_has_gone(w->who);
    if (atomic_load(&st->cancelled))
        return true;
    if (!w->e)
        return goes;
    pthread_mutex_lock(&st->lock);
    if (goes) {
        w->left = true;
        w->e->askers--;
    }
    bool none = !w->e->askers;
    if (none)
        store_unlist(st, w->e);
    pthread_mutex_unlock(&st->lock);
    return none;
}

static int work_on_progress(void *ctx, int64_t done, int64_t total)
{
    work *w = ctx;
    (void)done;
    (void)total;
    if (!w->stopped.code && turn_go_on(&w->turn) < 0)
        w->stopped = *vp_error_last();
    return w->stopped.code;
}

static int work_begin(work *w, vp_report_options *opts, const cat_session *s)
{
    opts->progress = work_on_progress;
    opts->progress_ctx = w;
    w->turn = (turn){.of = w->st->turns,
                     .session = s->id,
                     .bytes = s->bytes,
                     .unwanted = no_asker_waits,
                     .ctx = w};
    return turn_begin(&w->turn);
}

/* Ends the turn. rc: the result of the work; if the turn stopped it, that error is returned. */
static int work_end(work *w, int rc)
{
    turn_end(&w->turn);
    return rc < 0 && w->stopped.code ? vp_fail_copy(&w->stopped) : rc;
}

static int work_analyze(work *w, vp_report **out, derived **tracks, catalog *c,
                        const cat_session *s)
{
    vp_report_options opts = VP_REPORT_OPTIONS_INIT;
    opts.chip = w->st->chip;
    opts.peak_tflops = w->st->peak_tflops;
    opts.peak_gb_s = w->st->peak_gb_s;
    if (w->host) {
        VP_TRY(work_begin(w, &opts, s));
        return work_end(w, analyze_derived(tracks, c, s, w->host, &opts));
    }
    opts.group = w->e->of.group;
    opts.depth = w->e->of.depth;
    opts.one_step = w->e->of.step != VP_UNKNOWN;
    opts.step = w->e->of.step;
    opts.where = w->e->of.where;
    VP_TRY(work_begin(w, &opts, s));
    return work_end(w, analyze_session_looked(out, c, s, &opts, w->look, w->look_ctx));
}

/* Call with the lock, which is released during the work. */
static void compute_report(work *w, catalog *c, const cat_session *s)
{
    store *st = w->st;
    store_report *e = w->e;
    vp_report *report = NULL;
    derived *tracks = NULL;
    pthread_mutex_unlock(&st->lock);
    int rc = work_analyze(w, &report, &tracks, c, s);
    pthread_mutex_lock(&st->lock);
    e->report = report;
    e->tracks = tracks;
    if (rc == VP_EIO || rc == VP_ENOTFOUND)
        index_spoil(st->index); /* a file has changed since it was listed */
    if (rc < 0) {
        if (rc != VP_ECANCELLED)
            atomic_fetch_add(&st->failures, 1);
        e->error = *vp_error_last();
        e->error.code = rc;
        store_unlist(st, e); /* failures are not cached: the next request tries again */
    }
    e->done = true;
    pthread_cond_broadcast(&st->changed);
}

/* Call with the lock, which is released while waiting. */
static int wait_for_report(store *st, const store_report *e, const store_asker *who)
{
    while (!e->done) {
        struct timespec until = vp_cond_until(LOOK_MS);
        pthread_cond_timedwait(&st->changed, &st->lock, &until);
        if (!e->done && asker_has_gone(who))
            return turn_unwanted();
    }
    return e->error.code ? vp_fail_copy(&e->error) : 0;
}

/* mine: computed on this thread, with the `look` of w. Requests for tracks run on the threads of
 * downloads, of which there are few, so the limit does not apply to them. */
static int get_slowly(work *w, bool mine, catalog *c, const cat_session *s)
{
    store *st = w->st;
    int place = !w->e->host;
    if (place && st->waiting >= WAITING_MAX)
        return vp_fail(VP_EBUSY, "too many analyses are queued; try again");
    st->waiting += place;
    w->e->askers++;
    if (mine)
        compute_report(w, c, s);
    int rc = wait_for_report(st, w->e, w->who);
    if (!w->left)
        w->e->askers--;
    st->waiting -= place;
    return rc;
}

/* Call with the lock, which is released. */
static int take_computed_report(store_report **out, work *w, bool mine, catalog *c,
                                const cat_session *s)
{
    int rc = 0;
    store *st = w->st;
    store_report *e = w->e;
    e->holders++;
    if (!e->done)
        rc = get_slowly(w, mine, c, s);
    if (rc < 0) {
        e->holders--;
    } else if (e->listed) {
        store_unlist(st, e);
        store_list_first(st, e);
    }
    store_drop_unused(st, e);
    pthread_mutex_unlock(&st->lock);
    if (rc < 0)
        return rc;
    *out = e;
    return 0;
}

int store_get(store_report **out, store *st, catalog *c, const cat_session *s,
              const store_wanted *w, const store_asker *who)
{
    pthread_mutex_lock(&st->lock);
    store_report *e = find_enough(st, s, w);
    bool mine = !e && st->waiting < WAITING_MAX;
    if (mine)
        e = store_add(st, s, w, NULL);
    if (e)
        return take_computed_report(out, &(work){.st = st, .who = who, .e = e}, mine, c, s);
    pthread_mutex_unlock(&st->lock);
    return mine ? vp_no_memory() : vp_fail(VP_EBUSY, "too many analyses are queued; try again");
}

int store_get_tracks(store_report **out, store *st, catalog *c, const cat_session *s,
                     const cat_host *h, const store_asker *who)
{
    const store_wanted full = {VP_GROUP_NAME, VP_DEPTH_FULL, VP_UNKNOWN, VP_WHERE_DEVICE};
    pthread_mutex_lock(&st->lock);
    store_report *e = find_tracks(st, s, h);
    bool mine = !e;
    if (mine)
        e = store_add(st, s, &full, h);
    if (e)
        return take_computed_report(out, &(work){.st = st, .who = who, .e = e, .host = h}, mine, c,
                                    s);
    pthread_mutex_unlock(&st->lock);
    return vp_no_memory();
}

/* Uncached work in a turn of its own. */
typedef int aside(work *w, catalog *c, const cat_session *s, vp_report_options *opts, void *ctx);

static int in_turn(work *w, catalog *c, const cat_session *s, aside *fn, void *ctx)
{
    store *st = w->st;
    vp_report_options opts = VP_REPORT_OPTIONS_INIT;
    pthread_mutex_lock(&st->lock);
    bool may = st->waiting < WAITING_MAX;
    st->waiting += may;
    pthread_mutex_unlock(&st->lock);
    if (!may)
        return vp_fail(VP_EBUSY, "too many analyses are queued; try again");
    int rc = work_begin(w, &opts, s);
    if (rc >= 0)
        rc = work_end(w, fn(w, c, s, &opts, ctx));
    pthread_mutex_lock(&st->lock);
    st->waiting--;
    pthread_mutex_unlock(&st->lock);
    return rc;
}

typedef struct op_wanted {
    op_details **out;
    const vp_report *r;
    size_t op;
} op_wanted;

static int details_of(work *w, catalog *c, const cat_session *s, vp_report_options *opts, void *ctx)
{
    const op_wanted *o = ctx;
    (void)w;
    return analyze_op(o->out, c, s, o->r, o->op, opts);
}

int store_op(op_details **out, store *st, catalog *c, const cat_session *s, const vp_report *r,
             size_t op, const store_asker *who)
{
    op_wanted o = {out, r, op};
    return in_turn(&(work){.st = st, .who = who}, c, s, details_of, &o);
}

static int look_alone(work *w, catalog *c, const cat_session *s, vp_report_options *opts, void *ctx)
{
    const char *const *host = ctx;
    vp_report *unused = NULL;
    opts->depth = VP_DEPTH_FULL;
    opts->host = *host;
    int rc = analyze_session_looked(&unused, c, s, opts, w->look, w->look_ctx);
    if (rc >= 0)
        analyze_free(unused);
    return rc;
}

int store_look(store *st, catalog *c, const cat_session *s, const char *host, analyze_look_fn *look,
               void *look_ctx, const store_asker *who)
{
    const store_wanted full = {VP_GROUP_NAME, VP_DEPTH_FULL, VP_UNKNOWN, VP_WHERE_DEVICE};
    work w = {.st = st, .who = who, .look = look, .look_ctx = look_ctx};
    pthread_mutex_lock(&st->lock);
    bool may =
        !host && st->waiting < WAITING_MAX && !store_find_report(st, s, &full, VP_DEPTH_FULL);
    store_report *e = w.e = may ? store_add(st, s, &full, NULL) : NULL;
    if (!e) {
        pthread_mutex_unlock(&st->lock);
        return in_turn(&w, c, s, look_alone, &host);
    }
    e->holders++;
    int rc = get_slowly(&w, true, c, s);
    e->holders--;
    store_drop_unused(st, e);
    pthread_mutex_unlock(&st->lock);
    return rc;
}

bool store_peek(store_report **out, store *st, const cat_session *s, vp_group group)
{
    pthread_mutex_lock(&st->lock);
    store_report *e =
        find_enough(st, s, &(store_wanted){group, VP_DEPTH_OPS, VP_UNKNOWN, VP_WHERE_DEVICE});
    bool there = is_ready(e);
    if (there) {
        e->holders++;
        *out = e;
    }
    pthread_mutex_unlock(&st->lock);
    return there;
}

const vp_report *store_report_of(const store_report *h)
{
    return h->report;
}

const derived *store_tracks_of(const store_report *h)
{
    return h->tracks;
}

void store_release(store_report **h)
{
    store_report *e = *h;
    if (!e)
        return;
    *h = NULL;
    store *st = e->st;
    pthread_mutex_lock(&st->lock);
    e->holders--;
    store_drop_unused(st, e);
    pthread_mutex_unlock(&st->lock);
}

void store_cancel(store *st)
{
    atomic_store(&st->cancelled, true);
    index_cancel(st->index);
}

void store_close(store *st)
{
    if (!st)
        return;
    index_close(st->index);
    for (store_report *e = st->first, *next; e; e = next) {
        next = e->next;
        free_store_report(e);
    }
    turns_free(st->turns);
    pthread_mutex_destroy(&st->lock);
    pthread_cond_destroy(&st->changed);
    vp_free(st);
}
