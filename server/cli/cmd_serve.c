#include "server/cli/cli.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "server/remote/browser.h"
#include "server/routes/routes.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"

#define TOKEN_MAX 256

/* The first line of --token-file. */
static int read_token(const char *path, char *token)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    char text[TOKEN_MAX + 2];
    size_t n;
    bool is_dir;
    VP_TRY(vp_fs_open_user(path, &fd, &is_dir, NULL));
    int rc = is_dir ? vp_fail(VP_EARG, "is a directory, not a file with a token")
                    : vp_fs_pread(fd, text, sizeof text, 0, &n);
    if (rc < 0)
        return vp_fail_at(rc, path, -1, -1);
    vp_str line, in = {text, n};
    bool fits = vp_take_until(&in, '\n', TOKEN_MAX, &line);
    line = fits ? vp_str_trim(line) : VP_STR_NONE;
    if (!line.n) {
        vp_fail(VP_EARG, "must hold a token of 1 to %d characters in its first line", TOKEN_MAX);
        return vp_fail_at(VP_EARG, path, -1, -1);
    }
    memcpy(token, line.p, line.n);
    token[line.n] = 0;
    return 0;
}

/* The list of runs, or straight into the viewer that --ui names. */
static void open_browser(const cli_options *o, const site *s, const cat_session *latest)
{
    bool direct = o->ui == CLI_UI_PERFETTO || o->ui == CLI_UI_TENSORBOARD;
    vp_buf b;
    vp_buf_init(&b, VP_PATH_MAX);
    if (browser_is_remote()) {
        browser_ssh_line(&b, http_server_port(s->http));
        vp_log(VP_LOG_INFO, "to open it on your own machine, run there: %s", vp_buf_cstr(&b));
    } else if (site_url(&b, s, direct ? latest : NULL) >= 0 && browser_open(vp_buf_cstr(&b)) < 0) {
        vp_log(VP_LOG_WARN, "%s", vp_error_last()->message);
    }
    vp_buf_free(&b);
}

/* The address alone on stdout, what is served on stderr, the browser. */
static int announce(const cli_options *o, site *s)
{
    VP_CLEANUP(cli_catalog_free) catalog *c = store_catalog(s->store);
    const cat_session *latest = catalog_latest(c);
    vp_buf b;
    if (!latest)
        return cli_fail(cli_readable(c));
    size_t n = catalog_count(c);
    vp_log(VP_LOG_INFO, "serving %s: %zu run%s, the latest is %s; Ctrl-C stops", catalog_path(c), n,
           n == 1 ? "" : "s", latest->name);
    cli_stdout(&b);
    vp_buf_printf(&b, "%s\n", http_server_url(s->http));
    int code = cli_finish(&b);
    if (!code && !o->no_browser)
        open_browser(o, s, latest);
    return code;
}

static void signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
}

/* Waits for Ctrl-C or SIGTERM; from then on a second one ends the program at once. */
static void wait_for_end(const cli_options *o)
{
    sigset_t set;
    int which;
    signals(&set);
    while (sigwait(&set, &which) != 0) {
    }
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    if (!o->quiet)
        vp_log(VP_LOG_INFO, "stopping when downloads in flight are done; Ctrl-C again: at once");
}

/* An address that makes no sense is no usage error here: only this machine knows its addresses. */
static int cannot_serve(const cli_options *o, int rc)
{
    int code = cli_fail(cli_maybe_command(o, rc));
    return rc == VP_EARG ? CLI_CANNOT_SERVE : code;
}

static int serve(const cli_options *o, const char *dir)
{
    site_options opts = SITE_OPTIONS_INIT;
    const char *hosts[CLI_LIST_MAX + 1] = {0}, *origins[CLI_LIST_MAX + 1] = {0};
    char token[TOKEN_MAX + 1];
    sigset_t set;
    site *s = NULL;
    if (o->token_file) {
        int rc = read_token(o->token_file, token);
        if (rc < 0)
            return cli_fail(rc);
        opts.token = token;
    }
    memcpy(hosts, o->allow_host.items, sizeof o->allow_host.items);
    memcpy(origins, o->allow_origin.items, sizeof o->allow_origin.items);
    opts.profile_dir = dir;
    opts.host = o->bind_all ? "0.0.0.0" : o->bind_host;
    opts.port = (int)o->port;
    opts.allow_hosts = hosts;
    opts.allow_origins = origins;
    opts.ui = (site_ui)o->ui;
    opts.perfetto_ui = o->perfetto_ui ? o->perfetto_ui : opts.perfetto_ui;
    opts.tensorboard_port = (int)o->tensorboard_port;
    opts.top = o->top > 0 ? (size_t)o->top : opts.top;
    /* Blocked before the server's threads start, so that only wait_for_end takes them. */
    signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    int rc = site_start(&s, &opts);
    if (rc < 0)
        return cannot_serve(o, rc);
    int code = announce(o, s);
    if (!code)
        wait_for_end(o);
    site_stop(s);
    return code;
}

/* --list-only and --extract, in this order; *dir is what is left to serve, "" for nothing. */
static int original_flags(const cli_options *o, char *dir)
{
    VP_CLEANUP(cli_catalog_free) catalog *c = NULL;
    int rc = cli_open(&c, o), code = CLI_OK;
    if (rc < 0)
        return cli_fail(rc);
    if (o->list_only)
        code = cli_list_only(c);
    if (!code && o->extract)
        code = cli_extract_all(c, o, NULL, dir);
    if (o->list_only || (o->extract && o->ui == CLI_UI_NONE) ||
        (code != CLI_OK && code != CLI_UNREADABLE))
        dir[0] = 0;
    return code;
}

int cli_run_serve(const cli_options *o)
{
    char dir[VP_PATH_MAX] = "";
    if (o->list_only || o->extract) {
        int code = original_flags(o, dir), served;
        if (!dir[0])
            return code;
        served = serve(o, dir);
        return served ? served : code;
    }
    VP_CLEANUP(vp_free_ptr) char *found = o->path ? vp_strdup(o->path) : cli_default_dir();
    return found ? serve(o, found) : cli_fail(vp_fail(VP_ENOMEM, "out of memory"));
}
