#include "server/routes/site/page.h"

#include <stdio.h>
#include <time.h>

#include "trace/base/human.h"
#include "trace/export/link.h"
#include "trace/report/html/web_files.h"
#include "trace/report/report.h"

/* URLs of assets contain their ETag, so that they can be cached forever. */
static void asset_url(vp_buf *b, const http_req *rq, const char *name)
{
    vp_buf_printf(b, "%s/static/%s?v=%s", http_root(rq), name, web_file_version(name));
}

void page_begin(vp_buf *b, const http_req *rq, const page_frame *frame)
{
    vp_buf_puts(b, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n");
    if (frame->refresh_s > 0)
        vp_buf_printf(b, "%s<meta http-equiv=\"refresh\" content=\"%d\">%s\n",
                      frame->script ? "<noscript>" : "", frame->refresh_s,
                      frame->script ? "</noscript>" : "");
    vp_buf_puts(b, "<title>");
    page_text(b, frame->title);
    if (frame->bare) {
        vp_buf_puts(b, "</title>\n</head>\n<body>\n<main id=\"main\">\n");
        return;
    }
    vp_buf_puts(b, "</title>\n<link rel=\"icon\" type=\"image/svg+xml\" href=\"");
    asset_url(b, rq, "favicon.svg");
    vp_buf_puts(b, "\">\n<link rel=\"stylesheet\" href=\"");
    asset_url(b, rq, "app.css");
    vp_buf_puts(b, "\">\n");
    const char *const scripts[] = {"keys.js", frame->script, frame->also};
    for (size_t i = 0; i < 3 && scripts[i]; i++) {
        vp_buf_puts(b, "<script type=\"module\" src=\"");
        asset_url(b, rq, scripts[i]);
        vp_buf_puts(b, "\"></script>\n");
    }
    vp_buf_puts(b, "</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to content</a>\n"
                   "<header class=\"banner\"><a class=\"brand\" href=\"");
    vp_buf_printf(b, "%s/\"><img src=\"", http_root(rq));
    asset_url(b, rq, "favicon.svg");
    vp_buf_puts(b, "\" width=\"22\" height=\"22\" alt=\"\"> view_profile</a>");
    if (frame->home) {
        vp_buf_printf(b, "<nav aria-label=\"Back\"><a href=\"%s/\">", http_root(rq));
        page_text(b, frame->home);
        vp_buf_puts(b, "</a></nav>");
    }
    vp_buf_puts(b, "</header>\n<main id=\"main\" tabindex=\"-1\">\n");
}

void page_end(vp_buf *b)
{
    vp_buf_puts(b, "</main>\n<footer>view_profile " VP_VERSION
                   ". No data is loaded from the internet.</footer>\n"
                   "</body>\n"
                   "</html>\n");
}

/* A page of one sentence; next: advice, NULL for only a link back. */
static int send_message(http_req *rq, int status, const char *heading, const char *sentence,
                        const char *next)
{
    vp_buf b;
    vp_buf_init(&b, PAGE_BYTES_MAX);
    page_begin(&b, rq, &(page_frame){.title = heading, .home = "All runs"});
    vp_buf_puts(&b, "<h1>");
    page_text(&b, heading);
    vp_buf_puts(&b, "</h1>\n<p class=\"lead\">");
    page_text(&b, sentence);
    vp_buf_puts(&b, "</p>\n");
    if (next)
        vp_buf_printf(&b, "<p>%s</p>\n", next);
    vp_buf_printf(&b, "%s<p><a class=\"button\" href=\"%s/\">All runs</a></p>\n",
                  status == 503 ? "<p><a class=\"button primary\" href=\"\">Try again</a></p>\n"
                                : "",
                  http_root(rq));
    page_end(&b);
    return http_html(rq, status, &b);
}

int page_message(http_req *rq, int status, const char *heading, const char *sentence)
{
    return send_message(rq, status, heading, sentence, NULL);
}

/* Advice for the user; trusted HTML. */
static const char *advice_for_failure(int code)
{
    switch (code) {
    case VP_ECORRUPT:
        return "Record the run again, or copy its files again. <code>gzip -t</code> and the file "
               "size show whether a copy is complete. Other runs are not affected.";
    case VP_EUNSUPPORTED:
        return "Record the run with a newer version of the framework, or open it with the tool "
               "that wrote it.";
    case VP_EEMPTY:
        return "A capture that is too short or ends before the first step is empty. Record a few "
               "steps.";
    case VP_ELIMIT:
        return "Request less data: fewer rows, one host, or a shorter capture.";
    case VP_EBUSY:
        return "The server is busy with other requests. Try again in a moment.";
    case VP_EIO:
        return "The file may have been moved, or is still being written. The list shows the "
               "current files.";
    case VP_ENOMEM:
        return "The machine is out of memory. Close other programs, or open a shorter capture.";
    case VP_EARG:
        return "The URL is not valid. Open the run from the list.";
    default:
        return NULL;
    }
}

int page_failure(http_req *rq, const char *heading)
{
    char line[1024];
    const vp_error *e = vp_error_last();
    return send_message(rq, http_status_of(e->code), heading, vp_error_line(e, line, sizeof line),
                        advice_for_failure(e->code));
}

/* ---- No such session ------------------------------------------------------------------------- */

#define NEAR_MAX 6

static size_t common_prefix(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

/* The similarity of a run and the requested name: the length of the longest common prefix of id or
 * name, or more than any such length if one contains the other. */
static size_t common_beginning_length(const cat_session *s, const char *key)
{
    size_t id = common_prefix(s->id, key), name = common_prefix(s->name, key);
    bool inside = strstr(s->id, key) || strstr(s->name, key) || strstr(key, s->id);
    return (id > name ? id : name) + (inside ? VP_PATH_MAX : 0);
}

static size_t most_alike(const cat_session *near[NEAR_MAX], const catalog *c, const char *key)
{
    size_t score[NEAR_MAX] = {0}, n = 0;
    for (size_t i = 0; i < catalog_count(c); i++) {
        const cat_session *s = catalog_get(c, i);
        size_t like = common_beginning_length(s, key), at = n;
        while (at > 0 && score[at - 1] < like)
            at--;
        if (at == NEAR_MAX)
            continue;
        n = n < NEAR_MAX ? n + 1 : n;
        for (size_t k = n - 1; k > at; k--) {
            near[k] = near[k - 1];
            score[k] = score[k - 1];
        }
        near[at] = s;
        score[at] = like;
    }
    return n;
}

int page_no_session(http_req *rq, size_t i)
{
    if (store_indexing(site_of(rq)->store, NULL))
        return page_failure(rq, "The directory is being indexed");
    VP_CLEANUP(site_drop_catalog) catalog *c = store_catalog(site_of(rq)->store);
    const char *key = http_param(rq, i) ? http_param(rq, i) : "";
    const cat_session *near[NEAR_MAX];
    size_t n = most_alike(near, c, key);
    vp_buf b;
    vp_buf_init(&b, PAGE_BYTES_MAX);
    page_begin(&b, rq, &(page_frame){.title = "Run not found", .home = "All runs"});
    vp_buf_puts(&b, "<h1>Run not found</h1>\n"
                    "<p class=\"lead\">There is no run <code>");
    page_text(&b, key);
    vp_buf_puts(&b, "</code>. It may have been moved or removed.</p>\n");
    if (n)
        vp_buf_printf(&b, "<h2>%s</h2>\n<ul class=\"plain\">\n",
                      common_beginning_length(near[0], key) ? "Did you mean" : "Newest runs");
    for (size_t k = 0; k < n; k++) {
        vp_buf_puts(&b, "<li><a href=\"");
        page_path(&b, rq, "session", near[k]->id);
        vp_buf_puts(&b, "/\">");
        page_text(&b, near[k]->name);
        vp_buf_puts(&b, "</a> <span class=\"muted\">");
        page_time(&b, near[k]->captured_unix_ns);
        vp_buf_puts(&b, "</span></li>\n");
    }
    if (n)
        vp_buf_puts(&b, "</ul>\n");
    page_end(&b);
    return http_html(rq, 404, &b);
}

/* ---- Sessions -------------------------------------------------------------------------------- */

bool page_has_xplane(const cat_session *s)
{
    for (size_t i = 0; i < s->file_count; i++)
        if (s->files[i].kind.format == RD_XSPACE)
            return true;
    return false;
}

/* ---- Phrases --------------------------------------------------------------------------------- */

void page_path(vp_buf *b, const http_req *rq, const char *family, const char *id)
{
    vp_buf_printf(b, "%s/%s/", http_root(rq), family);
    if (id)
        page_url(b, id);
}

void page_host_path(vp_buf *b, const http_req *rq, const char *family, const cat_session *s,
                    const cat_host *host)
{
    page_path(b, rq, family, s->id);
    if (s->host_count < 2)
        return;
    vp_buf_putc(b, '/');
    page_url(b, host->name);
}

void page_text(vp_buf *b, const char *z)
{
    rep_html_escape(b, vp_str_of(z));
}

void page_attribute(vp_buf *b, const char *name, const char *value)
{
    vp_buf_printf(b, " %s=\"", name);
    page_text(b, value);
    vp_buf_putc(b, '"');
}

void page_url(vp_buf *b, const char *z)
{
    ex_percent(b, vp_str_of(z));
}

void page_bytes(vp_buf *b, int64_t bytes)
{
    char text[VP_HUMAN_BYTES];
    if (bytes >= 0)
        vp_buf_puts(b, vp_bytes_text(text, bytes));
}

void page_time(vp_buf *b, int64_t unix_ns)
{
    time_t t = (time_t)(unix_ns / 1000000000);
    struct tm utc, local;
    char machine[32], human[32];
    if (unix_ns < 0 || !gmtime_r(&t, &utc) || !localtime_r(&t, &local))
        return;
    strftime(machine, sizeof machine, "%Y-%m-%dT%H:%M:%SZ", &utc);
    strftime(human, sizeof human, "%Y-%m-%d %H:%M:%S", &local);
    vp_buf_printf(b, "<time datetime=\"%s\">%s</time>", machine, human);
}

void page_percent(vp_buf *b, int64_t part, int64_t whole)
{
    char text[VP_HUMAN_BYTES];
    if (whole > 0 && part >= 0)
        vp_buf_puts(b, vp_percent_text(text, part, whole));
}
