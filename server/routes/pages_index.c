/* `/`: the sessions, newest first, with what is known about each. Answers at once from the catalog
 * and from reports that are there already; app.js asks for the missing headlines, one after the
 * other, for rows that can be seen. Everything works without a script. */
#include "server/routes/headline.h"
#include "server/routes/page.h"
#include "trace/report/report.h"

/* Rows a page: 1,000 sessions are answered within 50 ms, and nobody reads further than this. */
#define ROWS_MAX 200u
/* Headlines are made unasked only for sessions that take about a second (DESIGN 10: 3 ns a byte
 * of xplane, 2.5 ns a byte of JSON, which packs 20:1). */
#define HEADLINE_BYTES_MAX (INT64_C(64) << 20)
/* The catalog is scanned again when the index is asked for and the last scan is older. */
#define RESCAN_AFTER_MS 5000
#define RESCAN_WAIT_MS 25
#define QUERY_MAX 200u

typedef struct selection {
    const char *query; /* never NULL */
    size_t first;
    size_t matching;
    size_t comparable; /* rows so far that can be chosen for a comparison */
} selection;

/* ---- Search ---------------------------------------------------------------------------------- */

static bool contains(const char *text, vp_str lower_needle)
{
    vp_str s = vp_str_of(text);
    return vp_str_find_nocase(s, lower_needle) < s.n || !lower_needle.n;
}

static bool has_word(const cat_session *s, vp_str word)
{
    if (contains(s->name, word) || contains(s->path, word) || contains(s->kind, word))
        return true;
    for (size_t i = 0; i < s->host_count; i++)
        if (contains(s->hosts[i].name, word))
            return true;
    return s->status != CAT_OK && contains("unreadable", word);
}

/* Every word of the query occurs somewhere in what the row shows. */
static bool matches(const cat_session *s, vp_str query)
{
    while (query.n) {
        vp_str word;
        if (!vp_take_until(&query, ' ', QUERY_MAX, &word))
            return false;
        if (word.n && !has_word(s, word))
            return false;
    }
    return true;
}

static void lower(char *dst, const char *src)
{
    size_t n = 0;
    for (; src[n] && n < QUERY_MAX - 1; n++)
        dst[n] = src[n] >= 'A' && src[n] <= 'Z' ? (char)(src[n] | 32) : src[n];
    dst[n] = '\0';
}

/* ---- A row ----------------------------------------------------------------------------------- */

static void put_link(vp_buf *b, const char *family, const cat_session *s, const char *text)
{
    vp_buf_printf(b, "<a href=\"/%s/", family);
    page_url(b, s->id);
    vp_buf_puts(b, "\" aria-label=\"Open ");
    page_text(b, s->name);
    vp_buf_printf(b, " in %s\">%s</a>", text, text);
}

static void put_links(vp_buf *b, const cat_session *s)
{
    vp_buf_puts(b, "<td class=\"links\">");
    if (s->status == CAT_OK && s->host_count) {
        put_link(b, "perfetto", s, "Perfetto");
        if (page_has_xplane(s))
            put_link(b, "tensorboard", s, "TensorBoard");
    }
    vp_buf_puts(b, "</td>");
}

/* Long names break behind a slash. */
static void put_breakable(vp_buf *b, const char *name)
{
    vp_str rest = vp_str_of(name), part;
    while (rest.n && vp_take_until(&rest, '/', VP_PATH_MAX, &part)) {
        rep_html_escape(b, part);
        vp_buf_puts(b, rest.n ? "/<wbr>" : "");
    }
}

static void put_name(vp_buf *b, const cat_session *s)
{
    bool open = s->status == CAT_OK;
    vp_buf_puts(b, "<th scope=\"row\" class=\"name\">");
    if (open) {
        vp_buf_puts(b, "<a class=\"open\" href=\"/session/");
        page_url(b, s->id);
        vp_buf_puts(b, "/\">");
    }
    put_breakable(b, s->name);
    if (open)
        vp_buf_puts(b, "</a>");
    if (s->file_count && s->files[0].is_member)
        vp_buf_puts(b, " <span class=\"badge\">archive</span>");
    vp_buf_puts(b, "</th>");
}

static void put_hosts(vp_buf *b, const cat_session *s)
{
    vp_buf_puts(b, "<td class=\"hosts\" data-label=\"Hosts\">");
    if (s->host_count == 1)
        page_text(b, s->hosts[0].name);
    else if (s->host_count)
        vp_buf_printf(b, "%zu hosts", s->host_count);
    vp_buf_puts(b, "</td>");
}

static const char *status_name(cat_status st)
{
    static const char *const name[] = {"", "unreadable", "unfinished", "empty"};
    return name[st];
}

