/* `/compare/A/B/timeline`: the page with the canvas on which compare_timeline.js draws both runs;
 * without scripts it links to the alternatives. */
#include "server/routes/routes.h"
#include "server/routes/site/page.h"
#include "server/routes/site/site_query.h"
#include "trace/base/err.h"

typedef struct side {
    char letter; /* 'a', 'b' */
    catalog *c;
    const cat_session *s;
    const cat_host *host; /* NULL: the run has none */
} side;

static void drop_side(side *x)
{
    catalog_free(x->c);
}

/* Reads a run of the path and a host of the query. VP_ENOTFOUND: no such run. */
static int take_side(side *x, const http_req *rq, size_t param, const char *host)
{
    VP_TRY(site_session_at(&x->c, &x->s, rq, param));
    x->host = host ? catalog_host(x->s, vp_str_of(host)) : x->s->host_count ? x->s->hosts : NULL;
    return 0;
}

static void put_host_query(vp_buf *b, const side *x, const cat_host *host)
{
    vp_buf_printf(b, "host_%c=", x->letter);
    page_url(b, host->name);
}

/* Links to the other hosts of a run; they keep the host of the other run. */
static void put_side_hosts(vp_buf *b, const side *x, const side *other)
{
    if (x->s->host_count < 2)
        return;
    vp_buf_printf(b, "<nav class=\"choices\" aria-label=\"Hosts of %c\"><ul>\n",
                  x->letter - 'a' + 'A');
    for (size_t i = 0; i < x->s->host_count; i++) {
        vp_buf_puts(b, "<li><a href=\"timeline?");
        put_host_query(b, x, &x->s->hosts[i]);
        if (other->s->host_count > 1) {
            vp_buf_puts(b, "&amp;");
            put_host_query(b, other, other->host);
        }
        vp_buf_puts(b, &x->s->hosts[i] == x->host ? "\" aria-current=\"page\">" : "\">");
        page_text(b, x->s->hosts[i].name);
        vp_buf_puts(b, "</a></li>\n");
    }
    vp_buf_puts(b, "</ul></nav>\n");
}

/* URLs of a run for compare_timeline.js, without query. */
static void put_addresses(vp_buf *b, const http_req *rq, const side *x)
{
    vp_buf_printf(b, " data-%c-api=\"%s/api/v1/session/", x->letter, http_root(rq));
    page_url(b, x->s->id);
    vp_buf_printf(b, "/\" data-%c-session=\"", x->letter);
    page_path(b, rq, "session", x->s->id);
    vp_buf_puts(b, "/\"");
    if (!x->host)
        return;
    vp_buf_printf(b, " data-%c-perfetto=\"", x->letter);
    page_host_path(b, rq, "perfetto", x->s, x->host);
    vp_buf_puts(b, "\"");
    page_attribute(b, x->letter == 'a' ? "data-a-host" : "data-b-host", x->host->name);
}

static void put_side_name(vp_buf *b, const http_req *rq, const side *x)
{
    vp_buf_printf(b, "<div><dt>%c</dt><dd><a href=\"", x->letter - 'a' + 'A');
    page_path(b, rq, "session", x->s->id);
    vp_buf_puts(b, "/\">");
    page_text(b, x->s->name);
    vp_buf_puts(b, "</a></dd></div>\n");
}

static void put_compare_path(vp_buf *b, const http_req *rq, const char *family, const side *x,
                             const side *y)
{
    page_path(b, rq, family, x->s->id);
    vp_buf_putc(b, '/');
    page_url(b, y->s->id);
}

static void put_compare_app(vp_buf *b, const http_req *rq, const side *x, const side *y)
{
    vp_buf_puts(b, "<div id=\"compare-timeline\" class=\"timeline\" data-api=\"");
    put_compare_path(b, rq, "api/v1/compare", x, y);
    vp_buf_puts(b, "/timeline\" data-compare=\"");
    put_compare_path(b, rq, "compare", x, y);
    vp_buf_putc(b, '"');
    put_addresses(b, rq, x);
    put_addresses(b, rq, y);
    vp_buf_puts(b, "><p class=\"muted\" id=\"timeline-status\" role=\"status\">Loading both traces "
                   "…</p></div>\n"
                   "<noscript><p>The timelines need JavaScript. Without it, see <a href=\"");
    put_compare_path(b, rq, "compare", x, y);
    vp_buf_puts(b,
                "\">the comparison</a>, and the page of each run for its trace.</p></noscript>\n");
}

int page_compare_timeline(http_req *rq)
{
    VP_CLEANUP(drop_side) side x = {.letter = 'a'};
    VP_CLEANUP(drop_side) side y = {.letter = 'b'};
    const char *host_a = http_query(rq, "host_a"), *host_b = http_query(rq, "host_b");
    vp_buf b;
    if (take_side(&x, rq, 0, host_a) < 0)
        return page_no_session(rq, 0);
    if (take_side(&y, rq, 1, host_b) < 0)
        return page_no_session(rq, 1);
    if ((host_a && !x.host) || (host_b && !y.host))
        return page_message(rq, 404, "Host not found", "This run has no host with this name.");
    vp_buf_init(&b, PAGE_BYTES_MAX);
    page_begin(&b, rq,
               &(page_frame){.title = "Timelines of two runs – view_profile",
                             .script = "compare_timeline.js",
                             .home = "All runs"});
    vp_buf_puts(&b, "<p class=\"crumbs\"><a href=\"");
    put_compare_path(&b, rq, "compare", &x, &y);
    vp_buf_puts(&b, "\">B against A</a></p>\n"
                    "<h1>Timelines of two runs</h1>\n"
                    "<dl class=\"facts\">\n");
    put_side_name(&b, rq, &x);
    put_side_name(&b, rq, &y);
    vp_buf_puts(&b, "</dl>\n");
    put_side_hosts(&b, &x, &y);
    put_side_hosts(&b, &y, &x);
    put_compare_app(&b, rq, &x, &y);
    page_end(&b);
    return http_html(rq, 200, &b);
}
