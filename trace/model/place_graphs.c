/* Assigns kernels of CUDA graphs to the instructions from which they were recorded. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/base/order.h"
#include "trace/base/err.h"
#include "trace/base/hash.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/model/graph_kernels.h"
#include "trace/model/trace.h"
#include "trace/read/semantics/hlo.h"

/* A kernel that is a node of a graph. */
typedef struct node {
    int64_t graph, launch; /* number of the launch; SINK_NO_VALUE: unknown */
    int64_t number;        /* node number; 0: unknown */
    int64_t start_ps, end_ps;
    uint32_t track, event;
} node;

typedef struct recorded {
    graph_program program;
    hlo_module *names;
    bool tried;
} recorded;

typedef struct placing {
    trace *t;
    recorded *programs; /* parallel to the trace's programs */
    node *nodes;        /* of the current device */
    size_t node_n, node_cap;
    graph_kernel *kernels; /* of the current replay */
    size_t kernel_cap;
    /* Replays repeat: the result for the first of a kind, by a hash of its kinds. */
    vp_map answers;  /* hash → start of its result in kinds */
    uint32_t *kinds; /* SINK_NONE: unchanged */
    size_t kind_n, kind_cap;
    vp_map variants;      /* kind and instruction → the kind's copy for that instruction */
    uint64_t all, placed; /* numbers of kernels */
    uint64_t steps;       /* left for the search */
} placing;

static uint32_t kind_of_node(const placing *p, const node *v)
{
    return trace_kind_of(&p->t->tracks[v->track], v->event);
}

/* ---- Kernels ---- */

static bool is_memory(const trace *t, const trace_kind *k)
{
    vp_str name = trace_str(t, k->name);
    return k->memcpy || vp_str_starts(name, VP_STR("Memset")) ||
           vp_str_starts(name, VP_STR("Memcpy"));
}

static int collect_track(placing *p, uint32_t track)
{
    const trace *t = p->t;
    trace_track *k = &p->t->tracks[track];
    for (size_t i = 0; i < k->count; i++) {
        const trace_kind *kind = &t->kinds[trace_kind_of(k, i)];
        if (!kind->graph)
            continue;
        VP_TRY(vp_grow(&p->nodes, &p->node_cap, p->node_n + 1, sizeof *p->nodes, VP_EVENTS_MAX));
        p->nodes[p->node_n++] = (node){.graph = kind->graph,
                                       .launch = trace_attr(k, SINK_CORRELATION, i),
                                       .number = kind->graph_node,
                                       .start_ps = trace_start(k, i),
                                       .end_ps = trace_end(k, i),
                                       .track = track,
                                       .event = (uint32_t)i};
    }
    return 0;
}

static int by_replay(const void *a, const void *b)
{
    const node *x = a, *y = b;
    int order = vp_order(x->graph, y->graph);
    order = order ? order : vp_order(x->launch, y->launch);
    order = order ? order : vp_order(x->start_ps, y->start_ps);
    order = order ? order : vp_order(x->number, y->number);
    order = order ? order : vp_order(x->track, y->track);
    return order ? order : vp_order(x->event, y->event);
}

/* ---- Instructions ---- */

/* *out is NULL if the program is missing or damaged, which is reported elsewhere. */
static int recorded_program_of(placing *p, int64_t id, recorded **out)
{
    uint32_t i = trace_find_program(p->t, id);
    *out = NULL;
    if (i == p->t->program_count)
        return 0;
    recorded *r = &p->programs[i];
    if (!r->tried) {
        r->tried = true;
        int rc = graph_program_open(&r->program, p->t->programs[i].proto);
        rc = rc < 0 ? rc : hlo_module_parse(&r->names, p->t->programs[i].proto);
        if (rc == VP_ENOMEM)
            return rc;
    }
    *out = r->names ? r : NULL;
    return 0;
}

static int set_instruction(trace *t, trace_kind *k, hlo_module *m, const graph_kernel *found,
                           vp_str name)
{
    hlo_instruction in;
    int rc = hlo_module_find(m, name, &in);
    if (rc <= 0)
        return rc;
    k->placed = found->by_order ? TRACE_BY_ORDER : TRACE_BY_NAME;
    VP_TRY(vp_intern_put(&t->names, name, &k->hlo_op));
    VP_TRY(vp_intern_put(&t->names, in.op_name, &k->scope));
    VP_TRY(vp_intern_put(&t->names, in.source, &k->source));
    VP_TRY(vp_intern_put(&t->names, in.shape, &k->shape));
    return vp_intern_put(&t->names, in.opcode, &k->hlo_opcode);
}

