/* A lock on a .vpcap file: its process is alive, and lists of runs must not show the file. The
 * recorder locks standby rings; lists test the lock. The kernel releases it with the last
 * descriptor of the process that took it. Nothing is allocated. */
#ifndef VP_IMAGE_VPCAP_HOLD_H
#define VP_IMAGE_VPCAP_HOLD_H

#include <stdbool.h>

/* fd: open for writing; it stays locked until every copy of the descriptor is closed. false: this
 * file system does not support locks. */
bool vpcap_hold(int fd);
/* fd: any descriptor of the file, also one of the process that holds the lock. */
bool vpcap_is_held(int fd);

#endif
