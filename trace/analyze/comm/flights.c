#include "trace/analyze/comm/flights.h"

#include <stdlib.h>

#include "trace/analyze/device/classify.h"
#include "trace/analyze/device/hlo_text.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

typedef enum part { WHOLE, START, DONE } part;

struct flight_kinds {
    uint8_t *part;  /* by kind */
    uint64_t *name; /* by kind: hash of the name of the "-start" op */
};

static vp_str strip_percent_sign(vp_str name)
{
    return vp_str_starts(name, VP_STR("%")) ? vp_str_skip(name, 1) : name;
}

/* The op that a "-done" waits for: its operand, or else the one in its own name. */
static uint64_t started_by(vp_str name, vp_str text)
{
    char other[256];
    hlo_text h;
    vp_str operand = hlo_split(&h, text) ? hlo_last_operand(h.operands) : VP_STR_NONE;
    name = strip_percent_sign(name);
    size_t at = vp_str_find(name, VP_STR("-done"));
    if (operand.n)
        return vp_hash(operand.p, operand.n, 0);
    if (at == name.n || name.n >= sizeof other)
        return vp_hash(name.p, name.n, 1);
    vp_str tail = vp_str_skip(name, at + 5);
    memcpy(other, name.p, at);
    memcpy(other + at, "-start", 6);
    if (tail.n)
        memcpy(other + at + 6, tail.p, tail.n);
    return vp_hash(other, name.n + 1, 0);
}

static void classify_flight_kind(flight_kinds *out, const trace *t, uint32_t i)
{
    const trace_kind *k = &t->kinds[i];
    vp_str hlo = cl_hlo(t, k), name = strip_percent_sign(trace_str(t, k->name));
    if (vp_str_ends(hlo, VP_STR("-start"))) {
        out->part[i] = START;
        out->name[i] = vp_hash(name.p, name.n, 0);
    } else if (vp_str_ends(hlo, VP_STR("-done"))) {
        out->part[i] = DONE;
        out->name[i] = started_by(name, trace_str(t, k->long_name));
    }
}

int flight_kinds_new(flight_kinds **out, const trace *t)
{
    flight_kinds *k = vp_calloc(1, sizeof *k);
    if (k) {
        k->part = vp_calloc(t->kind_count, sizeof *k->part);
        k->name = vp_calloc(t->kind_count, sizeof *k->name);
    }
    if (!k || !k->part || !k->name) {
        flight_kinds_free(k);
        return vp_no_memory();
    }
    for (uint32_t i = 0; i < t->kind_count; i++)
        if (t->kinds[i].is_op)
            classify_flight_kind(k, t, i);
    *out = k;
    return 0;
}

void flight_kinds_free(flight_kinds *k)
{
    if (!k)
        return;
    vp_free(k->part);
    vp_free(k->name);
    vp_free(k);
}

/* A "-done" ends the latest open flight of its op on the same track. */
static bool end_open_flight(flights *out, const vp_map *open, size_t base, uint64_t name,
                            uint32_t event)
{
    uint32_t at = vp_map_get(open, name);
    if (at == VP_MAP_NONE || at < base || out->v[at].done != FLIGHT_NO_DONE)
        return false;
    out->v[at].done = event;
    return true;
}

static int find_on_track(flights *out, vp_map *open, const trace_track *k, uint32_t number,
                         const uint8_t *class_of, vp_op_class class, const flight_kinds *kinds)
{
    size_t base = out->n;
    for (size_t i = 0; i < k->count; i++) {
        uint32_t kind = trace_kind_of(k, i);
        if (class_of[kind] != class)
            continue;
        part p = kinds->part[kind];
        if (p == DONE && end_open_flight(out, open, base, kinds->name[kind], (uint32_t)i))
            continue;
        VP_TRY(vp_grow(&out->v, &out->cap, out->n + 1, sizeof *out->v, VP_EVENTS_MAX - 1));
        if (p == START)
            VP_TRY(vp_map_set(open, kinds->name[kind], (uint32_t)out->n));
        out->v[out->n++] = (flight){number, (uint32_t)i, FLIGHT_NO_DONE, kind, 0};
    }
    return 0;
}

int flights_find(flights *out, track_set set, const uint8_t *class_of, vp_op_class class,
                 const flight_kinds *kinds)
{
    vp_map open;
    int rc = 0;
    vp_map_init(&open);
    *out = (flights){0};
    for (size_t i = 0; rc >= 0 && i < set.count; i++)
        rc = find_on_track(out, &open, &set.t->tracks[set.tracks[i]], set.tracks[i], class_of,
                           class, kinds);
    vp_map_free(&open);
    return rc;
}

void flights_free(flights *f)
{
    vp_free(f->v);
    *f = (flights){0};
}

static int64_t flight_start(const trace *t, const flight *f)
{
    return trace_start(&t->tracks[f->track], f->first);
}

