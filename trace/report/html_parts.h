/* The sections of the HTML page. Markup rules: no script, no style attribute (bars are SVG rects
 * with a width), every byte from a file through rep_html_escape, names cut by CSS only. Only
 * trace/report/ includes this. */
#ifndef VP_REPORT_HTML_PARTS_H
#define VP_REPORT_HTML_PARTS_H

#include "trace/report/parts.h"

typedef struct page {
    vp_buf *b;
    const vp_report *r;
    vp_view v;
    rep_links links; /* empty for a page that stands alone */
    bool *full;      /* by device: has an op table */
    size_t matching; /* devices that the filters let through */
} page;

void html_text(page *p, const char *z);                 /* escaped; NULL gives "–" */
void html_puts(page *p, const char *markup);            /* ours, as it stands */
void html_duration(page *p, int64_t ps, int64_t scale); /* "12.345 ms" */
void html_number(page *p, int64_t ps, vp_unit unit);    /* "12.345" */
/* A rect that fills part/whole of its SVG, from `from_hundredths` percent on. */
void html_rect(page *p, const char *css_class, int64_t from_hundredths, int64_t width_hundredths);
int64_t html_hundredths(int64_t part, int64_t whole); /* clamped to 0..REP_PERCENT_ALL */
const char *html_class(vp_op_class c);                /* CSS class of a colour */
/* A path segment or query value; what is left after percent-encoding needs no HTML escape. */
void html_url(page *p, const char *z);
/* "?group=…&by=…" of the view with one key replaced (NULL: none); escaped for an attribute. */
void html_query(page *p, const char *key, const char *value);
void html_device_query(page *p, const vp_device *d);

void html_controls(page *p);
void html_devices(page *p);
int html_ops(page *p, size_t device);
int html_scopes(page *p);
void html_modules(page *p);
void html_files(page *p);
void html_quality(page *p);

#endif
