/* Internal header of findings*.c: one pass over the table of rules, the ledger of claims, and the
 * functions that build messages. Everything is in the report's arena or in fnd_run. Out of memory
 * is sticky and checked once at the end. */
#ifndef VP_ANALYZE_FINDINGS_RUN_H
#define VP_ANALYZE_FINDINGS_RUN_H

#include "trace/analyze/findings/findings.h"
#include "trace/base/arena.h"
#include "trace/base/map.h"

/* Below this share of a window (one in 200) nothing is a finding
 * (docs/reference/findings.md#severity: low from 0.5%). */
#define FND_LEAST_SHARE 200
#define FND_PLACES_MAX 5u
#define FND_US INT64_C(1000000)
/* The time that recording one host event costs the program
 * (docs/reference/findings.md#f43-overhead). */
#define FND_EVENT_COST_PS INT64_C(350000)
/* With fewer complete steps, or fewer collective calls matched on all devices, rules are not
 * evaluated (docs/reference/findings.md#f12-step-outlier,
 * docs/reference/findings.md#f16-straggler). */
#define FND_STEPS_LEAST 5
#define FND_MATCHED_LEAST 4

/* Cells of a device's window. */
enum {
    FND_IDLE = 0,                         /* + vp_cause */
    FND_COPY = VP_CAUSES,                 /* + vp_direction: exposed copies */
    FND_COMM = VP_CAUSES + VP_DIRECTIONS, /* exposed communication */
    FND_COMPUTE,
    FND_GC,    /* idle time while the training thread collects garbage */
    FND_WRITE, /* the same while it writes a checkpoint */
    FND_CELLS
};
#define FND_BIT(cell) (1u << (cell))
/* The bit of a row of the table, in sets of rules. */
#define FND_RULE(i) (UINT64_C(1) << (i))
/* Parts of the idle time of VP_CAUSE_HOST, with cells of their own. */
#define FND_HOST_PARTS (FND_BIT(FND_GC) | FND_BIT(FND_WRITE))
#define FND_ALL_IDLE ((FND_BIT(VP_CAUSES) - 1u) | FND_HOST_PARTS)
/* Minimum number of steps with two more steps after them, to evaluate memory that steps do not
 * free. */
#define FND_LEAK_STEPS_LEAST 3
#define FND_ALL_COPY ((FND_BIT(VP_DIRECTIONS) - 1u) << FND_COPY)
/* All causes for which the launching thread was late. */
#define FND_HOST_LATE ((FND_BIT(VP_CAUSE_HOST + 1) - 1u) | FND_HOST_PARTS)
/* Idle time without a cause that another rule knows. */
#define FND_HOST_WAITS                                                                             \
    (FND_BIT(VP_CAUSE_SYNC) | FND_BIT(VP_CAUSE_HOST) | FND_BIT(VP_CAUSE_CALL) |                    \
     FND_BIT(VP_CAUSE_LATENCY) | FND_BIT(VP_CAUSE_UNKNOWN))

/* Requirements of rules, and their names in messages. */
#define FND_NEEDS(X)                                                                               \
    X(DEVICE, "a device")                                                                          \
    X(FULL, "the full analysis")                                                                   \
    X(HOST, "host events")                                                                         \
    X(CAUSES, "host labels or launch correlation")                                                 \
    X(LAUNCH, "launch correlation")                                                                \
    X(STEPS, "steps")                                                                              \
    X(FIVE_STEPS, "five complete steps with a duration")                                           \
    X(SECOND_DEVICE, "two or more devices that run the same modules")                              \
    X(MATCHED, "four collective calls matched across devices")                                     \
    X(CLOCKS, "aligned host clocks")                                                               \
    X(MODULES, "module runs")                                                                      \
    X(NAMES, "ops grouped by name")                                                                \
    X(MEMORY, "memory events with a limit, or memory plans and the device's memory size")          \
    X(LEAKS, "allocations with addresses in five steps")                                           \
    X(FRAGMENTS, "an allocator that reports fragmentation")                                        \
    X(PLANS, "memory plans of executed programs")                                                  \
    X(ROOM, "a known device memory size")                                                          \
    X(PAGEABLE, "copies with a memory kind")                                                       \
    X(CAPTURE, "the length of the capture")                                                        \
    X(PROGRAMS, "HLO programs of executed modules")                                                \
    X(ZONES, "a program without devices")                                                          \
    X(TORCH, "operators of PyTorch")                                                               \
    X(OPERATORS, "a device or operators of PyTorch")                                               \
    X(PEAK, "a device with a known peak, and FLOP of its ops")
