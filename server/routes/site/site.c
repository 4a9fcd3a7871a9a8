#include "server/routes/site/site.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

bool site_ui_of(const char *name, site_ui *out)
{
    static const char *const names[] = {"both", "perfetto", "tensorboard", "none"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name)) {
            *out = (site_ui)i;
            return true;
        }
    return false;
}

static browser_view view_of(const site *s)
{
    static const browser_view views[] = {BROWSER_SESSION, BROWSER_PERFETTO, BROWSER_TENSORBOARD,
                                         BROWSER_SESSION};
    return views[s->opts.ui];
}

int site_url(vp_buf *b, const site *s, const cat_session *session)
{
    vp_str token = vp_str_of(http_server_url(s->http)), base;
    vp_take_until(&token, '?', SIZE_MAX, &base);
    vp_buf_str(b, base);
    if (session)
        browser_path(b, view_of(s), session->id);
    if (token.n) {
        vp_buf_putc(b, '?');
        vp_buf_str(b, token);
    }
    return b->status;
}

/* Takes one component of a path; too long ones cannot be the path of a page. */
static void copy_piece(char *out, size_t cap, vp_str piece)
{
    piece = vp_str_head(piece, cap - 1);
    memcpy(out, piece.p, piece.n);
    out[piece.n] = 0;
}

void site_page(browser_page *out, const site *s, const cat_session *session)
{
    vp_str rest = vp_str_skip(vp_str_of(http_server_url(s->http)), strlen("http://")), host;
    vp_take_until(&rest, '/', SIZE_MAX, &host);
    host = vp_str_head(host, vp_str_rfind_char(host, ':'));
    if (vp_str_starts(host, VP_STR("[")))
        host = vp_str_head(vp_str_skip(host, 1), host.n - 2);
    *out = (browser_page){.port = http_server_port(s->http)};
    copy_piece(out->host, sizeof out->host, host);
    if (rest.n > 1) { /* "name/" */
        out->prefix[0] = '/';
        copy_piece(out->prefix + 1, sizeof out->prefix - 1, vp_str_head(rest, rest.n - 1));
    }
    if (!session)
        return;
    out->view = view_of(s);
    copy_piece(out->id, sizeof out->id, vp_str_of(session->id));
}
