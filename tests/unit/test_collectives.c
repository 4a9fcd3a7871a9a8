/* trace/analyze/collectives and comm (docs/reference/metrics.md#collectives): by hand, and on real
 * files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/trace_maker.h"
#include "trace/analyze/comm/comm.h"

static void names_say_which_collective(void **state)
{
    static const struct {
        const char *hlo, *name;
        comm_kind kind;
    } cases[] = {
        {"all-reduce", "psum.896", COMM_ALL_REDUCE},
        {"all-gather-start", "ag", COMM_ALL_GATHER},
        {"all-reduce-scatter fusion", "fusion.3", COMM_REDUCE_SCATTER},
        {"ragged-all-to-all", "x", COMM_ALL_TO_ALL},
        {"collective-permute-done", "x", COMM_PERMUTE},
        {"collective-broadcast", "x", COMM_BROADCAST},
        {"send-done", "x", COMM_SEND_RECV},
        {"", "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(ncclDevComm*)", COMM_REDUCE_SCATTER},
        {"", "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", COMM_ALL_REDUCE},
        {"", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", COMM_SEND_RECV},
        {"collective-permute", "ncclDevKernel_SendRecv", COMM_PERMUTE},
        {"", "ncclDevKernel_Reduce_Sum_f32_RING_LL", COMM_REDUCE},
        {"", "ncclKernel_Broadcast_RING_LL_Sum_int8_t", COMM_BROADCAST},
        {"", "void vllm::cross_device_reduce_1stage<__half, 2>", COMM_ALL_REDUCE},
        {"", "multimem_all_reduce_kernel", COMM_ALL_REDUCE},
        {"", "ppermute.1", COMM_PERMUTE},
        {"", "deep_ep::internode::dispatch", COMM_ALL_TO_ALL},
        {"", "void dpsk::ep::internode_ll::combine<1>(int)", COMM_ALL_TO_ALL},
        {"", "rcclGenericKernel", COMM_OTHER},
        {"", "nvshmem_wait", COMM_OTHER},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (comm_kind_of(vp_str_of(cases[i].hlo), vp_str_of(cases[i].name)) != cases[i].kind)
            fail_msg("%s, %s: %s", cases[i].hlo, cases[i].name,
                     comm_name(comm_kind_of(vp_str_of(cases[i].hlo), vp_str_of(cases[i].name))));
}

static int64_t payload(comm_kind k, const char *text, int64_t n)
{
    return comm_payload_of(k, vp_str_of(text), VP_STR_NONE, n);
}

/* All-gather: what it gives out; reduce-scatter: what it takes in. */
static void payloads_come_from_shapes(void **state)
{
    (void)state;
    assert_int_equal(payload(COMM_ALL_REDUCE, "%a = f32[8] all-reduce(f32[8] %x)", 4), 32);
    assert_int_equal(
        payload(COMM_ALL_REDUCE, "%a = (f32[8], f32[2]) all-reduce-start(f32[8] %x, f32[2] %y)", 4),
        40);
    assert_int_equal(payload(COMM_ALL_GATHER, "%a = f32[32] all-gather(f32[8] %x)", 4), 128);
    assert_int_equal(
        payload(COMM_ALL_GATHER, "%a = (f32[8], f32[32]) all-gather-start(f32[8] %x)", 4), 128);
    assert_int_equal(
        payload(COMM_ALL_GATHER,
                "%a = ((f32[8], s8[2]), (f32[32], s8[8])) all-gather-start(f32[8] %x, s8[2] %y)",
                4),
        136);
    assert_int_equal(payload(COMM_REDUCE_SCATTER, "%a = f32[2] reduce-scatter(f32[8] %x)", 4), 32);
    assert_int_equal(payload(COMM_REDUCE_SCATTER, "%a = f32[2] reduce-scatter(%x)", 4), 32);
    assert_int_equal(payload(COMM_REDUCE_SCATTER, "%a = f32[2] reduce-scatter(%x)", -1), -1);
    assert_int_equal(payload(COMM_PERMUTE,
                             "%a = (f32[8], f32[8], u32[], u32[]) collective-permute-start(%x)", 4),
                     32);
    assert_int_equal(payload(COMM_SEND_RECV, "%a = (f32[8], u32[], token[]) send(%x, %t)", 2), 32);
    assert_int_equal(comm_payload_of(COMM_REDUCE_SCATTER, VP_STR(""), VP_STR("f32[2]"), 4), 32);
    assert_int_equal(comm_payload_of(COMM_ALL_GATHER, VP_STR(""), VP_STR("tuple[]"), 4), -1);
}

