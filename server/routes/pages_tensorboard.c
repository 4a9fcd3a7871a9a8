/* `/tensorboard/ID`: to that run in a real TensorBoard. Redirects when one lists the run; starts
 * one otherwise and waits on a page that says how it goes. The target's address is fixed when the
 * site starts: no request chooses it. */
#include <stdio.h>

#include "server/remote/tensorboard.h"
#include "server/routes/page.h"
#include "trace/base/mem.h"
#include "trace/export/export.h"
#include "trace/report/report.h"

#define LOG_LINES 8

int tensorboard_open(site *s)
{
    tb *t;
    VP_TRY(tb_new(&t, s->opts.tensorboard_port));
    s->tensorboard = t;
    return 0;
}

void tensorboard_close(site *s)
{
    tb_free(s->tensorboard);
    s->tensorboard = NULL;
}

/* ---- The link -------------------------------------------------------------------------------- */

/* peers.md "Links": the query stands before the hash; trace_viewer@ wants `hosts`, and several
 * hosts together have an overview only. */
static int put_link(vp_buf *b, const char *base, const char *run, const char *host)
{
    vp_str root = vp_str_of(base);
    while (vp_str_ends(root, VP_STR("/")))
        root.n--;
    vp_buf_str(b, root);
    vp_buf_puts(b, "/?run=");
    page_url(b, run);
    if (host) {
        vp_buf_puts(b, "&tag=trace_viewer@&hosts=");
        page_url(b, host);
    } else {
        vp_buf_puts(b, "&tag=overview_page");
    }
    return vp_buf_puts(b, "#profile");
}

static int redirect(http_req *rq, const char *base, const char *run, const char *host)
{
    VP_CLEANUP(vp_buf_free) vp_buf link;
    vp_buf_init(&link, VP_HTTP_TARGET_MAX);
    VP_TRY(put_link(&link, base, run, host));
    return http_redirect(rq, vp_buf_cstr(&link));
}

static int to_ready(http_req *rq, const tb_answer *a)
{
    char base[64];
    snprintf(base, sizeof base, "http://127.0.0.1:%d", a->port);
    return redirect(rq, base, a->run, a->hosts == 1 ? a->host : NULL);
}

/* ---- The pages ------------------------------------------------------------------------------- */

static void put_log(vp_buf *b, const char *log)
{
    vp_str tail = vp_str_of(log);
    size_t at = tail.n, lines = 0;
    while (at > 0 && lines <= LOG_LINES)
        lines += tail.p[--at] == '\n';
    if (lines > LOG_LINES)
        at++;
    tail = vp_str_skip(tail, at);
    if (!tail.n)
        return;
    vp_buf_puts(b, "<h2>What it says</h2>\n<pre class=\"log\">");
    while (tail.n) {
        vp_str line;
        if (!vp_take_until(&tail, '\n', SIZE_MAX, &line))
            break;
        rep_html_escape(b, line);
        vp_buf_putc(b, '\n');
    }
    vp_buf_puts(b, "</pre>\n");
}

static void put_install(vp_buf *b)
{
    vp_buf_puts(b, "<p>Install it with its profile plugin, then reload this page:</p>\n"
                   "<pre class=\"copy\"><code>pip install tensorboard xprof</code></pre>\n"
                   "<p class=\"muted\">A TensorBoard that is not in <code>PATH</code> is named by "
                   "the environment variable <code>VIEW_PROFILE_TENSORBOARD</code>.</p>\n");
}

static void put_crumbs(vp_buf *b, const cat_session *s)
{
    vp_buf_puts(b, "<p class=\"crumbs\"><a href=\"/session/");
    page_url(b, s->id);
    vp_buf_puts(b, "/\">");
    page_text(b, s->name);
    vp_buf_puts(b, "</a></p>\n");
}

static int wait_page(http_req *rq, const cat_session *s, const tb_answer *a)
{
    vp_buf b;
    vp_buf_init(&b, PAGE_BYTES_MAX);
    page_begin(&b, &(page_frame){.title = "Starting TensorBoard – view_profile",
                                 .refresh_s = 1,
                                 .home = "All sessions"});
    put_crumbs(&b, s);
    vp_buf_printf(&b,
                  "<h1>Starting TensorBoard</h1>\n<p class=\"lead\" role=\"status\">It was started "
                  "on port %d %lld s ago and does not answer yet. This page asks again every "
                  "second and goes there by itself.</p>\n<progress aria-label=\"Waiting for "
                  "TensorBoard\"></progress>\n",
                  a->port, (long long)(a->waited_ms / 1000));
    put_log(&b, a->log);
    page_end(&b);
    return http_html(rq, 200, &b);
}

static int failure_page(http_req *rq, const cat_session *s, const tb_answer *a)
{
    vp_buf b;
    vp_buf_init(&b, PAGE_BYTES_MAX);
    page_begin(&b, &(page_frame){.title = "TensorBoard – view_profile", .home = "All sessions"});
    put_crumbs(&b, s);
    vp_buf_puts(&b, "<h1>TensorBoard cannot be opened</h1>\n<p class=\"lead\">");
    page_text(&b, a->message);
    vp_buf_puts(&b, "</p>\n");
    if (a->missing)
        put_install(&b);
    put_log(&b, a->log);
    vp_buf_puts(&b, "<p><a class=\"button\" href=\"\">Try again</a></p>\n");
    page_end(&b);
    return http_html(rq, 503, &b);
}

/* Another site's link may lead here, but only a click of the user's on our own page starts a
 * program. Old browsers do not say where a request comes from; they are let through. */
static bool from_elsewhere(const http_req *rq)
{
    const char *from = http_header(rq, "Sec-Fetch-Site");
    return from && strcmp(from, "same-origin") != 0 && strcmp(from, "none") != 0;
}

static int ask_first(http_req *rq, const cat_session *s)
{
    vp_buf b;
    vp_buf_init(&b, PAGE_BYTES_MAX);
    page_begin(&b, &(page_frame){.title = "TensorBoard – view_profile", .home = "All sessions"});
    put_crumbs(&b, s);
    vp_buf_puts(&b,
                "<h1>Open in TensorBoard</h1>\n<p class=\"lead\">A link on another site led here. "
                "TensorBoard is started only when you ask for it.</p>\n"
                "<p><a class=\"button primary\" href=\"\">Open in TensorBoard</a></p>\n");
    page_end(&b);
    return http_html(rq, 200, &b);
}

int page_tensorboard(http_req *rq)
{
    VP_CLEANUP(page_drop_catalog) catalog *c = NULL;
    const site *at = site_of(rq);
    const cat_session *s;
    if (site_session(&c, &s, rq) < 0)
        return page_no_session(rq, 0);
    if (!page_has_xplane(s))
        return page_message(rq, 404, "TensorBoard cannot show this session",
                            "TensorBoard reads only the xplane file of a profile, and this session "
                            "has none. Its report here and Perfetto work without it.");
    if (at->opts.tensorboard)
        return redirect(rq, at->opts.tensorboard, s->name, NULL);
    if (from_elsewhere(rq))
        return ask_first(rq, s);
    VP_CLEANUP(vp_free_ptr) tb_answer *a = vp_malloc(sizeof *a);
    if (!a)
        return vp_fail(VP_ENOMEM, "out of memory");
    tb_ask(at->tensorboard, a, c, s, http_query(rq, "host"));
    if (a->state == TB_READY)
        return to_ready(rq, a);
    return a->state == TB_STARTING ? wait_page(rq, s, a) : failure_page(rq, s, a);
}
