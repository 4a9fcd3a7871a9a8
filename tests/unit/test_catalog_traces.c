/* Real log directories: exactly these sessions, hosts and files (names as listed by find). */
#include "tests/unit/catalog_expect.h"

static void jax_on_cpu(void **state)
{
    (void)state;
    traces_need("jax_cpu/python_tracer_small");
    catalog *c = list("jax_cpu");
    static const char *const newest[] = {
        "server_capture/2026_11_21_06_36_02: 127.0.0.1_9012+",
        "empty_window/2026_11_21_06_35_05: vm+",
        "odd_names/2026_11_21_06_35_03: vm+",
        "async_dispatch/2026_11_21_06_34_56: vm+",
        "three_runs/2026_11_21_06_34_02: vm+",
        "three_runs/2026_11_21_06_34_00: vm+",
        "python_tracer_small/2026_11_21_06_33_31: vm+",
    };
    char got[256];
    assert_int_equal(catalog_count(c), 13);
    for (size_t i = 0; i < 7; i++) {
        describe(catalog_get(c, i), got, sizeof got);
        assert_string_equal(got, newest[i]);
    }
    assert_int_equal(catalog_get(c, 0)->captured_unix_ns, INT64_C(1795242962000000000));
    const cat_session *opened = catalog_find(c, VP_STR("xprof_opened/2026_11_21_06_33_26"));
    assert_int_equal(opened->file_count, 2); /* and 20 caches of XProf, ignored */
    assert_int_equal(opened->bytes, 246800 + 10190);
    const cat_session *perfetto = catalog_find(c, VP_STR("perfetto_trace/2026_11_21_06_33_26"));
    assert_int_equal(perfetto->file_count, 3);
    assert_int_equal(perfetto->host_count, 1);
    describe(catalog_get(c, 12), got, sizeof got);
    assert_string_equal(got, "memory/memory.prof: stray");
    assert_string_equal(catalog_get(c, 12)->kind, "memory");
    assert_int_equal(c->seen.caches, 20);
    assert_int_equal(catalog_note_count(c), 0);
    assert_string_equal(catalog_latest(c)->name, "server_capture/2026_11_21_06_36_02");
    catalog_free(c);
}

static const struct expected listed[] = {
    {"jax_tpu/vllm-project__tpu-inference",
     {"profiles/2026_01_12_00_26_20: t1v-n-9eb622fc-w-0",
      "profiles/2026_01_11_21_26_41: t1v-n-9eb622fc-w-0"}},
    {"jax_tpu/openxla__xprof", {"test_xplanes: v2__tpu_inference_2 stray"}},
    {"xla_gpu_cuda",
     {"EnzymeAD__Reactant.jl/traces/2025_02_05_11_08_24: cyclops+",
      "EnzymeAD__Reactant.jl/traces/2025_02_05_11_05_24: cyclops+"}},
    {"jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax08_gemm", {"jax08_gemm: tw003 stray"}},
    {"tf_cpu/Alwaysproblem__tensorboard-review",
     {"logs/standard/20200516-125033/train/2020_05_16_04_50_34: LEMON",
      "log/train/2020_05_16_03_41_16: LEMON",
      "logs/standard/20200516-111503/train/2020_05_16_03_15_04: LEMON",
      "logs/standard/20200516-110930/train/2020_05_16_03_09_31: LEMON",
      "logs_grad/standard/20200408-150751/train/2020-04-08_15-07-52: unreadable",
      "logs/standard/20200407-184922/train/2020-04-07_18-49-22: unreadable",
      "log/train/2020-04-07_18-20-33: unreadable",
      "log/text_hp/hparam_tuning/run-2/train/2020-04-01_23-28-00: unreadable",
      "log/text_hp/hparam_tuning/run-1/train/2020-04-01_23-27-57: unreadable",
      "log/text_hp/hparam_tuning/run-0/train/2020-04-01_23-27-53: unreadable",
      "logs/standard/20200326-221129/train/2020-03-26_22-11-29: unreadable"}},
    {"tf_gpu/openxla__xprof/demo",
     {"GPU-multi-worker: 34.83.195.179_6003", "GPU-input-bound: empty", "GPU-compute-bound: empty"},
     "tf_gpu/openxla__xprof/demo/plugins/profile/GPU-multi-worker"},
    {"pytorch_cuda/facebookresearch__param/dlrm_kineto",
     {"dlrm_kineto/1694128201545: worker0_step_12 worker1_step_12 worker2_step_12 "
      "worker3_step_12 worker4_step_12 worker5_step_12 worker6_step_12 worker7_step_12"}},
    {"pytorch_cuda/pytorch__kineto/samples/resnet50_num_workers_0",
     {"resnet50_num_workers_0/1623143566756: worker0",
      "resnet50_num_workers_0/1623143089861: worker0"},
     "pytorch_cuda/pytorch__kineto/samples/resnet50_num_workers_0/"
     "worker0.1623143566756.pt.trace.json.gz"},
    {"pytorch_cuda/sidnb13__torch-profiling-tutorial",
     {"log/transformer/1752215574025896717: dc3b0e7228dd_851",
      "log/transformer/1752215573993169006: dc3b0e7228dd_851"}},
    {"lfs_pointer/pytorch__benchmark/traces/maml/train-cuda.pt.trace.json.gz",
     {"train-cuda.pt.trace.json.gz: unreadable stray"}},
};

static void ranks_of_a_run_are_one_session(void **state)
{
    (void)state;
    traces_need("pytorch_cuda/facebookresearch__param/dlrm_kineto");
    catalog *c = list("pytorch_cuda/facebookresearch__param/dlrm_kineto");
    assert_int_equal(catalog_get(c, 0)->captured_unix_ns, INT64_C(1694128201545000000));
    assert_ptr_equal(catalog_find(c, VP_STR("1694128201545")), catalog_get(c, 0));
    catalog_free(c);
}

static void lfs_pointers_are_named(void **state)
{
    (void)state;
    catalog *c = list("lfs_pointer");
    assert_int_equal(catalog_count(c), 0);
    assert_int_equal(catalog_note_count(c), 2);
    assert_string_equal(catalog_note(c, 0)->path,
                        "pytorch__benchmark/traces/maml/train-cuda-detailed.pt.trace.json.gz");
    assert_non_null(strstr(catalog_note(c, 0)->why, "git lfs pull"));
    assert_null(catalog_latest(c));
    assert_non_null(strstr(vp_error_last()->message, "git lfs pull"));
    catalog_free(c);
}

static void everything_is_listed_without_a_crash(void **state)
{
    (void)state;
    catalog *c = list("");
    assert_true(catalog_count(c) > (traces_wide() ? 200 : 70));
    for (size_t i = 1; i < catalog_count(c); i++)
        assert_true(catalog_get(c, i - 1)->stray <= catalog_get(c, i)->stray);
    catalog_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jax_on_cpu),
        cmocka_unit_test(ranks_of_a_run_are_one_session),
        cmocka_unit_test(lfs_pointers_are_named),
        cmocka_unit_test(everything_is_listed_without_a_crash),
    };
    in_utc();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + RUN_ROWS(is_listed, listed);
}
