#include "server/net/request/handler.h"

#include <poll.h>
#include <string.h>

#include "server/net/request/metrics.h"
#include "server/net/request/request.h"

void *http_ctx(const http_req *rq)
{
    return rq->serving->ctx;
}

bool http_is_post(const http_req *rq)
{
    return vp_str_eq(rq->head.method, VP_STR("POST"));
}

const char *http_param(const http_req *rq, size_t i)
{
    return i < rq->param_count ? rq->target.segments[rq->param_segment[i]] : NULL;
}

const char *http_query(const http_req *rq, const char *key)
{
    return http_target_query(&rq->target, key);
}

const char *http_query_at(const http_req *rq, const char *key, size_t i)
{
    const http_target *t = &rq->target;
    for (size_t k = 0; k < t->query_count; k++)
        if (!strcmp(t->query[k].key, key) && i-- == 0)
            return t->query[k].value;
    return NULL;
}

const char *http_header(const http_req *rq, const char *name)
{
    /* The guard rejected NULs inside values, and libmicrohttpd terminates each with one. */
    return http_head_get(&rq->head, name).p;
}

const char *http_base_url(const http_req *rq)
{
    return rq->base_url;
}

const char *http_root(const http_req *rq)
{
    static const char up[] = "../../../../../../../../../../../..";
    size_t depth = rq->target.segment_count;
    depth -= depth && !rq->target.trailing_slash;
    if (!depth || 3 * depth > sizeof up)
        return ".";
    return up + sizeof up - 3 * depth;
}

uint16_t http_port(const http_req *rq)
{
    return rq->serving->policy.port;
}

vp_str http_body(const http_req *rq)
{
    return vp_buf_view(&rq->body);
}

void http_put_metrics(const http_req *rq, vp_buf *b)
{
    vp_buf_printf(b,
                  "# HELP view_profile_http_in_flight Requests in progress, including this one.\n"
                  "# TYPE view_profile_http_in_flight gauge\n"
                  "view_profile_http_in_flight %d\n",
                  atomic_load(&rq->serving->active));
    http_metrics_put(rq->serving->metrics, b);
}

bool http_client_left(const http_req *rq)
{
    struct pollfd at = {.fd = rq->fd, .events = POLLRDHUP};
    return poll(&at, 1, 0) > 0 && at.revents & (POLLRDHUP | POLLHUP | POLLERR);
}
