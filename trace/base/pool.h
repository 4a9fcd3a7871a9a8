/* Rooms that threads work in, one each: whoever is done with one gives it back, and the next takes
 * it, so that there are as many as were ever in use at once. A room begins with a vp_pooled.
 * Everyone may include this header; the caller makes rooms, and frees them once all are back. */
#ifndef VP_BASE_POOL_H
#define VP_BASE_POOL_H

#include <pthread.h>
#include <stddef.h>

typedef struct vp_pooled {
    struct vp_pooled *next;
} vp_pooled;

typedef struct vp_pool {
    pthread_mutex_t lock;
    vp_pooled *free;
} vp_pool;

static inline void vp_pool_init(vp_pool *p)
{
    pthread_mutex_init(&p->lock, NULL);
    p->free = NULL;
}

/* After its rooms were taken and freed. */
static inline void vp_pool_end(vp_pool *p)
{
    pthread_mutex_destroy(&p->lock);
}

/* A room that nobody uses; NULL: there is none. */
static inline void *vp_pool_take(vp_pool *p)
{
    pthread_mutex_lock(&p->lock);
    vp_pooled *room = p->free;
    if (room)
        p->free = room->next;
    pthread_mutex_unlock(&p->lock);
    return room;
}

static inline void vp_pool_give(vp_pool *p, void *room)
{
    vp_pooled *pooled = room;
    pthread_mutex_lock(&p->lock);
    pooled->next = p->free;
    p->free = pooled;
    pthread_mutex_unlock(&p->lock);
}

#endif
