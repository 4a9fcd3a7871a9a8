#include "trace/capture/pool/pool.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "include/view_profile_capture.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

#define POOL_BYTES_MIN (2 * VP__CHUNK_PAGES * (size_t)VP__PAGE)
#define PAGES_MAX (UINT64_C(1) << 24) /* 64 GiB */
#define POOL_BYTES_MAX (PAGES_MAX * VP__PAGE)
/* Sizes of tables; a pool of 64 MiB has 65,536 names and 8 MiB of strings. They are reserved
 * address space: only the used part becomes memory. */
#define NAMES_MIN 4096u
#define NAMES_MAX (1u << 20)
#define BYTES_PER_NAME 1024u
#define STRING_BYTES_PER_NAME 128u
#define DEVICES_MAX 256u
#define TRACKS_MAX 4096u
#define METAS_MAX 1024u

_Static_assert(sizeof(vp__record) == VP__SLOT && sizeof(vp__item) == VP__SLOT, "slots");
_Static_assert(sizeof(vp__chunk) == 4 * VP__SLOT, "a chunk's head is whole slots");
_Static_assert(sizeof(vp__block) % VP__SLOT == 0, "so is a block");
_Static_assert(sizeof(vpcap_header) <= VP__PAGE, "the header has a page");
_Static_assert(VP__EVENT_SLOTS + sizeof(vp__chunk) / VP__SLOT <= VP__PAGE / VP__SLOT,
               "the longest event fits into the smallest chunk");

static uint64_t place_area(vpcap_area *a, uint64_t at, uint32_t cap, size_t entry)
{
    *a = (vpcap_area){at, cap, 0};
    return (at + cap * entry + VP__PAGE - 1) / VP__PAGE * VP__PAGE;
}

static void lay_out_pool(vpcap_header *h, size_t bytes, bool ring)
{
    uint64_t wanted = bytes / BYTES_PER_NAME, at = VP__PAGE;
    uint32_t names = (uint32_t)(wanted < NAMES_MIN   ? NAMES_MIN
                                : wanted > NAMES_MAX ? NAMES_MAX
                                                     : wanted);
    memset(h, 0, sizeof *h);
    memcpy(h->magic, VPCAP_MAGIC, sizeof h->magic);
    h->version = VPCAP_VERSION;
    h->header_bytes = sizeof *h;
    h->flags = ring ? VPCAP_IS_RING : 0;
    at = place_area(&h->devices, at, DEVICES_MAX, sizeof(vpcap_device_entry));
    at = place_area(&h->tracks, at, TRACKS_MAX, sizeof(vpcap_track_entry));
    at = place_area(&h->metas, at, METAS_MAX, sizeof(vpcap_meta_entry));
    at = place_area(&h->open, at, VPCAP_OPEN_MAX, sizeof(vpcap_open_entry));
    at = place_area(&h->names, at, names, sizeof(vpcap_name_entry));
    at = place_area(&h->strings, at, names * STRING_BYTES_PER_NAME, 1);
    h->chunks_at = at;
    h->pages = (uint32_t)(bytes / VP__PAGE);
    h->image_bytes = at + (uint64_t)h->pages * VP__PAGE;
}

/* Maps the whole size at once, because untouched memory costs nothing. The file behind the mapping
 * grows in steps. */
