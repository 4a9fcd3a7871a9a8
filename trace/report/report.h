/* A report → text, json, csv, html. These only print what analyze/ put into vp_report
 * (include/view_profile.h); no figure is computed here but shares and rates of its integers.
 * Routes and the CLI include this. Writers append to a vp_buf that the caller owns and may stream.
 */
#ifndef VP_REPORT_REPORT_H
#define VP_REPORT_REPORT_H

#include "include/view_profile.h"
#include "trace/analyze/op_details.h"
#include "trace/base/buf.h"
#include "trace/base/json.h"
#include "trace/model/catalog.h"

/* Links that only a server knows; NULL members leave the link out. */
typedef struct rep_links {
    const char *base;     /* "" or a path prefix; every href starts with it */
    const char *perfetto; /* "/perfetto/ID" */
    const char *tensorboard;
    const char *index;   /* "/" */
    const char *session; /* "/session/ID/": its ops.csv and the calls of an op */
    const char *raw;     /* "/trace/ID/raw/": the session's files by their names, as they are */
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
/* "summary", "ops", "scopes", "devices", "host", "files", "quality", "all". */
bool rep_tab_known(const char *name);

int rep_text(vp_buf *b, const vp_report *r, const vp_view *v);      /* `top`: header and table */
int rep_text_full(vp_buf *b, const vp_report *r, const vp_view *v); /* `report`: everything */
int rep_json(vp_buf *b, const vp_report *r,
             const vp_view *v); /* all rows unless v->top says less */
/* Only what the rows of `ops` need: schema, tool, session, window, devices, ops. */
int rep_json_ops(vp_buf *b, const vp_report *r, const vp_view *v);
/* What rep_json wrote comes back, with findings made anew; whole reports only. VP_ECORRUPT with the
 * place, VP_EUNSUPPORTED for other JSON, VP_ELIMIT. Free with analyze_free. */
int rep_read(vp_report **out, vp_str text);
int rep_read_file(vp_report **out, const char *path); /* "-": standard input */
bool rep_is_report(const char *path);                 /* by its first bytes */
int rep_csv(vp_buf *b, const vp_report *r, const vp_view *v);
/* `findings`: what is wrong and what to do; fired first, then explained, then the rest in short. */
int rep_findings_text(vp_buf *b, const vp_report *r, const vp_view *v);
int rep_findings_json(vp_buf *b, const vp_report *r); /* view_profile.findings/1 */
int rep_findings_csv(vp_buf *b, const vp_report *r);  /* one row a rule */
int rep_findings_html(vp_buf *b, const vp_report *r, const vp_view *v, const rep_links *links);
/* docs/findings.md: every rule with its thresholds, sources, advice and caveats. */
int rep_findings_docs(vp_buf *b);
/* A page about one op of the report, call by call. */
int rep_op_html(vp_buf *b, const vp_report *r, size_t op, const op_details *d, const vp_view *v,
                const rep_links *links);
/* With links->base set the page links BASE/static/report.css (web/report.css), else it holds
 * them in a <style>. It never needs style attributes or scripts: style-src 'self' is enough. */
int rep_html(vp_buf *b, const vp_report *r, const vp_view *v, const rep_links *links);

int rep_compare_text(vp_buf *b, const vp_comparison *c, const vp_view *v);
int rep_compare_json(vp_buf *b, const vp_comparison *c); /* view_profile.compare/1 */
/* A row an op, a class of a device, a scope, a finding: what `kind` says. */
int rep_compare_csv(vp_buf *b, const vp_comparison *c);
int rep_compare_md(vp_buf *b, const vp_comparison *c, const vp_view *v);
int rep_compare_junit(vp_buf *b, const vp_comparison *c, bool failed); /* failed: by a gate */
/* A page about two reports, by the same rules; links->base also leads to their sessions. */
int rep_compare_html(vp_buf *b, const vp_comparison *c, const rep_links *links);

/* `list`: DESIGN 5 and 7. */
int rep_list_text(vp_buf *b, const catalog *c, const vp_view *v);
int rep_list_json(vp_buf *b, const catalog *c);
/* The same with more(j, ctx) adding keys of its own at the end. */
typedef void rep_more_fn(vp_json *j, void *ctx);
int rep_list_json_with(vp_buf *b, const catalog *c, rep_more_fn *more, void *ctx);
/* The same of a list that is being made: with "indexing", and how many sessions were found so far
 * and files looked at. */
int rep_list_json_growing(vp_buf *b, const catalog *c, uint64_t found, uint64_t looked_at);

/* Escaping for HTML text and attribute values, the only place that does it. Controls, bidi
 * controls and invalid UTF-8 become visible escapes. */
int rep_html_escape(vp_buf *b, vp_str s);
/* "12.345 ms"; the unit is chosen for `scale_ps` (a table's largest value) when AUTO. */
int rep_duration(vp_buf *b, int64_t ps, vp_unit unit, int64_t scale_ps);
/* The rows a view shows, in its order over all its devices: indices into r->ops; *n of them;
 * vp_free. v->top counts per device, so that every device's share of the list closes.
 * VP_ENOTFOUND: v->device or v->host matches none. */
int rep_select(uint32_t **rows, size_t *n, size_t *matching, const vp_report *r, const vp_view *v);

#endif
