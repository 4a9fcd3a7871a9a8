/* view_profile capture: a C or C++ program records itself, following the ideas of jax.profiler. A
 * zone costs two clock reads. view_profile, TensorBoard and Perfetto open the resulting directory.
 *
 *     vp_recording *r;
 *     vp_config cfg = VP_CONFIG_INIT;
 *     cfg.dir = "profiles";
 *     vp_start(&r, &cfg);
 *     for (uint64_t i = 0; i < 10; i++) {
 *         VP_STEP("train", i);            // this scope is step i
 *         VP_SCOPE("forward");            // this scope is a zone
 *         …
 *     }
 *     vp_stop(r, NULL);                   // profiles/plugins/profile/<run>/<host>.xplane.pb
 *
 * Conventions: out-parameters come first. Functions return 0 or a negative VP_E…
 * (view_profile_status.h); then vp_error_last() has details, and outputs are unchanged. _free
 * accepts NULL. Nothing prints, exits or installs signal handlers unless requested. Structures that
 * may grow carry a version: start from VP_…_INIT, also for results. A function that gets an unknown
 * version returns VP_EVERSION and does nothing else.
 *
 * Macros that record may be used in any thread and in signal handlers. They allocate nothing, lock
 * nothing and never fail; events that cannot be stored are counted (vp_result). With VP_DISABLE
 * defined they compile to nothing. A scope left by longjmp is not recorded but counted. VP_BEGIN
 * and VP_END belong to no scope; after a jump between them, correct pairing is up to the program.
 * Names must be string literals unless stated otherwise; other names do not compile. Times are
 * nanoseconds if the name ends in _ns, else ticks of vp_now(). All other functions are thread-safe;
 * starting and stopping are serialized. */
#ifndef VIEW_PROFILE_CAPTURE_H
#define VIEW_PROFILE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view_profile_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A recording ---- */

typedef struct vp_recording vp_recording;

typedef enum vp_capture_mode {
    /* When the pool is full, the recording ends for all threads at once. Zones that find no space
     * are counted as dropped, open zones are kept as unfinished, and the log gets a line
     * immediately. The owner stops the recording, or the next step or vp_start does. */
    VP_KEEP_FIRST,
    /* The newest zones overwrite the oldest: a flight recorder. The result begins at the time from
     * which it has the events of all threads. */
    VP_RING
} vp_capture_mode;

typedef enum vp_gpu {
    /* Records the GPU if the process has already loaded CUDA's driver; otherwise log, result and
     * profile state why it is missing. */
    VP_GPU_OFF,
    VP_GPU_AUTO,
    VP_GPU_REQUIRE /* vp_start fails without it */
} vp_gpu;

enum {                           /* files that a recording writes; bits */
       VP_OUT_XPLANE = 1,        /* <host>.xplane.pb: TensorBoard, XProf, view_profile */
       VP_OUT_TRACE_JSON = 2,    /* <host>.trace.json.gz: the same data for Perfetto and scripts */
       VP_OUT_PERFETTO_JSON = 4, /* perfetto_trace.json.gz, as written by jax.profiler */
       VP_OUT_RAW = 8            /* <host>.vpcap, in addition to others: the raw recording */
};

enum { VP_LEVEL_USER = 1, VP_LEVEL_INFO = 2, VP_LEVEL_VERBOSE = 3 };
enum { VP_SAY_INFO, VP_SAY_WARNING, VP_SAY_ERROR };

typedef struct vp_config {
    int version;
    /* Default "profiles"; run directories are created in dir/plugins/profile. Relative to the
     * working directory at vp_start, even if that changes later. */
    const char *dir;
    const char *host;  /* default: the machine's host name */
    size_t pool_bytes; /* default 64 MiB: 4.19 million zones */
    vp_capture_mode mode;
    unsigned outputs; /* VP_OUT_…; none, or only RAW: also XPLANE | TRACE_JSON */
    unsigned level;   /* zones above it are not recorded; 0: VP_LEVEL_INFO */
    vp_gpu gpu;
    unsigned duration_ms; /* ends the recording automatically; 0: never */
    bool in_memory;       /* the pool is not a file: nothing survives a crash */
    bool export_now;  /* vp_stop returns when all files are written; else another thread writes */
    bool no_atexit;   /* exit() does not end the recording */
    bool follow_fork; /* a forked child records separately, as <host>_<pid> */
    /* Called before a recording ends, while it is still active, so that it includes work in flight
     * on a device, and the wait for it. This function and log may call exit(), which then completes
     * the operation that called them, including its files. */
    void (*device_sync)(void *ctx);
    /* level is VP_SAY_…; message has no newline. NULL: no messages. Called from any thread. */
    void (*log)(void *ctx, int level, const char *message);
    void *ctx;
} vp_config;
#define VP_CONFIG_INIT                                                                             \
    {                                                                                              \
        .version = 1                                                                               \
    }

