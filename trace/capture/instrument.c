#include "trace/capture/instrument.h"

#include <pthread.h>
#include <stdatomic.h>

#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/capture/recorder.h"
#include "trace/capture/symbol.h"

/* Functions that are known, and how deep their calls nest before they are left out. */
#define FUNCTIONS (1u << 16)
#define DEPTH 256u
#define NAME_MAX_BYTES 256u

/* Open addressing by address, never emptied: who finds a function there needs no lock. */
typedef struct entry {
    _Atomic(void *) function;
    _Atomic uint32_t name; /* 0: not yet */
} entry;

typedef struct call {
    uint64_t start;
    void *function;
    uint32_t generation;
} call;

static entry table[FUNCTIONS];

/* Not in thread-local memory itself: a library that is loaded late has 1.6 KB of the fast kind. */
typedef struct calls {
    uint32_t depth;
    bool inside; /* what we call may be instrumented itself */
    call stack[DEPTH];
} calls;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread calls *own;
static __thread bool ended; /* the thread has: its last functions are left out */

static void drop(void *p)
{
    own = NULL;
    ended = true;
    vp_free(p);
}

static void make_key(void)
{
    pthread_key_create(&key, drop);
}

/* NULL: no memory, or too late. */
static calls *own_calls(void)
{
    if (own || ended)
        return own;
    pthread_once(&once, make_key);
    calls *c = vp_calloc(1, sizeof *c);
    if (c && pthread_setspecific(key, c) != 0) {
        vp_free(c);
        c = NULL;
    }
    return own = c;
}

static uint32_t name_of(void *function)
{
    char text[NAME_MAX_BYTES];
    symbol_name(text, sizeof text, function);
    return cap_name_in(NULL, text);
}

/* The function's entry, made when there is room; NULL: there is none. */
static entry *entry_of(void *function)
{
    size_t i = vp_mix((uintptr_t)function) & (FUNCTIONS - 1);
    for (size_t tries = 0; tries < 64; tries++, i = (i + 1) & (FUNCTIONS - 1)) {
        void *have = atomic_load_explicit(&table[i].function, memory_order_acquire);
        if (!have && atomic_compare_exchange_strong(&table[i].function, &have, function))
            return &table[i];
        if (have == function)
            return &table[i];
    }
    return NULL;
}

static uint32_t known_name(void *function)
{
    entry *e = entry_of(function);
    uint32_t name = e ? atomic_load_explicit(&e->name, memory_order_relaxed) : 0;
    if (e && !name) {
        name = name_of(function); /* two threads at once find the same number */
        atomic_store_explicit(&e->name, name, memory_order_relaxed);
    }
    return name;
}

void instrument_enter(void *function)
{
    uint32_t generation = cap_generation();
    calls *c = own_calls();
    if (!c || c->inside)
        return;
    if (c->depth < DEPTH)
        c->stack[c->depth] = (call){generation ? vp_now() : 0, function, generation};
    c->depth++;
}

static void record(calls *c, const call *done)
{
    if (!done->generation)
        return;
    c->inside = true;
    cap_zone(known_name(done->function), done->start, done->generation, false, 0);
    c->inside = false;
}

/* longjmp and exceptions leave functions without a call of this: what is above goes, too. */
void instrument_exit(void *function)
{
    calls *c = own;
    if (!c || c->inside || !c->depth)
        return;
    uint32_t at = c->depth - 1;
    if (at >= DEPTH) {
        c->depth--;
        return;
    }
    while (at && c->stack[at].function != function)
        at--;
    if (c->stack[at].function != function)
        return;
    c->depth = at;
    record(c, &c->stack[at]);
}
