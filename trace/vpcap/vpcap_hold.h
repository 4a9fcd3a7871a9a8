/* A lock on a .vpcap by which its process says that it lives and that no list of sessions should
 * show the file. The recorder takes it for rings that stand by; lists ask. The kernel drops it with
 * the last descriptor of the process that took it. Owns nothing. */
#ifndef VP_IMAGE_VPCAP_HOLD_H
#define VP_IMAGE_VPCAP_HOLD_H

#include <stdbool.h>

/* fd: open for writing; it stays locked until every copy of the descriptor is closed. false: this
 * file system has no locks. */
bool vpcap_hold(int fd);
/* fd: any descriptor of the file, also one of the process that holds the lock. */
bool vpcap_is_held(int fd);

#endif
