/* --out of a watch as an address: what was uploaded, and what has to be removed there. A child
 * process does the work (watch_deliver.h). */
#ifndef VP_WATCH_WATCH_AWAY_H
#define VP_WATCH_WATCH_AWAY_H

#include "server/watch/watch_store.h"

/* True if the job has local runs to upload, or any job has remote runs to delete. */
bool watch_away_is_due(const watch_job *j, const watch_jobs *all);
/* Writes the plan of the child to the file `path`, which the child removes. */
int watch_away_plan(const char *path, const watch_store *s, const watch_options *o,
                    const watch_job *j, const watch_jobs *all);
/* Processes one line of the child's output; removes a local run that was uploaded. */
int watch_away_take(const watch_store *s, watch_jobs *all, vp_str line);
/* The address of a remote run, without secrets. */
int watch_away_run(char out[VP_PATH_MAX], const watch_store *s, const char *run);

#endif
