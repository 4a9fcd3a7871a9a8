/* The report and the comparison: plain structs that view_profile.h makes, merges and prints.
 *
 * Times and durations are integer picoseconds; times are relative to base_unix_ns. Unknown counts
 * and durations are VP_UNKNOWN, unknown texts NULL, unknown times VP_NO_TIME (JSON: null, never 0).
 * Everything reachable from a vp_report or vp_comparison belongs to it. (full) marks figures that
 * VP_DEPTH_OPS leaves empty. Definitions: docs/findings.md and the comments here. Include
 * view_profile.h. */
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
    VP_GROUP_NAME, /* class, category and normalized name (docs/reference/metrics.md#op-names) */
    VP_GROUP_CATEGORY,
    VP_GROUP_SCOPE,
    VP_GROUP_SOURCE,
    VP_GROUP_MODULE,
    VP_GROUP_RAW,
    VP_GROUP_STACK,    /* scope, then like VP_GROUP_NAME: each op at its place in the tree */
    VP_GROUP_OPERATOR, /* the innermost framework operator that launched the op */
    VP_GROUP_OUTERMOST /* the outermost: the operator that the program called */
} vp_group;
typedef enum vp_sort { VP_BY_SELF, VP_BY_TOTAL, VP_BY_CALLS, VP_BY_MAX } vp_sort;
typedef enum vp_severity { VP_SEV_INFO, VP_SEV_WARNING, VP_SEV_ERROR } vp_severity;

/* How much of a profile is read. VP_DEPTH_OPS makes only the op tables: it skips host events if
 * there is a device, and leaves everything below that is marked (full) empty. */
typedef enum vp_depth { VP_DEPTH_FULL, VP_DEPTH_OPS } vp_depth;

/* Subject of the op tables: device ops (host events of a profile without devices), or events of
 * host threads. */
typedef enum vp_where { VP_WHERE_DEVICE, VP_WHERE_HOST } vp_where;

/* Breakdown of a device's window: compute + exposed_comm + exposed_copy + idle = window, exactly.
 * Computed as unions of half-open intervals over all op tracks of the device
 * (docs/reference/metrics.md#breakdown). */
typedef struct vp_breakdown {
    int64_t window_ps, compute_ps, exposed_comm_ps, exposed_copy_ps, idle_ps;
    int64_t busy_ps, comm_ps, copy_ps, overlap_comm_ps;
} vp_breakdown;

/* Causes of idle time, in order of priority if several apply at an instant
 * (docs/reference/metrics.md#idle-gaps): the thread that launches the next op was compiling,
 * waiting for input, …. UNKNOWN: nothing links the gap to the host. A copy on any other thread has
 * priority only over HOST and over gaps without a cause. */
typedef enum vp_cause {
    VP_CAUSE_COMPILE,
    VP_CAUSE_INPUT,
    VP_CAUSE_CALLBACK, /* debug prints and other callbacks from the device to the program */
    VP_CAUSE_SYNC,     /* a blocking API call */
    VP_CAUSE_TRANSFER, /* the host part of a copy */
    VP_CAUSE_HOST,     /* another label, or none: the launching thread was late */
    VP_CAUSE_CALL,     /* inside the launch call */
    VP_CAUSE_LATENCY,  /* launched, not yet started */
    VP_CAUSE_PEER,     /* waited for another device that was still working */
    VP_CAUSE_UNKNOWN,
    VP_CAUSES
} vp_cause;

/* Launches of a device's ops (full; docs/reference/metrics.md#launches). Only for correlated GPU
 * work: calls is VP_UNKNOWN on platforms without correlation. */
typedef struct vp_launch {
    int64_t calls, linked_ops, unlinked_ops; /* op events with and without a launch call */
    int64_t kernels, kernel_p50_ps;          /* compute kernels */
    int64_t short_kernels, short_ps;         /* below 10 us: count, Σ of durations */
    int64_t call_p50_ps, call_p95_ps;
    int64_t delay_p50_ps, delay_p95_ps;  /* max(0, op start - call end) */
    int64_t late_launches;               /* with a delay above 100 us */
    int64_t queue_max, queue_mean_milli; /* not yet started; mean over launches, /1000 */
    int64_t graph_launches;              /* calls that launch a CUDA graph */
    /* Time of gaps below 1 ms with an empty queue: the next op's launch had not returned when the
     * device became idle, or the op began within twice the usual delay after it. */
    int64_t starved_call_ps, starved_latency_ps; /* during that launch; from its end to the op */
} vp_launch;

/* Avoidable work in a device's ops (full; docs/reference/metrics.md#hygiene). Self times, parts of
 * self_ps. */
typedef struct vp_hygiene {
    int64_t formatting_ps;               /* transpose, copy, reshape, bitcast-convert */
    int64_t remat_ps;                    /* rematerialized work */
    int64_t async_done_ps;               /* waits in "-done" ops */
    int64_t padding_ps;                  /* category pad */
    int64_t infeed_ps, callback_ps;      /* infeed/outfeed ops; host callbacks as ops */
    int64_t copy_slowed_ps;              /* what ops take longer while the host copies (CPU) */
    int64_t callback_held_ps;            /* gaps after programs that wait for callbacks */
    int64_t callback_events;             /* host events in these gaps and in callbacks */
    int64_t duplicate_ps, duplicate_ops; /* ops that share the code of an equal op */
    int64_t chain_ps, chains;            /* sequences of >= 5 ops < 5 us with gaps < 5 us */
} vp_hygiene;

/* ---- Utilization of the hardware (full) ---- */

/* Parts of the compute time (MFU breakdown). Every instant belongs to the op that started last, and
 * an op's time is divided into these parts. So they sum to breakdown.compute_ps exactly, whatever
 * the costs and the peaks are. A matmul or a convolution has the first five, other ops NM_…. */
