/* What the rules of findings share: one pass over the table, the ledger of claims, and how messages
 * are written. Only trace/analyze/findings*.c include this. Everything is in the report's arena or
 * in fd_run; running out of memory is sticky and checked once, at the end. */
#ifndef VP_ANALYZE_FINDINGS_RUN_H
#define VP_ANALYZE_FINDINGS_RUN_H

#include "trace/analyze/findings/findings.h"
#include "trace/base/arena.h"

/* Of a window: below this nothing is worth a finding (one in 200). */
#define FD_LEAST_SHARE 200
#define FD_PLACES_MAX 5u
#define FD_US INT64_C(1000000)
/* Fewer say nothing. */
#define FD_STEPS_LEAST 5
#define FD_MATCHED_LEAST 4

/* Cells of a device's window. */
enum {
    FD_IDLE = 0,                         /* + vp_cause */
    FD_COPY = VP_CAUSES,                 /* + vp_direction: exposed copies */
    FD_COMM = VP_CAUSES + VP_DIRECTIONS, /* exposed communication */
    FD_COMPUTE,
    FD_CELLS
};
#define FD_BIT(cell) (1u << (cell))
#define FD_ALL_IDLE (FD_BIT(VP_CAUSES) - 1u)
#define FD_ALL_COPY ((FD_BIT(VP_DIRECTIONS) - 1u) << FD_COPY)
/* The launching thread was late, for whatever reason. */
#define FD_HOST_LATE (FD_BIT(VP_CAUSE_HOST + 1) - 1u)

/* What a rule may need, and how that is called where it is missing. */
#define FD_NEEDS(X)                                                                                \
    X(DEVICE, "a device")                                                                          \
    X(FULL, "the full analysis")                                                                   \
    X(HOST, "host events")                                                                         \
    X(CAUSES, "host labels or launch correlation")                                                 \
    X(LAUNCH, "launch correlation")                                                                \
    X(STEPS, "steps")                                                                              \
    X(FIVE_STEPS, "five whole steps that take time")                                               \
    X(SECOND_DEVICE, "a second device that runs the same modules")                                 \
    X(MATCHED, "four collective calls seen on all their devices")                                  \
    X(CLOCKS, "comparable clocks of the hosts")                                                    \
    X(MODULES, "modules")                                                                          \
    X(NAMES, "ops grouped by name")                                                                \
    X(MEMORY, "memory events with a limit")                                                        \
    X(PAGEABLE, "copies that name their kind of memory")                                           \
    X(CAPTURE, "the length of the capture")                                                        \
    X(ZONES, "a program without a device")
#define FD_NEED_AT(name, words) FD_NEED_##name##_AT,
#define FD_NEED_BIT(name, words) FD_NEED_##name = 1 << FD_NEED_##name##_AT,
enum { FD_NEEDS(FD_NEED_AT) FD_NEED_COUNT };
enum { FD_NEEDS(FD_NEED_BIT) };

typedef struct fd_cells {
    int64_t whole_ps[FD_CELLS], left_ps[FD_CELLS];
    uint32_t takers[FD_CELLS]; /* bit i: rule i of the table took something */
    uint32_t offered;          /* bit i: rule i has a claim */
    int64_t kept_ps;           /* of idle time, while F3 is judged: what F6 will claim */

} fd_cells;

/* What a rule explains on one device. */
typedef struct fd_claim {
    uint32_t device;
    int64_t gross_ps;          /* as the rule counts it: several streams may exceed the window */
    int64_t spare_ps;          /* of the cells, left to nobody: idle time that is normal */
    int64_t part_ps[FD_CELLS]; /* of each cell, at most its whole */
    double value;              /* evidence */
    int64_t alone_ps;          /* set by fd_settle: of gross_ps what these cells hold */
    int64_t rest_ps;           /* likewise: what of that nobody has taken */
} fd_claim;

/* Rows of one of the report's lists by device, in their order. */
typedef struct fd_index {
    uint32_t *first; /* by device; one more behind the last */
    uint32_t *row;
} fd_index;

typedef struct fd_host {
    const char *name;
    int64_t wait_ps; /* in blocking calls of its longest waiting thread, while its devices idle */
    const vp_host_op *wait_op; /* the worst of them; NULL without any */
    int64_t in_vain_ps;        /* compile time that a warm program does not need (F10) */
} fd_host;

/* Whose words advice is in: by the session's kind, and by who recorded it. */
typedef enum fd_words { FD_WORDS_XLA, FD_WORDS_PYTORCH, FD_WORDS_NATIVE } fd_words;

