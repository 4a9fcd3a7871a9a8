/* The inside of a vp_bench: bench.c runs the methods, bench_values.c keeps what else is measured,
 * bench_results.c writes the results. Only these three include this header; a bench belongs to who
 * opened it. */
#ifndef VP_CAPTURE_BENCH_H
#define VP_CAPTURE_BENCH_H

#include "include/view_profile_capture.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/capture/gpu/gpu_memory.h"

/* More than anybody compares. */
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
    double *run_s;       /* of each repeat, without the start and the end of recordings */
    size_t runs;
    double export_s; /* how long writing the recordings of all repeats took */
    bool failed;
    double failed_s; /* how long the call that failed took */
    char *error;     /* NULL: out of memory */
} bench_method;

typedef enum bench_kind { BENCH_INT, BENCH_BOOL, BENCH_REAL } bench_kind;
/* Which object of the results a key belongs to. */
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

/* The memory of all GPUs at one time: as the caller said it, else as the driver says. */
typedef struct bench_gpus {
    gpu_memory of[GPU_MEMORY_DEVICES_MAX];
    bool said[GPU_MEMORY_DEVICES_MAX]; /* the caller said it */
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
    char *said;                /* what vp_bench_error was told in the call that is running */
    int status; /* why the first of the keys that could not be kept was refused; 0: all were kept */
    vp_error error; /* the error of that key */
};

/* Whether the results have a key of this name of their own in that place. */
bool bench_is_ours(bench_place place, const char *key);
/* Reads the memory of the GPUs from the driver. What the caller said stands; unless_known: what was
 * read before stands, too. */
void bench_read_memory(bench_gpus *g, bool unless_known);
/* Which method is the k-th in a repeat: every other repeat goes through them backwards. */
size_t bench_order(const vp_bench *b, unsigned repeat, size_t k);

#endif
