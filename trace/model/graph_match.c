#include "trace/model/graph_match.h"

#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

/* A kernel named after a fusion, and the number of library kernels between it and the previous
 * one. */
typedef struct own {
    size_t kernel;
    uint32_t named; /* that fusion */
    uint32_t others;
    size_t ways; /* number of fusions that it may belong to */
    uint32_t only;
} own;

typedef struct match {
    const graph_program *g;
    graph_place at;
    uint64_t *steps;
    own *owns;
    size_t n;
    uint32_t trailing; /* library kernels after the last one */
    vp_map named;      /* fusions with a kernel named after them */
    /* For one computation: which of its m fusions (bits) each kernel (row) may belong to. */
    const uint32_t *fusions;
    size_t m, words;
    uint64_t *rows;
    bool *taken; /* fusions with a kernel named after them */
} match;

/* ---- One kernel and one fusion -------------------------------------------------------------- */

static const graph_instr *at_fusion(const match *x, size_t f)
{
    return &x->g->instrs[x->fusions[f]];
}

/* Number of instructions that launch kernels, up to and including a fusion. */
static uint32_t launched_with(const match *x, size_t f)
{
    return at_fusion(x, f)->launched + (at_fusion(x, f)->launches == LAUNCHES_SOME);
}

/* A recorded loop runs the kernels of its fusions several times: they are not assigned to equal
 * fusions outside of it. */
static bool may_be_fusion(const match *x, const own *o, size_t f)
{
    const hlo_instr *instrs = x->g->hlo->instrs;
    uint32_t home = instrs[o->named].computation, here = instrs[x->fusions[f]].computation;
    if (x->fusions[f] == o->named)
        return true;
    if (x->taken[f] || at_fusion(x, f)->looks != x->g->instrs[o->named].looks)
        return false;
    return here == home ? at_fusion(x, f)->place > x->g->instrs[o->named].place
                        : !x->g->parts[home].repeats || !x->g->parts[here].has_loops;
}

static bool may_begin_with_fusion(const match *x, size_t f)
{
    uint32_t others = x->owns[0].others, launched = at_fusion(x, f)->launched;
    if (x->at.body != HLO_NONE)
        return launched <= others;
    if (x->at.before == HLO_NONE)
        return true;
    const graph_instr *before = &x->g->instrs[x->at.before];
    return before->place < at_fusion(x, f)->place &&
           launched - before->launched <= others + (before->launches == LAUNCHES_SOME);
}

static bool may_end(const match *x, size_t f, uint32_t launching)
{
    if (x->at.body != HLO_NONE)
        return launching - launched_with(x, f) <= x->trailing;
    if (x->at.after == HLO_NONE)
        return true;
    const graph_instr *after = &x->g->instrs[x->at.after];
    return after->place > at_fusion(x, f)->place &&
           after->launched - launched_with(x, f) <= x->trailing;
}

/* ---- Alignment with a computation ---- */

static bool match_has_bit(const match *x, size_t row, size_t f)
{
    return x->rows[row * x->words + f / 64] >> f % 64 & 1;
}

static void match_put_bit(match *x, size_t row, size_t f, bool on)
{
    uint64_t bit = UINT64_C(1) << f % 64, *w = &x->rows[row * x->words + f / 64];
    *w = on ? *w | bit : *w & ~bit;
}

/* Computes the possible fusions of each kernel from those of the previous kernel. Of several
 * previous fusions, the nearest leaves the fewest in between. false: none. */
static bool match_forward(match *x)
{
    bool any = false;
    for (size_t row = 0; row < x->n; row++) {
        size_t last = SIZE_MAX;
        any = false;
        for (size_t f = 0; f < x->m; f++) {
            bool on =
                row ? last != SIZE_MAX &&
                          at_fusion(x, f)->launched - launched_with(x, last) <= x->owns[row].others
                    : may_begin_with_fusion(x, f);
            if (row && match_has_bit(x, row - 1, f))
                last = f;
            if (!on || !may_be_fusion(x, &x->owns[row], f))
                continue;
            match_put_bit(x, row, f, true);
            any = true;
        }
        if (!any)
            return false;
    }
    return any;
}

