/* /api/v1: runs, reports, ops and findings as JSON. */
#include <string.h>

#include "server/routes/routes.h"
#include "server/routes/site/site_query.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/report/report.h"

/* In ms: a reload within this time after a scan shows the same list. */
#define RESCAN_MS 2000
/* In ms: maximum wait for the first scan. Small directories are indexed within this time; for large
 * ones the response contains the runs found so far. */
#define FIRST_WAIT_MS 25

/* In ms: how long a response is reused. */
#define SAME_MS 1000

int route_sessions_json(http_req *rq)
{
    vp_buf b;
    VP_CLEANUP(site_drop_catalog) catalog *c = NULL;
    store *st = site_of(rq)->store;
    store_progress now;
    int rc = store_wait(st, FIRST_WAIT_MS);
    if (rc <= 0)
        VP_TRY(store_refresh(st, RESCAN_MS));
    bool indexing = store_indexing(st, &now);
    c = store_catalog(st);
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    rc =
        indexing ? rep_list_json_growing(&b, c, now.sessions, now.looked_at) : rep_list_json(&b, c);
    if (rc < 0) {
        vp_buf_free(&b);
        return rc;
    }
    http_keep(rq, indexing ? 0 : SAME_MS);
    return http_json(rq, 200, &b);
}

typedef int json_writer(vp_buf *b, const vp_report *r, const vp_view *v);

static int send_report(http_req *rq, json_writer *write, vp_where where)
{
    vp_buf b;
    vp_view view;
    vp_group group;
    const cat_session *s;
    VP_CLEANUP(site_drop_catalog) catalog *c = NULL;
    VP_CLEANUP(store_release) store_report *report = NULL;
    VP_TRY(site_view(&view, rq));
    VP_TRY(site_group(&group, rq));
    VP_TRY(site_session(&c, &s, rq));
    if (!http_query(rq, "n"))
        view.top = 0;
    VP_TRY(site_report(&report, rq, c, s, group, where));
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    int rc = write(&b, store_report_of(report), &view);
    if (rc < 0) {
        vp_buf_free(&b);
        return rc;
    }
    http_keep(rq, SAME_MS);
    return http_json(rq, 200, &b);
}

int route_report_json(http_req *rq)
{
    return send_report(rq, rep_json, VP_WHERE_DEVICE);
}

int route_ops_json(http_req *rq)
{
    vp_where where;
    VP_TRY(site_where(&where, rq));
    return send_report(rq, rep_json_ops, where);
}

static int write_findings(vp_buf *b, const vp_report *r, const vp_view *v)
{
    (void)v;
    return rep_findings_json(b, r);
}

int route_findings_json(http_req *rq)
{
    return send_report(rq, write_findings, VP_WHERE_DEVICE);
}
