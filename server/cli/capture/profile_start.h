/* When the recording of an XSpace began, by the clock of its host. */
#ifndef VP_CLI_PROFILE_START_H
#define VP_CLI_PROFILE_START_H

#include <stdint.h>

/* profile_start_time of its "Task Environment", Unix ns; 0: it does not say. Only the lengths of
 * the planes and the small ones among them are read. */
int64_t profile_start_ns(int fd);

#endif
