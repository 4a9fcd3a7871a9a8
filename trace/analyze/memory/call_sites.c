#include "trace/analyze/memory/call_sites.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/base/order.h"
#include "trace/links/user_frames.h"

/* Types of host events for call sites; among frames, a higher value is preferred. */
typedef enum what {
    UNSEEN,
    NOISE, /* the allocator's own work, calls of the runtime */
    OP,
    PROGRAM, /* a call of a jitted function: more informative than nested calls of the runtime */
    MODULE,  /* nn.Module: … */
    INNER_FRAME, /* Python's, in a library */
    OUTER_FRAME, /* the user's */
} what;

typedef struct open_call {
    int64_t end;
    uint32_t kind;
} open_call;

typedef struct search {
    const trace *t;
    uint8_t *what; /* by kind */
    open_call *stack;
    size_t depth, cap;
    mem_site *sites;
    size_t site_count, site_cap;
    vp_map by_key;
} search;

static bool has_any(vp_str s, const char *const *words)
{
    for (; *words; words++)
        if (vp_str_find(s, vp_str_of(*words)) < s.n)
            return true;
    return false;
}

static what what_of(const trace *t, const trace_kind *k)
{
    static const char *const noise[] = {"Allocat",     "BFC",          "Malloc",
                                        "EventRecord", "Build buffer", NULL};
    vp_str name = trace_str(t, k->name), category = trace_str(t, k->category);
    if (vp_str_starts(name, VP_STR("nn.Module: ")))
        return MODULE;
    if (vp_str_eq(category, VP_STR("python_function")) || vp_str_starts(name, VP_STR("$")))
        return links_is_user_frame(name) ? OUTER_FRAME : INNER_FRAME;
    if (vp_str_find(category, VP_STR("runtime")) < category.n || has_any(name, noise))
        return NOISE;
    return vp_str_starts(name, VP_STR("PjitFunction(")) ? PROGRAM : OP;
}

static what site_kind_of(search *s, uint32_t kind)
{
    if (!s->what[kind])
        s->what[kind] = (uint8_t)what_of(s->t, &s->t->kinds[kind]);
    return (what)s->what[kind];
}

static void choose_call_site(search *s, mem_site *site)
{
    what best = UNSEEN;
    bool program = false;
    for (size_t i = s->depth; i-- > 0;) {
        uint32_t kind = s->stack[i].kind;
        what w = site_kind_of(s, kind);
        if ((w == OP && site->op == SINK_NONE) || (w == PROGRAM && !program))
            site->op = kind;
        program = program || w == PROGRAM;
        if (w == MODULE && site->module == SINK_NONE)
            site->module = kind;
        if (w >= INNER_FRAME && w > best) {
            best = w;
            site->frame = kind;
        }
    }
}

static bool names_op(const trace *t, uint32_t kind)
{
    vp_str op = trace_str(t, t->kinds[kind].scope);
    return op.n && !vp_str_eq(op, VP_STR("(null)"));
}

static int site_at(search *s, mem_call *c)
{
    mem_site x = {SINK_NONE, SINK_NONE, SINK_NONE, names_op(s->t, c->kind) ? c->kind : SINK_NONE};
    choose_call_site(s, &x);
    uint64_t key =
        vp_mix(vp_mix((uint64_t)x.op << 32 | x.frame) ^ ((uint64_t)x.module << 32 | x.tf_op));
    c->site = vp_map_get(&s->by_key, key);
    if (c->site != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_grow(&s->sites, &s->site_cap, s->site_count + 1, sizeof x, UINT32_MAX - 1));
    c->site = (uint32_t)s->site_count;
    s->sites[s->site_count++] = x;
    return vp_map_set(&s->by_key, key, c->site);
}

static int site_open_event(search *s, const trace_track *k, size_t e)
{
    int64_t start = trace_aligned_start(k, e), end = trace_aligned_end(k, e);
    while (s->depth && s->stack[s->depth - 1].end <= start)
        s->depth--;
    if (end <= start)
        return 0;
    VP_TRY(vp_grow(&s->stack, &s->cap, s->depth + 1, sizeof *s->stack, VP_EVENTS_MAX));
    s->stack[s->depth++] = (open_call){end, trace_kind_of(k, e)};
    return 0;
}

/* The calls of one thread, by time. */
static int sweep_thread(search *s, mem_call **calls, size_t n)
{
    const trace_track *k =
        calls[0]->track < s->t->track_count ? &s->t->tracks[calls[0]->track] : NULL;
    size_t e = 0;
    s->depth = 0;
    for (size_t i = 0; i < n; i++) {
        for (; k && e < k->count && trace_aligned_start(k, e) <= calls[i]->at; e++)
            VP_TRY(site_open_event(s, k, e));
        while (s->depth && s->stack[s->depth - 1].end <= calls[i]->at)
            s->depth--;
        VP_TRY(site_at(s, calls[i]));
    }
    return 0;
}

static int by_call_thread(const void *a, const void *b)
{
    const mem_call *x = *(mem_call *const *)a, *y = *(mem_call *const *)b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x > y) - (x < y);
}

static int sweep_all(search *s, mem_call *calls, size_t n)
{
    VP_CLEANUP(vp_free_ptr) mem_call **order = vp_realloc_array(NULL, n + 1, sizeof *order);
    VP_NEED(order);
    for (size_t i = 0; i < n; i++)
        order[i] = &calls[i];
    vp_put_in_order(order, n, sizeof *order, by_call_thread);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && order[end]->track == order[i]->track;)
            end++;
        VP_TRY(sweep_thread(s, order + i, end - i));
    }
    return 0;
}

int mem_sites_find(mem_site **sites, size_t *site_count, mem_call *calls, size_t n, const trace *t)
{
    search s = {.t = t, .what = vp_calloc((size_t)t->kind_count + 1, 1)};
    vp_map_init(&s.by_key);
    int rc = s.what ? sweep_all(&s, calls, n) : vp_no_memory();
    vp_map_free(&s.by_key);
    vp_free(s.what);
    vp_free(s.stack);
    if (rc < 0)
        vp_free(s.sites);
    *sites = rc < 0 ? NULL : s.sites;
    *site_count = s.site_count;
    return rc;
}
