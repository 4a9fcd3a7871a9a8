/* The names of docs/reference/metrics.md#host-events as tables. A name may match several rows:
 * their flags add up. */
#include "trace/analyze/host/host_kinds.h"

typedef enum match { IS, STARTS, ENDS, HAS, HAS_NOCASE } match;

typedef struct name_rule {
    const char *text;
    uint32_t flags;
    uint8_t n, how; /* bytes of text; match */
} name_rule;

#define ROW(how, text, flags)                                                                      \
    {                                                                                              \
        text, flags, sizeof(text) - 1, how                                                         \
    }

static const name_rule names[] = {
    /* compile roots: XLA through JAX and PJRT, TensorFlow, torch.compile, CUDA's runtime compiler
     */
    ROW(IS, "backend_compile", HK_COMPILE),
    ROW(IS, "backend_compile_and_load", HK_COMPILE),
    ROW(IS, "compile_or_get_cached", HK_COMPILE),
    ROW(ENDS, "::Compile", HK_COMPILE),
    ROW(ENDS, "::CompileAndLoad", HK_COMPILE),
    ROW(ENDS, "::CompileInternal", HK_COMPILE),
    ROW(STARTS, "PJRT_Client_Compile", HK_COMPILE),
    ROW(IS, "XlaCompile", HK_COMPILE),
    ROW(STARTS, "XlaCompile:", HK_COMPILE),
    ROW(STARTS, "XlaCompileBackend", HK_COMPILE),
    ROW(STARTS, "_compile.compile_inner", HK_COMPILE),
    ROW(IS, "dynamo", HK_COMPILE), /* torch.compile of one frame, with its guards */
    ROW(STARTS, "entire_frame_compile", HK_COMPILE),
    ROW(STARTS, "entire_backward_compile", HK_COMPILE),
    ROW(HAS, "compile_id=", HK_REGION),
    ROW(STARTS, "Torch-Compiled Region: ", HK_REGION),
    ROW(IS, "nvrtcCompileProgram", HK_COMPILE),
    ROW(IS, "hiprtcCompileProgram", HK_COMPILE),
    ROW(STARTS, "trace_to_jaxpr", HK_LOWER),
    ROW(IS, "lower_sharding_computation", HK_LOWER),
    ROW(IS, "lower_jaxpr_to_module", HK_LOWER),
    /* calls and executions of compiled functions */
    ROW(STARTS, "PjitFunction(", HK_CALL),
    ROW(IS, "ExecuteReplicated.__call__", HK_EXECUTE),
    ROW(HAS, "LoadedExecutable::Execute", HK_EXECUTE),
    ROW(STARTS, "PJRT_LoadedExecutable_Execute", HK_EXECUTE),
    ROW(STARTS, "TfrtCpuExecutable::Execute", HK_EXECUTE),
    ROW(STARTS, "GpuExecutable::Execute", HK_EXECUTE),
    ROW(IS, "ThunkExecutor::Execute", HK_EXECUTE),
    ROW(STARTS, "tpu::System::Execute", HK_EXECUTE),
    ROW(STARTS, "EagerLocalExecute", HK_EXECUTE),
    ROW(STARTS, "EagerKernelExecute", HK_EXECUTE),
    ROW(IS, "FunctionRun", HK_EXECUTE),
    ROW(IS, "SessionRun", HK_EXECUTE),
    /* launches that profilers name differently than the API */
    ROW(IS, "MemcpyH2D", HK_LAUNCH | HK_TRANSFER),
    ROW(IS, "MemcpyD2H", HK_LAUNCH | HK_TRANSFER),
    ROW(IS, "MemcpyD2D", HK_LAUNCH | HK_TRANSFER),
    ROW(IS, "MemcpyP2P", HK_LAUNCH | HK_TRANSFER),
    ROW(STARTS, "runFunction - job_prep_and_submit", HK_LAUNCH),
    ROW(STARTS, "enqueueCommand memcpy", HK_LAUNCH | HK_TRANSFER),
    /* waiting for a device */
    ROW(IS, "np.asarray(jax.Array)", HK_BLOCKING | HK_TRANSFER),
    ROW(ENDS, "block_until_ready", HK_BLOCKING),
    ROW(IS, "Acquire semaphore", HK_BLOCKING),
    ROW(IS, "Wait for donation holds", HK_BLOCKING),
    ROW(IS, "Wait for usage holds", HK_BLOCKING),
    ROW(IS, "ThunkExecutor::Execute (wait for completion)", HK_BLOCKING),
    ROW(ENDS, "::Await", HK_BLOCKING), /* PjRtFuture, PjRtFuture<>, PjRtBuffer */
    ROW(HAS, "BlockHostUntil", HK_BLOCKING),
    ROW(ENDS, "WaitReady", HK_BLOCKING),
    ROW(IS, "aten::item", HK_BLOCKING),
    ROW(IS, "aten::_local_scalar_dense", HK_BLOCKING),
    /* waiting for input */
    ROW(STARTS, "enumerate(DataLoader)#", HK_INPUT),
    ROW(STARTS, "IteratorGetNext", HK_INPUT),
    ROW(STARTS, "MultiDeviceIteratorGetNext", HK_INPUT),
    ROW(STARTS, "Iterator::", HK_INPUT),
    ROW(STARTS, "PrefetchConsume", HK_INPUT),
    ROW(STARTS, "PrefetchProduce", HK_INPUT),
    ROW(HAS, "InfeedEnqueue", HK_INPUT),
    ROW(HAS, "TransferToInfeed", HK_INPUT),
    ROW(HAS, "TransferLiteralToInfeed", HK_INPUT),
    ROW(HAS, "TransferBufferToInfeed", HK_INPUT),
    /* annotations of the program itself, in the words of common training loops */
    ROW(HAS_NOCASE, "load_batch", HK_INPUT),
    ROW(HAS_NOCASE, "next_batch", HK_INPUT),
    ROW(HAS_NOCASE, "get_batch", HK_INPUT),
    ROW(HAS_NOCASE, "fetch_batch", HK_INPUT),
    ROW(HAS_NOCASE, "wait_for_batch", HK_INPUT),
    ROW(HAS_NOCASE, "load_data", HK_INPUT),
    ROW(HAS_NOCASE, "data_load", HK_INPUT),
    ROW(HAS_NOCASE, "dataloader", HK_INPUT),
    ROW(HAS_NOCASE, "data_wait", HK_INPUT),
    ROW(HAS_NOCASE, "input_pipeline", HK_INPUT),
    ROW(HAS_NOCASE, "infeed_enqueue", HK_INPUT),
    ROW(HAS_NOCASE, "batch_to_gpu", HK_TRANSFER),
    ROW(HAS_NOCASE, "batch_to_device", HK_TRANSFER),
    ROW(HAS_NOCASE, "host_to_device", HK_TRANSFER),
    ROW(HAS_NOCASE, "device_to_host", HK_TRANSFER),
    /* Python collects garbage on its own: torch.profiler with record_python_gc_info, and JAX */
    ROW(IS, "Python GC", HK_GC),
    ROW(IS, "gc", HK_GC),
    ROW(IS, "gc.collect", HK_GC),
    /* checkpoints, and files that must be on disk */
    ROW(HAS_NOCASE, "save_checkpoint", HK_WRITE),
    ROW(HAS_NOCASE, "checkpoint_save", HK_WRITE),
    ROW(IS, "SaveV2", HK_WRITE),
    ROW(IS, "MergeV2Checkpoints", HK_WRITE),
    ROW(IS, "fsync", HK_WRITE),
    ROW(IS, "fdatasync", HK_WRITE),
    /* the device calls back into the program */
    ROW(HAS, "python_cpu_callback", HK_CALLBACK),
    ROW(HAS, "python_gpu_callback", HK_CALLBACK),
    ROW(HAS_NOCASE, "host_callback", HK_CALLBACK),
    ROW(HAS, "HostCallback", HK_CALLBACK),
    ROW(IS, "PyFunc", HK_CALLBACK),
    ROW(IS, "EagerPyFunc", HK_CALLBACK),
    ROW(STARTS, "PyFunc:", HK_CALLBACK),
    ROW(STARTS, "EagerPyFunc:", HK_CALLBACK),
    ROW(HAS, "OutfeedReceiver", HK_CALLBACK),
    /* the host's part of copies */
    ROW(STARTS, "tpu::System::TransferToDevice", HK_TRANSFER),
    ROW(STARTS, "tpu::System::TransferFromDevice", HK_TRANSFER),
    ROW(IS, "H2D Dispatch", HK_TRANSFER),
    ROW(IS, "D2H Dispatch", HK_TRANSFER),
    ROW(IS, "PCIe/Memcpy Dispatch", HK_TRANSFER),
    ROW(IS, "XlaLinearize", HK_TRANSFER),
    ROW(IS, "XlaDelinearize", HK_TRANSFER),
    ROW(IS, "MapDmaBuffer", HK_TRANSFER),
    ROW(ENDS, "::CopyToMemoryViaPcieOrMemcpy", HK_TRANSFER),
    ROW(IS, "ArrayImpl.copy_to_host_async", HK_TRANSFER),
    ROW(STARTS, "DevicePut", HK_TRANSFER),
    ROW(IS, "device_put", HK_TRANSFER),
    ROW(STARTS, "batched_device_put", HK_TRANSFER),
    ROW(STARTS, "batched_copy_array_to_devices", HK_TRANSFER),
    ROW(STARTS, "BatchedCopyToDeviceWithSharding", HK_TRANSFER),
    ROW(HAS, "Buffer::CopyToDevice", HK_TRANSFER),
    ROW(HAS, "BufferFromHost", HK_TRANSFER),
    ROW(HAS, "Buffer::ToLiteral", HK_TRANSFER),
    ROW(STARTS, "EagerCopyToDevice", HK_TRANSFER),
    /* steps, noise, the profiler's own work */
    ROW(STARTS, "ProfilerStep#", HK_STEP),
    ROW(STARTS, "ProfilerStep*", HK_STEP),
    ROW(IS, "StepTraceAnnotation", HK_STEP),
    ROW(STARTS, "ThreadpoolListener::", HK_NOISE),
    ROW(IS, "MemoryAllocation", HK_NOISE),
    ROW(IS, "MemoryDeallocation", HK_NOISE),
    ROW(IS, "ExecutorPropagateOutputs", HK_NOISE),
    ROW(STARTS, "end: ", HK_NOISE),
    ROW(IS, "[memory]", HK_NOISE),
    ROW(STARTS, "PyTorch Profiler (", HK_NOISE),
    ROW(STARTS, "Iteration Start: PyTorch Profiler", HK_NOISE),
    ROW(STARTS, "Record Window End", HK_NOISE),
    ROW(STARTS, "ProfilerSession::", HK_PROFILER),
    ROW(IS, "Activity Buffer Request", HK_PROFILER),
    ROW(IS, "Buffer Flush", HK_PROFILER),
    ROW(IS, "Instrumentation", HK_PROFILER),
};

