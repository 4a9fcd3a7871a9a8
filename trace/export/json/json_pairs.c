/* Pairs begins and ends of threads (B, E) as the reader does (json_spans.c): an end closes the
 * innermost open begin with its name and category. Pairs are unchanged if the importer pairs them
 * in the same way; the others are changed so that it must. */
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/json/json_plan.h"

/* A begin whose pairing is left to the importer, which sorts it after other events with its start.
 */
typedef struct late {
    int64_t start_ns, end_ns;
    uint32_t thread, event;
} late;

typedef struct pairing {
    json_plan *plan;
    const jp_edge **open; /* for one thread, innermost last */
    size_t depth;
    late *lates;
    size_t late_count, late_cap;
} pairing;

static int by_edge_order(const void *a, const void *b)
{
    const jp_edge *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* depth: none. */
static size_t find_open_edge(const pairing *g, const jp_edge *end)
{
    for (size_t i = g->depth; i-- > 0 && g->depth - i <= JS_SEARCH_MAX;)
        if (js_mark_fits(g->open[i]->mark, end->mark))
            return i;
    return g->depth;
}

static int put_late(pairing *g, const jp_edge *begin, int64_t end_ns)
{
    late l = {begin->ns, end_ns, begin->thread, begin->event};
    VP_TRY(vp_grow(&g->lates, &g->late_cap, g->late_count + 1, sizeof l, VP_EVENTS_MAX));
    g->lates[g->late_count++] = l;
    return 0;
}

/* A begin without an end, or with an end at the same time, which the importer would sort before the
 * begin. It becomes a complete event. */
static int make_span(pairing *g, const jp_edge *begin, int64_t end_ns)
{
    json_plan *p = g->plan;
    VP_TRY(jp_change_put(p, begin->event, JP_SPAN, end_ns - begin->ns));
    VP_TRY(ex_pick_count(p->pick, end_ns - begin->ns));
    return ex_spans_add(&p->threads[begin->thread].spans, begin->ns, end_ns, begin->event);
}

static int make_instant(json_plan *p, const jp_edge *end)
{
    VP_TRY(jp_count_moment(p, end->event));
    return jp_change_put(p, end->event, JP_INSTANT, 0);
}

/* For the importer a missing value of an end matches any, and one of a begin matches none. */
static bool end_is_more_specific(const jp_edge *end, const jp_edge *begin)
{
    return (end->mark.name && !begin->mark.name) || (end->mark.cat && !begin->mark.cat);
}

static int close_begin(pairing *g, const jp_edge *begin, const jp_edge *end)
{
    json_plan *p = g->plan;
    if (begin->ns == end->ns || end_is_more_specific(end, begin)) {
        VP_TRY(make_span(g, begin, end->ns));
        return end->has_args ? make_instant(p, end) : jp_change_put(p, end->event, JP_DROP, 0);
    }
    VP_TRY(jp_pair_put(p, (jp_pair){begin->event, end->event, begin->ns, end->ns}));
    return put_late(g, begin, end->ns);
}

static int pair_take_edge_end(pairing *g, const jp_edge *end)
{
    size_t at = find_open_edge(g, end);
    if (at == g->depth)
        return make_instant(g->plan, end);
    for (; g->depth > at + 1; g->depth--)
        VP_TRY(make_span(g, g->open[g->depth - 1], end->ns));
    return close_begin(g, g->open[--g->depth], end);
}

/* If ends have the same time, that of the innermost begin comes first, else the file's first: an
 * outer end that precedes an inner one with the same name must not close more than its own frame.
 * The importer pairs them in the same way (tests/golden/test_ends_at_once.py). */
static void sort_inner_end_first(const pairing *g, jp_edge *e, size_t n)
{
    if (!g->depth)
        return;
    for (size_t i = 0; i < n && i < JS_SEARCH_MAX && e[i].is_end && e[i].ns == e->ns; i++) {
        if (!js_mark_fits(g->open[g->depth - 1]->mark, e[i].mark))
            continue;
        jp_edge inner = e[i];
        memmove(e + 1, e, i * sizeof *e);
        *e = inner;
        return;
    }
}

static int pair_thread(pairing *g, jp_edge *e, size_t n)
{
    g->depth = 0;
    for (size_t i = 0; i < n; i++) {
        if (!e[i].is_end) {
            g->open[g->depth++] = &e[i];
            continue;
        }
        sort_inner_end_first(g, e + i, n - i);
        VP_TRY(pair_take_edge_end(g, &e[i]));
    }
    for (; g->depth; g->depth--) { /* "did not end" */
        const jp_edge *begin = g->open[g->depth - 1];
        VP_TRY(put_late(g, begin, INT64_MAX));
        VP_TRY(jp_count_open(g->plan, begin->event, begin->ns));
    }
    return 0;
}

static int late_by_event(const void *a, const void *b)
{
    const late *x = a, *y = b;
    return x->event < y->event ? -1 : x->event > y->event;
}

static int pair_by_begin(const void *a, const void *b)
{
    const jp_pair *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int pair_all_edges(pairing *g)
{
    json_plan *p = g->plan;
    g->open = vp_calloc(p->edge_count, sizeof *g->open);
    VP_NEED(g->open);
    qsort(p->edges, p->edge_count, sizeof *p->edges, by_edge_order);
    for (size_t i = 0, n; i < p->edge_count; i += n) {
        for (n = 1; i + n < p->edge_count && p->edges[i + n].thread == p->edges[i].thread;)
            n++;
        VP_TRY(pair_thread(g, p->edges + i, n));
    }
    if (g->late_count)
        qsort(g->lates, g->late_count, sizeof *g->lates, late_by_event);
    for (size_t i = 0; i < g->late_count; i++) {
        const late *l = &g->lates[i];
        VP_TRY(ex_spans_add_late(&p->threads[l->thread].spans, l->start_ns, l->end_ns, l->event));
    }
    return 0;
}

int jp_pair_edges(json_plan *p)
{
    pairing g = {.plan = p};
    int rc = p->edge_count ? pair_all_edges(&g) : 0;
    vp_free(g.open);
    vp_free(g.lates);
    vp_free(p->edges);
    p->edges = NULL;
    p->edge_count = p->edge_cap = 0;
    if (p->pair_count)
        qsort(p->pairs, p->pair_count, sizeof *p->pairs, pair_by_begin);
    return rc;
}

uint32_t jp_end_of(const json_plan *p, uint32_t event)
{
    const jp_pair key = {.begin = event}, *at = NULL;
    if (p->pair_count)
        at = bsearch(&key, p->pairs, p->pair_count, sizeof key, pair_by_begin);
    return at ? at->end : JP_NONE;
}
