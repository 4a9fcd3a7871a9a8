/* `/perfetto/ID[/HOST]`: opens a trace in the Perfetto UI. handoff.js fetches the trace, opens the
 * UI in the click handler and posts the trace (docs/reference/perfetto.md#hand-off: the only method
 * that needs no browser permission). The page also has the `?url=` deep link, the ssh command and
 * the download. */
#include <stdio.h>
#include <unistd.h>

#include "server/routes/handoff/handoff_ui.h"
#include "server/routes/handoff/handoff_view.h"
#include "server/routes/routes.h"
#include "server/routes/site/page.h"
#include "server/routes/traces/trace_hosts.h"
#include "trace/export/exporters.h"

/* The only port of 127.0.0.1 that the CSP of the UI allows (docs/reference/perfetto.md#port-9001).
 */
#define DEEP_LINK_PORT 9001

typedef struct handoff {
    const cat_session *session;
    const cat_host *host; /* NULL: all hosts of the run */
    ex_view view;
    handoff_ui ui;
    bool at_once; /* load immediately: opened by --ui=perfetto */
} handoff;

/* Appends the URL of a trace of the run below root; "" for an absolute path. */
static void put_trace_path(vp_buf *b, const char *root, const handoff *h, const char *name)
{
    vp_buf_printf(b, "%s/trace/", root);
    page_url(b, h->session->id);
    vp_buf_putc(b, '/');
    page_url(b, name);
}

/* The name of the trace with this suffix. */
static const char *handed_trace_name(vp_buf *name, const handoff *h, const char *suffix)
{
    vp_buf_init(name, PAGE_BYTES_MAX);
    vp_buf_printf(name, "%s%s", h->host->name, suffix);
    return vp_buf_cstr(name);
}

/* The trace that the button and the direct link open. */
static const char *sent_of(vp_buf *name, const handoff *h)
{
    if (h->host)
        return handed_trace_name(name, h, ".json.gz");
    vp_buf_init(name, 64);
    return TRACE_HOSTS_PFTRACE;
}

static void put_handoff_data(vp_buf *b, const http_req *rq, const handoff *h)
{
    VP_CLEANUP(vp_buf_free) vp_buf trace;
    VP_CLEANUP(vp_buf_free) vp_buf title;
    VP_CLEANUP(vp_buf_free) vp_buf file;
    vp_buf_init(&trace, PAGE_BYTES_MAX);
    vp_buf_init(&title, PAGE_BYTES_MAX);
    const char *sent = sent_of(&file, h);
    put_trace_path(&trace, http_root(rq), h, sent);
    vp_buf_printf(&title, "%s %s", h->session->name, h->host ? h->host->name : "all hosts");
    page_attribute(b, "data-trace", vp_buf_cstr(&trace));
    handoff_ui_put_data(b, &h->ui, &h->view);
    page_attribute(b, "data-title", vp_buf_cstr(&title));
    page_attribute(b, "data-file", sent);
    if (h->view.is_event)
        vp_buf_printf(
            b, " data-start=\"%lld\" data-end=\"%lld\" data-share=\"" EX_VIEW_PERCENTAGE "\"",
            (long long)ex_link_time(&h->view, h->view.start_ns),
            (long long)ex_link_time(&h->view, h->view.end_ns));
    if (h->at_once)
        vp_buf_puts(b, " data-at-once");
}

/* Shows the file and host, the format that is sent, and the Perfetto UI, which an option can set.
 */
