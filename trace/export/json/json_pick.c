/* Selects the slices of a Trace Event JSON that are exported: events of one slice are kept or
 * dropped together, and of equally long slices the first in the file are kept. */
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/json/json_plan.h"

int jp_count_moment(json_plan *p, uint32_t event)
{
    if (!p->pick || !p->pick->most)
        return 0;
    VP_TRY(ex_pick_count(p->pick, 0));
    VP_TRY(vp_grow(&p->moments, &p->moment_cap, p->moment_count + 1, sizeof event, VP_EVENTS_MAX));
    p->moments[p->moment_count++] = event;
    return 0;
}

int jp_pair_put(json_plan *p, jp_pair pair)
{
    VP_TRY(vp_grow(&p->pairs, &p->pair_cap, p->pair_count + 1, sizeof pair, VP_EVENTS_MAX));
    p->pairs[p->pair_count++] = pair;
    return ex_pick_count(p->pick, pair.end_ns - pair.start_ns);
}

int jp_count_pair(json_plan *p, jp_pair pair)
{
    return ex_pick_limits(p->pick) ? jp_pair_put(p, pair) : 0;
}

int jp_count_open(json_plan *p, uint32_t event, int64_t ns)
{
    return jp_count_pair(p, (jp_pair){event, JP_NONE, ns, p->last_ns > ns ? p->last_ns : ns});
}

/* ---- Slices as long as the shortest selected ones -------------------------------------------- */

typedef struct equals {
    uint32_t *events;
    size_t count, cap;
} equals;

static int put_equal(equals *q, uint32_t event)
{
    VP_TRY(vp_grow(&q->events, &q->cap, q->count + 1, sizeof event, VP_EVENTS_MAX));
    q->events[q->count++] = event;
    return 0;
}

static int by_slice_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int find_equals(const json_plan *p, equals *q)
{
    int64_t least = p->pick->least_ns;
    for (size_t i = 0; i < p->thread_count; i++) {
        const trace_track *k = &p->threads[i].spans.track;
        for (size_t s = 0; s < k->count; s++) /* begins with their own ends are pairs */
            if (trace_dur(k, s) == least)
                VP_TRY(put_equal(q, trace_kind_of(k, s)));
    }
    for (size_t i = 0; i < p->pair_count; i++)
        if (p->pairs[i].end_ns - p->pairs[i].start_ns == least)
            VP_TRY(put_equal(q, p->pairs[i].begin));
    for (size_t i = 0; !least && i < p->moment_count; i++)
        VP_TRY(put_equal(q, p->moments[i]));
    return 0;
}

static int choose_last(json_plan *p)
{
    ex_pick *pick = p->pick;
    equals q = {0};
    int rc = find_equals(p, &q);
    if (rc >= 0 && q.count > pick->spare && pick->spare) {
        qsort(q.events, q.count, sizeof *q.events, by_slice_number);
        pick->last = q.events[pick->spare - 1];
    }
    vp_free(q.events);
    vp_free(p->moments);
    p->moments = NULL;
    p->moment_count = p->moment_cap = 0;
    return rc;
}

/* ---- The decision --------------------------------------------------------------------------- */

int jp_decide(json_plan *p)
{
    int64_t base_ns;
    if (!p->pick)
        return 0;
    ex_pick_decide(p->pick, p->least_ns == INT64_MAX ? 0 : p->least_ns);
    if (__builtin_mul_overflow(p->base_us, 1000, &base_ns) ||
        __builtin_sub_overflow(p->delta_ns, base_ns, &p->pick->moved_ns))
        p->pick->moved_ns = 0;
    if (__builtin_add_overflow(p->pick->first_ns, p->delta_ns, &p->pick->first_ns))
        p->pick->first_ns = 0;
    return p->pick->cut ? choose_last(p) : 0;
}

int jp_drop_pairs(json_plan *p)
{
    for (size_t i = 0; ex_pick_limits(p->pick) && i < p->pair_count; i++) {
        const jp_pair *pair = &p->pairs[i];
        if (ex_pick_takes_number(p->pick, pair->start_ns, pair->end_ns, pair->begin))
            continue;
        VP_TRY(jp_change_put(p, pair->begin, JP_DROP, 0));
        if (pair->end != JP_NONE)
            VP_TRY(jp_change_put(p, pair->end, JP_DROP, 0));
    }
    return 0;
}
