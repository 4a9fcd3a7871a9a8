/* view_profile capture: a C or C++ program records itself, with the ideas of jax.profiler, at the
 * cost of two clock reads a zone, into a directory that view_profile, TensorBoard and Perfetto
 * open.
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
 * Grammar: out-parameters first; 0 or a negative VP_E… (view_profile_status.h), then
 * vp_error_last() says more; outputs are untouched on failure; _free takes NULL. Nothing prints,
 * exits or installs signal handlers unless asked to. Structures that may grow carry a version:
 * start from VP_…_INIT, results too; whoever is given one of a version that he does not know says
 * VP_EVERSION and does nothing else.
 * Macros that record may be used in any thread and in signal handlers, allocate nothing, lock
 * nothing, fail never: what cannot be kept is counted (vp_result). With VP_DISABLE defined they
 * compile to nothing. A scope that longjmp leaves is no zone, and counted; VP_BEGIN and VP_END
 * belong to no scope, and a jump between them leaves the pairing to you. Names in them are string
 * literals unless said otherwise: nothing else compiles. Times are nanoseconds where a name says
 * _ns, else ticks of vp_now(). Everything else may be called from any thread; starting and stopping
 * are serialised. */
#ifndef VIEW_PROFILE_CAPTURE_H
#define VIEW_PROFILE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view_profile_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A recording ---------------------------------------------------------------------------- */

typedef struct vp_recording vp_recording;

typedef enum vp_capture_mode {
    VP_KEEP_FIRST, /* when the pool is full, the recording is over, for all threads at once: zones
                      that then find no room are counted as dropped, what is open is kept as
                      unfinished, and the log has a line at once. Its owner stops it, or the next
                      step or vp_start does */
    VP_RING        /* the oldest zones make room: a flight recorder. What it leaves begins where it
                      has all that ended on any thread from then on */
} vp_capture_mode;

typedef enum vp_gpu {
    VP_GPU_OFF,
    VP_GPU_AUTO,   /* what can be had of it, where the process has loaded CUDA's driver already;
                      else the log, the result and the profile say why there is nothing */
    VP_GPU_REQUIRE /* vp_start fails without it */
} vp_gpu;

enum {                           /* what a recording leaves behind; bits */
       VP_OUT_XPLANE = 1,        /* <host>.xplane.pb: TensorBoard, XProf, view_profile */
       VP_OUT_TRACE_JSON = 2,    /* <host>.trace.json.gz: the same for Perfetto and scripts */
       VP_OUT_PERFETTO_JSON = 4, /* perfetto_trace.json.gz, as jax.profiler leaves it */
       VP_OUT_RAW = 8            /* <host>.vpcap, beside others: the recording as it was */
};

enum { VP_LEVEL_USER = 1, VP_LEVEL_INFO = 2, VP_LEVEL_VERBOSE = 3 };
enum { VP_SAY_INFO, VP_SAY_WARNING, VP_SAY_ERROR };

typedef struct vp_config {
    int version;
    const char *dir; /* default "profiles"; run directories are made below dir/plugins/profile. From
                        the working directory that vp_start finds, whatever becomes of that */
    const char *host;  /* default: the machine's name */
    size_t pool_bytes; /* default 64 MiB: 4.19 million zones */
    vp_capture_mode mode;
    unsigned outputs; /* VP_OUT_…; none but RAW: XPLANE | TRACE_JSON */
    unsigned level;   /* zones above it are not recorded; 0: VP_LEVEL_INFO */
    vp_gpu gpu;
    unsigned duration_ms; /* ends by itself; 0: not */
    bool in_memory;       /* the pool is no file: nothing survives a crash */
    bool export_now;      /* vp_stop returns when all is written; else a thread of ours writes on */
    bool no_atexit;       /* exit() does not end the recording */
    bool follow_fork;     /* a forked child records on its own, as <host>_<pid> */
    /* Called before a recording ends, while it is still on, so that work in flight on a device is
     * in it, and so is the wait for it. This and log may call exit(): what they were called from is
     * brought to its end then, its files included. */
    void (*device_sync)(void *ctx);
    /* level is VP_SAY_…; message has no newline. NULL: silence. Called from any thread. */
    void (*log)(void *ctx, int level, const char *message);
    void *ctx;
} vp_config;
#define VP_CONFIG_INIT                                                                             \
    {                                                                                              \
        .version = 1                                                                               \
    }

