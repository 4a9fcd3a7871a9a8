/* Descriptors that a new process is not to have. Everyone may include this header; nothing is
 * owned. */
#ifndef VP_BASE_DESCRIPTORS_H
#define VP_BASE_DESCRIPTORS_H

#include <stdbool.h>

/* Closes all from first to last, both with them; at_exec: when this process becomes another
 * program. Between fork and exec, too. Where the kernel is older than Linux 5.9 (5.11 for at_exec),
 * only those below 65,536. */
void vp_close_range(unsigned first, unsigned last, bool at_exec);

#endif
