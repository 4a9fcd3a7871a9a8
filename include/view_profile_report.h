/* The report and the comparison: plain structs that view_profile.h makes, merges and prints.
 *
 * Times and durations are integer picoseconds; times are relative to base_unix_ns. Unknown counts
 * and durations are VP_UNKNOWN, unknown texts NULL, unknown times VP_NO_TIME (JSON: null, never
 * 0). Everything reachable from a vp_report or vp_comparison belongs to it. Definitions:
 * docs/findings.md and the comments here. Include view_profile.h. */
#ifndef VIEW_PROFILE_REPORT_H
#define VIEW_PROFILE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VP_UNKNOWN INT64_C(-1)
#define VP_NO_TIME INT64_MIN
#define VP_NO_DEVICE UINT32_MAX

typedef enum vp_op_class { VP_COMPUTE, VP_COMMUNICATION, VP_COPY } vp_op_class;
typedef enum vp_device_kind {
    VP_DEVICE_TPU,
    VP_DEVICE_GPU,
    VP_DEVICE_CPU,
    VP_DEVICE_OTHER
} vp_device_kind;
typedef enum vp_group {
    VP_GROUP_NAME, /* class, category and normalised name (docs/reference/metrics.md#op-names) */
    VP_GROUP_CATEGORY,
    VP_GROUP_SCOPE,
    VP_GROUP_SOURCE,
    VP_GROUP_MODULE,
    VP_GROUP_RAW,
    VP_GROUP_STACK /* scope and then as by name: each op where it stands */
} vp_group;
typedef enum vp_sort { VP_BY_SELF, VP_BY_TOTAL, VP_BY_CALLS, VP_BY_MAX } vp_sort;
typedef enum vp_severity { VP_SEV_INFO, VP_SEV_WARNING, VP_SEV_ERROR } vp_severity;

/* How much of a profile is read: the op tables alone skip host events where there is a device, and
 * everything below that is marked (full) is then empty. */
typedef enum vp_depth { VP_DEPTH_FULL, VP_DEPTH_OPS } vp_depth;

/* Whose work the op tables are of: the devices' (of a profile without one, the host's all the
 * same), or what the host's threads do beside them. */
typedef enum vp_where { VP_WHERE_DEVICE, VP_WHERE_HOST } vp_where;

/* compute + exposed_comm + exposed_copy + idle = window, exactly. Unions of half-open intervals
 * over all op tracks of the device (docs/reference/metrics.md#breakdown). */
typedef struct vp_breakdown {
    int64_t window_ps, compute_ps, exposed_comm_ps, exposed_copy_ps, idle_ps;
    int64_t busy_ps, comm_ps, copy_ps, overlap_comm_ps;
} vp_breakdown;

/* Why a device idles, in the order in which an instant with several reasons is given away
 * (docs/reference/metrics.md#idle-gaps): the thread that launches the next op was compiling,
 * waiting for input, …; UNKNOWN where nothing links the gap to the host. A copy on any other thread
 * comes before HOST and before nothing. */
typedef enum vp_cause {
    VP_CAUSE_COMPILE,
    VP_CAUSE_INPUT,
    VP_CAUSE_CALLBACK, /* debug prints and other calls from the device into the program */
    VP_CAUSE_SYNC,     /* a blocking API */
    VP_CAUSE_TRANSFER, /* the host's part of a copy */
    VP_CAUSE_HOST,     /* any other label, or none: the launching thread was late */
    VP_CAUSE_CALL,     /* inside the launch call */
    VP_CAUSE_LATENCY,  /* launched, not yet started */
    VP_CAUSE_PEER,     /* it waited for another device, which still worked */
    VP_CAUSE_UNKNOWN,
    VP_CAUSES
} vp_cause;

/* Which launches reached a device (full; docs/reference/metrics.md#launches). Of correlated GPU
 * work only: calls is VP_UNKNOWN where the platform has no correlation. */
typedef struct vp_launch {
    int64_t calls, linked_ops, unlinked_ops; /* op events with and without a launch call */
    int64_t kernels, kernel_p50_ps;          /* compute kernels */
    int64_t short_kernels, short_ps;         /* below 10 us: how many, Σ of their durations */
    int64_t call_p50_ps, call_p95_ps;
    int64_t delay_p50_ps, delay_p95_ps;  /* max(0, op start - call end) */
    int64_t late_launches;               /* delay above 100 us */
    int64_t queue_max, queue_mean_milli; /* launched, not started; mean over the launches, /1000 */
    int64_t graph_launches;              /* calls that launch a recorded graph */
    /* Of gaps below 1 ms in which nothing else was queued: the next op's launch had not returned
     * when the device ran dry, or the op began within twice the usual time after it. */
    int64_t starved_call_ps, starved_latency_ps; /* in that launch; from its end to the op */
} vp_launch;

/* What a device's ops could be rid of (full; docs/reference/metrics.md#hygiene). Self times, of
 * self_ps. */
typedef struct vp_hygiene {
    int64_t formatting_ps;               /* transpose, copy, reshape, bitcast-convert */
    int64_t remat_ps;                    /* rematerialised work */
    int64_t async_done_ps;               /* waits in "-done" ops */
    int64_t padding_ps;                  /* category pad */
    int64_t infeed_ps, callback_ps;      /* infeed/outfeed ops; host callbacks as ops */
    int64_t duplicate_ps, duplicate_ops; /* ops that share the code of an equal one */
    int64_t chain_ps, chains;            /* runs of >= 5 ops < 5 us with gaps < 5 us */
} vp_hygiene;

