#include "trace/model/graph_kernels.h"

#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/model/graph_match.h"

/* ---- A replay ------------------------------------------------------------------------------- */

/* Finds kernels whose names are unique in the replay; only these count if the order is unknown. */
static int find_kernel_names(graph_kernel *k, size_t n)
{
    vp_map first VP_CLEANUP(vp_map_free);
    vp_map_init(&first);
    for (size_t i = 0; i < n; i++) {
        uint32_t instr = k[i].named, other;
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

/* The computation that a call records as a graph; HLO_NONE: launch is not such a call. */
static uint32_t recorded_by(const hlo_program *p, vp_str launch)
{
    uint32_t i = launch.n ? hlo_program_find(p, launch) : HLO_NONE;
    uint32_t c = i != HLO_NONE && vp_str_eq(p->instrs[i].opcode, VP_STR("call")) &&
                         p->instrs[i].called_count == 1
                     ? p->links[p->instrs[i].called]
                     : HLO_NONE;
    return c < p->computation_count ? c : HLO_NONE;
}

/* A replay while its kernels are assigned; `body` contains the graph, or is the graph. */
typedef struct replay {
    const graph_program *g;
    graph_kernel *k;
    size_t n;
    uint64_t *steps;
    const hlo_computation *body;
} replay;

/* Counts of instructions in a part of the body. */
typedef struct launchers {
    uint32_t only;           /* one of them */
    size_t surely, possibly; /* instructions that launch a kernel; that may launch one */
} launchers;

/* Counts between two positions of the body, both exclusive. */
static launchers launching_between(const replay *r, int64_t from, int64_t to)
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

static void set_by_order(graph_kernel *k, uint32_t instr)
{
    k->instr = instr;
    k->by_order = true;
}

/* The next instruction after position *from that launches a kernel. */
static uint32_t next_launching(const replay *r, int64_t *from)
{
    uint32_t at;
    do {
        *from += 1;
        at = graph_instr_at(r->g->hlo, r->body, (uint32_t)*from);
    } while (graph_launches(r->g, at) != LAUNCHES_SOME);
    return at;
}

/* Number of kernels strictly between k[a] and k[b], without memory operations; 0 if one belongs to
 * an unknown fusion. */
static size_t kernels_between(const replay *r, int64_t a, int64_t b)
{
    size_t n = 0;
    for (int64_t i = a + 1; i < b; i++) {
        if (r->k[i].named != HLO_NONE)
            return 0;
        n += !r->k[i].memory;
    }
    return n;
}

/* Assigns kernels strictly between k[a] and k[b] to instructions strictly between two positions, if
 * that is certain: to the only instruction, with the memory that it sets; or one kernel to each.
 * open: some of these instructions may not be in the graph. */
static void fill_kernel_gap(const replay *r, int64_t a, int64_t b, int64_t from, int64_t to,
                            bool open)
{
    size_t kernels = kernels_between(r, a, b);
    uint64_t steps = to > from ? (uint64_t)(to - from) : 0;
    if (!kernels || steps > *r->steps)
        return;
    *r->steps -= steps;
    launchers l = launching_between(r, from, to);
    bool all = l.surely + l.possibly == 1 && l.only != HLO_NONE;
    if (!all && (open || l.possibly || l.surely != kernels))
        return;
    for (int64_t i = a + 1; i < b; i++)
        if (all || !r->k[i].memory)
            set_by_order(&r->k[i], all ? l.only : next_launching(r, &from));
}

/* The next kernel from i on that is known by name; n: none. */
static size_t next_named(const replay *r, size_t i)
{
    while (i < r->n && (r->k[i].instr == HLO_NONE || r->k[i].by_order))
        i++;
    return i;
}

/* Fills the gaps between known kernels, and between them and two positions, each of which may be
 * beyond the graph's end. */
static void fill_all(const replay *r, int64_t from, int64_t end, bool open, bool open_end)
{
    int64_t kernel = -1;
    for (;;) {
        size_t next = next_named(r, (size_t)(kernel + 1));
        bool last = next == r->n;
        int64_t to = last ? end : (int64_t)r->g->instrs[r->k[next].instr].place;
        fill_kernel_gap(r, kernel, (int64_t)next, from, to, open || (last && open_end));
        if (last)
            return;
        kernel = (int64_t)next;
        from = to;
        open = false;
    }
}

static void keep_named_in(replay *r, uint32_t computation)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->k[i].instr != HLO_NONE &&
            r->g->hlo->instrs[r->k[i].instr].computation != computation)
            r->k[i].instr = HLO_NONE;
}

