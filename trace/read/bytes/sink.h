/* The interface between readers and the model. Readers know formats, the sink (model/trace) knows
 * columns; they share only this header. Strings are slices that live only during the call.
 *
 * Order: processes before their tracks, tracks and kinds before their events; names may come later
 * (track_update). Times are int64 ps relative to the base of sink.base. All functions return 0 or a
 * negative code, which the reader returns to its caller.
 *
 * A kind is what equal events share: an XEventMetadata with its stats, or a JSON name with the args
 * that never vary. An event is then a start, a duration, a track and a kind, in 12 bytes.
 * Classification, normalization and lookup of scopes happen once per kind instead of once per
 * event. */
#ifndef VP_READ_SINK_H
#define VP_READ_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"
#include "trace/read/bytes/packed_event.h"

#define SINK_NONE UINT32_MAX
#define SINK_UNKNOWN (-1) /* unknown counts: bytes, FLOP, program id, … */
#define SINK_NO_TIME INT64_MIN

typedef enum sink_process_kind {
    SINK_PROCESS_HOST,
    SINK_PROCESS_TPU,
    SINK_PROCESS_GPU,
    SINK_PROCESS_CPU,   /* XLA's thread pool as a device: "/host:CPU:N" */
    SINK_PROCESS_OTHER, /* another accelerator, or a part of one, such as a SparseCore */
} sink_process_kind;

/* Properties of a device as stated by the file; 0: unknown. */
typedef struct sink_chip {
    int64_t gflops;     /* dense bf16, in GFLOP/s */
    int64_t mb_s;       /* HBM bandwidth in MB/s */
    int64_t cores, khz; /* multiprocessors or compute units; clock rate */
    int64_t memory_bytes;
    int64_t major, minor; /* compute capability */
} sink_chip;

typedef struct sink_process {
    vp_str name;
    int64_t id; /* plane id or pid */
    sink_process_kind kind;
    int32_t ordinal; /* device number, or -1 */
    vp_str model;    /* product name of the device */
    bool has_device_id;
    /* number of the device in programs, among the devices of all hosts; see has_device_id */
    int64_t device_id;
    sink_chip chip;
} sink_process;

typedef enum sink_role {
    SINK_ROLE_PLAIN,   /* a host thread, or a track that is only displayed */
    SINK_ROLE_OPS,     /* op line or stream of a device, which analyses sum */
    SINK_ROLE_ASYNC,   /* in-flight intervals of async ops: never summed */
    SINK_ROLE_DERIVED, /* repeats other tracks (Framework Ops, …): never summed */
    SINK_ROLE_STEPS,
    SINK_ROLE_MODULES,
    SINK_ROLE_MARKS, /* marks of a TPU program itself, such as waits at barriers */
    SINK_ROLE_COUNTER,
} sink_role;

typedef struct sink_track {
    uint32_t process;
    vp_str name;
    int64_t id; /* line id or tid */
    sink_role role;
    bool one_timeline; /* spans overlap; the one started last owns the time (CPU devices) */
    bool spans;        /* known to hold concurrent spans, not nested calls of a thread */
} sink_track;

typedef enum sink_class { SINK_COMPUTE, SINK_COMM, SINK_COPY } sink_class;

/* Properties that all events of one kind share: an XEventMetadata with its stats, or a name with
 * the args that never vary. Unknown strings are empty, unknown counts SINK_UNKNOWN. */
typedef struct sink_kind {
    vp_str name;       /* as displayed */
    vp_str long_name;  /* full HLO text, if different */
    vp_str category;   /* hlo_category, or Kineto's cat in lower case */
    vp_str opcode;     /* HLO opcode of the event itself, from its text or an XLA:CPU op's proto */
    vp_str hlo_opcode; /* instruction's opcode of a GPU kernel; never classifies the kernel */
    vp_str hlo_op;
    vp_str module;
    vp_str scope;  /* framework path: tf_op, op_name */
    vp_str source; /* file:line */
    vp_str shape;
    vp_str stream_label; /* "MemcpyH2D" of "Stream #135(MemcpyH2D)" */
    vp_str twin_of;      /* deduplicated_name: the op whose code this op shares */
    /* XLA's memcpy_details: "kind_src:pageable kind_dst:device size:8 dest:0 async:1"; Kineto puts
     * them in the name: "Memcpy HtoD (Pageable -> Device)" */
    vp_str memcpy;
    /* Launch parameters of a kernel, only with rd_options.launches: "regs:32 static_shared:0
     * dynamic_shared:0 grid:3,1,1 block:128,1,1 occ_pct:100", as in XLA's kernel_details. Kineto's
     * args are converted to this form. */
    vp_str launch;
    int64_t program_id;
    int64_t bytes, flops;         /* of one execution */
    int64_t rows, columns, batch; /* of the result of a matmul, from Kineto's shapes; else 0 */
    int64_t group_size; /* ranks of a collective: from replica_groups or Kineto's "Group size" */
    vp_str groups;      /* replica groups, if long_name lacks them */
    vp_str program;     /* devices of its program: replica_groups.h */
    int64_t graph;      /* id of the CUDA graph that contains it; 0: none */
    int64_t graph_node; /* its number in the graph, ascending in recording order; 0: unknown */
    /* hbm_bytes is known: the part of `bytes` that accesses the device's main memory. */
    bool has_hbm;
    int64_t hbm_bytes;
    uint8_t dtype;   /* vp_dtype of the operands of a matmul, if known */
    bool is_op;      /* on an op track; others are never classified */
    bool unfinished; /* had not ended when its recording was cut off */
} sink_kind;