/* Exact: written + the dropped ones = the zones that ended while the recording was on. */
typedef struct vp_result {
    int version;
    char run_dir[4096];    /* what was or is being written: …/plugins/profile/<run> */
    uint64_t zones;        /* written, instants and counters included */
    uint64_t dropped_full; /* no room in the pool (KEEP_FIRST) */
    uint64_t overwritten;  /* ring: recorded, then given up for newer ones, or before those begin */
    uint64_t dropped_signal; /* a signal came in the middle of a record, or first on its thread */
    uint64_t dropped_depth;  /* VP_BEGIN deeper than 64, functions (record --functions) than 256 */
    uint64_t unmatched_ends; /* VP_END without VP_BEGIN */
    uint64_t gpu_records, gpu_dropped;
    uint64_t threads;
    int64_t start_unix_ns;
    int64_t duration_ns; /* of what is written: a ring's, or a past's, is that of its window */
    int64_t export_ns;   /* of the writing; 0 while it goes on */
    int gpu_status;      /* 0, or why there is nothing of the GPU */
    bool truncated; /* cut off: by exit or vp_profiler_free, or in the middle of something by its
                       time limit, from outside, or by a full pool. What was open is in it, marked
                       as unfinished, and ends with it */
    uint64_t bytes_written; /* of all files */
    uint64_t left;          /* zones without an end: longjmp left them, or their thread ended */
} vp_result;
#define VP_RESULT_INIT                                                                             \
    {                                                                                              \
        .version = 1                                                                               \
    }

/* Starts recording; there is one recording at a time in a process. VP_EBUSY: one is active, and
 * the error's path is its directory ("Profiler already active"). VP_ENOSPC, VP_EPERM, VP_EIO: the
 * pool or the directory cannot be made; VP_EARG. */
VP_API int vp_start(vp_recording **out, const vp_config *cfg);
/* The same with the defaults, below `dir`: what jax.profiler.start_trace(dir) is. */
VP_API int vp_trace(vp_recording **out, const char *dir);
/* Ends it, writes it, and frees the handle unless the writing goes on (vp_wait frees it then).
 * result may be NULL. A recording that ended by itself is written already: 0. VP_EINACTIVE: r is
 * no recording of this process any more; another one that may be active is not touched.
 * VP_EFORKED in a child. VP_EBUSY: its own callback asks. */
VP_API int vp_stop(vp_recording *r, vp_result *result);
/* Waits for the files of a stopped recording, and frees it. */
VP_API int vp_wait(vp_recording *r, vp_result *result);
/* Whether this recording still records. */
VP_API bool vp_recording_active(const vp_recording *r);
VP_API const char *vp_recording_dir(const vp_recording *r);
/* Writes what the last `seconds` of an active recording hold (all of it: <= 0) as a run of its
 * own, and goes on recording. Zones that are open are none of the past. */
VP_API int vp_capture_past(vp_recording *r, double seconds, vp_result *result);
/* Makes a profile of the .vpcap that a process left which was killed: <host>.xplane.pb and
 * <host>.trace.json.gz, with what was open then marked as unfinished. dir: a profile directory;
 * NULL: beside it. The .vpcap stays. VP_ENOTFOUND, VP_ECORRUPT; VP_EEMPTY: nothing had been
 * recorded; VP_EBUSY: its process still records; VP_EREFUSED: one of the files is there already;
 * VP_EIO, VP_ENOSPC, VP_EPERM. */
VP_API int vp_recover(const char *path, const char *dir, vp_result *result);

/* ---- The schedule: profile every N steps, or some steps, or when asked ----------------------- */

