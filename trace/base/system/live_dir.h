/* The directory of the control sockets, PID.sock, of programs that can record. The recorder creates
 * the sockets; the viewer looks for them. */
#ifndef VP_BASE_LIVE_DIR_H
#define VP_BASE_LIVE_DIR_H

#include <stdbool.h>

#include "trace/base/limits.h"

/* Writes $XDG_RUNTIME_DIR/view_profile, or /tmp/view_profile-<uid>, to out. make: creates it,
 * accessible to its owner only. VP_ENOTFOUND: does not exist; VP_EREFUSED: owned by another user or
 * accessible to others; VP_EIO; VP_EARG: XDG_RUNTIME_DIR is too long. */
int vp_live_dir(char out[VP_PATH_MAX], bool make);
/* The process id of the peer of such a socket if it belongs to this user, else -1. 0: the peer is
 * in another pid namespace. */
long vp_live_peer(int fd);

#endif
