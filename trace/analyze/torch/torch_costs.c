#include "trace/analyze/torch/torch_costs.h"

#include <stdlib.h>

#include "trace/analyze/host/host_kinds.h"
#include "trace/analyze/torch/torch_tree.h"
#include "trace/analyze/host/user_kinds.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/base/sums.h"
#include "trace/links/user_frames.h"

/* So much of an operator is overhead: what it takes beyond is work, which remains if one operator
 * does it for many elements. */
#define OVERHEAD_PS INT64_C(20000000)
#define LISTED_MAX 20u /* rows of one kind */

typedef enum cost_flag {
    CF_OPERATOR = 1 << 0,
    CF_BACKWARD = 1 << 1,   /* the engine runs a node of the graph */
    CF_ACCUMULATE = 1 << 2, /* … that gives a parameter its gradient */
    CF_READ = 1 << 3,       /* aten::item */
    CF_CLONE = 1 << 4,
    CF_RELAYOUT = 1 << 5, /* clones a tensor if its layout is not the one asked for */
    CF_NO_USE = 1 << 7,   /* reads no gradient */
    CF_GROUPED = 1 << 8,
    CF_USER = 1 << 9,
    CF_FRAME = 1 << 10, /* of a library */
    CF_OPTIMIZER = 1 << 11,
    CF_COMPILE = 1 << 12,
    CF_CLEAR = 1 << 13, /* Optimizer.zero_grad */
} cost_flag;

typedef struct open_call {
    int64_t start, end;
    uint32_t node; /* of the tree; TREE_NONE: outside of the user's functions */
    uint32_t from; /* of an operator: the node whose backward pass it is part of */
    uint64_t run;  /* of a function of the user */
    size_t step;
    size_t op; /* the innermost operator around it, plus 1 */
    bool is_float64;
    uint32_t kind;
    int64_t inner_ps; /* of an operator: operators in it */
} open_call;

/* A row before it is text. */
typedef struct cost_row {
    vp_torch_cost cost;
    uint32_t name, caller; /* kinds; UINT32_MAX: none */
} cost_row;

/* A backward pass, and whether anything uses its gradients. */
typedef struct pass {
    bool open;
    int64_t start, end, gradients, uses;
    uint32_t function; /* node of the user's function that runs it */
} pass;

typedef struct pass_sum {
    int64_t count, ps;
    pass longest;
} pass_sum;

typedef struct optimizer {
    int64_t until, op_until, steps, ops, total_ps, op_ps, least_ps, start, dur;
    uint32_t kind;
    vp_map names;
} optimizer;

/* Work of operators of one kind in one node. */
typedef struct node_work {
    uint32_t node, kind;
    int64_t ps;
    bool is_backward;
} node_work;

typedef struct cost_walk {
    analysis *a;
    uint16_t *flags; /* by kind */
    const trace_track *k;
    uint32_t track, device;
    torch_tree tree;
    open_call *v; /* events that are open */
    size_t n, cap, step;
    size_t op; /* the innermost operator that is open, plus 1 */
    uint64_t runs;
    int64_t skip_until;
    vp_map forward, used; /* by sequence number: node; has a backward pass */
    vp_map typed, laid;   /* caller << 32 | name → row */
    cost_row *rows;
    size_t row_n, row_cap;
    uint32_t step_kind; /* stands for steps of all numbers; UINT32_MAX: functions are known */
    uint32_t *calls, *long_calls; /* by kind: operators; those with work */
    node_work *work;
    size_t work_n, work_cap;
    vp_map forward_work, backward_work; /* node << 32 | kind → work */
    pass pass, unused;        /* the last one; the last one, if nothing has used it so far */
    pass_sum passes, cleared; /* all; unused ones whose gradients are cleared */
    int64_t used_passes, backward_end;
    optimizer optimizer;
} cost_walk;

/* ---- Kinds ---- */

static bool is_one_of(vp_str name, const char *const *names)
{
    for (; *names; names++)
        if (vp_str_eq(name, vp_str_of(*names)))
            return true;
    return false;
}

