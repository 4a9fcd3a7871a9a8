#include "trace/analyze/memory/static_plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/analyze/memory/static_donation.h"
#include "trace/analyze/memory/static_rows.h"
#include "trace/analyze/memory/static_unused.h"
#include "trace/analyze/result/programs.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/read/hlo/hlo_shape.h"
#include "trace/read/semantics/hlo_types.h"

/* Maximum memory spaces of one program; real ones have fewer than ten. */
#define SPACES_MAX 32
/* Number of listed donations. */
#define DONATIONS_MAX 100u
/* Plans with a curve: the largest of those that ran, and of the others. */
#define CURVES_MAX 8u

/* State of one program. */
typedef struct work {
    host_result *h;
    const hlo_program *p;
    alias_set aliases;
    donation *donations;
    size_t donation_count;
    uint64_t odd;
    static_live *live; /* of the current space */
    size_t live_count, live_cap;
} work;

/* false: invalid, and *sum is unchanged. */
static bool add_plan_bytes(work *w, int64_t *sum, int64_t v)
{
    int64_t both;
    if (v < 0 || __builtin_add_overflow(*sum, v, &both)) {
        w->odd++;
        return false;
    }
    *sum = both;
    return true;
}

typedef enum place { ON_STACK = VP_BUFFER_OTHERS } place;

/* The first type that applies; ON_STACK: in no sum. */
static int allocation_kind(const hlo_allocation *a)
{
    return a->is_parameter  ? VP_BUFFER_PARAMETER
           : a->live_out    ? VP_BUFFER_OUTPUT
           : a->on_stack    ? ON_STACK
           : a->is_constant ? VP_BUFFER_CONSTANT
                            : VP_BUFFER_TEMP;
}

static int add_live(work *w, static_live row)
{
    VP_TRY(vp_grow(&w->live, &w->live_cap, w->live_count + 1, sizeof row, UINT32_MAX));
    w->live[w->live_count++] = row;
    return 0;
}

/* The largest buffer in an allocation; ties: the smallest id. */
static uint32_t largest_buffer_of(const hlo_program *p, const hlo_allocation *a)
{
    uint32_t best = HLO_NONE;
    for (uint32_t i = 0; i < a->assigned_count; i++) {
        uint32_t at = p->assigned[a->assigned + i].buffer;
        const hlo_buffer *b = at == HLO_NONE ? NULL : &p->buffers[at], *m = &p->buffers[best];
        if (b && (best == HLO_NONE || b->size > m->size || (b->size == m->size && b->id < m->id)))
            best = at;
    }
    return best;
}

/* Unpadded bytes of a buffer; 0 without a shape, VP_UNKNOWN if its size is unknown. */
static int64_t unpadded_buffer_bytes(const hlo_program *p, uint32_t buffer)
{
    uint32_t shape = buffer == HLO_NONE ? HLO_NONE : p->buffers[buffer].shape;
    return shape == HLO_NONE ? 0 : hlo_shape_bytes(p, shape);
}

/* The number of an allocation's buffers that exceed it. */
static uint64_t count_outside(const hlo_program *p, const hlo_allocation *a)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < a->assigned_count; i++) {
        const hlo_assigned *s = &p->assigned[a->assigned + i];
        n += s->offset < 0 || s->size < 0 || s->offset > a->size || s->size > a->size - s->offset;
    }
    return n;
}

/* Sums of the allocations of one space, and the holders of the fixed ones. */
static int add_allocations(work *w, vp_memory_plan *plan, int64_t *fixed)
{
    const hlo_program *p = w->p;
    int64_t *const sums[] = {&plan->parameter_bytes, &plan->output_bytes, &plan->constant_bytes,
                             &plan->temp_bytes, &plan->stack_bytes};
    for (size_t i = 0; i < p->allocation_count; i++) {
        const hlo_allocation *a = &p->allocations[i];
        int kind = allocation_kind(a);
        if (a->color != plan->space)
            continue;
        w->odd += count_outside(p, a);
        if (!add_plan_bytes(w, sums[kind], a->size))
            continue;
        if (a->live_out)
            add_plan_bytes(w, &plan->live_out_bytes, a->size);
        if (alias_set_has(&w->aliases, a))
            add_plan_bytes(w, &plan->alias_bytes, a->size);
        if (kind >= VP_BUFFER_TEMP || !a->size || !add_plan_bytes(w, fixed, a->size))
            continue;
        VP_TRY(add_live(w, (static_live){largest_buffer_of(p, a), (vp_buffer_kind)kind, a->size,
                                         REPLAY_NEVER, REPLAY_NEVER, VP_UNKNOWN}));
    }
    return 0;
}

