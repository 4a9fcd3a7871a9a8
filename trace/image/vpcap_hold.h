/* Whether the process that records into a .vpcap lives and wants it to be nobody's session: a lock
 * on the file, which goes with the last descriptor of whoever took it. The recorder takes it for
 * rings that stand by, lists of sessions ask. Owns nothing. */
#ifndef VP_IMAGE_VPCAP_HOLD_H
#define VP_IMAGE_VPCAP_HOLD_H

#include <stdbool.h>

/* fd: open for writing; it stays locked until every copy of the descriptor is closed. false: this
 * file system has no locks. */
bool vpcap_hold(int fd);
/* fd: of any kind, also of the process that holds it. */
bool vpcap_is_held(int fd);

#endif
