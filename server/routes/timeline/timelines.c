#include "server/routes/timeline/timelines.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "server/routes/store/turns.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

/* Maximum number of unreferenced indexes. */
#define KEPT_MAX 16
/* Maximum number of handlers that wait here. Together with those that wait for reports (store.c)
 * they are fewer than workers (work.c), so that cheap pages are still served. */
#define WAITING_MAX 3
/* In ms: interval of checking whether a client is still connected. */
#define LOOK_MS 200

struct timeline_held {
    timelines *of;
    timeline_held *next, *prev; /* most recently used first, while `listed` */
    bool listed;
    char *id;
    int64_t mtime_ns, bytes; /* of the session */
    uint32_t host;
    catalog *c; /* referenced while it is being made */
    const cat_session *s;
    int holders; /* the thread that makes it holds one reference */
    _Atomic int askers;
    _Atomic bool done;
    tl_index *x; /* set once, before `done` or with it */
    /* Only the thread that makes the index uses the next four. */
    derived *tracks;       /* those of the trace of x, or NULL */
    bool told_again;       /* the current trace is the host's other half, not that of x */
    bool late;             /* x waits for the analysis */
    bool at_once;          /* the analysis failed, so x does not wait */
    timeline_added *added; /* set with `done`; NULL: none */
    vp_error error;
};

struct timelines {
    store *store;
    uint64_t kept_max, late_events;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    timeline_held *first, *last;
    int working; /* threads */
    int waiting; /* handlers */
};

int timelines_open(timelines **out, store *st, uint64_t kept_max, uint64_t late_events)
{
    timelines *all = vp_calloc(1, sizeof *all);
    VP_NEED(all);
    all->store = st;
    all->kept_max = kept_max;
    all->late_events = late_events;
    pthread_mutex_init(&all->lock, NULL);
    vp_cond_init(&all->changed);
    *out = all;
    return 0;
}

static void free_held_timeline(timeline_held *e)
{
    tl_free(e->x);
    derived_free(e->tracks);
    timeline_added_free(e->added);
    vp_free(e->id);
    vp_free(e);
}

/* ---- The list; the lock is held in what follows --------------------------------------------- */

static void timelines_unlist(timeline_held *e)
{
    timelines *all = e->of;
    if (!e->listed)
        return;
    *(e->prev ? &e->prev->next : &all->first) = e->next;
    *(e->next ? &e->next->prev : &all->last) = e->prev;
    e->listed = false;
}

static void timelines_list_first(timeline_held *e)
{
    timelines *all = e->of;
    e->prev = NULL;
    e->next = all->first;
    *(e->next ? &e->next->prev : &all->last) = e;
    all->first = e;
    e->listed = true;
}

/* Frees unreferenced indexes that exceed the limits; the most recently used one is kept regardless
 * of its size, because otherwise each request would make it again. */
static void timelines_drop_unused(timelines *all, timeline_held *e)
{
    uint64_t bytes = 0;
    int kept = 0;
    if (!e->listed && !e->holders)
        free_held_timeline(e);
    for (timeline_held *x = all->first, *next; x; x = next) {
        next = x->next;
        if (x->holders)
            continue;
        bytes += x->x ? tl_bytes(x->x) : 0;
        bytes += x->added ? timeline_added_bytes(x->added) : 0;
        if (++kept > KEPT_MAX || (kept > 1 && bytes > all->kept_max)) {
            timelines_unlist(x);
            free_held_timeline(x);
        }
    }
}

static timeline_held *timelines_find(const timelines *all, const cat_session *s, uint32_t host)
{
    for (timeline_held *e = all->first; e; e = e->next)
        if (e->host == host && e->mtime_ns == s->newest_mtime_ns && e->bytes == s->bytes &&
            !strcmp(e->id, s->id))
            return e;
    return NULL;
}

static timeline_held *timelines_add(timelines *all, catalog *c, const cat_session *s, uint32_t host)
{
    timeline_held *e = vp_calloc(1, sizeof *e);
    if (!e || !(e->id = vp_strdup(s->id))) {
        vp_free(e);
        return NULL;
    }
    e->of = all;
    e->mtime_ns = s->newest_mtime_ns;
    e->bytes = s->bytes;
    e->host = host;
    e->c = catalog_ref(c);
    e->s = s;
    timelines_list_first(e);
    return e;
}

