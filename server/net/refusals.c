/* What libmicrohttpd refuses by itself (400, 414, 431, 505: before there is a request that anybody
 * could be asked about) it answers with a page of its own, and it has no hook for the headers that
 * every answer of ours has. It makes that page with its own public function, and asks the dynamic
 * linker for it like everybody else: the program's function of that name comes first. Source:
 * libmicrohttpd 0.9.75, connection.c, transmit_error_response_len, the only place there that calls
 * it. tests/http hold every answer to the headers, so a build of the library that is linked in
 * another way is noticed.
 * Linked into programs only: in somebody else's process, which may use libmicrohttpd itself, the
 * name is not ours to take. Nothing of ours calls it. */
#include "server/net/request.h"

__attribute__((visibility("default"))) struct MHD_Response *
MHD_create_response_from_buffer(size_t size, void *buffer, enum MHD_ResponseMemoryMode mode)
{
    /* The pages are constants of the library: it never asks for a copy. */
    struct MHD_Response *r =
        mode == MHD_RESPMEM_PERSISTENT ? http_constant_response(buffer, size) : NULL;
    http_add(&r, "Content-Type", "text/html; charset=utf-8");
    http_add(&r, "Cache-Control", "no-store");
    http_add(&r, "Cross-Origin-Resource-Policy", "same-origin");
    http_add_policy(&r);
    return r;
}
