#include "trace/model/graph_kernels.h"

#include "trace/base/err.h"
#include "trace/base/hash.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

#define GRAPH_SHARED (HLO_NONE - 1)

/* ---- What instructions launch --------------------------------------------------------------- */

typedef enum launches { LAUNCHES_NONE, LAUNCHES_SOME, LAUNCHES_PERHAPS } launches;

static bool is_any(vp_str s, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (vp_str_eq(s, vp_str_of(words[i])))
            return true;
    return false;
}
#define IS_ANY(s, words) is_any(s, words, sizeof(words) / sizeof *(words))

/* What a fusion may do without a kernel, as a copy of memory. */
static bool copies(const hlo_program *p, uint32_t instr)
{
    static const char *const words[] = {"copy", "dynamic-slice", "dynamic-update-slice", "bitcast"};
    return instr >= p->instr_count || IS_ANY(p->instrs[instr].opcode, words);
}

static launches of_fusion(const hlo_program *p, const hlo_instr *in)
{
    uint32_t root = in->called_count == 1 && p->links[in->called] != HLO_NONE
                        ? p->computations[p->links[in->called]].root
                        : HLO_NONE;
    if (copies(p, root))
        return LAUNCHES_PERHAPS;
    const hlo_instr *r = &p->instrs[root];
    bool all = vp_str_eq(r->opcode, VP_STR("tuple"));
    for (uint32_t i = 0; all && i < r->operand_count; i++)
        all = copies(p, p->links[r->operands + i]);
    return all ? LAUNCHES_PERHAPS : LAUNCHES_SOME;
}

static bool is_fusion(const hlo_instr *in)
{
    return vp_str_eq(in->opcode, VP_STR("fusion"));
}

