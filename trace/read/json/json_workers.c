#include "trace/read/json/json_workers.h"

#include <pthread.h>
#include <string.h>

#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/read/bytes/chunk.h"

/* More do not help: inflating and reading events are done by one thread each. */
#define THREADS_MAX 4
/* File size in bytes below which threads cost more than they save. */
#define WORTH (256 << 10)
/* Pieces per thread: one in work, one waiting, one not taken yet. */
#define PIECES_A_THREAD 3
/* Pieces waiting to be scanned before a thread scans one itself instead of filling another. With
 * fewer, threads sleep for lack of work; with more, pieces leave the processor's cache. */
#define WAITING 3
/* Maximum number of events that one scan of a piece may find (2 MB of memory); the reader handles
 * the rest. */
#define FOUND_MAX 8192u
/* Bytes of a piece within which an event must begin. */
#define GUESS_MAX (64u << 10)

struct cj_workers {
    rd_stream *in; /* used by the filling thread */
    js_skip_fn *skip;
    vp_aside threads[THREADS_MAX];
    cj_piece pieces[THREADS_MAX * PIECES_A_THREAD];
    size_t piece_n;
    cj_layout layout; /* for scans on the reader's own thread */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Guarded by the lock, like the state of pieces. Counts of pieces: released, taken, scanned,
     * filled; each at most the next. */
    uint64_t released, taken, scans, filled;
    bool filling, ended, quit;
    int result;     /* final result of the stream */
    vp_error error; /* error of the stream, if result < 0 */
    char first[32]; /* text that events begin with */
    size_t first_n; /* 0: unknown */
};

bool cj_workers_fits(const rd_stream *in, int threads)
{
    return threads > 1 && in->fill && in->raw_total >= WORTH;
}

void cj_workers_free(cj_workers **workers)
{
    cj_workers *c = *workers;
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->quit = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; i < THREADS_MAX; i++)
        vp_aside_wait(&c->threads[i]);
    for (size_t i = 0; i < c->piece_n; i++) {
        rd_chunk_free(c->pieces[i].text);
        vp_free(c->pieces[i].found);
    }
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    vp_free(c);
}

/* ---- Work: called with the lock, which is released meanwhile ---- */

static cj_piece *piece_at(cj_workers *c, uint64_t i)
{
    return &c->pieces[i % c->piece_n];
}

/* Finds the events of a piece, from the first that begins like other events. Results are stored
 * once at the end, because the piece shares cache lines with data that other threads use
 * constantly. */
static void scan_piece(cj_piece *p, vp_str first, js_skip_fn *skip, cj_layout *layout)
{
    const char *text = p->text, *end = text + p->n, *after;
    const char *at =
        first.n ? memmem(text, p->n < GUESS_MAX ? p->n : GUESS_MAX, first.p, first.n) : NULL;
    cj_found *const found = p->found, *e = found;
    p->count = 0;
    if (!at)
        return;
    p->from = (size_t)(at - text);
    while (at < end && *at == '{' && e < found + FOUND_MAX) {
        if (cj_event_fields(at, end, skip, layout, &e->f, &after) != JS_CLOSE)
            break;
        e++->at = at;
        for (at = after; (at = js_skip_line(at, end, true)) < end && *at == ',';)
            at++;
    }
    p->count = (size_t)(e - found);
    p->to = (size_t)(at - text);
}

static bool scan_one(cj_workers *c, cj_layout *layout)
{
    char first[sizeof c->first];
    size_t n = c->first_n;
    if (c->scans == c->filled)
        return false;
    cj_piece *p = piece_at(c, c->scans++);
    memcpy(first, c->first, n);
    pthread_mutex_unlock(&c->lock);
    scan_piece(p, (vp_str){first, n}, c->skip, layout);
    pthread_mutex_lock(&c->lock);
    p->scanned = true;
    pthread_cond_broadcast(&c->changed);
    return true;
}

static bool fill_one(cj_workers *c)
{
    if (c->filling || c->ended || c->filled - c->released == c->piece_n)
        return false;
    cj_piece *p = piece_at(c, c->filled);
    c->filling = true;
    pthread_mutex_unlock(&c->lock);
    int rc = c->in->fill(c->in, p->text, VP_INFLATE_WINDOW, &p->n);
    p->raw_done = c->in->raw_done;
    pthread_mutex_lock(&c->lock);
    c->filling = false;
    c->ended = rc <= 0;
    c->result = rc;
    if (rc < 0)
        c->error = *vp_error_last();
    p->scanned = false;
    c->filled += rc > 0;
    pthread_cond_broadcast(&c->changed);
    return true;
}

/* ---- The threads ---- */

static bool fill_or_scan(cj_workers *c, cj_layout *layout)
{
    return (c->filled - c->scans < WAITING && fill_one(c)) || scan_one(c, layout);
}

static int workers_helper_thread(void *ctx)
{
    cj_workers *c = ctx;
    cj_layout layout = {0};
    pthread_mutex_lock(&c->lock);
    while (!c->quit)
        if (!fill_or_scan(c, &layout))
            pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
    return 0;
}

int cj_workers_new(cj_workers **out, rd_stream *in, int threads)
{
    VP_CLEANUP(cj_workers_free) cj_workers *c = vp_calloc(1, sizeof *c);
    VP_NEED(c);
    c->in = in;
    c->skip = js_skip_best();
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    threads = threads < THREADS_MAX ? threads : THREADS_MAX;
    for (c->piece_n = 0; c->piece_n < (size_t)threads * PIECES_A_THREAD;) {
        cj_piece *p = &c->pieces[c->piece_n++];
        p->text = rd_chunk_new(VP_INFLATE_WINDOW);
        p->found = vp_malloc(FOUND_MAX * sizeof *p->found);
        VP_NEED(p->text && p->found);
    }
    for (int i = 1; i < threads; i++)
        if (vp_aside_try(&c->threads[i], workers_helper_thread, c) < 0)
            break; /* continue with fewer threads */
    *out = c;
    c = NULL;
    return 0;
}

int cj_workers_next(cj_workers *c, cj_piece **piece)
{
    int rc = 1;
    pthread_mutex_lock(&c->lock);
    if (c->released < c->taken) {
        c->released = c->taken;
        pthread_cond_broadcast(&c->changed);
    }
    for (;;) {
        *piece = piece_at(c, c->taken);
        if (c->taken < c->filled && (*piece)->scanned)
            break;
        if (scan_one(c, &c->layout) || fill_one(c))
            continue;
        if (c->ended && c->taken == c->filled) {
            rc = c->result;
            break;
        }
        pthread_cond_wait(&c->changed, &c->lock);
    }
    c->taken += rc > 0;
    pthread_mutex_unlock(&c->lock);
    return rc < 0 ? vp_fail_copy(&c->error) : rc;
}

void cj_workers_learn(cj_workers *c, vp_str first)
{
    first = vp_str_head(first, sizeof c->first);
    pthread_mutex_lock(&c->lock);
    memcpy(c->first, first.p, first.n);
    c->first_n = first.n;
    pthread_mutex_unlock(&c->lock);
}
