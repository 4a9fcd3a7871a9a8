#include "trace/base/arena.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

#define CHUNK_MIN (64u << 10)
#define CHUNK_MAX (4u << 20)
#define CHUNK_HUGE (2u << 20)

typedef struct vp_arena_chunk {
    struct vp_arena_chunk *next;
    size_t used, size; /* of data[] */
    _Alignas(16) char data[];
} chunk;

void vp_arena_init(vp_arena *a)
{
    *a = (vp_arena){.next_size = CHUNK_MIN};
}

void vp_arena_free(vp_arena *a)
{
    for (chunk *c = a->head; c;) {
        chunk *next = c->next;
        vp_free(c);
        c = next;
    }
    vp_arena_init(a);
}

void vp_arena_take_over(vp_arena *a, vp_arena *from)
{
    chunk **end = a->head ? &a->head->next : &a->head, *behind = *end; /* a's head stays first */
    *end = from->head;
    while (*end)
        end = &(*end)->next;
    *end = behind;
    a->bytes += from->bytes;
    vp_arena_init(from);
}

static chunk *new_chunk(vp_arena *a, size_t size)
{
    if (size > SIZE_MAX - sizeof(chunk))
        return NULL;
    /* a large chunk will be filled, so huge pages pay off */
    chunk *c = size >= CHUNK_HUGE ? vp_realloc_array(NULL, 1, sizeof *c + size)
                                  : vp_malloc(sizeof *c + size);
    if (!c)
        return NULL;
    c->used = 0;
    c->size = size;
    a->bytes += sizeof *c + size;
    return c;
}

static void *arena_reserve(vp_arena *a, size_t n)
{
    chunk *c = a->head;
    size_t need = (n + 7) & ~(size_t)7;
    if (need < n)
        return NULL;
    if (c && need <= c->size - c->used) {
        c->used += need;
        return c->data + c->used - need;
    }
    if (need > a->next_size / 2) { /* its own chunk, after the head, which is still used */
        c = new_chunk(a, need);
        if (!c)
            return NULL;
        c->used = need;
        if (a->head) {
            c->next = a->head->next;
            a->head->next = c;
        } else {
            c->next = NULL;
            a->head = c;
        }
        return c->data;
    }
    c = new_chunk(a, a->next_size);
    if (!c)
        return NULL;
    if (a->next_size < CHUNK_MAX)
        a->next_size *= 2;
    c->next = a->head;
    a->head = c;
    c->used = need;
    return c->data;
}

void *vp_arena_alloc(vp_arena *a, size_t n)
{
    if (!a->lock)
        return arena_reserve(a, n);
    pthread_mutex_lock(a->lock);
    void *p = arena_reserve(a, n);
    pthread_mutex_unlock(a->lock);
    return p;
}

void *vp_arena_zalloc(vp_arena *a, size_t n)
{
    void *p = vp_arena_alloc(a, n);
    return p ? memset(p, 0, n) : NULL;
}

char *vp_arena_strndup(vp_arena *a, const char *p, size_t n)
{
    char *d = vp_arena_alloc(a, n + 1);
    if (!d)
        return NULL;
    if (n)
        memcpy(d, p, n);
    d[n] = 0;
    return d;
}

int vp_intern_init(vp_intern *in, vp_arena *arena)
{
    *in = (vp_intern){.arena = arena, .slot_mask = 255};
    in->slots = vp_calloc(in->slot_mask + 1, sizeof *in->slots);
    in->cap = 128;
    in->strings = vp_calloc(in->cap, sizeof *in->strings);
    in->hashes = vp_calloc(in->cap, sizeof *in->hashes);
    if (!in->slots || !in->strings || !in->hashes) {
        vp_intern_free(in);
        return vp_no_memory();
    }
    in->strings[0] = VP_STR("");
    in->count = 1;
    return 0;
}

void vp_intern_free(vp_intern *in)
{
    vp_free(in->slots);
    vp_free(in->strings);
    vp_free(in->hashes);
    *in = (vp_intern){0};
}

static int intern_rehash(vp_intern *in)
{
    size_t mask = in->slot_mask * 2 + 1;
    uint32_t *slots = vp_calloc(mask + 1, sizeof *slots);
    VP_NEED(slots);
    for (uint32_t id = 1; id < in->count; id++) {
        size_t i = in->hashes[id] & mask;
        while (slots[i])
            i = (i + 1) & mask;
        slots[i] = id;
    }
    vp_free(in->slots);
    in->slots = slots;
    in->slot_mask = mask;
    return 0;
}

static int intern_append(vp_intern *in, vp_str s, uint32_t hash, vp_sid *out)
{
    if (in->bytes + s.n > VP_INTERN_BYTES_MAX)
        return vp_fail(VP_ELIMIT, "more than %llu bytes of names",
                       (unsigned long long)VP_INTERN_BYTES_MAX);
    if (in->count == in->cap) {
        size_t cap = in->cap, hcap = in->cap;
        VP_TRY(vp_grow(&in->strings, &cap, in->count + 1, sizeof *in->strings, VP_INTERN_MAX));
        VP_TRY(vp_grow(&in->hashes, &hcap, in->count + 1, sizeof *in->hashes, VP_INTERN_MAX));
        in->cap = cap;
    }
    char *copy = vp_arena_strndup(in->arena, s.p, s.n);
    VP_NEED(copy);
    in->strings[in->count] = (vp_str){copy, s.n};
    in->hashes[in->count] = hash;
    in->bytes += s.n;
    *out = (vp_sid)in->count++;
    return 0;
}

int vp_intern_put(vp_intern *in, vp_str s, vp_sid *out)
{
    if (!s.n) {
        *out = 0;
        return 0;
    }
    uint32_t hash = (uint32_t)(vp_hash(s.p, s.n, 0) >> 16);
    size_t i = hash & in->slot_mask;
    for (; in->slots[i]; i = (i + 1) & in->slot_mask) {
        uint32_t id = in->slots[i];
        if (in->hashes[id] == hash && vp_str_eq(in->strings[id], s)) {
            *out = id;
            return 0;
        }
    }
    /* Initialized for gcc: with thread instrumentation it does not see that intern_append() sets
     * it. */
    vp_sid id = 0;
    VP_TRY(intern_append(in, s, hash, &id));
    in->slots[i] = id;
    *out = id;
    return in->count * 2 > in->slot_mask ? intern_rehash(in) : 0;
}
