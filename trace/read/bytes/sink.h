/* What a reader tells about a trace. Readers know formats, the sink (model/trace) knows columns;
 * this header is all they share. Strings are slices that live only during the call.
 *
 * Order: processes before their tracks, tracks and kinds before their events; names may come late
 * (sink_track_name). Times are int64 ps relative to the base of sink_base(). All functions return
 * 0 or a negative code, which the reader passes on.
 *
 * A kind is what equal events have in common (an XEventMetadata with its stats, or a JSON name with
 * the args that never vary). An event is then a start, a duration, a track and a kind: 12 bytes,
 * and classification, normalisation and look-ups of scopes happen once a kind instead of once an
 * event. */
#ifndef VP_READ_SINK_H
#define VP_READ_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"
#include "trace/read/bytes/packed_event.h"

#define SINK_NONE UINT32_MAX
#define SINK_UNKNOWN (-1) /* for counts: bytes, flops, program id, … */
#define SINK_NO_TIME INT64_MIN

typedef enum sink_process_kind {
    SINK_PROCESS_HOST,
    SINK_PROCESS_TPU,
    SINK_PROCESS_GPU,
    SINK_PROCESS_CPU,   /* XLA's thread pool as a device: "/host:CPU:N" */
    SINK_PROCESS_OTHER, /* another accelerator, or a part of one */
} sink_process_kind;

/* What the file says that a device can do; 0: it does not. */
typedef struct sink_chip {
    int64_t gflops;     /* dense, of bf16 */
    int64_t mb_s;       /* of HBM */
    int64_t cores, khz; /* multiprocessors, compute units */
    int64_t memory_bytes;
    int64_t major, minor; /* compute capability */
} sink_chip;

typedef struct sink_process {
    vp_str name;
    int64_t id; /* plane id or pid */
    sink_process_kind kind;
    int32_t ordinal; /* of the device, or -1 */
    vp_str model;    /* what the device is sold as */
    bool has_device_id;
    /* its number in programs, among the devices of all hosts; if the file says it */
    int64_t device_id;
    sink_chip chip;
} sink_process;

typedef enum sink_role {
    SINK_ROLE_PLAIN,   /* a host thread, or anything that is only shown */
    SINK_ROLE_OPS,     /* a device's op line or stream: what analyses sum */
    SINK_ROLE_ASYNC,   /* in-flight intervals beside the op line: never summed */
    SINK_ROLE_DERIVED, /* repeats what other tracks say (Steps, Framework Ops, …): never summed */
    SINK_ROLE_STEPS,
    SINK_ROLE_MODULES,
    SINK_ROLE_MARKS, /* what a TPU's program says of itself: waits at barriers */
    SINK_ROLE_COUNTER,
} sink_role;

typedef struct sink_track {
    uint32_t process;
    vp_str name;
    int64_t id; /* line id or tid */
    sink_role role;
    bool one_timeline; /* spans overlap and the latest started owns the time (CPU devices) */
    bool spans;        /* it is known to hold spans that run at once, and no calls of a thread */
} sink_track;

typedef enum sink_class { SINK_COMPUTE, SINK_COMM, SINK_COPY } sink_class;

/* What all events of one kind share: an XEventMetadata with its stats, or a name with the args
 * that never vary. Unknown strings are empty, unknown counts SINK_UNKNOWN. */
typedef struct sink_kind {
    vp_str name;       /* as shown */
    vp_str long_name;  /* the full HLO text, where it differs */
    vp_str category;   /* hlo_category, or Kineto's cat in lower case */
    vp_str opcode;     /* HLO opcode of the event itself: from its text, or an XLA:CPU op's proto */
    vp_str hlo_opcode; /* of the instruction that a GPU kernel belongs to: never classifies the
                          kernel */
    vp_str hlo_op;
    vp_str module;
    vp_str scope;  /* framework path: tf_op, op_name */
    vp_str source; /* file:line */
    vp_str shape;
    vp_str stream_label; /* "MemcpyH2D" of "Stream #135(MemcpyH2D)" */
    vp_str twin_of;      /* deduplicated_name: the op whose code this one shares */
    vp_str memcpy;       /* XLA's memcpy_details: "kind_src:pageable kind_dst:device size:8 dest:0
                            async:1"; Kineto has them in the name: "Memcpy HtoD (Pageable -> Device)" */
    vp_str launch;       /* of a kernel, only with rd_options.launches: "regs:32 static_shared:0
                            dynamic_shared:0 grid:3,1,1 block:128,1,1 occ_pct:100", as XLA's
                            kernel_details; of Kineto's args in the same words */
    int64_t program_id;
    int64_t bytes, flops;         /* of one execution */
    int64_t rows, columns, batch; /* of the result of a product: Kineto's shapes; else 0 */
    int64_t group_size; /* of a collective: from replica_groups or Kineto's "Group size" */
    vp_str groups;      /* its groups where long_name lacks them, */
    vp_str program;     /* and the devices that its program runs on: replica_groups.h */
    int64_t graph;      /* the CUDA graph that it is a node of; 0: none */
    int64_t graph_node; /* its number there, which rises as nodes are recorded; 0: unknown */
    bool has_hbm;       /* hbm_bytes is known: what of the bytes goes to the device's main memory */
    int64_t hbm_bytes;
    uint8_t dtype;   /* vp_dtype of the factors of a product, where that is known */
    bool is_op;      /* on an op track; others are never classified */
    bool unfinished; /* had not ended when its recording was cut off */
} sink_kind;

