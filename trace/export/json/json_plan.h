/* What must be known of a whole Trace Event JSON before its first event can be written for a viewer
 * that stacks slices (docs/reference/perfetto.md#stacking): the numbers of its processes and
 * threads, the spans of each thread and which of them need a sibling track, which ends have a
 * begin, which flows a slice. The first pass over the file fills the plan (json_survey.c,
 * json_pairs.c, json_async.c, json_flows.c), the second reads it (json_rewrite.c). Both look at an
 * event through jp_look, so that they agree. pftrace/pft_json.c makes a .pftrace of the same plan.
 * Only those files include this; whoever opens the stream owns the plan.
 *
 * The first pass believes more than the second: of the values it reads only those that tell where
 * an event lies, as the second has them (ex_json_glance). An event that it alone sees costs
 * nothing; one that it does not see keeps its thread's own track. What the second pass alone sees
 * may be of a thread that the plan has no tracks for: that is a number beyond those of the first.
 *
 * Memory: 4 bytes an event; during the first pass 16 more for a complete one, 40 for a begin, end
 * or flow, 32 for a half of an async one, and while they are paired as much again; afterwards 24 a
 * pair and 16 for each that is to be changed. Where slices are picked, 24 for whatever else is told
 * in two events, and 4 for each without a length. */
#ifndef VP_EXPORT_JSON_PLAN_H
#define VP_EXPORT_JSON_PLAN_H

#include <string.h>

#include "trace/base/arena.h"
#include "trace/base/map.h"
#include "trace/export/json/json_edit.h"
#include "trace/export/shared/lanes.h"
#include "trace/export/shared/pick.h"
#include "trace/read/json/json_mark.h"
#include "trace/read/json/json_scan.h"

#define JP_NONE UINT32_MAX

typedef struct jp_process {
    vp_sid raw;               /* the file's own text; what is no number keeps its quotes */
    vp_sid name, sort, label; /* JSON texts of its metadata, 0: none */
    uint32_t pid;
    bool known;  /* pid is the file's own number */
    bool named;  /* by a metadata event */
    bool needed; /* has an event that is shown */
    char text[12];
    uint8_t text_n; /* pid as text */
    uint32_t next_tid;
} jp_process;

typedef struct jp_thread {
    uint32_t process;
    vp_sid raw, name, sort; /* JSON texts; name and sort of its metadata, 0: none */
    uint32_t tid;
    bool known, needed;
    char text[12];
    uint8_t text_n;
    uint32_t lanes;   /* tracks with a slice; 0: none */
    uint32_t sibling; /* of lane 1 in plan->siblings; those of higher lanes follow */
    ex_spans spans;
    size_t first_move, move_count; /* of its spans in plan->moves, in their order */
} jp_thread;

/* The lane of each of a thread's spans, asked in their order. */
typedef struct jp_lanes {
    const ex_move *move, *end; /* those of the spans to come */
} jp_lanes;
static inline uint32_t jp_lane_of(jp_lanes *l, const jp_thread *t, size_t span)
{
    return l->move < l->end && l->move->id == trace_kind_of(&t->spans.track, span) ? l->move++->lane
                                                                                   : 0;
}

/* A begin or an end of a thread. */
typedef struct jp_edge {
    int64_t ns;
    uint32_t thread, event;
    js_mark mark;
    bool is_end, has_args;
} jp_edge;

/* A begin with the end that closes it, also of an async event. */
typedef struct jp_pair {
    uint32_t begin, end;      /* events; end may be JP_NONE where slices are picked */
    int64_t start_ns, end_ns; /* what has no end lasts as long as the trace */
} jp_pair;

/* A half of an async event; of odd ids also an n. */
typedef struct jp_half {
    int64_t ns;
    uint64_t key; /* of what the importer takes for one id */
    uint32_t event, name, process;
    char phase;
    bool odd; /* the importer refuses its id */
} jp_half;

/* An s, t or f, or what a slice says of itself by bind_id, flow_in and flow_out. */
typedef struct jp_flow {
    int64_t ns;
    uint64_t key; /* of what the importer takes for one flow: category, name and id */
    uint32_t thread, event;
    char phase;
    bool next; /* binds to the slice that begins next, not to the one around it */
    bool on_slice;
    bool odd; /* the importer refuses its id */
} jp_flow;

typedef enum jp_change_kind {
    JP_DROP,    /* says nothing by itself */
    JP_THREAD,  /* to the thread value >> 32 and its track of the tid in the low half */
    JP_SPAN,    /* a begin that becomes a complete event of `value` ns */
    JP_INSTANT, /* an end without a begin */
    JP_ASYNC,   /* a complete event that becomes a pair of async halves with the id `value` */
    JP_HALF,    /* a begin or end that becomes such a half */
    JP_ID,      /* an s, t, f, b, e or n gets the id `value` */
    JP_BIND,    /* a slice gets the bind_id `value` */
    JP_LATE,    /* an s, t or f stands behind all events: in the file it is before its slice */
} jp_change_kind;

