/* How a session begins: it gets its run directory, its name in it, its pool and the GPU, and is
 * then switched on. Private to the recorder. */
#ifndef VP_CAPTURE_SESSION_BEGIN_H
#define VP_CAPTURE_SESSION_BEGIN_H

#include "trace/capture/session/session.h"

/* Makes a session and switches it on. The caller then says its notice. parent: for a forked child
 * that records on beside it; else NULL. With the lock held, when no session is on, and after
 * session_install. */
int session_begin(cap_session **out, const vp_config *cfg, const cap_session *parent, bool standby);

#endif
