/* What is told to a recorder from outside of the program: by environment variables when it is
 * loaded (environment.h), by a signal, and by a socket while it runs (control_thread.c). One in a
 * process. It records by vp_start and vp_stop like anybody else, so that a program's own recording
 * is in nobody's way: whoever comes second is told so. Only this room includes it. */
#ifndef VP_CAPTURE_CONTROL_H
#define VP_CAPTURE_CONTROL_H

#include "include/view_profile_capture.h"
#include "trace/base/buf.h"
#include "trace/capture/control/environment.h"

/* A step of the program begins or ended, on the calling thread: captures that wait for a step's
 * number begin and end here. */
void control_step(bool begin, uint64_t number);

/* control_load.c: does what the environment asks for; when it asks for nothing, nothing. Called
 * when a library of ours is loaded; says on stderr what is wrong with it, since nobody else is
 * there to. */
void control_load(void);

/* From now on captures of steps go to p, until it is freed; NULL: steps are counted here. */
void control_set_profiler(vp_profiler *p);
/* One line of the protocol (docs/control.md), without its newline; the answer is one line of JSON:
 *   STATUS
 *   CAPTURE [steps=N | ms=N] [gpu=0|1]   without a number 5 steps, or 3 s where there are no steps
 *   PAST [seconds=N]                     decimals are taken; without it all
 *   STOP                                 ends the recording that is on, or forgets a CAPTURE */
void control_answer(vp_buf *out, vp_str line);
/* What a signal asks for: the past of the recording that is on, else a CAPTURE. */
void control_signalled(void);
/* Ends captures whose time is over. Milliseconds until the next one's is, -1: there is none. */
int control_tick(void);
/* What the environment says: control_load reads it into this, before anything else runs. */
environment *control_environment(void);
/* Begins what it asks for: the whole program is one capture, unless single steps are. */
void control_begin(void);
/* Ends the capture that is on, and waits for the files of all. */
void control_end(void);
/* In a forked child: nothing of the parent's is its own. */
void control_forget(void);

/* ---- control_thread.c ---- */

/* Starts the thread that answers, and with_socket: makes its socket. Idempotent. 0, VP_EIO… */
int control_thread_start(bool with_socket);
void control_thread_stop(void);

#endif
