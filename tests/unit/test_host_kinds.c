/* trace/analyze/host_kinds: the names of docs/reference/metrics.md#host-events and what real traces
 * add to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/trace_maker.h"
#include "trace/analyze/host/host_kinds.h"

typedef struct sample {
    const char *name, *category;
    uint32_t flags;
} sample;

static void check(const sample *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t got = host_kind_flags_of(vp_str_of(v[i].name), vp_str_of(v[i].category));
        if (got != v[i].flags)
            fail_msg("%s (%s): %#x, not %#x", v[i].name, v[i].category, got, v[i].flags);
    }
}

#define CHECK(table) check(table, sizeof table / sizeof *table)

/* The expression of 2.5, whole names and their neighbours that are none. */
static void compile_roots(void **state)
{
    static const sample v[] = {
        {"backend_compile", "", HK_COMPILE},
        {"backend_compile_and_load", "", HK_COMPILE},
        {"$compiler.py:292 backend_compile_and_load", "", HK_COMPILE | HK_PYTHON},
        {"$compiler.py:1 compile_or_get_cached", "", HK_COMPILE | HK_PYTHON},
        {"PjRtCApiClient::Compile", "", HK_COMPILE},
        {"PjRtStreamExecutorClient::CompileAndLoad", "", HK_COMPILE},
        {"TfrtCpuClient::CompileInternal", "", HK_COMPILE},
        {"PJRT_Client_Compile", "", HK_COMPILE},
        {"XlaCompile:#module=f#", "", HK_COMPILE},
        {"XlaCompileBackend", "", HK_COMPILE},
        {"XlaCompile", "", HK_COMPILE},
        {"XlaCompiler", "", 0},
        {"_compile.compile_inner (dynamo_timed)", "user_annotation", HK_COMPILE},
        {"backend_compiler", "", 0},
        {"CpuCompiler::RunBackend", "", 0},
        {"$mycompiler.py:3 backend_compile", "", HK_PYTHON},
        {"$compiler.py:4 backend_compile_x", "", HK_PYTHON},
        {"trace_to_jaxpr_dynamic", "", HK_LOWER},
        {"$pxla.py:7 lower_sharding_computation", "", HK_LOWER | HK_PYTHON},
        {"$compiler.py:8 _cache_read", "", HK_CACHE | HK_PYTHON},
        {"$compiler.py:9 _compile_and_write_cache", "", HK_CACHE_MISS | HK_PYTHON},
    };
    (void)state;
    CHECK(v);
}

static void calls_and_launches(void **state)
{
    static const sample v[] = {
        {"PjitFunction(train_step)", "", HK_CALL},
        {"ExecuteReplicated.__call__", "", HK_EXECUTE},
        {"PJRT_LoadedExecutable_Execute", "", HK_EXECUTE},
        {"[3] CommonPjRtLoadedExecutable::Execute (jit_body)", "", HK_EXECUTE},
        {"TfrtTpuLoadedExecutable::ExecuteLaunch", "", HK_EXECUTE},
        {"GpuExecutable::ExecuteThunks", "", HK_EXECUTE},
        {"ThunkExecutor::Execute", "", HK_EXECUTE},
        {"ThunkExecutor::Execute (wait for completion)", "", HK_BLOCKING},
        {"cudaLaunchKernel", "cuda_runtime", HK_LAUNCH},
        {"cuLaunchKernelEx", "cuda_driver", HK_LAUNCH},
        {"hipExtModuleLaunchKernel", "", HK_LAUNCH},
        {"cudaGraphLaunch", "cuda_runtime", HK_LAUNCH | HK_GRAPH},
        {"hipGraphLaunch", "cuda_runtime", HK_LAUNCH | HK_GRAPH},
        {"cudaMemcpyAsync", "cuda_runtime", HK_LAUNCH | HK_TRANSFER},
        {"cudaMemcpy", "cuda_runtime", HK_LAUNCH | HK_TRANSFER | HK_BLOCKING},
        {"hipMemcpyWithStream", "cuda_runtime", HK_LAUNCH | HK_TRANSFER | HK_BLOCKING},
        {"cudaMemsetAsync", "cuda_runtime", HK_LAUNCH},
        {"cudaGetDevice", "cuda_runtime", 0},
        {"custom_op", "cpu_op", 0},
        {"cudnn_convolution", "cpu_op", 0},
    };
    (void)state;
    CHECK(v);
}

