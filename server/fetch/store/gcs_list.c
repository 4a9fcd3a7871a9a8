/* objects.list, page by page. */
#include <jansson.h>

#include "server/fetch/store/gcs.h"
#include "server/fetch/text/url.h"
#include "server/fetch/text/xml_walk.h"
#include "trace/base/err.h"

typedef struct listing {
    gcs_place *p;
    entries *e;
    vp_buf prefix, next; /* next: the token of the next page */
    uint64_t found;
} listing;

static vp_str listing_text(const json_t *o, const char *name)
{
    const json_t *v = json_object_get(o, name);
    return (vp_str){json_string_value(v), json_string_length(v)};
}

/* Its name without the prefix; empty: another prefix. */
static vp_str name_beneath_prefix(const listing *l, vp_str key)
{
    vp_str prefix = vp_buf_view(&l->prefix);
    return vp_str_starts(key, prefix) ? vp_str_skip(key, prefix.n) : VP_STR_NONE;
}

static int gcs_put_entry(listing *l, vp_str key, entry one)
{
    l->found++;
    if (vp_str_eq(key, vp_buf_view(&l->prefix)))
        return 0; /* a directory marker made by consoles */
    one.name = name_beneath_prefix(l, key);
    if (one.name.n && one.name.p[one.name.n - 1] == '/' && one.bytes <= 0) {
        one.name.n--;
        one = (entry){.name = one.name, .bytes = -1, .is_dir = true};
    }
    return entries_put(l->e, &one);
}

static int gcs_put_listed_object(listing *l, const json_t *o)
{
    uint64_t n;
    bool has = vp_str_to_u64(listing_text(o, "size"), &n) && n <= INT64_MAX;
    return gcs_put_entry(l, listing_text(o, "name"),
                         (entry){.bytes = has ? (int64_t)n : -1,
                                 .mtime_ns = xml_time(listing_text(o, "updated")),
                                 .etag = listing_text(o, "generation")});
}

static int gcs_take_page(listing *l, const json_t *page)
{
    size_t i;
    const json_t *one;
    if (!json_is_object(page))
        return vp_fail(VP_ECORRUPT, "the listing of the server is not valid JSON");
    json_array_foreach(json_object_get(page, "items"), i, one)
        VP_TRY(gcs_put_listed_object(l, one));
    json_array_foreach(json_object_get(page, "prefixes"), i, one)
        VP_TRY(gcs_put_entry(l, (vp_str){json_string_value(one), json_string_length(one)},
                             (entry){.bytes = -1, .is_dir = true}));
    l->next.n = 0;
    return vp_buf_str(&l->next, listing_text(page, "nextPageToken"));
}

static int gcs_read_page(listing *l, http_call *c)
{
    VP_TRY(http_succeed(c));
    /* JSON_ALLOW_NUL: a name with a NUL is only counted, and must not hide others. */
    json_t *page = json_loadb(c->answer.n ? c->answer.p : "", c->answer.n, JSON_ALLOW_NUL, NULL);
    int rc = gcs_take_page(l, page);
    json_decref(page);
    return rc;
}

static int gcs_put_query(listing *l, vp_buf *b)
{
    vp_buf_puts(b, "maxResults=1000&fields=items(name,size,updated,generation),prefixes,"
                   "nextPageToken&prefix=");
    url_encode(b, vp_buf_view(&l->prefix), false);
    if (!l->p->ask->flat)
        vp_buf_puts(b, "&delimiter=%2F");
    if (l->next.n) {
        vp_buf_puts(b, "&pageToken=");
        url_encode(b, vp_buf_view(&l->next), false);
    }
    return b->status;
}

static int gcs_list_pages(listing *l)
{
    do {
        http_call c;
        VP_CLEANUP(vp_buf_free) vp_buf query;
        vp_buf_init(&query, FETCH_ASK_MAX);
        VP_TRY(gcs_put_query(l, &query));
        int rc = gcs_begin(l->p, &c, "GET", "", VP_STR_NONE, vp_buf_view(&query));
        if (rc == 0)
            rc = gcs_read_page(l, &c);
        http_end(&c);
        VP_TRY(rc);
    } while (l->next.n);
    return l->found || !l->prefix.n ? 0 : vp_fail(VP_ENOTFOUND, "no objects found at this address");
}

int gcs_list(gcs_place *p, entries *e)
{
    listing l = {.p = p, .e = e};
    vp_str key = url_without_end(p->key);
    vp_buf_init(&l.prefix, FETCH_ASK_MAX);
    vp_buf_init(&l.next, FETCH_ASK_MAX);
    vp_buf_str(&l.prefix, key);
    if (key.n)
        vp_buf_putc(&l.prefix, '/');
    int rc = l.prefix.status ? l.prefix.status : gcs_list_pages(&l);
    vp_buf_free(&l.prefix);
    vp_buf_free(&l.next);
    return rc;
}
