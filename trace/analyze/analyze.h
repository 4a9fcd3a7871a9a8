/* Public header of analyze/: turns a run into a report. The server, the CLI and the C API include
 * it. The caller frees reports with analyze_free; functions return 0 or a negative code and set the
 * last error. */
#ifndef VP_ANALYZE_ANALYZE_H
#define VP_ANALYZE_ANALYZE_H

#include "include/view_profile.h"
#include "trace/analyze/merge/whole.h"
#include "trace/model/catalog/catalog.h"
#include "trace/model/derived.h"

/* Reads the session's hosts (opts->jobs at once) and analyses them into one report. */
int analyze_session(vp_report **out, const catalog *c, const cat_session *s,
                    const vp_report_options *opts);

/* Looks at the sealed trace of a host (of s->hosts), which is gone when the report is there: once
 * as soon as it is read, d NULL, and once more with the tracks of its full analysis, which are the
 * callee's then, also where it fails; after this second look nobody reads the trace's events. A
 * negative code fails that host's analysis. With several hosts it runs on several threads at once,
 * each with another host. Where the better half of a host cannot be used, all is told again of the
 * other half, and that counts. */
struct trace;
typedef int analyze_look_fn(void *ctx, uint32_t host, const struct trace *t, derived *d);
/* As analyze_session; look may be NULL. */
int analyze_session_looked(vp_report **out, const catalog *c, const cat_session *s,
                           const vp_report_options *opts, analyze_look_fn *look, void *look_ctx);
/* The tracks that a host's own file lacks, findings included; their `file` is the better half, or
 * the other where that cannot be analysed. The caller frees them. opts: as of
 * analyze_session; host and depth are given by the rest. */
int analyze_derived(derived **out, const catalog *c, const cat_session *s, const cat_host *h,
                    const vp_report_options *opts);
/* Adds the findings of a report to the tracks of one of its hosts. */
int analyze_add_findings(derived *d, const vp_report *r, const char *host);

/* Whether vp_report_options.chip may be this. */
bool analyze_knows_chip(const char *chip);
/* Appends what reports call an op of that raw name, where ops are grouped by name
 * (docs/reference/metrics.md#op-names). VP_ENOMEM, VP_ELIMIT: of the buffer. */
int analyze_put_label(vp_buf *b, vp_str raw);

#endif
