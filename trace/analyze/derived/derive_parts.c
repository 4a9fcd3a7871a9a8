/* The parts of a device's time, as contiguous slices. */
#include "trace/analyze/derived/derive.h"
#include "trace/analyze/device/ops.h"
#include "trace/analyze/device/sweep.h"
#include "trace/base/err.h"

/* In the order in which one hides the other (docs/reference/metrics.md#breakdown). */
static derived_part part_of_cover(unsigned cover)
{
    if (cover & SWEEP_COVER(VP_COMPUTE))
        return DERIVED_PART_COMPUTE;
    if (cover & SWEEP_COVER(VP_COMMUNICATION))
        return DERIVED_PART_COMM;
    return cover & SWEEP_COVER(VP_COPY) ? DERIVED_PART_COPY : DERIVED_PART_IDLE;
}

/* The segments of the window; adjacent ones of the same part become one slice. */
typedef struct band {
    derived *out;
    int64_t from, to; /* the device's window */
    int64_t start, end;
    derived_part now;
    vp_sid name[DERIVED_PART_COUNT];
} band;

static int band_flush(band *b)
{
    derived_slice s = {.start_ps = b->start, .end_ps = b->end, .number = {VP_UNKNOWN, VP_UNKNOWN}};
    s.name = b->name[b->now];
    return b->end > b->start ? derived_add(b->out, &s, NULL) : 0;
}

static int band_advance(band *b, int64_t start, int64_t end, derived_part p)
{
    start = start > b->from ? start : b->from;
    end = end < b->to ? end : b->to;
    if (end <= start)
        return 0;
    if (p != b->now || start != b->end) {
        VP_TRY(band_flush(b));
        b->start = start;
        b->now = p;
    }
    b->end = end;
    return 0;
}

static int band_on_segment(void *ctx, const sweep_segment *s)
{
    band *b = ctx;
    if (b->end < s->start) /* before the first op of a part of a trace */
        VP_TRY(band_advance(b, b->end, s->start, DERIVED_PART_IDLE));
    return band_advance(b, s->start, s->end, part_of_cover(s->cover));
}

int derive_parts(const derive_device *x)
{
    const analysis *a = x->a;
    const vp_device *d = &a->h->devices[x->device];
    int64_t origin = d->own_clock ? 0 : a->h->origin_ps;
    band b = {.out = x->out, .from = d->start_ps + origin, .to = d->end_ps + origin};
    b.start = b.end = b.from;
    for (size_t i = 0; i < DERIVED_PART_COUNT; i++)
        VP_TRY(derived_name(x->out, &b.name[i], vp_str_of(derived_part_words[i])));
    VP_TRY(derived_add_track(x->out, DERIVED_PARTS, VP_STR_NONE));
    VP_TRY(sweep_run(a->devices[x->device].set, grouping_sweep_classes(a->g), band_on_segment, &b));
    VP_TRY(band_advance(&b, b.end, b.to, DERIVED_PART_IDLE));
    VP_TRY(band_flush(&b));
    return derived_end_track(x->out);
}
