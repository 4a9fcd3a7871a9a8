/* Time that a thread spends on starting and ending recordings, which is subtracted from a step's
 * time. Private to this module. Each thread has its own counter, which costs nothing while no
 * recording starts or ends. */
#ifndef VP_CAPTURE_OWN_TIME_H
#define VP_CAPTURE_OWN_TIME_H

#include <stdint.h>

/* Enclose the recorder's own work; may be nested. */
void own_time_begin(void);
void own_time_end(void);
/* Enclose calls of the application's functions within it: that time belongs to the application. */
void own_time_pause(void);
void own_time_resume(void);
/* The total on this thread so far, in ns. */
int64_t own_time_ns(void);

#endif
