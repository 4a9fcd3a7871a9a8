/* http:// and https:// URLs are files. Directories are listed by WebDAV, or by their index page if
 * the server does not support it. Each request lists one level; the walk is done here. */
#include "server/fetch/store/web.h"

#include <string.h>
#include <sys/random.h>

#include "server/fetch/http/http_fail.h"
#include "server/fetch/text/url.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

struct store_place {
    http_call head; /* response to which an entry refers */
    bool has_head;
    bool has_no_dav;
};

static int web_open(fetch_ask *a, store_place **p)
{
    (void)a;
    *p = vp_calloc(1, sizeof **p);
    VP_NEED(*p);
    return 0;
}

static void web_close(store_place *p)
{
    if (p && p->has_head)
        http_end(&p->head);
    vp_free(p);
}

static int web_head(fetch_ask *a, store_place *p, entry *out)
{
    p->has_head = true;
    VP_TRY(http_begin(&p->head, a, "HEAD", a->url));
    p->head.flags = HTTP_FOLLOWS;
    VP_TRY(http_succeed(&p->head));
    *out = store_entry(&p->head);
    return 0;
}

static int web_get(fetch_ask *a, store_place *p, vp_str etag, http_call *c)
{
    (void)p;
    VP_TRY(http_begin(c, a, "GET", a->url));
    c->flags = HTTP_FOLLOWS;
    return store_want_etag(c, etag);
}

/* ---- Directories ----------------------------------------------------------------------------- */

typedef struct walk {
    fetch_ask *a;
    store_place *p;
    entries *e;
    char **dirs; /* names that are still to be listed; the first is the URL itself */
    size_t n, cap, at;
    vp_str dir; /* the one that is */
} walk;

static unsigned path_depth(vp_str name)
{
    unsigned depth = name.n > 0;
    for (size_t i = 0; i < name.n; i++)
        depth += name.p[i] == '/';
    return depth;
}

static int walk_push_dir(walk *w, vp_str name)
{
    VP_TRY(vp_grow(&w->dirs, &w->cap, w->n + 1, sizeof *w->dirs, VP_WALK_ENTRIES_MAX));
    w->dirs[w->n] = vp_strndup(name.n ? name.p : "", name.n);
    VP_NEED(w->dirs[w->n]);
    w->n++;
    return 0;
}

static int on_web_entry(void *ctx, const entry *one)
{
    walk *w = ctx;
    entry full = *one;
    VP_CLEANUP(vp_buf_free) vp_buf name;
    vp_buf_init(&name, 128u << 10);
    /* Names of a one-level listing have one component; others are ignored. */
    if (memchr(one->name.p, '/', one->name.n))
        full.name = VP_STR_NONE;
    else if (w->dir.n)
        vp_buf_printf(&name, "%.*s/", VP_STR_ARG(w->dir));
    if (full.name.n)
        vp_buf_str(&name, full.name);
    VP_TRY(name.status);
    full.name = vp_buf_view(&name);
    if (w->a->flat && one->is_dir && !url_name_fault(full.name)) {
        if (path_depth(full.name) < VP_WALK_DEPTH_MAX)
            return walk_push_dir(w, full.name);
        return vp_fail(VP_ELIMIT, "directories are nested more than %u levels deep",
                       VP_WALK_DEPTH_MAX);
    }
    return entries_put(w->e, &full);
}

static int list_one(walk *w)
{
    VP_CLEANUP(vp_buf_free) vp_buf url;
    vp_buf_init(&url, FETCH_ASK_MAX);
    web_beneath(&url, w->a->url, VP_STR_NONE);
    if (w->dir.n) {
        url.n = 0;
        VP_CLEANUP(vp_buf_free) vp_buf dir;
        vp_buf_init(&dir, 2 * VP_MEMBER_NAME_MAX);
        vp_buf_printf(&dir, "%.*s/", VP_STR_ARG(w->dir));
        VP_TRY(dir.status);
        web_beneath(&url, w->a->url, vp_buf_view(&dir));
    }
    VP_TRY(url.status);
    bool spoke = false;
    if (!w->p->has_no_dav)
        VP_TRY(web_dav_list(w->a, vp_buf_view(&url), on_web_entry, w, &spoke));
    w->p->has_no_dav = !spoke;
    return spoke ? 0 : web_index_list(w->a, vp_buf_view(&url), on_web_entry, w);
}

