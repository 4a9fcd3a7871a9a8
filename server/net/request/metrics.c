#include "server/net/request/metrics.h"

#include <stdatomic.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Every status that is sent; the last stands for others. */
static const unsigned codes[] = {200, 202, 204, 206, 303, 304, 308, 400, 401, 403, 404,
                                 405, 406, 409, 411, 412, 413, 414, 415, 416, 417, 421,
                                 422, 429, 431, 500, 501, 502, 503, 505, 507, 0};
#define CODES (sizeof codes / sizeof *codes)

typedef struct row {
    const char *route;
    _Atomic uint64_t requests[CODES];
} row;

struct http_metrics {
    row *rows; /* one per pattern of the table, then "none" */
    const http_route *routes;
    size_t count;
    _Atomic uint64_t aborted, bytes, took_ns;
};

/* Routes with the same pattern (GET and POST) share the row of the first one. */
static size_t metrics_row_of(const http_metrics *m, const http_route *route)
{
    for (size_t i = 0; route && i < m->count; i++)
        if (&m->routes[i] == route || !strcmp(m->routes[i].pattern, route->pattern))
            return i;
    return m->count;
}

int http_metrics_new(http_metrics **out, const http_route *routes)
{
    http_metrics *m = vp_calloc(1, sizeof *m);
    size_t n = 0;
    while (routes[n].pattern)
        n++;
    if (!m || !(m->rows = vp_calloc(n + 1, sizeof *m->rows))) {
        vp_free(m);
        return vp_no_memory();
    }
    m->routes = routes;
    m->count = n;
    for (size_t i = 0; i < n; i++)
        m->rows[i].route = routes[i].pattern;
    m->rows[n].route = "none";
    *out = m;
    return 0;
}

void http_metrics_free(http_metrics *m)
{
    if (m)
        vp_free(m->rows);
    vp_free(m);
}

static size_t code_of(unsigned status)
{
    size_t i = 0;
    while (codes[i] && codes[i] != status)
        i++;
    return i;
}

void http_metrics_add(http_metrics *m, const http_route *route, unsigned status, bool whole,
                      int64_t bytes, int64_t took_ns)
{
    row *r = &m->rows[metrics_row_of(m, route)];
    atomic_fetch_add_explicit(&r->requests[code_of(status)], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&m->took_ns, (uint64_t)took_ns, memory_order_relaxed);
    if (whole)
        atomic_fetch_add_explicit(&m->bytes, (uint64_t)bytes, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&m->aborted, 1, memory_order_relaxed);
}

static uint64_t load_metric(const _Atomic uint64_t *v)
{
    return atomic_load_explicit(v, memory_order_relaxed);
}

static uint64_t put_requests(const http_metrics *m, vp_buf *b)
{
    uint64_t all = 0;
    vp_buf_puts(b, "# HELP view_profile_http_requests_total Finished requests by route and status; "
                   "code 0: rejected before the request was read.\n"
                   "# TYPE view_profile_http_requests_total counter\n");
    for (size_t i = 0; i <= m->count; i++)
        for (size_t k = 0; k < CODES; k++) {
            uint64_t n = load_metric(&m->rows[i].requests[k]);
            all += n;
            if (n)
                vp_buf_printf(b,
                              "view_profile_http_requests_total{route=\"%s\",code=\"%u\"} %llu\n",
                              m->rows[i].route, codes[k], (unsigned long long)n);
        }
    return all;
}

void http_metrics_put(const http_metrics *m, vp_buf *b)
{
    uint64_t all = put_requests(m, b), ns = load_metric(&m->took_ns);
    vp_buf_printf(
        b,
        "# HELP view_profile_http_request_seconds Time from the request line to the last byte "
        "passed to the kernel.\n"
        "# TYPE view_profile_http_request_seconds summary\n"
        "view_profile_http_request_seconds_sum %llu.%09llu\n"
        "view_profile_http_request_seconds_count %llu\n"
        "# HELP view_profile_http_response_bytes_total Body bytes of complete responses.\n"
        "# TYPE view_profile_http_response_bytes_total counter\n"
        "view_profile_http_response_bytes_total %llu\n"
        "# HELP view_profile_http_aborted_total Responses that were cut off, usually by the "
        "client.\n"
        "# TYPE view_profile_http_aborted_total counter\n"
        "view_profile_http_aborted_total %llu\n",
        (unsigned long long)(ns / 1000000000), (unsigned long long)(ns % 1000000000),
        (unsigned long long)all, (unsigned long long)load_metric(&m->bytes),
        (unsigned long long)load_metric(&m->aborted));
}