/* Exact: written + dropped = the zones that ended while the recording was active. */
typedef struct vp_result {
    int version;
    char run_dir[4096];    /* the run's directory: …/plugins/profile/<run> */
    uint64_t zones;        /* written, including instants and counters */
    uint64_t dropped_full; /* no space in the pool (KEEP_FIRST) */
    uint64_t overwritten;  /* ring: overwritten by newer ones, or before the start of the result */
    /* In signal handlers that interrupted a record, or ran before the first record of the
     * thread. */
    uint64_t dropped_signal;
    uint64_t dropped_depth;  /* VP_BEGIN deeper than 64, functions (record --functions) than 256 */
    uint64_t unmatched_ends; /* VP_END without VP_BEGIN */
    uint64_t gpu_records, gpu_dropped;
    uint64_t threads;
    int64_t start_unix_ns;
    int64_t duration_ns; /* of the written data: for a ring or a past, of its window */
    int64_t export_ns;   /* for writing the files; 0 while they are being written */
    int gpu_status;      /* 0, or why there is no GPU data */
    /* Interrupted: by exit or vp_profiler_free; or, while a zone was open, by its time limit, from
     * outside, or by a full pool. Open zones are included, marked as unfinished, and end with
     * it. */
    bool truncated;
    uint64_t bytes_written; /* of all files */
    uint64_t left;          /* zones without an end: left by longjmp, or their thread ended */
} vp_result;
#define VP_RESULT_INIT                                                                             \
    {                                                                                              \
        .version = 1                                                                               \
    }

/* Starts recording; a process has one recording at a time. VP_EBUSY: one is active, and the error's
 * path is its directory ("Profiler already active"). VP_ENOSPC, VP_EPERM, VP_EIO: the pool or the
 * directory cannot be created; VP_EARG. */
VP_API int vp_start(vp_recording **out, const vp_config *cfg);
/* The same with defaults, below `dir`: the equivalent of jax.profiler.start_trace(dir). */
VP_API int vp_trace(vp_recording **out, const char *dir);
/* Ends the recording, writes it, and frees the handle unless writing continues (then vp_wait frees
 * it). result may be NULL. A recording that ended by itself is already written: 0. VP_EINACTIVE: r
 * is no longer a recording of this process; another active recording is not affected. VP_EFORKED in
 * a child. VP_EBUSY: called from its own callback. */
VP_API int vp_stop(vp_recording *r, vp_result *result);
/* Waits for the files of a stopped recording, and frees the handle. */
VP_API int vp_wait(vp_recording *r, vp_result *result);
/* True until the recording has ended: after the first false, no zone is added to it. */
VP_API bool vp_recording_active(const vp_recording *r);
VP_API const char *vp_recording_dir(const vp_recording *r);
/* Writes the last `seconds` of an active recording (<= 0: all) as a separate run, while recording
 * continues. Open zones are not included. */
VP_API int vp_capture_past(vp_recording *r, double seconds, vp_result *result);
/* Converts the .vpcap of a killed process to a profile: <host>.xplane.pb and <host>.trace.json.gz,
 * with open zones marked as unfinished. dir: a profile directory; NULL: the .vpcap's directory. The
 * .vpcap is kept. VP_ENOTFOUND, VP_ECORRUPT; VP_EEMPTY: nothing was recorded; VP_EBUSY: its process
 * is still recording; VP_EREFUSED: one of the files exists; VP_EIO, VP_ENOSPC, VP_EPERM. */
VP_API int vp_recover(const char *path, const char *dir, vp_result *result);

/* ---- Schedules: capture every N steps, certain steps, or on request ---- */

