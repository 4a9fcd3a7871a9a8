/* Switches sessions on and off: threads record into the pool of the active session. Private to the
 * recorder; the caller holds the lock. */
#ifndef VP_CAPTURE_SESSION_SWITCH_H
#define VP_CAPTURE_SESSION_SWITCH_H

#include "trace/capture/session/session.h"

cap_session *session_active(void);    /* the active session, or one that is ending */
cap_session *session_recording(void); /* the active session unless it is ending; NULL: none */
/* True if the active session has stopped recording because its pool is full. */
bool session_is_full(const cap_session *s);

/* Waits until no thread is inside the previous recording; VP_EBUSY: a thread still is. */
int session_settle(void);
/* Makes threads record into s, which must be on the list. */
void session_switch_on(cap_session *s);
/* Stops threads and the GPU from recording into s, whose image is then exclusive. Called without
 * the lock, which it acquires and keeps. */
void session_switch_off(cap_session *s);
/* Closes the pool of an inactive session. If a thread was stopped inside a record, it may continue
 * to write into the pool. Then the pool is kept for the life of the process: some megabytes of
 * address space in a very rare case. */
void session_leave_pool(cap_session *s);
/* In a forked child: no session is active any more. Returns the one that was. */
cap_session *session_orphan(void);

#endif
