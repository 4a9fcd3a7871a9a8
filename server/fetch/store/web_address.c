/* Converts between the URL of a directory and those of its children. */
#include <string.h>

#include "server/fetch/store/web.h"
#include "server/fetch/text/url.h"
#include "trace/base/err.h"

/* Without scheme, host, query and fragment. */
static vp_str url_path_of(vp_str url)
{
    size_t scheme = vp_str_find(url, VP_STR("://"));
    if (scheme < url.n && !memchr(url.p, '/', scheme)) {
        url = vp_str_skip(url, scheme + 3);
        const char *slash = memchr(url.p, '/', url.n);
        url = slash ? vp_str_skip(url, (size_t)(slash - url.p)) : VP_STR("/");
    }
    for (size_t i = 0; i < url.n; i++)
        if (url.p[i] == '?' || url.p[i] == '#')
            return vp_str_head(url, i);
    return url;
}

int web_beneath(vp_buf *b, vp_str url, vp_str name)
{
    vp_str path = url_path_of(url);
    size_t end = (size_t)(path.p - url.p) + path.n;
    bool has_path = path.p >= url.p && path.p <= url.p + url.n;
    vp_buf_str(b, url_without_end(has_path ? vp_str_head(url, end) : url));
    vp_buf_putc(b, '/');
    url_encode(b, name, true);
    return has_path ? vp_buf_str(b, vp_str_skip(url, end)) : b->status; /* ?… is kept */
}

bool web_is_beneath(vp_str url, vp_str link, vp_buf *b, bool *is_dir)
{
    bool is_relative = link.n && link.p[0] != '/' && vp_str_find(link, VP_STR("://")) == link.n;
    VP_CLEANUP(vp_buf_free) vp_buf base;
    vp_buf_init(&base, 64u << 10);
    b->n = 0;
    vp_str path = url_path_of(link);
    if (vp_str_starts(path, VP_STR("./")))
        path = vp_str_skip(path, 2);
    *is_dir = path.n && path.p[path.n - 1] == '/';
    url_decode(b, url_without_end(path));
    if (is_relative)
        return b->status == 0 && b->n;
    url_decode(&base, url_without_end(url_path_of(url)));
    vp_buf_putc(&base, '/');
    if (b->status < 0 || base.status < 0 || !vp_str_starts(vp_buf_view(b), vp_buf_view(&base)))
        return false;
    b->n -= base.n;
    memmove(b->p, b->p + base.n, b->n);
    return b->n > 0;
}
