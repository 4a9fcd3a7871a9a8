/* What a request for a timeline asks for: the session of its path, and of its query host, window,
 * tracks and event. */
#ifndef VP_ROUTES_TIMELINE_QUERY_H
#define VP_ROUTES_TIMELINE_QUERY_H

#include "server/routes/site/site.h"
#include "server/routes/timeline/timelines.h"
#include "trace/base/json.h"
#include "trace/timeline/tl_find.h"

typedef struct timeline_asked {
    catalog *c;
    const cat_session *s;
    uint32_t host; /* of s->hosts */
    timeline_held *held;
    const tl_index *x;           /* of the file */
    const timeline_added *added; /* NULL: not asked for, or there is none */
} timeline_asked;

/* The index of `host` of the query, the first one where it names none; with `analysis` of the query
 * also the tracks of the analysis, which are waited for. VP_ENOTFOUND, or as timelines_get and
 * timeline_wait. For VP_CLEANUP, also after a failure: timeline_drop. */
int timeline_ask(timeline_asked *a, const http_req *rq);
void timeline_drop(timeline_asked *a);
/* A time in ps, as it was where the query has none of this key. VP_EARG. */
int timeline_take_time(int64_t *ps, const http_req *rq, const char *key);
/* Of the session in a->s that of the host so called, of the first where `host` is NULL; fails
 * likewise. */
int timeline_index_of(timeline_asked *a, const http_req *rq, const char *host);
/* `from` and `to` in ps of the trace; all of it where they are absent. VP_EARG. */
int timeline_window(int64_t *from_ps, int64_t *until_ps, const tl_index *x, const http_req *rq);
/* The index that tells of a track by this number; NULL: none does. */
const tl_index *timeline_of_track(const timeline_asked *a, uint64_t track);
/* `key`: an event as "TRACK.ROW.INDEX", *e its place in *x; VP_EARG, VP_ENOTFOUND. */
int timeline_event(tl_event *e, const tl_index **x, const timeline_asked *a, const http_req *rq,
                   const char *key);
/* A number of an open object as text: above what a browser's numbers hold. */
void timeline_put_whole(vp_json *j, const char *key, int64_t n);
/* "start_ps" and "dur_ps" of an open object. */
void timeline_put_span(vp_json *j, int64_t from_ps, int64_t until_ps);
/* "steps": where those of the report lie in the trace of a host; `partial` are those that no
 * statistics count, cut ones and warm-up. Returns the place in that list of the step whose length
 * is nearest to the median of those that count, the first of equals; -1: there is none. */
int64_t timeline_put_steps(vp_json *j, const tl_index *x, const vp_report *r, const char *host);

#endif
