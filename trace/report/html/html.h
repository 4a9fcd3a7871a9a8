/* Writes a report as static pages. Pages append to a buffer of the caller. */
#ifndef VP_REPORT_HTML_H
#define VP_REPORT_HTML_H

#include "include/view_profile.h"
#include "trace/analyze/op_details.h"
#include "trace/base/buf.h"

/* Links to pages of a server; NULL members leave the link out. */
typedef struct rep_links {
    const char *base;     /* "" or a path prefix; every href starts with it */
    const char *perfetto; /* "/perfetto/ID" */
    const char *timeline; /* "/session/ID/timeline": target of links to times, else Perfetto */
    const char *tensorboard;
    const char *index;       /* "/" */
    const char *session;     /* "/session/ID/": its ops.csv and the calls of an op */
    const char *raw;         /* "/trace/ID/raw/": the files of the run by name, unchanged */
    const char *source_root; /* "/home/me/model": prefix of relative source paths */
    /* The version of an asset, written as ?v=, which changes with its content; NULL: none */
    const char *(*version)(const char *asset);
    /* The report with all parts, if the page shows only host zones (VP_WHERE_HOST); NULL: the page
     * shows this report. */
    const vp_report *whole;
    const char *tab; /* the part of the report to show, see rep_tab_known; NULL: all */
    size_t rows_max; /* maximum rows of a table, regardless of the view; 0: no limit */
    bool controls;   /* forms for group, by, device, host, n that reload the page */
} rep_links;
/* "summary", "ops", "scopes", "devices", "memory", "host", "files", "quality", "all". */
bool rep_tab_known(const char *name);

int rep_memory_html(vp_buf *b, const vp_report *r, const vp_view *v, const rep_links *links);
int rep_findings_html(vp_buf *b, const vp_report *r, const vp_view *v, const rep_links *links);
/* A page about one op of the report, call by call. */
int rep_op_html(vp_buf *b, const vp_report *r, size_t op, const op_details *d, const vp_view *v,
                const rep_links *links);
/* If links->base is set, the page links BASE/static/report.css (web/report.css), else it contains
 * it in a <style>. It needs no style attributes or scripts: style-src 'self' is sufficient. */
int rep_html(vp_buf *b, const vp_report *r, const vp_view *v, const rep_links *links);

#endif