/* ---- How near to what the hardware can do (full) ---- */

/* What the time is spent on that a device computes for: every instant of it belongs to the op that
 * started last, and an op's time is cut into these, so that they sum to breakdown.compute_ps
 * exactly, whatever the costs and the peaks are. A matrix product or a convolution has the first
 * five, others have NM_…. */
typedef enum vp_cell {
    VP_CELL_USEFUL,       /* what its FLOP take at the peak */
    VP_CELL_RECOMPUTE,    /* the same of work that is done again (rematerialised) */
    VP_CELL_PAD,          /* what the FLOP take that tiles have beyond the shapes: an estimate */
    VP_CELL_INEFFICIENCY, /* the rest */
    VP_CELL_MEM_EXCESS,   /* what its bytes take beyond the FLOP */
    VP_CELL_NM_MEMORY,    /* what the bytes of other work take at the full bandwidth */
    VP_CELL_NM_EXCESS,    /* and its rest */
    VP_CELL_UNKNOWN,      /* of ops whose cost nothing says */
    VP_CELLS
} vp_cell;

typedef enum vp_dtype {
    VP_DTYPE_UNKNOWN,
    VP_DTYPE_F64,
    VP_DTYPE_F32,
    VP_DTYPE_TF32, /* f32 through tensor cores */
    VP_DTYPE_BF16,
    VP_DTYPE_F16,
    VP_DTYPE_F8,
    VP_DTYPE_I8,
    VP_DTYPES
} vp_dtype;

/* Who says what a chip can do. */
typedef enum vp_peak_source {
    VP_PEAK_NONE,
    VP_PEAK_PLANE,   /* the profile */
    VP_PEAK_NAME,    /* the table's row for the device's name */
    VP_PEAK_FIGURES, /* the row whose capability, number of cores and memory fit */
    VP_PEAK_DERIVED, /* cores and clock, by a rate of their generation */
    VP_PEAK_CHIP,    /* the row that the user names */
    VP_PEAK_USER     /* the user */
} vp_peak_source;

/* Who says what an op costs; of several, the last of these. */
typedef enum vp_cost_source {
    VP_COST_NONE,
    VP_COST_STAT,  /* the profile, of the op itself */
    VP_COST_HLO,   /* counted from the shapes of its HLO instruction */
    VP_COST_SHAPES /* counted from the shapes of the framework's op */
} vp_cost_source;

/* What ops cost, against their device's peaks; sums over all executions. */
typedef struct vp_roof {
    int64_t flops, bytes; /* VP_UNKNOWN; FLOP of products and convolutions only, bytes of HBM */
    int64_t peak_ps;      /* the FLOP at the peak of their types */
    int64_t memory_ps;    /* the bytes at the full bandwidth */
    int64_t cell_ps[VP_CELLS];
    vp_cost_source source;
} vp_roof;

/* MFU is peak_ps / breakdown.window_ps, HFU (peak_ps + recompute_peak_ps) / window_ps: shares of
 * the time at the peak, as ops may be of several types. */
typedef struct vp_mfu {
    const char *chip; /* the table's row; may be NULL */
    vp_peak_source peak_source, bandwidth_source;
    bool uncertain;                      /* the table is not sure of its row */
    vp_dtype dtype;                      /* of most of the FLOP */
    int64_t peak_gflops, bandwidth_mb_s; /* of that type, dense; VP_UNKNOWN */
    int64_t flops, recompute_flops; /* VP_UNKNOWN where no op says any; the second is not in the
                                       first */
    int64_t peak_ps, recompute_peak_ps;
    int64_t above_ops, above_ps; /* executions that were faster than the peak, and by how much */
    int64_t cell_ps[VP_CELLS];   /* Σ = breakdown.compute_ps */
    int64_t formatting_ps;       /* of NM_MEMORY and NM_EXCESS: transposes, copies, reshapes */
    /* 6 x parameters x tokens, as asked: this device's part, and the mean time of a step of it,
     * else its window. VP_UNKNOWN */
    int64_t asked_flops, asked_window_ps;
} vp_mfu;

typedef struct vp_device {
    const char *name; /* "/device:TPU:0", "GPU 0", "/host:CPU:0" */
    const char *host;
    const char *model; /* "TPU v6 Lite", "NVIDIA H100 80GB HBM3"; may be NULL */
    vp_device_kind kind;
    int64_t events;           /* op events */
    int64_t start_ps, end_ps; /* the device's window, on `clock` of the report's window */
    bool own_clock;           /* the window is on the device's own clock, not the host's */
    int64_t
        timeline_ns; /* to add to the report's (aligned) times for those of its host's own file */
    int64_t self_ps; /* Σ self of its ops: the denominator of self_share_of_ops */
    /* Of its main memory: as the profile says, else of its chip's row, VP_UNKNOWN (full) */
    int64_t memory_bytes;
    vp_breakdown breakdown;
    /* full: */
    int64_t cause_ps[VP_CAUSES];  /* Σ = breakdown.idle_ps */
    int64_t gap_count;            /* all gaps; `gaps` keeps the longest */
    int64_t steps_counted;        /* steps that step_self_ps of its ops sums over, VP_UNKNOWN */
    int64_t barriers, barrier_ps; /* waits for other cores ("barrier-cores", TPU), count and Σ */
    /* Of breakdown.exposed_comm_ps: before the last participant came, over matched calls, each of
     * which is taken to be exposed first where it waits. VP_UNKNOWN: no call is matched. */
    int64_t exposed_wait_ps;
    vp_launch launch;
    vp_hygiene hygiene;
    vp_mfu mfu;
} vp_device;

