#include "trace/model/graph_kernels.h"

#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/model/graph_match.h"

/* ---- A replay ------------------------------------------------------------------------------- */

/* Kernels whose names count where the order is not known: no other kernel of the replay is called
 * so. */
static int find_names(const graph_program *g, graph_kernel *k, size_t n)
{
    vp_map first VP_CLEANUP(vp_map_free);
    vp_map_init(&first);
    for (size_t i = 0; i < n; i++) {
        uint32_t instr = graph_named(g, &k[i]), other;
        if (instr == HLO_NONE)
            continue;
        other = vp_map_get(&first, instr);
        if (other == VP_MAP_NONE) {
            k[i].instr = instr;
            VP_TRY(vp_map_set(&first, instr, (uint32_t)i));
        } else {
            k[other].instr = HLO_NONE;
        }
    }
    return 0;
}

/* The computation that a call records as a graph; HLO_NONE: launch is none. */
static uint32_t called_by(const hlo_program *p, vp_str launch)
{
    uint32_t i = launch.n ? hlo_program_find(p, launch) : HLO_NONE;
    return i != HLO_NONE && vp_str_eq(p->instrs[i].opcode, VP_STR("call")) &&
                   p->instrs[i].called_count == 1
               ? p->links[p->instrs[i].called]
               : HLO_NONE;
}

/* One replay while its kernels are placed; `body` is known to be all of the graph, or holds it. */
typedef struct replay {
    const graph_program *g;
    graph_kernel *k;
    size_t n;
    const hlo_computation *body;
    bool linear; /* kernels run in the program's order, also where they overlap */
} replay;

/* Instructions of a part of the body. */
typedef struct launchers {
    uint32_t only;           /* one of them */
    size_t surely, possibly; /* how many launch a kernel; perhaps launch one */
} launchers;

/* Between two places of the body, both exclusive. */
static launchers launching(const replay *r, int64_t from, int64_t to)
{
    const hlo_program *p = r->g->hlo;
    launchers l = {HLO_NONE, 0, 0};
    for (int64_t i = from + 1; i < to; i++) {
        uint32_t at = graph_instr_at(p, r->body, (uint32_t)i);
        graph_launch what = graph_launches(r->g, at);
        l.surely += what == LAUNCHES_SOME;
        l.possibly += what == LAUNCHES_PERHAPS;
        l.only = what == LAUNCHES_NONE || at >= p->instr_count ? l.only : at;
    }
    return l;
}

static bool overlap_there(const replay *r, int64_t a, int64_t b)
{
    for (int64_t i = a + 1; i <= b && i < (int64_t)r->n; i++)
        if (r->k[i].overlaps)
            return true;
    return false;
}

static void set_by_order(graph_kernel *k, uint32_t instr)
{
    k->instr = instr;
    k->by_order = true;
}

typedef enum ends {
    ENDS_NAMED,  /* by kernels whose names may deceive: as many kernels as instructions */
    ENDS_KNOWN,  /* if one instruction only is there, it launched any number, and set memory */
    ENDS_BEYOND, /* some of the instructions at an end may not be in the graph */
} ends;

/* Places kernels strictly between k[a] and k[b] on instructions strictly between two places; false:
 * that is not certain. */
static bool fill(const replay *r, int64_t a, int64_t b, int64_t from, int64_t to, ends known)
{
    const hlo_program *p = r->g->hlo;
    size_t kernels = 0;
    for (int64_t i = a + 1; i < b; i++)
        kernels += !r->k[i].memory;
    if (!r->linear && overlap_there(r, a, b))
        return false;
    launchers l = launching(r, from, to);
    bool all = known != ENDS_NAMED && l.surely + l.possibly == 1 && kernels && l.only != HLO_NONE;
    if (!all && (known == ENDS_BEYOND || l.possibly || l.surely != kernels))
        return false;
    for (int64_t i = a + 1; i < b; i++) {
        if (r->k[i].memory && !all)
            continue;
        while (!all && graph_launches(r->g, l.only = graph_instr_at(
                                                p, r->body, (uint32_t)++from)) != LAUNCHES_SOME)
            ;
        set_by_order(&r->k[i], l.only);
    }
    return true;
}

static bool is_rising(const replay *r)
{
    int64_t last = -1;
    for (size_t i = 0; i < r->n; i++) {
        if (r->k[i].instr == HLO_NONE)
            continue;
        if ((int64_t)r->g->place[r->k[i].instr] <= last)
            return false;
        last = r->g->place[r->k[i].instr];
    }
    return true;
}

/* The next kernel from i on that is known by name; n: none is. */
static size_t next_named(const replay *r, size_t i)
{
    while (i < r->n && (r->k[i].instr == HLO_NONE || r->k[i].by_order))
        i++;
    return i;
}

/* What lies between kernels that are known, and between them and the ends. */
static void fill_all(const replay *r, int64_t from, int64_t end, ends first, ends behind)
{
    int64_t kernel = -1, place = from;
    ends known = first;
    for (;;) {
        size_t next = next_named(r, (size_t)(kernel + 1));
        bool last = next == r->n;
        int64_t to = last ? end : (int64_t)r->g->place[r->k[next].instr];
        if (last && behind == ENDS_BEYOND)
            known = behind;
        fill(r, kernel, (int64_t)next, place, to, known);
        if (last)
            return;
        kernel = (int64_t)next;
        place = to;
        known = ENDS_KNOWN;
    }
}

