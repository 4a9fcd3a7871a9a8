/* What recording costs, beside reading the clock twice, which nothing that measures a duration can
 * undercut, and beside the same loop with nothing in it. Thread CPU time, the smallest of many
 * rounds, cases in turn: neighbours on the machine then count in none. Prints a table and one line
 * of JSON. Usage: bench_capture [ROUNDS] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/bench/capture_loops.h"

#define LOOPS 100000
#define CASES_MAX 32

static void nothing(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        keep(i);
}

static void two_clock_gettime(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t a = vp__clock_ns();
        keep(i);
        keep(vp__clock_ns() - a);
    }
}

static void zone(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        VP_SCOPE("zone");
        keep(i);
    }
}

static void four_nested(uint32_t n)
{
    for (uint32_t i = 0; i < n; i += 4) {
        VP_SCOPE("one");
        VP_SCOPE("two");
        VP_SCOPE("three");
        VP_SCOPE("four");
        keep(i);
    }
}

static void begin_end(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        VP_BEGIN("pair");
        keep(i);
        VP_END();
    }
}

static void zone_with_arg(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        VP_SCOPE_ARGS("with arg", VP_I64("bytes", i));
        keep(i);
    }
}

static void zone_with_three(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        VP_SCOPE_ARGS("with three", VP_I64("bytes", i), VP_F64("share", 0.5), VP_I64("rank", 3));
        keep(i);
    }
}

static void zone_with_text(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        VP_SCOPE_ARGS("with text", VP_STR("what", "all-reduce of layer 12"));
        keep(i);
    }
}

static void counter(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        VP_COUNTER("counter", i);
}

static void step(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        VP_STEP("step", i);
        keep(i);
    }
}

typedef struct bench_case {
    const char *name;
    loop_fn *fn;
    bool on;
    double ns;
} bench_case;

static bench_case cases[] = {
    {"nothing", nothing, false, 1e9},
    {"two clock reads", two_clock_reads, false, 1e9},
    {"two clock_gettime", two_clock_gettime, false, 1e9},
    {"zone, off", zone, false, 1e9},
    {"begin and end, off", begin_end, false, 1e9},
    {"zone, on", zone, true, 1e9},
    {"four nested, each", four_nested, true, 1e9},
    {"begin and end, on", begin_end, true, 1e9},
    {"zone with an arg, on", zone_with_arg, true, 1e9},
    {"zone with three, on", zone_with_three, true, 1e9},
    {"zone with text, on", zone_with_text, true, 1e9},
    {"step, on", step, true, 1e9},
    {"counter, on", counter, true, 1e9},
};
#define CASES (sizeof cases / sizeof *cases)

static void must(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "bench_capture: %s: %s\n", what, vp_error_last()->message);
    exit(1);
}

static char dir[64] = "/tmp/bench_capture_XXXXXX";

static vp_recording *start(vp_capture_mode mode, size_t pool_bytes, bool in_memory)
{
    vp_config cfg = VP_CONFIG_INIT;
    vp_recording *r = NULL;
    cfg.dir = dir;
    cfg.mode = mode;
    cfg.pool_bytes = pool_bytes;
    cfg.in_memory = in_memory;
    cfg.export_now = true;
    must(vp_start(&r, &cfg), "start");
    return r;
}

static void run_cases(bool on, unsigned rounds)
{
    vp_recording *r = on ? start(VP_RING, (size_t)64 << 20, false) : NULL;
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = 0; i < CASES; i++) {
            /* clock reads are measured in both runs: the ratio is of one and the same minute */
            if (cases[i].on != on && i > 1)
                continue;
            double ns = time_loop(cases[i].fn, LOOPS);
            cases[i].ns = ns < cases[i].ns ? ns : cases[i].ns;
        }
    if (r)
        must(vp_stop(r, NULL), "stop");
}

static void *zones_on_a_thread(void *ctx)
{
    double *ns = ctx;
    *ns = 1e9;
    for (int i = 0; i < 40; i++) {
        double one = time_loop(zone, LOOPS);
        *ns = one < *ns ? one : *ns;
    }
    return NULL;
}