/* What tells the parts of a group apart. */
typedef enum vp_split_by {
    VP_SPLIT_SHAPE,
    VP_SPLIT_LAYOUT, /* of one shape: the label is the shape with layout and memory space */
    VP_SPLIT_SCOPE,
    VP_SPLIT_SOURCE
} vp_split_by;

/* A part of a group that mixes different ops: its members of one shape, scope or source. */
typedef struct vp_split {
    const char *label; /* the shape, else the scope, else the source */
    const char *scope, *source;
    int64_t calls, self_ps, max_ps;
    double stddev_ps;
    vp_split_by by;
} vp_split;

/* How kernels were launched. Texts are the profile's; NULL: not told. */
typedef struct vp_kernel_launch {
    const char *grid, *block;        /* blocks of the launch, threads of a block: "3,1,1" */
    const char *occupancy;           /* percent, as a theory or an estimate */
    int64_t registers, shared_bytes; /* of a thread; of a block; VP_UNKNOWN */
    const char *tensor_cores;        /* what of the kernel's name says that it uses them, or the
                                        matrix cores of AMD; NULL: it does not say */
} vp_kernel_launch;

/* One group of events of one device. total_ps counts its outermost events once, calls counts all;
 * the mean is of an outermost call, percentiles are over all calls. Where spans run at once (on
 * XLA:CPU devices and GPU streams, in async events, and on tracks where two of one name cross)
 * every span counts. */
typedef struct vp_op {
    uint32_t device; /* index into devices; without devices, index into tracks' processes */
    vp_op_class op_class;
    const char *category; /* hlo_category, Kineto cat, …; may be NULL */
    const char *name;     /* the group's key as shown */
    int64_t calls, total_ps, self_ps;
    int64_t min_ps, p50_ps, p95_ps, max_ps; /* of one call; percentiles by nearest rank */
    double stddev_ps;                       /* population */
    int64_t bytes, flops;    /* Σ over calls, VP_UNKNOWN; of a custom call 0 is unknown, too: XLA
                                cannot know it. Of other ops 0 is 0: moving data is no FLOP. */
    const char *scope;       /* that with the most self time of its scopes; may be NULL */
    const char *source;      /* likewise, of those in that scope */
    const char *module;      /* of the member with the most self time there */
    int64_t raw_names;       /* distinct names in the group */
    int64_t scopes, sources; /* distinct ones in the group, VP_UNKNOWN in older reports */
    int64_t slowest_start_ps, slowest_dur_ps; /* start on the aligned clock */
    /* full: */
    int64_t step_self_ps; /* Σ self inside the steps that count; VP_UNKNOWN without steps */
    int64_t step_calls;   /* that begin in them; VP_UNKNOWN, also in older reports */
    int64_t threads;      /* on which it ran, without devices: 0 for async work; VP_UNKNOWN */
    int64_t inner_ps;    /* Σ of the calls within others of the group, which total_ps leaves out */
    int64_t inner_calls; /* how many these are: the mean of a call is total_ps over the others */
    int64_t idle_before_ps; /* Σ device idle that ends where an op of this group starts */
    int64_t *per_step_ps;   /* mean self a step, over runs of consecutive steps that count */
    size_t per_step_count;  /* <= 100 points, 0 but for the larger groups */
    vp_roof roof;
    const vp_kernel_launch *launch; /* VP_GROUP_RAW: a row has launches of one kind; else NULL */
    vp_split *splits;   /* groups of >= 5 % of self_ps: their largest parts by self time */
    size_t split_count; /* <= 8 */
} vp_op;

/* The computation graph by time: framework paths as a tree, in pre-order. Backward work
 * ("transpose(jvp(x))") and rematerialised work ("rematted_computation") stand where they were
 * written; `fold` names the forward scope that they belong to. */
typedef struct vp_scope {
    uint32_t depth;         /* 0 for a root */
    uint32_t parent;        /* index, UINT32_MAX for a root */
    const char *path;       /* whole path, "jit(step)/transformer/layer_3" */
    const char *name;       /* its last component */
    int64_t self_ps;        /* of ops that stand exactly here */
    int64_t total_ps;       /* self of the whole subtree */
    int64_t calls;          /* of the whole subtree */
    int64_t bytes, flops;   /* of the whole subtree; VP_UNKNOWN when no op says them */
    const char *source;     /* of the op with the most self time in the subtree; may be NULL */
    int64_t idle_before_ps; /* of the whole subtree (full) */
    int64_t backward_ps, remat_ps; /* of the whole subtree: self time of such work */
    vp_roof roof;                  /* likewise (full) */
} vp_scope;

/* A scope of the forward pass with all work done for it. */
typedef struct vp_folded_scope {
    const char *path; /* without jvp, transpose and remat wrappers */
    int64_t forward_ps, backward_ps, remat_ps, calls; /* self time of ops that stand here */
} vp_folded_scope;

/* Where no track tells module runs (GPU, CPU), runs and p50_ps are unknown and total_ps is the self
 * time of the module's ops. */
