/* `/tensorboard/ID`: opens the run in TensorBoard. Redirects if one lists the run; otherwise starts
 * one and shows a page with its progress. The address of the target is fixed when the site starts
 * and cannot be set by a request. */
#include "server/routes/handoff/pages_tensorboard.h"

#include <stdio.h>

#include "server/local/browser.h"
#include "server/local/tensorboard.h"
#include "server/routes/routes.h"
#include "server/routes/site/page.h"
#include "server/routes/site/site_query.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/export/export.h"
#include "trace/report/report.h"

#define LOG_LINES 8

int tensorboard_open(site *s)
{
    tb *t;
    tb_options opts = {.port = s->opts.tensorboard_port, .in_place = s->opts.tensorboard_in_place};
    VP_TRY(tb_new(&t, &opts));
    s->tensorboard = t;
    return 0;
}

void tensorboard_close(site *s)
{
    tb_free(s->tensorboard);
    s->tensorboard = NULL;
}

/* ---- The link -------------------------------------------------------------------------------- */

/* docs/reference/xprof.md#tensorboard: the query is before the hash; trace_viewer@ requires
 * `hosts`; for more hosts than it supports, only the overview is opened. */
static int put_tensorboard_link(vp_buf *b, const char *base, const char *run, const char *hosts,
                                bool xprof)
{
    vp_str root = vp_str_of(base);
    while (vp_str_ends(root, VP_STR("/")))
        root.n--;
    vp_buf_str(b, root);
    vp_buf_puts(b, "/?run=");
    page_url(b, run);
    if (hosts[0]) {
        vp_buf_puts(b, "&tag=trace_viewer@&hosts=");
        page_url(b, hosts);
    } else {
        vp_buf_puts(b, "&tag=overview_page");
    }
    return vp_buf_puts(b, xprof ? "" : "#profile");
}

/* True if the Host of a request is loopback: the browser runs on this machine or uses a tunnel. */
static bool is_loopback_url(const char *base_url)
{
    vp_str host = vp_str_skip(vp_str_of(base_url), sizeof "http://" - 1);
    host = vp_str_head(host, vp_str_rfind_char(host, ':'));
    return vp_str_eq(host, VP_STR("localhost")) || vp_str_ends(host, VP_STR(".localhost")) ||
           vp_str_starts(host, VP_STR("127.")) || vp_str_starts(host, VP_STR("[::1"));
}

/* ---- The pages ------------------------------------------------------------------------------- */

/* Removes paths of this machine: only the name of "/usr/lib/x.py" is kept. A slash after a letter,
 * a digit or ':' does not start an absolute path ("and/or", "http://…"). */
static void put_without_paths(vp_buf *b, vp_str text)
{
    char before = ' ';
    while (text.n) {
        size_t n = 1, name = 0;
        bool word = (before >= '0' && before <= '9') ||
                    (vp_lower(before) >= 'a' && vp_lower(before) <= 'z') ||
                    strchr(":/._-~", before);
        if (text.p[0] == '/' && !word) {
            while (n < text.n && !strchr(" \t\"'`<>()[]{},;:", text.p[n]))
                n++;
            name = vp_str_rfind_char(vp_str_head(text, n), '/');
        }
        before = text.p[n - 1];
        if (name)
            vp_buf_puts(b, "…");
        rep_html_escape(b, vp_str_skip(vp_str_head(text, n), name));
        text = vp_str_skip(text, n);
    }
}

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
    vp_buf_puts(b, "<h2>Output of TensorBoard</h2>\n"
                   "<pre class=\"log\">");
    while (tail.n) {
        vp_str line;
        if (!vp_take_until(&tail, '\n', SIZE_MAX, &line))
            break;
        put_without_paths(b, line);
        vp_buf_putc(b, '\n');
    }
    vp_buf_puts(b, "</pre>\n");
}

static void put_shell_command(vp_buf *b, const char *command)
{
    vp_buf_puts(
        b,
        "<p>Run this command in the Python environment of TensorBoard, then reload this page:</p>\n"
        "<pre class=\"copy\"><code>");
    page_text(b, command);
    vp_buf_puts(b, "</code></pre>\n"
                   "<p class=\"muted\">If TensorBoard is not in <code>PATH</code>, set the "
                   "environment variable <code>VIEW_PROFILE_TENSORBOARD</code> to its path.</p>\n");
}

