/* /trace/ID/all.pftrace and /trace/ID/all.tar.gz: all hosts of a run in one file. */
#ifndef VP_ROUTES_TRACE_HOSTS_H
#define VP_ROUTES_TRACE_HOSTS_H

#include "server/routes/site/site_query.h"

/* Their names; a host with such a name hides them. */
#define TRACE_HOSTS_PFTRACE "all.pftrace"
#define TRACE_HOSTS_BUNDLE "all.tar.gz"

/* True if `name` is one of them. */
bool trace_hosts_is(const cat_session *s, const char *name);
/* True if a host can be exported as .pftrace, and none has the name of the merged file. */
bool trace_hosts_exact(const cat_session *s);
/* Sends it. Waits for the report of the run, which is needed to align the clocks of its hosts. */
int trace_hosts_send(http_req *rq, catalog *c, const cat_session *s, const char *name);

#endif
