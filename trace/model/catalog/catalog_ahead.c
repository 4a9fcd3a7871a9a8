/* Threads that read directories ahead of the walk. The queue is a stack: the newest directories are
 * on top, and the first of a directory above its siblings. So they are read roughly in the order of
 * the walk, and few are open at once. The walk reads directories that no thread has begun, and
 * while it waits for one it reads others. */
#include "trace/model/catalog/catalog_ahead.h"

#include <errno.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/base/time.h"

/* Threads including this one: on slow file systems, and on those that answer from memory. */
#define SLOW_THREADS 16
#define FAST_THREADS 4
/* Waiting directories that justify starting another thread. */
#define MANY 16
/* Time per system call that marks a slow file system (from memory it is 1 or 2 us), and the number
 * of calls before it is judged. */
#define SLOW_NS 50000
#define JUDGED 64
/* Directories, and descriptors of them, that were read but not fetched yet. */
#define HELD_MAX 512
#define OPEN_MAX 64

struct cat_ahead {
    const cat_scan *scan;
    cat_reader *reader; /* of the walk */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    cat_node *top;
    size_t queued, idle;
    int64_t held, open, entries; /* totals of what was read but not fetched */
    int64_t ns, asked;           /* time for reading, and approximate number of system calls */
    vp_mem_budget *budget;
    _Atomic bool stop;
    vp_aside threads[SLOW_THREADS];
    int thread_count, most, fast; /* most: for slow file systems, or set by the user */
};

int cat_ahead_new(cat_ahead **out, const cat_scan *s)
{
    cat_ahead *a = vp_calloc(1, sizeof *a);
    VP_NEED(a);
    int rc = cat_reader_new(&a->reader, s);
    if (rc < 0) {
        vp_free(a);
        return rc;
    }
    a->scan = s;
    a->most = s->opts->jobs > 0 && s->opts->jobs < SLOW_THREADS ? s->opts->jobs : SLOW_THREADS;
    a->fast = vp_cpus();
    a->fast = a->fast < FAST_THREADS ? a->fast : FAST_THREADS;
    a->thread_count = 1;
    a->budget = vp_mem_enter(NULL);
    vp_mem_enter(a->budget);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->work, NULL);
    pthread_cond_init(&a->done, NULL);
    *out = a;
    return 0;
}

void cat_ahead_stop(cat_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    atomic_store(&a->stop, true);
    pthread_cond_broadcast(&a->work);
    pthread_mutex_unlock(&a->lock);
    for (int i = 1; i < a->thread_count; i++)
        vp_aside_wait(&a->threads[i]);
}

void cat_ahead_free(cat_ahead *a)
{
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->work);
    pthread_cond_destroy(&a->done);
    cat_reader_free(a->reader);
    vp_free(a);
}

/* ---- The queue: the caller holds the lock ---- */

static void ahead_unqueue(cat_ahead *a, cat_node *n)
{
    if (n->prev)
        n->prev->next = n->next;
    else
        a->top = n->next;
    if (n->next)
        n->next->prev = n->prev;
    a->queued--;
    n->state = CAT_UNREAD;
}

static void wake_one(cat_ahead *a)
{
    if (a->idle && a->top)
        pthread_cond_signal(&a->work);
}

static void queue_children(cat_ahead *a, cat_node *n)
{
    if (a->most < 2 || n->depth >= VP_WALK_DEPTH_MAX)
        return;
    for (size_t i = n->child_count; i-- > 0;) {
        cat_node *child = &n->children[i];
        child->state = CAT_QUEUED;
        child->prev = NULL;
        child->next = a->top;
        if (a->top)
            a->top->prev = child;
        a->top = child;
    }
    a->queued += n->child_count;
    wake_one(a);
}

/* The next directory to read ahead; NULL: none, or enough is held. */
static cat_node *next_ahead(cat_ahead *a)
{
    cat_node *n = a->top;
    if (!n || a->held >= HELD_MAX || a->open >= OPEN_MAX || a->entries >= VP_WALK_AHEAD_MAX)
        return NULL;
    ahead_unqueue(a, n);
    return n;
}

