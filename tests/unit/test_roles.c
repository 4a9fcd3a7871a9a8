#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace/read/semantics/roles.h"

static sink_role role(const char *process, const char *track)
{
    return rd_role_of(vp_str_of(process), vp_str_of(track));
}

/* Every line name of docs/reference/xprof.md#line-names and its role on a device. */
static void test_roles_on_devices(void **state)
{
    (void)state;
    assert_int_equal(role("/device:TPU:0", "XLA Ops"), SINK_ROLE_OPS);
    assert_int_equal(role("/device:GPU:3", "Stream #118(MemcpyD2H,Compute)"), SINK_ROLE_OPS);
    assert_int_equal(role("/device:GPU:3", "Stream #7"), SINK_ROLE_OPS);
    assert_int_equal(role("/device:TPU:0", "Async XLA Ops"), SINK_ROLE_ASYNC);
    assert_int_equal(role("/device:TPU:0", "Steps"), SINK_ROLE_STEPS);
    assert_int_equal(role("/device:TPU:0", "XLA Modules"), SINK_ROLE_MODULES);
    assert_int_equal(role("/device:TPU:0", "XLA TraceMe"), SINK_ROLE_MARKS);
    const char *derived[] = {"Framework Ops",
                             "Framework Name Scope",
                             "TensorFlow Ops",
                             "TensorFlow Name Scope",
                             "Source code",
                             "Launch Stats",
                             "Overlay",
                             "TC Overlay",
                             "_counters_",
                             "XLA Ops - from #22",
                             "Source code - from #7"};
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
        assert_int_equal(role("/device:GPU:0", derived[i]), SINK_ROLE_DERIVED);
    assert_int_equal(role("/device:TPU:0", "Tensor Core Sync Flag"), SINK_ROLE_PLAIN);
    assert_int_equal(role("/device:TPU:0", "Source codes"), SINK_ROLE_PLAIN);
}

static void test_a_host_has_only_plain_tracks(void **state)
{
    (void)state;
    assert_int_equal(role("/host:CPU", "XLA Ops"), SINK_ROLE_PLAIN);
    assert_int_equal(role("", "Stream #1"), SINK_ROLE_PLAIN);
    assert_int_equal(rd_role_of_id(VP_STR("/host:CPU"), VP_STR("python"), RD_DERIVED_ID_MIN),
                     SINK_ROLE_PLAIN);
}

static void test_derived_ids_repeat_other_lines(void **state)
{
    (void)state;
    vp_str gpu = VP_STR("/device:GPU:0");
    assert_int_equal(rd_role_of_id(gpu, VP_STR("XLA Ops"), RD_DERIVED_ID_MIN + 5),
                     SINK_ROLE_DERIVED);
    assert_int_equal(rd_role_of_id(gpu, VP_STR("XLA Ops"), 3), SINK_ROLE_OPS);
    assert_int_equal(rd_role_of_id(gpu, VP_STR("Steps"), RD_DERIVED_ID_MIN), SINK_ROLE_STEPS);
    assert_int_equal(rd_role_of_id(gpu, VP_STR("x"), RD_DERIVED_ID_MAX + 1), SINK_ROLE_PLAIN);
}

static void check_kind(const char *name, sink_process_kind kind, int32_t ordinal)
{
    int32_t got = 77;
    assert_int_equal(rd_process_kind(vp_str_of(name), &got), kind);
    assert_int_equal(got, ordinal);
    assert_int_equal(rd_process_kind(vp_str_of(name), NULL), kind);
}

static void test_process_kinds(void **state)
{
    (void)state;
    check_kind("/device:TPU:0", SINK_PROCESS_TPU, 0);
    check_kind("/device:GPU:15", SINK_PROCESS_GPU, 15);
    check_kind("/device:TPU:2 SparseCore 1", SINK_PROCESS_OTHER, 2);
    check_kind("/device:CUSTOM:MOSAIC:4", SINK_PROCESS_OTHER, -1);
    check_kind("/device:GPU:99999999999", SINK_PROCESS_OTHER, -1);
    check_kind("/host:CPU", SINK_PROCESS_HOST, -1);
    check_kind("/host:CPU:3", SINK_PROCESS_CPU, 3);
    check_kind("/host:CPU:3x", SINK_PROCESS_HOST, -1);
    check_kind("/host:metadata", SINK_PROCESS_HOST, -1);
    check_kind("", SINK_PROCESS_HOST, -1);
}

static void check_opcode(const char *text, const char *opcode)
{
    vp_str got = rd_hlo_opcode(vp_str_of(text));
    assert_true(vp_str_eq(got, vp_str_of(opcode)));
}