static uint16_t operator_flags(vp_str name)
{
    static const char *const relayout[] = {"aten::contiguous", "aten::reshape", "aten::flatten",
                                           NULL};
    static const char *const no_use[] = {"aten::item",       "aten::_local_scalar_dense",
                                         "aten::detach",     "aten::zero_",
                                         "aten::is_nonzero", "aten::_foreach_zero_",
                                         "aten::zeros_like", "aten::ones_like",
                                         "aten::detach_",    NULL};
    static const vp_str engine = VP_STR_INIT("autograd::engine::evaluate_function: ");
    uint16_t f = CF_OPERATOR;
    f |= vp_str_starts(name, engine) ? CF_BACKWARD : 0;
    f |= vp_str_ends(name, VP_STR("AccumulateGrad")) ? CF_ACCUMULATE : 0;
    f |= vp_str_eq(name, VP_STR("aten::item")) ? CF_READ : 0;
    f |= vp_str_eq(name, VP_STR("aten::clone")) ? CF_CLONE : 0;
    f |= is_one_of(name, relayout) ? CF_RELAYOUT : 0;
    f |= is_one_of(name, no_use) ? CF_NO_USE : 0;
    if (vp_str_find(name, VP_STR("_foreach_")) < name.n ||
        vp_str_find(name, VP_STR("_fused_")) < name.n)
        f |= CF_GROUPED;
    return f;
}

static uint16_t kind_flags(const analysis *a, uint32_t kind)
{
    const trace *t = a->t;
    vp_str name = trace_str(t, t->kinds[kind].name), file, line, function;
    vp_str category = trace_str(t, t->kinds[kind].category);
    uint32_t host = host_kind_flags(a->kinds, kind);
    if (host & HK_COMPILE)
        return CF_COMPILE;
    if (host & HK_USER)
        return CF_USER;
    if (vp_str_eq(category, VP_STR("cpu_op")))
        return vp_str_find(name, VP_STR("::")) < name.n ? operator_flags(name) : 0;
    if (vp_str_starts(name, VP_STR("Optimizer.step#")))
        return CF_OPTIMIZER;
    if (vp_str_starts(name, VP_STR("Optimizer.zero_grad#")))
        return CF_CLEAR;
    if (vp_str_starts(name, VP_STR("nn.Module: ")))
        return CF_FRAME;
    /* comprehensions of the user are part of the function around them */
    return links_parse_frame(name, &file, &line, &function) && !rd_is_user_file(file) ? CF_FRAME
                                                                                      : 0;
}

/* Returns false if no operator was recorded. Without frames of the user, steps stand for them. */
static bool find_flags(cost_walk *w)
{
    const trace *t = w->a->t;
    uint16_t any = 0;
    for (uint32_t i = 0; i < t->kind_count; i++)
        any |= w->flags[i] = kind_flags(w->a, i);
    w->step_kind = UINT32_MAX;
    for (uint32_t i = 0; !(any & CF_USER) && i < t->kind_count; i++)
        if (host_kind_flags(w->a->kinds, i) & HK_STEP) {
            w->flags[i] = CF_USER;
            w->step_kind = w->step_kind == UINT32_MAX ? i : w->step_kind;
        }
    return any & CF_OPERATOR;
}

/* ---- Rows ---- */

static int new_row(cost_row **out, cost_walk *w, vp_torch_kind kind, uint32_t name, uint32_t caller)
{
    VP_TRY(vp_grow(&w->rows, &w->row_cap, w->row_n + 1, sizeof *w->rows, UINT32_MAX - 1));
    cost_row *r = *out = &w->rows[w->row_n++];
    *r = (cost_row){.cost = {.kind = kind, .device = w->device}, .name = name, .caller = caller};
    return thread_text(&r->cost.thread, w->a->h, w->a->t, w->track);
}

static uint32_t caller_of(const cost_walk *w, uint32_t node)
{
    uint32_t function = node == TREE_NONE ? TREE_NONE : w->tree.v[node].function;
    return function == TREE_NONE ? UINT32_MAX : w->tree.v[function].kind;
}

