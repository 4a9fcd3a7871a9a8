#include "server/fetch/store/azure.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/fetch/credentials/azure_key.h"
#include "server/fetch/text/digest.h"
#include "server/fetch/text/url.h"
#include "trace/base/err.h"

/* ---- Addresses ------------------------------------------------------------------------------- */

static int set_name(azure_place *p, vp_str name)
{
    if (!name.n || name.n >= sizeof p->account.name)
        return vp_fail(VP_EARG, "invalid name of a storage account");
    for (size_t i = 0; i < name.n; i++)
        if (!((name.p[i] >= 'a' && name.p[i] <= 'z') || (name.p[i] >= '0' && name.p[i] <= '9')))
            return vp_fail(VP_EARG, "the name of a storage account has only letters and digits");
    /* Credentials for one account are not sent to another. */
    if (p->account.name[0] && !vp_str_eq(name, vp_str_of(p->account.name)))
        p->account.key[0] = p->account.sas[0] = p->account.endpoint[0] = '\0';
    snprintf(p->account.name, sizeof p->account.name, "%.*s", VP_STR_ARG(name));
    return 0;
}

/* CONTAINER@ACCOUNT.dfs.SUFFIX/KEY, only for Microsoft's clouds, because a SAS token is sent there.
 */
static int take_abfs(azure_place *p, vp_str rest)
{
    static const vp_str suffixes[] = {VP_STR_INIT("core.windows.net"),
                                      VP_STR_INIT("core.chinacloudapi.cn"),
                                      VP_STR_INIT("core.usgovcloudapi.net")};
    p->key = rest;
    vp_str host = url_take_part(&p->key), name;
    if (!vp_take_until(&host, '@', host.n, &p->container) ||
        !vp_take_until(&host, '.', host.n, &name))
        return vp_fail(VP_EARG,
                       "the address must be abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/…");
    size_t kind =
        vp_str_starts(host, VP_STR("dfs.")) ? 4 : vp_str_starts(host, VP_STR("blob.")) * 5;
    host = vp_str_skip(host, kind);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (kind && vp_str_eq(host, suffixes[i])) {
            snprintf(p->account.suffix, sizeof p->account.suffix, "%s", suffixes[i].p);
            return set_name(p, name);
        }
    return vp_fail(VP_EARG, "the address must be abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/…");
}

/* The account comes first if the environment names none, or this one. */
static int take_az(azure_place *p, vp_str rest)
{
    p->key = rest;
    vp_str first = url_take_part(&p->key);
    if (!p->account.name[0] || vp_str_eq(first, vp_str_of(p->account.name))) {
        VP_TRY(set_name(p, first));
        first = url_take_part(&p->key);
    }
    p->container = first;
    return first.n ? 0
                   : vp_fail(VP_EARG, "the address must be az://ACCOUNT/CONTAINER/…, or "
                                      "az://CONTAINER/… with AZURE_STORAGE_ACCOUNT set");
}

static int azure_put_url(const azure_place *p, vp_str key, vp_str query, vp_buf *b)
{
    if (p->account.endpoint[0])
        vp_buf_puts(b, p->account.endpoint);
    else
        vp_buf_printf(b, "https://%s.blob.%s", p->account.name, p->account.suffix);
    vp_buf_putc(b, '/');
    url_encode(b, p->container, false);
    if (key.n)
        vp_buf_putc(b, '/');
    url_encode(b, key, true);
    if (query.n)
        vp_buf_putc(b, '?');
    vp_buf_str(b, query);
    if (p->account.sas[0] && !p->ask->is_unsigned)
        vp_buf_printf(b, "%c%s", query.n ? '&' : '?', p->account.sas);
    return b->status;
}

/* ---- Signing --------------------------------------------------------------------------------- */

static int azure_sign_request(azure_place *p, http_call *c)
{
    vp_str s = vp_str_of(c->url);
    s = vp_str_skip(s, vp_str_find(s, VP_STR("://")) + 3);
    s = vp_str_skip(s, vp_str_find(s, VP_STR("/")));
    size_t n = vp_str_find(s, VP_STR("?"));
    const azure_request r = {.method = vp_str_of(c->method),
                             .account = vp_str_of(p->account.name),
                             .path = vp_str_head(s, n),
                             .query = vp_str_skip(s, n + 1),
                             .headers = vp_buf_view(&c->headers),
                             .more = vp_buf_view(&c->signature),
                             .body_n = (int64_t)c->body.n};
    vp_buf value;
    vp_buf_init(&value, 4096);
    int rc = azure_key_sign(&r, vp_str_of(p->account.key), &value);
    if (rc == 0)
        rc = http_sign(c, "Authorization: %s", vp_buf_cstr(&value));
    digest_wipe(&value);
    return rc;
}

static int azure_authorize_call(void *of, http_call *c)
{
    azure_place *p = of;
    char now[40];
    time_t t = time(NULL);
    struct tm tm;
    static const char days[] = "SunMonTueWedThuFriSat",
                      months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    gmtime_r(&t, &tm);
    snprintf(now, sizeof now, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * tm.tm_wday,
             tm.tm_mday, months + 3 * tm.tm_mon, (tm.tm_year + 1900) % 10000, tm.tm_hour, tm.tm_min,
             tm.tm_sec);
    VP_TRY(http_sign(c, "x-ms-date: %s", now));
    if (p->account.sas[0] || p->ask->is_unsigned)
        return 0;
    return p->account.key[0] ? azure_sign_request(p, c) : azure_authorize(p->ask, c);
}

int azure_begin(azure_place *p, http_call *c, const char *method, vp_str key, vp_str query)
{
    vp_buf url;
    vp_buf_init(&url, 2 * FETCH_ASK_MAX);
    azure_put_url(p, key, query, &url);
    int rc = http_begin(c, p->ask, method, vp_buf_view(&url));
    digest_wipe(&url);
    c->authorize = azure_authorize_call;
    c->authority = p;
    return rc ? rc : http_put_header(c, "x-ms-version: 2021-02-12");
}

int azure_take_address(azure_place *p, vp_str url)
{
    size_t scheme = vp_str_find(url, VP_STR("://"));
    vp_str rest = vp_str_skip(url, scheme + 3);
    return scheme == 2 ? take_az(p, rest) : take_abfs(p, rest);
}
