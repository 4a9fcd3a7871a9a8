/* Writes the results of benchmarks as a file for our other tools (profile_{N}gpu_results.json). */
#include "trace/capture/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/mem.h"
#include "trace/capture/disk/small_files.h"

static int by_double_value(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return a < b ? -1 : a > b;
}

/* NAN: no runs, or out of memory. */
static double median_run(const bench_method *m)
{
    VP_CLEANUP(vp_free_ptr) double *sorted = vp_calloc(m->runs, sizeof *sorted);
    if (!m->runs || !sorted)
        return NAN;
    memcpy(sorted, m->run_s, m->runs * sizeof *sorted);
    qsort(sorted, m->runs, sizeof *sorted, by_double_value);
    return (sorted[(m->runs - 1) / 2] + sorted[m->runs / 2]) / 2;
}

static void put_method_result(vp_json *j, const bench_method *m)
{
    vp_json_key(j, m->name);
    vp_json_begin_object(j);
    vp_json_kdouble(j, "execution_time", m->failed ? m->failed_s : median_run(m));
    vp_json_kbool(j, "success", !m->failed);
    if (m->failed)
        vp_json_kcstr(j, "error", m->error);
    vp_json_kcstr(j, "tensorboard_trace", m->traced ? m->trace_dir : NULL);
    vp_json_kdouble(j, "first_call_s", m->first_call_s > 0 ? m->first_call_s : NAN);
    vp_json_kdouble(j, "warmup_s", m->warmup_s);
    vp_json_key(j, "run_s");
    vp_json_begin_array(j);
    for (size_t i = 0; i < m->runs; i++)
        vp_json_double(j, m->run_s[i]);
    vp_json_end_array(j);
    vp_json_kdouble(j, "export_s", m->export_s);
    vp_json_end_object(j);
}

static void put_run_order(vp_json *j, const vp_bench *b)
{
    vp_json_key(j, "order");
    vp_json_begin_array(j);
    for (unsigned i = 0; i < b->repeats; i++) {
        vp_json_begin_array(j);
        for (size_t k = 0; k < b->method_count; k++)
            vp_json_cstr(j, b->methods[bench_order(b, i, k)].name);
        vp_json_end_array(j);
    }
    vp_json_end_array(j);
}

static void put_bench_value(vp_json *j, const bench_value *v)
{
    if (v->kind == BENCH_REAL)
        vp_json_kdouble(j, v->key, v->real);
    else if (v->kind == BENCH_BOOL)
        vp_json_kbool(j, v->key, v->i != 0);
    else
        vp_json_ki64(j, v->key, v->i);
}

static void put_bench_values(vp_json *j, const vp_bench *b, bench_place place, int gpu)
{
    for (size_t i = 0; i < b->value_count; i++)
        if (b->values[i].place == place && b->values[i].gpu == gpu)
            put_bench_value(j, &b->values[i]);
}

static void put_step_timing(vp_json *j, const vp_bench *b)
{
    vp_json_key(j, "step_timing");
    vp_json_begin_object(j);
    put_bench_values(j, b, BENCH_STEP_TIMING, 0);
    for (size_t i = 0; i < b->method_count; i++)
        if (!b->methods[i].failed)
            vp_json_kdouble(j, b->methods[i].name, median_run(&b->methods[i]));
    vp_json_end_object(j);
}

static double bytes_to_gib(uint64_t bytes)
{
    return (double)bytes / (1u << 30);
}

static void begin_gpu_object(vp_json *j, bool *any, const char *key, size_t gpu)
{
    char name[16];
    if (!*any) {
        vp_json_key(j, key);
        vp_json_begin_object(j);
        *any = true;
    }
    snprintf(name, sizeof name, "GPU_%zu", gpu);
    vp_json_key(j, name);
    vp_json_begin_object(j);
}

/* Closes the object if one was begun; else writes null for the key. */
static void end_gpus(vp_json *j, bool any, const char *key)
{
    if (any)
        vp_json_end_object(j);
    else
        vp_json_kcstr(j, key, NULL);
}

