/* Where in the trace a hand-off to Perfetto opens: at the time that the query names, else at the
 * one in which the host's devices work, as far as a report is there that knows it. */
#ifndef VP_ROUTES_HANDOFF_VIEW_H
#define VP_ROUTES_HANDOFF_VIEW_H

#include "server/routes/site/site_query.h"
#include "trace/export/link.h"

/* `at` of the query, START..END in ns of the host's file, half-open; VP_EARG. Never waits for an
 * analysis: without a report the whole trace is shown. */
int handoff_view(ex_view *v, const http_req *rq, const cat_session *s, const cat_host *host);

#endif
