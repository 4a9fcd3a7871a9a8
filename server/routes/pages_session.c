/* `/session/ID/`: the report of a session as a page; the query says what of it. */
#include <stdio.h>

#include "server/routes/page.h"
#include "trace/report/report.h"

static int put_report(vp_buf *b, const vp_report *r, const vp_view *v, const cat_session *s)
{
    char perfetto[VP_MEMBER_NAME_MAX + 16], tensorboard[VP_MEMBER_NAME_MAX + 16];
    snprintf(perfetto, sizeof perfetto, "/perfetto/%s", s->id);
    snprintf(tensorboard, sizeof tensorboard, "/tensorboard/%s", s->id);
    rep_links links = {.base = "",
                       .index = "/",
                       .controls = true,
                       .perfetto = s->host_count ? perfetto : NULL,
                       .tensorboard = page_has_xplane(s) ? tensorboard : NULL};
    return rep_html(b, r, v, &links);
}

int page_session(http_req *rq)
{
    VP_CLEANUP(page_drop_catalog) catalog *c = NULL;
    VP_CLEANUP(store_release) store_report *h = NULL;
    const cat_session *s;
    vp_view view;
    vp_group group;
    if (site_session(&c, &s, rq) < 0)
        return page_no_session(rq, 0);
    if (site_group(&group, rq) < 0 || site_view(&view, rq) < 0)
        return page_failure(rq, "That view does not exist");
    if (store_get(&h, site_of(rq)->store, c, s, group, VP_DEPTH_FULL) < 0)
        return page_failure(rq, "This session cannot be shown");
    vp_buf b;
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    if (put_report(&b, store_report_of(h), &view, s) < 0) {
        vp_buf_free(&b);
        return page_failure(rq, "This session cannot be shown");
    }
    return http_html(rq, 200, &b);
}
