#include "trace/read/xspace/xs_crew.h"

#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

/* More gain nothing: cutting and joining are one thread's. */
#define THREADS_MAX 16
/* A thread costs as much as it takes to read so many bytes. */
#define BYTES_A_THREAD (1 << 20)
/* Parts a thread: one in hand, one that waits, one that was not joined yet. */
#define PARTS_A_THREAD 3

typedef enum part_state { FREE, WAITS, IN_HAND, DECODED } part_state;

struct xs_crew {
    xs_reader *r;
    vp_mem_budget *budget;
    pthread_mutex_t lock;
    pthread_cond_t work, decoded;
    xs_part *parts;    /* a ring: first <= next <= last */
    part_state *state; /* changed under the lock */
    size_t part_n;
    uint64_t first; /* the first that is not joined */
    uint64_t next;  /* the first that nobody decodes */
    uint64_t last;  /* the one that is filled */
    xs_decoder decoder;
    vp_aside threads[THREADS_MAX];
    size_t thread_n; /* besides the reader's own */
    bool started, quit;
};

static size_t threads_wanted(const xs_reader *r)
{
    int64_t worth = r->w.size / BYTES_A_THREAD;
    int64_t n = r->opts ? r->opts->threads : 1;
    n = n < worth ? n : worth;
    return n > THREADS_MAX ? THREADS_MAX : n > 1 ? (size_t)n : 1;
}

int xs_crew_new(xs_crew **out, xs_reader *r)
{
    xs_crew *c = vp_calloc(1, sizeof *c);
    VP_NEED(c);
    c->r = r;
    c->thread_n = threads_wanted(r) - 1;
    c->part_n = c->thread_n ? (c->thread_n + 1) * PARTS_A_THREAD : 1;
    c->parts = vp_calloc(c->part_n, sizeof *c->parts);
    c->state = vp_calloc(c->part_n, sizeof *c->state);
    if (!c->parts || !c->state) {
        vp_free(c->parts);
        vp_free(c->state);
        vp_free(c);
        return vp_no_memory();
    }
    c->budget = vp_mem_enter(NULL);
    vp_mem_enter(c->budget);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    pthread_cond_init(&c->decoded, NULL);
    xs_part_clear(&c->parts[0]);
    *out = c;
    return 0;
}

/* ---- The threads ---------------------------------------------------------------------------- */

static int help(void *ctx)
{
    xs_crew *c = ctx;
    xs_decoder d = {0};
    vp_mem_budget *before = vp_mem_enter(c->budget);
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (c->next == c->last && !c->quit)
            pthread_cond_wait(&c->work, &c->lock);
        if (c->quit)
            break;
        size_t i = (size_t)(c->next++ % c->part_n);
        c->state[i] = IN_HAND;
        pthread_mutex_unlock(&c->lock);
        xs_part_decode(&c->parts[i], &d, c->r);
        pthread_mutex_lock(&c->lock);
        c->state[i] = DECODED;
        pthread_cond_signal(&c->decoded);
    }
    pthread_mutex_unlock(&c->lock);
    xs_decoder_free(&d);
    vp_mem_enter(before);
    return 0;
}

/* A thread that cannot be had is done without. */
static void start(xs_crew *c)
{
    c->started = true;
    for (size_t i = 0; i < c->thread_n; i++) {
        if (vp_aside_try(&c->threads[i], help, c) < 0)
            return;
    }
}

/* ---- The reader's own thread ---------------------------------------------------------------- */

/* Joins the first part, once it is decoded; decodes one itself if that is to be waited for. Called
 * with the lock, which it gives up meanwhile. */
static int join_first(xs_crew *c)
{
    size_t i = (size_t)(c->first % c->part_n);
    while (c->state[i] != DECODED) {
        if (c->next == c->last) {
            pthread_cond_wait(&c->decoded, &c->lock);
            continue;
        }
        size_t mine = (size_t)(c->next++ % c->part_n);
        c->state[mine] = IN_HAND;
        pthread_mutex_unlock(&c->lock);
        xs_part_decode(&c->parts[mine], &c->decoder, c->r);
        pthread_mutex_lock(&c->lock);
        c->state[mine] = DECODED;
    }
    pthread_mutex_unlock(&c->lock);
    int rc = xs_part_join(c->r, &c->parts[i]);
    pthread_mutex_lock(&c->lock);
    c->state[i] = FREE;
    c->first++;
    return rc;
}

/* Hands the filled part over and finds room for the next. */
static int hand_over(xs_crew *c)
{
    int rc = 0;
    if (!c->started && c->thread_n)
        start(c);
    pthread_mutex_lock(&c->lock);
    c->state[c->last % c->part_n] = WAITS;
    c->last++;
    pthread_cond_signal(&c->work);
    while (rc >= 0 && c->first < c->last &&
           (c->last - c->first >= c->part_n || c->state[c->first % c->part_n] == DECODED))
        rc = join_first(c);
    pthread_mutex_unlock(&c->lock);
    VP_TRY(rc);
    xs_part_clear(&c->parts[c->last % c->part_n]);
    return 0;
}

int xs_crew_add(xs_crew *c, const xs_run *run)
{
    xs_part *p = &c->parts[c->last % c->part_n];
    VP_TRY(xs_part_add(p, run));
    return xs_part_is_full(p) ? hand_over(c) : 0;
}

int xs_crew_finish(xs_crew *c)
{
    int rc = c->parts[c->last % c->part_n].run_n ? hand_over(c) : 0;
    pthread_mutex_lock(&c->lock);
    while (rc >= 0 && c->first < c->last)
        rc = join_first(c);
    pthread_mutex_unlock(&c->lock);
    return rc;
}

void xs_crew_free(xs_crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->quit = true;
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; i < c->thread_n; i++)
        vp_aside_wait(&c->threads[i]);
    for (size_t i = 0; i < c->part_n; i++)
        xs_part_free(&c->parts[i]);
    xs_decoder_free(&c->decoder);
    pthread_cond_destroy(&c->work);
    pthread_cond_destroy(&c->decoded);
    pthread_mutex_destroy(&c->lock);
    vp_free(c->parts);
    vp_free(c->state);
    vp_free(c);
}
