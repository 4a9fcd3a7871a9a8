#include "server/net/answer/check.h"

#ifdef VP_CHECK_ANSWERS

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/net/answer/response.h"
#include "server/net/request/request.h"

static void demand_policy(const http_req *rq, bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "response violates the policy: %s: status %u for %.*s\n", what, rq->status,
            VP_STR_ARG(rq->head.target));
    abort();
}

static bool has_response_header(const struct MHD_Response *r, const char *name)
{
    return MHD_get_response_header((struct MHD_Response *)(uintptr_t)r, name) != NULL;
}

static bool header_equals(const struct MHD_Response *r, const char *name, const char *value)
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
    demand_policy(rq, header_equals(r, "X-Content-Type-Options", "nosniff"), "nosniff");
    demand_policy(rq, has_response_header(r, "Content-Security-Policy"), "Content-Security-Policy");
    demand_policy(rq, header_equals(r, "Referrer-Policy", "no-referrer"), "Referrer-Policy");
    demand_policy(rq, has_response_header(r, "Permissions-Policy"), "Permissions-Policy");
    demand_policy(rq, has_response_header(r, "Cross-Origin-Opener-Policy"),
                  "Cross-Origin-Opener-Policy");
    demand_policy(rq, has_response_header(r, "Cache-Control"), "Cache-Control");
    demand_policy(rq, is_bare(rq->status) || has_response_header(r, "Content-Type"),
                  "Content-Type");
    demand_policy(rq, has_response_header(r, "Access-Control-Allow-Origin") == (cors && listed),
                  "Access-Control-Allow-Origin");
    demand_policy(rq,
                  has_response_header(r, "Access-Control-Allow-Origin") ||
                      header_equals(r, "Cross-Origin-Resource-Policy", "same-origin"),
                  "Cross-Origin-Resource-Policy");
    demand_policy(rq, !has_response_header(r, "Access-Control-Allow-Credentials"), "credentials");
    demand_policy(rq, !cors || has_response_header(r, "Vary"), "Vary");
    demand_policy(rq,
                  !header_equals(r, "Content-Encoding", "gzip") || has_response_header(r, "Vary"),
                  "Vary of a coding");
    demand_policy(rq, rq->status != 405 || has_response_header(r, "Allow"), "Allow");
}

#else

void http_check_answer(const http_req *rq, const struct MHD_Response *r)
{
    (void)rq;
    (void)r;
}

#endif
