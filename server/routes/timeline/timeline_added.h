/* The tracks of a host's analysis beside the index of its file: made when the report is there, and
 * never changed afterwards. timelines.c makes and keeps them; the routes of the timeline read. */
#ifndef VP_ROUTES_TIMELINE_ADDED_H
#define VP_ROUTES_TIMELINE_ADDED_H

#include "include/view_profile.h"
#include "trace/timeline/tl_derived.h"

typedef struct timeline_added {
    derived *tracks; /* findings last */
    tl_index *x;
} timeline_added;

/* Of the tracks, which are the callee's, also where it fails. r: the session's report, whose
 * findings are added; NULL: without them. host: as timeline_time. */
int timeline_added_make(timeline_added **out, derived *tracks, const tl_index *beside,
                        const vp_report *r, const char *host);
void timeline_added_free(timeline_added *a);
/* In memory. */
uint64_t timeline_added_bytes(const timeline_added *a);
/* The time of a report's place (ps on the aligned clock) in the trace of a host (NULL: the only
 * one); INT64_MIN where the report does not know that host's timeline. */
int64_t timeline_time(const tl_index *x, const vp_report *r, const char *host, int64_t ps);

#endif