/* Adds an operator to the row of its name and of the user's function. */
static int add_operator(cost_walk *w, vp_torch_kind kind, uint32_t name, uint32_t node,
                        int64_t start, int64_t dur)
{
    vp_map *map = kind == VP_TORCH_FLOAT64 ? &w->typed : &w->laid;
    uint32_t caller = caller_of(w, node);
    uint64_t key = (uint64_t)caller << 32 | w->a->t->kinds[name].name;
    uint32_t at = vp_map_get(map, key);
    cost_row *r;
    if (at == VP_MAP_NONE) {
        VP_TRY(vp_map_set(map, key, (uint32_t)w->row_n));
        VP_TRY(new_row(&r, w, kind, name, caller));
    } else {
        r = &w->rows[at];
    }
    dur = dur > 0 ? dur : 0; /* operators of crossing events */
    r->cost.calls++;
    r->cost.total_ps = vp_add_most(r->cost.total_ps, dur);
    if (dur > r->cost.dur_ps) {
        r->cost.dur_ps = dur;
        r->cost.start_ps = start;
    }
    return 0;
}

/* ---- Backward passes ---- */

static void add_pass(pass_sum *s, const pass *p)
{
    s->count++;
    s->ps += p->end - p->start;
    if (p->end - p->start > s->longest.end - s->longest.start)
        s->longest = *p;
}

static void end_pass(cost_walk *w)
{
    pass *p = &w->pass;
    if (!p->open || !p->gradients)
        return;
    bool used = p->uses * 2 >= p->gradients;
    w->unused = *p;
    w->unused.open = !used;
    w->used_passes += used;
    p->open = false;
    add_pass(&w->passes, p);
}

/* Gradients are cleared: those of the last pass were not needed, unless something has used them. */
static void clear_gradients(cost_walk *w)
{
    end_pass(w);
    if (w->unused.open)
        add_pass(&w->cleared, &w->unused);
    w->unused.open = false;
}

/* An optimizer uses the gradients of all passes so far. */
static void use_gradients(cost_walk *w)
{
    w->pass.uses = w->pass.gradients;
    w->unused.open = false;
}

/* An outermost operator: part of a backward pass, or a use of its gradients, or the next forward
 * pass. */
static void follow_pass(cost_walk *w, uint32_t kind, uint32_t node, int64_t number, int64_t start,
                        int64_t end)
{
    pass *p = &w->pass;
    uint16_t f = w->flags[kind];
    if (f & CF_BACKWARD) {
        if (p->uses || !p->open) {
            end_pass(w);
            w->unused.open = false; /* gradients accumulate */
            *p = (pass){.open = true,
                        .start = start,
                        .function = node == TREE_NONE ? TREE_NONE : w->tree.v[node].function};
        }
        p->end = end;
        p->gradients += (f & CF_ACCUMULATE) != 0;
    } else if (p->open) {
        bool forward = number != SINK_NO_VALUE && vp_map_get(&w->used, (uint64_t)number) == 1;
        if (forward) {
            end_pass(w);
            p->open = false;
        } else if (!(f & CF_NO_USE)) {
            p->uses += f & CF_GROUPED ? p->gradients : 1;
        }
    }
}

/* Time of the backward pass belongs to the node whose forward operator it follows, with the time of
 * the engine since the previous operator. */
static void add_backward(cost_walk *w, uint32_t from, int64_t start, int64_t end)
{
    if (from == TREE_NONE)
        return;
    int64_t since = w->backward_end > w->pass.start ? w->backward_end : start;
    int64_t *sum = &w->tree.v[from].backward_ps;
    *sum = vp_add_most(*sum, end - (since < start ? since : start));
    w->backward_end = end;
}

/* ---- Optimizers ---- */

static int add_optimizer_op(optimizer *o, const trace *t, uint32_t kind, int64_t start, int64_t dur)
{
    if (start >= o->until || start < o->op_until)
        return 0;
    o->op_until = start + dur;
    o->ops++;
    o->op_ps += dur;
    o->least_ps = o->ops == 1 || dur < o->least_ps ? dur : o->least_ps;
    return vp_map_set(&o->names, t->kinds[kind].name, 1);
}

static void begin_optimizer(optimizer *o, uint32_t kind, int64_t start, int64_t end)
{
    if (start < o->until)
        return;
    o->until = end;
    o->op_until = INT64_MIN;
    o->steps++;
    o->total_ps += end - start;
    if (end - start > o->dur) {
        o->start = start;
        o->dur = end - start;
        o->kind = kind;
    }
}

