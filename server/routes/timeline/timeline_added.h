/* The analysis tracks of a host, in addition to the index of its file. Created when the report is
 * available and immutable afterwards. timelines.c owns them; the routes of the timeline read them.
 */
#ifndef VP_ROUTES_TIMELINE_ADDED_H
#define VP_ROUTES_TIMELINE_ADDED_H

#include "include/view_profile.h"
#include "trace/timeline/tl_derived.h"

typedef struct timeline_added {
    derived *tracks; /* findings last */
    tl_index *x;
} timeline_added;

/* Takes ownership of the tracks, also on failure. r: the report of the run, whose findings are
 * added; NULL: without findings. host: as for timeline_time. */
int timeline_added_make(timeline_added **out, derived *tracks, const tl_index *beside,
                        const vp_report *r, const char *host);
void timeline_added_free(timeline_added *a);
/* Size in memory, in bytes. */
uint64_t timeline_added_bytes(const timeline_added *a);
/* Converts a time of the report (ps on the aligned clock) to the trace of a host (NULL: the only
 * one); INT64_MIN if the report does not contain that host. */
int64_t timeline_time(const tl_index *x, const vp_report *r, const char *host, int64_t ps);

#endif
