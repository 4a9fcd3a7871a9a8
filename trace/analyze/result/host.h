/* One host's figures, ready to be merged into a session's report: plain values and strings in an
 * arena of their own, so that the trace can be freed before the next is read. Only analyze/
 * includes this. */
#ifndef VP_ANALYZE_HOST_H
#define VP_ANALYZE_HOST_H

#include "include/view_profile.h"
#include "trace/base/arena.h"
#include "trace/base/map.h"
#include "trace/model/trace.h"

/* What one framework path adds up to, by ops that stand exactly there. */
typedef struct scope_item {
    const char *path, *source;
    int64_t self_ps, calls, bytes, flops; /* bytes, flops: VP_UNKNOWN */
    int64_t idle_before_ps, backward_ps, remat_ps;
} scope_item;

typedef struct module_item {
    const char *name;
    int64_t program_id, runs, total_ps;
    int64_t *samples; /* durations of its runs; `runs` of them, NULL when unknown */
    int64_t repeat_steps, repeat_ps, repeat_runs; /* as in vp_module (full) */
} module_item;

typedef struct host_result {
    vp_arena arena;
    vp_device *devices;
    size_t device_count, device_cap;
    vp_op *ops; /* .device indexes devices */
    size_t op_count, op_cap;
    scope_item *scopes;
    size_t scope_count, scope_cap;
    module_item *modules;
    size_t module_count, module_cap;
    vp_quality *quality;
    size_t quality_count, quality_cap;
    /* full: the public structs, their strings and inner arrays in the arena. Device numbers count
     * within the host; aligned times are after the origin. */
    vp_steps steps;
    size_t step_cap;
    vp_gap *gaps;
    size_t gap_count, gap_cap;
    vp_idle_label *idle_labels;
    size_t idle_label_count, idle_label_cap;
    vp_collective *collectives;
    size_t collective_count, collective_cap;
    vp_transfer *transfers;
    size_t transfer_count, transfer_cap;
    vp_compile compile;
    size_t function_cap;
    vp_host_op *host_ops;
    size_t host_op_count, host_op_cap;
    int64_t host_op_total;
    vp_thread *threads;
    size_t thread_count, thread_cap;
    vp_values *args, *counters; /* these and meta of the arena */
    size_t arg_count, counter_count, meta_count;
    vp_meta *meta;
    int64_t arg_total, counter_total, meta_total;
    vp_memory *memory;
    size_t memory_count, memory_cap;
    int64_t base_unix_ns, capture_ps; /* -1 unknown */
    int64_t
        origin_ps; /* subtracted from aligned times: where the report's time 0 lies in the trace */
    int64_t timeline_ns;      /* to add to times after the origin for those of the file itself */
    int64_t start_ps, end_ps; /* of everything analysed, aligned clock, after the origin */
    int64_t events;
    bool has_devices, partial, own_clock;
} host_result;

void host_result_init(host_result *h);
void host_result_free(host_result *h);
/* A copy in the arena; NULL for an empty string. *out untouched on failure. */
int host_text(const char **out, host_result *h, vp_str s);
/* Adds a quality entry; the code is a constant. */
int host_note(host_result *h, const char *code, vp_severity severity, const char *message);

/* Which events are analysed together: the op tracks of a device, or all plain tracks of a process.
 */
typedef struct track_set {
    const trace *t;
    const uint32_t *tracks;
    size_t count;
} track_set;

/* Union-based breakdown and window of a set of tracks; class_of is by kind. Without events all
 * zero. The window is [*start, *end). */
int bd_compute(vp_breakdown *out, int64_t *start, int64_t *end, track_set set,
               const uint8_t *class_of);

/* Self time and calls by kind, over the tracks of a set. A trace may have as many devices as kinds,
 * so a device has a list of those that it runs: all that is done once a device goes by the list. */
