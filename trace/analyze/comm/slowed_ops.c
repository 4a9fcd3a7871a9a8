#include "trace/analyze/comm/slowed_ops.h"

#include "trace/analyze/device/slowed_calls.h"
#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

/* What the calls of all kinds take longer during copies. */
static int64_t slowed_ps(const slowed_row *row, size_t rows)
{
    __int128 slowed = 0;
    int64_t most = 0;
    for (size_t i = 0; i < rows; i++) {
        slowed += (__int128)row[i].longer_ps * row[i].calls;
        most += row[i].median_ps * row[i].calls;
    }
    return slowed < 0 ? 0 : slowed < most ? (int64_t)slowed : most;
}

/* row_of: by kind, VP_MAP_NONE; it is left so. */
static int slowed_ops_of_device(vp_device *out, const device_work *d, uint32_t *row_of,
                                const spans *copies)
{
    const kind_list *l = &d->times;
    const slowed_groups groups = {.row_of = row_of, .rows = l->n, .innermost = true};
    VP_CLEANUP(vp_free_ptr) slowed_row *row = vp_calloc((size_t)l->n + 1, sizeof *row);
    VP_NEED(row);
    for (uint32_t i = 0; i < l->n; i++)
        row_of[l->kind[i]] = i;
    int rc = slowed_calls_compare(row, d->set, &groups, copies);
    for (uint32_t i = 0; i < l->n; i++)
        row_of[l->kind[i]] = VP_MAP_NONE;
    VP_TRY(rc);
    out->hygiene.copy_slowed_ps = slowed_ps(row, l->n);
    return 0;
}

int slowed_ops_collect(analysis *a, const spans *copies)
{
    size_t kinds = (size_t)a->t->kind_count + 1;
    VP_CLEANUP(vp_free_ptr) uint32_t *row_of = vp_realloc_array(NULL, kinds, sizeof *row_of);
    VP_NEED(row_of);
    for (size_t i = 0; i < kinds; i++)
        row_of[i] = VP_MAP_NONE;
    for (size_t d = 0; d < a->device_count; d++)
        VP_TRY(slowed_ops_of_device(&a->h->devices[d], &a->devices[d], row_of, copies));
    return 0;
}
