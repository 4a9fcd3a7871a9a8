/* What starting and ending recordings costs the thread that does it: a step that pays for it took
 * that much less of its own. Files of this room include this header; each thread has a clock of its
 * own, which costs nothing while no recording starts or ends. */
#ifndef VP_CAPTURE_OWN_TIME_H
#define VP_CAPTURE_OWN_TIME_H

#include <stdint.h>

/* Around what is ours; may be nested. */
void own_time_begin(void);
void own_time_end(void);
/* Around what we call of the application's inside it: how long that takes is its own to say. */
void own_time_pause(void);
void own_time_resume(void);
/* All that it came to on this thread so far; ns. */
int64_t own_time_ns(void);

#endif
