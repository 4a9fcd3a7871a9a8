/* Large files as answers, handed to the kernel on the thread of the loop. */
#ifndef VP_NET_LARGE_H
#define VP_NET_LARGE_H

#include <stdint.h>

#include "server/net/request/libmicrohttpd.h"

#include "server/net/request/handler.h"

/* Bytes first to end (not included) of a file, whose descriptor is taken, sent in large pieces; the
 * connection ends with them. NULL, and perhaps *fd still open, when out of memory. */
struct MHD_Response *http_large_response(http_req *rq, int *fd, int64_t first, int64_t end);

#endif