/* The fields of the training loops that this reproduces keep their names. */
typedef struct vp_schedule {
    int version;
    bool enable_profiling;     /* of contexts only: off, the default, each is a plain zone. What
                                  vp_begin_step captures goes by start_step, also by the default
                                  150, whatever this says */
    const char *profiling_dir; /* default "profiles"; from vp_profiler_new's working directory */
    uint64_t profile_every_n_steps; /* default 100 */
    uint64_t profile_duration_ms;   /* default 3000; UINT64_MAX: no limit */
    uint64_t max_profile_count;     /* default 5; only captures that succeeded count */
    bool profile_gpu_trace;
    bool keep_first_step;        /* capture step 0 too, which compiles */
    uint32_t steps_every;        /* of vp_begin_step: again at every so many steps after start_step,
                                    up to max_profile_count captures; 0, the default: once */
    uint64_t profile_start_step; /* contexts: every N steps from this one on */
    uint64_t num_steps;          /* default 5: how many steps vp_begin_step captures */
    int64_t start_step;          /* of vp_begin_step; default 150; -1: only on vp_capture_async */
    double slow_step_ratio;      /* > 1: keep a ring, and write the past when a step takes this
                                    many times the median, aside, and whatever max_profile_count
                                    says; within a minute of such a step only of one that took
                                    longer, the others are counted in the log; 0: not. A step that
                                    another capture was on in has no past of its own */
    double flops_per_token;      /* for flop_stats.json: 6 × parameters; 0: unknown */
    double model_params;
    double peak_tflops;  /* of one device; 0: unknown, then no MFU */
    vp_config recording; /* what every capture starts from; its dir is ignored */
} vp_schedule;
#define VP_SCHEDULE_INIT                                                                           \
    {                                                                                              \
        .version = 1, .profile_every_n_steps = 100, .profile_duration_ms = 3000,                   \
        .max_profile_count = 5, .num_steps = 5, .start_step = 150, .recording = VP_CONFIG_INIT     \
    }

typedef struct vp_profiler vp_profiler;

/* Copies the schedule. Makes no directory before the first capture. */
VP_API int vp_profiler_new(vp_profiler **out, const vp_schedule *schedule);
/* Ends a capture that is on, waits for all files. */
VP_API void vp_profiler_free(vp_profiler *p);

/* A training step, in the manner of begin_step/end_step: a step "train" of the recording that is
 * on, so that it needs no VP_STEP of its own. Captures start_step … start_step + num_steps - 1, or
 * the next num_steps after vp_capture_async, and leaves flop_stats.json in profiling_dir, also when
 * the process ends by exit() before that. A step beyond start_step that comes first (resumed
 * training) starts it, too. A capture ends before its last step when its time is over or, with the
 * step at hand, when its pool is full; the step that was cut off is in it, marked as unfinished. A
 * capture that cannot start is logged, and training goes on: these return 0 then. The log says of
 * steps and contexts that were due why they were not captured, once a minute for each cause.
 * Neither waits for files; only a capture that starts while four are being written waits for the
 * oldest of these, since each holds its pool until then. */
VP_API int vp_begin_step(vp_profiler *p, uint64_t step);
VP_API int vp_end_step(vp_profiler *p, uint64_t tokens);
/* Asks for a capture of `steps` steps (0: num_steps) from the next vp_begin_step on, whatever
 * max_profile_count says; asked twice before that, the larger number counts. Any thread, also from
 * a signal handler: it sets no vp_error_last, and what there is to say the log says with the next
 * step: "Profiler enabled for next N steps" when it starts, "Profiler already active, ignoring
 * capture_async()" of VP_EBUSY, which it is while one is on. */
VP_API int vp_capture_async(vp_profiler *p, uint64_t steps);
VP_API bool vp_is_profiling(const vp_profiler *p);