static int map_image(cap_pool *p, const vpcap_header *h, int fd, const char *path)
{
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *at;
    VP_TRY(grow_open(&p->grow, h, fd, path));
    at = mmap(NULL, h->image_bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (at == MAP_FAILED)
        return vp_fail(errno == ENOMEM ? VP_ENOMEM : VP_EIO, "cannot map a pool of %llu bytes: %s",
                       (unsigned long long)h->image_bytes, strerror(errno));
    madvise(at, h->image_bytes, MADV_DONTFORK); /* a child must not write into it */
    if (fd >= 0) /* otherwise touching a hole reads megabytes ahead, 5 ms each time */
        madvise(at, h->image_bytes, MADV_RANDOM);
    p->image = at;
    p->size = h->image_bytes;
    p->head = at;
    memcpy(at, h, sizeof *h);
    grow_fill_first(p);
    return 0;
}

static void add_fixed_names(cap_pool *p)
{
    static const char *const texts[VPCAP_NAMES_FIXED] = {"flow", "lost"};
    p->head->names.used = VPCAP_NAMES_FIXED;
    for (uint32_t i = 0; i < VPCAP_NAMES_FIXED; i++) {
        vpcap_name_entry *e = pool_name(p, i);
        pool_string(p, &e->name, texts[i]);
        e->ready = 1;
    }
}

static int make_index(cap_pool *p, uint32_t pages)
{
    p->sealed = vp_calloc(pages / VP__CHUNK_PAGES + 1, sizeof *p->sealed);
    p->ended = vp_calloc(pages, sizeof *p->ended);
    return p->sealed && p->ended ? 0 : vp_fail(VP_ENOMEM, "out of memory: the pool's index");
}

int pool_open(cap_pool *p, size_t bytes, bool ring, int fd, const char *path)
{
    vpcap_header h;
    int rc;
    if (bytes > POOL_BYTES_MAX)
        return vp_fail(VP_EARG, "a pool of %zu bytes exceeds the limit of %llu", bytes,
                       (unsigned long long)POOL_BYTES_MAX);
    bytes = bytes < POOL_BYTES_MIN ? POOL_BYTES_MIN : bytes;
    lay_out_pool(&h, bytes, ring);
    *p = (cap_pool){.ring = ring};
    rc = ring ? make_index(p, h.pages) : 0;
    if (rc == 0)
        rc = map_image(p, &h, fd, path);
    if (rc < 0) {
        pool_close(p);
        return rc;
    }
    add_fixed_names(p);
    return 0;
}

void pool_close(cap_pool *p)
{
    if (p->image)
        munmap(p->image, p->size);
    grow_close(&p->grow);
    vp_free(p->sealed);
    vp_free(p->ended);
    *p = (cap_pool){.image = NULL};
}

static void make_head(vp__chunk *c, uint32_t pages)
{
    VP__STORE(c->magic, VP__CHUNK_MAGIC);
    VP__STORE(c->state, sizeof *c / VP__SLOT);
    __atomic_store_n(&c->pages, pages, __ATOMIC_RELEASE);
}

static vp__chunk *take_fresh(cap_pool *p, uint32_t pages)
{
    vpcap_header *h = p->head;
    uint32_t used = VP__LOAD(h->pages_used), take;
    do {
        take = h->pages - used < pages ? h->pages - used : pages;
        if (!take || (p->ring && take < pages)) /* a ring reuses whole chunks only */
            return NULL;
        if (!grow_pages(p, used + take))
            return NULL;
    } while (!__atomic_compare_exchange_n(&h->pages_used, &used, used + take, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    make_head(pool_chunk(p, used), take);
    return pool_chunk(p, used);
}

/* The upper half of the list head counts its changes, to avoid the ABA problem: a thread that reads
 * the same head twice cannot otherwise detect that the chunk was taken and freed in between. */
static void push_free(cap_pool *p, vp__chunk *c)
{
    uint64_t head = VP__LOAD(p->head->free_chunks), next;
    __atomic_store_n(&c->status, VP__CHUNK_FREE, __ATOMIC_RELAXED);
    do {
        VP__STORE(c->next_free, (uint32_t)head);
        next = ((head >> 32) + 1) << 32 | (pool_page_of(p, c) + 1);
    } while (!__atomic_compare_exchange_n(&p->head->free_chunks, &head, next, false,
                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static vp__chunk *pop_free(cap_pool *p)
{
    uint64_t head = __atomic_load_n(&p->head->free_chunks, __ATOMIC_ACQUIRE), next;
    vp__chunk *c;
    do {
        if (!(uint32_t)head)
            return NULL;
        c = pool_chunk(p, (uint32_t)head - 1);
        next = ((head >> 32) + 1) << 32 | VP__LOAD(c->next_free);
    } while (!__atomic_compare_exchange_n(&p->head->free_chunks, &head, next, false,
                                          __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    return c;
}

/* Splits off the pages after the first `keep` as a free chunk. Its head is written before the first
 * chunk is shortened, so that a concurrent walk finds both chunks or one, but never a gap. */
static void cut_off(cap_pool *p, vp__chunk *c, uint32_t keep)
{
    vp__chunk *rest = (vp__chunk *)(void *)((char *)c + (size_t)keep * VP__PAGE);
    uint32_t pages = c->pages;
    if (keep >= pages)
        return;
    memset(rest, 0, sizeof *rest);
    rest->recycled = c->recycled;
    make_head(rest, pages - keep);
    __atomic_store_n(&c->pages, keep, __ATOMIC_RELEASE);
    push_free(p, rest);
}

static vp__chunk *take_given_back(cap_pool *p, uint32_t pages)
{
    vp__chunk *c = pop_free(p);
    if (c && pages < c->pages)
        cut_off(p, c, pages);
    return c;
}

/* Takes the chunk that was sealed first, of any thread. */
static vp__chunk *take_oldest(cap_pool *p)
{
    uint32_t groups = p->head->pages / VP__CHUNK_PAGES + 1;
    for (;;) {
        uint64_t oldest = UINT64_MAX, *at = NULL;
        for (uint32_t i = 0; i < groups; i++) {
            uint64_t when = VP__LOAD(p->sealed[i]);
            if (when && when < oldest) {
                oldest = when;
                at = &p->sealed[i];
            }
        }
        if (!at)
            return NULL;
        if (__atomic_compare_exchange_n(at, &oldest, 0, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return pool_chunk(p, (uint32_t)(oldest & (PAGES_MAX - 1)));
    }
}

static void add_relaxed(uint64_t *sum, uint64_t n)
{
    __atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

static void release_chunk(vp__chunk *c)
{
    __atomic_store_n(&c->status, VP__CHUNK_CLAIMED, __ATOMIC_RELEASE);
    VP__STORE(c->recycled, c->recycled + 1);
    VP__STORE(c->state, sizeof *c / VP__SLOT);
}

/* Discards the content of a chunk and returns its number of events. lost_until is raised before
 * anything is overwritten: a reader that finds the old value has everything that ended after it. */
static uint64_t lose_chunk(cap_pool *p, const vp__chunk *c)
{
    uint64_t *last = &p->head->lost_until, was = VP__LOAD(*last), events = VP__LOAD(c->state) >> 32;
    while (events && was < c->until &&
           !__atomic_compare_exchange_n(last, &was, c->until, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        continue;
    return events;
}

/* Discards a chunk, and counts the loss in the thread's block if that still belongs to this
 * thread. */
static void give_up_chunk(cap_pool *p, vp__chunk *c)
{
    vp__block *b = pool_block(pool_chunk(p, c->block));
    add_relaxed(VP__LOAD(b->thread) == c->thread ? &b->overwritten : &p->head->gone_overwritten,
                lose_chunk(p, c));
    release_chunk(c);
}

/* Discards a whole thread. Its counts of losses are added to the header. */
static void give_up_thread(cap_pool *p, vp__chunk *first)
{
    vpcap_header *h = p->head;
    vp__block *b = pool_block(first);
    add_relaxed(&h->gone_threads, 1);
    add_relaxed(&h->gone_dropped_full, b->dropped_full);
    add_relaxed(&h->gone_dropped_signal, b->dropped_signal);
    add_relaxed(&h->gone_dropped_depth, b->dropped_depth);
    add_relaxed(&h->gone_unmatched_ends, b->unmatched_ends);
    __atomic_fetch_add(&h->gone_left, (uint32_t)b->left, __ATOMIC_RELAXED);
    add_relaxed(&h->gone_overwritten, b->overwritten + lose_chunk(p, first));
    VP__STORE(b->thread, 0);
    release_chunk(first);
}

/* Takes the first chunk of the thread that ended first. */
static vp__chunk *take_ended(cap_pool *p)
{
    uint32_t end = VP__LOAD(p->head->pages_used);
    for (;;) {
        uint64_t oldest = UINT64_MAX;
        uint32_t at = 0;
        for (uint32_t i = 0; i < end; i++) {
            uint64_t when = VP__LOAD(p->ended[i]);
            if (when && when < oldest) {
                oldest = when;
                at = i;
            }
        }
        if (oldest == UINT64_MAX)
            return NULL;
        if (!__atomic_compare_exchange_n(&p->ended[at], &oldest, 0, false, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        give_up_thread(p, pool_chunk(p, at));
        return pool_chunk(p, at);
    }
}

static vp__chunk *take_recycled(cap_pool *p, uint32_t pages)
{
    vp__chunk *c = take_oldest(p);
    if (!c)
        return NULL;
    give_up_chunk(p, c);
    cut_off(p, c, pages);
    return c;
}

/* In a ring, the first chunks of threads may fill an eighth of the pool. Beyond that, chunks of
 * ended threads are reused as long as there are any. */
static vp__chunk *take_first(cap_pool *p)
{
    vp__chunk *c = NULL;
    if (p->ring && VP__LOAD(p->firsts) >= p->head->pages / 8)
        c = take_ended(p);
    if (c)
        return c;
    c = take_given_back(p, VP__FIRST_PAGES);
    c = c ? c : take_fresh(p, VP__FIRST_PAGES);
    c = c || !p->ring ? c : take_ended(p);
    c = c || !p->ring ? c : take_recycled(p, VP__FIRST_PAGES);
    __atomic_fetch_add(&p->firsts, c != NULL, __ATOMIC_RELAXED);
    return c;
}

vp__chunk *pool_take(cap_pool *p, uint32_t pages)
{
    if (pages == VP__FIRST_PAGES)
        return take_first(p);
    vp__chunk *c = take_fresh(p, pages);
    if (c)
        return c;
    return p->ring ? take_recycled(p, pages) : take_given_back(p, pages);
}

static void clear_block(vp__block *b)
{
    uint64_t *words = (uint64_t *)(void *)b;
    for (size_t i = 0; i < sizeof *b / sizeof *words; i++)
        VP__STORE(words[i], 0);
}

void pool_assign(cap_pool *p, vp__chunk *c, const vp__chunk *first, uint32_t order)
{
    uint64_t head = sizeof *c / VP__SLOT;
    if (c == first) {
        uint64_t number = __atomic_add_fetch(&p->head->threads_made, 1, __ATOMIC_RELAXED);
        clear_block(pool_block(c));
        VP__STORE(c->thread, number);
        VP__STORE(pool_block(c)->thread, number);
        head += sizeof(vp__block) / VP__SLOT;
    } else {
        VP__STORE(c->thread, first->thread);
    }
    VP__STORE(c->block, pool_page_of(p, first));
    VP__STORE(c->order, order);
    VP__STORE(c->until, 0);
    VP__STORE(c->limit, c->pages * (VP__PAGE / VP__SLOT));
    VP__STORE(c->state, head);
    __atomic_store_n(&c->status, VP__CHUNK_OPEN, __ATOMIC_RELEASE);
}

void pool_seal(cap_pool *p, vp__chunk *c, uint64_t now, bool last)
{
    uint32_t used = (uint32_t)VP__LOAD(c->state);
    uint32_t keep = (used * VP__SLOT + VP__PAGE - 1) / VP__PAGE;
    if (last && !p->ring && keep < c->pages) {
        c->limit = keep * (VP__PAGE / VP__SLOT);
        cut_off(p, c, keep);
    }
    VP__STORE(c->until, now);
    if (!c->order && !last && p->ring) /* its block is in use */
        return;
    __atomic_store_n(&c->status, VP__CHUNK_SEALED, __ATOMIC_RELEASE);
    if (p->ring && c->pages == VP__CHUNK_PAGES) {
        uint64_t when = __atomic_add_fetch(&p->seals, 1, __ATOMIC_RELAXED);
        uint32_t page = pool_page_of(p, c);
        __atomic_store_n(&p->sealed[page / VP__CHUNK_PAGES], when * PAGES_MAX + page,
                         __ATOMIC_RELEASE);
    }
}

void pool_retire(cap_pool *p, vp__chunk *first)
{
    __atomic_store_n(&first->status, VP__CHUNK_SEALED, __ATOMIC_RELEASE);
    if (p->ring)
        __atomic_store_n(&p->ended[pool_page_of(p, first)],
                         __atomic_add_fetch(&p->seals, 1, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
}

bool pool_string(cap_pool *p, vpcap_ref *out, const char *s)
{
    vpcap_area *area = &p->head->strings;
    uint32_t n = s ? (uint32_t)strnlen(s, VPCAP_STRING_MAX) : 0, at = VP__LOAD(area->used);
    do {
        if (n > area->cap - at || !grow_area(p, area, &p->grow.strings, (uint64_t)at + n))
            return false;
    } while (!__atomic_compare_exchange_n(&area->used, &at, at + n, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    if (n)
        memcpy(p->image + area->at + at, s, n);
    *out = (vpcap_ref){at, n};
    return true;
}

vpcap_open_entry *pool_open_at(const cap_pool *p, uint32_t place)
{
    return (vpcap_open_entry *)(void *)(p->image + p->head->open.at) + place - 1;
}

static uint32_t pop_open(cap_pool *p)
{
    uint64_t head = __atomic_load_n(&p->head->free_open, __ATOMIC_ACQUIRE), next;
    do {
        if (!(uint32_t)head)
            return 0;
        next = ((head >> 32) + 1) << 32 | VP__LOAD(pool_open_at(p, (uint32_t)head)->next_free);
    } while (!__atomic_compare_exchange_n(&p->head->free_open, &head, next, false, __ATOMIC_ACQUIRE,
                                          __ATOMIC_ACQUIRE));
    return (uint32_t)head;
}

uint32_t pool_open_take(cap_pool *p)
{
    vpcap_area *area = &p->head->open;
    uint32_t place = pop_open(p), at = VP__LOAD(area->used);
    while (!place && at < area->cap)
        if (__atomic_compare_exchange_n(&area->used, &at, at + 1, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            place = at + 1;
    return place;
}

void pool_open_give(cap_pool *p, uint32_t place)
{
    uint64_t head = VP__LOAD(p->head->free_open), next;
    vpcap_open_entry *e = pool_open_at(p, place);
    __atomic_store_n(&e->start, 0, __ATOMIC_RELEASE);
    do {
        VP__STORE(e->next_free, (uint32_t)head);
        next = ((head >> 32) + 1) << 32 | place;
    } while (!__atomic_compare_exchange_n(&p->head->free_open, &head, next, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

uint32_t pool_names(cap_pool *p, uint32_t count)
{
    vpcap_area *area = &p->head->names;
    uint32_t at = VP__LOAD(area->used);
    do {
        if (count > area->cap - at ||
            !grow_area(p, area, &p->grow.names, (at + count) * sizeof(vpcap_name_entry)))
            return 0;
    } while (!__atomic_compare_exchange_n(&area->used, &at, at + count, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return at;
}

vpcap_name_entry *pool_name(cap_pool *p, uint32_t name)
{
    return (vpcap_name_entry *)(void *)(p->image + p->head->names.at) + name;
}