#define FND_NEED_AT(name, words) FND_NEED_##name##_AT,
#define FND_NEED_BIT(name, words) FND_NEED_##name = 1 << FND_NEED_##name##_AT,
enum { FND_NEEDS(FND_NEED_AT) FND_NEED_COUNT };
enum { FND_NEEDS(FND_NEED_BIT) };

typedef struct fnd_cells {
    int64_t whole_ps[FND_CELLS], left_ps[FND_CELLS];
    uint64_t takers[FND_CELLS]; /* bit i: rule i of the table took some of the cell */
    uint64_t offered;           /* bit i: rule i has a claim */
    int64_t kept_ps;            /* idle time that is reserved for F6 while F3 is evaluated */

} fnd_cells;

/* The claim of a rule on one device. */
typedef struct fnd_claim {
    uint32_t device;
    int64_t gross_ps; /* by the rule's definition; with several streams it may exceed the window */
    int64_t spare_ps; /* part of the cells that is normal, and not claimed */
    int64_t part_ps[FND_CELLS]; /* the claimed amount of each cell, at most all of it */
    double value;               /* evidence */
    int64_t alone_ps;           /* set by fnd_settle: the part of gross_ps that the cells contain */
    int64_t rest_ps;            /* set by fnd_settle: the part of that which no rule has taken */
} fnd_claim;

/* Rows of one of the report's lists by device, in their order. */
typedef struct fnd_index {
    uint32_t *first; /* by device, and the end of the last device's rows */
    uint32_t *row;
} fnd_index;

typedef struct fnd_host {
    const char *name;
    int64_t wait_ps; /* of the thread that waits longest: in blocking calls while the host's devices
                        are idle */
    const vp_host_op *wait_op;      /* the call of it that blocks longest; NULL: none */
    int64_t in_vain_ps;             /* compile time that a warm program does not need (F10) */
    int64_t tracing_ps;             /* tracing and lowering before those compiles */
    const vp_replay *replay;        /* NULL: none, or one whose error is too large */
    const vp_user_function *costly; /* the function without which the replay takes least, of those
                                       that no other rule names; NULL: none */
} fnd_host;

/* The framework for the wording of advice, derived from the kind of the run and the recorder. */
typedef enum fnd_words {
    FND_WORDS_XLA,
    FND_WORDS_PYTORCH,
    FND_WORDS_NATIVE,
    FND_WORDS_TENSORFLOW
} fnd_words;

typedef struct fnd_run {
    vp_report *r;
    vp_arena *arena;    /* of the report */
    vp_arena scratch;   /* for all members below, freed at the end */
    fnd_cells *devices; /* by device */
    fnd_index ops, gaps, transfers, collectives;
    fnd_host *hosts; /* by name */
    uint32_t first_cpu;
    /* Without a device: threads whose slow steps waited longer than usual (F28), and the excess. */
    uint32_t step_wait_device;
    int64_t step_wait_ps;
    fnd_words words;
    bool straggling;   /* F16 fires */
    fnd_claim *claims; /* of the current rule; space for one per device */
    size_t claim_count;
    int64_t compile_left_ps; /* the part of r->compile.total_ps that no rule has taken */
    uint64_t compile_takers;
    uint64_t rule_bit;
    const finding_rule *rules; /* the table: bit i of a set is row i */
    const finding_rule *rule;
    vp_finding *f;
    bool out_of_memory;
} fnd_run;

