/* The threads that record: each has a vp__thread, which outlives it and is reused by another
 * thread. */
#include "trace/capture/threads/recording_thread.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/thread.h"
#include "trace/base/time.h"
#include "trace/capture/pool/clock.h"
#include "trace/capture/pool/thread_names.h"

#define SLAB 256u
#define SLABS 256u
#define LATEST_EVERY_NS 10000000 /* maximum age of the newest reading of the clocks */

/* A multiple of cache lines, so that threads on different processors share none. */
typedef struct slot {
    vp__thread t;
    uint32_t next_free; /* number + 1 */
    uint32_t number;
    uint32_t correlations[CAP_CORRELATIONS];
    cap_own own;
    char name[sizeof((vp__block *)NULL)->name];
} __attribute__((aligned(64))) slot;

static vp__thread nobody;
uint32_t vp__on, vp__level = VP_LEVEL_INFO;
VP__TLS vp__thread *vp__me = &nobody;
cap_pool cap_pool_now;

vp__thread **vp__me_place(void)
{
    return &vp__me;
}

static slot first_slab[SLAB];
static slot *slabs[SLABS] = {first_slab};
static uint32_t slots_made;
static uint64_t free_slots; /* changes << 32 | number + 1 */
static uint64_t nowhere;    /* zones lost by threads without a slot */

static pthread_key_t exit_key;
static bool has_exit_key;

static slot *slot_at(uint32_t number)
{
    slot *slab = __atomic_load_n(&slabs[number / SLAB], __ATOMIC_ACQUIRE);
    return slab ? &slab[number % SLAB] : NULL;
}

