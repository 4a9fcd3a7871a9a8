#include "trace/analyze/device/module_runs.h"

#include "trace/analyze/device/self.h"
#include "trace/analyze/result/order_statistics.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* ---- On tracks of their own ----------------------------------------------------------------- */

static int find_list(module_runs *m, vp_map *by_key, vp_str name, int64_t program_id, size_t *at)
{
    uint64_t key = module_runs_key(name, program_id);
    uint32_t i = vp_map_get(by_key, key);
    if (i == VP_MAP_NONE) {
        VP_TRY(vp_grow(&m->v, &m->cap, m->n + 1, sizeof *m->v, UINT32_MAX));
        m->v[m->n] = (module_run_list){.name = name, .program_id = program_id};
        i = (uint32_t)m->n++;
        VP_TRY(vp_map_set(by_key, key, i));
    }
    *at = i;
    return 0;
}

static int run_list_add(module_run_list *l, int64_t dur)
{
    if ((l->n & (l->n - 1)) == 0) { /* it is full at every power of two */
        int64_t *p = vp_realloc_array(l->dur_ps, l->n ? l->n * 2 : 1, sizeof *p);
        VP_NEED(p);
        l->dur_ps = p;
    }
    l->dur_ps[l->n++] = dur;
    l->total_ps += dur;
    return 0;
}

/* On TPUs the line "XLA Modules" has every run (only on the aligned clock). The name of a kind is
 * parsed once: found[kind] is 1 + the index of its module. */
static int list_runs(module_runs *m, const trace *t, vp_map *by_key)
{
    VP_CLEANUP(vp_free_ptr) size_t *found = vp_calloc(t->kind_count, sizeof *found);
    VP_NEED(found);
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        for (size_t e = 0; k->role == SINK_ROLE_MODULES && e < k->count; e++) {
            size_t *at = &found[trace_kind_of(k, e)];
            if (!*at) {
                int64_t program = SINK_UNKNOWN;
                vp_str name =
                    trace_module_name(trace_str(t, t->kinds[trace_kind_of(k, e)].name), &program);
                VP_TRY(find_list(m, by_key, name, program, at));
                ++*at;
            }
            VP_TRY(run_list_add(&m->v[*at - 1], trace_dur(k, e)));
        }
    }
    return 0;
}

int module_runs_count(module_runs *out, const trace *t)
{
    vp_map by_key;
    vp_map_init(&by_key);
    int rc = list_runs(out, t, &by_key);
    vp_map_free(&by_key);
    for (size_t i = 0; rc >= 0 && i < out->n; i++)
        rc = sort_values(out->v[i].dur_ps, out->v[i].n);
    return rc;
}

void module_runs_free(module_runs *m)
{
    for (size_t i = 0; i < m->n; i++)
        vp_free(m->v[i].dur_ps);
    vp_free(m->v);
}

/* ---- In the result -------------------------------------------------------------------------- */

static int add_module(host_result *h, vp_str name, int64_t program_id)
{
    module_item m = {.program_id = program_id,
                     .repeat_steps = VP_UNKNOWN,
                     .repeat_ps = VP_UNKNOWN,
                     .repeat_runs = VP_UNKNOWN,
                     .in_steps = VP_UNKNOWN,
                     .in_steps_ps = VP_UNKNOWN};
    VP_TRY(host_text(&m.name, h, name.n ? name : VP_STR("(no module)")));
    VP_TRY(vp_grow(&h->modules, &h->module_cap, h->module_count + 1, sizeof m, UINT32_MAX));
    h->modules[h->module_count++] = m;
    return 0;
}

static int take_runs(host_result *h, module_runs *m)
{
    for (size_t i = 0; i < m->n; i++) {
        module_run_list *l = &m->v[i];
        VP_TRY(add_module(h, l->name, l->program_id));
        module_item *x = &h->modules[h->module_count - 1];
        x->runs = (int64_t)l->n;
        x->total_ps = l->total_ps;
        x->samples = l->dur_ps;
        l->dur_ps = NULL;
    }
    return 0;
}

