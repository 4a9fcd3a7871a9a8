/* trace/analyze/transfers and direction (docs/reference/metrics.md#transfers): by hand, and on real
 * files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/trace_maker.h"
#include "trace/analyze/comm/direction.h"

static void names_say_the_direction(void **state)
{
    static const struct {
        const char *name;
        vp_direction way;
    } cases[] = {{"MemcpyH2D", VP_H2D},
                 {"MemcpyD2H", VP_D2H},
                 {"MemcpyD2D", VP_D2D},
                 {"MemcpyP2P", VP_P2P},
                 {"Memcpy HtoD (Pageable -> Device)", VP_H2D},
                 {"Memcpy DtoH (Device -> Pinned)", VP_D2H},
                 {"Memcpy DtoD (Device -> Device)", VP_D2D},
                 {"Memcpy PtoP (Device -> Device)", VP_P2P},
                 {"CopyHostToDevice", VP_H2D},
                 {"CopyDeviceToHost", VP_D2H},
                 {"CopyDeviceToDevice", VP_D2D},
                 {"MEMORY_COPY_HOST_TO_DEVICE", VP_H2D},
                 {"MEMORY_COPY_DEVICE_TO_HOST", VP_D2H},
                 {"hipMemcpyHtoDAsync", VP_H2D},
                 {"Memset (Device)", VP_MEMSET},
                 {"__amd_rocclr_fillBufferAligned.kd", VP_MEMSET},
                 {"__amd_rocclr_copyBuffer.kd", VP_OTHER_COPY},
                 {"infeed.3", VP_INFEED},
                 {"outfeed.3", VP_OUTFEED}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (direction_of_name(vp_str_of(cases[i].name)) != cases[i].way)
            fail_msg("%s", cases[i].name);
}

/* copy-start gives (destination, source, context); S(5) is the host's memory. */
static void memory_spaces_say_the_direction(void **state)
{
    static const struct {
        const char *hlo, *text;
        vp_direction way;
    } cases[] = {
        {"copy-start", "%c = (f32[2]{0}, f32[2]{0:S(5)}, u32[]{:S(2)}) copy-start(%p)", VP_H2D},
        {"copy-start", "%c = (f32[2]{0:S(5)}, f32[2]{0}, u32[]{:S(2)}) copy-start(%p)", VP_D2H},
        {"copy-start", "%c = (f32[2]{0:S(1)}, f32[2]{0}, u32[]{:S(2)}) copy-start(%p)", VP_D2D},
        {"copy-start", "%c = (f32[2]{0:S(5)}, f32[2]{0:S(5)}, u32[]) copy-start(%p)",
         VP_OTHER_COPY},
        {"copy-done", "%c = f32[2]{0} copy-done((f32[2]{0}, f32[2]{0:S(5)}, u32[]) %s)", VP_H2D},
        {"copy-done", "%c = f32[2]{0:S(5)} copy-done(%s)", VP_OTHER_COPY},
        {"copy-done", "", VP_OTHER_COPY},
        {"infeed", "", VP_INFEED},
        {"host send", "", VP_D2H},
        {"host recv-done", "", VP_H2D},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (direction_of_hlo(vp_str_of(cases[i].hlo), vp_str_of(cases[i].text), VP_STR_NONE) !=
            cases[i].way)
            fail_msg("%s: %s", cases[i].hlo, cases[i].text);
}

static void memory_may_be_pageable(void **state)
{
    (void)state;
    assert_int_equal(pageable_of(VP_STR("Memcpy HtoD (Pageable -> Device)"), VP_STR_NONE),
                     PAGEABLE_YES);
    assert_int_equal(pageable_of(VP_STR("Memcpy DtoH (Device -> Pinned)"), VP_STR_NONE),
                     PAGEABLE_NO);
    assert_int_equal(pageable_of(VP_STR("Memcpy HtoD (Host -> Device)"), VP_STR_NONE),
                     PAGEABLE_UNKNOWN);
    assert_int_equal(
        pageable_of(VP_STR("MemcpyH2D"), VP_STR("kind_src:pageable kind_dst:device size:64")),
        PAGEABLE_YES);
    assert_int_equal(
        pageable_of(VP_STR("MemcpyH2D"), VP_STR("kind_src:pinned kind_dst:device size:64")),
        PAGEABLE_NO);
    assert_int_equal(
        pageable_of(VP_STR("MemcpyH2D"), VP_STR("kind_src:unknown kind_dst:device size:64")),
        PAGEABLE_UNKNOWN);
}

static sink_kind copy(const char *name, int64_t bytes)
{
    sink_kind k = tm_plain(name);
    k.category = VP_STR("gpu_memcpy");
    k.bytes = bytes;
    return k;
}

/* H2D [10,30) and [25,45) on two streams; computing [0,20), communication [40,50): exposed is
 * [20,40), by both. D2H [60,60) takes no time and is counted. */
static void directions_add_up(void **state)
{
    trace *t = tm_new();
    host_result h;
    uint32_t gpu = tm_process(t, SINK_PROCESS_GPU, "GPU 0", 0);
    uint32_t a = tm_track(t, gpu, "stream 7", SINK_ROLE_OPS);
    uint32_t b = tm_track(t, gpu, "stream 8", SINK_ROLE_OPS);
    (void)state;
    tm_put(t, a, "mm", 0, 20);
    tm_event(t, a, copy("Memcpy HtoD (Pinned -> Device)", 64), 25, 45, NULL);
    tm_event(t, b, copy("Memcpy HtoD (Pageable -> Device)", 100), 10, 30, NULL);
    tm_put(t, b, "ncclDevKernel_AllReduce_Sum_f32", 40, 50);
    tm_event(t, b, copy("Memcpy DtoH (Device -> Pageable)", -1), 60, 60, NULL);
    tm_analyze(&h, t);
    assert_int_equal(h.transfer_count, 2);
    const vp_transfer *in = &h.transfers[0], *out = &h.transfers[1];
    assert_int_equal(in->direction, VP_H2D);
    assert_int_equal(in->count, 2);
    assert_int_equal(in->bytes, 164);
    assert_int_equal(in->total_ps, 40);
    assert_int_equal(in->busy_ps, 35);
    assert_int_equal(in->exposed_ps, 20);
    assert_int_equal(in->exposed_count, 2);
    assert_int_equal(in->pageable_count, 1);
    assert_int_equal(in->pageable_ps, 20);
    assert_int_equal(in->first_start_ps, 10);
    assert_int_equal(in->largest_start_ps, 10); /* of two as long the earlier */
    assert_int_equal(in->largest_bytes, 100);
    assert_false(in->host_only);
    assert_int_equal(out->direction, VP_D2H);
    assert_int_equal(out->bytes, VP_UNKNOWN);
    assert_int_equal(out->exposed_count, 0);
    tm_free(&h, t);
}

static void put_pair(trace *t, uint32_t track, int number, const int64_t start[2],
                     const int64_t done[2])
{
    char name[32], text[160];
    sink_kind k;
    snprintf(name, sizeof name, "copy-start.%d", number);
    snprintf(text, sizeof text,
             "%%copy-start.%d = (f32[2]{0}, f32[2]{0:S(5)}, u32[]{:S(2)}) copy-start(%%p)", number);
    k = tm_plain(name);
    k.opcode = VP_STR("copy-start");
    k.long_name = vp_str_of(text);
    tm_event(t, track, k, start[0], start[1], NULL);
    snprintf(name, sizeof name, "copy-done.%d", number);
    snprintf(text, sizeof text, "%%copy-done.%d = f32[2]{0} copy-done(%%copy-start.%d)", number,
             number);
    k = tm_plain(name);
    k.opcode = VP_STR("copy-done");
    k.long_name = vp_str_of(text);
    tm_event(t, track, k, done[0], done[1], NULL);
}

/* Starts [0,10), [10,20) and [80,90); the ends [40,50) and [60,70) of the first two come in their
 * order or crossed, the last is [85,100). Computing [5,15) and [45,65): of the union of blocks,
 * [0,20), [40,50), [60,70) and [80,100), 40 are exposed, whichever end belongs to which start. */
static void copies_may_cross(void **state)
{
    static const int64_t starts[3][2] = {{0, 10}, {10, 20}, {80, 90}},
                         ends[3][2] = {{40, 50}, {60, 70}, {85, 100}};
    (void)state;
    for (int crossed = 0; crossed < 2; crossed++) {
        trace *t = tm_new();
        host_result h;
        uint32_t tpu = tm_process(t, SINK_PROCESS_TPU, "/device:TPU:0", 0);
        uint32_t copies = tm_track(t, tpu, "XLA Ops", SINK_ROLE_OPS);
        uint32_t ops = tm_track(t, tpu, "XLA Ops of the other core", SINK_ROLE_OPS);
        put_pair(t, copies, 1, starts[0], ends[crossed]);
        put_pair(t, copies, 2, starts[1], ends[!crossed]);
        put_pair(t, copies, 3, starts[2], ends[2]);
        tm_put(t, ops, "fusion", 5, 15);
        tm_put(t, ops, "fusion", 45, 65);
        tm_analyze(&h, t);
        assert_int_equal(h.transfer_count, 1);
        const vp_transfer *x = &h.transfers[0];
        assert_int_equal(x->direction, VP_H2D);
        assert_int_equal(x->count, 3);
        assert_int_equal(x->total_ps, 65);
        assert_int_equal(x->busy_ps, 90);
        assert_int_equal(x->exposed_ps, 40);
        assert_int_equal(x->exposed_count, 3);
        tm_free(&h, t);
    }
}

/* Nested spans of one direction are one; exposed is what lies in idle times of all devices:
 * busy [0,100) and [150,200). */
static void cpu_transfers_are_host_spans(void **state)
{
    trace *t = tm_new();
    host_result h;
    uint32_t host = tm_process(t, SINK_PROCESS_HOST, "/host:CPU", -1);
    uint32_t cpu = tm_process(t, SINK_PROCESS_CPU, "/host:CPU:0", 0);
    uint32_t thread = tm_track(t, host, "python", SINK_ROLE_PLAIN);
    uint32_t ops = tm_track(t, cpu, "ops", SINK_ROLE_OPS);
    (void)state;
    tm_put(t, ops, "dot", 0, 100);
    tm_put(t, ops, "dot", 150, 200);
    tm_put(t, thread, "batched_device_put", 90, 130);
    tm_put(t, thread, "H2D Dispatch", 100, 120);
    tm_put(t, thread, "np.asarray(jax.Array)", 160, 180);
    tm_analyze(&h, t);
    assert_int_equal(h.transfer_count, 2);
    const vp_transfer *in = &h.transfers[0], *out = &h.transfers[1];
    assert_true(in->host_only && out->host_only);
    assert_int_equal(in->device, VP_NO_DEVICE);
    assert_int_equal(in->count, 1);
    assert_int_equal(in->busy_ps, 40);
    assert_int_equal(in->exposed_ps, 30);
    assert_int_equal(in->exposed_count, 1);
    assert_int_equal(out->direction, VP_D2H);
    assert_int_equal(out->exposed_ps, 0);
    assert_int_equal(out->bytes, VP_UNKNOWN);
    tm_free(&h, t);
}

/* docs/reference/metrics.md#sample-profiles: the copy-done of TPU:0 by direction, and with them
 * their copy-starts (550000 + 575000 + 591250 and 185000 + 166250 + 192500). 300 pairs of 5 GiB
 * each way. */
static void v2_offloads_both_ways(void **state)
{
    static const int64_t done[4][2] = {{57773261490000, 18236253981250},
                                       {57782902852500, 18236254841250},
                                       {57774489143750, 18236253108750},
                                       {57756373577500, 18237423067500}};
    host_result h;
    (void)state;
    tm_real(&h, V2_TPU);
    assert_int_equal(h.transfer_count, 8);
    for (size_t i = 0; i < 8; i++) {
        const vp_transfer *x = &h.transfers[i];
        assert_int_equal(x->device, i / 2);
        assert_int_equal(x->direction, i % 2 ? VP_D2H : VP_H2D);
        assert_int_equal(x->count, 300);
        assert_int_equal(x->exposed_count, 300);
        assert_int_equal(x->bytes, 300 * INT64_C(5368709120));
        assert_int_equal(x->exposed_ps, x->total_ps); /* nothing runs beside the op line */
        assert_true(x->total_ps > done[i / 2][i % 2]);
        assert_true(x->total_ps < done[i / 2][i % 2] + 2000000);
        assert_true(x->busy_ps > x->total_ps);
    }
    assert_int_equal(h.transfers[0].total_ps, done[0][0] + 550000 + 575000 + 591250);
    assert_int_equal(h.transfers[1].total_ps, done[0][1] + 185000 + 166250 + 192500);
    host_result_free(&h);
}

/* Kineto: all copies and memsets of the device, each once
 * (docs/reference/metrics.md#sample-profiles). */
static void hta_copies_are_complete(void **state)
{
    host_result h;
    int64_t events = 0;
    (void)state;
    tm_real(&h, HTA_TEST);
    assert_int_equal(h.transfer_count, 4);
    for (size_t i = 0; i < 4; i++)
        events += h.transfers[i].count;
    assert_int_equal(events, 151 + 60 + 4645 + 900);
    assert_int_equal(h.transfers[1].direction, VP_D2H);
    assert_int_equal(h.transfers[1].pageable_count, 60);
    host_result_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_say_the_direction),
        cmocka_unit_test(memory_spaces_say_the_direction),
        cmocka_unit_test(memory_may_be_pageable),
        cmocka_unit_test(directions_add_up),
        cmocka_unit_test(copies_may_cross),
        cmocka_unit_test(cpu_transfers_are_host_spans),
        cmocka_unit_test(v2_offloads_both_ways),
        cmocka_unit_test(hta_copies_are_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