/* The live buffers when the events' peak is reached. */
static int add_heap(work *w, const heap_replay *r)
{
    const hlo_program *p = w->p;
    replay_state s;
    bool up;
    int rc = replay_begin(&s, p);
    for (uint32_t i = 0; rc >= 0 && r->peak && i <= r->at; i++)
        replay_step(&s, p, &p->events[p->traces[r->trace].first + i], &up);
    for (uint32_t b = 0; rc >= 0 && r->peak && b < p->buffer_count; b++)
        if (s.uses[b]) {
            uint32_t by = s.shown[b];
            rc = add_live(w, (static_live){by, VP_BUFFER_TEMP, p->buffers[b].size, r->first[by],
                                           r->last[by], VP_UNKNOWN});
        }
    replay_end(&s);
    return rc;
}

/* The temporaries of a space without events; *arrays: one is more than a table of pointers. */
static int add_untraced_temporaries(work *w, const vp_memory_plan *plan, const heap_replay *r,
                                    int64_t *bytes, bool *arrays)
{
    const hlo_program *p = w->p;
    VP_CLEANUP(vp_free_ptr) bool *covered = vp_calloc(p->buffer_count + 1, sizeof *covered);
    VP_NEED(covered);
    for (uint32_t i = 0; r->trace != HLO_NONE && i < p->traces[r->trace].count; i++) {
        uint32_t b = p->events[p->traces[r->trace].first + i].buffer;
        if (b != HLO_NONE)
            covered[b] = true;
    }
    for (size_t i = 0; i < p->allocation_count; i++) {
        const hlo_allocation *a = &p->allocations[i];
        for (uint32_t k = 0; a->color == plan->space && allocation_kind(a) == VP_BUFFER_TEMP &&
                             k < a->assigned_count;
             k++) {
            const hlo_assigned *s = &p->assigned[a->assigned + k];
            if (s->buffer == HLO_NONE || covered[s->buffer])
                continue;
            uint32_t shape = p->buffers[s->buffer].shape;
            add_plan_bytes(w, bytes, s->size);
            *arrays = *arrays || shape == HLO_NONE || p->shapes[shape].type != HLO_TYPE_TUPLE;
        }
    }
    return 0;
}

/* Without events: the peak of the temporaries as recorded by the compiler. */
static int add_said_peak(work *w, const vp_memory_plan *plan, int64_t *bytes, bool *any)
{
    const hlo_program *p = w->p;
    for (size_t i = 0; i < p->allocation_count; i++) {
        const hlo_allocation *a = &p->allocations[i];
        if (a->color != plan->space || allocation_kind(a) != VP_BUFFER_TEMP)
            continue;
        for (size_t k = 0; k < p->peak_count; k++)
            for (uint32_t j = 0; p->peaks[k].allocation_index == a->index && j < p->peaks[k].count;
                 j++) {
                uint32_t b = p->links[p->peaks[k].buffers + j];
                if (b == HLO_NONE)
                    continue;
                *any = true;
                if (!add_plan_bytes(w, bytes, p->buffers[b].size))
                    continue;
                VP_TRY(add_live(w, (static_live){b, VP_BUFFER_TEMP, p->buffers[b].size,
                                                 REPLAY_NEVER, REPLAY_NEVER, VP_UNKNOWN}));
            }
    }
    return 0;
}

