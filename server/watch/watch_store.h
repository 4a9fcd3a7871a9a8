/* The output directory of a watch: its lock, the ring of runs, the histories, the state file. If
 * --out is an address, it is a private directory from which runs and histories are uploaded. Only
 * runs that the watch wrote are removed. */
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
    source_address at;     /* address to which runs and histories are uploaded; url NULL: none */
    int dir, inner;        /* out, out/.view_profile-watch */
    int lock;
    bool single; /* one target: one history */
} watch_store;

/* Creates the directories and takes the lock. VP_EBUSY: another watch uses them. */
int watch_store_open(watch_store *s, const watch_options *o);
void watch_store_close(watch_store *s);

/* plugins/profile/RUN, relative to `dir`. The parents may not exist: a failed capture removes empty
 * directories. */
void watch_run_path(char out[VP_PATH_MAX], const char *run);
/* out/.view_profile-watch/NAME.SUFFIX, as a path for child processes. */
int watch_inner_path(const watch_store *s, char out[VP_PATH_MAX], const char *name,
                     const char *suffix);
bool watch_inner_has(const watch_store *s, const char *name, const char *suffix);
void watch_inner_remove(const watch_store *s, const char *name, const char *suffix);
/* Reads such a file of at most `max` bytes. */
int watch_inner_read(const watch_store *s, vp_buf *b, const char *name, const char *suffix);

/* ---- The ring (watch_ring.c) ---- */

/* Adds a run to the ring of the watch. VP_ENOTFOUND: it does not exist. */
int watch_ring_add(const watch_store *s, watch_job *j, const char *run);
/* Removes the oldest runs beyond `keep`, except the baseline. Uploaded runs are only marked as
 * doomed (watch_away.h). */
int watch_ring_trim(const watch_store *s, watch_job *j, int64_t keep);
/* Removes the local directory of a run, unless another directory has its name. */
int watch_ring_leave(const watch_store *s, const watch_kept *k);
bool watch_ring_is_here(const watch_store *s, const char *run);
/* Completes an interrupted removal. */
void watch_ring_sweep(const watch_store *s);

/* ---- Histories (watch_history.c) ---- */

/* "history.jsonl" or "history-NAME.jsonl". */
void watch_history_name(const watch_store *s, const watch_job *j, char out[VP_PATH_MAX]);
/* Appends one line, complete or not at all, and syncs it to disk. */
int watch_history_append(const watch_store *s, const watch_job *j, vp_str line);

/* ---- The state file (watch_state.c) ---- */

/* A path, or an address without secrets. */
void watch_shown(char shown[VP_PATH_MAX], const char *named);
/* pid 0: it has ended. */
int watch_state_write(const watch_store *s, const watch_options *o, const watch_jobs *l,
                      int64_t pid);
/* Loads the state of an earlier watch. A damaged file is reported and treated as missing; the runs
 * in it then no longer belong to a watch. */
int watch_state_read(const watch_store *s, const watch_options *o, watch_jobs *l);

#endif
