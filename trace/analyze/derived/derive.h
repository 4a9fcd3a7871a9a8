/* Builds the tracks that a host's trace lacks (model/derived.h) from its analysis: steps, module
 * runs, framework scopes, source lines, parts of device time, causes of idle time, and the slowest
 * calls. Slices are the intervals whose sums the report contains, so lengths add up to its values.
 * The caller owns the tracks. */
#ifndef VP_ANALYZE_DERIVE_H
#define VP_ANALYZE_DERIVE_H

#include "trace/analyze/idle/idle.h"
#include "trace/model/derived.h"

/* Filled while a host is analyzed; zeroed before, except `out`. */
typedef struct derive_task {
    derived *out;
    struct derive_idle *idle; /* of all devices, in the order of the callbacks */
    size_t idle_count, idle_cap;
} derive_task;

/* The host_watch of a full analysis (ctx: a derive_task): collects idle time, and then makes the
 * tracks. */
int derive_idle_piece(void *ctx, const analysis *a, uint32_t device, const idle_gap *g,
                      const idle_piece *p);
int derive_host(void *ctx, const analysis *a);
void derive_task_end(derive_task *t);

/* Adds a group with those findings of a report that have a time on this host. */
int derive_findings(derived *d, const vp_report *r, const char *host);

/* derive_places.c: where device ops were launched; nothing if trace/links found no launch. */
int derive_places(derived *d, const trace *t);

/* ---- For one device, in derive.c. Empty tracks are not added. ---- */

typedef struct derive_device {
    derived *out;
    const analysis *a;
    uint32_t device;
} derive_device;

/* derive_runs.c: one track per stream and kind of neighbors that belong together. */
int derive_modules(const derive_device *x);
int derive_scopes(const derive_device *x);
int derive_sources(const derive_device *x);
/* derive_parts.c: the four parts of the window. */
int derive_parts(const derive_device *x);

#endif
