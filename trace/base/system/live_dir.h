/* Where programs that can be told to record have their sockets, PID.sock: the recorder makes them,
 * the viewer looks for them. Everyone may include this header; it owns nothing. */
#ifndef VP_BASE_LIVE_DIR_H
#define VP_BASE_LIVE_DIR_H

#include <stdbool.h>

#include "trace/base/limits.h"

/* $XDG_RUNTIME_DIR/view_profile, or /tmp/view_profile-<uid>, into out; make: makes it, for its
 * owner only. VP_ENOTFOUND: there is none; VP_EREFUSED: it is somebody else's, or others may write
 * to it; VP_EIO. */
int vp_live_dir(char out[VP_PATH_MAX], bool make);
/* The process at the other end of such a socket (0: of another pid namespace), if it is this
 * user's; else -1. */
long vp_live_peer(int fd);

#endif
