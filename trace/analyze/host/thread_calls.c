#include "trace/analyze/host/thread_calls.h"

#include "trace/analyze/device/self_walk.h"
#include "trace/analyze/host/host_kinds.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

int host_places_new(host_places **out, const trace *t)
{
    host_places *p = vp_calloc(1, sizeof *p);
    VP_NEED(p);
    p->place = vp_calloc((size_t)t->kind_count + 1, sizeof *p->place);
    p->valid = vp_calloc((size_t)t->kind_count + 1, sizeof *p->valid);
    if (!p->place || !p->valid) {
        host_places_free(p);
        return vp_no_memory();
    }
    *out = p;
    return 0;
}

void host_places_free(host_places *p)
{
    if (!p)
        return;
    vp_free(p->place);
    vp_free(p->valid);
    vp_free(p);
}

void host_places_begin(host_places *p)
{
    p->use++; /* fewer tracks than that exist */
}

spans host_between_ops(const spans *idle)
{
    return idle->n < 3 ? (spans){0} : (spans){idle->v + 1, idle->n - 2, 0};
}

/* ---- Which events count --------------------------------------------------------------------- */

typedef struct counted {
    const host_asked *x;
    const trace_track *k;
    spans profiler; /* end of the profiler's own work on this thread */
    size_t near;
} counted;

static int counted_begin(counted *c, const host_asked *x, const trace_track *k)
{
    const host_kinds *kinds = x->a->kinds;
    *c = (counted){.x = x, .k = k};
    for (size_t i = host_marked_from(kinds, k, 0); i < k->count;
         i = host_marked_from(kinds, k, i + 1))
        if (host_kind_flags(kinds, trace_kind_of(k, i)) & HK_PROFILER)
            VP_TRY(spans_add(&c->profiler, trace_start(k, i), trace_end(k, i)));
    return spans_union(&c->profiler);
}

/* True if event i, of that kind, counts. Called in the order of starts. */
static inline bool is_counted_event(counted *c, size_t i, uint32_t kind)
{
    return !c->x->hidden_kind[kind] &&
           !(c->profiler.n && spans_contain(&c->profiler, trace_start(c->k, i), &c->near));
}

/* ---- Calls ---------------------------------------------------------------------------------- */

typedef struct calling {
    counted of;
    host_rows *out;
    host_places *p;
    uint32_t track;
    const host_kinds *kinds;
    spans inner; /* idle time between ops */
    size_t inner_at;
    int64_t blocked_until; /* end of the thread's blocking calls so far */
} calling;

/* The duration of a blocking call outside of earlier ones of the thread. */
static int64_t blocked_beyond_earlier(calling *b, int64_t start, int64_t end)
{
    int64_t from = start > b->blocked_until ? start : b->blocked_until;
    if (from >= end)
        return 0;
    b->blocked_until = end;
    return spans_cut(&b->inner, from, end, &b->inner_at);
}

static int host_row_of_kind(host_row **out, calling *b, uint32_t kind)
{
    host_rows *rows = b->out;
    uint32_t at = host_place_of(b->p, kind);
    if (at == UINT32_MAX) {
        VP_TRY(vp_grow(&rows->v, &rows->cap, rows->n + 1, sizeof *rows->v, UINT32_MAX - 1));
        at = (uint32_t)rows->n;
        host_place_set(b->p, kind, at);
        rows->v[rows->n++] =
            (host_row){.track = b->track,
                       .threads = 1,
                       .kind = kind,
                       .max_ps = -1,
                       .open = nesting_begin(nesting_none(b->of.x->a->t, b->of.k))};
    }
    *out = &rows->v[at];
    return 0;
}

static int count_thread_call(calling *b, size_t i)
{
    uint32_t kind = trace_kind_of(b->of.k, i);
    int64_t start = trace_start(b->of.k, i), dur = trace_dur(b->of.k, i);
    host_row *r;
    if (!is_counted_event(&b->of, i, kind))
        return 0;
    VP_TRY(host_row_of_kind(&r, b, kind));
    r->calls++;
    if (dur > r->max_ps) {
        r->max_ps = dur;
        r->max_start_ps = start;
    }
    r->total_ps += nesting_add(&r->open, start, start + dur);
    if (host_kind_flags(b->kinds, kind) & HK_BLOCKING)
        r->blocked_ps += blocked_beyond_earlier(b, start, start + dur);
    return 0;
}

int host_calls_count(host_rows *out, const host_asked *x, host_places *p, uint32_t track)
{
    const trace_track *k = &x->a->t->tracks[track];
    calling b = {.out = out,
                 .p = p,
                 .track = track,
                 .kinds = x->a->kinds,
                 .inner = host_between_ops(x->idle),
                 .blocked_until = INT64_MIN};
    int rc = counted_begin(&b.of, x, k);
    host_places_begin(p);
    for (size_t i = 0; rc >= 0 && i < k->count; i++)
        rc = count_thread_call(&b, i);
    spans_free(&b.of.profiler);
    return rc;
}

/* ---- Self times ----------------------------------------------------------------------------- */

typedef struct owning {
    counted of;
    host_selves *out;
    host_places *p;
    size_t idle_at;
} owning;

/* For events that do not count. */
#define NO_ROW SIZE_MAX

static int self_of(void *ctx, size_t i, size_t *at)
{
    owning *b = ctx;
    uint32_t kind = trace_kind_of(b->of.k, i), found;
    *at = NO_ROW;
    if (!is_counted_event(&b->of, i, kind))
        return 0;
    found = host_place_of(b->p, kind);
    if (found == UINT32_MAX) {
        host_selves *l = b->out;
        VP_TRY(vp_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v, UINT32_MAX - 1));
        found = (uint32_t)l->n;
        host_place_set(b->p, kind, found);
        l->v[l->n++] = (host_self){.kind = kind};
    }
    *at = found;
    return 0;
}

static int add_self(void *ctx, size_t at, int64_t start, int64_t end)
{
    owning *b = ctx;
    if (at == NO_ROW)
        return 0;
    host_self *s = &b->out->v[at];
    s->self_ps += end - start;
    s->idle_ps += spans_cut(b->of.x->idle, start, end, &b->idle_at);
    return 0;
}

int host_selves_count(host_selves *out, const host_asked *x, host_places *p, uint32_t track)
{
    const trace_track *k = &x->a->t->tracks[track];
    owning b = {.out = out, .p = p};
    self_stack st = {0};
    int rc = counted_begin(&b.of, x, k);
    host_places_begin(p);
    if (rc >= 0)
        rc = self_walk(&st, k, self_of, add_self, &b);
    vp_free(st.v);
    spans_free(&b.of.profiler);
    return rc;
}
