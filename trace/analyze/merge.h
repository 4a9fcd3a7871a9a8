/* Hosts' figures → the session's report. Only analyze/ includes this. */
#ifndef VP_ANALYZE_MERGE_H
#define VP_ANALYZE_MERGE_H

#include "trace/analyze/host.h"
#include "trace/model/catalog.h"

typedef struct host_part {
    bool wanted;
    int status; /* of reading it: 0 or the code of `error` */
    vp_error error;
    uint32_t file; /* index of the file that was read */
    host_result result;
} host_part;

/* parts: one a host of the session. At least one must have been read; the others become quality
 * entries. The results stay the caller's. */
int merge_hosts(vp_report **out, const cat_session *s, const host_part *parts, vp_group group,
                vp_depth depth);

#endif
