/* Memory snapshots next to the timelines of a run ("memory.prof"): holders of memory at one time.
 * Rows go into the report; unreadable files become notes on data quality. */
#ifndef VP_ANALYZE_SNAPSHOTS_H
#define VP_ANALYZE_SNAPSHOTS_H

#include "trace/analyze/analyze.h"

bool snapshots_any(const cat_session *s);
/* Adds the snapshots of a run to its report, one entry per file and device; unreadable files become
 * quality entries. */
int snapshots_add(vp_report *r, const catalog *c, const cat_session *s);
/* The report of a run with only snapshots. */
int snapshots_report(vp_report **out, const catalog *c, const cat_session *s,
                     const vp_report_options *opts);

#endif
