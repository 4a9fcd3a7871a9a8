/* The plan of an export of Trace Event JSON: what must be known of the whole file before its first
 * event can be written for a viewer that stacks slices (docs/reference/perfetto.md#stacking). These
 * are the ids of processes and threads, the spans of each thread and which of them need a sibling
 * track, the begins of ends, and the slices of flows. The first pass over the file fills the plan
 * (json_survey.c, json_pairs.c, json_async.c, json_flows.c), the second reads it (json_rewrite.c).
 * Both read events with jp_look, so that they agree. pftrace/pft_json.c writes a .pftrace from the
 * same plan. The caller that opens the stream owns the plan.
 *
 * The first pass validates less than the second: it parses only the values that determine the
 * position of an event, as the second pass has them (ex_json_glance). An event that only the first
 * pass accepts has no effect. An event that it rejects stays on its thread's own track. An event
 * that only the second pass accepts may be of a thread without tracks in the plan; that thread gets
 * an id above those of the first pass.
 *
 * Memory: 4 bytes per event; during the first pass 16 more per complete event, 40 per begin, end or
 * flow, 32 per begin or end of an async event, and twice as much while they are paired; afterwards
 * 24 per pair and 16 per change. If slices are picked: 24 for everything else that consists of two
 * events, and 4 per event without a length. */
#ifndef VP_EXPORT_JSON_PLAN_H
#define VP_EXPORT_JSON_PLAN_H

#include <string.h>

#include "trace/base/arena.h"
#include "trace/base/map.h"
#include "trace/export/json/json_edit.h"
#include "trace/export/shared/lanes.h"
#include "trace/export/shared/pick.h"
#include "trace/model/derived.h"
#include "trace/read/json/json_mark.h"
#include "trace/read/json/json_scan.h"

#define JP_NONE UINT32_MAX

typedef struct jp_process {
    vp_sid raw;               /* text of the file; ids that are not numbers keep their quotes */
    vp_sid name, sort, label; /* JSON texts of its metadata, 0: none */
    uint32_t pid;
    bool known;  /* pid is the number in the file */
    bool named;  /* named by a metadata event */
    bool needed; /* has a visible event */
    char text[12];
    uint8_t text_n; /* pid as text */
    uint32_t next_tid;
} jp_process;

typedef struct jp_thread {
    uint32_t process;
    vp_sid raw, name, sort; /* JSON texts; name and sort index of its metadata, 0: none */
    uint32_t tid;
    bool known, needed;
    char text[12];
    uint8_t text_n;
    uint32_t lanes;   /* number of tracks with a slice; 0: none */
    uint32_t sibling; /* index of lane 1 in plan->siblings; higher lanes follow */
    ex_spans spans;
    size_t first_move, move_count; /* index of its spans in plan->moves, in their order */
} jp_thread;