typedef struct vp_module {
    const char *name;
    int64_t program_id;             /* XLA's 64 bits, printed unsigned; -1 unknown */
    int64_t runs, total_ps, p50_ps; /* -1 unknown */
    int64_t *sample_ps;             /* durations of its runs, ascending: all of them, or order
                                       statistics at even distances once read back from JSON */
    size_t sample_count;
    int64_t repeat_steps;           /* steps that count in which it ran >= 3 times (full) */
    int64_t repeat_ps, repeat_runs; /* Σ of its runs in those */
} vp_module;

/* ---- Steps (full; docs/reference/metrics.md#steps) ---- */

typedef enum vp_step_source {
    VP_STEPS_NONE,
    VP_STEPS_LINE,       /* the profiler's own "Steps" line */
    VP_STEPS_PROFILER,   /* ProfilerStep#N */
    VP_STEPS_ANNOTATION, /* step_num, StepTraceAnnotation */
    VP_STEPS_MODULES     /* repeats of the longest module */
} vp_step_source;

typedef enum vp_step_class { VP_STEP_NORMAL, VP_STEP_HEAVY, VP_STEP_LIGHT } vp_step_class;

/* One step on one device: its window adjusted to the device's work
 * (docs/reference/metrics.md#steps). */
typedef struct vp_step_device {
    uint32_t device;
    int64_t start_ps, dur_ps; /* start on the aligned clock, length on the device's */
    vp_breakdown breakdown;
    int64_t cause_ps[VP_CAUSES]; /* Σ = breakdown.idle_ps */
    int64_t cell_ps[VP_CELLS];   /* Σ = breakdown.compute_ps */
    int64_t peak_ps;             /* what MFU is the share of */
    int64_t exposed_wait_ps;     /* as vp_device's, of the waits that begin in the step */
} vp_step_device;

/* Without a device: the zone of which a step has more than is usual, by self time. */
typedef struct vp_grown {
    const char *name, *thread; /* NULL: no zone has */
    uint32_t device;           /* its process */
    int64_t more_ps, usual_ps; /* usual: the median over all steps, 0 where it does not run */
    int64_t start_ps, dur_ps;  /* of its longest call in the step */
} vp_grown;

typedef struct vp_step {
    int64_t number; /* as the program counts, VP_UNKNOWN */
    const char *name;
    int64_t start_ps, dur_ps; /* of its critical device, or of the host without devices */
    uint32_t device;          /* the critical one: the longest window; VP_NO_DEVICE */
    bool partial;             /* cut by the capture: not in the statistics */
    bool warm_up;             /* the first, and slow: not in the statistics */
    vp_step_class step_class;
    vp_step_device *devices;
    size_t device_count;
    vp_grown grew;
} vp_step;

/* Steps that take about as long as each other: evaluation, logging, accumulation. */
typedef struct vp_step_group {
    vp_step_class step_class;
    int64_t count, median_ps, total_ps;
    int64_t period;  /* every so many steps, VP_UNKNOWN when irregular */
    int64_t example; /* the number of the step nearest to the median */
} vp_step_group;

typedef struct vp_steps {
    vp_step_source source;
    vp_step *list; /* by time */
    size_t count;
    /* Over the steps that count: neither partial nor warm-up. VP_UNKNOWN without any. */
    int64_t counted, median_ps, p90_ps, p95_ps, mad_ps, mean_ps, min_ps, max_ps;
    double cv;         /* population deviation / mean */
    int64_t excess_ps; /* Σ max(0, x - median) */
    vp_step_group *groups;
    size_t group_count;
} vp_steps;

/* ---- Idle (full; docs/reference/metrics.md#idle-gaps) ---- */

/* A time between two ops of a device. host_late + in_call + latency + peer + unknown = dur. */
typedef struct vp_gap {
    uint32_t device;
    int64_t start_ps, dur_ps; /* start on the aligned clock, length on the device's */
    int64_t host_late_ps, in_call_ps, latency_ps;
    int64_t cause_ps[VP_CAUSES]; /* Σ = dur_ps */
    const char *label, *thread;  /* what the launching thread did most of the time; may be NULL */
    const char *next_op, *scope; /* the op that ends it, and where it stands; may be NULL */
} vp_gap;

/* Idle time by what the host did, over all gaps of a device. */
typedef struct vp_idle_label {
    uint32_t device;
    vp_cause cause;
    const char *label, *thread;
    int64_t gaps, total_ps;
} vp_idle_label;

/* ---- Communication and copies (full; docs/reference/metrics.md#collectives) ---- */

typedef struct vp_collective {
    uint32_t device;
    const char *kind; /* "all-reduce", "all-gather", …, "send-recv", "other" */
    const char *name; /* the group's name, as among the ops */
    const char *scope;
    int64_t group_size;           /* participants, VP_UNKNOWN */
    int64_t groups;               /* into which it divides the program's devices, VP_UNKNOWN */
    const char *members;          /* this device's group, as programs number devices: "0,4",
                                     "0-7", "0-28:4"; NULL where the file does not tell */
    int64_t count, bytes;         /* bytes: Σ per participant (payload), VP_UNKNOWN */
    int64_t total_ps;             /* Σ of durations (in flight, for async pairs) */
    int64_t union_ps, exposed_ps; /* length of the union; of it what nothing else covers */
    /* Single calls, to match across devices: every sample_stride-th by order of time. */
    int64_t *sample_start_ps, *sample_dur_ps; /* aligned clock */
    int64_t *sample_exposed_ps;               /* of the length; NULL in older reports */
    size_t sample_count;
    int64_t sample_stride;
    int64_t wait_ps; /* Σ over matched calls of latest start - own start; VP_UNKNOWN unmatched */
} vp_collective;