typedef struct frame_rule {
    vp_str file;     /* the end of its path; empty: any */
    vp_str function; /* whole; empty: any */
    uint32_t flags;
} frame_rule;

#define FRAME(file, function, flags)                                                               \
    {                                                                                              \
        {file, sizeof(file) - 1}, {function, sizeof(function) - 1}, flags                          \
    }

static const frame_rule frames[] = {
    FRAME("compiler.py", "backend_compile", HK_COMPILE),
    FRAME("compiler.py", "backend_compile_and_load", HK_COMPILE),
    FRAME("compiler.py", "compile_or_get_cached", HK_COMPILE),
    FRAME("compiler.py", "_cache_read", HK_CACHE),
    FRAME("compiler.py", "_compile_and_write_cache", HK_CACHE_MISS),
    FRAME("torch/_dynamo/convert_frame.py", "_compile", HK_COMPILE),
    FRAME("torch/_inductor/compile_fx.py", "compile_fx", HK_COMPILE),
    FRAME("triton/compiler/compiler.py", "compile", HK_COMPILE),
    FRAME("", "trace_to_jaxpr_dynamic", HK_LOWER),
    FRAME("", "trace_to_jaxpr_nounits", HK_LOWER),
    FRAME("", "lower_sharding_computation", HK_LOWER),
    FRAME("", "lower_jaxpr_to_module", HK_LOWER),
    FRAME("array.py", "_value", HK_BLOCKING),
    FRAME("api.py", "device_get", HK_BLOCKING),
    FRAME("", "block_until_ready", HK_BLOCKING),
    FRAME("torch/cuda/__init__.py", "synchronize", HK_BLOCKING),
    FRAME("dataloader.py", "__next__", HK_INPUT),
    FRAME("dataloader.py", "_next_data", HK_INPUT),
    FRAME("data_loader.py", "__next__", HK_INPUT),
    FRAME("iterator_ops.py", "__next__", HK_INPUT),
    FRAME("iterator_ops.py", "get_next", HK_INPUT),
    FRAME("", "__next__", HK_PULL),
    FRAME("", "__iter__", HK_PULL), /* a generator's frame is open while it makes the next */
    FRAME("builtins", "next", HK_PULL),
    FRAME("", "<built-in function next>", HK_PULL),
    FRAME("queue.py", "get", HK_PULL),
    FRAME("queues.py", "get", HK_PULL), /* of multiprocessing */
    FRAME("contextlib.py", "__enter__", HK_CONTEXT),
    FRAME("contextlib.py", "__exit__", HK_CONTEXT),
    FRAME("", "load_batch", HK_INPUT),
    FRAME("", "next_batch", HK_INPUT),
    FRAME("", "get_batch", HK_INPUT),
    FRAME("", "fetch_batch", HK_INPUT),
    FRAME("", "load_data", HK_INPUT),
    FRAME("", "get_data", HK_INPUT),
    FRAME("", "make_batch", HK_INPUT),
    FRAME("", "read_batch", HK_INPUT),
    FRAME("", "sample_batch", HK_INPUT),
    FRAME("", "iter_batches", HK_PULL),
    FRAME("", "batch_generator", HK_PULL),
    FRAME("", "data_generator", HK_PULL),
    FRAME("", "batches", HK_PULL),
    FRAME("gc", "collect", HK_GC),
    FRAME("", "<built-in function collect>", HK_GC),
    FRAME("torch/serialization.py", "save", HK_WRITE),
    FRAME("torch/distributed/checkpoint/state_dict_saver.py", "save", HK_WRITE),
    FRAME("checkpointer.py", "save", HK_WRITE),
    FRAME("async_checkpointer.py", "save", HK_WRITE),
    FRAME("checkpoint_manager.py", "save", HK_WRITE),
    FRAME("_npyio_impl.py", "save", HK_WRITE),
    FRAME("_npyio_impl.py", "savez", HK_WRITE),
    FRAME("npyio.py", "save", HK_WRITE),
    FRAME("npyio.py", "savez", HK_WRITE),
    FRAME("_pickle", "dump", HK_WRITE),
    FRAME("posix", "fsync", HK_WRITE),
    FRAME("posix", "fdatasync", HK_WRITE),
    FRAME("", "<built-in function fsync>", HK_WRITE),
    FRAME("", "<built-in function fdatasync>", HK_WRITE),
    FRAME("", "save_checkpoint", HK_WRITE),
    FRAME("", "_save_checkpoint", HK_WRITE),
    FRAME("", "write_checkpoint", HK_WRITE),
    FRAME("debugging.py", "_flat_callback", HK_CALLBACK),
    FRAME("debugging.py", "debug_callback_impl", HK_CALLBACK),
    FRAME("debugging.py", "debug_print_impl", HK_CALLBACK),
    FRAME("callback.py", "_flat_callback", HK_CALLBACK),
    FRAME("callback.py", "_wrapped_callback", HK_CALLBACK),
    FRAME("callback.py", "pure_callback_impl", HK_CALLBACK),
    FRAME("callback.py", "io_callback_impl", HK_CALLBACK),
    FRAME("api.py", "device_put", HK_TRANSFER),
    FRAME("dispatch.py", "_device_put_impl", HK_TRANSFER),
    FRAME("dispatch.py", "_batched_device_put_impl", HK_TRANSFER),
    FRAME("pxla.py", "batched_device_put", HK_TRANSFER),
    FRAME("profiler.py", "start_trace", HK_PROFILER),
    FRAME("profiler.py", "stop_trace", HK_PROFILER),
    FRAME("torch/profiler/profiler.py", "start", HK_PROFILER),
    FRAME("torch/profiler/profiler.py", "stop", HK_PROFILER),
    FRAME("torch/profiler/profiler.py", "step", HK_PROFILER),
    FRAME("torch/profiler/profiler.py", "_transit_action", HK_PROFILER),
    /* annotations and the functions that they decorate: only frames inside them are informative */
    FRAME("profiler.py", "wrapper", HK_NOISE),
    FRAME("profiler.py", "__init__", HK_NOISE),
    FRAME("profiler.py", "__enter__", HK_NOISE),
    FRAME("profiler.py", "__exit__", HK_NOISE),
};