/* What single events say beyond their times. A track has a column for each attribute that one of
 * its events has; the others hold SINK_NO_VALUE. */
typedef enum sink_attr {
    SINK_CORRELATION, /* joins a launch call and the device ops it launches */
    SINK_FLOW_OUT,    /* producer: a hash of (type, id), joins it to the events that have it as */
    SINK_FLOW_IN,     /* consumer */
    SINK_STEP,        /* step_num, iter_num, the N of ProfilerStep#N */
    SINK_ROOT,        /* "_r": the level of a step's root */
    SINK_GROUP,       /* group_id, as the profiler wrote it */
    SINK_RUN,         /* run_id of a module; all_reduce_unique_id: which call of a collective */
    SINK_MEM_DELTA,   /* allocator: bytes taken (> 0) or given back */
    SINK_MEM_USED,    /* bytes in use after the event */
    SINK_MEM_FREE,    /* what the allocator could still hand out */
    SINK_MEM_RESERVED,
    SINK_MEM_DEVICE,     /* ordinal of the device whose memory it is */
    SINK_MEM_ADDRESS,    /* of what is taken or given back */
    SINK_MEM_LIFETIME,   /* the most bytes that were ever in use */
    SINK_MEM_FRAGMENTED, /* bits of a double: the share of what is free that is not in one piece */
    SINK_MEM_THREAD,     /* the track of the thread that asks for it or gives it back */
    SINK_EXTERNAL, /* joins a framework's op, whose cost is known, and the kernels that it ran */
    SINK_ATTRS
} sink_attr;

#define SINK_NO_VALUE INT64_MIN

typedef struct sink_extra {
    uint32_t has; /* bit per sink_attr */
    int64_t v[SINK_ATTRS];
} sink_extra;

static inline void sink_extra_set(sink_extra *x, sink_attr a, int64_t v)
{
    x->has |= 1u << a;
    x->v[a] = v;
}

/* One event. start/dur are on the device's own clock where it has one, and then
 * aligned_start/aligned_dur place it on the host's; else aligned_start is SINK_NO_TIME. */
typedef struct sink_event {
    int64_t start_ps, dur_ps;
    int64_t aligned_start_ps, aligned_dur_ps;
    uint32_t track, kind;
    const sink_extra *extra; /* the reader's, valid during the call; NULL: nothing to say */
} sink_event;

/* What an event of sink_columns says. */
typedef struct sink_value {
    uint32_t event, attr; /* its place in the columns; sink_attr */
    int64_t v;
} sink_value;

/* The longest of some events of one kind on the device's own clock, of those the one that begins
 * first, and where it begins on the host's. */
typedef struct sink_longest {
    uint32_t kind;
    int64_t dur_ps, start_ps, aligned_start_ps;
} sink_longest;

/* Memory for the events of a line that are handed over as columns: each where it will stay. The
 * reader makes it and any of its threads may fill it; a sink may use it as its own memory as soon
 * as its events come, and keep it when all have (sink.settle). Else the reader frees it. */
typedef struct sink_room {
    sink_packed *own, *aligned; /* `cap` of each; aligned NULL: no event will have a second clock */
    size_t cap;
} sink_room;

/* An event whose start is not near (sink_is_near) that of the one before. */
typedef struct sink_far {
    size_t event;
    int64_t start_ps;
} sink_far;

/* Events of one clock: where they stand, and the starts of the first, the earliest and the latest.
 */
typedef struct sink_stretch {
    sink_packed *v; /* `longs` has their lengths that do not fit, from place 0 on */
    int64_t first_ps, least_ps, most_ps;
    size_t n;
    const int64_t *longs;
    size_t long_n;
    const sink_far *far; /* in their order */
    size_t far_n;
} sink_stretch;

