/* Throughput of the clean-up stream over a plain JSON file, held in memory, in one thread: best of
 * five, beside merely reading the same chunks. Prints one JSON line. Not a test.
 *   bench_json_clean FILE */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "trace/base/mem.h"
#include "trace/export/export.h"

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END))
        return NULL;
    *n = (size_t)ftell(f);
    rewind(f);
    char *p = vp_malloc(*n);
    if (!p || fread(p, 1, *n, f) != *n)
        return NULL;
    fclose(f);
    return p;
}

typedef struct text {
    const char *p;
    size_t n;
} text;

static int open_text(void *ctx, rd_stream **out)
{
    const text *t = ctx;
    return rd_stream_memory(out, t->p, t->n, 0);
}

static double run(const char *data, size_t n, bool clean, size_t *out)
{
    rd_stream *s = NULL;
    char *p;
    size_t got;
    text t0 = {data, n};
    ex_input in = {open_text, &t0};
    double t = cpu_seconds();
    if ((clean ? ex_json_whole(&s, &in, NULL) : open_text(&t0, &s)) < 0)
        return -1;
    for (*out = 0; s->next(s, &p, &got) > 0;)
        *out += got;
    rd_stream_close(&s);
    return cpu_seconds() - t;
}

int main(int argc, char **argv)
{
    size_t n = 0, out = 0;
    char *data = argc == 2 ? slurp(argv[1], &n) : NULL;
    double best = 1e9, source = 1e9;
    struct rusage before, after;
    if (!data) {
        fprintf(stderr, "usage: bench_json_clean FILE\n");
        return 2;
    }
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < 5; i++) {
        double t = run(data, n, false, &out);
        source = t < source ? t : source;
        t = run(data, n, true, &out);
        best = t < best ? t : best;
    }
    getrusage(RUSAGE_SELF, &after);
    printf("{\"bench\":\"json_clean\",\"in_mb\":%.1f,\"out_mb\":%.1f,\"cpu_s\":%.3f,"
           "\"read_s\":%.3f,\"mb_per_s\":%.0f,\"added_rss_mb\":%.1f}\n",
           (double)n * 1e-6, (double)out * 1e-6, best, source, (double)n * 1e-6 / best,
           (double)(after.ru_maxrss - before.ru_maxrss) * 1e-3);
    vp_free(data);
    return 0;
}
