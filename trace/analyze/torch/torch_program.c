#include "trace/analyze/torch/torch_program.h"

#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

typedef enum torch_kind {
    OPERATOR = 1 << 0,  /* a cpu_op */
    OPTIMIZER = 1 << 1, /* Optimizer.step#NAME */
    GROUPED = 1 << 2,   /* an operator for many parameters at once */
} torch_kind;

typedef struct torch_walk {
    analysis *a;
    uint8_t *kinds;  /* by kind: torch_kind */
    vp_map backward; /* sequence numbers of backward ops */
    vp_torch *out;
    uint32_t optimizer; /* kind of the longest step; UINT32_MAX: none */
} torch_walk;

static bool find_torch_kinds(uint8_t *out, const trace *t)
{
    bool any = false;
    for (uint32_t i = 0; i < t->kind_count; i++) {
        vp_str name = trace_str(t, t->kinds[i].name);
        bool op = vp_str_eq(trace_str(t, t->kinds[i].category), VP_STR("cpu_op"));
        bool grouped = op && (vp_str_find(name, VP_STR("_foreach_")) < name.n ||
                              vp_str_find(name, VP_STR("_fused_")) < name.n);
        bool optimizer = vp_str_starts(name, VP_STR("Optimizer.step#"));
        out[i] =
            (uint8_t)((op ? OPERATOR : 0) | (grouped ? GROUPED : 0) | (optimizer ? OPTIMIZER : 0));
        any = any || op;
    }
    return any;
}

static int find_backward(torch_walk *w)
{
    const trace *t = w->a->t;
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        const trace_column *c = k->role == SINK_ROLE_PLAIN ? k->attr[SINK_BACKWARD] : NULL;
        for (size_t e = trace_column_next(c, 0); e < k->count; e = trace_column_next(c, e + 1))
            VP_TRY(vp_map_set(&w->backward, (uint64_t)trace_attr(k, SINK_BACKWARD, e), 1));
    }
    return 0;
}

/* Optimizer steps of a thread, and the operators that they call directly. */
static void walk_optimizers(torch_walk *w, const trace_track *k)
{
    vp_torch *o = w->out;
    int64_t until = INT64_MIN, op_until = INT64_MIN;
    for (size_t e = 0; e < k->count; e++) {
        uint8_t what = w->kinds[trace_kind_of(k, e)];
        int64_t start = trace_start(k, e), end = start + trace_dur(k, e);
        if ((what & OPTIMIZER) && start >= until) {
            until = end;
            o->optimizer_steps++;
            o->optimizer_ps += end - start;
            if (end - start > o->optimizer_dur_ps) {
                o->optimizer_dur_ps = end - start;
                o->optimizer_start_ps = start - w->a->h->origin_ps;
                w->optimizer = trace_kind_of(k, e);
            }
        } else if ((what & OPERATOR) && start < until && start >= op_until) {
            op_until = end;
            o->optimizer_ops++;
            o->grouped_ops += (what & GROUPED) != 0;
        }
    }
}

/* Outermost operators that autograd records. Those without a backward pass do it in vain. */
static void walk_recorded(torch_walk *w, const trace_track *k)
{
    vp_torch *o = w->out;
    int64_t until = INT64_MIN, last = -1, since = INT64_MIN, to = INT64_MIN;
    for (size_t e = 0; k->attr[SINK_SEQUENCE] && e < k->count; e++) {
        int64_t number = trace_attr(k, SINK_SEQUENCE, e), start = trace_start(k, e);
        if (number == SINK_NO_VALUE || start < until || !(w->kinds[trace_kind_of(k, e)] & OPERATOR))
            continue;
        until = start + trace_dur(k, e);
        bool used = vp_map_get(&w->backward, (uint64_t)number) != VP_MAP_NONE;
        o->recorded_ops += number != last;
        o->unused_ops += !used && number != last;
        o->unused_ps += used ? 0 : until - start;
        last = number;
        since = used ? INT64_MIN : since == INT64_MIN ? start : since;
        to = until;
        if (since != INT64_MIN && to - since > o->unused_dur_ps) {
            o->unused_dur_ps = to - since;
            o->unused_start_ps = since - w->a->h->origin_ps;
        }
    }
}

static int walk_torch(torch_walk *w)
{
    const trace *t = w->a->t;
    VP_TRY(find_backward(w));
    for (uint32_t i = 0; i < t->track_count; i++)
        if (t->tracks[i].role == SINK_ROLE_PLAIN && !t->tracks[i].spans) {
            walk_optimizers(w, &t->tracks[i]);
            walk_recorded(w, &t->tracks[i]);
        }
    if (w->optimizer == UINT32_MAX)
        return 0;
    vp_str name = trace_str(t, t->kinds[w->optimizer].name);
    return host_text(&w->out->optimizer, w->a->h, vp_str_skip(name, VP_STR("Optimizer.step#").n));
}

int torch_program_collect(analysis *a)
{
    VP_CLEANUP(vp_free_ptr) uint8_t *kinds = vp_calloc((size_t)a->t->kind_count + 1, 1);
    torch_walk w = {.a = a, .kinds = kinds, .out = &a->h->torch, .optimizer = UINT32_MAX};
    VP_NEED(kinds);
    if (!find_torch_kinds(kinds, a->t))
        return 0;
    vp_map_init(&w.backward);
    int rc = walk_torch(&w);
    vp_map_free(&w.backward);
    return rc;
}
