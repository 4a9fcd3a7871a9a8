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
    HTTP_FOLLOWS = 1, /* redirects, of a request without a body */
    HTTP_DIRECT = 2,  /* no proxy, and a short wait: a metadata service beside this machine */
    HTTP_ONCE = 4,    /* never tried again */
};

/* Ceilings of an answer that is held, and of what is looked at in one that says what is wrong. */
#define HTTP_ANSWER_MAX (32u << 20)
#define HTTP_SAID_MAX (16u << 10)

struct http_call;
/* Adds what only the moment can know, a signature, before each try. */
typedef int http_authorize(void *authority, struct http_call *c);
/* Up to n bytes of a body as they come: how many (0: that was all) or a failure. */
typedef long http_more(void *ctx, char *p, size_t n);

typedef struct http_call {
    fetch_ask *ask; /* when it is abandoned, so is the call; NULL: never */
    const char *method;
    char *url;
    char *user, *password; /* that stood in the url; NULL: none */
    unsigned flags;
    vp_buf headers;   /* lines, a NUL behind each */
    vp_buf signature; /* the same, of one try */
    http_authorize *authorize;
    void *authority;
    vp_str body;     /* sent with PUT and POST */
    http_more *more; /* or this, once; body_n -1: unknown */
    int64_t body_n;
    vp_write_fn *write; /* for the body of a 2xx response; NULL: it is stored in `answer` */
    void *ctx;

    long status;                         /* the last; 0: none came */
    int64_t length, first, total;        /* of the body, and by Content-Range; -1: unknown */
    int64_t mtime_ns, server_s, retry_s; /* Last-Modified; Date; Retry-After; 0: unknown */
    char etag[256], kind[64], location[2048], region[64], generation[32];
    bool refused_host; /* where a redirect led */
    vp_buf answer;     /* of 2xx without write, else what was said about a failure */

    /* The transport's own. */
    http_origin *origin;
    CURL *easy;
    int failed;      /* of write, more or authorize */
    bool silent;     /* the last try ended because nothing came for too long */
    int64_t written; /* given to write by this try and those before */
    int near;        /* http_nearness that may be connected to besides HTTP_ELSEWHERE */
    bool is_redirected, is_guarded, is_elsewhere, is_unset;
    int64_t looked_ms;
    char curl_says[CURL_ERROR_SIZE];
} http_call;

/* VP_EARG: no http(s) address. After a failure, too, http_end is called. */
int http_begin(http_call *c, fetch_ask *a, const char *method, vp_str url);
void http_end(http_call *c);
int http_put_header(http_call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* For an authority: a header of this try. */
int http_sign(http_call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* 0: an answer came, whatever its status. VP_EREMOTE; VP_EREFUSED: by TLS or where a redirect led;
 * VP_ECANCELLED; what write, more and authorize returned. */
int http_perform(http_call *c);
/* The same, where any status but 2xx is a failure (http_failure). */
int http_succeed(http_call *c);
/* Whether a failure of a read passes, so that it may go on where it ended. */
bool http_may_go_on(const http_call *c, int rc);

#endif
