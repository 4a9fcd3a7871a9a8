/* The order of a track that consists of sorted runs, as profilers write them: all ops of a thread
 * by time, then all Python functions by time. Their merge costs a pass over what overlaps. Only
 * model/sort includes this; nothing is owned. */
#ifndef VP_MODEL_RUNS_H
#define VP_MODEL_RUNS_H

#include "trace/model/trace.h"

/* Whether event a stands before event b: start, then the longer, then the file's order. */
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

/* Fills the order of k->count events. 1; 0: they are so many, or overlap so much, that this is not
 * the fast way; VP_ENOMEM. */
int trace_merge_runs(const trace_track *k, uint32_t *order, sort_room *room);

#endif
