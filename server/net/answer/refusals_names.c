/* The two names of libmicrohttpd's that refusals.h speaks of. Only programs link this file: in
 * somebody else's process, which may use libmicrohttpd itself, the names are not ours to take.
 * Nothing of ours calls MHD_create_response_from_buffer. */
#include "server/net/answer/refusals.h"

#undef MHD_queue_response

__attribute__((visibility("default"))) struct MHD_Response *
MHD_create_response_from_buffer(size_t size, void *buffer, enum MHD_ResponseMemoryMode mode)
{
    return http_refusal_page(size, buffer, mode);
}

__attribute__((visibility("default"))) enum MHD_Result
MHD_queue_response(struct MHD_Connection *conn, unsigned status, struct MHD_Response *r)
{
    return http_refusal_queue(conn, status, r);
}