typedef struct vp_step_stats {
    int version;
    uint64_t steps, captures; /* steps: those of vp_begin_step, contexts of this profiler, and
                                 every VP_STEP and vp_step_begin of the process. One within another
                                 of its number is the same step; what is marked while a step of
                                 vp_begin_step is on is a part of that */
    double avg_step_time;  /* seconds, of all steps ever; 0 before the first. Starting and ending a
                              recording inside a step, on its thread, is no time of the step, but
                              its device_sync is */
    double stddev, median; /* median: of a log2 histogram's bucket, within 10 % */
    double last;
    uint64_t tokens;
} vp_step_stats;
#define VP_STEP_STATS_INIT                                                                         \
    {                                                                                              \
        .version = 1                                                                               \
    }
VP_API int vp_profiler_stats(vp_step_stats *out, const vp_profiler *p);
/* The last capture, once its files and those before it are written; VP_EEMPTY: none yet. */
VP_API int vp_profiler_last(vp_result *out, vp_profiler *p);

/* profile_context(state, name): a capture of its own, in <dir>/<name>_step_<N>, when the schedule
 * says that it is due; else, and inside another capture, a plain zone of that name. Ends with
 * vp_context_end, or with its scope by VP_CONTEXT. name may be built at run time. */
typedef struct vp_context {
    vp_profiler *profiler;
    vp_recording *recording;
    uint64_t start, step;
    uint32_t name, generation, place;
} vp_context;
VP_API vp_context vp_context_begin(vp_profiler *p, uint64_t step, const char *name);
VP_API void vp_context_end(vp_context *c);
/* Whether a vp_context_begin of this step would capture. */
VP_API bool vp_profile_due(const vp_profiler *p, uint64_t step);
/* fn(arg) inside such a context; what it returns. */
VP_API void *vp_profile_call(vp_profiler *p, uint64_t step, const char *name,
                             void *(*fn)(void *arg), void *arg);

/* A step where no scope fits: VP_STEP in two parts, both on one thread. name may be built at run
 * time. Steps of VP_STEP and of vp_begin_step may be inside. VP_EARG: a step without a name; an end
 * without a begin. VP_EBUSY: the thread is in such a step. */
VP_API int vp_step_begin(const char *name, uint64_t number);
VP_API int vp_step_end(void);

/* ---- Run-time names, flows, tracks ----------------------------------------------------------- */

/* A name that is built at run time, once for its lifetime; 0 when there is no room: what
 * is recorded under 0, or any number that is no name, is called "(no name)". May
 * be called before a recording; never in a signal handler. At most 4,095 bytes are kept. */
VP_API uint32_t vp_name(const char *name);
/* The calling thread's name in the profile. */
VP_API int vp_thread_name(const char *name);
/* About the whole recording: "mesh.shape" = "4x2". Also before vp_start. */
VP_API int vp_meta_str(const char *key, const char *value);
VP_API int vp_meta_int(const char *key, int64_t value);
/* How an array is laid out over devices: spec as the framework prints it. */
VP_API int vp_meta_sharding(const char *array, const char *spec, bool replicated);

/* Ticks of the recording's clock. */
VP_API uint64_t vp_now(void);
/* A number for VP_FLOW_OUT and VP_FLOW_IN. */
VP_API uint64_t vp_flow_new(void);

typedef enum vp_capture_device {
    VP_CAPTURE_GPU,
    VP_CAPTURE_TPU,
    VP_CAPTURE_CUSTOM
} vp_capture_device;
typedef uint32_t vp_device_id; /* 0: none */
typedef uint32_t vp_track_id;  /* 0: none */

/* Devices and tracks are known for the life of the process; the same again gives the same number.
 * 0 and vp_error_last(): at most 256 devices, 4,096 tracks. */
VP_API vp_device_id vp_device_add(vp_capture_device kind, int ordinal, const char *model);
VP_API vp_track_id vp_track_add(vp_device_id device, const char *name);

