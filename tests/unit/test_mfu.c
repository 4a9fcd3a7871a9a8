/* trace/analyze/mfu: the waterfall's algebra and its goldens
 * (docs/reference/memory-and-mfu.md#waterfall-examples), and the table of peaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/trace_maker.h"
#include "trace/analyze/mfu/peaks.h"
#include "trace/analyze/mfu/waterfall.h"

#define US INT64_C(1000000)

static void wish(const peak_wish *w, trace *t, host_result *h)
{
    t->capture_start_ps = 0;
    t->capture_end_ps = 1000 * US;
    assert_int_equal(trace_seal(t), 0);
    host_result_init(h);
    h->wish = *w;
    assert_int_equal(host_analyze(h, t, VP_GROUP_NAME, VP_DEPTH_FULL), 0);
}

static void put(trace *t, uint32_t track, const char *name, const char *category, int64_t flops,
                int64_t bytes, int64_t start, int64_t end)
{
    sink_kind k = tm_plain(name);
    k.category = vp_str_of(category);
    k.flops = flops;
    k.bytes = bytes;
    tm_event(t, track, k, start * US, end * US, NULL);
}

static int64_t sum_of(const int64_t cells[VP_CELLS])
{
    int64_t sum = 0;
    for (size_t i = 0; i < VP_CELLS; i++)
        sum += cells[i];
    return sum;
}

/* f32 in three passes takes a third of the peak, and its padding too. */
static void passes_and_padding(void **state)
{
    bool over = false;
    (void)state;
    op_cost c = {.what = COST_PRODUCT, .flops = 1000000, .padded = 1500000, .passes = 3};
    op_price p = price_of(&c, 100, 0, &over);
    assert_int_equal(p.compute_ps, 30000000);
    assert_int_equal(p.pad_ps, 15000000);
    int64_t cells[VP_CELLS] = {0};
    cells_add(cells, &p, 40000000);
    assert_int_equal(cells[VP_CELL_USEFUL], 30000000);
    assert_int_equal(cells[VP_CELL_PAD], 10000000);
    assert_int_equal(sum_of(cells), 40000000);
    c.passes = 0;
    assert_int_equal(price_of(&c, 100, 0, &over).compute_ps, 10000000);
    assert_false(over);
}

/* The golden of F4: P 100000 GFLOP/s, Q 1000000 MB/s. */
static trace *tiny(void)
{
    trace *t = tm_new();
    uint32_t device = tm_process(t, SINK_PROCESS_TPU, "/device:TPU:0", 0);
    uint32_t a = tm_track(t, device, "XLA Ops", SINK_ROLE_OPS);
    uint32_t b = tm_track(t, device, "other", SINK_ROLE_OPS);
    put(t, a, "m1", "convolution fusion", 30000000000, 100000000, 0, 400);
    put(t, a, "m2", "convolution fusion", 2000000000, 90000000, 400, 500);
    put(t, a, "f", "loop fusion", 5, 40000000, 500, 560);
    put(t, a, "c", "custom-call", -1, -1, 560, 600);
    put(t, b, "r", "all-reduce", -1, -1, 580, 700);
    put(t, a, "x", "copy-start", -1, -1, 700, 730);
    put(t, a, "m3", "convolution fusion", 12000000000, 0, 900, 1000);
    return t;
}

static void tiny_is_as_computed_by_hand(void **state)
{
    static const int64_t want[VP_CELLS] = {
        [VP_CELL_USEFUL] = 420 * US,       [VP_CELL_MEM_EXCESS] = 70 * US,
        [VP_CELL_INEFFICIENCY] = 110 * US, [VP_CELL_NM_MEMORY] = 40 * US,
        [VP_CELL_NM_EXCESS] = 20 * US,     [VP_CELL_UNKNOWN] = 40 * US};
    host_result h;
    trace *t = tiny();
    (void)state;
    wish(&(peak_wish){.gflops = 100000, .mb_s = 1000000}, t, &h);
    const vp_device *d = &h.devices[0];
    assert_memory_equal(d->mfu.cell_ps, want, sizeof want);
    assert_int_equal(d->breakdown.window_ps, 1000 * US);
    assert_int_equal(d->breakdown.exposed_comm_ps, 100 * US);
    assert_int_equal(d->breakdown.exposed_copy_ps, 30 * US);
    assert_int_equal(d->breakdown.idle_ps, 170 * US);
    assert_int_equal(d->mfu.peak_ps, 440 * US);
    assert_int_equal(d->mfu.above_ops, 1);
    assert_int_equal(d->mfu.above_ps, 20 * US);
    assert_int_equal(d->mfu.flops, 44000000000);
    assert_int_equal(d->mfu.peak_source, VP_PEAK_USER);
    tm_free(&h, t);
}

