/* Which session is on: threads record into its pool from when it is switched on until it is
 * switched off. Private to the recorder; all of it is called with the lock held. */
#ifndef VP_CAPTURE_SESSION_SWITCH_H
#define VP_CAPTURE_SESSION_SWITCH_H

#include "trace/capture/session/session.h"

cap_session *session_active(void);    /* the one that is on, or is ending */
cap_session *session_recording(void); /* the active one, unless it is ending; NULL: none */
/* Whether the active session records no more because its pool is full. */
bool session_is_full(const cap_session *s);

/* Waits until no thread is inside the recording that was on before; VP_EBUSY: a thread still is. */
int session_settle(void);
/* From now on threads record into s, which must be on the list. */
void session_switch_on(cap_session *s);
/* From now on neither threads nor the GPU record into s, and nobody else has its image. Called
 * without the lock, which it takes and holds. */
void session_switch_off(cap_session *s);
/* Closes the pool of a session that is off. If a thread was stopped in the middle of a record, it
 * may go on writing into the pool: then the pool stays for the life of the process, some megabytes
 * of address space in a case that hardly happens. */
void session_leave_pool(cap_session *s);
/* In a forked child: no session is on any more. Returns the one that was on. */
cap_session *session_orphan(void);

#endif
