#include "trace/analyze/device/sweep.h"

#include <stdlib.h>

#include "trace/analyze/device/classify.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* The tracks of a device are merged by start, with a binary heap of cursors. */
typedef struct cursor {
    const trace_track *track;
    uint32_t number;
    size_t at;
    int64_t start;
} cursor;

static void cursor_sift_down(cursor *heap, size_t n, size_t i)
{
    for (;;) {
        size_t least = i, left = 2 * i + 1, right = left + 1;
        if (left < n && heap[left].start < heap[least].start)
            least = left;
        if (right < n && heap[right].start < heap[least].start)
            least = right;
        if (least == i)
            return;
        cursor swap = heap[i];
        heap[i] = heap[least];
        heap[least] = swap;
        i = least;
    }
}

static void make_heap(cursor *heap, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        cursor_sift_down(heap, n, i);
}

/* A while, conditional or call spans what it runs: it counts as compute only where nothing else
 * runs (docs/reference/metrics.md#op-classes). Seen as a class, a loop over the whole step would
 * cover every wait and every collective in it. */
#define CONTAINER SWEEP_CONTAINER
#define CLASSES 4u

/* The end of each class. Events are sorted by start, so class c covers [now, end[c]) until the next
 * event starts. */
typedef struct sweep {
    int64_t now, end[CLASSES];
    int64_t reach;    /* the maximum of `end` */
    sweep_event last; /* the event with that end */
    sweep_fn *fn;
    void *ctx;
} sweep;

static int64_t earlier_time(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Reports the segments in [now, to), where no event starts: at most four. */
static int sweep_advance(sweep *s, int64_t to, sweep_event next)
{
    while (s->now < to) {
        sweep_segment seg = {.start = s->now, .end = to, .before = s->last, .next = next};
        if (s->now >= s->reach) {
            s->now = to;
            return s->fn(s->ctx, &seg);
        }
        for (unsigned c = 0; c < CLASSES; c++)
            if (s->end[c] > s->now) {
                seg.cover |= SWEEP_COVER(c);
                seg.end = earlier_time(seg.end, s->end[c]);
            }
        if (seg.cover & SWEEP_COVER(CONTAINER)) {
            seg.cover &= ~SWEEP_COVER(CONTAINER);
            seg.cover = seg.cover ? seg.cover : SWEEP_COVER(VP_COMPUTE);
        }
        s->now = seg.end;
        VP_TRY(s->fn(s->ctx, &seg));
    }
    return 0;
}

static int sweep_run_heap(sweep *s, cursor *heap, size_t n, const uint8_t *class_of)
{
    while (n) {
        cursor *top = &heap[0];
        sweep_event e = {top->number, top->at};
        int64_t start = top->start, end = start + trace_dur(top->track, top->at);
        unsigned class = class_of[trace_kind_of(top->track, top->at)];
        if (start > s->now)
            VP_TRY(sweep_advance(s, start, e));
        if (end > s->end[class])
            s->end[class] = end;
        if (end >= s->reach) {
            s->reach = end;
            s->last = e;
        }
        if (++top->at < top->track->count)
            top->start = trace_start(top->track, top->at);
        else
            *top = heap[--n];
        cursor_sift_down(heap, n, 0);
    }
    return sweep_advance(s, s->reach, (sweep_event){0, SIZE_MAX});
}

static bool is_container(const trace *t, const trace_kind *k)
{
    vp_str hlo = cl_hlo(t, k);
    return vp_str_eq(hlo, VP_STR("while")) || vp_str_eq(hlo, VP_STR("conditional")) ||
           vp_str_eq(hlo, VP_STR("call"));
}

uint8_t sweep_class(const trace *t, const trace_kind *k, vp_op_class class)
{
    return k->is_op && is_container(t, k) ? CONTAINER : (uint8_t) class;
}

/* *heap: a cursor of each track that has events; the caller frees it. */
static int open_heap(cursor **heap, size_t *n, track_set set)
{
    cursor *v = *heap = vp_calloc(set.count, sizeof *v);
    *n = 0;
    VP_NEED(v);
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *track = &set.t->tracks[set.tracks[i]];
        if (track->count)
            v[(*n)++] = (cursor){track, set.tracks[i], 0, trace_start(track, 0)};
    }
    make_heap(v, *n);
    return 0;
}

int sweep_run(track_set set, const uint8_t *class_of, sweep_fn *fn, void *ctx)
{
    VP_CLEANUP(vp_free_ptr) cursor *heap = NULL;
    size_t n;
    VP_TRY(open_heap(&heap, &n, set));
    if (!n)
        return 0;
    int64_t first = heap[0].start;
    sweep s = {first, {first, first, first, first}, first, {0, SIZE_MAX}, fn, ctx};
    return sweep_run_heap(&s, heap, n, class_of);
}

