/* `/`: the runs, newest first unless the query sets another order. Responds immediately from the
 * catalog and cached reports; app.js requests the missing headlines of visible rows, one after the
 * other, and the list again when its state changes. Everything works without scripts. */
#include <inttypes.h>
#include <stdio.h>

#include "server/routes/live/watched.h"
#include "server/routes/pages/index_live.h"
#include "server/routes/pages/index_rows.h"
#include "server/routes/routes.h"
#include "server/routes/site/headline.h"
#include "server/routes/site/page.h"
#include "server/routes/site/site_query.h"
#include "trace/base/json.h"
#include "trace/base/mem.h"
#include "trace/report/report.h"

/* Rows per page: 1,000 runs are answered within 50 ms, and more are not readable. */
#define ROWS_MAX 200u
/* The catalog is scanned again if the index is requested and the last scan is older. */
#define RESCAN_AFTER_MS 5000
#define RESCAN_WAIT_MS 25

typedef struct view {
    const char *text; /* as typed; never NULL */
    listing_query query;
    size_t first; /* row of the page */
    listing list;
    size_t all; /* runs, matching or not */
    bool indexing;
    store_progress progress;
} view;

/* ---- Links that keep the rest of the query --------------------------------------------------- */

static void put_index_query(vp_buf *b, const view *v, listing_sort sort, bool backwards,
                            bool grouped, size_t first)
{
    vp_buf_puts(b, "href=\"./?q=");
    page_url(b, v->text);
    if (sort != LISTING_BY_TIME || backwards)
        vp_buf_printf(b, "&amp;sort=%s%s", backwards ? "-" : "", listing_sort_name(sort));
    vp_buf_puts(b, grouped ? "&amp;group=run" : "");
    if (first)
        vp_buf_printf(b, "&amp;first=%zu", first);
    vp_buf_putc(b, '"');
}

/* The link of a column head; on the current sort key it reverses the order. */
static void put_order_link(vp_buf *b, const view *v, listing_sort sort, const char *text)
{
    const listing_query *q = &v->query;
    bool chosen = q->sort == sort, backwards = chosen && !q->backwards;
    vp_buf_puts(b, "<a ");
    put_index_query(b, v, sort, backwards, q->grouped, 0);
    vp_buf_puts(b, chosen ? " aria-current=\"true\">" : ">");
    vp_buf_printf(b, "%s%s</a>\n", text,
                  !chosen        ? ""
                  : q->backwards ? " <span aria-label=\"ascending\">↑</span>"
                                 : " <span aria-hidden=\"true\">↓</span>");
}

static void put_orders(vp_buf *b, const view *v)
{
    static const char *const names[LISTING_SORTS] = {"newest", "name", "size", "least busy",
                                                     "slowest step"};
    const listing_query *q = &v->query;
    vp_buf_puts(
        b, "<nav class=\"orders\" aria-label=\"Order of the runs\"><div><span>Sort by</span>\n");
    for (int s = 0; s < LISTING_SORTS; s++)
        put_order_link(b, v, (listing_sort)s, names[s]);
    vp_buf_puts(b, "</div><div><span>Group</span>\n");
    for (int grouped = 0; grouped < 2; grouped++) {
        vp_buf_puts(b, "<a ");
        put_index_query(b, v, q->sort, q->backwards, grouped, 0);
        vp_buf_puts(b, q->grouped == grouped ? " aria-current=\"true\">" : ">");
        vp_buf_puts(b, grouped ? "by directory</a>\n" : "none</a>\n");
    }
    vp_buf_puts(b, "</div></nav>\n");
}

/* ---- The table ------------------------------------------------------------------------------ */

static size_t page_end_row(const view *v)
{
    size_t left = v->list.count - v->first;
    return v->first + (left < ROWS_MAX ? left : ROWS_MAX);
}

static void put_column_head(vp_buf *b, const view *v, const char *css_class, const char *text,
                            listing_sort sort)
{
    const listing_query *q = &v->query;
    bool down = sort == LISTING_BY_TIME || sort == LISTING_BY_SIZE; /* largest values first */
    vp_buf_printf(b, "<th scope=\"col\" class=\"%s\"", css_class);
    if (q->sort == sort)
        vp_buf_printf(b, " aria-sort=\"%s\"", down != q->backwards ? "descending" : "ascending");
    vp_buf_puts(b, "><a ");
    put_index_query(b, v, sort, q->sort == sort && !q->backwards, q->grouped, 0);
    vp_buf_printf(b, ">%s</a></th>", text);
}

