/* `/session/ID/`: the report of a run as a page, tab by tab; `/session/ID/op`: one row of its op
 * table, call by call, and the same as JSON; `/session/ID/ops.csv`: that table for a spreadsheet.
 * The query selects the content, and every link keeps it. */
#include <inttypes.h>
#include <stdio.h>

#include "server/routes/routes.h"
#include "server/routes/site/page.h"
#include "server/routes/site/site_query.h"
#include "trace/base/err.h"
#include "trace/report/html/web_files.h"
#include "trace/report/report.h"

/* Maximum rows of one table: more make a browser slow, and the CSV has them all. */
#define ROWS_MAX 1000u

/* A parsed request for a run; asked_drop releases catalog and report. */
typedef struct asked {
    catalog *c;
    const cat_session *s;
    store_report *h, *whole; /* `whole`: for a page of host zones */
    vp_view view;
    vp_group group;
    vp_where where;
    char session[VP_MEMBER_NAME_MAX + 16], timeline[VP_MEMBER_NAME_MAX + 32],
        perfetto[VP_MEMBER_NAME_MAX + 16], tensorboard[VP_MEMBER_NAME_MAX + 16],
        raw[VP_MEMBER_NAME_MAX + 16];
    rep_links links;
} asked;

static void asked_drop(asked *a)
{
    store_release(&a->h);
    store_release(&a->whole);
    catalog_free(a->c);
}

static int take_query(asked *a, const http_req *rq)
{
    const char *tab = http_query(rq, "tab"), *filter = http_query(rq, "q");
    VP_TRY(site_group(&a->group, rq));
    VP_TRY(site_view(&a->view, rq));
    if (filter && *filter)
        a->view.filter = filter;
    if (tab && !rep_tab_known(tab))
        return vp_fail(VP_EARG, "unknown tab=%.60s", tab);
    VP_TRY(site_where(&a->where, rq));
    a->links.tab = a->where == VP_WHERE_HOST ? "ops" : tab ? tab : "summary";
    return 0;
}

static int get_session_report(asked *a, const http_req *rq)
{
    VP_TRY(site_report(&a->h, rq, a->c, a->s, a->group, a->where));
    if (a->where == VP_WHERE_DEVICE)
        return 0;
    VP_TRY(site_report(&a->whole, rq, a->c, a->s, a->group, VP_WHERE_DEVICE));
    a->links.whole = store_report_of(a->whole);
    return 0;
}

static void make_links(asked *a, const http_req *rq)
{
    snprintf(a->session, sizeof a->session, "/session/%s/", a->s->id);
    snprintf(a->timeline, sizeof a->timeline, "/session/%s/timeline", a->s->id);
    snprintf(a->perfetto, sizeof a->perfetto, "/perfetto/%s", a->s->id);
    snprintf(a->tensorboard, sizeof a->tensorboard, "/tensorboard/%s", a->s->id);
    snprintf(a->raw, sizeof a->raw, "/trace/%s/raw/", a->s->id);
    a->links.base = http_root(rq);
    a->links.index = "/";
    a->links.version = web_file_version;
    a->links.controls = true;
    a->links.rows_max = ROWS_MAX;
    a->links.session = a->session;
    a->links.source_root = site_of(rq)->opts.source_root;
    a->links.raw = a->raw;
    a->links.timeline = a->s->host_count ? a->timeline : NULL;
    a->links.perfetto = a->s->host_count ? a->perfetto : NULL;
    a->links.tensorboard = page_has_xplane(a->s) ? a->tensorboard : NULL;
}

/* Returns 0 with the report; otherwise a response was sent, and *answer is the value to return. */
static int ask_session_report(asked *a, http_req *rq, int *answer)
{
    if (site_session(&a->c, &a->s, rq) < 0) {
        *answer = page_no_session(rq, 0);
        return -1;
    }
    if (take_query(a, rq) < 0) {
        *answer = page_failure(rq, "Unknown view");
        return -1;
    }
    make_links(a, rq);
    if (get_session_report(a, rq) < 0) {
        *answer = page_failure(rq, http_query(rq, "step") ? "Cannot show this step"
                                                          : "Cannot show this run");
        return -1;
    }
    return 0;
}