static void waiting(void **state)
{
    static const sample v[] = {
        {"cudaStreamSynchronize", "cuda_runtime", HK_BLOCKING},
        {"cudaDeviceSynchronize", "cuda_runtime", HK_BLOCKING},
        {"hipEventSynchronize", "cuda_runtime", HK_BLOCKING},
        {"cudaFree", "cuda_runtime", HK_BLOCKING},
        {"cudaStreamWaitEvent", "cuda_runtime", 0}, /* a stream waits, no thread */
        {"Stream Wait Event", "cuda_sync", HK_NOISE},
        {"np.asarray(jax.Array)", "", HK_BLOCKING | HK_TRANSFER},
        {"PjRtFuture::Await", "", HK_BLOCKING},
        {"CommonPjRtBuffer::Await", "", HK_BLOCKING},
        {"Wait for donation holds", "", HK_BLOCKING},
        {"aten::item", "cpu_op", HK_BLOCKING},
        {"$array.py:631 _value", "", HK_BLOCKING | HK_PYTHON},
        {"torch/cuda/__init__.py(954): synchronize", "python_function", HK_BLOCKING | HK_PYTHON},
        {"synchronizeStream", "mtia_runtime", HK_BLOCKING},
        {"synchronizeStream", "", 0},
    };
    (void)state;
    CHECK(v);
}

static void input_callbacks_and_transfers(void **state)
{
    static const sample v[] = {
        {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation",
         HK_INPUT},
        {"torch/utils/data/dataloader.py(517): __next__", "python_function",
         HK_INPUT | HK_PULL | HK_PYTHON},
        {"IteratorGetNext:IteratorGetNext", "", HK_INPUT},
        {"Iterator::Model::ParallelMap::Zip[0]", "", HK_INPUT},
        {"PrefetchConsume", "", HK_INPUT},
        {"TpuClient::TransferToInfeed", "", HK_INPUT},
        {"## load_batch ##", "user_annotation", HK_INPUT},
        {"infeed-token-propagation", "", 0}, /* a pass of the compiler */
        {"$builtins next", "", HK_PULL | HK_PYTHON},
        {"<built-in function next>", "python_function", HK_PULL | HK_PYTHON},
        {"$epoch.py:41 __next__", "", HK_PULL | HK_PYTHON},
        {"$queue.py:154 get", "", HK_PULL | HK_PYTHON},
        {"multiprocessing/queues.py(86): get", "python_function", HK_PULL | HK_PYTHON},
        {"$myqueue.py:154 get", "", HK_PYTHON},
        {"$contextlib.py:132 __enter__", "", HK_CONTEXT | HK_PYTHON},
        {"xla_ffi_python_cpu_callback", "", HK_CALLBACK},
        {"$debugging.py:120 debug_callback_impl", "", HK_CALLBACK | HK_PYTHON},
        {"$debugging.py:99 debug_print", "", HK_PYTHON}, /* says what to print, while tracing */
        {"tpu::System::TransferToDevice=>IssueEvent", "", HK_TRANSFER},
        {"H2D Dispatch", "", HK_TRANSFER},
        {"TfrtTpuBuffer::CopyToMemoryViaPcieOrMemcpy", "", HK_TRANSFER},
        {"DevicePutWithSharding", "", HK_TRANSFER},
        {"MapDmaBuffer", "", HK_TRANSFER},
        {"## copy_batch_to_gpu ##", "user_annotation", HK_TRANSFER},
        {"MemcpyH2D", "", HK_LAUNCH | HK_TRANSFER},
    };
    (void)state;
    CHECK(v);
}

static void steps_noise_and_the_profiler(void **state)
{
    static const sample v[] = {
        {"ProfilerStep#7", "user_annotation", HK_STEP},
        {"ThreadpoolListener::StartRegion", "", HK_NOISE},
        {"MemoryDeallocation", "", HK_NOISE},
        {"end: dot", "", HK_NOISE},
        {"Activity Buffer Request", "overhead", HK_PROFILER},
        {"$profiler.py:226 stop_trace", "", HK_PROFILER | HK_PYTHON},
        {"$profiler.py:350 wrapper", "", HK_NOISE | HK_PYTHON}, /* around backend_compile, too */
        {"torch/profiler/profiler.py(780): step", "python_function", HK_PROFILER | HK_PYTHON},
        {"$unprofiler.py:1 stop_trace", "", HK_PYTHON},
        {"", "", 0},
        {"$", "", 0},
    };
    (void)state;
    CHECK(v);
}

