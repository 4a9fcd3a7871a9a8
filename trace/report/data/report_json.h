/* A report as JSON, and back. Writers append to a vp_buf of the caller.
 *
 * jansson parses, with its limits: it refuses integers beyond 2^63-1, which XLA's program ids may
 * be, so these are quoted before it sees them. Its tree takes about ten times the file;
 * VP_REPORT_READ_MAX bounds that. The sum of each field over a report is bounded as well (640
 * device-hours of any time), so that no later sum overflows. */
#ifndef VP_REPORT_REPORT_JSON_H
#define VP_REPORT_REPORT_JSON_H

#include "include/view_profile.h"
#include "trace/base/buf.h"
#include "trace/base/json.h"

/* Begins a document: schema and tool. The caller ends the object. */
void rep_json_head(vp_json *j, const char *schema);
/* The same, with the session and the window of a report. */
void rep_json_open(vp_json *j, vp_buf *b, const vp_report *r, const char *schema);
void rep_json_texts(vp_json *j, const char *key, const char *const *texts, size_t n);
/* "findings": [...], every rule in rank order. */
void rep_json_findings(vp_json *j, const vp_report *r);
int rep_json(vp_buf *b, const vp_report *r,
             const vp_view *v); /* all rows unless v->top says less */
/* Only what the rows of `ops` need: schema, tool, session, window, devices, ops. */
int rep_json_ops(vp_buf *b, const vp_report *r, const vp_view *v);
/* view_profile.memory/1: what the report has under memory, memory_static, memory_programs. */
int rep_memory_json(vp_buf *b, const vp_report *r);
/* What rep_json wrote comes back, with findings made anew; whole reports only. VP_ECORRUPT with the
 * place, VP_EUNSUPPORTED for other JSON, VP_ELIMIT. Free with analyze_free. */
int rep_read(vp_report **out, vp_str text);
int rep_read_file(vp_report **out, const char *path); /* "-": standard input */
bool rep_is_report(const char *path);                 /* by its first bytes */
int rep_findings_json(vp_buf *b, const vp_report *r); /* view_profile.findings/1 */

#endif
