/* `serve`: the setup before the sandbox is enabled, and the server in the sandbox. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/cli/export/original_flags.h"
#include "server/cli/input/open.h"
#include "server/cli/input/profile_dir.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/serve/serve_loop.h"
#include "server/cli/serve/serve_perfetto.h"
#include "server/cli/serve/serve_sandbox.h"
#include "server/cli/serve/serve_signals.h"
#include "server/cli/serve/serve_token.h"
#include "server/cli/terminal/standard_out.h"
#include "server/local/outside.h"
#include "server/local/outside_capture.h"
#include "server/local/served.h"
#include "server/routes/site_start.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/source/address.h"

/* Prints why the site did not start. An invalid address is CLI_CANNOT_SERVE, not a usage error,
 * because the available addresses depend on the machine. */
static int cannot_serve(const cli_options *o, int rc)
{
    int code = cli_fail(cli_maybe_command(o, rc));
    return rc == VP_EARG ? CLI_CANNOT_SERVE : code;
}

static void site_options_of_cli(site_options *to, const cli_options *o, const char *dir)
{
    to->profile_dir = dir;
    to->http.host = o->bind_all ? "0.0.0.0" : o->bind_host;
    to->http.port = (int)o->port;
    to->http.unix_path = o->listen ? o->listen + strlen("unix:") : NULL;
    to->http.inherit = true;
    to->http.path_prefix = o->path_prefix;
    to->http.access_log = o->access_log;
    to->http.access_log_json = o->access_log_format == CLI_LOG_JSON;
    to->ui = (site_ui)o->ui;
    to->tensorboard_port = (int)o->tensorboard_port;
    to->tensorboard_in_place = o->tensorboard_in_place;
    to->tensorboard_unguarded = o->tensorboard_unguarded;
    to->keep_ranks_apart = o->merge_ranks == CLI_MERGE_RANKS_NO;
    to->top = o->top > 0 ? (size_t)o->top : to->top;
}

/* Registers the URL for captures into this directory, without the token. */
static void tell_served_directory(const site *s)
{
    vp_str rest = vp_str_of(http_server_url(s->http)), url;
    char plain[VP_PATH_MAX];
    vp_take_until(&rest, '?', SIZE_MAX, &url);
    if (http_server_port(s->http) && url.n < sizeof plain) {
        snprintf(plain, sizeof plain, "%.*s", (int)url.n, url.p);
        served_tell(plain, s->opts.profile_dir);
    }
}

/* Enables the sandbox, serves until the end, and stops the site. Everything that the sandbox
 * forbids must be done before. */
static int serve_site(const cli_options *o, const site_options *opts)
{
    site *s = NULL;
    http_more_descriptors();
    served_prepare();
    int rc = serve_sandbox(o, opts);
    if (rc < 0)
        return cli_fail(rc);
    rc = site_start(&s, opts);
    if (rc < 0)
        return cannot_serve(o, rc);
    tell_served_directory(s);
    int code = serve_loop(o, s);
    served_end();
    site_stop(s);
    return code;
}

/* Starts the capture process if captures are possible. `place` has VP_PATH_MAX bytes. */
static int start_captures(site_options *opts, char *place, const cli_options *o)
{
    if (o->no_capture)
        opts->no_captures = "the server was started with --no-capture";
    else if (opts->mirror)
        opts->no_captures =
            "the server reads from a remote address; captures need a local directory";
    else
        opts->no_captures = outside_capture_place(place, opts->profile_dir);
    if (opts->no_captures)
        return 0;
    opts->captures = place;
    return outside_capture_start(place, o->program);
}

/* The state directory of a watch on this machine for an address. */
static const char *find_watched(char out[VP_PATH_MAX], const char *url)
{
    source_address at;
    int rc = source_address_read(&at, url);
    if (rc >= 0)
        rc = source_address_place(out, &at);
    source_address_free(&at);
    return rc >= 0 ? out : NULL;
}

static int serve_directory(const cli_options *o, const char *dir)
{
    site_options opts = SITE_OPTIONS_INIT;
    const char *hosts[CLI_LIST_MAX + 1] = {0}, *origins[CLI_LIST_MAX + 1] = {0};
    char token[SERVE_TOKEN_MAX + 1], perfetto[VP_PATH_MAX], place[VP_PATH_MAX];
    char watched[VP_PATH_MAX], sources[VP_PATH_MAX];
    int rc = serve_perfetto(&opts, perfetto, o);
    if (rc)
        return rc;
    rc = serve_token(token, o);
    if (rc < 0)
        return cli_fail(rc);
    if (o->source_root && !realpath(o->source_root, sources)) {
        vp_fail(VP_ENOTFOUND, "--source-root: %s", strerror(errno));
        return cli_fail(vp_fail_at(VP_ENOTFOUND, o->source_root, -1, -1));
    }
    opts.source_root = o->source_root ? sources : NULL;
    memcpy(hosts, o->allow_host.items, sizeof o->allow_host.items);
    memcpy(origins, o->allow_origin.items, sizeof o->allow_origin.items);
    site_options_of_cli(&opts, o, dir);
    vp_report_options peaks = VP_REPORT_OPTIONS_INIT;
    if ((rc = cli_peaks(&peaks, o)) < 0)
        return cli_fail(rc);
    opts.chip = peaks.chip;
    opts.peak_tflops = peaks.peak_tflops;
    opts.peak_gb_s = peaks.peak_gb_s;
    if (o->tensorboard_in_place && mirror_is_url(dir))
        return cli_fail(vp_fail(
            VP_EARG, "--tensorboard-in-place: the profile directory is not on this machine"));
    if ((rc = cli_mirror(&opts.mirror, dir, o)) < 0)
        return cli_fail(rc);
    if (opts.mirror) {
        opts.profile_dir = mirror_url(opts.mirror);
        opts.watched = find_watched(watched, dir);
    }
    opts.http.token = token[0] ? token : NULL;
    opts.http.allow_hosts = hosts;
    opts.http.allow_origins = origins;
    if ((!o->no_browser && (rc = outside_start(OUTSIDE_BROWSER)) < 0) ||
        (serve_may_start_tensorboard(o) && (rc = outside_start(OUTSIDE_LOOKUP)) < 0) ||
        (rc = start_captures(&opts, place, o)) < 0) {
        mirror_free(opts.mirror);
        return cli_fail(rc);
    }
    serve_block_signals();
    int code = serve_site(o, &opts);
    mirror_free(opts.mirror);
    outside_capture_end();
    outside_end(OUTSIDE_BROWSER);
    outside_end(OUTSIDE_LOOKUP);
    return code;
}

int cli_run_serve(const cli_options *o)
{
    char dir[VP_PATH_MAX] = "";
    if (o->extract) {
        int code = cli_original_flags(o, dir), served;
        if (!dir[0])
            return code;
        served = serve_directory(o, dir);
        return served ? served : code;
    }
    VP_CLEANUP(vp_free_ptr) char *found = o->path ? vp_strdup(o->path) : cli_default_dir();
    return found ? serve_directory(o, found) : cli_fail(vp_no_memory());
}
