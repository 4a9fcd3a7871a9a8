/* Spans of two events: begin and end, and the halves of async events. */
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/json/json_reader.h"

static int new_lane(cj_reader *r, cj_lane lane, uint32_t *id)
{
    VP_TRY(vp_grow(&r->lanes, &r->lane_cap, r->lane_count + 1, sizeof *r->lanes, VP_EVENTS_MAX));
    *id = (uint32_t)r->lane_count;
    r->lanes[r->lane_count++] = lane;
    return 0;
}

/* 0: missing. */
static uint32_t edge_value_hash(js_value v)
{
    return v.type ? (uint32_t)(cj_hash(v, 0) >> 24 | 1) : 0;
}

static int add_span_edge(cj_reader *r, const cj_fields *f, uint32_t lane, int64_t ts_ps,
                         bool is_end)
{
    cj_edge e = {.ts_ps = ts_ps,
                 .lane = lane,
                 .mark = {edge_value_hash(f->v[CJ_NAME]), edge_value_hash(f->v[CJ_CAT])},
                 .number = (uint32_t)r->edge_count,
                 .is_end = is_end};
    if (!is_end)
        VP_TRY(cj_kind_plain(r, f, &e.kind));
    VP_TRY(vp_grow(&r->edges, &r->edge_cap, r->edge_count + 1, sizeof e, VP_EVENTS_MAX));
    r->edges[r->edge_count++] = e;
    if (r->last_ps < ts_ps)
        r->last_ps = ts_ps;
    return 0;
}

int cj_edge_of(cj_reader *r, const cj_fields *f, bool is_end)
{
    cj_thread *t;
    int64_t ts_ps;
    if (!cj_start(r, f, &ts_ps) || cj_unwanted(r))
        return 0;
    VP_TRY(cj_thread_of(r, f, &t));
    if (t->lane == SINK_NONE)
        VP_TRY(new_lane(r, (cj_lane){(uint32_t)(t - r->threads), SINK_NONE}, &t->lane));
    if (t->last_ps < ts_ps)
        t->last_ps = ts_ps;
    return add_span_edge(r, f, t->lane, ts_ps, is_end);
}

/* Key that the halves of an async event share: category, id and scope; also the process if the id
 * is local to it (id2.local). */
static uint64_t async_key(cj_reader *r, const cj_fields *f, const cj_thread *t, bool legacy)
{
    js_value id2 = f->v[CJ_ID2];
    uint64_t key = cj_hash(f->v[CJ_CAT], legacy ? 2 : 3);
    key = vp_mix(key ^ cj_hash(f->v[CJ_ID], 4) ^ cj_hash(f->v[CJ_SCOPE], 5));
    if (id2.type != JS_NESTED)
        return vp_mix(key ^ cj_hash(id2, 6));
    const char *p = id2.s.p + 1, *end = id2.s.p + id2.s.n;
    vp_str name;
    js_value v;
    while (js_next_member(&p, end, r->skip, &name, &v) == JS_MEMBER) {
        key = vp_mix(key ^ cj_hash(v, 6));
        if (vp_str_eq(name, VP_STR("local")))
            key = vp_mix(key ^ (t->process + UINT64_C(1)) << 32);
    }
    return key;
}

static int async_instant(cj_reader *r, const cj_fields *f, cj_thread *t, int64_t ts_ps)
{
    sink_event e = {.start_ps = ts_ps, .aligned_start_ps = SINK_NO_TIME};
    VP_TRY(cj_kind_plain(r, f, &e.kind));
    VP_TRY(cj_async_track(r, t, f, &e.track));
    return cj_emit(r, t, &e);
}

int cj_async(cj_reader *r, const cj_fields *f, char phase)
{
    cj_thread *t;
    int64_t ts_ps;
    if (!cj_start(r, f, &ts_ps) || cj_unwanted(r))
        return 0;
    VP_TRY(cj_thread_of(r, f, &t));
    if (phase == 'n' || phase == 'T' || phase == 'p')
        return async_instant(r, f, t, ts_ps);
    bool legacy = phase == 'S' || phase == 'F';
    uint64_t key = async_key(r, f, t, legacy);
    uint32_t lane = vp_map_get(&r->maps[CJ_BY_ASYNC], key);
    if (lane == VP_MAP_NONE) {
        cj_lane l = {.thread = (uint32_t)(t - r->threads)};
        VP_TRY(cj_async_track(r, t, f, &l.track));
        VP_TRY(new_lane(r, l, &lane));
        VP_TRY(vp_map_set(&r->maps[CJ_BY_ASYNC], key, lane));
    }
    return add_span_edge(r, f, lane, ts_ps, phase == 'e' || phase == 'F');
}