typedef enum vp_direction {
    VP_H2D,
    VP_D2H,
    VP_D2D,
    VP_P2P,
    VP_INFEED,
    VP_OUTFEED,
    VP_MEMSET,
    VP_OTHER_COPY,
    VP_DIRECTIONS
} vp_direction;

typedef struct vp_transfer {
    uint32_t device; /* VP_NO_DEVICE: seen on the host only */
    vp_direction direction;
    int64_t count, bytes;                /* an async start/done pair is one */
    int64_t total_ps;                    /* Σ of durations of its ops on the op tracks */
    int64_t busy_ps;                     /* union, in flight */
    int64_t exposed_ps, exposed_count;   /* what no compute or communication covers */
    int64_t pageable_count, pageable_ps; /* VP_UNKNOWN where the platform does not say */
    int64_t largest_bytes, largest_start_ps, largest_dur_ps; /* the longest one */
    int64_t first_start_ps;
    bool host_only; /* measured by host spans: CPU devices */
} vp_transfer;

/* How evenly devices work (over breakdown.compute_ps), and who the others wait for. Made from the
 * rest of the report when hosts are merged. */
typedef struct vp_balance {
    size_t devices; /* that run the same modules; below 2 the rest is VP_UNKNOWN */
    int64_t max_ps, mean_ps, min_ps;
    uint32_t busiest, idlest;
    bool aligned;               /* clocks of hosts could be compared */
    int64_t matched;            /* collective calls seen on all their devices */
    int64_t wait_ps;            /* Σ over them of the largest wait */
    uint32_t straggler;         /* last most often; VP_NO_DEVICE */
    int64_t straggler_last;     /* how often */
    const char *straggler_host; /* last most often among hosts; NULL with one host */
    int64_t straggler_host_last;
} vp_balance;

/* ---- The host (full; docs/reference/metrics.md#host-events) ---- */

typedef struct vp_function {
    const char *host;
    const char *name;
    int64_t compiles, calls, cache_hits;  /* outermost; cache_hits VP_UNKNOWN */
    int64_t total_ps, repeat_ps;          /* Σ compile time; of it all but the first */
    int64_t late, late_ps;                /* after execution had begun (F10) */
    int64_t first_start_ps, first_dur_ps; /* of its compiles */
    int64_t last_start_ps, last_dur_ps;
} vp_function;

typedef struct vp_compile {
    int64_t count, total_ps; /* outermost roots; union per thread */
    int64_t lower_ps;        /* tracing and lowering to HLO */
    int64_t late, late_ps;
    int64_t before_steps_ps;          /* of what began before the step's module first ran (F11) */
    int64_t cache_hits, cache_misses; /* of the persistent cache, VP_UNKNOWN */
    vp_function *functions;           /* by compile time */
    size_t function_count;
} vp_compile;

typedef struct vp_host_op {
    const char *host, *thread, *name;
    vp_cause cause; /* VP_CAUSE_HOST for plain work */
    bool blocking;
    int64_t threads; /* over which it adds up, `thread` being the one with the most self time; what
                        blocks is a row a thread. VP_UNKNOWN in reports that do not say: one */
    int64_t calls, total_ps, self_ps; /* outermost of equal names count in total */
    int64_t idle_ps;                  /* of self, while all devices of the host idle */
    /* Of blocking calls: from begin to end, with all that they call, while all devices of the host
     * idle between the first op and the last of them; where such calls nest, the outermost's. So
     * the sum over a thread is a union. VP_UNKNOWN in reports that do not say. */
    int64_t blocked_ps;
    int64_t max_ps, max_start_ps;
} vp_host_op;

/* A thread of a program without a device (full). Work is its self time outside of zones that wait,
 * by their name or category; lost is what of its waiting could have been work: for locks, and on
 * the thread with the steps (else the one that works most) all else, but while two other threads of
 * the process work. */
typedef struct vp_thread {
    uint32_t device; /* its process */
    const char *name;
    bool steps; /* it carries the program's steps; then only its waiting within them is lost */
    int64_t start_ps, end_ps, work_ps, wait_ps, lost_ps;
    const char *zone; /* with the most of the work; may be NULL */
    int64_t zone_ps;
    const char *wait; /* with the most of what is lost; NULL: none is */
    int64_t wait_calls, wait_start_ps, wait_dur_ps; /* the longest */
} vp_thread;

/* ---- What a program says of itself (full; recordings of view_profile_capture.h) ---- */

typedef struct vp_said {
    const char *text;
    int64_t count;
} vp_said;

/* An argument of all zones of one name, or a counter. Numbers and texts are told apart. None in the
 * report of one step. */
typedef struct vp_values {
    const char *host, *zone; /* of a counter its own name */
    const char *key;         /* NULL of a counter */
    int64_t numbers;         /* how many; without one, NaN: */
    double min, mean, max, sum, last;
    int64_t texts;    /* how many: those of top, and others */
    int64_t distinct; /* different ones; VP_UNKNOWN: more than 64 */
    vp_said *top;     /* most frequent first, <= 8 */
    size_t top_count;
    int64_t others;
} vp_values;

typedef struct vp_meta {
    const char *host, *key, *value;
} vp_meta;

/* ---- Memory (full) ---- */