static int set_heap_peak(work *w, vp_memory_plan *plan, const heap_replay *r)
{
    int64_t outside = 0, said = 0;
    bool arrays = false, any = false;
    VP_TRY(add_untraced_temporaries(w, plan, r, &outside, &arrays));
    if (r->trace != HLO_NONE) {
        const hlo_heap_trace *t = &w->p->traces[r->trace];
        plan->replayed = true;
        plan->heap_peak_bytes = r->peak;
        plan->peak_event = r->at;
        plan->events = t->count;
        plan->untraced_bytes = outside;
        w->odd += r->odd;
        VP_TRY(
            host_text(&plan->peak_instruction, w->h, w->p->events[t->first + r->at].instruction));
        return add_heap(w, r);
    }
    if (!arrays) {
        plan->heap_peak_bytes = 0;
        plan->untraced_bytes = plan->temp_bytes;
        return 0;
    }
    VP_TRY(add_said_peak(w, plan, &said, &any));
    if (any)
        plan->heap_peak_bytes = said;
    return 0;
}

/* For all live buffers, if their lifetimes are known. */
static int64_t unpadded_peak(const work *w, const vp_memory_plan *plan)
{
    int64_t sum = 0;
    if (!plan->replayed && plan->heap_peak_bytes != 0)
        return VP_UNKNOWN;
    for (size_t i = 0; i < w->live_count; i++) {
        int64_t v = unpadded_buffer_bytes(w->p, w->live[i].buffer);
        if (v < 0 || __builtin_add_overflow(sum, v, &sum))
            return VP_UNKNOWN;
    }
    return sum;
}

static int add_donations(work *w, vp_memory_plan *plan)
{
    size_t n = w->donation_count < DONATIONS_MAX ? w->donation_count : DONATIONS_MAX;
    plan->donations = vp_arena_zalloc(&w->h->arena, (n + 1) * sizeof *plan->donations);
    VP_NEED(plan->donations);
    for (size_t i = 0; i < w->donation_count; i++) {
        const donation *d = &w->donations[i];
        const hlo_instr *in = &w->p->instrs[d->parameter];
        const hlo_instr *made = &w->p->instrs[d->output];
        if (d->color != plan->space)
            continue;
        plan->donation_total++;
        add_plan_bytes(w, &plan->donation_bytes, d->bytes);
        if (plan->donation_count == n)
            continue;
        vp_plan_donation *out = &plan->donations[plan->donation_count++];
        *out = (vp_plan_donation){.parameter_number = d->parameter_number,
                                  .bytes = d->bytes,
                                  .last_use = d->last_use,
                                  .born = d->born,
                                  .also_scratch = d->also_scratch};
        VP_TRY(host_text(&out->parameter, w->h, in->name));
        VP_TRY(host_text(&out->scope, w->h, in->op_name));
        VP_TRY(host_text(&out->output, w->h, made->name));
        VP_TRY(host_text(&out->output_scope, w->h, made->op_name));
        VP_TRY(static_source(&out->output_source, w->h, made));
    }
    return 0;
}

static void set_sums(work *w, vp_memory_plan *plan, int64_t fixed)
{
    plan->reserved_bytes = fixed;
    add_plan_bytes(w, &plan->reserved_bytes, plan->temp_bytes);
    plan->peak_bytes = fixed;
    if (plan->heap_peak_bytes < 0 || !add_plan_bytes(w, &plan->peak_bytes, plan->heap_peak_bytes))
        plan->peak_bytes = VP_UNKNOWN;
    w->odd += plan->peak_bytes > plan->reserved_bytes;
    plan->fragmentation_bytes = plan->replayed && plan->reserved_bytes >= plan->peak_bytes
                                    ? plan->reserved_bytes - plan->peak_bytes
                                    : VP_UNKNOWN;
    plan->peak_unpadded_bytes = unpadded_peak(w, plan);
}

/* The unused time of each buffer that is live at the peak. */
static int find_unused(work *w, vp_memory_plan *plan)
{
    unused_times t;
    int rc = unused_times_make(
        &t, w->p, plan->peak_instruction ? vp_str_of(plan->peak_instruction) : VP_STR_NONE);
    plan->instructions = t.c ? t.all : VP_UNKNOWN;
    for (size_t i = 0; rc >= 0 && i < w->live_count; i++)
        w->live[i].unused = unused_times_of(&t, w->live[i].buffer);
    unused_times_free(&t);
    return rc;
}

