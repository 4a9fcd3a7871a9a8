/* Records the same work in three ways for comparison: with every part annotated, as one plain zone,
 * and on small matrices, where the host's share is visible.
 *
 *     comprehensive_profile_demo
 *     view_profile findings profiles/comprehensive_profile/annotated
 *     view_profile compare profiles/comprehensive_profile/annotated
 *                          profiles/comprehensive_profile/small
 *
 * The finding to look for: one of the products reads its right-hand side by columns, and takes most
 * of the time. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <view_profile_capture.h>

#include "ops.h"
#include "options.h"

#define PANEL 64u /* columns of b, c and d */

typedef struct work {
    size_t n; /* rows; a is square */
    float *a, *b, *c, *d;
    vp_track_id stream;
    bool annotated;
} work;

static double flops_of(const work *w)
{
    return 2.0 * (double)w->n * (double)w->n * PANEL;
}

/* ---- The parts ---- */

/* c = a b, reading b by rows. */
static void multiply(size_t n, const float *a, const float *b, float *restrict c)
{
    memset(c, 0, n * PANEL * sizeof *c);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < PANEL; j++)
                c[i * PANEL + j] += a[i * n + k] * b[k * PANEL + j];
}

/* d = a b, reading b by columns: each number is on another cache line, and each sum depends on the
 * previous one. */
static void multiply_by_columns(size_t n, const float *a, const float *b, float *restrict d)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < PANEL; j++) {
            float sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * PANEL + j];
            d[i * PANEL + j] = sum;
        }
}

static void softmax(work *w)
{
    for (size_t i = 0; i < w->n; i++) {
        float *row = w->c + i * PANEL, most = row[0], sum = 0;
        for (size_t j = 1; j < PANEL; j++)
            most = row[j] > most ? row[j] : most;
        for (size_t j = 0; j < PANEL; j++)
            sum += row[j] = expf(row[j] - most);
        for (size_t j = 0; j < PANEL; j++)
            row[j] /= sum;
    }
}

static float reduce_sum(const work *w)
{
    double sum = 0;
    for (size_t i = 0; i < w->n * PANEL; i++)
        sum += (double)(w->c[i] + w->d[i]);
    return (float)sum;
}

/* ---- Two variants ---- */

static float run_annotated(work *w)
{
    {
        VP_SCOPE_ARGS("matrix_multiply", VP_I64("n", (int64_t)w->n));
        OP(w->stream, "matmul_rows", flops_of(w));
        multiply(w->n, w->a, w->b, w->c);
    }
    {
        VP_SCOPE_ARGS("matrix_multiply_by_columns", VP_I64("n", (int64_t)w->n));
        OP(w->stream, "matmul_columns", flops_of(w));
        multiply_by_columns(w->n, w->a, w->b, w->d);
    }
    {
        VP_SCOPE("softmax");
        OP(w->stream, "softmax", 0);
        softmax(w);
    }
    VP_SCOPE("reduce_sum");
    OP(w->stream, "reduce_sum", 0);
    return reduce_sum(w);
}

static float run_plain(work *w)
{
    multiply(w->n, w->a, w->b, w->c);
    multiply_by_columns(w->n, w->a, w->b, w->d);
    softmax(w);
    return reduce_sum(w);
}

static float run_once(work *w)
{
    return w->annotated ? run_annotated(w) : run_plain(w);
}

/* ---- Recording ---- */

static int record(work *w, const char *dir, const char *mode, long iterations)
{
    char path[4096];
    vp_config cfg = VP_CONFIG_INIT;
    vp_result result = VP_RESULT_INIT;
    vp_recording *r;
    float sum = run_once(w); /* warms up the caches outside of the profile */
    snprintf(path, sizeof path, "%s/%s", dir, mode);
    cfg.dir = path;
    cfg.pool_bytes = 4u << 20;
    cfg.export_now = true;
    if (vp_start(&r, &cfg) < 0) {
        fprintf(stderr, "%s: %s\n", path, vp_error_last()->message);
        return 1;
    }
    for (long i = 0; i < iterations; i++) {
        VP_STEP("iteration", (uint64_t)i);
        sum += run_once(w);
    }
    if (vp_stop(r, &result) < 0) {
        fprintf(stderr, "%s: %s\n", path, vp_error_last()->message);
        return 1;
    }
    printf("%s: %llu zone%s, checksum %g, trace saved to %s\n", mode,
           (unsigned long long)result.zones, result.zones == 1 ? "" : "s", (double)sum,
           result.run_dir);
    return 0;
}

static float *numbers(size_t rows, size_t columns, size_t factor)
{
    float *v = calloc(rows * columns, sizeof *v);
    for (size_t i = 0; v && i < rows * columns; i++)
        v[i] = (float)(i * factor % 1000) / 1000;
    return v;
}

static int make(work *w, size_t n)
{
    w->n = n;
    w->a = numbers(n, n, 7919);
    w->b = numbers(n, PANEL, 40503);
    w->c = numbers(n, PANEL, 0);
    w->d = numbers(n, PANEL, 0);
    return w->a && w->b && w->c && w->d ? 0 : -1;
}

static int run_mode(const char *mode, const char *dir, size_t n, long iterations, bool annotated)
{
    vp_device_id device = vp_device_add(VP_CAPTURE_CUSTOM, 0, "one core");
    work w = {.stream = vp_track_add(device, "Stream #0(compute)"), .annotated = annotated};
    int rc = make(&w, n) < 0 ? 1 : record(&w, dir, mode, iterations);
    free(w.a);
    free(w.b);
    free(w.c);
    free(w.d);
    return rc;
}

int main(int argc, char **argv)
{
    const char *dir = "profiles/comprehensive_profile", *mode = "all";
    long size = 2000, small = 1024, iterations = 3;
    const option_spec options[] = {{"--size", NULL, &size, "rows of the matrices"},
                                   {"--small-size", NULL, &small, "the same of mode small"},
                                   {"--iterations", NULL, &iterations, "steps a profile"},
                                   {"--output-dir", &dir, NULL, "where profiles go"},
                                   {"--mode", &mode, NULL, "all, annotated, simple or small"},
                                   {NULL, NULL, NULL, NULL}};
    int rc = options_parse(options, argc, argv);
    if (rc)
        return rc == 1 ? 0 : rc;
    bool all = !strcmp(mode, "all"), annotated = !strcmp(mode, "annotated");
    bool simple = !strcmp(mode, "simple"), little = !strcmp(mode, "small");
    if (size < 1 || small < 1 || iterations < 1 || !(all || annotated || simple || little)) {
        fprintf(stderr, "%s: no such mode, or nothing to do; see --help\n", mode);
        return 2;
    }
    if (all || annotated)
        rc |= run_mode("annotated", dir, (size_t)size, iterations, true);
    if (all || simple)
        rc |= run_mode("simple", dir, (size_t)size, iterations, false);
    if (all || little)
        rc |= run_mode("small", dir, (size_t)small, iterations, true);
    return rc;
}