/* by: 1 or -1. */
static void ahead_count_held(cat_ahead *a, const cat_node *n, int by)
{
    a->held += by;
    a->open += n->child_count ? by : 0;
    a->entries += by * (int64_t)n->count;
}

/* own: the walk waits for the node and handles the result. A failure of other threads resets the
 * node to unread. */
static int ahead_read_node(cat_ahead *a, cat_reader *r, cat_node *n, bool own)
{
    n->state = CAT_READING;
    pthread_mutex_unlock(&a->lock);
    int64_t start = vp_now_ns();
    int rc = cat_read_dir(r, n, own ? NULL : &a->stop);
    int64_t took = vp_now_ns() - start;
    pthread_mutex_lock(&a->lock);
    a->ns += took;
    a->asked += 5 + 2 * (int64_t)n->found_count;
    if (rc < 0 || (n->failed && !own)) {
        cat_node_clear(n);
        n->failed = 0;
        n->state = CAT_UNREAD;
    } else {
        n->state = CAT_READ;
        ahead_count_held(a, n, 1);
        queue_children(a, n);
    }
    if (!own)
        pthread_cond_signal(&a->done);
    return rc;
}

static int read_ahead(void *ctx)
{
    cat_ahead *a = ctx;
    cat_reader *r = NULL;
    cat_node *n;
    vp_mem_enter(a->budget);
    if (cat_reader_new(&r, a->scan) < 0)
        return 0;
    pthread_mutex_lock(&a->lock);
    while (!atomic_load(&a->stop))
        if ((n = next_ahead(a))) {
            wake_one(a);
            (void)ahead_read_node(a, r, n, false);
        } else {
            a->idle++;
            pthread_cond_wait(&a->work, &a->lock);
            a->idle--;
        }
    pthread_mutex_unlock(&a->lock);
    cat_reader_free(r);
    return 0;
}

static void ahead_start_thread(cat_ahead *a)
{
    bool slow = a->asked >= JUDGED && a->ns > a->asked * SLOW_NS;
    int most = slow || a->scan->opts->jobs > 0 ? a->most : a->fast;
    if (a->queued < MANY || a->thread_count >= most)
        return;
    if (vp_aside_try(&a->threads[a->thread_count], read_ahead, a) < 0)
        a->most = a->fast = a->thread_count;
    else
        a->thread_count++;
}

int cat_ahead_get(cat_ahead *a, cat_node *n)
{
    int rc = 0;
    pthread_mutex_lock(&a->lock);
    ahead_start_thread(a);
    while (rc >= 0 && n->state != CAT_READ) {
        cat_node *other;
        if (n->state == CAT_QUEUED)
            ahead_unqueue(a, n);
        if (n->state == CAT_UNREAD)
            rc = ahead_read_node(a, a->reader, n, true);
        else if ((other = next_ahead(a)))
            (void)ahead_read_node(a, a->reader, other, false);
        else
            pthread_cond_wait(&a->done, &a->lock);
    }
    if (rc >= 0) {
        ahead_count_held(a, n, -1);
        if (a->held <= HELD_MAX / 2)
            wake_one(a);
    }
    pthread_mutex_unlock(&a->lock);
    return rc;
}

/* Releases a node with its children, which the walk has not reached; VP_WALK_DEPTH_MAX limits the
 * recursion. */
static void ahead_forget_node(cat_ahead *a, cat_node *n)
{
    for (size_t i = 0; i < n->child_count; i++) {
        cat_node *child = &n->children[i];
        while (child->state == CAT_READING)
            pthread_cond_wait(&a->done, &a->lock);
        if (child->state == CAT_QUEUED)
            ahead_unqueue(a, child);
        if (child->state != CAT_READ)
            continue;
        ahead_count_held(a, child, -1);
        ahead_forget_node(a, child);
    }
    cat_node_clear(n);
    n->state = CAT_UNREAD;
}

void cat_ahead_drop(cat_ahead *a, cat_node *n)
{
    bool shared = n->child_count > 0; /* other threads may be reading them */
    if (shared)
        pthread_mutex_lock(&a->lock);
    ahead_forget_node(a, n);
    if (shared)
        pthread_mutex_unlock(&a->lock);
}
