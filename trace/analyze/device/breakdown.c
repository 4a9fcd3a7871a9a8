#include "trace/analyze/device/breakdown.h"

#include "trace/analyze/device/sweep.h"
#include "trace/base/err.h"

typedef struct whole {
    vp_breakdown *b;
    int64_t from, to; /* only time within it counts */
    int64_t start, end;
    bool any;
} whole;

static int breakdown_add_segment(void *ctx, const sweep_segment *s)
{
    whole *w = ctx;
    if (!w->any)
        w->start = s->start;
    w->any = true;
    w->end = s->end;
    sweep_add(w->b, s, w->from, w->to);
    return 0;
}

static int64_t first_start(track_set set)
{
    int64_t first = 0;
    for (size_t i = 0; i < set.count; i++) {
        int64_t start = trace_start(&set.t->tracks[set.tracks[i]], 0);
        first = !i || start < first ? start : first;
    }
    return first;
}

int bd_compute(vp_breakdown *out, int64_t *start, int64_t *end, track_set set,
               const uint8_t *class_of)
{
    const trace_process *p = &set.t->processes[set.t->tracks[set.tracks[0]].process];
    bool part = p->part_start_ps != SINK_NO_TIME;
    whole w = {.b = out,
               .from = part ? p->part_start_ps : INT64_MIN,
               .to = part ? p->part_end_ps : INT64_MAX};
    *out = (vp_breakdown){0};
    VP_TRY(sweep_run(set, class_of, breakdown_add_segment, &w));
    *start = part ? w.from : w.any ? w.start : first_start(set);
    *end = part ? w.to : w.any ? w.end : *start;
    sweep_close(out, *end - *start);
    return 0;
}
