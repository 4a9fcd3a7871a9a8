/* Large file responses, sent by the kernel from the loop thread. */
#ifndef VP_NET_LARGE_H
#define VP_NET_LARGE_H

#include <stdint.h>

#include "server/net/request/libmicrohttpd.h"

#include "server/net/request/handler.h"

/* A response with the bytes from first to end (exclusive) of a file, sent in large pieces; the
 * connection is closed afterwards. Takes ownership of the descriptor. NULL if out of memory; *fd
 * may still be open then. */
struct MHD_Response *http_large_response(http_req *rq, int *fd, int64_t first, int64_t end);

#endif
