#include "trace/analyze/device/device_sums.h"

#include <pthread.h>

#include "trace/analyze/device/breakdown.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

/* A trace with fewer events is counted before another thread has started. */
#define COUNT_ALONE 50000u

/* Rooms that no thread uses just now; there are as many as were ever in use at once. */
typedef struct rooms {
    pthread_mutex_t lock;
    ops_room *free;
} rooms;

typedef struct count {
    device_sums *v;
    size_t n;
    module_runs *modules;
    const grouping *g;
    const trace *t;
    rooms rooms;
} count;

static int take_room(ops_room **out, count *c)
{
    pthread_mutex_lock(&c->rooms.lock);
    ops_room *r = *out = c->rooms.free;
    if (r)
        c->rooms.free = *ops_room_next(r);
    pthread_mutex_unlock(&c->rooms.lock);
    return r ? 0 : ops_room_new(out, c->g, c->t);
}

static void give_room(ops_room *r, count *c)
{
    pthread_mutex_lock(&c->rooms.lock);
    *ops_room_next(r) = c->rooms.free;
    c->rooms.free = r;
    pthread_mutex_unlock(&c->rooms.lock);
}

static int count_ops(count *c, device_sums *d)
{
    ops_room *room = NULL;
    int rc = take_room(&room, c);
    if (rc >= 0)
        rc = ops_count(&d->ops, c->g, d->set, room);
    if (room)
        give_room(room, c);
    return rc;
}

/* Of each device two pieces, the longer ones first, so that threads end at about the same time. */
static int piece(void *ctx, uint32_t i)
{
    count *c = ctx;
    if (i == 2 * c->n)
        return module_runs_count(c->modules, c->t);
    device_sums *d = &c->v[i % c->n];
    return i < c->n ? count_ops(c, d)
                    : bd_compute(&d->breakdown, &d->start_ps, &d->end_ps, d->set,
                                 grouping_sweep_classes(c->g));
}

int device_sums_threads(const trace *t)
{
    return t->event_count < COUNT_ALONE ? 1 : t->threads;
}

int device_sums_count(device_sums *v, size_t n, module_runs *modules, const grouping *g,
                      const trace *t)
{
    count c = {v, n, modules, g, t, {.free = NULL}};
    pthread_mutex_init(&c.rooms.lock, NULL);
    int rc = vp_each(device_sums_threads(t), (uint32_t)n * 2 + 1, piece, &c);
    pthread_mutex_destroy(&c.rooms.lock);
    while (c.rooms.free) {
        ops_room *r = c.rooms.free;
        c.rooms.free = *ops_room_next(r);
        ops_room_free(r);
    }
    return rc;
}

void device_sums_free(device_sums *v, size_t n)
{
    for (size_t i = 0; v && i < n; i++)
        ops_sums_free(v[i].ops);
    vp_free(v);
}
