#include "trace/capture/pool/thread_names.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/capture/pool/count.h"
#include "trace/capture/pool/tables.h"

typedef struct given {
    int64_t tid;
    char name[sizeof((vp__block *)NULL)->name];
} given;

/* Guarded by the lock of the tables, which is held around fork. */
static given *names;
static size_t name_cap;
static size_t name_count; /* also read without the lock */

static given *find_given_name(int64_t tid)
{
    for (size_t i = 0; i < name_count; i++)
        if (names[i].tid == tid)
            return &names[i];
    return NULL;
}

static int give_thread_name(int64_t tid, const char *name)
{
    given *g = find_given_name(tid);
    if (!g) {
        VP_TRY(vp_grow(&names, &name_cap, name_count + 1, sizeof *names, THREAD_NAMES_MAX));
        g = &names[name_count];
        __atomic_store_n(&name_count, name_count + 1, __ATOMIC_RELAXED);
    }
    g->tid = tid;
    snprintf(g->name, sizeof g->name, "%s", name);
    return 0;
}

int thread_names_give(int64_t tid, const char *name)
{
    cap_tables_lock();
    int rc = give_thread_name(tid, name);
    cap_tables_unlock();
    return rc;
}

void thread_names_forget(int64_t tid)
{
    if (!__atomic_load_n(&name_count, __ATOMIC_RELAXED))
        return;
    cap_tables_lock();
    given *g = find_given_name(tid);
    if (g) {
        *g = names[name_count - 1];
        __atomic_store_n(&name_count, name_count - 1, __ATOMIC_RELAXED);
    }
    cap_tables_unlock();
}

static void apply_given_name(void *ctx, vp__block *b)
{
    const given *g = find_given_name(b->tid);
    (void)ctx;
    if (g)
        memcpy(b->name, g->name, sizeof b->name);
}

void thread_names_apply(const cap_pool *p)
{
    cap_tables_lock();
    if (name_count)
        session_each_block(p, apply_given_name, NULL);
    cap_tables_unlock();
}
