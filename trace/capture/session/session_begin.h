/* How a session begins: its run directory, its name in it, its pool, the GPU, and it is switched
 * on. Private to the recorder. */
#ifndef VP_CAPTURE_SESSION_BEGIN_H
#define VP_CAPTURE_SESSION_BEGIN_H

#include "trace/capture/session/session.h"

/* Makes one and switches it on; its notice is the caller's to say. parent: of a forked child that
 * records on beside it; else NULL. With the lock held, when none is on, and after session_install.
 */
int session_begin(cap_session **out, const vp_config *cfg, const cap_session *parent, bool standby);

#endif
