/* Shared parts of all pages: the frame (head, banner, landmarks), error pages, and common phrases.
 * Pages have no inline scripts or styles (the CSP forbids both); assets are /static/…. Output goes
 * to a vp_buf whose status is checked once, by http_html.
 *
 * Every page works without scripts: sorting, grouping, paging, tabs, filters and the selection of
 * two runs are links and forms. Their state is the query, and every link keeps the rest of it. All
 * URLs are relative (http_root), so that a proxy's prefix needs no rewriting. Scripts are modules
 * that do the same in place: they fetch the page and replace the part that changed, so that rows
 * are printed in one place only. app.js (index) patches by data-key: unchanged rows keep focus,
 * selection and headline, and the scroll position is kept. keys.js handles keyboard shortcuts; a
 * link declares its key in aria-keyshortcuts. /api/v1/state is a hash of the catalog, which the
 * index polls every 3 s while it is visible. */
#ifndef VP_ROUTES_PAGE_H
#define VP_ROUTES_PAGE_H

#include "server/routes/site/site.h"
#include "trace/base/limits.h"

/* Maximum size of a page. Pages stay far below this, because lists are truncated first. */
#define PAGE_BYTES_MAX (16u << 20)

typedef struct page_frame {
    const char *title;  /* title of the window, raw text */
    const char *script; /* "handoff.js", or NULL; keys.js is on every page */
    const char *also;   /* a second script, or NULL */
    int refresh_s;      /* > 0: the page reloads itself, unless its script does */
    const char *home;   /* text of the back link in the banner; NULL on the index */
    bool bare;          /* the page may not load assets or link to other pages */
} page_frame;

/* Writes up to and including <main>; page_end closes what it opened. */
void page_begin(vp_buf *b, const http_req *rq, const page_frame *frame);
void page_end(vp_buf *b);

/* A short page: a heading, one sentence, and a link to continue. `sentence` is raw text. */
int page_message(http_req *rq, int status, const char *heading, const char *sentence);
/* The last error of the calling thread as such a page. */
int page_failure(http_req *rq, const char *heading);
/* Run not found: lists runs with a name similar to the i-th {} of the path, or the newest ones. */
int page_no_session(http_req *rq, size_t i);

/* TensorBoard reads only the xplane files of a run. */
bool page_has_xplane(const cat_session *s);

/* `ROOT/family/ID` of a link on this page; all URLs are relative (http_root). If id is NULL, the
 * path ends after the slash of the family. */
void page_path(vp_buf *b, const http_req *rq, const char *family, const char *id);
/* The same with `/HOST` appended if the run has several hosts. */
void page_host_path(vp_buf *b, const http_req *rq, const char *family, const cat_session *s,
                    const cat_host *host);
/* Escaped text, and a percent-encoded path segment or query value. */
void page_text(vp_buf *b, const char *z);
void page_url(vp_buf *b, const char *z);
/* ` name="value"`, the value escaped. */
void page_attribute(vp_buf *b, const char *name, const char *value);
/* "1.2 MB"; nothing for an unknown size. */
void page_bytes(vp_buf *b, int64_t bytes);
/* <time>, local, to the second. */
void page_time(vp_buf *b, int64_t unix_ns);
/* "33.1%" of two non-negative counts; nothing if the denominator is 0. */
void page_percent(vp_buf *b, int64_t part, int64_t whole);

#endif
