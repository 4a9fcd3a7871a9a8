#include "server/net/dispatch.h"

#include <string.h>
#include <time.h>

#include "server/net/answer/check.h"
#include "server/net/answer/memo.h"
#include "server/net/answer/reply.h"
#include "server/net/answer/response.h"
#include "server/net/connection/conn.h"
#include "server/net/connection/work.h"
#include "server/net/request/head.h"
#include "server/net/request/request.h"
#include "server/net/request/request_end.h"
#include "server/net/request/route.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* In ms: time limit for a complete body. */
#define BODY_MS 30000

/* libmicrohttpd would store a record per query parameter in the memory of the head, which a query
 * of 3,000 "&" would exhaust. The records are not needed, because path.c parses the query.
 * Therefore the byte after the '?' is set to NUL, and libmicrohttpd finds no parameter. (1.0 reads
 * by length, and has a limit.) */
static void hide_query(const char *uri)
{
    char *mark = strchr((char *)(uintptr_t)uri, '?');
    if (mark && mark[1] && !strncmp(MHD_get_version(), "0.", 2))
        mark[1] = 0;
}

void *http_on_uri(void *serving, const char *uri, struct MHD_Connection *conn)
{
    http_conn *c = http_conn_of(conn);
    http_req *rq = c ? vp_calloc(1, sizeof *rq) : NULL;
    if (!rq)
        return NULL;
    rq->serving = serving;
    rq->conn = conn;
    rq->connection = c;
    rq->fd = c->fd;
    clock_gettime(CLOCK_MONOTONIC, &rq->start);
    rq->uri = vp_strndup(uri, VP_HTTP_TARGET_MAX + 1);
    rq->uri_at = uri;
    rq->uri_n = strlen(uri);
    vp_buf_init(&rq->body, VP_HTTP_BODY_MAX);
    if (!rq->uri) {
        vp_free(rq);
        return NULL;
    }
    hide_query(uri);
    http_conn_busy(c, rq);
    return rq;
}

void http_on_completed(void *serving, struct MHD_Connection *conn, void **state,
                       enum MHD_RequestTerminationCode why)
{
    http_req *rq = *state;
    (void)serving;
    (void)conn;
    if (!rq)
        return;
    *state = NULL;
    http_conn_idle(rq->connection);
    http_end_request(rq, why == MHD_REQUEST_TERMINATED_COMPLETED_OK);
}

/* ---- The head ----------------------------------------------------------------------------- */

static enum MHD_Result add_field(void *ctx, enum MHD_ValueKind kind, const char *key, size_t key_n,
                                 const char *value, size_t value_n)
{
    http_head *h = ctx;
    (void)kind;
    if (h->field_count == HTTP_HEADERS_MAX) {
        h->too_many = true;
        return MHD_NO;
    }
    h->fields[h->field_count++] =
        (http_field){{key, key_n}, value ? (vp_str){value, value_n} : VP_STR("")};
    return MHD_YES;
}

static void set_base_url(http_req *rq)
{
    static const char scheme[] = "http://";
    size_t n = rq->verdict.host.n;
    if (n + sizeof scheme > sizeof rq->base_url)
        n = 0;
    memcpy(rq->base_url, scheme, sizeof scheme - 1);
    if (n)
        memcpy(rq->base_url + sizeof scheme - 1, rq->verdict.host.p, n);
}

static void read_request_head(http_req *rq, const char *method, const char *version)
{
    rq->head.method = vp_str_of(method);
    rq->head.version = vp_str_of(version);
    rq->head.target = vp_str_of(rq->uri);
    MHD_get_connection_values_n(rq->conn, MHD_HEADER_KIND, add_field, &rq->head);
    guard_check(&rq->verdict, &rq->serving->policy, &rq->head);
    if (!rq->head.too_many && !http_head_is_whole(rq, method, version))
        rq->verdict = (guard_verdict){400, "malformed request head", .close = true};
    if (!rq->verdict.status)
        set_base_url(rq);
}

/* ---- From the head to an answer ------------------------------------------------------------ */

static int answer_preflight(http_req *rq)
{
    struct MHD_Response *r = http_empty_response();
    http_add(&r, "Access-Control-Allow-Methods", "GET, HEAD, OPTIONS");
    http_add(&r, "Access-Control-Allow-Headers", "Range, If-None-Match");
    http_add(&r, "Access-Control-Max-Age", "600");
    /* Requested by Chromium 98 to 141 (Private Network Access), not by later versions. */
    if (http_header(rq, "Access-Control-Request-Private-Network"))
        http_add(&r, "Access-Control-Allow-Private-Network", "true");
    return http_prepare(rq, 204, r, NULL, NULL);
}