static void put_sessions_table(vp_buf *b, const site *at, const view *v)
{
    vp_buf_puts(b, "<table id=\"rows\" class=\"sessions\" data-key=\"rows\"><caption "
                   "class=\"unseen\">Runs</caption><thead data-key=\"head\"><tr><th scope=\"col\" "
                   "class=\"choice\"><span class=\"unseen\">Compare</span></th>");
    put_column_head(b, v, "name", "Session", LISTING_BY_NAME);
    put_column_head(b, v, "when", "Captured", LISTING_BY_TIME);
    vp_buf_puts(b, "<th scope=\"col\">Kind</th><th scope=\"col\">Hosts</th>");
    put_column_head(b, v, "num", "Size", LISTING_BY_SIZE);
    vp_buf_puts(b, "<th scope=\"col\">Headline</th><th scope=\"col\">Open in</th></tr></thead>\n");
    index_rows_put(b, at, &v->list, v->query.grouped, v->first, page_end_row(v));
    vp_buf_puts(b, "</table>\n");
}

static void put_pages(vp_buf *b, const view *v)
{
    const listing_query *q = &v->query;
    if (v->list.count <= ROWS_MAX)
        return;
    vp_buf_puts(b, "<nav class=\"pages\" data-key=\"pages\" aria-label=\"Pages\">");
    if (v->first) {
        vp_buf_puts(b, "<a rel=\"prev\" ");
        put_index_query(b, v, q->sort, q->backwards, q->grouped,
                        v->first > ROWS_MAX ? v->first - ROWS_MAX : 0);
        vp_buf_printf(b, ">Previous %u</a>", ROWS_MAX);
    }
    if (page_end_row(v) < v->list.count) {
        vp_buf_puts(b, "<a rel=\"next\" ");
        put_index_query(b, v, q->sort, q->backwards, q->grouped, page_end_row(v));
        vp_buf_printf(b, ">Next %u</a>", ROWS_MAX);
    }
    vp_buf_puts(b, "</nav>\n");
}

/* The number of shown rows and of all rows. */
static void put_row_count(vp_buf *b, const view *v)
{
    size_t n = v->list.count;
    vp_buf_puts(b, "<p id=\"count\" class=\"muted\" data-key=\"count\">");
    if (!n)
        vp_buf_printf(b, "None of %zu runs matches.", v->all);
    else if (n > ROWS_MAX)
        vp_buf_printf(b, "%zu to %zu of %zu runs.", v->first + 1, page_end_row(v), n);
    else if (n < v->all)
        vp_buf_printf(b, "%zu of %zu runs.", n, v->all);
    else
        vp_buf_printf(b, "%zu run%s.", n, n == 1 ? "" : "s");
    if (v->list.unknown)
        vp_buf_printf(b, " Last: %zu with unknown %s because %s not analyzed yet.", v->list.unknown,
                      v->query.sort == LISTING_BY_STEP ? "step time" : "busy time",
                      v->list.unknown == 1 ? "it is" : "they are");
    vp_buf_puts(b, "</p>\n");
}

/* ---- The page ------------------------------------------------------------------------------- */

static void put_search(vp_buf *b, const view *v)
{
    const listing_query *q = &v->query;
    vp_buf_puts(b, "<form class=\"search\" role=\"search\" action=\"./\" method=\"get\"><label "
                   "for=\"q\">Search runs</label><input id=\"q\" name=\"q\" type=\"search\" "
                   "autocomplete=\"off\" spellcheck=\"false\" placeholder=\"name, host or kind\" "
                   "maxlength=\"199\" aria-keyshortcuts=\"/\" value=\"");
    page_text(b, v->text);
    vp_buf_puts(b, "\"><kbd aria-hidden=\"true\">/</kbd>");
    if (q->sort != LISTING_BY_TIME || q->backwards)
        vp_buf_printf(b, "<input type=\"hidden\" name=\"sort\" value=\"%s%s\">",
                      q->backwards ? "-" : "", listing_sort_name(q->sort));
    if (q->grouped)
        vp_buf_puts(b, "<input type=\"hidden\" name=\"group\" value=\"run\">");
    vp_buf_puts(b, "<noscript><button class=\"button\">Search</button></noscript></form>\n");
}

