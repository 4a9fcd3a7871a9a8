/* Starts a session: creates its run directory and its name there, its pool and the GPU tracing,
 * then switches it on. Private to the recorder. Failures: those of vp_start. */
#ifndef VP_CAPTURE_SESSION_BEGIN_H
#define VP_CAPTURE_SESSION_BEGIN_H

#include "trace/capture/session/session.h"

/* Makes a session and switches it on. The caller then logs its notice. parent: for a forked child
 * that continues to record next to it; else NULL. The caller holds the lock; no session is active,
 * and session_install was called. */
int session_begin(cap_session **out, const vp_config *cfg, const cap_session *parent, bool standby);

#endif
