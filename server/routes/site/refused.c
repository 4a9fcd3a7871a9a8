#include "server/routes/site/refused.h"

#include "server/routes/site/page.h"

typedef struct refusal {
    int status;
    const char *heading, *next; /* next: markup */
} refusal;

static const refusal refusals[] = {
    {401, "Token required",
     "Open the full URL that view_profile printed when it was started. It ends in "
     "<code>?token=…</code>, and the browser remembers the token. Each start generates a new token "
     "unless <code>--token-file</code> is given."},
    {403, "Access denied", "Open the URL that view_profile printed when it was started."},
    {404, "Page not found", "The list shows all runs."},
    {405, "Method not allowed", "Go back, reload the page and use its links."},
    {503, "The server is busy", "Try again in a moment."},
};

/* An error text of the API, as a sentence. */
static void put_why(vp_buf *b, int status, const char *why)
{
    char first[] = {why[0], 0};
    if (status == 404) {
        vp_buf_puts(b, "The URL may be incomplete or mistyped, or it belongs to another version.");
        return;
    }
    if (first[0] >= 'a' && first[0] <= 'z')
        first[0] = (char)(first[0] - 'a' + 'A');
    page_text(b, first);
    page_text(b, why[0] ? why + 1 : why);
    vp_buf_putc(b, '.');
}

int page_refused(http_req *rq, int status, const char *why)
{
    const refusal *r = refusals;
    bool stranger = !http_base_url(rq)[0] || status == 401;
    vp_buf b;
    while (r->status != status && r < refusals + sizeof refusals / sizeof *refusals - 1)
        r++;
    vp_buf_init(&b, PAGE_BYTES_MAX);
    page_begin(
        &b, rq,
        &(page_frame){.title = r->heading, .home = stranger ? NULL : "All runs", .bare = stranger});
    vp_buf_printf(&b, "<h1>%s</h1>\n<p class=\"lead\">", r->heading);
    put_why(&b, status, why);
    vp_buf_printf(&b, "</p>\n<p>%s</p>\n", r->next);
    if (status == 503)
        vp_buf_puts(&b, "<p><a class=\"button primary\" href=\"\">Try again</a></p>\n");
    if (!stranger)
        vp_buf_printf(&b, "<p><a class=\"button\" href=\"%s/\">All runs</a></p>\n", http_root(rq));
    if (stranger) /* the version is not public */
        vp_buf_puts(&b, "</main>\n</body>\n</html>\n");
    else
        page_end(&b);
    return http_html(rq, status, &b);
}