static bool rule_matches_name(const name_rule *r, vp_str name)
{
    const vp_str text = {r->text, r->n};
    switch ((match)r->how) {
    case IS:
        return vp_str_eq(name, text);
    case STARTS:
        return vp_str_starts(name, text);
    case ENDS:
        return vp_str_ends(name, text);
    case HAS:
        return vp_str_find(name, text) < name.n;
    case HAS_NOCASE:
        return vp_str_find_nocase(name, text) < name.n;
    }
    return false;
}

/* Names such as cudaLaunchKernel, cuLaunchKernelEx, hipExtModuleLaunchKernel, cudaGraphLaunch. */
static bool is_gpu_api(vp_str name)
{
    size_t after = vp_str_starts(name, VP_STR("cuda"))  ? 4
                   : vp_str_starts(name, VP_STR("hip")) ? 3
                   : vp_str_starts(name, VP_STR("cu"))  ? 2
                                                        : 0;
    return after && name.n > after && name.p[after] >= 'A' && name.p[after] <= 'Z';
}

static bool name_contains(vp_str name, vp_str part)
{
    return vp_str_find(name, part) < name.n;
}

/* A copy returns when it is done, unless its name contains Async; hipMemcpyWithStream waits, too.
 * Freeing memory waits for the device (CUDA Runtime API, cudaFree). */