typedef enum vp_cell {
    VP_CELL_USEFUL,       /* time that its FLOP need at the peak */
    VP_CELL_RECOMPUTE,    /* the same for rematerialized work */
    VP_CELL_PAD,          /* estimated time for the FLOP that tiles add to the shapes */
    VP_CELL_INEFFICIENCY, /* the rest */
    VP_CELL_MEM_EXCESS,   /* time that its bytes need beyond the FLOP */
    VP_CELL_NM_MEMORY,    /* other work: time that its bytes need at full bandwidth */
    VP_CELL_NM_EXCESS,    /* other work: the rest */
    VP_CELL_UNKNOWN,      /* ops of unknown cost */
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

/* Source of a chip's peak rates. */
typedef enum vp_peak_source {
    VP_PEAK_NONE,
    VP_PEAK_PLANE,   /* the profile */
    VP_PEAK_NAME,    /* the row of the table of chips for the device's name */
    VP_PEAK_FIGURES, /* the row with matching capability, number of cores and memory */
    VP_PEAK_DERIVED, /* cores and clock times a rate of their generation */
    VP_PEAK_CHIP,    /* the row named by the user */
    VP_PEAK_USER     /* the user */
} vp_peak_source;

/* Source of an op's cost; if there are several, the last of these. */
typedef enum vp_cost_source {
    VP_COST_NONE,
    VP_COST_STAT,  /* the profile, for the op itself */
    VP_COST_HLO,   /* computed from the shapes of its HLO instruction */
    VP_COST_SHAPES /* computed from the shapes of the framework op */
} vp_cost_source;

/* Cost of ops relative to their device's peaks; sums over all executions. */
typedef struct vp_roof {
    int64_t flops, bytes; /* VP_UNKNOWN; FLOP of matmuls and convolutions only, bytes of HBM */
    int64_t peak_ps;      /* time for the FLOP at the peak of their types */
    int64_t memory_ps;    /* time for the bytes at full bandwidth */
    int64_t cell_ps[VP_CELLS];
    vp_cost_source source;
} vp_roof;

/* MFU is peak_ps / breakdown.window_ps, HFU is (peak_ps + recompute_peak_ps) / window_ps: shares of
 * the window, because ops may have several types with different peaks. */
typedef struct vp_mfu {
    const char *chip; /* row of the table of chips; may be NULL */
    vp_peak_source peak_source, bandwidth_source;
    bool uncertain;                      /* the row is a guess */
    vp_dtype dtype;                      /* type of most of the FLOP */
    int64_t peak_gflops, bandwidth_mb_s; /* dense, of that type; VP_UNKNOWN */
    /* VP_UNKNOWN if no op has a FLOP count; flops excludes recompute_flops. */
    int64_t flops, recompute_flops;
    int64_t peak_ps, recompute_peak_ps;
    int64_t above_ops, above_ps; /* executions faster than the peak, and their Σ of excess */
    int64_t cell_ps[VP_CELLS];   /* Σ = breakdown.compute_ps */
    int64_t formatting_ps;       /* part of NM_MEMORY and NM_EXCESS: transposes, copies, reshapes */
    /* FLOP by 6 x parameters x tokens, if requested: this device's part, for the mean time of its
     * steps, else for its window. VP_UNKNOWN */
    int64_t asked_flops, asked_window_ps;
} vp_mfu;

typedef struct vp_device {
    const char *name; /* "/device:TPU:0", "GPU 0", "/host:CPU:0" */
    const char *host;
    const char *model; /* "TPU v6 Lite", "NVIDIA H100 80GB HBM3"; may be NULL */
    vp_device_kind kind;
    int64_t events;           /* op events */
    int64_t start_ps, end_ps; /* the device's window, on the clock of the report's window */
    bool own_clock;           /* the window is on the device's clock, not the host's */
    /* Added to the report's (aligned) times gives the times of its host's own file. */
    int64_t timeline_ns;
    int64_t self_ps; /* Σ self time of its ops: the denominator of self_share_of_ops */
    /* Main memory from the profile, else from its chip's row; VP_UNKNOWN (full). */
    int64_t memory_bytes;
    vp_breakdown breakdown;
    /* full: */
    int64_t cause_ps[VP_CAUSES];  /* Σ = breakdown.idle_ps */
    int64_t gap_count;            /* number of all gaps; `gaps` lists the longest */
    int64_t steps_counted;        /* steps summed by step_self_ps of its ops; VP_UNKNOWN */
    int64_t barriers, barrier_ps; /* waits for other cores ("barrier-cores", TPU): count and Σ */
    /* Part of breakdown.exposed_comm_ps before the last participant arrived, over matched calls;
     * the waiting part of a call is assumed to be exposed first. VP_UNKNOWN: no call is matched. */
    int64_t exposed_wait_ps;
    vp_launch launch;
    vp_hygiene hygiene;
    vp_mfu mfu;
} vp_device;

/* How the parts of a group differ. */
typedef enum vp_split_by {
    VP_SPLIT_SHAPE,
    VP_SPLIT_LAYOUT, /* within one shape: the label is the shape with layout and memory space */
    VP_SPLIT_SCOPE,
    VP_SPLIT_SOURCE
} vp_split_by;

/* A part of a group with different ops: its members of one shape, scope or source. */
typedef struct vp_split {
    const char *label; /* the shape, else the scope, else the source */
    const char *scope, *source;
    int64_t calls, self_ps, max_ps;
    double stddev_ps;
    vp_split_by by;
} vp_split;

/* Launch parameters of kernels. Texts are the profile's; NULL: unknown. */
typedef struct vp_kernel_launch {
    const char *grid, *block;        /* blocks of the launch, threads of a block: "3,1,1" */
    const char *occupancy;           /* percent, theoretical or estimated */
    int64_t registers, shared_bytes; /* registers per thread, shared memory per block; VP_UNKNOWN */
    /* Part of the kernel's name that shows use of tensor cores or of AMD's matrix cores; NULL:
     * unknown. */
    const char *tensor_cores;
} vp_kernel_launch;

/* One group of events of one device. total_ps counts outermost events only, calls counts all
 * events. The mean is over outermost calls, percentiles are over all calls. If spans run
 * concurrently, every span counts: on XLA:CPU devices and GPU streams, in async events, and on
 * tracks where two events of one name cross. */
/* Self time of an op that its HLO program shows to be avoidable
 * (docs/reference/metrics.md#avoidable-work). One op may count in several fields. */
typedef struct vp_avoidable {
    int64_t known_ps;         /* of instructions that were found in their programs */
    int64_t float64_ps;       /* computes in double precision */
    int64_t fused_layout_ps;  /* fusions of transposes or copies into another layout, no products */
    int64_t plain_copy_ps;    /* copies that keep the layout */
    int64_t argument_copy_ps; /* … of arguments that are not donated */
    int64_t copy_slowed_ps;   /* what it takes longer while arguments are copied (CPU) */
    int64_t elementwise_ps;   /* element-wise work that memory bandwidth limits */
    int64_t callback_input_ps; /* results that only callbacks read */
    int64_t lookup_ps;         /* products with one-hot factors, and what makes these */
    int64_t update_ps;         /* whole tables, for gradients of few of their rows */
    int64_t recomputed_ps;     /* the forward pass again, as jax.checkpoint asks */
    int64_t repeated_ps;       /* loops whose products another loop computes as well */
    int64_t unrolled_ps;       /* what one batched op saves in place of small ones of equal shape */
} vp_avoidable;

typedef struct vp_op {
    uint32_t device; /* index into devices; without devices, of its process */
    vp_op_class op_class;
    const char *category; /* hlo_category, Kineto cat, …; may be NULL */
    const char *name;     /* the group's key as displayed */
    int64_t calls, total_ps, self_ps;
    int64_t min_ps, p50_ps, p95_ps, max_ps; /* per call; percentiles by nearest rank */
    double stddev_ps;                       /* population */
    /* Σ over calls, VP_UNKNOWN. For a custom call 0 means unknown, because XLA does not know its
     * cost. For other ops 0 is 0: moving data has no FLOP. */
    int64_t bytes, flops;
    const char *scope;       /* its scope with the most self time; may be NULL */
    const char *source;      /* source with the most self time in that scope */
    const char *module;      /* module of the member with the most self time there */
    int64_t raw_names;       /* distinct names in the group */
    int64_t scopes, sources; /* distinct ones in the group; VP_UNKNOWN if launches were not read */
    int64_t slowest_start_ps, slowest_dur_ps; /* start on the aligned clock */
    /* full: */
    int64_t step_self_ps;   /* Σ self time in counted steps; VP_UNKNOWN without steps */
    int64_t step_calls;     /* calls that begin in them; VP_UNKNOWN, also in older reports */
    int64_t threads;        /* threads it ran on, without devices; 0: async; VP_UNKNOWN */
    int64_t inner_ps;       /* Σ of calls nested in others of the group, which total_ps excludes */
    int64_t inner_calls;    /* their number: the mean of a call is total_ps over the others */
    int64_t idle_before_ps; /* Σ device idle time that ends at an op of this group */
    int64_t *per_step_ps;   /* mean self time per step, over runs of consecutive counted steps */
    size_t per_step_count;  /* <= 100 points; 0 except for the larger groups */
    vp_roof roof;
    const vp_kernel_launch *launch; /* VP_GROUP_RAW: a row has launches of one kind; else NULL */
    vp_split *splits;               /* groups of >= 5 % of self_ps: largest parts by self time */
    size_t split_count;             /* <= 8 */
    /* Framework operators that launched its calls (docs/reference/links.md#operators): the
     * innermost with the most self time, and the outermost around that, which is known only of
     * linked launches; NULL: none or unknown. */
    const char *operator_name, *outermost_name;
    int64_t operators;  /* distinct innermost ones; VP_UNKNOWN in older reports */
    const char *caller; /* the user's function that calls it, or that `source` is in; may be NULL */
    vp_avoidable avoidable; /* full; 0 without HLO programs */
} vp_op;

/* The computation graph by time: scopes as a tree, in pre-order. Backward work
 * ("transpose(jvp(x))") and rematerialized work ("rematted_computation") keep their own path;
 * vp_folded_scope adds them to their forward scope. */
typedef struct vp_scope {
    uint32_t depth;         /* 0 for a root */
    uint32_t parent;        /* index, UINT32_MAX for a root */
    const char *path;       /* full path, "jit(step)/transformer/layer_3" */
    const char *name;       /* its last component */
    int64_t self_ps;        /* ops of exactly this scope */
    int64_t total_ps;       /* self time of the whole subtree */
    int64_t calls;          /* of the whole subtree */
    int64_t bytes, flops;   /* of the whole subtree; VP_UNKNOWN if no op has them */
    const char *source;     /* of the op with the most self time in the subtree; may be NULL */
    int64_t idle_before_ps; /* of the whole subtree (full) */
    int64_t backward_ps, remat_ps; /* self time of such work in the whole subtree */
    vp_roof roof;                  /* of the whole subtree (full) */
} vp_scope;

/* A scope of the forward pass with all of its forward, backward and recomputed work. */
typedef struct vp_folded_scope {
    const char *path; /* without jvp, transpose and remat wrappers */
    int64_t forward_ps, backward_ps, remat_ps, calls; /* self time of ops of exactly this scope */
} vp_folded_scope;

/* Without a track of module runs (GPU, CPU), runs and p50_ps are unknown, and total_ps is the self
 * time of the module's ops. */
typedef struct vp_module {
    const char *name;
    int64_t program_id;             /* XLA's 64 bits, printed unsigned; -1 unknown */
    int64_t runs, total_ps, p50_ps; /* -1 unknown */
    /* Durations of its runs, ascending: all of them, or evenly spaced order statistics after
     * reading from JSON. */
    int64_t *sample_ps;
    size_t sample_count;
    int64_t repeat_steps;           /* counted steps in which it ran >= 3 times (full) */
    int64_t repeat_ps, repeat_runs; /* Σ and number of its runs in those steps */
    int64_t in_steps, in_steps_ps; /* counted steps in which it ran; Σ of its runs in them (full) */
    int64_t ops, op_calls;         /* distinct ops that ran; calls of the most frequent one */
    const char
        *repeats; /* a program that computes its matmuls, too; NULL: unknown or none (full) */
} vp_module;

/* ---- Steps (full; docs/reference/metrics.md#steps) ---- */

typedef enum vp_step_source {
    VP_STEPS_NONE,
    VP_STEPS_LINE,       /* the profiler's own "Steps" line */
    VP_STEPS_PROFILER,   /* ProfilerStep#N */
    VP_STEPS_ANNOTATION, /* step_num, StepTraceAnnotation */
    VP_STEPS_MODULES,    /* repetitions of the longest module */
    VP_STEPS_REPEATED,   /* an annotation of the program that repeats */
    VP_STEPS_OPTIMIZER,  /* from one Optimizer.step to the next */
    VP_STEPS_NAMED       /* vp_report_options.steps_by */
} vp_step_source;

typedef enum vp_step_class { VP_STEP_NORMAL, VP_STEP_HEAVY, VP_STEP_LIGHT } vp_step_class;

/* One step on one device; its window is adjusted to the device's work
 * (docs/reference/metrics.md#steps). */
typedef struct vp_step_device {
    uint32_t device;
    int64_t start_ps, dur_ps; /* start on the aligned clock, duration on the device's */
    vp_breakdown breakdown;
    int64_t cause_ps[VP_CAUSES]; /* Σ = breakdown.idle_ps */
    int64_t cell_ps[VP_CELLS];   /* Σ = breakdown.compute_ps */
    int64_t peak_ps;             /* numerator of MFU */
    int64_t exposed_wait_ps;     /* like vp_device's, for waits that begin in the step */
} vp_step_device;

/* Without a device: the zone with the largest increase of self time over its usual value. */
typedef struct vp_grown {
    const char *name, *thread; /* NULL: no zone has increased */
    uint32_t device;           /* its process */
    int64_t more_ps, usual_ps; /* usual: median over all steps, 0 if it does not run in them */
    int64_t start_ps, dur_ps;  /* of its longest call in the step */
    const char *caller;        /* the user's function that calls it; may be NULL */
} vp_grown;

typedef struct vp_step {
    int64_t number; /* the program's step number, VP_UNKNOWN */
    const char *name;
    int64_t start_ps, dur_ps; /* of its critical device, or of the host without devices */
    uint32_t device;          /* critical device: the longest window; VP_NO_DEVICE */
    bool partial;             /* cut off by the capture: excluded from statistics */
    bool warm_up;             /* first and slow: excluded from statistics */
    vp_step_class step_class;
    vp_step_device *devices;
    size_t device_count;
    vp_grown grew;
    uint32_t series; /* index into vp_steps.series */
} vp_step;

/* A step that counts in the statistics of a report. */
static inline bool vp_step_counts(const vp_step *s)
{
    return !s->partial && !s->warm_up && !s->series;
}

/* Steps with similar durations: evaluation, logging, accumulation. */
typedef struct vp_step_group {
    vp_step_class step_class;
    int64_t count, median_ps, total_ps;
    int64_t period;  /* every this many steps, VP_UNKNOWN if irregular */
    int64_t example; /* number of the step closest to the median */
} vp_step_group;

/* Steps of one name, such as train and eval. Step numbers are distinct only within a series. */
typedef struct vp_step_series {
    const char *name; /* without the number of the step; "" if no name repeats */
    size_t count;     /* steps, including partial ones */
    int64_t counted;  /* neither partial nor warm-up; VP_UNKNOWN below if there are none */
    int64_t median_ps, mean_ps, min_ps, max_ps, total_ps;
} vp_step_series;

typedef struct vp_steps {
    vp_step_source source;
    vp_step *list; /* by time */
    size_t count;
    /* Over counted steps: of the first series, neither partial nor warm-up. VP_UNKNOWN if there are
     * none. */
    int64_t counted, median_ps, p90_ps, p95_ps, mad_ps, mean_ps, min_ps, max_ps;
    double cv;         /* population standard deviation / mean */
    int64_t excess_ps; /* Σ max(0, x - median) */
    vp_step_group *groups;
    size_t group_count;
    vp_step_series *series; /* descending by total time; the statistics above are of the first */
    size_t series_count;
} vp_steps;

/* ---- Idle time (full; docs/reference/metrics.md#idle-gaps) ---- */

/* A gap between two ops of a device. host_late + in_call + latency + peer + unknown = dur. */
typedef struct vp_gap {
    uint32_t device;
    int64_t start_ps, dur_ps; /* start on the aligned clock, duration on the device's */
    int64_t host_late_ps, in_call_ps, latency_ps;
    int64_t cause_ps[VP_CAUSES]; /* Σ = dur_ps */
    const char *label, *thread;  /* main activity of the launching thread; may be NULL */
    const char *next_op, *scope; /* the op that ends it, and its scope; may be NULL */
} vp_gap;

/* Idle time by host activity, over all gaps of a device. */
typedef struct vp_idle_label {
    uint32_t device;
    vp_cause cause;
    const char *label, *thread;
    int64_t gaps, total_ps;
    const char *user; /* the innermost frame of the user's program around the label; may be NULL */
} vp_idle_label;

/* ---- Communication and copies (full; docs/reference/metrics.md#collectives) ---- */

typedef struct vp_collective {
    uint32_t device;
    const char *kind; /* "all-reduce", "all-gather", …, "send-recv", "other" */
    const char *name; /* name of its group among the ops */
    const char *scope;
    int64_t group_size; /* participants, VP_UNKNOWN */
    int64_t groups;     /* number of groups of the program's devices, VP_UNKNOWN */
    /* This device's group, with the device numbers of programs: "0,4", "0-7", "0-28:4"; NULL:
     * unknown. */
    const char *members;
    int64_t count, bytes;         /* bytes: Σ payload per participant, VP_UNKNOWN */
    int64_t total_ps;             /* Σ of durations (of async pairs: in flight) */
    int64_t union_ps, exposed_ps; /* duration of the union; the part not overlapped by other work */
    /* Single calls, for matching across devices: every sample_stride-th in order of time. */
    int64_t *sample_start_ps, *sample_dur_ps; /* aligned clock */
    int64_t *sample_exposed_ps;               /* exposed part of each call; NULL in older reports */
    size_t sample_count;
    int64_t sample_stride;
    int64_t wait_ps; /* Σ over matched calls of latest start - own start; VP_UNKNOWN if unmatched */
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
    uint32_t device; /* VP_NO_DEVICE: known from the host only */
    vp_direction direction;
    int64_t count, bytes;                /* an async start/done pair counts once */
    int64_t total_ps;                    /* Σ of durations of its ops on the op tracks */
    int64_t busy_ps;                     /* union, in flight */
    int64_t exposed_ps, exposed_count;   /* not overlapped by compute or communication */
    int64_t pageable_count, pageable_ps; /* VP_UNKNOWN if the platform does not state it */
    int64_t largest_bytes, largest_start_ps, largest_dur_ps; /* the longest copy */
    int64_t first_start_ps;
    bool host_only; /* measured by host events: CPU devices */
    /* The place of most copies; may be NULL. */
    const char *caller;   /* the user's function "train (train.py:20)", or its line */
    const char *function; /* the compiled function that is called with data of the host */
    const char *argument; /* its largest such argument: "table f32[12288,1024], 48.0 MiB" */
} vp_transfer;

/* Balance of work between devices (over breakdown.compute_ps), and the device that others wait for.
 * Recomputed from the rest of the report when hosts are merged. */
typedef struct vp_balance {
    size_t devices; /* devices that run the same modules; below 2 the rest is VP_UNKNOWN */
    int64_t max_ps, mean_ps, min_ps;
    uint32_t busiest, idlest;
    bool aligned;               /* clocks of hosts are comparable */
    int64_t matched;            /* collective calls found on all of their devices */
    int64_t wait_ps;            /* Σ over them of the largest wait */
    uint32_t straggler;         /* device that is last most often; VP_NO_DEVICE */
    int64_t straggler_last;     /* number of calls in which it is last */
    const char *straggler_host; /* host that is last most often; NULL with one host */
    int64_t straggler_host_last;
} vp_balance;

/* ---- The host (full; docs/reference/metrics.md#host-events) ---- */

typedef struct vp_function {
    const char *host;
    const char *name;
    int64_t compiles, calls, cache_hits;  /* outermost; cache_hits VP_UNKNOWN */
    int64_t total_ps, repeat_ps;          /* Σ compile time; the same without the first compile */
    int64_t late, late_ps;                /* after execution had begun (F10) */
    int64_t first_start_ps, first_dur_ps; /* the first compile; below the last one */
    int64_t last_start_ps, last_dur_ps;
    const char *caller;  /* the user's function around its last compile; NULL: unknown */
    const char *changes; /* what differs between its variants; NULL: unknown */
    int64_t prepare_ps;  /* tracing and lowering before late and repeated compiles */
    int64_t ready_ps;    /* from then on a warm program need not compile it (F10) */
} vp_function;

typedef struct vp_compile {
    int64_t count, total_ps; /* outermost compiles; union per thread */
    int64_t lower_ps;        /* tracing and lowering to HLO */
    int64_t late, late_ps;
    int64_t before_steps_ps; /* compiles that began before the step's module first ran (F11) */
    int64_t cache_hits, cache_misses; /* of the persistent cache, VP_UNKNOWN */
    vp_function *functions;           /* descending by compile time */
    size_t function_count;
} vp_compile;

typedef struct vp_host_op {
    const char *host, *thread, *name;
    vp_cause cause; /* VP_CAUSE_HOST for plain work */
    bool blocking;
    /* Threads over which it is summed; `thread` is the one with the most self time. Blocking calls
     * have one row per thread. VP_UNKNOWN in reports without this figure: one. */
    int64_t threads;
    int64_t calls, total_ps, self_ps; /* nested calls with equal names count once in total */
    int64_t idle_ps;                  /* part of self while all devices of the host are idle */
    /* Blocking calls: whole duration, including nested calls, while all devices of the host are
     * idle between their first and last op. Of nested blocking calls only the outermost counts, so
     * the sum over a thread is a union. VP_UNKNOWN in reports without this figure. */
    int64_t blocked_ps;
    int64_t max_ps, max_start_ps;
} vp_host_op;

/* A thread of a program without a device (full). Work is its self time outside of zones that wait,
 * according to their name or category. Lost is waiting that could have been work: for locks; and on
 * the thread with the steps (else the one with the most work) all other waiting, except while two
 * other threads of the process work. */
typedef struct vp_thread {
    uint32_t device; /* its process */
    const char *name;
    bool steps; /* has the program's steps; then only waiting within them is lost */
    int64_t start_ps, end_ps, work_ps, wait_ps, lost_ps;
    const char *zone; /* zone with the most work; may be NULL */
    int64_t zone_ps;
    const char *wait;                               /* zone with the most lost time; NULL: none */
    int64_t wait_calls, wait_start_ps, wait_dur_ps; /* the longest */
    /* The user's functions that call them, as "train (train.py:20)"; may be NULL. */
    const char *zone_caller, *wait_caller;
} vp_thread;

/* Work of a thread that is not the program's own (docs/reference/metrics.md#activities). */
typedef enum vp_activity_kind {
    VP_ACTIVITY_COMPILE,
    VP_ACTIVITY_INPUT,    /* loads, makes or waits for data */
    VP_ACTIVITY_GC,       /* collects garbage */
    VP_ACTIVITY_WRITE,    /* writes a checkpoint, or waits until a file is on disk */
    VP_ACTIVITY_CALLBACK, /* runs a function that a device calls */
    VP_ACTIVITY_KINDS
} vp_activity_kind;

/* All times in which the thread that trains does one of these. They don't overlap: of nested ones
 * only the outermost counts. */
typedef struct vp_activity {
    const char *host, *thread;
    uint32_t device; /* its process in a profile without devices; else VP_NO_DEVICE */
    vp_activity_kind kind;
    const char *name;   /* of the longest call; the next three, too */
    const char *caller; /* the user's function around it, as "train (train.py:20)"; may be NULL */
    const char *callee; /* the user's function that it calls; may be NULL */
    int64_t max_ps, max_start_ps;
    int64_t calls, total_ps;
    int64_t wait_ps; /* part of it in zones that wait: sleep, recv, a lock */
    int64_t idle_ps; /* part of it while all devices of the host are idle; VP_UNKNOWN: no device */
    int64_t steps;   /* number of steps in which it occurs */
} vp_activity;

/* A host's program replayed, with its launching thread and its devices as queues
 * (docs/reference/links.md#replay). recorded_ps and replayed_ps differ by the error of the model.
 */
typedef struct vp_replay {
    const char *host, *thread;
    int64_t recorded_ps, replayed_ps;
    int64_t unwaited_ps; /* replayed without the waits of the thread */
    int64_t waits;       /* waits for a run */
    const char *waiter;  /* the user's function with most of their time; may be NULL */
} vp_replay;

/* A function of the user's program on that thread, which does not launch the program that takes
 * most of the devices' time. Functions contain each other; outermost calls count. */
typedef struct vp_user_function {
    const char *host;
    const char *name; /* "log_norms (train.py:16)" */
    int64_t calls, total_ps, max_start_ps, max_ps;
    int64_t launches, run_ps; /* runs of programs launched within it, and their time on devices */
    int64_t reads;            /* results that it reads: Python calls that wait for a device */
    int64_t without_ps;       /* replayed without the function */
} vp_user_function;

/* A program of PyTorch (docs/reference/metrics.md#pytorch-programs). */
typedef struct vp_torch {
    const char *optimizer; /* "SGD.step"; NULL: none */
    int64_t optimizer_steps, optimizer_ps;
    /* Operators that optimizers call directly; those for many parameters at once. */
    int64_t optimizer_ops, grouped_ops;
    int64_t optimizer_start_ps, optimizer_dur_ps; /* the longest step */
    /* Operations that autograd records; those without a backward pass, and the time of their
     * outermost operators. */
    int64_t recorded_ops, unused_ops, unused_ps;
    int64_t unused_start_ps, unused_dur_ps; /* the longest run of these */
} vp_torch;

/* What a change to a program of PyTorch without devices would save (docs/reference/metrics.md
 * #pytorch-programs). */
typedef enum vp_torch_kind {
    VP_TORCH_READS,     /* a loop that reads values one by one */
    VP_TORCH_LOOP,      /* another loop of small operators */
    VP_TORCH_FLOAT64,   /* operators of double precision */
    VP_TORCH_LAYOUT,    /* copies that change the layout */
    VP_TORCH_GRADIENTS, /* backward passes whose gradients are not used */
    VP_TORCH_OPTIMIZER, /* an optimizer that updates parameters one by one */
    VP_TORCH_KINDS
} vp_torch_kind;

typedef struct vp_torch_cost {
    const char *host, *thread;
    uint32_t device; /* its process */
    vp_torch_kind kind;
    const char *name;   /* the operator, the module, or what else is called */
    const char *caller; /* the user's function, as "train (train.py:20)"; NULL: unknown */
    int64_t calls;      /* of that: passes of loops */
    int64_t groups;     /* loops, steps of an optimizer; else 0 */
    int64_t total_ps, saved_ps;
    int64_t start_ps, dur_ps; /* the longest: a loop, an operator */
} vp_torch_cost;

/* ---- Data recorded by the program (full; recordings of view_profile_capture.h) ---- */

typedef struct vp_said {
    const char *text;
    int64_t count;
} vp_said;

/* Values of an argument in all zones of one name, or of a counter. Numbers and texts are counted
 * separately. Empty in the report of one step. */
typedef struct vp_values {
    const char *host, *zone; /* zone: for a counter its own name */
    const char *key;         /* NULL for a counter */
    int64_t numbers;         /* count of numbers; if 0, the next are NaN */
    double min, mean, max, sum, last;
    int64_t texts;    /* count of texts: those of top, and others */
    int64_t distinct; /* number of distinct texts; VP_UNKNOWN: more than 64 */
    vp_said *top;     /* most frequent first, <= 8 */
    size_t top_count;
    int64_t others;
} vp_values;

typedef struct vp_meta {
    const char *host, *key, *value;
} vp_meta;

/* ---- Memory (full) ---- */

/* A holder of memory: an op, a function, or a description in brackets. */
typedef struct vp_memory_item {
    const char *name;
    int64_t bytes, count;
    const char *scope;  /* framework path; NULL unknown */
    const char *source; /* "file:line" or a frame; NULL unknown */
    int64_t step;       /* step number in which it was allocated; VP_UNKNOWN */
    /* "jit_f: temporaries": the part of a memory plan with this size; NULL unknown. */
    const char *planned;
} vp_memory_item;

/* Memory that a step allocates and does not free: bytes still in use two steps later. */
typedef struct vp_leak {
    const char *name, *scope, *source; /* as in vp_memory_item */
    int64_t bytes, count;              /* Σ over all judged steps */
    int64_t steps;                     /* judged steps with remaining bytes */
} vp_leak;

/* One allocator. Bytes are VP_UNKNOWN if the file does not state them. */
typedef struct vp_memory {
    const char *host, *allocator;      /* "GPU_0_bfc", "GPU 0", "memory.prof" */
    int64_t peak_bytes, peak_start_ps; /* peak of the bytes in use, and when it was first reached */
    int64_t total_bytes;               /* limit of the allocator */
    int64_t lifetime_peak_bytes;       /* peak including the time before the window */
    int64_t reserved_bytes, reserved_peak_bytes; /* from the device: at the peak of use; maximum */
    /* Free bytes that are too scattered for one allocation; and the bytes that they are a part of:
     * reserved from the device, or the allocator's limit. */
    int64_t fragmented_bytes, fragmented_of_bytes;
    int64_t allocations, frees, end_bytes;   /* VP_UNKNOWN for snapshots without a history */
    int64_t allocated_bytes;                 /* Σ of all allocations */
    int64_t out_of_memory;                   /* failed requests */
    int64_t steps, step_allocations;         /* complete steps, and allocations within them */
    int64_t *sample_start_ps, *sample_bytes; /* <= 200 points of the curve, each a local maximum */
    size_t sample_count;
    /* At the same points; count 0 if unknown: bytes reserved from the device, and fragmented. */
    int64_t *sample_reserved_bytes, *sample_fragmented_bytes;
    size_t sample_reserved_count, sample_fragmented_count;
    vp_memory_item *top; /* holders at the peak, <= 20; they sum to it if all are known */
    size_t top_count;
    int64_t leak_steps; /* judged steps; VP_UNKNOWN: not in the file */
    vp_leak *leaks;     /* descending by bytes, <= 20 */
    size_t leak_count;
} vp_memory;

/* ---- Planned memory: XLA's buffer assignment (full) ---- */

typedef enum vp_buffer_kind {
    VP_BUFFER_PARAMETER,
    VP_BUFFER_OUTPUT,
    VP_BUFFER_CONSTANT,
    VP_BUFFER_TEMP,
    VP_BUFFER_OTHERS /* sum of the smaller ones */
} vp_buffer_kind;

/* Memory spaces by XLA's numbers; other spaces are on the chip. */
enum { VP_SPACE_MAIN = 0, VP_SPACE_HOST = 5 };

/* A buffer that is live at the peak of a program's plan. */
typedef struct vp_plan_buffer {
    const char *instruction;                     /* "copy-start{0}": its first result */
    const char *opcode, *shape, *scope, *source; /* shape with its layout; NULL: unknown */
    /* Scope and source of its copied operand, or of the root of its fusion, if it has no scope of
     * its own; else NULL. */
    const char *origin_scope, *origin_source;
    vp_buffer_kind kind;
    int64_t bytes;          /* with padding */
    int64_t unpadded_bytes; /* without padding; VP_UNKNOWN */
    int64_t first, last;    /* events of the plan; VP_UNKNOWN: the whole program */
    /* Number of consecutive instructions around the peak that do not read it. VP_UNKNOWN: the
     * position of the buffer or of the peak in the program's order is unknown. */
    int64_t unused;
    const char *padded; /* "dimension 1: 200 of 256" if tiles waste memory; else NULL */
} vp_plan_buffer;

/* A donatable argument: its memory could be reused for a result (jax.jit's donate_argnums). */
typedef struct vp_plan_donation {
    const char *parameter, *scope, *output;
    const char *output_scope, *output_source; /* of the instruction that makes the result */
    int64_t parameter_number, bytes;
    int64_t last_use, born; /* schedule positions: last use; first of the result */
    bool also_scratch;      /* the result's memory holds temporaries before, so less is saved */
} vp_plan_donation;

/* One layer of the curve: bytes of buffers under one scope, at each sample. */
typedef struct vp_plan_layer {
    const char *scope; /* NULL: without a scope */
    int64_t *bytes;    /* sample_count items */
    size_t byte_count;
} vp_plan_layer;

/* Memory of a program (HLO module) in one memory space, from its buffer assignment. fixed =
 * parameters + outputs + constants, which live as long as it runs; peak = fixed + heap_peak = the
 * sum of `live`; reserved = fixed + temp = what the runtime allocates. */
typedef struct vp_memory_plan {
    const char *host, *module;
    int64_t program_id, space; /* VP_SPACE_MAIN: the device's */
    bool ran;                  /* an op of it is in the profile; else it was only compiled */
    bool replayed;             /* heap_peak is computed from the compiler's own events */
    int64_t peak_bytes, heap_peak_bytes; /* VP_UNKNOWN: no lifetimes in the file */
    int64_t peak_unpadded_bytes;         /* VP_UNKNOWN */
    int64_t peak_event, events; /* index of the peak's event, VP_UNKNOWN; number of events */
    const char *peak_instruction;
    int64_t instructions; /* executed instructions in order, loops by their content; VP_UNKNOWN */
    int64_t reserved_bytes, fragmentation_bytes; /* reserved - peak; VP_UNKNOWN */
    int64_t parameter_bytes, output_bytes, constant_bytes, temp_bytes;
    int64_t stack_bytes;    /* thread-local: in no sum */
    int64_t live_out_bytes; /* results, including those in donated parameters */
    int64_t alias_bytes;    /* parameters whose memory results reuse */
    int64_t untraced_bytes; /* temporaries without events, such as tables of pointers; VP_UNKNOWN */
    int64_t xla_peak_bytes; /* the compiler's own figure for all spaces together */
    int64_t remat_count;    /* rematerialized instructions */
    vp_plan_buffer *live;   /* at the peak, largest first; they sum to peak_bytes */
    size_t live_count;
    vp_plan_donation *donations; /* largest first, <= 100 */
    size_t donation_count;
    int64_t donation_total, donation_bytes; /* of all */
    int64_t *sample_event;                  /* <= 160; each is the maximum of its range of events */
    size_t sample_count;
    vp_plan_layer *layers; /* sum to the live bytes at each sample; largest plans only */
    size_t layer_count;
} vp_memory_plan;

/* Memory of all executed programs in one space of one host. least: that of the largest program.
 * most: one runs at a time, and the arguments, results and constants of all stay allocated without
 * sharing. */
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

/* A host's rank in its job. */
typedef struct vp_rank {
    const char *host;
    int64_t rank;
} vp_rank;

typedef enum vp_level { VP_LEVEL_LOW, VP_LEVEL_MEDIUM, VP_LEVEL_HIGH } vp_level;
typedef enum vp_finding_status {
    VP_FIRED,
    VP_EXPLAINED, /* its time is a symptom of another finding: explained_by */
    VP_CLEAR,
    VP_NOT_EVALUATED /* input is missing: `missing` */
} vp_finding_status;

typedef struct vp_place { /* on the aligned clock */
    uint32_t device;      /* VP_NO_DEVICE */
    const char *host, *track;
    int64_t start_ps, end_ps; /* VP_NO_TIME if it is not a range of time */
} vp_place;

typedef struct vp_finding {
    const char *id;   /* "F1" */
    const char *name; /* "device-idle" */
    vp_finding_status status;
    vp_level severity;
    const char *title, *message, *suggestion; /* one sentence each */
    const char *metric, *unit, *denominator;  /* of value, threshold; denominator may be NULL */
    double value, threshold;
    int64_t impact_ps;    /* potential saving (upper bound), without time of earlier findings */
    int64_t gross_ps;     /* the same including time claimed by others */
    int64_t window_ps;    /* severity depends on impact_ps / window_ps */
    int64_t impact_bytes; /* rules about memory: upper bound of the bytes saved */
    vp_place *where;
    size_t where_count;
    const char **caveats;
    size_t caveat_count;
    const char **explained_by; /* ids */
    size_t explained_count;
    const char **missing;
    size_t missing_count;
    bool is_predicted; /* impact_ps and gross_ps come from a replay, not from an upper bound */
} vp_finding;

typedef struct vp_report_file {
    const char *path, *kind;
    int64_t bytes, events;
    bool partial;
} vp_report_file;

typedef struct vp_report {
    const char *session_id, *session_name, *session_path, *session_kind;
    /* Time of the capture, -1 unknown: from the run's or the file's name, else from the profile
     * (the earliest base_unix_ns), else mtime of the newest file. */
    int64_t captured_unix_ns;
    int64_t base_unix_ns; /* -1 unknown */
    const char **hosts;
    size_t host_count;
    vp_report_file *files;
    size_t file_count;

    /* false: ops have the tracks' own names (host-only profile, Chrome trace, VP_WHERE_HOST). */
    bool has_devices;
    vp_where where;           /* as requested */
    bool own_clock;           /* a device's window is on the device's clock */
    int64_t start_ps, end_ps; /* over all devices; without devices, over all events */
    int64_t capture_ps;       /* duration of the whole capture, -1 unknown */
    int64_t step;             /* number of the only step in the report, VP_UNKNOWN: all */
    bool one_window;          /* only the time from start_ps to end_ps, as requested */
    int64_t events;           /* of all kinds, in all files read */
    vp_depth depth;

    /* Without devices: one item per process, kind OTHER, with idle and busy time of its tracks. */
    vp_device *devices;
    size_t device_count;
    vp_group group;
    vp_op *ops; /* descending by self time; ties by name */
    size_t op_count;
    vp_scope *scopes;
    size_t scope_count;
    vp_folded_scope *folded; /* descending by total time */
    size_t folded_count;
    vp_module *modules;
    size_t module_count;
    vp_steps steps;
    vp_gap *gaps; /* the longest ones of each device, longest first */
    size_t gap_count;
    vp_idle_label *idle_labels; /* by total_ps */
    size_t idle_label_count;
    vp_collective *collectives; /* by exposed_ps, then total_ps */
    size_t collective_count;
    vp_transfer *transfers; /* by device, then direction */
    size_t transfer_count;
    vp_balance balance;
    vp_compile compile;
    /* Descending by self_ps: the first 100 of each host, and up to 20 further blocking calls with
     * the most blocked_ps. */
    vp_host_op *host_ops;
    size_t host_op_count;
    int64_t host_op_total; /* number of rows, listed or not */
    vp_thread *threads;    /* with the most work, per host; empty if there are devices */
    size_t thread_count;
    vp_values *args; /* by count, like counters; the first 100 of each host, like meta */
    size_t arg_count;
    vp_values *counters;
    size_t counter_count;
    vp_meta *meta; /* by key */
    size_t meta_count;
    int64_t arg_total, counter_total, meta_total; /* number of rows, listed or not */
    vp_memory *memory;
    size_t memory_count;
    vp_memory_plan *memory_static; /* descending by peak; executed ones first */
    size_t memory_static_count;
    vp_memory_programs *memory_programs; /* by host, then space */
    size_t memory_programs_count;
    vp_quality *quality;
    size_t quality_count;
    bool partial;         /* a file was truncated, capped or damaged: figures are incomplete */
    vp_finding *findings; /* every rule, by rank: fired, explained, not evaluated, clear */
    size_t finding_count;
    void *owner_;            /* owns the memory of all members */
    vp_activity *activities; /* (full) descending by total_ps */
    size_t activity_count;
    vp_torch_cost *torch_costs; /* (full) descending by saved_ps */
    size_t torch_cost_count;
    /* Processes of the job (docs/reference/ranks.md); VP_UNKNOWN if no file states it. Hosts whose
     * rank is known, by rank. */
    int64_t world_size;
    vp_rank *ranks;
    size_t rank_count;
    vp_torch torch;     /* (full) zeros if the program is not PyTorch */
    vp_replay *replays; /* (full) one for each host whose launches are known */
    size_t replay_count;
    vp_user_function *user_functions; /* (full) by host, descending by total_ps */
    size_t user_function_count;
} vp_report;

/* ---- Comparison (docs/reference/metrics.md#comparison) ---- */

/* delta = b - a; an unknown side is VP_UNKNOWN, and delta is then VP_NO_TIME. */
typedef struct vp_delta {
    int64_t a_ps, b_ps, delta_ps;
} vp_delta;

typedef struct vp_compared_device {
    const char *name; /* in A, else in B */
    vp_delta window, compute, exposed_comm, exposed_copy,
        idle;                 /* the four deltas sum to the window's */
    vp_delta cells[VP_CELLS]; /* sum to compute's; unknown if a side has no peak */
    /* Parts of exposed_comm: until the last participant arrived, and the rest. Unknown if a side
     * has no matched call. */
    vp_delta wait, transfer;
    vp_delta causes[VP_CAUSES]; /* sum to idle's */
} vp_compared_device;

typedef struct vp_compared_op {
    const char *device, *category, *name, *scope;
    vp_op_class op_class;
    vp_delta self;
    int64_t calls_a, calls_b;          /* of all devices, in the whole capture */
    double span_calls_a, span_calls_b; /* per device, in the same span as self */
    int64_t flops_a, flops_b;          /* per device, in the same span; VP_UNKNOWN */
    bool is_new, is_gone;
    bool significant; /* above the noise, and not explained by more or less work at an equal rate */
    const char *reason; /* the main reason: "called more often", "each FLOP slower", … */
    /* Its name in B if different, because compilers renumber; else NULL. */
    const char *name_b;
} vp_compared_op;

/* A scope. If either side has backward or recomputed work, that is added to its forward scope:
 * paths are then without jvp, transpose and remat wrappers, and without primitives. */
typedef struct vp_compared_scope {
    const char *path;
    uint32_t depth;
    vp_delta total;    /* of the whole subtree */
    vp_delta backward; /* part of it: backward or recomputed work */
    /* Compute time of the subtree by cell, scaled like total. Unknown if a side has no peak, and in
     * `graph`. */
    vp_delta cells[VP_CELLS];
    bool is_op; /* an op in its parent scope: in `graph` of reports grouped by stack */
} vp_compared_scope;

typedef enum vp_verdict { VP_REGRESSION, VP_IMPROVEMENT, VP_NOISE, VP_UNVERIFIED } vp_verdict;

/* Bytes at the peak of allocators, or of programs' plans, with one name: the largest of each
 * side. */
typedef struct vp_compared_holder {
    const char *name, *scope, *source; /* as in vp_memory_item */
    int64_t a_bytes, b_bytes, delta_bytes;
    const char *planned; /* as in vp_memory_item; temporaries and results of a call are compared
                            separately */
} vp_compared_holder;

typedef struct vp_compared_memory {
    const char *allocator, *program;       /* one of them; the other is NULL */
    int64_t space;                         /* of vp_memory_plan; VP_UNKNOWN for allocators */
    int64_t a_bytes, b_bytes, delta_bytes; /* VP_UNKNOWN: on one side only; delta: VP_NO_TIME */
    vp_compared_holder *holders;           /* by |delta|; sum to the above if both sides list all */
    size_t holder_count;
    vp_compared_holder *scopes; /* the same bytes by scope only; name and source are NULL */
    size_t scope_count;
} vp_compared_memory;

/* One of several captures of a side. */
typedef struct vp_compared_capture {
    const char *id, *name, *path;
    int64_t steps, median_ps; /* counted steps and their median; VP_UNKNOWN */
    bool counts;              /* false: it has no steps, or is the same as an earlier one */
    bool shown;               /* the one of the side whose ops, scopes and devices are compared */
} vp_compared_capture;

/* Idle time of a step or window during one activity of the host. */
typedef struct vp_compared_idle {
    vp_cause cause;
    const char *label, *user, *thread; /* as in vp_idle_label; frames as "f (file:line)" */
    vp_delta total;
} vp_compared_idle;

typedef struct vp_comparison {
    const char *a_id, *a_name, *a_path, *b_id, *b_name, *b_path;
    bool per_step;        /* means of counted steps; else whole windows */
    vp_delta step;        /* mean step or window of the slowest device */
    vp_delta median, p90; /* of counted steps */
    vp_compared_device *devices;
    size_t device_count;
    vp_compared_op *ops; /* by |delta| */
    size_t op_count;
    vp_compared_scope *scopes; /* pre-order, only changed ones */
    size_t scope_count;
    /* Pre-order: scopes with at least a thousandth of the longer step on either side, and their
     * parents. */
    vp_compared_scope *graph;
    size_t graph_count;
    /* In the order of A's report: allocators, then executed programs; those of B alone follow. */
    vp_compared_memory *memory;
    size_t memory_count;
    int64_t steps_a, steps_b, threshold_ps; /* of the noise threshold; VP_UNKNOWN */
    vp_verdict verdict;
    const char *verdict_reason;
    const char **caveats;
    size_t caveat_count;
    const char **findings_new, **findings_gone; /* ids */
    size_t new_count, gone_count;
    void *owner_;
    vp_compared_capture *captures_a, *captures_b; /* as given */
    size_t captures_a_count, captures_b_count;
    /* Parts of the noise: the steps of a capture, and medians of captures. VP_UNKNOWN: too few. */
    int64_t within_ps, between_ps;
    vp_delta
        typical; /* the mean step without irregular ones: what periodic steps add to a median */
    vp_compared_idle *idle; /* by |delta|; means over devices */
    size_t idle_count;
    const char *cause; /* what changed most, as a sentence; NULL: nothing above the noise */
    /* Time of scopes that only one side has (docs/reference/metrics.md#comparison): at least so
     * much of a difference in the same direction is no noise; negative if B does less. */
    int64_t certain_ps;
} vp_comparison;

#ifdef __cplusplus
}
#endif
#endif
