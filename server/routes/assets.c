#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

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

/* What is embedded is gzip alone; who does not take that gets what it holds. */
static bool inflated;

static void inflate_all(void)
{
    inflated = true;
    for (const web_asset *a = web_assets; a->name; a++) {
        z_stream z = {.next_in = (unsigned char *)(uintptr_t)a->gz,
                      .avail_in = (uInt)a->gz_n,
                      .next_out = a->raw,
                      .avail_out = (uInt)a->raw_n + 1}; /* the end is seen with room left only */
        inflated = inflated && inflateInit2(&z, 15 + 16) == Z_OK;
        if (inflated) {
            inflated = inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == a->raw_n;
            inflateEnd(&z);
        }
    }
}

/* A link that carries the ETag (?v=…) never has to be asked for again. */
static int send_asset(http_req *rq, const web_asset *a)
{
    http_entity e = {.type = type_of(a->name)};
    const char *version = http_query(rq, "v");
    snprintf(e.etag, sizeof e.etag, "\"%s\"", a->etag);
    e.immutable = version && !strcmp(version, a->etag);
    http_keep(rq, KEEP_MS);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (a->gz && !http_wants_gzip(rq)) {
        pthread_once(&once, inflate_all);
        if (!inflated)
            return http_fail(rq, 503, "no memory to unpack this file: ask for it as gzip");
    }
    return http_static(rq, a->raw, a->raw_n, a->gz, a->gz_n, &e);
}

/* The stylesheet of reports lives with their writer, because it is also printed into pages that
 * stand alone. */
static char report_etag[24];
static web_asset report_css = {"report.css", report_etag, NULL, 0, NULL, 0};

static void describe_report_css(void)
{
    report_css.raw = (unsigned char *)(uintptr_t)rep_css;
    report_css.raw_n = strlen(rep_css);
    snprintf(report_etag, sizeof report_etag, "%016llx",
             (unsigned long long)vp_hash(rep_css, report_css.raw_n, 0));
}

static const web_asset *find(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, describe_report_css);
    if (!strcmp(name, report_css.name))
        return &report_css;
    for (const web_asset *a = web_assets; a->name; a++)
        if (!strcmp(a->name, name))
            return a;
    return NULL;
}

const char *asset_version(const char *name)
{
    const web_asset *a = find(name);
    return a ? a->etag : NULL;
}

int route_static(http_req *rq)
{
    const web_asset *a = find(http_param(rq, 0));
    return a ? send_asset(rq, a) : http_fail(rq, 404, "no such file");
}