/* Who holds memory: an op, a function, or in brackets what has no name of its own. */
typedef struct vp_memory_item {
    const char *name;
    int64_t bytes, count;
    const char *scope;   /* framework path; NULL unknown */
    const char *source;  /* "file:line" or a frame; NULL unknown */
    int64_t step;        /* whose number the allocations were made in; VP_UNKNOWN */
    const char *planned; /* "jit_f: temporaries": what of a plan it is, by its size; NULL unknown */
} vp_memory_item;

/* What a step takes and does not give back: bytes that are held when two more steps are over. */
typedef struct vp_leak {
    const char *name, *scope, *source; /* as in vp_memory_item */
    int64_t bytes, count;              /* of all steps that could be judged */
    int64_t steps;                     /* of them, those that left something */
} vp_leak;

/* One allocator. Bytes are VP_UNKNOWN where the file does not tell them. */
typedef struct vp_memory {
    const char *host, *allocator;                /* "GPU_0_bfc", "GPU 0", "memory.prof" */
    int64_t peak_bytes, peak_start_ps;           /* in use, and when that was reached first */
    int64_t total_bytes;                         /* what the allocator may use */
    int64_t lifetime_peak_bytes;                 /* also of the time before the window */
    int64_t reserved_bytes, reserved_peak_bytes; /* taken from the device: at the peak, at most */
    /* Free, and too scattered to be handed out in one piece; and of how many that is counted. */
    int64_t fragmented_bytes, fragmented_of_bytes;
    int64_t allocations, frees, end_bytes;   /* VP_UNKNOWN for snapshots without a history */
    int64_t allocated_bytes;                 /* by all of the allocations */
    int64_t out_of_memory;                   /* requests that failed */
    int64_t steps, step_allocations;         /* whole steps, and allocations within them */
    int64_t *sample_start_ps, *sample_bytes; /* <= 200 points of the curve, each a local maximum */
    size_t sample_count;
    /* At the same points; none (0) where the file does not tell: taken from the device, and free in
     * pieces. */
    int64_t *sample_reserved_bytes, *sample_fragmented_bytes;
    size_t sample_reserved_count, sample_fragmented_count;
    vp_memory_item *top; /* holders at the peak, <= 20; where all are known they sum to it */
    size_t top_count;
    int64_t leak_steps; /* steps that could be judged; VP_UNKNOWN: the file does not tell */
    vp_leak *leaks;     /* most bytes first, <= 20 */
    size_t leak_count;
} vp_memory;

/* ---- Memory as the compiler planned it (full) ---- */

typedef enum vp_buffer_kind {
    VP_BUFFER_PARAMETER,
    VP_BUFFER_OUTPUT,
    VP_BUFFER_CONSTANT,
    VP_BUFFER_TEMP,
    VP_BUFFER_OTHERS /* smaller ones, together */
} vp_buffer_kind;

/* Memory spaces by XLA's numbers; others are on chip. */
enum { VP_SPACE_MAIN = 0, VP_SPACE_HOST = 5 };

/* Who holds memory when a program's plan is at its peak. */
typedef struct vp_plan_buffer {
    const char *instruction;                     /* "copy-start{0}": its first result */
    const char *opcode, *shape, *scope, *source; /* shape with its layout; unknown: NULL */
    /* Of what it copies, or of the root of what it fuses, where it has no scope itself; else NULL.
     */
    const char *origin_scope, *origin_source;
    vp_buffer_kind kind;
    int64_t bytes;          /* as laid out */
    int64_t unpadded_bytes; /* the array alone; VP_UNKNOWN */
    int64_t first, last;    /* events of the plan; VP_UNKNOWN: as long as the program runs */
    /* Of the program's instructions, those in a row around the peak that do not read it.
     * VP_UNKNOWN: no place in the program's order is known, of it or of the peak. */
    int64_t unused;
    const char *padded; /* "dimension 1: 200 of 256" where the layout's tiles waste; else NULL */
} vp_plan_buffer;

/* An argument that could have given its memory to a result (jax.jit's donate_argnums). */
typedef struct vp_plan_donation {
    const char *parameter, *scope, *output;
    const char *output_scope, *output_source; /* of the instruction that makes the result */
    int64_t parameter_number, bytes;
    int64_t last_use, born; /* places in the schedule: died before the result was born */
    bool also_scratch;      /* the result's memory holds temporaries before: less is saved */
} vp_plan_donation;

/* One part of the peak's curve: what buffers under one scope hold at each sample. */
typedef struct vp_plan_layer {
    const char *scope; /* NULL: none said */
    int64_t *bytes;    /* sample_count of them */
    size_t byte_count;
} vp_plan_layer;

/* What a program (HLO module) takes of one memory space, as its buffer assignment says. fixed =
 * parameters + outputs + constants: they are there as long as it runs; peak = fixed + heap_peak =
 * the sum of `live`; reserved = fixed + temp = what the runtime takes. */
