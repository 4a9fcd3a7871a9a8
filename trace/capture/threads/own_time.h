/* How long a thread was busy with starting and ending recordings: a step's own time is that much
 * less. Files of this room include this header; each thread has a clock of its own, which costs
 * nothing while no recording starts or ends. */
#ifndef VP_CAPTURE_OWN_TIME_H
#define VP_CAPTURE_OWN_TIME_H

#include <stdint.h>

/* Around the recorder's own work; may be nested. */
void own_time_begin(void);
void own_time_end(void);
/* Around calls of the application's functions within it: that time is the application's. */
void own_time_pause(void);
void own_time_resume(void);
/* All of it on this thread so far, in ns. */
int64_t own_time_ns(void);

#endif
