/* Merges devices, ops and scopes. */
#include "trace/analyze/merge/merge_parts.h"

#include <stdlib.h>

#include "trace/analyze/device/scopes.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* ---- Devices ---- */

typedef struct device_entry {
    const merge_part *part;
    const vp_device *d;
} device_entry;

/* Sorts devices by host, keeping the order within a host. */
static int by_device_host(const void *a, const void *b)
{
    const device_entry *x = a, *y = b;
    int order = x->d->host && y->d->host ? strverscmp(x->d->host, y->d->host)
                                         : merge_order(x->d->host, y->d->host);
    if (!order)
        order = (x->part->rank > y->part->rank) - (x->part->rank < y->part->rank);
    return order ? order : (x->d > y->d) - (x->d < y->d);
}

static const char *report_host_text(const vp_report *r, const char *host)
{
    for (size_t i = 0; i < r->host_count; i++)
        if (merge_order(r->hosts[i], host) == 0)
            return r->hosts[i];
    return NULL;
}

static void merge_add_device(merging *m, const device_entry *e)
{
    vp_report *r = m->r;
    vp_device *d = &r->devices[r->device_count];
    e->part->device[e->d - e->part->r->devices] = (uint32_t)r->device_count;
    *d = *e->d;
    d->name = merge_text(m, d->name);
    d->model = merge_text(m, d->model);
    d->mfu.chip = merge_text(m, d->mfu.chip);
    d->host = report_host_text(r, d->host);
    d->timeline_ns -= e->part->shift_ps / 1000;
    if (!d->own_clock) {
        d->start_ps = merge_time(e->part, d->start_ps);
        d->end_ps = merge_time(e->part, d->end_ps);
    }
    if (!r->device_count || d->start_ps < r->start_ps)
        r->start_ps = d->start_ps;
    if (!r->device_count || d->end_ps > r->end_ps)
        r->end_ps = d->end_ps;
    r->own_clock = r->own_clock || d->own_clock;
    r->device_count++;
}

void merge_devices(merging *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->count; i++)
        n += m->parts[i].r->device_count;
    VP_CLEANUP(vp_free_ptr) device_entry *v = vp_calloc(n, sizeof *v);
    m->r->devices = merge_room(m, n, sizeof *m->r->devices);
    m->out_of_memory = m->out_of_memory || !v;
    if (m->out_of_memory)
        return;
    n = 0;
    for (size_t i = 0; i < m->count; i++)
        for (size_t k = 0; k < m->parts[i].r->device_count; k++)
            v[n++] = (device_entry){&m->parts[i], &m->parts[i].r->devices[k]};
    qsort(v, n, sizeof *v, by_device_host);
    for (size_t i = 0; i < n; i++)
        merge_add_device(m, &v[i]);
}

/* ---- Ops ---- */

static int by_op_self(const void *a, const void *b)
{
    const vp_op *x = a, *y = b;
    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    int order = merge_order(x->name, y->name);
    if (!order)
        order = (int)x->op_class - (int)y->op_class;
    return order ? order : merge_order(x->category, y->category);
}

static const vp_kernel_launch *copy_launch(merging *m, const vp_kernel_launch *from)
{
    vp_kernel_launch *l = from ? merge_items(m, from, 1, sizeof *from) : NULL;
    if (l) {
        l->grid = merge_text(m, l->grid);
        l->block = merge_text(m, l->block);
        l->occupancy = merge_text(m, l->occupancy);
        l->tensor_cores = merge_text(m, l->tensor_cores);
    }
    return l;
}

static void copy_op(merging *m, vp_op *op, const merge_part *p)
{
    op->device = merge_device(p, op->device);
    op->category = merge_text(m, op->category);
    op->name = merge_text(m, op->name);
    op->scope = merge_text(m, op->scope);
    op->operator_name = merge_text(m, op->operator_name);
    op->caller = merge_text(m, op->caller);
    op->outermost_name = merge_text(m, op->outermost_name);
    op->source = merge_text(m, op->source);
    op->module = merge_text(m, op->module);
    op->launch = copy_launch(m, op->launch);
    op->slowest_start_ps = merge_time(p, op->slowest_start_ps);
    op->per_step_ps = merge_items(m, op->per_step_ps, op->per_step_count, sizeof *op->per_step_ps);
    op->splits = merge_items(m, op->splits, op->split_count, sizeof *op->splits);
    for (size_t i = 0; op->splits && i < op->split_count; i++) {
        op->splits[i].label = merge_text(m, op->splits[i].label);
        op->splits[i].scope = merge_text(m, op->splits[i].scope);
        op->splits[i].source = merge_text(m, op->splits[i].source);
    }
}

void merge_ops(merging *m)
{
    vp_report *r = m->r;
    size_t n = 0;
    for (size_t i = 0; i < m->count; i++)
        n += m->parts[i].r->op_count;
    r->ops = merge_room(m, n, sizeof *r->ops);
    for (size_t i = 0; r->ops && i < m->count; i++)
        for (size_t k = 0; k < m->parts[i].r->op_count; k++) {
            r->ops[r->op_count] = m->parts[i].r->ops[k];
            copy_op(m, &r->ops[r->op_count++], &m->parts[i]);
        }
    if (!m->out_of_memory && r->op_count)
        qsort(r->ops, r->op_count, sizeof *r->ops, by_op_self);
}

/* ---- Scopes ---- */

/* Removes nodes that only connect others and have no values. */
static size_t drop_empty_scopes(scope_item *v, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (v[i].calls || v[i].self_ps)
            v[kept++] = v[i];
    return kept;
}

/* The tree of the only part is used unchanged. */
static int copy_scopes(merging *m)
{
    const vp_report *from = m->parts[0].r;
    vp_scope *v = merge_items(m, from->scopes, from->scope_count, sizeof *v);
    for (size_t i = 0; v && i < from->scope_count; i++) {
        v[i].path = merge_text(m, v[i].path);
        v[i].name = merge_text(m, v[i].name);
        v[i].source = merge_text(m, v[i].source);
    }
    m->r->scopes = v;
    m->r->scope_count = v ? from->scope_count : 0;
    return m->out_of_memory ? vp_no_memory() : 0;
}

int merge_scopes(merging *m)
{
    vp_report *r = m->r;
    size_t n = 0;
    for (size_t i = 0; i < m->count; i++)
        n += m->parts[i].r->scope_count;
    VP_CLEANUP(vp_free_ptr) scope_item *items = vp_calloc(n, sizeof *items);
    VP_NEED(items);
    n = 0;
    for (size_t i = 0; i < m->count; i++) {
        scopes_items(items + n, m->parts[i].r->scopes, m->parts[i].r->scope_count);
        n += m->parts[i].r->scope_count;
    }
    n = drop_empty_scopes(items, n);
    VP_TRY(m->count == 1 ? copy_scopes(m)
                         : scopes_tree(&r->scopes, &r->scope_count, m->arena, items, n));
    return scopes_fold(&r->folded, &r->folded_count, m->arena, items, n);
}