static void begin_tensorboard_page(vp_buf *b, const http_req *rq, const cat_session *s,
                                   const char *title, int refresh_s)
{
    vp_buf_init(b, PAGE_BYTES_MAX);
    page_begin(b, rq, &(page_frame){.title = title, .refresh_s = refresh_s, .home = "All runs"});
    vp_buf_puts(b, "<p class=\"crumbs\"><a href=\"");
    page_path(b, rq, "session", s->id);
    vp_buf_puts(b, "/\">");
    page_text(b, s->name);
    vp_buf_puts(b, "</a></p>\n");
}

static int finish_tensorboard_page(http_req *rq, int status, vp_buf *b)
{
    page_end(b);
    return http_html(rq, status, b);
}

/* Shows the progress as a sentence and a bar. */
static void put_start_progress(vp_buf *b, const tb_answer *a)
{
    vp_buf_puts(b, "<p class=\"lead\" role=\"status\">");
    if (a->state == TB_COPYING) {
        int percent = a->total > 0 ? (int)(100.0 * (double)a->done / (double)a->total) : 0;
        vp_buf_puts(b, "Unpacking the run, because TensorBoard reads only plain files: ");
        page_bytes(b, a->done);
        vp_buf_puts(b, " of ");
        page_bytes(b, a->total);
        vp_buf_printf(b,
                      ".</p>\n<progress max=\"100\" value=\"%d\" aria-label=\"Unpacking\">"
                      "</progress>\n",
                      percent);
        return;
    }
    if (a->busy)
        vp_buf_printf(b, "TensorBoard on port %d is busy.", a->port);
    else
        vp_buf_printf(b, "%s on port %d",
                      a->again ? "TensorBoard exited and was restarted" : "TensorBoard was started",
                      a->port);
    if (!a->busy && a->waited_ms >= 1000)
        vp_buf_printf(b, " %lld s ago and does not answer yet.", (long long)(a->waited_ms / 1000));
    else if (!a->busy)
        vp_buf_puts(b, " just now.");
    vp_buf_puts(b, "</p>\n<progress aria-label=\"Waiting for TensorBoard\"></progress>\n");
}

static int wait_page(http_req *rq, const cat_session *s, const tb_answer *a)
{
    vp_buf b;
    begin_tensorboard_page(&b, rq, s, "Starting TensorBoard – view_profile", 1);
    vp_buf_puts(&b, "<h1>Starting TensorBoard</h1>\n");
    put_start_progress(&b, a);
    vp_buf_puts(&b, "<p class=\"muted\">This page checks every second and opens TensorBoard when "
                    "it is ready.</p>\n");
    put_log(&b, a->log);
    return finish_tensorboard_page(rq, 200, &b);
}

static int failure_page(http_req *rq, const cat_session *s, const tb_answer *a)
{
    vp_buf b;
    begin_tensorboard_page(&b, rq, s, "TensorBoard – view_profile", 0);
    vp_buf_puts(&b, "<h1>TensorBoard cannot be opened</h1>\n<p class=\"lead\">");
    put_without_paths(&b, vp_str_of(a->message));
    vp_buf_puts(&b, "</p>\n");
    if (a->command)
        put_shell_command(&b, a->command);
    put_log(&b, a->log);
    vp_buf_puts(&b, "<p><a class=\"button\" href=\"\">Try again</a></p>\n");
    return finish_tensorboard_page(rq, 503, &b);
}

/* For a browser on another machine, because TensorBoard listens only on loopback. */
static int tunnel_page(http_req *rq, const cat_session *s, const tb_answer *a, vp_buf *link)
{
    VP_CLEANUP(vp_buf_free) vp_buf ssh;
    vp_buf b;
    vp_buf_init(&ssh, VP_HTTP_TARGET_MAX);
    VP_TRY(browser_ssh_line(&ssh, (uint16_t)a->port, 0));
    begin_tensorboard_page(&b, rq, s, "TensorBoard – view_profile", 0);
    vp_buf_puts(&b, "<h1>TensorBoard is ready</h1>\n"
                    "<p class=\"lead\">It can be reached only from the machine on which it runs. "
                    "Run this command on your own machine:</p>\n"
                    "<pre class=\"copy\"><code>");
    page_text(&b, vp_buf_cstr(&ssh));
    vp_buf_puts(&b, "</code></pre>\n<p><a class=\"button primary\" href=\"");
    page_text(&b, vp_buf_cstr(link));
    vp_buf_puts(&b, "\">Open in TensorBoard</a></p>\n");
    return finish_tensorboard_page(rq, 200, &b);
}

