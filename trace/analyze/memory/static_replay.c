#include "trace/analyze/memory/static_replay.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Maximum length of a chain; real ones have 1 or 2. */
#define CHAIN_MAX 64

int replay_begin(replay_state *s, const hlo_program *p)
{
    size_t n = p->buffer_count + 1;
    *s = (replay_state){0};
    s->parent = vp_realloc_array(NULL, n, sizeof *s->parent);
    s->uses = vp_calloc(n, sizeof *s->uses);
    s->shown = vp_calloc(n, sizeof *s->shown);
    VP_NEED(s->parent && s->uses && s->shown);
    memset(s->parent, 0xff, n * sizeof *s->parent);
    return 0;
}

void replay_end(replay_state *s)
{
    vp_free(s->parent);
    vp_free(s->uses);
    vp_free(s->shown);
    *s = (replay_state){0};
}

uint32_t replay_root(replay_state *s, uint32_t b)
{
    for (int i = 0; s->parent[b] != HLO_NONE; i++) {
        if (i == CHAIN_MAX) {
            s->odd++;
            break;
        }
        b = s->parent[b];
    }
    return b;
}

static uint32_t replay_release(replay_state *s, const hlo_program *p, uint32_t b)
{
    uint32_t r = replay_root(s, b);
    s->parent[b] = HLO_NONE;
    if (!s->uses[r]) {
        s->odd++;
        return HLO_NONE;
    }
    if (--s->uses[r])
        return HLO_NONE;
    s->live -= p->buffers[r].size;
    return r;
}

static bool makes_sense(const hlo_program *p, const hlo_heap_event *e)
{
    return e->buffer != HLO_NONE && p->buffers[e->buffer].size >= 0 &&
           (e->kind == HLO_HEAP_ALLOC || e->kind == HLO_HEAP_FREE ||
            (e->kind == HLO_HEAP_SHARE && e->canonical != HLO_NONE));
}

uint32_t replay_step(replay_state *s, const hlo_program *p, const hlo_heap_event *e, bool *up)
{
    uint32_t b = e->buffer, r = b;
    *up = e->kind != HLO_HEAP_FREE;
    if (!makes_sense(p, e)) {
        s->odd++;
        return HLO_NONE;
    }
    if (!*up)
        return replay_release(s, p, b);
    if (e->kind == HLO_HEAP_SHARE) {
        r = replay_root(s, e->canonical);
        if (r == b)
            s->odd++;
        else
            s->parent[b] = r;
    }
    int64_t live;
    if (s->uses[r]++)
        return HLO_NONE;
    s->shown[r] = b;
    if (__builtin_add_overflow(s->live, p->buffers[r].size, &live)) {
        s->odd++;
        s->uses[r] = 0;
        return HLO_NONE;
    }
    s->live = live;
    return r;
}

/* The trace with the most events of the color; ties: the first. */
static uint32_t choose_trace(const hlo_program *p, int64_t color)
{
    uint32_t best = HLO_NONE;
    size_t most = 0;
    for (uint32_t t = 0; t < p->trace_count; t++) {
        size_t n = 0;
        for (uint32_t i = 0; i < p->traces[t].count; i++) {
            uint32_t b = p->events[p->traces[t].first + i].buffer;
            n += b != HLO_NONE && p->buffers[b].color == color;
        }
        if (n > most) {
            most = n;
            best = t;
        }
    }
    return best;
}

static void note_span(heap_replay *r, const replay_state *s, const hlo_heap_event *e, uint32_t root,
                      bool up, uint32_t n, uint32_t end)
{
    uint32_t b = e->buffer;
    if (up && root != HLO_NONE) {
        r->first[s->shown[root]] = n;
        r->last[s->shown[root]] = end;
    } else if (!up && b != HLO_NONE) {
        if (r->first[b] != REPLAY_NEVER)
            r->last[b] = n;
        if (root != HLO_NONE && r->first[root] != REPLAY_NEVER)
            r->last[root] = n;
    }
}

int heap_replay_run(heap_replay *out, const hlo_program *p, int64_t color)
{
    replay_state s;
    size_t n = p->buffer_count + 1;
    *out = (heap_replay){.trace = choose_trace(p, color)};
    if (out->trace == HLO_NONE)
        return 0;
    const hlo_heap_trace *t = &p->traces[out->trace];
    out->first = vp_realloc_array(NULL, n, sizeof *out->first);
    out->last = vp_realloc_array(NULL, n, sizeof *out->last);
    int rc = replay_begin(&s, p);
    if (rc < 0 || !out->first || !out->last) {
        replay_end(&s);
        heap_replay_free(out);
        return vp_no_memory();
    }
    memset(out->first, 0xff, n * sizeof *out->first);
    memset(out->last, 0xff, n * sizeof *out->last);
    for (uint32_t i = 0; i < t->count; i++) {
        const hlo_heap_event *e = &p->events[t->first + i];
        bool up;
        uint32_t root = replay_step(&s, p, e, &up);
        note_span(out, &s, e, root, up, i, t->count - 1);
        if (s.live > out->peak) {
            out->peak = s.live;
            out->at = i;
        }
    }
    out->odd = s.odd;
    replay_end(&s);
    return 0;
}

void heap_replay_free(heap_replay *r)
{
    vp_free(r->first);
    vp_free(r->last);
    r->first = r->last = NULL;
}

/* The largest of an allocation's buffers; ties: the first; HLO_NONE. */
static uint32_t largest_allocated_buffer(const hlo_program *p, const hlo_allocation *a)
{
    uint32_t best = HLO_NONE;
    for (uint32_t i = 0; i < a->assigned_count; i++) {
        uint32_t b = p->assigned[a->assigned + i].buffer;
        if (b != HLO_NONE && (best == HLO_NONE || p->buffers[b].size > p->buffers[best].size))
            best = b;
    }
    return best;
}

int heap_replay_xla_peak(int64_t *out, const hlo_program *p)
{
    replay_state s;
    bool up;
    int rc = replay_begin(&s, p);
    int64_t peak = 0;
    for (size_t i = 0; rc >= 0 && i < p->allocation_count; i++) {
        const hlo_allocation *a = &p->allocations[i];
        bool fixed = a->is_parameter || a->live_out || (a->is_constant && !a->on_stack);
        uint32_t b = fixed ? largest_allocated_buffer(p, a) : HLO_NONE;
        if (b != HLO_NONE && p->buffers[b].size > 0)
            replay_step(&s, p, &(hlo_heap_event){.buffer = b}, &up);
    }
    peak = s.live;
    for (size_t i = 0; rc >= 0 && i < p->event_count; i++) {
        replay_step(&s, p, &p->events[i], &up);
        peak = s.live > peak ? s.live : peak;
    }
    replay_end(&s);
    *out = peak;
    return rc;
}
