#include "server/net/answer/check.h"

#ifdef VP_CHECK_ANSWERS

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/net/answer/response.h"
#include "server/net/request/request.h"

static void demand(const http_req *rq, bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "an answer is against the policy: %s: status %u for %.*s\n", what, rq->status,
            VP_STR_ARG(rq->head.target));
    abort();
}

static bool has(const struct MHD_Response *r, const char *name)
{
    return MHD_get_response_header((struct MHD_Response *)(uintptr_t)r, name) != NULL;
}

static bool says(const struct MHD_Response *r, const char *name, const char *value)
{
    const char *v = MHD_get_response_header((struct MHD_Response *)(uintptr_t)r, name);
    return v && strcmp(v, value) == 0;
}

static bool is_bare(unsigned status)
{
    return status == 204 || status == 416 || (status >= 300 && status < 400);
}

void http_check_answer(const http_req *rq, const struct MHD_Response *r)
{
    bool cors = http_may_be_read_elsewhere(rq, (int)rq->status);
    bool listed = rq->verdict.origin == GUARD_LISTED_ORIGIN;
    demand(rq, says(r, "X-Content-Type-Options", "nosniff"), "nosniff");
    demand(rq, has(r, "Content-Security-Policy"), "Content-Security-Policy");
    demand(rq, says(r, "Referrer-Policy", "no-referrer"), "Referrer-Policy");
    demand(rq, has(r, "Permissions-Policy"), "Permissions-Policy");
    demand(rq, has(r, "Cross-Origin-Opener-Policy"), "Cross-Origin-Opener-Policy");
    demand(rq, has(r, "Cache-Control"), "Cache-Control");
    demand(rq, is_bare(rq->status) || has(r, "Content-Type"), "Content-Type");
    demand(rq, has(r, "Access-Control-Allow-Origin") == (cors && listed),
           "Access-Control-Allow-Origin");
    demand(rq,
           has(r, "Access-Control-Allow-Origin") ||
               says(r, "Cross-Origin-Resource-Policy", "same-origin"),
           "Cross-Origin-Resource-Policy");
    demand(rq, !has(r, "Access-Control-Allow-Credentials"), "credentials");
    demand(rq, !cors || has(r, "Vary"), "Vary");
    demand(rq, !says(r, "Content-Encoding", "gzip") || has(r, "Vary"), "Vary of a coding");
    demand(rq, rq->status != 405 || has(r, "Allow"), "Allow");
}

#else

void http_check_answer(const http_req *rq, const struct MHD_Response *r)
{
    (void)rq;
    (void)r;
}

#endif
