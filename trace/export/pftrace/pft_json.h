/* The parts of ex_pftrace_from_json: what each event says, where it lies, and how a thread's events
 * come in the order of time. Only trace/export/pftrace/pft_json*.c include this.
 *
 *   JSON ──first pass──▶ plan: tracks, spans by thread and time, flows
 *        ──second pass─▶ spool: what each event says, in the file's order
 *                        marks: what has no length, and on which track
 *   plan + marks + spool ──▶ .pftrace, a track behind the other
 *
 * Memory: the plan's; of each event 8 bytes for its place in the spool, of each complete one or
 * pair the 20 of its span and of a pair 12 for its end, of each mark 24; and the table. The spool
 * is a file above 64 MiB. */
#ifndef VP_EXPORT_PFTRACE_PFT_JSON_H
#define VP_EXPORT_PFTRACE_PFT_JSON_H

#include "trace/base/map.h"
#include "trace/export/json/json_plan.h"
#include "trace/export/pftrace/pft_ends.h"
#include "trace/export/pftrace/pft_spool.h"
#include "trace/export/pftrace/pft_table.h"

/* An event without a length, a half of an async one, or a counter's value. */
typedef struct pft_mark {
    int64_t ns;
    uint64_t what; /* PFT_MARK_*, lane and record; of a counter the bits of its value */
    uint32_t next; /* of its queue; JP_NONE: the last */
    uint32_t event;
} pft_mark;

enum {
    PFT_MARK_INSTANT,
    PFT_MARK_BEGIN,
    PFT_MARK_END,
    PFT_MARK_FLOW,     /* of the slice around it */
    PFT_MARK_FLOW_NEXT /* of the slice that begins next */
};
/* Records lie below 2^48. */
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

/* The marks of one track, in the file's order. */
typedef struct pft_queue {
    uint32_t first, last; /* JP_NONE: there is none */
} pft_queue;
#define PFT_QUEUE_EMPTY ((pft_queue){JP_NONE, JP_NONE})

typedef enum pft_beside_kind {
    PFT_BESIDE_COUNTER,
    PFT_BESIDE_ASYNC,
    PFT_BESIDE_MARKS
} pft_beside_kind;

/* A track that is no thread's. */
typedef struct pft_beside {
    pft_beside_kind kind;
    uint32_t process; /* JP_NONE: at the top */
    vp_sid name;      /* in the plan's texts, as JSON has it */
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
    uint64_t own_args, own_duration, own_start; /* names of arguments of ours */
    vp_map flows; /* hash of a flow to its number, in the order of events */
    uint32_t flow_count;
    vp_map beside_at; /* hash of what it is to its number */
    pft_beside *besides;
    size_t beside_count, beside_cap;
    pft_mark *marks;
    size_t mark_count, mark_cap;
    size_t thread_count, process_count; /* of the first pass */
    pft_queue *on_thread;
    uint64_t *record; /* of events: their place in the spool + 1; 0: they say nothing */
    rd_stream *text;  /* of the second pass */
    int64_t spooled;  /* bytes that it gave */
    pft_spool spool;
    uint64_t refused, unsaid, lost; /* events that are none, that have no form here; flows */
    vp_buf out, scratch;
    pft_writer writer;
    pft_ends ends;
    pft_pool pool; /* of slices that may overlap at will */
    pft_run run;
    size_t row, name, thread, beside; /* what comes next */
    uint64_t pooled;
    bool said; /* the spool has what all events say, and the tracks beside threads are known */
    bool headed, begun, ended;
    bool added; /* what stands behind the events was written */
} pft_json;

/* Makes what an event says: of the writer's event, without type and track. */
int pft_json_say(pft_json *x, const jp_event *e, const jp_change *changes, size_t count);
/* The same of an end, which adds to what its begin says. */
int pft_json_say_args(pft_json *x, const jp_event *e);
/* The table takes the names of arguments of ours; before all others. */
int pft_json_own_names(pft_json *x);
/* The editor that fills the spool and the marks. */
ex_editor pft_json_second(pft_json *x);

/* Numbers of tracks. */
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

/* Write on until the output is full: all tracks that are known; the events of all threads; those of
 * the tracks beside them; what is missing. 1 when they are done. */
int pft_json_tracks(pft_json *x);
int pft_json_threads(pft_json *x);
int pft_json_besides(pft_json *x);
int pft_json_missing(pft_json *x);
/* A track for slices of a thread that may overlap at will. */
int pft_json_pool_track(pft_json *x, const jp_thread *t, uint64_t uuid);

/* Puts a track's marks into x->run by time. */
int pft_json_begin_run(pft_json *x, const pft_queue *q);
/* The record of an event, behind what stands in the writer's event; 0: none. */
int pft_json_add_record(pft_json *x, int64_t record);
/* Times as they are written. */
static inline int64_t pft_json_ns(const pft_json *x, int64_t ns)
{
    return ns + x->plan.delta_ns;
}

#endif
