/* One host's figures, ready to be merged into a session's report: plain values and strings in an
 * arena of their own, so that the trace can be freed before the next is read. Every sub-room of
 * analyze/ includes this; whoever made a result frees it. */
#ifndef VP_ANALYZE_HOST_RESULT_H
#define VP_ANALYZE_HOST_RESULT_H

#include "include/view_profile.h"
#include "trace/base/arena.h"
#include "trace/model/trace.h"

/* What one framework path adds up to, by ops that stand exactly there. */
typedef struct scope_item {
    const char *path, *source;
    int64_t self_ps, calls, bytes, flops; /* bytes, flops: VP_UNKNOWN */
    int64_t idle_before_ps, backward_ps, remat_ps;
} scope_item;

/* From so many runs in a step on, a module counts as repeated (analysis.md F24). */
#define MODULE_REPEATS 3

typedef struct module_item {
    const char *name;
    int64_t program_id, runs, total_ps;
    int64_t *samples; /* durations of its runs; `runs` of them, NULL: unknown */
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
    /* Full depth: the public structs, whose strings and inner arrays lie in the arena. Device
     * numbers count within the host; aligned times are after the origin. */
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
    vp_values *args, *counters; /* these and meta lie in the arena */
    size_t arg_count, counter_count, meta_count;
    vp_meta *meta;
    int64_t arg_total, counter_total, meta_total;
    vp_memory *memory;
    size_t memory_count, memory_cap;
    int64_t base_unix_ns, capture_ps; /* -1 unknown */
    int64_t
        origin_ps; /* subtracted from aligned times: where the report's time 0 lies in the trace */
    int64_t timeline_ns; /* to be added to times after the origin, for times of the file itself */
    int64_t start_ps, end_ps; /* of everything analysed, aligned clock, after the origin */
    int64_t events;
    bool has_devices, partial, own_clock;
} host_result;

void host_result_init(host_result *h);
void host_result_free(host_result *h);
/* A copy in the arena; NULL for an empty string. *out untouched on failure. */
int host_text(const char **out, host_result *h, vp_str s);
/* Add a quality entry; the code is a constant. */
int host_quality(host_result *h, const trace_quality *q);
int host_note(host_result *h, const char *code, vp_severity severity, const char *message);
/* A thread's name, or its number; *out untouched where the trace has no such track. */
int thread_text(const char **out, host_result *h, const trace *t, uint32_t track);
/* Whether it has devices and all are CPUs. */
bool host_all_cpu(const host_result *h);

#endif
