#include "server/net/request/request_end.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "server/net/request/libmicrohttpd.h"

#include "server/net/request/access_log.h"
#include "server/net/request/metrics.h"
#include "server/net/request/request.h"
#include "trace/base/mem.h"

static int64_t ns_since(const struct timespec *start)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)(t.tv_sec - start->tv_sec) * 1000000000 + t.tv_nsec - start->tv_nsec;
}

static int64_t request_unix_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The address of the peer; never from a header. */
static void put_remote_address(char *out, size_t cap, struct MHD_Connection *conn)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *a = info ? info->client_addr : NULL;
    snprintf(out, cap, "unix");
    if (a && a->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)a)->sin_addr, out,
                  (socklen_t)cap);
    else if (a && a->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, out,
                  (socklen_t)cap);
}

static void log_request(const http_req *rq, int64_t bytes, int64_t took_ns)
{
    char remote[INET6_ADDRSTRLEN];
    put_remote_address(remote, sizeof remote, rq->conn);
    access_entry e = {.unix_ns = request_unix_ns(),
                      .took_ns = took_ns,
                      .remote = remote,
                      .method = rq->head.method,
                      .target = vp_str_of(rq->uri),
                      .version = rq->head.version,
                      .referer = http_head_get(&rq->head, "Referer"),
                      .agent = http_head_get(&rq->head, "User-Agent"),
                      .route = rq->route ? rq->route->pattern : NULL,
                      .status = rq->status,
                      .bytes = bytes};
    access_log_put(rq->serving->log, &e);
}

static void count_request(const http_req *rq, bool whole)
{
    const http_serving *s = rq->serving;
    bool has_body = !vp_str_eq(rq->head.method, VP_STR("HEAD"));
    int64_t took = ns_since(&rq->start), bytes = has_body ? (int64_t)rq->body_bytes : 0;
    http_metrics_add(s->metrics, rq->route, rq->status, whole, bytes, took);
    if (s->log)
        log_request(rq, whole ? bytes : -1, took);
}

void http_end_request(http_req *rq, bool whole)
{
    if (rq->phase != HTTP_NEW)
        atomic_fetch_sub(&rq->serving->active, 1);
    count_request(rq, whole);
    if (rq->response)
        MHD_destroy_response(rq->response);
    vp_buf_free(&rq->body);
    vp_free(rq->uri);
    vp_free(rq);
}

void http_forget(http_req *rq)
{
    rq->head =
        (http_head){.field_count = 0}; /* libmicrohttpd has freed the strings of the fields */
    http_end_request(rq, false);
}
