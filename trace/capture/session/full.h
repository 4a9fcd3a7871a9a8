/* Ends a recording whose pool is full while the program continues. Private to the recorder.
 *
 * Recorded and dropped zones add up exactly to those that ended while the recording was active. A
 * recording that keeps the first zones is active until a zone finds no space. The thread of this
 * zone switches the recording off for all threads and notes the time (two stores and a reading of
 * the clocks, which are async-signal-safe). So the records of all threads end at one time, and the
 * rest of the program runs as fast as without a recorder. The recording is ended later under the
 * lock: by its owner, the current step of a scheduled capture, the next start, or the control
 * thread on request. */
#ifndef VP_CAPTURE_FULL_H
#define VP_CAPTURE_FULL_H

#include "trace/capture/session/session.h"

/* Makes another thread report that the pool of this session is full. */
void session_tell_full(uint64_t number, const cap_pool *p);
/* All functions below: the caller holds the lock. */
/* Waits until it was reported, at most cap_callback_ms. Releases the lock meanwhile. */
void session_await_told(cap_session *s);
/* True if this thread is reporting it, and so must not wait for s. */
bool session_is_told_here(const cap_session *s);
/* Call when this thread's callback will not return: it counts as reported. */
void session_end_telling(void);

#endif
