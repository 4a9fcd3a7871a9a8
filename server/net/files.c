#include <inttypes.h>
#include <stdio.h>

#include "server/net/negotiate.h"
#include "server/net/request.h"
#include "trace/base/err.h"

void http_entity_etag(http_entity *e, const vp_file_id *id, const char *tag)
{
    snprintf(e->etag, sizeof e->etag, "\"%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64 "%s%.16s\"",
             id->dev, id->ino, (uint64_t)id->size, (uint64_t)id->mtime_ns, tag[0] ? "-" : "", tag);
}

bool http_not_modified(http_req *rq, const http_entity *e)
{
    vp_str have = http_head_get(&rq->head, "If-None-Match");
    if (!have.p || !http_etag_listed(have, vp_str_of(e->etag)))
        return false;
    http_prepare(rq, 304, http_empty_response(), NULL, e);
    return true;
}

/* attachment; filename="ascii"; filename*=UTF-8''percent (RFC 6266). */
void http_add_disposition(struct MHD_Response **r, const char *filename)
{
    vp_buf b;
    vp_buf_init(&b, 8u << 10);
    vp_buf_puts(&b, "attachment; filename=\"");
    for (const char *p = filename; *p; p++)
        vp_buf_putc(&b, *p < 0x20 || *p == '"' || *p == '\\' || *p == 0x7f ? '_' : *p);
    vp_buf_puts(&b, "\"; filename*=UTF-8''");
    for (const unsigned char *p = (const unsigned char *)filename; *p; p++) {
        bool plain = (*p >= '0' && *p <= '9') || ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z') ||
                     *p == '-' || *p == '.' || *p == '_' || *p == '~';
        if (plain)
            vp_buf_putc(&b, (char)*p);
        else
            vp_buf_printf(&b, "%%%02X", *p);
    }
    http_add(r, "Content-Disposition", vp_buf_cstr(&b));
    vp_buf_free(&b);
}

static int not_satisfiable(http_req *rq, int64_t size, const http_entity *e)
{
    char range[40];
    struct MHD_Response *r = http_empty_response();
    snprintf(range, sizeof range, "bytes */%" PRId64, size);
    http_add(&r, "Content-Range", range);
    return http_prepare(rq, 416, r, NULL, e);
}

static int send_part(http_req *rq, int *fd, int64_t size, const http_entity *e)
{
    int64_t first = 0, last = size - 1;
    int status = 200;
    char text[80];
    vp_str range = http_head_get(&rq->head, "Range");
    vp_str condition = http_head_get(&rq->head, "If-Range");
    if (range.p && (!condition.p || http_if_range(condition, vp_str_of(e->etag))))
        status = http_range(range, size, &first, &last);
    if (status == 416)
        return not_satisfiable(rq, size, e);
    struct MHD_Response *r =
        MHD_create_response_from_fd_at_offset64((uint64_t)(last - first + 1), *fd, (uint64_t)first);
    if (r)
        *fd = -1;
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
    vp_str match = http_head_get(&rq->head, "If-Match");
    VP_TRY(vp_fs_identity(fd, &id));
    if (match.p && !http_etag_listed_strong(match, vp_str_of(e->etag)))
        return http_fail(rq, 412, "the file is another one by now");
    if (http_not_modified(rq, e))
        return 0;
    return send_part(rq, &fd, id.size, e);
}
