/* Writes small objects with one request, larger ones in parts; the upload is aborted if it fails.
 */
#include <stdio.h>

#include "server/fetch/http/http_fail.h"
#include "server/fetch/question/pieces.h"
#include "server/fetch/store/s3.h"
#include "server/fetch/text/url.h"
#include "trace/base/err.h"

#define PARTS_MAX 10000u

typedef struct upload {
    s3_place *p;
    vp_buf piece, id, parts; /* parts: the XML that completes the upload */
    unsigned n;
    bool is_last;
} upload;

static int s3_put_whole(upload *u)
{
    http_call c;
    int rc = s3_begin(u->p, &c, "PUT", u->p->key, VP_STR_NONE);
    c.body = vp_buf_view(&u->piece);
    if (rc == 0)
        rc = http_succeed(&c);
    http_end(&c);
    return rc;
}

static int begin_parts(upload *u)
{
    http_call c;
    vp_str id;
    int rc = s3_begin(u->p, &c, "POST", u->p->key, VP_STR("uploads="));
    if (rc == 0)
        rc = http_succeed(&c);
    if (rc == 0)
        rc = http_find(&c, "UploadId", &id) && id.n
                 ? url_encode(&u->id, id, false)
                 : vp_fail(VP_EREMOTE, "the server did not start the upload");
    http_end(&c);
    return rc;
}

static int s3_put_part(upload *u)
{
    http_call c;
    char query[2200];
    if (++u->n > PARTS_MAX)
        return vp_fail(VP_ELIMIT, "the object exceeds the size limit of an upload");
    snprintf(query, sizeof query, "partNumber=%u&uploadId=%s", u->n, vp_buf_cstr(&u->id));
    int rc = s3_begin(u->p, &c, "PUT", u->p->key, vp_str_of(query));
    c.body = vp_buf_view(&u->piece);
    if (rc == 0)
        rc = http_succeed(&c);
    if (rc == 0)
        rc = vp_buf_printf(&u->parts, "<Part><PartNumber>%u</PartNumber><ETag>%s</ETag></Part>",
                           u->n, c.etag);
    http_end(&c);
    return rc;
}

static int end_parts(upload *u)
{
    http_call c;
    char query[2200], code[80];
    vp_buf_puts(&u->parts, "</CompleteMultipartUpload>");
    VP_TRY(u->parts.status);
    snprintf(query, sizeof query, "uploadId=%s", vp_buf_cstr(&u->id));
    int rc = s3_begin(u->p, &c, "POST", u->p->key, vp_str_of(query));
    c.body = vp_buf_view(&u->parts);
    if (rc == 0)
        rc = http_succeed(&c);
    if (rc == 0) { /* a response with status 200 may contain an error */
        http_said(&c, "Code", code, sizeof code);
        rc = code[0] ? http_failure(&c) : 0;
    }
    http_end(&c);
    return rc;
}

/* Also if the client is gone. */
static void s3_abort_upload(upload *u)
{
    http_call c;
    char query[2200];
    snprintf(query, sizeof query, "uploadId=%s", vp_buf_cstr(&u->id));
    int rc = s3_begin(u->p, &c, "DELETE", u->p->key, vp_str_of(query));
    c.ask = NULL;
    if (rc == 0)
        (void)http_perform(&c);
    http_end(&c);
}

static int s3_put_parts(upload *u)
{
    VP_TRY(begin_parts(u));
    vp_buf_puts(&u->parts, "<CompleteMultipartUpload>");
    int rc = s3_put_part(u);
    while (rc == 0 && !u->is_last) {
        size_t n = PIECE_BYTES << (u->n / 1000 < 3 ? u->n / 1000 : 3);
        u->piece.n = 0;
        rc = piece_next(u->p->ask, n, &u->piece, &u->is_last);
        if (rc == 0 && u->piece.n)
            rc = s3_put_part(u);
    }
    if (rc == 0)
        rc = end_parts(u);
    if (rc < 0) {
        const vp_error why = *vp_error_last();
        s3_abort_upload(u);
        return vp_fail_copy(&why);
    }
    return 0;
}

int s3_write(s3_place *p)
{
    upload u = {.p = p};
    vp_buf_init(&u.piece, (PIECE_BYTES << 3) + 2 * FETCH_FRAME_MAX);
    vp_buf_init(&u.id, 2048);
    vp_buf_init(&u.parts, PARTS_MAX * 400);
    int rc = piece_next(p->ask, PIECE_BYTES, &u.piece, &u.is_last);
    if (rc == 0)
        rc = u.is_last ? s3_put_whole(&u) : s3_put_parts(&u);
    vp_buf_free(&u.piece);
    vp_buf_free(&u.id);
    vp_buf_free(&u.parts);
    return rc;
}
