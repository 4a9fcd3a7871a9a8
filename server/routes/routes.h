/* The table of routes {methods, pattern, handler}, and the handlers by file: one file per family,
 * pages_*.c for HTML and hand-off. */
#ifndef VP_ROUTES_ROUTES_H
#define VP_ROUTES_ROUTES_H

#include "server/routes/site/site.h"

/* The table of routes; it ends with a NULL pattern. Tests call every method of every route. */
const http_route *site_routes(void);

http_handler route_static;                                           /* assets.c */
http_handler route_health, route_ready, route_metrics, route_rescan; /* operations.c */
http_handler route_sessions_json, route_report_json, route_ops_json,
    route_findings_json;                                                /* api.c */
http_handler route_trace_json, route_trace_raw;                         /* traces.c */
http_handler page_index, page_session, page_perfetto, page_tensorboard; /* pages_*.c */
http_handler page_compare, page_compare_form, route_compare_json;       /* pages_compare.c */
http_handler page_op, route_op_json, route_ops_csv;                     /* pages_session.c */
http_handler page_headline, route_state_json;     /* data for app.js: pages_index.c */
http_handler route_live, route_live_capture;      /* capture_live.c */
http_handler route_capture, route_capture_cancel; /* capture_net.c */
/* timeline_api.c, timeline_event.c, timeline_page.c */
http_handler route_tracks, route_slices, route_timeline_marks, route_timeline_event,
    route_timeline_search, route_timeline_range, page_timeline;
http_handler page_compare_timeline, route_compare_timeline; /* compare_timeline*.c */
http_handler route_extract;                                 /* extraction.c */

#endif
