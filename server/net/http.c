#include "server/net/http.h"

#include "server/net/request.h"

void *http_ctx(const http_req *rq)
{
    return rq->server->ctx;
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

const char *http_header(const http_req *rq, const char *name)
{
    /* The guard refused NULs inside values, and libmicrohttpd puts one behind each. */
    return http_head_get(&rq->head, name).p;
}

const char *http_base_url(const http_req *rq)
{
    return rq->base_url;
}

uint16_t http_port(const http_req *rq)
{
    return rq->server->policy.port;
}

vp_str http_body(const http_req *rq)
{
    return vp_buf_view(&rq->body);
}

bool http_cancelled(const http_req *rq)
{
    return atomic_load(&rq->server->cancelled);
}

uint16_t http_server_port(const http_server *s)
{
    return s->policy.port;
}

const char *http_server_url(const http_server *s)
{
    return s->url;
}
