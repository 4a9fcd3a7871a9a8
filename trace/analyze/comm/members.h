/* Members of a device's group in a collective (docs/reference/metrics.md#collectives), numbered as
 * in the program, so that all hosts agree. The analysis owns the result; unknown members are no
 * failure.
 *
 * Three things must be in the file: the groups (in the instruction), the devices of the program (in
 * its HLO proto), and which of these a device of the file is. TPU planes contain the last one. On
 * other platforms, a device is its ordinal, if all devices of the program are ordinals in the file,
 * so that no other device took part. Otherwise, members are unknown.
 *
 * A host that has one half of a pair has no waits until the report of the other host is merged. A
 * JSON trace never has any, because it has no HLO proto. Calls of one group among several are
 * matched only if its members are known. */
#ifndef VP_ANALYZE_MEMBERS_H
#define VP_ANALYZE_MEMBERS_H

#include "trace/analyze/result/analysis.h"
#include "trace/read/semantics/replica_groups.h"

typedef struct group_members {
    const char *text; /* "0,4", as vp_collective.members, in the arena of the result; or NULL */
    int64_t groups;   /* number of groups, or VP_UNKNOWN */
} group_members;

typedef struct members {
    const trace *t;
    host_result *h;
    vp_map ordinals; /* kind of device, ordinal */
    vp_map known;    /* instruction, program, process → index into `found` */
    group_members *found;
    size_t count, cap;
    int64_t *devices,
        *ids;       /* VP_GROUP_DEVICES_MAX entries each: devices of the program; a buffer */
    vp_sid program; /* which one */
    rg_program parsed;
    bool good; /* it was parsed */
} members;

/* VP_ENOMEM; call members_free in any case. */
int members_init(members *m, const analysis *a);
void members_free(members *m);
/* The members of a collective on a device of a process. VP_ENOMEM, VP_ELIMIT. */
int members_of(group_members *out, members *m, const trace_kind *k, uint32_t process);

#endif