static void test_hlo_opcode(void **state)
{
    (void)state;
    check_opcode("%psum.896 = bf16[8,128]{1,0:T(8,128)} all-reduce(bf16[8,128] %x)", "all-reduce");
    check_opcode("%c = (f32[2]{0}, u32[]) copy-start(f32[2] %p)", "copy-start");
    check_opcode("%p = f32[] parameter(0)", "parameter");
    check_opcode("%f = f32[4]{0} fusion(f32[4] %a), calls=%g", "fusion");
    check_opcode("%t = (f32[] , s32[]) tuple(%a, %b)", "tuple");
    check_opcode("dot.3", "");
    check_opcode("] (", "");
    check_opcode("} x", "");
    check_opcode("", "");
}

static void test_stream_label(void **state)
{
    (void)state;
    assert_true(vp_str_eq(rd_stream_label(VP_STR("Stream #135(MemcpyH2D)")), VP_STR("MemcpyH2D")));
    assert_true(vp_str_eq(rd_stream_label(VP_STR("Stream #1(A,B)")), VP_STR("A,B")));
    assert_int_equal(rd_stream_label(VP_STR("Stream #135")).n, 0);
    assert_int_equal(rd_stream_label(VP_STR("Stream #)")).n, 0);
    assert_int_equal(rd_stream_label(VP_STR("XLA Ops(x)")).n, 0);
}

static void group_sizes_come_from_replica_groups(void **state)
{
    (void)state;
    assert_int_equal(rd_group_size(VP_STR("all-reduce(x), replica_groups={{0,1,2},{3,4,5}}, a=1")),
                     3);
    assert_int_equal(rd_group_size(VP_STR("replica_groups={{7}}")), 1);
    assert_int_equal(rd_group_size(VP_STR("replica_groups=[2,4]<=[8]")), 4);
    assert_int_equal(rd_group_size(VP_STR("replica_groups=[4,2]<=[2,4]T(1,0), x")), 2);
    assert_int_equal(rd_group_size(VP_STR("replica_groups={}")), SINK_UNKNOWN);
    assert_int_equal(rd_group_size(VP_STR("replica_groups=[2")), SINK_UNKNOWN);
    assert_int_equal(rd_group_size(VP_STR("replica_groups=")), SINK_UNKNOWN);
    assert_int_equal(rd_group_size(VP_STR("add(x, y)")), SINK_UNKNOWN);
}

/* What the exporter puts around a device's thread comes off again, and nothing else does. */
static void names_of_our_timelines(void **state)
{
    static const char *const cases[][3] = {
        {"/device:TPU:0", "TPU:0 XLA Ops", "XLA Ops"},
        {"/device:TPU:0", "TPU:0 XLA Ops (2)", "XLA Ops"},
        {"/device:TPU:0", "TPU:0 XLA Ops (31)", "XLA Ops"},
        {"/device:GPU:1", "GPU:1 Stream #7(Compute)", "Stream #7(Compute)"},
        {"/device:GPU:1", "GPU:1 Stream #7(Compute) (2)", "Stream #7(Compute)"},
        {"/device:GPU:1", "GPU:1 Stream #7(2)", "Stream #7(2)"},
        {"/device:GPU:1", "GPU:1 a ()", "a ()"},
        {"/device:GPU:1", "GPU:1 (2)", "(2)"},
        {"/device:GPU:1", "GPU:1  (2)", ""},
        {"/device:TPU:0 SparseCore 1", "TPU:0 SparseCore 1 XLA Ops", "XLA Ops"},
        {"/device:TPU:0", "XLA Ops (2)", "XLA Ops (2)"},
        {"/device:TPU:0", "TPU:1 XLA Ops", "TPU:1 XLA Ops"},
        {"/device:TPU:0", "TPU:0", "TPU:0"},
        {"/device:", " x (2)", " x (2)"},
        {"/host:CPU", "CPU main (2)", "CPU main (2)"},
        {"", "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vp_str bare = rd_bare_track(vp_str_of(cases[i][0]), vp_str_of(cases[i][1]));
        if (!vp_str_eq(bare, vp_str_of(cases[i][2])))
            fail_msg("%s: \"%.*s\"", cases[i][1], VP_STR_ARG(bare));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(group_sizes_come_from_replica_groups),
        cmocka_unit_test(test_roles_on_devices),
        cmocka_unit_test(test_a_host_has_only_plain_tracks),
        cmocka_unit_test(test_derived_ids_repeat_other_lines),
        cmocka_unit_test(test_process_kinds),
        cmocka_unit_test(test_hlo_opcode),
        cmocka_unit_test(test_stream_label),
        cmocka_unit_test(names_of_our_timelines),
    };
    return cmocka_run_group_tests_name("roles", tests, NULL, NULL);
}
