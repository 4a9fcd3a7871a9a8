/* Values of one host, ready to be merged into the report of a run: plain values and strings in a
 * separate arena, so that the trace can be freed before the next one is read. The creator frees the
 * result. */
#ifndef VP_ANALYZE_HOST_RESULT_H
#define VP_ANALYZE_HOST_RESULT_H

#include "include/view_profile.h"
#include "trace/analyze/result/packed_steps.h"
#include "trace/base/arena.h"
#include "trace/model/trace.h"

/* Peaks that the user passed: vp_report_options. 0, NULL: not passed. */
typedef struct peak_wish {
    const char *chip;
    int64_t gflops, mb_s;
} peak_wish;

/* Sums of one framework path, over ops directly in it. */
typedef struct scope_item {
    const char *path, *source;
    int64_t self_ps, calls, bytes, flops; /* bytes, flops: VP_UNKNOWN */
    int64_t idle_before_ps, backward_ps, remat_ps;
    vp_roof roof;
} scope_item;

/* From this number of runs in a step on, a module counts as repeated
 * (docs/reference/findings.md#f24-repeated-work). */
#define MODULE_REPEATS 3

typedef struct module_item {
    const char *name;
    int64_t program_id, runs, total_ps;
    int64_t *samples; /* durations of its runs, ascending; `runs` of them, NULL: unknown */
    int64_t repeat_steps, repeat_ps, repeat_runs; /* as in vp_module (full) */
    int64_t in_steps, in_steps_ps, ops, op_calls; /* likewise */
    const char *repeats;                          /* likewise */
} module_item;

/* The lists that a host's result and a report have under the same names: X(row type, rows, number,
 * capacity). Those of a full report have public structs, whose strings and inner arrays are in the
 * arena. */
#define HOST_LISTS(X)                                                                              \
    X(vp_device, devices, device_count, device_cap)                                                \
    X(vp_op, ops, op_count, op_cap) /* .device indexes devices */                                  \
    X(vp_quality, quality, quality_count, quality_cap)
#define HOST_FULL_LISTS(X)                                                                         \
    X(vp_gap, gaps, gap_count, gap_cap)                                                            \
    X(vp_idle_label, idle_labels, idle_label_count, idle_label_cap)                                \
    X(vp_collective, collectives, collective_count, collective_cap)                                \
    X(vp_transfer, transfers, transfer_count, transfer_cap)                                        \
    X(vp_host_op, host_ops, host_op_count, host_op_cap)                                            \
    X(vp_thread, threads, thread_count, thread_cap)                                                \
    X(vp_activity, activities, activity_count, activity_cap)                                       \
    X(vp_replay, replays, replay_count, replay_cap)                                                \
    X(vp_user_function, user_functions, user_function_count, user_function_cap)                    \
    X(vp_torch_cost, torch_costs, torch_cost_count, torch_cost_cap)                                \
    X(vp_memory, memory, memory_count, memory_cap)                                                 \
    X(vp_memory_plan, memory_static, memory_static_count, memory_static_cap)                       \
    X(vp_memory_programs, memory_programs, memory_programs_count, memory_programs_cap)
/* These are in the arena, including rows: X(row type, rows, number, total number). */
#define HOST_ARENA_LISTS(X)                                                                        \
    X(vp_values, args, arg_count, arg_total)                                                       \
    X(vp_values, counters, counter_count, counter_total)                                           \
    X(vp_meta, meta, meta_count, meta_total)

#define HOST_LIST_MEMBERS(type, rows, count, cap)                                                  \
    type *rows;                                                                                    \
    size_t count, cap;
#define HOST_ARENA_MEMBERS(type, rows, count, total)                                               \
    type *rows;                                                                                    \
    size_t count;                                                                                  \
    int64_t total;

/* Device indices are those of the host; aligned times are relative to the origin. */
typedef struct host_result {
    vp_arena arena;
    HOST_LISTS(HOST_LIST_MEMBERS)
    HOST_FULL_LISTS(HOST_LIST_MEMBERS)
    HOST_ARENA_LISTS(HOST_ARENA_MEMBERS)
    scope_item *scopes;
    size_t scope_count, scope_cap;
    module_item *modules;
    size_t module_count, module_cap;
    vp_steps steps;
    size_t step_cap;
    packed_steps packed; /* the steps' devices while the trace exists; then */
    vp_arena step_rows;  /* these, which a report of only this host takes over */
    vp_compile compile;
    vp_torch torch;
    size_t function_cap;
    uint64_t quality_dropped; /* notes beyond VP_QUALITY_MAX */
    int64_t host_op_total;
    int64_t base_unix_ns, capture_ps; /* -1 unknown */
    int64_t origin_ps; /* subtracted from aligned times: the trace's time that is 0 in the report */
    int64_t timeline_ns; /* added to times relative to the origin, for times in the file */
    int64_t start_ps,
        end_ps; /* range of everything analyzed, aligned clock, relative to the origin */
    int64_t events;
    bool has_devices, partial, own_clock;
    peak_wish wish;       /* of the caller of the analysis */
    const char *steps_by; /* as in vp_report_options */
} host_result;

void host_result_init(host_result *h);
void host_result_free(host_result *h);
/* Adds devices to steps, after all sections are packed (packed_steps.h). VP_ENOMEM. */
int host_unpack_steps(host_result *h, int threads);
/* A copy in the arena; NULL for an empty string. *out is unchanged on failure. */
int host_text(const char **out, host_result *h, vp_str s);
/* Add a quality entry; the code is a constant. */
int host_quality(host_result *h, const trace_quality *q);
/* The same for notes of analyses; beyond VP_QUALITY_MAX entries they are only counted. */
int host_note(host_result *h, const char *code, vp_severity severity, const char *message);
/* A thread's name, or its number; *out is unchanged if the trace has no such track. */
int thread_text(const char **out, host_result *h, const trace *t, uint32_t track);
/* Adds costs; sums saturate. */
void roof_add(vp_roof *sum, const vp_roof *more);
/* Subtracts costs, unless the sum is saturated. */
void roof_take(vp_roof *sum, const vp_roof *less);
/* Of no work. */
#define ROOF_NONE                                                                                  \
    (vp_roof)                                                                                      \
    {                                                                                              \
        .flops = VP_UNKNOWN, .bytes = VP_UNKNOWN                                                   \
    }
/* True if it has devices and all are CPUs. */
bool host_all_cpu(const host_result *h);

#endif
