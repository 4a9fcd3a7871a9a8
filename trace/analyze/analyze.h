/* From a session to its report: one question a file, all of them behind this door. The server, the
 * CLI and the C API include this header; nobody else. */
#ifndef VP_ANALYZE_ANALYZE_H
#define VP_ANALYZE_ANALYZE_H

#include "include/view_profile.h"
#include "trace/model/catalog.h"

/* Reads the session's hosts (opts->jobs at once) and analyses them into one report. */
int analyze_session(vp_report **out, const catalog *c, const cat_session *s,
                    const vp_report_options *opts);
void analyze_free(vp_report *r);

/* The report of the whole from reports of its parts, in any order; they stay the caller's. VP_EARG:
 * none, grouped in different ways, or of one host twice. */
int report_merge(vp_report **out, const vp_report *const *parts, size_t n);
/* An empty report whose owner_ is a vp_arena, and what follows from the rest of one that was read
 * back: the statistics of its steps, balance and findings. */
int report_new(vp_report **out);
int report_finish(vp_report *r);

#endif
