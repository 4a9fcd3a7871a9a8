/* Directories by WebDAV. */
#include <string.h>

#include "server/fetch/http/http_fail.h"
#include "server/fetch/store/web.h"
#include "server/fetch/text/xml_walk.h"
#include "trace/base/err.h"

static const char wanted[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?><D:propfind xmlns:D=\"DAV:\"><D:prop>"
    "<D:resourcetype/><D:getcontentlength/><D:getlastmodified/><D:getetag/></D:prop></D:propfind>";

typedef struct dav {
    vp_str url;
    web_found *found;
    void *ctx;
    http_call call;
    xml_walk xml;
    bool is_xml;
    /* The current response. */
    vp_buf name;
    char etag[256];
    entry one;
    bool is_beneath;
} dav;

static void dav_take_value(dav *d, vp_str name, vp_str text)
{
    char date[64];
    uint64_t n;
    bool is_dir;
    if (vp_str_eq(name, VP_STR("href"))) {
        d->is_beneath = web_is_beneath(d->url, text, &d->name, &is_dir);
        d->one.is_dir |= is_dir;
    } else if (vp_str_eq(name, VP_STR("collection"))) {
        d->one.is_dir = true;
    } else if (vp_str_eq(name, VP_STR("getcontentlength"))) {
        d->one.bytes = vp_str_to_u64(text, &n) && n <= INT64_MAX ? (int64_t)n : -1;
    } else if (vp_str_eq(name, VP_STR("getlastmodified")) && text.n < sizeof date) {
        memcpy(date, text.p, text.n);
        date[text.n] = '\0';
        time_t t = curl_getdate(date, NULL);
        d->one.mtime_ns = t > 0 && t < (int64_t)9e9 ? t * INT64_C(1000000000) : 0;
    } else if (vp_str_eq(name, VP_STR("getetag")) && text.n < sizeof d->etag) {
        memcpy(d->etag, text.p, text.n);
        d->one.etag = (vp_str){d->etag, text.n};
    }
}

static int dav_on_xml(void *ctx, bool is_end, vp_str name, vp_str text)
{
    dav *d = ctx;
    if (is_end) {
        dav_take_value(d, name, text);
        if (!vp_str_eq(name, VP_STR("response")) || !d->is_beneath)
            return 0;
        d->one.name = vp_buf_view(&d->name);
        if (d->one.is_dir)
            d->one.bytes = -1;
        return d->found(d->ctx, &d->one);
    }
    if (vp_str_eq(name, VP_STR("response"))) {
        d->one = (entry){.bytes = -1};
        d->is_beneath = false;
    }
    return 0;
}

static int dav_take_body(void *ctx, const void *data, size_t n)
{
    dav *d = ctx;
    d->is_xml = d->call.status == 207;
    return d->is_xml ? xml_feed(&d->xml, (vp_str){data, n}) : 0;
}

/* The statuses of servers without WebDAV for PROPFIND. */
static bool is_no_dav(long status)
{
    return status == 400 || status == 403 || status == 404 || status == 405 || status == 501 ||
           (status >= 200 && status < 300 && status != 207);
}

static int dav_propfind(fetch_ask *a, dav *d, bool *spoke)
{
    VP_TRY(http_begin(&d->call, a, "PROPFIND", d->url));
    d->call.body = VP_STR(wanted);
    d->call.write = dav_take_body;
    d->call.ctx = d;
    VP_TRY(http_put_header(&d->call, "Depth: 1"));
    VP_TRY(http_put_header(&d->call, "Content-Type: application/xml"));
    VP_TRY(http_perform(&d->call));
    *spoke = !is_no_dav(d->call.status);
    if (!*spoke)
        return 0;
    return d->call.status == 207 ? xml_end(&d->xml) : http_failure(&d->call);
}

int web_dav_list(fetch_ask *a, vp_str url, web_found *found, void *ctx, bool *spoke)
{
    dav d = {.url = url, .found = found, .ctx = ctx};
    *spoke = true;
    vp_buf_init(&d.name, 64u << 10);
    xml_begin(&d.xml, dav_on_xml, &d);
    int rc = dav_propfind(a, &d, spoke);
    /* Python's server and others disconnect on an unknown method. A server that does not respond to
     * PROPFIND would not respond to other methods either. */
    if (rc == VP_EREMOTE && !d.call.status && !d.call.silent)
        *spoke = false;
    if (!*spoke)
        rc = 0;
    http_end(&d.call);
    vp_buf_free(&d.name);
    return rc;
}
