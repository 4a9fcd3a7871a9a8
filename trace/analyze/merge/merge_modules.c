/* Merges modules with the percentiles of their runs. */
#include "trace/analyze/merge/merge_parts.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Number of durations kept per module if not all runs are present; otherwise all are kept. */
#define SAMPLES_MAX 4096u

typedef struct module_entry {
    const vp_module *module;
    size_t rank;
} module_entry;

static int order_modules_by_key(const vp_module *x, const vp_module *y)
{
    int order = merge_order(x->name, y->name);
    return order ? order : (x->program_id > y->program_id) - (x->program_id < y->program_id);
}

static int by_key_and_part(const void *a, const void *b)
{
    const module_entry *x = a, *y = b;
    int order = order_modules_by_key(x->module, y->module);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_module_time(const void *a, const void *b)
{
    const vp_module *x = a, *y = b;
    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return order_modules_by_key(x, y);
}

/* A kept duration, and the number of runs it represents. */
typedef struct sample {
    int64_t ps, runs;
} sample;

static int by_sample_length(const void *a, const void *b)
{
    const sample *x = a, *y = b;
    return (x->ps > y->ps) - (x->ps < y->ps);
}

/* Sample i of n represents the runs whose rank is closest to its own. */
static size_t weigh_samples(sample *out, const vp_module *x)
{
    int64_t runs = x->runs, done = 0;
    size_t n = x->sample_count;
    for (size_t i = 0; i < n; i++) {
        int64_t upto = (int64_t)((__int128)runs * (int64_t)(i + 1) / (int64_t)n);
        out[i] = (sample){x->sample_ps[i], upto - done};
        done = upto;
    }
    return n;
}

/* Selects `keep` evenly spaced ranks out of all runs that v represents. */
static void pick_ranks(int64_t *out, size_t keep, const sample *v, size_t n, int64_t runs)
{
    int64_t upto = v[0].runs;
    size_t at = 0;
    for (size_t i = 0; i < keep; i++) {
        int64_t rank = keep < 2
                           ? (runs - 1) / 2
                           : (int64_t)((__int128)(runs - 1) * (int64_t)i / (int64_t)(keep - 1));
        while (rank >= upto && at + 1 < n)
            upto += v[++at].runs;
        out[i] = v[at].ps;
    }
}

static void keep_samples(merging *m, vp_module *out, const sample *v, size_t n, bool whole)
{
    size_t keep = whole || out->runs < SAMPLES_MAX ? (size_t)out->runs : SAMPLES_MAX;
    out->sample_count = 0;
    out->sample_ps = merge_room(m, keep, sizeof *out->sample_ps);
    if (!out->sample_ps)
        return;
    out->sample_count = keep;
    pick_ranks(out->sample_ps, keep, v, n, out->runs);
}

/* Merges the runs of one module; exact if all runs are present. */
static int join_samples(merging *m, vp_module *out, const module_entry *e, size_t count)
{
    size_t n = 0;
    bool whole = true;
    for (size_t i = 0; i < count; i++) {
        n += e[i].module->sample_count;
        whole = whole && (int64_t)e[i].module->sample_count == e[i].module->runs;
    }
    VP_CLEANUP(vp_free_ptr) sample *v = vp_calloc(n, sizeof *v);
    VP_NEED(v);
    n = 0;
    for (size_t i = 0; i < count; i++)
        if (e[i].module->runs > 0)
            n += weigh_samples(v + n, e[i].module);
    out->sample_ps = NULL;
    out->sample_count = 0;
    if (!n || out->runs <= 0)
        return 0;
    qsort(v, n, sizeof *v, by_sample_length);
    pick_ranks(&out->p50_ps, 1, v, n, out->runs);
    keep_samples(m, out, v, n, whole);
    return 0;
}

/* Keeps the values of repeats from the host where they take the most time, because each host has
 * separate steps. */
static void keep_repeats(vp_module *out, const vp_module *x)
{
    if (x->in_steps_ps > out->in_steps_ps) {
        out->in_steps = x->in_steps;
        out->in_steps_ps = x->in_steps_ps;
    }
    out->repeats = out->repeats ? out->repeats : x->repeats;
    out->ops = x->ops > out->ops ? x->ops : out->ops;
    out->op_calls = x->op_calls > out->op_calls ? x->op_calls : out->op_calls;
    if (x->repeat_ps < out->repeat_ps ||
        (x->repeat_ps == out->repeat_ps && x->repeat_steps <= out->repeat_steps))
        return;
    out->repeat_ps = x->repeat_ps;
    out->repeat_steps = x->repeat_steps;
    out->repeat_runs = x->repeat_runs;
}

static int join_module_entries(merging *m, vp_module *out, const module_entry *e, size_t count)
{
    *out = *e->module;
    out->name = merge_text(m, out->name);
    for (size_t i = 1; i < count; i++) {
        const vp_module *x = e[i].module;
        out->runs = out->runs < 0 || x->runs < 0 ? VP_UNKNOWN : out->runs;
        if (out->runs >= 0)
            merge_sum(&out->runs, x->runs);
        merge_sum(&out->total_ps, x->total_ps);
        keep_repeats(out, x);
    }
    out->repeats = merge_text(m, out->repeats);
    if (count > 1)
        return join_samples(m, out, e, count);
    out->sample_ps = merge_items(m, out->sample_ps, out->sample_count, sizeof *out->sample_ps);
    return 0;
}

int merge_modules(merging *m)
{
    vp_report *r = m->r;
    size_t n = 0, same;
    for (size_t i = 0; i < m->count; i++)
        n += m->parts[i].r->module_count;
    VP_CLEANUP(vp_free_ptr) module_entry *v = vp_calloc(n, sizeof *v);
    r->modules = merge_room(m, n, sizeof *r->modules);
    if (!v || m->out_of_memory)
        return vp_no_memory();
    n = 0;
    for (size_t i = 0; i < m->count; i++)
        for (size_t k = 0; k < m->parts[i].r->module_count; k++)
            v[n++] = (module_entry){&m->parts[i].r->modules[k], i};
    qsort(v, n, sizeof *v, by_key_and_part);
    for (size_t i = 0; i < n; i += same) {
        for (same = 1; i + same < n && order_modules_by_key(v[i].module, v[i + same].module) == 0;)
            same++;
        VP_TRY(join_module_entries(m, &r->modules[r->module_count], &v[i], same));
        r->module_count++;
    }
    if (r->module_count)
        qsort(r->modules, r->module_count, sizeof *r->modules, by_module_time);
    return 0;
}