/* Fields of common training loops keep their names. */
typedef struct vp_schedule {
    int version;
    /* Contexts only: false, the default, makes each a plain zone. Captures of vp_begin_step depend
     * on start_step (default 150) regardless of this. */
    bool enable_profiling;
    const char *profiling_dir;      /* default "profiles"; relative to the working directory at
                                       vp_profiler_new */
    uint64_t profile_every_n_steps; /* default 100 */
    uint64_t profile_duration_ms;   /* default 3000; UINT64_MAX: no limit */
    uint64_t max_profile_count;     /* default 5; counts successful captures only */
    bool profile_gpu_trace;
    bool keep_first_step; /* also capture step 0, which compiles */
    /* vp_begin_step: repeats at every multiple of this many steps after start_step, up to
     * max_profile_count captures; 0, the default: once. */
    uint32_t steps_every;
    uint64_t profile_start_step; /* contexts: every N steps from this one on */
    uint64_t num_steps;          /* default 5: steps per capture of vp_begin_step */
    int64_t start_step;          /* vp_begin_step; default 150; -1: only by vp_capture_async */
    /* > 1: keeps a ring, and writes the past when a step takes this many times the median, on
     * another thread and regardless of max_profile_count. For a minute after such a step, only
     * longer ones are written; the others are counted in the log. 0: disabled. A step during
     * another capture has no past of its own. */
    double slow_step_ratio;
    double flops_per_token; /* for flop_stats.json: 6 × parameters; 0: unknown */
    double model_params;
    double peak_tflops;  /* of one device; 0: unknown, then there is no MFU */
    vp_config recording; /* settings of every capture; its dir is ignored */
} vp_schedule;
#define VP_SCHEDULE_INIT                                                                           \
    {                                                                                              \
        .version = 1, .profile_every_n_steps = 100, .profile_duration_ms = 3000,                   \
        .max_profile_count = 5, .num_steps = 5, .start_step = 150, .recording = VP_CONFIG_INIT     \
    }

typedef struct vp_profiler vp_profiler;

/* Copies the schedule. Creates no directory before the first capture. */
VP_API int vp_profiler_new(vp_profiler **out, const vp_schedule *schedule);
/* Ends an active capture and waits for all files. */
VP_API void vp_profiler_free(vp_profiler *p);

/* A training step by begin_step/end_step: a step "train" of the active recording, so it needs no
 * VP_STEP. Captures start_step … start_step + num_steps - 1, or the next num_steps after
 * vp_capture_async. Writes flop_stats.json to profiling_dir, also if the process ends by exit()
 * earlier. If the first step is beyond start_step (resumed training), it starts the capture, too.
 *
 * A capture ends before its last step when its time is over or, with the current step, when its
 * pool is full; the interrupted step is included, marked as unfinished. A capture that cannot start
 * is logged, and both functions return 0. The log states why due steps and contexts were not
 * captured, once a minute for each cause. Neither function waits for files, except that a capture
 * that starts while four are being written waits for the oldest, because each holds its pool until
 * then. */
VP_API int vp_begin_step(vp_profiler *p, uint64_t step);
VP_API int vp_end_step(vp_profiler *p, uint64_t tokens);
/* Requests a capture of `steps` steps (0: num_steps) from the next vp_begin_step on, regardless of
 * max_profile_count; of several requests before that, the largest number counts. Thread-safe and
 * async-signal-safe: it does not set vp_error_last. VP_EBUSY: a capture is active. Messages are
 * logged at the next step: "Profiler enabled for next N steps" when it starts, "Profiler already
 * active, ignoring capture_async()" after VP_EBUSY. */
VP_API int vp_capture_async(vp_profiler *p, uint64_t steps);
VP_API bool vp_is_profiling(const vp_profiler *p);

typedef struct vp_step_stats {
    int version;
    /* steps: those of vp_begin_step, contexts of this profiler, and every VP_STEP and vp_step_begin
     * of the process. A nested one with the same number is the same step; those inside a step of
     * vp_begin_step are part of it. */
    uint64_t steps, captures;
    /* Seconds, over all steps; 0 before the first. Excludes time for starting and ending a
     * recording inside a step, on its thread, but includes its device_sync. */
    double avg_step_time;
    /* median: from the buckets of a log2 histogram, within 10 %. */
    double stddev, median;
    double last;
    uint64_t tokens;
} vp_step_stats;
#define VP_STEP_STATS_INIT                                                                         \
    {                                                                                              \
        .version = 1                                                                               \
    }
