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
    const pft_host *host;   /* NULL: the only one */
    vp_buf event, interned; /* of the packet at hand */
    uint32_t sequence;      /* 0: none has begun */
    uint64_t track;         /* its events' own, unless they name another */
    int64_t clock_ns;       /* of its last event; of a table's sequence its start */
    bool table;             /* the sequence at hand is that of a table */
    char place[16];         /* its number and flags, as each of its packets has them */
    size_t place_n;
} pft_writer;

/* pick: the exporter's, which may be NULL; it says which host of several this is. */
void pft_init(pft_writer *w, vp_buf *out, const ex_pick *pick);
void pft_free(pft_writer *w);

/* What a trace begins with, before anything is known of it: that its clock is the one since boot,
 * which sequences tie theirs to. Of several hosts only the first says so. */
int pft_begin_trace(pft_writer *w) __attribute__((cold));

typedef enum pft_track_kind { PFT_PROCESS, PFT_THREAD, PFT_PLAIN, PFT_COUNTER } pft_track_kind;

/* A track. uuid: 0 is none; parent: 0 stands at the top. name may be empty. */
typedef struct pft_track {
    uint64_t uuid, parent;
    vp_str name;
    vp_str description; /* may be empty */
    vp_str label;       /* of a process, shown beside its name; may be empty */
    pft_track_kind kind;
    uint32_t pid, tid; /* of a process or thread; of others unused */
    int32_t rank;      /* among its siblings */
    bool ordered;      /* its children stand by their rank */
    bool apart;        /* siblings of its name are other tracks, not parts of one */
    bool bytes;        /* a counter's unit */
} pft_track;

/* Tracks are told before their events, outside of any sequence. */
int pft_put_track(pft_writer *w, const pft_track *t) __attribute__((cold));

/* Begins a sequence: no name is known in it, and its clock stands at start_ns. Most of its events
 * are of `track`. */
int pft_begin_sequence(pft_writer *w, uint64_t track, int64_t start_ns) __attribute__((cold));
/* Begins a sequence whose names are all told before its events (pft_tell, pft_put_names), and whose
 * times, none before start_ns, may come in any order: for many tracks, one behind the other. */
int pft_begin_table(pft_writer *w, int64_t start_ns);
/* Writes what was told without an event. */
int pft_put_names(pft_writer *w);

/* An event: one of these, then what it says, then pft_put_event. Times of a sequence never step
 * back. */
void pft_slice_begin(pft_writer *w, uint64_t track);
void pft_instant(pft_writer *w, uint64_t track);
void pft_counter(pft_writer *w, uint64_t track, int64_t value);
void pft_counter_double(pft_writer *w, uint64_t track, uint64_t bits);
/* An end that says something. */
void pft_slice_close(pft_writer *w, uint64_t track);
/* What says something of a slice, and is none: pft_flow_point. */
void pft_point(pft_writer *w, uint64_t track);
int pft_put_event(pft_writer *w, int64_t at_ns);
int pft_slice_end(pft_writer *w, uint64_t track, int64_t at_ns);

/* The name of the event at hand: by its number, or as it is. */
void pft_event_name(pft_writer *w, uint64_t name);
void pft_event_text(pft_writer *w, vp_str name);
/* Its category, in the same way. */
void pft_category(pft_writer *w, uint64_t category);
void pft_category_text(pft_writer *w, vp_str category);
/* Arguments of the event at hand, by the number of their name. */
void pft_arg_int(pft_writer *w, uint64_t name, int64_t v);
void pft_arg_uint(pft_writer *w, uint64_t name, uint64_t v);
void pft_arg_double(pft_writer *w, uint64_t name, uint64_t bits);
void pft_arg_text(pft_writer *w, uint64_t name, vp_str text);
void pft_arg_known(pft_writer *w, uint64_t name, uint64_t text);
void pft_arg_bool(pft_writer *w, uint64_t name, bool v);
/* An object or array as JSON, whose parts the importer makes arguments of. */
void pft_arg_json(pft_writer *w, uint64_t name, vp_str json);
/* Slices of one flow are joined by arrows in the order of time. */
void pft_flow(pft_writer *w, uint64_t flow);

/* Flows as Trace Event JSON has them, which is more than pft_flow can say: an arrow leaves and
 * reaches a slice at a moment of its own, or reaches the one that begins next. */
typedef enum pft_way { PFT_IN = 1, PFT_OUT = 2, PFT_BOTH = 3 } pft_way;
/* Of the slice that begins. */
void pft_flow_bound(pft_writer *w, uint64_t flow, pft_way way);
/* phase: s, t or f; the slice around it has it, of an f only if `enclosing`. */
void pft_flow_point(pft_writer *w, char phase, uint64_t flow, bool enclosing);

/* Names for numbers, told with the event at hand; numbers are from 1 on, of each kind. */
typedef enum pft_name_kind {
    PFT_CATEGORY = 1,
    PFT_EVENT_NAME = 2,
    PFT_ARG_NAME = 3,
    PFT_ARG_TEXT = 29
} pft_name_kind;
void pft_tell(pft_writer *w, pft_name_kind kind, uint64_t number, vp_str text);

#endif
