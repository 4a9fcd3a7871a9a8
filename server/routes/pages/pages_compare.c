/* `/compare/A/B`: the comparison of two runs, as a page and as JSON; and the form of the index that
 * leads there. */
#include "server/routes/routes.h"
#include "server/routes/site/page.h"
#include "server/routes/site/site_query.h"
#include "trace/analyze/compare/compare.h"
#include "trace/base/err.h"
#include "trace/report/html/web_files.h"
#include "trace/report/report.h"

static void drop_comparison(vp_comparison **c)
{
    compare_free(*c);
}

/* Compares the runs of the two {} of the path. VP_ENOTFOUND: one does not exist; *missing is its
 * index in the path. */
static int compare_sessions(vp_comparison **out, size_t *missing, const http_req *rq)
{
    VP_CLEANUP(site_drop_catalog) catalog *ca = NULL, *cb = NULL;
    VP_CLEANUP(store_release) store_report *ra = NULL, *rb = NULL;
    const cat_session *a, *b;
    vp_group group;
    store *st = site_of(rq)->store;
    VP_TRY(site_group(&group, rq));
    *missing = 0;
    VP_TRY(site_session_at(&ca, &a, rq, 0));
    *missing = 1;
    VP_TRY(site_session_at(&cb, &b, rq, 1));
    const store_wanted w = {group, VP_DEPTH_FULL, VP_UNKNOWN, VP_WHERE_DEVICE};
    const store_asker who = site_asker(rq);
    VP_TRY(store_get(&ra, st, ca, a, &w, &who));
    VP_TRY(store_get(&rb, st, cb, b, &w, &who));
    return compare_make(out, store_report_of(ra), store_report_of(rb));
}

int page_compare(http_req *rq)
{
    VP_CLEANUP(drop_comparison) vp_comparison *c = NULL;
    const rep_links links = {.base = http_root(rq), .index = "/", .version = web_file_version};
    size_t missing;
    int rc = compare_sessions(&c, &missing, rq);
    if (rc == VP_ENOTFOUND)
        return page_no_session(rq, missing);
    if (rc < 0)
        return page_failure(rq, "These runs cannot be compared");
    vp_buf b;
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    if (rep_compare_html(&b, c, &links) < 0) {
        vp_buf_free(&b);
        return page_failure(rq, "These runs cannot be compared");
    }
    return http_html(rq, 200, &b);
}

int route_compare_json(http_req *rq)
{
    VP_CLEANUP(drop_comparison) vp_comparison *c = NULL;
    size_t missing;
    VP_TRY(compare_sessions(&c, &missing, rq));
    vp_buf b;
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    int rc = rep_compare_json(&b, c);
    if (rc < 0) {
        vp_buf_free(&b);
        return rc;
    }
    return http_json(rq, 200, &b);
}

static size_t catalog_place_of(const catalog *c, const char *id)
{
    size_t i = 0;
    while (i < catalog_count(c) && strcmp(catalog_get(c, i)->id, id) != 0)
        i++;
    return i;
}

/* Chooses the older run as A and the newer one as B; the catalog is ordered newest first. */
static int choose_compare_sides(const http_req *rq, const char **a, const char **b)
{
    VP_CLEANUP(site_drop_catalog) catalog *c = store_catalog(site_of(rq)->store);
    const char *s[] = {http_query_at(rq, "s", 0), http_query_at(rq, "s", 1)};
    size_t ticked = 0;
    while (http_query_at(rq, "s", ticked))
        ticked++;
    if (ticked != 2 || !strcmp(s[0], s[1]))
        return vp_fail(VP_EARG, "%zu runs selected; go back and select exactly two runs", ticked);
    bool first_is_newer = catalog_place_of(c, s[0]) < catalog_place_of(c, s[1]);
    *a = s[first_is_newer];
    *b = s[!first_is_newer];
    return 0;
}

/* The form of the index: ?s=ID&s=ID, the older one becomes A; or ?a=ID&b=ID. */
int page_compare_form(http_req *rq)
{
    const char *a = http_query(rq, "a"), *b = http_query(rq, "b");
    if (!a && !b && choose_compare_sides(rq, &a, &b) < 0)
        return page_failure(rq, "Compare needs two runs");
    if (!a || !b || !*a || !*b)
        return page_message(rq, 400, "Compare needs two runs", "Choose one run as A and one as B.");
    VP_CLEANUP(vp_buf_free) vp_buf where;
    vp_buf_init(&where, VP_HTTP_TARGET_MAX);
    vp_buf_puts(&where, "/compare/");
    page_url(&where, a);
    vp_buf_putc(&where, '/');
    page_url(&where, b);
    return where.status < 0 ? where.status : http_redirect(rq, vp_buf_cstr(&where));
}
