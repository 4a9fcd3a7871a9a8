/* Sorting a track's columns by (start asc, dur desc, file order). model/trace and
 * export/shared/lanes include this. */
#ifndef VP_MODEL_SORT_H
#define VP_MODEL_SORT_H

#include "trace/model/trace.h"

/* O(n) where at most an eighth of the events step back (these are merged in), else a radix sort on
 * the bits of the start that differ. The attributes of a long track are put in order on so many
 * threads. After VP_ENOMEM the track is of no use. */
int trace_sort_track(trace_track *k, int threads);

#endif