/* The same URL without ?token=, which must not stay in the history or in a Referer. */
static int keep_token(http_req *rq)
{
    vp_str query = rq->verdict.target, pair;
    vp_buf to, cookie;
    char name[32];
    vp_buf_init(&to, VP_HTTP_TARGET_MAX + HTTP_PREFIX_MAX);
    vp_buf_init(&cookie, 512);
    vp_take_until(&query, '?', SIZE_MAX, &pair);
    vp_buf_puts(&to, rq->serving->prefix);
    vp_buf_str(&to, pair);
    size_t k = 0; /* empty pairs are not counted (path.c) */
    for (char sep = '?'; query.n;) {
        vp_take_until(&query, '&', SIZE_MAX, &pair);
        if (!pair.n || !strcmp(rq->target.query[k++].key, "token"))
            continue;
        vp_buf_putc(&to, sep);
        vp_buf_str(&to, pair);
        sep = '&';
    }
    guard_cookie_name(&rq->serving->policy, name, sizeof name);
    vp_buf_printf(&cookie, "%s=%s; Path=%s/; HttpOnly; SameSite=Strict", name,
                  rq->serving->policy.token, rq->serving->prefix);
    struct MHD_Response *r = http_empty_response();
    http_add(&r, "Location", vp_buf_cstr(&to));
    http_add(&r, "Set-Cookie", vp_buf_cstr(&cookie));
    int rc = http_prepare(rq, 303, r, NULL, NULL);
    vp_buf_free(&to);
    vp_buf_free(&cookie);
    return rc;
}

static int with_slash(http_req *rq)
{
    vp_str query = rq->verdict.target, path;
    vp_buf to;
    vp_buf_init(&to, VP_HTTP_TARGET_MAX + HTTP_PREFIX_MAX);
    vp_take_until(&query, '?', SIZE_MAX, &path);
    vp_buf_puts(&to, rq->serving->prefix);
    vp_buf_str(&to, path);
    vp_buf_putc(&to, '/');
    if (query.n) {
        vp_buf_putc(&to, '?');
        vp_buf_str(&to, query);
    }
    struct MHD_Response *r = http_empty_response();
    http_add(&r, "Location", vp_buf_cstr(&to));
    vp_buf_free(&to);
    return http_prepare(rq, 308, r, NULL, NULL);
}

/* A proxy may keep or strip the prefix of the path; both are accepted. true: the target is only the
 * prefix, the root of the site without its slash. */
static bool strip_prefix(http_req *rq)
{
    vp_str prefix = vp_str_of(rq->serving->prefix), t = rq->verdict.target;
    if (!prefix.n || !vp_str_starts(t, prefix))
        return false;
    t = vp_str_skip(t, prefix.n);
    if (t.n && t.p[0] != '/' && t.p[0] != '?')
        return false;
    rq->verdict.target = t;
    return !t.n || t.p[0] == '?';
}

/* True if a link or a form can send it. */
static bool may_navigate(vp_str method)
{
    return vp_str_eq(method, VP_STR("GET")) || vp_str_eq(method, VP_STR("HEAD")) ||
           vp_str_eq(method, VP_STR("POST"));
}

static bool has_page(int status)
{
    return status == 401 || status == 403 || status == 404 || status == 405 || status == 503;
}

/* Browsers get a page; programs, which do not accept HTML, get one line. */
static int refuse_request(http_req *rq, int status, const char *why)
{
    vp_str accept = http_head_get(&rq->head, "Accept");
    bool api = rq->route && (rq->route->flags & HTTP_API);
    bool page = has_page(status) && rq->serving->refused && !api && may_navigate(rq->head.method) &&
                vp_str_find(accept, VP_STR("text/html")) < accept.n;
    return page ? rq->serving->refused(rq, status, why) : http_fail(rq, status, "%s", why);
}

/* Returns 1 if the client is authorized, by token or peer uid. Otherwise the request was rejected
 * or redirected, and the value is to be returned. */
static int identify_client(http_req *rq)
{
    if (!rq->connection->trusted) {
        rq->base_url[0] = 0; /* an unauthorized client */
        return refuse_request(rq, 403,
                              "this server answers only programs of the user who started it; for "
                              "other users, start it with --token-file FILE");
    }
    guard_auth auth = guard_authenticate(&rq->serving->policy, &rq->head,
                                         http_target_query(&rq->target, "token"));
    if (auth == GUARD_DENIED) {
        rq->extra = (http_extra){"WWW-Authenticate", "Bearer"};
        return refuse_request(rq, 401, "token required; use the URL that the server printed");
    }
    return auth == GUARD_BY_QUERY ? keep_token(rq) : 1;
}

