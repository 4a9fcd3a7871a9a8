#include "trace/base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"

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

void *vp_malloc(size_t n)
{
    return must_fail() ? NULL : malloc(n ? n : 1);
}

void *vp_calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : calloc(count ? count : 1, size ? size : 1);
}

void *vp_realloc_array(void *p, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || must_fail())
        return NULL;
    return realloc(p, bytes ? bytes : 1);
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
    free(p);
}

void vp_free_ptr(void *p)
{
    vp_free(*(void **)p);
    *(void **)p = NULL;
}

int vp_grow(void *array_ptr, size_t *cap, size_t need, size_t item_size, size_t max)
{
    void **array = array_ptr;
    size_t want = *cap ? *cap : 16;
    void *p;
    if (need <= *cap)
        return 0;
    if (need > max)
        return vp_fail(VP_ELIMIT, "more than %zu items", max);
    while (want < need)
        want = want > max / 2 ? max : want * 2;
    p = vp_realloc_array(*array, want, item_size);
    if (!p)
        return vp_fail(VP_ENOMEM, "out of memory: %zu bytes", want * item_size);
    *array = p;
    *cap = want;
    return 0;
}
