#include "trace/analyze/host.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* The tracks of a device merged by start: a binary heap of cursors. */
typedef struct cursor {
    const trace_track *track;
    size_t at;
    int64_t start;
} cursor;

static void sift_down(cursor *heap, size_t n, size_t i)
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

/* How far each class reaches: with events in the order of their starts, class c covers [now, end_c)
 * until the next start. */
typedef struct sweep {
    int64_t now, end[3];
    vp_breakdown *b;
} sweep;

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Adds what lies in [now, to), in which no event starts. */
static void advance(sweep *s, int64_t to)
{
    int64_t c = at_most(at_least(s->end[VP_COMPUTE], s->now), to);
    int64_t m = at_most(at_least(s->end[VP_COMMUNICATION], s->now), to);
    int64_t x = at_most(at_least(s->end[VP_COPY], s->now), to);
    int64_t cm = at_least(c, m), all = at_least(cm, x);
    s->b->compute_ps += c - s->now;
    s->b->comm_ps += m - s->now;
    s->b->copy_ps += x - s->now;
    s->b->overlap_comm_ps += at_most(c, m) - s->now;
    s->b->exposed_comm_ps += cm - c;
    s->b->exposed_copy_ps += all - cm;
    s->b->busy_ps += all - s->now;
    s->now = to;
}

static void run(sweep *s, cursor *heap, size_t n, const uint8_t *class_of)
{
    while (n) {
        cursor *top = &heap[0];
        int64_t start = top->start, end = start + top->track->dur_ps[top->at];
        unsigned class = class_of[top->track->kind[top->at]];
        if (start > s->now)
            advance(s, start);
        s->end[class] = at_least(s->end[class], end);
        if (++top->at < top->track->count)
            top->start = top->track->start_ps[top->at];
        else
            *top = heap[--n];
        sift_down(heap, n, 0);
    }
    advance(s, at_least(at_least(s->end[0], s->end[1]), s->end[2]));
}

int bd_compute(vp_breakdown *out, int64_t *start, int64_t *end, track_set set,
               const uint8_t *class_of)
{
    VP_CLEANUP(vp_free_ptr) cursor *heap = vp_calloc(set.count, sizeof *heap);
    size_t n = 0;
    if (!heap)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *track = &set.t->tracks[set.tracks[i]];
        if (track->count)
            heap[n++] = (cursor){track, 0, track->start_ps[0]};
    }
    *out = (vp_breakdown){0};
    *start = *end = 0;
    if (!n)
        return 0;
    for (size_t i = n / 2; i-- > 0;)
        sift_down(heap, n, i);
    int64_t first = heap[0].start;
    sweep s = {first, {first, first, first}, out};
    run(&s, heap, n, class_of);
    *start = first;
    *end = s.now;
    out->window_ps = s.now - first;
    out->idle_ps = out->window_ps - out->busy_ps;
    return 0;
}
