/* Reads the parameters of a timeline request: the run of its path; host, window, tracks and event
 * of its query. */
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
    const timeline_added *added; /* NULL: not requested, or none */
} timeline_asked;

/* Gets the index of `host` of the query (default: the first one); with `analysis` of the query,
 * waits for the analysis tracks as well. VP_ENOTFOUND, or errors of timelines_get and
 * timeline_wait. Use timeline_drop with VP_CLEANUP, also after a failure. */
int timeline_ask(timeline_asked *a, const http_req *rq);
void timeline_drop(timeline_asked *a);
/* Parses a time in ps; unchanged if the query has no such key. VP_EARG. */
int timeline_take_time(int64_t *ps, const http_req *rq, const char *key);
/* The same for run a->s and this host; NULL: the first host. */
int timeline_index_of(timeline_asked *a, const http_req *rq, const char *host);
/* `from` and `to` in ps of the trace; the whole trace if absent. VP_EARG. */
int timeline_window(int64_t *from_ps, int64_t *until_ps, const tl_index *x, const http_req *rq);
/* The index that contains the track with this number; NULL: none. */
const tl_index *timeline_of_track(const timeline_asked *a, uint64_t track);
/* Parses `key`: an event as "TRACK.ROW.INDEX"; sets *e to its position in *x. VP_EARG,
 * VP_ENOTFOUND. */
int timeline_event(tl_event *e, const tl_index **x, const timeline_asked *a, const http_req *rq,
                   const char *key);
/* Writes a number as a string, because it can exceed the precision of JavaScript numbers. */
void timeline_put_whole(vp_json *j, const char *key, int64_t n);
/* Writes "start_ps" and "dur_ps" into an open object. */
void timeline_put_span(vp_json *j, int64_t from_ps, int64_t until_ps);
/* Writes "steps": the steps of the report in the trace of a host; `partial` marks steps that
 * statistics ignore (cut, warm-up). Returns the index of the step whose length is nearest to the
 * median of the others, the first of equals; -1: none. */
int64_t timeline_put_steps(vp_json *j, const tl_index *x, const vp_report *r, const char *host);

#endif
