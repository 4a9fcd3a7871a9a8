/* The GPU's side of a recording against a CUPTI that is a stand-in (fake_cupti.c): what starts and
 * ends, what becomes of its times, and every reason for which there is nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "tests/unit/fake_cupti.h"
#include "trace/base/err.h"
#include "trace/base/system/temp_tree.h"
#include "trace/capture/disk/small_files.h"
#include "trace/capture/gpu/cuda_driver.h"
#include "trace/capture/gpu/cupti.h"
#include "trace/capture/pool/recorder.h"

static fake_cupti_plan *fake;

static int64_t unix_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int open_fake(void **state)
{
    (void)state;
    void *lib = dlopen(VP_FAKE_CUPTI, RTLD_NOW | RTLD_LOCAL);
    fake = lib ? dlsym(lib, "fake_cupti") : NULL;
    cupti_use_library(VP_FAKE_CUPTI);
    return fake ? 0 : -1;
}

static int reset(void **state)
{
    (void)state;
    *fake = (fake_cupti_plan){.version = 130000, .kernels = 3};
    return 0;
}

static void check_records(const gpu_activity *a, int64_t before, int64_t slack)
{
    assert_int_equal(a->count, 6);
    for (size_t i = 0; i < 6; i += 2) {
        const gpu_record *call = &a->records[i], *kernel = &a->records[i + 1];
        assert_int_equal(call->kind, GPU_RUNTIME);
        assert_int_equal(kernel->kind, GPU_KERNEL);
        assert_int_equal(call->correlation, kernel->correlation);
        assert_true(vp_str_eq(gpu_name(a, kernel->kernel.name), VP_STR("_Z4workv")));
        assert_true(vp_str_eq(gpu_name(a, call->call.name), VP_STR("cudaLaunchKernel")));
        assert_true(call->start_ns >= before - slack);
        assert_true(call->start_ns <= unix_ns() + (int64_t)(i / 2) * 100000 + slack);
    }
}

static void test_records(void **state)
{
    (void)state;
    for (int run = 0; run < 3; run++) {
        reset(NULL);
        int64_t before = unix_ns();
        assert_int_equal(cupti_start(VP_GPU_REQUIRE, false), 0);
        assert_int_equal(fake->enabled, 7);
        assert_int_equal(fake->subscribers, 1);
        gpu_activity *a = cupti_stop();
        assert_non_null(a);
        assert_int_equal(a->status, 0);
        check_records(a, before, 1000000);
        /* Our own clock: what is 10 us apart is so to the ns. */
        assert_int_equal(a->records[1].start_ns - a->records[0].start_ns, 10000);
        assert_int_equal(fake->disabled, 6);
        assert_false(fake->off >> 10 & 1); /* CONCURRENT_KERNEL, as XLA leaves it */
        assert_int_equal(fake->flushes, 1);
        assert_int_equal(fake->subscribers, 0);
        assert_int_equal(a->dropped + a->damaged + a->outside + a->unknown, 0);
        gpu_activity_free(a);
        assert_null(cupti_stop());
    }
}

/* Without the timestamp callback its clock is read at the start and the end; this one runs at half
 * the speed, so that what it calls 1 us took 2. The slack is what reading two clocks 16 times can
 * be off, over the time of the test. */
static void test_clock_of_its_own(void **state)
{
    (void)state;
    fake->no_timestamp_callback = true;
    int64_t before = unix_ns();
    assert_int_equal(cupti_start(VP_GPU_REQUIRE, false), 0);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    gpu_activity *a = cupti_stop();
    assert_non_null(a);
    check_records(a, before, 1000000);
    int64_t apart = a->records[1].start_ns - a->records[0].start_ns;
    assert_in_range(apart, 19000, 21000);
    gpu_activity_free(a);
}

/* CUPTI takes a buffer for each thread: more than 32 have one of their own, and lose nothing. */
static void test_many_threads(void **state)
{
    (void)state;
    fake->hold = true;
    fake->per_buffer = 3;
    fake->kernels = 3 * 200;
    assert_int_equal(cupti_start(VP_GPU_REQUIRE, false), 0);
    gpu_activity *a = cupti_stop();
    assert_int_equal(fake->buffers, 200);
    assert_int_equal(fake->shared, 0);
    assert_int_equal(a->count, 2 * 3 * 200);
    assert_int_equal(a->dropped + a->damaged, 0);
    gpu_activity_free(a);
}

/* More than there are buffers: what goes into the others is counted, but no two are one. A kernel
 * and its call take 248 bytes, and a record is counted for every 40. */
