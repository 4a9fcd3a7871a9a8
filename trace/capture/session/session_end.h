/* Ends a session: completes its image, writes its files, and calls its owner's callbacks. Private
 * to the recorder. The caller holds the lock; functions that release it meanwhile state so.
 *
 * The order is: device_sync, switching off, waiting for all threads, the time of the end, the GPU's
 * buffers, files (docs/reference/recording.md#end-of-a-recording explains it). The GPU is flushed
 * after the end; otherwise the flush would appear as idle time of the device. */
#ifndef VP_CAPTURE_SESSION_END_H
#define VP_CAPTURE_SESSION_END_H

#include "trace/capture/session/session.h"

/* How a recording ends. WHOLE: as its owner intended, so open zones do not belong to it. CUT:
 * interrupted; open zones are kept as unfinished. CUT_IF_OPEN: like CUT if a zone is open, else
 * like WHOLE. */
typedef enum cap_cut { CAP_WHOLE, CAP_CUT_IF_OPEN, CAP_CUT } cap_cut;

/* ACTIVE → WRITING. Releases the lock while it waits for others. */
void session_end(cap_session *s, cap_cut cut);
/* WRITING → DONE, on this thread or on a new one. Releases the lock meanwhile. */
void session_write(cap_session *s, bool here);
/* Ends the active session and removes everything it created. Releases the lock while it waits. */
void session_discard(cap_session *s);
/* Ends the active session if its pool is full, as if its time were over. Releases the lock
 * meanwhile. */
void session_end_full(void);
/* True if this thread runs a callback of s, and so must not wait for it. */
bool session_calls_here(const cap_session *s);
/* Call when the process ends inside callbacks on this thread, which will not return. Does the work
 * that follows them: ENDING or WRITING → DONE. Releases the lock meanwhile. */
void session_end_called(void);

#endif