/* Optimizers of PyTorch with fused=True on CPUs. */
static bool has_fused_form(vp_str step)
{
    static const char *const names[] = {"Optimizer.step#SGD.step", "Optimizer.step#Adam.step",
                                        "Optimizer.step#AdamW.step", "Optimizer.step#Adagrad.step",
                                        NULL};
    return is_one_of(step, names);
}

/* What one operator for all parameters would save: the time between operators, for all parameters
 * but one. If it is fused, also their overhead, and all passes over the parameters but one; else
 * foreach calls the same operators on CPUs. */
static int64_t optimizer_saving(const optimizer *o, bool is_fused)
{
    int64_t kinds = (int64_t)o->names.count, n = o->steps ? o->ops / o->steps : 0;
    int64_t parameters = kinds ? n / kinds : 0;
    if (parameters < 2)
        return 0;
    int64_t overhead = is_fused ? o->least_ps * o->ops : 0;
    int64_t work = is_fused ? o->op_ps - overhead : 0, between = o->total_ps - o->op_ps;
    between = between > 0 ? between : 0;
    return (int64_t)((__int128)(between + overhead) * (parameters - 1) / parameters +
                     (__int128)work * (kinds - 1) / kinds);
}

/* ---- Events ---- */

/* The node to which an operator belongs: that of its forward operator, if it is part of a backward
 * pass. */
static uint32_t place_of(const open_call *c)
{
    return c->from != TREE_NONE ? c->from : c->node;
}

/* The time of an operator that one operator for many elements would take, too. It would move the
 * matrix of a matrix-vector or outer product only once: these take less than one FLOP per byte. */
static int64_t work_of(const cost_walk *w, const open_call *c)
{
    const trace_kind *k = &w->a->t->kinds[c->kind];
    int64_t work = c->end - c->start - c->inner_ps - OVERHEAD_PS;
    return work < 0 || (k->flops > 0 && k->flops < k->bytes) ? 0 : work;
}

static int add_work(cost_walk *w, bool is_backward, uint32_t node, uint32_t kind, int64_t ps)
{
    vp_map *map = is_backward ? &w->backward_work : &w->forward_work;
    uint64_t key = (uint64_t)node << 32 | kind;
    uint32_t at = node == TREE_NONE ? 0 : vp_map_get(map, key);
    if (node == TREE_NONE)
        return 0;
    if (at == VP_MAP_NONE) {
        VP_TRY(vp_grow(&w->work, &w->work_cap, w->work_n + 1, sizeof *w->work, UINT32_MAX - 1));
        at = (uint32_t)w->work_n++;
        w->work[at] = (node_work){.node = node, .kind = kind, .is_backward = is_backward};
        VP_TRY(vp_map_set(map, key, at));
    }
    w->work[at].ps = vp_add_most(w->work[at].ps, ps);
    return 0;
}

static int close_operator(cost_walk *w, const open_call *c)
{
    int64_t work = work_of(w, c);
    w->calls[c->kind]++;
    if (work > 0) {
        w->long_calls[c->kind]++;
        VP_TRY(add_work(w, false, c->node, c->kind, work));
        VP_TRY(add_work(w, true, c->from, c->kind, work));
    }
    if (!c->is_float64)
        return 0;
    return add_operator(w, VP_TORCH_FLOAT64, c->kind, place_of(c), c->start,
                        c->end - c->start - c->inner_ps);
}

/* If most operators of a kind have no work, the others only waited for a core. */
static void give_work_to_nodes(cost_walk *w)
{
    for (size_t i = 0; i < w->work_n; i++) {
        const node_work *x = &w->work[i];
        tree_node *node = &w->tree.v[x->node];
        int64_t *sum = x->is_backward ? &node->backward_work_ps : &node->work_ps;
        if (w->long_calls[x->kind] * UINT64_C(2) >= w->calls[x->kind])
            *sum = vp_add_most(*sum, x->ps);
    }
    w->work_n = 0;
}