static void put_what(vp_buf *b, const handoff *h)
{
    vp_buf_puts(b, "<dl class=\"facts\">");
    if (h->host) {
        vp_buf_puts(b, "<div><dt>Host</dt><dd>");
        page_text(b, h->host->name);
        vp_buf_puts(b, "</dd></div><div><dt>Recorded as</dt><dd>");
        page_text(b, h->session->files[h->host->primary].name);
        vp_buf_puts(b, ", ");
        page_bytes(b, h->session->files[h->host->primary].bytes);
        vp_buf_puts(b, "</dd></div><div><dt>Sent as</dt><dd>Trace Event JSON, gzip</dd></div>");
    } else {
        vp_buf_printf(b,
                      "<div><dt>Hosts</dt><dd>all %zu, clocks aligned</dd></div><div><dt>Sent "
                      "as</dt><dd>.pftrace</dd></div>",
                      h->session->host_count);
    }
    if (handoff_ui_first(&h->ui)) {
        vp_buf_puts(b, "<div><dt>To</dt><dd>");
        handoff_ui_put_name(b, &h->ui);
        vp_buf_puts(b, "</dd></div>");
    }
    vp_buf_puts(b, "</dl>\n");
}

/* Shows the damage if the trace was sent before and found damaged. handoff.js queries it again
 * after it has received the trace. */
static void put_handoff_damage(vp_buf *b, const http_req *rq, const handoff *h)
{
    char why[DAMAGE_TEXT];
    const cat_file *f = ex_half(EX_JSON, h->session, h->host);
    const cat_file *other = f ? ex_other_half(EX_JSON, h->session, h->host, f) : NULL;
    bool damaged = f && damage_of(site_of(rq)->damages, f, why);
    if (!damaged && !(other && damage_of(site_of(rq)->damages, other, why)))
        return;
    vp_buf_puts(b, "<p class=\"notice\" id=\"damage\">This trace is damaged; Perfetto shows the "
                   "part before the damage: ");
    page_text(b, why);
    vp_buf_puts(b, ".</p>\n");
}

static void put_buttons(vp_buf *b, const handoff *h)
{
    vp_buf_puts(b, "<p class=\"buttons\"><button id=\"open\" class=\"button primary\" disabled>"
                   "Open in Perfetto</button>");
    if (h->ui.web && h->ui.local[0])
        vp_buf_puts(b, " <button id=\"open-local\" class=\"button\" disabled>Open in the local "
                       "Perfetto UI</button>");
    vp_buf_puts(b, "</p>\n<div id=\"progress\" class=\"progress\" hidden>"
                   "<progress id=\"bar\" aria-label=\"Trace loaded\"></progress>"
                   "<span id=\"amount\" class=\"muted\"></span></div>\n"
                   "<p id=\"status\" role=\"status\"></p>\n"
                   "<noscript><p class=\"notice\">This button needs JavaScript. Without it, "
                   "download the trace below and open it in Perfetto with “Open trace file”, "
                   "or use the direct link.</p></noscript>\n");
}

static void put_handoff(vp_buf *b, const http_req *rq, const handoff *h)
{
    bool opens = handoff_ui_first(&h->ui);
    vp_buf_puts(b, "<section class=\"card handoff\"");
    if (opens) {
        vp_buf_puts(b, " id=\"handoff\"");
        put_handoff_data(b, rq, h);
    }
    vp_buf_puts(b, ">\n"
                   "<p>The trace is passed from this page to the Perfetto tab inside your browser. "
                   "It is not uploaded.</p>\n");
    put_what(b, h);
    if (h->host)
        put_handoff_damage(b, rq, h);
    if (opens)
        put_buttons(b, h);
    else
        handoff_ui_put_none(b, &h->ui);
    vp_buf_puts(b, "</section>\n");
}

