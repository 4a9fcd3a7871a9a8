/* Arena allocator: memory with one lifetime, freed by one call. One arena per trace.
 *
 * A trace has millions of small strings and rows that live exactly as long as the trace. Pieces are
 * cut from chunks that double from 64 KiB to 4 MiB, so slack is below a quarter:
 *
 *   chunk 3 (newest)          chunk 2              chunk 1
 *   [hdr|pieces…|free....] -> [hdr|pieces…|slack] -> [hdr|pieces…|slack]
 *
 * A piece larger than half a chunk gets a chunk of its own. Pieces are 8-byte aligned and never
 * move. The interner maps strings to dense uint32 ids; id 0 is the empty string. Allocations return
 * NULL when out of memory. Not thread-safe unless the owner sets `lock`; then several threads may
 * allocate from the arena. */
#ifndef VP_BASE_ARENA_H
#define VP_BASE_ARENA_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/str.h"

typedef struct vp_arena {
    struct vp_arena_chunk *head;
    size_t next_size;
    uint64_t bytes;        /* bytes taken from the allocator */
    pthread_mutex_t *lock; /* NULL: used by one thread at a time */
} vp_arena;

void vp_arena_init(vp_arena *a);
void vp_arena_free(vp_arena *a);
/* Moves all chunks of `from` to a, without moving their pieces; `from` is empty afterwards. */
void vp_arena_take_over(vp_arena *a, vp_arena *from);
void *vp_arena_alloc(vp_arena *a, size_t n);  /* uninitialized; NULL when out of memory */
void *vp_arena_zalloc(vp_arena *a, size_t n); /* zeroed */
char *vp_arena_strndup(vp_arena *a, const char *p, size_t n); /* NUL-terminated copy */

typedef uint32_t vp_sid; /* an interned string; 0 is "" */

typedef struct vp_intern {
    vp_arena *arena;
    vp_str *strings;  /* by id; each is followed by a NUL */
    uint32_t *slots;  /* open addressing, 0 = free */
    uint32_t *hashes; /* by id */
    size_t count, cap, slot_mask;
    uint64_t bytes;
} vp_intern;

int vp_intern_init(vp_intern *in, vp_arena *arena);
void vp_intern_free(vp_intern *in);
/* The id of a string, copied on first sight. 0 or VP_ENOMEM/VP_ELIMIT. */
int vp_intern_put(vp_intern *in, vp_str s, vp_sid *out);
/* The string of an id; ids out of range give "". Lives as long as the arena. */
static inline vp_str vp_intern_get(const vp_intern *in, vp_sid id)
{
    return id < in->count ? in->strings[id] : VP_STR("");
}

#endif