typedef struct fd_run {
    vp_report *r;
    vp_arena *arena;   /* of the report */
    vp_arena scratch;  /* everything below */
    fd_cells *devices; /* by device */
    fd_index ops, gaps, transfers, collectives;
    fd_host *hosts; /* by name */
    uint32_t first_cpu;
    /* Without a device: by how much slow steps waited longer (F28), and whose steps they are. */
    uint32_t step_wait_device;
    int64_t step_wait_ps;
    fd_words words;
    bool straggling;  /* F16 holds */
    fd_claim *claims; /* of the rule at work; room for one a device */
    size_t claim_count;
    int64_t compile_left_ps; /* of r->compile.total_ps */
    uint32_t compile_takers;
    uint32_t rule_bit;
    const finding_rule *rules; /* all: bit i is of rule i */
    const finding_rule *rule;
    vp_finding *f;
    bool out_of_memory;
} fd_run;

/* ---- Lists by device and by host (findings_index.c) ---- */

int fd_index_all(fd_run *run);
/* for (FD_ROWS(i, &run->ops, device)): i goes through the rows of a device. */
#define FD_ROWS(i, index, device)                                                                  \
    const uint32_t *fd_at = (index)->row + (index)->first[device],                                 \
                   *fd_end = (index)->row + (index)->first[(device) + 1];                          \
    fd_at < fd_end && (i = *fd_at, true);                                                          \
    fd_at++
/* The host of that name; of one host, it, whatever the name. NULL: unknown. */
fd_host *fd_host_of(const fd_run *run, const char *name);
/* While a call blocks and all devices of its host idle. */
int64_t fd_blocked(const vp_host_op *op);

/* ---- Claims (findings_claims.c) ---- */

void fd_cells_init(fd_run *run);
/* A claim on the device for the rule at work, of the whole of these cells. */
fd_claim *fd_offer(fd_run *run, uint32_t device, uint32_t cells, int64_t gross_ps, double value);
/* The evidence of a rule that is clear is that of the worst device. */
void fd_keep_value(fd_run *run, double value);
/* A claim of `ps` on these cells where its share of the whole exceeds (fd_exceeds) or reaches
 * (fd_reaches) the rule's FD_SHARE; the share is the evidence. */
void fd_offer_share(fd_run *run, uint32_t device, uint32_t cells, int64_t ps, int64_t whole_ps,
                    bool (*fires)(const fd_run *, int64_t, int64_t, finding_limit));
/* Decides fired, explained or clear, takes the time of every claim if fired, and sets impact,
 * gross, window, value and severity of the finding from the claim with the most time left (of those
 * within 1 % the first; where nothing is left, with the largest gross). Impact and gross are of the
 * device's window, so neither exceeds it, and they differ by what other rules took. NULL when
 * clear: nothing offered or too little. */
const fd_claim *fd_settle(fd_run *run);
/* Takes up to `ps` of these cells of the device for the rule at work. */
void fd_take(fd_run *run, uint32_t device, uint32_t cells, int64_t ps);
/* Whether `ps` is below what is worth a finding. */
bool fd_too_little(int64_t ps, int64_t window_ps);
/* The ids of a set of rules go to explained_by. */
void fd_explain(fd_run *run, uint32_t takers);
/* impact/window as a level; shares below the least are low. */
vp_level fd_level(int64_t impact_ps, int64_t window_ps);
int64_t fd_sum(const int64_t *ps, unsigned first, unsigned count);
/* part * 1000 > whole * permille, exactly; false where there is no whole. */
bool fd_above(int64_t part_ps, int64_t whole_ps, int64_t permille);
bool fd_at_least(int64_t part_ps, int64_t whole_ps, int64_t permille); /* >= */
/* The same against a limit of the rule at work, in permille. */
bool fd_exceeds(const fd_run *run, int64_t part_ps, int64_t whole_ps, finding_limit limit);
bool fd_reaches(const fd_run *run, int64_t part_ps, int64_t whole_ps, finding_limit limit);
/* A limit of the rule at work in permille of `ps`. */
int64_t fd_limit_of(const fd_run *run, int64_t ps, finding_limit limit);
/* FD_TIME of the rule at work. */
int64_t fd_limit_ps(const fd_run *run);
/* The (first) row that is run by this. */
const finding_rule *fd_rule_of(const fd_run *run, void (*rule)(fd_run *));
double fd_share(int64_t part, int64_t whole);        /* 0 where there is no whole */
int64_t fd_of(int64_t ps, int64_t num, int64_t den); /* ps * num / den in 128 bits */

