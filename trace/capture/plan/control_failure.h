/* What went wrong with the last capture that was asked for from outside the program: the status
 * that the socket answers shows it. One in a process; may be called on any thread, with any lock
 * held. Only this room includes it. */
#ifndef VP_CAPTURE_CONTROL_FAILURE_H
#define VP_CAPTURE_CONTROL_FAILURE_H

#include "include/view_profile_capture.h"
#include "trace/base/json.h"

#define CONTROL_FAILURE_MAX 600u

/* text "": nothing went wrong; path "": it has none. */
void control_keep_failure(const char *text, const char *path);
/* A capture of p failed, or lacks the GPU; vp_error_last says why. If p is the profiler that is
 * heard, the next status says it, too. */
void control_failed(const vp_profiler *p, const char *what);
/* From now on failures of p are heard, and of no other profiler; NULL: of none. */
void control_hear(const vp_profiler *p);
/* Puts the members "last_error" and "last_error_path". */
void control_put_failure(vp_json *j);
/* In a forked child: nobody holds the lock. */
void control_forget_failure_lock(void);

#endif