/* Removes possibilities that no later kernel continues. */
static bool match_backward(match *x, uint32_t all)
{
    bool any = false;
    for (size_t row = x->n; row-- > 0;) {
        size_t next = SIZE_MAX;
        any = false;
        for (size_t f = x->m; f-- > 0;) {
            bool behind = row + 1 < x->n && match_has_bit(x, row + 1, f);
            if (match_has_bit(x, row, f)) {
                bool on = row + 1 == x->n ? may_end(x, f, all)
                                          : next != SIZE_MAX && at_fusion(x, next)->launched -
                                                                        launched_with(x, f) <=
                                                                    x->owns[row + 1].others;
                match_put_bit(x, row, f, on);
                any = any || on;
            }
            next = behind ? f : next;
        }
        if (!any)
            return false;
    }
    return any;
}

static void count_ways(match *x)
{
    for (size_t row = 0; row < x->n; row++)
        for (size_t f = 0; f < x->m; f++) {
            if (!match_has_bit(x, row, f))
                continue;
            x->owns[row].ways++;
            x->owns[row].only = x->fusions[f];
        }
}

static int look_for(match *x, uint32_t launching, bool *found)
{
    x->words = (x->m + 63) / 64;
    x->rows = vp_calloc(x->n * x->words, sizeof *x->rows);
    x->taken = vp_calloc(x->m, sizeof *x->taken);
    VP_NEED(x->rows && x->taken);
    for (size_t f = 0; f < x->m; f++)
        x->taken[f] = vp_map_get(&x->named, x->fusions[f]) != VP_MAP_NONE;
    if (match_forward(x) && match_backward(x, launching)) {
        *found = true;
        count_ways(x);
    }
    return 0;
}

static bool is_in_other_computation(const match *x, uint32_t instr, size_t c)
{
    return instr != HLO_NONE && x->g->hlo->instrs[instr].computation != c;
}

/* Aligns with one computation, as far as `at` allows. */
static int try_computation(match *x, size_t c, bool *found)
{
    const graph_part *part = &x->g->parts[c];
    x->fusions = x->g->fusions + part->fusions;
    x->m = part->fusion_count;
    if (x->m < x->n || (x->at.body != HLO_NONE && c != x->at.body) ||
        is_in_other_computation(x, x->at.before, c) || is_in_other_computation(x, x->at.after, c) ||
        x->m > *x->steps / x->n)
        return 0;
    *x->steps -= x->n * x->m;
    int rc = look_for(x, part->launching, found);
    vp_free(x->rows);
    vp_free(x->taken);
    x->rows = NULL;
    x->taken = NULL;
    return rc;
}

static int try_all(match *x, bool *found)
{
    size_t count = x->g->hlo->computation_count;
    *x->steps -= count < *x->steps ? count : *x->steps;
    for (size_t c = 0; c < count; c++)
        VP_TRY(try_computation(x, c, found));
    return 0;
}

static int try_places(match *x)
{
    graph_place at = x->at;
    bool found = false;
    for (int without = 0; without < 4 && !found; without++) {
        bool no_before = without & 2, no_after = without & 1;
        if ((no_before && at.before == HLO_NONE) || (no_after && at.after == HLO_NONE))
            continue;
        x->at.before = no_before ? HLO_NONE : at.before;
        x->at.after = no_after ? HLO_NONE : at.after;
        VP_TRY(try_all(x, &found));
    }
    return 0;
}

/* ---- A replay ------------------------------------------------------------------------------- */

static int collect_fusion_kernels(match *x, const graph_kernel *k, size_t n)
{
    uint32_t others = 0;
    x->owns = vp_calloc(n + 1, sizeof *x->owns);
    VP_NEED(x->owns);
    for (size_t i = 0; i < n; i++) {
        uint32_t named = k[i].named;
        if (named == HLO_NONE) {
            others += !k[i].memory;
            continue;
        }
        x->owns[x->n++] = (own){i, named, others, 0, HLO_NONE};
        others = 0;
        VP_TRY(vp_map_set(&x->named, named, 1));
    }
    x->trailing = others;
    return 0;
}

static int match_replay(match *x, graph_kernel *k, size_t n)
{
    VP_TRY(collect_fusion_kernels(x, k, n));
    if (!x->n)
        return 0;
    VP_TRY(try_places(x));
    for (size_t i = 0; i < x->n; i++)
        if (x->owns[i].ways == 1)
            k[x->owns[i].kernel].instr = x->owns[i].only;
    return 0;
}

int graph_match(const graph_program *g, graph_kernel *k, size_t n, graph_place at, uint64_t *steps)
{
    match x = {.g = g, .at = at, .steps = steps};
    vp_map_init(&x.named);
    int rc = match_replay(&x, k, n);
    vp_free(x.owns);
    vp_free(x.rows);
    vp_free(x.taken);
    vp_map_free(&x.named);
    return rc;
}
