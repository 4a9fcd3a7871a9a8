#include "server/routes/routes.h"

#include <string.h>
#include <time.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* POST /status has no route on purpose: 404 tells Perfetto that no trace_processor listens here. */
static const http_route table[] = {
    {HTTP_GET, "/trace/{}/raw/{}", route_trace_raw, HTTP_SLOW},
    {HTTP_GET, "/trace/{}/{}", route_trace_json, HTTP_SLOW | HTTP_CORS},
    {HTTP_GET, "/api/v1/sessions", route_sessions_json, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/session/{}/report", route_report_json, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/session/{}/ops", route_ops_json, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/session/{}/findings", route_findings_json, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/compare/{}/{}", route_compare_json, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/state", route_state_json, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/", page_index, HTTP_SLOW},
    {HTTP_GET, "/session/{}/", page_session, HTTP_SLOW},
    {HTTP_GET, "/session/{}/headline", page_headline, HTTP_SLOW},
    {HTTP_GET, "/session/{}/op", page_op, HTTP_SLOW},
    {HTTP_GET, "/session/{}/ops.csv", route_ops_csv, HTTP_SLOW},
    {HTTP_GET, "/compare", page_compare_form, HTTP_SLOW},
    {HTTP_GET, "/compare/{}/{}", page_compare, HTTP_SLOW},
    {HTTP_GET, "/perfetto/{}", page_perfetto, HTTP_SLOW},
    {HTTP_GET, "/perfetto/{}/{}", page_perfetto, HTTP_SLOW},
    {HTTP_GET, "/tensorboard/{}", page_tensorboard, HTTP_SLOW},
    {HTTP_GET, "/static/{}", route_static, 0},
    {HTTP_GET | HTTP_POST, "/api/v1/extract", route_extract, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/api/v1/live", route_live, HTTP_SLOW | HTTP_API},
    {HTTP_POST, "/api/v1/live/{}/capture", route_live_capture, HTTP_SLOW | HTTP_API},
    {HTTP_POST, "/api/v1/rescan", route_rescan, HTTP_SLOW | HTTP_API},
    {HTTP_GET, "/healthz", route_health, HTTP_OPEN},
    {HTTP_GET, "/readyz", route_ready, HTTP_OPEN},
    {HTTP_GET, "/metrics", route_metrics, 0},
    {0, NULL, NULL, 0},
};

const http_route *site_routes(void)
{
    return table;
}

/* ---- The query ------------------------------------------------------------------------------ */

/* A page may show a run as it was this long ago; the index asks more often. */
#define SESSION_AGE_MS 30000
/* An id that is not listed may be a new run's. */
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
        store_refresh(st, ages[i]); /* without success the list that we have is good enough */
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
    return vp_fail(VP_ENOTFOUND, "no such session");
}

typedef struct word {
    const char *name;
    int value;
} word;

/* The value that a query key names; *out stays where the key is absent. */
static int choose(const http_req *rq, const char *key, const word *words, int *out)
{
    const char *given = http_query(rq, key);
    if (!given)
        return 0;
    for (const word *w = words; w->name; w++)
        if (!strcmp(w->name, given)) {
            *out = w->value;
            return 0;
        }
    return vp_fail(VP_EARG, "%s=%.60s is not known", key, given);
}

int site_view(vp_view *v, const http_req *rq)
{
    static const word sorts[] = {{"self", VP_BY_SELF},
                                 {"total", VP_BY_TOTAL},
                                 {"calls", VP_BY_CALLS},
                                 {"max", VP_BY_MAX},
                                 {NULL, 0}};
    vp_view view = VP_VIEW_INIT;
    const char *top = http_query(rq, "n");
    uint64_t n = site_of(rq)->opts.top;
    int sort = VP_BY_SELF;
    if (top && (!vp_str_to_u64(vp_str_of(top), &n) || n > VP_TOP_MAX))
        return vp_fail(VP_EARG, "n must be a number up to %u", VP_TOP_MAX);
    VP_TRY(choose(rq, "by", sorts, &sort));
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
    static const word groups[] = {{"name", VP_GROUP_NAME},
                                  {"category", VP_GROUP_CATEGORY},
                                  {"scope", VP_GROUP_SCOPE},
                                  {"source", VP_GROUP_SOURCE},
                                  {"module", VP_GROUP_MODULE},
                                  {"raw", VP_GROUP_RAW},
                                  {NULL, 0}};
    int group = VP_GROUP_NAME;
    VP_TRY(choose(rq, "group", groups, &group));
    *g = (vp_group)group;
    return 0;
}

