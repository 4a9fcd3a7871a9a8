#include "server/net/request/route.h"

#include <string.h>

#include "server/net/request/request.h"

/* Takes the next segment of a pattern ("/a/{}/" has "a" and "{}"); false at its end. */
static bool next_part(vp_str *pattern, vp_str *part)
{
    *pattern = vp_str_skip(*pattern, 1);
    if (!pattern->n)
        return false;
    size_t n = 0;
    while (n < pattern->n && pattern->p[n] != '/')
        n++;
    *part = vp_str_head(*pattern, n);
    *pattern = vp_str_skip(*pattern, n);
    return true;
}

static bool request_matches_route(http_req *rq, const http_route *route)
{
    vp_str pattern = vp_str_of(route->pattern), part;
    size_t i = 0;
    rq->param_count = 0;
    while (next_part(&pattern, &part)) {
        if (i == rq->target.segment_count)
            return false;
        if (vp_str_eq(part, VP_STR("{}")))
            rq->param_segment[rq->param_count++] = i;
        else if (!vp_str_eq(part, vp_str_of(rq->target.segments[i])))
            return false;
        i++;
    }
    return i == rq->target.segment_count;
}

static bool wants_slash(const http_route *route)
{
    size_t n = strlen(route->pattern);
    return n > 1 && route->pattern[n - 1] == '/';
}

static const char *allow_of(const http_route *route)
{
    if (route->flags & HTTP_CORS)
        return "GET, HEAD, OPTIONS";
    if (route->methods == HTTP_POST)
        return "POST";
    return route->methods & HTTP_POST ? "GET, HEAD, POST" : "GET, HEAD";
}

static bool method_fits(const http_req *rq, const http_route *route)
{
    vp_str m = rq->head.method;
    if (vp_str_eq(m, VP_STR("GET")) || vp_str_eq(m, VP_STR("HEAD")))
        return route->methods & HTTP_GET;
    if (vp_str_eq(m, VP_STR("POST")))
        return route->methods & HTTP_POST;
    return vp_str_eq(m, VP_STR("OPTIONS")) && (route->flags & HTTP_CORS);
}

int http_route_find(http_req *rq, const char **allow)
{
    for (const http_route *r = rq->serving->routes; r->pattern; r++) {
        if (!request_matches_route(rq, r))
            continue;
        if (wants_slash(r) != rq->target.trailing_slash && rq->target.segment_count)
            return wants_slash(r) ? 308 : 404;
        rq->route = r;
        *allow = allow_of(r);
        return method_fits(rq, r) ? 0 : 405;
    }
    return 404;
}
