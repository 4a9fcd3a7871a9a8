/* What the site knows: the current catalog, and the reports that were asked for, most recently
 * used first. Everything is reference counted, so a rescan or an eviction never pulls a report
 * from under a page. Blocking: only HTTP_SLOW handlers call it. Thread-safe. Included by routes
 * and api. */
#ifndef VP_ROUTES_STORE_H
#define VP_ROUTES_STORE_H

#include "include/view_profile.h"
#include "trace/model/catalog.h"

typedef struct store store;

/* Scans path. VP_ENOTFOUND when there is no such path. */
int store_open(store **out, const char *path);
void store_close(store *st); /* no report may be held any more */
/* The current catalog, a reference of the caller's (catalog_free). Never NULL. */
catalog *store_catalog(store *st);
/* Scans again, opening only what changed, unless the last scan is younger than `age_ms`. A failed
 * scan leaves the old catalog and returns its code. */
int store_refresh(store *st, int64_t age_ms);
/* The same in the background, waiting at most `wait_ms` for it: a page answers at once, and shows
 * what is new unless the directory is huge. */
void store_refresh_soon(store *st, int64_t age_ms, int64_t wait_ms);
/* From now on analyses stop with VP_ECANCELLED (the server goes down). */
void store_cancel(store *st);

/* A report that is held in memory until store_release(). */
typedef struct store_report store_report;
/* The report of a session by one grouping, cached or computed now; equal requests wait for one
 * computation, and a full report is good for whoever asks for less. VP_EBUSY: too many wait
 * already. */
int store_get(store_report **out, store *st, catalog *c, const cat_session *s, vp_group group,
              vp_depth depth);
/* The report if it is there already, the full one if there are two; false otherwise. Never waits
 * for a computation. */
bool store_peek(store_report **out, store *st, const cat_session *s, vp_group group);
const vp_report *store_report_of(const store_report *h);
void store_release(store_report **h); /* for VP_CLEANUP; sets *h to NULL */

#endif