/* An event may have several. */
typedef struct jp_change {
    uint32_t event;
    jp_change_kind kind;
    int64_t value;
} jp_change;

typedef struct json_plan {
    vp_arena arena;
    vp_intern texts;
    vp_map process_at; /* sid to process */
    vp_map thread_at;  /* process << 32 | sid to thread */
    vp_map taken;      /* process << 32 | tid, of threads and siblings */
    jp_process *processes;
    size_t process_count, process_cap;
    jp_thread *threads;
    size_t thread_count, thread_cap;
    uint32_t *siblings; /* tids */
    size_t sibling_count, sibling_cap;
    jp_edge *edges;
    size_t edge_count, edge_cap;
    jp_pair *pairs; /* ascending by begin */
    size_t pair_count, pair_cap;
    jp_flow *flows;
    size_t flow_count, flow_cap;
    jp_half *halves; /* of the first pass */
    size_t half_count, half_cap;
    uint32_t *moments; /* events without a length, where only the longest are picked */
    size_t moment_count, moment_cap;
    ex_moves moves;
    jp_change *changes; /* ascending by event once planned */
    size_t change_count, change_cap;
    int64_t base_us;           /* of all times while they are read */
    int64_t delta_ns;          /* from there to what is written */
    int64_t least_ns, last_ns; /* of all times */
    uint32_t *places;          /* of the events in the input, modulo 2^32: what tells them apart */
    size_t place_count, place_cap;
    size_t cursor; /* of the second pass: the first event that is not before the last one seen */
    uint32_t last_thread;
    vp_sid last_pid, last_tid; /* raw texts of last_thread */
    bool has_base, planned;
    bool all_zero; /* no event of the first pass has had a time but that of the base */
    bool
        keep_spans; /* of threads, for who asks for their order; else they are freed once planned */
    ex_pick *pick;  /* may be NULL */
    rd_stream *first;  /* the first pass, where it is not over */
    uint64_t unbound;  /* flows that no slice has: dropped */
    uint64_t unpaired; /* ends of async events without a begin: dropped */
    vp_buf scratch;    /* a text without its escapes */
} json_plan;

/* An event as both passes see it. */
typedef struct jp_event {
    const char *text; /* the whole, from `{` */
    size_t n;
    const ex_fields *f;
    char phase;               /* 0: it says none */
    bool timed;               /* has a usable time */
    uint32_t thread;          /* JP_NONE: it names neither pid nor tid */
    int64_t start_ns, end_ns; /* since base_us; end_ns of complete events, else start_ns */
    int64_t start_ps;         /* what start_ns was rounded from */
    int64_t length_ps;        /* of complete events; never negative */
    uint32_t number;          /* among those of the first pass; JP_NONE: it did not see it */
} jp_event;

int jp_init(json_plan *p);
void jp_free(json_plan *p);
/* EX_KEPT; EX_USELESS, EX_EMPTY: as for an editor; < 0. Of the first pass it makes threads. */
int jp_look(json_plan *p, vp_str text, int64_t at, const ex_fields *f, jp_event *e);
static inline vp_str jp_text(const jp_event *e, ex_field i)
{
    return (vp_str){e->text + e->f->v[i].at, e->f->v[i].n};
}
/* A set of phases, which are letters: a bit each. */
#define JP_PHASE(letter) (UINT64_C(1) << ((letter)&63))
#define JP_FLOWS (JP_PHASE('s') | JP_PHASE('t') | JP_PHASE('f'))
#define JP_SLICES (JP_PHASE('X') | JP_PHASE('B'))
#define JP_MOMENTS (JP_PHASE('i') | JP_PHASE('I') | JP_PHASE('R'))
#define JP_HALVES (JP_PHASE('b') | JP_PHASE('e'))
/* What Perfetto takes from an event of Trace Event JSON; it passes over all others. */
#define JP_TAKEN                                                                                   \
    (JP_FLOWS | JP_SLICES | JP_MOMENTS | JP_HALVES | JP_PHASE('E') | JP_PHASE('n') |               \
     JP_PHASE('C') | JP_PHASE('M'))
static inline bool jp_is_of(char phase, uint64_t set)
{
    return (phase & 0xc0) == 0x40 && set >> (phase & 63) & 1;
}
/* Its place is a thread's track; what names neither pid nor tid is on thread 0 of process 0. */
static inline bool jp_on_thread(char phase)
{
    return jp_is_of(phase, JP_SLICES | JP_PHASE('E') | JP_MOMENTS | JP_FLOWS);
}
/* Without a time it is no event; of others the time says nothing of the file's extent. */
static inline bool jp_needs_time(char phase)
{
    return jp_on_thread(phase) || jp_is_of(phase, JP_HALVES | JP_PHASE('n') | JP_PHASE('C'));
}
/* The value of a member of args, as its text; "" where it has none. */
vp_str jp_arg(const jp_event *e, vp_str key);
/* Whose an id of async events is: a process' own (id2.local), everybody's (id2.global), or as the
 * importer has it everybody's who says so (id), which is shown with the first of them. */
