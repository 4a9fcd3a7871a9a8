/* Annotations of a program that ships without view_profile, as NVTX has them: this header instead
 * of view_profile_capture.h, and nothing to link.
 *
 *     #include <view_profile_stub.h>                  // was: <view_profile_capture.h>
 *     VP_SCOPE("forward"); VP_STEP("train", i); …
 *
 * When the program, or the library that is made of it, is loaded, this looks for a recorder in the
 * process. If there is none and VIEW_PROFILE is set (`view_profile record` sets it), it loads
 * $VIEW_PROFILE_LIBRARY, which that sets, too, or libview_profile_capture.so.0 from where the
 * system has its libraries. Without a recorder of this header's layout, and in programs that run
 * with another user's rights, everything here does nothing, at the cost of a load, a load and a
 * branch a scope; with one, it is the recorder's own code, with a pointer more.
 *
 * All macros but VP_CONTEXT and VP_PROFILE_SCOPE, and the functions of VP__STUB_CALLS: without a
 * recorder these return 0. What starts recordings or needs their results is linked with the
 * library; calling it here is a name that the linker misses. VP_DISABLE works as it does there.
 * This header, and the four that it includes, may be copied into other people's sources
 * (view_profile_capture.h, …_macros.h, …_layout.h and view_profile_status.h). Before version 2.34
 * of the C library: -ldl. */
#ifndef VIEW_PROFILE_STUB_H
#define VIEW_PROFILE_STUB_H

#if defined(VIEW_PROFILE_CAPTURE_H)
#error "include either view_profile_stub.h or view_profile_capture.h, this one first"
#endif
#define VP_STUB 1 /* view_profile_capture_macros.h includes view_profile_stub_calls.h */
#include "view_profile_capture.h"

#endif
