#include "trace/analyze/device/op_around.h"

#include <stdio.h>

#include "trace/analyze/device/ops.h"
#include "trace/analyze/result/programs.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/hlo/hlo_print.h"
#include "trace/read/hlo/hlo_shape.h"
#include "trace/read/semantics/hlo.h"

typedef struct around {
    op_graph *g;
    vp_arena *arena;
    const analysis *a;
    const hlo_program *p;
    uint64_t program_id;
    uint32_t at[GRAPH_NODES_MAX]; /* instructions, by node */
    vp_map met;                   /* instruction → node; GRAPH_NODES_MAX: left out */
} around;

static bool has_program(const trace *t, const trace_kind *k)
{
    return k->is_op && trace_find_program(t, k->program_id) < t->program_count;
}

/* The name of the instruction; TPU events have it as their name. */
static vp_sid instruction_of(const trace_kind *k)
{
    return k->hlo_op ? k->hlo_op : k->name;
}

/* Adds up the members' instructions, each at its first kind: `sum` is by position in the list. */
static int sum_instructions(int64_t *sum, vp_map *first, int64_t *of, const analysis *a,
                            const kind_list *times, const uint8_t *is_member)
{
    for (uint32_t i = 0; i < times->n; i++) {
        const trace_kind *k = &a->t->kinds[times->kind[i]];
        if (!is_member[times->kind[i]] || !has_program(a->t, k))
            continue;
        uint64_t key = vp_mix((uint64_t)k->program_id) ^ instruction_of(k);
        uint32_t at = vp_map_get(first, key);
        if (at == VP_MAP_NONE) {
            VP_TRY(vp_map_set(first, key, at = i));
            ++*of;
        }
        sum[at] += times->self_ps[i] + (at == i); /* more than none */
    }
    return 0;
}

/* A kind of the instruction with the most self time whose program is in the file; NULL: none. */
static int choose_kind(const trace_kind **out, int64_t *of, const analysis *a,
                       const kind_list *times, const uint8_t *is_member)
{
    int64_t most = 0;
    vp_map first;
    VP_CLEANUP(vp_free_ptr) int64_t *sum = vp_calloc((size_t)times->n + 1, sizeof *sum);
    VP_NEED(sum);
    vp_map_init(&first);
    *out = NULL;
    *of = 0;
    int rc = sum_instructions(sum, &first, of, a, times, is_member);
    vp_map_free(&first);
    for (uint32_t i = 0; i < times->n; i++)
        if (sum[i] > most) {
            most = sum[i];
            *out = &a->t->kinds[times->kind[i]];
        }
    return rc;
}

static int copy_graph_text(const char **out, vp_arena *arena, vp_str text)
{
    *out = NULL;
    if (text.n && !(*out = vp_arena_strndup(arena, text.p, text.n)))
        return vp_no_memory();
    return 0;
}

/* A text written by `put`. */
static int make_text(const char **out, const around *x, uint32_t at,
                     int (*put)(vp_buf *, const hlo_program *, uint32_t))
{
    vp_buf b;
    vp_buf_init(&b, 1u << 18);
    int rc = put(&b, x->p, at);
    if (rc >= 0)
        rc = copy_graph_text(out, x->arena, vp_buf_view(&b));
    vp_buf_free(&b);
    return rc;
}

static int add_node(around *x, uint32_t at, int step)
{
    const hlo_instr *in = &x->p->instrs[at];
    char source[400];
    graph_node *n = &x->g->nodes[x->g->node_count];
    *n = (graph_node){.step = step, .op = SIZE_MAX, .bytes = hlo_shape_all_bytes(x->p, in->shape)};
    snprintf(source, sizeof source, "%.*s:%d", VP_STR_CUT(in->source_file, 380u),
             (int)in->source_line);
    VP_TRY(copy_graph_text(&n->name, x->arena, in->name));
    VP_TRY(copy_graph_text(&n->opcode, x->arena, in->opcode));
    VP_TRY(copy_graph_text(&n->scope, x->arena, in->op_name));
    if (in->source_file.n)
        VP_TRY(copy_graph_text(&n->source, x->arena, vp_str_of(source)));
    VP_TRY(make_text(&n->shape, x, in->shape, hlo_put_brief_shape));
    x->at[x->g->node_count] = at;
    return vp_map_set(&x->met, at, (uint32_t)x->g->node_count++);
}

/* An instruction adjacent to a shown one: it is shown, too, or counted. */
static int meet_neighbour(around *x, uint32_t at, int step, size_t *row)
{
    if (at == HLO_NONE || vp_map_get(&x->met, at) != VP_MAP_NONE)
        return 0;
    if (*row < GRAPH_ROW_MAX) {
        ++*row;
        return add_node(x, at, step);
    }
    ++*(step < 0 ? &x->g->operands_left : &x->g->users_left);
    return vp_map_set(&x->met, at, GRAPH_NODES_MAX);
}

static int meet_operands(around *x, int step)
{
    size_t row = 0, n = x->g->node_count;
    for (size_t i = 0; i < n; i++) {
        const hlo_instr *in = &x->p->instrs[x->at[i]];
        for (uint32_t o = 0; x->g->nodes[i].step == step + 1 && o < in->operand_count; o++)
            VP_TRY(meet_neighbour(x, x->p->links[in->operands + o], step, &row));
    }
    return 0;
}

