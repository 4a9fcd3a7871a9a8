/* Writes a report as JSON, and reads it back. Writers append to a vp_buf of the caller.
 *
 * The parser is jansson. It refuses integers above 2^63-1, which XLA's program ids can be, so these
 * are quoted first. Its tree takes about ten times the size of the file, which VP_REPORT_READ_MAX
 * limits. The sum of each field over a report is limited too (640 device-hours of any time), so
 * that later sums cannot overflow. */
#ifndef VP_REPORT_REPORT_JSON_H
#define VP_REPORT_REPORT_JSON_H

#include "include/view_profile.h"
#include "trace/base/buf.h"
#include "trace/base/json.h"

/* Begins a document: schema and tool. The caller ends the object. */
void rep_json_head(vp_json *j, const char *schema);
/* The same, with the run and the window of a report. */
void rep_json_open(vp_json *j, vp_buf *b, const vp_report *r, const char *schema);
void rep_json_texts(vp_json *j, const char *key, const char *const *texts, size_t n);
/* "findings": [...], every rule in rank order. */
void rep_json_findings(vp_json *j, const vp_report *r);
int rep_json(vp_buf *b, const vp_report *r,
             const vp_view *v); /* all rows unless v->top says less */
/* Only what the rows of `ops` need: schema, tool, session, window, devices, ops. */
int rep_json_ops(vp_buf *b, const vp_report *r, const vp_view *v);
/* view_profile.memory/1: memory, memory_static and memory_programs of the report. */
int rep_memory_json(vp_buf *b, const vp_report *r);
/* Reads the output of rep_json and recomputes the findings; only complete reports. VP_ECORRUPT with
 * the place, VP_EUNSUPPORTED for other JSON, VP_ELIMIT. Free with analyze_free. */
int rep_read(vp_report **out, vp_str text);
int rep_read_file(vp_report **out, const char *path); /* "-": standard input */
bool rep_is_report(const char *path);                 /* by its first bytes */
int rep_findings_json(vp_buf *b, const vp_report *r); /* view_profile.findings/1 */

#endif
