#include "trace/analyze/device/device_sums.h"

#include "trace/analyze/device/breakdown.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/freelist.h"
#include "trace/base/thread.h"

/* A trace with fewer events is counted faster than another thread starts. */
#define COUNT_ALONE 50000u

typedef struct count {
    device_sums *v;
    size_t n;
    module_runs *modules;
    const grouping *g;
    const trace *t;
    vp_freelist workspaces;
} count;

static int count_device_ops(count *c, device_sums *d)
{
    ops_workspace *workspace = vp_freelist_take(&c->workspaces);
    int rc = workspace ? 0 : ops_workspace_new(&workspace, c->g, c->t);
    if (rc >= 0)
        rc = ops_count(&d->ops, c->g, d->set, workspace);
    if (workspace)
        vp_freelist_give(&c->workspaces, workspace);
    return rc;
}

/* Two work items per device, the longer ones first, so that threads end at about the same time. */
static int count_sums_piece(void *ctx, uint32_t i)
{
    count *c = ctx;
    if (i == 2 * c->n)
        return module_runs_count(c->modules, c->t);
    device_sums *d = &c->v[i % c->n];
    return i < c->n ? count_device_ops(c, d)
                    : bd_compute(&d->breakdown, &d->start_ps, &d->end_ps, d->set,
                                 grouping_sweep_classes(c->g));
}

int device_sums_threads(const trace *t)
{
    return t->event_count < COUNT_ALONE ? 1 : t->threads;
}

int device_sums_count(device_sums *v, size_t n, module_runs *modules, const grouping *g,
                      const trace *t)
{
    count c = {.v = v, .n = n, .modules = modules, .g = g, .t = t};
    vp_freelist_init(&c.workspaces);
    int rc = vp_each(device_sums_threads(t), (uint32_t)n * 2 + 1, count_sums_piece, &c);
    for (ops_workspace *r; (r = vp_freelist_take(&c.workspaces));)
        ops_workspace_free(r);
    vp_freelist_end(&c.workspaces);
    return rc;
}

void device_sums_free(device_sums *v, size_t n)
{
    for (size_t i = 0; v && i < n; i++)
        ops_sums_free(v[i].ops);
    vp_free(v);
}
