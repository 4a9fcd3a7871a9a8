/* Pairs the begins and ends of async events (b, e) as the importer does: among those of one
 * category and id an end closes the innermost open begin with its name. The importer nests the
 * slices of one id. Therefore a pair that crosses another gets an id of its own, as does an id of
 * two processes, and an end without a begin is dropped. */
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/json/json_plan.h"

int jp_add_async(json_plan *p, const jp_event *e)
{
    bool odd;
    jp_scope scope;
    jp_half half = {.ns = e->start_ns, .event = e->number, .phase = e->phase};
    half.key = jp_async_key(p, e, &odd);
    if (e->phase == 'n') {
        VP_TRY(jp_count_moment(p, e->number));
        if (!odd)
            return 0;
    }
    half.odd = odd;
    jp_async_id(e, &scope);
    half.process = scope == JP_OF_ALL ? JP_NONE : p->threads[e->thread].process;
    half.name = jp_mark_of(p, jp_text(e, EX_NAME));
    VP_TRY(vp_grow(&p->halves, &p->half_cap, p->half_count + 1, sizeof half, VP_EVENTS_MAX));
    p->halves[p->half_count++] = half;
    return 0;
}

static int by_half_key(const void *a, const void *b)
{
    const jp_half *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* The open begins of one id, innermost last, and the new id of its events; 0: unchanged. */
typedef struct pairing {
    json_plan *plan;
    const jp_half **open;
    size_t depth;
    int64_t id;
} pairing;

/* depth: none. An end without a name matches any begin. */
static size_t find_open_half(const pairing *g, const jp_half *end)
{
    for (size_t i = g->depth; i-- > 0 && g->depth - i <= JS_SEARCH_MAX;)
        if (!end->name || g->open[i]->name == end->name)
            return i;
    return g->depth;
}

static int set_half_id(pairing *g, const jp_half *half, int64_t id)
{
    return id ? jp_change_put(g->plan, half->event, JP_ID, id) : 0;
}

static int pair_take_end(pairing *g, const jp_half *end)
{
    json_plan *p = g->plan;
    size_t at = find_open_half(g, end);
    if (at == g->depth) {
        p->unpaired++;
        return jp_change_put(p, end->event, JP_DROP, 0);
    }
    const jp_half *begin = g->open[at];
    bool apart = at + 1 < g->depth || at >= EX_LANE_DEPTH || begin->process != end->process;
    int64_t id = apart ? jp_own_id(begin->event) : g->id;
    g->depth--;
    memmove(g->open + at, g->open + at + 1, (g->depth - at) * sizeof *g->open);
    VP_TRY(set_half_id(g, begin, id));
    VP_TRY(set_half_id(g, end, id));
    return jp_count_pair(p, (jp_pair){begin->event, end->event, begin->ns, end->ns});
}

static int pair_id(pairing *g, const jp_half *h, size_t n)
{
    g->depth = 0;
    g->id = h->odd ? jp_own_id(h->event) : 0;
    for (size_t i = 0; i < n; i++) {
        if (h[i].phase == 'b')
            g->open[g->depth++] = &h[i];
        else if (h[i].phase == 'e')
            VP_TRY(pair_take_end(g, &h[i]));
        else
            VP_TRY(set_half_id(g, &h[i], g->id));
    }
    for (; g->depth; g->depth--) {
        const jp_half *begin = g->open[g->depth - 1];
        VP_TRY(set_half_id(g, begin, g->id));
        VP_TRY(jp_count_open(g->plan, begin->event, begin->ns));
    }
    return 0;
}

static int pair_all_halves(pairing *g, jp_half *h, size_t n)
{
    g->open = vp_calloc(n, sizeof *g->open);
    VP_NEED(g->open);
    qsort(h, n, sizeof *h, by_half_key);
    for (size_t i = 0, of; i < n; i += of) {
        for (of = 1; i + of < n && h[i + of].key == h[i].key;)
            of++;
        VP_TRY(pair_id(g, h + i, of));
    }
    return 0;
}

int jp_pair_async(json_plan *p)
{
    pairing g = {.plan = p};
    int rc = p->half_count ? pair_all_halves(&g, p->halves, p->half_count) : 0;
    vp_free(g.open);
    vp_free(p->halves);
    p->halves = NULL;
    p->half_count = p->half_cap = 0;
    return rc;
}