/* Iterates over the lanes of a thread's spans, in their order. */
typedef struct jp_lanes {
    const ex_move *move, *end; /* of the remaining spans */
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

/* A begin with the end that closes it, also for async events. */
typedef struct jp_pair {
    uint32_t begin, end;      /* events; end may be JP_NONE while slices are picked */
    int64_t start_ns, end_ns; /* spans without an end last until the end of the trace */
} jp_pair;

/* A begin or end of an async event; those with an odd id also an n. */
typedef struct jp_half {
    int64_t ns;
    uint64_t key; /* hash of what the importer uses as id */
    uint32_t event, name, process;
    char phase;
    bool odd; /* the importer refuses its id */
} jp_half;

/* An s, t or f, or a slice with bind_id, flow_in and flow_out. */
typedef struct jp_flow {
    int64_t ns;
    uint64_t key; /* hash of what the importer uses as flow id: category, name and id */
    uint32_t thread, event;
    char phase;
    bool next; /* binds to the next slice, not to the enclosing one */
    bool on_slice;
    bool odd; /* the importer refuses its id */
} jp_flow;

typedef enum jp_change_kind {
    JP_DROP,    /* not written */
    JP_THREAD,  /* moved to the thread value >> 32 and its track for the tid in the low half */
    JP_SPAN,    /* a begin that becomes a complete event of `value` ns */
    JP_INSTANT, /* an end without a begin */
    JP_ASYNC,   /* a complete event that becomes a begin and an end of an async event with the id
                 * `value` */
    JP_HALF,    /* a begin or end that becomes that of an async event */
    JP_ID,      /* an s, t, f, b, e or n gets the id `value` */
    JP_BIND,    /* a slice gets the bind_id `value` */
    JP_LATE, /* an s, t or f that is written after all events: in the file it precedes its slice */
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
    uint32_t *moments; /* events without a length, if only the longest are picked */
    size_t moment_count, moment_cap;
    ex_moves moves;
    jp_change *changes; /* ascending by event after planning */
    size_t change_count, change_cap;
    int64_t base_us;           /* subtracted from all times when they are read */
    int64_t delta_ns;          /* added to them when they are written */
    int64_t least_ns, last_ns; /* of all times */
    uint32_t *places;          /* number of events in the input modulo 2^32, as an id */
    size_t place_count, place_cap;
    size_t cursor; /* state of the second pass: the first change at or after the last event */
    uint32_t last_thread;
    vp_sid last_pid, last_tid; /* raw texts of last_thread */
    bool has_base, planned;
    bool all_zero;   /* so far no event of the first pass had a time other than the base */
    bool keep_spans; /* spans of threads, if their order is requested; else freed after planning */
    ex_pick *pick;   /* may be NULL */
    const derived *links; /* of the added tracks, once asked for; NULL: nothing is known */
    bool links_asked, has_flows;
    rd_stream *first;  /* the first pass, while it is unfinished */
    uint64_t unbound;  /* flows without a slice: dropped */
    uint64_t unpaired; /* ends of async events without a begin: dropped */
    vp_buf scratch;    /* buffer for a text without escapes */
} json_plan;

/* An event as read by both passes. */
typedef struct jp_event {
    const char *text; /* the whole text, from `{` */
    size_t n;
    const ex_fields *f;
    char phase;               /* 0: it says none */
    bool timed;               /* has a usable time */
    uint32_t thread;          /* JP_NONE: neither pid nor tid */
    int64_t start_ns, end_ns; /* relative to base_us; end_ns of complete events, else start_ns */
    int64_t start_ps;         /* start before rounding to start_ns */
    int64_t length_ps;        /* of complete events; never negative */
    uint32_t number;          /* its number in the first pass; JP_NONE: not seen there */
} jp_event;

int jp_init(json_plan *p);
void jp_free(json_plan *p);
/* Returns EX_KEPT; EX_USELESS, EX_EMPTY: as for an editor; < 0. In the first pass it adds threads.
 */
int jp_look(json_plan *p, vp_str text, int64_t at, const ex_fields *f, jp_event *e);
static inline vp_str jp_text(const jp_event *e, ex_field i)
{
    return (vp_str){e->text + e->f->v[i].at, e->f->v[i].n};
}
/* A set of phases, which are letters, as bits. */
#define JP_PHASE(letter) (UINT64_C(1) << ((letter)&63))
#define JP_FLOWS (JP_PHASE('s') | JP_PHASE('t') | JP_PHASE('f'))
#define JP_SLICES (JP_PHASE('X') | JP_PHASE('B'))
#define JP_MOMENTS (JP_PHASE('i') | JP_PHASE('I') | JP_PHASE('R'))
#define JP_HALVES (JP_PHASE('b') | JP_PHASE('e'))
/* The phases that Perfetto imports; it skips all others. */
#define JP_TAKEN                                                                                   \
    (JP_FLOWS | JP_SLICES | JP_MOMENTS | JP_HALVES | JP_PHASE('E') | JP_PHASE('n') |               \
     JP_PHASE('C') | JP_PHASE('M'))
static inline bool jp_is_of(char phase, uint64_t set)
{
    return (phase & 0xc0) == 0x40 && set >> (phase & 63) & 1;
}
/* Events on the track of a thread; without pid and tid it is thread 0 of process 0. */
static inline bool jp_on_thread(char phase)
{
    return jp_is_of(phase, JP_SLICES | JP_PHASE('E') | JP_MOMENTS | JP_FLOWS);
}
/* Phases that need a time; the times of other events do not extend the range of the file. */
static inline bool jp_needs_time(char phase)
{
    return jp_on_thread(phase) || jp_is_of(phase, JP_HALVES | JP_PHASE('n') | JP_PHASE('C'));
}
/* The text of a member of args; "" if missing. */
vp_str jp_arg(const jp_event *e, vp_str key);
/* The scope of an async id: a process (id2.local), global (id2.global), or (id) as in the importer
 * global, but shown with the first process that uses it. */
typedef enum jp_scope { JP_BY_ID, JP_OF_PROCESS, JP_OF_ALL } jp_scope;
/* The text of an async id; "" if missing. */
vp_str jp_async_id(const jp_event *e, jp_scope *scope);
/* A value that the importer reads as a counter: a number, also in quotes. */
bool jp_is_number(js_value v);
/* Makes an id for an event, above the range that counters of other writers reach. It depends only
 * on the event, so that the output is reproducible. */
static inline int64_t jp_own_id(uint32_t event)
{
    return (INT64_C(1) << 52) + event;
}
/* The hash of a JSON text, independent of its escapes. Hashes are only valid in this process;
 * p->scratch has the out-of-memory status. */
uint64_t jp_text_hash(json_plan *p, vp_str json, uint64_t seed);
/* The same, for comparison among few texts; 0: no text. */
static inline uint32_t jp_mark_of(json_plan *p, vp_str json)
{
    return json.n ? (uint32_t)(jp_text_hash(p, json, 0) >> 32) | 1 : 0;
}
/* The hash of what the importer uses as flow id: for an s, t or f category, name and id, for a
 * slice its bind_id. *odd: the importer refuses such an id. */
uint64_t jp_flow_key(json_plan *p, const jp_event *e, bool *odd);
/* The hash of what it uses as async id. e must have one. */
uint64_t jp_async_key(json_plan *p, const jp_event *e, bool *odd);
/* A text of the file without quotes. */
static inline vp_str jp_unquoted(vp_str s)
{
    return s.n >= 2 && *s.p == '"' ? (vp_str){s.p + 1, s.n - 2} : s;
}
/* The display name of a thread, or of a process without a name in the file: its name, else its id.
 */
static inline vp_str jp_thread_name(const json_plan *p, const jp_thread *t)
{
    return vp_intern_get(&p->texts, t->name ? t->name : t->raw);
}
/* An unused tid in the process. */
int jp_new_tid(json_plan *p, uint32_t process, uint32_t *tid);
int jp_change_put(json_plan *p, uint32_t event, jp_change_kind kind, int64_t value);

/* The first pass over the input: all of it, then the plan is ready for the second pass; or, if the
 * pick may begin early and there is an event by then, its first EX_EARLY_BYTES. VP_ECORRUPT if the
 * input is damaged and has no event. */
int jp_make(json_plan *p, const ex_input *in);
/* The rest of the first pass, if there is one. */
int jp_make_rest(json_plan *p);
/* The editor of the first pass, and the planning after it. */
ex_editor jp_survey(json_plan *p);
int jp_plan(json_plan *p);
/* Steps of the planning: pairs of begin and end, the pick, and after the lanes the flows. Called
 * only by the files of the first pass. */
int jp_add_async(json_plan *p, const jp_event *e);
int jp_pair_async(json_plan *p);
int jp_pair_edges(json_plan *p);
int jp_bind_flows(json_plan *p);
/* Candidates for a pick to drop: an event without a length; a pair; a begin without an end. */
int jp_count_moment(json_plan *p, uint32_t event);
int jp_count_pair(json_plan *p, jp_pair pair);
int jp_count_open(json_plan *p, uint32_t event, int64_t ns);
/* Adds a pair that jp_end_of must find. */
int jp_pair_put(json_plan *p, jp_pair pair);
/* All were counted; pairs that are not picked lose both events. */
int jp_decide(json_plan *p);
int jp_drop_pairs(json_plan *p);
/* The end of the begin `event`; JP_NONE: not a begin, or no end. */
uint32_t jp_end_of(const json_plan *p, uint32_t event);
static inline jp_lanes jp_lanes_of(const json_plan *p, const jp_thread *t)
{
    const ex_move *first = p->moves.list ? p->moves.list + t->first_move : NULL;
    return (jp_lanes){first, first ? first + t->move_count : NULL};
}
/* The id of a thread's track. */
static inline uint32_t jp_lane_tid(const json_plan *p, const jp_thread *t, uint32_t lane)
{
    return lane ? p->siblings[t->sibling + lane - 1] : t->tid;
}

/* The second pass, shared by the writers. */
typedef struct jp_second {
    json_plan *plan;
    size_t change; /* the next */
} jp_second;
/* Reads an event and its changes; dropped ones are not returned. EX_KEPT; EX_EMPTY also if it has
 * no content, is not picked, or is dropped by the plan. */
int jp_show(jp_second *s, vp_str text, int64_t at, const ex_fields *f, jp_event *e,
            const jp_change **changes, size_t *count);

/* json_links.c: what the analysis knows of an event's launch. All zero: nothing. */
typedef struct jp_links {
    const derived_place *place; /* of a device op */
    int64_t flow;               /* an arrow from the launch to its ops */
    bool flow_in;               /* it ends here */
} jp_links;
int jp_links_of(jp_links *out, json_plan *p, const jp_event *e);
/* The arguments that tell a place, without those that the event has itself. */
#define JP_PLACE_ARGS 4
typedef struct jp_place_arg {
    const char *key;
    vp_str text; /* UTF-8 */
} jp_place_arg;
size_t jp_place_args(jp_place_arg out[JP_PLACE_ARGS], const json_plan *p, const jp_event *e,
                     const derived_place *place);

/* Prepares the analysis tracks after all events. 1: to be written; 0: none. */
int jp_added(struct ex_added **added, const json_plan *p);

/* The editor of the second pass that writes JSON. */
typedef struct jp_rewriter {
    jp_second second;
    vp_buf scratch;
    uint64_t unsaid; /* events with an unknown phase, which are copied */
    vp_buf late;     /* events with JP_LATE, limited by memory */
} jp_rewriter;
ex_editor jp_rewrite(jp_rewriter *r, json_plan *p);

#endif
