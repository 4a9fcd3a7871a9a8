/* Results other than the methods' times: the caller's keys, and the memory of GPUs. */
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/capture/bench/bench.h"

bool bench_is_ours(bench_place place, const char *key)
{
    static const char peak[] = "process_peak_bytes", used[] = "memory_used_gb";
    static const char *const keys[] = {"gpu_count",
                                       "timestamp",
                                       "initial_gpu_memory",
                                       "final_gpu_memory",
                                       "detailed_gpu_metrics",
                                       "step_timing",
                                       "memory_profiles",
                                       "warmups",
                                       "repeats",
                                       "order",
                                       "schema"};
    if (place != BENCH_RESULTS)
        return strcmp(key, place == BENCH_MEMORY ? peak : place == BENCH_METRIC ? used : "") == 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static bench_value *bench_value_slot(vp_bench *b, const char *key, bench_place place, int gpu)
{
    for (size_t i = 0; i < b->value_count; i++) {
        bench_value *v = &b->values[i];
        if (v->place == place && v->gpu == gpu && strcmp(v->key, key) == 0)
            return v;
    }
    return NULL;
}

/* Stores the first failure of a key, which is reported when the results are written. rc is that of
 * vp_error_last. */
static void note_bad(vp_bench *b, int rc)
{
    if (b->status == 0)
        b->error = *vp_error_last();
    b->status = b->status ? b->status : rc;
}

static void bench_set_value(vp_bench *b, const char *key, const bench_value *value)
{
    if (!b || !key)
        return;
    if (bench_is_ours(value->place, key)) {
        note_bad(b, vp_fail(VP_EARG, "the results already have a key \"%.200s\"", key));
        return;
    }
    bench_value *v = bench_value_slot(b, key, value->place, value->gpu);
    char *name = v ? v->key : vp_strdup(key);
    if (!name || (!v && b->value_count == BENCH_KEYS_MAX)) {
        note_bad(b, name ? vp_fail(VP_ELIMIT, "more than %u keys; \"%.200s\" is left out",
                                   BENCH_KEYS_MAX, key)
                         : vp_no_memory());
        vp_free(name);
        return;
    }
    v = v ? v : &b->values[b->value_count++];
    *v = *value;
    v->key = name;
}

void vp_bench_set_int(vp_bench *b, const char *key, int64_t value)
{
    bench_set_value(b, key, &(bench_value){.kind = BENCH_INT, .i = value});
}

void vp_bench_set_bool(vp_bench *b, const char *key, bool value)
{
    bench_set_value(b, key, &(bench_value){.kind = BENCH_BOOL, .i = value});
}

void vp_bench_set_double(vp_bench *b, const char *key, double value)
{
    bench_set_value(b, key, &(bench_value){.kind = BENCH_REAL, .real = value});
}

void vp_bench_time(vp_bench *b, const char *phase, double seconds)
{
    bench_set_value(
        b, phase, &(bench_value){.place = BENCH_STEP_TIMING, .kind = BENCH_REAL, .real = seconds});
}

void vp_bench_memory(vp_bench *b, const char *phase, int64_t bytes)
{
    bench_set_value(b, phase, &(bench_value){.place = BENCH_MEMORY, .kind = BENCH_INT, .i = bytes});
}

/* ---- GPUs ---- */

static bool check_gpu_number(vp_bench *b, int gpu)
{
    if (b && (gpu < 0 || gpu >= (int)GPU_MEMORY_DEVICES_MAX))
        note_bad(b, vp_fail(VP_EARG, "no GPU %d", gpu));
    return b && gpu >= 0 && gpu < (int)GPU_MEMORY_DEVICES_MAX;
}

static void say_memory(vp_bench *b, bench_gpus *g, int gpu, uint64_t total, uint64_t used)
{
    if (!total || used > total) {
        note_bad(b, vp_fail(VP_EARG, "invalid memory in use: %llu of %llu bytes",
                            (unsigned long long)used, (unsigned long long)total));
        return;
    }
    g->of[gpu] = (gpu_memory){true, total, total - used};
    g->said[gpu] = true;
}

void vp_bench_gpu_memory_initial(vp_bench *b, int gpu, uint64_t total, uint64_t used)
{
    if (check_gpu_number(b, gpu))
        say_memory(b, &b->initial, gpu, total, used);
}

void vp_bench_gpu_memory_final(vp_bench *b, int gpu, uint64_t total, uint64_t used)
{
    if (check_gpu_number(b, gpu))
        say_memory(b, &b->final, gpu, total, used);
}

void vp_bench_gpu_metric(vp_bench *b, int gpu, const char *name, double value)
{
    if (check_gpu_number(b, gpu))
        bench_set_value(
            b, name,
            &(bench_value){.place = BENCH_METRIC, .gpu = gpu, .kind = BENCH_REAL, .real = value});
}

void bench_read_memory(bench_gpus *g, bool unless_known)
{
    gpu_memory now[GPU_MEMORY_DEVICES_MAX] = {{0}};
    if (!gpu_memory_read(now))
        return;
    for (size_t i = 0; i < GPU_MEMORY_DEVICES_MAX; i++)
        if (now[i].known && !g->said[i] && !(unless_known && g->of[i].known))
            g->of[i] = now[i];
}
