/* Control of the recorder from outside the program: by environment variables when it is loaded
 * (environment.h), by a signal, and by a socket while it runs (control_thread.c). One per process.
 * It uses vp_start and vp_stop like any other caller, so a second caller gets an error that a
 * recording is active. Private to this module. */
#ifndef VP_CAPTURE_CONTROL_H
#define VP_CAPTURE_CONTROL_H

#include "include/view_profile_capture.h"
#include "trace/base/buf.h"
#include "trace/capture/control/environment.h"

/* Call on a step's thread when the step begins or has ended. Captures that wait for a step number
 * begin and end here. */
void control_step(bool begin, uint64_t number);

/* Starts what the environment variables request (control_load.c). Called when one of our libraries
 * is loaded. Errors go to stderr, because there is no caller. */
void control_load(void);

/* From now on p captures steps, until it is freed. NULL: control counts steps itself. */
void control_set_profiler(vp_profiler *p);
/* Handles one line of the protocol (docs/control.md), without its newline. The response is one line
 * of JSON.
 *   STATUS
 *   CAPTURE [steps=N | ms=N] [gpu=0|1]   default: 5 steps, or 3 s if there are no steps
 *   PAST [seconds=N]                     decimals are allowed; default: all
 *   STOP                                 ends the active recording, or cancels a CAPTURE */
void control_answer(vp_buf *out, vp_str line);
/* Handles the signal: writes the past of the active recording; without one, starts a CAPTURE. */
void control_signalled(void);
/* Ends captures whose time is over. Returns the ms until the next one's end; -1: none. */
int control_tick(void);
/* Settings from the environment; control_load sets them before anything else runs. */
environment *control_environment(void);
/* Begins what the environment requests: a capture of the whole program, unless steps are given. */
void control_begin(void);
/* Ends the active capture, and waits for the files of all captures. */
void control_end(void);
/* In a forked child: drops the captures, which belong to the parent. */
void control_forget(void);

/* ---- control_thread.c ---- */

/* Starts the thread that handles requests; with_socket: creates its socket, too. May be called
 * again. 0, VP_EIO… */
int control_thread_start(bool with_socket);
void control_thread_stop(void);

#endif