/* ---- Lists by device and by host (findings_index.c) ---- */

int fnd_index_all(fnd_run *run);
/* for (FND_ROWS(i, &run->ops, device)): i iterates over the rows of a device. */
#define FND_ROWS(i, index, device)                                                                 \
    const uint32_t *fnd_at = (index)->row + (index)->first[device],                                \
                   *fnd_end = (index)->row + (index)->first[(device) + 1];                         \
    fnd_at < fnd_end && (i = *fnd_at, true);                                                       \
    fnd_at++
/* The host of that name; if there is only one, that one. NULL: unknown. */
fnd_host *fnd_host_of(const fnd_run *run, const char *name);
/* The time that a call blocks while all devices of its host are idle. */
int64_t fnd_blocked(const vp_host_op *op);

/* The op of a device with the largest value of a member of vp_avoidable; NULL: all are 0. modules:
 * counts only ops of modules with these hashed names; NULL: all. *sum: over these ops. */
const vp_op *fnd_largest_avoidable(const fnd_run *run, uint32_t device, size_t member,
                                   const vp_map *modules, int64_t *sum);
/* The op of a module with the most time of those with a known source; NULL: none. */
const vp_op *fnd_op_of_module(const vp_report *r, const vp_module *m);
#define FND_AVOIDABLE(member) offsetof(vp_avoidable, member)

/* ---- Claims (findings_claims.c) ---- */

void fnd_cells_init(fnd_run *run);
/* Claims all of these cells of the device for the current rule. */
fnd_claim *fnd_offer(fnd_run *run, uint32_t device, uint32_t cells, int64_t gross_ps, double value);
/* Stores the value if it is the worst so far: it is the evidence of a rule that is clear. */
void fnd_keep_value(fnd_run *run, double value);
/* Claims `ps` on these cells if its share of the whole exceeds (fnd_exceeds) or reaches
 * (fnd_reaches) the rule's FND_SHARE; the share is the evidence. */
void fnd_offer_share(fnd_run *run, uint32_t device, uint32_t cells, int64_t ps, int64_t whole_ps,
                     bool (*fires)(const fnd_run *, int64_t, int64_t, finding_limit));
/* Decides whether the rule fires, is explained or is clear. If it fires, takes the time of all its
 * claims. Sets impact, gross, window, value and severity of the finding from the claim with the
 * most time left (of those within 1% the first; if nothing is left, from the one with the largest
 * gross). Impact and gross are parts of the device's window, so neither exceeds it; they differ by
 * the time that other rules took. NULL: the rule is clear, because nothing was offered, or too
 * little. */
const fnd_claim *fnd_settle(fnd_run *run);
/* Takes up to `ps` of these cells of the device for the current rule. */
void fnd_take(fnd_run *run, uint32_t device, uint32_t cells, int64_t ps);
/* True if `ps` is too little for a finding. */
bool fnd_too_little(int64_t ps, int64_t window_ps);
/* Appends the ids of a set of rules to explained_by. */
void fnd_explain(fnd_run *run, uint64_t takers);
/* impact/window as a level: high from 10%, medium from 3%, else low
 * (docs/reference/findings.md#severity). */
vp_level fnd_level(int64_t impact_ps, int64_t window_ps);
int64_t fnd_sum(const int64_t *ps, unsigned first, unsigned count);
/* part * 1000 > whole * permille, exactly; false if the denominator is 0. */
bool fnd_above(int64_t part_ps, int64_t whole_ps, int64_t permille);
bool fnd_at_least(int64_t part_ps, int64_t whole_ps, int64_t permille); /* >= */
/* The same against a limit of the current rule, in permille. */
bool fnd_exceeds(const fnd_run *run, int64_t part_ps, int64_t whole_ps, finding_limit limit);
bool fnd_reaches(const fnd_run *run, int64_t part_ps, int64_t whole_ps, finding_limit limit);
/* A limit of the current rule in permille of `ps`. */
int64_t fnd_limit_of(const fnd_run *run, int64_t ps, finding_limit limit);
/* FND_TIME of the current rule. */
int64_t fnd_limit_ps(const fnd_run *run);
/* The first row of the table with this function. */
const finding_rule *fnd_rule_of(const fnd_run *run, void (*rule)(fnd_run *));
double fnd_share(int64_t part, int64_t whole);        /* 0 if the denominator is 0 */
int64_t fnd_of(int64_t ps, int64_t num, int64_t den); /* ps * num / den in 128 bits */