typedef struct vp_memory_plan {
    const char *host, *module;
    int64_t program_id, space; /* VP_SPACE_MAIN: the device's */
    bool ran;                  /* some op of it is in the profile; else it was only compiled */
    bool replayed;             /* heap_peak is that of the compiler's own events */
    int64_t peak_bytes, heap_peak_bytes; /* VP_UNKNOWN: no lifetimes in the file */
    int64_t peak_unpadded_bytes;         /* VP_UNKNOWN */
    int64_t peak_event, events;          /* VP_UNKNOWN; how many there are */
    const char *peak_instruction;
    int64_t instructions; /* that do work, in order, loops by what is in them; VP_UNKNOWN */
    int64_t reserved_bytes, fragmentation_bytes; /* reserved - peak; VP_UNKNOWN */
    int64_t parameter_bytes, output_bytes, constant_bytes, temp_bytes;
    int64_t stack_bytes;    /* thread-local: in no sum */
    int64_t live_out_bytes; /* results, with those in donated parameters */
    int64_t alias_bytes;    /* parameters whose memory results take */
    int64_t untraced_bytes; /* temporaries that no event is about: tables of pointers; VP_UNKNOWN */
    int64_t xla_peak_bytes; /* the compiler's own figure: all spaces together */
    int64_t remat_count;    /* instructions that compute again what was thrown away */
    vp_plan_buffer *live;   /* at the peak, largest first; the sum of bytes is peak_bytes */
    size_t live_count;
    vp_plan_donation *donations; /* largest first, <= 100 */
    size_t donation_count;
    int64_t donation_total, donation_bytes; /* of all */
    int64_t *sample_event;                  /* <= 160; each the highest of its stretch of events */
    size_t sample_count;
    vp_plan_layer *layers; /* at each sample they sum to what is live; of the largest plans */
    size_t layer_count;
} vp_memory_plan;

/* All programs that ran, in one space of one host: what they take together. least: that of the
 * largest alone. most: one runs at a time, and the arguments, results and constants of all stay
 * where they are, none shared. */
typedef struct vp_memory_programs {
    const char *host;
    int64_t space, programs, least_bytes, most_bytes;
    const char *largest; /* module */
} vp_memory_programs;

/* ---- Quality and findings ---- */

typedef struct vp_quality {
    const char *code;
    vp_severity severity;
    const char *message;
    const char *file;    /* may be NULL */
    int64_t event, byte; /* -1: none */
    bool partial;
} vp_quality;

typedef enum vp_level { VP_LEVEL_LOW, VP_LEVEL_MEDIUM, VP_LEVEL_HIGH } vp_level;
typedef enum vp_finding_status {
    VP_FIRED,
    VP_EXPLAINED, /* its time is another finding's symptom: explained_by */
    VP_CLEAR,
    VP_NOT_EVALUATED /* input is missing: `missing` */
} vp_finding_status;

typedef struct vp_place { /* aligned clock */
    uint32_t device;      /* VP_NO_DEVICE */
    const char *host, *track;
    int64_t start_ps, end_ps; /* VP_NO_TIME when it has no place in time */
} vp_place;

typedef struct vp_finding {
    const char *id;   /* "F1" */
    const char *name; /* "device-idle" */
    vp_finding_status status;
    vp_level severity;
    const char *title, *message, *suggestion; /* one sentence each */
    const char *metric, *unit, *denominator;  /* of the evidence; denominator may be NULL */
    double value, threshold;
    int64_t impact_ps;    /* what no earlier finding claims: an upper bound of what can be won */
    int64_t gross_ps;     /* with what others claim */
    int64_t window_ps;    /* impact_ps / window_ps is the share that decides the severity */
    int64_t impact_bytes; /* of rules about memory: what could be spared, at most */
    vp_place *where;
    size_t where_count;
    const char **caveats;
    size_t caveat_count;
    const char **explained_by; /* ids */
    size_t explained_count;
    const char **missing;
    size_t missing_count;
} vp_finding;

typedef struct vp_report_file {
    const char *path, *kind;
    int64_t bytes, events;
    bool partial;
} vp_report_file;

typedef struct vp_report {
    const char *session_id, *session_name, *session_path, *session_kind;
    /* When it was captured, -1 unknown: as the session's or the file's name says, else as the
     * profile does (the earliest base_unix_ns), else the newest file's mtime. */
    int64_t captured_unix_ns;
    int64_t base_unix_ns; /* -1 unknown */
    const char **hosts;
    size_t host_count;
    vp_report_file *files;
    size_t file_count;

    /* false: ops are the tracks' own names (host-only profile, Chrome trace, VP_WHERE_HOST) */
    bool has_devices;
    vp_where where;           /* as asked */
    bool own_clock;           /* some device window is on a device's clock */
    int64_t start_ps, end_ps; /* over all devices; without devices, over all events */
    int64_t capture_ps;       /* length of the whole capture, -1 unknown */
    int64_t step;    /* the report is of the step of this number alone, VP_UNKNOWN: of all */
    bool one_window; /* of the time from start_ps to end_ps alone, as it was asked for */
    int64_t events;  /* of every kind, in all files that were read */
    vp_depth depth;

    vp_device *
        devices; /* without devices: one entry a process, kind OTHER, idle and busy of its tracks */
    size_t device_count;
    vp_group group;
    vp_op *ops; /* by self time, descending; ties by name */
    size_t op_count;
    vp_scope *scopes;
    size_t scope_count;
    vp_folded_scope *folded; /* by their whole time */
    size_t folded_count;
    vp_module *modules;
    size_t module_count;
    vp_steps steps;
    vp_gap *gaps; /* the longest of each device, longest first */
    size_t gap_count;
    vp_idle_label *idle_labels; /* by total_ps */
    size_t idle_label_count;
    vp_collective *collectives; /* by exposed_ps, then total_ps */
    size_t collective_count;
    vp_transfer *transfers; /* by device, then direction */
    size_t transfer_count;
    vp_balance balance;
    vp_compile compile;
    vp_host_op *host_ops; /* by self_ps; the first 100 of each host, and of the others up to 20
                             blocking calls: those with the most blocked_ps, if any */
    size_t host_op_count;
    int64_t host_op_total; /* such rows, listed or not */
    vp_thread *threads;    /* those that work most of each host; none where a device is */
    size_t thread_count;
    vp_values *args; /* by how often, as counters; of each host the first 100, as of meta */
    size_t arg_count;
    vp_values *counters;
    size_t counter_count;
    vp_meta *meta; /* by key */
    size_t meta_count;
    int64_t arg_total, counter_total, meta_total; /* listed or not */
    vp_memory *memory;
    size_t memory_count;
    vp_memory_plan *memory_static; /* by peak, those that ran first */
    size_t memory_static_count;
    vp_memory_programs *memory_programs; /* by host, then space */
    size_t memory_programs_count;
    vp_quality *quality;
    size_t quality_count;
    bool partial;         /* some file was cut, capped or damaged: figures miss something */
    vp_finding *findings; /* every rule, in rank order: fired, explained, not evaluated, clear */
    size_t finding_count;
    void *owner_; /* the memory of everything above */
} vp_report;

