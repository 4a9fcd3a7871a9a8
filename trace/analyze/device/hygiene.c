#include "trace/analyze/device/hygiene.h"

#include "trace/analyze/device/classify.h"
#include "trace/analyze/device/ops.h"
#include "trace/analyze/device/scopes.h"
#include "trace/analyze/device/splits.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

#define CHAIN_OPS 5 /* a chain has at least so many ops (docs/reference/metrics.md#hygiene) */
#define CHAIN_PS INT64_C(5000 * 1000) /* 5 us: its ops, and the gaps between them, are shorter */

enum {
    FORMATTING = 1,
    REMAT = 2,
    ASYNC_DONE = 4,
    PADDING = 8,
    INFEED = 16,
    CALLBACK = 32,
    TWIN = 64
};

static bool contains_word_nocase(vp_str s, const char *word)
{
    return vp_str_find_nocase(s, vp_str_of(word)) < s.n;
}

static bool any_word_fits(vp_str s, const char *const *words, size_t n,
                          bool (*test)(vp_str, const char *))
{
    for (size_t i = 0; i < n; i++)
        if (test(s, words[i]))
            return true;
    return false;
}

static bool equals_word(vp_str s, const char *word)
{
    return vp_str_eq(s, vp_str_of(word));
}

static const char *const formatting_opcodes[] = {"data formatting", "transpose", "copy", "reshape",
                                                 "bitcast-convert"};
#define FORMATTING_OPCODES (sizeof formatting_opcodes / sizeof *formatting_opcodes)

/* XLA names a kernel after its fusion: "input_transpose_fusion", "wrapped_copy", "copy_12". */
static bool starts_with(vp_str name, const char *word)
{
    static const char *const before[] = {"input_", "loop_", "wrapped_"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (vp_str_starts(name, vp_str_of(before[i])))
            name = vp_str_skip(name, strlen(before[i]));
    return vp_str_starts(name, vp_str_of(word));
}

bool op_is_formatting(const trace *t, const trace_kind *k)
{
    static const char *const kernels[] = {"transpose", "nchwtonhwc", "nhwctonchw",
                                          "direct_copy_kernel"};
    vp_str hlo = cl_hlo(t, k), name = trace_str(t, k->name);
    if (hlo.n)
        return any_word_fits(hlo, formatting_opcodes, FORMATTING_OPCODES, equals_word);
    if (k->hlo_op)
        return any_word_fits(trace_str(t, k->hlo_opcode), formatting_opcodes, FORMATTING_OPCODES,
                             equals_word) ||
               any_word_fits(name, formatting_opcodes, FORMATTING_OPCODES, starts_with);
    return any_word_fits(name, kernels, sizeof kernels / sizeof *kernels, contains_word_nocase);
}

/* JAX's callbacks, by the called function (XLA's custom call) or the caller (the primitive). */
bool op_is_callback(const trace *t, const trace_kind *k)
{
    static const char *const words[] = {
        "python_cpu_callback", "python_gpu_callback", "debug_callback", "debug_print",
        "io_callback",         "pure_callback",       "host_callback",  "outside_call"};
    const size_t n = sizeof words / sizeof *words;
    return any_word_fits(trace_str(t, k->scope), words, n, contains_word_nocase) ||
           any_word_fits(trace_str(t, k->name), words, n, contains_word_nocase) ||
           any_word_fits(trace_str(t, k->long_name), words, n, contains_word_nocase);
}

static unsigned hygiene_flags_of(const trace *t, const trace_kind *k, uint8_t class)
{
    vp_str hlo = cl_hlo(t, k);
    unsigned f = 0;
    f |= class == VP_COMPUTE && op_is_formatting(t, k) ? FORMATTING : 0;
    f |= scope_is_remat(trace_str(t, k->scope)) || scope_is_remat_op(trace_str(t, k->name)) ? REMAT
                                                                                            : 0;
    f |= vp_str_ends(hlo, VP_STR("-done")) ? ASYNC_DONE : 0;
    f |= equals_word(hlo, "pad") ? PADDING : 0;
    f |= vp_str_starts(hlo, VP_STR("infeed")) || vp_str_starts(hlo, VP_STR("outfeed")) ? INFEED : 0;
    f |= op_is_callback(t, k) ? CALLBACK : 0;
    f |= k->twin_of && k->twin_of != k->name ? TWIN : 0;
    return f;
}

static void hygiene_add_kinds(vp_hygiene *out, const kind_list *l, const uint8_t *flags)
{
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t k = l->kind[i];
        int64_t self = l->self_ps[i];
        out->formatting_ps += flags[k] & FORMATTING ? self : 0;
        out->remat_ps += flags[k] & REMAT ? self : 0;
        out->async_done_ps += flags[k] & ASYNC_DONE ? self : 0;
        out->padding_ps += flags[k] & PADDING ? self : 0;
        out->infeed_ps += flags[k] & INFEED ? self : 0;
        out->callback_ps += flags[k] & CALLBACK ? self : 0;
        out->duplicate_ps += flags[k] & TWIN ? self : 0;
        out->duplicate_ops += (flags[k] & TWIN) != 0;
    }
}