static uint32_t gpu_api_flags(vp_str name)
{
    bool is_free = vp_str_ends(name, VP_STR("Free")) && !name_contains(name, VP_STR("Host"));
    if (name_contains(name, VP_STR("GraphLaunch")))
        return HK_LAUNCH | HK_GRAPH;
    if (name_contains(name, VP_STR("Launch")) && name_contains(name, VP_STR("Kernel")))
        return HK_LAUNCH;
    if (name_contains(name, VP_STR("Memcpy")))
        return HK_LAUNCH | HK_TRANSFER | (name_contains(name, VP_STR("Async")) ? 0u : HK_BLOCKING);
    if (name_contains(name, VP_STR("Memset")))
        return HK_LAUNCH;
    return vp_str_ends(name, VP_STR("Synchronize")) || is_free ? HK_BLOCKING : 0;
}

uint32_t host_name_flags(vp_str name, vp_str category)
{
    uint32_t flags = 0;
    if (is_gpu_api(name))
        return gpu_api_flags(name);
    if (vp_str_eq(category, VP_STR("compile"))) /* VP_COMPILE_SCOPE, named like the function */
        return HK_COMPILE | HK_CALL;
    if (vp_str_eq(category, VP_STR("mtia_runtime")) && vp_str_starts(name, VP_STR("synchronize")))
        return HK_BLOCKING;
    if (vp_str_eq(category, VP_STR("cuda_sync"))) /* the stream waits, not a thread */
        return HK_NOISE;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (rule_matches_name(&names[i], name))
            flags |= names[i].flags;
    return flags;
}

/* True if a frame is in a file: "compiler.py" matches "$compiler.py" and "a/compiler.py", but not
 * "mycompiler.py". */
static bool in_file(vp_str path, vp_str file)
{
    return !file.n || vp_str_eq(path, file) ||
           (vp_str_ends(path, file) && path.p[path.n - file.n - 1] == '/');
}

uint32_t host_frame_flags(vp_str file, vp_str function)
{
    uint32_t flags = HK_PYTHON;
    if (vp_str_starts(function, VP_STR("torch_dynamo_resume_in_")))
        flags |= HK_REGION;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        if (in_file(file, frames[i].file) &&
            (!frames[i].function.n || vp_str_eq(function, frames[i].function)))
            flags |= frames[i].flags;
    return flags;
}