static void without_a_peak_all_is_unknown(void **state)
{
    host_result h;
    trace *t = tiny();
    (void)state;
    wish(&(peak_wish){0}, t, &h);
    assert_int_equal(h.devices[0].mfu.cell_ps[VP_CELL_UNKNOWN], 700 * US);
    assert_int_equal(h.devices[0].mfu.peak_gflops, VP_UNKNOWN);
    assert_int_equal(h.devices[0].mfu.flops, 44000000000);
    tm_free(&h, t);
}

static void ops_and_scopes_have_the_devices_cells(void **state)
{
    host_result h;
    trace *t = tiny();
    (void)state;
    wish(&(peak_wish){.gflops = 100000, .mb_s = 1000000}, t, &h);
    int64_t ops[VP_CELLS] = {0};
    for (size_t i = 0; i < h.op_count; i++)
        for (size_t c = 0; c < VP_CELLS; c++)
            ops[c] += h.ops[i].roof.cell_ps[c];
    assert_memory_equal(ops, h.devices[0].mfu.cell_ps, sizeof ops);
    tm_free(&h, t);
}

static void work_done_again_is_recompute(void **state)
{
    host_result h;
    trace *t = tm_new();
    uint32_t device = tm_process(t, SINK_PROCESS_TPU, "/device:TPU:0", 0);
    uint32_t a = tm_track(t, device, "XLA Ops", SINK_ROLE_OPS);
    (void)state;
    put(t, a, "fusion.3.remat2", "convolution fusion", 1000000000, 0, 0, 100);
    put(t, a, "fusion.3", "convolution fusion", 1000000000, 0, 100, 200);
    wish(&(peak_wish){.gflops = 100000, .mb_s = 1000000}, t, &h);
    const vp_mfu *m = &h.devices[0].mfu;
    assert_int_equal(m->cell_ps[VP_CELL_RECOMPUTE], 10 * US);
    assert_int_equal(m->cell_ps[VP_CELL_USEFUL], 10 * US);
    assert_int_equal(m->flops, 1000000000);
    assert_int_equal(m->recompute_flops, 1000000000);
    tm_free(&h, t);
}

/* A loop's own cost is that of what is in it; it owns what nothing in it covers. */
static void a_loop_costs_nothing(void **state)
{
    host_result h;
    trace *t = tm_new();
    uint32_t device = tm_process(t, SINK_PROCESS_TPU, "/device:TPU:0", 0);
    uint32_t a = tm_track(t, device, "XLA Ops", SINK_ROLE_OPS);
    (void)state;
    put(t, a, "while", "while", 99000000000, 9900000, 0, 100);
    put(t, a, "m", "convolution fusion", 1000000000, 0, 10, 30);
    put(t, a, "r", "all-reduce", -1, -1, 50, 60);
    wish(&(peak_wish){.gflops = 100000, .mb_s = 1000000}, t, &h);
    const vp_device *d = &h.devices[0];
    assert_int_equal(d->mfu.cell_ps[VP_CELL_USEFUL], 10 * US);
    assert_int_equal(d->mfu.cell_ps[VP_CELL_INEFFICIENCY], 10 * US);
    assert_int_equal(d->mfu.cell_ps[VP_CELL_NM_EXCESS], 70 * US);
    assert_int_equal(d->breakdown.exposed_comm_ps, 10 * US);
    assert_int_equal(sum_of(d->mfu.cell_ps), d->breakdown.compute_ps);
    tm_free(&h, t);
}

