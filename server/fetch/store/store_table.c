/* The stores, by URL scheme. */
#include "server/fetch/store/fetch_store.h"
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
    return vp_fail(
        VP_EARG,
        "unsupported address; supported are gs://, s3://, az://, abfs(s):// and http(s)://");
}
