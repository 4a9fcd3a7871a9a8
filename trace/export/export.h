/* Public header of export/: converts a trace into formats of other viewers. Streams use constant
 * memory; the caller closes them. Facts: docs/reference/perfetto.md#guarantees,
 * docs/reference/xprof.md#trace-json. */
#ifndef VP_EXPORT_EXPORT_H
#define VP_EXPORT_EXPORT_H

#include "trace/base/buf.h"
#include "trace/export/shared/pick.h"
#include "trace/read/bytes/byte_stream.h"

/* Every exporter takes a pick, which may be NULL: all events. It lives as long as the stream. */

/* What is read twice. */
typedef struct ex_input {
    int (*open)(void *ctx, rd_stream **out); /* from the beginning */
    void *ctx;
} ex_input;

/* Trace Event JSON that is JSON, and whose every event an importer takes by itself: drops the
 * trailing `{}` and `metadata`, keeps every event otherwise byte for byte, closes a cut-off file.
 * Constant memory. */
int ex_json_clean(rd_stream **out, rd_stream *in);

/* Perfetto-ready JSON: the same, after the whole file was looked at once, so that its events fit
 * one another (json_plan.h): ends on whole ns, overlapping slices on sibling tracks, numbers for
 * ids that are none, ends with their begins, flows with their slices. At least 400 MB/s. Memory: 24
 * bytes of a complete event while the file is looked at and 4 then, 90 of half a pair and 16 then,
 * 16 more of what is changed (json_plan.h). What is refused, ends nothing or has no slice to belong
 * to is counted in a member "view_profile_missing" behind the events. VP_ECORRUPT where the input
 * is damaged and has not one event. The input is used during the call only. */
int ex_json_whole(rd_stream **out, const ex_input *in, ex_pick *pick);

/* The same events as a .pftrace, Perfetto's own format: arguments with their types, what is finer
 * than a ns as arguments. The input is read twice before this returns; what events say waits in a
 * spool (VP_SPOOL_MEMORY_MAX, then a file). Memory beside it: 40 bytes an event once both passes
 * are over, 16 more of what is changed; while the file is looked at as above. What is refused, has
 * no form there, ends nothing or has no slice to belong to is counted by a track without events,
 * "view_profile_missing". */
int ex_pftrace_from_json(rd_stream **out, const ex_input *in, ex_pick *pick);

/* What the clean-up dropped and repaired so far; it never does so in silence. */
typedef struct ex_clean_counts {
    uint64_t events; /* written */
    uint64_t empty;  /* `{}`: dropped */
    uint64_t
        refused; /* not JSON, no event, no usable ts or dur, above VP_JSON_EVENT_MAX: dropped */
    uint64_t
        keys; /* top-level values that are no JSON, or as large as that or their keys: dropped */
    uint64_t strings, numbers, commas; /* escapes, scalars, commas repaired in what was written */
} ex_clean_counts;
/* s was made by ex_json_clean. */
void ex_json_clean_counts(const rd_stream *s, ex_clean_counts *out);

/* The same JSON made from an XSpace: jaxlib's for the same file
 * (docs/reference/xprof.md#trace-json: pid 701 or 1+plane id, tid the low 32 bits) and what jaxlib
 * leaves out, with nothing capped. Start and end are rounded to ns, ts/dur are in µs with 3
 * decimals at most. Events that no track of their thread can take lie on siblings "NAME (2)", …,
 * and spans in flight are async events (`b`, `e`). */
int ex_json_from_xspace(rd_stream **out, rd_source *in, ex_pick *pick);
/* The same as a .pftrace, Perfetto's own format: exact ns with what is finer as arguments, tracks
 * with parents, arguments with their types. Takes the source, also on failure. */
int ex_pftrace_from_xspace(rd_stream **out, rd_source *in, ex_pick *pick);
/* The JSON from a recording that nobody finished. Takes the source, also on failure. */
int ex_json_from_vpcap(rd_stream **out, rd_source *in, ex_pick *pick);
int ex_pftrace_from_vpcap(rd_stream **out, rd_source *in, ex_pick *pick);

#endif
