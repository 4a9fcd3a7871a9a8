/* Checks that libmicrohttpd parsed the head of a request as it was sent. */
#ifndef VP_NET_HEAD_H
#define VP_NET_HEAD_H

#include "server/net/request/handler.h"

/* false if bytes of the head are neither in head.fields nor in its first line, which libmicrohttpd
 * skipped silently. */
bool http_head_is_whole(const http_req *rq, const char *method, const char *version);

#endif