static void put_headline(vp_buf *b, const site *at, const cat_session *s)
{
    VP_CLEANUP(store_release) store_report *h = NULL;
    if (s->status != CAT_OK) {
        vp_buf_printf(b, "<td class=\"headline\"><span class=\"badge bad\">%s</span> ",
                      status_name(s->status));
        page_text(b, s->why ? s->why : "");
    } else if (store_peek(&h, at->store, s, VP_GROUP_NAME)) {
        vp_buf_puts(b, "<td class=\"headline\">");
        headline_put(b, store_report_of(h));
    } else if (s->bytes <= HEADLINE_BYTES_MAX) {
        vp_buf_puts(b, "<td class=\"headline\" data-headline=\"/session/");
        page_url(b, s->id);
        vp_buf_puts(b, "/headline\"><span class=\"muted\">open it for its figures</span>");
    } else {
        vp_buf_puts(b, "<td class=\"headline\"><span class=\"muted\">large: open it for its "
                       "figures</span>");
    }
    vp_buf_puts(b, "</td>");
}

/* The newest run is compared with the one before it unless somebody chooses otherwise. */
static void put_choice(vp_buf *b, const cat_session *s, const char *side, bool chosen)
{
    vp_buf_printf(b, "<label><input type=\"radio\" form=\"compare\" name=\"%s\" aria-label=\"%s: ",
                  side, *side == 'a' ? "A, before" : "B, after");
    page_text(b, s->name);
    vp_buf_puts(b, "\" value=\"");
    page_text(b, s->id);
    vp_buf_printf(b, "\"%s>%c</label>", chosen ? " checked" : "", *side == 'a' ? 'A' : 'B');
}

static void put_choices(vp_buf *b, selection *sel, const cat_session *s)
{
    vp_buf_puts(b, "<td class=\"choice\">");
    if (s->status == CAT_OK) {
        put_choice(b, s, "a", sel->comparable == 1);
        put_choice(b, s, "b", sel->comparable == 0);
        sel->comparable++;
    }
    vp_buf_puts(b, "</td>");
}

static void put_row(vp_buf *b, selection *sel, const site *at, const cat_session *s)
{
    vp_buf_puts(b, s->status == CAT_OK ? "<tr>" : "<tr class=\"dead\">");
    put_name(b, s);
    vp_buf_puts(b, "<td class=\"when\" data-label=\"Captured\">");
    page_time(b, s->captured_unix_ns);
    vp_buf_puts(b, "</td><td class=\"kind\" data-label=\"Kind\">");
    page_text(b, s->kind && s->status == CAT_OK ? s->kind : "");
    vp_buf_puts(b, "</td>");
    put_hosts(b, s);
    vp_buf_puts(b, "<td class=\"num\" data-label=\"Size\">");
    page_bytes(b, s->bytes);
    vp_buf_puts(b, "</td>");
    put_headline(b, at, s);
    put_links(b, s);
    put_choices(b, sel, s);
    vp_buf_puts(b, "</tr>\n");
}

/* ---- The page -------------------------------------------------------------------------------- */

static void put_search(vp_buf *b, const selection *sel)
{
    vp_buf_puts(b, "<form class=\"search\" role=\"search\" action=\"/\" method=\"get\">"
                   "<label for=\"q\">Search sessions</label>"
                   "<input id=\"q\" name=\"q\" type=\"search\" autocomplete=\"off\" "
                   "spellcheck=\"false\" placeholder=\"name, host or kind\" maxlength=\"199\" "
                   "aria-keyshortcuts=\"/\" value=\"");
    page_text(b, sel->query);
    vp_buf_puts(b, "\"><kbd aria-hidden=\"true\">/</kbd>"
                   "<noscript><button>Search</button></noscript></form>\n");
}

static void put_rows(vp_buf *b, selection *sel, const site *at, const catalog *c)
{
    char query[QUERY_MAX];
    lower(query, sel->query);
    vp_buf_puts(b, "<table class=\"sessions\"><caption class=\"unseen\">Sessions, newest first"
                   "</caption><thead><tr><th scope=\"col\">Session</th><th scope=\"col\">Captured"
                   "</th><th scope=\"col\">Kind</th><th scope=\"col\">Hosts</th>"
                   "<th scope=\"col\" class=\"num\">Size</th><th scope=\"col\">Headline</th>"
                   "<th scope=\"col\">Open in</th><th scope=\"col\">Compare</th></tr></thead>\n"
                   "<tbody id=\"rows\">\n");
    for (size_t i = 0; i < catalog_count(c); i++) {
        const cat_session *s = catalog_get(c, i);
        if (!matches(s, vp_str_of(query)))
            continue;
        if (sel->matching >= sel->first && sel->matching < sel->first + ROWS_MAX)
            put_row(b, sel, at, s);
        sel->matching++;
    }
    vp_buf_puts(b, "</tbody></table>\n");
}

