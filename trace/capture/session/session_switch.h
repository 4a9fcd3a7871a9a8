/* Which session is on: its pool is the one that threads record into, from when it is switched on
 * until it is switched off. Private to the recorder; all of it with the lock held. */
#ifndef VP_CAPTURE_SESSION_SWITCH_H
#define VP_CAPTURE_SESSION_SWITCH_H

#include "trace/capture/session/session.h"

cap_session *session_active(void);    /* also while it ends */
cap_session *session_recording(void); /* the active one, unless it is about to end; or NULL */
/* Whether this one, which is active, records no more because its pool is full. */
bool session_is_full(const cap_session *s);

/* Waits until no thread is inside the recording that was on before; VP_EBUSY: one still is. */
int session_settle(void);
/* Threads record into s from now on, which is on the list with this. */
void session_switch_on(cap_session *s);
/* They do so no more, nor does the GPU: its image is nobody's but ours. Called without the lock,
 * which is held afterwards. */
void session_switch_off(cap_session *s);
/* Closes the pool of one that is off, or leaves it: a thread that stopped in the middle of a record
 * may go on writing into it. Then it stays for the life of the process, which is some megabytes of
 * address space in a case that does not happen. */
void session_leave_pool(cap_session *s);
/* In a child: nothing is on. Gives the one that was. */
cap_session *session_orphan(void);

#endif
