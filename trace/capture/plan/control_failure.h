/* The failure of the last capture that was requested from outside the program, for the socket's
 * status response. One per process; thread-safe, may be called with any lock held. Private to this
 * module. */
#ifndef VP_CAPTURE_CONTROL_FAILURE_H
#define VP_CAPTURE_CONTROL_FAILURE_H

#include "include/view_profile_capture.h"
#include "trace/base/json.h"

#define CONTROL_FAILURE_MAX 600u

/* text "": no failure; path "": none. */
void control_keep_failure(const char *text, const char *path);
/* Stores that a capture of p failed, or lacks the GPU; vp_error_last has the reason. Ignored unless
 * p is the observed profiler. */
void control_failed(const vp_profiler *p, const char *what);
/* Observes failures of p, and of no other profiler; NULL: of none. */
void control_hear(const vp_profiler *p);
/* Writes the members "last_error" and "last_error_path". */
void control_put_failure(vp_json *j);
/* In a forked child: resets the lock. */
void control_forget_failure_lock(void);

#endif