int site_where(vp_where *w, const http_req *rq)
{
    static const word places[] = {{"device", VP_WHERE_DEVICE}, {"host", VP_WHERE_HOST}, {NULL, 0}};
    int where = VP_WHERE_DEVICE;
    VP_TRY(choose(rq, "where", places, &where));
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
        return vp_fail(VP_ENOTFOUND, "no step %.20s: this session has no steps", given);
    for (size_t i = 0; i < r->steps.count; i++)
        if (r->steps.list[i].number >= 0 && (uint64_t)r->steps.list[i].number == number) {
            *step = r->steps.list[i].number;
            return 0;
        }
    return vp_fail(VP_ENOTFOUND, "no step %.20s in this session", given);
}

static bool client_left(const void *rq)
{
    return http_client_left(rq);
}

store_asker site_asker(const http_req *rq)
{
    return (store_asker){client_left, rq};
}

/* The whole comes first: it knows whether there is such a step, so that no number that somebody
 * makes up costs an analysis. */
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

/* ---- The site ------------------------------------------------------------------------------- */

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

/* Takes a piece of an address; what does not fit is no address of a page. */
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

static int copy_text(const char **text)
{
    if (*text && !(*text = vp_strdup(*text)))
        return vp_fail(VP_ENOMEM, "out of memory");
    return 0;
}

/* What the handlers read later; the rest of the options only http_start needs, which copies. */
static int copy_options(site_options *to, const site_options *from)
{
    *to = (site_options){.port = from->port,
                         .ui = from->ui,
                         .tensorboard_port = from->tensorboard_port,
                         .tensorboard_in_place = from->tensorboard_in_place,
                         .tensorboard_unguarded = from->tensorboard_unguarded,
                         .top = from->top,
                         .profile_dir = from->profile_dir,
                         .perfetto_ui = from->perfetto_ui,
                         .tensorboard = from->tensorboard};
    const char **texts[] = {&to->profile_dir, &to->perfetto_ui, &to->tensorboard};
    for (size_t i = 0; i < 3; i++) {
        int rc = copy_text(texts[i]);
        if (rc < 0) {
            for (size_t k = i; k < 3; k++)
                *texts[k] = NULL;
            return rc;
        }
    }
    return 0;
}

static void cancel_work(void *ctx)
{
    site *s = ctx;
    store_cancel(s->store);
    extraction_cancel(s);
}

/* "https://host:port" of a URL. */
static char *origin_of(const char *url)
{
    const char *host = strstr(url, "://");
    return vp_strndup(url, host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/?#") : 0);
}

/* A Perfetto UI that was named by an option may fetch traces, as its public twin may. */
static int start_http(site *s, const site_options *opts)
{
    size_t n = 0;
    while (opts->allow_origins && opts->allow_origins[n])
        n++;
    VP_CLEANUP(vp_free_ptr) char *ui = origin_of(s->opts.perfetto_ui);
    VP_CLEANUP(vp_free_ptr) const char **origins = vp_calloc(n + 2, sizeof *origins);
    if (!ui || !origins)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++)
        origins[i] = opts->allow_origins[i];
    origins[n] = ui;
    http_config cfg = {.host = opts->host,
                       .port = opts->port,
                       .unix_path = opts->unix_path,
                       .inherit = opts->inherit,
                       .path_prefix = opts->path_prefix,
                       .access_log = opts->access_log,
                       .access_log_json = opts->access_log_json,
                       .token = opts->token,
                       .allow_hosts = opts->allow_hosts,
                       .allow_origins = origins,
                       .routes = table,
                       .ctx = s,
                       .refused = page_refused,
                       .cancel = cancel_work};
    return http_start(&s->http, &cfg);
}

int site_start(site **out, const site_options *opts)
{
    site *s = vp_calloc(1, sizeof *s);
    if (!s)
        return vp_fail(VP_ENOMEM, "out of memory");
    cat_copies copies;
    tzset(); /* localtime_r leaves it to us; the first of several threads must not */
    int rc = copy_options(&s->opts, opts);
    if (!rc)
        rc = extraction_open(s, &copies);
    if (!rc)
        rc = store_open(&s->store, opts->profile_dir, &copies);
    if (!rc)
        rc = damage_new(&s->damages);
    if (!rc)
        rc = tensorboard_open(s);
    if (!rc)
        rc = start_http(s, opts);
    if (rc < 0) {
        site_stop(s);
        return rc;
    }
    *out = s;
    return 0;
}

void site_stop(site *s)
{
    if (!s)
        return;
    http_stop(s->http);
    tensorboard_close(s);
    store_close(s->store);
    extraction_close(s);
    damage_free(s->damages);
    vp_free((void *)(uintptr_t)s->opts.profile_dir);
    vp_free((void *)(uintptr_t)s->opts.perfetto_ui);
    vp_free((void *)(uintptr_t)s->opts.tensorboard);
    vp_free(s);
}
