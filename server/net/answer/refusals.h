/* Headers on what libmicrohttpd refuses by itself (400, 413, 414, 431, 505) before there is a
 * request that our callbacks are asked about. It answers with a page of its own, and has no hook
 * for the headers that every answer of ours has. But it makes and queues that page with its own
 * public functions, which it calls through the dynamic linker, and the linker finds functions of
 * the program with the same names first: refusals_names.c has them, and calls these two. Source:
 * libmicrohttpd 0.9.75, connection.c, transmit_error_response_len, the only place there that calls
 * them.
 *
 * What it refuses once the whole head is there (Content-Length, Cookie: parse_connection_headers)
 * it would send with two header blocks: MHD_connection_handle_idle goes on as if nothing were
 * prepared yet, and prepares the same answer again. Such an answer is sent from here, and the
 * socket is then shut down for writing: libmicrohttpd finds that out when it sends its own answer,
 * and closes. (It must not be told that its answer cannot be queued: it would read on in memory
 * that it has given back.)
 *
 * tests/http check every answer for the headers, so a libmicrohttpd that is linked in another way
 * is noticed. */
#ifndef VP_NET_REFUSALS_H
#define VP_NET_REFUSALS_H

#include "server/net/request/libmicrohttpd.h"

/* As MHD_create_response_from_buffer: the page with the headers of ours, which the calling thread's
 * loop is about to queue. */
struct MHD_Response *http_refusal_page(size_t size, void *buffer, enum MHD_ResponseMemoryMode mode);
/* As MHD_queue_response, of that page and of every other answer. */
enum MHD_Result http_refusal_queue(struct MHD_Connection *conn, unsigned status,
                                   struct MHD_Response *r);

#endif
