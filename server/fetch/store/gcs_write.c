/* Writes small objects with one request, larger ones by a resumable upload, whose object appears
 * with its last piece. */
#include <stdio.h>
#include <string.h>

#include "server/fetch/http/http_fail.h"
#include "server/fetch/question/pieces.h"
#include "server/fetch/store/gcs.h"
#include "server/fetch/text/url.h"
#include "trace/base/err.h"

/* All pieces except the last are multiples of this. */
#define GRAIN (256u << 10)

typedef struct upload {
    gcs_place *p;
    vp_buf piece;
    char session[2048];
    int64_t sent;
    bool is_last;
} upload;

static int gcs_begin_upload(upload *u, http_call *c, const char *type)
{
    VP_CLEANUP(vp_buf_free) vp_buf query;
    vp_buf_init(&query, FETCH_ASK_MAX);
    vp_buf_printf(&query, "uploadType=%s&name=", type);
    url_encode(&query, u->p->key, false);
    VP_TRY(gcs_begin(u->p, c, "POST", "/upload", VP_STR_NONE, vp_buf_view(&query)));
    return query.status;
}

static int gcs_put_whole(upload *u)
{
    http_call c;
    int rc = gcs_begin_upload(u, &c, "media");
    c.body = vp_buf_view(&u->piece);
    if (rc == 0)
        rc = http_put_header(&c, "Content-Type: application/octet-stream");
    if (rc == 0)
        rc = http_succeed(&c);
    http_end(&c);
    return rc;
}

static int begin_session(upload *u)
{
    http_call c;
    int rc = gcs_begin_upload(u, &c, "resumable");
    c.body = VP_STR("{}");
    if (rc == 0)
        rc = http_put_header(&c, "Content-Type: application/json; charset=UTF-8");
    if (rc == 0)
        rc = http_succeed(&c);
    if (rc == 0) {
        snprintf(u->session, sizeof u->session, "%s", c.location);
        /* No other client can read the pieces. */
        size_t n = strlen(u->p->base);
        if (strncmp(u->session, u->p->base, n) != 0 || u->session[n] != '/')
            rc = vp_fail(VP_EREFUSED, "unexpected redirect of an upload");
    }
    http_end(&c);
    return rc;
}

static int put_range(http_call *c, int64_t begin, size_t n, bool is_last)
{
    long long from = (long long)begin, end = from + (long long)n;
    if (!is_last)
        return http_put_header(c, "Content-Range: bytes %lld-%lld/*", from, end - 1);
    return n ? http_put_header(c, "Content-Range: bytes %lld-%lld/%lld", from, end - 1, end)
             : http_put_header(c, "Content-Range: bytes */%lld", end);
}

static int gcs_put_piece(upload *u)
{
    http_call c;
    size_t n = u->is_last ? u->piece.n : u->piece.n - u->piece.n % GRAIN;
    int rc = http_begin(&c, u->p->ask, "PUT", vp_str_of(u->session));
    c.body = vp_str_head(vp_buf_view(&u->piece), n);
    if (rc == 0)
        rc = put_range(&c, u->sent, n, u->is_last);
    if (rc == 0)
        rc = http_perform(&c);
    if (rc == 0 && !(u->is_last ? c.status >= 200 && c.status < 300 : c.status == 308))
        rc = http_failure(&c);
    http_end(&c);
    VP_TRY(rc);
    u->sent += (int64_t)n;
    u->piece.n -= n;
    memmove(u->piece.p, u->piece.p + n, u->piece.n);
    return 0;
}

/* Also if the client is gone. */
static void gcs_cancel_upload(upload *u)
{
    http_call c;
    int rc = http_begin(&c, NULL, "DELETE", vp_str_of(u->session));
    c.flags = HTTP_ONCE;
    if (rc == 0)
        (void)http_perform(&c);
    http_end(&c);
}

static int put_pieces(upload *u)
{
    VP_TRY(begin_session(u));
    int rc = gcs_put_piece(u);
    while (rc == 0 && !u->is_last) {
        rc = piece_next(u->p->ask, PIECE_BYTES, &u->piece, &u->is_last);
        if (rc == 0)
            rc = gcs_put_piece(u);
    }
    if (rc < 0) {
        const vp_error why = *vp_error_last();
        gcs_cancel_upload(u);
        return vp_fail_copy(&why);
    }
    return 0;
}

int gcs_write(gcs_place *p)
{
    upload u = {.p = p};
    vp_buf_init(&u.piece, PIECE_BYTES + 2 * FETCH_FRAME_MAX);
    int rc = piece_next(p->ask, PIECE_BYTES, &u.piece, &u.is_last);
    if (rc == 0)
        rc = u.is_last ? gcs_put_whole(&u) : put_pieces(&u);
    vp_buf_free(&u.piece);
    return rc;
}
