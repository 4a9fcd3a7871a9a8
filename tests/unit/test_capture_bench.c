/* The benchmark runner: order, times apart, failures, and results with the keys that scripts
 * read. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <jansson.h>

#include "include/view_profile.h"
#include "include/view_profile_capture.h"
#include "tests/unit/listed.h"
#include "trace/base/system/temp_tree.h"
#include "trace/capture/gpu/cuda_driver.h"
#include "trace/capture/gpu/gpu_memory.h"

typedef struct method {
    char letter;
    int calls, fail_at; /* the call that fails, from 1; 0: none */
    const char *text;   /* what it says then */
    vp_bench *b;
} method;

static vp_temp_tree tree = VP_TEMP_TREE_NONE;
static char calls[64]; /* letters */

static int run(void *arg)
{
    method *m = arg;
    size_t n = strlen(calls);
    struct timespec t = {0, 2000000};
    nanosleep(&t, NULL);
    VP_SCOPE("inside");
    calls[n] = m->letter;
    calls[n + 1] = '\0';
    if (++m->calls != m->fail_at)
        return 0;
    vp_bench_error(m->b, m->text);
    return -3;
}

static json_t *results_of(const char *dir, int devices)
{
    char path[2 * VP_PATH_MAX];
    snprintf(path, sizeof path, "%s/profile_%dgpu_results.json", dir, devices);
    json_t *j = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(j);
    return j;
}

static const char *text_of(const json_t *j, const char *key)
{
    return json_string_value(json_object_get(j, key));
}

static double number_of(const json_t *j, const char *key)
{
    assert_true(json_is_number(json_object_get(j, key)));
    return json_number_value(json_object_get(j, key));
}

static void two_methods(void **state)
{
    vp_bench *b;
    method lcam = {.letter = 'l'}, tad = {.letter = 't'};
    (void)state;
    calls[0] = '\0';
    assert_int_equal(vp_bench_open(&b, tree.path, 2), 0);
    assert_int_equal(vp_bench_add(b, "lcam", run, &lcam), 0);
    assert_int_equal(vp_bench_add(b, "tad", run, &tad), 0);
    vp_bench_time(b, "system_creation", 0.25);
    assert_int_equal(vp_bench_run(b, 2, 3), 0);
    assert_string_equal(calls, "ll"
                               "tt"
                               "lt"
                               "tl"
                               "lt");
    vp_bench_set_int(b, "n_qubit", 5);
    vp_bench_set_int(b, "n_qubit", 6);
    vp_bench_set_bool(b, "gpu_participation_verified", true);
    assert_int_equal(vp_bench_write(b, NULL), 0);
    json_t *j = results_of(vp_bench_dir(b), 2);
    assert_string_equal(text_of(j, "schema"), "view_profile.bench/1");
    assert_int_equal(number_of(j, "gpu_count"), 2);
    assert_int_equal(number_of(j, "n_qubit"), 6);
    assert_true(json_is_true(json_object_get(j, "gpu_participation_verified")));
    assert_null(json_object_get(j, "isolation_verified")); /* nobody verified it */
    assert_int_equal(strlen(text_of(j, "timestamp")), 19);
    assert_true(json_is_null(json_object_get(j, "initial_gpu_memory")));
    const json_t *timing = json_object_get(j, "step_timing");
    assert_true(number_of(timing, "system_creation") == 0.25);
    const json_t *m = json_object_get(j, "lcam");
    assert_true(json_is_true(json_object_get(m, "success")));
    assert_true(number_of(m, "execution_time") >= 0.002);
    assert_true(number_of(timing, "lcam") == number_of(m, "execution_time"));
    assert_true(number_of(m, "warmup_s") >= 0.004);
    assert_true(number_of(m, "first_call_s") >= 0.002);
    assert_true(number_of(m, "first_call_s") < number_of(m, "warmup_s"));
    assert_int_equal(json_array_size(json_object_get(m, "run_s")), 3);
    assert_true(number_of(m, "export_s") > 0);
    assert_int_equal(sessions_in(text_of(m, "tensorboard_trace")), 3);
    const json_t *order = json_object_get(j, "order");
    assert_int_equal(json_array_size(order), 3);
    assert_string_equal(json_string_value(json_array_get(json_array_get(order, 1), 0)), "tad");
    json_decref(j);
    vp_bench_free(b);
}

