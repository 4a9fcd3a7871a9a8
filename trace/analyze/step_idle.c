#include "trace/analyze/step_idle.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

/* The first event of the track whose aligned start is not before t. */
static size_t first_from(const trace_track *k, int64_t t)
{
    size_t low = 0, high = k->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (trace_aligned_start(k, mid) < t)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* A step's window on a device with a clock of its own begins at an op, whose aligned start is the
 * window's: that op says the time on the device's clock. */
static int64_t on_device_clock(track_set set, int64_t aligned)
{
    int64_t best = aligned, distance = INT64_MAX;
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        size_t e = first_from(k, aligned);
        if (e == k->count || trace_aligned_start(k, e) - aligned >= distance)
            continue;
        distance = trace_aligned_start(k, e) - aligned;
        best = k->start_ps[e] - distance;
    }
    return best;
}

static int by_start(const void *a, const void *b)
{
    const step_window *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

int step_windows_new(step_windows *out, const analysis *a, uint32_t device)
{
    const vp_steps *steps = &a->h->steps;
    bool own_clock = a->h->devices[device].own_clock;
    step_windows w = {0};
    w.v = vp_realloc_array(NULL, steps->count + 1, sizeof *w.v);
    if (!w.v)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (size_t i = 0; i < steps->count; i++)
        for (size_t d = 0; d < steps->list[i].device_count; d++) {
            vp_step_device *s = &steps->list[i].devices[d];
            if (s->device != device)
                continue;
            int64_t start = s->start_ps + a->h->origin_ps;
            if (own_clock)
                start = on_device_clock(a->devices[device].set, start);
            memset(s->cause_ps, 0, sizeof s->cause_ps);
            w.v[w.n++] = (step_window){start, start + s->dur_ps, s};
            break;
        }
    qsort(w.v, w.n, sizeof *w.v, by_start);
    *out = w;
    return 0;
}

void step_windows_free(step_windows *w)
{
    vp_free(w->v);
    *w = (step_windows){0};
}

void step_windows_add(step_windows *w, const idle_piece *p)
{
    while (w->at < w->n && w->v[w->at].end <= p->start)
        w->at++;
    for (size_t i = w->at; i < w->n && w->v[i].start < p->end; i++) {
        int64_t start = p->start > w->v[i].start ? p->start : w->v[i].start;
        int64_t end = p->end < w->v[i].end ? p->end : w->v[i].end;
        w->v[i].step->cause_ps[p->cause] += end > start ? end - start : 0;
    }
}

void step_windows_close(step_windows *w)
{
    for (size_t i = 0; i < w->n; i++) {
        vp_step_device *s = w->v[i].step;
        int64_t explained = 0;
        for (int c = 0; c < VP_CAUSES; c++)
            explained += s->cause_ps[c];
        s->cause_ps[VP_CAUSE_UNKNOWN] += s->breakdown.idle_ps - explained;
    }
}