static sink_kind hlo(const char *name, const char *category, const char *text, int64_t group)
{
    sink_kind k = tm_plain(name);
    k.category = vp_str_of(category);
    k.long_name = vp_str_of(text);
    k.group_size = group;
    return k;
}

/* In flight from [10,12) to [50,60), computing over [12,50): 12 of 50 exposed. The second pair
 * begins before the first one of another name ends, and a third "-done" has lost its start. */
static void a_pair_is_one_call(void **state)
{
    trace *t = tm_new();
    host_result h;
    uint32_t tpu = tm_process(t, SINK_PROCESS_TPU, "/device:TPU:0", 0);
    uint32_t ops = tm_track(t, tpu, "XLA Ops", SINK_ROLE_OPS);
    sink_kind start = hlo("all-gather-start.1", "all-gather-start",
                          "%all-gather-start.1 = (f32[8], f32[32]) all-gather-start(f32[8] %x)", 4);
    sink_kind done = hlo("all-gather-done.7", "all-gather-done",
                         "%all-gather-done.7 = f32[32] all-gather-done((f32[8], f32[32]) "
                         "%all-gather-start.1)",
                         4);
    sink_kind mm = hlo("fusion.1", "convolution fusion", "", -1);
    (void)state;
    tm_event(t, ops, done, 0, 5, NULL);
    tm_event(t, ops, start, 10, 12, NULL);
    tm_event(t, ops, mm, 12, 50, NULL);
    tm_event(t, ops, done, 50, 60, NULL);
    tm_event(t, ops, start, 60, 61, NULL);
    tm_event(t, ops, done, 70, 71, NULL);
    tm_analyze(&h, t);
    assert_int_equal(h.collective_count, 2);
    const vp_collective *c = &h.collectives[0], *lost = &h.collectives[1];
    assert_string_equal(c->kind, "all-gather");
    assert_string_equal(c->name, "all-gather-start");
    assert_int_equal(c->group_size, 4);
    assert_int_equal(c->count, 2);
    assert_int_equal(c->bytes, 256);
    assert_int_equal(c->total_ps, 50 + 11);
    assert_int_equal(c->union_ps, 61);
    assert_int_equal(c->exposed_ps, 2 + 10 + 1 + 1);
    assert_int_equal(c->sample_stride, 1);
    assert_int_equal(c->sample_count, 2);
    assert_int_equal(c->sample_start_ps[0], 50); /* where it blocks */
    assert_int_equal(c->sample_dur_ps[1], 1);
    assert_int_equal(c->sample_exposed_ps[0], 10);
    assert_int_equal(c->wait_ps, VP_UNKNOWN);
    assert_string_equal(lost->name, "all-gather-done");
    assert_int_equal(lost->count, 1);
    assert_int_equal(lost->exposed_ps, 5);
    tm_free(&h, t);
}

/* A1's tracks: communication [20,50), computing [0,30) and [40,60): exposed is [30,40). */
static void what_compute_covers_is_hidden(void **state)
{
    trace *t = tm_new();
    host_result h;
    uint32_t gpu = tm_process(t, SINK_PROCESS_GPU, "GPU 0", 0);
    uint32_t a = tm_track(t, gpu, "stream 7", SINK_ROLE_OPS);
    uint32_t b = tm_track(t, gpu, "stream 8", SINK_ROLE_OPS);
    (void)state;
    tm_put(t, a, "mm", 0, 30);
    tm_put(t, a, "mm", 40, 60);
    tm_put(t, b, "ncclDevKernel_AllReduce_Sum_f32", 20, 50);
    tm_analyze(&h, t);
    assert_int_equal(h.collective_count, 1);
    assert_int_equal(h.collectives[0].total_ps, 30);
    assert_int_equal(h.collectives[0].exposed_ps, 10);
    assert_int_equal(h.collectives[0].bytes, VP_UNKNOWN);
    assert_int_equal(h.collectives[0].exposed_ps, h.devices[0].breakdown.exposed_comm_ps);
    tm_free(&h, t);
}

