#include "server/routes/store/store_index.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "server/routes/store/watch.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/base/time.h"

/* In ms: how long a request for one run waits for the first scan before it fails with a retry. */
#define FIRST_WAIT_MS 5000
/* In ms after the start: until then a page may wait for the first scan, so that its first byte is
 * sent within 50 ms. */
#define FIRST_PAGE_MS 15
/* An age that makes every refresh scan. */
#define NEVER_SCANNED (INT64_MIN / 2)

struct store_index {
    char *path;
    bool once; /* standard input is read once */
    bool keep_ranks_apart;
    cat_copies copies;
    mirror *mirror; /* NULL: the path is local */
    dir_watch *watch;
    cat_live live;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    catalog *current;
    bool wanted, scanning, stop;
    bool complete;       /* a scan has succeeded */
    uint64_t generation; /* scans that ended */
    int64_t opened_ms;
    int64_t scanned_ms, took_ns;
    vp_error error; /* of the last scan; code 0: none */
};

/* ---- The thread ----------------------------------------------------------------------------- */

static void watch_directory(void *watch, const char *path)
{
    dir_watch_add(watch, path);
}

static void index_scan(store_index *ix)
{
    cat_options opts = CAT_OPTIONS_INIT;
    catalog *fresh = NULL, *old = index_catalog(ix);
    int64_t start = vp_now_ns();
    opts.previous = old;
    opts.keep_ranks_apart = ix->keep_ranks_apart;
    opts.copies = ix->copies;
    opts.mirror = ix->mirror;
    opts.live = &ix->live;
    opts.entering = ix->mirror ? NULL : watch_directory; /* changes in a mirror are made by this
                                                          * process */
    opts.entering_ctx = ix->watch;
    vp_error_clear();
    if (!ix->once && !ix->mirror)
        dir_watch_add(ix->watch, ix->path); /* for a single file: no directory is read */
    int rc = catalog_open(&fresh, ix->path, &opts);
    catalog_free(old);
    pthread_mutex_lock(&ix->lock);
    ix->error = *vp_error_last();
    ix->error.code = rc;
    old = ix->current;
    if (!rc) {
        ix->current = fresh;
        ix->complete = true;
    }
    ix->scanning = false;
    ix->generation++;
    ix->scanned_ms = vp_now_ms();
    ix->took_ns = vp_now_ns() - start;
    pthread_cond_broadcast(&ix->changed);
    pthread_mutex_unlock(&ix->lock);
    if (!rc)
        catalog_free(old);
}

static void *keep_up(void *arg)
{
    store_index *ix = arg;
    pthread_mutex_lock(&ix->lock);
    while (!ix->stop) {
        if (ix->wanted) {
            ix->wanted = false;
            ix->scanning = true;
            pthread_mutex_unlock(&ix->lock);
            index_scan(ix);
        } else {
            pthread_mutex_unlock(&ix->lock);
            if (dir_watch_wait(ix->watch)) {
                pthread_mutex_lock(&ix->lock);
                ix->wanted = !ix->once;
                continue;
            }
        }
        pthread_mutex_lock(&ix->lock);
    }
    pthread_mutex_unlock(&ix->lock);
    return NULL;
}

/* ---- Its owner ------------------------------------------------------------------------------ */

static void init_sync(store_index *ix)
{
    pthread_mutex_init(&ix->lock, NULL);
    vp_cond_init(&ix->changed);
}

static int check_path(const char *path)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    bool is_dir;
    return vp_fs_open_user(path, &fd, &is_dir, NULL);
}

static int index_start(store_index *ix, const char *path)
{
    ix->opened_ms = vp_now_ms();
    ix->once = !strcmp(path, "-");
    ix->wanted = true;
    if (!ix->once && !ix->mirror)
        VP_TRY(check_path(path));
    ix->path = vp_strdup(path);
    VP_NEED(ix->path);
    VP_TRY(catalog_none(&ix->current, path));
    VP_TRY(dir_watch_new(&ix->watch));
    VP_TRY(vp_thread_start(&ix->thread, keep_up, ix));
    ix->has_thread = true;
    return 0;
}

int index_open(store_index **out, const char *path, const cat_copies *copies, mirror *m,
               bool keep_ranks_apart)
{
    store_index *ix = vp_calloc(1, sizeof *ix);
    VP_NEED(ix);
    init_sync(ix);
    if (copies)
        ix->copies = *copies;
    ix->mirror = m ? mirror_ref(m) : NULL;
    ix->keep_ranks_apart = keep_ranks_apart;
    int rc = index_start(ix, path);
    if (rc < 0) {
        index_close(ix);
        return rc;
    }
    *out = ix;
    return 0;
}

void index_cancel(store_index *ix)
{
    atomic_store(&ix->live.stop, true);
    pthread_mutex_lock(&ix->lock);
    ix->stop = true;
    pthread_cond_broadcast(&ix->changed);
    pthread_mutex_unlock(&ix->lock);
    if (ix->watch)
        dir_watch_wake(ix->watch);
}

