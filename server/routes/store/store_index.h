/* The list of sessions that the store serves from: made and renewed by one thread, so that the
 * server answers at once however large the directory is. A change that the kernel reports, a page
 * that finds the list too old, and POST /rescan all end there. Thread-safe.
 *
 * It scans at the start, when inotify reports a change and 150 ms of quiet followed (watch.h), when
 * a request finds the list older than its page allows, on SIGHUP and POST /api/v1/rescan. A
 * directory is watched before it is read, so nothing falls between; at most 4,096 are. Network file
 * systems report nothing of what other hosts write: there the requests' own asking remains. Until
 * the first scan ends, requests for a session wait for it up to 5 s and lists say "indexing":true.
 */
#ifndef VP_ROUTES_STORE_INDEX_H
#define VP_ROUTES_STORE_INDEX_H

#include "server/routes/store/store.h"

typedef struct store_index store_index;

/* Checks that there is such a path, and starts the first scan. */
int index_open(store_index **out, const char *path, const cat_copies *copies, mirror *m);
/* From now on scans end soon with VP_ECANCELLED, and nobody waits any longer. */
void index_cancel(store_index *ix);
void index_close(store_index *ix);
/* The current catalog, a reference of the caller's. */
catalog *index_catalog(store_index *ix);
/* Scans unless the last scan is younger than `age_ms`, and waits for that scan at most `wait_ms`
 * (-1: to its end). Before the first scan has ended there is only that one to wait for: with -1 a
 * few seconds at most, with a limit only in the first milliseconds after the start, since a page is
 * better early than whole. Returns the scan's failure if it was waited for to its end, else 0. */
int index_refresh(store_index *ix, int64_t age_ms, int64_t wait_ms);
/* Scans now: what was there before the call is in the catalog after it. */
int index_rescan(store_index *ix, int64_t wait_ms);
/* The list is known to be wrong: the next refresh scans whatever its age. */
void index_spoil(store_index *ix);
/* 0: the first scan is done; 1: not yet after `wait_ms` (-1: no limit); < 0: it failed so. */
int index_wait(store_index *ix, int64_t wait_ms);
void index_counts(store_index *ix, store_counts *out);

#endif