typedef struct kind_times {
    int64_t *self_ps, *calls; /* by kind */
    uint64_t crossings;       /* events that outlive the one they start in */
} kind_times;
typedef struct kind_list {
    uint32_t *kind;           /* with calls, ascending */
    int64_t *self_ps, *calls; /* of each */
    uint32_t n;
    uint32_t *group, group_n; /* the groups that they are of, ascending: one op each */
} kind_list;
/* Where a kind stands in the list; n: nowhere. */
static inline uint32_t kind_list_find(const kind_list *l, uint32_t kind)
{
    uint32_t low = 0, high = l->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (l->kind[mid] < kind)
            low = mid + 1;
        else
            high = mid;
    }
    return low < l->n && l->kind[low] == kind ? low : l->n;
}
static inline int64_t kind_list_calls(const kind_list *l, uint32_t kind)
{
    uint32_t at = kind_list_find(l, kind);
    return at < l->n ? l->calls[at] : 0;
}
/* Self time piece by piece: [start, end) in which one event of the track owns the time, `id` being
 * what self_id_fn says of it when it starts, or its index where there is none. Pieces are disjoint
 * and ascending. */
typedef int self_fn(void *ctx, size_t id, int64_t start, int64_t end);
/* Called for every event in turn, also for those without length, which own no time. */
typedef int self_id_fn(void *ctx, size_t index, size_t *id);
int self_pieces(const trace_track *k, self_id_fn *id, self_fn *fn, void *ctx);
/* How the events of one group on one track add up, asked in their order. Calls nest: one inside
 * another of its group is its recursion, and only the outermost counts. Spans run at once
 * (requests, async work): all count. A track holds spans where its reader says so, and those groups
 * are spans of which two cross, by more than the whole us to which formats round. */
typedef struct nesting {
    int64_t end;         /* of the outermost so far; INT64_MIN at first */
    int64_t inner;       /* sum of those inside it, not counted yet; NESTING_SPANS: all count */
    int64_t inner_calls; /* of them */
} nesting;
#define NESTING_SPANS INT64_C(-1)
static inline nesting nesting_begin(bool spans)
{
    return (nesting){INT64_MIN, spans ? NESTING_SPANS : 0, 0};
}
/* What the event [start, end) adds to the total. */
int64_t nesting_add(nesting *n, int64_t start, int64_t end);
/* Whether a track is known to hold spans. */
bool nesting_none(const trace *t, const trace_track *k);
typedef struct group_times {
    int64_t total_ps, inner_ps, inner_calls; /* of the calls that count; of those within them */
} group_times;
/* group_of and totals by group. */
int self_times(kind_times *kt, group_times *totals, track_set set, const uint32_t *group_of,
               uint32_t group_count);

/* Ops of one device (index `device` of h->devices), appended to h->ops; also its scopes/modules. */
typedef struct grouping grouping;
int grouping_new(grouping **out, const trace *t, vp_group by, bool normalize);
void grouping_free(grouping *g);
/* Room by kind that a trace's devices share one after the other. */
typedef struct ops_room ops_room;
int ops_room_new(ops_room **out, const grouping *g, const trace *t);
void ops_room_free(ops_room *r);
/* *times: the device's, of the result's arena. all: over all devices, added to. */
int ops_of_device(host_result *h, const grouping *g, track_set set, uint32_t device, ops_room *room,
                  kind_list *times, kind_times *all);
const uint8_t *grouping_sweep_classes(const grouping *g); /* by kind, for sweep_run */
const uint8_t *grouping_classes(const grouping *g);       /* by kind */
const uint32_t *grouping_groups(const grouping *g);       /* by kind: below grouping_count */
uint32_t grouping_count(const grouping *g);
vp_str grouping_label(const grouping *g, uint32_t group); /* as vp_op.name */

int scopes_collect(host_result *h, const trace *t, const kind_times *kt);
int modules_collect(host_result *h, const trace *t, const kind_times *kt);

