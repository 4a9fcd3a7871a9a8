/* How the control thread is woken by whoever has something for it, which may be a signal handler.
 * One in a process; any thread. Only control*.c include it. */
#ifndef VP_CAPTURE_CONTROL_WAKE_H
#define VP_CAPTURE_CONTROL_WAKE_H

#include <stdbool.h>

/* Wakes the thread, if there is one: it calls control_tick, and control_signalled when the flag is
 * set. Async-signal-safe. */
void control_wake(bool signalled);

/* The rest is the thread's own. Its eventfd, -1: none. */
int control_wake_fd(void);
/* Gives the one before, which is the caller's to close. */
int control_set_wake_fd(int fd);
/* Whether a signal came since it was last asked. */
bool control_was_signalled(void);

#endif
