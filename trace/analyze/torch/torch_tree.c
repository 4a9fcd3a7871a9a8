#include "trace/analyze/torch/torch_tree.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/sums.h"

void torch_tree_init(torch_tree *t)
{
    *t = (torch_tree){0};
    vp_map_init(&t->at);
}

void torch_tree_free(torch_tree *t)
{
    vp_map_free(&t->at);
    vp_free(t->v);
    *t = (torch_tree){0};
}

int torch_tree_node(uint32_t *out, torch_tree *t, uint32_t parent, uint32_t kind, bool is_user)
{
    uint64_t key = (uint64_t)parent << 32 | kind;
    *out = vp_map_get(&t->at, key);
    if (*out != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_grow(&t->v, &t->cap, t->n + 1, sizeof *t->v, VP_EVENTS_MAX));
    VP_TRY(vp_map_set(&t->at, key, (uint32_t)t->n));
    *out = (uint32_t)t->n;
    uint32_t function = is_user ? *out : parent == TREE_NONE ? TREE_NONE : t->v[parent].function;
    t->v[t->n++] = (tree_node){.parent = parent, .kind = kind, .function = function};
    return 0;
}

static void end_run(tree_node *x)
{
    int64_t ps = x->run_end - x->run_start;
    if (x->run_calls >= TREE_LOOP_LEAST) {
        x->loops++;
        x->loop_calls += x->run_calls;
        x->loop_ps = vp_add_most(x->loop_ps, ps);
        if (ps > x->longest_ps) {
            x->longest_ps = ps;
            x->longest_start = x->run_start;
        }
    }
    x->run_calls = 0;
}

void torch_tree_count(torch_tree *t, uint32_t node, uint64_t run, int64_t start, int64_t end)
{
    tree_node *x = &t->v[node];
    if (x->run_calls && x->run != run)
        end_run(x);
    if (!x->run_calls)
        x->run_start = start;
    x->run = run;
    x->run_calls++;
    x->run_end = end;
    x->calls++;
    x->total_ps = vp_add_most(x->total_ps, end - start);
}

/* Nodes come after those around them. */
void torch_tree_finish(torch_tree *t)
{
    for (size_t i = t->n; i-- > 0;) {
        tree_node *x = &t->v[i], *up = x->parent == TREE_NONE ? NULL : &t->v[x->parent];
        end_run(x);
        if (!up)
            continue;
        up->ops += x->ops;
        up->reads += x->reads;
        up->work_ps = vp_add_most(up->work_ps, x->work_ps);
        up->backward_ps = vp_add_most(up->backward_ps, x->backward_ps);
        up->backward_work_ps = vp_add_most(up->backward_work_ps, x->backward_work_ps);
        up->backward_ops += x->backward_ops;
    }
}

/* Adds what a child that is called in a loop takes: work that one pass for all would do, too, and
 * calls without any operator, such as reads of files, are not saved. */
static void add_child(tree_loop *l, int64_t *kept_ps, const tree_node *x, uint32_t at)
{
    *kept_ps = vp_add_most(*kept_ps, x->ops ? x->work_ps : x->total_ps);
    if (!x->backward_ops) { /* else the loop contains the backward pass */
        l->total_ps = vp_add_most(l->total_ps, x->backward_ps);
        *kept_ps = vp_add_most(*kept_ps, x->backward_work_ps);
    }
    bool reads = x->reads * 2 >= x->calls, longer = x->loop_ps > l->saved_ps;
    if (!x->ops)
        return;
    if (reads > l->reads || (reads == l->reads && x->total_ps > l->callee_ps)) {
        l->callee = at;
        l->callee_ps = x->total_ps;
        l->calls = x->loop_calls;
        l->loops = x->loops;
    }
    if (longer) { /* saved_ps: the longest loop so far */
        l->saved_ps = x->loop_ps;
        l->start_ps = x->longest_start;
        l->dur_ps = x->longest_ps;
    }
    l->reads = l->reads || reads;
}

int torch_tree_loops(tree_loop **out, const torch_tree *t, bool in_steps)
{
    tree_loop *v = *out = vp_calloc(t->n + 1, sizeof *v);
    VP_CLEANUP(vp_free_ptr) int64_t *kept = vp_calloc(t->n + 1, sizeof *kept);
    VP_NEED(v && kept);
    for (size_t i = 0; i < t->n; i++) {
        const tree_node *x = &t->v[i];
        if (x->parent == TREE_NONE || t->v[x->parent].function != x->parent)
            continue;
        v[x->parent].function = x->parent;
        if (x->loops)
            add_child(&v[x->parent], &kept[x->parent], x, (uint32_t)i);
        else if (in_steps)
            kept[x->parent] = vp_add_most(kept[x->parent], x->work_ps);
    }
    for (size_t i = 0; i < t->n; i++) {
        tree_loop *l = &v[i];
        if (!l->calls)
            continue;
        l->total_ps = vp_add_most(l->total_ps, l->saved_ps);
        int64_t saved = l->total_ps - kept[i];
        l->saved_ps = saved > 0 ? (int64_t)((__int128)saved * (l->calls - l->loops) / l->calls) : 0;
    }
    return 0;
}