static void a_method_that_fails(void **state)
{
    vp_bench *b;
    method good = {.letter = 'g'};
    method bad = {.letter = 'b', .fail_at = 2, .text = "no \"memory\""};
    (void)state;
    calls[0] = '\0';
    assert_int_equal(vp_bench_open(&b, tree.path, 4), 0);
    bad.b = b;
    assert_int_equal(vp_bench_add(b, "bad", run, &bad), 0);
    assert_int_equal(vp_bench_add(b, "good", run, &good), 0);
    assert_int_equal(vp_bench_run(b, 0, 3), 0);
    assert_string_equal(calls, "bg"
                               "gb"
                               "g"); /* not called again */
    assert_int_equal(vp_bench_write(b, NULL), 0);
    json_t *j = results_of(vp_bench_dir(b), 4);
    const json_t *m = json_object_get(j, "bad");
    assert_true(json_is_false(json_object_get(m, "success")));
    assert_string_equal(text_of(m, "error"), "no \"memory\"");
    assert_true(number_of(m, "execution_time") >= 0.002);
    assert_int_equal(sessions_in(text_of(m, "tensorboard_trace")), 2); /* the failing run, too */
    assert_true(json_is_null(json_object_get(m, "first_call_s")));
    assert_true(json_is_true(json_object_get(json_object_get(j, "good"), "success")));
    json_decref(j);
    vp_bench_free(b);
}

static void a_failure_without_words(void **state)
{
    vp_bench *b;
    method bad = {.letter = 'b', .fail_at = 1};
    (void)state;
    calls[0] = '\0';
    assert_int_equal(vp_bench_open(&b, tree.path, 1), 0);
    assert_int_equal(vp_bench_add(b, "bad", run, &bad), 0);
    assert_int_equal(vp_bench_run(b, 3, 3), 0);
    assert_string_equal(calls, "b");
    assert_int_equal(vp_bench_write(b, NULL), 0);
    json_t *j = results_of(vp_bench_dir(b), 1);
    assert_string_equal(text_of(json_object_get(j, "bad"), "error"), "the method returned -3");
    assert_true(json_is_null(json_object_get(json_object_get(j, "bad"), "tensorboard_trace")));
    json_decref(j);
    vp_bench_free(b);
}

static void directories_do_not_collide(void **state)
{
    vp_bench *b[3];
    (void)state;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(vp_bench_open(&b[i], tree.path, 8), 0);
    assert_string_not_equal(vp_bench_dir(b[0]), vp_bench_dir(b[1]));
    assert_string_not_equal(vp_bench_dir(b[1]), vp_bench_dir(b[2]));
    assert_non_null(strstr(vp_bench_dir(b[2]), "/8gpu_20"));
    for (size_t i = 0; i < 3; i++)
        vp_bench_free(b[i]);
}

/* ---- The memory of GPUs ---- */

static int use_memory(void *arg)
{
    ++*(int *)arg;
    return 0;
}

static const json_t *gpu_of(const json_t *j, const char *key, const char *gpu)
{
    return json_object_get(json_object_get(j, key), gpu);
}

