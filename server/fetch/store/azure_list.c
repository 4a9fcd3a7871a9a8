/* List Blobs, page by page. */
#include <curl/curl.h>
#include <stdio.h>

#include "server/fetch/store/azure.h"
#include "server/fetch/text/url.h"
#include "server/fetch/text/xml_walk.h"
#include "trace/base/err.h"

typedef struct listing {
    azure_place *p;
    entries *e;
    vp_buf prefix, name, next, etag; /* next: the marker of the next page */
    entry one;
    bool is_in;    /* a Blob or a BlobPrefix */
    bool is_coded; /* a name that XML cannot represent */
    uint64_t found;
    xml_walk xml;
} listing;

static int azure_put_entry(listing *l, bool is_prefix)
{
    vp_str key = vp_buf_view(&l->name), prefix = vp_buf_view(&l->prefix);
    bool is_beneath = vp_str_starts(key, prefix);
    l->found++;
    if (vp_str_eq(key, prefix) || vp_str_eq(key, url_without_end(prefix)))
        return 0;
    key = is_beneath ? vp_str_skip(key, prefix.n) : VP_STR_NONE;
    bool is_marked = key.n && key.p[key.n - 1] == '/' && (is_prefix || l->one.bytes == 0);
    /* Accounts with directories list each directory of a level twice. */
    if (l->one.is_dir && !is_prefix && !l->p->ask->flat)
        return 0;
    key.n -= is_marked;
    if (is_prefix || is_marked || l->one.is_dir)
        l->one = (entry){.bytes = -1, .is_dir = true};
    else
        l->one.etag = vp_buf_view(&l->etag);
    l->one.name = key;
    return entries_put(l->e, &l->one);
}

static int64_t azure_parse_date(vp_str text)
{
    char z[64];
    snprintf(z, sizeof z, "%.*s", VP_STR_CUT(text, sizeof z - 1));
    time_t t = curl_getdate(z, NULL);
    return t > 0 && t < (int64_t)9e9 ? t * INT64_C(1000000000) : 0;
}

/* Without the quotes that it has in headers. */
static int take_etag(listing *l, vp_str text)
{
    bool is_bare = !vp_str_starts(text, VP_STR("\""));
    l->etag.n = 0;
    return vp_buf_printf(&l->etag, is_bare ? "\"%.*s\"" : "%.*s", VP_STR_CUT(text, 250));
}

static int azure_take_value(listing *l, vp_str name, vp_str text)
{
    uint64_t n;
    if (vp_str_eq(name, VP_STR("NextMarker")))
        return vp_buf_str(&l->next, text);
    if (!l->is_in)
        return 0;
    if (vp_str_eq(name, VP_STR("Name"))) {
        l->name.n = 0;
        return (l->is_coded ? url_decode : vp_buf_str)(&l->name, text);
    }
    if (vp_str_eq(name, VP_STR("Etag")))
        return take_etag(l, text);
    if (vp_str_eq(name, VP_STR("Content-Length")))
        l->one.bytes = vp_str_to_u64(text, &n) && n <= INT64_MAX ? (int64_t)n : -1;
    else if (vp_str_eq(name, VP_STR("Last-Modified")))
        l->one.mtime_ns = azure_parse_date(text);
    else if (vp_str_eq(name, VP_STR("ResourceType")))
        l->one.is_dir = vp_str_eq(text, VP_STR("directory"));
    return 0;
}

static int azure_on_xml(void *ctx, bool is_end, vp_str name, vp_str text)
{
    listing *l = ctx;
    bool is_prefix = vp_str_eq(name, VP_STR("BlobPrefix"));
    if (!is_prefix && !vp_str_eq(name, VP_STR("Blob"))) {
        if (is_end)
            return azure_take_value(l, name, text);
        l->is_coded = vp_str_find(text, VP_STR("Encoded=\"true\"")) < text.n;
        return 0;
    }
    l->is_in = !is_end;
    if (is_end)
        return azure_put_entry(l, is_prefix);
    l->one = (entry){.bytes = -1};
    l->name.n = l->etag.n = 0;
    return 0;
}

static int azure_put_query(listing *l, vp_buf *b)
{
    vp_buf_puts(b, l->p->ask->flat ? "comp=list" : "comp=list&delimiter=%2F");
    if (l->next.n) {
        vp_buf_puts(b, "&marker=");
        url_encode(b, vp_buf_view(&l->next), false);
    }
    vp_buf_puts(b, "&maxresults=5000");
    if (l->prefix.n) {
        vp_buf_puts(b, "&prefix=");
        url_encode(b, vp_buf_view(&l->prefix), false);
    }
    return vp_buf_puts(b, "&restype=container");
}

static int azure_read_page(listing *l, http_call *c)
{
    VP_TRY(http_succeed(c));
    l->next.n = 0;
    l->is_in = false;
    xml_begin(&l->xml, azure_on_xml, l);
    VP_TRY(xml_feed(&l->xml, vp_buf_view(&c->answer)));
    VP_TRY(xml_end(&l->xml));
    return l->name.status ? l->name.status : l->next.status;
}

static int azure_list_pages(listing *l)
{
    do {
        http_call c;
        VP_CLEANUP(vp_buf_free) vp_buf query;
        vp_buf_init(&query, FETCH_ASK_MAX);
        VP_TRY(azure_put_query(l, &query));
        int rc = azure_begin(l->p, &c, "GET", VP_STR_NONE, vp_buf_view(&query));
        if (rc == 0)
            rc = azure_read_page(l, &c);
        http_end(&c);
        VP_TRY(rc);
    } while (l->next.n);
    return l->found || !l->prefix.n ? 0 : vp_fail(VP_ENOTFOUND, "no objects found at this address");
}

int azure_list(azure_place *p, entries *e)
{
    listing l = {.p = p, .e = e};
    vp_str key = url_without_end(p->key);
    vp_buf_init(&l.prefix, FETCH_ASK_MAX);
    vp_buf_init(&l.name, FETCH_ASK_MAX);
    vp_buf_init(&l.next, FETCH_ASK_MAX);
    vp_buf_init(&l.etag, 1024);
    vp_buf_str(&l.prefix, key);
    if (key.n)
        vp_buf_putc(&l.prefix, '/');
    int rc = l.prefix.status ? l.prefix.status : azure_list_pages(&l);
    vp_buf_free(&l.prefix);
    vp_buf_free(&l.name);
    vp_buf_free(&l.next);
    vp_buf_free(&l.etag);
    return rc;
}