VP_API int vp_profiler_stats(vp_step_stats *out, const vp_profiler *p);
/* The last capture, once its files and earlier ones are written; VP_EEMPTY: none yet. */
VP_API int vp_profiler_last(vp_result *out, vp_profiler *p);

/* profile_context(state, name): a separate capture, in <dir>/<name>_step_<N>, if it is due by the
 * schedule; else, and inside another capture, a plain zone with that name. Ends with
 * vp_context_end, or with its scope by VP_CONTEXT. name may be built at run time. */
typedef struct vp_context {
    vp_profiler *profiler;
    vp_recording *recording;
    uint64_t start, step;
    uint32_t name, generation, place;
} vp_context;
VP_API vp_context vp_context_begin(vp_profiler *p, uint64_t step, const char *name);
VP_API void vp_context_end(vp_context *c);
/* True if a vp_context_begin of this step would capture. */
VP_API bool vp_profile_due(const vp_profiler *p, uint64_t step);
/* Calls fn(arg) inside such a context and returns its result. */
VP_API void *vp_profile_call(vp_profiler *p, uint64_t step, const char *name,
                             void *(*fn)(void *arg), void *arg);

/* A step without a scope: VP_STEP in two calls, both on one thread. name may be built at run time.
 * Steps of VP_STEP and of vp_begin_step may be nested in it. VP_EARG: a step without a name, or an
 * end without a begin. VP_EBUSY: the thread is already in such a step. */
VP_API int vp_step_begin(const char *name, uint64_t number);
VP_API int vp_step_end(void);

/* ---- Run-time names, flows, tracks ---- */

/* Registers a name built at run time, for the life of the process. 0: no space; events recorded
 * under 0 or any invalid number are named "(no name)". May be called before a recording, but not in
 * a signal handler. At most 4,095 bytes are kept. */
VP_API uint32_t vp_name(const char *name);
/* Sets the calling thread's name in the profile. */
VP_API int vp_thread_name(const char *name);
/* Sets metadata of the whole recording: "mesh.shape" = "4x2". May be called before vp_start. */
VP_API int vp_meta_str(const char *key, const char *value);
VP_API int vp_meta_int(const char *key, int64_t value);
/* Records the layout of an array over devices: spec as printed by the framework. */
VP_API int vp_meta_sharding(const char *array, const char *spec, bool replicated);

/* Ticks of the recording's clock. */
VP_API uint64_t vp_now(void);
/* A new number for VP_FLOW_OUT and VP_FLOW_IN. */
VP_API uint64_t vp_flow_new(void);

typedef enum vp_capture_device {
    VP_CAPTURE_GPU,
    VP_CAPTURE_TPU,
    VP_CAPTURE_CUSTOM
} vp_capture_device;
typedef uint32_t vp_device_id; /* 0: none */
typedef uint32_t vp_track_id;  /* 0: none */

/* Devices and tracks live as long as the process; adding the same one again returns the same
 * number. 0 and vp_error_last(): more than 256 devices or 4,096 tracks. */
VP_API vp_device_id vp_device_add(vp_capture_device kind, int ordinal, const char *model);
VP_API vp_track_id vp_track_add(vp_device_id device, const char *name);

/* A device's own clock with `hz` ticks per second (1e3 to 1e12), and pairs of its ticks with
 * vp_now() at the same instant. Events on tracks of a device with such a clock have times in its
 * ticks. They are converted when they are recorded, with the pairs known at that time. Between two
 * pairs, conversion is linear interpolation in integers, exact at the pairs. Before the first and
 * after the last pair it uses the rate between these two; with a single pair, hz. So read the clock
 * before and after the work, then record it. At most 256 pairs per clock are kept, always with the
 * first and the last; when there are more, every second one in between is dropped.
 *
 * vp_clock_add: 0 and vp_error_last() for an hz out of range (VP_EARG) and for more than 64 clocks
 * (VP_ELIMIT). Clocks live as long as the process. */
typedef uint32_t vp_clock_id; /* 0: the recording's own clock, vp_now() */
VP_API vp_clock_id vp_clock_add(double hz);
/* VP_ECLOCK: one of the clocks went backwards since the last pair, which is kept; a device that was
 * reset needs a new clock. VP_EARG: unknown clock, or invalid host time. */
