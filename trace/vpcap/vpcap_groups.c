#include "trace/vpcap/vpcap_groups.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Levels searched for the enclosing zone. Scopes do not nest deeper, and the limit keeps a
 * manipulated recording from taking quadratic time. */
#define CLIMB_MAX 256

void vg_free(vg_groups *g)
{
    vp_free(g->carriers);
    vp_free(g->givers);
    vp_map_free(&g->by_correlation);
    *g = (vg_groups){0};
}

static int add_giver(vg_groups *g, uint32_t thread, const vpcap_event *e, uint64_t key,
                     bool is_flow)
{
    VP_TRY(
        vp_grow(&g->givers, &g->giver_cap, g->giver_count + 1, sizeof *g->givers, VPCAP_NONE - 1));
    g->givers[g->giver_count++] =
        (vg_giver){e->start_ps, e->start_ps + e->dur_ps, key, thread, VPCAP_NONE, is_flow};
    return 0;
}

int vg_note(vg_groups *g, uint32_t thread, const vpcap_event *e)
{
    if (e->flow_out)
        VP_TRY(add_giver(g, thread, e, e->flow_out, true));
    if (e->correlation)
        VP_TRY(add_giver(g, thread, e, e->correlation, false));
    if (e->kind != VPCAP_STEP && !e->flow_in)
        return 0;
    VP_TRY(vp_grow(&g->carriers, &g->carrier_cap, g->carrier_count + 1, sizeof *g->carriers,
                   INT32_MAX));
    g->carriers[g->carrier_count] = (vg_carrier){.start = e->start_ps,
                                                 .end = e->start_ps + e->dur_ps,
                                                 .flow_in = e->flow_in,
                                                 .thread = thread,
                                                 .seq = (uint32_t)g->carrier_count,
                                                 .parent = VPCAP_NONE,
                                                 .child = VPCAP_NONE,
                                                 .sibling = VPCAP_NONE,
                                                 .same_flow = VPCAP_NONE,
                                                 .giver = VPCAP_NONE,
                                                 .group = VG_NO_GROUP,
                                                 .is_step = e->kind == VPCAP_STEP};
    g->carrier_count++;
    return 0;
}

static int by_carrier_place(const void *pa, const void *pb)
{
    const vg_carrier *a = pa, *b = pb;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return a->seq > b->seq ? -1 : 1;
}

/* The innermost carrier that contains [start, end], searched from `at` outwards. */
static uint32_t innermost_carrier_around(const vg_groups *g, uint32_t at, int64_t start,
                                         int64_t end)
{
    for (int i = 0; at != VPCAP_NONE && i < CLIMB_MAX; i++) {
        const vg_carrier *c = &g->carriers[at];
        if (c->start <= start && end <= c->end)
            return at;
        at = c->parent;
    }
    return VPCAP_NONE;
}

static void find_parents(vg_groups *g)
{
    for (uint32_t i = 1; i < g->carrier_count; i++) {
        vg_carrier *c = &g->carriers[i];
        if (g->carriers[i - 1].thread != c->thread)
            continue;
        c->parent = innermost_carrier_around(g, i - 1, c->start, c->end);
        if (c->parent == VPCAP_NONE)
            continue;
        c->sibling = g->carriers[c->parent].child;
        g->carriers[c->parent].child = i;
    }
}

/* Number of carriers that precede this thread and start. */
static size_t lower_bound(const vg_groups *g, uint32_t thread, int64_t start)
{
    size_t low = 0, high = g->carrier_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const vg_carrier *c = &g->carriers[mid];
        if (c->thread < thread || (c->thread == thread && c->start < start))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The innermost carrier that contains a giver, or is the giver itself. */
static uint32_t carrier_of(const vg_groups *g, const vg_giver *o)
{
    size_t after = lower_bound(g, o->thread, o->start + 1);
    if (!after || g->carriers[after - 1].thread != o->thread)
        return VPCAP_NONE;
    return innermost_carrier_around(g, (uint32_t)after - 1, o->start, o->end);
}

typedef struct root {
    int64_t start;
    uint32_t carrier;
} root;

static int by_step_root_start(const void *pa, const void *pb)
{
    const root *a = pa, *b = pb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->carrier > b->carrier) - (a->carrier < b->carrier);
}

static bool lies_in_step(const vg_groups *g, const vg_carrier *c)
{
    for (uint32_t at = c->parent, i = 0; at != VPCAP_NONE && i < CLIMB_MAX; i++) {
        if (g->carriers[at].is_step)
            return true;
        at = g->carriers[at].parent;
    }
    return false;
}

/* Numbers the steps and adds them to the queue. */
static int number_steps(vg_groups *g, uint32_t *queue, size_t *queued)
{
    root *roots = vp_calloc(g->carrier_count + 1, sizeof *roots);
    size_t n = 0;
    VP_NEED(roots);
    for (uint32_t i = 0; i < g->carrier_count; i++)
        if (g->carriers[i].is_step && !lies_in_step(g, &g->carriers[i]))
            roots[n++] = (root){g->carriers[i].start, i};
    qsort(roots, n, sizeof *roots, by_step_root_start);
    for (size_t i = 0; i < n; i++) {
        g->carriers[roots[i].carrier].group = (int32_t)i;
        queue[(*queued)++] = roots[i].carrier;
    }
    vp_free(roots);
    return 0;
}