/* Events of one track in the file's order. */
typedef struct sink_columns {
    uint32_t track;
    sink_stretch own;
    /* n 0: none has a clock of its own; else as many, their lengths as sink_dur_beside says, and
     * kinds are of `own` */
    sink_stretch aligned;
    const sink_room *room; /* that holds them */
    int64_t first_dur_ps;
    /* In place of aligned columns with rd_options.longest_only: of each of their kinds. NULL: none
     * has a clock of its own. */
    const sink_longest *longest;
    size_t longest_n;
    const uint32_t *kinds;    /* what the kinds of `own` stand for: ids of sink.kind */
    const sink_value *values; /* by event */
    size_t value_n;
    bool sorted; /* each begins later than the one before, or with it and is no longer */
} sink_columns;

typedef enum sink_severity { SINK_INFO, SINK_WARNING, SINK_ERROR } sink_severity;

typedef struct sink_quality {
    const char *code; /* a constant: "truncated", "bad-event", "credentials", … */
    sink_severity severity;
    vp_str message;
    int64_t event, byte; /* -1: none */
    bool partial;        /* figures miss something because of this */
} sink_quality;

/* An argument, beyond sink_extra: only events of our own recordings have any. */
typedef struct sink_arg {
    uint32_t kind; /* of the event */
    vp_str key;    /* empty: the event is a counter's, and this its value */
    bool is_text;
    double number;
    vp_str text;
    int64_t start_ps; /* of the event */
} sink_arg;

/* A program that the file holds as an HLO proto, run or not. */
typedef struct sink_program {
    uint64_t id;
    vp_str name; /* as the file has it: "jit_step(5623765097522093075)" */
    vp_str proto;
} sink_program;

typedef struct sink sink;
struct sink {
    int (*process)(sink *s, const sink_process *p, uint32_t *id);
    int (*track)(sink *s, const sink_track *t, uint32_t *id);
    /* Late knowledge, before the end: the name, role or process of a track; the name and kind of a
     * process. Empty names leave the old one. */
    int (*track_update)(sink *s, uint32_t id, const sink_track *t);
    int (*process_update)(sink *s, uint32_t id, const sink_process *p);
    int (*kind)(sink *s, const sink_kind *k, uint32_t *id);
    /* n events, in the file's order within each track. */
    int (*events)(sink *s, const sink_event *e, size_t n);
    int (*columns)(sink *s, const sink_columns *c);
    /* The room of a track's columns is filled: what is left in it is the reader's to free. */
    void (*settle)(sink *s, uint32_t track, sink_room *room);
    /* Events that were counted but not handed over (not wanted, or without a length in time); with
     * rd_options.uncounted perhaps too few, but some where there are some. */
    void (*skipped)(sink *s, uint64_t n);
    int (*quality)(sink *s, const sink_quality *q);
    /* The Unix time in ns of relative time 0; called at most once, any time; unknown if never. */
    void (*base)(sink *s, int64_t unix_ns);
    /* profile_start_time … profile_stop_time relative to the base, when the file says so; else, of
     * files whose relative 0 is fixed all the same, what `extent` says. */
    void (*capture)(sink *s, int64_t start_ps, int64_t end_ps);
    /* The range of all events with a time, skipped ones too, where the reader saw them all. */
    void (*extent)(sink *s, int64_t start_ps, int64_t end_ps);
    /* What the file itself calls relative time 0, in ns, where that is not 0: links into the file's
     * own timeline need it. */
    void (*origin)(sink *s, int64_t file_ns);
    int (*arg)(sink *s, const sink_arg *a);
    /* A fact that the recorded program says of itself. */
    int (*meta)(sink *s, vp_str key, vp_str value);
    /* Only with rd_options.programs, or where kernels are nodes of CUDA graphs; NULL in a sink that
     * need not know. */
    int (*program)(sink *s, const sink_program *p);
};

/* What a reader is asked for. */
typedef struct rd_options {
    bool device_only; /* host events are counted and skipped if the file has a device; nothing is
                         read that only analyses of the host, of steps or of memory need */
    int (*progress)(void *ctx, int64_t done_bytes, int64_t total_bytes); /* may be NULL */
    void *progress_ctx;
    bool longest_only; /* with device_only: of ops on a clock of their own, only the longest have
                          places on the host's (sink_columns.longest) */
    bool uncounted;    /* with device_only: what is skipped need not be counted */
    bool launches;     /* how kernels were launched is told, and makes kinds (sink_kind.launch) */
    bool programs;     /* tells the sink the programs whose protos the file holds */
    int threads; /* that may read a file at once, with this one; what the sink hears is the same */
} rd_options;

#endif
