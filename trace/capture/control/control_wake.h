/* Wakes the control thread; callers may be signal handlers. One per process; thread-safe. Private
 * to control. */
#ifndef VP_CAPTURE_CONTROL_WAKE_H
#define VP_CAPTURE_CONTROL_WAKE_H

#include <stdbool.h>

/* Wakes the thread, if there is one. It calls control_tick, and control_signalled if any caller
 * passed `signalled`. Async-signal-safe. */
void control_wake(bool signalled);

/* The functions below are for the thread itself. Returns its eventfd; -1: none. */
int control_wake_fd(void);
/* Returns the previous descriptor, which the caller closes. */
int control_set_wake_fd(int fd);
/* True if a signal has arrived since the last call. */
bool control_was_signalled(void);

#endif
