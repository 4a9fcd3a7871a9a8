/* LRU cache of timeline indexes. An index is made together with the report, in one pass over the
 * file on its own thread; it is available before the report. For traces with very many events, the
 * index is made after the report, to limit memory. Reference counted and bounded. Blocking: only
 * HTTP_SLOW handlers call it. Thread-safe. site.c owns it. */
#ifndef VP_ROUTES_TIMELINES_H
#define VP_ROUTES_TIMELINES_H

#include "server/routes/store/store.h"
#include "server/routes/timeline/timeline_added.h"

typedef struct timelines timelines;
/* A reference to an index; valid until timeline_release(). */
typedef struct timeline_held timeline_held;

/* kept_max: maximum bytes of unreferenced indexes; the most recently used one is always kept.
 * late_events: traces with this many events are indexed after their analysis
 * (VP_TIMELINE_LATE_EVENTS). */
int timelines_open(timelines **out, store *st, uint64_t kept_max, uint64_t late_events);
/* Call after store_cancel and before store_close, without references left. NULL is allowed. */
void timelines_close(timelines *all);
/* Gets the index of a host of the run (index into s->hosts). Fails like store_get, and with
 * VP_EEMPTY if there is no timeline. VP_EBUSY: too many waiting requests, as for timeline_wait. */
int timelines_get(timeline_held **out, timelines *all, catalog *c, const cat_session *s,
                  uint32_t host, const store_asker *who);
const tl_index *timeline_index(const timeline_held *h);
/* Waits for the analysis tracks, which are made after the report. *out: valid as long as the index
 * is referenced; NULL: they could not be made. VP_ECANCELLED: the client has disconnected. */
int timeline_wait(const timeline_added **out, timeline_held *h, const store_asker *who);
void timeline_release(timeline_held **h); /* for VP_CLEANUP; sets *h to NULL */

#endif
