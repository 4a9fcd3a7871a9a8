/* Internals of a vp_bench: bench.c runs the methods, bench_values.c stores additional values,
 * bench_results.c writes the results. Private to these files. The caller of vp_bench_open owns the
 * bench. */
#ifndef VP_CAPTURE_BENCH_H
#define VP_CAPTURE_BENCH_H

#include "include/view_profile_capture.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/capture/gpu/gpu_memory.h"

/* More than practical comparisons need. */
#define BENCH_METHODS_MAX 64u
#define BENCH_KEYS_MAX 256u
#define BENCH_REPEATS_MAX 10000u

typedef struct bench_method {
    char *name;
    int (*fn)(void *arg);
    void *arg;
    char trace_dir[VP_PATH_MAX];
    bool traced;         /* trace_dir holds a recording */
    double first_call_s; /* of the first warm-up, which compiles and fills caches */
    double warmup_s;     /* of all warm-ups */
    double *run_s;       /* per repeat, without starting and ending recordings */
    size_t runs;
    double export_s; /* total time for writing the recordings */
    bool failed;
    double failed_s; /* duration of the failed call */
    char *error;     /* NULL: out of memory */
} bench_method;

typedef enum bench_kind { BENCH_INT, BENCH_BOOL, BENCH_REAL } bench_kind;
/* Object of the results that contains a key. */
typedef enum bench_place {
    BENCH_RESULTS,
    BENCH_STEP_TIMING,
    BENCH_MEMORY, /* memory_profiles */
    BENCH_METRIC  /* detailed_gpu_metrics, of a GPU */
} bench_place;

typedef struct bench_value {
    char *key;
    bench_place place;
    int gpu; /* of BENCH_METRIC; else 0 */
    bench_kind kind;
    int64_t i;
    double real;
} bench_value;

/* Memory of all GPUs at one time: set by the caller, else read from the driver. */
typedef struct bench_gpus {
    gpu_memory of[GPU_MEMORY_DEVICES_MAX];
    bool said[GPU_MEMORY_DEVICES_MAX]; /* set by the caller */
} bench_gpus;

struct vp_bench {
    int devices;
    int64_t start_unix_s;
    char dir[VP_PATH_MAX];
    bench_method methods[BENCH_METHODS_MAX];
    size_t method_count;
    bench_value values[BENCH_KEYS_MAX]; /* of all places */
    size_t value_count;
    bench_gpus initial, final;
    unsigned warmups, repeats; /* of the last vp_bench_run */
    char *said;                /* text of vp_bench_error during the current call */
    int status;                /* failure of the first key that could not be stored; 0: none */
    vp_error error;            /* its error */
};

/* True if the results already define a key with this name in this object. */
bool bench_is_ours(bench_place place, const char *key);
/* Reads the memory of the GPUs from the driver. Values set by the caller are kept; unless_known:
 * earlier readings are kept, too. */
void bench_read_memory(bench_gpus *g, bool unless_known);
/* Index of the k-th method in a repeat: every other repeat runs them in reverse order. */
size_t bench_order(const vp_bench *b, unsigned repeat, size_t k);

#endif