/* Sends the output, or its error. */
static int send_page(http_req *rq, vp_buf *b, int rc)
{
    if (rc >= 0)
        return http_html(rq, 200, b);
    vp_buf_free(b);
    return page_failure(rq, "Cannot show this run");
}

int page_session(http_req *rq)
{
    VP_CLEANUP(asked_drop) asked a = {0};
    int answer;
    vp_buf b;
    if (ask_session_report(&a, rq, &answer) < 0)
        return answer;
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    return send_page(rq, &b, rep_html(&b, store_report_of(a.h), &a.view, &a.links));
}

/* ---- One op --------------------------------------------------------------------------------- */

static void drop_details(op_details **d)
{
    op_details_free(*d);
}

/* The op given by `on` (a device's index) and `op` (its key) or `name`; if several have that name,
 * the one with the most self time. r->op_count if there is none. */
static size_t find_requested_op(const vp_report *r, const http_req *rq)
{
    const char *on = http_query(rq, "on"), *key = http_query(rq, "op");
    const char *name = http_query(rq, "name");
    uint64_t device = 0;
    char hex[20];
    size_t i = 0;
    if ((!key && !name) || (on && !vp_str_to_u64(vp_str_of(on), &device)))
        return r->op_count;
    for (; i < r->op_count; i++) {
        const vp_op *op = &r->ops[i];
        snprintf(hex, sizeof hex, "%016" PRIx64, op_key(op));
        if (op->device == device && (key ? !strcmp(hex, key) : !strcmp(op->name, name)))
            break;
    }
    return i;
}

int page_op(http_req *rq)
{
    VP_CLEANUP(asked_drop) asked a = {0};
    VP_CLEANUP(drop_details) op_details *d = NULL;
    int answer;
    vp_buf b;
    if (ask_session_report(&a, rq, &answer) < 0)
        return answer;
    const vp_report *r = store_report_of(a.h);
    size_t op = find_requested_op(r, rq);
    if (op == r->op_count)
        return page_message(rq, 404, "Op not found",
                            "The run has no op with this name in this grouping. The run may have "
                            "been recorded again; open it from the list.");
    const store_asker who = site_asker(rq);
    if (store_op(&d, site_of(rq)->store, a.c, a.s, r, op, &who) < 0)
        return page_failure(rq, "Cannot show this op");
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    return send_page(rq, &b, rep_op_html(&b, r, op, d, &a.view, &a.links));
}

int route_op_json(http_req *rq)
{
    VP_CLEANUP(asked_drop) asked a = {0};
    VP_CLEANUP(drop_details) op_details *d = NULL;
    vp_buf b;
    VP_TRY(site_session(&a.c, &a.s, rq));
    VP_TRY(take_query(&a, rq));
    VP_TRY(get_session_report(&a, rq));
    const vp_report *r = store_report_of(a.h);
    size_t op = find_requested_op(r, rq);
    if (op == r->op_count)
        return vp_fail(VP_ENOTFOUND, "no such op in this grouping");
    const store_asker who = site_asker(rq);
    VP_TRY(store_op(&d, site_of(rq)->store, a.c, a.s, r, op, &who));
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    int rc = rep_op_json(&b, r, op, d);
    if (rc >= 0)
        return http_json(rq, 200, &b);
    vp_buf_free(&b);
    return rc;
}

/* ---- CSV ------------------------------------------------------------------------------------ */

int route_ops_csv(http_req *rq)
{
    VP_CLEANUP(asked_drop) asked a = {0};
    vp_buf b;
    VP_TRY(site_session(&a.c, &a.s, rq));
    VP_TRY(take_query(&a, rq));
    VP_TRY(get_session_report(&a, rq));
    a.view.top = 0; /* all rows, because a spreadsheet can filter */
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    int rc = rep_csv(&b, store_report_of(a.h), &a.view);
    if (rc < 0) {
        vp_buf_free(&b);
        return rc;
    }
    return http_plain(rq, 200, &b, "text/csv; charset=utf-8");
}
