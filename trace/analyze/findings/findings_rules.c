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
     .says = "The file is cut, capped, damaged or lacks links, so that sums and shares miss "
             "something. Every other finding is then one level less severe.",
     .rule = "a file is cut, capped or damaged, or events were dropped (high); device ops begin "
             "before their launch, recorded graphs hide their ops, more than 10% of a GPU's ops "
             "lack their launch call, a device was used but not traced, or nothing has a length "
             "(medium); not for captures of the host alone",
     .source = "issue trails of JAX, XProf, TraceLens and HTA: event caps and cut files that no "
               "tool mentions",
     .advice_xla = "Record again for a shorter time: fewer steps, python_tracer_level=0 and "
                   "host_tracer_level=1 in jax.profiler.ProfileOptions; and open the .xplane.pb, "
                   "whose event list is not capped as the .trace.json.gz is.",
     .advice_pytorch = "Record again for a shorter time: schedule(wait=1, warmup=1, active=3), "
                       "without with_stack and record_shapes; and stop the program only after "
                       "the trace has been written.",
     .advice_native = "Record again for a shorter time or fewer kinds of events, end the recording "
                      "before the program does, and copy its files whole.",
     .metric = "notes",
     .unit = "entries",
     .run = fnd_trace_unreliable},
    {.id = "F10",
     .name = "recompile",
     .title = "Compiling again while running",
     .says = "A function is compiled more than once, or after execution had begun: its shapes, "
             "dtypes or static arguments change from call to call.",
     .rule = "a function has two or more compile roots, or a compile root starts after the first "
             "execution of a step's module; what is compiled after the first time or too late is "
             "at least 0.5% of the capture",
     .source = "jax issues 31319, 4390, 2814 and others: silent recompilation",
     .advice_xla =
         "Run with jax_log_compiles and jax_explain_cache_misses to see what changed; pad "
         "or bucket shapes, keep static_argnums hashable and few, make the jitted "
         "function once outside of the loop, and set jax_compilation_cache_dir.",
     .advice_pytorch = "Run with TORCH_LOGS=recompiles to see which guard failed; use "
                       "torch.compile(dynamic=True) or mark_dynamic for changing shapes, pad the "
                       "last batch (drop_last=True), and keep Python scalars out of the graph.",
     .advice_native =
         "Find what changes from call to call (shapes, sizes, options) and is compiled in; pad or "
         "bucket it, compile what is needed before the loop, and keep it in a cache, on disk too.",
     .caveat = "One function may be several programs on purpose, one a shape: then warm all of "
               "them up before recording.",
     .metric = "late and repeated compile time",
     .unit = "share",
     .denominator = "capture",
     .limits = {[FND_SHARE] = 5},
     .needs = FND_NEED_FULL | FND_NEED_HOST | FND_NEED_CAPTURE,
     .run = fnd_recompile},
    {.id = "F11",
     .name = "compile-share",
     .title = "The capture includes compilation",
     .says = "Much of the capture is compiling before the step's program first runs, so that "
             "totals describe the start of the program rather than its steady state.",
     .rule = "compiles that begin before the step's module first runs, also inside the first step, "
             "take more than 10% of the capture",
     .source = "nsys-jax, which leaves the compile phase out",
     .advice_xla = "Start the profiler after a few warm-up steps (call the step and "
                   "block_until_ready first), and keep compiled programs with "
                   "jax_compilation_cache_dir.",
     .advice_pytorch = "Use torch.profiler.schedule with wait and warmup steps, and keep compiled "
                       "kernels in TORCHINDUCTOR_CACHE_DIR.",
     .advice_native = "Record from a later step on (a schedule, --steps), and keep what is "
                      "compiled on disk from run to run.",
     .metric = "compile time before the first execution",
     .unit = "share",
     .denominator = "capture",
     .limits = {[FND_SHARE] = 100},
     .needs = FND_NEED_FULL | FND_NEED_HOST | FND_NEED_CAPTURE,
     .run = fnd_compile_share},
    {.id = "F14",
     .name = "input-bound",
     .title = "Waiting for input data",
     .says = "The device idles while the thread that feeds it waits for the input pipeline.",
     .rule = "idle time under input labels (DataLoader, IteratorGetNext, infeed, prefetch; next() "
             "and a queue's get() in Python) and exposed infeed exceed 5% of the window",
     .source = "torch_tb_profiler (5%), XProf (10%)",
     .advice_xla = "Load ahead: prefetch two or more batches to the device (device_put from a "
                   "thread, tf.data prefetch(AUTOTUNE), Grain with worker processes), decode in "
                   "parallel, and cache what does not change.",
     .advice_pytorch = "Raise DataLoader num_workers and prefetch_factor, set pin_memory=True and "
                       "persistent_workers=True, and move decoding and augmentation off the "
                       "training thread.",
     .advice_native = "Load ahead: threads that stay two or more batches in front, in a bounded "
                      "queue, with pinned buffers that are used again, and a copy to the device on "
                      "a stream of its own while it computes.",
     .caveat = "A labelled wait says where the thread stood, not that the data was the only thing "
               "late.",
     .metric = "idle while waiting for input",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50},
     .needs = BASE,
     .run = fnd_input_bound},
    {.id = "F21",
     .name = "debug-callback",
     .title = "Calls from the device into the program",
     .says = "Debug prints and host callbacks hold the device up: it has to copy values out and "
             "wait for Python.",
     .rule = "idle time under callback labels and self time of callback ops are at least 5% of "
             "the window",
     .source = "XProf smart suggestions (debug print 5%)",
     .advice_xla = "Take jax.debug.print, jax.debug.callback, io_callback and pure_callback out of "
                   "the hot loop, or run them every N steps under lax.cond; return values to log "
                   "as outputs instead.",
     .advice_pytorch = "Take prints, .item() and hooks that read tensors out of the loop; log "
                       "every N steps from a detached copy.",
     .advice_native =
         "Take prints and calls into the host out of the hot loop, or make them every N steps; "
         "write what is to be logged into a buffer on the device and read that a step later.",
     .metric = "time in callbacks",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50},
     .needs = BASE,
     .run = fnd_debug_callback},
    {.id = "F8",
     .name = "sync-call",
     .title = "Blocking calls let the device run dry",
     .says = "The host waits for results in a blocking call, and while it does, nothing new is "
             "launched.",
     .rule =
         "time in blocking calls (block_until_ready, np.asarray, device_get, Await, "
         "cudaStreamSynchronize …), with all that they call, while all devices of the host idle "
         "between their first op and their last is at least 5% of the window; of several threads "
         "the longest counts, and never more than the idle time "
         "that such calls can cause",
     .source = "Nsight Systems' rule on synchronisation APIs",
     .advice_xla = "Keep results on the device: fetch losses a step late or every N steps, never "
                   "float(x) or np.asarray(x) inside the loop, and let dispatch run ahead.",
     .advice_pytorch = "Avoid .item(), .cpu(), print(tensor) and torch.cuda.synchronize() in the "
                       "loop; copy with non_blocking=True and read the value a step later.",
     .advice_native =
         "Launch the next work before you wait, read results a step late or every N steps, and "
         "wait for the event of one result instead of for the whole device.",
     .metric = "idle under blocking calls",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50},
     .needs = BASE | FND_NEED_HOST,
     .run = fnd_sync_call},
    {.id = "F9",
     .name = "launch-bound",
     .title = "Kernels too small for their launches",
     .says = "The host cannot launch kernels as fast as the device finishes them.",
     .rule = "of at least 30 compute kernels the median is below 10 µs and more than half are, and "
             "the device waits for the next launch more than 10% of the window: the host's delay, "
             "and with nothing queued the launch call and what it takes until the op begins (gaps "
             "below 1 ms)",
     .source = "TraceLens (10 µs), HTA launch statistics",
     .advice_xla = "Put more work into one program: jit the whole step, lax.scan over small steps, "
                   "larger batches; on GPU record command buffers "
                   "(--xla_gpu_enable_command_buffer, --xla_gpu_graph_min_graph_size=1).",
     .advice_pytorch = "Launch less: torch.compile(mode=\"reduce-overhead\") or CUDA graphs, fused "
                       "or foreach optimizers (fused=True), larger batches.",
     .advice_native = "Launch less and larger: fuse small kernels, batch the work, and record what "
                      "repeats as a graph (CUDA graphs, command buffers).",
     .metric = "median compute kernel",
     .unit = "us",
     .limits =
         {[FND_TIME] = LAUNCH_SHORT_US, [FND_WINDOW] = 100, [FND_PART] = 500, [FND_NUMBER] = 30},
     .needs = BASE | FND_NEED_LAUNCH,
     .run = fnd_launch_bound},
    {.id = "F3",
     .name = "host-bound",
     .title = "The host launches too late",
     .says = "Most of the device's idle time is spent waiting for the thread that launches the "
             "next op; the label names what that thread did instead.",
     .rule = "the device idles more than 15% of the window, and late launches are more than half "
             "of its idle time; a thread that waits for another device, which still works, is not "
             "late, and copies that F6 tells of are left to it",
     .source = "HTA idle classes, TraceLens (15%)",
     .advice_xla = "Move the named work off the launching thread or out of the loop, jit larger "
                   "pieces, donate buffers (donate_argnums) and avoid per-step Python over "
                   "pytrees; several steps under one lax.scan hide the rest.",
     .advice_pytorch = "Move the named work off the training thread or out of the loop; "
                       "torch.compile or CUDA graphs cut Python time between kernels, and "
                       "zero_grad(set_to_none=True) and fused optimizers cut launches.",
     .advice_native = "Move the named work off the launching thread or out of the loop, allocate "
                      "once and use buffers again, launch ahead of the device, and record what "
                      "repeats as a graph (CUDA graphs).",
     .caveat = "Recording itself slows the host down, Python's frames most: compare with a capture "
               "of less.",
     .metric = "late launches",
     .unit = "share",
     .denominator = "idle time",
     .limits = {[FND_SHARE] = 500, [FND_WINDOW] = 150},
     .needs = BASE | FND_NEED_CAUSES,
     .run = fnd_host_bound},
    {.id = "F7",
     .name = "pageable-copies",
     .title = "Copies from pageable memory",
     .says = "Copies between the device and ordinary host memory go through a staging buffer and "
             "hold up the thread that starts them.",
     .rule = "copies of pageable memory take at least 1 ms or 1% of the window, and at least "
             "0.5% of it is exposed",
     .source = "Nsight Systems' rule on pageable memory",
     .advice_xla = "Stage inputs with jax.device_put into pinned_host memory (a sharding with "
                   "memory_kind=\"pinned_host\"), or keep them on the device.",
     .advice_pytorch = "Set pin_memory=True in the DataLoader (or tensor.pin_memory()) and copy "
                       "with non_blocking=True on a stream of its own.",
     .advice_native = "Allocate what is copied as pinned memory, once (cudaHostAlloc, "
                      "cudaHostRegister), and copy it asynchronously on a stream of its own.",
     .metric = "time of pageable copies",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 10, [FND_TIME] = 1000},
     .needs = BASE | FND_NEED_PAGEABLE,
     .run = fnd_pageable},
    {.id = "F6",
     .name = "transfers",
     .title = "Waiting for copies to or from the host",
     .says = "The device stands while data moves between host and device memory: nothing else "
             "runs meanwhile.",
     .rule = "per direction: exposed time exceeds 5% of the window, or more than 10 exposed "
             "copies a step cost at least 0.5% of it; an async start/done pair is one copy; idle "
             "time in which any host thread copies (device_put, H2D Dispatch) counts where it "
             "exceeds 5%",
     .source = "TraceLens (5%, 10 transfers), XProf (30%)",
     .advice_xla = "Offload less or earlier: narrow the checkpoint or offload policy to tensors "
                   "whose recomputation costs more than their copy, start copies a layer ahead so "
                   "that the latency-hiding scheduler can overlap them, keep weights and KV cache "
                   "in device memory, and shard what does not fit.",
     .advice_pytorch = "Keep tensors on the device between steps, batch small copies into one, "
                       "pin host memory and copy with non_blocking=True on a second stream while "
                       "the previous batch computes.",
     .advice_native =
         "Keep data on the device from step to step, join small copies into few large ones from "
         "pinned memory, and copy the next batch on a second stream while this one computes.",
     .caveat = "An upper bound: the link's bandwidth stays a limit once copies overlap with "
               "compute.",
     .metric = "exposed copies",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50, [FND_NUMBER] = 10},
     .needs = BASE,
     .run = fnd_transfers},
    {.id = "F20",
     .name = "async-done-wait",
     .title = "Async ops that are waited for at once",
     .says = "The device waits in the second half of asynchronous ops: they were started too late "
             "to be hidden.",
     .rule = "self time of -done ops is at least 10% of the device's op time",
     .source = "XProf smart suggestions (async done 10%)",
     .advice_xla = "Give the scheduler room: let copies and collectives start earlier (prefetch a "
                   "layer ahead, --xla_tpu_enable_async_collective_fusion=true in "
                   "LIBTPU_INIT_ARGS, --xla_gpu_enable_latency_hiding_scheduler=true in "
                   "XLA_FLAGS), and free memory so that it may keep more buffers alive.",
     .advice_pytorch = "Start copies and collectives earlier and wait later: async_op=True with "
                       "the wait moved behind independent work.",
     .advice_native = "Start copies and collectives earlier and wait for them later, behind work "
                      "that does not need them.",
     .metric = "self time of -done ops",
     .unit = "share",
     .denominator = "op time",
     .limits = {[FND_SHARE] = 100},
     .needs = BASE,
     .run = fnd_async_wait},
    {.id = "F16",
     .name = "straggler",
     .title = "One participant is always last",
     .says = "In collective calls all wait for the last to arrive, and that is mostly the same "
             "device or host.",
     .rule = "of at least four calls matched across devices one device or host is last in at "
             "least half, two standard deviations more often than chance would have it, and the "
             "largest waits add up to at least 1% of the window",
     .source = "TraceLens and torch_tb_profiler's distributed view",
     .advice_xla = "Look at that device or host alone: an uneven shard, a slow input worker, "
                   "another process, clocks or thermals; swap it to see whether the delay moves "
                   "with the hardware or with the shard.",
     .advice_pytorch = "Look at that rank alone: uneven batches (DistributedSampler, "
                       "drop_last=True), extra logging or checkpointing on rank 0, a slow "
                       "DataLoader, another process on the GPU, clocks.",
     .caveat = "Across hosts this rests on clocks that were aligned by the ends of collectives.",
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
     .says = "Devices that run the same program compute for different times, so that the others "
             "wait for the busiest.",
     .rule = "the busiest device's compute time exceeds the mean by more than 10%",
     .source = "load imbalance as in HTA and Scalasca: max/mean - 1",
     .advice_xla = "Even out the shards: pad to a common multiple, balance sequence lengths and "
                   "experts (capacity factor), and check that no device holds an unsharded array.",
     .advice_pytorch = "Even out the batches: bucket by length, balance experts and pipeline "
                       "stages, and keep rank-0-only work out of the step.",
     .advice_native = "Even out the shards: by what work they cost instead of how many items they "
                      "hold, or hand them out in smaller pieces.",
     .metric = "max/mean - 1 of compute time",
     .unit = "share",
     .denominator = "mean compute time",
     .limits = {[FND_SHARE] = 100},
     .needs = BASE | FND_NEED_SECOND_DEVICE,
     .run = fnd_imbalance},
    {.id = "F22",
     .name = "memory",
     .title = "Memory nearly full",
     .says = "The allocator's peak comes close to what it may use: fragmentation, retries and "
             "out-of-memory failures are near.",
     .rule =
         "peak / limit exceeds 90% (high from 98%); the limit is what the allocator has "
         "reserved, allocated and free together, else the device's memory; or a request failed; "
         "or what a program reserves exceeds the same of its device's memory",
     .source = "torch_tb_profiler (90%)",
     .advice_xla = "Donate inputs (donate_argnums), rematerialise (jax.checkpoint with a policy), "
                   "shard optimizer state, or use smaller microbatches; "
                   "jax.profiler.save_device_memory_profile says who holds what.",
     .advice_pytorch = "Checkpoint activations, shard optimizer state (FSDP, ZeRO), use smaller "
                       "microbatches, and set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
     .advice_native =
         "Free what is done with before more is allocated, share scratch buffers, work on smaller "
         "pieces, and compute again what is cheaper to compute than to keep.",
     .caveat = "An allocator that takes nearly all memory in advance is full by design.",
     .metric = "peak",
     .unit = "share",
     .denominator = "memory that the allocator may use",
     .limits = {[FND_SHARE] = 900, [FND_SEVERE] = 980},
     .needs = FND_NEED_FULL | FND_NEED_MEMORY,
     .run = fnd_memory},
    {.id = "F30",
     .name = "memory-leak",
     .title = "Memory grows with every step",
     .says =
         "Something that a step allocates is still held when two more steps have ended: in time "
         "the job runs out of memory.",
     .rule = "bytes that a call leaves a step are at least 0.1% of the peak (high from 1%), in at "
             "least 3 steps and 75% of those that have two more behind them",
     .source = "own (docs/reference/findings.md#f30-memory-leak)",
     .advice_xla =
         "Keep numbers, not arrays: float(loss) or jax.device_get of what is logged; empty "
         "lists of results and histories of states, and donate what a step replaces.",
     .advice_pytorch =
         "Keep loss.item() or .detach() in place of tensors that hold their graph, and "
         "empty lists of outputs after each step.",
     .advice_native = "Free what a step allocates before the next but one begins, or allocate it "
                      "once, outside the loop.",
     .caveat = "A cache that is still filling looks the same.",
     .metric = "growth a step",
     .unit = "share",
     .denominator = "allocator's peak",
     .limits = {[FND_SHARE] = 1, [FND_SEVERE] = 10, [FND_PART] = 750, [FND_NUMBER] = 3},
     .needs = FND_NEED_FULL | FND_NEED_LEAKS,
     .run = fnd_leak},
    {.id = "F31",
     .name = "fragmentation",
     .title = "Free memory is scattered",
     .says =
         "Much of what is free lies in pieces between what is in use: a large request fails, or "
         "takes more from the device, although there would be enough.",
     .rule =
         "more than 10% of what the allocator has taken or may use is free in pieces (high from "
         "30%), while at least 50% of it is in use",
     .source = "own (docs/reference/findings.md#f31-fragmentation)",
     .advice_xla =
         "Allocate what lives long first, keep shapes the same from step to step, and try "
         "XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async.",
     .advice_pytorch = "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, pad batches to few "
                       "shapes, and allocate what lives long first.",
     .advice_native = "Allocate what lives long first, round sizes up to few classes, or use one "
                      "arena for what is freed together.",
     .metric = "free in pieces",
     .unit = "share",
     .denominator = "memory that the allocator has",
     .limits = {[FND_SHARE] = 100, [FND_SEVERE] = 300, [FND_PART] = 500},
     .needs = FND_NEED_FULL | FND_NEED_FRAGMENTS,
     .run = fnd_fragments},
    {.id = "F32",
     .name = "double-inputs",
     .title = "Inputs of two steps are on the device",
     .says = "At the peak the inputs of one step are held beside those of another.",
     .rule = "what one call brings from the host for one step is held beside as many bytes of "
             "another step, and is at least 2% of the peak",
     .source = "own",
     .advice_xla = "Prefetch no more than needed (flax.jax_utils.prefetch_to_device with size 1 on "
                   "few devices), and donate the batch to the step (donate_argnums) so that its "
                   "memory serves the outputs.",
     .advice_pytorch = "Prefetch one batch only, delete the old one before the next is copied, or "
                       "copy into the same tensor (batch.copy_(next, non_blocking=True)).",
     .advice_native =
         "Copy the next input into the buffer of the last, or into one of two that are "
         "kept for good.",
     .caveat = "Double buffering hides copies: it is worth its memory where these would be waited "
               "for.",
     .metric = "inputs held twice",
     .unit = "share",
     .denominator = "allocator's peak",
     .limits = {[FND_SHARE] = 20},
     .needs = FND_NEED_FULL | FND_NEED_LEAKS,
     .run = fnd_double_inputs},
    {.id = "F36",
     .name = "missing-donation",
     .title = "Results could take memory of arguments",
     .says = "A program is done with an argument before it makes a result of the same shape and "
             "layout, and yet gives the result memory of its own.",
     .rule = "undonated arguments of at least 1 MiB that are dead before a result of their shape "
             "is made are at least 1% of what the program reserves",
     .source = "own (docs/reference/findings.md#f36-missing-donation)",
     .advice_xla = "Donate what the call replaces: jax.jit(step, donate_argnums=…) or "
                   "donate_argnames.",
     .advice_pytorch = "Update in place: foreach optimizers, copy_, and torch.compile, which "
                       "reuses memory that is done with.",
     .advice_native = "Write the result into the memory of the argument that it replaces.",
     .caveat = "An argument that is needed again, as weights are in inference, must not be "
               "overwritten; what is saved may be less.",
     .metric = "arguments that could be donated",
     .unit = "share",
     .denominator = "memory that the program reserves",
     .limits = {[FND_SHARE] = 10, [FND_SIZE] = 1024},
     .needs = FND_NEED_FULL | FND_NEED_PLANS,
     .run = fnd_missing_donation},
    {.id = "F37",
     .name = "layout-padding",
     .title = "Layouts pad what is in memory",
     .says = "Tiles of the layout are larger than the arrays in them, so that memory and bandwidth "
             "go to elements that nobody reads.",
     .rule = "buffers of at least 1 MiB of which at least 20% is padding waste at least 10% of the "
             "program's peak",
     .source = "own (docs/reference/findings.md#f37-layout-padding)",
     .advice_xla = "Make the dimension that is named a multiple of the tile: merge small trailing "
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
     .title = "One temporary holds much of the peak",
     .says = "A single intermediate value is a large part of what the program takes at its peak.",
     .rule = "a temporary of at least 1 MiB is at least 30% of the program's peak",
     .source = "own (docs/reference/findings.md#f38-large-temporary)",
     .advice_xla = "Compute it again where it is used (jax.checkpoint), in pieces (lax.map, "
                   "lax.scan), or keep it on the host (an offload policy); a transpose or copy "
                   "goes away with the layout that its user asks for.",
     .advice_pytorch =
         "Checkpoint what makes it, work on it in pieces, or keep it on the host (save_on_cpu).",
     .advice_native = "Work on it in pieces, or compute it again where it is used.",
     .metric = "the largest temporary",
     .unit = "share",
     .denominator = "program's peak",
     .limits = {[FND_SHARE] = 300, [FND_SIZE] = 1024},
     .needs = FND_NEED_FULL | FND_NEED_PLANS,
     .run = fnd_large_temporary},
    {.id = "F39",
     .name = "planned-gaps",
     .title = "The plan leaves gaps between temporaries",
     .says = "What the compiler reserves for temporaries is larger than what lives at once.",
     .rule = "at least 1 MiB and 10% of the memory for temporaries holds nothing at the peak",
     .source = "own (docs/reference/findings.md#f39-planned-gaps)",
     .advice_xla = "Temporaries of equal size fit into each other's places: keep shapes alike, and "
                   "split the largest.",
     .advice_pytorch = "Keep shapes alike, so that temporaries fit into places of others.",
     .advice_native = "Keep sizes alike, so that temporaries fit into places of others.",
     .metric = "temporary memory that holds nothing at the peak",
     .unit = "share",
     .denominator = "memory for temporaries",
     .limits = {[FND_SHARE] = 100, [FND_SIZE] = 1024},
     .needs = FND_NEED_FULL | FND_NEED_PLANS,
     .run = fnd_planned_gaps},
    {.id = "F40",
     .name = "offload-candidates",
     .title = "Memory is held by what waits",
     .says = "What a program holds at its peak lies there unread for much of its run, while the "
             "device's memory is scarce.",
     .rule = "arguments and temporaries of at least 1 MiB that no instruction reads for at least "
             "50% of the program's instructions around the peak are at least 20% of it, and the "
             "program reserves at least 70% of the device's memory",
     .source = "own; jax.checkpoint's offload policies, ZeRO-Offload",
     .advice_xla = "Keep them on the host meanwhile: optimizer state in memory_kind "
                   "\"pinned_host\", activations by save_and_offload_only_these_names; start their "
                   "copies a layer ahead.",
     .advice_pytorch = "Keep them on the host meanwhile: save_on_cpu for activations, FSDP's "
                       "CPUOffload or ZeRO-Offload for optimizer state.",
     .advice_native = "Keep them on the host meanwhile, and copy them back ahead of their use.",
     .caveat = "Copies take time: it pays where the link is idle, and where the memory lets the "
               "batch grow.",
     .metric = "memory that waits",
     .unit = "share",
     .denominator = "program's peak",
     .limits = {[FND_SHARE] = 200, [FND_PART] = 500, [FND_WINDOW] = 700, [FND_SIZE] = 1024},
     .needs = FND_NEED_FULL | FND_NEED_PLANS | FND_NEED_ROOM,
     .run = fnd_offload},
    {.id = "F17",
     .name = "hot-op",
     .title = "One op takes a large part",
     .says = "A single compute op (of one shape) takes a large part of the device's op time: look "
             "here first.",
     .rule =
         "its self time is at least 30% of the device's op time (medium from 60%, never "
         "high) and 100 µs; of a group of several shapes the largest shape is judged, of one shape "
         "all of it, in however many scopes it stands",
     .source = "common practice of op profiles",
     .advice_xla = "Compare its flops and bytes a second with the device's peak; use bf16 or "
                   "fp8, shapes in multiples of 128, a fused or Pallas kernel, or do the work "
                   "less often.",
     .advice_pytorch = "Compare its flops and bytes a second with the device's peak; use AMP or "
                       "TF32, scaled_dot_product_attention, torch.compile, channels_last, shapes "
                       "in multiples of 8 or 64.",
     .advice_native =
         "Compare its flops and bytes a second with the device's peak; use a tuned library, a "
         "fused kernel, narrower types, sizes in multiples of 64, or do the work less often.",
     .caveat = "A hot op is no fault by itself: a good program spends its time in its largest "
               "matrix product.",
     .metric = "self time",
     .unit = "share",
     .denominator = "op time",
     .limits = {[FND_SHARE] = 300, [FND_TIME] = 100, [FND_SEVERE] = 600},
     .needs = FND_NEED_DEVICE | FND_NEED_NAMES,
     .run = fnd_hot_op},
    {.id = "F24",
     .name = "repeated-work",
     .title = "The same program runs several times a step",
     .says = "A module runs three or more times in nearly every step; if its inputs do not change, "
             "all but one run is wasted.",
     .rule = "a module runs at least 3 times in at least 80% of the steps and takes at least 10% "
             "of the windows; impact (k - 1)/k of it, at most medium",
     .source = "our own",
     .advice_xla = "Compute it once and pass the result on, or vmap/scan over the repeats so that "
                   "they run as one program.",
     .advice_pytorch = "Compute it once a step and keep the result, or batch the repeats.",
     .advice_native = "Compute it once a step and keep the result, or do the repeats as one batch.",
     .caveat = "If its inputs differ, this is work: microbatches, decoding steps and layers run "
               "one module many times on purpose.",
     .metric = "time of the repeated module",
     .unit = "share",
     .denominator = "windows of all devices",
     .limits = {[FND_SHARE] = 100, [FND_PART] = 800, [FND_NUMBER] = MODULE_REPEATS},
     .needs = BASE | FND_NEED_STEPS | FND_NEED_MODULES,
     .run = fnd_repeated_work},
    {.id = "F19",
     .name = "data-formatting",
     .title = "Moving data into other layouts",
     .says = "Transposes, copies, reshapes and conversions of layout take a large part of op time "
             "and compute nothing.",
     .rule = "self time of data formatting is at least 10% of the device's op time",
     .source = "XProf smart suggestions (data shuffle 30%)",
     .advice_xla = "Write einsum and dot_general in the order in which operands lie, keep one "
                   "layout from layer to layer, avoid reshapes across sharded axes, donate "
                   "buffers that are only copied, and pad to multiples of 8 x 128 once.",
     .advice_pytorch = "Use memory_format=torch.channels_last for convolutions, drop needless "
                       ".contiguous() and .permute(), and let torch.compile fuse what is left.",
     .advice_native = "Keep one layout from kernel to kernel, read transposed where a library can, "
                      "and fuse conversions into the kernels beside them.",
     .metric = "self time of data formatting",
     .unit = "share",
     .denominator = "op time",
     .limits = {[FND_SHARE] = 100},
     .needs = BASE,
     .run = fnd_data_formatting},
    {.id = "F33",
     .name = "unknown-cost",
     .title = "The cost of much work is unknown",
     .says = "Ops whose FLOP and bytes nothing tells take much of the window: how near the device "
             "comes to its peak is only known from below.",
     .rule = "ops without a known cost take at least 20% of the window of a device whose peak is "
             "known, and on which some op has FLOP",
     .source = "custom calls take 70% of the device time of one of the shared profiles",
     .advice_xla =
         "Give Pallas kernels and custom calls a cost_estimate (pl.CostEstimate), and keep "
         "HLO protos in the profile.",
     .advice_pytorch =
         "Record with record_shapes=True, so that ops tell what they multiply; kernels "
         "of your own and element-wise ones stay unknown.",
     .advice_native = "Tell the FLOP of what the kernels multiply where they are launched.",
     .metric = "time of ops without a known cost",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 200},
     .needs = FND_NEED_DEVICE | FND_NEED_FULL | FND_NEED_PEAK,
     .run = fnd_unknown_cost},
    {.id = "F34",
     .name = "above-peak",
     .title = "Faster than the hardware allows",
     .says = "Ops take less time than their FLOP take at the device's peak: the peak, the type or "
             "the FLOP are wrong, and with them MFU.",
     .rule = "what executions are faster than the peak exceeds 0.5% of compute time",
     .source = "rates above 100% are evidence, never clipped; 0.5% for boost clocks",
     .advice_xla = "Name the chip by --chip, or its figures by --peak-tflops; cost estimates of "
                   "custom calls may be too large.",
     .advice_pytorch = "Name the chip by --chip, or its figures by --peak-tflops; sparse products "
                       "count as dense ones.",
     .advice_native = "Name the chip by --chip, or its figures by --peak-tflops; look at the FLOP "
                      "that the program tells.",
     .metric = "time below what the peak allows",
     .unit = "share",
     .denominator = "compute time",
     .limits = {[FND_SHARE] = 5},
     .needs = FND_NEED_DEVICE | FND_NEED_FULL | FND_NEED_PEAK,
     .run = fnd_above_peak},
    {.id = "F35",
     .name = "inefficient-products",
     .title = "Matrix products far below the peak",
     .says =
         "Products and convolutions take longer than their FLOP and their bytes explain: shapes "
         "that do not fill the units, launch tails, or slow kernels.",
     .rule =
         "what is left of the time of products beyond FLOP, padding and bytes at the peak is at "
         "least 10% of the window (medium from 25%)",
     .source = "the waterfall: an upper bound of what better kernels could win",
     .advice_xla =
         "Look at the shapes of the op: multiples of 128 or 256 in every dimension, larger "
         "batches, bf16; then at its layout and what is fused into it.",
     .advice_pytorch = "Look at the shapes of the op: multiples of 64 or more in every dimension, "
                       "larger batches, bf16; channels_last for convolutions, torch.compile with "
                       "max-autotune.",
     .advice_native = "Look at the shapes of the op: larger ones, multiples of the tile of the "
                      "library's kernel, a smaller type.",
     .caveat = "An upper bound: no kernel reaches the peak.",
     .metric = "inefficiency of products",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 100, [FND_SEVERE] = 250},
     .needs = FND_NEED_DEVICE | FND_NEED_FULL | FND_NEED_PEAK,
     .run = fnd_inefficiency},
    {.id = "F18",
     .name = "op-variance",
     .title = "One op takes very different times",
     .says = "Calls of one op differ by more than their mean: contention, changing inputs, or "
             "waiting inside the op.",
     .rule = "deviation / mean exceeds 1 over more than 10 calls of an op with at least 5% of op "
             "time; impact (mean - median) of all calls; groups of several shapes are judged by "
             "their largest part, without an impact",
     .source = "TraceLens (CoV 1, 10 calls, 5%)",
     .advice_xla = "Open the slowest call in the timeline: look for another program or stream "
                   "beside it, sparse or ragged inputs, and throttling.",
     .advice_pytorch = "Open the slowest call in the timeline: look for kernels on other streams, "
                       "ragged or sparse inputs, autotuning (cudnn.benchmark) in the first calls, "
                       "and throttling.",
     .metric = "deviation / mean",
     .unit = "ratio",
     .limits = {[FND_SPREAD] = 1000, [FND_SHARE] = 50, [FND_NUMBER] = 10},
     .needs = FND_NEED_DEVICE | FND_NEED_NAMES,
     .run = fnd_op_variance},
    {.id = "F4",
     .name = "exposed-comm",
     .title = "Communication that nothing hides",
     .says = "The device communicates while it computes nothing.",
     .rule = "exposed communication exceeds 5% of the window",
     .source = "TraceLens (5%), torch_tb_profiler (10%), XProf (30%)",
     .advice_xla = "Overlap it: --xla_gpu_enable_latency_hiding_scheduler=true and pipelined "
                   "collectives (--xla_gpu_enable_pipelined_all_gather=true, …reduce_scatter, "
                   "…all_reduce) on GPU, --xla_tpu_enable_async_collective_fusion=true on TPU; "
                   "or communicate less: larger microbatches, bf16 gradients, another mesh.",
     .advice_pytorch = "Overlap it: DDP with a fitting bucket_cap_mb, FSDP with "
                       "backward_prefetch=BACKWARD_PRE; or communicate less: no_sync() while "
                       "accumulating, bf16 gradients (bf16_compress_hook), larger batches.",
     .advice_native = "Overlap it: start a collective as soon as its part is ready, on a stream of "
                      "its own; or communicate less: larger batches, narrower types.",
     .metric = "exposed communication",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50},
     .needs = BASE,
     .run = fnd_exposed_comm},
    {.id = "F5",
     .name = "poor-overlap",
     .title = "Little communication overlaps with compute",
     .says = "Too small a part of communication runs beside compute.",
     .rule = "less than 70% of at least 100 µs and 2% of the window of communication is hidden; "
             "impact 0.85 of it minus what is hidden",
     .source = "TraceLens (70%)",
     .advice_xla = "Let collectives run beside compute: latency-hiding scheduler, async "
                   "collectives, collective matmul (windowed einsum), smaller combine thresholds "
                   "so that the first one can start earlier.",
     .advice_pytorch = "Let collectives run beside compute: smaller DDP buckets, FSDP prefetch, "
                       "async_op=True, and a high-priority communication stream.",
     .advice_native = "Let collectives run beside compute: smaller pieces that start earlier, on a "
                      "stream of high priority, waited for behind independent work.",
     .metric = "hidden communication",
     .unit = "share",
     .denominator = "communication",
     .limits = {[FND_SHARE] = 700, [FND_TIME] = 100, [FND_WINDOW] = 20, [FND_SPARED] = 850},
     .needs = BASE,
     .run = fnd_poor_overlap},
    {.id = "F2",
     .name = "long-gap",
     .title = "Single long gaps",
     .says = "The device stands still for an unusually long time at a few places.",
     .rule = "gaps of at least 1 ms and 5% of the median step that are more than twice as long as "
             "the usual gap; the five longest are listed",
     .source = "Nsight Systems' GPU gaps (500 ms), made relative to the step",
     .advice_xla = "Open the gap in the timeline and read what the launching thread does: "
                   "checkpointing, evaluation, logging, garbage collection, a first compilation.",
     .advice_pytorch = "Open the gap in the timeline and read what the launching thread does: "
                       "checkpointing, evaluation, logging, DataLoader workers being started, "
                       "garbage collection (gc.freeze).",
     .metric = "longest gap",
     .unit = "ms",
     .limits = {[FND_TIME] = 1000, [FND_FACTOR] = 2000, [FND_PART] = 50},
     .needs = BASE,
     .run = fnd_long_gap},
    {.id = "F12",
     .name = "step-outlier",
     .title = "Single steps far slower than the rest",
     .says = "A few steps take far longer than the median.",
     .rule =
         "a step is longer than twice the median, or its robust z = (x - median) / (1.4826 "
         "MAD) exceeds 10, with a MAD of at least 0.1% of the median, among five steps or "
         "more; steps of a class that comes every so many steps are none, and a slow first step "
         "alone is called warm-up and is low",
     .source = "hyperfine's outliers (14.826 MAD)",
     .advice_xla = "Compare the step with its neighbour in the timeline: evaluation, "
                   "checkpointing, logging, recompilation or a slow batch; move periodic work to "
                   "another thread.",
     .advice_pytorch = "Compare the step with its neighbour in the timeline: evaluation, "
                       "checkpointing, logging, allocator retries (cudaMalloc, cudaFree) or a slow "
                       "batch; move periodic work to another thread.",
     .caveat = "Impact is the time above the median, in the device's window, that no other finding "
               "explains.",
     .metric = "slowest step / median",
     .unit = "ratio",
     .limits = {OUTLIER},
     .needs = BASE | FND_NEED_STEPS | FND_NEED_FIVE_STEPS,
     .run = fnd_step_outlier},
    {.id = "F13",
     .name = "jitter",
     .title = "Steps vary in length",
     .says = "Ordinary steps, without outliers, differ a lot in length.",
     .rule = "deviation / mean of at least five steps exceeds 0.10, after taking out the outliers "
             "of F12 and steps of another class",
     .source = "hyperfine, XProf's step-time view",
     .advice_xla = "Look at what differs between a short and a long step: sequence lengths, input "
                   "waits, other processes on the host, frequency scaling.",
     .advice_pytorch = "Look at what differs between a short and a long step: sequence lengths, "
                       "DataLoader waits, allocator activity, other processes, GPU clocks.",
     .metric = "deviation / mean",
     .unit = "ratio",
     .limits = {[FND_SPREAD] = 100, OUTLIER},
     .needs = BASE | FND_NEED_STEPS | FND_NEED_FIVE_STEPS,
     .run = fnd_jitter},
    {.id = "F28",
     .name = "slow-step",
     .title = "Single steps far slower than the rest",
     .says = "A few steps take far longer than the median; the zone that grew says why.",
     .rule = "as F12; a zone grew by what its self time in the step exceeds its median over the "
             "steps. Where a zone that most steps do not have is at least half of what the worst "
             "step takes more, it is told (low) however small a part of the window that is",
     .source = "F12: the same for devices",
     .advice_xla = "Move what is not of every step (checkpoints, logging, evaluation, growing "
                   "buffers) to another thread, or do a part of it in each; open the step beside "
                   "its neighbour in the timeline.",
     .caveat = "Impact is the time above the median that no other finding explains.",
     .metric = "slowest step / median",
     .unit = "ratio",
     .limits = {OUTLIER},
     .needs = FND_NEED_ZONES | FND_NEED_FULL | FND_NEED_STEPS | FND_NEED_FIVE_STEPS,
     .run = fnd_step_outlier},
    {.id = "F25",
     .name = "thread-wait",
     .title = "Waiting instead of working",
     .says = "A thread that decides how long the program takes waits for others, or for time.",
     .rule = "a thread waits at least 5% of the window: for locks, wherever it is; in other zones "
             "that wait by their name or category (wait, sleep, join, barrier, recv, poll), on the "
             "thread with the steps and within them, without steps on the one that works most "
             "(wait, recv and poll then only within another zone: else for something to do), and "
             "not while two other threads of the process work; what F28 has told is not "
             "counted again",
     .source = "F8: the same for devices",
     .advice_xla = "Hold locks for less (copy out, then work), give each thread data of its own, "
                   "and shard what is contended; start what is waited for earlier and collect it "
                   "later, or wait on another thread.",
     .caveat = "A thread may wait on purpose: for requests, for a frame's time.",
     .metric = "lost in waiting zones",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 50},
     .needs = FND_NEED_ZONES | FND_NEED_FULL,
     .run = fnd_thread_wait},
    {.id = "F26",
     .name = "thread-imbalance",
     .title = "Threads have unequal work",
     .says = "Threads that do the same work for different times: the busiest is waited for.",
     .rule = "of two or more threads of a process that have half of their work or more in the same "
             "zone, and do half of the process's work, the busiest exceeds the mean by more than "
             "10%, and works at least half of the window",
     .source = "F15: the same for devices",
     .advice_xla = "Hand work out in smaller pieces, the largest first, from one queue or by "
                   "stealing, instead of equal shares at the start.",
     .metric = "max/mean - 1 of work",
     .unit = "share",
     .denominator = "mean work of a thread",
     .limits = {[FND_SHARE] = 100, [FND_PART] = 500},
     .needs = FND_NEED_ZONES | FND_NEED_FULL,
     .run = fnd_thread_imbalance},
    {.id = "F27",
     .name = "hot-zone",
     .title = "One zone takes a large part",
     .says = "The self time of one zone is a large part of what all threads work: look here first.",
     .rule = "its self time is at least 30% of the work of all threads (medium from 60%, never "
             "high) and 100 µs; of three zones or more",
     .source = "F17: the same for devices",
     .advice_xla = "Put zones inside of it to see what it does, then do that less often, for less "
                   "data, or on more threads (OpenMP, a pool).",
     .caveat = "A hot zone is no fault by itself: a good program spends its time in its work.",
     .metric = "self time",
     .unit = "share",
     .denominator = "work of all threads",
     .limits = {[FND_SHARE] = 300, [FND_TIME] = 100, [FND_SEVERE] = 600, [FND_NUMBER] = 3},
     .needs = FND_NEED_ZONES | FND_NEED_NAMES,
     .run = fnd_hot_zone},
    {.id = "F29",
     .name = "zone-variance",
     .title = "One zone takes very different times",
     .says = "Calls of one zone differ by more than their mean: contention, page faults, changing "
             "inputs.",
     .rule = "deviation / mean exceeds 1 over more than 10 calls of a zone with at least 5% of "
             "the work and 100 µs that does half of it itself and does not call itself; impact "
             "(mean - median) of all calls, by its threads; always low",
     .source = "F18: the same for devices",
     .advice_xla = "Open the slowest call in the timeline and compare its args with a fast one's: "
                   "look for first touches of memory, locks without zones, other processes.",
     .caveat = "Calls may have inputs of different sizes, which the profile does not tell apart: "
               "hence low.",
     .metric = "deviation / mean",
     .unit = "ratio",
     .limits = {[FND_SPREAD] = 1000,
                [FND_SHARE] = 50,
                [FND_TIME] = 100,
                [FND_PART] = 500,
                [FND_NUMBER] = 10},
     .needs = FND_NEED_ZONES | FND_NEED_NAMES,
     .run = fnd_zone_variance},
    {.id = "F1",
     .name = "device-idle",
     .title = "The device idles",
     .says = "The device runs nothing for a large part of its window, and no other finding says "
             "why.",
     .rule = "idle time is more than 15% of the window and at least 3 ms; impact idle - 5%",
     .source = "TraceLens (15%), torch_tb_profiler (GPU utilisation below 50%)",
     .advice_xla = "Open the longest gaps in the timeline; record with host tracing "
                   "(host_tracer_level=2) to learn what the host did, and give the device more "
                   "work at once: larger batches, jit over larger pieces, lax.scan.",
     .advice_pytorch = "Open the longest gaps in the timeline; record CPU activity as well to "
                       "learn what the host did, and give the device more work at once: larger "
                       "batches, torch.compile, CUDA graphs.",
     .advice_native =
         "Open the longest gaps in the timeline; put zones around what the host does to see it "
         "there, and give the device more work at once: larger batches, several streams, graphs.",
     .caveat = "A device may idle on purpose: a server without requests, a capture that waits.",
     .metric = "idle time",
     .unit = "share",
     .denominator = "window",
     .limits = {[FND_SHARE] = 150, [FND_TIME] = 3000, [FND_SPARED] = 50},
     .needs = FND_NEED_DEVICE,
     .run = fnd_device_idle},
    {.id = NULL}};

_Static_assert(sizeof findings_rules / sizeof *findings_rules <= 64 + 1,
               "sets of rules have one bit of 64 for each");