/* A loop spans its body and hides nothing: compute [0,10), all-reduce [10,30), idle in the loop. */
static void a_loop_hides_no_collective(void **state)
{
    trace *t = tm_new();
    host_result h;
    uint32_t tpu = tm_process(t, SINK_PROCESS_TPU, "/device:TPU:0", 0);
    uint32_t ops = tm_track(t, tpu, "XLA Ops", SINK_ROLE_OPS);
    (void)state;
    tm_event(t, ops, hlo("while.1", "while", "", -1), 0, 40, NULL);
    tm_event(t, ops, hlo("fusion.1", "loop fusion", "", -1), 0, 10, NULL);
    tm_event(t, ops, hlo("all-reduce.1", "all-reduce", "", 2), 10, 30, NULL);
    tm_analyze(&h, t);
    assert_int_equal(h.devices[0].breakdown.compute_ps, 10 + 10);
    assert_int_equal(h.devices[0].breakdown.exposed_comm_ps, 20);
    assert_int_equal(h.devices[0].breakdown.idle_ps, 0);
    assert_int_equal(h.collectives[0].exposed_ps, 20);
    tm_free(&h, t);
}

/* Four TPUs, each with one all-reduce in groups of two; device_id says whether planes tell who they
 * are: ordinal + 4 then. */
static void analyze_pairs(host_result *h, const char *groups, const char *program, bool device_id)
{
    trace *t = tm_new();
    char text[200];
    snprintf(text, sizeof text,
             "%%all-reduce.1 = f32[8] all-reduce(f32[8] %%x), channel_id=1, replica_groups=%s, "
             "use_global_device_ids=true",
             groups);
    sink_kind k = hlo("all-reduce.1", "all-reduce", text, 2);
    k.program = vp_str_of(program);
    for (int32_t d = 0; d < 4; d++) {
        char name[40];
        snprintf(name, sizeof name, "/device:TPU:%d", d);
        uint32_t tpu = tm_process(t, SINK_PROCESS_TPU, name, d);
        t->processes[tpu].has_device_id = device_id;
        t->processes[tpu].device_id = device_id ? d + 4 : -1;
        tm_event(t, tm_track(t, tpu, "XLA Ops", SINK_ROLE_OPS), k, 0, 10 + d, NULL);
    }
    tm_analyze(h, t);
    trace_free(t);
    assert_int_equal(h->collective_count, 4);
}

static const char *members_on(const host_result *h, uint32_t device)
{
    for (size_t i = 0; i < h->collective_count; i++)
        if (h->collectives[i].device == device)
            return h->collectives[i].members ? h->collectives[i].members : "unknown";
    return "missing";
}

static void expect_members(const char *groups, const char *program, bool device_id,
                           const char *const want[4])
{
    host_result h;
    analyze_pairs(&h, groups, program, device_id);
    for (uint32_t d = 0; d < 4; d++)
        assert_string_equal(members_on(&h, d), want[d]);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(h.collectives[i].groups, 2);
    host_result_free(&h);
}

/* Planes that say which device they are (4 to 7), and ordinals where the whole program is here. A
 * program that runs elsewhere, too, may call this host's devices anything. */
static void groups_have_members(void **state)
{
    static const char *const pairs[] = {"0,1", "0,1", "2,3", "2,3"},
                             *const mixed[] = {"0,3", "1,2", "1,2", "0,3"},
                             *const told[] = {"4,5", "4,5", "6,7", "6,7"},
                             *const none[] = {"unknown", "unknown", "unknown", "unknown"};
    (void)state;
    expect_members("{{0,1},{2,3}}", "1x4:0,1,2,3", false, pairs);
    expect_members("[2,2]<=[4]", "1x4:0,3,1,2", false, mixed);
    expect_members("[2,2]<=[4]", "1x4:4,5,6,7", true, told);
    expect_members("[2,2]<=[4]", "1x4:4,5,6,7", false, none);
    expect_members("[2,4]<=[8]", "1x8:0,1,2,3,4,5,6,7", false, none);
    expect_members("[2,2]<=[4]", "", true, none);
    expect_members("[2,2]<=[4]", "1x4:0,1,2", false, none);
}

