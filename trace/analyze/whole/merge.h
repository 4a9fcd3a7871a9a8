/* Reports of hosts → the report of the whole. Whether the parts were made a moment ago, from the
 * hosts of one session, or read back from files, this is the only way. Only analyze/ includes this.
 */
#ifndef VP_ANALYZE_MERGE_H
#define VP_ANALYZE_MERGE_H

#include "trace/analyze/result/host_result.h"
#include "trace/base/map.h"
#include "trace/model/catalog.h"

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
