/* From a session to its report: one question a file, all of them behind this door. The server, the
 * CLI and the C API include this header; nobody else. */
#ifndef VP_ANALYZE_ANALYZE_H
#define VP_ANALYZE_ANALYZE_H

#include "include/view_profile.h"
#include "trace/analyze/whole/whole.h"
#include "trace/model/catalog.h"

/* Reads the session's hosts (opts->jobs at once) and analyses them into one report. */
int analyze_session(vp_report **out, const catalog *c, const cat_session *s,
                    const vp_report_options *opts);

#endif
