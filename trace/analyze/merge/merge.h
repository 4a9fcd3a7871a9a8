/* Merges the reports of hosts into one report. It is used for the hosts of one run and for reports
 * read from files. The caller frees the report. Fails if the reports have different groups or
 * steps, or the same host twice.
 *
 * Merging parts gives the report of the run; values that need all hosts (critical devices of steps,
 * balance, stragglers) are computed here. Two values are not exact. Percentiles of modules with
 * more than 256 runs have a rank error below 0.4%, because order statistics at even distances are
 * kept. The identity of parts from different runs is "merged", with the file paths of each part.
 * The source of a scope is that of its heaviest part, so merging in stages may give another line if
 * hosts ran different programs. */
#ifndef VP_ANALYZE_MERGE_H
#define VP_ANALYZE_MERGE_H

#include "trace/analyze/result/host_result.h"
#include "trace/base/map.h"
#include "trace/model/catalog/catalog.h"

typedef struct host_part {
    bool wanted;
    int status; /* result of reading it: 0 or the code of `error` */
    vp_error error;
    uint32_t file; /* index of the file that was read */
    host_result result;
} host_part;

/* parts: one per host of the run. At least one must have been read; the others become quality
 * entries. The caller owns the results; their rows are prepared for a report in place. */
int merge_hosts(vp_report **out, const cat_session *s, host_part *parts,
                const vp_report_options *opts);

#endif
