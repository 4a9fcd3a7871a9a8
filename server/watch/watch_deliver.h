/* `view_profile --deliver PLAN`: the child process of a watch whose --out is a URL (watch_away.h).
 * It uploads runs and their history and removes old ones, one request to view_profile-fetch each,
 * and prints one line of JSON per finished step. An internal option: not in --help. */
#ifndef VP_WATCH_WATCH_DELIVER_H
#define VP_WATCH_WATCH_DELIVER_H

#define WATCH_DELIVER "--deliver"
#define WATCH_PLAN_MAX (256u << 20) /* bytes of PLAN */

/* Executes the steps of the file `plan` in order and stops at the first that fails; reports it. */
int watch_deliver(const char *plan);

#endif
