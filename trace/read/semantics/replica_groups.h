/* Which devices take part in a collective of XLA. Its text names groups of logical ids,
 * "replica_groups={{0,1},{2,3}}" or, as the numbers from 0 on put into a box that is turned,
 * "replica_groups=[4,2]<=[2,4]T(1,0)"; its program says which device each of these is. Ids that
 * nothing connects with a device stay unknown. Pure: text in, numbers out; nothing is owned.
 * Readers and analyze/ include this. */
#ifndef VP_READ_REPLICA_GROUPS_H
#define VP_READ_REPLICA_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/buf.h"

#define RG_DIMS_MAX 8u

/* Whose numbers the groups hold (XLA's CollectiveOpGroupMode). */
typedef enum rg_mode {
    RG_REPLICAS,   /* of the same partition */
    RG_PARTITIONS, /* of the same replica */
    RG_FLAT,       /* replica * partitions + partition */
    RG_OTHER       /* replicas of a group with all their partitions: nobody writes it */
} rg_mode;

typedef struct rg_groups {
    vp_str list;                                  /* "{0,1},{2,3}"; empty: a turned box */
    uint32_t count, size;                         /* groups; ids in each (in the first) */
    uint32_t dim[RG_DIMS_MAX], turn[RG_DIMS_MAX]; /* its sides, and their order when read out */
    uint32_t dims;
    rg_mode mode;
} rg_groups;

/* The devices of a program by replica * partitions + partition. */
typedef struct rg_program {
    uint32_t replicas, partitions;
    const int64_t *devices;
} rg_program;

/* Reads the first groups in an instruction's text. false: it has none, is damaged, or has more ids
 * than VP_GROUP_DEVICES_MAX. */
bool rg_parse(rg_groups *out, vp_str opcode, vp_str text);
/* The devices with which `device` does it, itself included, ascending. Returns how many; 0: the
 * text or the program does not tell. out: VP_GROUP_DEVICES_MAX. */
uint32_t rg_members(int64_t *out, const rg_groups *g, const rg_program *p, int64_t device);

/* Reads a program: "1x8:0,1,2,3,4,5,6,7" has replicas, partitions, devices. devices has room for
 * VP_GROUP_DEVICES_MAX. false: this is none. */
bool rg_program_parse(rg_program *out, int64_t *devices, vp_str text);

/* Puts ascending ids as "0,4", "0-7" or "0-28:4". */
int rg_put_members(vp_buf *b, const int64_t *ids, uint32_t n);

#endif
