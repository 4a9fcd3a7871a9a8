/* What a recorder is told from outside the program: by environment variables when it is loaded
 * (environment.h), by a signal, and by a socket while it runs (control_thread.c). One in a process.
 * It records by vp_start and vp_stop like anybody else, so it is in nobody's way: whoever comes
 * second is told that somebody records already. Only this room includes it. */
#ifndef VP_CAPTURE_CONTROL_H
#define VP_CAPTURE_CONTROL_H

#include "include/view_profile_capture.h"
#include "trace/base/buf.h"
#include "trace/capture/control/environment.h"

/* To be called when a step of the program begins or has ended, on its thread: captures that wait
 * for a step's number begin and end here. */
void control_step(bool begin, uint64_t number);

/* Does what the environment asks for, if anything (control_load.c). Called when a library of ours
 * is loaded. Says on stderr what is wrong, since there is nobody else to tell. */
void control_load(void);

/* From now on p captures steps, until it is freed; NULL: steps are counted here. */
void control_set_profiler(vp_profiler *p);
/* One line of the protocol (docs/control.md), without its newline; the answer is one line of JSON:
 *   STATUS
 *   CAPTURE [steps=N | ms=N] [gpu=0|1]   without a number 5 steps, or 3 s where there are no steps
 *   PAST [seconds=N]                     decimals are taken; without it all
 *   STOP                                 ends the recording that is on, or forgets a CAPTURE */
void control_answer(vp_buf *out, vp_str line);
/* What a signal asks for: the past of the recording that is on; if none is on, a CAPTURE. */
void control_signalled(void);
/* Ends captures whose time is over. Returns the milliseconds until the next one's is; -1: there is
 * none. */
int control_tick(void);
/* What the environment says; control_load fills it in before anything else runs. */
environment *control_environment(void);
/* Begins what the environment asks for: the whole program is one capture, unless steps are named.
 */
void control_begin(void);
/* Ends the capture that is on, and waits for the files of all captures. */
void control_end(void);
/* In a forked child: forgets the captures, which are the parent's. */
void control_forget(void);

/* ---- control_thread.c ---- */

/* Starts the thread that answers; with_socket: makes its socket, too. It may be called again. 0,
 * VP_EIO… */
int control_thread_start(bool with_socket);
void control_thread_stop(void);

#endif
