#include "trace/analyze/host/host_kinds.h"

#include "trace/analyze/host/user_kinds.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* A frame of JAX: "$compiler.py:12 f", "$builtins len". */
static bool jax_frame(vp_str name, vp_str *file, vp_str *function)
{
    size_t space = vp_str_find(name, VP_STR(" ")), colon;
    if (!vp_str_starts(name, VP_STR("$")) || space == name.n)
        return false;
    *file = (vp_str){name.p + 1, space - 1};
    colon = vp_str_rfind_char(*file, ':');
    *file = vp_str_head(*file, colon);
    *function = vp_str_skip(name, space + 1);
    return true;
}

/* A frame of Kineto: "torch/utils/data/dataloader.py(12): f", "<built-in method item of Tensor
 * object at 0x7f>", "nn.Module: Linear_0". */
static void kineto_frame(vp_str name, vp_str *file, vp_str *function)
{
    size_t end = vp_str_find(name, VP_STR("): "));
    size_t open = vp_str_rfind_char(vp_str_head(name, end), '(');
    *file = end < name.n && open < end ? vp_str_head(name, open) : VP_STR_NONE;
    *function = end < name.n ? vp_str_skip(name, end + 3) : name;
}

bool host_frame(vp_str name, vp_str category, vp_str *file, vp_str *function)
{
    if (!vp_str_eq(category, VP_STR("python_function")))
        return jax_frame(name, file, function);
    kineto_frame(name, file, function);
    return true;
}

uint32_t host_kind_flags_of(vp_str name, vp_str category)
{
    vp_str file, function;
    if (host_frame(name, category, &file, &function))
        return host_frame_flags(file, function);
    return host_name_flags(name, category);
}

int host_kinds_new(host_kinds **out, const trace *t)
{
    host_kinds *k = vp_calloc(1, sizeof *k);
    VP_NEED(k);
    k->t = t;
    k->flags = vp_calloc((size_t)t->kind_count + 1, sizeof *k->flags);
    for (uint32_t i = 0; k->flags && i < t->kind_count; i++) {
        uint32_t origin = trace_kind_origin(t, i);
        k->flags[i] = origin != i ? k->flags[origin]
                                  : host_kind_flags_of(trace_str(t, t->kinds[i].name),
                                                       trace_str(t, t->kinds[i].category));
    }
    int rc = k->flags ? user_kinds_mark(k->flags, t) : vp_no_memory();
    if (rc >= 0)
        rc = host_mark_events(k);
    if (rc < 0)
        host_kinds_free(k);
    else
        *out = k;
    return rc;
}

void host_kinds_on_cpu(host_kinds *k, const trace *t)
{
    for (uint32_t i = 0; i < t->kind_count; i++)
        if (k->flags[i] & HK_TRANSFER)
            k->flags[i] &= ~(uint32_t)HK_BLOCKING;
}

void host_kinds_free(host_kinds *k)
{
    if (!k)
        return;
    vp_free(k->flags);
    vp_free(k->marked);
    vp_free(k->bits);
    vp_free(k);
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
