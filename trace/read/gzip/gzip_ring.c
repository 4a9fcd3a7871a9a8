#include "trace/read/gzip/gzip_ring.h"

#include <pthread.h>

#include "trace/base/limits.h"
#include "trace/base/thread.h"
#include "trace/read/bytes/chunk.h"

#define SLOTS 4

struct gz_ring {
    gz_fill_fn *fill;
    void *ctx;
    gz_slot slots[SLOTS];
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* guarded by the lock: */
    uint64_t filled, released; /* number of slots filled, and released, since the start */
    int result;                /* of the last fill; 1 while it continues */
    bool stop;
    vp_error error; /* error of the producer thread, if result < 0 */
    /* used only by the reader: */
    uint64_t taken;
};

/* The slot to fill next, or NULL if the ring stops. */
static gz_slot *wait_for_slot(gz_ring *r)
{
    pthread_mutex_lock(&r->lock);
    while (!r->stop && r->filled - r->released == SLOTS)
        pthread_cond_wait(&r->changed, &r->lock);
    gz_slot *slot = r->stop ? NULL : &r->slots[r->filled % SLOTS];
    pthread_mutex_unlock(&r->lock);
    return slot;
}

static void ring_publish_slot(gz_ring *r, int result)
{
    pthread_mutex_lock(&r->lock);
    if (result > 0)
        r->filled++;
    if (result < 0)
        r->error = *vp_error_last();
    r->result = result;
    pthread_cond_signal(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static void *ring_producer_thread(void *arg)
{
    gz_ring *r = arg;
    gz_slot *slot;
    int rc = 1;
    while (rc > 0 && (slot = wait_for_slot(r))) {
        rc = r->fill(r->ctx, slot);
        ring_publish_slot(r, rc);
    }
    return NULL;
}

static void ring_free(gz_ring *r)
{
    for (size_t i = 0; i < SLOTS; i++)
        rd_chunk_free(r->slots[i].data);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    vp_free(r);
}

int gz_ring_start(gz_ring **out, gz_fill_fn *fill, void *ctx)
{
    gz_ring *r = vp_calloc(1, sizeof *r);
    if (!r)
        return vp_fail(VP_ENOMEM, "out of memory for gzip");
    r->fill = fill;
    r->ctx = ctx;
    r->result = 1;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    int rc = 0;
    for (size_t i = 0; i < SLOTS && rc == 0; i++)
        if (!(r->slots[i].data = rd_chunk_new(VP_INFLATE_WINDOW)))
            rc = vp_fail(VP_ENOMEM, "out of memory for gzip");
    if (rc == 0 && vp_thread_start(&r->thread, ring_producer_thread, r) < 0)
        rc = vp_fail(VP_EBUSY, "cannot start a thread for gzip");
    if (rc < 0) {
        ring_free(r);
        return rc;
    }
    *out = r;
    return 0;
}

int gz_ring_next(gz_ring *r, gz_slot **slot)
{
    int rc;
    pthread_mutex_lock(&r->lock);
    if (r->released < r->taken) {
        r->released = r->taken;
        pthread_cond_signal(&r->changed);
    }
    while (r->filled == r->taken && r->result > 0)
        pthread_cond_wait(&r->changed, &r->lock);
    rc = r->filled > r->taken ? 1 : r->result;
    pthread_mutex_unlock(&r->lock);
    if (rc > 0)
        *slot = &r->slots[r->taken++ % SLOTS];
    return rc < 0 ? vp_fail_copy(&r->error) : rc;
}

void gz_ring_stop(gz_ring *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_cond_signal(&r->changed);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    ring_free(r);
}
