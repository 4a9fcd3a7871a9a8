/* trace/analyze/launch (docs/reference/metrics.md#launches) by hand and on real files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/trace_maker.h"
#include "trace/analyze/result/order_statistics.h"

#define US INT64_C(1000000)

typedef struct gpu {
    trace *t;
    uint32_t host, stream, other;
} gpu;

static gpu make_gpu(void)
{
    gpu g = {.t = tm_new()};
    uint32_t host = tm_process(g.t, SINK_PROCESS_HOST, "python", 1);
    uint32_t device = tm_process(g.t, SINK_PROCESS_GPU, "GPU 0", 0);
    g.host = tm_track(g.t, host, "main", SINK_ROLE_PLAIN);
    g.stream = tm_track(g.t, device, "stream 7", SINK_ROLE_OPS);
    g.other = tm_track(g.t, device, "stream 8", SINK_ROLE_OPS);
    return g;
}

/* Calls at 0, 10, 20, 30 us, each 4 us; their ops start at 5, 15, 50, 160 us.
 * Delays after the calls' ends: 1, 1, 26, 126. In the queue right after each launch: 1; 1 (the
 * first has started); 1; 2 (50 and 160 are still to come). Mean 5/4. */
static void launches_are_followed(void **state)
{
    gpu g = make_gpu();
    host_result h;
    (void)state;
    for (int64_t i = 0; i < 4; i++)
        tm_linked(g.t, g.host, "cudaLaunchKernel", i * 10 * US, (i * 10 + 4) * US, 100 + i);
    tm_linked(g.t, g.stream, "k", 5 * US, 8 * US, 100);
    tm_linked(g.t, g.stream, "k", 15 * US, 18 * US, 101);
    tm_linked(g.t, g.other, "k", 50 * US, 62 * US, 102);
    tm_linked(g.t, g.stream, "k", 160 * US, 170 * US, 103);
    tm_linked(g.t, g.stream, "ncclAllReduce", 171 * US, 172 * US, 7); /* no such call */
    tm_put(g.t, g.stream, "Memcpy HtoD", 173 * US, 174 * US);         /* no correlation */
    tm_analyze(&h, g.t);
    const vp_launch *l = &h.devices[0].launch;
    assert_int_equal(l->calls, 4);
    assert_int_equal(l->linked_ops, 4);
    assert_int_equal(l->unlinked_ops, 2);
    assert_int_equal(l->kernels, 4);
    assert_int_equal(l->kernel_p50_ps, 3 * US);
    assert_int_equal(l->short_kernels, 2); /* 10 us is not below 10 us */
    assert_int_equal(l->short_ps, 6 * US);
    assert_int_equal(l->call_p50_ps, 4 * US);
    assert_int_equal(l->call_p95_ps, 4 * US);
    assert_int_equal(l->delay_p50_ps, 1 * US);
    assert_int_equal(l->delay_p95_ps, 126 * US);
    assert_int_equal(l->late_launches, 1);
    assert_int_equal(l->queue_max, 2);
    assert_int_equal(l->queue_mean_milli, 1250);
    assert_int_equal(l->graph_launches, 0);
    tm_free(&h, g.t);
}

/* One call launches three ops; clock skew that puts an op before its call counts as no delay and
 * leaves the queue at what is really open. */
static void graphs_and_skew(void **state)
{
    gpu g = make_gpu();
    host_result h;
    (void)state;
    tm_linked(g.t, g.host, "cudaGraphLaunch", 10, 20, 5);
    tm_linked(g.t, g.host, "cudaLaunchKernel", 100, 110, 6);
    tm_linked(g.t, g.stream, "a", 30, 40, 5);
    tm_linked(g.t, g.stream, "b", 40, 50, 5);
    tm_linked(g.t, g.stream, "c", 50, 60, 5);
    tm_linked(g.t, g.stream, "d", 95, 99, 6);
    tm_analyze(&h, g.t);
    const vp_launch *l = &h.devices[0].launch;
    assert_int_equal(l->calls, 2);
    assert_int_equal(l->linked_ops, 4);
    assert_int_equal(l->graph_launches, 1);
    assert_int_equal(l->delay_p50_ps, 10);
    assert_int_equal(l->delay_p95_ps, 30);
    assert_int_equal(l->queue_max, 3);
    assert_int_equal(l->queue_mean_milli, 1500); /* after each: 1, 2, 3, then 4 - 4 */
    tm_free(&h, g.t);
}

/* Without correlations nothing is known of launches, but kernels are kernels. */
static void tpus_have_no_launches(void **state)
{
    host_result h;
    trace *t = tm_new();
    (void)state;
    uint32_t device = tm_process(t, SINK_PROCESS_TPU, "/device:TPU:0", 0);
    tm_put(t, tm_track(t, device, "XLA Ops", SINK_ROLE_OPS), "fusion", 0, 9 * US);
    tm_analyze(&h, t);
    const vp_launch *l = &h.devices[0].launch;
    assert_int_equal(l->calls, VP_UNKNOWN);
    assert_int_equal(l->unlinked_ops, VP_UNKNOWN);
    assert_int_equal(l->delay_p95_ps, VP_UNKNOWN);
    assert_int_equal(l->queue_mean_milli, VP_UNKNOWN);
    assert_int_equal(l->kernels, 1);
    assert_int_equal(l->kernel_p50_ps, 9 * US);
    tm_free(&h, t);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Any number of runs, from one to one an element. */
static void runs_are_merged(void **state)
{
    enum { N = 500 };
    int64_t v[N], want[N];
    unsigned seed = 3;
    (void)state;
    for (int run = 1; run <= N; run += 1 + run / 3)
        for (size_t n = 0; n <= N; n += 1 + n / 4) {
            for (size_t i = 0; i < n; i++)
                v[i] = want[i] =
                    i % (size_t)run ? v[i - 1] + rand_r(&seed) % 3 : rand_r(&seed) % 1000 - 500;
            qsort(want, n, sizeof *want, by_value);
            assert_int_equal(sort_runs(v, n), 0);
            assert_memory_equal(v, want, n * sizeof *v);
        }
}

/* Figures by an independent script over the JSON: 15,632 ops of which 15,018 name a call that is
 * there; 9,876 kernels of which 64 are NCCL's; 4,467 compute kernels below 10 us (8,938 with 3,619
 * copies and 852 memsets; docs/reference/metrics.md#sample-profiles). */
static void real_hta(void **state)
{
    host_result h;
    (void)state;
    tm_real(&h, HTA_TEST);
    const vp_launch *l = &h.devices[0].launch;
    assert_int_equal(l->linked_ops, 15018);
    assert_int_equal(l->unlinked_ops, 614);
    assert_int_equal(l->kernels, 9812);
    assert_int_equal(l->short_kernels, 4467);
    host_result_free(&h);
}

static void real_resnet50(void **state)
{
    host_result h;
    (void)state;
    tm_real(&h, RESNET50);
    const vp_launch *l = &h.devices[0].launch;
    assert_int_equal(l->linked_ops, 9096);
    assert_int_equal(l->unlinked_ops, 0);
    assert_int_equal(l->calls, 9096);
    host_result_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_are_followed),
        cmocka_unit_test(graphs_and_skew),
        cmocka_unit_test(tpus_have_no_launches),
        cmocka_unit_test(runs_are_merged),
        cmocka_unit_test(real_hta),
        cmocka_unit_test(real_resnet50),
    };
    return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
