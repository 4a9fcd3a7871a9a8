/* Writes Perfetto's trace format: track and event packets
 * (docs/reference/perfetto.md#pftrace-rules). A writer appends to a buffer of its owner. One
 * sequence of packets has the events of one or more tracks in order of time, with delta-encoded
 * times and interned names. The owner of the names tracks which of them the current sequence has
 * interned. */
#ifndef VP_EXPORT_PFTRACE_PFT_WRITER_H
#define VP_EXPORT_PFTRACE_PFT_WRITER_H

#include <stdbool.h>

#include "trace/base/buf.h"
#include "trace/export/pftrace/pft_host.h"

typedef struct pft_writer {
    vp_buf *out;
    const pft_host *host;   /* NULL: single host */
    vp_buf event, interned; /* of the current packet */
    uint32_t sequence;      /* 0: none has begun */
    uint64_t track;         /* default track of its events */
    int64_t clock_ns;       /* time of its last event; for a sequence with a table its start */
    bool table;             /* the current sequence is that of a table */
    char place[16];         /* its id and flags, as in each of its packets */
    size_t place_n;
} pft_writer;

/* pick: as passed to the exporter, may be NULL; it has the host of several. */
void pft_init(pft_writer *w, vp_buf *out, const ex_pick *pick);
void pft_free(pft_writer *w);

/* Writes the start of a trace: its clock is boot time, to which the clocks of sequences refer. Only
 * the first of several hosts writes it. */
int pft_begin_trace(pft_writer *w) __attribute__((cold));

typedef enum pft_track_kind { PFT_PROCESS, PFT_THREAD, PFT_PLAIN, PFT_COUNTER } pft_track_kind;

/* A track descriptor. uuid: 0 is none; parent: 0 is the top level. name may be empty. */
typedef struct pft_track {
    uint64_t uuid, parent;
    vp_str name;
    vp_str description; /* may be empty */
    vp_str label;       /* shown next to the name of a process; may be empty */
    pft_track_kind kind;
    uint32_t pid, tid; /* of a process or thread; otherwise unused */
    int32_t rank;      /* rank among its siblings */
    bool ordered;      /* children are sorted by rank */
    bool apart;        /* siblings with its name are separate tracks */
    bool bytes;        /* a counter's unit */
} pft_track;

/* Track descriptors precede their events and belong to no sequence. */
int pft_put_track(pft_writer *w, const pft_track *t) __attribute__((cold));

/* Begins a sequence: without interned names, and with its clock at start_ns. Most of its events are
 * on `track`. */
int pft_begin_sequence(pft_writer *w, uint64_t track, int64_t start_ns) __attribute__((cold));
/* Begins a sequence whose names are all written before its events (pft_tell, pft_put_names), and
 * whose times, none before start_ns, may be in any order; for many consecutive tracks. */
int pft_begin_table(pft_writer *w, int64_t start_ns);
/* Writes interned names without an event. */
int pft_put_names(pft_writer *w);

/* An event: one of these, then its content, then pft_put_event. Times of a sequence never decrease.
 */
void pft_slice_begin(pft_writer *w, uint64_t track);
void pft_instant(pft_writer *w, uint64_t track);
void pft_counter(pft_writer *w, uint64_t track, int64_t value);
void pft_counter_double(pft_writer *w, uint64_t track, uint64_t bits);
/* An end with content. */
void pft_slice_close(pft_writer *w, uint64_t track);
/* A flow point, which is no slice: pft_flow_point. */
void pft_point(pft_writer *w, uint64_t track);
int pft_put_event(pft_writer *w, int64_t at_ns);
int pft_slice_end(pft_writer *w, uint64_t track, int64_t at_ns);

/* The name of the current event: interned, or inline. */
void pft_event_name(pft_writer *w, uint64_t name);
void pft_event_text(pft_writer *w, vp_str name);
/* Its category, likewise. */
void pft_category(pft_writer *w, uint64_t category);
void pft_category_text(pft_writer *w, vp_str category);
/* Arguments of the current event, by the id of their name. */
void pft_arg_int(pft_writer *w, uint64_t name, int64_t v);
void pft_arg_uint(pft_writer *w, uint64_t name, uint64_t v);
void pft_arg_double(pft_writer *w, uint64_t name, uint64_t bits);
void pft_arg_text(pft_writer *w, uint64_t name, vp_str text);
void pft_arg_known(pft_writer *w, uint64_t name, uint64_t text);
void pft_arg_bool(pft_writer *w, uint64_t name, bool v);
/* An object or array as JSON; the importer makes arguments of its members. */
void pft_arg_json(pft_writer *w, uint64_t name, vp_str json);
/* Slices of one flow are joined by arrows in the order of time. */
void pft_flow(pft_writer *w, uint64_t flow);

/* Flows as in Trace Event JSON, which pft_flow cannot express: an arrow starts and ends at times
 * within slices, or ends at the next slice. */
typedef enum pft_way { PFT_IN = 1, PFT_OUT = 2, PFT_BOTH = 3 } pft_way;
/* Flow of the slice that begins. */
void pft_flow_bound(pft_writer *w, uint64_t flow, pft_way way);
/* phase: s, t or f; it belongs to the enclosing slice, for an f only if `enclosing`. */
void pft_flow_point(pft_writer *w, char phase, uint64_t flow, bool enclosing);

/* Interned names, written with the current event; ids start at 1 for each kind. */
typedef enum pft_name_kind {
    PFT_CATEGORY = 1,
    PFT_EVENT_NAME = 2,
    PFT_ARG_NAME = 3,
    PFT_ARG_TEXT = 29
} pft_name_kind;
void pft_tell(pft_writer *w, pft_name_kind kind, uint64_t number, vp_str text);

#endif
