#include "server/fetch/store/fetch_store.h"

#include "trace/base/err.h"

vp_str store_etag(const http_call *c)
{
    return vp_str_of(c->etag);
}

/* A weak ETag never matches, so that servers would refuse every read. */
int store_want_etag(http_call *c, vp_str etag)
{
    if (!etag.n || vp_str_starts(etag, VP_STR("W/")))
        return 0;
    return http_put_header(c, "If-Match: %.*s", VP_STR_CUT(etag, 255));
}

entry store_entry(const http_call *c)
{
    return (entry){.bytes = c->total >= 0 ? c->total : c->length,
                   .mtime_ns = c->mtime_ns,
                   .etag = store_etag(c)};
}
