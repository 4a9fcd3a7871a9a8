#include "server/fetch/store/gcs.h"

#include <stdio.h>
#include <string.h>

#include "server/fetch/credentials/gcs_credentials.h"
#include "server/fetch/text/ini_file.h"
#include "server/fetch/text/url.h"
#include "trace/base/err.h"

void gcs_find_base(gcs_place *p)
{
    const char *emulator = ini_env("STORAGE_EMULATOR_HOST"),
               *own = ini_env("CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE");
    p->is_open = emulator != NULL;
    if (emulator)
        snprintf(p->base, sizeof p->base, "%s%s", strstr(emulator, "://") ? "" : "http://",
                 emulator);
    else
        snprintf(p->base, sizeof p->base, "%s", own ? own : "https://storage.googleapis.com");
    char *host = strstr(p->base, "://");
    if (host)
        host[3 + strcspn(host + 3, "/")] = '\0'; /* that of gcloud ends with /storage/v1/ */
}

int gcs_begin(gcs_place *p, http_call *c, const char *method, const char *prefix, vp_str key,
              vp_str query)
{
    VP_CLEANUP(vp_buf_free) vp_buf url;
    vp_buf_init(&url, 2 * FETCH_ASK_MAX);
    vp_buf_printf(&url, "%s%s/storage/v1/b/", p->base, prefix);
    url_encode(&url, p->bucket, false);
    vp_buf_puts(&url, key.n ? "/o/" : "/o");
    url_encode(&url, key, false);
    vp_buf_putc(&url, '?');
    vp_buf_str(&url, query);
    int rc = http_begin(c, p->ask, method, vp_buf_view(&url));
    if (!p->is_open && !p->ask->is_unsigned) {
        c->authorize = gcs_authorize;
        c->authority = p->ask;
    }
    return rc;
}
