/* The JSON reader alone, on a real file. Usage:
 *   bench_json_reader FILE N     FILE's events N times in memory; CPU ns an event, GB/s */
#include <time.h>
#include <zlib.h>

#include "tests/unit/json_sink.h"
#include "trace/read/json/json_scan.h"

static char *slurp(const char *path, size_t *n)
{
    size_t cap = 1u << 20;
    char *p = malloc(cap);
    gzFile f = gzopen(path, "rb");
    *n = 0;
    for (int got = 1; f && got > 0; *n += (size_t)got) {
        if (cap - *n < (1u << 20))
            p = realloc(p, cap *= 2);
        got = gzread(f, p + *n, 1u << 20);
        if (got < 0)
            break;
    }
    if (f)
        gzclose(f);
    return p;
}

static int read_bytes(rec *r, const char *p, size_t n, bool device_only)
{
    rd_options opts = {.device_only = device_only};
    rd_stream *in;
    int rc = rd_stream_memory(&in, p, n, 0);
    if (rc < 0)
        return rc;
    rc = cj_read(&r->s, in, &opts);
    rd_stream_close(&in);
    return rc;
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int drop_events(sink *s, const sink_event *e, size_t n)
{
    (void)e;
    ((rec *)s)->event_n += n;
    return 0;
}

/* Head and tail of the file once, its events `times` times: [head "traceEvents": [][e,]*n [tail].
 */
static char *repeat(const char *p, size_t n, int times, size_t *out_n)
{
    const char *key = memmem(p, n, "\"traceEvents\"", 13);
    const char *open = key ? memchr(key, '[', n - (size_t)(key - p)) : p;
    const char *close = js_skip_backend(JS_PORTABLE)(open, p + n);
    size_t head = (size_t)(open + 1 - p), body = (size_t)(close - 1 - (open + 1));
    char *out = malloc(head + (body + 1) * (size_t)times + (n - head - body)), *d = out;
    memcpy(d, p, head);
    d += head;
    for (int i = 0; i < times; i++) {
        memcpy(d, open + 1, body);
        d += body;
        *d++ = ',';
    }
    memcpy(d - 1, close - 1, (size_t)(p + n - (close - 1)));
    *out_n = (size_t)(d - 1 - out) + (size_t)(p + n - (close - 1));
    return out;
}

/* What the stream costs alone (it copies): to be taken off. */
static double drain_s(const char *p, size_t n)
{
    rd_stream *in;
    char *chunk;
    size_t got;
    if (rd_stream_memory(&in, p, n, 0) < 0)
        return 0;
    double t = cpu_s();
    while (in->next(in, &chunk, &got) > 0)
        continue;
    t = cpu_s() - t;
    rd_stream_close(&in);
    return t;
}

static void speed(const char *path, int times)
{
    size_t n, big_n;
    char *p = slurp(path, &n);
    char *big = repeat(p, n, times, &big_n);
    for (int run = 0; run < 6; run++) {
        rec *r = rec_new();
        r->s.events = drop_events;
        double t = cpu_s();
        int rc = read_bytes(r, big, big_n, run & 1);
        t = cpu_s() - t - drain_s(big, big_n);
        double events = (double)(r->event_n + r->skipped);
        printf("{\"device_only\":%d,\"rc\":%d,\"bytes\":%zu,\"events\":%.0f,\"cpu_s\":%.3f,"
               "\"ns_per_event\":%.0f,\"gb_per_s\":%.2f}\n",
               run & 1, rc, big_n, events, t, t * 1e9 / events, (double)big_n / t / 1e9);
        rec_free(r);
    }
    free(big);
    free(p);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s FILE N\n", argv[0]);
        return 2;
    }
    speed(argv[1], atoi(argv[2]));
    return 0;
}