/* A clock that a device has of its own, of `hz` ticks a second (1e3 to 1e12), and pairs of its
 * ticks with vp_now() at the same instant. What is recorded on the tracks of a device that has it
 * is timed in its ticks, and placed when it is recorded, by the pairs that are known then: between
 * two pairs on the line through them (in whole numbers; pairs are met exactly), before the first
 * and after the last at the rate between these two, with one pair at hz. So read the clock before
 * and after the work, then record it. Of one clock 256 pairs are kept, the first and the last among
 * them; when there are more, every second one in between goes.
 * vp_clock_add: 0 and vp_error_last() for an hz out of bounds (VP_EARG) and for more than 64 clocks
 * (VP_ELIMIT). Clocks live as long as the process. */
typedef uint32_t vp_clock_id; /* 0: the recording's own, that of vp_now() */
VP_API vp_clock_id vp_clock_add(double hz);
/* VP_ECLOCK: one of the two has gone backwards since the last pair, which stays the last one; a
 * device that was reset needs a new clock. VP_EARG: no such clock, or no such time of the host. */
VP_API int vp_clock_sync(vp_clock_id clock, uint64_t device_ticks, uint64_t host);
/* From now on times of this device are of this clock. VP_EARG: there is no such one. */
VP_API int vp_device_clock(vp_device_id device, vp_clock_id clock);

typedef struct vp_arg {
    const char *key; /* a literal */
    int type;        /* VP_ARG_… */
    union {
        int64_t i;
        double f;
        const char *s; /* copied */
    } v;
} vp_arg;
enum { VP_ARG_I64, VP_ARG_F64, VP_ARG_STR };

/* Work that something else than this thread did: an op on a stream. correlation ties it to the host
 * zone that launched it (VP_LAUNCH); 0: none. name: of vp_name. start and end: of vp_now(), or
 * ticks of the clock that the track's device has. At most 15 args. For these three: VP_EARG for
 * what makes no sense; VP_ECLOCK: the device's clock has no pair, or none that is near enough;
 * VP_EFULL: the recording has no room, which its result counts, and which is its end unless it is a
 * ring. Nothing is recorded then. While no recording is on: 0. */
VP_API int vp_record_span(vp_track_id t, uint32_t name, uint64_t start, uint64_t end,
                          uint32_t correlation, const vp_arg *args, size_t n);
/* A number that the zones of this thread carry until it is popped. */
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
/* One rank's part. id: the same on all ranks of one operation. */
VP_API int vp_record_collective(vp_track_id t, vp_collective_kind kind, uint64_t bytes,
                                uint64_t group, int rank, int ranks, uint64_t start, uint64_t end,
                                uint64_t id);

/* ---- Control -------------------------------------------------------------------------------- */

/* VIEW_PROFILE=1 and its companions (docs/man/view_profile-record.1.md) take effect when the
 * library is loaded; this starts the control socket without them, so that `view_profile list` and
 * the index page see this process. Idempotent. */
VP_API int vp_control_start(vp_profiler *p);
VP_API void vp_control_stop(void);
/* On this signal the recording that is on writes its past, or, when none is on, the next steps are
 * captured. Chains an earlier handler; VP_EREFUSED when there is one, unless forced. */
VP_API int vp_install_signal(int signal_number, bool force);

/* ---- Benchmarks over device counts ------------------------------------------------------------
 */

typedef struct vp_bench vp_bench;

/* Makes <root>/{devices}gpu_{YYYYmmdd_HHMMSS}. root: NULL or "" for "tensorboard_logs". devices:
 * from 1, also for what runs on the host. VP_EARG; VP_EPERM, VP_ENOSPC, VP_EIO: it cannot be made.
 */
VP_API int vp_bench_open(vp_bench **out, const char *root, int devices);
/* fn(arg) is a method under test; its traces, one run a repeat, go to <name>_trace. Runs of several
 * methods alternate their order from repeat to repeat. Warm-up runs are timed apart and not traced.
 * fn returns 0; anything else is a failure, whose text it may have said by vp_bench_error. */
