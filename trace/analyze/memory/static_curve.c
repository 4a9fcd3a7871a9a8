/* The live memory over a program's order, in layers by scope. */
#include "trace/analyze/memory/static_rows.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Number of points of a curve, and of scopes with their own layer; the last layers belong to no
 * scope. */
#define SAMPLES 160u
#define SCOPES 6u
enum { LAYER_FIXED = SCOPES, LAYER_OTHERS, LAYERS };

typedef struct layering {
    const hlo_program *p;
    const hlo_heap_trace *t;
    vp_str scope[SCOPES];
    int64_t at_peak[SCOPES];
    size_t scopes;
    uint8_t *of;         /* by buffer: its layer */
    int64_t now[LAYERS]; /* bytes that are live */
} layering;

/* The scopes that hold most of the temporaries at the peak. `live` is sorted by size, so a scope
 * that occurs late is small. */
static void choose_scopes(layering *l, const static_live *live, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        vp_str s = live[i].first == REPLAY_NEVER ? VP_STR_NONE : static_scope(l->p, live[i].buffer);
        size_t k = 0;
        while (k < l->scopes && !vp_str_eq(l->scope[k], s))
            k++;
        if (!s.n || k == SCOPES)
            continue;
        l->scope[k] = s;
        l->at_peak[k] += live[i].bytes;
        l->scopes += k == l->scopes;
    }
}

static uint8_t layer_of(const layering *l, uint32_t buffer)
{
    vp_str s = static_scope(l->p, buffer);
    for (size_t k = 0; s.n && k < l->scopes; k++)
        if (vp_str_eq(l->scope[k], s))
            return (uint8_t)k;
    return LAYER_OTHERS;
}

static void layering_count_event(layering *l, replay_state *s, uint32_t i)
{
    bool up;
    uint32_t root = replay_step(s, l->p, &l->p->events[l->t->first + i], &up);
    if (root == HLO_NONE)
        return;
    uint8_t *layer = &l->of[root];
    if (up)
        *layer = layer_of(l, s->shown[root]);
    l->now[*layer] += up ? l->p->buffers[root].size : -l->p->buffers[root].size;
}

/* The event with the most live bytes of each section. */
static int choose_samples(vp_memory_plan *plan, layering *l)
{
    size_t n = l->t->count < SAMPLES ? l->t->count : SAMPLES;
    int64_t best = 0;
    replay_state s;
    int rc = replay_begin(&s, l->p);
    for (uint32_t i = 0; rc >= 0 && i < l->t->count; i++) {
        bool up, begins;
        size_t slice = (size_t)((uint64_t)i * n / l->t->count);
        replay_step(&s, l->p, &l->p->events[l->t->first + i], &up);
        begins = plan->sample_count == slice;
        if (begins || s.live > best) {
            plan->sample_event[slice] = i;
            plan->sample_count = slice + 1;
            best = s.live;
        }
    }
    replay_end(&s);
    return rc;
}

static int layering_fill_samples(vp_memory_plan *plan, layering *l)
{
    size_t next = 0;
    replay_state s;
    int rc = replay_begin(&s, l->p);
    for (uint32_t i = 0; rc >= 0 && i < l->t->count && next < plan->sample_count; i++) {
        layering_count_event(l, &s, i);
        if (plan->sample_event[next] != i)
            continue;
        for (size_t k = 0; k < plan->layer_count; k++)
            plan->layers[k].bytes[next] = l->now[k];
        next++;
    }
    replay_end(&s);
    return rc;
}

static int name_layers(vp_memory_plan *plan, host_result *h, const layering *l)
{
    for (size_t k = 0; k < LAYERS; k++) {
        vp_plan_layer *y = &plan->layers[k];
        vp_str name = k == LAYER_FIXED    ? VP_STR("arguments, results and constants")
                      : k == LAYER_OTHERS ? VP_STR("other temporaries")
                                          : l->scope[k];
        y->byte_count = plan->sample_count;
        y->bytes = vp_arena_zalloc(&h->arena, (plan->sample_count + 1) * sizeof *y->bytes);
        VP_NEED(y->bytes);
        VP_TRY(host_text(&y->scope, h, name));
    }
    return 0;
}

/* Scopes without memory are left out. */
static void drop_empty_layers(vp_memory_plan *plan, size_t scopes)
{
    size_t n = 0;
    for (size_t k = 0; k < LAYERS; k++)
        if (k < scopes || k >= SCOPES)
            plan->layers[n++] = plan->layers[k];
    plan->layer_count = n;
}

int static_curve(vp_memory_plan *plan, host_result *h, const hlo_program *p, const heap_replay *r,
                 const static_live *live, size_t n)
{
    VP_CLEANUP(vp_free_ptr) uint8_t *of = vp_calloc(p->buffer_count + 1, 1);
    layering l = {.p = p, .t = &p->traces[r->trace], .of = of};
    int64_t fixed = plan->peak_bytes - plan->heap_peak_bytes;
    plan->sample_event = vp_arena_zalloc(&h->arena, SAMPLES * sizeof *plan->sample_event);
    plan->layers = vp_arena_zalloc(&h->arena, LAYERS * sizeof *plan->layers);
    VP_NEED(of && plan->sample_event && plan->layers);
    choose_scopes(&l, live, n);
    VP_TRY(choose_samples(plan, &l));
    plan->layer_count = LAYERS;
    l.now[LAYER_FIXED] = fixed;
    VP_TRY(name_layers(plan, h, &l));
    VP_TRY(layering_fill_samples(plan, &l));
    drop_empty_layers(plan, l.scopes);
    return 0;
}
