/* Writes the tracks that an analysis adds (export/shared/added.h) as .pftrace: one group per
 * device, its tracks in order, one sequence per track. */
#ifndef VP_EXPORT_PFTRACE_PFT_ADDED_H
#define VP_EXPORT_PFTRACE_PFT_ADDED_H

#include "trace/export/pftrace/pft_ends.h"
#include "trace/export/shared/added.h"

/* Ids of its tracks start here; other writers stay below. */
#define PFT_TRACK_ADDED (UINT64_C(4) << 58)

/* Appends packets until the writer's buffer is full. open: slices that have begun; empty at first
 * and again at the end. 1: there are more; 0: done. */
int pft_added(ex_added *a, pft_writer *w, pft_ends *open);

#endif
