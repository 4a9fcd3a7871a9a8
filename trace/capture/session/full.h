/* Tells that a pool is full, while the program goes on. Private to the recorder.
 *
 * Zones that are written and zones that are dropped add up exactly to those that ended while the
 * recording was on; and a recording that keeps the first zones is on until a zone finds no room.
 * The thread that finds none switches the recording off for all threads and notes the time (two
 * stores and a reading of the clocks, which a signal handler may do). So the records of all threads
 * end at one time, and the rest of the program costs what it costs without a recorder. The
 * recording is ended later by somebody who holds a lock: its owner, the step at hand of a scheduled
 * capture, the next start, or the control thread when it is asked. */
#ifndef VP_CAPTURE_FULL_H
#define VP_CAPTURE_FULL_H

#include "trace/capture/session/session.h"

/* Lets another thread say that the pool of this session is full. */
void session_tell_full(uint64_t number, const cap_pool *p);
/* All below: with the lock held. */
/* Waits until that was said, but not longer than cap_callback_ms. Gives up the lock meanwhile. */
void session_await_told(cap_session *s);
/* Whether this very thread is saying it, and so must not wait for s. */
bool session_is_told_here(const cap_session *s);
/* To be called when this thread's callback will not return: it counts as said. */
void session_end_telling(void);

#endif
