/* One host's figures, ready to be merged into a session's report: plain values and strings in an
 * arena of their own, so that the trace can be freed before the next is read. Only analyze/
 * includes this. */
#ifndef VP_ANALYZE_HOST_H
#define VP_ANALYZE_HOST_H

#include "include/view_profile.h"
#include "trace/base/arena.h"
#include "trace/base/map.h"
#include "trace/model/trace.h"

/* Self time and calls of one framework path. */
typedef struct scope_item {
    const char *path;
    int64_t self_ps, calls;
} scope_item;

typedef struct module_item {
    const char *name;
    int64_t program_id, runs, total_ps;
    int64_t *samples; /* durations of its runs; `runs` of them, NULL when unknown */
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

/* Self time and calls by kind, over the tracks of a set. */
typedef struct kind_times {
    int64_t *self_ps, *calls; /* by kind */
    uint64_t crossings;       /* events that outlive the one they start in */
} kind_times;
/* group_of and totals by group: the outermost events of one group count once in total_ps. */
int self_times(kind_times *kt, int64_t *group_total, track_set set, const uint32_t *group_of,
               uint32_t group_count);

/* Ops of one device (index `device` of h->devices), appended to h->ops; also its scopes/modules. */
typedef struct grouping grouping;
int grouping_new(grouping **out, const trace *t, vp_group by, bool normalize);
void grouping_free(grouping *g);
int ops_of_device(host_result *h, const grouping *g, track_set set, uint32_t device,
                  kind_times *kt);
const uint8_t *grouping_classes(const grouping *g);

int scopes_collect(host_result *h, const trace *t, const kind_times *kt);
int modules_collect(host_result *h, const trace *t, const kind_times *kt);

/* The k-th smallest (0-based) of n values, reordering them; expected O(n). */
int64_t select_kth(int64_t *v, size_t n, size_t k);
/* 0-based index of the p-th percentile (0 < p <= 100) of n values by nearest rank. */
size_t nearest_rank(size_t n, unsigned percent);

/* Reads nothing: analyses a sealed trace. */
int host_analyze(host_result *h, const trace *t, vp_group by);

#endif