static int variant_of(placing *p, const recorded *r, const graph_kernel *found, uint32_t kind,
                      uint32_t *out)
{
    trace *t = p->t;
    uint64_t key = vp_mix((uint64_t)kind << 32 | found->instr) ^ found->by_order;
    int made = trace_variant(t, &p->variants, key, kind, out);
    return made != 1 ? made
                     : set_instruction(t, &t->kinds[*out], r->names, found,
                                       r->program.hlo->instrs[found->instr].name);
}

/* A kernel whose event names an instruction other than the call of a graph keeps it. */
static bool is_told(const hlo_program *p, vp_str hlo_op)
{
    uint32_t i = hlo_op.n ? hlo_program_find(p, hlo_op) : HLO_NONE;
    return i != HLO_NONE && !vp_str_eq(p->instrs[i].opcode, VP_STR("call"));
}

/* The instruction named by the event after a replay on its stream (`next`), or before it, if it is
 * of the same program. */
static vp_str neighbour_on_stream(const placing *p, const node *v, bool next)
{
    const trace *t = p->t;
    const trace_track *k = &t->tracks[v->track];
    size_t i = v->event;
    if (next ? i + 1 >= k->count : !i)
        return VP_STR_NONE;
    const trace_kind *kind = &t->kinds[trace_kind_of(k, next ? i + 1 : i - 1)];
    return (kind->graph && !kind->placed) ||
                   kind->program_id != t->kinds[kind_of_node(p, v)].program_id
               ? VP_STR_NONE
               : hlo_innermost(trace_str(t, kind->hlo_op));
}

/* Sets the kinds of kernels that their events identify, and SINK_NONE for others. false: they do
 * not belong to one part of one program, or all are identified. */
static bool are_one_piece(const placing *p, const recorded *r, const node *v, size_t n,
                          uint32_t *kinds)
{
    const trace *t = p->t;
    const trace_kind *first = &t->kinds[kind_of_node(p, v)];
    bool one = true, told = false;
    for (size_t i = 0; i < n; i++) {
        const trace_kind *k = &t->kinds[kind_of_node(p, &v[i])];
        bool same = k->hlo_op == first->hlo_op && k->program_id == first->program_id;
        if (!i || !same)
            told = r && is_told(r->program.hlo, hlo_innermost(trace_str(t, k->hlo_op)));
        kinds[i] = told ? kind_of_node(p, &v[i]) : SINK_NONE;
        one = one && same && !told;
    }
    return one;
}

/* Finds the kinds of a replay that was not seen before. */
static int solve_replay(placing *p, const node *v, size_t n, bool chain, uint32_t *kinds)
{
    const trace *t = p->t;
    const trace_kind first = t->kinds[kind_of_node(p, v)];
    recorded *r;
    VP_TRY(recorded_program_of(p, first.program_id, &r));
    if (!are_one_piece(p, r, v, n, kinds) || !r)
        return 0;
    graph_replay replay = {.launch = hlo_innermost(trace_str(t, first.hlo_op)),
                           .k = p->kernels,
                           .n = n,
                           .one_launch = v->launch != SINK_NO_VALUE,
                           .chain = chain,
                           .before = neighbour_on_stream(p, v, false),
                           .after = neighbour_on_stream(p, &v[n - 1], true),
                           .steps = &p->steps};
    VP_TRY(graph_kernels_find(&r->program, &replay));
    for (size_t i = 0; i < n; i++)
        if (p->kernels[i].instr != HLO_NONE)
            VP_TRY(variant_of(p, r, &p->kernels[i], kind_of_node(p, &v[i]), &kinds[i]));
    return 0;
}

/* True if kernels may run one after the other. On Hopper the next node of a chain begins slightly
 * before the previous one ends, but never before the one before that ends: this is allowed for
 * numbered nodes. */
static bool is_chain(const node *v, size_t n)
{
    int64_t last = INT64_MIN, in_front = INT64_MIN;
    bool numbered = true, overlap = false, deep = false;
    for (size_t i = 0; i < n; i++) {
        numbered = numbered && v[i].number;
        deep = deep || v[i].start_ps < in_front;
        overlap = overlap || v[i].start_ps < last;
        in_front = last > in_front ? last : in_front;
        last = v[i].end_ps;
    }
    return numbered ? !deep : !overlap && !deep;
}