static int web_list(fetch_ask *a, store_place *p, entries *e)
{
    walk w = {.a = a, .p = p, .e = e};
    int rc = walk_push_dir(&w, VP_STR_NONE);
    for (; rc == 0 && w.at < w.n; w.at++) {
        w.dir = vp_str_of(w.dirs[w.at]);
        rc = list_one(&w);
        /* An entry that was deleted since it was listed is not an error. */
        if (rc == VP_ENOTFOUND && w.at)
            rc = 0;
    }
    for (size_t i = 0; i < w.n; i++)
        vp_free(w.dirs[i]);
    vp_free(w.dirs);
    return rc;
}

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct upload {
    fetch_ask *a;
    size_t left; /* of the current frame */
    bool is_done;
} upload;

static long read_upload_bytes(void *ctx, char *p, size_t n)
{
    upload *u = ctx;
    fetch_frame kind;
    while (!u->left && !u->is_done) {
        VP_TRY(fetch_head(u->a->stream, &kind, &u->left));
        if (kind == FETCH_END)
            u->is_done = true;
        else if (kind != FETCH_DATA)
            return vp_fail(VP_EARG, "invalid write request");
    }
    n = n < u->left ? n : u->left;
    VP_TRY(n ? fetch_take(u->a->stream, p, n) : 0);
    u->left -= n;
    return (long)n;
}

/* The directory in the first `end` bytes of the URL, with the URL's query. */
static int put_dir(vp_buf *b, vp_str url, size_t end)
{
    vp_buf_init(b, FETCH_ASK_MAX);
    vp_buf_str(b, vp_str_head(url, end));
    return vp_buf_str(b, vp_str_skip(url, vp_str_find(url, VP_STR("?"))));
}

static int make_collection(fetch_ask *a, size_t end, long *status)
{
    VP_CLEANUP(vp_buf_free) vp_buf url;
    http_call c;
    VP_TRY(put_dir(&url, a->url, end));
    int rc = http_begin(&c, a, "MKCOL", vp_buf_view(&url));
    if (rc == 0)
        rc = http_perform(&c);
    *status = c.status;
    http_end(&c);
    return rc;
}

/* Creates the collections of an address: only the last one if its parent exists, else all,
 * outermost first. Errors are reported by the upload itself. */
static int make_parents(fetch_ask *a)
{
    size_t begin = vp_str_find(a->url, VP_STR("://")) + 3, end = a->url.n;
    long status;
    const char *query = memchr(a->url.p, '?', a->url.n);
    vp_str path = query ? vp_str_head(a->url, (size_t)(query - a->url.p)) : a->url;
    end = vp_str_rfind_char(path, '/') + 1;
    begin += vp_str_find(vp_str_skip(path, begin), VP_STR("/")) + 1;
    if (end <= begin || end > path.n)
        return 0;
    VP_TRY(make_collection(a, end, &status));
    for (size_t i = begin; i < end && status == 409; i++)
        if (path.p[i] == '/') {
            long ignored;
            VP_TRY(make_collection(a, i + 1, &ignored));
        }
    return 0;
}

static int web_put(fetch_ask *a, upload *u, http_call *c)
{
    VP_TRY(http_begin(c, a, "PUT", a->url));
    c->more = read_upload_bytes;
    c->ctx = u;
    c->body_n = a->length;
    return http_succeed(c);
}

static int web_write(fetch_ask *a, store_place *p)
{
    upload u = {.a = a};
    http_call c;
    (void)p;
    VP_TRY(make_parents(a));
    int rc = web_put(a, &u, &c);
    if (rc < 0 && (c.status == 405 || c.status == 501))
        rc = vp_fail(VP_EUNSUPPORTED, "the server does not allow uploads (HTTP %ld)", c.status);
    http_end(&c);
    return rc;
}

/* ---- Removing -------------------------------------------------------------------------------- */

/* A server deletes a directory with all its content. */
static int web_remove(fetch_ask *a, store_place *p, vp_str etag, http_call *c)
{
    (void)p;
    VP_TRY(http_begin(c, a, "DELETE", a->url));
    vp_str path = vp_str_head(a->url, vp_str_find(a->url, VP_STR("?")));
    if (vp_str_ends(path, VP_STR("/")))
        return vp_fail(VP_EARG, "a directory cannot be removed");
    return store_want_etag(c, etag);
}

