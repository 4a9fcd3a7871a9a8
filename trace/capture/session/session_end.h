/* How a session ends: its image is completed, its files are written, and its owner's callbacks are
 * called around that. Private to the recorder; all of it with the lock held, unless it says that it
 * takes the lock off.
 *
 * The order is: device_sync, off, all threads seen out, the time of the end, the GPU's buffers,
 * files. capture.md 3.4 turns the recording off before device_sync; then neither the work that is
 * waited for nor the wait would be in the profile. The GPU is flushed when it is off, or the flush
 * would be idle time of the device. */
#ifndef VP_CAPTURE_SESSION_END_H
#define VP_CAPTURE_SESSION_END_H

#include "trace/capture/session/session.h"

/* Whether a recording ends where its owner meant it to: then a zone that is still open is none of
 * it. What is cut off keeps those. */
typedef enum cap_cut { CAP_WHOLE, CAP_CUT_IF_OPEN, CAP_CUT } cap_cut;

/* ACTIVE → WRITING. Takes the lock off while it waits for others. */
void session_end(cap_session *s, cap_cut cut);
/* WRITING → DONE, here or on a thread of its own. Takes the lock off. */
void session_write(cap_session *s, bool here);
/* ACTIVE → gone, with what it made. Takes the lock off while it waits for others. */
void session_discard(cap_session *s);
/* Ends the active one if it is full, as if its time were over. Takes the lock off meanwhile. */
void session_end_full(void);
/* Whether this thread runs a callback of s, and so must not wait for it. */
bool session_calls_here(const cap_session *s);
/* The callbacks that this thread runs will not return, because the process ends: does what was to
 * be done after them. ENDING or WRITING → DONE. Takes the lock off. */
void session_end_called(void);

#endif
