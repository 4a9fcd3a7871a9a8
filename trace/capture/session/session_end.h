/* How a session ends: its image is completed, its files are written, and its owner's callbacks are
 * called around that. Private to the recorder; all of it is called with the lock held, and what
 * gives it up meanwhile says so.
 *
 * The order is: device_sync, switching off, all threads seen out, the time of the end, the GPU's
 * buffers, files. docs/reference/recording.md#end-of-a-recording says why. The GPU is flushed after
 * the end, or else the flush would appear as idle time of the device. */
#ifndef VP_CAPTURE_SESSION_END_H
#define VP_CAPTURE_SESSION_END_H

#include "trace/capture/session/session.h"

/* How a recording ends. WHOLE: where its owner meant it to, so a zone that is still open is no part
 * of it. CUT: it is cut off, and keeps open zones as unfinished. CUT_IF_OPEN: as CUT if a zone is
 * open, else as WHOLE. */
typedef enum cap_cut { CAP_WHOLE, CAP_CUT_IF_OPEN, CAP_CUT } cap_cut;

/* ACTIVE → WRITING. Gives up the lock while it waits for others. */
void session_end(cap_session *s, cap_cut cut);
/* WRITING → DONE, on this thread or on one of its own. Gives up the lock meanwhile. */
void session_write(cap_session *s, bool here);
/* Ends the active session and removes all that it made. Gives up the lock while it waits for
 * others. */
void session_discard(cap_session *s);
/* Ends the active session if its pool is full, as if its time were over. Gives up the lock
 * meanwhile. */
void session_end_full(void);
/* Whether this thread runs a callback of s, and so must not wait for it. */
bool session_calls_here(const cap_session *s);
/* To be called when the process ends inside callbacks that this thread runs: they will not return.
 * Does what would have been done after them: ENDING or WRITING → DONE. Gives up the lock meanwhile.
 */
void session_end_called(void);

#endif
