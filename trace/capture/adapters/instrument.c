#include "trace/capture/adapters/instrument.h"

#include <pthread.h>
#include <stdatomic.h>

#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/capture/adapters/dwarf.h"
#include "trace/capture/adapters/symbol.h"
#include "trace/capture/pool/recorder.h"

/* Maximum number of known functions, and of nested calls before they are only counted. */
#define FUNCTIONS (1u << 16)
#define DEPTH 256u
/* Open calls of one function at one position of the stack, as when a compiler inlines a function
 * into itself. If there are more, jumps have left the others. */
#define SAME_MAX 16u
#define NAME_MAX_BYTES 256u

/* A hash table by address, with open addressing. Entries are never removed, so lookups need no
 * lock. */
typedef struct entry {
    _Atomic(void *) function;
    _Atomic uint32_t name; /* 0: not set yet */
} entry;

typedef struct call {
    uint64_t start;
    void *function;
    instrument_place at;
    uint32_t generation;
} call;

static entry table[FUNCTIONS];

/* Not itself thread-local: libraries that are loaded late share 1.6 KB of thread-local storage. */
typedef struct calls {
    uint32_t depth;
    /* Calls too deep for the stack began in this generation from deep_first on. */
    uint32_t deep_first, deep_generation;
    bool inside; /* in our own code: it may call instrumented functions */
    call stack[DEPTH];
} calls;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread calls *own;
static __thread bool ended; /* the thread has exited: later functions are not recorded */

static void drop_thread_calls(void *p)
{
    own = NULL;
    ended = true;
    vp_free(p);
}

static void create_calls_key(void)
{
    pthread_key_create(&key, drop_thread_calls);
}

/* NULL: out of memory, or the thread has exited. */
static calls *own_calls(void)
{
    if (own || ended)
        return own;
    pthread_once(&once, create_calls_key);
    calls *c = vp_calloc(1, sizeof *c);
    if (c && pthread_setspecific(key, c) != 0) {
        vp_free(c);
        c = NULL;
    }
    return own = c;
}

static uint32_t name_of_function(void *function)
{
    char text[NAME_MAX_BYTES], file[VP_PATH_MAX];
    uint32_t line;
    symbol_name(text, sizeof text, function);
    bool known = dwarf_source(file, sizeof file, &line, function);
    return cap_name_at(known ? file : NULL, line, text);
}

/* The function's entry, created if there is space; NULL: the table is full. */
static entry *function_entry_of(void *function)
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
    entry *e = function_entry_of(function);
    uint32_t name = e ? atomic_load_explicit(&e->name, memory_order_relaxed) : 0;
    if (e && !name) {
        name = name_of_function(function); /* concurrent threads get the same number */
        atomic_store_explicit(&e->name, name, memory_order_relaxed);
    }
    return name;
}

/* Removes the calls from `depth` on from the stack, and counts them as left without an end. */
static void leave_calls_above(calls *c, uint32_t depth)
{
    uint32_t generation = cap_generation(), end = c->depth < DEPTH ? c->depth : DEPTH;
    uint64_t left = 0;
    if (c->depth > DEPTH && c->deep_generation == generation)
        left = c->depth - c->deep_first;
    for (uint32_t i = depth; i < end; i++)
        left += c->stack[i].generation == generation;
    c->depth = depth;
    if (generation && left)
        cap_count_lost(generation, 0, left);
}

/* longjmp and exceptions leave functions without a call of instrument_exit. When a function is
 * entered, calls deeper in the stack are gone, and so is one at the same position with another
 * caller. A call of the same function at the same position may enclose this one, unless there are
 * too many. A left call with a smaller frame than this function's is only detected when its
 * surrounding function continues. */
static void leave_gone(calls *c, instrument_place at, const void *function)
{
    uint32_t i = c->depth < DEPTH ? c->depth : DEPTH, end = i, keep = i, same = 0;
    for (; i && c->stack[i - 1].at.frame <= at.frame; i--) {
        const call *e = &c->stack[i - 1];
        if (e->at.frame < at.frame || e->at.caller != at.caller) {
            keep = i - 1;
            same = 0;
        } else if (e->function != function) {
            break;
        } else {
            same++;
        }
    }
    keep = same > SAME_MAX ? i : keep;
    if (keep < end)
        leave_calls_above(c, keep);
}

void instrument_enter(void *function, instrument_place at)
{
    uint32_t generation = cap_generation();
    calls *c = own_calls();
    if (!c || c->inside)
        return;
    leave_gone(c, at, function);
    if (c->depth < DEPTH) {
        c->stack[c->depth] = (call){generation ? vp_now() : 0, function, at, generation};
    } else if (c->depth == DEPTH || c->deep_generation != generation || c->depth < c->deep_first) {
        c->deep_generation = generation;
        c->deep_first = c->depth;
    }
    c->depth++;
}

static void record_call(calls *c, const call *done)
{
    if (!done->generation)
        return;
    c->inside = true;
    cap_zone(known_name(done->function), done->start, done->generation, false, 0);
    c->inside = false;
}

static void exit_deep(calls *c)
{
    uint32_t generation = cap_generation();
    c->depth--;
    if (generation && c->deep_generation == generation && c->depth >= c->deep_first)
        cap_count_lost(generation, 1, 0);
}

void instrument_exit(void *function)
{
    calls *c = own;
    if (!c || c->inside || !c->depth)
        return;
    if (c->depth > DEPTH) {
        exit_deep(c);
        return;
    }
    uint32_t at = c->depth - 1;
    while (at && c->stack[at].function != function)
        at--;
    if (c->stack[at].function != function)
        return;
    leave_calls_above(c, at + 1);
    c->depth = at;
    record_call(c, &c->stack[at]);
}