static void samples_are_few(void **state)
{
    trace *t = tm_new();
    host_result h;
    uint32_t gpu = tm_process(t, SINK_PROCESS_GPU, "GPU 0", 0);
    uint32_t ops = tm_track(t, gpu, "stream 7", SINK_ROLE_OPS);
    (void)state;
    for (int64_t i = 0; i < 2049; i++)
        tm_put(t, ops, "ncclDevKernel_AllReduce_Sum_f32", i * 10, i * 10 + i % 7 + 1);
    tm_analyze(&h, t);
    const vp_collective *c = &h.collectives[0];
    assert_int_equal(c->count, 2049);
    assert_int_equal(c->sample_stride, 4); /* 2 would need 1025 */
    assert_int_equal(c->sample_count, 513);
    assert_int_equal(c->sample_start_ps[512], 2048 * 10);
    assert_int_equal(c->sample_dur_ps[1], 5);
    tm_free(&h, t);
}

/* docs/reference/metrics.md#sample-profiles: all-reduce is all of the communication;
 * f32[5,1024,1024,256] three times. The host has devices 4 to 7 of 8: each does it with one of the
 * other host. */
static void v2_reduces_thrice(void **state)
{
    static const char *const pairs[] = {"0,4", "1,5", "2,6", "3,7"};
    static const int64_t comm[] = {365061093750, 365097730000, 365074090000, 365112345000};
    host_result h;
    (void)state;
    tm_real(&h, V2_TPU);
    assert_int_equal(h.collective_count, 4);
    for (size_t i = 0; i < 4; i++) {
        const vp_collective *c = &h.collectives[i];
        assert_string_equal(c->kind, "all-reduce");
        assert_int_equal(c->group_size, 2); /* replica_groups=[4,2]<=[2,4]T(1,0) */
        assert_int_equal(c->groups, 4);
        assert_string_equal(c->members, pairs[c->device]);
        assert_int_equal(c->count, 3);
        assert_int_equal(c->bytes, 3 * INT64_C(5368709120));
        assert_int_equal(c->total_ps, comm[c->device]);
        assert_int_equal(c->exposed_ps, comm[c->device]);
    }
    host_result_free(&h);
}

/* docs/reference/jax-cpu.md#sample-runs: five collectives over 8 devices, 10 calls each, of
 * f32[128,128] shards. */
static void eight_cpu_devices(void **state)
{
    static const char *const kinds[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all",
                                        "collective-permute"};
    static const int64_t each[] = {65536, 524288, 65536, 65536, 65536};
    host_result h;
    (void)state;
    tm_real(&h, "jax_cpu/multi_device/plugins/profile/2026_11_21_06_33_21/vm.xplane.pb");
    assert_int_equal(h.collective_count, 40);
    for (size_t i = 0; i < h.collective_count; i++) {
        const vp_collective *c = &h.collectives[i];
        size_t k = 0;
        while (k < 5 && strcmp(kinds[k], c->kind) != 0)
            k++;
        assert_true(k < 5);
        assert_int_equal(c->count, 10);
        assert_int_equal(c->bytes, 10 * each[k]);
        assert_int_equal(c->group_size, k == 4 ? VP_UNKNOWN : 8);
        assert_true(c->exposed_ps <= c->union_ps && c->union_ps <= c->total_ps);
    }
    host_result_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_say_which_collective),
        cmocka_unit_test(payloads_come_from_shapes),
        cmocka_unit_test(a_pair_is_one_call),
        cmocka_unit_test(what_compute_covers_is_hidden),
        cmocka_unit_test(a_loop_hides_no_collective),
        cmocka_unit_test(groups_have_members),
        cmocka_unit_test(samples_are_few),
        cmocka_unit_test(v2_reduces_thrice),
        cmocka_unit_test(eight_cpu_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
