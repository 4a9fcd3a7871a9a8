/* One HTTP request and its response, for stores. Connections are reused (http_pool.h), temporary
 * failures are retried with growing pauses, and redirects are followed if allowed (http_guard.h),
 * never with credentials to another host. Certificates are always verified. Proxies of the
 * environment are used, except for loopback.
 *
 * Call http_begin, add headers, call http_perform, read the fields of the response, then http_end,
 * which frees everything and wipes secrets. */
#ifndef VP_FETCH_HTTP_CALL_H
#define VP_FETCH_HTTP_CALL_H

#include <curl/curl.h>
#include <stdbool.h>

#include "server/fetch/http/http_pool.h"
#include "server/fetch/question/fetch_answer.h"
#include "trace/base/buf.h"

enum {
    HTTP_FOLLOWS = 1, /* follow redirects; only for requests without a body */
    HTTP_DIRECT = 2,  /* no proxy and a short time-out, for a metadata service on this machine or
                       * link */
    HTTP_ONCE = 4,    /* never tried again */
};

/* Maximum size of a stored response, and of the part of an error response that is parsed. */
#define HTTP_ANSWER_MAX (32u << 20)
#define HTTP_SAID_MAX (16u << 10)

struct http_call;
/* Adds headers that depend on the time, such as a signature, before each try. */
typedef int http_authorize(void *authority, struct http_call *c);
/* Reads up to n bytes of a body. Returns how many (0: end) or a failure. */
typedef long http_more(void *ctx, char *p, size_t n);

typedef struct http_call {
    fetch_ask *ask; /* the call is canceled when this is abandoned; NULL: never */
    const char *method;
    char *url;
    char *user, *password; /* credentials from the URL; NULL: none */
    unsigned flags;
    vp_buf headers;   /* lines, each ended by a NUL */
    vp_buf signature; /* the same, for one try */
    http_authorize *authorize;
    void *authority;
    vp_str body;     /* sent with PUT and POST */
    http_more *more; /* alternative source of the body, read once; body_n -1: unknown */
    int64_t body_n;
    vp_write_fn *write; /* for the body of a 2xx response; NULL: it is stored in `answer` */
    void *ctx;

    long status;                         /* the last HTTP status; 0: no response */
    int64_t length, first, total;        /* size of the body, and of the object by Content-Range;
                                          * -1: unknown */
    int64_t mtime_ns, server_s, retry_s; /* Last-Modified; Date; Retry-After; 0: unknown */
    char etag[256], kind[64], location[2048], region[64], generation[32];
    bool refused_host; /* target of the redirect */
    vp_buf answer;     /* body of a 2xx response if `write` is NULL, else the body of an error
                        * response */

    /* Private to the transport. */
    http_origin *origin;
    CURL *easy;
    int failed;      /* result of write, more or authorize */
    bool silent;     /* the last try ended because no data arrived for too long */
    int64_t written; /* bytes passed to write by this try and by earlier ones */
    int near;        /* http_nearness that is allowed in addition to HTTP_ELSEWHERE */
    bool is_redirected, is_guarded, is_elsewhere, is_unset;
    int64_t looked_ms;
    char curl_says[CURL_ERROR_SIZE];
} http_call;

/* VP_EARG: not an http(s) address. Call http_end even after a failure. */
int http_begin(http_call *c, fetch_ask *a, const char *method, vp_str url);
void http_end(http_call *c);
int http_put_header(http_call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a header of this try; for `authorize`. */
int http_sign(http_call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns 0 if a response was received, with any status. VP_EREMOTE; VP_EREFUSED: by TLS or by the
 * redirect policy; VP_ECANCELLED; or the result of write, more and authorize. */
int http_perform(http_call *c);
/* The same, but any status except 2xx is a failure (http_failure). */
int http_succeed(http_call *c);
/* Returns whether the failure of a read is temporary, so that the read may resume. */
bool http_may_go_on(const http_call *c, int rc);

#endif
