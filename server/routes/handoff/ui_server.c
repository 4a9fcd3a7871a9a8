#include "server/routes/handoff/ui_server.h"

#include <stdio.h>
#include <string.h>

#include "server/net/connection/listen.h"
#include "server/net/http.h"
#include "server/routes/handoff/ui_build.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* Maximum segments of a path below /ui/, such as "v52.0-6b9586def/assets/brand.png". */
#define DEPTH_MAX 4
/* The port of Perfetto's development server, whose origin can read our traces. */
#define LISTED_PORT 10000

struct ui_server {
    ui_build *build;
    http_server *http;
};

/* The file types of a build; others are not served. Workers and WebAssembly require the correct
 * type. */
static const char *ui_media_type(const char *name)
{
    static const struct {
        const char *ending, *type;
    } types[] = {{".html", "text/html; charset=utf-8"},
                 {".js", "text/javascript; charset=utf-8"},
                 {".css", "text/css; charset=utf-8"},
                 {".wasm", "application/wasm"},
                 {".json", "application/json"},
                 {".map", "application/json"},
                 {".png", "image/png"},
                 {".svg", "image/svg+xml"},
                 {".woff2", "font/woff2"},
                 {".woff", "font/woff"},
                 {".ttf", "font/ttf"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (vp_str_ends(vp_str_of(name), vp_str_of(types[i].ending)))
            return types[i].type;
    return NULL;
}

static int send_ui_file(http_req *rq, const char *path)
{
    const ui_server *u = http_ctx(rq);
    VP_CLEANUP(vp_fs_close) int fd = -1;
    bool is_dir = true;
    vp_file_id id;
    http_entity e = {.type = ui_media_type(path)};
    if (!e.type || vp_fs_open_beneath(u->build->fd, path, &fd, &is_dir, &id) < 0 || is_dir)
        return http_fail(rq, 404, "file not found in this build of the Perfetto UI");
    http_entity_etag(&e, &id, "");
    return http_file(rq, vp_fs_take(&fd), &e);
}

/* The inline script is allowed by its hash in the policy, which was made at start. */
static int route_index(http_req *rq)
{
    const ui_build *b = ((const ui_server *)http_ctx(rq))->build;
    VP_CLEANUP(vp_fs_close) int fd = -1;
    bool is_dir = true;
    vp_file_id id;
    if (vp_fs_open_beneath(b->fd, "index.html", &fd, &is_dir, &id) < 0 ||
        memcmp(&id, &b->index, sizeof id) != 0)
        return http_fail(rq, 503,
                         "the Perfetto UI on this machine has changed; restart view_profile");
    return send_ui_file(rq, "index.html");
}

static int route_root(http_req *rq)
{
    return http_redirect(rq, "/ui/");
}

/* Serves a file of a version. Other files next to index.html are not needed, and a service worker
 * would outlive this server. */
static int route_file(http_req *rq)
{
    char path[VP_PATH_MAX];
    size_t n = 0;
    for (size_t i = 0; i < DEPTH_MAX && http_param(rq, i); i++) {
        int more = snprintf(path + n, sizeof path - n, "%s%s", i ? "/" : "", http_param(rq, i));
        if (more < 0 || (size_t)more >= sizeof path - n)
            return http_fail(rq, 404, "file not found in this build of the Perfetto UI");
        n += (size_t)more;
    }
    if (path[0] != 'v')
        return http_fail(rq, 404, "file not found in this build of the Perfetto UI");
    return send_ui_file(rq, path);
}

/* No token: these files are public, and the token must not be exposed to the code of the UI. */
static const http_route routes[] = {
    {HTTP_GET, "/", route_root, HTTP_OPEN},
    {HTTP_GET, "/ui/", route_index, HTTP_SLOW | HTTP_OPEN},
    {HTTP_GET, "/ui/{}/{}", route_file, HTTP_SLOW | HTTP_OPEN},
    {HTTP_GET, "/ui/{}/{}/{}", route_file, HTTP_SLOW | HTTP_OPEN},
    {HTTP_GET, "/ui/{}/{}/{}/{}", route_file, HTTP_SLOW | HTTP_OPEN},
    {0, NULL, NULL, 0},
};

static int port_beside(int site_port)
{
    int port = site_port < 0 ? HTTP_FIRST_PORT + 1 : site_port + 1;
    return !site_port || port > UINT16_MAX ? 0 : port;
}

static int start_ui_http(ui_server *u, int site_port)
{
    http_server *first = NULL;
    http_config cfg = {.opts = {.port = port_beside(site_port)},
                       .routes = routes,
                       .ctx = u,
                       .content_policy = u->build->policy};
    int rc = http_start(&u->http, &cfg);
    cfg.opts.port = 0;
    if (rc == VP_EBUSY)
        rc = http_start(&u->http, &cfg);
    if (rc < 0 || ui_server_port(u) != LISTED_PORT)
        return rc;
    /* The site allows this origin to read traces. Each server has a different port. */
    first = u->http;
    u->http = NULL;
    rc = http_start(&u->http, &cfg);
    http_stop(first);
    return rc;
}

int ui_server_start(ui_server **out, const char *dir, int site_port)
{
    ui_server *u = vp_calloc(1, sizeof *u);
    VP_NEED(u);
    int rc = ui_build_open(&u->build, dir);
    if (!rc)
        rc = start_ui_http(u, site_port);
    if (rc < 0) {
        ui_server_stop(u);
        return rc;
    }
    *out = u;
    return 0;
}

void ui_server_stop(ui_server *u)
{
    if (!u)
        return;
    http_stop(u->http);
    ui_build_close(&u->build);
    vp_free(u);
}

uint16_t ui_server_port(const ui_server *u)
{
    return http_server_port(u->http);
}

const char *ui_server_version(const ui_server *u)
{
    return u->build->version;
}