static int close_calls(cost_walk *w, int64_t now)
{
    while (w->n && w->v[w->n - 1].end <= now) {
        const open_call *c = &w->v[--w->n];
        if (w->op != w->n + 1)
            continue;
        w->op = c->op;
        VP_TRY(close_operator(w, c));
    }
    return 0;
}

/* The number of the step at a time; times ascend. */
static size_t step_at(cost_walk *w, int64_t start)
{
    const vp_steps *s = &w->a->h->steps;
    int64_t at = start - w->a->h->origin_ps;
    while (w->step < s->count && s->list[w->step].start_ps + s->list[w->step].dur_ps <= at)
        w->step++;
    return w->step;
}

/* The node of a call: its own below a function of the user, else that of the call around it. */
static int node_of_call(uint32_t *out, cost_walk *w, uint32_t kind, bool is_user, int64_t start,
                        int64_t end)
{
    open_call *up = w->n ? &w->v[w->n - 1] : NULL;
    *out = up ? up->node : TREE_NONE;
    bool called = up && *out != TREE_NONE && w->tree.v[*out].function == *out;
    if (!is_user && !called)
        return 0;
    VP_TRY(torch_tree_node(out, &w->tree, *out, kind, is_user));
    if (!called)
        return 0;
    size_t step = step_at(w, start);
    if (step != up->step) {
        up->step = step;
        up->run = ++w->runs;
    }
    torch_tree_count(&w->tree, *out, up->run, start, end);
    return 0;
}

static int on_operator(cost_walk *w, size_t e, open_call *c)
{
    uint16_t f = w->flags[c->kind];
    int64_t number = trace_attr(w->k, SINK_SEQUENCE, e), dur = c->end - c->start;
    int64_t backward = trace_attr(w->k, SINK_BACKWARD, e);
    open_call *around = w->op ? &w->v[w->op - 1] : NULL;
    c->from = around ? around->from : TREE_NONE;
    c->is_float64 = trace_attr(w->k, SINK_DOUBLE, e) == 1;
    if (backward != SINK_NO_VALUE && c->from == TREE_NONE)
        c->from = vp_map_get(&w->forward, (uint64_t)backward);
    if (number != SINK_NO_VALUE && c->node != TREE_NONE)
        VP_TRY(vp_map_set(&w->forward, (uint64_t)number, c->node));
    if (c->node != TREE_NONE) {
        w->tree.v[c->node].ops++;
        w->tree.v[c->node].reads += (f & CF_READ) != 0;
        w->tree.v[c->node].backward_ops += (f & CF_BACKWARD) != 0;
    }
    if ((f & CF_CLONE) && around && (w->flags[around->kind] & CF_RELAYOUT))
        VP_TRY(add_operator(w, VP_TORCH_LAYOUT, around->kind, place_of(c), c->start, dur));
    VP_TRY(add_optimizer_op(&w->optimizer, w->a->t, c->kind, c->start, dur));
    if (around) {
        around->inner_ps = vp_add_most(around->inner_ps, dur);
        return 0;
    }
    follow_pass(w, c->kind, c->node, number, c->start, c->end);
    add_backward(w, c->from, c->start, c->end);
    return 0;
}

static int on_event(cost_walk *w, size_t e)
{
    open_call c = {.kind = trace_kind_of(w->k, e), .from = TREE_NONE, .op = w->op};
    uint16_t f = w->flags[c.kind];
    c.start = trace_start(w->k, e);
    c.end = c.start + trace_dur(w->k, e);
    if (!f || c.start < w->skip_until)
        return 0;
    VP_TRY(close_calls(w, c.start));
    c.op = w->op;
    if (f & CF_COMPILE) { /* the compiler calls operators only to learn shapes */
        w->skip_until = c.end;
        return 0;
    }
    if (f & CF_CLEAR) {
        clear_gradients(w);
        return 0;
    }
    if (f & CF_OPTIMIZER) {
        use_gradients(w);
        begin_optimizer(&w->optimizer, c.kind, c.start, c.end);
    }
    if ((f & CF_USER) && w->step_kind != UINT32_MAX)
        c.kind = w->step_kind;
    VP_TRY(node_of_call(&c.node, w, c.kind, f & CF_USER, c.start, c.end));
    if (f & CF_USER) {
        c.run = ++w->runs;
        c.step = step_at(w, c.start);
    }
    if (f & CF_OPERATOR)
        VP_TRY(on_operator(w, e, &c));
    else if (c.node == (w->n ? w->v[w->n - 1].node : TREE_NONE))
        return 0; /* a frame inside a library */
    VP_TRY(vp_grow(&w->v, &w->cap, w->n + 1, sizeof *w->v, VP_EVENTS_MAX));
    w->v[w->n++] = c;
    if (f & CF_OPERATOR)
        w->op = w->n;
    return 0;
}

