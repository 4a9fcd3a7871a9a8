/* Sorts a track's columns by (start asc, dur desc, file order). Failures: VP_ENOMEM. */
#ifndef VP_MODEL_SORT_H
#define VP_MODEL_SORT_H

#include "trace/model/trace.h"

/* O(n) if at most an eighth of the events are out of order (these are merged in), else a radix sort
 * on the bits of the start that differ. Attributes of a long track are reordered on `threads`
 * threads. After VP_ENOMEM the track is unusable. */
int trace_sort_track(trace_track *k, int threads);

#endif