/* ---- Making one ----------------------------------------------------------------------------- */

/* When the index is available, the rest is completed even if no client waits. If this returns true,
 * the entry can no longer be found, and a new request makes it again. */
static bool no_client_waits(const void *ctx)
{
    timeline_held *e = (timeline_held *)ctx;
    pthread_mutex_lock(&e->of->lock);
    bool none = !e->x && !atomic_load(&e->askers);
    if (none)
        timelines_unlist(e);
    pthread_mutex_unlock(&e->of->lock);
    return none;
}

/* The report is still made if there is no memory for the index. */
static void take_index(timeline_held *e, const trace *t)
{
    tl_index *x = NULL;
    int rc = vp_mem_explain(e->late ? tl_build_last(&x, t) : tl_build(&x, t));
    pthread_mutex_lock(&e->of->lock);
    if (rc < 0) {
        e->error = *vp_error_last();
        e->error.code = rc;
    } else if (!e->x) {
        e->x = x;
        x = NULL;
        e->error.code = 0;
    }
    pthread_cond_broadcast(&e->of->changed);
    pthread_mutex_unlock(&e->of->lock);
    tl_free(x); /* of the second file, if the first is already shown */
}

static int take_trace(void *ctx, uint32_t host, const trace *t, derived *d)
{
    timeline_held *e = ctx;
    if (host != e->host) {
        derived_free(d);
        return 0;
    }
    if (!d) {
        e->told_again = e->x != NULL;
        e->late = !e->x && !e->at_once && t->event_count >= e->of->late_events;
    }
    if (e->late == (d != NULL))
        take_index(e, t);
    if (d && (!e->x || e->told_again)) {
        derived_free(d);
    } else if (d) {
        derived_free(e->tracks);
        e->tracks = d;
    }
    return 0;
}

/* A late index exists only after the analysis. */
static int load_timeline_index(timeline_held *e)
{
    const store_asker who = {no_client_waits, e};
    const char *name = e->s->host_count > 1 ? e->s->hosts[e->host].name : NULL;
    int rc = store_look(e->of->store, e->c, e->s, name, take_trace, e, &who);
    if (rc >= 0 || rc == VP_ECANCELLED || !e->late || e->x)
        return rc;
    e->at_once = true;
    return store_look(e->of->store, e->c, e->s, name, take_trace, e, &who);
}

/* Without a report the tracks have no findings; if they do not fit, only those of the file are
 * shown. */
static void add_analysis(timeline_held *e, const char *host, timeline_added **out)
{
    const store_wanted full = {VP_GROUP_NAME, VP_DEPTH_FULL, VP_UNKNOWN, VP_WHERE_DEVICE};
    const store_asker who = {no_client_waits, e};
    store_report *h = NULL;
    bool any = e->tracks && store_get(&h, e->of->store, e->c, e->s, &full, &who) >= 0;
    if (e->tracks &&
        timeline_added_make(out, e->tracks, e->x, any ? store_report_of(h) : NULL, host) < 0)
        vp_log(VP_LOG_WARN, "the timeline of %s has no analysis tracks: %s", e->s->name,
               vp_error_last()->message);
    e->tracks = NULL;
    store_release(&h);
}