/* Not for the local UI, whose policy allows only requests to itself. */
static void put_deep_link(vp_buf *b, const handoff *h, const http_req *rq)
{
    if (!h->ui.web)
        return;
    vp_buf_puts(b, "<section class=\"card\"><h2>Direct link</h2>\n");
    if (http_port(rq) != DEEP_LINK_PORT) {
        vp_buf_printf(b,
                      "<p>Perfetto can fetch traces only from port %d of this machine, and this "
                      "server uses port %u. Start it with <code>--port %d</code> to get a link "
                      "that opens the trace without this page.</p></section>\n",
                      DEEP_LINK_PORT, (unsigned)http_port(rq), DEEP_LINK_PORT);
        return;
    }
    VP_CLEANUP(vp_buf_free) vp_buf url;
    VP_CLEANUP(vp_buf_free) vp_buf link;
    vp_buf_init(&url, PAGE_BYTES_MAX);
    vp_buf_init(&link, PAGE_BYTES_MAX);
    VP_CLEANUP(vp_buf_free) vp_buf name;
    vp_buf_printf(&url, "http://127.0.0.1:%d", DEEP_LINK_PORT);
    put_trace_path(&url, "", h, sent_of(&name, h));
    ex_perfetto_link(&link, h->ui.web, vp_buf_cstr(&url), &h->view);
    vp_buf_puts(b, "<p><a id=\"deeplink\" rel=\"noreferrer\"");
    page_attribute(b, "href", vp_buf_cstr(&link));
    vp_buf_puts(
        b,
        ">Let Perfetto fetch the trace</a>. Chrome asks for permission (“Local Network Access”): "
        "choose Allow. Safari does not support this; use the button instead.</p></section>\n");
}

static void put_tunnel_help(vp_buf *b, const http_req *rq, const handoff *h)
{
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0 || !name[0])
        snprintf(name, sizeof name, "HOST");
    vp_buf_printf(b,
                  "<section class=\"card\"><h2>From another machine</h2>\n"
                  "<p>Run this command on the machine of your browser, then open this page there "
                  "at the same address:</p>\n"
                  "<pre class=\"copy\"><code>ssh -N -L %u:127.0.0.1:%u ",
                  (unsigned)http_port(rq), (unsigned)http_port(rq));
    if (h->ui.port)
        vp_buf_printf(b, "-L %u:127.0.0.1:%u ", (unsigned)h->ui.port, (unsigned)h->ui.port);
    page_text(b, name);
    vp_buf_puts(b, "</code></pre></section>\n");
}

static void put_download_link(vp_buf *b, const http_req *rq, const handoff *h, const char *name)
{
    vp_buf_puts(b, "<li><a download href=\"");
    put_trace_path(b, http_root(rq), h, name);
    vp_buf_puts(b, "\">");
    page_text(b, name);
    vp_buf_puts(b, "</a></li>\n");
}

static void put_form_download(vp_buf *b, const http_req *rq, const handoff *h, const char *suffix)
{
    VP_CLEANUP(vp_buf_free) vp_buf name;
    put_download_link(b, rq, h, handed_trace_name(&name, h, suffix));
}

static void put_host_download(vp_buf *b, const http_req *rq, const handoff *h)
{
    bool exact = ex_half(EX_PFTRACE, h->session, h->host) != NULL;
    put_form_download(b, rq, h, ".json.gz");
    put_form_download(b, rq, h, ".json");
    if (exact)
        put_form_download(b, rq, h, ".pftrace");
    vp_buf_puts(b, "</ul>\n"
                   "<p class=\"muted\">Trace Event JSON, for any viewer of that format.");
    if (exact)
        vp_buf_puts(
            b,
            " .pftrace is Perfetto’s own format: half the size, and arguments keep their types.");
}

static void put_hosts_download(vp_buf *b, const http_req *rq, const handoff *h)
{
    if (trace_hosts_exact(h->session))
        put_download_link(b, rq, h, TRACE_HOSTS_PFTRACE);
    put_download_link(b, rq, h, TRACE_HOSTS_BUNDLE);
    vp_buf_puts(b, "</ul>\n"
                   "<p class=\"muted\">All hosts with aligned clocks: by the collectives that they "
                   "share, else by the wall clocks of their files. " TRACE_HOSTS_BUNDLE
                   " needs Perfetto v58 or later.");
}

static void put_download(vp_buf *b, const http_req *rq, const handoff *h)
{
    vp_buf_puts(b, "<section class=\"card\"><h2>Download</h2>\n"
                   "<ul class=\"plain\">\n");
    if (h->host)
        put_host_download(b, rq, h);
    else
        put_hosts_download(b, rq, h);
    vp_buf_puts(b, "</p></section>\n");
}

