/* A list of step marks, which are added in any order and then sorted. */
#include "trace/analyze/steps/steps_parts.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/order.h"

int step_marks_add(step_marks *m, const step_mark *mark)
{
    VP_TRY(vp_grow(&m->v, &m->cap, m->n + 1, sizeof *m->v, VP_EVENTS_MAX));
    m->v[m->n++] = *mark;
    return 0;
}

void step_marks_free(step_marks *m)
{
    vp_free(m->v);
    *m = (step_marks){0};
}

/* If several begin together, the longest, which may contain the others, comes first; but marks that
 * end at that time precede it. */
static int by_mark_place(const void *a, const void *b)
{
    const step_mark *x = a, *y = b;
    bool x_ends = x->end == x->start, y_ends = y->end == y->start;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x_ends != y_ends)
        return x_ends ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    if (x->track != y->track)
        return x->track > y->track ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_track(const void *a, const void *b)
{
    const step_mark *x = a, *y = b;
    return x->track != y->track ? (x->track > y->track) - (x->track < y->track)
                                : by_mark_place(a, b);
}

/* Drops marks inside the previous mark of their track, which are parts of a step. Marks are sorted.
 */
static void drop_nested(step_marks *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const step_mark *x = &m->v[i], *last = n ? &m->v[n - 1] : NULL;
        if (last && last->track == x->track && x->start < last->end && x->end <= last->end)
            continue;
        m->v[n++] = *x;
    }
    m->n = n;
}

void step_marks_order(step_marks *m)
{
    vp_put_in_order(m->v, m->n, sizeof *m->v, by_track);
    drop_nested(m);
    vp_put_in_order(m->v, m->n, sizeof *m->v, by_mark_place);
}

uint32_t step_mark_at(const step_marks *m, int64_t at, size_t *last)
{
    size_t low = *last, high = m->n;
    if (low >= m->n || m->v[low].start > at)
        low = 0;
    else if (low + 1 == m->n || m->v[low + 1].start > at)
        high = low + 1;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (m->v[mid].start <= at)
            low = mid + 1;
        else
            high = mid;
    }
    *last = low ? low - 1 : 0;
    return low && at <= m->v[low - 1].end ? (uint32_t)(low - 1) : STEP_NONE;
}