static void *timeline_thread(void *ctx)
{
    timeline_held *e = ctx;
    timelines *all = e->of;
    timeline_added *added = NULL;
    int rc = load_timeline_index(e);
    if (rc >= 0)
        add_analysis(e, e->s->hosts[e->host].name, &added);
    pthread_mutex_lock(&all->lock);
    e->added = added;
    if (rc < 0 && !e->error.code) {
        e->error = *vp_error_last();
        e->error.code = rc;
    }
    if (!e->x && !e->error.code) {
        vp_fail(VP_EEMPTY, "the run has no timeline");
        e->error = *vp_error_last();
    }
    if (!e->x)
        timelines_unlist(e); /* errors are not cached: the next request tries again */
    catalog_free(e->c);
    e->c = NULL;
    atomic_store(&e->done, true);
    e->holders--;
    timelines_drop_unused(all, e);
    all->working--;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

static int start_timeline_thread(timeline_held *e)
{
    pthread_t thread;
    e->holders++;
    e->of->working++;
    int rc = vp_thread_start(&thread, timeline_thread, e);
    if (rc >= 0) {
        pthread_detach(thread);
        return 0;
    }
    e->holders--;
    e->of->working--;
    timelines_unlist(e);
    catalog_free(e->c);
    return rc;
}

/* ---- Asking for one ------------------------------------------------------------------------- */

static int fail_timelines_busy(void)
{
    return vp_fail(VP_EBUSY, "too many timelines are queued; try again");
}

/* The awaited result, or a failure. */
static bool is_timeline_there(const timeline_held *e, bool whole)
{
    return atomic_load(&e->done) || (e->x && !whole);
}

/* Called with the lock held, which is released while waiting. Waits for the index, or with `whole`
 * for its completion. */
static int wait_for_timeline(timeline_held *e, bool whole, const store_asker *who)
{
    bool gone = false;
    if (!is_timeline_there(e, whole) && e->of->waiting >= WAITING_MAX)
        return fail_timelines_busy();
    atomic_fetch_add(&e->askers, 1);
    e->of->waiting++;
    while (!is_timeline_there(e, whole) && !gone) {
        struct timespec until = vp_cond_until(LOOK_MS);
        pthread_cond_timedwait(&e->of->changed, &e->of->lock, &until);
        gone = !is_timeline_there(e, whole) && who && who->gone(who->ctx);
    }
    e->of->waiting--;
    atomic_fetch_sub(&e->askers, 1);
    if (e->x && is_timeline_there(e, whole))
        return 0;
    return gone ? turn_unwanted() : vp_fail_copy(&e->error);
}

int timelines_get(timeline_held **out, timelines *all, catalog *c, const cat_session *s,
                  uint32_t host, const store_asker *who)
{
    if (host >= s->host_count)
        return vp_fail(VP_EEMPTY, "run %s has no timeline%s%s", s->name, s->why ? ": " : "",
                       s->why ? s->why : "");
    int rc = 0;
    pthread_mutex_lock(&all->lock);
    timeline_held *e = timelines_find(all, s, host);
    bool mine = !e;
    if (mine && all->waiting >= WAITING_MAX) {
        pthread_mutex_unlock(&all->lock);
        return fail_timelines_busy();
    }
    if (mine)
        e = timelines_add(all, c, s, host);
    if (!e) {
        pthread_mutex_unlock(&all->lock);
        return vp_no_memory();
    }
    e->holders++;
    if (mine)
        rc = start_timeline_thread(e);
    if (rc >= 0)
        rc = wait_for_timeline(e, false, who);
    if (rc < 0) {
        e->holders--;
    } else if (e->listed) {
        timelines_unlist(e);
        timelines_list_first(e);
    }
    timelines_drop_unused(all, e);
    pthread_mutex_unlock(&all->lock);
    if (rc >= 0)
        *out = e;
    return rc;
}

const tl_index *timeline_index(const timeline_held *h)
{
    return h->x;
}

int timeline_wait(const timeline_added **out, timeline_held *h, const store_asker *who)
{
    pthread_mutex_lock(&h->of->lock);
    int rc = wait_for_timeline(h, true, who);
    *out = h->added;
    pthread_mutex_unlock(&h->of->lock);
    return rc;
}

void timeline_release(timeline_held **h)
{
    timeline_held *e = *h;
    if (!e)
        return;
    *h = NULL;
    timelines *all = e->of;
    pthread_mutex_lock(&all->lock);
    e->holders--;
    timelines_drop_unused(all, e);
    pthread_mutex_unlock(&all->lock);
}

void timelines_close(timelines *all)
{
    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    while (all->working)
        pthread_cond_wait(&all->changed, &all->lock);
    pthread_mutex_unlock(&all->lock);
    for (timeline_held *e = all->first, *next; e; e = next) {
        next = e->next;
        free_held_timeline(e);
    }
    pthread_mutex_destroy(&all->lock);
    pthread_cond_destroy(&all->changed);
    vp_free(all);
}
