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

/* Of gRPC's status codes, those that mean something here. */
enum { GRPC_OK = 0, GRPC_DEADLINE = 4, GRPC_UNIMPLEMENTED = 12, GRPC_NO_STATUS = -1 };

typedef struct grpc_call {
    CURL *easy;
    struct curl_slist *headers;
    vp_buf request;
    vp_write_fn *write; /* the body as it comes, gRPC's frame included */
    void *ctx;
    int failed;         /* what write returned */
    int64_t body_bytes; /* so far */
    int status;         /* of gRPC; GRPC_NO_STATUS: none came */
    bool is_grpc;       /* by its content type */
    char message[240];  /* with its status; printable */
    char curl_says[CURL_ERROR_SIZE];
} grpc_call;

/* Prepares POST /tensorflow.ProfilerService/METHOD to HOST:PORT. The server is told to give up
 * after timeout_ms; what else bounds the call is up to its owner. After a failure, too, it is
 * closed. VP_EARG: no HOST:PORT; VP_ENOMEM. */
int grpc_call_open(grpc_call *c, vp_str target, const char *method, vp_str message,
                   int64_t timeout_ms, vp_write_fn *write, void *ctx);
void grpc_call_close(grpc_call *c);
/* What came of it, when it was performed: 0, or a failure in words. VP_EREMOTE with status
 * GRPC_DEADLINE is one of time. */
int grpc_call_verdict(grpc_call *c, CURLcode code);
/* For errors that only curl tells: the status that a time-out has. */
int64_t grpc_call_status(const grpc_call *c, CURLcode code);

#endif