static int to_ready(http_req *rq, const cat_session *s, const tb_answer *a)
{
    char base[64 + sizeof a->prefix];
    VP_CLEANUP(vp_buf_free) vp_buf link;
    vp_buf_init(&link, VP_HTTP_TARGET_MAX * 4);
    snprintf(base, sizeof base, "http://127.0.0.1:%d%s", a->port, a->prefix);
    VP_TRY(put_tensorboard_link(&link, base, a->run, a->hosts, a->xprof));
    return is_loopback_url(http_base_url(rq)) ? http_redirect(rq, vp_buf_cstr(&link))
                                              : tunnel_page(rq, s, a, &link);
}

/* Redirects to the TensorBoard given by an option. */
static int to_named(http_req *rq, const char *base, const cat_session *s)
{
    VP_CLEANUP(vp_buf_free) vp_buf link;
    vp_buf_init(&link, VP_HTTP_TARGET_MAX);
    VP_TRY(put_tensorboard_link(&link, base, s->name, "", false));
    return http_redirect(rq, vp_buf_cstr(&link));
}

/* True for a link from another site: only a click on our own page starts a program. Old browsers do
 * not send the origin of a request and are accepted. */
static bool from_elsewhere(const http_req *rq)
{
    const char *from = http_header(rq, "Sec-Fetch-Site");
    return from && strcmp(from, "same-origin") != 0 && strcmp(from, "none") != 0;
}

static int ask_before_start(http_req *rq, const cat_session *s)
{
    vp_buf b;
    begin_tensorboard_page(&b, rq, s, "TensorBoard – view_profile", 0);
    vp_buf_puts(&b, "<h1>Open in TensorBoard</h1>\n"
                    "<p class=\"lead\">You followed a link from another site. Click the button to "
                    "start TensorBoard.</p>\n"
                    "<p><a class=\"button primary\" href=\"\">Open in TensorBoard</a></p>\n");
    return finish_tensorboard_page(rq, 200, &b);
}

/* A page with the reason why TensorBoard cannot show the run, and the alternatives. */
static int other_ways(http_req *rq, const cat_session *s, const char *heading, const char *why)
{
    vp_buf b;
    begin_tensorboard_page(&b, rq, s, "TensorBoard – view_profile", 0);
    vp_buf_printf(&b, "<h1>%s</h1>\n<p class=\"lead\">%s</p>\n<p>", heading, why);
    vp_buf_puts(&b, "<a class=\"button primary\" href=\"");
    page_path(&b, rq, "session", s->id);
    vp_buf_puts(&b, "/\">Open the report</a>");
    if (s->host_count) {
        vp_buf_puts(&b, "</p>\n<p><a class=\"button\" href=\"");
        page_path(&b, rq, "perfetto", s->id);
        vp_buf_puts(&b, "\">Open in Perfetto</a>");
    }
    vp_buf_puts(&b, "</p>\n");
    return finish_tensorboard_page(rq, 404, &b);
}

static int answer_tensorboard(http_req *rq, const cat_session *s, const tb_answer *a)
{
    switch (a->state) {
    case TB_READY:
        return to_ready(rq, s, a);
    case TB_COPYING:
    case TB_STARTING:
        return wait_page(rq, s, a);
    case TB_NO_HOST:
        return other_ways(rq, s, "TensorBoard cannot show this host",
                          "The run has no such host, or no xplane file for it.");
    case TB_NO_XPLANE:
        return other_ways(rq, s, "TensorBoard cannot show this run",
                          "TensorBoard reads only xplane files, and this run has none. The report "
                          "and Perfetto do not need it.");
    default:
        return failure_page(rq, s, a);
    }
}

int page_tensorboard(http_req *rq)
{
    VP_CLEANUP(site_drop_catalog) catalog *c = NULL;
    const site *at = site_of(rq);
    const cat_session *s;
    if (site_session(&c, &s, rq) < 0)
        return page_no_session(rq, 0);
    if (at->opts.tensorboard && page_has_xplane(s))
        return to_named(rq, at->opts.tensorboard, s);
    if (page_has_xplane(s) && from_elsewhere(rq))
        return ask_before_start(rq, s);
    VP_CLEANUP(vp_free_ptr) tb_answer *a = vp_malloc(sizeof *a);
    VP_NEED(a);
    tb_ask(at->tensorboard, a, c, s, http_query(rq, "host"),
           at->opts.tensorboard_unguarded || !http_server_has_token(at->http));
    return answer_tensorboard(rq, s, a);
}