typedef enum jp_scope { JP_BY_ID, JP_OF_PROCESS, JP_OF_ALL } jp_scope;
/* The id of an async event, as its text; "" where it has none. */
vp_str jp_async_id(const jp_event *e, jp_scope *scope);
/* What the importer takes for a counter's value: a number, also in quotes. */
bool jp_is_number(js_value v);
/* An id of ours for what an event begins, beyond those that counters of writers reach. It is the
 * event's own, so that a file reads the same whenever it is written. */
static inline int64_t jp_own_id(uint32_t event)
{
    return (INT64_C(1) << 52) + event;
}
/* The hash of a JSON text, whatever escapes it is written with. Hashes mean nothing outside of this
 * process; p->scratch tells whether there was memory for them. */
uint64_t jp_text_hash(json_plan *p, vp_str json, uint64_t seed);
/* The same where texts are compared among few; 0: there is none. */
static inline uint32_t jp_mark_of(json_plan *p, vp_str json)
{
    return json.n ? (uint32_t)(jp_text_hash(p, json, 0) >> 32) | 1 : 0;
}
/* The hash of what the importer takes for one flow: of an s, t or f category, name and id, of a
 * slice its bind_id. *odd: it refuses such an id. */
uint64_t jp_flow_key(json_plan *p, const jp_event *e, bool *odd);
/* The hash of what it takes for one id of async events. e has one. */
uint64_t jp_async_key(json_plan *p, const jp_event *e, bool *odd);
/* A text of the file without its quotes, if it has any. */
static inline vp_str jp_unquoted(vp_str s)
{
    return s.n >= 2 && *s.p == '"' ? (vp_str){s.p + 1, s.n - 2} : s;
}
/* What a thread, or a process that the file does not name, is called: its name, or else its id. */
static inline vp_str jp_thread_name(const json_plan *p, const jp_thread *t)
{
    return vp_intern_get(&p->texts, t->name ? t->name : t->raw);
}
/* A tid that nobody has in the process. */
int jp_new_tid(json_plan *p, uint32_t process, uint32_t *tid);
int jp_change_put(json_plan *p, uint32_t event, jp_change_kind kind, int64_t value);

/* The first pass over the input: whole, and the plan is ready for the second; or, if the pick may
 * begin early and there is an event by then, its first EX_EARLY_BYTES. VP_ECORRUPT where the input
 * is damaged and has not one event. */
int jp_make(json_plan *p, const ex_input *in);
/* The rest of it, if there is one. */
int jp_make_rest(json_plan *p);
/* Its editor, and what follows it. */
ex_editor jp_survey(json_plan *p);
int jp_plan(json_plan *p);
/* Its parts: pairs of begin and end, what is picked, and once lanes are chosen, the flows. Called
 * by the files of the first pass only. */
int jp_add_async(json_plan *p, const jp_event *e);
int jp_pair_async(json_plan *p);
int jp_pair_edges(json_plan *p);
int jp_bind_flows(json_plan *p);
/* What a pick may leave out: an event without a length; a pair; a begin without an end. */
int jp_count_moment(json_plan *p, uint32_t event);
int jp_count_pair(json_plan *p, jp_pair pair);
int jp_count_open(json_plan *p, uint32_t event, int64_t ns);
/* A pair that is to be found by jp_end_of. */
int jp_pair_put(json_plan *p, jp_pair pair);
/* All were counted; then both events of a pair that is not picked go. */
int jp_decide(json_plan *p);
int jp_drop_pairs(json_plan *p);
/* The end of the begin `event`; JP_NONE: it is none, or has none. */
uint32_t jp_end_of(const json_plan *p, uint32_t event);
static inline jp_lanes jp_lanes_of(const json_plan *p, const jp_thread *t)
{
    const ex_move *first = p->moves.list ? p->moves.list + t->first_move : NULL;
    return (jp_lanes){first, first ? first + t->move_count : NULL};
}
/* The number of a thread's track. */
static inline uint32_t jp_lane_tid(const json_plan *p, const jp_thread *t, uint32_t lane)
{
    return lane ? p->siblings[t->sibling + lane - 1] : t->tid;
}

/* The second pass, whatever it makes of the events. */
typedef struct jp_second {
    json_plan *plan;
    size_t change; /* the next */
} jp_second;
/* An event as jp_look sees it, and its changes, which are no JP_DROP. EX_KEPT; EX_EMPTY also where
 * it says nothing, is not picked, or is dropped by the plan. */
int jp_show(jp_second *s, vp_str text, int64_t at, const ex_fields *f, jp_event *e,
            const jp_change **changes, size_t *count);

/* All events are out: what is added behind them. 1: it is to be written; 0: there is nothing. */
int jp_added(struct ex_added **added, const json_plan *p);

/* The editor of the second pass that writes JSON. */
typedef struct jp_rewriter {
    jp_second second;
    vp_buf scratch;
    uint64_t unsaid; /* events whose phase nobody takes; they stay in the file */
    vp_buf late;     /* events of JP_LATE, as far as there is room */
} jp_rewriter;
ex_editor jp_rewrite(jp_rewriter *r, json_plan *p);

#endif