/* Uses mmap, which a signal handler may call, unlike malloc. */
static slot *slab_of(uint32_t number)
{
    slot **place = &slabs[number / SLAB], *have = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    size_t bytes = SLAB * sizeof(slot);
    if (have)
        return have;
    slot *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        return NULL;
    if (__atomic_compare_exchange_n(place, &have, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    munmap(made, bytes);
    return have;
}

static slot *take_free_slot(void)
{
    uint64_t head = __atomic_load_n(&free_slots, __ATOMIC_ACQUIRE), next;
    slot *s;
    do {
        if (!(uint32_t)head)
            return NULL;
        s = slot_at((uint32_t)head - 1);
        if (!s)
            return NULL;
        next = ((head >> 32) + 1) << 32 | VP__LOAD(s->next_free);
    } while (!__atomic_compare_exchange_n(&free_slots, &head, next, false, __ATOMIC_ACQUIRE,
                                          __ATOMIC_ACQUIRE));
    return s;
}

static void give_slot(slot *s)
{
    uint64_t head = VP__LOAD(free_slots), next;
    s->name[0] = 0;
    s->own = (cap_own){.depth = 0};
    s->t.correlation = s->t.correlation_depth = 0;
    do {
        VP__STORE(s->next_free, (uint32_t)head);
        next = ((head >> 32) + 1) << 32 | (s->number + 1);
    } while (!__atomic_compare_exchange_n(&free_slots, &head, next, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

static slot *take_thread_slot(void)
{
    slot *s = take_free_slot();
    uint32_t number = VP__LOAD(slots_made);
    if (s)
        return s;
    do {
        if (number == SLAB * SLABS || !slab_of(number))
            return NULL;
    } while (!__atomic_compare_exchange_n(&slots_made, &number, number + 1, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_RELAXED));
    s = slot_at(number); /* the slot was used before, so its slab exists */
    if (s)
        s->number = number;
    return s;
}

/* A signal handler may run in between and take a slot for the thread: that one is then used. */
vp__thread *cap_me(void)
{
    vp__thread *me = vp__me, *mine;
    if (me != &nobody)
        return me;
    slot *s = take_thread_slot();
    if (!s)
        return NULL;
    mine = &s->t;
    me = &nobody;
    if (!__atomic_compare_exchange_n(&vp__me, &me, mine, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED)) {
        give_slot(s);
        return me;
    }
    if (has_exit_key)
        pthread_setspecific(exit_key, s);
    return mine;
}

static slot *slot_of_thread(vp__thread *t)
{
    return (slot *)(void *)t;
}

uint32_t *cap_correlations(vp__thread *t)
{
    return slot_of_thread(t)->correlations;
}

cap_own *cap_own_now(void)
{
    vp__thread *t = cap_me();
    return t ? &slot_of_thread(t)->own : NULL;
}

static void copy_thread_name(char *dst, const char *name)
{
    size_t n = strnlen(name, sizeof slot_of_thread(NULL)->name - 1);
    while (n && name[n] && ((unsigned char)name[n] & 0xc0) == 0x80)
        n--; /* keeps whole characters */
    memcpy(dst, name, n);
    dst[n] = 0;
}

static bool attach_thread(vp__thread *t, uint32_t generation)
{
    vp__chunk *c = pool_take(&cap_pool_now, VP__FIRST_PAGES);
    if (!c)
        return false;
    pool_assign(&cap_pool_now, c, c, 0);
    t->chunk = c;
    t->block = pool_block(c);
    t->block->tid = vp_thread_number();
    if (slot_of_thread(t)->name[0])
        copy_thread_name(t->block->name, slot_of_thread(t)->name);
    else
        prctl(PR_GET_NAME, t->block->name);
    t->scope_depth = t->pair_depth = 0;
    t->generation = generation;
    return true;
}

static void count_one(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* If a recording keeps the first zones and has no space for the next, it ends for all threads at
 * one time. This thread is busy, so the end of the recording waits for it. Async-signal-safe. */
static void end_when_full(void)
{
    uint32_t on = VP__LOAD(vp__on);
    vpcap_header *h = cap_pool_now.head;
    if (cap_pool_now.ring || !on ||
        !__atomic_compare_exchange_n(&vp__on, &on, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        return;
    clock_pair(&h->stop, 8);
    __atomic_fetch_or(&h->flags, VPCAP_IS_FULL, __ATOMIC_RELEASE);
    grow_end(&cap_pool_now);
}

/* A signal handler interrupted its busy thread. While the recording is seen as active, this
 * protects the image. */
static void count_signal(vp__thread *t, uint32_t generation)
{
    if (VP__LOAD(vp__on) != generation)
        return;
    count_one(t->generation == generation ? &t->block->dropped_signal
                                          : &cap_pool_now.head->gone_dropped_signal);
}

static vp__thread *enter_thread(uint32_t generation, bool count)
{
    vp__thread *t = cap_me();
    if (!t) {
        if (count)
            count_one(&nowhere);
        return NULL;
    }
    if (VP__LOAD(t->busy)) {
        if (count)
            count_signal(t, generation);
        return NULL;
    }
    if (!vp__enter(t, generation))
        return NULL;
    /* seen as active after the thread was marked busy: the pool belongs to this recording */
    if (__atomic_load_n(&vp__on, __ATOMIC_ACQUIRE) == generation &&
        (t->generation == generation || attach_thread(t, generation)))
        return t;
    if (count && VP__LOAD(vp__on) == generation) {
        count_one(&cap_pool_now.head->gone_dropped_full);
        end_when_full();
    }
    vp__leave(t);
    return NULL;
}

vp__thread *cap_enter(uint32_t generation)
{
    return enter_thread(generation, true);
}

vp__thread *cap_try_enter(uint32_t generation)
{
    return enter_thread(generation, false);
}

uint64_t cap_nowhere_take(void)
{
    return __atomic_exchange_n(&nowhere, 0, __ATOMIC_RELAXED);
}

/* Stores a reading of the clocks, for the image of a process that dies: the farther apart two
 * readings are, the more exact is the rate. */
static void note_clock(vpcap_header *h)
{
    uint64_t version = VP__LOAD(h->latest_version);
    if (version % 2 || vp_now_ns() - VP__LOAD(h->latest.mono_ns) < LATEST_EVERY_NS)
        return;
    if (!__atomic_compare_exchange_n(&h->latest_version, &version, version + 1, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    vpcap_pair pair;
    clock_pair(&pair, 8);
    VP__STORE(h->latest.ticks, pair.ticks);
    VP__STORE(h->latest.mono_ns, pair.mono_ns);
    VP__STORE(h->latest.unix_ns, pair.unix_ns);
    __atomic_store_n(&h->latest_version, version + 2, __ATOMIC_RELEASE);
}

static void put_lost(vp__thread *t)
{
    vp__block *b = t->block;
    uint64_t *at = (uint64_t *)(void *)((vp__record *)(void *)t->chunk + (uint32_t)t->chunk->state);
    uint64_t count = b->lost < UINT32_MAX ? b->lost : UINT32_MAX;
    VP__STORE(at[0], b->lost_since);
    VP__STORE(at[1], (uint64_t)VP__WHAT(VPCAP_NAME_LOST, 0, VP__LOST) << 32 | count);
    cap_publish(t, 1, false);
    __atomic_store_n(&b->lost, 0, __ATOMIC_RELEASE);
}

vp__record *cap_reserve(vp__thread *t, uint32_t slots, uint64_t now)
{
    vp__chunk *c = t->chunk, *next, *first = (vp__chunk *)(void *)t->block - 1;
    uint32_t used = (uint32_t)VP__LOAD(c->state);
    if (slots <= c->limit - used)
        return (vp__record *)(void *)c + used;
    next = pool_take(&cap_pool_now, VP__CHUNK_PAGES);
    if (!next) {
        vp__block *b = t->block;
        count_one(&b->dropped_full);
        if (!b->lost)
            VP__STORE(b->lost_since, now);
        __atomic_store_n(&b->lost, b->lost + 1, __ATOMIC_RELEASE);
        end_when_full();
        return NULL;
    }
    pool_assign(&cap_pool_now, next, first, c->order + 1);
    t->chunk = next;
    pool_seal(&cap_pool_now, c, vp__ticks(t->generation), false);
    note_clock(cap_pool_now.head);
    if (t->block->lost)
        put_lost(t);
    return (vp__record *)(void *)next + (uint32_t)VP__LOAD(next->state);
}

void cap_publish(vp__thread *t, uint32_t slots, bool is_event)
{
    uint64_t state = VP__LOAD(t->chunk->state) + slots + ((uint64_t)is_event << 32);
    __atomic_store_n(&t->chunk->state, state, __ATOMIC_RELEASE);
}

/* Counts the thread's open zones as left, because they will never end. */
static void leave_zones(vp__block *b)
{
    uint64_t left = 0;
    for (uint32_t i = 0; i < VP__DEPTH; i++) {
        left += cap_frame_close(&b->scopes[i]);
        left += cap_frame_close(&b->pairs[i]);
    }
    __atomic_fetch_add(&b->left, left, __ATOMIC_RELAXED);
}

/* Called when a thread exits: completes its chunk, and frees its slot for another thread. */
static void thread_exits(void *ctx)
{
    slot *s = ctx;
    vp__thread *t = &s->t;
    uint32_t generation = t->generation;
    if (generation && !VP__LOAD(t->busy) && vp__enter(t, generation)) {
        leave_zones(t->block);
        pool_seal(&cap_pool_now, t->chunk, vp__ticks(generation), true);
        pool_retire(&cap_pool_now, (vp__chunk *)(void *)t->block - 1);
        t->generation = 0;
        vp__leave(t);
    }
    t->generation = 0;
    vp__me = &nobody;
    give_slot(s);
}

/* Runs early, so that the key is among the first, for which pthread_setspecific allocates no
 * memory. */
__attribute__((constructor)) static void make_exit_key(void)
{
    has_exit_key = pthread_key_create(&exit_key, thread_exits) == 0;
}

static bool has_membarrier(void)
{
    static bool registered; /* set by the first start, under its lock */
    if (!registered)
        registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    return registered;
}

static void sleep_us(long us)
{
    nanosleep(&(struct timespec){0, us * 1000}, NULL);
}

void cap_threads_prepare(void)
{
    has_membarrier();
}

bool cap_settled(unsigned ms)
{
    int64_t until = vp_now_ns() + (int64_t)ms * 1000000;
    if (!has_membarrier() || syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
        sleep_us(10000); /* long enough for every processor's writes to become visible */
    for (uint32_t i = 0, n = __atomic_load_n(&slots_made, __ATOMIC_ACQUIRE); i < n; i++) {
        slot *s = slot_at(i);
        while (s && __atomic_load_n(&s->t.busy, __ATOMIC_ACQUIRE)) {
            if (vp_now_ns() > until)
                return false;
            sleep_us(20);
        }
    }
    return true;
}

void cap_threads_forget(void)
{
    cap_own was = vp__me == &nobody ? (cap_own){.depth = 0} : slot_of_thread(vp__me)->own;
    vp__me = &nobody;
    /* an exchange instead of a store: acquires the writes of threads that ended before the fork */
    __atomic_exchange_n(&free_slots, 0, __ATOMIC_ACQUIRE);
    slots_made = 0;
    for (uint32_t i = 0; i < SLABS; i++)
        if (slabs[i])
            memset(slabs[i], 0, SLAB * sizeof(slot));
    if (has_exit_key)
        pthread_setspecific(exit_key, NULL);
    cap_own *own = was.depth || was.in_step || was.marks.n ? cap_own_now() : NULL;
    if (own) /* operations in progress on the forking thread continue in the child */
        *own = was;
}

int vp_thread_name(const char *name)
{
    vp__thread *t;
    uint32_t generation = vp__generation();
    if (!name)
        return vp_fail(VP_EARG, "a thread's name must not be NULL");
    t = cap_me();
    if (!t)
        return vp_fail(VP_ELIMIT, "more than %u threads record", SLAB * SLABS);
    copy_thread_name(slot_of_thread(t)->name, name);
    thread_names_forget(vp_thread_number());
    if (generation && t->generation == generation && !VP__LOAD(t->busy) &&
        vp__enter(t, generation)) {
        copy_thread_name(t->block->name, name);
        vp__leave(t);
    }
    return 0;
}
