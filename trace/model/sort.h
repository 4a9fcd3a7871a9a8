/* Sorting a track's columns by (start asc, dur desc, file order). Only model/trace includes this.
 */
#ifndef VP_MODEL_SORT_H
#define VP_MODEL_SORT_H

#include "trace/model/trace.h"

/* Radix sort on the start, O(n) for the bits that differ; equal starts by insertion. VP_ENOMEM
 * leaves the track as it was. */
int trace_sort_track(trace_track *k);

#endif
