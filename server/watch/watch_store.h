/* The directory that a watch keeps: its lock, the ring of runs, the histories, the state file.
 * Where --out is an address, it is one of our own, from which runs and histories are delivered.
 * Files of this room include it. Nothing is removed that the watch did not make itself. */
#ifndef VP_WATCH_STORE_H
#define VP_WATCH_STORE_H

#include "server/watch/watch_job.h"
#include "trace/base/buf.h"
#include "trace/base/limits.h"
#include "trace/source/address.h"

#define WATCH_STATE ".view_profile-watch.json"
#define WATCH_INNER ".view_profile-watch"

typedef struct watch_store {
    char out[VP_PATH_MAX]; /* absolute */
    source_address at;     /* where runs and histories go from there; url NULL: they stay */
    int dir, inner;        /* out, out/.view_profile-watch */
    int lock;
    bool single; /* one target: one history */
} watch_store;

/* Makes the directories and takes the lock. VP_EBUSY: another watch runs there. */
int watch_store_open(watch_store *s, const watch_options *o);
void watch_store_close(watch_store *s);

/* plugins/profile/RUN, from `dir`. Those above it come and go: a capture that brought nothing
 * leaves no empty directory behind. */
void watch_run_path(char out[VP_PATH_MAX], const char *run);
/* out/.view_profile-watch/NAME.SUFFIX; a path for children. */
int watch_inner_path(const watch_store *s, char out[VP_PATH_MAX], const char *name,
                     const char *suffix);
bool watch_inner_has(const watch_store *s, const char *name, const char *suffix);
void watch_inner_remove(const watch_store *s, const char *name, const char *suffix);
/* Reads such a file of at most `max` bytes. */
int watch_inner_read(const watch_store *s, vp_buf *b, const char *name, const char *suffix);

/* ---- The ring (watch_ring.c) ---- */

/* Notes the run as the watch's own. VP_ENOTFOUND: it is not there. */
int watch_ring_add(const watch_store *s, watch_job *j, const char *run);
/* Removes the oldest runs beyond `keep`, but not the baseline. What lies at an address is doomed
 * only: watch_away.h. */
int watch_ring_trim(const watch_store *s, watch_job *j, int64_t keep);
/* Removes what lies here of a run that is noted; what has its name by now stays. */
int watch_ring_leave(const watch_store *s, const watch_kept *k);
bool watch_ring_is_here(const watch_store *s, const char *run);
/* Removes what an interrupted removal left. */
void watch_ring_sweep(const watch_store *s);

/* ---- Histories (watch_history.c) ---- */

/* "history.jsonl" or "history-NAME.jsonl". */
void watch_history_name(const watch_store *s, const watch_job *j, char out[VP_PATH_MAX]);
/* Appends one line, whole or not at all, and waits until it is on the disk. */
int watch_history_append(const watch_store *s, const watch_job *j, vp_str line);

/* ---- The state file (watch_state.c) ---- */

/* A path, or an address as others may read it. */
void watch_shown(char shown[VP_PATH_MAX], const char *named);
/* pid 0: it has ended. */
int watch_state_write(const watch_store *s, const watch_options *o, const watch_jobs *l,
                      int64_t pid);
/* What an earlier watch knew there; a file that is damaged or none is said, and is as none: what
 * runs it named are then nobody's. */
int watch_state_read(const watch_store *s, const watch_options *o, watch_jobs *l);

#endif
