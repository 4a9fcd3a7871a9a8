/* The callbacks of libmicrohttpd for a request, and its execution on a worker. */
#ifndef VP_NET_DISPATCH_H
#define VP_NET_DISPATCH_H

#include "server/net/request/libmicrohttpd.h"

#include "server/net/request/handler.h"

/* Callbacks of libmicrohttpd; their closure is the http_serving. */
void *http_on_uri(void *serving, const char *uri, struct MHD_Connection *conn);
enum MHD_Result http_on_request(void *serving, struct MHD_Connection *conn, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_n, void **state);
void http_on_completed(void *serving, struct MHD_Connection *conn, void **state,
                       enum MHD_RequestTerminationCode why);
/* Runs the handler of a slow request on a worker, then resumes the connection. */
void http_run_job(http_req *rq);

#endif
