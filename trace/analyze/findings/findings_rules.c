/* The table of rules, in the order in which they claim time
 * (docs/reference/findings.md#claims-and-rank): causes before their symptoms. docs/findings.md is
 * printed from it. The sentence in .rule and the numbers in .limits say the same:
 * test_findings_limits holds one against the other. */
#include "trace/analyze/findings/findings_run.h"

#include "trace/analyze/host/launch.h"
#include "trace/analyze/result/host_result.h"

#define BASE (FND_NEED_DEVICE | FND_NEED_FULL)
/* What makes a step an outlier; F13 leaves such steps out. */
#define OUTLIER                                                                                    \
    [FND_FACTOR] = 2000, [FND_PART] = 1, [FND_NUMBER] = FND_STEPS_LEAST, [FND_DEVIATIONS] = 10

const finding_rule findings_rules[] = {
    {.id = "F23",
     .name = "trace-unreliable",
     .title = "The profile is incomplete",
     .says = "The file is truncated, capped, damaged or lacks links, so sums and shares "
             "are incomplete. The severity of every other finding is lowered by one "
             "level.",
     .rule = "a file is truncated, capped or damaged, or events were dropped (high); "
             "device ops begin before their launch, recorded graphs hide their ops, "
             "more than 10% of a GPU's ops lack their launch call or of the launch calls "
             "their kernel, a device was used but not traced, or no event has a duration "
             "(medium); not for captures of the host alone",
     .source = "issues of JAX, XProf, TraceLens and HTA about event caps and truncated "
               "files that no tool reports",
     .advice_xla = "Record a shorter time: fewer steps, and python_tracer_level=0 and "
                   "host_tracer_level=1 in jax.profiler.ProfileOptions. Open the .xplane.pb: "
                   "unlike the .trace.json.gz, it has no limit on the number of events.",
     .advice_pytorch = "Record a shorter time: schedule(wait=1, warmup=1, active=3), without "
                       "with_stack and record_shapes. Stop the program only after the trace has "
                       "been written.",
     .advice_native = "Record a shorter time or fewer kinds of events, stop the recording before "
                      "the program exits, and copy its files completely.",
     .advice_tensorflow = "Record a shorter time: fewer batches (profile_batch=(10, 15)), and a "
                          "host_tracer_level of 1 in tf.profiler.experimental.ProfilerOptions.",
     .metric = "notes",
     .unit = "entries",
     .run = fnd_trace_unreliable},
    {.id = "F10",
     .name = "recompile",
     .title = "Recompilation while running",
     .says = "A function is compiled more than once, or after execution has started: "
             "its shapes, dtypes or static arguments change between calls.",
     .rule = "a function has two or more compile roots, or a compile root starts after "
             "the first execution of a step's module; repeated and late compilation "
             "takes at least 0.5% of the capture after the first compilation",
     .source = "jax issues 31319, 4390, 2814 and others: silent recompilation",
     .advice_xla = "Set jax_log_compiles and jax_explain_cache_misses to see what changed. "
                   "Pad or bucket shapes, use few and hashable static_argnums, create the "
                   "jitted function once outside the loop, and set jax_compilation_cache_dir.",
     .advice_pytorch = "Set TORCH_LOGS=recompiles to see which guard failed. Use "
                       "torch.compile(dynamic=True) or mark_dynamic for changing shapes, drop or "
                       "pad the last batch (drop_last=True), and keep Python scalars out of the "
                       "graph.",
     .advice_native = "Find what changes between calls and is compiled in (shapes, sizes, "
                      "options), and pad or bucket it. Compile everything the loop needs before "
                      "the loop, and cache compiled programs on disk.",
     .caveat = "One function may be several programs on purpose, one per shape. In that "
               "case, warm up all of them before recording.",
     .advice_tensorflow = "Give tf.function an input_signature, pass tensors instead of Python "
                          "numbers, pad or bucket shapes, drop the last partial batch "
                          "(drop_remainder=True), and create the function once.",
     .metric = "late and repeated compile time",
     .unit = "share",
     .denominator = "rest of the capture",
     .limits = {[FND_SHARE] = 5},
     .needs = FND_NEED_FULL | FND_NEED_HOST | FND_NEED_CAPTURE,
     .run = fnd_recompile},
    {.id = "F11",
     .name = "compile-share",
     .title = "The capture includes compilation",
     .says = "Compilation before the first run of the step's program takes much of the "
             "capture, so totals describe startup rather than steady state.",
     .rule = "compilation that begins before the step's module first runs, including "
             "inside the first step, takes more than 10% of the capture",
     .source = "nsys-jax, which excludes the compile phase",
     .advice_xla = "Start the profiler after a few warm-up steps (call the step and "
                   "block_until_ready first), and cache compiled programs with "
                   "jax_compilation_cache_dir.",
     .advice_pytorch = "Use torch.profiler.schedule with wait and warmup steps, and cache "
                       "compiled kernels in TORCHINDUCTOR_CACHE_DIR.",
     .advice_native = "Start recording at a later step (a schedule, --steps), and cache compiled "
                      "programs on disk between runs.",
     .startup = true,
     .metric = "compile time before the first execution",
     .unit = "share",
     .denominator = "capture",
     .limits = {[FND_SHARE] = 100},
     .needs = FND_NEED_FULL | FND_NEED_HOST | FND_NEED_CAPTURE,
     .run = fnd_compile_share},
    {.id = "F14",
     .name = "input-bound",
     .title = "Input-bound: the device waits for data",
     .says = "The device is idle while the thread that feeds it waits for the input "
             "pipeline. Without a device: the training thread loads or waits for data.",
     .rule = "idle time under input labels (DataLoader, IteratorGetNext, infeed, "
             "prefetch; next() and a queue's get() in Python) plus exposed infeed "
             "exceeds 5% of the window; without a device, the time of such calls on the training "
             "thread",
     .source = "torch_tb_profiler (5%), XProf (10%)",
     .advice_xla = "Prefetch: keep two or more batches ready on the device (device_put from a "
                   "thread, tf.data prefetch(AUTOTUNE), Grain with worker processes), decode "
                   "in parallel, and cache what does not change.",
     .advice_pytorch = "Raise DataLoader num_workers and prefetch_factor, set pin_memory=True and "
                       "persistent_workers=True, and move decoding and augmentation off the "
                       "training thread.",
     .advice_native = "Prefetch: use threads that prepare two or more batches in a bounded "
                      "queue, reuse pinned buffers, and copy to the device on a separate stream "
                      "while it computes.",
     .caveat = "The label shows where the thread waited. Other work may have been late as "
               "well.",
     .advice_tensorflow = "Add dataset.prefetch(tf.data.AUTOTUNE), map and interleave with "
                          "num_parallel_calls=tf.data.AUTOTUNE, and cache() what does not change. "
                          "Batch before cheap maps.",
     .metric = "idle while waiting for input",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50},
     .needs = FND_NEED_FULL,
     .run = fnd_input_bound},
    {.id = "F41",
     .name = "garbage-collection",
     .title = "Garbage collection in the loop",
     .says = "Python collects garbage while the devices, or the program, could work.",
     .rule = "garbage collection on the training thread takes at least 2% of the window; on a "
             "device only while all devices of the host are idle",
     .source = "pairs of programs with and without gc.collect()",
     .advice_xla = "Remove gc.collect() from the loop. Call gc.freeze() after setup, so that "
                   "long-lived objects are not scanned, raise gc.set_threshold, or disable the "
                   "collector and collect every N steps.",
     .advice_pytorch = "Remove gc.collect() from the loop; torch.cuda.empty_cache() does not need "
                       "it. Call gc.freeze() after setup, so that long-lived objects are not "
                       "scanned, raise gc.set_threshold, or disable the collector and collect "
                       "every N steps.",
     .advice_native = "Collect garbage outside of the loop, or less often.",
     .advice_tensorflow = "Remove gc.collect() and keras.backend.clear_session() from the loop. "
                          "Call gc.freeze() after setup.",
     .metric = "time in garbage collection",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 20},
     .needs = FND_NEED_FULL,
     .run = fnd_garbage},
    {.id = "F42",
     .name = "blocking-write",
     .title = "Training waits for files to be written",
     .says = "The training thread writes a checkpoint or flushes a file to disk.",
     .rule = "writes of checkpoints and calls of fsync on the training thread take at least 2% of "
             "the window; on a device only while all devices of the host are idle",
     .source = "F8, applied to files",
     .advice_xla = "Save from another thread: Orbax's AsyncCheckpointer copies to the host and "
                   "writes in the background. Save less often, and flush once per checkpoint.",
     .advice_pytorch = "Save from another thread or process: torch.distributed.checkpoint."
                       "async_save, or copy the state to pinned memory and write it there. Save "
                       "less often, and flush (os.fsync) once per checkpoint.",
     .advice_native = "Write from another thread, less often, and flush once per file.",
     .caveat = "A copy of the state needs memory until it is written.",
     .metric = "time in writes",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 20},
     .needs = FND_NEED_FULL,
     .run = fnd_blocking_write},
    {.id = "F21",
     .name = "debug-callback",
     .title = "Host callbacks",
     .says = "Debug prints and host callbacks stall the device: it copies values to the "
             "host and waits for Python.",
     .rule = "idle time under callback labels, self time of callback ops and of ops that only "
             "feed them, and gaps after programs that wait for callbacks take at least 5% of "
             "the window",
     .source = "XProf smart suggestions (debug print 5%)",
     .advice_xla = "Remove jax.debug.print, jax.debug.callback, io_callback and pure_callback "
                   "from the hot loop, or run them every N steps under lax.cond. Return "
                   "values to be logged as outputs instead.",
     .advice_pytorch = "Remove prints, .item() and hooks that read tensors from the loop. Log "
                       "every N steps from a detached copy.",
     .advice_native = "Remove prints and host calls from the hot loop, or run them every N "
                      "steps. Write values to be logged into a device buffer and read it one "
                      "step later.",
     .metric = "time in callbacks",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50},
     .needs = BASE,
     .run = fnd_debug_callback},
    {.id = "F8",
     .name = "sync-call",
     .title = "Blocking calls leave the device idle",
     .says = "The host waits for results in a blocking call, and launches nothing new "
             "until the call returns.",
     .rule = "blocking calls (block_until_ready, np.asarray, device_get, Await, "
             "cudaStreamSynchronize …) and the calls inside them take at least 5% of "
             "the window while all devices of the host are idle between their first and "
             "last op; if several threads block, the longest counts, limited to the "
             "idle time that such calls can cause",
     .source = "Nsight Systems' rule for synchronization APIs",
     .advice_xla = "Keep results on the device: fetch losses one step late or every N steps, "
                   "avoid float(x) and np.asarray(x) inside the loop, and let dispatch run "
                   "ahead.",
     .advice_pytorch = "Avoid .item(), .cpu(), print(tensor) and torch.cuda.synchronize() in the "
                       "loop. Copy with non_blocking=True and read the value one step later.",
     .advice_native = "Launch the next work before waiting, read results one step late or every "
                      "N steps, and wait for the event of one result instead of the whole device.",
     .metric = "idle under blocking calls",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50},
     .needs = BASE | FND_NEED_HOST,
     .run = fnd_sync_call},
    {.id = "F9",
     .name = "launch-bound",
     .title = "Launch-bound: kernels are too short",
     .says = "The host cannot launch kernels as fast as the device finishes them.",
     .rule = "among at least 30 compute kernels, the median is below 10 µs and more "
             "than half are below it, and the device waits for the next launch for more "
             "than 10% of the window; this counts the host's delay and, if nothing is "
             "queued, the launch call and the time until the op begins (gaps below 1 ms)",
     .source = "TraceLens (10 µs), HTA launch statistics",
     .advice_xla = "Put more work into one program: jit the whole step, use lax.scan over "
                   "small steps, or larger batches. On GPU, record command buffers "
                   "(--xla_gpu_enable_command_buffer, --xla_gpu_graph_min_graph_size=1).",
     .advice_pytorch = "Launch fewer kernels: torch.compile(mode=\"reduce-overhead\") or CUDA "
                       "graphs, fused or foreach optimizers (fused=True), larger batches.",
     .advice_native = "Launch fewer and larger kernels: fuse small ones, batch the work, and "
                      "record repeated sequences as a graph (CUDA graphs, command buffers).",
     .advice_cpu = "Put more work into one call: jit or compile the whole step, fuse small ops, "
                   "or use larger batches.",
     .metric = "median compute kernel",
     .unit = "us",
     .limits =
         {[FND_TIME] = LAUNCH_SHORT_US, [FND_WINDOW] = 100, [FND_PART] = 500, [FND_NUMBER] = 30},
     .needs = BASE | FND_NEED_LAUNCH,
     .run = fnd_launch_bound},
    {.id = "F48",
     .name = "small-programs",
     .title = "Chain of small programs",
     .says = "The step runs many programs of one or two ops. Each result passes through memory, "
             "and the host dispatches each program.",
     .rule =
         "at least 4 programs of one or two ops run in each step, and one program in their "
         "place would save at least 3% of the window: (n - 1)/n of their element-wise time, and "
         "of the idle time in which the host dispatches, if most launches are small, or what a "
         "replay without the function that launches them saves",
     .source = "defined by this project (docs/reference/findings.md#f48-small-programs)",
     .advice_xla = "Put the function that contains these operations under jax.jit, so that XLA "
                   "fuses them into one program.",
     .advice_pytorch = "Use torch.compile on the function that contains these operations.",
     .advice_native = "Compile these operations as one program.",
     .metric = "time that one program saves",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 30, [FND_NUMBER] = 4},
     .needs = BASE | FND_NEED_STEPS | FND_NEED_PROGRAMS,
     .run = fnd_small_programs},
    {.id = "F3",
     .name = "host-bound",
     .title = "Host-bound: the device waits for launches",
     .says = "The device is idle mostly because the launching thread is late; the label "
             "names what that thread did instead.",
     .rule = "the device is idle for more than 15% of the window, and late launches "
             "cause more than half of its idle time; a thread that waits for another "
             "busy device is not late, and copies reported by F6 are not counted",
     .source = "HTA idle classes, TraceLens (15%)",
     .advice_xla = "Move the named work off the launching thread or out of the loop, jit "
                   "larger pieces, donate buffers (donate_argnums) and avoid per-step Python "
                   "over pytrees. Several steps in one lax.scan hide the rest.",
     .advice_pytorch = "Move the named work off the training thread or out of the loop. "
                       "torch.compile or CUDA graphs reduce Python time between kernels; "
                       "zero_grad(set_to_none=True) and fused optimizers reduce launches.",
     .advice_native = "Move the named work off the launching thread or out of the loop, allocate "
                      "buffers once and reuse them, launch ahead of the device, and record "
                      "repeated sequences as a graph (CUDA graphs).",
     .caveat = "Recording slows the host, above all if Python's calls are recorded. Compare with a "
               "capture that records less.",
     .advice_tensorflow = "Run more in one call: tf.function around the whole step, Keras "
                          "steps_per_execution, and no Python work between steps.",
     .metric = "late launches",
     .unit = "share",
     .denominator = "idle time",
     .limits = {[FND_SHARE] = 500, [FND_WINDOW] = 150},
     .needs = BASE | FND_NEED_CAUSES,
     .run = fnd_host_bound},
    {.id = "F7",
     .name = "pageable-copies",
     .title = "Copies from pageable memory",
     .says = "Copies between the device and pageable host memory go through a staging "
             "buffer and block the thread that starts them.",
     .rule = "copies from or to pageable memory take at least 1 ms or 1% of the window, "
             "and are exposed for at least 0.5% of it",
     .source = "Nsight Systems' rule for pageable memory",
     .advice_xla = "Stage inputs with jax.device_put into pinned_host memory (a sharding with "
                   "memory_kind=\"pinned_host\"), or keep them on the device.",
     .advice_pytorch = "Set pin_memory=True in the DataLoader (or call tensor.pin_memory()) and "
                       "copy with non_blocking=True on a separate stream.",
     .advice_native = "Allocate buffers for copies once, as pinned memory (cudaHostAlloc, "
                      "cudaHostRegister), and copy asynchronously on a separate stream.",
     .metric = "time of pageable copies",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 10, [FND_TIME] = 1000},
     .needs = BASE | FND_NEED_PAGEABLE,
     .run = fnd_pageable},
    {.id = "F6",
     .name = "transfers",
     .title = "Exposed copies between host and device",
     .says = "Data moves between host and device memory while the device runs nothing "
             "else.",
     .rule = "per direction: exposed time exceeds 5% of the window, or more than 10 "
             "exposed copies per step cost at least 0.5% of it; an async start/done "
             "pair is one copy; idle time in which a host thread copies (device_put, "
             "H2D Dispatch) counts if it exceeds 5%",
     .source = "TraceLens (5%, 10 transfers), XProf (30%)",
     .advice_xla = "Offload less or earlier: restrict the checkpoint or offload policy to "
                   "tensors that cost more to recompute than to copy, and start copies one "
                   "layer ahead so that the latency-hiding scheduler can overlap them. Keep "
                   "weights and KV cache in device memory, and shard what does not fit.",
     .advice_pytorch = "Keep tensors on the device between steps, combine small copies into one, "
                       "pin host memory, and copy with non_blocking=True on a second stream while "
                       "the previous batch computes.",
     .advice_native = "Keep data on the device between steps, combine small copies into a few "
                      "large ones from pinned memory, and copy the next batch on a second stream "
                      "while this one computes.",
     .caveat = "Upper bound: the link's bandwidth remains a limit when copies overlap "
               "with compute.",
     .metric = "exposed copies",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50, [FND_NUMBER] = 10},
     .needs = BASE,
     .run = fnd_transfers},
    {.id = "F20",
     .name = "async-done-wait",
     .title = "Async ops finish too late",
     .says = "The device waits in the -done half of async ops: they started too late to "
             "be hidden.",
     .rule = "self time of -done ops is at least 10% of the device's op time",
     .source = "XProf smart suggestions (async done 10%)",
     .advice_xla = "Let copies and collectives start earlier: prefetch one layer ahead, set "
                   "--xla_tpu_enable_async_collective_fusion=true in LIBTPU_INIT_ARGS or "
                   "--xla_gpu_enable_latency_hiding_scheduler=true in XLA_FLAGS. Free memory "
                   "so that the scheduler can keep more buffers alive.",
     .advice_pytorch = "Start copies and collectives earlier and wait later: use async_op=True "
                       "and wait after independent work.",
     .advice_native = "Start copies and collectives earlier, and wait for them after work that "
                      "does not need them.",
     .advice_cpu = "Start copies and collectives earlier, and communicate less.",
     .metric = "self time of -done ops",
     .unit = "share",
     .denominator = "op time",
     .limits = {[FND_SHARE] = 100},
     .needs = BASE,
     .run = fnd_async_wait},
    {.id = "F16",
     .name = "straggler",
     .title = "Straggler",
     .says = "Collective calls wait for the participant that arrives last, and this is "
             "usually the same device or host.",
     .rule = "among at least four calls matched across devices, one device or host is "
             "last in at least half, two standard deviations more often than by chance, "
             "and the longest waits add up to at least 1% of the window",
     .source = "distributed views of TraceLens and torch_tb_profiler",
     .advice_xla = "Examine that device or host: an uneven shard, a slow input worker, "
                   "another process, clock rates or temperature. Swap it to see whether the "
                   "delay moves with the hardware or with the shard.",
     .advice_pytorch = "Examine that rank: uneven batches (DistributedSampler, drop_last=True), "
                       "extra logging or checkpointing on rank 0, a slow DataLoader, another "
                       "process on the GPU, clock rates.",
     .caveat = "Across hosts, this depends on clocks that were aligned by the ends of "
               "collectives.",
     .metric = "calls in which it is last",
     .unit = "share",
     .denominator = "matched calls",
     .limits = {[FND_SHARE] = 500,
                [FND_WINDOW] = 10,
                [FND_NUMBER] = FND_MATCHED_LEAST,
                [FND_DEVIATIONS] = 2},
     .needs = BASE | FND_NEED_SECOND_DEVICE | FND_NEED_MATCHED | FND_NEED_CLOCKS,
     .run = fnd_straggler},
    {.id = "F15",
     .name = "imbalance",
     .title = "Devices have unequal work",
     .says = "Devices that run the same program compute for different times, so the "
             "others wait for the busiest one.",
     .rule = "the busiest device's compute time exceeds the mean by more than 10%",
     .source = "load imbalance as defined by HTA and Scalasca: max/mean - 1",
     .advice_xla = "Balance the shards: pad to a common multiple, balance sequence lengths "
                   "and experts (capacity factor), and check that no device holds an "
                   "unsharded array.",
     .advice_pytorch = "Balance the batches: bucket by length, balance experts and pipeline "
                       "stages, and keep rank-0-only work out of the step.",
     .advice_native = "Balance the shards by the cost of their work instead of their number of "
                      "items, or distribute smaller pieces.",
     .metric = "max/mean - 1 of compute time",
     .unit = "share",
     .denominator = "mean compute time",
     .limits = {[FND_SHARE] = 100},
     .needs = BASE | FND_NEED_SECOND_DEVICE,
     .run = fnd_imbalance},
    {.id = "F22",
     .name = "memory",
     .title = "Memory nearly full",
     .says = "The allocator's peak is close to its limit: fragmentation, retries and "
             "out-of-memory failures become likely.",
     .rule = "peak / limit exceeds 90% (high from 98%); the limit is the memory that "
             "the allocator has reserved, allocated plus free, or else the device's "
             "memory; or an allocation failed; or a program's planned memory exceeds "
             "the same share of its device's memory",
     .source = "torch_tb_profiler (90%)",
     .advice_xla = "Donate inputs (donate_argnums), rematerialize (jax.checkpoint with a "
                   "policy), shard optimizer state, or use smaller microbatches. "
                   "jax.profiler.save_device_memory_profile lists the owners of memory.",
     .advice_pytorch = "Checkpoint activations, shard optimizer state (FSDP, ZeRO), use smaller "
                       "microbatches, and set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
     .advice_native = "Free unused memory before allocating more, share scratch buffers, work on "
                      "smaller pieces, and recompute values that are cheaper to compute than to "
                      "keep.",
     .caveat = "An allocator that reserves nearly all memory at startup is full by design.",
     .metric = "peak",
     .unit = "share",
     .denominator = "memory available to the allocator",
     .limits = {[FND_SHARE] = 900, [FND_SEVERE] = 980},
     .needs = FND_NEED_FULL | FND_NEED_MEMORY,
     .run = fnd_memory},
    {.id = "F30",
     .name = "memory-leak",
     .title = "Memory grows with every step",
     .says = "Memory that a step allocates is still in use two steps later: the job "
             "will eventually run out of memory.",
     .rule = "a call site leaves at least 0.1% of the peak allocated per step (high "
             "from 1%), in at least 3 steps and in 75% of the steps that are followed "
             "by two more",
     .source = "defined by this project (docs/reference/findings.md#f30-memory-leak)",
     .advice_xla = "Keep numbers, not arrays: log float(loss) or jax.device_get of the value. "
                   "Clear lists of results and state histories, and donate what a step "
                   "replaces.",
     .advice_pytorch = "Keep loss.item() or .detach() instead of tensors that hold their graph, "
                       "and clear lists of outputs after each step.",
     .advice_native = "Free a step's allocations within two steps, or allocate once outside the "
                      "loop.",
     .caveat = "A cache that is still filling looks the same.",
     .metric = "growth per step",
     .unit = "share",
     .denominator = "allocator's peak",
     .limits = {[FND_SHARE] = 1, [FND_SEVERE] = 10, [FND_PART] = 750, [FND_NUMBER] = 3},
     .needs = FND_NEED_FULL | FND_NEED_LEAKS,
     .run = fnd_leak},
    {.id = "F31",
     .name = "fragmentation",
     .title = "Free memory is fragmented",
     .says = "Much of the free memory is in small pieces between blocks in use: a large "
             "allocation fails, or takes more memory from the device, although enough "
             "is free in total.",
     .rule = "more than 10% of the allocator's memory or limit is free but fragmented "
             "(high from 30%), while at least 50% of it is in use",
     .source = "defined by this project (docs/reference/findings.md#f31-fragmentation)",
     .advice_xla = "Allocate long-lived arrays first, keep shapes constant between steps, and "
                   "try XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async.",
     .advice_pytorch = "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, pad batches to a "
                       "few shapes, and allocate long-lived tensors first.",
     .advice_native = "Allocate long-lived blocks first, round sizes up to a few classes, or use "
                      "one arena for blocks that are freed together.",
     .metric = "fragmented free memory",
     .unit = "share",
     .denominator = "allocator's memory",
     .limits = {[FND_SHARE] = 100, [FND_SEVERE] = 300, [FND_PART] = 500},
     .needs = FND_NEED_FULL | FND_NEED_FRAGMENTS,
     .run = fnd_fragments},
    {.id = "F32",
     .name = "double-inputs",
     .title = "Inputs of two steps are on the device",
     .says = "At the peak, the device holds the inputs of two steps.",
     .rule = "an input that a call copies from the host for one step is in memory "
             "together with one of the same size for another step, and is at least 2% "
             "of the peak",
     .source = "defined by this project",
     .advice_xla = "Prefetch no more than needed (flax.jax_utils.prefetch_to_device with size "
                   "1 on few devices), and donate the batch to the step (donate_argnums) so "
                   "that outputs can reuse its memory.",
     .advice_pytorch = "Prefetch only one batch, delete the old one before copying the next, or "
                       "copy into the same tensor (batch.copy_(next, non_blocking=True)).",
     .advice_native = "Copy the next input into the buffer of the previous one, or alternate "
                      "between two permanent buffers.",
     .caveat = "Double buffering hides copies: it is worth its memory if the step would "
               "otherwise wait for them.",
     .metric = "inputs held twice",
     .unit = "share",
     .denominator = "allocator's peak",
     .limits = {[FND_SHARE] = 20},
     .needs = FND_NEED_FULL | FND_NEED_LEAKS,
     .run = fnd_double_inputs},
    {.id = "F36",
     .name = "missing-donation",
     .title = "Donatable arguments",
     .says = "A program no longer needs an argument when it computes a result of the "
             "same shape and layout, but allocates separate memory for the result.",
     .rule = "undonated arguments of at least 1 MiB that are dead before a result of "
             "the same shape is computed make up at least 1% of the program's reserved "
             "memory; impact is the time of copies of arguments and, on a CPU, of waits for their "
             "memory and of ops that they slow down, if the copies take at least 3% of the window",
     .source = "defined by this project (docs/reference/findings.md#f36-missing-donation)",
     .advice_xla = "Donate the arguments that the call replaces: jax.jit(step, "
                   "donate_argnums=…) or donate_argnames.",
     .advice_pytorch = "Update in place: foreach optimizers, copy_, and torch.compile, which "
                       "reuses dead memory.",
     .advice_native = "Write the result into the memory of the argument that it replaces.",
     .caveat = "An argument that is used again later, such as weights in inference, must not be "
               "overwritten. The actual saving may be smaller.",
     .metric = "donatable arguments",
     .unit = "share",
     .denominator = "program's reserved memory",
     .limits = {[FND_SHARE] = 10, [FND_WINDOW] = 30, [FND_SIZE] = 1024},
     .needs = FND_NEED_FULL | FND_NEED_PLANS,
     .run = fnd_missing_donation},
    {.id = "F37",
     .name = "layout-padding",
     .title = "Layout padding",
     .says = "Layout tiles are larger than the arrays in them, so memory and bandwidth "
             "are spent on padding.",
     .rule = "buffers of at least 1 MiB that are at least 20% padding waste at least "
             "10% of the program's peak",
     .source = "defined by this project (docs/reference/findings.md#f37-layout-padding)",
     .advice_xla = "Make the named dimension a multiple of the tile: merge small trailing "
                   "dimensions, or move a long one to the end (TPU: 8 by 128).",
     .advice_pytorch = "Merge small trailing dimensions, and make long ones multiples of the tile.",
     .advice_native = "Merge small trailing dimensions, and make long ones multiples of the tile.",
     .metric = "padding at the peak",
     .unit = "share",
     .denominator = "program's peak",
     .limits = {[FND_SHARE] = 100, [FND_PART] = 200, [FND_SIZE] = 1024},
     .needs = FND_NEED_FULL | FND_NEED_PLANS,
     .run = fnd_padding},
    {.id = "F38",
     .name = "large-temporary",
     .title = "One temporary takes much of the peak",
     .says = "A single intermediate value takes a large part of the program's peak "
             "memory.",
     .rule = "a temporary of at least 1 MiB is at least 30% of the program's peak",
     .source = "defined by this project (docs/reference/findings.md#f38-large-temporary)",
     .advice_xla = "Recompute it where it is used (jax.checkpoint), compute it in pieces "
                   "(lax.map, lax.scan), or keep it on the host (an offload policy). A "
                   "transpose or copy disappears if its producer uses the layout that its "
                   "consumer needs.",
     .advice_pytorch = "Checkpoint the function that produces it, compute it in pieces, or keep "
                       "it on the host (save_on_cpu).",
     .advice_native = "Compute it in pieces, or recompute it where it is used.",
     .metric = "largest temporary",
     .unit = "share",
     .denominator = "program's peak",
     .limits = {[FND_SHARE] = 300, [FND_SIZE] = 1024},
     .needs = FND_NEED_FULL | FND_NEED_PLANS,
     .run = fnd_large_temporary},
    {.id = "F39",
     .name = "planned-gaps",
     .title = "The memory plan is fragmented",
     .says = "The compiler reserves more memory for temporaries than they use at once.",
     .rule = "at least 1 MiB and 10% of the memory for temporaries is unused at the peak",
     .source = "defined by this project (docs/reference/findings.md#f39-planned-gaps)",
     .advice_xla = "Temporaries of equal size can share memory: use similar shapes, and split "
                   "the largest one.",
     .advice_pytorch = "Use similar shapes, so that temporaries can share memory.",
     .advice_native = "Use similar sizes, so that temporaries can share memory.",
     .metric = "temporary memory unused at the peak",
     .unit = "share",
     .denominator = "memory for temporaries",
     .limits = {[FND_SHARE] = 100, [FND_SIZE] = 1024},
     .needs = FND_NEED_FULL | FND_NEED_PLANS,
     .run = fnd_planned_gaps},
    {.id = "F40",
     .name = "offload-candidates",
     .title = "Offload candidates",
     .says = "Memory held at the program's peak is unused for much of its run, while "
             "device memory is scarce.",
     .rule = "arguments and temporaries of at least 1 MiB that no instruction reads for "
             "at least 50% of the program's instructions around the peak are at least "
             "20% of it, and the program reserves at least 70% of the device's memory",
     .source = "defined by this project, after jax.checkpoint's offload policies and "
               "ZeRO-Offload",
     .advice_xla = "Keep them on the host while unused: optimizer state in memory_kind "
                   "\"pinned_host\", activations by save_and_offload_only_these_names. Start "
                   "copying them back one layer ahead.",
     .advice_pytorch = "Keep them on the host while unused: save_on_cpu for activations, FSDP's "
                       "CPUOffload or ZeRO-Offload for optimizer state.",
     .advice_native = "Keep them on the host while unused, and copy them back before they are "
                      "needed.",
     .caveat = "Copies take time: offloading helps if the link is idle and the freed "
               "memory allows a larger batch.",
     .metric = "memory unused for long",
     .unit = "share",
     .denominator = "program's peak",
     .limits = {[FND_SHARE] = 200, [FND_PART] = 500, [FND_WINDOW] = 700, [FND_SIZE] = 1024},
     .needs = FND_NEED_FULL | FND_NEED_PLANS | FND_NEED_ROOM,
     .run = fnd_offload},
    {.id = "F17",
     .name = "hot-op",
     .title = "One op dominates",
     .says = "A single compute op (of one shape) takes a large part of the device's op "
             "time.",
     .rule = "its self time is at least 30% of the device's op time (medium from 60%, "
             "never high) and 100 µs; in a group of several shapes only the largest "
             "shape is judged; calls of one shape count together across scopes",
     .source = "common practice in op profiles",
     .advice_xla = "Compare its FLOP/s and bytes/s with the device's peak. Use bf16 or fp8, "
                   "shapes in multiples of 128, a fused or Pallas kernel, or run it less "
                   "often.",
     .advice_pytorch = "Compare its FLOP/s and bytes/s with the device's peak. Use AMP or TF32, "
                       "scaled_dot_product_attention, torch.compile, channels_last, or shapes in "
                       "multiples of 8 or 64.",
     .advice_native = "Compare its FLOP/s and bytes/s with the device's peak. Use a tuned "
                      "library, a fused kernel, narrower types, sizes in multiples of 64, or run "
                      "it less often.",
     .caveat = "A hot op is not a problem by itself: an efficient program spends its time "
               "in its largest matmul.",
     .advice_cpu = "Compare its FLOP/s and bytes/s with the CPU's peak. Use float32 instead of "
                   "float64, larger batches, one thread per core, or run it less often.",
     .metric = "self time",
     .unit = "share",
     .denominator = "op time",
     .limits = {[FND_SHARE] = 300, [FND_TIME] = 100, [FND_SEVERE] = 600},
     .needs = FND_NEED_DEVICE | FND_NEED_NAMES,
     .run = fnd_hot_op},
    {.id = "F50",
     .name = "dense-embedding",
     .title = "Whole table computed for few rows",
     .says = "A table is multiplied by one-hot rows in place of a look-up, or all of its rows are "
             "updated for a gradient of few of them.",
     .rule =
         "matmuls with a one-hot operand of at least 128 columns and the ops that make it, or "
         "updates of tables of which at most a quarter of the rows has gradients, take at least "
         "3% of the window; updates are at most medium",
     .source = "defined by this project (docs/reference/findings.md#f50-dense-embedding)",
     .advice_xla = "Index the table: table[ids] or jnp.take, whose gradient is a scatter-add, in "
                   "place of jax.nn.one_hot(ids, n) @ table. For sums by group use "
                   "jax.ops.segment_sum. Update only the rows that are used: "
                   "table.at[ids].add(…) on a donated table.",
     .advice_pytorch = "Use torch.nn.functional.embedding or index_add_ in place of a matmul with "
                       "one_hot. Embedding(sparse=True) with SparseAdam or SGD updates only the "
                       "rows that are used.",
     .advice_native = "Gather rows by index, and add gradients by scatter.",
     .caveat = "A gather across shards of a table may need communication that the matmul does not. "
               "Momentum and weight decay change rows without a gradient, too.",
     .metric = "time on whole tables",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 30},
     .needs = BASE | FND_NEED_PROGRAMS,
     .run = fnd_dense_embedding},
    {.id = "F53",
     .name = "unrolled",
     .title = "Many small ops of equal shape",
     .says =
         "A program runs many small ops of equal shape that don't depend on each other, such as "
         "a matmul for each expert or head in a Python loop. Each call has overhead.",
     .rule = "at least 8 independent ops of equal shape and source, shorter than 10 µs; one op for "
             "all of them would save at least 3% of the window",
     .source = "defined by this project (docs/reference/findings.md#f53-unrolled)",
     .advice_xla = "Stack the operands and use one batched op: jax.vmap, einsum with a batch "
                   "dimension, or lax.dot_general.",
     .advice_pytorch = "Stack the operands and use one batched op: torch.bmm, einsum or "
                       "torch.vmap.",
     .advice_native = "Use one batched call of the library for all of them.",
     .caveat = "Impact is an upper bound: the batched op still does the work itself.",
     .metric = "time that batched ops save",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 30},
     .needs = BASE | FND_NEED_PROGRAMS,
     .run = fnd_unrolled},
    {.id = "F52",
     .name = "repeated-forward",
     .title = "Matmuls computed twice",
     .says = "A program computes matmuls that another program of the same step computes as well, "
             "such as the forward pass for a loss that the training step returns anyway. Or two "
             "loops of one program compute the same matmuls.",
     .rule =
         "at least 90% of the FLOP of matmuls of a program are, by source line and shapes, also "
         "in another program with a backward pass, both run in at least 90% of the steps, and "
         "the first one takes at least 3% of the windows (at most medium); or a loop takes that "
         "long whose matmuls another loop computes from the same values",
     .source = "defined by this project (docs/reference/findings.md#f52-repeated-forward)",
     .advice_xla =
         "Return the value from the other program or loop: jax.value_and_grad returns the loss, "
         "and has_aux=True returns logits or metrics with it.",
     .advice_pytorch = "Keep the loss and outputs of the forward pass, and log them detached.",
     .advice_native = "Keep the result of the first pass.",
     .caveat = "If both programs get different inputs or parameters, as with validation data or a "
               "teacher, both are needed.",
     .metric = "time of the repetition",
     .unit = "share",
     .denominator = "windows of all devices",
     .limits = {[FND_SHARE] = 30, [FND_PART] = 900},
     .needs = BASE | FND_NEED_STEPS | FND_NEED_PROGRAMS,
     .run = fnd_repeated_forward},
    {.id = "F51",
     .name = "recomputation",
     .title = "Recomputed forward pass",
     .says = "jax.checkpoint discards values of the forward pass and computes them again in the "
             "backward pass, which saves memory.",
     .rule = "ops of rematted_computation take at least 3% of the window; high only if the program "
             "reserves at most half of the device's memory",
     .source = "defined by this project (docs/reference/findings.md#f51-recomputation)",
     .advice_xla =
         "If memory is free, remove jax.checkpoint (jax.remat, nn.remat) from some or all "
         "layers, or keep matmuls: policy=jax.checkpoint_policies.dots_saveable.",
     .advice_pytorch = "If memory is free, remove torch.utils.checkpoint from some or all layers.",
     .advice_native = "If memory is free, keep values of the forward pass.",
     .caveat = "Kept values take memory, and time to write and to read them.",
     .metric = "time of recomputation",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 30},
     .needs = BASE | FND_NEED_PROGRAMS,
     .run = fnd_recomputation},
    {.id = "F47",
     .name = "double-precision",
     .title = "Computation in float64",
     .says = "Ops compute in double precision, which takes twice the memory traffic of single "
             "precision and at least twice its arithmetic.",
     .rule = "ops that compute in float64 take at least 10% of the device's op time; impact half "
             "of it; without a device, self time of operators with a float64 operand",
     .source = "defined by this project (docs/reference/findings.md#f47-double-precision)",
     .advice_xla = "Find where float64 enters: jax_enable_x64, a NumPy array or scalar of "
                   "float64, or an explicit dtype. Use float32 unless the result needs more.",
     .advice_pytorch = "Find where float64 enters: a tensor made from NumPy or .double(). Use "
                       "float32 unless the result needs more.",
     .advice_native = "Use float32 unless the result needs more.",
     .caveat = "Some algorithms need double precision.",
     .metric = "self time in float64",
     .unit = "share",
     .denominator = "op time",
     .limits = {[FND_SHARE] = 100},
     .needs = FND_NEED_FULL | FND_NEED_OPERATORS | FND_NEED_PROGRAMS,
     .run = fnd_double_precision},
    {.id = "F49",
     .name = "occasional-program",
     .title = "A program runs in some steps only",
     .says = "A program that is not part of every step, such as evaluation, takes a large part of "
             "the devices' time.",
     .rule = "a program runs in at most 50% of the steps and takes at least "
             "5% of the windows, while another program runs in at least 90% of the steps",
     .source = "defined by this project (docs/reference/findings.md#f49-occasional-program)",
     .advice_xla = "Run it less often, on fewer batches, or outside of the training loop.",
     .advice_pytorch = "Run it less often, on fewer batches, or outside of the training loop.",
     .advice_native = "Run it less often, on less data, or outside of the loop.",
     .caveat = "Impact is all of its time: an upper bound, because some evaluation is needed.",
     .metric = "time of the program",
     .unit = "share",
     .denominator = "windows of all devices",
     .limits = {[FND_SHARE] = 50, [FND_PART] = 500},
     .needs = BASE | FND_NEED_STEPS,
     .run = fnd_occasional_program},
    {.id = "F24",
     .name = "repeated-work",
     .title = "Module runs repeatedly in each step",
     .says = "A module runs three or more times in nearly every step. If its inputs do "
             "not change, all runs but one are redundant.",
     .rule = "a module runs at least 3 times in at least 80% of the steps and takes at "
             "least 10% of the windows; impact (k - 1)/k of it, at most medium",
     .source = "defined by this project",
     .advice_xla = "Compute it once and reuse the result, or use vmap or scan so that the "
                   "repeats run as one program.",
     .advice_pytorch = "Compute it once per step and reuse the result, or batch the repeats.",
     .advice_native = "Compute it once per step and reuse the result, or batch the repeats.",
     .caveat = "If its inputs differ, the runs are needed: microbatches, decoding steps "
               "and layers run one module many times on purpose.",
     .metric = "time of the repeated module",
     .unit = "share",
     .denominator = "windows of all devices",
     .limits = {[FND_SHARE] = 100, [FND_PART] = 800, [FND_NUMBER] = MODULE_REPEATS},
     .needs = BASE | FND_NEED_STEPS | FND_NEED_MODULES,
     .run = fnd_repeated_work},
    {.id = "F19",
     .name = "data-formatting",
     .title = "Layout changes and data formatting",
     .says = "Transposes, copies, reshapes and layout conversions take a large part of "
             "op time without computing anything.",
     .rule =
         "self time of data formatting is at least 10% of the device's op time; without a device, "
         "clones in aten::contiguous, aten::reshape and aten::flatten, as a share of the window",
     .source = "XProf smart suggestions (data shuffle 30%)",
     .advice_xla = "Order the dimensions of einsum and dot_general as they are stored, keep "
                   "one layout across layers, avoid reshapes across sharded axes, donate "
                   "buffers that are only copied, and pad once to multiples of 8 x 128.",
     .advice_pytorch = "Use memory_format=torch.channels_last for convolutions, remove unneeded "
                       ".contiguous() and .permute(), and let torch.compile fuse the rest.",
     .advice_native = "Keep one layout across kernels, use libraries that read transposed "
                      "operands, and fuse conversions into adjacent kernels.",
     .advice_cpu = "Keep data in the layout in which it is used, and move transposes out of the "
                   "loop. Remove buffers that are only copied.",
     .metric = "self time of data formatting",
     .unit = "share",
     .denominator = "op time",
     .limits = {[FND_SHARE] = 100},
     .needs = FND_NEED_FULL | FND_NEED_OPERATORS,
     .run = fnd_data_formatting},
    {.id = "F33",
     .name = "unknown-cost",
     .title = "Cost of many ops is unknown",
     .says = "Ops without known FLOP and bytes take much of the window, so MFU is only "
             "a lower bound.",
     .rule = "ops without a known cost take at least 20% of the window of a device that "
             "has a known peak and at least one op with FLOP",
     .source = "custom calls take 70% of the device time of one of the sample profiles",
     .advice_xla = "Give Pallas kernels and custom calls a cost_estimate (pl.CostEstimate), "
                   "and keep HLO protos in the profile.",
     .advice_pytorch = "Record with record_shapes=True, so that the sizes of matmuls are known; "
                       "custom and element-wise kernels remain unknown.",
     .advice_native = "Record the FLOP of kernels when they are launched.",
     .metric = "time of ops without a known cost",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 200},
     .needs = FND_NEED_DEVICE | FND_NEED_FULL | FND_NEED_PEAK,
     .run = fnd_unknown_cost},
    {.id = "F34",
     .name = "above-peak",
     .title = "Faster than the hardware's peak",
     .says = "Ops take less time than their FLOP need at the device's peak: the peak, "
             "the type or the FLOP are wrong, and so is MFU.",
     .rule = "the time by which executions are faster than the peak allows exceeds 0.5% "
             "of compute time",
     .source = "rates above 100% are evidence and are never clipped; 0.5% allows for "
               "boost clocks",
     .advice_xla = "Set the chip with --chip or its peak with --peak-tflops. Cost estimates "
                   "of custom calls may be too large.",
     .advice_pytorch = "Set the chip with --chip or its peak with --peak-tflops. Sparse matmuls "
                       "count as dense.",
     .advice_native = "Set the chip with --chip or its peak with --peak-tflops, and check the "
                      "FLOP that the program reports.",
     .metric = "time below what the peak allows",
     .unit = "share",
     .denominator = "compute time",
     .limits = {[FND_SHARE] = 5},
     .needs = FND_NEED_DEVICE | FND_NEED_FULL | FND_NEED_PEAK,
     .run = fnd_above_peak},
    {.id = "F35",
     .name = "inefficient-products",
     .title = "Matmuls far below the peak",
     .says = "Matmuls and convolutions take longer than their FLOP and bytes explain: "
             "shapes that do not fill the units, launch tails, or slow kernels.",
     .rule = "the time of matmuls beyond FLOP, padding and bytes at the peak is at "
             "least 10% of the window (medium from 25%)",
     .source = "the MFU breakdown: an upper bound of the saving by better kernels",
     .advice_xla = "Check the shapes of the op: multiples of 128 or 256 in every dimension, "
                   "larger batches, bf16. Then check its layout and what is fused into it.",
     .advice_pytorch = "Check the shapes of the op: multiples of 64 or more in every dimension, "
                       "larger batches, bf16. Use channels_last for convolutions and "
                       "torch.compile with max-autotune.",
     .advice_native = "Check the shapes of the op: larger ones, multiples of the library "
                      "kernel's tile, a narrower type.",
     .caveat = "Upper bound: no kernel reaches the peak.",
     .advice_cpu = "Check the shapes of the op: larger batches, float32 instead of float64, one "
                   "thread per core. Then check its layout and what is fused into it.",
     .metric = "inefficiency of matmuls",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 100, [FND_SEVERE] = 250},
     .needs = FND_NEED_DEVICE | FND_NEED_FULL | FND_NEED_PEAK,
     .run = fnd_inefficiency},
    {.id = "F18",
     .name = "op-variance",
     .title = "Op duration varies widely",
     .says = "Durations of one op's calls vary by more than their mean: contention, "
             "changing inputs, or waiting inside the op.",
     .rule =
         "CV (standard deviation / mean) exceeds 1 over more than 10 calls of an op "
         "with at least 5% of op time; impact (mean - median) of all calls; groups "
         "of several shapes are judged by their largest part, without an impact; at most medium",
     .source = "TraceLens (CV 1, 10 calls, 5%)",
     .advice_xla = "Open the slowest call in the timeline. Check for another program or "
                   "stream at the same time, sparse or ragged inputs, and throttling.",
     .advice_pytorch = "Open the slowest call in the timeline. Check for kernels on other "
                       "streams, ragged or sparse inputs, autotuning (cudnn.benchmark) in the "
                       "first calls, and throttling.",
     .symptom = true,
     .metric = "CV (standard deviation / mean)",
     .unit = "ratio",
     .limits = {[FND_SPREAD] = 1000, [FND_SHARE] = 50, [FND_NUMBER] = 10},
     .needs = FND_NEED_DEVICE | FND_NEED_NAMES,
     .at_most_medium = true,
     .run = fnd_op_variance},
    {.id = "F56",
     .name = "peer-waits",
     .title = "Devices wait for each other",
     .says = "Devices arrive at collectives at different times, and the last one changes from call "
             "to call.",
     .rule = "the exposed part of waits for the last participant of a collective exceeds 5% of the "
             "window, without the time that F16 and F15 claim",
     .source = "defined by this project (docs/reference/findings.md#f56-peer-waits)",
     .advice_xla = "Look for jitter: input that is ready at different times, garbage collection, "
                   "other jobs on the hosts, and shapes that differ. Fewer and larger collectives "
                   "wait less often.",
     .advice_pytorch =
         "Look for jitter: data loaders, garbage collection, other jobs on the hosts, "
         "and batches of different length. Fewer and larger buckets wait less often.",
     .advice_native = "Look for jitter: input that is ready at different times, other jobs on the "
                      "hosts, and work that differs. Fewer and larger collectives wait less often.",
     .advice_cpu = "CPU devices share the cores: use no more devices than cores, and let the "
                   "program run alone.",
     .at_most_medium = true,
     .metric = "exposed waits for the last participant",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50},
     .needs = BASE | FND_NEED_SECOND_DEVICE | FND_NEED_MATCHED,
     .run = fnd_peer_waits},
    {.id = "F4",
     .name = "exposed-comm",
     .title = "Exposed communication",
     .says = "The device communicates while it computes nothing.",
     .rule = "exposed communication exceeds 5% of the window",
     .source = "TraceLens (5%), torch_tb_profiler (10%), XProf (30%)",
     .advice_xla = "Overlap it: --xla_gpu_enable_latency_hiding_scheduler=true and pipelined "
                   "collectives (--xla_gpu_enable_pipelined_all_gather=true, …reduce_scatter, "
                   "…all_reduce) on GPU, --xla_tpu_enable_async_collective_fusion=true on "
                   "TPU. Or communicate less: larger microbatches, bf16 gradients, another "
                   "mesh.",
     .advice_pytorch = "Overlap it: tune bucket_cap_mb of DDP, or use FSDP with "
                       "backward_prefetch=BACKWARD_PRE. Or communicate less: no_sync() while "
                       "accumulating, bf16 gradients (bf16_compress_hook), larger batches.",
     .advice_native = "Overlap it: start each collective as soon as its data is ready, on a "
                      "separate stream. Or communicate less: larger batches, narrower types.",
     .advice_cpu = "Communicate less: larger microbatches, reduce locally first, another mesh. "
                   "CPU devices share the cores, so communication rarely overlaps with compute.",
     .metric = "exposed communication",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50},
     .needs = BASE,
     .run = fnd_exposed_comm},
    {.id = "F5",
     .name = "poor-overlap",
     .title = "Little communication overlaps with compute",
     .says = "Too little of the communication runs while the device computes.",
     .rule = "communication takes at least 100 µs and 2% of the window, and less than "
             "70% of it is hidden; impact 0.85 of it minus the hidden time",
     .source = "TraceLens (70%)",
     .advice_xla = "Overlap collectives with compute: latency-hiding scheduler, async "
                   "collectives, collective matmul (windowed einsum), and smaller combine "
                   "thresholds so that the first one can start earlier.",
     .advice_pytorch = "Overlap collectives with compute: smaller DDP buckets, FSDP prefetch, "
                       "async_op=True, and a high-priority communication stream.",
     .advice_native = "Overlap collectives with compute: use smaller pieces that start earlier "
                      "on a high-priority stream, and wait for them after independent work.",
     .advice_cpu = "Start communication earlier and communicate less. CPU devices share the "
                   "cores, so little of it can overlap with compute.",
     .metric = "hidden communication",
     .unit = "share",
     .denominator = "communication",
     .limits = {[FND_SHARE] = 700, [FND_TIME] = 100, [FND_WINDOW] = 20, [FND_SPARED] = 850},
     .needs = BASE,
     .run = fnd_poor_overlap},
    {.id = "F2",
     .name = "long-gap",
     .title = "Long idle gaps",
     .says = "The device sits idle for an unusually long time in a few gaps.",
     .rule = "gaps of at least 1 ms and 5% of the median step that are more than twice "
             "as long as the usual gap; the five longest are listed; at most medium",
     .source = "Nsight Systems' rule for GPU gaps (500 ms), made relative to the step",
     .advice_xla = "Open the gap in the timeline and check what the launching thread does: "
                   "checkpointing, evaluation, logging, garbage collection, a first "
                   "compilation.",
     .advice_pytorch = "Open the gap in the timeline and check what the launching thread does: "
                       "checkpointing, evaluation, logging, start of DataLoader workers, garbage "
                       "collection (gc.freeze).",
     .metric = "longest gap",
     .unit = "ms",
     .limits = {[FND_TIME] = 1000, [FND_FACTOR] = 2000, [FND_PART] = 50},
     .needs = BASE,
     .at_most_medium = true,
     .run = fnd_long_gap},
    {.id = "F12",
     .name = "step-outlier",
     .title = "Slow steps (outliers)",
     .says = "A few steps take far longer than the median.",
     .rule = "a step is longer than twice the median, or its robust z = (x - median) / "
             "(1.4826 MAD) exceeds 10, with a MAD of at least 0.1% of the median, among "
             "five steps or more; periodic steps of another class are not outliers, and "
             "a single slow first step is reported as warm-up (low); at most medium",
     .source = "hyperfine's outlier test (14.826 MAD)",
     .advice_xla = "Compare the step with an adjacent one in the timeline: evaluation, "
                   "checkpointing, logging, recompilation or a slow batch. Move periodic work "
                   "to another thread.",
     .advice_pytorch = "Compare the step with an adjacent one in the timeline: evaluation, "
                       "checkpointing, logging, allocator retries (cudaMalloc, cudaFree) or a "
                       "slow batch. Move periodic work to another thread.",
     .caveat = "Impact is the time above the median within the device's window that no "
               "other finding explains.",
     .symptom = true,
     .metric = "slowest step / median",
     .unit = "ratio",
     .limits = {OUTLIER},
     .needs = BASE | FND_NEED_STEPS | FND_NEED_FIVE_STEPS,
     .at_most_medium = true,
     .run = fnd_step_outlier},
    {.id = "F13",
     .name = "jitter",
     .title = "Step time varies",
     .says = "Step time varies a lot, even without outliers.",
     .rule = "the CV (standard deviation / mean) of at least five steps exceeds 0.10, "
             "without the outliers of F12 and steps of another class; at most medium",
     .source = "hyperfine, step-time view of XProf",
     .advice_xla = "Compare a short and a long step: sequence lengths, input waits, other "
                   "processes on the host, frequency scaling.",
     .advice_pytorch = "Compare a short and a long step: sequence lengths, DataLoader waits, "
                       "allocator activity, other processes, GPU clocks.",
     .symptom = true,
     .metric = "CV (standard deviation / mean)",
     .unit = "ratio",
     .limits = {[FND_SPREAD] = 100, OUTLIER},
     .needs = BASE | FND_NEED_STEPS | FND_NEED_FIVE_STEPS,
     .at_most_medium = true,
     .run = fnd_jitter},
    {.id = "F54",
     .name = "scalar-reads",
     .title = "Values are read one by one",
     .says = "A loop converts elements of tensors to numbers one by one. Each conversion calls "
             "operators that take longer than the arithmetic.",
     .rule = "a function calls aten::item in a loop of one step, and the loop's overhead is at "
             "least 5% of the window",
     .source = "pairs of programs with and without the loop "
               "(docs/reference/findings.md#f54-scalar-reads-and-f55-operator-loop)",
     .advice_xla = "Compute on whole tensors, such as (best == labels).sum(), and read the result "
                   "once. If all values are needed, call .tolist() or .numpy() once, before the "
                   "loop.",
     .caveat = "Recording slows small operators, above all with with_stack.",
     .metric = "overhead of the loop",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50},
     .needs = FND_NEED_ZONES | FND_NEED_TORCH | FND_NEED_STEPS,
     .run = fnd_scalar_reads},
    {.id = "F55",
     .name = "operator-loop",
     .title = "A loop calls small operators",
     .says = "A function calls the same operator or module for one element after the other. The "
             "overhead of these calls takes longer than their arithmetic.",
     .rule = "a function calls the same operator, module or function in a loop of one step, and "
             "the loop's overhead is at least 5% of the window, with its backward pass",
     .source = "pairs of programs with and without the loop "
               "(docs/reference/findings.md#f54-scalar-reads-and-f55-operator-loop)",
     .advice_xla = "Call the module or operator once for the whole batch: stack the elements "
                   "before, or use torch.vmap. If each pass needs the result of the one before, "
                   "use a fused module such as torch.nn.LSTM, or torch.compile. For lists of "
                   "tensors there are torch._foreach functions.",
     .caveat = "Passes that depend on each other cannot be one call, so the severity is at most "
               "medium. Recording slows small operators.",
     .at_most_medium = true,
     .metric = "overhead of the loop",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50},
     .needs = FND_NEED_ZONES | FND_NEED_TORCH | FND_NEED_STEPS,
     .run = fnd_operator_loop},
    {.id = "F45",
     .name = "unused-autograd",
     .title = "Autograd records without a backward pass",
     .says = "Evaluation or inference runs with autograd: it builds graphs and keeps activations "
             "that no backward pass uses, or runs backward passes for gradients that nothing uses.",
     .rule = "operators without a backward op of their sequence number exceed 5% of the window "
             "(medium from 30%, never high), in at least 10 operations; without a device, also "
             "backward passes of at least 5% of the window whose gradients no operator reads, and "
             "zero_grad clears, or in a capture without optimizer (then low unless the function's "
             "name means evaluation)",
     .source = "torch.no_grad and torch.inference_mode",
     .advice_xla = "Run evaluation under torch.inference_mode() or torch.no_grad(), and call "
                   "model.eval(). Detach what is kept for metrics.",
     .caveat =
         "A capture that ends between forward and backward pass, or between the passes of gradient "
         "accumulation, looks the same.",
     .metric = "time of operators without a backward pass",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50, [FND_SEVERE] = 300, [FND_NUMBER] = 10},
     .needs = FND_NEED_TORCH,
     .run = fnd_unused_autograd},
    {.id = "F46",
     .name = "optimizer-loop",
     .title = "The optimizer updates parameters one by one",
     .says = "The optimizer calls small operators for each parameter instead of a few for all.",
     .rule = "optimizer steps take more than 5% of the window (medium from 15%, never high), and "
             "call at least 20 operators directly that are not foreach or fused; without a device, "
             "severity is that of the saving",
     .source = "torch.optim, foreach and fused",
     .advice_xla = "Pass foreach=True or fused=True to the optimizer; on a GPU, fused=True is "
                   "fastest where it exists. Few large parameters help, too.",
     .caveat = "Sparse gradients and some dtypes need the slow path.",
     .metric = "operators per optimizer step",
     .unit = "operators",
     .limits = {[FND_WINDOW] = 50, [FND_SEVERE] = 150, [FND_NUMBER] = 20},
     .needs = FND_NEED_TORCH,
     .run = fnd_optimizer_loop},
    {.id = "F28",
     .name = "slow-step",
     .title = "Slow steps (outliers)",
     .says = "A few steps take far longer than the median; the zone that grew is the "
             "cause.",
     .rule = "as F12; a zone grows by the difference between its self time in the step "
             "and its median over all steps. If a zone that most steps do not have is "
             "at least half of the worst step's excess, it is reported (low) even if it "
             "is a small part of the window; never high",
     .source = "F12, applied to host zones",
     .advice_xla = "Move work that does not belong to every step (checkpoints, logging, "
                   "evaluation, growing buffers) to another thread, or spread it over steps. "
                   "Compare the step with an adjacent one in the timeline.",
     .caveat = "Impact is the time above the median that no other finding explains.",
     .symptom = true,
     .advice_pytorch = "Move work that does not belong to every step (checkpoints, logging, "
                       "evaluation) to another thread or process, or spread it over steps. Compare "
                       "the step with an adjacent one in the timeline.",
     .metric = "slowest step / median",
     .unit = "ratio",
     .limits = {OUTLIER},
     .needs = FND_NEED_ZONES | FND_NEED_FULL | FND_NEED_STEPS | FND_NEED_FIVE_STEPS,
     .run = fnd_step_outlier},
    {.id = "F25",
     .name = "thread-wait",
     .title = "Threads wait for locks or other threads",
     .says = "A thread that determines the program's run time waits for other threads "
             "or sleeps.",
     .rule = "a thread waits at least 5% of the window: for locks on any thread; in "
             "other zones whose name or category means waiting (wait, sleep, join, "
             "barrier, recv, poll) on the thread with the steps and within them, or "
             "without steps on the busiest thread (there wait, recv and poll count only "
             "inside another zone, since they may wait for work), and not while two "
             "other threads of the process work; time reported by F28 is not counted "
             "again",
     .source = "F8, applied to host threads",
     .advice_xla = "Hold locks for less time (copy, then work), give each thread its own "
                   "data, and shard contended data. Start what is waited for earlier and "
                   "collect it later, or wait on another thread.",
     .caveat = "A thread may wait on purpose, for example for requests or for the next "
               "frame.",
     .advice_pytorch = "Start what is waited for earlier and collect it later. Give loaders and "
                       "writers threads or processes of their own, and leave cores to them "
                       "(torch.set_num_threads).",
     .metric = "time lost in waiting zones",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50},
     .needs = FND_NEED_ZONES | FND_NEED_FULL,
     .run = fnd_thread_wait},
    {.id = "F26",
     .name = "thread-imbalance",
     .title = "Threads have unequal work",
     .says = "Threads do the same kind of work for different times, and the others wait "
             "for the busiest one.",
     .rule = "two or more threads of a process spend half of their work or more in the "
             "same zone and do half of the process's work; the busiest exceeds their "
             "mean by more than 10%, and works at least half of the window",
     .source = "F15, applied to host threads",
     .advice_xla = "Distribute smaller pieces of work, the largest first, from one queue or "
                   "by work stealing, instead of equal shares at the start.",
     .advice_pytorch = "Give threads equal work: smaller pieces, the largest first. Check "
                       "torch.set_num_threads, OMP_NUM_THREADS and pinning against the number of "
                       "cores.",
     .metric = "max/mean - 1 of work",
     .unit = "share",
     .denominator = "mean work per thread",
     .limits = {[FND_SHARE] = 100, [FND_PART] = 500},
     .needs = FND_NEED_ZONES | FND_NEED_FULL,
     .run = fnd_thread_imbalance},
    {.id = "F27",
     .name = "hot-zone",
     .title = "One zone dominates",
     .says = "The self time of one zone is a large part of the work of all threads.",
     .rule = "its self time is at least 30% of the work of all threads (medium from "
             "60%, never high) and 100 µs; at least three zones exist",
     .source = "F17, applied to host zones",
     .advice_xla = "See what calls it, then run it less often, on less data, or on more threads.",
     .advice_native = "Add zones inside it to see its parts, then run it less often, on less "
                      "data, or on more threads (OpenMP, a pool).",
     .caveat = "A hot zone is not a problem by itself: an efficient program spends its "
               "time in its main work.",
     .title_ops = "One op dominates",
     .advice_pytorch =
         "Record shapes and stacks (record_shapes, with_stack) to see its callers. Use "
         "torch.compile, channels_last, larger batches, or run it less often; check "
         "torch.get_num_threads.",
     .advice_tensorflow = "See what calls it (trace viewer), then run it less often, on less data, "
                          "or compiled (jit_compile=True).",
     .metric = "self time",
     .unit = "share",
     .denominator = "work of all threads",
     .limits = {[FND_SHARE] = 300, [FND_TIME] = 100, [FND_SEVERE] = 600, [FND_NUMBER] = 3},
     .needs = FND_NEED_ZONES | FND_NEED_NAMES,
     .run = fnd_hot_zone},
    {.id = "F29",
     .name = "zone-variance",
     .title = "Zone duration varies widely",
     .says = "Durations of one zone's calls vary by more than their mean: contention, "
             "page faults, changing inputs.",
     .rule = "CV (standard deviation / mean) exceeds 1 over more than 10 calls of a "
             "zone with at least 5% of the work and 100 µs, at least half of it self "
             "time, that is not recursive; impact (mean - median) of all calls, divided "
             "by its threads; always low",
     .source = "F18, applied to host zones",
     .advice_xla = "Open the slowest call in the timeline and compare its arguments with "
                   "those of a fast one. Check for first touches of memory, locks without "
                   "zones, and other processes.",
     .caveat = "Calls may have inputs of different sizes, which the profile does not "
               "show; severity is therefore low.",
     .symptom = true,
     .title_ops = "Op duration varies widely",
     .advice_pytorch =
         "Open the slowest call in the timeline and compare its shapes with those of a "
         "fast one. The first call may choose an algorithm or touch new memory: warm "
         "up before recording. Check other processes on the machine.",
     .metric = "CV (standard deviation / mean)",
     .unit = "ratio",
     .limits = {[FND_SPREAD] = 1000,
                [FND_SHARE] = 50,
                [FND_TIME] = 100,
                [FND_PART] = 500,
                [FND_NUMBER] = 10},
     .needs = FND_NEED_ZONES | FND_NEED_NAMES,
     .run = fnd_zone_variance},
    {.id = "F44",
     .name = "graph-breaks",
     .title = "Graph breaks in compiled code",
     .says = "torch.compile splits a function into several graphs, and Python runs between them.",
     .rule = "functions that resume after a graph break are called at least twice; without Python "
             "frames, two or more compiled frames each run equally often, at least twice; medium "
             "from three breaks per call",
     .source = "torch._dynamo.explain, which counts the same",
     .advice_xla = "Find the breaks with TORCH_LOGS=graph_breaks or torch._dynamo.explain. Move "
                   "prints, .item(), data-dependent branches and unsupported calls out of the "
                   "compiled function, and try fullgraph=True.",
     .caveat = "Functions that are compiled separately look the same if no Python frames were "
               "recorded.",
     .metric = "graph breaks per call",
     .unit = "breaks",
     .limits = {[FND_NUMBER] = 2},
     .needs = FND_NEED_TORCH,
     .run = fnd_graph_breaks},
    {.id = "F43",
     .name = "overhead",
     .title = "Recording slows the program",
     .says = "So many events were recorded that they take a large part of the capture.",
     .rule = "events of the host times 0.35 µs exceed 10% of the capture (medium from 50%, never "
             "high)",
     .source = "0.2 to 0.5 µs an event, measured with JAX and PyTorch on CPU",
     .advice_xla = "Record less: python_tracer_level=0 and host_tracer_level=1 in "
                   "jax.profiler.ProfileOptions, and fewer steps. Compare step times with those "
                   "of the program without a profiler.",
     .advice_pytorch = "Record less: without with_stack, record_shapes and profile_memory. Compare "
                       "step times with those of the program without a profiler.",
     .advice_native = "Record fewer or coarser zones (level), and compare with a run without "
                      "recording.",
     .metric = "cost of recording",
     .unit = "share",
     .denominator = "capture",
     .limits = {[FND_SHARE] = 100, [FND_SEVERE] = 500},
     .needs = FND_NEED_FULL | FND_NEED_CAPTURE,
     .run = fnd_overhead},
    {.id = "F1",
     .name = "device-idle",
     .title = "Device idle",
     .says = "The device runs nothing for a large part of its window, and no other "
             "finding explains it.",
     .rule = "idle time is more than 15% of the window and at least 3 ms; impact idle - 5%",
     .source = "TraceLens (15%), torch_tb_profiler (GPU utilization below 50%)",
     .advice_xla = "Open the longest gaps in the timeline. Record with host tracing "
                   "(host_tracer_level=2) to see what the host did, and give the device more "
                   "work at once: larger batches, jit over larger pieces, lax.scan.",
     .advice_pytorch = "Open the longest gaps in the timeline. Record CPU activity as well to see "
                       "what the host did, and give the device more work at once: larger batches, "
                       "torch.compile, CUDA graphs.",
     .advice_native = "Open the longest gaps in the timeline. Add zones to the host code to see "
                      "what it does, and give the device more work at once: larger batches, "
                      "several streams, graphs.",
     .caveat = "A device may be idle on purpose: a server without requests, or a capture "
               "of a waiting program.",
     .metric = "idle time",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 150, [FND_TIME] = 3000, [FND_SPARED] = 50},
     .needs = FND_NEED_DEVICE,
     .run = fnd_device_idle},
    {.id = NULL}};

_Static_assert(sizeof findings_rules / sizeof *findings_rules <= 64 + 1,
               "sets of rules have one bit of 64 for each");
