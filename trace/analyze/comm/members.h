/* Who takes part in a collective with a device (docs/reference/metrics.md#collectives): the members
 * of its group, as its program numbers devices, so that hosts agree about them. Only collectives.c
 * includes this.
 *
 * That needs three things of the file: the groups (in the instruction), the devices of the program
 * (in its HLO proto), and which of these a device of the file is. The last is told by TPU planes;
 * elsewhere a device is what its ordinal says where all devices of the program are ordinals of the
 * file's, for then nobody else took part. Nothing is guessed: what is not told is unknown.
 *
 * So a host that sees one half of a pair has no waits there until the other host's report is
 * merged, and a JSON trace, which has no HLO proto, never. Calls of one group among several are
 * only matched where its members are known. */
#ifndef VP_ANALYZE_MEMBERS_H
#define VP_ANALYZE_MEMBERS_H

#include "trace/analyze/result/analysis.h"
#include "trace/read/semantics/replica_groups.h"

typedef struct group_members {
    const char *text; /* "0,4", as vp_collective.members, of the result's arena; or NULL */
    int64_t groups;   /* how many groups there are, or VP_UNKNOWN */
} group_members;

typedef struct members {
    const trace *t;
    host_result *h;
    vp_map ordinals; /* kind of device, ordinal */
    vp_map known;    /* instruction, program, process → which of `found` */
    group_members *found;
    size_t count, cap;
    int64_t *devices, *ids; /* VP_GROUP_DEVICES_MAX of each: of the program; room */
    vp_sid program;         /* which one */
    rg_program parsed;
    bool good; /* it could be parsed */
} members;

/* VP_ENOMEM; free in any case. */
int members_init(members *m, const analysis *a);
void members_free(members *m);
/* Of a collective on one process, a device. VP_ENOMEM, VP_ELIMIT. */
int members_of(group_members *out, members *m, const trace_kind *k, uint32_t process);

#endif
