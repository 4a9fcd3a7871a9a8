/* One unary gRPC call without encryption: HTTP/2 with prior knowledge, one POST, the status in the
 * trailers. The caller performs the easy handle of libcurl, alone or in a multi handle, and frees
 * the call. Proxies and redirects are not used. */
#ifndef VP_FETCH_GRPC_CALL_H
#define VP_FETCH_GRPC_CALL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/buf.h"

/* The status codes of gRPC that are handled. */
enum { GRPC_OK = 0, GRPC_DEADLINE = 4, GRPC_UNIMPLEMENTED = 12, GRPC_NO_STATUS = -1 };

typedef struct grpc_call {
    CURL *easy;
    struct curl_slist *headers;
    vp_buf request;
    vp_write_fn *write; /* callback for body bytes as they arrive, with the gRPC frame header */
    void *ctx;
    int failed;         /* result of `write` */
    int64_t body_bytes; /* so far */
    int status;         /* gRPC status; GRPC_NO_STATUS: none received */
    bool is_grpc;       /* the content type is that of gRPC */
    char message[240];  /* message of the status; printable */
    char curl_says[CURL_ERROR_SIZE];
} grpc_call;

/* Prepares POST /tensorflow.ProfilerService/METHOD to HOST:PORT. timeout_ms is sent to the server
 * as the deadline; the caller sets its own time limit. The call must be closed even after a
 * failure. VP_EARG: no HOST:PORT; VP_ENOMEM. */
int grpc_call_open(grpc_call *c, vp_str target, const char *method, vp_str message,
                   int64_t timeout_ms, vp_write_fn *write, void *ctx);
void grpc_call_close(grpc_call *c);
/* Returns the result of a performed call: 0, or a recorded failure. VP_EREMOTE with status
 * GRPC_DEADLINE: timed out. */
int grpc_call_verdict(grpc_call *c, CURLcode code);
/* The status for a time-out, for errors that only curl reports. */
int64_t grpc_call_status(const grpc_call *c, CURLcode code);

#endif
