#include "server/net/answer/file_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "server/net/answer/cache.h"
#include "server/net/answer/large.h"
#include "server/net/answer/reply.h"
#include "server/net/answer/response.h"
#include "server/net/request/date.h"
#include "server/net/request/request.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Maximum size of a file that is read into memory instead of being sent with sendfile. */
#define SMALL_FILE (64 << 10)
/* Minimum size of a file that is sent by large.c, which closes the connection afterwards. */
#define LARGE_FILE (4 << 20)
#define NS INT64_C(1000000000)

/* ---- Conditions (RFC 9110 13.2.2) -------------------------------------------------------------
 */

/* Unix time of the date in a condition; false if it cannot be parsed. */
static bool condition_date(const http_req *rq, const char *name, int64_t *out)
{
    vp_str value = http_head_get(&rq->head, name);
    return value.p && http_date_parse(value, (int64_t)time(NULL), out);
}

static bool precondition_failed(const http_req *rq, const http_entity *e)
{
    vp_str match = http_head_get(&rq->head, "If-Match");
    int64_t since;
    if (match.p)
        return !http_etag_listed_strong(match, vp_str_of(e->etag));
    return e->mtime_ns > 0 && condition_date(rq, "If-Unmodified-Since", &since) &&
           e->mtime_ns / NS > since;
}

static bool client_has_it(const http_req *rq, const http_entity *e)
{
    vp_str none = http_head_get(&rq->head, "If-None-Match");
    int64_t since;
    if (none.p)
        return http_etag_listed(none, vp_str_of(e->etag));
    return e->mtime_ns > 0 && condition_date(rq, "If-Modified-Since", &since) &&
           e->mtime_ns / NS <= since;
}

bool http_not_modified(http_req *rq, const http_entity *e)
{
    if (precondition_failed(rq, e))
        http_fail(rq, 412, "the resource has changed");
    else if (client_has_it(rq, e))
        http_prepare(rq, 304, http_empty_response(), NULL, e);
    else if (!e->gzipped && http_coding_of(rq, false) == HTTP_NO_CODING)
        http_fail(rq, 406, "no compressed form available");
    else
        return false;
    return true;
}

static int not_satisfiable(http_req *rq, int64_t size, const http_entity *e)
{
    char range[40];
    struct MHD_Response *r = http_empty_response();
    snprintf(range, sizeof range, "bytes */%" PRId64, size);
    http_add(&r, "Content-Range", range);
    return http_prepare(rq, 416, r, NULL, e);
}

/* A file that changed within the last 2 s can change again with the same date, so the date is not a
 * strong validator (RFC 9110 8.8.2.2). */
static bool range_applies(const http_req *rq, const http_entity *e)
{
    char date[HTTP_DATE_SIZE];
    vp_str condition = http_head_get(&rq->head, "If-Range");
    http_last_modified(date, e);
    if (e->mtime_ns / NS + 2 > (int64_t)time(NULL))
        date[0] = 0;
    return !condition.p || http_if_range(condition, vp_str_of(e->etag), vp_str_of(date));
}

/* NULL if it cannot be read completely. */
static struct MHD_Response *read_small(int fd, int64_t first, size_t n)
{
    size_t got = 0;
    char *p = n ? vp_malloc(n) : NULL;
    if (!n)
        return http_empty_response();
    struct MHD_Response *r = NULL;
    if (p && vp_fs_pread(fd, p, n, first, &got) == 0 && got == n)
        r = MHD_create_response_from_buffer_with_free_callback(n, p, vp_free);
    if (!r)
        vp_free(p);
    return r;
}

static struct MHD_Response *file_response(http_req *rq, int *fd, int64_t first, int64_t end)
{
    if (end - first >= LARGE_FILE)
        return http_large_response(rq, fd, first, end);
    struct MHD_Response *r =
        MHD_create_response_from_fd_at_offset64((uint64_t)(end - first), *fd, (uint64_t)first);
    if (r)
        *fd = -1;
    return r;
}

static int send_part(http_req *rq, int *fd, int64_t size, const http_entity *e)
{
    int64_t first = 0, last = size - 1;
    int status = 200;
    char text[80];
    struct MHD_Response *r;
    vp_str range = http_head_get(&rq->head, "Range");
    if (range.p && range_applies(rq, e))
        status = http_range(range, size, &first, &last);
    if (status == 416)
        return not_satisfiable(rq, size, e);
    uint64_t n = (uint64_t)(last - first + 1);
    rq->body_bytes = (size_t)n;
    if (n <= SMALL_FILE) {
        r = read_small(*fd, first, (size_t)n);
    } else {
        r = file_response(rq, fd, first, last + 1);
        rq->keep_ms = 0; /* the memo would also keep its descriptor */
    }
    if (status == 206) {
        snprintf(text, sizeof text, "bytes %" PRId64 "-%" PRId64 "/%" PRId64, first, last, size);
        http_add(&r, "Content-Range", text);
    }
    http_add(&r, "Accept-Ranges", "bytes");
    if (e->filename)
        http_add_disposition(&r, e->filename);
    return http_prepare(rq, status, r, e->type, e);
}

int http_file(http_req *rq, int taken, const http_entity *e)
{
    VP_CLEANUP(vp_fs_close) int fd = taken;
    vp_file_id id;
    VP_TRY(vp_fs_identity(fd, &id));
    if (http_not_modified(rq, e))
        return 0;
    return send_part(rq, &fd, id.size, e);
}

bool http_finished(http_req *rq, const http_entity *e)
{
    int fd;
    if (!http_cache_get(rq->serving->cache, e->etag, &fd))
        return false;
    if (http_file(rq, fd, e) < 0)
        http_error(rq);
    return true;
}

int http_static(http_req *rq, const void *raw, size_t raw_n, const void *gz, size_t gz_n,
                const http_entity *entity)
{
    http_entity e = *entity;
    e.gzipped = gz && http_wants_gzip(rq);
    if (http_not_modified(rq, &e))
        return 0;
    struct MHD_Response *r = http_constant_response(e.gzipped ? gz : raw, e.gzipped ? gz_n : raw_n);
    rq->body_bytes = e.gzipped ? gz_n : raw_n;
    return http_prepare(rq, 200, r, e.type, &e);
}
