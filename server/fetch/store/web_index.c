/* Lists directories by the index page of the server. */
#include <string.h>

#include "server/fetch/store/web.h"
#include "server/fetch/text/url.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

/* Number of concurrent requests for sizes. */
#define AHEAD 64u

typedef struct sized {
    char name[VP_MEMBER_NAME_MAX + 1];
    char etag[256];
    entry one;
    bool is_gone;
} sized;

typedef struct index_page {
    fetch_ask *a;
    vp_str url;
    web_found *found;
    void *ctx;
    sized *files; /* AHEAD entries whose sizes are unknown */
    uint32_t n;
} index_page;

static int ask_size(void *ctx, uint32_t i)
{
    index_page *x = ctx;
    sized *f = &x->files[i];
    http_call c;
    VP_CLEANUP(vp_buf_free) vp_buf url;
    vp_buf_init(&url, FETCH_ASK_MAX);
    web_beneath(&url, x->url, vp_str_of(f->name));
    int rc = url.status < 0 ? url.status : http_begin(&c, x->a, "HEAD", vp_buf_view(&url));
    if (url.status < 0)
        return rc;
    c.flags = HTTP_FOLLOWS;
    if (rc == 0)
        rc = http_perform(&c);
    if (rc == 0) {
        f->is_gone = c.status == 404 || c.status == 410;
        f->one = c.status == 200 ? store_entry(&c) : (entry){.bytes = -1};
        memcpy(f->etag, c.etag, sizeof f->etag);
        f->one.etag = vp_str_of(f->etag);
        f->one.name = vp_str_of(f->name);
    }
    http_end(&c);
    return rc;
}

static int index_flush_files(index_page *x)
{
    VP_TRY(vp_each(HTTP_AT_ONCE, x->n, ask_size, x));
    for (uint32_t i = 0; i < x->n; i++)
        if (!x->files[i].is_gone)
            VP_TRY(x->found(x->ctx, &x->files[i].one));
    x->n = 0;
    return 0;
}

/* A name that is not valid for a file is passed on, to be counted. */
static int index_take_link(index_page *x, vp_str name, bool is_dir)
{
    if (is_dir || url_name_fault(name))
        return x->found(x->ctx, &(entry){.name = name, .bytes = -1, .is_dir = is_dir});
    sized *f = &x->files[x->n++];
    memset(f, 0, sizeof *f);
    memcpy(f->name, name.p, name.n);
    return x->n == AHEAD ? index_flush_files(x) : 0;
}

/* &amp; and similar entities, which also occur in links. */
static void put_unescaped_html(vp_buf *b, vp_str s)
{
    static const struct {
        vp_str name;
        char c;
    } known[] = {{VP_STR_INIT("&amp;"), '&'},   {VP_STR_INIT("&quot;"), '"'},
                 {VP_STR_INIT("&#x27;"), '\''}, {VP_STR_INIT("&#39;"), '\''},
                 {VP_STR_INIT("&lt;"), '<'},    {VP_STR_INIT("&gt;"), '>'}};
    while (s.n) {
        size_t taken = 0;
        for (size_t i = 0; i < sizeof known / sizeof *known && !taken; i++)
            if (vp_str_starts_nocase(s, known[i].name)) {
                taken = known[i].name.n;
                vp_buf_putc(b, known[i].c);
            }
        if (!taken)
            vp_buf_putc(b, s.p[0]);
        s = vp_str_skip(s, taken ? taken : 1);
    }
}

/* The next href="…"; false: none. */
static bool next_link(vp_str *page, vp_str *link)
{
    for (;;) {
        size_t at = vp_str_find_nocase(*page, VP_STR("href="));
        if (at == page->n)
            return false;
        *page = vp_str_skip(*page, at + 5);
        char quote = page->n ? page->p[0] : '\0';
        if (quote != '"' && quote != '\'')
            continue;
        *page = vp_str_skip(*page, 1);
        return vp_take_until(page, quote, FETCH_ASK_MAX, link);
    }
}

static bool is_link_elsewhere(vp_str url, vp_str link)
{
    vp_str host = vp_str_skip(url, vp_str_find(url, VP_STR("://")) + 3);
    size_t n = (size_t)(host.p - url.p) + vp_str_find(host, VP_STR("/"));
    return vp_str_find(link, VP_STR("://")) < link.n && !vp_str_starts(link, vp_str_head(url, n));
}

/* Links for sorting, to the parent or to other sites are not files. */
static bool is_file_link(vp_str url, vp_str link)
{
    return link.n && !is_link_elsewhere(url, link) && link.p[0] != '?' && link.p[0] != '#' &&
           !vp_str_starts(link, VP_STR("../")) && !vp_str_eq(link, VP_STR("..")) &&
           !vp_str_starts_nocase(link, VP_STR("mailto:")) &&
           !vp_str_starts_nocase(link, VP_STR("javascript:"));
}

static int index_take_page(index_page *x, vp_str page)
{
    VP_CLEANUP(vp_buf_free) vp_buf plain, name, last;
    vp_buf_init(&plain, 2 * FETCH_ASK_MAX);
    vp_buf_init(&name, 2 * FETCH_ASK_MAX);
    vp_buf_init(&last, 2 * FETCH_ASK_MAX);
    vp_str link;
    while (next_link(&page, &link)) {
        bool is_dir;
        plain.n = 0;
        put_unescaped_html(&plain, link);
        if (!is_file_link(x->url, vp_buf_view(&plain)) ||
            !web_is_beneath(x->url, vp_buf_view(&plain), &name, &is_dir) ||
            vp_str_eq(vp_buf_view(&last), vp_buf_view(&name)))
            continue; /* an icon and a name often link to the same file */
        last.n = 0;
        VP_TRY(vp_buf_str(&last, vp_buf_view(&name)));
        VP_TRY(index_take_link(x, vp_buf_view(&name), is_dir));
    }
    VP_TRY(plain.status);
    return index_flush_files(x);
}

static int list_page(index_page *x, http_call *c)
{
    c->flags = HTTP_FOLLOWS;
    VP_TRY(http_succeed(c));
    if (!vp_str_starts_nocase(vp_str_of(c->kind), VP_STR("text/html")))
        return vp_fail(
            VP_EUNSUPPORTED,
            "the server does not list this directory; it has neither WebDAV nor an index page");
    return index_take_page(x, vp_buf_view(&c->answer));
}

int web_index_list(fetch_ask *a, vp_str url, web_found *found, void *ctx)
{
    index_page x = {.a = a, .url = url, .found = found, .ctx = ctx};
    http_call c;
    x.files = vp_calloc(AHEAD, sizeof *x.files);
    VP_NEED(x.files);
    int rc = http_begin(&c, a, "GET", url);
    if (rc == 0)
        rc = list_page(&x, &c);
    http_end(&c);
    vp_free(x.files);
    return rc;
}
