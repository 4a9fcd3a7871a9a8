/* Keeps the catalog of the store up to date in one thread, so that requests are answered
 * immediately for directories of any size. Thread-safe.
 *
 * It scans at start, after inotify reported a change followed by 150 ms of quiet (watch.h), if a
 * request finds the list older than its page allows, on SIGHUP, and on POST /api/v1/rescan. A
 * directory is watched before it is read, so that no change is lost; at most 4,096 directories are
 * watched. Network file systems do not report changes by other hosts; there, only requests trigger
 * scans. Until the first scan ends, requests for a run wait up to 5 s, and lists contain
 * "indexing":true. */
#ifndef VP_ROUTES_STORE_INDEX_H
#define VP_ROUTES_STORE_INDEX_H

#include "server/routes/store/store.h"

typedef struct store_index store_index;

/* Checks that the path exists and starts the first scan. keep_ranks_apart: as in cat_options. */
int index_open(store_index **out, const char *path, const cat_copies *copies, mirror *m,
               bool keep_ranks_apart);
/* Cancels scans with VP_ECANCELLED and ends all waits. */
void index_cancel(store_index *ix);
void index_close(store_index *ix);
/* The current catalog; the caller owns the reference. */
catalog *index_catalog(store_index *ix);
/* Scans unless the last scan is younger than `age_ms`, and waits for it at most `wait_ms` (-1:
 * until it ends). Before the first scan has ended, waits for that one: with -1 a few seconds at
 * most, with a limit only in the first milliseconds after the start, because an early page is
 * better than a complete one. Returns the error of the scan if it waited until its end, else 0. */
int index_refresh(store_index *ix, int64_t age_ms, int64_t wait_ms);
/* Scans now: files that existed before the call are in the catalog afterwards. */
int index_rescan(store_index *ix, int64_t wait_ms);
/* Marks the list as outdated: the next refresh scans regardless of its age. */
void index_spoil(store_index *ix);
/* 0: the first scan is done; 1: not yet after `wait_ms` (-1: no limit); < 0: its error. */
int index_wait(store_index *ix, int64_t wait_ms);
void index_counts(store_index *ix, store_counts *out);

#endif
