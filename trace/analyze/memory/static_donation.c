#include "trace/analyze/memory/static_donation.h"

#include <stdlib.h>

#include "trace/analyze/memory/static_unused.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/read/hlo/hlo_shape.h"

/* Maximum pairs of an argument and a result to check; real programs need as many as they have
 * results. */
#define PAIRS_MAX (UINT64_C(1) << 26)

static uint64_t place_key(const hlo_program *p, int64_t number, uint32_t place, uint32_t count)
{
    const int64_t *v = count ? p->numbers + place : NULL;
    return vp_hash((const char *)v, count * sizeof *v, vp_mix((uint64_t)number));
}

int alias_set_make(alias_set *s, const hlo_program *p)
{
    *s = (alias_set){.p = p};
    for (size_t i = 0; i < p->alias_count; i++) {
        const hlo_alias *x = &p->aliases[i];
        uint64_t key = place_key(p, x->parameter_number, x->place, x->place_count);
        VP_TRY(vp_map_set(x->output ? &s->made : &s->donors, key, 0));
    }
    return 0;
}

void alias_set_free(alias_set *s)
{
    vp_map_free(&s->made);
    vp_map_free(&s->donors);
}

static bool in_table(const vp_map *table, const hlo_program *p, const hlo_allocation *a)
{
    uint64_t key = place_key(p, a->parameter_number, a->place, a->place_count);
    return vp_map_get(table, key) != VP_MAP_NONE;
}

bool alias_set_has(const alias_set *s, const hlo_allocation *a)
{
    return a->is_parameter && (a->aliased || (a->live_out && in_table(&s->made, s->p, a)));
}

typedef struct candidate {
    uint32_t instr, next; /* next of the same key, in order */
    const hlo_allocation *a;
    uint64_t key; /* of size, color and shape */
    uint32_t died;
    bool taken;
} candidate;

typedef struct search {
    const hlo_program *p;
    const alias_set *aliases;
    const hlo_computation *c;
    uint32_t *order;    /* by instruction: its position in the schedule, 0 unknown */
    uint32_t *last_use; /* likewise */
    bool *is_output;    /* likewise: the root's elements come from it */
    candidate *params;
    size_t param_count;
    vp_map param_instr; /* parameter number → instruction */
    vp_map first, tail; /* key → candidates */
    donation *out;
    size_t n, cap;
    uint64_t pairs;
} search;

/* The index of an instruction within the computation; false if it is in another one. */
static bool place_in_computation(const search *s, uint32_t instr, uint32_t *at)
{
    *at = instr - s->c->first;
    return instr != HLO_NONE && instr >= s->c->first && *at < s->c->count;
}

/* Users follow their operands, so a backward pass knows the last uses of users. */
static void find_last_uses(search *s)
{
    for (uint32_t i = 0; i < s->c->count; i++)
        s->last_use[i] = s->order[i];
    for (uint32_t i = s->c->count; i-- > 0;) {
        const hlo_instr *in = &s->p->instrs[s->c->first + i];
        uint32_t used = hlo_is_view(in->opcode) ? s->last_use[i] : s->order[i];
        for (uint32_t k = 0, at; k < in->operand_count; k++)
            if (place_in_computation(s, s->p->links[in->operands + k], &at) &&
                s->last_use[at] < used)
                s->last_use[at] = used;
    }
}

/* The root, and through views the sources of its elements. */
static void find_outputs(search *s)
{
    uint32_t at;
    if (place_in_computation(s, s->c->root, &at))
        s->is_output[at] = true;
    for (uint32_t i = s->c->count; i-- > 0;) {
        const hlo_instr *in = &s->p->instrs[s->c->first + i];
        for (uint32_t k = 0; s->is_output[i] && hlo_is_view(in->opcode) && k < in->operand_count;
             k++)
            if (place_in_computation(s, s->p->links[in->operands + k], &at))
                s->is_output[at] = true;
    }
}

static int donation_key(const search *s, const hlo_allocation *a, uint32_t shape, uint64_t *key)
{
    vp_buf b;
    vp_buf_init(&b, 1u << 20);
    int rc = shape == HLO_NONE ? 0 : hlo_put_shape(&b, s->p, shape);
    *key = vp_hash(b.p, rc < 0 ? 0 : b.n,
                   vp_mix((uint64_t)a->size) ^ (uint64_t)a->color ^ (rc < 0 ? 1u : 0u));
    vp_buf_free(&b);
    return rc == VP_ENOMEM ? rc : 0;
}