static int make_plan(work *w, vp_memory_plan *plan)
{
    heap_replay r;
    int64_t fixed = 0;
    w->live_count = 0;
    VP_TRY(add_allocations(w, plan, &fixed));
    VP_TRY(heap_replay_run(&r, w->p, plan->space));
    int rc = set_heap_peak(w, plan, &r);
    if (rc >= 0) {
        set_sums(w, plan, fixed);
        rc = find_unused(w, plan);
    }
    if (rc >= 0)
        rc = static_rows(plan, w->h, w->p, w->live, w->live_count);
    if (rc >= 0)
        rc = add_donations(w, plan);
    if (rc >= 0 && plan->replayed && plan->peak_bytes >= 0)
        rc = static_curve(plan, w->h, w->p, &r, w->live, w->live_count);
    heap_replay_free(&r);
    return rc;
}

static int64_t count_remat(const hlo_program *p)
{
    int64_t n = 0;
    for (size_t i = 0; i < p->instr_count; i++) {
        const hlo_instr *in = &p->instrs[i];
        n += vp_str_find(in->name, VP_STR(".remat")) < in->name.n ||
             vp_str_find(in->op_name, VP_STR("rematted_computation")) < in->op_name.n;
    }
    return n;
}

/* The spaces of a program's allocations, ascending. */
static size_t find_spaces(int64_t *spaces, const hlo_program *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->allocation_count; i++) {
        size_t at = 0;
        while (at < n && spaces[at] < p->allocations[i].color)
            at++;
        if ((at < n && spaces[at] == p->allocations[i].color) || n == SPACES_MAX)
            continue;
        memmove(spaces + at + 1, spaces + at, (n - at) * sizeof *spaces);
        spaces[at] = p->allocations[i].color;
        n++;
    }
    return n;
}

static int add_plans(work *w, const vp_memory_plan *like)
{
    int64_t spaces[SPACES_MAX];
    size_t n = find_spaces(spaces, w->p);
    host_result *h = w->h;
    for (size_t i = 0; i < n; i++) {
        vp_memory_plan plan = *like;
        plan.space = spaces[i];
        VP_TRY(make_plan(w, &plan));
        VP_TRY(vp_grow(&h->memory_static, &h->memory_static_cap, h->memory_static_count + 1,
                       sizeof plan, UINT32_MAX));
        h->memory_static[h->memory_static_count++] = plan;
    }
    return 0;
}

static int note_odd(work *w, const vp_memory_plan *like)
{
    char text[256];
    uint64_t n = w->odd + w->p->loose;
    if (!n)
        return 0;
    snprintf(text, sizeof text, "%.100s: %llu entr%s of its memory plan %s invalid",
             like->module ? like->module : "a program", (unsigned long long)n, n == 1 ? "y" : "ies",
             n == 1 ? "is" : "are");
    return host_note(w->h, "memory-plan", VP_SEV_WARNING, text);
}

static int plan_program(analysis *a, const hlo_program *p, vp_memory_plan *like)
{
    work w = {.h = a->h, .p = p};
    like->remat_count = count_remat(p);
    int rc = heap_replay_xla_peak(&like->xla_peak_bytes, p);
    if (rc >= 0)
        rc = alias_set_make(&w.aliases, p);
    if (rc >= 0)
        rc = donations_find(&w.donations, &w.donation_count, p, &w.aliases);
    if (rc >= 0)
        rc = add_plans(&w, like);
    if (rc >= 0)
        rc = note_odd(&w, like);
    alias_set_free(&w.aliases);
    vp_free(w.donations);
    vp_free(w.live);
    return rc;
}

/* Marks programs with an op in the profile. */
static int find_ran(vp_map *ran, const analysis *a)
{
    for (uint32_t i = 0; i < a->t->kind_count; i++)
        if (a->t->kinds[i].is_op && a->t->kinds[i].program_id != SINK_UNKNOWN)
            VP_TRY(vp_map_set(ran, (uint64_t)a->t->kinds[i].program_id, 1));
    for (size_t i = 0; i < a->h->module_count; i++)
        if (a->h->modules[i].program_id != VP_UNKNOWN)
            VP_TRY(vp_map_set(ran, (uint64_t)a->h->modules[i].program_id, 1));
    return 0;
}

