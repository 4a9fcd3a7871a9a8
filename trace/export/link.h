/* Deep links into a Perfetto UI: address, initial view and startup commands. Links append to a
 * buffer of the caller. Facts: docs/reference/perfetto.md#links (the trace URL must be encoded as a
 * whole, or it is silently ignored) and docs/reference/perfetto.md#startup-commands. */
#ifndef VP_EXPORT_LINK_H
#define VP_EXPORT_LINK_H

#include <stdbool.h>

#include "trace/base/buf.h"

/* How much of the view a range takes that a link leads to, as the UI reads viewPercentage: this
 * much less than all of it is put around the range, half on each side. */
#define EX_VIEW_PERCENTAGE "0.4"

/* Where a link leads: [start_ns, end_ns), -1 for none; in ns of the file. */
typedef struct ex_view {
    int64_t start_ns, end_ns;
    int64_t first_ns, last_ns; /* the trace has these times, as far as is known; -1: unknown */
    bool is_event;             /* the range is that of an event: it is selected, with room around */
    bool is_json;              /* the file is Trace Event JSON, whose times may be absolute */
} ex_view;
#define EX_VIEW_ALL ((ex_view){-1, -1, -1, -1, false, false})

/* The time of what is exported for a time of the file that is viewed: all times in links go through
 * this. */
int64_t ex_link_time(const ex_view *v, int64_t file_ns);

/* Appends the deep link. trace_url is percent-encoded as a whole; NULL leaves it out (the trace is
 * handed over by postMessage then). What the UI does first are ex_startup_commands. */
int ex_perfetto_link(vp_buf *b, const char *ui, const char *trace_url, const ex_view *v);
/* The JSON array of startupCommands alone (not encoded): expands the devices, and shows the slowest
 * ops in a tab. */
int ex_startup_commands(vp_buf *b);
/* Percent-encodes everything but unreserved characters (RFC 3986 2.3). */
int ex_percent(vp_buf *b, vp_str s);

/* The query of that tab (slowest_ops.c). */
extern const char ex_slowest_ops[];

#endif
