/* The indexes of timelines that somebody looks at, most recently used first. An index is made while
 * the report of its session is made, by one reading of the file, on a thread of its own: whoever
 * asks has it as soon as the file is read, and the report follows; of a trace of very many events
 * the index follows the report, in the place of the events. Reference counted and bounded.
 * Blocking: only HTTP_SLOW handlers call it. Thread-safe. site.c owns it. */
#ifndef VP_ROUTES_TIMELINES_H
#define VP_ROUTES_TIMELINES_H

#include "server/routes/store/store.h"
#include "server/routes/timeline/timeline_added.h"

typedef struct timelines timelines;
/* An index; it is held in memory until timeline_release(). */
typedef struct timeline_held timeline_held;

/* kept_max: bytes of the indexes that nobody holds; the one used last stays in any case.
 * late_events: traces of so many are indexed when they are analysed (VP_TIMELINE_LATE_EVENTS). */
int timelines_open(timelines **out, store *st, uint64_t kept_max, uint64_t late_events);
/* After store_cancel and before store_close; none may be held any more. NULL is allowed. */
void timelines_close(timelines *all);
/* That of a host of the session (index into s->hosts). Fails as store_get, and with VP_EEMPTY where
 * there is no timeline. VP_EBUSY: too many wait already, as for timeline_wait. */
int timelines_get(timeline_held **out, timelines *all, catalog *c, const cat_session *s,
                  uint32_t host, const store_asker *who);
const tl_index *timeline_index(const timeline_held *h);
/* Waits for the tracks of the analysis, which follow the report. *out: they, as long as the index
 * is held; NULL: they could not be made. VP_ECANCELLED: nobody waits any more. */
int timeline_wait(const timeline_added **out, timeline_held *h, const store_asker *who);
void timeline_release(timeline_held **h); /* for VP_CLEANUP; sets *h to NULL */

#endif