static void put_gpu_memory(vp_json *j, const char *key, const bench_gpus *g)
{
    bool any = false;
    for (size_t i = 0; i < GPU_MEMORY_DEVICES_MAX; i++) {
        const gpu_memory *m = &g->of[i];
        if (!m->known)
            continue;
        begin_gpu_object(j, &any, key, i);
        vp_json_kdouble(j, "total_gb", bytes_to_gib(m->total));
        vp_json_kdouble(j, "used_gb", bytes_to_gib(m->total - m->free));
        vp_json_kdouble(j, "free_gb", bytes_to_gib(m->free));
        vp_json_kdouble(j, "utilization_percent",
                        100 * (double)(m->total - m->free) / (double)m->total);
        vp_json_end_object(j);
    }
    end_gpus(j, any, key);
}

static bool has_metric(const vp_bench *b, size_t gpu)
{
    for (size_t i = 0; i < b->value_count; i++)
        if (b->values[i].place == BENCH_METRIC && b->values[i].gpu == (int)gpu)
            return true;
    return false;
}

static void put_metrics(vp_json *j, const vp_bench *b)
{
    static const char key[] = "detailed_gpu_metrics";
    bool any = false;
    for (size_t i = 0; i < GPU_MEMORY_DEVICES_MAX; i++) {
        const gpu_memory *m = &b->final.of[i];
        if (!m->known && !has_metric(b, i))
            continue;
        begin_gpu_object(j, &any, key, i);
        if (m->known)
            vp_json_kdouble(j, "memory_used_gb", bytes_to_gib(m->total - m->free));
        put_bench_values(j, b, BENCH_METRIC, (int)i);
        vp_json_end_object(j);
    }
    end_gpus(j, any, key);
}

/* Unknown memory is null. */
static void put_memory_results(vp_json *j, const vp_bench *b)
{
    struct rusage usage;
    bool known = getrusage(RUSAGE_SELF, &usage) == 0;
    put_gpu_memory(j, "initial_gpu_memory", &b->initial);
    put_gpu_memory(j, "final_gpu_memory", &b->final);
    put_metrics(j, b);
    vp_json_key(j, "memory_profiles");
    vp_json_begin_object(j);
    vp_json_kcount(j, "process_peak_bytes", known ? (int64_t)usage.ru_maxrss * 1024 : -1);
    put_bench_values(j, b, BENCH_MEMORY, 0);
    vp_json_end_object(j);
}

static void put_results(vp_buf *buf, const vp_bench *b)
{
    char stamp[40];
    struct tm t;
    time_t start = (time_t)b->start_unix_s;
    vp_json j;
    localtime_r(&start, &t);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &t);
    vp_json_init(&j, buf);
    vp_json_begin_object(&j);
    vp_json_kcstr(&j, "schema", "view_profile.bench/1");
    vp_json_ki64(&j, "gpu_count", b->devices);
    vp_json_kcstr(&j, "timestamp", stamp);
    put_bench_values(&j, b, BENCH_RESULTS, 0);
    put_memory_results(&j, b);
    put_step_timing(&j, b);
    vp_json_ki64(&j, "warmups", b->warmups);
    vp_json_ki64(&j, "repeats", b->repeats);
    put_run_order(&j, b);
    for (size_t i = 0; i < b->method_count; i++)
        put_method_result(&j, &b->methods[i]);
    vp_json_end_object(&j);
    vp_buf_putc(buf, '\n');
}

int vp_bench_write(vp_bench *b, const char *path)
{
    char name[64];
    vp_buf buf;
    if (!b)
        return vp_fail(VP_EARG, "no bench");
    snprintf(name, sizeof name, "profile_%dgpu_results.json", b->devices);
    vp_buf_init(&buf, 64u << 20);
    put_results(&buf, b);
    int rc = buf.status;
    if (rc >= 0)
        rc = path ? cap_write_path(path, vp_buf_view(&buf))
                  : cap_write_file(b->dir, name, vp_buf_view(&buf));
    vp_buf_free(&buf);
    return rc < 0 ? rc : b->status < 0 ? vp_fail_copy(&b->error) : 0;
}