VP_API int vp_clock_sync(vp_clock_id clock, uint64_t device_ticks, uint64_t host);
/* From now on times of this device are of this clock. VP_EARG: unknown device or clock. */
VP_API int vp_device_clock(vp_device_id device, vp_clock_id clock);

typedef struct vp_arg {
    const char *key; /* a string literal */
    int type;        /* VP_ARG_… */
    union {
        int64_t i;
        double f;
        const char *s; /* copied */
    } v;
} vp_arg;
enum { VP_ARG_I64, VP_ARG_F64, VP_ARG_STR };

/* Records work outside of this thread, such as an op on a stream. correlation links it to the host
 * zone that launched it (VP_LAUNCH); 0: none. name: of vp_name. start and end: of vp_now(), or
 * ticks of the track's device clock. At most 15 args. Failures of these three functions: VP_EARG:
 * invalid argument; VP_ECLOCK: the device's clock has no pair, or none that is close enough;
 * VP_EFULL: no space, which the result counts, and which ends the recording unless it is a ring.
 * Nothing is recorded then. Without an active recording: 0. */
VP_API int vp_record_span(vp_track_id t, uint32_t name, uint64_t start, uint64_t end,
                          uint32_t correlation, const vp_arg *args, size_t n);
/* Pushes a new correlation, which the zones of this thread carry until it is popped. */
VP_API uint32_t vp_correlation_push(void);
VP_API void vp_correlation_pop(void);

typedef enum vp_copy_kind {
    VP_COPY_H2D,
    VP_COPY_D2H,
    VP_COPY_D2D,
    VP_COPY_P2P,
    VP_COPY_H2H
} vp_copy_kind;
VP_API int vp_record_transfer(vp_track_id t, vp_copy_kind kind, uint64_t bytes, uint64_t start,
                              uint64_t end, int source, int destination, uint32_t correlation);

typedef enum vp_collective_kind {
    VP_ALL_REDUCE,
    VP_ALL_GATHER,
    VP_REDUCE_SCATTER,
    VP_ALL_TO_ALL,
    VP_BROADCAST,
    VP_SEND,
    VP_RECV,
    VP_PERMUTE
} vp_collective_kind;
/* One rank's part of a collective. id: the same on all ranks of one operation. */
VP_API int vp_record_collective(vp_track_id t, vp_collective_kind kind, uint64_t bytes,
                                uint64_t group, int rank, int ranks, uint64_t start, uint64_t end,
                                uint64_t id);

/* ---- Control ---- */

/* VIEW_PROFILE=1 and related variables (docs/man/view_profile-record.1.md) take effect when the
 * library is loaded. This function starts the control socket without them, so that `view_profile
 * list` and the index page show this process. Idempotent. */
VP_API int vp_control_start(vp_profiler *p);
VP_API void vp_control_stop(void);
/* On this signal the active recording writes its past; without one, the next steps are captured.
 * Chains an earlier handler; VP_EREFUSED if there is one, unless forced. */
VP_API int vp_install_signal(int signal_number, bool force);

/* ---- Benchmarks over numbers of devices ---- */

typedef struct vp_bench vp_bench;

/* Creates <root>/{devices}gpu_{YYYYmmdd_HHMMSS}. root: NULL or "" for "tensorboard_logs". devices:
 * at least 1, also for methods on the host. VP_EARG; VP_EPERM, VP_ENOSPC, VP_EIO: cannot be
 * created. */
VP_API int vp_bench_open(vp_bench **out, const char *root, int devices);
/* Adds a method: fn(arg); its traces, one run per repeat, go to <name>_trace. Several methods
 * alternate their order from repeat to repeat. Warm-up runs are timed separately and not traced. fn
 * returns 0; other results are failures, with an optional text by vp_bench_error. */
VP_API int vp_bench_add(vp_bench *b, const char *name, int (*fn)(void *arg), void *arg);
VP_API int vp_bench_run(vp_bench *b, unsigned warmups, unsigned repeats);
VP_API void vp_bench_error(vp_bench *b, const char *text);
/* Additional keys of the results; setting a key again replaces its value. Keys for verified
 * properties ("isolation_verified") are only written if set. */
