#include "trace/analyze/comm/barriers.h"

#include "trace/analyze/result/analysis.h"

static bool is_barrier(const trace *t, uint32_t kind)
{
    return vp_str_eq(trace_str(t, t->kinds[kind].name), VP_STR("barrier-cores"));
}

static void add_barrier_waits(vp_device *d, const trace *t, const trace_track *k)
{
    for (size_t i = 0; i < k->count; i++)
        if (is_barrier(t, trace_kind_of(k, i))) {
            d->barriers++;
            d->barrier_ps += trace_dur(k, i);
        }
}

int barriers_collect(analysis *a)
{
    for (size_t d = 0; d < a->device_count; d++) {
        vp_device *device = &a->h->devices[d];
        TRACE_EACH_OF(a->t, a->devices[d].process, i)
        if (a->t->tracks[i].role == SINK_ROLE_MARKS)
            add_barrier_waits(device, a->t, &a->t->tracks[i]);
    }
    return 0;
}