/* ---- Threads ---- */

static int add_loops(cost_walk *w)
{
    VP_CLEANUP(vp_free_ptr) tree_loop *loops = NULL;
    give_work_to_nodes(w);
    torch_tree_finish(&w->tree);
    VP_TRY(torch_tree_loops(&loops, &w->tree, w->step_kind != UINT32_MAX));
    for (size_t i = 0; i < w->tree.n; i++) {
        const tree_loop *l = &loops[i];
        cost_row *r;
        if (l->saved_ps <= 0 || (w->step_kind != UINT32_MAX && !l->reads))
            continue; /* the layers of a model call the same operators */
        VP_TRY(new_row(&r, w, l->reads ? VP_TORCH_READS : VP_TORCH_LOOP, w->tree.v[l->callee].kind,
                       w->tree.v[l->function].kind));
        r->cost.calls = l->calls;
        r->cost.groups = l->loops;
        r->cost.total_ps = l->total_ps;
        r->cost.saved_ps = l->saved_ps;
        r->cost.start_ps = l->start_ps;
        r->cost.dur_ps = l->dur_ps;
    }
    return 0;
}

static int add_passes(cost_walk *w)
{
    const pass_sum *s = &w->cleared;
    cost_row *r;
    end_pass(w);
    if (s->count < 2 && !w->used_passes && !w->optimizer.steps)
        s = &w->passes;
    if (s->count < 2)
        return 0;
    uint32_t function = s->longest.function;
    VP_TRY(new_row(&r, w, VP_TORCH_GRADIENTS, UINT32_MAX,
                   function == TREE_NONE ? UINT32_MAX : w->tree.v[function].kind));
    r->cost.calls = s->count;
    r->cost.groups = w->cleared.count;
    r->cost.total_ps = r->cost.saved_ps = s->ps;
    r->cost.start_ps = s->longest.start;
    r->cost.dur_ps = s->longest.end - s->longest.start;
    return 0;
}

static int add_optimizer(cost_walk *w)
{
    const optimizer *o = &w->optimizer;
    cost_row *r;
    if (!o->steps)
        return 0;
    VP_TRY(new_row(&r, w, VP_TORCH_OPTIMIZER, o->kind, UINT32_MAX));
    r->cost.calls = o->ops;
    r->cost.groups = o->steps;
    r->cost.total_ps = o->total_ps;
    r->cost.saved_ps =
        optimizer_saving(o, has_fused_form(trace_str(w->a->t, w->a->t->kinds[o->kind].name)));
    r->cost.start_ps = o->start;
    r->cost.dur_ps = o->dur;
    return 0;
}

static int find_used(cost_walk *w)
{
    const trace_column *c = w->k->attr[SINK_BACKWARD];
    for (size_t e = trace_column_next(c, 0); e < w->k->count; e = trace_column_next(c, e + 1))
        VP_TRY(vp_map_set(&w->used, (uint64_t)trace_attr(w->k, SINK_BACKWARD, e), 1));
    return 0;
}

static int walk_events(cost_walk *w)
{
    VP_TRY(find_used(w));
    for (size_t e = 0; e < w->k->count; e++)
        VP_TRY(on_event(w, e));
    VP_TRY(close_calls(w, INT64_MAX));
    VP_TRY(add_loops(w));
    VP_TRY(add_passes(w));
    return add_optimizer(w);
}

