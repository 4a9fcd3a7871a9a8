/* Converts the devices of collectives in HLO protos to the text that replica_groups.h reads: the
 * groups of an instruction, and the devices of a program. Functions append to b; they append
 * nothing if the proto lacks the data or has more than VP_GROUP_DEVICES_MAX ids. VP_ENOMEM,
 * VP_ELIMIT. */
#ifndef VP_READ_HLO_GROUPS_H
#define VP_READ_HLO_GROUPS_H

#include "trace/base/buf.h"

/* From an xla.HloInstructionProto: "replica_groups={{0,1},{2,3}}, channel_id=1". */
int hlo_put_groups(vp_buf *b, vp_str instruction);
/* From an xla.DeviceAssignmentProto: "1x4:0,1,2,3". */
int hlo_put_program(vp_buf *b, vp_str assignment);

#endif