/* The k-th smallest (0-based) of n values, reordering them; expected O(n). */
int64_t select_kth(int64_t *v, size_t n, size_t k);
/* Ascending: merges the runs that are there, so O(n log runs); times of a few streams, one after
 * the other, are as many runs. */
int sort_runs(int64_t *v, size_t n);
/* 0-based index of the p-th percentile (0 < p <= 100) of n values by nearest rank. */
size_t nearest_rank(size_t n, unsigned percent);

/* Population standard deviation; n > 0. */
double deviation_of(const int64_t *v, size_t n);

/* Reads nothing: analyses a sealed trace. */
int host_analyze(host_result *h, const trace *t, vp_group by, vp_depth depth);

/* ---- The full analysis: one question a file, each adds its part to `h` ---- */

typedef struct device_work {
    uint32_t process;
    track_set set;     /* its op tracks */
    kind_list times;   /* self and calls of the kinds that it runs */
    uint32_t first_op; /* in h->ops; times.group_n of them */
} device_work;

typedef struct host_kinds host_kinds;       /* what the host's events mean: host_kinds.h */
typedef struct call_index call_index;       /* which call launched an op: calls.h */
typedef struct host_ops_task host_ops_task; /* host_ops.c */

/* The steps of one device on its own clock, for questions that cut by step: ascending, disjoint,
 * half-open. Made by steps_collect, of the result's arena. */
typedef struct step_windows {
    int64_t *start_ps, *end_ps;
    uint32_t *step;  /* which of h->steps.list */
    uint32_t *entry; /* which of that step's devices; without devices unused */
    size_t count;
} step_windows;

typedef struct analysis {
    host_result *h;
    const trace *t;
    const grouping *g;
    const device_work *devices; /* h->device_count of them, in the order of h->devices */
    size_t device_count;
    host_kinds *kinds;
    call_index *calls;
    step_windows *windows; /* by device; NULL before steps_collect and without steps */
    /* The program's own time of each of h->steps, host's clock, the origin not taken off; start >
     * end where only devices tell steps. NULL as above. */
    int64_t *marked_start_ps, *marked_end_ps;
    uint32_t *marked_track; /* and whose event says so */
    host_ops_task *host_ops;
    uint32_t *op_of_group; /* ops_by_group's */
} analysis;

/* Looks at a trace while its analysis stands: h has its devices and ops by then. */
typedef int host_probe(void *ctx, const analysis *a);
int host_analyze_with(host_result *h, const trace *t, vp_group by, vp_depth depth,
                      host_probe *probe, void *probe_ctx);

/* Which of h->ops is group i of a device: right for the groups that it has calls of, and until the
 * next device is asked for. */
const uint32_t *ops_by_group(const analysis *a, uint32_t device);

/* Counts the calls of the host's threads aside: of the result it reads only what the op tables
 * made, and writes nothing there. host_ops_end waits for it, and is right without a start. */
int host_ops_start(analysis *a);
void host_ops_end(analysis *a);

/* In the order in which they run. */
int steps_collect(analysis *a);       /* steps.c: h->steps, ops' and modules' part in them */
int gaps_collect(analysis *a);        /* gaps.c: causes, gaps, idle_labels, idle_before */
int launch_collect(analysis *a);      /* launch.c */
int collectives_collect(analysis *a); /* collectives.c */
int transfers_collect(analysis *a);   /* transfers.c */
int hygiene_collect(analysis *a);     /* hygiene.c: hygiene, splits of ops */
int compile_collect(analysis *a);     /* compile.c */
int threads_collect(analysis *a);     /* threads.c */
int args_collect(analysis *a);        /* args.c: what the program says of itself */
int memory_collect(analysis *a);      /* memory.c */
int barriers_collect(analysis *a);    /* barriers.c: what TPUs wait for each other */
int quality_collect(analysis *a);     /* quality.c: what to doubt; needs launch */
int host_ops_collect(analysis *a);    /* host_ops.c: what host_ops_start counted */

/* transfers.c: all of at least one device. */
bool host_all_cpu(const host_result *h);

#endif