/* The name to which a directory is moved before it is deleted: next to it, random, and not listed.
 */
static int put_tidy_name(vp_buf *b, vp_str dir, vp_str query)
{
    uint64_t random = 0;
    (void)!getrandom(&random, sizeof random, GRND_NONBLOCK); /* an existing name is refused */
    dir = vp_str_head(dir, dir.n - 1);
    vp_buf_init(b, FETCH_ASK_MAX);
    vp_buf_str(b, vp_str_head(dir, vp_str_rfind_char(dir, '/') + 1));
    vp_buf_printf(b, ".view_profile-%016llx/", (unsigned long long)random);
    return vp_buf_str(b, query);
}

/* A URL for a header: without user:password@ and query. */
static vp_str url_without_secrets(vp_str url, vp_str *scheme)
{
    size_t n = vp_str_find(url, VP_STR("://")) + 3;
    vp_str rest = vp_str_skip(vp_str_head(url, vp_str_find(url, VP_STR("?"))), n);
    vp_str host = vp_str_head(rest, vp_str_find(rest, VP_STR("/")));
    size_t at = vp_str_rfind_char(host, '@');
    *scheme = vp_str_head(url, n);
    return at < host.n ? vp_str_skip(rest, at + 1) : rest;
}

static int web_move(fetch_ask *a, vp_str from, vp_str to)
{
    http_call c;
    vp_str scheme, rest = url_without_secrets(to, &scheme);
    int rc = http_begin(&c, a, "MOVE", from);
    if (rc == 0)
        rc = http_put_header(&c, "Destination: %.*s%.*s", VP_STR_ARG(scheme), VP_STR_ARG(rest));
    if (rc == 0)
        rc = http_put_header(&c, "Overwrite: F");
    if (rc == 0)
        rc = http_succeed(&c);
    http_end(&c);
    return rc;
}

static bool is_empty_web_dir(const fetch_ask *a, store_place *p, vp_str dir)
{
    fetch_ask of = *a;
    entries e;
    of.url = dir;
    of.flat = false;
    entries_begin(&e, -1);
    bool empty = web_list(&of, p, &e) == 0 && !e.told && !e.refused;
    entries_free(&e);
    return empty;
}

static void remove_dir(fetch_ask *a, vp_str dir)
{
    http_call c;
    if (http_begin(&c, a, "DELETE", dir) == 0)
        (void)http_perform(&c);
    http_end(&c);
}

/* Stores have no directories, but a WebDAV directory remains and would be listed forever. A server
 * deletes its content too, including files written a moment ago. Therefore the directory is first
 * moved to an unused name, and moved back if it has content. Failures here are not
 * failures of the removed file. */
static int web_tidy(fetch_ask *a, store_place *p)
{
    VP_CLEANUP(vp_buf_free) vp_buf dir = {0}, aside = {0};
    size_t n = vp_str_find(a->url, VP_STR("?"));
    vp_str query = vp_str_skip(a->url, n);
    VP_TRY(put_dir(&dir, a->url, vp_str_rfind_char(vp_str_head(a->url, n), '/') + 1));
    vp_str here = vp_buf_view(&dir);
    if (!is_empty_web_dir(a, p, here) || fetch_abandoned(a))
        return 0;
    VP_TRY(put_tidy_name(&aside, vp_str_head(here, here.n - query.n), query));
    vp_str there = vp_buf_view(&aside);
    if (web_move(a, here, there) < 0)
        return 0;
    if (is_empty_web_dir(a, p, there))
        remove_dir(a, there);
    else
        (void)web_move(a, there, here);
    return 0;
}

#define WEB(scheme)                                                                                \
    {                                                                                              \
        .prefix = VP_STR_INIT(scheme), .open = web_open, .close = web_close, .list = web_list,     \
        .head = web_head, .get = web_get, .version = store_etag, .write = web_write,               \
        .remove = web_remove, .tidy = web_tidy                                                     \
    }
const store store_web = WEB("http://"), store_web_tls = WEB("https://");
