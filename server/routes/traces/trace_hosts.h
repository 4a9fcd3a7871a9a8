/* /trace/ID/all.pftrace and /trace/ID/all.tar.gz: all hosts of a session in one file. */
#ifndef VP_ROUTES_TRACE_HOSTS_H
#define VP_ROUTES_TRACE_HOSTS_H

#include "server/routes/site/site_query.h"

/* What they are called; a host of such a name hides them. */
#define TRACE_HOSTS_PFTRACE "all.pftrace"
#define TRACE_HOSTS_BUNDLE "all.tar.gz"

/* Whether `name` is one of them. */
bool trace_hosts_is(const cat_session *s, const char *name);
/* Whether any host has what a .pftrace is made of, and none has the name of that of all. */
bool trace_hosts_exact(const cat_session *s);
/* Answers it. Asks for the session's report, by which the clocks of its hosts are aligned; the
 * answer begins when that is made. */
int trace_hosts_send(http_req *rq, catalog *c, const cat_session *s, const char *name);

#endif
