#include <stdio.h>
#include <string.h>

#include "server/routes/assets.h"
#include "server/routes/routes.h"
#include "trace/report/report.h"

/* What is built in does not change; others may want the place in memory. */
#define KEEP_MS 60000

static const char *type_of(const char *name)
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

/* A link that carries the ETag (?v=…) never has to be asked for again. */
static int send_asset(http_req *rq, const web_asset *a)
{
    http_entity e = {.type = type_of(a->name)};
    const char *version = http_query(rq, "v");
    snprintf(e.etag, sizeof e.etag, "\"%s\"", a->etag);
    e.immutable = version && !strcmp(version, a->etag);
    http_keep(rq, KEEP_MS);
    return http_static(rq, a->raw, a->raw_n, a->gz, a->gz_n, &e);
}

/* The stylesheet of reports lives with their writer, because it is also printed into pages that
 * stand alone. */
static int send_report_css(http_req *rq)
{
    size_t n = strlen(rep_css);
    char etag[24];
    snprintf(etag, sizeof etag, "%016llx", (unsigned long long)vp_hash(rep_css, n, 0));
    web_asset a = {"report.css", etag, (const unsigned char *)rep_css, n, NULL, 0};
    return send_asset(rq, &a);
}

int route_static(http_req *rq)
{
    const char *name = http_param(rq, 0);
    if (!strcmp(name, "report.css"))
        return send_report_css(rq);
    for (const web_asset *a = web_assets; a->name; a++)
        if (!strcmp(a->name, name))
            return send_asset(rq, a);
    return http_fail(rq, 404, "no such file");
}