static void frames_are_taken_apart(void **state)
{
    vp_str file, function;
    (void)state;
    assert_true(host_frame(VP_STR("$m.py:12 f g"), VP_STR(""), &file, &function));
    assert_true(vp_str_eq(file, VP_STR("m.py")));
    assert_true(vp_str_eq(function, VP_STR("f g")));
    assert_true(host_frame(VP_STR("$builtins len"), VP_STR(""), &file, &function));
    assert_true(vp_str_eq(file, VP_STR("builtins")));
    assert_true(host_frame(VP_STR("x/y.py(3): f"), VP_STR("python_function"), &file, &function));
    assert_true(vp_str_eq(file, VP_STR("x/y.py")));
    assert_true(vp_str_eq(function, VP_STR("f")));
    assert_true(
        host_frame(VP_STR("<built-in method f>"), VP_STR("python_function"), &file, &function));
    assert_int_equal(file.n, 0);
    assert_true(vp_str_eq(function, VP_STR("<built-in method f>")));
    assert_false(host_frame(VP_STR("x/y.py(3): f"), VP_STR("cpu_op"), &file, &function));
}

/* An event of two kinds counts as the first: compile, input, callback, sync, transfer. */
static void causes_have_an_order(void **state)
{
    static const struct {
        const char *name;
        vp_cause cause;
    } v[] = {{"backend_compile", VP_CAUSE_COMPILE}, {"Iterator::Model", VP_CAUSE_INPUT},
             {"PyFunc", VP_CAUSE_CALLBACK},         {"np.asarray(jax.Array)", VP_CAUSE_SYNC},
             {"cudaMemcpy", VP_CAUSE_SYNC},         {"cudaMemcpyAsync", VP_CAUSE_TRANSFER},
             {"cudaLaunchKernel", VP_CAUSE_HOST},   {"aten::mm", VP_CAUSE_HOST}};
    enum { N = sizeof v / sizeof *v };
    trace *t = tm_new();
    host_kinds *k;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        sink_kind kind = tm_plain(v[i].name);
        assert_int_equal(tm_kind(t, &kind), i);
    }
    assert_int_equal(host_kinds_new(&k, t), 0);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(host_kind_cause(k, i), v[i].cause);
    host_kinds_free(k);
    trace_free(t);
}

/* host_marked_from visits exactly the events of marked kinds, over several words of bits
 * and more than one piece of a million events. */
static void test_marked_events(void **state)
{
    enum { EVENTS = 1100000 };
    static const char *const names[] = {"plain", "backend_compile", "plain too", "H2D Dispatch"};
    trace *t = tm_new();
    host_kinds *x;
    (void)state;
    uint32_t host = tm_process(t, SINK_PROCESS_HOST, "/host:CPU", 0);
    uint32_t empty = tm_track(t, host, "nothing", SINK_ROLE_PLAIN);
    uint32_t track = tm_track(t, host, "python", SINK_ROLE_PLAIN);
    uint32_t kinds[4];
    for (size_t i = 0; i < 4; i++) {
        sink_kind kind = tm_plain(names[i]);
        kinds[i] = tm_kind(t, &kind);
    }
    for (int64_t i = 0; i < EVENTS; i++) {
        sink_event e = {i * 1000, 500, SINK_NO_TIME, 0, track, kinds[i % 77 ? i % 2 * 2 : i % 4],
                        NULL};
        assert_int_equal(t->sink.events(&t->sink, &e, 1), 0);
    }
    assert_int_equal(trace_seal(t), 0);
    assert_int_equal(host_kinds_new(&x, t), 0);
    const trace_track *k = &t->tracks[track];
    size_t next = host_marked_from(x, k, 0), found = 0;
    for (size_t i = 0; i < k->count; i++) {
        bool is = host_kind_flags(x, trace_kind_of(k, i)) & HK_MARKED;
        assert_int_equal(is, i == next);
        found += is;
        next = is ? host_marked_from(x, k, i + 1) : next;
    }
    assert_true(next == SIZE_MAX);
    assert_int_equal(found, EVENTS / 77 / 2 + 1);
    assert_true(host_marked_from(x, &t->tracks[empty], 0) == SIZE_MAX);
    host_kinds_free(x);
    trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compile_roots),
        cmocka_unit_test(calls_and_launches),
        cmocka_unit_test(waiting),
        cmocka_unit_test(input_callbacks_and_transfers),
        cmocka_unit_test(steps_noise_and_the_profiler),
        cmocka_unit_test(frames_are_taken_apart),
        cmocka_unit_test(causes_have_an_order),
        cmocka_unit_test(test_marked_events),
    };
    return cmocka_run_group_tests_name("host_kinds", tests, NULL, NULL);
}
