/* C API: a server inside the calling program. */
#include "server/api/handles.h"
#include "server/routes/site_start.h"

/* A vp_server is a site. */
static const site *site_behind(const vp_server *s)
{
    return (const site *)s;
}

static int site_options_of_open(site_options *to, const char *profile_dir,
                                const vp_open_options *opts)
{
    static const vp_open_options defaults = VP_OPEN_OPTIONS_INIT;
    *to = (site_options)SITE_OPTIONS_INIT;
    opts = opts ? opts : &defaults;
    VP_TRY(vp_check_version(opts->version, defaults.version, "vp_open_options",
                            "VP_OPEN_OPTIONS_INIT"));
    if (opts->ui && !site_ui_of(opts->ui, &to->ui))
        return vp_fail(VP_EARG, "unknown ui '%.60s'; use both, perfetto, tensorboard or none",
                       opts->ui);
    if (opts->tensorboard_port < 1 || opts->tensorboard_port > UINT16_MAX)
        return vp_fail(VP_EARG, "TensorBoard port %d is out of range", opts->tensorboard_port);
    to->profile_dir = profile_dir;
    to->http.port = opts->port;
    to->tensorboard_port = opts->tensorboard_port;
    return 0;
}

int vp_server_start(vp_server **out, const char *profile_dir, const vp_open_options *opts)
{
    site_options options;
    site *s;
    if (!out || !profile_dir)
        return vp_fail(VP_EARG, "no profile directory to serve");
    VP_TRY(site_options_of_open(&options, profile_dir, opts));
    if (mirror_is_url(profile_dir)) {
        VP_TRY(mirror_open_url(&options.mirror, profile_dir, false));
        options.profile_dir = mirror_url(options.mirror);
    }
    int rc = site_start(&s, &options);
    mirror_free(options.mirror);
    VP_TRY(rc);
    *out = (vp_server *)s;
    return 0;
}

const char *vp_server_url(const vp_server *s)
{
    return http_server_url(site_behind(s)->http);
}

void vp_server_stop(vp_server *s)
{
    site_stop((site *)s);
}