static int by_lane_and_time(const void *a, const void *b)
{
    const cj_edge *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->ts_ps != y->ts_ps)
        return x->ts_ps < y->ts_ps ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int emit_span(cj_reader *r, const cj_edge *begin, int64_t end_ps)
{
    const cj_lane *lane = &r->lanes[begin->lane];
    cj_thread *t = &r->threads[lane->thread];
    sink_event e = {.start_ps = begin->ts_ps,
                    .aligned_start_ps = SINK_NO_TIME,
                    .track = lane->track,
                    .kind = begin->kind};
    if (__builtin_sub_overflow(end_ps, begin->ts_ps, &e.dur_ps))
        e.dur_ps = 0;
    if (e.track == SINK_NONE)
        VP_TRY(cj_track_of(r, t, &e.track));
    return cj_emit(r, t, &e);
}

/* The open begin that an end closes: the innermost that matches. depth: none. */
static size_t find_matching_begin(const cj_edge *const *open, size_t depth, const cj_edge *end)
{
    for (size_t i = depth; i-- > 0 && depth - i <= JS_SEARCH_MAX;)
        if (js_mark_fits(open[i]->mark, end->mark))
            return i;
    return depth;
}

/* Orders ends at the same time: first that of the innermost begin, then file order. An outer end
 * that precedes an inner one with the same name must close only its own frame. */
static void put_inner_end_first(const cj_edge *innermost, cj_edge *e, size_t n)
{
    for (size_t i = 0; i < n && i < JS_SEARCH_MAX && e[i].is_end && e[i].ts_ps == e->ts_ps; i++) {
        if (!js_mark_fits(innermost->mark, e[i].mark))
            continue;
        cj_edge inner = e[i];
        memmove(e + 1, e, i * sizeof *e);
        *e = inner;
        return;
    }
}

/* Pairs the edges of one lane, sorted by time. `open` has space for all of them. */
static int pair_lane(cj_reader *r, cj_edge *e, size_t n, const cj_edge **open)
{
    const cj_lane *lane = &r->lanes[e->lane];
    int64_t last = lane->track == SINK_NONE ? r->threads[lane->thread].last_ps : r->last_ps;
    size_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        if (!e[i].is_end) {
            open[depth++] = &e[i];
            continue;
        }
        if (depth)
            put_inner_end_first(open[depth - 1], e + i, n - i);
        size_t at = find_matching_begin(open, depth, &e[i]);
        if (at == depth) {
            cj_note(r, CJ_END_WITHOUT_BEGIN);
            continue;
        }
        for (; depth > at; depth--) {
            VP_TRY(emit_span(r, open[depth - 1], e[i].ts_ps));
            if (depth - 1 > at)
                cj_note(r, CJ_UNCLOSED);
        }
    }
    for (; depth; depth--) {
        cj_note(r, CJ_UNCLOSED);
        VP_TRY(emit_span(r, open[depth - 1], last));
    }
    return 0;
}

int cj_spans_finish(cj_reader *r)
{
    if (!r->edge_count)
        return 0;
    VP_CLEANUP(vp_free_ptr) const cj_edge **open = vp_calloc(r->edge_count, sizeof *open);
    VP_NEED(open);
    qsort(r->edges, r->edge_count, sizeof *r->edges, by_lane_and_time);
    r->event = r->byte = -1; /* unmatched halves have no single place in the file */
    for (size_t i = 0, n; i < r->edge_count; i += n) {
        for (n = 1; i + n < r->edge_count && r->edges[i + n].lane == r->edges[i].lane;)
            n++;
        VP_TRY(pair_lane(r, r->edges + i, n, open));
    }
    return 0;
}
