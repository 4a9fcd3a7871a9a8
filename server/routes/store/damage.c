#include "server/routes/store/damage.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

#define KEPT 64u

typedef struct damage {
    vp_file_id id;
    uint32_t member;
    char why[DAMAGE_TEXT]; /* "": free */
} damage;

struct damage_list {
    pthread_mutex_t lock;
    size_t next; /* the oldest entry, which is replaced next */
    damage kept[KEPT];
};

int damage_new(damage_list **out)
{
    damage_list *l = vp_calloc(1, sizeof *l);
    VP_NEED(l);
    pthread_mutex_init(&l->lock, NULL);
    *out = l;
    return 0;
}

void damage_free(damage_list *l)
{
    if (!l)
        return;
    pthread_mutex_destroy(&l->lock);
    vp_free(l);
}

static uint32_t member_index_of(const cat_file *f)
{
    return f->is_member ? f->member_index : UINT32_MAX;
}

/* Call with the lock. */
static damage *find_noted_damage(damage_list *l, const cat_file *f)
{
    for (size_t i = 0; i < KEPT; i++) {
        const vp_file_id *id = &l->kept[i].id;
        if (l->kept[i].why[0] && id->dev == f->id.dev && id->ino == f->id.ino &&
            id->size == f->id.size && id->mtime_ns == f->id.mtime_ns &&
            l->kept[i].member == member_index_of(f))
            return &l->kept[i];
    }
    return NULL;
}

void damage_note(damage_list *l, const cat_file *f, const char *why)
{
    pthread_mutex_lock(&l->lock);
    damage *d = find_noted_damage(l, f);
    if (!d) {
        d = &l->kept[l->next];
        l->next = (l->next + 1) % KEPT;
    }
    d->id = f->id;
    d->member = member_index_of(f);
    snprintf(d->why, sizeof d->why, "%s", why);
    pthread_mutex_unlock(&l->lock);
}

bool damage_of(damage_list *l, const cat_file *f, char *why)
{
    pthread_mutex_lock(&l->lock);
    const damage *d = find_noted_damage(l, f);
    if (d)
        memcpy(why, d->why, sizeof d->why);
    pthread_mutex_unlock(&l->lock);
    return d != NULL;
}