static void put_compare(vp_buf *b, const view *v)
{
    vp_buf_printf(b,
                  "<form id=\"compare\" class=\"compare\" action=\"./compare\" "
                  "method=\"get\"%s>",
                  v->all > 1 ? "" : " hidden");
    vp_buf_puts(b, "<span id=\"chosen\" class=\"muted\">Select two runs to compare them.</span> "
                   "<button class=\"button\">Compare</button></form>\n");
}

static void put_unreadable_notes(vp_buf *b, const catalog *c)
{
    size_t n = catalog_note_count(c);
    if (!n)
        return;
    vp_buf_printf(b,
                  "<details class=\"notes\" data-key=\"notes\"><summary>%zu file%s not "
                  "readable</summary><ul>\n",
                  n, n == 1 ? " is" : "s are");
    for (size_t i = 0; i < n && i < ROWS_MAX; i++) {
        const cat_note *note = catalog_note(c, i);
        vp_buf_puts(b, "<li><code>");
        page_text(b, note->path);
        vp_buf_puts(b, "</code> ");
        page_text(b, note->why);
        vp_buf_puts(b, "</li>\n");
    }
    if (n > ROWS_MAX)
        vp_buf_printf(b, "<li>and %zu more</li>\n", n - ROWS_MAX);
    vp_buf_puts(b, "</ul></details>\n");
}

static void put_indexing(vp_buf *b, const view *v)
{
    vp_buf_printf(
        b,
        "<section class=\"card\" data-key=\"indexing\"><h2>Reading the directory</h2>"
        "<p>%" PRIu64 " run%s found so far, %" PRIu64
        " files and directories scanned. The list appears when the scan is complete.</p><progress "
        "aria-label=\"Reading the directory\"></progress></section>\n",
        v->progress.sessions, v->progress.sessions == 1 ? "" : "s", v->progress.looked_at);
}

static void put_nothing(vp_buf *b)
{
    vp_buf_puts(b, "<section class=\"card\" data-key=\"nothing\"><h2>No profiles yet</h2><p>No "
                   "profile of JAX, TensorFlow or PyTorch and no Chrome trace was found below this "
                   "directory (<code>*.xplane.pb</code>, <code>*.trace.json[.gz]</code>, "
                   "<code>*.pt.trace.json[.gz]</code>, other Trace Event JSON, and archives of "
                   "these).</p><p>New runs appear here when they are written.</p></section>\n");
}

/* The part of the page that app.js replaces: all of it depends on the catalog and the query. */
static void put_index_list(vp_buf *b, const site *at, const catalog *c, const view *v)
{
    watched_put(b, at, c);
    if (v->indexing) {
        put_indexing(b, v);
    } else if (!v->all) {
        put_nothing(b);
    } else {
        put_row_count(b, v);
        if (v->list.count)
            put_sessions_table(b, at, v);
        put_pages(b, v);
    }
    put_unreadable_notes(b, c);
}

/* ---- State ---------------------------------------------------------------------------------- */

/* A hash that changes whenever the index shows other data of the catalog. */
static uint64_t index_state_hash(const site *at, const catalog *c)
{
    uint64_t h = watched_state(at) + catalog_note_count(c);
    for (size_t i = 0; i < catalog_count(c); i++) {
        const cat_session *s = catalog_get(c, i);
        int64_t facts[] = {s->newest_mtime_ns, s->bytes, (int64_t)s->status};
        h = vp_fingerprint(s->id, strlen(s->id), vp_fingerprint(facts, sizeof facts, h));
    }
    return h;
}

/* Whether the index has changed, which app.js requests every few seconds. */
int route_state_json(http_req *rq)
{
    vp_buf b;
    vp_json j;
    char state[20];
    const site *at = site_of(rq);
    store_refresh_soon(at->store, RESCAN_AFTER_MS, 0);
    bool indexing = store_indexing(at->store, NULL);
    VP_CLEANUP(site_drop_catalog) catalog *c = store_catalog(at->store);
    snprintf(state, sizeof state, "%016" PRIx64, index_state_hash(at, c));
    vp_buf_init(&b, 4096);
    vp_json_init(&j, &b);
    vp_json_begin_object(&j);
    vp_json_kstr(&j, "schema", VP_STR("view_profile.state/1"));
    vp_json_kstr(&j, "state", vp_str_of(state));
    vp_json_ki64(&j, "sessions", (int64_t)catalog_count(c));
    vp_json_kbool(&j, "indexing", indexing);
    vp_json_end_object(&j);
    return http_json(rq, 200, &b);
}

