/* Maps a device op to the host call that launched it: both have the same correlation id (CUPTI,
 * rocprofiler, Kineto). Built once per trace and used by gaps, launches and steps. The analysis
 * owns it. */
#ifndef VP_ANALYZE_CALLS_H
#define VP_ANALYZE_CALLS_H

#include "trace/analyze/result/analysis.h"
#include "trace/links/launch_list.h"

/* A host event: track is an index into trace.tracks. */
typedef struct host_call {
    uint32_t track, index;
} host_call;

typedef struct call_index {
    launch_list launches; /* calls with HK_LAUNCH; value: index in `call` */
    launch_list others;
    host_call *call;
    size_t count, cap;
} call_index;

/* All events of host threads with a correlation id. An op is linked to a launch call (HK_LAUNCH)
 * of its id, else to another event; of several trace/links chooses. Empty if the platform has no
 * correlations. */
int calls_new(call_index **out, const trace *t, const host_kinds *kinds);
void calls_free(call_index *x);
/* The index of an op's call; UINT32_MAX: none. */
uint32_t calls_find(const call_index *x, const trace_track *ops, size_t index);
/* Start and end of a call. */
int64_t call_start(const call_index *x, const trace *t, uint32_t call);
int64_t call_end(const call_index *x, const trace *t, uint32_t call);

#endif