/* Fills p->kernels. Replays with equal hashes are equal. */
static uint64_t load_replay_kernels(placing *p, const node *v, size_t n, bool chain)
{
    uint64_t h = vp_mix(n) ^ (v->launch != SINK_NO_VALUE) ^ (uint64_t)chain << 1;
    for (int next = 0; next < 2; next++) {
        vp_str name = neighbour_on_stream(p, next ? &v[n - 1] : v, next);
        h = vp_mix(h ^ vp_hash(name.p, name.n, 0));
    }
    for (size_t i = 0; i < n; i++) {
        const trace_kind *at = &p->t->kinds[kind_of_node(p, &v[i])];
        p->kernels[i] = (graph_kernel){.name = trace_str(p->t, at->name),
                                       .memory = is_memory(p->t, at),
                                       .node = at->graph_node,
                                       .instr = HLO_NONE};
        h = vp_mix(h ^ kind_of_node(p, &v[i]));
    }
    return h;
}

/* A result is the number of its kernels, followed by their kinds. */
static bool is_replay_answer(const placing *p, uint32_t at, size_t n)
{
    return at != VP_MAP_NONE && p->kinds[at] == n;
}

static int place_replay(placing *p, const node *v, size_t n)
{
    bool chain = is_chain(v, n);
    VP_TRY(vp_grow(&p->kernels, &p->kernel_cap, n, sizeof *p->kernels, VP_EVENTS_MAX));
    uint64_t key = load_replay_kernels(p, v, n, chain);
    uint32_t at = vp_map_get(&p->answers, key);
    if (!is_replay_answer(p, at, n)) {
        at = (uint32_t)p->kind_n;
        VP_TRY(
            vp_grow(&p->kinds, &p->kind_cap, p->kind_n + n + 1, sizeof *p->kinds, VP_EVENTS_MAX));
        p->kinds[at] = (uint32_t)n;
        p->kind_n += n + 1;
        VP_TRY(solve_replay(p, v, n, chain, p->kinds + at + 1));
        VP_TRY(vp_map_set(&p->answers, key, at));
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t kind = p->kinds[at + 1 + i];
        p->all += !p->kernels[i].memory;
        p->placed += kind != SINK_NONE && !p->kernels[i].memory;
        if (kind != SINK_NONE)
            VP_TRY(trace_times_set_kind(&p->t->tracks[v[i].track].own, v[i].event, kind));
    }
    return 0;
}

static int place_device(placing *p, uint32_t process)
{
    p->node_n = 0;
    TRACE_EACH_OF(p->t, process, i)
    if (p->t->tracks[i].role == SINK_ROLE_OPS)
        VP_TRY(collect_track(p, i));
    if (p->node_n)
        qsort(p->nodes, p->node_n, sizeof *p->nodes, by_replay);
    for (size_t i = 0, end; i < p->node_n; i = end) {
        const node *v = &p->nodes[i];
        for (end = i + 1; end < p->node_n && p->nodes[end].graph == v->graph &&
                          p->nodes[end].launch == v->launch;)
            end++;
        VP_TRY(place_replay(p, v, end - i));
    }
    return 0;
}

static int say_left(const placing *p)
{
    char text[200];
    if (p->placed == p->all)
        return 0;
    int n = snprintf(text, sizeof text,
                     "the instructions of %" PRIu64 " of %" PRIu64 " kernels that CUDA graphs ran "
                     "cannot be told: they count for the launch of their graph",
                     p->all - p->placed, p->all);
    return p->t->sink.quality(
        &p->t->sink, &(sink_quality){"graph-kernels", SINK_INFO, {text, (size_t)n}, -1, -1, false});
}

static int place_graph_kernels(placing *p)
{
    p->programs = vp_calloc((size_t)p->t->program_count + 1, sizeof *p->programs);
    VP_NEED(p->programs);
    for (uint32_t i = 0; i < p->t->process_count; i++)
        VP_TRY(place_device(p, i));
    return say_left(p);
}

int trace_place_graphs(trace *t)
{
    placing p = {.t = t, .steps = VP_GRAPH_STEPS_MAX};
    vp_map_init(&p.answers);
    vp_map_init(&p.variants);
    int rc = place_graph_kernels(&p);
    for (uint32_t i = 0; p.programs && i < t->program_count; i++) {
        graph_program_close(&p.programs[i].program);
        hlo_module_free(p.programs[i].names);
    }
    vp_free(p.programs);
    vp_free(p.nodes);
    vp_free(p.kernels);
    vp_free(p.kinds);
    vp_map_free(&p.answers);
    vp_map_free(&p.variants);
    return rc;
}