static void fill_whole(const replay *r)
{
    fill_all(r, -1, graph_length(r->body), ENDS_KNOWN, ENDS_KNOWN);
}

/* A stretch of a computation whose order is not known throughout: a name is believed where what
 * lies between it and the next one, before or after, fits. An equal fusion elsewhere would not. */
static void fill_stretch(const replay *r)
{
    bool before = false;
    for (size_t i = next_named(r, 0), next; i < r->n; i = next) {
        next = next_named(r, i + 1);
        bool after = next < r->n && fill(r, (int64_t)i, (int64_t)next, r->g->place[r->k[i].instr],
                                         r->g->place[r->k[next].instr], ENDS_NAMED);
        if (!before && !after)
            r->k[i].instr = HLO_NONE;
        before = after;
    }
}

static void keep_named_in(replay *r, uint32_t computation)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->k[i].instr != HLO_NONE &&
            r->g->hlo->instrs[r->k[i].instr].computation != computation)
            r->k[i].instr = HLO_NONE;
}

/* Nodes are numbered as they are recorded; those of libraries lie in graphs of their own, which are
 * numbered later. Without numbers only what never overlaps is known to run in order. */
static bool is_linear(const graph_program *g, const graph_replay *of)
{
    int64_t last = 0;
    bool numbered = true, overlap = false;
    for (size_t i = 0; i < of->n; i++) {
        overlap = overlap || of->k[i].overlaps;
        numbered = numbered && of->k[i].node;
        if (graph_named(g, &of->k[i]) == HLO_NONE)
            continue;
        if (of->k[i].node < last)
            return false;
        last = of->k[i].node;
    }
    return of->in_order && (numbered || !overlap);
}

/* The place of a neighbour, where it lies in the body; else `other`. */
static int64_t place_in(const replay *r, uint32_t instr, int64_t other)
{
    const hlo_program *p = r->g->hlo;
    return instr != HLO_NONE && &p->computations[p->instrs[instr].computation] == r->body
               ? (int64_t)r->g->place[instr]
               : other;
}

/* A stretch lies in one computation. Neighbours that do not enclose what was found are of other
 * runs of the program. */
static void fill_between(const replay *r, const graph_place *at)
{
    int64_t length = graph_length(r->body), first = length, last = -1;
    for (size_t i = 0; i < r->n; i++) {
        if (r->k[i].instr == HLO_NONE)
            continue;
        last = r->g->place[r->k[i].instr];
        first = first == length ? last : first;
    }
    int64_t from = place_in(r, at->before, length), to = place_in(r, at->after, -1);
    bool begins = from<first, goes_on = to> last;
    fill_all(r, begins ? from : -1, goes_on ? to : length, begins ? ENDS_KNOWN : ENDS_BEYOND,
             goes_on ? ENDS_KNOWN : ENDS_BEYOND);
}

/* The computation of the first kernel that is known. */
static uint32_t found_in(const replay *r)
{
    size_t i = next_named(r, 0);
    return i < r->n ? r->g->hlo->instrs[r->k[i].instr].computation : HLO_NONE;
}

static bool has_own(const replay *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (graph_named(r->g, &r->k[i]) != HLO_NONE)
            return true;
    return false;
}

static uint32_t neighbour(const graph_program *g, vp_str name)
{
    uint32_t i = name.n ? hlo_program_find(g->hlo, name) : HLO_NONE;
    return i != HLO_NONE && g->place[i] != HLO_NONE ? i : HLO_NONE;
}

static int find_unordered(replay *r, uint32_t body, bool in_order)
{
    bool whole = body != HLO_NONE;
    VP_TRY(find_names(r->g, r->k, r->n));
    body = whole ? body : found_in(r);
    if (body == HLO_NONE)
        return 0;
    keep_named_in(r, body);
    r->body = &r->g->hlo->computations[body];
    bool rising = in_order && is_rising(r);
    if (rising && whole)
        fill_whole(r);
    else if (rising)
        fill_stretch(r);
    else if (!whole)
        keep_named_in(r, HLO_NONE);
    return 0;
}

/* Where nothing fits the program's order, that is another one: branches run beside each other. */
static int find_linear(replay *r, graph_place at, uint64_t *steps)
{
    VP_TRY(graph_match(r->g, r->k, r->n, at, steps));
    bool whole = at.body != HLO_NONE;
    uint32_t body = found_in(r);
    if (body == HLO_NONE && whole && has_own(r)) {
        r->linear = false;
        return find_unordered(r, at.body, false);
    }
    body = whole ? at.body : body;
    if (body == HLO_NONE)
        return 0;
    r->body = &r->g->hlo->computations[body];
    if (whole)
        fill_whole(r);
    else
        fill_between(r, &at);
    return 0;
}

int graph_kernels_find(const graph_program *g, const graph_replay *of)
{
    replay r = {g, of->k, of->n, NULL, is_linear(g, of)};
    uint32_t body = called_by(g->hlo, of->launch);
    body = body < g->hlo->computation_count ? body : HLO_NONE;
    for (size_t i = 0; i < of->n; i++) {
        of->k[i].instr = HLO_NONE;
        of->k[i].by_order = false;
    }
    return r.linear
               ? find_linear(&r,
                             (graph_place){body, neighbour(g, of->before), neighbour(g, of->after)},
                             of->steps)
               : find_unordered(&r, body, of->in_order);
}
