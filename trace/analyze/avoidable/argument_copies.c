#include "trace/analyze/avoidable/argument_copies.h"

#include "trace/analyze/device/ops.h"
#include "trace/analyze/device/sweep.h"
#include "trace/analyze/result/order_statistics.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Fewer calls, during copies or without, are no evidence. */
#define CALLS_LEAST 3u

enum { FREE, COPYING, WHENS };

/* Calls of one device by row, the ops of one name and shape, and by whether an argument is copied.
 */
typedef struct shape_calls {
    const trace *t;
    track_set set;
    const uint8_t *is_copy;      /* by kind */
    uint32_t *row_of;            /* by kind; VP_MAP_NONE: not one of the device */
    uint32_t *op;                /* by row: index in h->ops */
    size_t rows, *first, *count; /* by row and FREE or COPYING */
    int64_t *dur_ps;             /* NULL while calls are counted */
    spans copies;
} shape_calls;

static int find_copies(shape_calls *c)
{
    for (size_t i = 0; i < c->set.count; i++) {
        const trace_track *k = &c->t->tracks[c->set.tracks[i]];
        for (size_t e = 0; e < k->count; e++)
            if (c->is_copy[trace_kind_of(k, e)])
                VP_TRY(spans_add(&c->copies, trace_aligned_start(k, e), trace_aligned_end(k, e)));
    }
    return spans_union(&c->copies);
}

static int find_rows(shape_calls *c, const analysis *a, uint32_t device, const uint32_t *op_of)
{
    const kind_list *l = &a->devices[device].times;
    const uint32_t *group_of = grouping_groups(a->g);
    VP_CLEANUP(vp_map_free) vp_map rows = {0};
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t kind = l->kind[i], op = op_of[group_of[kind]];
        uint64_t key = (uint64_t)op << 32 | c->t->kinds[kind].shape;
        uint32_t row = vp_map_get(&rows, key);
        if (row == VP_MAP_NONE) {
            row = (uint32_t)c->rows++;
            c->op[row] = op;
            VP_TRY(vp_map_set(&rows, key, row));
        }
        c->row_of[kind] = row;
    }
    return 0;
}

static void visit_calls(shape_calls *c)
{
    for (size_t i = 0; i < c->set.count; i++) {
        const trace_track *k = &c->t->tracks[c->set.tracks[i]];
        size_t near = 0;
        for (size_t e = 0; e < k->count; e++) {
            uint32_t kind = trace_kind_of(k, e);
            int64_t start = trace_aligned_start(k, e), end = trace_aligned_end(k, e);
            if (c->row_of[kind] == VP_MAP_NONE || c->is_copy[kind])
                continue;
            size_t at = (size_t)c->row_of[kind] * WHENS +
                        (spans_cut(&c->copies, start, end, &near) > 0 ? COPYING : FREE);
            if (c->dur_ps)
                c->dur_ps[c->first[at] + c->count[at]] = end - start;
            c->count[at]++;
        }
    }
}

static int64_t median_of(const shape_calls *c, size_t at)
{
    return select_kth(c->dur_ps + c->first[at], c->count[at], nearest_rank(c->count[at], 50));
}

/* Concurrent calls share the time of the device as self time does. */
static void add_slowed(vp_op *op, int64_t longer_ps, size_t calls)
{
    __int128 ps = (__int128)longer_ps * (int64_t)calls;
    ps = op->total_ps > 0 ? ps * op->self_ps / op->total_ps : 0;
    ps = ps < op->self_ps ? ps : op->self_ps;
    op->avoidable.copy_slowed_ps += ps > 0 ? (int64_t)ps : 0;
    if (op->avoidable.copy_slowed_ps > op->self_ps)
        op->avoidable.copy_slowed_ps = op->self_ps;
}

static int compare_calls(shape_calls *c, host_result *h)
{
    size_t all = 0;
    visit_calls(c);
    for (size_t i = 0; i < c->rows * WHENS; i++) {
        c->first[i] = all;
        all += c->count[i];
        c->count[i] = 0;
    }
    VP_CLEANUP(vp_free_ptr) int64_t *dur_ps = vp_realloc_array(NULL, all + 1, sizeof *dur_ps);
    VP_NEED(dur_ps);
    c->dur_ps = dur_ps;
    visit_calls(c);
    for (size_t row = 0; row < c->rows; row++) {
        size_t at = row * WHENS;
        if (c->count[at + FREE] >= CALLS_LEAST && c->count[at + COPYING] >= CALLS_LEAST)
            add_slowed(&h->ops[c->op[row]], median_of(c, at + COPYING) - median_of(c, at + FREE),
                       c->count[at + COPYING]);
    }
    return 0;
}

int argument_copies_slow(analysis *a, uint32_t device, const uint8_t *is_copy,
                         const uint32_t *op_of)
{
    size_t kinds = (size_t)a->t->kind_count + 1, most = a->devices[device].times.n + (size_t)1;
    shape_calls c = {.t = a->t, .set = a->devices[device].set, .is_copy = is_copy};
    VP_CLEANUP(vp_free_ptr) uint32_t *row_of = vp_realloc_array(NULL, kinds, sizeof *row_of);
    VP_CLEANUP(vp_free_ptr) uint32_t *op = vp_calloc(most, sizeof *op);
    VP_CLEANUP(vp_free_ptr) size_t *first = vp_calloc(most * WHENS, sizeof *first);
    VP_CLEANUP(vp_free_ptr) size_t *count = vp_calloc(most * WHENS, sizeof *count);
    VP_NEED(row_of && op && first && count);
    for (size_t i = 0; i < kinds; i++)
        row_of[i] = VP_MAP_NONE;
    c.row_of = row_of;
    c.op = op;
    c.first = first;
    c.count = count;
    int rc = find_copies(&c);
    if (rc >= 0 && c.copies.n)
        rc = find_rows(&c, a, device, op_of);
    if (rc >= 0 && c.copies.n)
        rc = compare_calls(&c, a->h);
    spans_free(&c.copies);
    return rc;
}
