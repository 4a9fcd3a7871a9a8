/* The parts of ex_pftrace_from_json: contents and positions of events, and the order of a thread's
 * events by time.
 *
 *   JSON ──first pass──▶ plan: tracks, spans by thread and time, flows
 *        ──second pass─▶ spool: contents of events, in the file's order
 *                        marks: events without a length, by track
 *   plan + marks + spool ──▶ .pftrace, one track after another
 *
 * Memory: the plan; per event 8 bytes for its position in the spool; per complete event or pair 20
 * for its span, per pair 12 more for its end; per mark 24; and the table. The spool is a file above
 * 64 MiB. */
#ifndef VP_EXPORT_PFTRACE_PFT_JSON_H
#define VP_EXPORT_PFTRACE_PFT_JSON_H

#include "trace/base/map.h"
#include "trace/export/json/json_plan.h"
#include "trace/export/pftrace/pft_ends.h"
#include "trace/export/pftrace/pft_spool.h"
#include "trace/export/pftrace/pft_table.h"

/* An event without a length, a begin or end of an async event, or a counter's value. */
typedef struct pft_mark {
    int64_t ns;
    uint64_t what; /* PFT_MARK_*, lane and record; for a counter the bits of its value */
    uint32_t next; /* next of its queue; JP_NONE: the last */
    uint32_t event;
} pft_mark;

enum {
    PFT_MARK_INSTANT,
    PFT_MARK_BEGIN,
    PFT_MARK_END,
    PFT_MARK_FLOW,     /* of the enclosing slice */
    PFT_MARK_FLOW_NEXT /* of the next slice to begin */
};
/* Offsets of records are below 2^48. */
static inline uint64_t pft_mark_what(unsigned kind, uint32_t lane, uint64_t record)
{
    return (uint64_t)kind << 56 | (uint64_t)lane << 48 | record;
}
static inline unsigned pft_mark_kind(const pft_mark *m)
{
    return (unsigned)(m->what >> 56);
}
static inline uint32_t pft_mark_lane(const pft_mark *m)
{
    return (uint32_t)(m->what >> 48 & 0xff);
}
static inline int64_t pft_mark_record(const pft_mark *m)
{
    return (int64_t)(m->what & ((UINT64_C(1) << 48) - 1));
}

/* The marks of one track, in file order. */
typedef struct pft_queue {
    uint32_t first, last; /* JP_NONE: empty */
} pft_queue;
#define PFT_QUEUE_EMPTY ((pft_queue){JP_NONE, JP_NONE})

typedef enum pft_beside_kind {
    PFT_BESIDE_COUNTER,
    PFT_BESIDE_ASYNC,
    PFT_BESIDE_MARKS
} pft_beside_kind;

/* A track that does not belong to a thread. */
typedef struct pft_beside {
    pft_beside_kind kind;
    uint32_t process; /* JP_NONE: top level */
    vp_sid name;      /* offset in the plan's texts, as in JSON */
    pft_queue queue;
} pft_beside;

/* A track whose marks are being written. */
typedef struct pft_run {
    bool begun;
    pft_mark *marks; /* its own, by time */
    size_t mark, mark_count, mark_cap;
    size_t span; /* of a thread */
    jp_lanes lanes;
    int64_t open_until[EX_LANES_MAX]; /* the last end that is not written; INT64_MIN: none */
} pft_run;

typedef struct pft_json {
    rd_stream s; /* first member */
    json_plan plan;
    jp_second second;
    pft_table table;
    uint64_t own_args, own_duration, own_start; /* names of additional arguments */
    vp_map flows; /* hash of a flow to its id, in the order of events */
    uint32_t flow_count;
    vp_map beside_at; /* hash of an async track to its id */
    pft_beside *besides;
    size_t beside_count, beside_cap;
    pft_mark *marks;
    size_t mark_count, mark_cap;
    size_t thread_count, process_count; /* of the first pass */
    pft_queue *on_thread;
    uint64_t *record; /* by event: its offset in the spool + 1; 0: no content */
    rd_stream *text;  /* state of the second pass */
    int64_t spooled;  /* bytes received */
    pft_spool spool;
    uint64_t refused, unsaid, lost; /* events without an equivalent; flows */
    vp_buf out, scratch, place;
    pft_writer writer;
    pft_ends ends;
    pft_pool pool; /* tracks for slices that may overlap */
    pft_run run;
    size_t row, name, thread, beside; /* what comes next */
    uint64_t pooled;
    bool said; /* the spool has all contents, and all tracks are known */
    bool headed, begun, ended;
    bool added; /* additional events at the end were written */
} pft_json;

/* Makes the content of an event: fields of the event without type and track. */
int pft_json_say(pft_json *x, const jp_event *e, const jp_change *changes, size_t count);
/* The same for an end, which adds to the content of its begin. */
int pft_json_say_args(pft_json *x, const jp_event *e);
/* Adds the names of additional arguments to the table, before all others. */
int pft_json_own_names(pft_json *x);
/* The editor that fills the spool and the marks. */
ex_editor pft_json_second(pft_json *x);

/* Track ids. */
static inline uint64_t pft_json_process(size_t process)
{
    return 1 + process;
}
static inline uint64_t pft_json_lane(const pft_json *x, size_t thread, uint32_t lane)
{
    uint64_t threads = 1 + x->process_count;
    return lane ? threads + x->thread_count + x->plan.threads[thread].sibling + lane - 1
                : threads + thread;
}
static inline uint64_t pft_json_beside(const pft_json *x, size_t beside)
{
    return 1 + x->process_count + x->thread_count + x->plan.sibling_count + beside;
}

/* Continue writing until the output is full: all track descriptors; events of all threads; events
 * of other tracks; the counts of missing events. 1 if done. */
int pft_json_tracks(pft_json *x);
int pft_json_threads(pft_json *x);
int pft_json_besides(pft_json *x);
int pft_json_missing(pft_json *x);
/* A track for overlapping slices of a thread. */
int pft_json_pool_track(pft_json *x, const jp_thread *t, uint64_t uuid);

/* Sorts a track's marks into x->run by time. */
int pft_json_begin_run(pft_json *x, const pft_queue *q);
/* Writes the content of an event into the spool, after the fields in the writer; 0: none. */
int pft_json_add_record(pft_json *x, int64_t record);
/* Times as written. */
static inline int64_t pft_json_ns(const pft_json *x, int64_t ns)
{
    return ns + x->plan.delta_ns;
}

#endif
