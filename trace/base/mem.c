#include "trace/base/mem.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/base/mem_impl.h"
#include "trace/base/mem_available.h"
#include "view_profile_status.h"

static _Atomic uint64_t allocations;
static _Atomic uint64_t fail_at;
static _Atomic bool fail_persists;

static bool must_fail(void)
{
    uint64_t at = atomic_load_explicit(&fail_at, memory_order_relaxed);
    uint64_t n = atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed) + 1;
    if (!at)
        return false;
    return n == at || (n > at && atomic_load_explicit(&fail_persists, memory_order_relaxed));
}

uint64_t vp_mem_fail_at(uint64_t k, bool persist)
{
    uint64_t n = atomic_exchange(&allocations, 0);
    atomic_store(&fail_persists, persist);
    atomic_store(&fail_at, k);
    return n;
}

/* ---- Limits: bytes as malloc rounds them, two additions per allocation ---- */

/* Bytes that a process may take before the available memory is read. Reading it opens a dozen
 * files, which takes a tenth of the time of a small profile. */
#define UNASKED_BYTES (INT64_C(16) << 20)

static _Atomic int64_t in_use;
static _Atomic int64_t ceiling; /* 0: none; < 0: available memory is read beyond -ceiling bytes */
static _Atomic bool ceiling_is_set;
static __thread vp_mem_budget *budget; /* a pointer: thread-local memory is scarce (err.c) */

vp_mem_budget *vp_mem_enter(vp_mem_budget *b)
{
    vp_mem_budget *before = budget;
    budget = b;
    return before;
}

/* Computes the limit from the available memory. Concurrent callers get the same result. */
static int64_t query_memory_ceiling(void)
{
    int64_t available = vp_mem_available("");
    int64_t most = available < 0 ? 0 : atomic_load(&in_use) + available / 10 * 9;
    atomic_store(&ceiling, most > 0 || available < 0 ? most : 1);
    return atomic_load(&ceiling);
}

void vp_mem_set_ceiling(int64_t bytes)
{
    atomic_store(&ceiling_is_set, bytes > 0);
    atomic_store(&ceiling, bytes);
    vp_mem_renew_ceiling();
}

void vp_mem_renew_ceiling(void)
{
    int64_t before = atomic_load(&in_use);
    if (!vp_mem_ceiling_is_set())
        atomic_store(&ceiling, -(before > 0 ? before + UNASKED_BYTES : UNASKED_BYTES));
}

int64_t vp_mem_ceiling(void)
{
    int64_t most = atomic_load(&ceiling);
    return most < 0 ? query_memory_ceiling() : most;
}

const vp_mem_budget *vp_mem_budget_here(void)
{
    return budget;
}

bool vp_mem_ceiling_is_set(void)
{
    return atomic_load(&ceiling_is_set);
}

static void count_bytes_in_use(int64_t bytes)
{
    atomic_fetch_add_explicit(&in_use, bytes, memory_order_relaxed);
    if (budget)
        atomic_fetch_add_explicit(&budget->used, bytes, memory_order_relaxed);
}

static void *count_allocation(void *p)
{
    if (p)
        count_bytes_in_use((int64_t)malloc_usable_size(p));
    return p;
}

static bool above_ceiling(int64_t more)
{
    int64_t most = atomic_load_explicit(&ceiling, memory_order_relaxed);
    int64_t used = atomic_load_explicit(&in_use, memory_order_relaxed);
    if (most < 0 && more > -most - used)
        most = query_memory_ceiling();
    return most > 0 && more > most - used;
}

/* True if n more bytes would exceed a limit. */
static bool exceeds_memory_bound(size_t n)
{
    int64_t more = n < INT64_MAX / 2 ? (int64_t)n : INT64_MAX / 2;
    vp_mem_budget *b = budget;
    int why = 0;
    if (above_ceiling(more))
        why = VP_ENOMEM;
    else if (b && b->max && more > b->max - atomic_load_explicit(&b->used, memory_order_relaxed))
        why = VP_ELIMIT;
    if (why && b)
        atomic_store(&b->refused, why);
    return why != 0;
}

void *vp_malloc(size_t n)
{
    return must_fail() || exceeds_memory_bound(n) ? NULL : count_allocation(malloc(n ? n : 1));
}

void *vp_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || must_fail() || exceeds_memory_bound(bytes))
        return NULL;
    return count_allocation(calloc(bytes ? bytes : 1, 1));
}

/* madvise for the whole pages of `bytes` at p. Only a hint: failure is ignored. */
static void advise_whole_pages(const void *p, size_t bytes, uintptr_t page, int advice)
{
    uintptr_t from = ((uintptr_t)p + page - 1) / page * page;
    uintptr_t to = ((uintptr_t)p + bytes) / page * page;
    if (from < to)
        madvise((void *)from, to - from, advice);
}

#define HUGE_PAGE ((size_t)2 << 20)

/* Large arrays are filled from the start, and touching new memory costs half as much in huge pages.
 * A block allocated at its full size begins with such a page. */
static void *want_huge(void *p, size_t bytes)
{
    if (p && bytes >= HUGE_PAGE)
        advise_whole_pages(p, bytes, HUGE_PAGE, MADV_HUGEPAGE);
    return p;
}

static void *realloc_huge_aligned(void *p, size_t bytes)
{
    void *q;
    if (p || bytes < HUGE_PAGE)
        q = realloc(p, bytes ? bytes : 1);
    else if (posix_memalign(&q, HUGE_PAGE, bytes))
        return NULL;
    return want_huge(q, bytes);
}

void *vp_realloc_array(void *p, size_t count, size_t size)
{
    size_t bytes, before = p ? malloc_usable_size(p) : 0;
    if (__builtin_mul_overflow(count, size, &bytes) || must_fail() ||
        exceeds_memory_bound(bytes > before ? bytes - before : 0))
        return NULL;
    void *q = realloc_huge_aligned(p, bytes);
    if (q)
        count_bytes_in_use((int64_t)malloc_usable_size(q) - (int64_t)before);
    return q;
}

char *vp_strndup(const char *s, size_t n)
{
    char *d = vp_malloc(n + 1);
    if (d) {
        memcpy(d, s, n);
        d[n] = 0;
    }
    return d;
}

char *vp_strdup(const char *s)
{
    return vp_strndup(s, strlen(s));
}

void vp_free(void *p)
{
    if (p)
        count_bytes_in_use(-(int64_t)malloc_usable_size(p));
    free(p);
}

void vp_mem_forget(const void *p, size_t bytes)
{
    advise_whole_pages(p, bytes, (uintptr_t)sysconf(_SC_PAGESIZE), MADV_DONTNEED);
}

void vp_free_ptr(void *p)
{
    vp_free(*(void **)p);
    *(void **)p = NULL;
}
