/* C API: catalogs of runs. */
#include "server/api/handles.h"

int vp_catalog_open(vp_catalog **out, const char *path)
{
    cat_options opts = CAT_OPTIONS_INIT;
    catalog *c;
    if (!out || !path)
        return vp_fail(VP_EARG, "no path to open");
    if (mirror_is_url(path))
        VP_TRY(mirror_open_url(&opts.mirror, path, false));
    int rc = catalog_open(&c, path, &opts);
    mirror_free(opts.mirror);
    VP_TRY(rc);
    *out = (vp_catalog *)c;
    return 0;
}

void vp_catalog_free(vp_catalog *c)
{
    catalog_free((catalog *)c);
}

size_t vp_catalog_count(const vp_catalog *c)
{
    return c ? catalog_count(api_catalog(c)) : 0;
}

int vp_catalog_session(const vp_session **out, const vp_catalog *c, size_t i)
{
    size_t n = vp_catalog_count(c);
    if (i >= n)
        return vp_fail(VP_ENOTFOUND, "run index %zu is out of range (%zu runs)", i, n);
    *out = (const vp_session *)catalog_get(api_catalog(c), i);
    return 0;
}

static int take_found_session(const vp_session **out, const cat_session *s)
{
    if (!s)
        return vp_error_last()->code;
    *out = (const vp_session *)s;
    return 0;
}

int vp_catalog_latest(const vp_session **out, const vp_catalog *c)
{
    return c ? take_found_session(out, catalog_latest(api_catalog(c)))
             : vp_fail(VP_EARG, "no catalog");
}

int vp_catalog_find(const vp_session **out, const vp_catalog *c, const char *key)
{
    if (!c || !key)
        return vp_fail(VP_EARG, "no catalog or no key");
    return take_found_session(out, catalog_find(api_catalog(c), vp_str_of(key)));
}

const char *vp_session_id(const vp_session *s)
{
    return api_session(s)->id;
}

const char *vp_session_name(const vp_session *s)
{
    return api_session(s)->name;
}

const char *vp_session_path(const vp_session *s)
{
    return api_session(s)->path;
}

int64_t vp_session_captured_unix_ns(const vp_session *s)
{
    return api_session(s)->captured_unix_ns;
}
