/* /static: the built-in files of web/. */
#include <stdio.h>
#include <string.h>

#include "server/routes/routes.h"
#include "trace/report/html/web_files.h"

/* In ms. Assets do not change, but other responses may need their place in the cache. */
#define KEEP_MS 60000

static const char *asset_media_type(const char *name)
{
    static const struct {
        const char *ending, *type;
    } types[] = {{".css", "text/css; charset=utf-8"},
                 {".js", "text/javascript; charset=utf-8"},
                 {".svg", "image/svg+xml"},
                 {".html", "text/html; charset=utf-8"},
                 {".png", "image/png"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (vp_str_ends(vp_str_of(name), vp_str_of(types[i].ending)))
            return types[i].type;
    return "application/octet-stream";
}

/* A URL with the ETag (?v=…) can be cached forever. */
static int send_asset(http_req *rq, const web_file *a)
{
    http_entity e = {.type = asset_media_type(a->name)};
    const char *version = http_query(rq, "v");
    snprintf(e.etag, sizeof e.etag, "\"%s\"", a->etag);
    e.immutable = version && !strcmp(version, a->etag);
    http_keep(rq, KEEP_MS);
    return http_static(rq, a->raw, a->raw_n, a->gz, a->gz_n, &e);
}

int route_static(http_req *rq)
{
    const web_file *a = web_file_find(http_param(rq, 0));
    return a ? send_asset(rq, a) : http_fail(rq, 404, "file not found");
}
