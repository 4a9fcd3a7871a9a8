/* Wakes the control thread: whoever has something for it may be a signal handler. One in a process;
 * any thread. Only control*.c include it. */
#ifndef VP_CAPTURE_CONTROL_WAKE_H
#define VP_CAPTURE_CONTROL_WAKE_H

#include <stdbool.h>

/* Wakes the thread, if there is one: it then calls control_tick, and if `signalled` was set by
 * anybody control_signalled, too. Async-signal-safe. */
void control_wake(bool signalled);

/* What follows is for the thread itself. This is its eventfd; -1: none. */
int control_wake_fd(void);
/* Returns the one before, which the caller closes. */
int control_set_wake_fd(int fd);
/* Whether a signal has come since this was last called. */
bool control_was_signalled(void);

#endif
