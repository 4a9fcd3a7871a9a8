#include "trace/analyze/memory/planned_sizes.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Smaller blocks are ambiguous, because many have the same size. */
#define BYTES_LEAST (INT64_C(64) << 10)
/* Allocators round sizes up to multiples of this. */
#define ROUNDED_TO 256
#define TPU_STACK_MORE (INT64_C(16) << 20)

static int planned_sizes_put(planned_sizes *s, int64_t bytes, const vp_memory_plan *plan,
                             const vp_plan_buffer *result)
{
    if (bytes < BYTES_LEAST || bytes > INT64_MAX - ROUNDED_TO)
        return 0;
    VP_TRY(vp_grow(&s->v, &s->cap, s->n + 1, sizeof *s->v, UINT32_MAX - 1));
    s->v[s->n++] = (planned_size){(bytes + ROUNDED_TO - 1) / ROUNDED_TO * ROUNDED_TO, plan, result};
    return 0;
}

static int by_planned_bytes(const void *a, const void *b)
{
    const planned_size *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

int planned_sizes_new(planned_sizes *s, const host_result *h)
{
    *s = (planned_sizes){.n = 0};
    for (size_t i = 0; i < h->memory_static_count; i++) {
        const vp_memory_plan *p = &h->memory_static[i];
        if (!p->ran || p->space != VP_SPACE_MAIN)
            continue;
        VP_TRY(planned_sizes_put(s, p->temp_bytes, p, NULL));
        for (size_t k = 0; k < p->live_count; k++)
            if (p->live[k].kind == VP_BUFFER_OUTPUT)
                VP_TRY(planned_sizes_put(s, p->live[k].bytes, p, &p->live[k]));
    }
    if (s->n)
        qsort(s->v, s->n, sizeof *s->v, by_planned_bytes);
    return 0;
}

void planned_sizes_free(planned_sizes *s)
{
    vp_free(s->v);
}

/* True if a call may run this program. */
static bool may_run(vp_str call, const vp_memory_plan *p)
{
    static const vp_str head = VP_STR_INIT("PjitFunction("), jit = VP_STR_INIT("jit_");
    vp_str module = vp_str_of(p->module);
    if (!vp_str_starts(call, head) || call.p[call.n - 1] != ')' || !vp_str_starts(module, jit))
        return true;
    vp_str function = vp_str_skip(call, head.n);
    return vp_str_eq(vp_str_head(function, function.n - 1), vp_str_skip(module, jit.n));
}

static bool is_same(const planned_size *a, const planned_size *b)
{
    return !a->result == !b->result && !strcmp(a->plan->module, b->plan->module);
}

uint32_t planned_sizes_find(const planned_sizes *s, int64_t bytes, vp_str call)
{
    size_t low = 0, high = s->n;
    uint32_t found = 0;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->v[mid].bytes < bytes)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < s->n && s->v[low].bytes == bytes; low++) {
        if (!may_run(call, s->v[low].plan))
            continue;
        if (found && !is_same(&s->v[found - 1], &s->v[low]))
            return 0;
        found = found ? found : (uint32_t)low + 1;
    }
    return found;
}

uint32_t planned_sizes_of_stack(const planned_sizes *s, int64_t bytes)
{
    uint32_t found = 0;
    for (size_t i = 0; i < s->n; i++) {
        const planned_size *x = &s->v[i];
        if (x->result || x->plan->temp_bytes != bytes - TPU_STACK_MORE)
            continue;
        if (found && !is_same(&s->v[found - 1], x))
            return 0;
        found = (uint32_t)i + 1;
    }
    return found;
}

/* True if the result is the only one with that size: then it has a name. */
static bool is_only_one(const planned_sizes *s, uint32_t at)
{
    const planned_size *x = &s->v[at];
    return (!at || x[-1].bytes != x->bytes) && (at + 1 == s->n || x[1].bytes != x->bytes);
}

int planned_sizes_text(const char **out, host_result *h, const planned_sizes *s, uint32_t found)
{
    const planned_size *x = found ? &s->v[found - 1] : NULL;
    vp_buf b;
    *out = NULL;
    if (!x)
        return 0;
    vp_buf_init(&b, 1u << 16);
    vp_buf_puts(&b, x->plan->module);
    vp_buf_puts(&b, x->result ? ": result" : ": temporaries");
    if (x->result && is_only_one(s, found - 1))
        vp_buf_printf(&b, " %s", x->result->instruction);
    int rc = b.status == VP_ENOMEM ? VP_ENOMEM : host_text(out, h, vp_buf_view(&b));
    vp_buf_free(&b);
    return rc;
}