/* On other devices a module's time is that of its ops, from which the number of runs is unknown. */
static int add_op_time(host_result *h, const trace *t, const kind_times *kt, vp_map *by_key)
{
    for (uint32_t k = 0; k < t->kind_count; k++) {
        int64_t program = t->kinds[k].program_id;
        if (!kt->calls[k] || !t->kinds[k].module)
            continue;
        vp_str name = trace_module_name(trace_str(t, t->kinds[k].module), &program);
        uint64_t key = module_runs_key(name, program);
        uint32_t at = vp_map_get(by_key, key);
        if (at == VP_MAP_NONE) {
            at = (uint32_t)h->module_count;
            VP_TRY(add_module(h, name, program));
            VP_TRY(vp_map_set(by_key, key, at));
        }
        h->modules[at].runs = VP_UNKNOWN;
        h->modules[at].total_ps += kt->self_ps[k];
    }
    return 0;
}

int modules_index(vp_map *by_key, const host_result *h)
{
    for (size_t i = 0; i < h->module_count; i++)
        VP_TRY(vp_map_set(by_key,
                          module_runs_key(vp_str_of(h->modules[i].name), h->modules[i].program_id),
                          (uint32_t)i));
    return 0;
}

uint32_t modules_find(const vp_map *by_key, const trace *t, uint32_t kind)
{
    int64_t program = t->kinds[kind].program_id;
    vp_str name = trace_module_name(trace_str(t, t->kinds[kind].module), &program);
    return vp_map_get(by_key, module_runs_key(name, program));
}

/* Calls of the ops of all modules, by name: kinds of several devices may be one op. */
typedef struct op_counts {
    vp_map by_module, by_op;
    int64_t *calls;
    size_t n, cap;
} op_counts;

static int count_op(op_counts *c, host_result *h, const trace *t, uint32_t kind, int64_t calls)
{
    const trace_kind *k = &t->kinds[kind];
    uint32_t module = modules_find(&c->by_module, t, kind);
    if (module == VP_MAP_NONE)
        return 0;
    vp_str name = trace_str(t, k->hlo_op ? k->hlo_op : k->name);
    uint64_t key = vp_hash(name.p, name.n, module);
    uint32_t at = vp_map_get(&c->by_op, key);
    module_item *x = &h->modules[module];
    if (at == VP_MAP_NONE) {
        VP_TRY(vp_grow(&c->calls, &c->cap, c->n + 1, sizeof *c->calls, UINT32_MAX - 1));
        VP_TRY(vp_map_set(&c->by_op, key, (uint32_t)c->n));
        at = (uint32_t)c->n++;
        c->calls[at] = 0;
        x->ops++;
    }
    c->calls[at] += calls;
    x->op_calls = c->calls[at] > x->op_calls ? c->calls[at] : x->op_calls;
    return 0;
}

static int count_ops(host_result *h, const trace *t, const kind_times *kt)
{
    op_counts c = {0};
    vp_map_init(&c.by_module);
    vp_map_init(&c.by_op);
    int rc = modules_index(&c.by_module, h);
    for (uint32_t k = 0; rc >= 0 && k < t->kind_count; k++)
        if (kt->calls[k] && t->kinds[k].module)
            rc = count_op(&c, h, t, k, kt->calls[k]);
    vp_map_free(&c.by_module);
    vp_map_free(&c.by_op);
    vp_free(c.calls);
    return rc;
}

int modules_collect(host_result *h, const trace *t, module_runs *m, const kind_times *kt)
{
    VP_TRY(take_runs(h, m));
    if (h->module_count)
        return count_ops(h, t, kt);
    vp_map by_key;
    vp_map_init(&by_key);
    int rc = add_op_time(h, t, kt, &by_key);
    vp_map_free(&by_key);
    return rc < 0 ? rc : count_ops(h, t, kt);
}
