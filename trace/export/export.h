/* Public header of export/: converts a trace into formats of other viewers. Streams use constant
 * memory; the caller closes them. Facts: docs/reference/perfetto.md#guarantees,
 * docs/reference/xprof.md#trace-json. */
#ifndef VP_EXPORT_EXPORT_H
#define VP_EXPORT_EXPORT_H

#include "trace/base/buf.h"
#include "trace/export/shared/pick.h"
#include "trace/read/bytes/byte_stream.h"

/* Every exporter has a parameter pick; NULL: all events. It must outlive the stream. */

/* A source that is read twice. */
typedef struct ex_input {
    int (*open)(void *ctx, rd_stream **out); /* opens it at the beginning */
    void *ctx;
} ex_input;

/* Repairs Trace Event JSON so that it is valid and an importer accepts every single event: drops
 * the trailing `{}` and `metadata`, copies every event byte for byte otherwise, closes a truncated
 * file. Constant memory. */
int ex_json_clean(rd_stream **out, rd_stream *in);

/* JSON for Perfetto: the same, after a first pass over the whole file, so that its events are
 * consistent (json_plan.h): times in whole ns, overlapping slices on sibling tracks, numbers for
 * ids that are none, begins for all ends, slices for all flows. At least 400 MB/s. Memory per
 * complete event: 24 bytes during the first pass and 4 afterwards; per begin or end: 90 and 16; 16
 * more per changed event (json_plan.h). Events that are refused, end nothing or have no slice are
 * counted in a member "view_profile_missing" after the events. VP_ECORRUPT if the input is damaged
 * and has no event. The input is used only during the call. */
int ex_json_whole(rd_stream **out, const ex_input *in, ex_pick *pick);

/* The same events as a .pftrace, Perfetto's own format: typed arguments, and times below 1 ns as
 * arguments. The input is read twice before this returns; contents of events are stored in a spool
 * (VP_SPOOL_MEMORY_MAX, then a file). Other memory: 40 bytes per event after both passes, 16 more
 * per changed event; during the first pass as above. Events that are refused, have no equivalent,
 * end nothing or have no slice are counted by a track without events, "view_profile_missing". */
int ex_pftrace_from_json(rd_stream **out, const ex_input *in, ex_pick *pick);

/* What the repair has dropped and changed so far; every change is counted. */
typedef struct ex_clean_counts {
    uint64_t events;  /* written */
    uint64_t empty;   /* `{}`: dropped */
    uint64_t refused; /* invalid JSON, no event, no usable ts or dur, or above VP_JSON_EVENT_MAX:
                         dropped */
    uint64_t
        keys; /* top-level values that are invalid or too large, or have too large keys: dropped */
    uint64_t strings, numbers, commas; /* repaired escapes, scalars and commas in the output */
} ex_clean_counts;
/* s must be made by ex_json_clean. */
void ex_json_clean_counts(const rd_stream *s, ex_clean_counts *out);

/* The same JSON from an XSpace: the events that jaxlib writes for this file
 * (docs/reference/xprof.md#trace-json: pid 701 or 1+plane id, tid the low 32 bits) and those that
 * it leaves out, without a limit. Start and end are rounded to ns, ts/dur are in µs with at most 3
 * decimals. Events that no track of their thread can hold are on siblings "NAME (2)", …, and spans
 * in flight are async events (`b`, `e`). */
int ex_json_from_xspace(rd_stream **out, rd_source *in, ex_pick *pick);
/* The same as a .pftrace, Perfetto's own format: times in ns with the remainder as arguments,
 * tracks with parents, typed arguments. Takes ownership of the source, also on failure. */
int ex_pftrace_from_xspace(rd_stream **out, rd_source *in, ex_pick *pick);
/* JSON from an unfinished recording. Takes ownership of the source, also on failure. */
int ex_json_from_vpcap(rd_stream **out, rd_source *in, ex_pick *pick);
int ex_pftrace_from_vpcap(rd_stream **out, rd_source *in, ex_pick *pick);

#endif