static int by_flight_start(const void *a, const void *b, void *ctx)
{
    const flight *x = a, *y = b;
    int64_t s = flight_start(ctx, x), e = flight_start(ctx, y);
    if (s != e)
        return s < e ? -1 : 1;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Sorts rows by counting. Within a row only flights of several tracks need sorting. */
int flights_sort(flights *f, size_t **first, size_t rows, const trace *t)
{
    size_t *at = vp_calloc(rows + 2, sizeof *at);
    flight *sorted = vp_realloc_array(NULL, f->n + 1, sizeof *sorted);
    if (!at || !sorted) {
        vp_free(at);
        vp_free(sorted);
        return vp_no_memory();
    }
    for (size_t i = 0; i < f->n; i++)
        at[f->v[i].row + 2]++;
    for (size_t r = 2; r < rows + 2; r++)
        at[r] += at[r - 1];
    for (size_t i = 0; i < f->n; i++)
        sorted[at[f->v[i].row + 1]++] = f->v[i];
    vp_free(f->v);
    f->v = sorted;
    f->cap = f->n + 1;
    for (size_t r = 0; r < rows; r++) {
        flight *v = sorted + at[r];
        size_t n = at[r + 1] - at[r], i = 1;
        while (i < n && by_flight_start(&v[i - 1], &v[i], (void *)t) <= 0)
            i++;
        if (i < n)
            qsort_r(v, n, sizeof *v, by_flight_start, (void *)t);
    }
    *first = at;
    return 0;
}

static span event_span(const trace_track *k, uint32_t i)
{
    return (span){trace_start(k, i), trace_end(k, i)};
}

span flight_span(const trace *t, const flight *f)
{
    const trace_track *k = &t->tracks[f->track];
    span s = event_span(k, f->first);
    if (f->done != FLIGHT_NO_DONE && event_span(k, f->done).end > s.end)
        s.end = event_span(k, f->done).end;
    return s;
}

size_t flight_blocks(span out[2], const trace *t, const flight *f)
{
    const trace_track *k = &t->tracks[f->track];
    out[0] = event_span(k, f->first);
    if (f->done == FLIGHT_NO_DONE)
        return 1;
    out[1] = event_span(k, f->done);
    return 2;
}

int64_t flight_aligned_start(const trace *t, const flight *f)
{
    return trace_aligned_start(&t->tracks[f->track], f->first);
}

static bool is_exposed(const span *blocks, size_t n, cover *others)
{
    for (size_t i = 0; i < n; i++)
        if (cover_length(others, blocks[i].start, blocks[i].end) < blocks[i].end - blocks[i].start)
            return true;
    return false;
}

/* Flights are sorted by the start of their first blocks. */
static void add_flight(flight_sums *s, const flight *f, const trace *t, cover *others,
                       int64_t *reach)
{
    span whole = flight_span(t, f), blocks[2];
    size_t n = flight_blocks(blocks, t, f);
    s->in_flight_ps += whole.end - whole.start;
    if (whole.end > *reach) {
        s->union_ps += whole.end - (whole.start > *reach ? whole.start : *reach);
        *reach = whole.end;
    }
    for (size_t i = 0; i < n; i++)
        s->ops_ps += blocks[i].end - blocks[i].start;
    s->exposed += is_exposed(blocks, n, others);
}

static int64_t exposed_of(span x, cover *others)
{
    return x.end - x.start - cover_length(others, x.start, x.end);
}

/* Second blocks, one after another, as long as they begin in the order of the flights. */
typedef struct landings {
    const trace *t;
    const flight *v, *end;
    span next;
} landings;

static bool next_landing(landings *l)
{
    while (l->v < l->end && l->v->done == FLIGHT_NO_DONE)
        l->v++;
    if (l->v == l->end)
        return false;
    l->next = event_span(&l->t->tracks[l->v->track], l->v->done);
    l->v++;
    return true;
}

static bool land_in_order(const flight *v, size_t n, const trace *t)
{
    landings l = {.t = t, .v = v, .end = v + n};
    for (int64_t last = INT64_MIN; next_landing(&l); last = l.next.start)
        if (l.next.start < last)
            return false;
    return true;
}

/* Adds a block that begins at or after the earlier ones to the last part of their union. */
static void unite_next(flight_sums *s, span *last, span x, cover *others)
{
    if (x.start <= last->end) {
        last->end = x.end > last->end ? x.end : last->end;
        return;
    }
    s->exposed_ps += exposed_of(*last, others);
    *last = x;
}

/* Both kinds of blocks are sorted by start, so their union needs no buffer. */
static void expose_in_order(flight_sums *s, const flight *v, size_t n, const trace *t,
                            cover *others)
{
    landings l = {.t = t, .v = v, .end = v + n};
    bool landing = next_landing(&l);
    span last = n ? event_span(&t->tracks[v->track], v->first) : (span){0, 0};
    for (size_t i = 0; i < n; i++) {
        span first = event_span(&t->tracks[v[i].track], v[i].first);
        for (; landing && l.next.start < first.start; landing = next_landing(&l))
            unite_next(s, &last, l.next, others);
        unite_next(s, &last, first, others);
    }
    for (; landing; landing = next_landing(&l))
        unite_next(s, &last, l.next, others);
    s->exposed_ps += exposed_of(last, others);
}

static int unite_blocks(spans *all, const flight *v, size_t n, const trace *t)
{
    span blocks[2];
    for (size_t i = 0; i < n; i++)
        for (size_t k = flight_blocks(blocks, t, &v[i]); k-- > 0;)
            VP_TRY(spans_add(all, blocks[k].start, blocks[k].end));
    return spans_union(all);
}

static int flight_sum_exposed(flight_sums *s, const flight *v, size_t n, const trace *t,
                              cover *others)
{
    spans all = {0};
    int rc = unite_blocks(&all, v, n, t);
    for (size_t i = 0; rc >= 0 && i < all.n; i++)
        s->exposed_ps += exposed_of(all.v[i], others);
    spans_free(&all);
    return rc;
}

int flight_sum(flight_sums *out, const flight *v, size_t n, const trace *t, cover *others)
{
    int64_t reach = INT64_MIN;
    *out = (flight_sums){0};
    for (size_t i = 0; i < n; i++)
        add_flight(out, &v[i], t, others, &reach);
    if (!land_in_order(v, n, t))
        return flight_sum_exposed(out, v, n, t, others);
    expose_in_order(out, v, n, t, others);
    return 0;
}
