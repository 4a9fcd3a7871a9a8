#include "trace/analyze/avoidable/repeated_programs.h"

#include "trace/analyze/avoidable/hlo_keys.h"
#include "trace/analyze/device/scopes.h"
#include "trace/base/err.h"
#include "trace/base/sums.h"

/* Only so many programs, those with most time, are compared with all others. */
#define LARGEST 4u
/* So much of a program's FLOP is in a larger program, too: permille. */
#define COVERED 900

static bool is_placed_product(const known_program *k, size_t i)
{
    return k->values.v[i].flags & VALUE_PRODUCT && k->p->instrs[i].source_file.n;
}

static int64_t flops_of(const known_program *k, bool *trains)
{
    int64_t sum = 0;
    *trains = false;
    for (size_t i = 0; k->p && i < k->p->instr_count; i++) {
        if (!(k->values.v[i].flags & VALUE_PRODUCT))
            continue;
        sum = vp_add_most(sum, k->values.v[i].flops);
        *trains = *trains || scope_is_backward(k->p->instrs[i].op_name);
    }
    return sum;
}

/* FLOP of the products of one program that another computes as well, each as often as there. */
static int common_flops(int64_t *sum, const known_program *of, const known_program *in)
{
    VP_CLEANUP(vp_map_free) vp_map count = {0};
    *sum = 0;
    for (size_t i = 0; i < in->p->instr_count; i++) {
        if (!is_placed_product(in, i))
            continue;
        uint64_t key = hlo_product_key(in->p, &in->values, (uint32_t)i, false);
        uint32_t n = vp_map_get(&count, key);
        VP_TRY(vp_map_set(&count, key, n == VP_MAP_NONE ? 1 : n + 1));
    }
    for (size_t i = 0; i < of->p->instr_count; i++) {
        if (!is_placed_product(of, i))
            continue;
        uint64_t key = hlo_product_key(of->p, &of->values, (uint32_t)i, false);
        uint32_t n = vp_map_get(&count, key);
        if (n == VP_MAP_NONE || !n)
            continue;
        *sum = vp_add_most(*sum, of->values.v[i].flops);
        VP_TRY(vp_map_set(&count, key, n - 1));
    }
    return 0;
}

static const known_program *program_of(const analysis *a, const known_program *programs,
                                       const module_item *m)
{
    uint32_t i = trace_find_program(a->t, m->program_id);
    return i < a->t->program_count && programs[i].p ? &programs[i] : NULL;
}

static int set_repeats_of(analysis *a, const known_program *programs, const module_item *larger)
{
    const known_program *in = program_of(a, programs, larger);
    bool trains, ignored;
    int64_t all = in ? flops_of(in, &trains) : 0;
    if (!all || !trains)
        return 0;
    for (size_t m = 0; m < a->h->module_count; m++) {
        module_item *x = &a->h->modules[m];
        const known_program *of = program_of(a, programs, x);
        int64_t flops = of ? flops_of(of, &ignored) : 0, common;
        bool smaller =
            flops && (flops < all || (flops == all && of->p->instr_count < in->p->instr_count));
        if (!smaller || x->repeats || vp_str_eq(vp_str_of(x->name), vp_str_of(larger->name)))
            continue;
        VP_TRY(common_flops(&common, of, in));
        if ((__int128)common * 1000 >= (__int128)flops * COVERED)
            x->repeats = larger->name;
    }
    return 0;
}

int repeated_programs_collect(analysis *a, const known_program *programs)
{
    const host_result *h = a->h;
    size_t largest[LARGEST], n = 0;
    for (size_t m = 0; m < h->module_count; m++) {
        if (!program_of(a, programs, &h->modules[m]))
            continue;
        size_t at = n < LARGEST ? n++ : LARGEST;
        for (; at && h->modules[largest[at - 1]].total_ps < h->modules[m].total_ps; at--)
            if (at < LARGEST)
                largest[at] = largest[at - 1];
        if (at < LARGEST)
            largest[at] = m;
    }
    for (size_t i = 0; i < n; i++)
        VP_TRY(set_repeats_of(a, programs, &h->modules[largest[i]]));
    return 0;
}
