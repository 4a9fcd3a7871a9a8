/* Reads the start time of an XSpace, by the clock of its host. */
#ifndef VP_CLI_PROFILE_START_H
#define VP_CLI_PROFILE_START_H

#include <stdint.h>

/* profile_start_time of the "Task Environment" plane, Unix ns; 0: unknown. Reads only the lengths
 * of the planes and the small planes. */
int64_t profile_start_ns(int fd);

#endif
