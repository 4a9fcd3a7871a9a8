/* Free list of reusable per-thread workspaces. A thread takes one and gives it back when done, so
 * there are as many workspaces as were ever in use at once. A workspace begins with a vp_spare. The
 * caller allocates workspaces, and frees them after all were given back. Thread-safe. */
#ifndef VP_BASE_SPARES_H
#define VP_BASE_SPARES_H

#include <pthread.h>
#include <stddef.h>

typedef struct vp_spare {
    struct vp_spare *next;
} vp_spare;

typedef struct vp_spares {
    pthread_mutex_t lock;
    vp_spare *free;
} vp_spares;

static inline void vp_spares_init(vp_spares *p)
{
    pthread_mutex_init(&p->lock, NULL);
    p->free = NULL;
}

/* Call after the workspaces have been taken and freed. */
static inline void vp_spares_end(vp_spares *p)
{
    pthread_mutex_destroy(&p->lock);
}

/* Takes an unused workspace; NULL: none is free. */
static inline void *vp_spares_take(vp_spares *p)
{
    pthread_mutex_lock(&p->lock);
    vp_spare *room = p->free;
    if (room)
        p->free = room->next;
    pthread_mutex_unlock(&p->lock);
    return room;
}

static inline void vp_spares_give(vp_spares *p, void *room)
{
    vp_spare *spare = room;
    pthread_mutex_lock(&p->lock);
    spare->next = p->free;
    p->free = spare;
    pthread_mutex_unlock(&p->lock);
}

#endif