/* All checks before the handler. 1: run the handler; otherwise the request was answered. */
static int admit_request(http_req *rq)
{
    const char *why, *allow = NULL;
    if (rq->admitted)
        return 1;
    if (rq->verdict.status)
        return refuse_request(rq, rq->verdict.status, rq->verdict.message);
    vp_str whole = rq->verdict.target;
    bool is_root = strip_prefix(rq);
    int status = http_target_parse(&rq->target, is_root ? whole : rq->verdict.target, &why);
    if (status)
        return http_fail(rq, status, "%s", why);
    if (is_root)
        return with_slash(rq);
    int found = http_route_find(rq, &allow);
    unsigned flags = rq->route ? rq->route->flags : 0;
    bool listed = rq->verdict.origin == GUARD_LISTED_ORIGIN;
    if (rq->route && listed && !(flags & HTTP_CORS))
        return refuse_request(rq, 403, "other web sites can only read traces");
    if (!found && listed && vp_str_eq(rq->head.method, VP_STR("OPTIONS")))
        return answer_preflight(rq);
    if (!(flags & HTTP_OPEN) && (status = identify_client(rq)) != 1)
        return status;
    if (found == 308)
        return with_slash(rq);
    if (found == 405 || (!found && vp_str_eq(rq->head.method, VP_STR("OPTIONS")))) {
        rq->extra = (http_extra){"Allow", allow};
        return refuse_request(rq, 405, "method not allowed");
    }
    if (found)
        return refuse_request(rq, found, "page not found");
    if (http_is_post(rq) && (status = guard_may_change(&rq->verdict, &rq->head, &why)))
        return http_fail(rq, status, "%s", why);
    rq->admitted = true;
    return 1;
}

static void handle_request(http_req *rq)
{
    vp_error_clear();
    if (rq->route->handler(rq) < 0 && !rq->response)
        http_error(rq);
    if (!rq->response)
        http_fail(rq, 500, "no response");
    if (http_is_post(rq))
        http_memo_clear(rq->serving->memo);
}

static enum MHD_Result send_prepared(http_req *rq)
{
    struct MHD_Response *r = rq->response;
    rq->response = NULL;
    if (!r)
        return MHD_NO;
    http_check_answer(rq, r);
    enum MHD_Result ok = MHD_queue_response(rq->conn, rq->status, r);
    if (rq->keep_ms)
        http_memo_keep(rq->serving->memo, rq, r);
    else
        MHD_destroy_response(r);
    return ok;
}

void http_run_job(http_req *rq)
{
    http_conn *c = rq->connection;
    handle_request(rq);
    http_resume(c);
}

static enum MHD_Result start_work(http_req *rq)
{
    http_serving *s = rq->serving;
    if (atomic_load(&s->stopping)) {
        refuse_request(rq, 503, "the server is shutting down");
        return send_prepared(rq);
    }
    rq->phase = HTTP_WORKING;
    MHD_suspend_connection(rq->conn);
    if (!http_pool_submit(s->pool, rq)) {
        refuse_request(rq, 503, "too many requests; try again");
        http_resume(rq->connection);
    }
    return MHD_YES;
}

static enum MHD_Result answer_request(http_req *rq)
{
    enum MHD_Result queued;
    if (rq->overflow)
        http_fail(rq, 413, "request body too large");
    if (rq->overflow || admit_request(rq) != 1)
        return send_prepared(rq);
    if (http_memo_send(rq->serving->memo, rq, &queued))
        return queued;
    if (rq->route->flags & HTTP_SLOW)
        return start_work(rq);
    handle_request(rq);
    return send_prepared(rq);
}

/* A response to libmicrohttpd's first call closes the connection without "100 Continue" for the
 * body; a response to the second call keeps the connection. Therefore responds at once if the
 * framing is ambiguous or an unwanted body is announced. */
static bool refuse_early(http_req *rq)
{
    bool expects = http_head_get(&rq->head, "Expect").p != NULL;
    return (rq->verdict.close || expects) && admit_request(rq) != 1;
}

enum MHD_Result http_on_request(void *serving, struct MHD_Connection *conn, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_n, void **state)
{
    http_req *rq = *state;
    (void)serving;
    (void)conn;
    (void)url;
    if (!rq)
        return MHD_NO;
    switch (rq->phase) {
    case HTTP_NEW:
        http_watch_limit(rq->connection->watched, BODY_MS);
        read_request_head(rq, method, version);
        rq->phase = HTTP_RECEIVING;
        atomic_fetch_add(&rq->serving->active, 1);
        return refuse_early(rq) ? send_prepared(rq) : MHD_YES;
    case HTTP_RECEIVING:
        if (*upload_n) {
            rq->overflow |= vp_buf_put(&rq->body, upload, *upload_n) < 0;
            *upload_n = 0;
            return MHD_YES;
        }
        http_watch_limit(rq->connection->watched, -1);
        return answer_request(rq);
    default:
        return send_prepared(rq);
    }
}