VP_API int vp_bench_add(vp_bench *b, const char *name, int (*fn)(void *arg), void *arg);
VP_API int vp_bench_run(vp_bench *b, unsigned warmups, unsigned repeats);
VP_API void vp_bench_error(vp_bench *b, const char *text);
/* Keys of the results beside ours; the same key again replaces. What somebody has verified
 * ("isolation_verified") stands in the results only when it was set. */
VP_API void vp_bench_set_int(vp_bench *b, const char *key, int64_t value);
VP_API void vp_bench_set_bool(vp_bench *b, const char *key, bool value);
VP_API void vp_bench_set_double(vp_bench *b, const char *key, double value);
VP_API void vp_bench_time(vp_bench *b, const char *phase, double seconds);  /* step_timing */
VP_API void vp_bench_memory(vp_bench *b, const char *phase, int64_t bytes); /* memory_profiles */
/* initial_gpu_memory, final_gpu_memory and memory_used_gb of detailed_gpu_metrics ("gb" are GiB).
 * Where the process has CUDA's driver loaded and a context on a GPU, vp_bench_run reads them: the
 * first before all runs, or after the warm-ups where there was no context yet, the others after the
 * last run. What the caller says stands instead, and is the only source of other metrics, such as
 * "temperature_celsius" and "power_watts". gpu: from 0 to 63; bytes. */
VP_API void vp_bench_gpu_memory_initial(vp_bench *b, int gpu, uint64_t total, uint64_t used);
VP_API void vp_bench_gpu_memory_final(vp_bench *b, int gpu, uint64_t total, uint64_t used);
VP_API void vp_bench_gpu_metric(vp_bench *b, int gpu, const char *name, double value);
/* profile_{N}gpu_results.json, in the directory of vp_bench_open or at path; its "schema" is
 * "view_profile.bench/1". What nobody knows is null. VP_EARG, VP_ELIMIT, VP_ENOMEM: one of the keys
 * above could not be kept: the file is written, without that, and the error is of the first one. */
VP_API int vp_bench_write(vp_bench *b, const char *path);
VP_API const char *vp_bench_dir(const vp_bench *b);
VP_API void vp_bench_free(vp_bench *b);

/* ---- The hot path ------------------------------------------------------------------------------
 */

/* VP_SCOPE("name");                      this scope is a zone
 * VP_SCOPE_LEVEL(VP_LEVEL_VERBOSE, "n");  only where the recording's level takes it
 * VP_SCOPE_ARGS("name", VP_I64("bytes", n), VP_F64("loss", x), VP_STR("shape", s));
 * VP_SCOPE_DYN(id);                      id of vp_name
 * VP_FUNC();                             named like the function
 * VP_BEGIN("name"); … VP_END();          where no scope fits; nest at most 64 deep
 * VP_INSTANT("name");
 * VP_COUNTER("name", int64);  VP_COUNTER_F("name", double);
 * VP_FLOW_OUT(id);  VP_FLOW_IN(id);      the zone around it hands over to, or takes from
 * VP_STEP("train", number);              this scope is a step (else: vp_step_begin, vp_step_end)
 * VP_COMPILE_SCOPE("jit_train_step");    counted as compilation
 * VP_LAUNCH("name", correlation);        a zone that launches work of that correlation
 * VP_CALL(expression)                    its value, in a zone named like the text (not for void)
 * VP_CALL_N("name", expression)          the same, in a zone of that name
 * VP_CALL_VOID(statement);  VP_CALL_VOID_N("name", statement);
 * VP_WRAP(type, new_name, fn, (parameters), (arguments))   a static function that wraps fn
 *                                        (every call of fn in the program, with -Wl,--wrap=fn:
 *                                        T __wrap_fn(…) { return VP_CALL_N("fn", __real_fn(…)); })
 * VP_CONTEXT(profiler, step, "name");    vp_context_begin … with the end of the scope
 * VP_PROFILE_SCOPE("dir");               a recording of this scope; it is written aside, and exit()
 *                                        waits for that */
#include "view_profile_capture_macros.h"

#ifdef __cplusplus
}

/* C++ before 20 names no fields in initialisers. */
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
