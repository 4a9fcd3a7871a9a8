#include "server/cli/serve/serve_loop.h"

#include <signal.h>
#include <unistd.h>

#include "server/cli/input/open.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/serve/serve_signals.h"
#include "server/cli/terminal/standard_out.h"
#include "server/local/browser.h"
#include "server/local/live.h"
#include "server/local/outside.h"
#include "server/routes/handoff/ui_server.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"

/* In ms. Most directories are indexed within this time. Then one message suffices, and a directory
 * without a profile is an error before a URL is printed. */
#define QUICK_MS 25
#define LOOK_EVERY_MS 50

/* stdout has the address and nothing else. */
static int print_address(const site *s)
{
    vp_buf b;
    cli_stdout(&b);
    vp_buf_printf(&b, "%s\n", http_server_url(s->http));
    return cli_finish(&b);
}

/* Opens the list of runs, or the latest run in the viewer of --ui. */
static void open_browser(const cli_options *o, const site *s, const cat_session *latest)
{
    bool direct = o->ui == CLI_UI_PERFETTO || o->ui == CLI_UI_TENSORBOARD;
    vp_buf b;
    vp_buf_init(&b, VP_PATH_MAX);
    if (!http_server_port(s->http)) {
        vp_log(VP_LOG_INFO,
               "browsers cannot open Unix sockets; use a reverse proxy or curl --unix-socket");
    } else if (browser_is_remote()) {
        browser_ssh_line(&b, http_server_port(s->http),
                         s->perfetto ? ui_server_port(s->perfetto) : 0);
        vp_log(VP_LOG_INFO, "to open it on your own machine, run this command there: %s",
               vp_buf_cstr(&b));
    } else if (http_server_has_token(s->http)) {
        vp_log(VP_LOG_INFO, "open the URL yourself; the browser is not started because other users "
                            "could read the token from its command line");
    } else {
        browser_page page;
        site_page(&page, s, direct ? latest : NULL);
        if (outside_open_browser(&page) < 0)
            vp_log(VP_LOG_WARN, "%s", vp_error_last()->message);
    }
    outside_end(OUTSIDE_BROWSER);
    vp_buf_free(&b);
}

static bool any_live(void)
{
    VP_CLEANUP(vp_free_ptr) live_process *list = NULL;
    size_t n = 0;
    return live_list(&list, &n) >= 0 && n > 0;
}

/* True if a directory without runs is served: if a recording program is running, or if the given
 * directory is empty, so that the first run can be captured into it. */
static bool may_wait(const cli_options *o, const catalog *c)
{
    return (o->path && catalog_is_bare(c)) || any_live();
}

/* Prints what is served on stderr, prints the URL if that was not done yet, and opens the browser.
 */
static int announce_server(const cli_options *o, site *s, bool told)
{
    VP_CLEANUP(cli_catalog_free) catalog *c = store_catalog(s->store);
    const cat_session *latest = catalog_latest(c);
    size_t n = catalog_count(c);
    if (!latest && (n || !may_wait(o, c)))
        return cli_fail(cli_readable(c));
    if (latest)
        vp_log(VP_LOG_INFO, "serving %s: %zu run%s, latest %s; press Ctrl-C to stop",
               catalog_path(c), n, n == 1 ? "" : "s", latest->name);
    else
        vp_log(VP_LOG_INFO,
               "serving %s: no runs yet; capture one from the page, or wait for one to appear; "
               "press Ctrl-C to stop",
               catalog_path(c));
    int code = told ? CLI_OK : print_address(s);
    if (!code && !o->no_browser)
        open_browser(o, s, latest);
    return code;
}

/* Waits for the end of the first scan. 0: done; 1: the server is to stop first; < 0: failed. */
static int wait_for_index(site *s, int wait_ms)
{
    int rc;
    while ((rc = store_wait(s->store, wait_ms)) > 0 && serve_wait_signal(0) != SERVE_STOP)
        wait_ms = LOOK_EVERY_MS;
    return rc;
}

/* A first scan that waits for standard input cannot be stopped. */
static void stop_hard_when_reading_input(const site *s)
{
    if (store_indexing(s->store, NULL) && !strcmp(s->opts.profile_dir, "-"))
        _exit(CLI_INTERRUPTED);
}

static void wait_for_end(site *s)
{
    for (;;)
        switch (serve_wait_signal(-1)) {
        case SERVE_STOP:
            return;
        case SERVE_RESCAN:
            (void)store_rescan(s->store, 0);
            vp_log(VP_LOG_INFO, "rescanning for runs");
            break;
        case SERVE_NOTHING:
            break;
        }
}

int serve_loop(const cli_options *o, site *s)
{
    int rc = store_wait(s->store, QUICK_MS), code = CLI_OK;
    bool early = rc > 0;
    if (early) {
        vp_log(VP_LOG_INFO, "indexing %s; the URL can already be opened", s->opts.profile_dir);
        code = print_address(s);
        rc = code ? 0 : wait_for_index(s, LOOK_EVERY_MS);
    }
    if (!code && rc < 0)
        code = cli_fail(rc);
    else if (!code && !rc)
        code = announce_server(o, s, early);
    if (code)
        return code;
    if (!rc)
        wait_for_end(s);
    serve_arm_second_signal();
    stop_hard_when_reading_input(s);
    vp_log(VP_LOG_INFO,
           "stopping when running downloads are done; press Ctrl-C again to stop at once");
    return CLI_OK;
}