/* ---- Messages (findings_say.c) ---- */

const char *fd_say(fd_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *fd_time(fd_run *run, int64_t ps);                     /* "57.77 s" */
const char *fd_percent(fd_run *run, int64_t part, int64_t whole); /* "96.5 %" */
const char *fd_count(fd_run *run, int64_t n);                     /* "12,345" */
const char *fd_bytes(fd_run *run, int64_t n);                     /* "1.5 GiB" */
const char *fd_short(fd_run *run, const char *name);              /* at most 60 bytes of a name */
const char *fd_path(fd_run *run, const char *path);               /* at most its last 60 bytes */
const char *fd_device(fd_run *run, uint32_t device); /* "TPU:0", with its host if many */
int64_t fd_window(const fd_run *run, uint32_t device);
/* The same as fd_device, and how many devices the rule concerns. */
const char *fd_worst(fd_run *run, const fd_claim *c);
void fd_message(fd_run *run, const char *message);
void fd_caveat(fd_run *run, const char *text);
void fd_missing(fd_run *run, const char *text); /* makes it VP_NOT_EVALUATED */
void fd_lacks(fd_run *run, unsigned need);      /* the same for one FD_NEED_… */
bool fd_has_causes(const vp_report *r);         /* FD_NEED_CAUSES is there */
void fd_place(fd_run *run, uint32_t device, const char *track, int64_t start_ps, int64_t dur_ps);
/* What holds in every step shows in the first that counts; without steps only the device is named.
 */
void fd_place_in_step(fd_run *run, uint32_t device, const char *track);
/* The gaps with the most idle time of these causes, on the devices of the rule's claims. */
void fd_gap_places(fd_run *run, uint32_t causes);
/* "LABEL on thread THREAD (TIME, N gaps)". */
const char *fd_label(fd_run *run, const vp_idle_label *l);
/* What the host did in the device's idle time of these causes, as far as the report lists it. */
typedef struct fd_idle_parts {
    const vp_idle_label *label; /* the largest of an event, its name NULL if it has none */
    int64_t silent_ps;          /* of no event: nothing was recorded on the host */
    int64_t latency_ps;         /* for which no name is to be had: launched, not yet begun */
} fd_idle_parts;
fd_idle_parts fd_idle_labels(const fd_run *run, uint32_t device, uint32_t causes);

/* ---- Rules, by family ---- */

void fd_trace_unreliable(fd_run *run); /* findings_data.c */
void fd_memory(fd_run *run);
void fd_recompile(fd_run *run); /* findings_compile.c */
void fd_compile_share(fd_run *run);
void fd_input_bound(fd_run *run); /* findings_idle.c */
void fd_debug_callback(fd_run *run);
void fd_sync_call(fd_run *run);
void fd_launch_bound(fd_run *run);
/* Its kernels are launched one by one, as far as the profile shows launches. */
bool fd_is_launched(const fd_run *run, uint32_t device);
void fd_host_bound(fd_run *run);
void fd_device_idle(fd_run *run);
void fd_pageable(fd_run *run); /* findings_copy.c */
void fd_transfers(fd_run *run);
/* F6 holds for the idle time in which the host copies for the device: it is not F3's nor F9's. */
bool fd_waits_for_host_copies(const fd_run *run, uint32_t device);
void fd_async_wait(fd_run *run);
void fd_straggler(fd_run *run); /* findings_comm.c */
void fd_imbalance(fd_run *run);
void fd_exposed_comm(fd_run *run);
void fd_poor_overlap(fd_run *run);
bool fd_straggles(const fd_run *run); /* F16 holds; asks for its row as the rule at work */
/* The time that the device waits for a straggler; 0 without one. */
int64_t fd_straggler_wait(const fd_run *run, uint32_t device);
void fd_hot_op(fd_run *run); /* findings_ops.c */
void fd_repeated_work(fd_run *run);
void fd_data_formatting(fd_run *run);
void fd_op_variance(fd_run *run);
/* There are many calls, and their deviation / mean exceeds the limit of the rule at work. */
bool fd_varies(const fd_run *run, double stddev_ps, int64_t calls, int64_t total_ps);
void fd_long_gap(fd_run *run); /* findings_steps.c */
void fd_step_outlier(fd_run *run);
void fd_jitter(fd_run *run);
void fd_thread_wait(fd_run *run); /* findings_host.c */
void fd_thread_imbalance(fd_run *run);
void fd_hot_zone(fd_run *run);
void fd_zone_variance(fd_run *run);

#endif