static int plan_all(analysis *a, const vp_map *ran)
{
    for (uint32_t i = 0; i < a->t->program_count; i++) {
        const trace_program *t = &a->t->programs[i];
        const hlo_program *p;
        int64_t ignored;
        VP_TRY(programs_get(&p, a, i));
        if (!p || !p->assigned_memory)
            continue;
        vp_memory_plan like = {.program_id = (int64_t)t->id,
                               .ran = vp_map_get(ran, t->id) != VP_MAP_NONE,
                               .peak_bytes = VP_UNKNOWN,
                               .heap_peak_bytes = VP_UNKNOWN,
                               .peak_event = VP_UNKNOWN,
                               .untraced_bytes = VP_UNKNOWN};
        VP_TRY(host_text(&like.module, a->h, trace_module_name(t->name, &ignored)));
        VP_TRY(plan_program(a, p, &like));
    }
    return 0;
}

static int by_plan_peak(const void *a, const void *b)
{
    const vp_memory_plan *x = a, *y = b;
    if (x->ran != y->ran)
        return y->ran - x->ran;
    if (x->peak_bytes != y->peak_bytes)
        return x->peak_bytes > y->peak_bytes ? -1 : 1;
    int order = strcmp(x->module ? x->module : "", y->module ? y->module : "");
    if (order || x->space != y->space)
        return order ? order : x->space < y->space ? -1 : 1;
    return (x->program_id > y->program_id) - (x->program_id < y->program_id);
}

/* Adds a plan to the row of its space: the memory that a program keeps between runs is added up,
 * and the largest temporaries of all count once. */
static int add_to_programs(host_result *h, const vp_memory_plan *x, int64_t *temps)
{
    vp_memory_programs *r = NULL;
    size_t i = 0;
    int64_t kept = x->reserved_bytes - x->temp_bytes;
    for (; i < h->memory_programs_count && !r; i++)
        r = h->memory_programs[i].space == x->space ? &h->memory_programs[i] : NULL;
    if (!r) {
        if (h->memory_programs_count == SPACES_MAX)
            return 0;
        VP_TRY(vp_grow(&h->memory_programs, &h->memory_programs_cap, h->memory_programs_count + 1,
                       sizeof *r, SPACES_MAX));
        r = &h->memory_programs[h->memory_programs_count++];
        *r = (vp_memory_programs){.space = x->space};
        i = h->memory_programs_count;
        temps[i - 1] = 0;
    }
    r->programs++;
    if (x->reserved_bytes > r->least_bytes || !r->largest) {
        r->least_bytes = x->reserved_bytes;
        r->largest = x->module;
    }
    if (__builtin_add_overflow(r->most_bytes, kept, &r->most_bytes))
        r->most_bytes = INT64_MAX / 2;
    temps[i - 1] = x->temp_bytes > temps[i - 1] ? x->temp_bytes : temps[i - 1];
    return 0;
}

static int by_space(const void *a, const void *b)
{
    const vp_memory_programs *x = a, *y = b;
    return (x->space > y->space) - (x->space < y->space);
}

static int add_programs(host_result *h)
{
    int64_t temps[SPACES_MAX];
    for (size_t i = 0; i < h->memory_static_count; i++)
        if (h->memory_static[i].ran)
            VP_TRY(add_to_programs(h, &h->memory_static[i], temps));
    for (size_t i = 0; i < h->memory_programs_count; i++)
        if (__builtin_add_overflow(h->memory_programs[i].most_bytes, temps[i],
                                   &h->memory_programs[i].most_bytes))
            h->memory_programs[i].most_bytes = INT64_MAX / 2;
    if (h->memory_programs_count)
        qsort(h->memory_programs, h->memory_programs_count, sizeof *h->memory_programs, by_space);
    return 0;
}

int static_collect(analysis *a)
{
    vp_map ran = {0};
    host_result *h = a->h;
    if (!a->t->program_count)
        return 0;
    int rc = find_ran(&ran, a);
    if (rc >= 0)
        rc = plan_all(a, &ran);
    vp_map_free(&ran);
    VP_TRY(rc);
    if (h->memory_static_count)
        qsort(h->memory_static, h->memory_static_count, sizeof *h->memory_static, by_plan_peak);
    for (size_t i = 0, curves = 0; i < h->memory_static_count; i++) {
        vp_memory_plan *x = &h->memory_static[i];
        if (x->sample_count && curves++ >= CURVES_MAX)
            x->sample_count = x->layer_count = 0;
    }
    return add_programs(h);
}