static void put_page_link(vp_buf *b, const selection *sel, size_t first, const char *text)
{
    vp_buf_puts(b, "<a href=\"/?q=");
    page_url(b, sel->query);
    vp_buf_printf(b, "&amp;first=%zu\">%s</a> ", first, text);
}

/* What is shown of how much, and the way to the rest. */
static void put_count(vp_buf *b, const selection *sel, size_t all)
{
    size_t last = sel->first + ROWS_MAX < sel->matching ? sel->first + ROWS_MAX : sel->matching;
    vp_buf_puts(b, "<p id=\"count\" class=\"muted\" role=\"status\">");
    if (!sel->matching)
        vp_buf_printf(b, "None of %zu sessions matches.", all);
    else if (sel->matching > ROWS_MAX)
        vp_buf_printf(b, "%zu to %zu of %zu. ", sel->first + 1, last, sel->matching);
    else if (sel->matching < all)
        vp_buf_printf(b, "%zu of %zu sessions.", sel->matching, all);
    else
        vp_buf_printf(b, "%zu session%s, newest first.", all, all == 1 ? "" : "s");
    if (sel->first)
        put_page_link(b, sel, sel->first > ROWS_MAX ? sel->first - ROWS_MAX : 0, "Newer");
    if (last < sel->matching)
        put_page_link(b, sel, last, "Older");
    vp_buf_puts(b, "</p>\n");
}

static void put_compare(vp_buf *b, const selection *sel)
{
    if (sel->comparable >= 2)
        vp_buf_puts(b, "<form id=\"compare\" action=\"/compare\" method=\"get\"><button "
                       "class=\"button\">Compare A with B</button></form>\n");
}

static void put_notes(vp_buf *b, const catalog *c)
{
    size_t n = catalog_note_count(c);
    if (!n)
        return;
    vp_buf_printf(b,
                  "<details class=\"notes\"><summary>%zu file%s not readable here</summary><ul>\n",
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

static void put_nothing(vp_buf *b)
{
    vp_buf_puts(b, "<section class=\"card\"><h2>No profile here yet</h2><p>Nothing below this "
                   "directory is a profile of JAX, TensorFlow or PyTorch, or a Chrome trace. "
                   "Looked for <code>*.xplane.pb</code>, <code>*.trace.json[.gz]</code>, "
                   "<code>*.pt.trace.json[.gz]</code>, other Trace Event JSON, and archives of "
                   "these, at any depth.</p></section>\n");
}

static size_t first_of(const http_req *rq)
{
    const char *text = http_query(rq, "first");
    uint64_t v;
    vp_str s = vp_str_of(text);
    return text && vp_take_uint(&s, 100000000, &v) && !s.n ? (size_t)v : 0;
}

int page_index(http_req *rq)
{
    const site *at = site_of(rq);
    store_refresh_soon(at->store, RESCAN_AFTER_MS, RESCAN_WAIT_MS);
    VP_CLEANUP(page_drop_catalog) catalog *c = store_catalog(at->store);
    const char *query = http_query(rq, "q");
    selection sel = {.query = query ? query : "", .first = first_of(rq)};
    VP_CLEANUP(vp_buf_free) vp_buf rows;
    vp_buf b;
    vp_buf_init(&rows, PAGE_BYTES_MAX);
    vp_buf_init(&b, PAGE_BYTES_MAX);
    put_rows(&rows, &sel, at, c);

    page_begin(&b, &(page_frame){.title = "Sessions – view_profile", .script = "app.js"});
    vp_buf_puts(&b, "<div class=\"headbar\"><div><h1>Sessions</h1><p class=\"muted path\">");
    page_text(&b, catalog_path(c));
    vp_buf_puts(&b, "</p></div>\n");
    put_search(&b, &sel);
    vp_buf_puts(&b, "</div>\n<div id=\"list\">\n");
    if (catalog_count(c)) {
        vp_buf_puts(&b, "<div class=\"over\">");
        put_count(&b, &sel, catalog_count(c));
        put_compare(&b, &sel);
        vp_buf_puts(&b, "</div>\n");
        if (sel.matching)
            vp_buf_str(&b, vp_buf_view(&rows));
    } else {
        put_nothing(&b);
    }
    vp_buf_puts(&b, "</div>\n");
    put_notes(&b, c);
    page_end(&b);
    return http_html(rq, 200, &b);
}

/* The headline of one session as a fragment, for app.js. */
int page_headline(http_req *rq)
{
    VP_CLEANUP(page_drop_catalog) catalog *c = NULL;
    VP_CLEANUP(store_release) store_report *h = NULL;
    const cat_session *s;
    VP_TRY(site_session(&c, &s, rq));
    VP_TRY(store_get(&h, site_of(rq)->store, c, s, VP_GROUP_NAME, VP_DEPTH_OPS));
    vp_buf b;
    vp_buf_init(&b, PAGE_BYTES_MAX);
    headline_put(&b, store_report_of(h));
    return http_html(rq, 200, &b);
}
