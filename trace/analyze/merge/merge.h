/* Reports of hosts → the report of the whole. Whether the parts were made a moment ago, from the
 * hosts of one session, or read back from files, this is the only way. Only analyze/ includes this.
 *
 * So merging parts gives the report of the whole, and what needs all hosts at once (critical
 * devices of steps, balance, stragglers) is made here. It is exact but for two things: percentiles
 * of modules with more than 256 runs (their order statistics at even distances are kept: rank error
 * below 0.4 %), and the session's identity where the parts are of different sessions ("merged",
 * paths of files as each part had them). The source of a scope is that of its heaviest part, so a
 * merge in stages may name another line where hosts ran different programs. */
#ifndef VP_ANALYZE_MERGE_H
#define VP_ANALYZE_MERGE_H

#include "trace/analyze/result/host_result.h"
#include "trace/base/map.h"
#include "trace/model/catalog/catalog.h"

typedef struct host_part {
    bool wanted;
    int status; /* of reading it: 0 or the code of `error` */
    vp_error error;
    uint32_t file; /* index of the file that was read */
    host_result result;
} host_part;

/* parts: one a host of the session. At least one must have been read; the others become quality
 * entries. The results stay the caller's; their rows are made ready for a report in place. */
int merge_hosts(vp_report **out, const cat_session *s, host_part *parts,
                const vp_report_options *opts);

#endif
