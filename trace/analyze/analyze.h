/* Public header of analyze/: turns a run into a report. The server, the CLI and the C API include
 * it. The caller frees reports with analyze_free; functions return 0 or a negative code and set the
 * last error. */
#ifndef VP_ANALYZE_ANALYZE_H
#define VP_ANALYZE_ANALYZE_H

#include "include/view_profile.h"
#include "trace/analyze/merge/whole.h"
#include "trace/model/catalog/catalog.h"
#include "trace/model/derived.h"

/* Reads the hosts of the run (opts->jobs at a time) and analyzes them into one report. */
int analyze_session(vp_report **out, const catalog *c, const cat_session *s,
                    const vp_report_options *opts);

/* Called with the sealed trace of a host (of s->hosts): once when it has been read, with d NULL,
 * and once with the tracks of its full analysis. The callee owns these tracks, also on failure, and
 * the trace's events are not used after this second call. A negative result fails the analysis of
 * that host. With several hosts it runs on several threads at once, each with another host. If the
 * preferred half of a host is unusable, both calls are repeated for the other half, which then
 * counts. */
struct trace;
typedef int analyze_look_fn(void *ctx, uint32_t host, const struct trace *t, derived *d);
/* As analyze_session; look may be NULL. */
int analyze_session_looked(vp_report **out, const catalog *c, const cat_session *s,
                           const vp_report_options *opts, analyze_look_fn *look, void *look_ctx);
/* Builds the analysis tracks of a host, including findings. Their `file` is the preferred half, or
 * the other one if that cannot be analyzed. The caller frees them. opts: as for analyze_session;
 * host and depth are set by the other arguments. */
int analyze_derived(derived **out, const catalog *c, const cat_session *s, const cat_host *h,
                    const vp_report_options *opts);
/* Adds the findings of a report to the tracks of one of its hosts. */
int analyze_add_findings(derived *d, const vp_report *r, const char *host);

/* Returns whether this is a valid vp_report_options.chip. */
bool analyze_knows_chip(const char *chip);
/* Appends the name that reports give an op with that raw name, if ops are grouped by name
 * (docs/reference/metrics.md#op-names). VP_ENOMEM, VP_ELIMIT: of the buffer. */
int analyze_put_label(vp_buf *b, vp_str raw);

#endif