/* ---- Messages (findings_say.c) ---- */

const char *fnd_say(fnd_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *fnd_time(fnd_run *run, int64_t ps);                     /* "57.77 s" */
const char *fnd_percent(fnd_run *run, int64_t part, int64_t whole); /* "96.5%" */
const char *fnd_count(fnd_run *run, int64_t n);                     /* "12,345" */
const char *fnd_bytes(fnd_run *run, int64_t n);                     /* "1.5 GiB" */
const char *fnd_short(fnd_run *run, const char *name);              /* at most 60 bytes of a name */
/* ", called by train (train.py:20)" and `after`; "" for NULL. */
const char *fnd_called_by(fnd_run *run, const char *caller, const char *after);
const char *fnd_path(fnd_run *run, const char *path); /* at most its last 60 bytes */
/* The place of an op in the program: "loss (train.py:12)", or its source line; NULL: unknown. */
const char *fnd_op_place(fnd_run *run, const vp_op *op);
/* "fusion.2 in loss (train.py:12)", "fusion.2 at train.py:12", "fusion.2" */
const char *fnd_op_at(fnd_run *run, const vp_op *op);
const char *fnd_device(fnd_run *run, uint32_t device); /* "TPU:0", with its host if many */
int64_t fnd_window(const fnd_run *run, uint32_t device);
int64_t fnd_windows(const fnd_run *run); /* of all devices */
/* The name of the claim's device, and the number of devices if there are several. */
const char *fnd_worst(fnd_run *run, const fnd_claim *c);
void fnd_message(fnd_run *run, const char *message);
void fnd_caveat(fnd_run *run, const char *text);
void fnd_missing(fnd_run *run, const char *text); /* makes it VP_NOT_EVALUATED */
void fnd_lacks(fnd_run *run, unsigned need);      /* the same for one FND_NEED_… */
bool fnd_has_causes(const vp_report *r);          /* FND_NEED_CAUSES is there */
void fnd_place(fnd_run *run, uint32_t device, const char *track, int64_t start_ps, int64_t dur_ps);
/* The only place of a finding of a host without a device: VP_NO_TIME, or a time. */
void fnd_place_on_host(fnd_run *run, const char *host, const char *track, int64_t start_ps);
/* Places the finding in the first complete step, since it is true for every step. Without steps
 * only the device is named. */
void fnd_place_in_step(fnd_run *run, uint32_t device, const char *track);
/* Places the finding in the gaps with the most idle time of these causes, on the devices of its
 * claims. */
void fnd_gap_places(fnd_run *run, uint32_t causes);
/* "LABEL on thread THREAD (TIME, N gaps)". */
const char *fnd_label(fnd_run *run, const vp_idle_label *l);
/* The host activity during the device's idle time of these causes, as far as the report lists it.
 */
typedef struct fnd_idle_parts {
    /* the largest part with an event; its name is NULL if it has none */
    const vp_idle_label *label;
    int64_t silent_ps;  /* without any event: the host recorded nothing */
    int64_t latency_ps; /* without a possible name: launched, but not begun */
} fnd_idle_parts;
/* The main part of the claimed idle time: "; most of it in LABEL …", or its kind if it has no
 * label; "" if unknown. If most of the remaining time has causes that no earlier rule claims, only
 * these are considered. findings_idle.c. */
const char *fnd_main_idle_label(fnd_run *run, const fnd_claim *c, uint32_t causes);
fnd_idle_parts fnd_idle_labels(const fnd_run *run, uint32_t device, uint32_t causes);

/* ---- Predicted savings (findings_replay.c) ---- */

/* Minimum number of reads or launches in each call of a function to describe it by them. */
#define FND_PER_CALL 4

typedef enum fnd_function_role {
    FND_ROLE_WORKS,
    FND_ROLE_READS,   /* reads results one by one */
    FND_ROLE_LAUNCHES /* launches many programs */
} fnd_function_role;

typedef struct fnd_function {
    const vp_user_function *f; /* NULL: none */
    int64_t saved_ps; /* saving as a part of the device's window, if the program runs without it */
    fnd_function_role role;
    int64_t run_ps; /* part of the window in which the programs run that it launches */
} fnd_function;

/* The function of the user's program with the largest saving. Functions that other rules name
 * (input, garbage, files) are left out. */
fnd_function fnd_costly_function(const fnd_run *run, uint32_t device);
/* Sets the replay and the costly function of each host, once hosts are indexed. VP_ENOMEM. */
int fnd_index_replays(fnd_run *run);
/* The saving as a part of the window if the program never waits; 0: unknown. *waiter: the function
 * that waits most; NULL: unknown. */
int64_t fnd_unwaited(const fnd_run *run, uint32_t device, const char **waiter);
/* Claims a predicted saving: idle time without another known cause, and run_ps of compute time. */
void fnd_offer_predicted(fnd_run *run, uint32_t device, int64_t saved_ps, int64_t run_ps,
                         double value);
/* Marks the finding as predicted, and states the error of the replay. */
void fnd_predicted(fnd_run *run, uint32_t device);

/* ---- Rules, by family ---- */

void fnd_trace_unreliable(fnd_run *run); /* findings_data.c */
void fnd_memory(fnd_run *run);           /* findings_memory.c */
void fnd_leak(fnd_run *run);
void fnd_fragments(fnd_run *run);
void fnd_double_inputs(fnd_run *run);
void fnd_missing_donation(fnd_run *run); /* findings_plans.c */
void fnd_padding(fnd_run *run);
void fnd_large_temporary(fnd_run *run);
void fnd_planned_gaps(fnd_run *run);
void fnd_offload(fnd_run *run);
/* The plan with the largest share of its host's device memory, of those that ran; NULL: none with
 * known memory. *room: the smallest memory of those devices. */
const vp_memory_plan *fnd_fullest_plan(const vp_report *r, int64_t *room);
/* The plan of a module's main memory; host may be NULL. NULL: none. */
const vp_memory_plan *fnd_plan_of(const vp_report *r, const char *module, const char *host);
/* "; the largest that is there is fusion.2 in jit(f) (model.py:12), 3.0 GiB", at its peak; "" if
 * unknown. temporary: only temporaries. */
const char *fnd_largest_buffer(fnd_run *run, const vp_memory_plan *p, bool temporary);
/* "step(3) on node0" */
const char *fnd_program(fnd_run *run, const vp_memory_plan *p);
/* FND_NEED_PLANS is there: of a device's main memory. */
bool fnd_has_plans(const vp_report *r);
void fnd_recompile(fnd_run *run); /* findings_compile.c */
void fnd_compile_share(fnd_run *run);
void fnd_garbage(fnd_run *run); /* findings_activity.c */
void fnd_blocking_write(fnd_run *run);
void fnd_overhead(fnd_run *run); /* findings_torch.c */
void fnd_graph_breaks(fnd_run *run);
void fnd_unused_autograd(fnd_run *run);
void fnd_optimizer_loop(fnd_run *run);
void fnd_scalar_reads(fnd_run *run); /* findings_torch_costs.c */
void fnd_operator_loop(fnd_run *run);
/* True if a call reads values of tensors, and a process does that in a loop: then its time is
 * F54's.
 */
bool fnd_is_read_in_loop(const fnd_run *run, uint32_t device, const char *call);
/* F47, F19, and parts of F45 and F46 in programs of PyTorch without devices. False: the rule is
 * clear. */
void fnd_torch_float64(fnd_run *run);
void fnd_torch_layout(fnd_run *run);
bool fnd_unused_gradients(fnd_run *run);
bool fnd_optimizer_saving(fnd_run *run);
/* Selects the advice by the type of the loader on the device's host: waiting, or working. */
void fnd_advise_loader(fnd_run *run, uint32_t device);
/* F14 in a profile without devices. */
void fnd_host_input(fnd_run *run);
/* Time of all activities of a kind: of a process without devices, or while a host's devices are
 * idle. */
int64_t fnd_activity_ps(const fnd_run *run, uint32_t device, vp_activity_kind kind);
/* True if an activity is on the host of a device, or in that process. */
bool fnd_concerns_device(const fnd_run *run, const vp_activity *x, uint32_t device);
/* The cell of an activity in a window. */
unsigned fnd_activity_cell(vp_activity_kind kind);
/* Adds to a claim on waits of a thread the parts in cells of activities. */
void fnd_add_activity_waits(const fnd_run *run, fnd_claim *c, const vp_thread *x);
void fnd_input_bound(fnd_run *run); /* findings_idle.c */
void fnd_debug_callback(fnd_run *run);
void fnd_sync_call(fnd_run *run);
void fnd_launch_bound(fnd_run *run);
/* True if kernels of the device are launched one by one, as far as the profile shows launches. */
bool fnd_is_launched(const fnd_run *run, uint32_t device);
void fnd_host_bound(fnd_run *run);
void fnd_device_idle(fnd_run *run);
void fnd_pageable(fnd_run *run); /* findings_copy.c */
void fnd_transfers(fnd_run *run);
/* True if F6 claims the idle time in which the host copies for the device, so that F3 and F9 do
 * not. */
bool fnd_waits_for_host_copies(const fnd_run *run, uint32_t device);
void fnd_async_wait(fnd_run *run);
void fnd_straggler(fnd_run *run); /* findings_comm.c */
void fnd_imbalance(fnd_run *run);
void fnd_peer_waits(fnd_run *run);
void fnd_exposed_comm(fnd_run *run);
void fnd_poor_overlap(fnd_run *run);
bool fnd_straggles(const fnd_run *run); /* F16 fires; the current rule must be F16 */
/* The time that the device waits for a straggler; 0 if there is none. */
int64_t fnd_straggler_wait(const fnd_run *run, uint32_t device);
void fnd_double_precision(fnd_run *run); /* findings_programs.c */
void fnd_small_programs(fnd_run *run);
void fnd_occasional_program(fnd_run *run);
void fnd_dense_embedding(fnd_run *run); /* findings_avoidable.c */
void fnd_recomputation(fnd_run *run);
void fnd_repeated_forward(fnd_run *run);
void fnd_unrolled(fnd_run *run);
void fnd_hot_op(fnd_run *run); /* findings_ops.c */
void fnd_repeated_work(fnd_run *run);
void fnd_data_formatting(fnd_run *run);
void fnd_unknown_cost(fnd_run *run); /* findings_mfu.c */
void fnd_above_peak(fnd_run *run);
void fnd_inefficiency(fnd_run *run);
void fnd_op_variance(fnd_run *run);
/* True if there are many calls and their CV (deviation / mean) exceeds the rule's FND_SPREAD. */
bool fnd_varies(const fnd_run *run, double stddev_ps, int64_t calls, int64_t total_ps);
void fnd_long_gap(fnd_run *run); /* findings_steps.c */
void fnd_step_outlier(fnd_run *run);
void fnd_jitter(fnd_run *run);
void fnd_thread_wait(fnd_run *run); /* findings_host.c */
void fnd_thread_imbalance(fnd_run *run);
void fnd_hot_zone(fnd_run *run);
void fnd_zone_variance(fnd_run *run);

#endif
