#include "server/fetch/fetch_store.h"

#include "trace/base/err.h"

static const store *const stores[] = {&store_web,   &store_web_tls, &store_s3,   &store_gcs,
                                      &store_azure, &store_abfs,    &store_abfss};

int store_find(vp_str url, const store **out)
{
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
        if (vp_str_starts_nocase(url, stores[i]->prefix)) {
            *out = stores[i];
            return 0;
        }
    return vp_fail(VP_EARG, "no store has such addresses: gs://, s3://, az://, abfs(s):// and "
                            "http(s):// are known");
}

vp_str store_etag(const http_call *c)
{
    return vp_str_of(c->etag);
}

/* A weak one never matches, so that servers would refuse every read. */
int store_want_etag(http_call *c, vp_str etag)
{
    if (!etag.n || vp_str_starts(etag, VP_STR("W/")))
        return 0;
    return http_header(c, "If-Match: %.*s", VP_STR_CUT(etag, 255));
}

entry store_entry(const http_call *c)
{
    return (entry){.bytes = c->total >= 0 ? c->total : c->length,
                   .mtime_ns = c->mtime_ns,
                   .etag = store_etag(c)};
}