static void give_group(vg_groups *g, uint32_t to, int32_t group, uint32_t *queue, size_t *queued)
{
    if (g->carriers[to].group != VG_NO_GROUP)
        return;
    g->carriers[to].group = group;
    queue[(*queued)++] = to;
}

/* Nesting is processed completely before flows: a zone inside a step belongs to that step,
 * regardless of its flows. */
static void spread_inwards(vg_groups *g, uint32_t *queue, size_t from, size_t *queued)
{
    for (size_t i = from; i < *queued; i++)
        for (uint32_t c = g->carriers[queue[i]].child; c != VPCAP_NONE; c = g->carriers[c].sibling)
            give_group(g, c, g->carriers[queue[i]].group, queue, queued);
}

/* Carriers that receive the same flow form a list, which is walked once. */
static void spread_flow(vg_groups *g, vp_map *takers, const vg_giver *o, int32_t group,
                        uint32_t *queue, size_t *queued)
{
    uint32_t c = vp_map_get(takers, o->key);
    while (c != VPCAP_NONE) {
        uint32_t next = g->carriers[c].same_flow;
        g->carriers[c].same_flow = VPCAP_NONE;
        size_t from = *queued;
        give_group(g, c, group, queue, queued);
        spread_inwards(g, queue, from, queued);
        c = next;
    }
}

static int spread_groups(vg_groups *g, vp_map *takers, uint32_t *queue)
{
    size_t queued = 0;
    VP_TRY(number_steps(g, queue, &queued));
    spread_inwards(g, queue, 0, &queued);
    for (size_t i = 0; i < queued; i++) {
        const vg_carrier *c = &g->carriers[queue[i]];
        for (uint32_t o = c->giver; o != VPCAP_NONE; o = g->givers[o].next)
            if (g->givers[o].is_flow)
                spread_flow(g, takers, &g->givers[o], c->group, queue, &queued);
    }
    return 0;
}

static int index_takers(vg_groups *g, vp_map *takers)
{
    for (uint32_t i = 0; i < g->carrier_count; i++) {
        vg_carrier *c = &g->carriers[i];
        if (!c->flow_in)
            continue;
        c->same_flow = vp_map_get(takers, c->flow_in);
        VP_TRY(vp_map_set(takers, c->flow_in, i));
    }
    return 0;
}

static void attach_givers(vg_groups *g)
{
    for (uint32_t i = 0; i < g->giver_count; i++) {
        uint32_t c = carrier_of(g, &g->givers[i]);
        if (c == VPCAP_NONE)
            continue;
        g->givers[i].next = g->carriers[c].giver;
        g->carriers[c].giver = i;
    }
}

static int index_correlations(vg_groups *g)
{
    for (size_t i = 0; i < g->carrier_count; i++)
        for (uint32_t o = g->carriers[i].giver; o != VPCAP_NONE; o = g->givers[o].next)
            if (!g->givers[o].is_flow && g->carriers[i].group != VG_NO_GROUP)
                VP_TRY(vp_map_set(&g->by_correlation, g->givers[o].key,
                                  (uint32_t)g->carriers[i].group));
    return 0;
}

int vg_resolve(vg_groups *g)
{
    vp_map takers VP_CLEANUP(vp_map_free);
    vp_map_init(&takers);
    if (!g->carrier_count)
        return 0;
    qsort(g->carriers, g->carrier_count, sizeof *g->carriers, by_carrier_place);
    find_parents(g);
    attach_givers(g);
    VP_CLEANUP(vp_free_ptr) uint32_t *queue = vp_calloc(g->carrier_count, sizeof *queue);
    VP_NEED(queue);
    VP_TRY(index_takers(g, &takers));
    VP_TRY(spread_groups(g, &takers, queue));
    return index_correlations(g);
}

int64_t vg_of_correlation(const vg_groups *g, uint32_t correlation)
{
    uint32_t group = correlation ? vp_map_get(&g->by_correlation, correlation) : VP_MAP_NONE;
    return group == VP_MAP_NONE ? VG_NO_GROUP : (int64_t)group;
}

void vg_walk_begin(vg_walk *w, const vg_groups *g, uint32_t thread)
{
    *w = (vg_walk){.g = g,
                   .next = lower_bound(g, thread, INT64_MIN),
                   .end = lower_bound(g, thread + 1, INT64_MIN),
                   .at = VPCAP_NONE};
}

int64_t vg_walk_search(vg_walk *w, int64_t start, int64_t end)
{
    const vg_carrier *c = w->g->carriers;
    while (w->next < w->end && c[w->next].start <= start)
        w->at = (uint32_t)w->next++;
    while (w->at != VPCAP_NONE && c[w->at].end < start)
        w->at = c[w->at].parent;
    uint32_t in = innermost_carrier_around(w->g, w->at, start, end);
    return in == VPCAP_NONE ? VG_NO_GROUP : c[in].group;
}
