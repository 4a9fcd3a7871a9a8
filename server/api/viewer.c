/* C API: starts a server and opens it in a browser, in one call. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/api/handles.h"
#include "server/local/browser.h"
#include "server/routes/site/site.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

struct vp_viewer {
    vp_server *server;
    char *url;
    int browser; /* result of opening the browser */
};

static const char *default_profile_dir(const char *given)
{
    static const char *const names[] = {"VIEW_PROFILE_DIR", "XAX_PROFILE_DIR"};
    for (size_t i = 0; !given && i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        given = value && value[0] ? value : NULL;
    }
    return given;
}

static int latest_url(char **out, const site *s)
{
    vp_buf b;
    int rc = store_wait(s->store, -1);
    if (rc < 0)
        return rc;
    catalog *c = store_catalog(s->store);
    const cat_session *session = catalog_latest(c);
    vp_buf_init(&b, VP_PATH_MAX);
    if (!session)
        rc = vp_error_last()->code;
    else if (site_url(&b, s, session) < 0 || !(*out = vp_buf_take(&b, NULL)))
        rc = vp_no_memory();
    vp_buf_free(&b);
    catalog_free(c);
    return rc;
}

int vp_open_latest(vp_viewer **out, const char *profile_dir, const vp_open_options *opts)
{
    const char *dir = default_profile_dir(profile_dir);
    if (!out || !dir)
        return vp_fail(VP_EARG, "no profile directory: pass one or set VIEW_PROFILE_DIR");
    vp_viewer *v = vp_calloc(1, sizeof *v);
    VP_NEED(v);
    int rc = vp_server_start(&v->server, dir, opts);
    if (!rc)
        rc = latest_url(&v->url, (const site *)v->server);
    if (rc < 0) {
        vp_viewer_close(v);
        return rc;
    }
    /* Failing to open a browser is not an error: the URL is printed. A URL with a token is not
     * passed to a browser, because other users can read its command line. */
    if (strchr(v->url, '?'))
        v->browser = vp_fail(VP_ENOTFOUND, "the URL contains a token; open it yourself");
    else if (!opts || opts->open_browser)
        v->browser = browser_is_remote() ? VP_ENOTFOUND : browser_open(v->url);
    *out = v;
    return 0;
}

const char *vp_viewer_url(const vp_viewer *v)
{
    return v->url;
}

void vp_viewer_close(vp_viewer *v)
{
    if (!v)
        return;
    vp_server_stop(v->server);
    vp_free(v->url);
    vp_free(v);
}

static void announce_viewer(const vp_viewer *v)
{
    vp_buf b;
    /* Without password if it is an address. */
    printf("Serving %s at %s\n", ((const site *)v->server)->opts.profile_dir, v->url);
    fflush(stdout);
    if (!v->browser)
        return;
    if (!browser_is_remote()) {
        fprintf(stderr, "view_profile: %s\n", vp_error_last()->message);
        return;
    }
    vp_buf_init(&b, VP_PATH_MAX);
    browser_ssh_line(&b, http_server_port(((const site *)v->server)->http), 0);
    fprintf(stderr, "view_profile: on the machine with the browser, run: %s\n", vp_buf_cstr(&b));
    vp_buf_free(&b);
}

int open_latest_profile(const char *profile_dir)
{
    sigset_t ends, before;
    vp_viewer *v;
    int signal_number;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, &before);
    int rc = vp_open_latest(&v, profile_dir, NULL);
    if (!rc) {
        announce_viewer(v);
        sigwait(&ends, &signal_number);
    }
    /* Restores the handlers of the application, so that a second signal ends the process even if
     * requests are still being served. */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!rc)
        vp_viewer_close(v);
    return rc;
}