/* ---- Comparison (docs/reference/metrics.md#comparison) ---- */

/* delta = b - a; unknown sides are VP_UNKNOWN and then delta is VP_NO_TIME. */
typedef struct vp_delta {
    int64_t a_ps, b_ps, delta_ps;
} vp_delta;

typedef struct vp_compared_device {
    const char *name; /* of A, else of B */
    vp_delta window, compute, exposed_comm, exposed_copy,
        idle;                 /* the four deltas sum to window's */
    vp_delta cells[VP_CELLS]; /* sum to compute's; unknown where either side has no peak */
    /* Of exposed_comm: until the last participant came, and the rest. Unknown where either side has
     * no matched call. */
    vp_delta wait, transfer;
    vp_delta causes[VP_CAUSES]; /* sum to idle's */
} vp_compared_device;

typedef struct vp_compared_op {
    const char *device, *category, *name, *scope;
    vp_op_class op_class;
    vp_delta self;
    int64_t calls_a, calls_b;          /* of all devices, in the whole capture */
    double span_calls_a, span_calls_b; /* of one device, in the same span as self */
    int64_t flops_a, flops_b;          /* likewise; VP_UNKNOWN */
    bool is_new, is_gone;
    bool significant;   /* above the noise, and not for more or less work at a rate no worse */
    const char *reason; /* what explains most of it: "called more often", "each FLOP slower", … */
    const char *name_b; /* its name in B where that is another one: compilers renumber; else NULL */
} vp_compared_op;

/* Of the forward pass where either has work going back or done again, which then stands where it
 * was written: without jvp, transpose and remat wrappers, and without primitives. */
typedef struct vp_compared_scope {
    const char *path;
    uint32_t depth;
    vp_delta total;    /* of the whole subtree */
    vp_delta backward; /* of it: work going back, or done again */
    /* The compute time of the subtree as cells of the waterfall, scaled as total is; unknown where
     * either side has no peak, and of `graph`. */
    vp_delta cells[VP_CELLS];
    bool is_op; /* an op in the scope above it: in `graph` of reports by stack */
} vp_compared_scope;

typedef enum vp_verdict { VP_REGRESSION, VP_IMPROVEMENT, VP_NOISE, VP_UNVERIFIED } vp_verdict;

/* Bytes at the peak of the allocators, or of the plans of the programs, of one name: the fullest of
 * each side. */
typedef struct vp_compared_holder {
    const char *name, *scope, *source; /* as in vp_memory_item */
    int64_t a_bytes, b_bytes, delta_bytes;
    const char *planned; /* likewise: what a call holds as temporaries is not what as a result */
} vp_compared_holder;

typedef struct vp_compared_memory {
    const char *allocator, *program;       /* one of them; the other is NULL */
    int64_t space;                         /* of vp_memory_plan; VP_UNKNOWN for allocators */
    int64_t a_bytes, b_bytes, delta_bytes; /* VP_UNKNOWN: only one side has it; delta VP_NO_TIME */
    vp_compared_holder *holders; /* by |delta|; where both sides name all, they sum to the above */
    size_t holder_count;
    vp_compared_holder *scopes; /* the same bytes by scope alone; name and source are NULL */
    size_t scope_count;
} vp_compared_memory;

typedef struct vp_comparison {
    const char *a_id, *a_name, *a_path, *b_id, *b_name, *b_path;
    bool per_step;        /* means of the steps that count, else whole windows */
    vp_delta step;        /* mean step or window of the slowest device */
    vp_delta median, p90; /* of the steps that count */
    vp_compared_device *devices;
    size_t device_count;
    vp_compared_op *ops; /* by |delta| */
    size_t op_count;
    vp_compared_scope *scopes; /* pre-order, only those that moved */
    size_t scope_count;
    vp_compared_scope *graph; /* pre-order, those that take a thousandth of the longer step in
                                 either; none without the one above it */
    size_t graph_count;
    vp_compared_memory *memory; /* as in A's report: allocators, then programs that ran in one;
                                   behind them those of B alone */
    size_t memory_count;
    int64_t steps_a, steps_b, threshold_ps; /* of the noise gate; VP_UNKNOWN */
    vp_verdict verdict;
    const char *verdict_reason;
    const char **caveats;
    size_t caveat_count;
    const char **findings_new, **findings_gone; /* ids */
    size_t new_count, gone_count;
    void *owner_;
} vp_comparison;

#ifdef __cplusplus
}
#endif
#endif
