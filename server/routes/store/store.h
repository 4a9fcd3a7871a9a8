/* The data of the site: the current catalog, and an LRU cache of reports. Everything is reference
 * counted, so a rescan or eviction does not invalidate a report in use. Blocking: only HTTP_SLOW
 * handlers call it. Thread-safe. */
#ifndef VP_ROUTES_STORE_H
#define VP_ROUTES_STORE_H

#include "include/view_profile.h"
#include "trace/analyze/analyze.h"
#include "trace/analyze/op_details.h"
#include "trace/model/catalog/catalog.h"
#include "trace/model/derived.h"

typedef struct store store;

/* Opens a store and starts the first scan of path in the background. m: the mirror if path is its
 * URL, else NULL. keep_ranks_apart: as in cat_options. VP_ENOTFOUND: no such path. */
int store_open(store **out, const char *path, const cat_copies *copies, mirror *m,
               bool keep_ranks_apart);
/* Sets the peaks of devices, as in vp_report_options. Call before the first report is requested.
 * The text is not copied. */
void store_set_peaks(store *st, const char *chip, double peak_tflops, double peak_gb_s);
void store_close(store *st); /* no report may be referenced any more */
/* Returns the current catalog; the caller owns the reference (catalog_free). Never NULL; without
 * runs during the first scan. */
catalog *store_catalog(store *st);
/* Progress of the first scan: runs found, files and directories read. */
typedef struct store_progress {
    uint64_t sessions, looked_at;
} store_progress;
/* True while the first scan runs; p may be NULL. Does not block; the loop thread may call it. */
bool store_indexing(store *st, store_progress *p);
/* Waits for the first scan at most `wait_ms` (-1: until it ends). 0: done; 1: not yet; < 0: its
 * error. */
int store_wait(store *st, int64_t wait_ms);
/* Scans again, opening only changed files, unless the last scan is younger than `age_ms`. A failed
 * scan keeps the old catalog and returns its error. Changes that the kernel reports trigger scans
 * without this call, which is needed on network file systems. */
int store_refresh(store *st, int64_t age_ms);
/* The same in the background, waiting at most `wait_ms`: pages are answered immediately and show
 * new runs unless the directory is huge. */
void store_refresh_soon(store *st, int64_t age_ms, int64_t wait_ms);
/* Scans now, regardless of the age: files that existed before the call are listed afterwards. Waits
 * at most `wait_ms` (-1: until it ends; 0: not at all). */
int store_rescan(store *st, int64_t wait_ms);
/* Figures for /metrics and /readyz. */
typedef struct store_counts {
    bool ready;                /* a scan has succeeded */
    bool indexing;             /* the first scan runs */
    uint64_t found, looked_at; /* of the running or the last scan */
    uint64_t scans;            /* that ended */
    int64_t scan_ns;           /* the last one took */
    uint64_t sessions, not_readable;
    uint64_t failures; /* analyses that failed */
    uint64_t watched;  /* directories watched for changes */
    bool watched_all;
} store_counts;
void store_count(store *st, store_counts *out);
/* Makes all analyses fail with VP_ECANCELLED, for shutdown. */
void store_cancel(store *st);

/* A report; it stays in memory until store_release(). */
typedef struct store_report store_report;
/* Parameters of a requested report. */
typedef struct store_wanted {
    vp_group group;
    vp_depth depth;
    int64_t step; /* number of a step; VP_UNKNOWN: all */
    vp_where where;
} store_wanted;
/* The client of a request. A NULL client waits without limit. */
typedef struct store_asker {
    /* Returns true if the client is gone. Any thread may call it until the function that received
     * the client returns. */
    bool (*gone)(const void *ctx);
    const void *ctx;
} store_asker;
/* Gets the report of a run, cached or computed now. Equal requests share one computation, and a
 * full report satisfies requests with less depth. VP_EBUSY: too many waiting requests;
 * VP_ECANCELLED: all clients are gone; VP_ELIMIT: timed out (turns.h). */
int store_get(store_report **out, store *st, catalog *c, const cat_session *s,
              const store_wanted *w, const store_asker *who);
/* Gets a cached report, the full one if there are two; else returns false. Never waits for a
 * computation. */
bool store_peek(store_report **out, store *st, const cat_session *s, vp_group group);
const vp_report *store_report_of(const store_report *h);
/* Gets one op of a report call by call, scheduled with the analyses; not cached. Fails as
 * store_get. */
int store_op(op_details **out, store *st, catalog *c, const cat_session *s, const vp_report *r,
             size_t op, const store_asker *who);
/* Calls `look` with the traces of the run, scheduled with the analyses. If `host` is NULL and the
 * full report is not cached, it is computed and cached; else a report of this host is computed and
 * dropped. Fails as store_get; a run with only memory snapshots has no traces. */
int store_look(store *st, catalog *c, const cat_session *s, const char *host, analyze_look_fn *look,
               void *look_ctx, const store_asker *who);
/* Gets the analysis tracks of a host (analyze_derived), made once for all clients and cached with
 * the reports. Fails as store_get, but never with VP_EBUSY. */
int store_get_tracks(store_report **out, store *st, catalog *c, const cat_session *s,
                     const cat_host *h, const store_asker *who);
const derived *store_tracks_of(const store_report *h); /* NULL: it has none */
void store_release(store_report **h);                  /* for VP_CLEANUP; sets *h to NULL */

#endif
