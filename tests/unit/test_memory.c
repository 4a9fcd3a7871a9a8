/* trace/analyze/memory: curves by hand, and XProf's figures of real files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/trace_maker.h"

static void event(trace *t, uint32_t track, int64_t at, sink_attr a, int64_t v, int64_t device)
{
    sink_extra x = {0};
    sink_extra_set(&x, a, v);
    if (device != SINK_NO_VALUE)
        sink_extra_set(&x, SINK_MEM_DEVICE, device);
    tm_event(t, track, tm_plain("[memory]"), at, at, &x);
}

/* Only differences: −3 means that at least 3 were held before. Levels 0 −3 7 4 → lifted 3 0 10 7.
 */
static void differences_are_lifted_to_zero(void **state)
{
    trace *t = tm_new();
    host_result h;
    uint32_t host = tm_process(t, SINK_PROCESS_HOST, "python", 1);
    uint32_t track = tm_track(t, host, "[memory]", SINK_ROLE_PLAIN);
    (void)state;
    event(t, track, 10, SINK_MEM_DELTA, -3, 0);
    event(t, track, 20, SINK_MEM_DELTA, 10, 0);
    event(t, track, 25, SINK_MEM_DELTA, 5, -1);
    event(t, track, 30, SINK_MEM_DELTA, -3, 0);
    tm_analyze(&h, t);
    assert_int_equal(h.memory_count, 2);
    const vp_memory *m = &h.memory[0];
    assert_string_equal(m->allocator, "GPU 0");
    assert_int_equal(m->peak_bytes, 10);
    assert_int_equal(m->peak_start_ps, 20);
    assert_int_equal(m->end_bytes, 7);
    assert_int_equal(m->allocations, 1);
    assert_int_equal(m->frees, 2);
    assert_int_equal(m->total_bytes, VP_UNKNOWN);
    assert_int_equal(m->sample_count, 3);
    assert_int_equal(m->sample_bytes[0], 0);
    assert_int_equal(m->sample_bytes[1], 10);
    assert_string_equal(h.memory[1].allocator, "CPU");
    assert_int_equal(h.memory[1].peak_bytes, 5);
    tm_free(&h, t);
}

/* 10,000 events rising to 5,000 and falling: at most 200 points, the highest of each slice. */
static void curves_keep_their_peaks(void **state)
{
    trace *t = tm_new();
    host_result h;
    uint32_t host = tm_process(t, SINK_PROCESS_HOST, "python", 1);
    uint32_t track = tm_track(t, host, "GPU_4_bfc", SINK_ROLE_PLAIN);
    bool peak = false;
    (void)state;
    for (int64_t i = 0; i < 10000; i++)
        event(t, track, i * 10, SINK_MEM_USED, i < 5000 ? i : 10000 - i, 4);
    tm_analyze(&h, t);
    const vp_memory *m = &h.memory[0];
    assert_string_equal(m->allocator, "GPU_4_bfc");
    assert_int_equal(m->peak_bytes, 5000);
    assert_int_equal(m->peak_start_ps, 50000);
    assert_true(m->sample_count <= 200 && m->sample_count > 150);
    for (size_t i = 0; i < m->sample_count; i++) {
        peak = peak || m->sample_bytes[i] == 5000;
        assert_true(!i || m->sample_start_ps[i] > m->sample_start_ps[i - 1]);
    }
    assert_true(peak);
    tm_free(&h, t);
}

/* expected/jax_cpu/xprof: peakStats.peakBytesInUse, memoryCapacity, allocations and their ends. */
static void tpu_counts_its_stack(void **state)
{
    static const int64_t peak[4] = {21492569216, 21492671104, 21492671104, 21492569216};
    host_result h;
    (void)state;
    tm_real(&h, V2_TPU);
    assert_int_equal(h.memory_count, 4);
    for (size_t i = 0; i < 4; i++) {
        const vp_memory *m = &h.memory[i];
        int device = m->allocator[strlen(m->allocator) - 1] - '0';
        assert_int_equal(m->peak_bytes, peak[device]);
        assert_int_equal(m->total_bytes, 33550237696);
        assert_int_equal(m->allocations + m->frees, device ? 224 : 234);
        assert_true(m->top_count >= 2);
        assert_string_equal(m->top[0].name, "stack");
        assert_int_equal(m->top[0].bytes, 21491712000);
    }
    host_result_free(&h);
}

static void cuda_agrees_with_xprof(void **state)
{
    host_result h;
    (void)state;
    tm_real(&h, "xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile/"
                "2025_02_05_11_05_24/cyclops.xplane.pb");
    assert_int_equal(h.memory_count, 2);
    assert_string_equal(h.memory[0].allocator, "GPU_0_bfc");
    assert_int_equal(h.memory[0].peak_bytes, 11264);
    assert_int_equal(h.memory[0].total_bytes, 8780660736);
    assert_string_equal(h.memory[1].allocator, "GPU_1_bfc");
    assert_int_equal(h.memory[1].peak_bytes, 8192);
    host_result_free(&h);
}

/* expected/jax_cpu/memory_prof.tsv: 3145728 + 1048576 bytes of weights, 200704 of the batch; three
 * executables hold nothing. */
static void snapshots_say_who_holds_what(void **state)
{
    char path[4096];
    vp_catalog *c;
    const vp_session *s;
    vp_report *r;
    (void)state;
    traces_path(path, sizeof path, "jax_cpu/memory");
    assert_int_equal(vp_catalog_open(&c, path), 0);
    assert_int_equal(vp_catalog_latest(&s, c), 0);
    assert_int_equal(vp_report_make(&r, c, s, NULL), 0);
    assert_int_equal(r->memory_count, 1);
    const vp_memory *m = &r->memory[0];
    assert_string_equal(m->allocator, "memory.prof cpu:0");
    assert_int_equal(m->peak_bytes, 3145728 + 1048576 + 200704);
    assert_int_equal(m->allocations, VP_UNKNOWN);
    assert_int_equal(m->top_count, 2);
    assert_int_equal(m->top[0].bytes, 3145728 + 1048576);
    assert_int_equal(m->top[0].count, 4);
    assert_string_equal(m->top[0].name, "allocate_weights");
    assert_non_null(strstr(m->top[0].source, ".py:"));
    assert_int_equal(r->steps.median_ps, VP_UNKNOWN);
    assert_int_equal(r->balance.wait_ps, VP_UNKNOWN);
    vp_report_free(r);
    vp_catalog_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_lifted_to_zero), cmocka_unit_test(curves_keep_their_peaks),
        cmocka_unit_test(tpu_counts_its_stack),           cmocka_unit_test(cuda_agrees_with_xprof),
        cmocka_unit_test(snapshots_say_who_holds_what),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
