/* Google Cloud Storage as a store. */
#include <jansson.h>
#include <stdio.h>

#include "server/fetch/store/gcs.h"
#include "server/fetch/text/url.h"
#include "server/fetch/text/xml_walk.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

static int gcs_open(fetch_ask *a, store_place **out)
{
    gcs_place *p = vp_calloc(1, sizeof *p);
    VP_NEED(p);
    *out = (store_place *)p;
    p->ask = a;
    p->key = vp_str_skip(a->url, 5);
    p->bucket = url_take_part(&p->key);
    gcs_find_base(p);
    return p->bucket.n ? 0 : vp_fail(VP_EARG, "the address must be gs://BUCKET/…");
}

static void gcs_close(store_place *p)
{
    vp_free(p);
}

static int gcs_take_head(gcs_place *p, const http_call *c, entry *out)
{
    json_t *o = json_loadb(c->answer.n ? c->answer.p : "", c->answer.n, 0, NULL);
    const char *size = json_string_value(json_object_get(o, "size")),
               *updated = json_string_value(json_object_get(o, "updated")),
               *generation = json_string_value(json_object_get(o, "generation"));
    uint64_t n;
    bool fine = size && vp_str_to_u64(vp_str_of(size), &n) && n <= INT64_MAX;
    if (fine) {
        snprintf(p->version, sizeof p->version, "%s", generation ? generation : "");
        *out = (entry){.bytes = (int64_t)n,
                       .mtime_ns = xml_time(vp_str_of(updated)),
                       .etag = vp_str_of(p->version)};
    }
    json_decref(o);
    return fine ? 0 : vp_fail(VP_EREMOTE, "the server does not return the size of the object");
}

static int gcs_head(fetch_ask *a, store_place *place, entry *out)
{
    gcs_place *p = (gcs_place *)place;
    http_call c;
    (void)a;
    if (!p->key.n)
        return vp_fail(VP_ENOTFOUND, "this names a bucket, not an object");
    int rc = gcs_begin(p, &c, "GET", "", p->key, VP_STR("fields=size,updated,generation"));
    if (rc == 0)
        rc = http_succeed(&c);
    if (rc == 0)
        rc = gcs_take_head(p, &c, out);
    http_end(&c);
    return rc;
}

static vp_str gcs_version_of(const http_call *c)
{
    return vp_str_of(c->generation);
}

static int gcs_get(fetch_ask *a, store_place *place, vp_str etag, http_call *c)
{
    char query[96];
    uint64_t generation;
    (void)a;
    bool has = vp_str_to_u64(etag, &generation);
    snprintf(query, sizeof query, has ? "alt=media&ifGenerationMatch=%llu" : "alt=media",
             (unsigned long long)generation);
    VP_TRY(gcs_begin((gcs_place *)place, c, "GET", "/download", ((gcs_place *)place)->key,
                     vp_str_of(query)));
    /* Otherwise the store decompresses gzip objects, and does not support ranges. */
    VP_TRY(http_put_header(c, "Accept-Encoding: gzip"));
    return etag.n && !has ? vp_fail(VP_EIO, "changed while being read") : 0;
}

static int gcs_list_place(fetch_ask *a, store_place *p, entries *e)
{
    (void)a;
    return gcs_list((gcs_place *)p, e);
}

static int gcs_remove(fetch_ask *a, store_place *place, vp_str etag, http_call *c)
{
    gcs_place *p = (gcs_place *)place;
    char query[64] = "";
    uint64_t generation;
    (void)a;
    if (vp_str_to_u64(etag, &generation))
        snprintf(query, sizeof query, "ifGenerationMatch=%llu", (unsigned long long)generation);
    VP_TRY(gcs_begin(p, c, "DELETE", "", p->key, vp_str_of(query)));
    return p->key.n ? 0 : vp_fail(VP_EARG, "a bucket cannot be removed");
}

static int gcs_write_place(fetch_ask *a, store_place *p)
{
    (void)a;
    return gcs_write((gcs_place *)p);
}

const store store_gcs = {.prefix = VP_STR_INIT("gs://"),
                         .open = gcs_open,
                         .close = gcs_close,
                         .list = gcs_list_place,
                         .head = gcs_head,
                         .get = gcs_get,
                         .version = gcs_version_of,
                         .write = gcs_write_place,
                         .remove = gcs_remove};