static bool uses_step(const around *x, const hlo_instr *in, int step)
{
    for (uint32_t o = 0; o < in->operand_count; o++) {
        uint32_t node = vp_map_get(&x->met, x->p->links[in->operands + o]);
        if (node < x->g->node_count && x->g->nodes[node].step == step)
            return true;
    }
    return false;
}

static int meet_users(around *x, int step)
{
    const hlo_computation *c = &x->p->computations[x->p->instrs[x->at[0]].computation];
    size_t row = 0;
    for (uint32_t i = c->first; i < c->first + c->count; i++)
        if (uses_step(x, &x->p->instrs[i], step - 1))
            VP_TRY(meet_neighbour(x, i, step, &row));
    return 0;
}

static void add_edges(around *x)
{
    for (size_t to = 0; to < x->g->node_count; to++) {
        const hlo_instr *in = &x->p->instrs[x->at[to]];
        for (uint32_t o = 0; o < in->operand_count; o++) {
            uint32_t from = vp_map_get(&x->met, x->p->links[in->operands + o]);
            if (from < x->g->node_count)
                x->g->edges[from][to] = true;
        }
    }
}

/* The time of the events of shown instructions on the device. */
static void time_nodes(around *x, uint32_t device)
{
    const trace *t = x->a->t;
    const kind_list *l = &x->a->devices[device].times;
    const uint32_t *op_of_group = ops_by_group(x->a, device);
    for (uint32_t i = 0; i < l->n; i++) {
        const trace_kind *k = &t->kinds[l->kind[i]];
        if (!k->is_op || (uint64_t)k->program_id != x->program_id)
            continue;
        uint32_t at = hlo_program_find(x->p, hlo_innermost(trace_str(t, instruction_of(k))));
        uint32_t node = at == HLO_NONE ? VP_MAP_NONE : vp_map_get(&x->met, at);
        if (node >= x->g->node_count)
            continue;
        graph_node *n = &x->g->nodes[node];
        n->calls += l->calls[i];
        n->self_ps += l->self_ps[i];
        n->op = op_of_group[grouping_groups(x->a->g)[l->kind[i]]];
    }
}

static int put_fusion_body(around *x)
{
    const hlo_instr *in = &x->p->instrs[x->at[0]];
    op_graph *g = x->g;
    uint32_t called = in->called_count ? x->p->links[in->called] : HLO_NONE;
    if (!vp_str_eq(in->opcode, VP_STR("fusion")) || called == HLO_NONE)
        return 0;
    const hlo_computation *c = &x->p->computations[called];
    size_t n = c->count < GRAPH_BODY_MAX ? c->count : GRAPH_BODY_MAX;
    g->body = vp_arena_zalloc(x->arena, (n + 1) * sizeof *g->body);
    VP_NEED(g->body);
    for (; g->body_count < n; g->body_count++)
        VP_TRY(make_text(&g->body[g->body_count], x, c->first + (uint32_t)g->body_count,
                         hlo_put_instruction));
    g->body_left = (int64_t)c->count - (int64_t)n;
    return 0;
}

static int fill_op_graph(around *x, uint32_t device, uint32_t instruction)
{
    op_graph *g = x->g;
    g->nodes = vp_arena_zalloc(x->arena, GRAPH_NODES_MAX * sizeof *g->nodes);
    VP_NEED(g->nodes);
    VP_TRY(copy_graph_text(&g->program, x->arena, x->p->name));
    VP_TRY(make_text(&g->text, x, instruction, hlo_put_instruction));
    VP_TRY(add_node(x, instruction, 0));
    for (int step = 1; step <= GRAPH_STEPS; step++) {
        VP_TRY(meet_operands(x, -step));
        VP_TRY(meet_users(x, step));
    }
    add_edges(x);
    time_nodes(x, device);
    return put_fusion_body(x);
}

int op_around(op_graph **out, vp_arena *arena, const analysis *a, uint32_t device,
              const uint8_t *is_member)
{
    const trace_kind *k = NULL;
    hlo_program *p = NULL;
    int64_t instructions = 0;
    *out = NULL;
    VP_TRY(choose_kind(&k, &instructions, a, &a->devices[device].times, is_member));
    int rc =
        k ? hlo_program_parse(&p, a->t->programs[trace_find_program(a->t, k->program_id)].proto)
          : 0;
    if (!k || !p)
        return rc == VP_ENOMEM ? rc : 0;
    around x = {.arena = arena, .a = a, .p = p, .program_id = (uint64_t)k->program_id};
    uint32_t at = hlo_program_find(p, hlo_innermost(trace_str(a->t, instruction_of(k))));
    vp_map_init(&x.met);
    rc = 0;
    if (at != HLO_NONE) {
        x.g = vp_arena_zalloc(arena, sizeof *x.g);
        rc = x.g ? fill_op_graph(&x, device, at) : vp_no_memory();
        if (x.g)
            x.g->instructions = instructions;
        *out = rc < 0 ? NULL : x.g;
    }
    vp_map_free(&x.met);
    hlo_program_free(p);
    return rc;
}
