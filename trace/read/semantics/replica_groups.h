/* Devices that take part in a collective of XLA. Its text has groups of logical ids:
 * "replica_groups={{0,1},{2,3}}", or in iota form "replica_groups=[4,2]<=[2,4]T(1,0)", where the
 * ids from 0 on are reshaped and transposed. The program maps these ids to devices; ids without a
 * device stay unknown. Pure functions: text in, numbers out; nothing is allocated. */
#ifndef VP_READ_REPLICA_GROUPS_H
#define VP_READ_REPLICA_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/buf.h"

#define RG_DIMS_MAX 8u

/* Which ids the groups hold (XLA's CollectiveOpGroupMode). */
typedef enum rg_mode {
    RG_REPLICAS,   /* replicas of the same partition */
    RG_PARTITIONS, /* partitions of the same replica */
    RG_FLAT,       /* replica * partitions + partition */
    RG_OTHER       /* replicas of a group with all their partitions: not seen in practice */
} rg_mode;

typedef struct rg_groups {
    vp_str list;          /* "{0,1},{2,3}"; empty: iota form */
    uint32_t count, size; /* number of groups; ids in each (list: in the first) */
    uint32_t dim[RG_DIMS_MAX], turn[RG_DIMS_MAX]; /* sides; their order after transposition */
    uint32_t dims;
    rg_mode mode;
} rg_groups;

/* Devices of a program, indexed by replica * partitions + partition. */
typedef struct rg_program {
    uint32_t replicas, partitions;
    const int64_t *devices;
} rg_program;

/* Parses the first groups in an instruction's text. false: missing, damaged, or more than
 * VP_GROUP_DEVICES_MAX ids. */
bool rg_parse(rg_groups *out, vp_str opcode, vp_str text);
/* Writes the devices of the group of `device`, including itself, ascending. Returns their number;
 * 0: unknown. out has VP_GROUP_DEVICES_MAX items. */
uint32_t rg_members(int64_t *out, const rg_groups *g, const rg_program *p, int64_t device);

/* Parses a program: "1x8:0,1,2,3,4,5,6,7" has replicas, partitions, devices. `devices` has
 * VP_GROUP_DEVICES_MAX items. false: malformed. */
bool rg_program_parse(rg_program *out, int64_t *devices, vp_str text);

/* Appends ascending ids as "0,4", "0-7" or "0-28:4". Returns 0 or a failure of b. */
int rg_put_members(vp_buf *b, const int64_t *ids, uint32_t n);

#endif