/* ---- Requests ------------------------------------------------------------------------------- */

static size_t first_row_of_request(const http_req *rq)
{
    const char *text = http_query(rq, "first");
    uint64_t v;
    vp_str s = vp_str_of(text);
    return text && vp_take_uint(&s, 100000000, &v) && !s.n ? (size_t)v : 0;
}

/* The directory's name without its parents: clients never receive absolute paths. */
static void put_directory_name(vp_buf *b, const char *path)
{
    vp_str s = vp_str_of(path);
    while (s.n > 1 && s.p[s.n - 1] == '/')
        s.n--;
    size_t slash = vp_str_rfind_char(s, '/');
    rep_html_escape(b, slash + 1 < s.n ? vp_str_skip(s, slash + 1) : s);
}

static int send_index(http_req *rq, const site *at, const catalog *c, const view *v)
{
    vp_buf b;
    vp_buf_init(&b, PAGE_BYTES_MAX);
    page_begin(&b, rq,
               &(page_frame){.title = "Runs – view_profile",
                             .script = "app.js",
                             .also = "live.js",
                             .refresh_s = v->indexing ? 1 : 0});
    vp_buf_puts(&b, "<div class=\"headbar\"><div><h1>Runs</h1><p class=\"muted path\">");
    put_directory_name(&b, catalog_path(c));
    vp_buf_puts(&b, "</p></div>\n");
    put_search(&b, v);
    vp_buf_puts(&b, "</div>\n<div class=\"over\">\n");
    vp_buf_puts(&b, "<div id=\"orders\">");
    if (v->all)
        put_orders(&b, v);
    vp_buf_puts(&b, "</div>\n");
    put_compare(&b, v);
    vp_buf_puts(&b, "</div>\n");
    index_live_put(&b, at, !v->all && !v->indexing);
    vp_buf_printf(&b,
                  "<p id=\"news\" class=\"unseen\" role=\"status\"></p>\n"
                  "<div id=\"list\" data-state=\"%016" PRIx64
                  "\" data-sessions=\"%zu\" data-indexing=\"%s\">\n",
                  index_state_hash(at, c), v->all, v->indexing ? "true" : "false");
    put_index_list(&b, at, c, v);
    vp_buf_puts(&b, "</div>\n");
    page_end(&b);
    return http_html(rq, 200, &b);
}

int page_index(http_req *rq)
{
    const site *at = site_of(rq);
    store_progress progress = {0};
    store_refresh_soon(at->store, RESCAN_AFTER_MS, RESCAN_WAIT_MS);
    if (store_wait(at->store, 0) < 0)
        return page_failure(rq, "Cannot read the directory");
    bool indexing = store_indexing(at->store, &progress);
    VP_CLEANUP(site_drop_catalog) catalog *c = store_catalog(at->store);
    const char *text = http_query(rq, "q");
    view v = {.text = text ? text : "",
              .first = first_row_of_request(rq),
              .all = catalog_count(c),
              .indexing = indexing,
              .progress = progress};
    listing_query_of(&v.query, text, http_query(rq, "sort"), http_query(rq, "group"));
    VP_TRY(listing_make(&v.list, at->store, c, &v.query));
    if (v.first >= v.list.count)
        v.first = 0;
    int rc = send_index(rq, at, c, &v);
    vp_free(v.list.rows);
    return rc;
}

/* The headline of one run as a fragment, for app.js. */
int page_headline(http_req *rq)
{
    VP_CLEANUP(site_drop_catalog) catalog *c = NULL;
    VP_CLEANUP(store_release) store_report *h = NULL;
    const cat_session *s;
    VP_TRY(site_session(&c, &s, rq));
    const store_wanted w = {VP_GROUP_NAME, VP_DEPTH_OPS, VP_UNKNOWN, VP_WHERE_DEVICE};
    const store_asker who = site_asker(rq);
    VP_TRY(store_get(&h, site_of(rq)->store, c, s, &w, &who));
    vp_buf b;
    vp_buf_init(&b, PAGE_BYTES_MAX);
    headline_put(&b, store_report_of(h));
    return http_html(rq, 200, &b);
}