/* Attributes of single events. A track has one column for each attribute that any of its events
 * has; events without a value hold SINK_NO_VALUE. */
typedef enum sink_attr {
    SINK_CORRELATION, /* joins a launch call and the device ops that it launches */
    SINK_FLOW_OUT,    /* producer: a hash of (type, id) that joins it to its consumers, */
    SINK_FLOW_IN,     /* which have the same value here */
    SINK_STEP,        /* step_num, iter_num, the N of ProfilerStep#N */
    SINK_ROOT,        /* "_r": the level of a step's root */
    SINK_GROUP,       /* group_id, as the profiler wrote it */
    SINK_RUN,         /* run_id of a module; all_reduce_unique_id: the call of a collective */
    SINK_MEM_DELTA,   /* allocator: bytes allocated (> 0) or freed (< 0) */
    SINK_MEM_USED,    /* bytes in use after the event */
    SINK_MEM_FREE,    /* bytes that the allocator could still hand out */
    SINK_MEM_RESERVED,
    SINK_MEM_DEVICE,     /* number of the device whose memory it is */
    SINK_MEM_ADDRESS,    /* address of the allocated or freed block */
    SINK_MEM_LIFETIME,   /* peak of the bytes in use, ever */
    SINK_MEM_FRAGMENTED, /* bits of a double: share of free bytes outside the largest free block */
    SINK_MEM_THREAD,     /* track of the thread that allocates or frees */
    SINK_EXTERNAL,       /* joins a framework op, whose cost is known, and its kernels */
    SINK_SEQUENCE,       /* forward op of PyTorch: its autograd sequence number */
    SINK_BACKWARD,       /* backward op: the sequence number of its forward op */
    SINK_DOUBLE,         /* operator of PyTorch: an operand is a float64 tensor */
    SINK_ATTRS
} sink_attr;

#define SINK_NO_VALUE INT64_MIN

typedef struct sink_extra {
    uint32_t has; /* one bit per sink_attr */
    int64_t v[SINK_ATTRS];
} sink_extra;

static inline void sink_extra_set(sink_extra *x, sink_attr a, int64_t v)
{
    x->has |= 1u << a;
    x->v[a] = v;
}

/* One event. start and dur are on the device's own clock if it has one; then aligned_start and
 * aligned_dur are on the host's clock. Else aligned_start is SINK_NO_TIME. */
typedef struct sink_event {
    int64_t start_ps, dur_ps;
    int64_t aligned_start_ps, aligned_dur_ps;
    uint32_t track, kind;
    const sink_extra *extra; /* owned by the reader, valid during the call; NULL: no attributes */
} sink_event;

/* An attribute of an event in sink_columns. */
typedef struct sink_value {
    uint32_t event, attr; /* index of the event in the columns; sink_attr */
    int64_t v;
} sink_value;

/* The longest of some events of one kind on the device's own clock; the first of equal ones.
 * aligned_start_ps is its start on the host's clock. */
typedef struct sink_longest {
    uint32_t kind;
    int64_t dur_ps, start_ps, aligned_start_ps;
} sink_longest;

/* Memory for the events of a line that are passed as columns. The reader allocates it, and any of
 * its threads may fill it. A sink may use it as its own memory as soon as its events arrive, and
 * may keep it when all have arrived (sink.settle). Else the reader frees it. */
typedef struct sink_buffer {
    sink_packed *own, *aligned; /* `cap` of each; aligned NULL: no event has a second clock */
    size_t cap;
} sink_buffer;

/* An event whose start is not near (sink_is_near) that of the previous event. */
typedef struct sink_far {
    size_t event;
    int64_t start_ps;
} sink_far;

/* Packed events of one clock, with the starts of the first, the earliest and the latest. */
typedef struct sink_times {
    sink_packed *v; /* durations that do not fit are in `longs`, from index 0 on */
    int64_t first_ps, least_ps, most_ps;
    size_t n;
    const int64_t *longs;
    size_t long_n;
    const sink_far *far; /* in the order of events */
    size_t far_n;
} sink_times;