typedef struct chain {
    int64_t ops, sum, end;
} chain;

static void close_chain(vp_hygiene *out, chain *c)
{
    if (c->ops >= CHAIN_OPS) {
        out->chains++;
        out->chain_ps += c->sum;
    }
    *c = (chain){0, 0, 0};
}

/* Counts runs of adjacent short ops on one track, which could be one op. */
static void add_chains(vp_hygiene *out, const trace_track *k, const uint8_t *class_of)
{
    chain c = {0, 0, 0};
    for (size_t i = 0; i < k->count; i++) {
        int64_t start = trace_start(k, i), dur = trace_dur(k, i);
        bool small = class_of[trace_kind_of(k, i)] == VP_COMPUTE && dur > 0 && dur < CHAIN_PS;
        if (!small || (c.ops && start - c.end >= CHAIN_PS))
            close_chain(out, &c);
        if (small) {
            c.ops++;
            c.sum += dur;
            c.end = start + dur;
        }
    }
    close_chain(out, &c);
}

static int hygiene_of_device(analysis *a, uint32_t device, const uint8_t *flags, uint32_t *op_of)
{
    const device_work *d = &a->devices[device];
    vp_hygiene *out = &a->h->devices[device].hygiene;
    hygiene_add_kinds(out, &d->times, flags);
    for (size_t i = 0; i < d->set.count; i++)
        add_chains(out, &a->t->tracks[d->set.tracks[i]], grouping_classes(a->g));
    ops_by_group_in(op_of, a, device);
    return splits_of_device(a, device, op_of);
}

int hygiene_collect(analysis *a)
{
    const uint8_t *class_of = grouping_classes(a->g);
    if (!a->h->has_devices)
        return 0;
    VP_CLEANUP(vp_free_ptr) uint8_t *flags = vp_calloc(a->t->kind_count, sizeof *flags);
    VP_CLEANUP(vp_free_ptr)
    uint32_t *op_of = vp_realloc_array(NULL, (size_t)grouping_count(a->g) + 1, sizeof *op_of);
    VP_NEED(flags && op_of);
    for (uint32_t k = 0; k < a->t->kind_count; k++) {
        uint32_t origin = trace_kind_origin(a->t, k);
        if (origin != k)
            flags[k] = flags[origin];
        else if (a->t->kinds[k].is_op)
            flags[k] = (uint8_t)hygiene_flags_of(a->t, &a->t->kinds[k], class_of[k]);
    }
    for (size_t d = 0; d < a->device_count; d++)
        VP_TRY(hygiene_of_device(a, (uint32_t)d, flags, op_of));
    return 0;
}