static void test_buffers_run_out(void **state)
{
    (void)state;
    fake->hold = true;
    fake->per_buffer = 2;
    fake->kernels = 2 * 1026;
    fake->dropped = 5;
    assert_int_equal(cupti_start(VP_GPU_REQUIRE, false), 0);
    fake->dropped = 5; /* what was before is none of ours */
    gpu_activity *a = cupti_stop();
    assert_int_equal(fake->buffers, 1026);
    assert_int_equal(fake->shared, 0);
    assert_int_equal(a->count, 2 * 2 * 1024);
    assert_int_equal(a->dropped, 5 + 2 * (2 * 248 / 40));
    gpu_activity_free(a);
    reset(NULL);
    assert_int_equal(cupti_start(VP_GPU_REQUIRE, false), 0); /* and all are free again */
    a = cupti_stop();
    assert_int_equal(a->count, 6);
    assert_int_equal(a->dropped, 0);
    gpu_activity_free(a);
}

static void all_finish(void)
{
    fake->finished = fake->kernels;
}

/* A flush waits for no kernel: what runs when the recording ends has no end, unless the device is
 * waited for. */
static void test_waits_for_the_device(void **state)
{
    (void)state;
    void *lib = dlopen(VP_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    void (**on_sync)(void) = dlsym(lib, "fake_cuda_on_sync");
    int *synced = dlsym(lib, "fake_cuda_synced");
    fake->running = true;
    assert_int_equal(cupti_start(VP_GPU_REQUIRE, false), 0);
    cuda_use_library(VP_FAKE_CUDA);
    *on_sync = all_finish;
    gpu_activity *a = cupti_stop();
    cuda_use_library(NULL);
    *on_sync = NULL;
    assert_int_equal(a->damaged, 0);
    assert_int_equal(a->count, 6);
    assert_int_equal(*synced, 1 << 0 | 1 << 1 | 1 << 3); /* the current one, and two primary ones */
    gpu_activity_free(a);
    dlclose(lib);
}

/* Kernels stay on, so that CUPTI goes on telling of them when nothing records. */
static void test_between_recordings(void **state)
{
    (void)state;
    assert_int_equal(cupti_start(VP_GPU_REQUIRE, false), 0);
    gpu_activity_free(cupti_stop());
    int (*flush)(uint32_t) = NULL;
    void *lib = dlopen(VP_FAKE_CUPTI, RTLD_NOW | RTLD_NOLOAD),
         *symbol = dlsym(lib, "cuptiActivityFlushAll");
    memcpy(&flush, &symbol, sizeof flush);
    for (int i = 0; i < 3000; i++) { /* more than there are buffers */
        fake->told = 0;
        flush(1);
    }
    reset(NULL);
    assert_int_equal(cupti_start(VP_GPU_REQUIRE, false), 0);
    gpu_activity *a = cupti_stop();
    assert_int_equal(a->count, 6);
    assert_int_equal(a->dropped + a->damaged + a->outside, 0);
    gpu_activity_free(a);
    dlclose(lib);
}

/* What has been told so far is handed over while tracing goes on, and at the end everything is. */
static void test_past(void **state)
{
    (void)state;
    fake->kernels = 5;
    fake->finished = 2;
    int64_t before = unix_ns();
    assert_null(cupti_past(0));
    assert_int_equal(cupti_start(VP_GPU_REQUIRE, false), 0);
    fake->dropped = 7;
    gpu_activity *a = cupti_past(0);
    assert_non_null(a);
    assert_int_equal(a->count, 4);
    assert_int_equal(a->dropped, 7);
    assert_int_equal(fake->disabled, 0);
    int64_t first_end = a->records[1].end_ns, last_end = a->records[3].end_ns;
    assert_true(first_end > before && first_end < last_end);
    gpu_activity_free(a);

    fake->finished = 3;
    a = cupti_past(first_end);
    assert_int_equal(a->count, 4); /* the second and the third */
    assert_int_equal(a->records[0].correlation, 2);
    assert_true(vp_str_eq(gpu_name(a, a->records[3].kernel.name), VP_STR("_Z4workv")));
    assert_true(vp_str_eq(gpu_name(a, a->records[2].call.name), VP_STR("cudaLaunchKernel")));
    gpu_activity_free(a);

    a = cupti_stop();
    assert_int_equal(a->count, 10);
    assert_int_equal(a->dropped, 7);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(a->records[i].correlation, i / 2 + 1);
    gpu_activity_free(a);
    assert_null(cupti_past(0));
}

static void test_past_of_nothing_says_why(void **state)
{
    (void)state;
    fake->subscribe_result = 39;
    assert_true(cupti_start(VP_GPU_REQUIRE, false) < 0);
    gpu_activity *a = cupti_past(0);
    assert_non_null(a);
    assert_int_equal(a->count, 0);
    assert_true(a->status < 0 && a->why[0]);
    gpu_activity_free(a);
    gpu_activity_free(cupti_stop());
}

/* Nothing is loaded for a process that does not use CUDA, and it is told so; unless nobody asked.
 * In a child, since a loaded library stays; a grandchild finds its own reason. */
static void test_a_process_without_cuda(void **state)
{
    (void)state;
    pid_t child = fork();
    if (!child) {
        cupti_use_library(NULL);
        bool right = cupti_start(CAP_GPU_IF_USED, false) == 0 && !cupti_stop();
        for (int generation = 0; generation < 2; generation++) {
            right = right && cupti_start(VP_GPU_AUTO, false) == VP_EGPU_UNAVAILABLE &&
                    strstr(vp_error_last()->message, "libcuda.so.1");
            if (generation == 0 && (child = fork()) != 0)
                break;
        }
        gpu_activity *a = cupti_past(0);
        right = right && a && a->status == VP_EGPU_UNAVAILABLE && strstr(a->why, "libcuda.so.1");
        gpu_activity_free(a);
        a = cupti_stop();
        right = right && a && a->status == VP_EGPU_UNAVAILABLE && strstr(a->why, "libcuda.so.1");
        gpu_activity_free(a);
        int status = 0;
        if (child > 0)
            waitpid(child, &status, 0);
        _exit(right && status == 0 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void expect_reason(int status, const char *part)
{
    assert_int_equal(cupti_start(VP_GPU_REQUIRE, false), status);
    assert_non_null(strstr(vp_error_last()->message, part));
    gpu_activity *a = cupti_stop();
    assert_non_null(a);
    assert_int_equal(a->status, status);
    assert_non_null(strstr(a->why, part));
    assert_int_equal(a->count, 0);
    gpu_activity_free(a);
    assert_null(cupti_stop());
    assert_int_equal(fake->subscribers, 0);
    reset(NULL);
}

static void test_reasons(void **state)
{
    (void)state;
    fake->subscribe_result = 39;
    expect_reason(VP_EGPU_BUSY, "another profiler");
    fake->enable_result = 35;
    expect_reason(VP_EPERM, "NVreg_RestrictProfilingToAdminUsers=0");
    fake->enable_result = 999;
    expect_reason(VP_EGPU_UNAVAILABLE, "no NVIDIA driver");
    fake->enable_result = 33;
    expect_reason(VP_EGPU_UNAVAILABLE, "virtual GPU");
}

static void test_part_is_missing(void **state)
{
    (void)state;
    fake->only_kind = 22;
    fake->enable_result = 27;
    assert_int_equal(cupti_start(VP_GPU_REQUIRE, false), 0);
    gpu_activity *a = cupti_stop();
    assert_int_equal(a->status, 0);
    assert_string_equal(a->why, "not traced: copies between devices");
    assert_int_equal(a->count, 6);
    gpu_activity_free(a);
}

static void test_twice_and_off(void **state)
{
    (void)state;
    assert_int_equal(cupti_start(VP_GPU_OFF, false), 0);
    assert_null(cupti_stop());
    assert_int_equal(cupti_start(VP_GPU_REQUIRE, false), 0);
    assert_int_equal(cupti_start(VP_GPU_REQUIRE, false), VP_EGPU_BUSY);
    pid_t child = fork();
    if (!child) /* what the parent started is not the child's to end */
        _exit(cupti_start(VP_GPU_REQUIRE, false) == VP_EGPU_UNAVAILABLE && !cupti_stop() ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    gpu_activity *a = cupti_stop();
    assert_int_equal(a->count, 6);
    gpu_activity_free(a);
}

static bool on_in_flush;

static void flush_slowly(void)
{
    on_in_flush = on_in_flush || cap_generation() != 0;
    usleep(60000);
}

/* What the GPU has told no more of is over for the host, too: the time that its buffers take to be
 * flushed is no part of the recording, in which the device would be seen idle. */
static void test_flush_is_no_part_of_a_recording(void **state)
{
    (void)state;
    vp_temp_tree t;
    vp_recording *r;
    vp_config cfg = VP_CONFIG_INIT;
    vp_result result = VP_RESULT_INIT;
    assert_int_equal(vp_temp_tree_make(&t, "vp_test_cupti"), 0);
    cfg.dir = t.path;
    cfg.gpu = VP_GPU_REQUIRE;
    cfg.pool_bytes = 1;
    cfg.export_now = true;
    on_in_flush = false;
    fake->on_flush = flush_slowly;
    int64_t start = unix_ns();
    assert_int_equal(vp_start(&r, &cfg), 0);
    assert_int_equal(vp_stop(r, &result), 0);
    int64_t all = unix_ns() - start - result.export_ns;
    assert_int_equal(fake->flushes, 1);
    assert_int_equal(result.gpu_status, 0);
    assert_false(on_in_flush);
    assert_true(result.duration_ns <= all - 60000000);
    vp_temp_tree_free(&t);
}

/* What CUPTI's next version is unknown to us is tried, and said; what is none is refused. In a
 * child each, since a loaded one stays. */
static void test_strange_libraries(void **state)
{
    (void)state;
    static const char *const paths[] = {VP_FAKE_CUPTI, "libm.so.6", "/nowhere/libcupti.so"};
    static const char *const parts[] = {"unsupported CUPTI version 140000",
                                        "has no cuptiGetVersion", "cannot load libcupti.so"};
    for (size_t i = 0; i < 3; i++) {
        pid_t child = fork();
        if (!child) {
            fake->version = 140000;
            cupti_use_library(paths[i]);
            bool right = cupti_start(VP_GPU_REQUIRE, false) == (i ? VP_EGPU_UNAVAILABLE : 0);
            gpu_activity *a = cupti_stop();
            right = right && a && strstr(a->why, parts[i]) && a->count == (i ? 0 : 6);
            gpu_activity_free(a);
            _exit(right ? 0 : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

/* Another file, so that the loader takes it for another library. */
static void copy_file(const char *from, const char *to)
{
    char bytes[65536];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in && out);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        assert_int_equal(fwrite(bytes, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* As pip installs it: nvidia-cuda-cupti-cu12 has a directory of its own, from CUDA 13 on all share
 * one. Found by the environment, and by a library that is loaded from beside it. */
static void test_found_in_site_packages(void **state)
{
    (void)state;
    static const char *const places[] = {"nvidia/cuda_cupti/lib/libcupti.so.12",
                                         "nvidia/cu13/lib/libcupti.so.13"};
    vp_temp_tree t;
    assert_int_equal(vp_temp_tree_make(&t, "vp_test_cupti"), 0);
    char path[VP_PATH_MAX + 200], root[VP_PATH_MAX + 100], found[VP_PATH_MAX];
    for (int i = 0; i < 4; i++) {
        snprintf(root, sizeof root, "%s/venv%d/lib/python3.11/site-packages", t.path, i);
        snprintf(path, sizeof path, "%s/%s", root, places[i % 2]);
        *strrchr(path, '/') = 0;
        assert_int_equal(cap_make_dirs(path), 0);
        snprintf(path, sizeof path, "%s/%s", root, places[i % 2]);
        copy_file(VP_FAKE_CUPTI, path);
        pid_t child = fork();
        if (!child) {
            char *home = strdup(root);
            *strstr(home, "/lib/") = 0;
            cupti_use_library(NULL);
            char loaded[VP_PATH_MAX + 200];
            snprintf(loaded, sizeof loaded, "%s/nvidia/libfirst.so", root);
            if (i < 2)
                setenv("VIRTUAL_ENV", home, 1);
            else
                copy_file(VP_FAKE_CUDA, loaded);
            if (i >= 2 && !dlopen(loaded, RTLD_NOW))
                _exit(2);
            cupti_find(found, sizeof found);
            free(home);
            _exit(strcmp(found, path) == 0 ? 0 : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    vp_temp_tree_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_strange_libraries, reset), /* before anything is loaded */
        cmocka_unit_test_setup(test_found_in_site_packages, reset),
        cmocka_unit_test_setup(test_a_process_without_cuda, reset),
        cmocka_unit_test_setup(test_records, reset),
        cmocka_unit_test_setup(test_clock_of_its_own, reset),
        cmocka_unit_test_setup(test_many_threads, reset),
        cmocka_unit_test_setup(test_buffers_run_out, reset),
        cmocka_unit_test_setup(test_waits_for_the_device, reset),
        cmocka_unit_test_setup(test_between_recordings, reset),
        cmocka_unit_test_setup(test_past, reset),
        cmocka_unit_test_setup(test_past_of_nothing_says_why, reset),
        cmocka_unit_test_setup(test_reasons, reset),
        cmocka_unit_test_setup(test_part_is_missing, reset),
        cmocka_unit_test_setup(test_twice_and_off, reset),
        cmocka_unit_test_setup(test_flush_is_no_part_of_a_recording, reset),
    };
    return cmocka_run_group_tests(tests, open_fake, NULL);
}
