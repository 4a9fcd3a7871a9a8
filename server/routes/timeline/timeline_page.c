/* `/session/ID/timeline`: the page with the canvas that timeline.js draws; without scripts it links
 * to the alternatives. */

#include "server/routes/routes.h"
#include "server/routes/site/page.h"
#include "server/routes/site/site_query.h"

static void put_timeline_hosts(vp_buf *b, const cat_session *s, const cat_host *host)
{
    if (s->host_count < 2)
        return;
    vp_buf_puts(b, "<nav class=\"choices\" aria-label=\"Hosts\"><ul>\n");
    for (size_t i = 0; i < s->host_count; i++) {
        vp_buf_puts(b, "<li><a href=\"timeline?host=");
        page_url(b, s->hosts[i].name);
        vp_buf_puts(b, &s->hosts[i] == host ? "\" aria-current=\"page\">" : "\">");
        page_text(b, s->hosts[i].name);
        vp_buf_puts(b, "</a></li>\n");
    }
    vp_buf_puts(b, "</ul></nav>\n");
}

/* The link to the same time in Perfetto. */
static void put_without_script(vp_buf *b, const http_req *rq, const cat_session *s,
                               const cat_host *host)
{
    const char *at = http_query(rq, "at");
    vp_buf_puts(b, "<noscript><p>The timeline needs JavaScript. Without it, download the trace "
                   "from the page <a href=\"");
    page_host_path(b, rq, "perfetto", s, host);
    if (at) {
        vp_buf_puts(b, "?at=");
        page_url(b, at);
    }
    vp_buf_puts(b, "\">Open in Perfetto</a>.</p></noscript>\n");
}

/* URLs for timeline.js, without query. */
static void put_timeline_app(vp_buf *b, const http_req *rq, const cat_session *s,
                             const cat_host *host)
{
    vp_buf_puts(b, "<div id=\"timeline\" class=\"timeline\" data-api=\"");
    vp_buf_printf(b, "%s/api/v1/session/", http_root(rq));
    page_url(b, s->id);
    vp_buf_puts(b, "/\" data-perfetto=\"");
    page_host_path(b, rq, "perfetto", s, host);
    vp_buf_puts(b, "\" data-session=\"");
    page_path(b, rq, "session", s->id);
    vp_buf_puts(b, "/\"");
    page_attribute(b, "data-host", host->name);
    page_attribute(b, "data-name", s->name);
    vp_buf_puts(b, "><p class=\"muted\" id=\"timeline-status\" role=\"status\"></p></div>\n");
    put_without_script(b, rq, s, host);
}

int page_timeline(http_req *rq)
{
    VP_CLEANUP(site_drop_catalog) catalog *c = NULL;
    const cat_session *s;
    const char *name = http_query(rq, "host");
    vp_buf b;
    if (site_session(&c, &s, rq) < 0)
        return page_no_session(rq, 0);
    if (!s->host_count)
        return page_message(rq, 404, "No timeline in this run",
                            "This run has no events with a time.");
    const cat_host *host = name ? catalog_host(s, vp_str_of(name)) : s->hosts;
    if (!host)
        return page_message(rq, 404, "Host not found", "This run has no host with this name.");
    vp_buf_init(&b, PAGE_BYTES_MAX);
    page_begin(&b, rq,
               &(page_frame){.title = "Timeline – view_profile",
                             .script = "timeline.js",
                             .home = "All runs"});
    vp_buf_puts(&b, "<p class=\"crumbs\"><a href=\"");
    page_path(&b, rq, "session", s->id);
    vp_buf_puts(&b, "/\">");
    page_text(&b, s->name);
    vp_buf_puts(&b, "</a></p>\n<h1>Timeline</h1>\n");
    put_timeline_hosts(&b, s, host);
    put_timeline_app(&b, rq, s, host);
    page_end(&b);
    return http_html(rq, 200, &b);
}
