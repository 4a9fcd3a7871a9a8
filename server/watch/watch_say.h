/* What a watch prints: a line of text, or of JSON (view_profile.watch_event/1), for each capture
 * and each change of a job's state. Files of this room include it. */
#ifndef VP_WATCH_SAY_H
#define VP_WATCH_SAY_H

#include "server/watch/watch_store.h"

/* A capture that was looked at; words are the job's, cost may be NULL. */
void watch_say_capture(const watch_options *o, const watch_job *j, const char *run,
                       const char *verdict, const char *cost);
/* The job is in this state from now on, and `error` says why (NULL: it is well again). The same is
 * said once. Sets both. */
void watch_say_state(const watch_options *o, watch_job *j, watch_status status, const char *error);

#endif