VP_API void vp_bench_set_int(vp_bench *b, const char *key, int64_t value);
VP_API void vp_bench_set_bool(vp_bench *b, const char *key, bool value);
VP_API void vp_bench_set_double(vp_bench *b, const char *key, double value);
VP_API void vp_bench_time(vp_bench *b, const char *phase, double seconds);  /* step_timing */
VP_API void vp_bench_memory(vp_bench *b, const char *phase, int64_t bytes); /* memory_profiles */
/* initial_gpu_memory, final_gpu_memory and memory_used_gb of detailed_gpu_metrics ("gb" are GiB).
 * If the process has loaded CUDA's driver and has a context on a GPU, vp_bench_run reads them: the
 * first before all runs, or after the warm-ups if there was no context yet, the others after the
 * last run. Values set by the caller take precedence, and are the only source of other metrics,
 * such as "temperature_celsius" and "power_watts". gpu: from 0 to 63; bytes. */
VP_API void vp_bench_gpu_memory_initial(vp_bench *b, int gpu, uint64_t total, uint64_t used);
VP_API void vp_bench_gpu_memory_final(vp_bench *b, int gpu, uint64_t total, uint64_t used);
VP_API void vp_bench_gpu_metric(vp_bench *b, int gpu, const char *name, double value);
/* Writes profile_{N}gpu_results.json, in the directory of vp_bench_open or at path; its "schema" is
 * "view_profile.bench/1". Unknown values are null. VP_EARG, VP_ELIMIT, VP_ENOMEM: a key could not
 * be stored; the file is written without it, and the error is that of the first such key. */
VP_API int vp_bench_write(vp_bench *b, const char *path);
VP_API const char *vp_bench_dir(const vp_bench *b);
VP_API void vp_bench_free(vp_bench *b);

/* ---- The macros ---- */

/* VP_SCOPE("name");                      this scope is a zone
 * VP_SCOPE_LEVEL(VP_LEVEL_VERBOSE, "n");  only if the recording's level includes it
 * VP_SCOPE_ARGS("name", VP_I64("bytes", n), VP_F64("loss", x), VP_STR("shape", s));
 * VP_SCOPE_DYN(id);                      id of vp_name
 * VP_FUNC();                             a scope named after the function
 * VP_BEGIN("name"); … VP_END();          a zone without a scope; nested at most 64 deep
 * VP_INSTANT("name");
 * VP_COUNTER("name", int64);  VP_COUNTER_F("name", double);
 * VP_FLOW_OUT(id);  VP_FLOW_IN(id);      the enclosing zone hands over to, or receives from
 * VP_STEP("train", number);              this scope is a step (else: vp_step_begin, vp_step_end)
 * VP_COMPILE_SCOPE("jit_train_step");    counted as compilation
 * VP_LAUNCH("name", correlation);        a zone that launches work of that correlation
 * VP_CALL(expression)                    its value, in a zone named after its text (not for void)
 * VP_CALL_N("name", expression)          the same, in a zone with this name
 * VP_CALL_VOID(statement);  VP_CALL_VOID_N("name", statement);
 * VP_WRAP(type, new_name, fn, (parameters), (arguments))   a static function that wraps fn
 *                                        (every call of fn in the program, with -Wl,--wrap=fn:
 *                                        T __wrap_fn(…) { return VP_CALL_N("fn", __real_fn(…)); })
 * VP_CONTEXT(profiler, step, "name");    vp_context_begin, and vp_context_end with the scope
 * VP_PROFILE_SCOPE("dir");               a recording of this scope, written by another thread;
 *                                        exit() waits for it */
#include "view_profile_capture_macros.h"

#ifdef __cplusplus
}

/* C++ before 20 has no designated initializers. */
template <typename T> inline T vp__init()
{
    T v = T();
    v.version = 1;
    return v;
}
inline vp_schedule vp__init_schedule()
{
    vp_schedule s = vp__init<vp_schedule>();
    s.profile_every_n_steps = 100;
    s.profile_duration_ms = 3000;
    s.max_profile_count = 5;
    s.num_steps = 5;
    s.start_step = 150;
    s.recording.version = 1;
    return s;
}
#undef VP_CONFIG_INIT
#undef VP_RESULT_INIT
#undef VP_STEP_STATS_INIT
#undef VP_SCHEDULE_INIT
#define VP_CONFIG_INIT vp__init<vp_config>()
#define VP_RESULT_INIT vp__init<vp_result>()
#define VP_STEP_STATS_INIT vp__init<vp_step_stats>()
#define VP_SCHEDULE_INIT vp__init_schedule()
#endif
#endif
