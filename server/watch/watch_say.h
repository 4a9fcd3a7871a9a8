/* Output of watch: a line of text, or of JSON (view_profile.watch_event/1), for each capture and
 * each change of a job's state. */
#ifndef VP_WATCH_SAY_H
#define VP_WATCH_SAY_H

#include "server/watch/watch_store.h"

/* Prints a compared capture, with the job's message; cost can be NULL. */
void watch_say_capture(const watch_options *o, const watch_job *j, const char *run,
                       const char *verdict, const char *cost);
/* Sets the state of the job and its error (NULL: none), and prints a change once. */
void watch_say_state(const watch_options *o, watch_job *j, watch_status status, const char *error);

#endif
