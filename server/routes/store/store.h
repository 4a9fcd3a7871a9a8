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

/* Starts to scan path, in the background; m is the mirror that it is the address of, or NULL.
 * keep_ranks_apart: as in cat_options. VP_ENOTFOUND when there is no such path. */
int store_open(store **out, const char *path, const cat_copies *copies, mirror *m,
               bool keep_ranks_apart);
/* What devices can do, as in vp_report_options; before the first report is asked for. The text is
 * not copied. */
void store_set_peaks(store *st, const char *chip, double peak_tflops, double peak_gb_s);
void store_close(store *st); /* no report may be held any more */
/* The current catalog, a reference of the caller's (catalog_free). Never NULL; without sessions
 * while the first scan runs. */
catalog *store_catalog(store *st);
/* How far the first scan is: sessions found so far, files and directories looked at. */
typedef struct store_progress {
    uint64_t sessions, looked_at;
} store_progress;
/* True while the first scan runs; p may be NULL. Does not wait: the loop thread may ask. */
bool store_indexing(store *st, store_progress *p);
/* Waits for the first scan at most `wait_ms` (-1: to its end). 0: done; 1: not yet; < 0: why it
 * failed. */
int store_wait(store *st, int64_t wait_ms);
/* Scans again, opening only what changed, unless the last scan is younger than `age_ms`. A failed
 * scan leaves the old catalog and returns its code. Changes that the kernel reports are scanned for
 * without asking; this is for those that it does not (network file systems). */
int store_refresh(store *st, int64_t age_ms);
/* The same in the background, waiting at most `wait_ms` for it: a page answers at once, and shows
 * what is new unless the directory is huge. */
void store_refresh_soon(store *st, int64_t age_ms, int64_t wait_ms);
/* Scans now, whatever the age: what was there before the call is listed after it. Waits at most
 * `wait_ms` (-1: to the end; 0: not at all). */
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
    uint64_t watched;  /* directories whose changes are noticed */
    bool watched_all;
} store_counts;
void store_count(store *st, store_counts *out);
/* From now on analyses stop with VP_ECANCELLED (the server goes down). */
void store_cancel(store *st);

/* A report; it is held in memory until store_release(). */
typedef struct store_report store_report;
/* What a report is asked for. */
typedef struct store_wanted {
    vp_group group;
    vp_depth depth;
    int64_t step; /* the one of that number; VP_UNKNOWN: all */
    vp_where where;
} store_wanted;
/* Who asks. Where one is wanted, NULL stands for somebody who always waits. */
typedef struct store_asker {
    /* Whether nobody waits there any more. Any thread may call it until the function that got it
     * returns. */
    bool (*gone)(const void *ctx);
    const void *ctx;
} store_asker;
/* The report of a session, cached or computed now; equal questions wait for one computation, and a
 * full report is good for whoever asks for less. VP_EBUSY: too many wait already; VP_ECANCELLED:
 * nobody waits any more; VP_ELIMIT: it took longer than profiles take (turns.h). */
int store_get(store_report **out, store *st, catalog *c, const cat_session *s,
              const store_wanted *w, const store_asker *who);
/* The report if it is there already, the full one if there are two; false otherwise. Never waits
 * for a computation. */
bool store_peek(store_report **out, store *st, const cat_session *s, vp_group group);
const vp_report *store_report_of(const store_report *h);
/* One op of a report call by call, in turn with the analyses; not kept. Fails as store_get. */
int store_op(op_details **out, store *st, catalog *c, const cat_session *s, const vp_report *r,
             size_t op, const store_asker *who);
/* Lets somebody look at the session's traces, in turn with the analyses: while its full report is
 * made and kept, if that is not there and `host` is NULL; else while one is made of this host that
 * nobody gets. Fails as store_get; a session of memory snapshots alone has no traces. */
int store_look(store *st, catalog *c, const cat_session *s, const char *host, analyze_look_fn *look,
               void *look_ctx, const store_asker *who);
/* The tracks that a host's file lacks (analyze_derived), made once for all who ask, and kept among
 * the reports. Fails as store_get, but is never VP_EBUSY. */
int store_get_tracks(store_report **out, store *st, catalog *c, const cat_session *s,
                     const cat_host *h, const store_asker *who);
const derived *store_tracks_of(const store_report *h); /* NULL: it has none */
void store_release(store_report **h);                  /* for VP_CLEANUP; sets *h to NULL */

#endif
