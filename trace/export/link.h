/* Deep links into a Perfetto UI: address, initial view and startup commands. Links append to a
 * buffer of the caller. Facts: docs/reference/perfetto.md#links (the trace URL must be encoded as a
 * whole, or it is silently ignored) and docs/reference/perfetto.md#startup-commands. */
#ifndef VP_EXPORT_LINK_H
#define VP_EXPORT_LINK_H

#include <stdbool.h>

#include "trace/base/buf.h"

/* Share of the view that a linked range takes, for the UI's viewPercentage: the margin is split
 * between both sides. */
#define EX_VIEW_PERCENTAGE "0.4"

/* Target of a link: [start_ns, end_ns), -1 for none; in ns of the file. */
typedef struct ex_view {
    int64_t start_ns, end_ns;
    int64_t first_ns, last_ns; /* range of the trace, if known; -1: unknown */
    bool is_event;             /* the range is that of an event, which is selected, with a margin */
    bool is_json;              /* the file is Trace Event JSON, whose times may be absolute */
} ex_view;
#define EX_VIEW_ALL ((ex_view){-1, -1, -1, -1, false, false})

/* Converts a time of the viewed file to a time of its export; all times in links are converted by
 * this. */
int64_t ex_link_time(const ex_view *v, int64_t file_ns);

/* Appends the deep link. trace_url is percent-encoded as a whole; NULL: omitted (the trace is then
 * sent by postMessage). The link includes ex_startup_commands. */
int ex_perfetto_link(vp_buf *b, const char *ui, const char *trace_url, const ex_view *v);
/* Only the JSON array of startupCommands (not encoded): expands the devices, and opens a tab with
 * the slowest ops. */
int ex_startup_commands(vp_buf *b);
/* Percent-encodes all characters except unreserved ones (RFC 3986 2.3). */
int ex_percent(vp_buf *b, vp_str s);

/* The query of that tab (slowest_ops.c). */
extern const char ex_slowest_ops[];

#endif
