/* Free list of reusable per-thread workspaces. A thread takes one and gives it back when done, so
 * there are as many workspaces as were ever in use at once. A workspace begins with a
 * vp_freelist_item. The caller allocates workspaces, and frees them after all were given back.
 * Thread-safe. */
#ifndef VP_BASE_FREELIST_H
#define VP_BASE_FREELIST_H

#include <pthread.h>
#include <stddef.h>

typedef struct vp_freelist_item {
    struct vp_freelist_item *next;
} vp_freelist_item;

typedef struct vp_freelist {
    pthread_mutex_t lock;
    vp_freelist_item *free;
} vp_freelist;

static inline void vp_freelist_init(vp_freelist *p)
{
    pthread_mutex_init(&p->lock, NULL);
    p->free = NULL;
}

/* Call after the workspaces have been taken and freed. */
static inline void vp_freelist_end(vp_freelist *p)
{
    pthread_mutex_destroy(&p->lock);
}

/* Takes an unused workspace; NULL: none is free. */
static inline void *vp_freelist_take(vp_freelist *p)
{
    pthread_mutex_lock(&p->lock);
    vp_freelist_item *workspace = p->free;
    if (workspace)
        p->free = workspace->next;
    pthread_mutex_unlock(&p->lock);
    return workspace;
}

static inline void vp_freelist_give(vp_freelist *p, void *workspace)
{
    vp_freelist_item *item = workspace;
    pthread_mutex_lock(&p->lock);
    item->next = p->free;
    p->free = item;
    pthread_mutex_unlock(&p->lock);
}

#endif