static launches of_instr(const hlo_program *p, const hlo_instr *in)
{
    static const char *const nothing[] = {"parameter",         "constant",   "tuple",
                                          "get-tuple-element", "bitcast",    "after-all",
                                          "add-dependency",    "opt-barrier"};
    static const char *const libraries[] = {"__cublas$", "__cudnn$", "__cub$", "__triton"};
    if (IS_ANY(in->opcode, nothing))
        return LAUNCHES_NONE;
    if (is_fusion(in))
        return of_fusion(p, in);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (vp_str_starts(in->custom_call_target, vp_str_of(libraries[i])))
            return LAUNCHES_SOME;
    return LAUNCHES_PERHAPS;
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* A character of an instruction's name in its kernel's (XLA's SanitizeFunctionName). */
static char in_kernel(char c)
{
    bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return word || c == '$' ? c : '_';
}

static uint64_t kernel_hash(vp_str name)
{
    uint64_t h = 0;
    for (size_t i = 0; i < name.n; i++)
        h = vp_mix(h ^ (unsigned char)in_kernel(name.p[i]));
    return h;
}

static bool is_kernel_of(vp_str instr, vp_str kernel)
{
    if (instr.n != kernel.n)
        return false;
    for (size_t i = 0; i < instr.n; i++)
        if (in_kernel(instr.p[i]) != kernel.p[i])
            return false;
    return true;
}

/* AMD's names of kernels end so. */
static vp_str kernel_name(vp_str name)
{
    return vp_str_ends(name, VP_STR(".kd")) ? vp_str_head(name, name.n - 3) : name;
}

static uint32_t by_name(const graph_program *g, vp_str kernel)
{
    uint32_t i = vp_map_get(&g->by_kernel, kernel_hash(kernel));
    return i < g->hlo->instr_count && is_kernel_of(g->hlo->instrs[i].name, kernel) ? i : HLO_NONE;
}

/* ---- A program ------------------------------------------------------------------------------ */

static uint32_t length_of(const hlo_computation *c)
{
    return c->order_count ? c->order_count : c->count;
}

static uint32_t instr_at(const hlo_program *p, const hlo_computation *c, uint32_t place)
{
    return c->order_count ? p->links[c->order + place] : c->first + place;
}

/* Afterwards each place lies within its instruction's computation. */
static int index_computation(graph_program *g, const hlo_computation *c)
{
    const hlo_program *p = g->hlo;
    for (uint32_t i = 0; i < length_of(c); i++) {
        uint32_t at = instr_at(p, c, i);
        if (at >= p->instr_count || &p->computations[p->instrs[at].computation] != c)
            continue; /* a schedule may say anything */
        g->place[at] = i;
        if (!is_fusion(&p->instrs[at]))
            continue;
        uint64_t key = kernel_hash(p->instrs[at].name);
        bool first = vp_map_get(&g->by_kernel, key) == VP_MAP_NONE;
        VP_TRY(vp_map_set(&g->by_kernel, key, first ? at : GRAPH_SHARED));
    }
    return 0;
}

int graph_program_open(graph_program *g, vp_str proto)
{
    *g = (graph_program){0};
    vp_map_init(&g->by_kernel);
    VP_TRY(hlo_program_parse(&g->hlo, proto));
    g->place = vp_realloc_array(NULL, g->hlo->instr_count + 1, sizeof *g->place);
    VP_NEED(g->place);
    for (size_t i = 0; i < g->hlo->instr_count; i++)
        g->place[i] = HLO_NONE;
    for (size_t i = 0; i < g->hlo->computation_count; i++)
        if (!g->hlo->computations[i].fusion)
            VP_TRY(index_computation(g, &g->hlo->computations[i]));
    return 0;
}

void graph_program_close(graph_program *g)
{
    hlo_program_free(g->hlo);
    vp_free(g->place);
    vp_map_free(&g->by_kernel);
    g->hlo = NULL;
}

/* ---- A replay ------------------------------------------------------------------------------- */

/* Kernels whose names count: their instructions are where they are looked for, and no other kernel
 * of the replay is called so. */
static int find_names(const graph_program *g, graph_kernel *k, size_t n)
{
    vp_map first VP_CLEANUP(vp_map_free);
    vp_map_init(&first);
    for (size_t i = 0; i < n; i++) {
        vp_str name = kernel_name(k[i].name);
        uint32_t instr = by_name(g, name), other;
        k[i].instr = HLO_NONE;
        k[i].by_order = false;
        if (instr == HLO_NONE || g->place[instr] == HLO_NONE)
            continue;
        other = vp_map_get(&first, instr);
        if (other == VP_MAP_NONE) {
            k[i].instr = instr;
            VP_TRY(vp_map_set(&first, instr, (uint32_t)i));
        } else {
            k[other].instr = HLO_NONE;
        }
    }
    return 0;
}

/* The computation that a call records as a graph; HLO_NONE: launch is none. */
static uint32_t called_by(const hlo_program *p, vp_str launch)
{
    uint32_t i = launch.n ? hlo_program_find(p, launch) : HLO_NONE;
    return i != HLO_NONE && vp_str_eq(p->instrs[i].opcode, VP_STR("call")) &&
                   p->instrs[i].called_count == 1
               ? p->links[p->instrs[i].called]
               : HLO_NONE;
}

/* One replay while its kernels are placed; `body` is known to be all of the graph, or holds it. */
typedef struct replay {
    const graph_program *g;
    graph_kernel *k;
    size_t n;
    const hlo_computation *body;
} replay;

/* Between two places of the body and two kernels, both exclusive, the instructions that launch
 * some, in `some` as far as there are kernels for them. false: others might. */
static bool launching(const replay *r, int64_t from, int64_t to, uint32_t *only, size_t *some)
{
    const hlo_program *p = r->g->hlo;
    *some = 0;
    for (int64_t i = from + 1; i < to; i++) {
        uint32_t at = instr_at(p, r->body, (uint32_t)i);
        launches l = at < p->instr_count ? of_instr(p, &p->instrs[at]) : LAUNCHES_PERHAPS;
        if (l == LAUNCHES_PERHAPS)
            return false;
        if (l == LAUNCHES_SOME && !(*some)++)
            *only = at;
    }
    return true;
}

/* Places kernels strictly between k[a] and k[b] on instructions strictly between two places; false:
 * that is not certain. several: of one instruction they may be any number. */
static bool fill(const replay *r, int64_t a, int64_t b, int64_t from, int64_t to, bool several)
{
    const hlo_program *p = r->g->hlo;
    uint32_t at = HLO_NONE;
    size_t some, kernels = (size_t)(b - a - 1);
    for (int64_t i = a + 1; i <= b && i < (int64_t)r->n; i++)
        if (r->k[i].overlaps)
            return false;
    if (!launching(r, from, to, &at, &some) ||
        (some != kernels && (!several || some != 1 || !kernels)))
        return false;
    bool all = some == 1;
    for (int64_t i = a + 1; i < b; i++) {
        while (!all && of_instr(p, &p->instrs[at = instr_at(p, r->body, (uint32_t)++from)]) ==
                           LAUNCHES_NONE)
            ;
        r->k[i].instr = at;
        r->k[i].by_order = true;
    }
    return true;
}

static bool is_rising(const replay *r)
{
    int64_t last = -1;
    for (size_t i = 0; i < r->n; i++) {
        if (r->k[i].instr == HLO_NONE)
            continue;
        if ((int64_t)r->g->place[r->k[i].instr] <= last)
            return false;
        last = r->g->place[r->k[i].instr];
    }
    return true;
}

/* The next kernel from i on that is known by name; n: none is. */
static size_t next_named(const replay *r, size_t i)
{
    while (i < r->n && (r->k[i].instr == HLO_NONE || r->k[i].by_order))
        i++;
    return i;
}

/* A graph that is a call's computation: all of it runs, from its first instruction to its last. */
static void fill_body(const replay *r)
{
    int64_t kernel = -1, place = -1;
    for (;;) {
        size_t next = next_named(r, (size_t)(kernel + 1));
        bool last = next == r->n;
        int64_t to = last ? length_of(r->body) : (int64_t)r->g->place[r->k[next].instr];
        fill(r, kernel, (int64_t)next, place, to, true);
        if (last)
            return;
        kernel = (int64_t)next;
        place = to;
    }
}

/* A graph that is some stretch of a computation: a name is believed where what lies between it and
 * the next one, before or after, fits. An equal fusion elsewhere would not. */
static void fill_stretch(const replay *r)
{
    bool before = false;
    for (size_t i = next_named(r, 0), next; i < r->n; i = next) {
        next = next_named(r, i + 1);
        bool after = next < r->n && fill(r, (int64_t)i, (int64_t)next, r->g->place[r->k[i].instr],
                                         r->g->place[r->k[next].instr], false);
        if (!before && !after)
            r->k[i].instr = HLO_NONE;
        before = after;
    }
}

static void keep_named_in(replay *r, uint32_t computation)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->k[i].instr != HLO_NONE &&
            r->g->hlo->instrs[r->k[i].instr].computation != computation)
            r->k[i].instr = HLO_NONE;
}

int graph_kernels_find(const graph_program *g, vp_str launch, graph_kernel *k, size_t n,
                       bool in_order)
{
    const hlo_program *p = g->hlo;
    replay r = {g, k, n, NULL};
    uint32_t body = called_by(p, launch);
    VP_TRY(find_names(g, k, n));
    bool is_call = body < p->computation_count;
    if (!is_call) {
        size_t i = next_named(&r, 0);
        body = i < n ? p->instrs[k[i].instr].computation : HLO_NONE;
    }
    if (body >= p->computation_count)
        return 0;
    keep_named_in(&r, body);
    r.body = &p->computations[body];
    bool rising = in_order && is_rising(&r);
    if (rising && is_call)
        fill_body(&r);
    else if (rising)
        fill_stretch(&r);
    else if (!is_call)
        keep_named_in(&r, HLO_NONE);
    return 0;
}
