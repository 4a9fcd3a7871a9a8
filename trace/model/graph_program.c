#include "trace/model/graph_program.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/hash.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

#define GRAPH_SHARED (HLO_NONE - 1)

/* ---- What instructions launch --------------------------------------------------------------- */

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

static graph_launch of_fusion(const hlo_program *p, const hlo_instr *in)
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

static graph_launch of_instr(const hlo_program *p, const hlo_instr *in)
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

graph_launch graph_launches(const graph_program *g, uint32_t instr)
{
    return instr < g->hlo->instr_count ? of_instr(g->hlo, &g->hlo->instrs[instr])
                                       : LAUNCHES_PERHAPS;
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

uint32_t graph_named(const graph_program *g, const graph_kernel *k)
{
    vp_str name = kernel_name(k->name);
    uint32_t i = vp_map_get(&g->by_kernel, kernel_hash(name));
    return i < g->hlo->instr_count && is_kernel_of(g->hlo->instrs[i].name, name) ? i : HLO_NONE;
}

/* ---- A program ------------------------------------------------------------------------------ */

uint32_t graph_length(const hlo_computation *c)
{
    return c->order_count ? c->order_count : c->count;
}

uint32_t graph_instr_at(const hlo_program *p, const hlo_computation *c, uint32_t place)
{
    return c->order_count ? p->links[c->order + place] : c->first + place;
}

static uint64_t looks_of_shape(const hlo_program *p, uint32_t shape, uint64_t h)
{
    if (shape >= p->shape_count)
        return vp_mix(h);
    const hlo_shape *s = &p->shapes[shape];
    h = vp_mix(h ^ ((uint64_t)s->type << 8 | s->rank));
    for (uint32_t i = 0; i < s->rank; i++)
        h = vp_mix(h ^ (uint64_t)p->numbers[s->dims + i]);
    return h;
}

/* Equal fusions have equal instructions in one order (XLA compares the text without names). */
static uint64_t looks_of_fusion(const hlo_program *p, const hlo_instr *in)
{
    uint32_t called = in->called_count ? p->links[in->called] : HLO_NONE;
    uint64_t h = looks_of_shape(p, in->shape, in->operand_count);
    if (called >= p->computation_count)
        return h;
    const hlo_computation *c = &p->computations[called];
    for (uint32_t i = c->first; i < c->first + c->count; i++)
        h = looks_of_shape(p, p->instrs[i].shape,
                           h ^ vp_hash(p->instrs[i].opcode.p, p->instrs[i].opcode.n, 0));
    return h;
}

static int add_fusion(graph_program *g, uint32_t instr, bool some)
{
    const hlo_instr *in = &g->hlo->instrs[instr];
    uint64_t key = kernel_hash(in->name);
    bool first = vp_map_get(&g->by_kernel, key) == VP_MAP_NONE;
    VP_TRY(vp_map_set(&g->by_kernel, key, first ? instr : GRAPH_SHARED));
    VP_TRY(vp_grow(&g->fusions, &g->fusion_cap, g->fusion_count + 1, sizeof *g->fusions,
                   VP_EVENTS_MAX));
    g->fusions[g->fusion_count++] = (graph_fusion){instr, some};
    g->looks[instr] = looks_of_fusion(g->hlo, in);
    return 0;
}

/* Afterwards each place lies within its instruction's computation. */
static int index_computation(graph_program *g, const hlo_computation *c)
{
    const hlo_program *p = g->hlo;
    uint32_t launched = 0;
    for (uint32_t i = 0; i < graph_length(c); i++) {
        uint32_t at = graph_instr_at(p, c, i);
        if (at >= p->instr_count || &p->computations[p->instrs[at].computation] != c ||
            g->place[at] != HLO_NONE)
            continue; /* a schedule may say anything */
        bool some = graph_launches(g, at) == LAUNCHES_SOME;
        g->place[at] = i;
        g->launched[at] = launched;
        launched += some;
        if (is_fusion(&p->instrs[at]))
            VP_TRY(add_fusion(g, at, some));
    }
    g->launching[c - p->computations] = launched;
    return 0;
}

int graph_program_open(graph_program *g, vp_str proto)
{
    *g = (graph_program){0};
    vp_map_init(&g->by_kernel);
    VP_TRY(hlo_program_parse(&g->hlo, proto));
    size_t n = g->hlo->instr_count, computations = g->hlo->computation_count;
    g->place = vp_realloc_array(NULL, n + 1, sizeof *g->place);
    g->launched = vp_calloc(n + 1, sizeof *g->launched);
    g->looks = vp_calloc(n + 1, sizeof *g->looks);
    g->launching = vp_calloc(computations + 1, sizeof *g->launching);
    g->first_fusion = vp_calloc(computations + 1, sizeof *g->first_fusion);
    VP_NEED(g->place && g->launched && g->looks && g->launching && g->first_fusion);
    for (size_t i = 0; i < n; i++)
        g->place[i] = HLO_NONE;
    for (size_t i = 0; i < computations; i++) {
        if (!g->hlo->computations[i].fusion)
            VP_TRY(index_computation(g, &g->hlo->computations[i]));
        g->first_fusion[i + 1] = g->fusion_count;
    }
    return 0;
}

void graph_program_close(graph_program *g)
{
    hlo_program_free(g->hlo);
    vp_free(g->place);
    vp_free(g->launched);
    vp_free(g->launching);
    vp_free(g->looks);
    vp_free(g->fusions);
    vp_free(g->first_fusion);
    vp_map_free(&g->by_kernel);
    g->hlo = NULL;
}
