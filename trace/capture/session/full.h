/* A pool that is full is told of while the program goes on. Private to the recorder.
 *
 * Written and dropped add up exactly to the zones that ended while the recording was on, and a
 * recording that keeps the first zones is on until one finds no room. That thread switches it off
 * for all and notes the time (two stores and a reading of the clocks, so a signal handler may),
 * which makes every thread's record end at one time and the rest of the program cost what it costs
 * without a recorder. Who has a lock ends it later: the owner, the step at hand of a scheduled
 * capture, the next start, the control thread when it is asked. */
#ifndef VP_CAPTURE_FULL_H
#define VP_CAPTURE_FULL_H

#include "trace/capture/session/session.h"

/* Says that the pool of this session is full, on another thread. */
void session_tell_full(uint64_t number, const cap_pool *p);
/* All below: with the lock held. */
/* Waits until that is said, at most cap_callback_ms. Takes the lock off meanwhile. */
void session_await_told(cap_session *s);
/* Whether this thread does so: it must not wait for s. */
bool session_is_told_here(const cap_session *s);
/* It does so no more: its callback will not return. */
void session_end_telling(void);

#endif