static void cells_sum_to_the_time_whatever_costs_are(void **state)
{
    static const int64_t odd[] = {0, 1, 999, US, INT64_C(1) << 40, INT64_MAX};
    const size_t n = sizeof odd / sizeof *odd;
    (void)state;
    for (size_t i = 0; i < n * n * n * n; i++) {
        bool over = false;
        op_cost c = {.what = (uint8_t)(i % 3),
                     .flops = odd[i % n],
                     .padded = odd[i / n % n],
                     .bytes = odd[i / n / n % n],
                     .remat = i % 2};
        op_price p = price_of(&c, odd[i / n / n / n], odd[(i + 1) % n], &over);
        int64_t cells[VP_CELLS] = {0}, t = odd[(i + 3) % (n - 1)];
        cells_add(cells, &p, t);
        assert_int_equal(sum_of(cells), t);
        for (size_t k = 0; k < VP_CELLS; k++)
            assert_true(cells[k] >= 0);
        p = price_part(&p, 1, 3);
        assert_true(p.compute_ps >= 0 && p.pad_ps >= 0 && p.memory_ps >= 0);
    }
}

static void a_step_has_its_part(void **state)
{
    op_price p = {COST_PRODUCT, false, 90, 30, 300};
    (void)state;
    op_price third = price_part(&p, 5, 15);
    assert_int_equal(third.compute_ps, 30);
    assert_int_equal(third.pad_ps, 10);
    assert_int_equal(third.memory_ps, 100);
}

/* FLOP of 2^63 - 1 an op: said, and nothing else lost. */
static void costs_beyond_reason_are_said(void **state)
{
    host_result h;
    trace *t = tm_new();
    uint32_t device = tm_process(t, SINK_PROCESS_TPU, "/device:TPU:0", 0);
    uint32_t a = tm_track(t, device, "XLA Ops", SINK_ROLE_OPS);
    bool said = false;
    (void)state;
    for (int i = 0; i < 20; i++)
        put(t, a, "m", "convolution fusion", INT64_MAX, INT64_MAX, 10 * i, 10 * i + 10);
    wish(&(peak_wish){.gflops = 1, .mb_s = 1}, t, &h);
    assert_int_equal(sum_of(h.devices[0].mfu.cell_ps), 200 * US);
    for (size_t i = 0; i < h.quality_count; i++)
        said = said || !strcmp(h.quality[i].code, "cost-overflow");
    assert_true(said);
    tm_free(&h, t);
}