static int add_donation_candidate(search *s, const hlo_allocation *a)
{
    uint32_t instr = vp_map_get(&s->param_instr, (uint64_t)a->parameter_number), at;
    if (!a->is_parameter || a->live_out || a->aliased || instr == VP_MAP_NONE ||
        in_table(&s->aliases->made, s->p, a) || in_table(&s->aliases->donors, s->p, a) ||
        !place_in_computation(s, instr, &at))
        return 0;
    uint32_t shape = hlo_shape_at(s->p, s->p->instrs[instr].shape, a->place, a->place_count);
    candidate c = {.instr = instr, .next = VP_MAP_NONE, .a = a, .died = s->last_use[at]};
    VP_TRY(donation_key(s, a, shape, &c.key));
    uint32_t last = vp_map_get(&s->tail, c.key), me = (uint32_t)s->param_count;
    if (last == VP_MAP_NONE)
        VP_TRY(vp_map_set(&s->first, c.key, me));
    else
        s->params[last].next = me;
    VP_TRY(vp_map_set(&s->tail, c.key, me));
    s->params[s->param_count++] = c;
    return 0;
}

/* The buffer in an output's allocation at the end. */
static uint32_t output_buffer(const search *s, const hlo_allocation *a)
{
    for (uint32_t i = a->assigned_count, at; i-- > 0;) {
        uint32_t b = s->p->assigned[a->assigned + i].buffer;
        if (b != HLO_NONE && place_in_computation(s, s->p->buffers[b].instr, &at) &&
            s->is_output[at])
            return b;
    }
    return HLO_NONE;
}

static int match_output(search *s, const hlo_allocation *a)
{
    uint32_t b = !a->live_out || a->is_parameter || a->is_tuple ? HLO_NONE : output_buffer(s, a);
    uint32_t at;
    uint64_t key;
    if (b == HLO_NONE || !place_in_computation(s, s->p->buffers[b].instr, &at))
        return 0;
    VP_TRY(donation_key(s, a, s->p->buffers[b].shape, &key));
    for (uint32_t i = vp_map_get(&s->first, key); i != VP_MAP_NONE && s->pairs < PAIRS_MAX;
         i = s->params[i].next) {
        candidate *c = &s->params[i];
        s->pairs++;
        if (c->taken || c->died > s->order[at])
            continue;
        c->taken = true;
        VP_TRY(vp_grow(&s->out, &s->cap, s->n + 1, sizeof *s->out, UINT32_MAX));
        s->out[s->n++] = (donation){.parameter = c->instr,
                                    .output = s->p->buffers[b].instr,
                                    .parameter_number = c->a->parameter_number,
                                    .bytes = a->size,
                                    .color = a->color,
                                    .last_use = c->died,
                                    .born = s->order[at],
                                    .also_scratch = a->assigned_count > 1};
        return 0;
    }
    return 0;
}

static int search_donations(search *s)
{
    const hlo_program *p = s->p;
    uint32_t at;
    for (uint32_t i = 0; i < s->c->order_count; i++)
        if (place_in_computation(s, p->links[s->c->order + i], &at))
            s->order[at] = i;
    for (uint32_t i = s->c->first + s->c->count; i-- > s->c->first;)
        if (vp_str_eq(p->instrs[i].opcode, VP_STR("parameter")))
            VP_TRY(vp_map_set(&s->param_instr, (uint64_t)p->instrs[i].parameter_number, i));
    find_last_uses(s);
    find_outputs(s);
    for (size_t i = 0; i < p->allocation_count; i++)
        VP_TRY(add_donation_candidate(s, &p->allocations[i]));
    for (size_t i = 0; i < p->allocation_count; i++)
        VP_TRY(match_output(s, &p->allocations[i]));
    return 0;
}

static int by_donation_bytes(const void *a, const void *b)
{
    const donation *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->parameter_number > y->parameter_number) -
           (x->parameter_number < y->parameter_number);
}

int donations_find(donation **out, size_t *n, const hlo_program *p, const alias_set *aliases)
{
    *out = NULL;
    *n = 0;
    if (p->entry == HLO_NONE || !p->computations[p->entry].order_count)
        return 0;
    search s = {.p = p, .aliases = aliases, .c = &p->computations[p->entry]};
    size_t count = (size_t)s.c->count + 1;
    s.order = vp_calloc(count, sizeof *s.order);
    s.last_use = vp_calloc(count, sizeof *s.last_use);
    s.is_output = vp_calloc(count, sizeof *s.is_output);
    s.params = vp_calloc(p->allocation_count + 1, sizeof *s.params);
    int rc =
        s.order && s.last_use && s.is_output && s.params ? search_donations(&s) : vp_no_memory();
    vp_free(s.order);
    vp_free(s.last_use);
    vp_free(s.is_output);
    vp_free(s.params);
    vp_map_free(&s.param_instr);
    vp_map_free(&s.first);
    vp_map_free(&s.tail);
    if (rc < 0) {
        vp_free(s.out);
        return rc;
    }
    if (s.n)
        qsort(s.out, s.n, sizeof *s.out, by_donation_bytes);
    *out = s.out;
    *n = s.n;
    return 0;
}