static void put_handoff_hosts(vp_buf *b, const http_req *rq, const handoff *h, const char *at)
{
    const cat_session *s = h->session;
    if (s->host_count < 2)
        return;
    vp_buf_printf(b, "<nav class=\"choices\" aria-label=\"Hosts\"><h2>%zu hosts</h2><ul>\n",
                  s->host_count);
    for (size_t i = 0; i < s->host_count; i++) {
        vp_buf_puts(b, "<li><a href=\"");
        page_path(b, rq, "perfetto", s->id);
        vp_buf_putc(b, '/');
        page_url(b, s->hosts[i].name);
        if (at) {
            vp_buf_puts(b, "?at=");
            page_url(b, at);
        }
        vp_buf_puts(b, &s->hosts[i] == h->host ? "\" aria-current=\"page\">" : "\">");
        page_text(b, s->hosts[i].name);
        vp_buf_puts(b, "</a></li>\n");
    }
    vp_buf_puts(b, "</ul></nav>\n");
}

static void put_heading(vp_buf *b, const http_req *rq, const handoff *h)
{
    vp_buf_puts(b, "<p class=\"crumbs\"><a href=\"");
    page_path(b, rq, "session", h->session->id);
    vp_buf_puts(b, "/\">");
    page_text(b, h->session->name);
    vp_buf_puts(b, "</a></p>\n<h1>Open in Perfetto</h1>\n");
    if (h->view.is_event)
        vp_buf_printf(b, "<p class=\"lead\">Opens zoomed to %lld to %lld ns of the trace.</p>\n",
                      (long long)h->view.start_ns, (long long)h->view.end_ns);
    else if (h->view.end_ns >= 0)
        vp_buf_puts(b, "<p class=\"lead\">Opens zoomed to device activity.</p>\n");
}

static int answer_handoff_page(http_req *rq, const handoff *h)
{
    vp_buf b;
    bool hands = h->host || trace_hosts_exact(h->session);
    vp_buf_init(&b, PAGE_BYTES_MAX);
    page_begin(&b, rq,
               &(page_frame){.title = "Open in Perfetto – view_profile",
                             .script = hands && handoff_ui_first(&h->ui) ? "handoff.js" : NULL,
                             .home = "All runs"});
    put_heading(&b, rq, h);
    put_handoff_hosts(&b, rq, h, http_query(rq, "at"));
    if (hands)
        put_handoff(&b, rq, h);
    else
        vp_buf_puts(&b, "<p class=\"muted\">Each host has its own trace.</p>\n");
    vp_buf_puts(&b, "<div class=\"grid\">\n");
    if (hands)
        put_deep_link(&b, h, rq);
    put_tunnel_help(&b, rq, h);
    put_download(&b, rq, h);
    vp_buf_puts(&b, "</div>\n");
    page_end(&b);
    return http_html(rq, 200, &b);
}

int page_perfetto(http_req *rq)
{
    VP_CLEANUP(site_drop_catalog) catalog *c = NULL;
    const char *name = http_param(rq, 1);
    handoff h = {.at_once = site_of(rq)->opts.ui == SITE_UI_PERFETTO};
    if (site_session(&c, &h.session, rq) < 0)
        return page_no_session(rq, 0);
    if (!h.session->host_count)
        return page_message(rq, 404, "No timeline in this run",
                            "This run has no events that Perfetto can show.");
    h.host = name ? catalog_host(h.session, vp_str_of(name))
                  : (h.session->host_count == 1 ? &h.session->hosts[0] : NULL);
    if (name && !h.host)
        return page_message(rq, 404, "Host not found", "This run has no host with this name.");
    handoff_ui_of(&h.ui, rq);
    if (handoff_view(&h.view, rq, h.session, h.host) < 0)
        return page_failure(rq, "Invalid time");
    if (!h.host) { /* a time refers to one host's file, and this much data is not loaded
                      automatically */
        h.view = EX_VIEW_ALL;
        h.at_once = false;
    }
    return answer_handoff_page(rq, &h);
}
