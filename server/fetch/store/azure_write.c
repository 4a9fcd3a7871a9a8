/* Writes small blobs with one request, larger ones as blocks and a list of blocks. Azure discards
 * blocks that no list refers to. */
#include <stdio.h>
#include <time.h>

#include "server/fetch/question/pieces.h"
#include "server/fetch/store/azure.h"
#include "server/fetch/text/digest.h"
#include "server/fetch/text/url.h"
#include "trace/base/err.h"

#define BLOCKS_MAX 50000u

typedef struct upload {
    azure_place *p;
    vp_buf piece, list;
    unsigned n;
    int64_t began_s; /* distinguishes the blocks of two uploads */
    bool is_last;
} upload;

static int put_blob(upload *u)
{
    http_call c;
    int rc = azure_begin(u->p, &c, "PUT", u->p->key, VP_STR_NONE);
    c.body = vp_buf_view(&u->piece);
    if (rc == 0)
        rc = http_put_header(&c, "x-ms-blob-type: BlockBlob");
    if (rc == 0)
        rc = http_succeed(&c);
    http_end(&c);
    return rc;
}

static int put_block(upload *u)
{
    http_call c;
    char plain[40];
    VP_CLEANUP(vp_buf_free) vp_buf id, query;
    vp_buf_init(&id, 100);
    vp_buf_init(&query, 300);
    if (++u->n > BLOCKS_MAX)
        return vp_fail(VP_ELIMIT, "the object exceeds the size limit of an upload");
    snprintf(plain, sizeof plain, "%012llx-%05u", (unsigned long long)u->began_s, u->n);
    digest_put_base64(&id, vp_str_of(plain), false);
    vp_buf_puts(&query, "blockid=");
    url_encode(&query, vp_buf_view(&id), false);
    vp_buf_puts(&query, "&comp=block");
    VP_TRY(query.status);
    int rc = azure_begin(u->p, &c, "PUT", u->p->key, vp_buf_view(&query));
    c.body = vp_buf_view(&u->piece);
    if (rc == 0)
        rc = http_succeed(&c);
    http_end(&c);
    return rc ? rc : vp_buf_printf(&u->list, "<Latest>%s</Latest>", vp_buf_cstr(&id));
}

static int azure_put_block_list(upload *u)
{
    http_call c;
    VP_TRY(vp_buf_puts(&u->list, "</BlockList>"));
    int rc = azure_begin(u->p, &c, "PUT", u->p->key, VP_STR("comp=blocklist"));
    c.body = vp_buf_view(&u->list);
    if (rc == 0)
        rc = http_succeed(&c);
    http_end(&c);
    return rc;
}

static int put_blocks(upload *u)
{
    vp_buf_puts(&u->list, "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>");
    VP_TRY(put_block(u));
    while (!u->is_last) {
        u->piece.n = 0;
        VP_TRY(piece_next(u->p->ask, PIECE_BYTES, &u->piece, &u->is_last));
        if (u->piece.n)
            VP_TRY(put_block(u));
    }
    return azure_put_block_list(u);
}

int azure_write(azure_place *p)
{
    upload u = {.p = p, .began_s = (int64_t)time(NULL)};
    vp_buf_init(&u.piece, PIECE_BYTES + 2 * FETCH_FRAME_MAX);
    vp_buf_init(&u.list, BLOCKS_MAX * 64);
    int rc = piece_next(p->ask, PIECE_BYTES, &u.piece, &u.is_last);
    if (rc == 0)
        rc = u.is_last ? put_blob(&u) : put_blocks(&u);
    vp_buf_free(&u.piece);
    vp_buf_free(&u.list);
    return rc;
}
