/* The time range at which a hand-off to Perfetto opens: the range of the query, else the range of
 * device activity if a cached report has it. */
#ifndef VP_ROUTES_HANDOFF_VIEW_H
#define VP_ROUTES_HANDOFF_VIEW_H

#include "server/routes/site/site_query.h"
#include "trace/export/link.h"

/* Parses `at` of the query, START..END in ns of the host's file, half-open; VP_EARG. Does not wait
 * for an analysis: without a cached report the whole trace is shown. */
int handoff_view(ex_view *v, const http_req *rq, const cat_session *s, const cat_host *host);

#endif
