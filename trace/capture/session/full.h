/* A pool that is full is told of while the program goes on. Private to the recorder. */
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
