/* `view_profile-live deliver PLAN`: a child of a watch whose --out is an address (watch_away.h). It
 * writes runs and their history there and removes old ones, each a question to the fetcher, and
 * says what it did by a line of JSON each. */
#ifndef VP_WATCH_WATCH_DELIVER_H
#define VP_WATCH_WATCH_DELIVER_H

#define WATCH_PROGRAM "view_profile-live"
#define WATCH_DELIVER "deliver"
#define WATCH_PLAN_MAX (256u << 20) /* bytes of PLAN */

/* Does what the file says, until something fails, which is said. */
int watch_deliver(const char *plan);

#endif