/* Names, and what their profiles call devices. */
static void the_row_of_a_name(void **state)
{
    static const struct {
        const char *model, *chip;
    } known[] = {{"TPU v6 Lite", "TPU v6e"},
                 {"TPU v5 lite", "TPU v5e"},
                 {"TPU v5", "TPU v5p"},
                 {"TPU v4", "TPU v4"},
                 {"NVIDIA H100 80GB HBM3", "H100 SXM"},
                 {"NVIDIA H100 PCIe", "H100 PCIe"},
                 {"NVIDIA H100 NVL", "H100 NVL"},
                 {"NVIDIA H100", "H100"},
                 {"NVIDIA H200", "H200"},
                 {"NVIDIA B200", "B200"},
                 {"NVIDIA B300 SXM6 AC", "B300"},
                 {"NVIDIA A100-SXM4-40GB", "A100 40GB"},
                 {"NVIDIA A100-SXM4-80GB", "A100 80GB"},
                 {"NVIDIA A100 80GB PCIe", "A100 PCIe 80GB"},
                 {"Tesla V100-SXM2-16GB", "V100"},
                 {"Tesla V100-SXM2-32GB", "V100 32GB"},
                 {"Tesla V100-DGXS-32GB", "V100 32GB"},
                 {"Tesla T4", "T4"},
                 {"NVIDIA L4", "L4"},
                 {"NVIDIA L40S", "L40S"},
                 {"NVIDIA GeForce RTX 4090", "RTX 4090"},
                 {"AMD Instinct MI300X VF", "MI300X"},
                 {"AMD Instinct MI355X", "MI355X"},
                 {"AMD Instinct MI210", "MI210"},
                 {"NVIDIA GeForce GTX 1080 Ti", NULL},
                 {"", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        peaks p;
        peaks_choose(&p, vp_str_of(known[i].model), &(sink_chip){0}, &(peak_wish){0});
        if (!known[i].chip)
            assert_null(p.chip);
        else
            assert_string_equal(p.chip, known[i].chip);
        assert_int_equal(p.source, known[i].chip ? VP_PEAK_NAME : VP_PEAK_NONE);
    }
}

static void who_says_what_a_device_can_do(void **state)
{
    const sink_chip mi300x = {.mb_s = 2662400,
                              .cores = 304,
                              .khz = 2100000,
                              .memory_bytes = 206141652992,
                              .major = 9,
                              .minor = 4};
    const sink_chip v6e = {.gflops = 918000, .mb_s = 1637993};
    const sink_chip gtx = {.mb_s = 484440,
                           .cores = 28,
                           .khz = 1582000,
                           .memory_bytes = 11713708032,
                           .major = 6,
                           .minor = 1};
    peaks p;
    (void)state;
    peaks_choose(&p, VP_STR_NONE, &mi300x, &(peak_wish){0}); /* half its bandwidth is told */
    assert_int_equal(p.source, VP_PEAK_FIGURES);
    assert_int_equal(p.mb_s, 5325000);
    assert_int_equal(peaks_of(&p, VP_DTYPE_BF16), 1307400);
    peaks_choose(&p, VP_STR("TPU v6 Lite"), &v6e, &(peak_wish){0});
    assert_int_equal(p.source, VP_PEAK_PLANE);
    assert_int_equal(p.bandwidth_source, VP_PEAK_PLANE);
    assert_int_equal(p.mb_s, 1637993);
    assert_int_equal(peaks_of(&p, VP_DTYPE_F32), 918000); /* done as bf16 */
    assert_int_equal(peaks_of(&p, VP_DTYPE_I8), 1836000);
    peaks_choose(&p, VP_STR("NVIDIA GeForce GTX 1080 Ti"), &gtx, &(peak_wish){0});
    assert_int_equal(p.source, VP_PEAK_DERIVED);
    assert_int_equal(peaks_of(&p, VP_DTYPE_F32), 11339);
    assert_int_equal(p.mb_s, 484440);
    peaks_choose(&p, VP_STR_NONE, &v6e, &(peak_wish){.chip = "h100 sxm", .mb_s = 3000000});
    assert_int_equal(p.source, VP_PEAK_CHIP);
    assert_int_equal(peaks_of(&p, VP_DTYPE_TF32), 494700);
    assert_int_equal(p.mb_s, 3000000);
    assert_int_equal(p.bandwidth_source, VP_PEAK_USER);
    assert_true(peaks_know("NVIDIA H200") && peaks_know("TPU7x") && !peaks_know("abacus"));
    peaks_choose(&p, VP_STR_NONE, &(sink_chip){.cores = INT64_MAX, .khz = INT64_MAX, .major = 9},
                 &(peak_wish){0});
    assert_int_equal(p.source, VP_PEAK_NONE);
}

static void the_tpu_run(void **state)
{
    host_result h;
    (void)state;
    tm_real(&h, V2_TPU);
    assert_int_equal(h.devices[0].mfu.cell_ps[VP_CELL_NM_MEMORY], 1969846135402);
    assert_int_equal(h.devices[0].mfu.cell_ps[VP_CELL_NM_EXCESS], 439298943348);
    assert_int_equal(h.devices[1].mfu.cell_ps[VP_CELL_NM_MEMORY], 1966568521200);
    assert_int_equal(h.devices[1].mfu.cell_ps[VP_CELL_NM_EXCESS], 437478411300);
    host_result_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_and_padding),
        cmocka_unit_test(tiny_is_as_computed_by_hand),
        cmocka_unit_test(without_a_peak_all_is_unknown),
        cmocka_unit_test(ops_and_scopes_have_the_devices_cells),
        cmocka_unit_test(work_done_again_is_recompute),
        cmocka_unit_test(a_loop_costs_nothing),
        cmocka_unit_test(cells_sum_to_the_time_whatever_costs_are),
        cmocka_unit_test(a_step_has_its_part),
        cmocka_unit_test(costs_beyond_reason_are_said),
        cmocka_unit_test(the_row_of_a_name),
        cmocka_unit_test(who_says_what_a_device_can_do),
        cmocka_unit_test(the_tpu_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