static int walk_thread(cost_walk *w, uint32_t track)
{
    w->track = track;
    w->k = &w->a->t->tracks[track];
    if (w->k->role != SINK_ROLE_PLAIN || w->k->spans)
        return 0;
    w->n = w->op = w->step = 0;
    w->skip_until = w->backward_end = INT64_MIN;
    w->pass = w->unused = (pass){0};
    w->passes = w->cleared = (pass_sum){0};
    w->used_passes = 0;
    w->optimizer = (optimizer){.until = INT64_MIN, .op_until = INT64_MIN};
    torch_tree_init(&w->tree);
    vp_map *const maps[] = {&w->forward,         &w->used,         &w->typed,        &w->laid,
                            &w->optimizer.names, &w->forward_work, &w->backward_work};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        vp_map_init(maps[i]);
    int rc = walk_events(w);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        vp_map_free(maps[i]);
    torch_tree_free(&w->tree);
    return rc;
}

static int by_saving(const void *a, const void *b)
{
    const cost_row *x = a, *y = b;
    if (x->cost.saved_ps != y->cost.saved_ps)
        return x->cost.saved_ps > y->cost.saved_ps ? -1 : 1;
    if (x->cost.kind != y->cost.kind)
        return x->cost.kind < y->cost.kind ? -1 : 1;
    if (x->cost.start_ps != y->cost.start_ps)
        return x->cost.start_ps < y->cost.start_ps ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

static int name_row(cost_row *r, host_result *h, const trace *t)
{
    VP_TRY(user_frame_text(&r->cost.caller, h, t, r->caller));
    if (r->name == UINT32_MAX)
        return 0;
    VP_TRY(user_frame_text(&r->cost.name, h, t, r->name));
    vp_str name = trace_str(t, t->kinds[r->name].name);
    static const vp_str module = VP_STR_INIT("nn.Module: "), step = VP_STR_INIT("Optimizer.step#");
    if (vp_str_starts(name, module))
        name = vp_str_skip(name, module.n);
    if (vp_str_starts(name, step))
        name = vp_str_skip(name, step.n);
    return r->cost.name ? 0 : host_text(&r->cost.name, h, name);
}

static int emit_rows(cost_walk *w)
{
    host_result *h = w->a->h;
    size_t listed[VP_TORCH_KINDS] = {0};
    for (size_t i = 0; i < w->row_n; i++) {
        vp_torch_cost *c = &w->rows[i].cost;
        if (c->kind == VP_TORCH_FLOAT64)
            c->saved_ps = c->total_ps / 2;
        else if (c->kind == VP_TORCH_LAYOUT)
            c->saved_ps = c->total_ps;
    }
    if (w->row_n)
        qsort(w->rows, w->row_n, sizeof *w->rows, by_saving);
    for (size_t i = 0; i < w->row_n; i++) {
        cost_row *r = &w->rows[i];
        if (listed[r->cost.kind]++ >= LISTED_MAX)
            continue;
        VP_TRY(name_row(r, h, w->a->t));
        r->cost.start_ps -= h->origin_ps;
        VP_TRY(vp_grow(&h->torch_costs, &h->torch_cost_cap, h->torch_cost_count + 1, sizeof r->cost,
                       SIZE_MAX / 1024));
        h->torch_costs[h->torch_cost_count++] = r->cost;
    }
    return 0;
}

static int walk_processes(cost_walk *w)
{
    const trace *t = w->a->t;
    for (size_t d = 0; d < w->a->device_count; d++) {
        w->device = (uint32_t)d;
        TRACE_EACH_OF(t, w->a->devices[d].process, i)
        VP_TRY(walk_thread(w, i));
    }
    return emit_rows(w);
}

int torch_costs_collect(analysis *a)
{
    VP_CLEANUP(vp_free_ptr) uint16_t *flags = NULL;
    VP_CLEANUP(vp_free_ptr) uint32_t *calls = NULL;
    size_t kinds = (size_t)a->t->kind_count + 1;
    cost_walk w = {.a = a};
    if (a->h->has_devices)
        return 0;
    w.flags = flags = vp_calloc(kinds, sizeof *flags);
    w.calls = calls = vp_calloc(2 * kinds, sizeof *calls);
    VP_NEED(flags && calls);
    w.long_calls = calls + kinds;
    int rc = find_flags(&w) ? walk_processes(&w) : 0;
    vp_free(w.v);
    vp_free(w.rows);
    vp_free(w.work);
    return rc;
}
