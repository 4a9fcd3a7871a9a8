/* Closes descriptors that a new process must not inherit. */
#ifndef VP_BASE_DESCRIPTORS_H
#define VP_BASE_DESCRIPTORS_H

#include <stdbool.h>

/* Closes the descriptors from first to last, inclusive; with at_exec, at the next exec. Safe
 * between fork and exec. On kernels before Linux 5.9 (5.11 for at_exec) only those below 65,536. */
void vp_close_range(unsigned first, unsigned last, bool at_exec);

#endif
