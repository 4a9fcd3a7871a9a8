/* What a request for a timeline asks for: the session of its path, and of its query host, window,
 * tracks and event. Included by the routes of the timeline. */
#ifndef VP_ROUTES_TIMELINE_QUERY_H
#define VP_ROUTES_TIMELINE_QUERY_H

#include "server/routes/site.h"
#include "server/routes/timelines.h"
#include "trace/timeline/tl_find.h"

typedef struct timeline_asked {
    catalog *c;
    const cat_session *s;
    uint32_t host; /* of s->hosts */
    timeline_held *held;
    const tl_index *x;
} timeline_asked;

/* The index of `host` of the query, the first one where it names none. VP_ENOTFOUND, or as
 * timelines_get. For VP_CLEANUP, also after a failure: timeline_drop. */
int timeline_ask(timeline_asked *a, const http_req *rq);
void timeline_drop(timeline_asked *a);
/* `from` and `to` in ps of the trace; all of it where they are absent. VP_EARG. */
int timeline_window(int64_t *from_ps, int64_t *until_ps, const tl_index *x, const http_req *rq);
/* `key`: an event as "TRACK.ROW.INDEX"; VP_EARG, VP_ENOTFOUND. */
int timeline_event(tl_event *e, const tl_index *x, const http_req *rq, const char *key);
/* The time of a report's place (ps on the aligned clock) in the trace of a host; INT64_MIN where
 * the report does not know that host's timeline. */
int64_t timeline_time(const tl_index *x, const vp_report *r, const char *host, int64_t ps);

#endif
