/* ListObjectsV2, page by page. */
#include "server/fetch/http/http_fail.h"
#include "server/fetch/store/s3.h"
#include "server/fetch/text/url.h"
#include "server/fetch/text/xml_walk.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"

typedef struct listing {
    s3_place *p;
    entries *e;
    vp_buf prefix, name, next, etag; /* next: the token of the next page */
    bool is_coded, is_truncated, is_common;
    entry one;
    uint64_t found;
    xml_walk xml;
} listing;

/* In names with encoding-type=url, + is a space. */
static int take_name(listing *l, vp_str text)
{
    l->name.n = 0;
    if (!l->is_coded)
        return vp_buf_str(&l->name, text);
    VP_CLEANUP(vp_buf_free) vp_buf plain;
    vp_buf_init(&plain, 2 * XML_TEXT_MAX);
    for (size_t i = 0; i < text.n; i++)
        vp_buf_putc(&plain, text.p[i] == '+' ? ' ' : text.p[i]);
    VP_TRY(plain.status);
    return url_decode(&l->name, vp_buf_view(&plain));
}

static int s3_put_entry(listing *l, bool is_dir)
{
    vp_str key = vp_buf_view(&l->name), prefix = vp_buf_view(&l->prefix);
    bool is_beneath = vp_str_starts(key, prefix);
    l->found++;
    if (vp_str_eq(key, prefix))
        return 0; /* a directory marker made by consoles */
    key = is_beneath ? vp_str_skip(key, prefix.n) : VP_STR_NONE;
    if (key.n && key.p[key.n - 1] == '/' && (is_dir || l->one.bytes == 0)) {
        key.n--;
        is_dir = true;
    }
    l->one.name = key;
    l->one.is_dir = is_dir;
    l->one.etag = vp_buf_view(&l->etag);
    if (is_dir)
        l->one = (entry){.name = key, .bytes = -1, .is_dir = true};
    return entries_put(l->e, &l->one);
}

static int s3_take_value(listing *l, vp_str name, vp_str text)
{
    uint64_t n;
    if (vp_str_eq(name, VP_STR("Key")) || (l->is_common && vp_str_eq(name, VP_STR("Prefix"))))
        return take_name(l, text);
    if (vp_str_eq(name, VP_STR("Size")))
        l->one.bytes = vp_str_to_u64(text, &n) && n <= INT64_MAX ? (int64_t)n : -1;
    else if (vp_str_eq(name, VP_STR("LastModified")))
        l->one.mtime_ns = xml_time(text);
    else if (vp_str_eq(name, VP_STR("ETag"))) {
        l->etag.n = 0;
        return vp_buf_str(&l->etag, vp_str_head(text, 255));
    } else if (vp_str_eq(name, VP_STR("NextContinuationToken")))
        return vp_buf_str(&l->next, text);
    else if (vp_str_eq(name, VP_STR("IsTruncated")))
        l->is_truncated = vp_str_eq(text, VP_STR("true"));
    return 0;
}

static int s3_on_xml(void *ctx, bool is_end, vp_str name, vp_str text)
{
    listing *l = ctx;
    bool is_common = vp_str_eq(name, VP_STR("CommonPrefixes"));
    bool is_one = is_common || vp_str_eq(name, VP_STR("Contents"));
    if (!is_one)
        return is_end ? s3_take_value(l, name, text) : 0;
    l->is_common = is_common && !is_end;
    if (is_end)
        return s3_put_entry(l, is_common);
    l->one = (entry){.bytes = -1};
    l->name.n = l->etag.n = 0;
    return 0;
}

static int s3_put_query(listing *l, vp_buf *b)
{
    if (l->next.n) {
        vp_buf_puts(b, "continuation-token=");
        url_encode(b, vp_buf_view(&l->next), false);
        vp_buf_putc(b, '&');
    }
    if (!l->p->ask->flat)
        vp_buf_puts(b, "delimiter=%2F&");
    vp_buf_puts(b, "encoding-type=url&list-type=2&max-keys=1000&prefix=");
    return url_encode(b, vp_buf_view(&l->prefix), false);
}

static int s3_read_page(listing *l, http_call *c)
{
    vp_str page, sign = VP_STR("<EncodingType>url</EncodingType>");
    VP_TRY(http_succeed(c));
    page = vp_buf_view(&c->answer);
    l->is_coded = vp_str_find(page, sign) < page.n;
    l->is_truncated = false;
    l->next.n = 0;
    xml_begin(&l->xml, s3_on_xml, l);
    VP_TRY(xml_feed(&l->xml, page));
    VP_TRY(xml_end(&l->xml));
    if (l->is_truncated && !l->next.n)
        return vp_fail(VP_ECORRUPT, "the listing of the server has no continuation token");
    return l->name.status ? l->name.status : l->next.status;
}

static int s3_list_pages(listing *l)
{
    do {
        http_call c;
        VP_CLEANUP(vp_buf_free) vp_buf query;
        vp_buf_init(&query, FETCH_ASK_MAX);
        VP_TRY(s3_put_query(l, &query));
        int rc = s3_begin(l->p, &c, "GET", VP_STR_NONE, vp_buf_view(&query));
        if (rc == 0)
            rc = s3_read_page(l, &c);
        http_end(&c);
        VP_TRY(rc);
    } while (l->is_truncated);
    return l->found || !l->prefix.n ? 0 : vp_fail(VP_ENOTFOUND, "no objects found at this address");
}

int s3_list(s3_place *p, entries *e)
{
    listing l = {.p = p, .e = e};
    vp_buf_init(&l.prefix, FETCH_ASK_MAX);
    vp_buf_init(&l.name, FETCH_ASK_MAX);
    vp_buf_init(&l.next, FETCH_ASK_MAX);
    vp_buf_init(&l.etag, 1024);
    vp_str key = url_without_end(p->key);
    vp_buf_str(&l.prefix, key);
    if (key.n)
        vp_buf_putc(&l.prefix, '/');
    int rc = s3_list_pages(&l);
    vp_buf_free(&l.prefix);
    vp_buf_free(&l.name);
    vp_buf_free(&l.next);
    vp_buf_free(&l.etag);
    return rc;
}