static double on_threads(int n)
{
    vp_recording *r = start(VP_RING, (size_t)64 << 20, false);
    pthread_t threads[8];
    double ns[8], worst = 0;
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, zones_on_a_thread, &ns[i]);
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        worst = ns[i] > worst ? ns[i] : worst;
    }
    must(vp_stop(r, NULL), "stop");
    return worst;
}

static double bytes_a_zone(void)
{
    size_t pool = (size_t)8 << 20;
    vp_recording *r = start(VP_KEEP_FIRST, pool, true);
    vp_result result = VP_RESULT_INIT;
    for (int i = 0; i < 7; i++)
        zone(LOOPS); /* 700,000 zones are more than fit */
    must(vp_stop(r, &result), "stop");
    return (double)pool / (double)result.zones;
}

static pthread_barrier_t all_alive;

static void *one_zone(void *ctx)
{
    zone(1);
    pthread_barrier_wait(&all_alive);
    return ctx;
}

/* Zones that a pool of 8 MiB could not take of 1,000 threads that live at once. */
static uint64_t thousand_threads(void)
{
    static pthread_t threads[1000];
    vp_recording *r = start(VP_KEEP_FIRST, (size_t)8 << 20, true);
    vp_result result = VP_RESULT_INIT;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 65536);
    pthread_barrier_init(&all_alive, NULL, 1000);
    for (int i = 0; i < 1000; i++)
        must(pthread_create(&threads[i], &attr, one_zone, NULL), "thread");
    for (int i = 0; i < 1000; i++)
        pthread_join(threads[i], NULL);
    must(vp_stop(r, &result), "stop");
    pthread_barrier_destroy(&all_alive);
    return 1000 - result.zones;
}

/* What vp_start takes with a pool of 256 MiB, in ms: wall, the smallest of some. */
static double start_ms(bool in_memory, unsigned rounds)
{
    double least = 1e9;
    for (unsigned i = 0; i < rounds; i++) {
        uint64_t before = vp__clock_ns();
        vp_recording *r = start(VP_RING, (size_t)256 << 20, in_memory);
        double ms = (double)(vp__clock_ns() - before) / 1e6;
        must(vp_stop(r, NULL), "stop");
        least = ms < least ? ms : least;
    }
    return least;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
    if (!mkdtemp(dir) || !rounds)
        return 2;
    double first = start_ms(false, 1);
    run_cases(false, rounds);
    run_cases(true, rounds);
    double one = on_threads(1), two = on_threads(2), bytes = bytes_a_zone();
    uint64_t missing = thousand_threads();
    double reads = cases[1].ns;
    printf("%-24s %8s %18s\n", "", "ns", "/ two clock reads");
    for (size_t i = 0; i < CASES; i++)
        printf("%-24s %8.2f %18.3f\n", cases[i].name, cases[i].ns, cases[i].ns / reads);
    printf("%-24s %8.2f\n%-24s %8.2f %18.3f of one\n", "zone on one thread", one,
           "zone on two threads", two, two / one);
    double file = start_ms(false, 10), memory = start_ms(true, 10);
    printf("vp_start, 256 MiB, ms: the process's first %.3f, later %.3f, in memory %.3f\n", first,
           file, memory);
    printf("bytes a zone %.3f; zones of 1,000 threads that 8 MiB did not hold: %llu\n", bytes,
           (unsigned long long)missing);
    printf("{\"two_clock_reads_ns\": %.2f", reads);
    for (size_t i = 0; i < CASES; i++)
        printf(", \"%s\": %.3f", cases[i].name, cases[i].ns);
    printf(", \"zone_ratio\": %.4f, \"two_threads_ratio\": %.4f, \"bytes_a_zone\": %.3f, "
           "\"missing_of_1000_threads\": %llu, "
           "\"start_256_mib_ms\": [%.3f, %.3f, %.3f]}\n",
           cases[5].ns / reads, two / one, bytes, (unsigned long long)missing, first, file, memory);
    return 0;
}