int sweep_events(track_set set, sweep_event_fn *fn, void *ctx)
{
    VP_CLEANUP(vp_free_ptr) cursor *heap = NULL;
    size_t n;
    VP_TRY(open_heap(&heap, &n, set));
    while (n) {
        cursor *top = &heap[0];
        VP_TRY(fn(ctx, top->track, (sweep_event){top->number, top->at}));
        if (++top->at < top->track->count)
            top->start = trace_start(top->track, top->at);
        else
            *top = heap[--n];
        cursor_sift_down(heap, n, 0);
    }
    return 0;
}

void sweep_add(vp_breakdown *b, const sweep_segment *s, int64_t from, int64_t to)
{
    int64_t start = s->start > from ? s->start : from;
    int64_t length = earlier_time(s->end, to) - start;
    if (length <= 0 || !s->cover)
        return;
    bool c = s->cover & SWEEP_COVER(VP_COMPUTE), m = s->cover & SWEEP_COVER(VP_COMMUNICATION),
         x = s->cover & SWEEP_COVER(VP_COPY);
    b->busy_ps += length;
    b->compute_ps += c ? length : 0;
    b->comm_ps += m ? length : 0;
    b->copy_ps += x ? length : 0;
    b->overlap_comm_ps += c && m ? length : 0;
    b->exposed_comm_ps += m && !c ? length : 0;
    b->exposed_copy_ps += x && !m && !c ? length : 0;
}

void sweep_close(vp_breakdown *b, int64_t window_ps)
{
    b->window_ps = window_ps;
    b->idle_ps = window_ps - b->busy_ps;
}

typedef struct window_sweep {
    const step_windows *w;
    size_t at;
    vp_breakdown sum; /* of window `at`: segments are disjoint and sorted, as windows are */
    sweep_window_fn *fn;
    void *ctx;
} window_sweep;

static int sweep_close_window(window_sweep *x)
{
    sweep_close(&x->sum, x->w->end_ps[x->at] - x->w->start_ps[x->at]);
    x->at++;
    int rc = x->fn(x->ctx, &x->sum);
    x->sum = (vp_breakdown){0};
    return rc;
}

static int add_to_windows(void *ctx, const sweep_segment *s)
{
    window_sweep *x = ctx;
    const step_windows *w = x->w;
    while (x->at < w->count && w->start_ps[x->at] < s->end) {
        sweep_add(&x->sum, s, w->start_ps[x->at], w->end_ps[x->at]);
        if (w->end_ps[x->at] > s->end)
            break;
        VP_TRY(sweep_close_window(x));
    }
    return 0;
}

int sweep_windows(track_set set, const uint8_t *class_of, const step_windows *windows,
                  sweep_window_fn *fn, void *ctx)
{
    window_sweep x = {.w = windows, .fn = fn, .ctx = ctx};
    VP_TRY(sweep_run(set, class_of, add_to_windows, &x));
    while (x.at < windows->count)
        VP_TRY(sweep_close_window(&x));
    return 0;
}

static size_t tracks_of_devices(const analysis *a)
{
    size_t n = 0;
    for (size_t d = 0; d < a->device_count; d++)
        n += a->devices[d].set.count;
    return n;
}

static size_t put_cursors(cursor *heap, const analysis *a)
{
    size_t n = 0;
    for (size_t d = 0; d < a->device_count; d++)
        for (size_t i = 0; i < a->devices[d].set.count; i++) {
            uint32_t number = a->devices[d].set.tracks[i];
            const trace_track *k = &a->t->tracks[number];
            if (k->count)
                heap[n++] = (cursor){k, number, 0, trace_aligned_start(k, 0)};
        }
    return n;
}

/* Merged incrementally; if the two clocks order events differently, a few remain to be sorted. */
int sweep_any_busy(spans *out, const analysis *a)
{
    VP_CLEANUP(vp_free_ptr) cursor *heap = vp_calloc(tracks_of_devices(a), sizeof *heap);
    VP_NEED(heap);
    size_t n = put_cursors(heap, a);
    make_heap(heap, n);
    while (n) {
        cursor *top = &heap[0];
        VP_TRY(spans_add(out, top->start, trace_aligned_end(top->track, top->at)));
        if (++top->at < top->track->count)
            top->start = trace_aligned_start(top->track, top->at);
        else
            *top = heap[--n];
        cursor_sift_down(heap, n, 0);
    }
    return spans_union(out);
}
