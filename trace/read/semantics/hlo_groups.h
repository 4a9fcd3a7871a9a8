/* What HLO protos say of the devices of collectives, as the text that replica_groups.h reads: the
 * groups of an instruction, the devices of a program. Functions append to b, and nothing where the
 * proto does not say it or says more than VP_GROUP_DEVICES_MAX ids; VP_ENOMEM, VP_ELIMIT. */
#ifndef VP_READ_HLO_GROUPS_H
#define VP_READ_HLO_GROUPS_H

#include "trace/base/buf.h"

/* Of an xla.HloInstructionProto: "replica_groups={{0,1},{2,3}}, channel_id=1". */
int hlo_put_groups(vp_buf *b, vp_str instruction);
/* Of an xla.DeviceAssignmentProto: "1x4:0,1,2,3". */
int hlo_put_program(vp_buf *b, vp_str assignment);

#endif
