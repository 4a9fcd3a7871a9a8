#include "trace/model/graph_program.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/hash.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

#define GRAPH_SHARED (HLO_NONE - 1)

/* ---- Launches of instructions ---- */

static bool is_any(vp_str s, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (vp_str_eq(s, vp_str_of(words[i])))
            return true;
    return false;
}
#define IS_ANY(s, words) is_any(s, words, sizeof(words) / sizeof *(words))

/* Opcodes that a fusion may execute as a copy of memory, without a kernel. */
static bool is_memory_copy(const hlo_program *p, uint32_t instr)
{
    static const char *const words[] = {"copy", "dynamic-slice", "dynamic-update-slice", "bitcast"};
    return instr >= p->instr_count || IS_ANY(p->instrs[instr].opcode, words);
}

static bool only_copies(const hlo_program *p, uint32_t root)
{
    if (is_memory_copy(p, root))
        return true;
    const hlo_instr *r = &p->instrs[root];
    bool all = vp_str_eq(r->opcode, VP_STR("tuple"));
    for (uint32_t i = 0; all && i < r->operand_count; i++)
        all = is_memory_copy(p, p->links[r->operands + i]);
    return all;
}

/* The computation of a fusion; HLO_NONE: none. */
static uint32_t called_by(const hlo_program *p, const hlo_instr *in)
{
    uint32_t c = in->called_count == 1 ? p->links[in->called] : HLO_NONE;
    return c < p->computation_count ? c : HLO_NONE;
}

static graph_launch of_fusion(const graph_program *g, const hlo_instr *in)
{
    uint32_t c = called_by(g->hlo, in);
    return c == HLO_NONE || g->parts[c].copies ? LAUNCHES_PERHAPS : LAUNCHES_SOME;
}

static bool is_fusion(const hlo_instr *in)
{
    return vp_str_eq(in->opcode, VP_STR("fusion"));
}

static graph_launch of_instr(const graph_program *g, const hlo_instr *in)
{
    static const char *const nothing[] = {"parameter",         "constant",   "tuple",
                                          "get-tuple-element", "bitcast",    "after-all",
                                          "add-dependency",    "opt-barrier"};
    static const char *const libraries[] = {"__cublas$", "__cudnn$", "__cub$", "__triton"};
    if (IS_ANY(in->opcode, nothing))
        return LAUNCHES_NONE;
    if (is_fusion(in))
        return of_fusion(g, in);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (vp_str_starts(in->custom_call_target, vp_str_of(libraries[i])))
            return LAUNCHES_SOME;
    return LAUNCHES_PERHAPS;
}

graph_launch graph_launches(const graph_program *g, uint32_t instr)
{
    return instr < g->hlo->instr_count ? g->instrs[instr].launches : LAUNCHES_PERHAPS;
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* Converts a character of an instruction's name for its kernel (XLA's SanitizeFunctionName). */
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

/* Removes the suffix of AMD's kernel names. */
static vp_str kernel_name(vp_str name)
{
    return vp_str_ends(name, VP_STR(".kd")) ? vp_str_head(name, name.n - 3) : name;
}

uint32_t graph_named(const graph_program *g, vp_str kernel)
{
    vp_str name = kernel_name(kernel);
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

static uint64_t looks_inside(const hlo_program *p, const hlo_computation *c)
{
    uint64_t sum = 0;
    for (uint32_t i = c->first; i < c->first + c->count; i++)
        sum += looks_of_shape(p, p->instrs[i].shape,
                              vp_hash(p->instrs[i].opcode.p, p->instrs[i].opcode.n, 0));
    return sum;
}

/* XLA compares the text of equal fusions, without names. */
static uint64_t looks_of_fusion(const graph_program *g, const hlo_instr *in)
{
    uint32_t c = called_by(g->hlo, in);
    return looks_of_shape(g->hlo, in->shape, in->operand_count) ^
           (c == HLO_NONE ? 0 : g->parts[c].looks);
}

static int add_fusion(graph_program *g, uint32_t instr)
{
    const hlo_instr *in = &g->hlo->instrs[instr];
    uint64_t key = kernel_hash(in->name);
    bool first = vp_map_get(&g->by_kernel, key) == VP_MAP_NONE;
    VP_TRY(vp_map_set(&g->by_kernel, key, first ? instr : GRAPH_SHARED));
    VP_TRY(vp_grow(&g->fusions, &g->fusion_cap, g->fusion_count + 1, sizeof *g->fusions,
                   VP_EVENTS_MAX));
    g->fusions[g->fusion_count++] = instr;
    g->instrs[instr].looks = looks_of_fusion(g, in);
    return 0;
}

/* Afterwards each position is within its instruction's computation. */
static int index_computation(graph_program *g, const hlo_computation *c)
{
    const hlo_program *p = g->hlo;
    graph_part *part = &g->parts[c - p->computations];
    part->fusions = g->fusion_count;
    for (uint32_t i = 0; i < graph_length(c); i++) {
        uint32_t at = graph_instr_at(p, c, i);
        if (at >= p->instr_count || &p->computations[p->instrs[at].computation] != c ||
            g->instrs[at].place != HLO_NONE)
            continue; /* a schedule may be invalid */
        g->instrs[at].place = i;
        g->instrs[at].launched = part->launching;
        part->launching += g->instrs[at].launches == LAUNCHES_SOME;
        if (is_fusion(&p->instrs[at]))
            VP_TRY(add_fusion(g, at));
    }
    part->fusion_count = (uint32_t)(g->fusion_count - part->fusions);
    return 0;
}

static void mark_repeated(graph_program *g, const hlo_instr *in)
{
    static const char *const words[] = {"while", "conditional"};
    if (!IS_ANY(in->opcode, words))
        return;
    g->parts[in->computation].has_loops = true;
    for (uint32_t i = 0; i < in->called_count; i++)
        if (g->hlo->links[in->called + i] < g->hlo->computation_count)
            g->parts[g->hlo->links[in->called + i]].repeats = true;
}

int graph_program_open(graph_program *g, vp_str proto)
{
    *g = (graph_program){0};
    vp_map_init(&g->by_kernel);
    VP_TRY(hlo_program_parse(&g->hlo, proto));
    const hlo_program *p = g->hlo;
    g->instrs = vp_calloc(p->instr_count + 1, sizeof *g->instrs);
    g->parts = vp_calloc(p->computation_count + 1, sizeof *g->parts);
    VP_NEED(g->instrs && g->parts);
    for (size_t i = 0; i < p->computation_count; i++) {
        g->parts[i].copies = only_copies(p, p->computations[i].root);
        g->parts[i].looks = looks_inside(p, &p->computations[i]);
    }
    for (size_t i = 0; i < p->instr_count; i++) {
        g->instrs[i] = (graph_instr){HLO_NONE, 0, (uint8_t)of_instr(g, &p->instrs[i]), 0};
        mark_repeated(g, &p->instrs[i]);
    }
    for (size_t i = 0; i < p->computation_count; i++)
        if (!p->computations[i].fusion)
            VP_TRY(index_computation(g, &p->computations[i]));
    return 0;
}

void graph_program_close(graph_program *g)
{
    hlo_program_free(g->hlo);
    vp_free(g->instrs);
    vp_free(g->parts);
    vp_free(g->fusions);
    vp_map_free(&g->by_kernel);
    g->hlo = NULL;
}
