/* Annotations for a program that ships without view_profile, similar to NVTX: include this header
 * instead of view_profile_capture.h, and link nothing.
 *
 *     #include <view_profile_stub.h>                  // was: <view_profile_capture.h>
 *     VP_SCOPE("forward"); VP_STEP("train", i); …
 *
 * When the program or library is loaded, it looks for a recorder in the process. If there is none
 * and VIEW_PROFILE is set (by `view_profile record`), it loads $VIEW_PROFILE_LIBRARY, which record
 * also sets, or libview_profile_capture.so.0 from the system's library path. Without a recorder of
 * this header's layout, and in programs that run with another user's rights, all annotations do
 * nothing; a scope then costs two loads and a branch. With a recorder, its own code runs, with one
 * more indirection.
 *
 * Available are all macros except VP_CONTEXT and VP_PROFILE_SCOPE, and the functions of
 * VP__STUB_CALLS, which return 0 without a recorder. Functions that start recordings or need their
 * results require the library; calling them here is a link error. VP_DISABLE works as usual. This
 * header and the four that it includes may be copied into other projects (view_profile_capture.h,
 * …_macros.h, …_layout.h and view_profile_status.h). With a C library before 2.34: -ldl. */
#ifndef VIEW_PROFILE_STUB_H
#define VIEW_PROFILE_STUB_H

#if defined(VIEW_PROFILE_CAPTURE_H)
#error "include either view_profile_stub.h or view_profile_capture.h, this one first"
#endif
#define VP_STUB 1 /* makes view_profile_capture_macros.h include view_profile_stub_calls.h */
#include "view_profile_capture.h"

#endif