/* Position of a neighbor if it is in the body; else `other`. */
static int64_t place_in(const replay *r, uint32_t instr, int64_t other)
{
    const hlo_program *p = r->g->hlo;
    return instr != HLO_NONE && &p->computations[p->instrs[instr].computation] == r->body
               ? (int64_t)r->g->instrs[instr].place
               : other;
}

/* A part of a computation is in one computation only. Neighbors that do not enclose the result
 * belong to other runs of the program. */
static void fill_between(const replay *r, const graph_place *at)
{
    int64_t length = graph_length(r->body), first = length, last = -1;
    for (size_t i = 0; i < r->n; i++) {
        if (r->k[i].instr == HLO_NONE)
            continue;
        last = r->g->instrs[r->k[i].instr].place;
        first = first == length ? last : first;
    }
    int64_t from = place_in(r, at->before, length), to = place_in(r, at->after, -1);
    bool begins = first > from;
    bool goes_on = to > last;
    fill_all(r, begins ? from : -1, goes_on ? to : length, !begins, !goes_on);
}

static bool has_own(const replay *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->k[i].named != HLO_NONE)
            return true;
    return false;
}

/* The computation of the first known kernel. */
static uint32_t found_in(const replay *r)
{
    size_t i = next_named(r, 0);
    return i < r->n ? r->g->hlo->instrs[r->k[i].instr].computation : HLO_NONE;
}

/* True if node numbers are ascending in recording order; those of libraries' kernels, which are in
 * their own graphs, come later. */
static bool numbers_rise(const graph_replay *of)
{
    int64_t last = 0;
    for (size_t i = 0; i < of->n; i++) {
        if (of->k[i].named == HLO_NONE)
            continue;
        if (of->k[i].node < last)
            return false;
        last = of->k[i].node;
    }
    return true;
}

static uint32_t neighbour_instruction(const graph_program *g, vp_str name)
{
    uint32_t i = name.n ? hlo_program_find(g->hlo, name) : HLO_NONE;
    return i != HLO_NONE && g->instrs[i].place != HLO_NONE ? i : HLO_NONE;
}

/* Branches run concurrently: uses only names, in a known body none of whose kernels is missing. */
static int find_unordered(replay *r, uint32_t body)
{
    size_t kernels = 0;
    for (size_t i = 0; i < r->n; i++)
        kernels += !r->k[i].memory;
    if (body == HLO_NONE || kernels < r->g->parts[body].launching)
        return 0;
    VP_TRY(find_kernel_names(r->k, r->n));
    keep_named_in(r, body);
    return 0;
}

static int find_chain(replay *r, graph_place at)
{
    VP_TRY(graph_match(r->g, r->k, r->n, at, r->steps));
    uint32_t body = found_in(r);
    if (body == HLO_NONE)
        body = at.body;
    if (body == HLO_NONE)
        return 0;
    r->body = &r->g->hlo->computations[body];
    if (at.body == HLO_NONE)
        fill_between(r, &at);
    else if (found_in(r) != HLO_NONE || !has_own(r))
        fill_all(r, -1, graph_length(r->body), false, false);
    else
        return find_unordered(r, body); /* no alignment fits, so it has branches after all */
    return 0;
}

int graph_kernels_find(const graph_program *g, const graph_replay *of)
{
    replay r = {g, of->k, of->n, of->steps, NULL};
    uint32_t body = recorded_by(g->hlo, of->launch);
    for (size_t i = 0; i < of->n; i++) {
        graph_kernel *k = &of->k[i];
        k->named = k->memory ? HLO_NONE : graph_named(g, k->name);
        k->instr = HLO_NONE;
        k->by_order = false;
    }
    if (!of->one_launch || !of->chain || !numbers_rise(of))
        return find_unordered(&r, body);
    return find_chain(&r, (graph_place){body, neighbour_instruction(g, of->before),
                                        neighbour_instruction(g, of->after)});
}
