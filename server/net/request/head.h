/* Whether libmicrohttpd has read the head of a request as it was sent. */
#ifndef VP_NET_HEAD_H
#define VP_NET_HEAD_H

#include "server/net/request/handler.h"

/* false when bytes of the head are neither in head.fields nor in its first line: what libmicrohttpd
 * left out or cut without a word. */
bool http_head_is_whole(const http_req *rq, const char *method, const char *version);

#endif
