/* Sort order of a track that consists of sorted runs, as profilers write them: all ops of a thread
 * by time, then all Python functions by time. Merging them costs a pass over the overlapping
 * events. Nothing is owned. Failures: VP_ENOMEM. */
#ifndef VP_MODEL_RUNS_H
#define VP_MODEL_RUNS_H

#include "trace/model/trace.h"

/* True if event a precedes event b: by start, then the longer one first, then file order. */
static inline bool trace_before(const trace_track *k, uint32_t a, uint32_t b)
{
    int64_t x = trace_start(k, a), y = trace_start(k, b);
    if (x != y)
        return x < y;
    x = trace_dur(k, a);
    y = trace_dur(k, b);
    if (x != y)
        return x > y;
    return a < b;
}

/* Writes the order of k->count events. 1: done; 0: too many runs, or too much overlap for this to
 * be fast; VP_ENOMEM. */
int trace_merge_runs(const trace_track *k, uint32_t *order, sort_buffer *buffer);

#endif
