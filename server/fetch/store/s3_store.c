/* S3 as a store. */
#include "server/fetch/store/s3.h"
#include "server/fetch/text/url.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

static int s3_open(fetch_ask *a, store_place **out)
{
    s3_place *p = vp_calloc(1, sizeof *p);
    VP_NEED(p);
    *out = (store_place *)p;
    p->ask = a;
    p->key = vp_str_skip(a->url, 5);
    p->bucket = url_take_part(&p->key);
    if (!p->bucket.n)
        return vp_fail(VP_EARG, "the address must be s3://BUCKET/…");
    s3_find_place(p);
    return 0;
}

static void s3_close(store_place *place)
{
    s3_place *p = (s3_place *)place;
    if (!p)
        return;
    if (p->has_head)
        http_end(&p->head);
    aws_credentials_wipe(&p->keys);
    vp_free(p);
}

static int s3_head(fetch_ask *a, store_place *place, entry *out)
{
    s3_place *p = (s3_place *)place;
    (void)a;
    p->has_head = true;
    VP_TRY(s3_begin(p, &p->head, "HEAD", p->key, VP_STR_NONE));
    VP_TRY(http_succeed(&p->head));
    *out = store_entry(&p->head);
    return 0;
}

static int s3_get(fetch_ask *a, store_place *place, vp_str etag, http_call *c)
{
    s3_place *p = (s3_place *)place;
    (void)a;
    VP_TRY(s3_begin(p, c, "GET", p->key, VP_STR_NONE));
    return store_want_etag(c, etag);
}

static int s3_list_place(fetch_ask *a, store_place *p, entries *e)
{
    (void)a;
    return s3_list((s3_place *)p, e);
}

static int s3_remove(fetch_ask *a, store_place *place, vp_str etag, http_call *c)
{
    s3_place *p = (s3_place *)place;
    (void)a;
    (void)etag;
    VP_TRY(s3_begin(p, c, "DELETE", p->key, VP_STR_NONE));
    return p->key.n ? 0 : vp_fail(VP_EARG, "a bucket cannot be removed");
}

static int s3_write_place(fetch_ask *a, store_place *p)
{
    (void)a;
    return s3_write((s3_place *)p);
}

const store store_s3 = {.prefix = VP_STR_INIT("s3://"),
                        .open = s3_open,
                        .close = s3_close,
                        .list = s3_list_place,
                        .head = s3_head,
                        .get = s3_get,
                        .version = store_etag,
                        .write = s3_write_place,
                        .remove = s3_remove};
