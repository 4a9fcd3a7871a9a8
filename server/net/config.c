#include "server/net/config.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "server/net/connection/peer.h"
#include "server/net/request/access_log.h"
#include "server/net/request/metrics.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

static int copy_text_lists(char ***out, const char *const *first, const char *const *second)
{
    size_t n = 0, k = 0;
    for (const char *const *p = first; p && *p; p++)
        n++;
    for (const char *const *p = second; p && *p; p++)
        n++;
    char **list = vp_calloc(n + 1, sizeof *list);
    VP_NEED(list);
    *out = list; /* freed by the server, also when a copy fails */
    for (int i = 0; i < 2; i++)
        for (const char *const *p = i ? second : first; p && *p; p++)
            if (!(list[k++] = vp_strdup(*p)))
                return vp_no_memory();
    return 0;
}

static void free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        vp_free(list[i]);
    vp_free(list);
}

static int make_token(char **out)
{
    unsigned char raw[16];
    char *z = vp_calloc(2 * sizeof raw + 1, 1);
    VP_NEED(z);
    if (getrandom(raw, sizeof raw, 0) != (ssize_t)sizeof raw) {
        vp_free(z);
        return vp_fail(VP_EIO, "getrandom failed");
    }
    for (size_t i = 0; i < sizeof raw; i++) {
        z[2 * i] = "0123456789abcdef"[raw[i] >> 4];
        z[2 * i + 1] = "0123456789abcdef"[raw[i] & 15];
    }
    *out = z;
    return 0;
}

/* Characters of a token that need no quoting in a URL, a cookie or a header. */
static int check_token(const char *token)
{
    if (strlen(token) < 16)
        return vp_fail(VP_EARG, "the token is shorter than 16 characters");
    for (const char *p = token; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", *p))
            return vp_fail(VP_EARG, "the token can contain only letters, digits, - and _");
    return 0;
}

static int set_token(http_server *s, const http_config *cfg)
{
    if (!cfg->opts.token) {
        /* On loopback, the user of the client is sufficient authentication if it can be determined.
         */
        int rc = s->sockets.bound[0]
                     ? VP_EUNSUPPORTED
                     : http_peers_open(&s->serving.peers, s->sockets.fds, s->sockets.count);
        return rc == VP_EUNSUPPORTED ? make_token(&s->token) : rc;
    }
    VP_TRY(check_token(cfg->opts.token));
    s->token = vp_strdup(cfg->opts.token);
    return s->token ? 0 : vp_no_memory();
}

static int set_policy(http_server *s, const http_config *cfg)
{
    static const char *const perfetto[] = {"https://ui.perfetto.dev", "http://localhost:10000",
                                           "http://127.0.0.1:10000", NULL};
    const char *bound = s->sockets.bound;
    VP_TRY(copy_text_lists(&s->hosts, cfg->opts.allow_hosts, NULL));
    VP_TRY(copy_text_lists(&s->origins, perfetto, cfg->opts.allow_origins));
    VP_TRY(set_token(s, cfg));
    s->serving.policy = (guard_policy){
        .port = s->sockets.port,
        .any_address = !strcmp(bound, "0.0.0.0") || !strcmp(bound, "::"),
        .bound = bound[0] ? bound : NULL,
        .hosts = (const char *const *)s->hosts,
        .origins = (const char *const *)s->origins,
        .token = s->token,
    };
    return 0;
}

static int server_set_url(http_server *s)
{
    vp_buf b;
    const char *host =
        s->serving.policy.any_address || !s->sockets.shown[0] ? "127.0.0.1" : s->sockets.shown;
    bool v6 = strchr(host, ':') != NULL;
    vp_buf_init(&b, VP_PATH_MAX);
    if (s->sockets.port)
        vp_buf_printf(&b, "http://%s%s%s:%u%s/", v6 ? "[" : "", host, v6 ? "]" : "",
                      s->sockets.port, s->serving.prefix);
    else
        vp_buf_printf(&b, "unix:%s", s->sockets.path ? s->sockets.path : "(inherited)");
    if (s->token && s->sockets.port)
        vp_buf_printf(&b, "?token=%s", s->token);
    s->url = vp_buf_take(&b, NULL);
    return s->url ? 0 : vp_no_memory();
}

/* "/a/b": every segment of letters, digits and "-._~", none of them "." or "..". */
static bool prefix_fits(const char *prefix)
{
    vp_str rest = vp_str_of(prefix), part;
    if (rest.n >= HTTP_PREFIX_MAX || !vp_str_starts(rest, VP_STR("/")) ||
        vp_str_ends(rest, VP_STR("/")))
        return false;
    rest = vp_str_skip(rest, 1);
    while (rest.n) {
        vp_take_until(&rest, '/', SIZE_MAX, &part);
        if (!part.n || vp_str_eq(part, VP_STR(".")) || vp_str_eq(part, VP_STR("..")))
            return false;
        for (size_t i = 0; i < part.n; i++)
            if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~",
                        part.p[i]))
                return false;
    }
    return true;
}

static int set_prefix(http_server *s, const char *prefix)
{
    if (!prefix)
        return 0;
    if (!prefix_fits(prefix))
        return vp_fail(VP_EARG,
                       "the path prefix '%.60s' must start with a slash, not end with one, and "
                       "contain only letters, digits and -._~",
                       prefix);
    snprintf(s->serving.prefix, sizeof s->serving.prefix, "%s", prefix);
    return 0;
}

int http_configure(http_server *s, const http_config *cfg)
{
    s->serving.routes = cfg->routes;
    s->serving.ctx = cfg->ctx;
    s->serving.refused = cfg->refused;
    s->cancel = cfg->cancel;
    if (cfg->content_policy)
        VP_NEED(s->serving.content_policy = vp_strdup(cfg->content_policy));
    VP_TRY(set_prefix(s, cfg->opts.path_prefix));
    if (cfg->opts.inherit)
        VP_TRY(http_listen_inherited(&s->sockets));
    if (!s->sockets.count && cfg->opts.unix_path)
        VP_TRY(http_listen_unix(&s->sockets, cfg->opts.unix_path));
    else if (!s->sockets.count)
        VP_TRY(http_listen(&s->sockets, cfg->opts.host, cfg->opts.port));
    VP_TRY(set_policy(s, cfg));
    VP_TRY(http_metrics_new(&s->serving.metrics, cfg->routes));
    if (cfg->opts.access_log)
        VP_TRY(access_log_open(&s->serving.log, cfg->opts.access_log, cfg->opts.access_log_json,
                               s->token));
    return server_set_url(s);
}

void http_unconfigure(http_server *s)
{
    access_log_close(s->serving.log);
    http_metrics_free(s->serving.metrics);
    http_peers_close(s->serving.peers);
    http_sockets_close(&s->sockets);
    free_list(s->hosts);
    free_list(s->origins);
    vp_free(s->serving.content_policy);
    vp_free(s->token);
    vp_free(s->url);
}
