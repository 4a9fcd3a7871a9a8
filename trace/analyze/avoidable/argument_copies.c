#include "trace/analyze/avoidable/argument_copies.h"

#include "trace/analyze/device/ops.h"
#include "trace/analyze/device/slowed_calls.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

static int find_copies(spans *out, track_set set, const uint8_t *is_copy)
{
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        for (size_t e = 0; e < k->count; e++)
            if (is_copy[trace_kind_of(k, e)])
                VP_TRY(spans_add(out, trace_aligned_start(k, e), trace_aligned_end(k, e)));
    }
    return spans_union(out);
}

/* Rows are the ops of one name and shape; op: by row, the op of h->ops. */
static int find_rows(slowed_groups *g, uint32_t *row_of, uint32_t *op, const analysis *a,
                     const kind_list *l, const uint8_t *is_copy, const uint32_t *op_of)
{
    const uint32_t *group_of = grouping_groups(a->g);
    VP_CLEANUP(vp_map_free) vp_map rows = {0};
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t kind = l->kind[i];
        uint64_t key = (uint64_t)op_of[group_of[kind]] << 32 | a->t->kinds[kind].shape;
        uint32_t row = vp_map_get(&rows, key);
        if (is_copy[kind])
            continue;
        if (row == VP_MAP_NONE) {
            row = (uint32_t)g->rows++;
            op[row] = op_of[group_of[kind]];
            VP_TRY(vp_map_set(&rows, key, row));
        }
        row_of[kind] = row;
    }
    return 0;
}

/* Concurrent calls share the time of the device as self time does. */
static void add_slowed(vp_op *op, const slowed_row *row)
{
    __int128 ps = (__int128)row->longer_ps * row->calls;
    ps = op->total_ps > 0 ? ps * op->self_ps / op->total_ps : 0;
    ps = ps < op->self_ps ? ps : op->self_ps;
    op->avoidable.copy_slowed_ps += ps > 0 ? (int64_t)ps : 0;
    if (op->avoidable.copy_slowed_ps > op->self_ps)
        op->avoidable.copy_slowed_ps = op->self_ps;
}

static int slow_ops(analysis *a, const device_work *d, const spans *copies, const uint8_t *is_copy,
                    uint32_t *row_of, const uint32_t *op_of)
{
    slowed_groups groups = {.row_of = row_of};
    VP_CLEANUP(vp_free_ptr) uint32_t *op = vp_calloc((size_t)d->times.n + 1, sizeof *op);
    VP_CLEANUP(vp_free_ptr) slowed_row *row = vp_calloc((size_t)d->times.n + 1, sizeof *row);
    VP_NEED(op && row);
    VP_TRY(find_rows(&groups, row_of, op, a, &d->times, is_copy, op_of));
    VP_TRY(slowed_calls_compare(row, d->set, &groups, copies));
    for (size_t i = 0; i < groups.rows; i++)
        add_slowed(&a->h->ops[op[i]], &row[i]);
    return 0;
}

int argument_copies_slow(analysis *a, uint32_t device, const uint8_t *is_copy, uint32_t *row_of,
                         const uint32_t *op_of)
{
    const device_work *d = &a->devices[device];
    spans copies = {0};
    int rc = find_copies(&copies, d->set, is_copy);
    if (rc >= 0 && copies.n)
        rc = slow_ops(a, d, &copies, is_copy, row_of, op_of);
    for (uint32_t i = 0; i < d->times.n; i++)
        row_of[d->times.kind[i]] = VP_MAP_NONE;
    spans_free(&copies);
    return rc;
}
