#include "trace/analyze/host_kinds.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"

struct host_kinds {
    const trace *t;
    uint32_t *flags;
};

uint32_t host_kind_flags_of(vp_str name, vp_str category)
{
    (void)category;
    return vp_str_starts(name, VP_STR("ProfilerStep#")) ? HK_STEP : 0;
}

int host_kinds_new(host_kinds **out, const trace *t)
{
    host_kinds *k = vp_calloc(1, sizeof *k);
    if (!k)
        return vp_fail(VP_ENOMEM, "out of memory");
    k->t = t;
    k->flags = vp_calloc((size_t)t->kind_count + 1, sizeof *k->flags);
    if (!k->flags) {
        vp_free(k);
        return vp_fail(VP_ENOMEM, "out of memory");
    }
    for (uint32_t i = 0; i < t->kind_count; i++)
        k->flags[i] =
            host_kind_flags_of(trace_str(t, t->kinds[i].name), trace_str(t, t->kinds[i].category));
    *out = k;
    return 0;
}

void host_kinds_free(host_kinds *k)
{
    if (!k)
        return;
    vp_free(k->flags);
    vp_free(k);
}

uint32_t host_kind_flags(const host_kinds *k, uint32_t kind)
{
    return k->flags[kind];
}

vp_cause host_kind_cause(const host_kinds *k, uint32_t kind)
{
    uint32_t f = k->flags[kind];
    return f & HK_COMPILE    ? VP_CAUSE_COMPILE
           : f & HK_INPUT    ? VP_CAUSE_INPUT
           : f & HK_CALLBACK ? VP_CAUSE_CALLBACK
           : f & HK_BLOCKING ? VP_CAUSE_SYNC
           : f & HK_TRANSFER ? VP_CAUSE_TRANSFER
                             : VP_CAUSE_HOST;
}
