#include "server/net/server.h"
#include "server/routes/site/site_query.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/report/labels/view_words.h"

/* In ms. Maximum age of the list for a page of a run; the index requests newer ones. */
#define SESSION_AGE_MS 30000
/* In ms. An unknown id may be that of a new run, so the list is then refreshed earlier. */
#define UNKNOWN_AGE_MS 2000

int site_session(catalog **c, const cat_session **s, const http_req *rq)
{
    return site_session_at(c, s, rq, 0);
}

int site_session_at(catalog **c, const cat_session **s, const http_req *rq, size_t param)
{
    static const int64_t ages[] = {SESSION_AGE_MS, UNKNOWN_AGE_MS};
    store *st = site_of(rq)->store;
    for (size_t i = 0; i < 2; i++) {
        store_refresh(st, ages[i]); /* if the scan fails, the current list is used */
        catalog *current = store_catalog(st);
        const char *id = http_param(rq, param);
        const cat_session *found = id ? catalog_by_id(current, id) : NULL;
        if (found) {
            *c = current;
            *s = found;
            return 0;
        }
        catalog_free(current);
    }
    if (store_indexing(st, NULL))
        return vp_fail(VP_EBUSY, "the directory is still being indexed; try again in a moment");
    return vp_fail(VP_ENOTFOUND, "no such run");
}

const cat_session *site_session_of(const catalog *c, const char *root, const char *run)
{
    size_t n = strlen(root);
    if (strncmp(run, root, n) != 0 || (run[n] && run[n] != '/'))
        return NULL;
    const char *path = run[n] ? run + n + 1 : ".";
    for (size_t i = 0; i < catalog_count(c); i++)
        if (!strcmp(catalog_get(c, i)->path, path))
            return catalog_get(c, i);
    return NULL;
}

/* Parses a query key that has one of these words; *out is unchanged if the key is missing. */
static int choose_query_word(const http_req *rq, const char *key, const char *const *words,
                             int *out)
{
    const char *given = http_query(rq, key);
    if (!given)
        return 0;
    for (int i = 0; words[i]; i++)
        if (!strcmp(words[i], given)) {
            *out = i;
            return 0;
        }
    return vp_fail(VP_EARG, "unknown %s=%.60s", key, given);
}

int site_view(vp_view *v, const http_req *rq)
{
    vp_view view = VP_VIEW_INIT;
    const char *top = http_query(rq, "n");
    uint64_t n = site_of(rq)->opts.top;
    int sort = VP_BY_SELF;
    if (top && (!vp_str_to_u64(vp_str_of(top), &n) || n > VP_TOP_MAX))
        return vp_fail(VP_EARG, "n must be a number up to %u", VP_TOP_MAX);
    VP_TRY(choose_query_word(rq, "by", rep_sort_words, &sort));
    view.top = (size_t)n;
    view.sort = (vp_sort)sort;
    view.device = http_query(rq, "device");
    view.host = http_query(rq, "host");
    if (view.device && !view.device[0])
        view.device = NULL;
    if (view.host && !view.host[0])
        view.host = NULL;
    *v = view;
    return 0;
}

int site_group(vp_group *g, const http_req *rq)
{
    int group = VP_GROUP_NAME;
    VP_TRY(choose_query_word(rq, "group", rep_group_words, &group));
    *g = (vp_group)group;
    return 0;
}

int site_where(vp_where *w, const http_req *rq)
{
    int where = VP_WHERE_DEVICE;
    VP_TRY(choose_query_word(rq, "where", rep_where_words, &where));
    *w = (vp_where)where;
    return 0;
}

static int step_of_query(int64_t *step, const http_req *rq, const vp_report *r)
{
    const char *given = http_query(rq, "step");
    uint64_t number;
    *step = VP_UNKNOWN;
    if (!given)
        return 0;
    if (!vp_str_to_u64(vp_str_of(given), &number))
        return vp_fail(VP_EARG, "step must be a number");
    if (!r->steps.count)
        return vp_fail(VP_ENOTFOUND, "no step %.20s: this run has no steps", given);
    for (size_t i = 0; i < r->steps.count; i++)
        if (r->steps.list[i].number >= 0 && (uint64_t)r->steps.list[i].number == number) {
            *step = r->steps.list[i].number;
            return 0;
        }
    return vp_fail(VP_ENOTFOUND, "no step %.20s in this run", given);
}

static bool client_left(const void *rq)
{
    return http_client_left(rq);
}

store_asker site_asker(const http_req *rq)
{
    return (store_asker){client_left, rq};
}

/* Checks the report of the whole run first, which lists its steps: requests with invented numbers
 * cause no analysis. */
int site_report(store_report **out, const http_req *rq, catalog *c, const cat_session *s,
                vp_group group, vp_where where)
{
    store *st = site_of(rq)->store;
    store_wanted w = {group, VP_DEPTH_FULL, VP_UNKNOWN, VP_WHERE_DEVICE};
    const store_asker who = site_asker(rq);
    store_report *whole;
    VP_TRY(store_get(&whole, st, c, s, &w, &who));
    int rc = step_of_query(&w.step, rq, store_report_of(whole));
    w.where = where;
    if (rc >= 0 && w.step == VP_UNKNOWN && where == VP_WHERE_DEVICE) {
        *out = whole;
        return 0;
    }
    if (rc >= 0)
        rc = store_get(out, st, c, s, &w, &who);
    store_release(&whole);
    return rc;
}

static bool is_stopping(const void *ctx)
{
    const site *s = ctx;
    return s->http && http_stopping(s->http);
}

store_asker site_until_stop(const site *s)
{
    return (store_asker){is_stopping, s};
}
