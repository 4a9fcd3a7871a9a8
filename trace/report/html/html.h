/* Writes a report as static pages. Pages append to a buffer of the caller. */
#ifndef VP_REPORT_HTML_H
#define VP_REPORT_HTML_H

#include "include/view_profile.h"
#include "trace/analyze/op_details.h"
#include "trace/base/buf.h"

/* Links that only a server knows; NULL members leave the link out. */
typedef struct rep_links {
    const char *base;     /* "" or a path prefix; every href starts with it */
    const char *perfetto; /* "/perfetto/ID" */
    const char *timeline; /* "/session/ID/timeline": where places in time lead, else to Perfetto */
    const char *tensorboard;
    const char *index;       /* "/" */
    const char *session;     /* "/session/ID/": its ops.csv and the calls of an op */
    const char *raw;         /* "/trace/ID/raw/": the session's files by their names, as they are */
    const char *source_root; /* "/home/me/model": before relative paths of sources */
    /* What an asset's address carries behind ?v= because it changes with its content; NULL: nothing
     */
    const char *(*version)(const char *asset);
    /* The report with all parts, where the page is of one of host zones alone (VP_WHERE_HOST),
     * which has but one; NULL: the page is of it. */
    const vp_report *whole;
    const char *tab; /* which part of the report, see rep_tab_known; NULL: all of it at once */
    size_t rows_max; /* of a table, whatever the view asks for; 0: no limit */
    bool controls;   /* forms for group, by, device, host, n that reload the page */
} rep_links;
/* "summary", "ops", "scopes", "devices", "memory", "host", "files", "quality", "all". */
bool rep_tab_known(const char *name);

int rep_memory_html(vp_buf *b, const vp_report *r, const vp_view *v, const rep_links *links);
int rep_findings_html(vp_buf *b, const vp_report *r, const vp_view *v, const rep_links *links);
/* A page about one op of the report, call by call. */
int rep_op_html(vp_buf *b, const vp_report *r, size_t op, const op_details *d, const vp_view *v,
                const rep_links *links);
/* With links->base set the page links BASE/static/report.css (web/report.css), else it holds
 * them in a <style>. It never needs style attributes or scripts: style-src 'self' is enough. */
int rep_html(vp_buf *b, const vp_report *r, const vp_view *v, const rep_links *links);

#endif