void index_close(store_index *ix)
{
    if (!ix)
        return;
    index_cancel(ix);
    if (ix->has_thread)
        pthread_join(ix->thread, NULL);
    dir_watch_free(ix->watch);
    catalog_free(ix->current);
    mirror_free(ix->mirror);
    pthread_cond_destroy(&ix->changed);
    pthread_mutex_destroy(&ix->lock);
    vp_free(ix->path);
    vp_free(ix);
}

/* ---- Its users ------------------------------------------------------------------------------ */

catalog *index_catalog(store_index *ix)
{
    pthread_mutex_lock(&ix->lock);
    catalog *c = catalog_ref(ix->current);
    pthread_mutex_unlock(&ix->lock);
    return c;
}

/* Call with the lock. Waits until `generation` scans have ended; false if wait_ms (-1: no limit)
 * expired before. */
static bool index_wait_for_scan(store_index *ix, uint64_t generation, int64_t wait_ms)
{
    struct timespec until;
    int64_t at = vp_now_ns() + wait_ms * 1000000;
    until.tv_sec = (time_t)(at / 1000000000);
    until.tv_nsec = (long)(at % 1000000000);
    int rc = 0;
    while (!ix->stop && ix->generation < generation && rc != ETIMEDOUT)
        rc = wait_ms < 0 ? pthread_cond_wait(&ix->changed, &ix->lock)
                         : pthread_cond_timedwait(&ix->changed, &ix->lock, &until);
    return ix->generation >= generation;
}

/* Under the lock. */
static void index_want_scan(store_index *ix)
{
    ix->wanted = true;
    dir_watch_wake(ix->watch);
}

static int index_unlock_result(store_index *ix)
{
    vp_error e = ix->error;
    pthread_mutex_unlock(&ix->lock);
    return e.code ? vp_fail_copy(&e) : 0;
}

/* How long to wait for the first scan: FIRST_WAIT_MS without a limit of the request; for a page
 * until FIRST_PAGE_MS after the start. */
static int64_t first_wait(const store_index *ix, int64_t wait_ms)
{
    int64_t left = ix->opened_ms + FIRST_PAGE_MS - vp_now_ms();
    if (wait_ms < 0)
        return FIRST_WAIT_MS;
    left = left < 0 ? 0 : left;
    return wait_ms < left ? wait_ms : left;
}

int index_refresh(store_index *ix, int64_t age_ms, int64_t wait_ms)
{
    pthread_mutex_lock(&ix->lock);
    uint64_t before = ix->generation;
    bool busy = ix->wanted || ix->scanning;
    if (!before)
        wait_ms = first_wait(ix, wait_ms);
    else if (ix->once || (!busy && vp_now_ms() - ix->scanned_ms < age_ms) || (busy && wait_ms < 0))
        wait_ms = 0; /* whoever could only wait without a limit takes the list as it is while it is
                        renewed */
    else if (!busy)
        index_want_scan(ix);
    if (wait_ms && index_wait_for_scan(ix, before + 1, wait_ms))
        return index_unlock_result(ix);
    pthread_mutex_unlock(&ix->lock);
    return 0;
}

int index_rescan(store_index *ix, int64_t wait_ms)
{
    pthread_mutex_lock(&ix->lock);
    uint64_t target = ix->generation + (ix->scanning ? 2 : 1);
    if (ix->mirror)
        mirror_spoil(ix->mirror);
    if (!ix->once)
        index_want_scan(ix);
    else if (ix->generation)
        target = ix->generation;
    if (wait_ms && index_wait_for_scan(ix, target, wait_ms))
        return index_unlock_result(ix);
    bool stopped = ix->stop;
    pthread_mutex_unlock(&ix->lock);
    return stopped ? vp_fail(VP_ECANCELLED, "the server is shutting down") : 0;
}

void index_spoil(store_index *ix)
{
    pthread_mutex_lock(&ix->lock);
    ix->scanned_ms = NEVER_SCANNED;
    pthread_mutex_unlock(&ix->lock);
}

int index_wait(store_index *ix, int64_t wait_ms)
{
    pthread_mutex_lock(&ix->lock);
    if (ix->generation || index_wait_for_scan(ix, 1, wait_ms))
        return index_unlock_result(ix);
    pthread_mutex_unlock(&ix->lock);
    return 1;
}

void index_counts(store_index *ix, store_counts *out)
{
    bool all;
    pthread_mutex_lock(&ix->lock);
    out->ready = ix->complete;
    out->indexing = !ix->generation && !ix->stop;
    out->scans = ix->generation;
    out->scan_ns = ix->took_ns;
    out->sessions = catalog_count(ix->current);
    out->not_readable = catalog_note_count(ix->current);
    pthread_mutex_unlock(&ix->lock);
    out->looked_at = atomic_load(&ix->live.entries);
    out->found = atomic_load(&ix->live.sessions);
    out->watched = dir_watch_count(ix->watch, &all);
    out->watched_all = all;
}
