/* Where --out of a watch is an address: what a round has delivered there, and what is to be removed
 * there. Files of this room include it. The work is a child's (watch_deliver.h). */
#ifndef VP_WATCH_WATCH_AWAY_H
#define VP_WATCH_WATCH_AWAY_H

#include "server/watch/watch_store.h"

/* Whether a run of the job lies here, or one of any job is to be removed there. */
bool watch_away_is_due(const watch_job *j, const watch_jobs *all);
/* Writes down what the child is to do, into the file `path`, which the child removes. */
int watch_away_plan(const char *path, const watch_store *s, const watch_options *o,
                    const watch_job *j, const watch_jobs *all);
/* Takes a line of what it did: a run that arrived is removed here. */
int watch_away_take(const watch_store *s, watch_jobs *all, vp_str line);
/* The address of a run there, as it may be shown. */
int watch_away_run(char out[VP_PATH_MAX], const watch_store *s, const char *run);

#endif