/* Events of one track in file order. */
typedef struct sink_columns {
    uint32_t track;
    sink_times own;
    /* n is 0 if no event has a device clock. Else it has as many events as `own`, with durations
     * encoded by sink_dur_beside and the kinds of `own`. */
    sink_times aligned;
    const sink_buffer *buffer; /* the memory that holds the events */
    int64_t first_dur_ps;
    /* Replaces the aligned columns with rd_options.longest_only: one item per kind. NULL: no event
     * has a device clock. */
    const sink_longest *longest;
    size_t longest_n;
    const uint32_t *kinds;    /* sink.kind ids, indexed by the kinds of `own` */
    const sink_value *values; /* ordered by event */
    size_t value_n;
    bool sorted; /* ascending by start; events with equal starts descend by duration */
} sink_columns;

typedef enum sink_severity { SINK_INFO, SINK_WARNING, SINK_ERROR } sink_severity;

typedef struct sink_quality {
    const char *code; /* a constant: "truncated", "bad-event", "credentials", … */
    sink_severity severity;
    vp_str message;
    int64_t event, byte; /* -1: none */
    bool partial;        /* the figures are incomplete because of this */
} sink_quality;

/* An argument of an event that is not in sink_extra; only recordings of view_profile have any. */
typedef struct sink_arg {
    uint32_t kind; /* kind of the event */
    vp_str key;    /* empty: the event is a counter sample, and this its value */
    bool is_text;
    double number;
    vp_str text;
    int64_t start_ps; /* start of the event */
} sink_arg;

/* A program that the file contains as an HLO proto, executed or not. */
typedef struct sink_program {
    uint64_t id;
    vp_str name; /* as the file has it: "jit_step(5623765097522093075)" */
    vp_str proto;
} sink_program;

typedef struct sink sink;
struct sink {
    int (*process)(sink *s, const sink_process *p, uint32_t *id);
    int (*track)(sink *s, const sink_track *t, uint32_t *id);
    /* Updates of facts that the file states later: name, role or process of a track; name and kind
     * of a process. Empty names keep the old one. */
    int (*track_update)(sink *s, uint32_t id, const sink_track *t);
    int (*process_update)(sink *s, uint32_t id, const sink_process *p);
    int (*kind)(sink *s, const sink_kind *k, uint32_t *id);
    /* Passes n events, in file order within each track. */
    int (*events)(sink *s, const sink_event *e, size_t n);
    int (*columns)(sink *s, const sink_columns *c);
    /* All columns of the track that use this memory have been passed. The reader frees what the
     * sink leaves in it. */
    void (*settle)(sink *s, uint32_t track, sink_buffer *buffer);
    /* Reports events that were counted but not passed: unwanted, or without a duration. With
     * rd_options.uncounted the number may be too low, but is not 0 if there were any. */
    void (*skipped)(sink *s, uint64_t n);
    int (*quality)(sink *s, const sink_quality *q);
    /* Sets the Unix time in ns of relative time 0. Called at most once, at any time; unknown if
     * never called. */
    void (*base)(sink *s, int64_t unix_ns);
    /* Sets profile_start_time … profile_stop_time relative to the base, if the file has them. Else,
     * for files with a fixed relative 0, the range of `extent`. */
    void (*capture)(sink *s, int64_t start_ps, int64_t end_ps);
    /* Sets the range of all events with a time, including skipped ones, if the reader saw all of
     * them. */
    void (*extent)(sink *s, int64_t start_ps, int64_t end_ps);
    /* Sets the file's own value of relative time 0, in ns, if it is not 0. Links into the file's
     * own timeline need it. */
    void (*origin)(sink *s, int64_t file_ns);
    int (*arg)(sink *s, const sink_arg *a);
    /* Passes a metadata entry that the recorded program set. */
    int (*meta)(sink *s, vp_str key, vp_str value);
    /* Called only with rd_options.programs, or if kernels are nodes of CUDA graphs. NULL: the sink
     * does not need programs. */
    int (*program)(sink *s, const sink_program *p);
};

/* What a reader has to read. */
typedef struct rd_options {
    /* If the file has a device, host events are counted and skipped. Data for analyses of the host,
     * of steps or of memory is not read. */
    bool device_only;
    int (*progress)(void *ctx, int64_t done_bytes, int64_t total_bytes); /* may be NULL */
    void *progress_ctx;
    /* With device_only: of ops on a device clock, only the longest get times on the host clock
     * (sink_columns.longest). */
    bool longest_only;
    /* With device_only: skipped events need not be counted. */
    bool uncounted;
    /* With device_only: keep the framework's operators and launch calls, and the correlations that
     * join these to device ops. */
    bool operators;
    /* Read launch parameters of kernels, which distinguish kinds (sink_kind.launch). */
    bool launches;
    /* Pass the programs whose protos the file contains. */
    bool programs;
    /* Threads that may read a file at once, including this one; the result is the same for any
     * number. */
    int threads;
} rd_options;

#endif