static void memory_that_the_driver_tells(void **state)
{
    vp_bench *b;
    (void)state;
    void *lib = dlopen(VP_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(lib);
    int *used = dlsym(lib, "fake_cuda_used");
    *used = 3;
    cuda_use_library(VP_FAKE_CUDA);
    assert_int_equal(vp_bench_open(&b, tree.path, 2), 0);
    assert_int_equal(vp_bench_add(b, "more", use_memory, used), 0);
    assert_int_equal(vp_bench_run(b, 1, 4), 0);
    assert_int_equal(vp_bench_write(b, NULL), 0);
    cuda_use_library(NULL);
    json_t *j = results_of(vp_bench_dir(b), 2);
    const json_t *before = json_object_get(j, "initial_gpu_memory");
    assert_int_equal(json_object_size(before), 2); /* without a context nothing is known */
    assert_true(number_of(gpu_of(j, "initial_gpu_memory", "GPU_0"), "total_gb") == 16);
    assert_true(number_of(gpu_of(j, "initial_gpu_memory", "GPU_0"), "used_gb") == 3);
    assert_true(number_of(gpu_of(j, "initial_gpu_memory", "GPU_0"), "free_gb") == 13);
    assert_true(number_of(gpu_of(j, "initial_gpu_memory", "GPU_0"), "utilization_percent") ==
                18.75);
    assert_true(number_of(gpu_of(j, "initial_gpu_memory", "GPU_1"), "total_gb") == 80);
    assert_true(number_of(gpu_of(j, "final_gpu_memory", "GPU_1"), "used_gb") == 8);
    assert_true(number_of(gpu_of(j, "detailed_gpu_metrics", "GPU_0"), "memory_used_gb") == 8);
    assert_int_equal(*(int *)dlsym(lib, "fake_cuda_made"), 0); /* none was made for this */
    assert_int_equal(*(int *)dlsym(lib, "fake_cuda_retained"), 0);
    json_decref(j);
    vp_bench_free(b);
    dlclose(lib);
}

static void a_driver_that_nobody_started(void **state)
{
    gpu_memory devices[GPU_MEMORY_DEVICES_MAX] = {{0}};
    (void)state;
    assert_int_equal(gpu_memory_read(devices), 0); /* there is no libcuda.so.1 in this process */
    void *lib = dlopen(VP_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    bool *off = dlsym(lib, "fake_cuda_off");
    cuda_use_library(VP_FAKE_CUDA);
    assert_int_equal(gpu_memory_read(devices), 2);
    assert_true(devices[0].known && devices[1].known && !devices[2].known && !devices[3].known);
    *off = true;
    assert_int_equal(gpu_memory_read(devices), 0);
    *off = false;
    cuda_use_library(NULL);
    dlclose(lib);
}

static void what_the_caller_says_stands(void **state)
{
    vp_bench *b;
    method m = {.letter = 'm'};
    const uint64_t gib = UINT64_C(1) << 30;
    (void)state;
    calls[0] = '\0';
    cuda_use_library(VP_FAKE_CUDA);
    assert_int_equal(vp_bench_open(&b, tree.path, 1), 0);
    assert_int_equal(vp_bench_add(b, "m", run, &m), 0);
    vp_bench_gpu_memory_initial(b, 0, 40 * gib, 10 * gib);
    assert_int_equal(vp_bench_run(b, 0, 1), 0);
    vp_bench_gpu_memory_final(b, 0, 40 * gib, 30 * gib);
    vp_bench_gpu_memory_final(b, 63, gib, 0);
    vp_bench_gpu_metric(b, 0, "power_watts", 412.5);
    vp_bench_gpu_metric(b, 5, "temperature_celsius", 61);
    vp_bench_memory(b, "unitary_gradient", 12345);
    vp_bench_set_double(b, "learning_rate", 0.5);
    assert_int_equal(vp_bench_write(b, NULL), 0);
    cuda_use_library(NULL);
    json_t *j = results_of(vp_bench_dir(b), 1);
    assert_true(number_of(gpu_of(j, "initial_gpu_memory", "GPU_0"), "used_gb") == 10);
    assert_true(number_of(gpu_of(j, "final_gpu_memory", "GPU_0"), "utilization_percent") == 75);
    assert_true(number_of(gpu_of(j, "final_gpu_memory", "GPU_63"), "used_gb") == 0);
    assert_true(number_of(gpu_of(j, "detailed_gpu_metrics", "GPU_0"), "power_watts") == 412.5);
    assert_true(number_of(gpu_of(j, "detailed_gpu_metrics", "GPU_0"), "memory_used_gb") == 30);
    assert_true(number_of(gpu_of(j, "detailed_gpu_metrics", "GPU_5"), "temperature_celsius") == 61);
    assert_int_equal(number_of(json_object_get(j, "memory_profiles"), "unitary_gradient"), 12345);
    assert_true(number_of(j, "learning_rate") == 0.5);
    json_decref(j);
    vp_bench_free(b);
}

static void no_such_memory(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        vp_bench *b;
        assert_int_equal(vp_bench_open(&b, tree.path, 1), 0);
        switch (i) {
        case 0:
            vp_bench_gpu_memory_initial(b, -1, 10, 5);
            break;
        case 1:
            vp_bench_gpu_memory_final(b, 64, 10, 5);
            break;
        case 2:
            vp_bench_gpu_memory_initial(b, 0, 0, 0);
            break;
        case 3:
            vp_bench_gpu_memory_final(b, 0, 10, 11);
            break;
        case 4:
            vp_bench_gpu_metric(b, 0, "memory_used_gb", 1); /* ours */
            break;
        default:
            vp_bench_memory(b, "process_peak_bytes", 1); /* ours */
        }
        assert_int_equal(vp_bench_write(b, NULL), VP_EARG);
        vp_bench_free(b);
    }
    vp_bench_gpu_memory_initial(NULL, 0, 1, 1);
    vp_bench_gpu_memory_final(NULL, 0, 1, 1);
    vp_bench_gpu_metric(NULL, 0, "x", 1);
}

/* A mistake about one key is said, and costs nothing else of a long run. */
static void one_bad_key_loses_nothing_else(void **state)
{
    vp_bench *b;
    method m = {.letter = 'm'};
    (void)state;
    calls[0] = '\0';
    assert_int_equal(vp_bench_open(&b, tree.path, 1), 0);
    assert_int_equal(vp_bench_add(b, "m", run, &m), 0);
    assert_int_equal(vp_bench_run(b, 0, 1), 0);
    vp_bench_set_int(b, "before", 1);
    vp_bench_gpu_metric(b, 99, "x", 1);
    for (int i = 0; i < 300; i++) {
        char key[16];
        snprintf(key, sizeof key, "key%d", i);
        vp_bench_set_int(b, key, i);
    }
    assert_int_equal(vp_bench_write(b, NULL), VP_EARG); /* of the first */
    assert_non_null(strstr(vp_error_last()->message, "no GPU 99"));
    json_t *j = results_of(vp_bench_dir(b), 1);
    assert_int_equal(number_of(j, "before"), 1);
    assert_int_equal(number_of(j, "key254"), 254);
    assert_null(json_object_get(j, "key255"));
    assert_true(json_is_true(json_object_get(json_object_get(j, "m"), "success")));
    json_decref(j);
    vp_bench_free(b);
}

static void what_makes_no_sense(void **state)
{
    vp_bench *b;
    method m = {.letter = 'm'};
    (void)state;
    assert_int_equal(vp_bench_open(&b, tree.path, -1), VP_EARG);
    assert_int_equal(vp_bench_open(&b, tree.path, 0), VP_EARG);
    assert_int_equal(vp_bench_open(&b, "/proc/no", 1), VP_EIO);
    assert_int_equal(vp_bench_open(&b, tree.path, 1), 0);
    assert_int_equal(vp_bench_add(b, "step_timing", run, &m), VP_EARG);
    assert_int_equal(vp_bench_add(b, "", run, &m), VP_EARG);
    assert_int_equal(vp_bench_add(b, "m", run, &m), 0);
    assert_int_equal(vp_bench_add(b, "m", run, &m), VP_EARG);
    assert_int_equal(vp_bench_run(b, 0, 0), VP_EARG);
    vp_bench_set_int(b, "gpu_count", 9); /* ours */
    assert_int_equal(vp_bench_write(b, NULL), VP_EARG);
    vp_bench_free(b);
    vp_bench_free(NULL);
}

static int make_tree(void **state)
{
    (void)state;
    return vp_temp_tree_make(&tree, "vp_test_bench");
}

static int drop_tree(void **state)
{
    (void)state;
    vp_temp_tree_free(&tree);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_methods),
        cmocka_unit_test(a_method_that_fails),
        cmocka_unit_test(a_failure_without_words),
        cmocka_unit_test(directories_do_not_collide),
        cmocka_unit_test(memory_that_the_driver_tells),
        cmocka_unit_test(a_driver_that_nobody_started),
        cmocka_unit_test(what_the_caller_says_stands),
        cmocka_unit_test(no_such_memory),
        cmocka_unit_test(one_bad_key_loses_nothing_else),
        cmocka_unit_test(what_makes_no_sense),
    };
    return cmocka_run_group_tests(tests, make_tree, drop_tree);
}
