#include "server/routes/pages/index_rows.h"

#include "server/routes/site/headline.h"
#include "server/routes/site/page.h"
#include "trace/report/report.h"

/* Headlines are loaded automatically only for runs that take about a second
 * (docs/reference/formats.md#reading-cost: 3 ns per byte of xplane, 2.5 ns per byte of JSON, which
 * compresses 20:1). */
#define HEADLINE_BYTES_MAX (INT64_C(64) << 20)
#define COLUMNS 7

/* ---- Cells ---------------------------------------------------------------------------------- */

/* The checkbox that selects a run for a comparison; its form is above the table. */
static void put_choice(vp_buf *b, const cat_session *s)
{
    vp_buf_puts(b, "<td class=\"choice\">");
    if (catalog_can_open(s)) {
        vp_buf_puts(b, "<label><input type=\"checkbox\" form=\"compare\" name=\"s\" value=\"");
        page_text(b, s->id);
        vp_buf_puts(b, "\"><span class=\"unseen\">Compare ");
        page_text(b, s->name);
        vp_buf_puts(b, "</span></label>");
    }
    vp_buf_puts(b, "</td>");
}

/* Allows line breaks after a slash. */
static void put_breakable(vp_buf *b, vp_str name)
{
    vp_str part;
    while (name.n && vp_take_until(&name, '/', VP_PATH_MAX, &part)) {
        rep_html_escape(b, part);
        vp_buf_puts(b, name.n ? "/<wbr>" : "");
    }
}

static bool is_archived(const cat_session *s)
{
    return s->file_count && s->files[0].is_member;
}

/* Under the heading of a directory, the directory is not repeated. */
static void put_index_name(vp_buf *b, const cat_session *s, bool grouped)
{
    bool open = catalog_can_open(s);
    vp_str name = vp_str_of(s->name);
    if (grouped && listing_run_of(s).n)
        name = vp_str_skip(name, listing_run_of(s).n + 1);
    vp_buf_puts(b, "<th scope=\"row\" class=\"name\">");
    if (open) {
        vp_buf_puts(b, "<a class=\"open\" href=\"./session/");
        page_url(b, s->id);
        vp_buf_puts(b, "/\">");
    }
    put_breakable(b, name);
    if (open)
        vp_buf_puts(b, "</a>");
    if (is_archived(s))
        vp_buf_puts(b, " <span class=\"badge archive\">archive</span>");
    vp_buf_puts(b, "</th>");
}

static void put_index_hosts(vp_buf *b, const cat_session *s)
{
    vp_buf_puts(b, "<td class=\"hosts\">");
    if (s->host_count == 1)
        page_text(b, s->hosts[0].name);
    else if (s->host_count)
        vp_buf_printf(b, "%zu hosts", s->host_count);
    vp_buf_puts(b, "</td>");
}

static void put_index_status(vp_buf *b, const cat_session *s)
{
    static const char *const name[] = {"", "unreadable", "unfinished", "empty"};
    static const char *const badge[] = {"", "bad", "warn", "warn"};
    vp_buf_printf(b, "<td class=\"headline\"><span class=\"badge %s\">%s</span> ", badge[s->status],
                  name[s->status]);
    page_text(b, s->why ? s->why : "");
}

static void put_index_headline(vp_buf *b, const site *at, const cat_session *s)
{
    VP_CLEANUP(store_release) store_report *h = NULL;
    if (s->status != CAT_OK) {
        put_index_status(b, s);
    } else if (store_peek(&h, at->store, s, VP_GROUP_NAME)) {
        vp_buf_puts(b, "<td class=\"headline\">");
        headline_put(b, store_report_of(h));
    } else if (s->bytes <= HEADLINE_BYTES_MAX) {
        vp_buf_puts(b, "<td class=\"headline\" data-headline=\"./session/");
        page_url(b, s->id);
        vp_buf_puts(b, "/headline\"><span class=\"muted\">not analyzed yet</span>");
    } else {
        vp_buf_puts(b, "<td class=\"headline\"><span class=\"muted\">large, not analyzed yet; open "
                       "it to analyze it</span>");
    }
    vp_buf_puts(b, "</td>");
}

static void put_index_link(vp_buf *b, const char *family, const cat_session *s, const char *text,
                           char key)
{
    vp_buf_printf(b, "<a aria-keyshortcuts=\"%c\" href=\"./%s/", key, family);
    page_url(b, s->id);
    vp_buf_puts(b, "\" aria-label=\"Open ");
    page_text(b, s->name);
    vp_buf_printf(b, " in %s\">%s</a>", text, text);
}

static void put_index_links(vp_buf *b, const cat_session *s)
{
    vp_buf_puts(b, "<td class=\"links\">");
    if (catalog_can_open(s) && s->host_count) {
        put_index_link(b, "perfetto", s, "Perfetto", 'p');
        if (page_has_xplane(s))
            put_index_link(b, "tensorboard", s, "TensorBoard", 't');
    }
    vp_buf_puts(b, "</td>");
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static void put_index_row(vp_buf *b, const site *at, const cat_session *s, bool grouped)
{
    vp_buf_puts(b, catalog_can_open(s) ? "<tr data-key=\"" : "<tr class=\"dead\" data-key=\"");
    page_text(b, s->id);
    vp_buf_puts(b, "\">");
    put_choice(b, s);
    put_index_name(b, s, grouped);
    vp_buf_puts(b, "<td class=\"when\">");
    page_time(b, s->captured_unix_ns);
    vp_buf_puts(b, "</td><td class=\"kind\">");
    page_text(b, s->kind && catalog_can_open(s) ? s->kind : "");
    vp_buf_puts(b, "</td>");
    put_index_hosts(b, s);
    vp_buf_puts(b, "<td class=\"num\">");
    page_bytes(b, s->bytes);
    vp_buf_puts(b, "</td>");
    put_index_headline(b, at, s);
    put_index_links(b, s);
    vp_buf_puts(b, "</tr>\n");
}

static void put_group_heading(vp_buf *b, const listing *l, size_t i)
{
    size_t n = 1;
    vp_str run = listing_run_of(l->rows[i].session);
    while (i + n < l->count && l->rows[i + n].group == l->rows[i].group)
        n++;
    vp_buf_puts(b, "<tbody data-key=\"run ");
    rep_html_escape(b, run);
    vp_buf_printf(b,
                  "\">\n<tr class=\"group\" data-key=\"\"><th scope=\"rowgroup\" colspan=\"%d\">",
                  COLUMNS + 1);
    put_breakable(b, run.n ? run : VP_STR("not in a directory"));
    vp_buf_printf(b, " <span class=\"muted\">%zu run%s</span></th></tr>\n", n, n == 1 ? "" : "s");
}

void index_rows_put(vp_buf *b, const site *at, const listing *l, bool grouped, size_t first,
                    size_t end)
{
    if (!grouped)
        vp_buf_puts(b, "<tbody data-key=\"all\">\n");
    for (size_t i = first; i < end; i++) {
        if (grouped && (i == first || l->rows[i].group != l->rows[i - 1].group)) {
            vp_buf_puts(b, i == first ? "" : "</tbody>\n");
            put_group_heading(b, l, i);
        }
        put_index_row(b, at, l->rows[i].session, grouped);
    }
    vp_buf_puts(b, "</tbody>\n");
}
