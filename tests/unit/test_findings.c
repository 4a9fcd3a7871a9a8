/* Every rule of trace/analyze/findings/findings_rules.c on a report that is clear but for one
 * thing: what fires, on whom, with which amount and level; and what it says when its input is
 * missing. */
#include "findings_fixture.h"
#include "trace/analyze/findings/findings_run.h"

/* ---- What makes each rule fire: one change to the clear report ---- */

static void idle_unknown(ff *f) /* 160 + 40 = 200 ms idle: F1 says 200 - 5 % = 150 */
{
    ff_idle(f, 1, VP_CAUSE_UNKNOWN, 160 * MS);
}

static void long_gap(ff *f) /* one gap of 60 ms, the other 999 below 10 us */
{
    ff_idle(f, 0, VP_CAUSE_UNKNOWN, 60 * MS);
    f->gaps[0] =
        (vp_gap){.start_ps = 500 * MS, .dur_ps = 60 * MS, .label = "save", .next_op = "op1"};
    f->gaps[0].cause_ps[VP_CAUSE_UNKNOWN] = 60 * MS;
    for (int i = 1; i < 20; i++)
        f->gaps[i] = (vp_gap){.start_ps = i * MS, .dur_ps = 9 * US};
    f->r.gap_count = 20;
}

static void host_late(ff *f) /* 140 of 180 ms idle */
{
    ff_idle(f, 1, VP_CAUSE_HOST, 140 * MS);
    f->labels[0] = (vp_idle_label){1, VP_CAUSE_HOST, "optimizer.step", "main", 10, 140 * MS};
    f->r.idle_label_count = 1;
    f->gaps[0] = (vp_gap){.device = 1, .start_ps = 200 * MS, .dur_ps = 14 * MS, .thread = "main"};
    f->gaps[0].cause_ps[VP_CAUSE_HOST] = 14 * MS;
    f->r.gap_count = 1;
    f->devices[1].gap_count = 1;
}

static void exposed_comm(ff *f) /* 15 + 45 = 60 ms, hidden 140 of 200 = 70 % */
{
    vp_breakdown *b = &f->devices[0].breakdown;
    b->compute_ps -= 45 * MS;
    b->exposed_comm_ps += 45 * MS;
    b->comm_ps = 200 * MS;
    b->overlap_comm_ps = 140 * MS;
    f->sample_start_ps[0] = 300 * MS;
    f->sample_dur_ps[0] = 4 * MS;
    f->collectives[0] = (vp_collective){.name = "all-reduce",
                                        .kind = "all-reduce",
                                        .count = 20,
                                        .exposed_ps = 60 * MS,
                                        .sample_start_ps = f->sample_start_ps,
                                        .sample_dur_ps = f->sample_dur_ps,
                                        .sample_count = 1,
                                        .wait_ps = VP_UNKNOWN};
    f->r.collective_count = 1;
}

static void little_overlap(ff *f) /* 40 of 80 ms hidden: 0.85 * 80 - 40 = 28 ms, 40 ms exposed */
{
    vp_breakdown *b = &f->devices[1].breakdown;
    b->compute_ps -= 25 * MS;
    b->exposed_comm_ps += 25 * MS;
    b->comm_ps = 80 * MS;
    b->overlap_comm_ps = 40 * MS;
}

static void exposed_copies(ff *f) /* 5 + 55 = 60 ms host to device */
{
    f->devices[0].breakdown.compute_ps -= 55 * MS;
    f->devices[0].breakdown.exposed_copy_ps += 55 * MS;
    f->devices[0].breakdown.copy_ps += 55 * MS;
    f->transfers[0].exposed_ps += 55 * MS;
}

static void pageable(ff *f) /* 20 of 25 ms exposed copies are pageable */
{
    f->devices[1].breakdown.compute_ps -= 20 * MS;
    f->devices[1].breakdown.exposed_copy_ps += 20 * MS;
    f->devices[1].breakdown.copy_ps += 20 * MS;
    f->transfers[1].exposed_ps += 20 * MS;
    f->transfers[1].pageable_count = 8;
    f->transfers[1].pageable_ps = 20 * MS;
}

static void blocking(ff *f) /* 80 ms idle on the GPU, of which a thread waits 70 */
{
    ff_idle(f, 0, VP_CAUSE_SYNC, 80 * MS);
    f->host_ops[1] = (vp_host_op){.host = "node0",
                                  .thread = "main",
                                  .name = "cudaStreamSynchronize",
                                  .cause = VP_CAUSE_SYNC,
                                  .blocking = true,
                                  .calls = 10,
                                  .self_ps = 90 * MS,
                                  .idle_ps = 75 * MS,
                                  .blocked_ps = 70 * MS,
                                  .max_ps = 9 * MS,
                                  .max_start_ps = 44 * MS};
    f->r.host_op_count = 2;
}

static void tiny_kernels(ff *f) /* 110 ms late launches of kernels of 4 us */
{
    ff_idle(f, 0, VP_CAUSE_HOST, 110 * MS);
    f->devices[0].launch.kernel_p50_ps = 4 * US;
    f->devices[0].launch.short_kernels = 900;
}

static void recompile(ff *f) /* three compiles, 100 ms after the first, of a capture of 2 s */
{
    f->functions[0] = (vp_function){.host = "node0",
                                    .name = "train_step",
                                    .compiles = 3,
                                    .total_ps = 150 * MS,
                                    .repeat_ps = 100 * MS,
                                    .late = 2,
                                    .late_ps = 100 * MS,
                                    .last_start_ps = 800 * MS};
    f->r.compile = (vp_compile){.count = 3,
                                .total_ps = 150 * MS,
                                .late = 2,
                                .late_ps = 100 * MS,
                                .functions = f->functions,
                                .function_count = 1};
}

static void compile_share(ff *f) /* 210 ms of 2 s */
{
    f->r.compile.count = 1;
    f->r.compile.total_ps = 300 * MS;
    f->r.compile.before_steps_ps = 210 * MS;
}

static void slow_step(ff *f) /* one of 10 takes 350 ms: 250 above the median, all compute */
{
    f->steps[6].dur_ps = 350 * MS;
    f->step_devices[6].dur_ps = 350 * MS;
    f->step_devices[6].breakdown.compute_ps = 344 * MS;
    f->r.steps.max_ps = 350 * MS;
}

static void jitter(ff *f) /* 80 and 120 ms in turn, median 100: five are 20 ms above it */
{
    for (int i = 0; i < FF_STEPS; i++) {
        f->steps[i].start_ps = (i / 2 * 200 + i % 2 * 80) * MS;
        f->steps[i].dur_ps = (i % 2 ? 120 : 80) * MS;
        f->step_devices[i].breakdown.compute_ps = (i % 2 ? 114 : 74) * MS;
    }
    f->r.steps.mad_ps = 20 * MS;
}

static void waits_for_input(ff *f) /* 60 ms, a third of them in one gap */
{
    ff_idle(f, 1, VP_CAUSE_INPUT, 60 * MS);
    f->labels[0] = (vp_idle_label){1, VP_CAUSE_INPUT, "DataLoader.__next__", "main", 3, 60 * MS};
    f->r.idle_label_count = 1;
    f->gaps[0] = (vp_gap){.device = 1, .start_ps = 400 * MS, .dur_ps = 20 * MS};
    f->gaps[0].cause_ps[VP_CAUSE_INPUT] = 20 * MS;
    f->r.gap_count = 1;
}

/* The training thread does something else for 70 ms, in 60 of which no device works. */
static void does_activity(ff *f, vp_activity_kind kind, const char *name)
{
    ff_idle(f, 1, VP_CAUSE_HOST, 60 * MS);
    f->activities[0] = (vp_activity){.host = "node0",
                                     .thread = "main",
                                     .device = VP_NO_DEVICE,
                                     .kind = kind,
                                     .name = name,
                                     .caller = "train (train.py:20)",
                                     .max_ps = 7 * MS,
                                     .max_start_ps = 400 * MS,
                                     .calls = 10,
                                     .total_ps = 70 * MS,
                                     .idle_ps = 60 * MS,
                                     .steps = 10};
    f->r.activity_count = 1;
}

static void collects_garbage(ff *f)
{
    does_activity(f, VP_ACTIVITY_GC, "$gc collect");
}

static void writes_files(ff *f)
{
    does_activity(f, VP_ACTIVITY_WRITE, "<built-in function fsync>");
}

/* 1 M events of 0.35 us: 350 ms of 2 s */
static void many_events(ff *f)
{
    f->r.events = 1002000; /* 2,000 of them on devices */
}

static void breaks_graphs(ff *f)
{
    f->functions[0] = (vp_function){.name = "frame 0", .calls = 10};
    f->functions[1] = (vp_function){.name = "m.py(3): torch_dynamo_resume_in_f_at_5", .calls = 20};
    f->r.compile.function_count = 2;
}

static void evaluates(ff *f)
{
    f->r.torch = (vp_torch){.recorded_ops = 500,
                            .unused_ops = 200,
                            .unused_ps = 100 * MS,
                            .unused_start_ps = 300 * MS,
                            .unused_dur_ps = 90 * MS};
}

static void loops_over_parameters(ff *f)
{
    f->r.torch = (vp_torch){.optimizer = "Adam.step",
                            .optimizer_steps = 10,
                            .optimizer_ps = 80 * MS,
                            .optimizer_ops = 3000,
                            .optimizer_start_ps = 90 * MS,
                            .optimizer_dur_ps = 8 * MS};
}

static void imbalance(ff *f) /* 940 and 700 ms of compute: max - mean = 120 ms of idle time */
{
    ff_idle(f, 1, VP_CAUSE_LATENCY, 240 * MS);
    f->r.balance.min_ps = 700 * MS;
    f->r.balance.mean_ps = 820 * MS;
}

static void straggler(ff *f) /* GPU 0 is last in 9 of 10 calls, GPU 1 waits 12 of 15 ms */
{
    f->r.balance.straggler_last = 9;
    f->r.balance.wait_ps = 12 * MS;
    f->collectives[0] = (vp_collective){.name = "all-reduce", .device = 1, .wait_ps = 12 * MS};
    f->r.collective_count = 1;
}

static void hot(ff *f) /* 300 of 960 ms = 31.25 % */
{
    f->ops[3].self_ps = f->ops[3].total_ps = 300 * MS;
}

static void variance(ff *f) /* mean 960 us, median 200 us, deviation 2 ms: (960 - 200) * 100 */
{
    f->ops[12].p50_ps = 200 * US;
    f->ops[12].stddev_ps = 2e9;
}

static void unknown_cost(ff *f)
{
    f->devices[1].mfu.cell_ps[VP_CELL_UNKNOWN] = 250 * MS;
    f->ops[FF_OPS + 2].roof.cell_ps[VP_CELL_UNKNOWN] = 240 * MS;
}

static void above_peak(ff *f)
{
    f->devices[0].mfu.above_ops = 3;
    f->devices[0].mfu.above_ps = 94 * MS;
}

static void inefficient(ff *f)
{
    f->devices[0].mfu.cell_ps[VP_CELL_INEFFICIENCY] = 300 * MS;
    f->ops[3].roof.cell_ps[VP_CELL_INEFFICIENCY] = 200 * MS;
}

static void formatting(ff *f) /* 100 of 960 ms */
{
    f->devices[0].hygiene.formatting_ps = 100 * MS;
    f->ops[4].name = "transpose_0213";
}

static void async_done(ff *f) /* 100 of 960 ms, all of it exposed copies of no direction */
{
    f->devices[0].breakdown.compute_ps -= 100 * MS;
    f->devices[0].breakdown.exposed_copy_ps += 100 * MS;
    f->devices[0].hygiene.async_done_ps = 100 * MS;
}

static void callbacks(ff *f) /* 30 ms idle and 25 ms as ops */
{
    ff_idle(f, 0, VP_CAUSE_CALLBACK, 30 * MS);
    f->devices[0].hygiene.callback_ps = 25 * MS;
}

static void full_memory(ff *f)
{
    f->memory[0].peak_bytes = 985;
}

static void leaking_memory(ff *f) /* 5 bytes a step */
{
    f->leaks[0].bytes = 8 * 5;
}

static void undonated(ff *f)
{
    f->donations[0].bytes = 20 * FF_MIB;
}

static void padded(ff *f)
{
    f->buffers[0].unpadded_bytes = 10 * FF_MIB;
}

static void large_temporary(ff *f)
{
    f->buffers[1].bytes = f->buffers[1].unpadded_bytes = 40 * FF_MIB;
}

static void planned_gaps(ff *f)
{
    f->plans[0].fragmentation_bytes = 2 * FF_MIB;
}

static void waiting_argument(ff *f)
{
    f->buffers[0].unused = 60;
    f->buffers[1].unused = 49;
}

static void scattered_memory(ff *f)
{
    f->memory[0].fragmented_bytes = 310;
}

static void inputs_twice(ff *f)
{
    f->holders[0].bytes = f->holders[1].bytes = 20;
}

static void cut_file(ff *f)
{
    f->quality[0] = (vp_quality){
        "truncated", VP_SEV_ERROR, "the file ends inside an event", NULL, -1, -1, true};
    f->r.quality_count = 1;
    f->r.partial = true;
}

/* 30 runs in 10 steps, 600 ms over both devices: two thirds of 300 ms each */
static void repeated(ff *f)
{
    f->modules[0].repeat_steps = 10;
    f->modules[0].repeat_runs = 30;
    f->modules[0].repeat_ps = 600 * MS;
}

/* 400 of 960 ms in float64: half of it */
static void float64(ff *f)
{
    f->ops[3].avoidable.float64_ps = 90 * MS;
    f->ops[4].avoidable.float64_ps = 96 * MS;
    f->ops[4].source = "train.py:9";
}

static void avoidable_op(ff *f, uint32_t op, const char *source)
{
    f->ops[op].source = source;
    f->ops[op].calls = 40;
}

/* 100 of the 1000 ms of the second device are matmuls with one-hot operands */
static void one_hot(ff *f)
{
    avoidable_op(f, FF_OPS + 2, "train.py:9");
    f->ops[FF_OPS + 1].avoidable.lookup_ps = 10 * MS;
    f->ops[FF_OPS + 2].avoidable.lookup_ps = 90 * MS;
}

static void unrolled(ff *f)
{
    avoidable_op(f, 4, "train.py:9");
    f->ops[4].avoidable.unrolled_ps = 90 * MS;
}

static void recomputed(ff *f)
{
    avoidable_op(f, 4, "train.py:9");
    f->ops[4].avoidable.recomputed_ps = 90 * MS;
    f->ops[3].avoidable.recomputed_ps = 60 * MS;
}

/* 200 ms over both devices in each of 10 steps: 100 ms each */
static void repeated_forward(ff *f)
{
    f->modules[0].in_steps = 10;
    f->modules[1] = (vp_module){.name = "jit_loss",
                                .repeats = f->modules[0].name,
                                .runs = 10,
                                .in_steps = 10,
                                .in_steps_ps = 200 * MS,
                                .ops = 9,
                                .op_calls = 20};
    f->r.module_count = 2;
    f->ops[2].module = "jit_loss";
    f->ops[2].source = "train.py:11";
}

/* 8 programs of one op for each of 10 steps and 2 devices, 96 ms on each device: 7/8 of it */
static void small_programs(ff *f)
{
    f->modules[1] = (vp_module){.name = "jit_add", .in_steps = 10, .ops = 1, .op_calls = 160};
    f->r.module_count = 2;
    f->ops[2].module = f->ops[FF_OPS + 2].module = "jit_add";
    f->ops[2].source = "train.py:11";
    f->ops[2].avoidable.elementwise_ps = f->ops[FF_OPS + 2].avoidable.elementwise_ps = 96 * MS;
}

/* 300 ms over both devices in 2 of 10 steps: 150 ms each */
static void evaluation(ff *f)
{
    f->modules[1] = (vp_module){.name = "jit_evaluate",
                                .runs = 12,
                                .in_steps = 2,
                                .in_steps_ps = 300 * MS,
                                .ops = 9,
                                .op_calls = 12};
    f->r.module_count = 2;
}

static void peer_waits(ff *f)
{
    f->devices[0].breakdown.compute_ps -= 200 * MS;
    f->devices[0].breakdown.exposed_comm_ps += 200 * MS;
    f->devices[0].exposed_wait_ps = 120 * MS;
    f->r.balance.matched = 100;
}

static const struct firing {
    const char *id;
    void (*change)(ff *);
    uint32_t device;
    int64_t impact_ps; /* VP_UNKNOWN: none in time */
    vp_level level;
    const char *says[3];  /* words of the message */
    int64_t impact_bytes; /* 0: none in bytes */
} firings[] = {
    {"F1", idle_unknown, 1, 150 * MS, VP_LEVEL_HIGH, {"GPU:1", "20.00%", "200.00 ms of 1.00 s"}},
    {"F2", long_gap, 0, 60 * MS, VP_LEVEL_MEDIUM, {"GPU:0", "60.00 ms", "before op1"}},
    {"F3",
     host_late,
     1,
     140 * MS,
     VP_LEVEL_HIGH,
     {"GPU:1", "optimizer.step on thread main", "77.78%"}},
    {"F4",
     exposed_comm,
     0,
     60 * MS,
     VP_LEVEL_MEDIUM,
     {"GPU:0", "6.00%", "all-reduce (60.00 ms, 20 calls)"}},
    {"F56", peer_waits, 0, 120 * MS, VP_LEVEL_MEDIUM, {"GPU:0", "12.00%", "120.00 ms of 1.00 s"}},
    {"F5", little_overlap, 1, 28 * MS, VP_LEVEL_LOW, {"Of 80.00 ms", "GPU:1", "50.00%"}},
    {"F6",
     exposed_copies,
     0,
     60 * MS,
     VP_LEVEL_MEDIUM,
     {"GPU:0", "60.00 ms host→device", "10 copies, 1.0 MiB"}},
    {"F7", pageable, 1, 20 * MS, VP_LEVEL_LOW, {"GPU:1", "8 copies", "2.00%"}},
    {"F8",
     blocking,
     0,
     70 * MS,
     VP_LEVEL_MEDIUM,
     {"GPU:0", "7.00%", "cudaStreamSynchronize (10 calls, 70.00 ms)."}},
    {"F9", tiny_kernels, 0, 110 * MS, VP_LEVEL_HIGH, {"GPU:0", "4.00 µs", "90.00%"}},
    {"F10", recompile, VP_NO_DEVICE, 100 * MS, VP_LEVEL_MEDIUM, {"train_step", "3 times", "5.00%"}},
    {"F11",
     compile_share,
     VP_NO_DEVICE,
     210 * MS,
     VP_LEVEL_HIGH,
     {"10.50%", "210.00 ms of 2.00 s", "step's program first runs"}},
    {"F12",
     slow_step,
     0,
     250 * MS,
     VP_LEVEL_MEDIUM,
     {"1 of 10 steps is", "step 6", "mostly compute"}},
    {"F13", jitter, 0, 100 * MS, VP_LEVEL_MEDIUM, {"10 ordinary steps", "0.20", "100.00 ms"}},
    {"F14",
     waits_for_input,
     1,
     60 * MS,
     VP_LEVEL_MEDIUM,
     {"GPU:1", "DataLoader.__next__", "60.00 ms"}},
    {"F43",
     many_events,
     VP_NO_DEVICE,
     VP_UNKNOWN,
     VP_LEVEL_LOW,
     {"1,000,000 host events", "350.00 ms", "17.50%"}},
    {"F44",
     breaks_graphs,
     VP_NO_DEVICE,
     VP_UNKNOWN,
     VP_LEVEL_LOW,
     {"20 times in 10 calls", "1 compiled frame)", "torch_dynamo_resume_in_f_at_5 (20)"}},
    {"F45",
     evaluates,
     VP_NO_DEVICE,
     VP_UNKNOWN,
     VP_LEVEL_LOW,
     {"200 of 500 operations", "100.00 ms", "10.00%"}},
    {"F46",
     loops_over_parameters,
     VP_NO_DEVICE,
     VP_UNKNOWN,
     VP_LEVEL_LOW,
     {"Adam.step", "300 operations per step", "80.00 ms of 1.00 s"}},
    {"F41",
     collects_garbage,
     1,
     60 * MS,
     VP_LEVEL_MEDIUM,
     {"10 calls of gc.collect", "called by train (train.py:20)", "7.00 ms in each of 10 steps"}},
    {"F42",
     writes_files,
     1,
     60 * MS,
     VP_LEVEL_MEDIUM,
     {"6.00% of the window", "10 calls of fsync", "60.00 ms of 1.00 s"}},
    {"F15",
     imbalance,
     0,
     120 * MS,
     VP_LEVEL_HIGH,
     {"GPU:0 computes for 940.00 ms", "GPU:1 only for 700.00 ms", "120.00 ms less"}},
    {"F16", straggler, 1, 6 * MS, VP_LEVEL_LOW, {"GPU:0 arrives last", "12.00 ms", "6.00 ms less"}},
    {"F17", hot, 0, VP_UNKNOWN, VP_LEVEL_LOW, {"op3", "31.25%", "GPU:0"}},
    {"F18", variance, 1, 76 * MS, VP_LEVEL_LOW, {"op2", "CV 2.1", "100 calls"}},
    {"F19", formatting, 0, 100 * MS, VP_LEVEL_HIGH, {"GPU:0", "10.42%", "transpose_0213"}},
    {"F33",
     unknown_cost,
     1,
     VP_UNKNOWN,
     VP_LEVEL_LOW,
     {"25.00% of the window of GPU:1", "op2 (240.00 ms)", "lower bound"}},
    {"F34",
     above_peak,
     0,
     VP_UNKNOWN,
     VP_LEVEL_MEDIUM,
     {"3 executions on GPU:0", "989,400 GFLOP/s of H100 SXM", "10.00%"}},
    {"F35",
     inefficient,
     0,
     VP_UNKNOWN,
     VP_LEVEL_MEDIUM,
     {"GPU:0 take 30.00%", "300.00 ms", "op3 (200.00 ms)"}},
    {"F20", async_done, 0, 100 * MS, VP_LEVEL_HIGH, {"GPU:0", "10.42%", "100.00 ms"}},
    {"F21", callbacks, 0, 55 * MS, VP_LEVEL_MEDIUM, {"GPU:0", "5.50%", "55.00 ms"}},
    {"F22",
     full_memory,
     VP_NO_DEVICE,
     VP_UNKNOWN,
     VP_LEVEL_HIGH,
     {"GPU_0_bfc on node0", "98.50%", "1000 B"},
     85},
    {"F30",
     leaking_memory,
     VP_NO_DEVICE,
     VP_UNKNOWN,
     VP_LEVEL_HIGH,
     {"GPU_0_bfc on node0 holds 5 B more after each step (in 8 of 8 steps)",
      "append in Log (train.py:40)", ""},
     8 * 5},
    {"F31",
     scattered_memory,
     VP_NO_DEVICE,
     VP_UNKNOWN,
     VP_LEVEL_HIGH,
     {"310 B of 1000 B (31.00%)", "aten::to in Loader (load.py:4) holds 9 B", ""},
     310},
    {"F32",
     inputs_twice,
     VP_NO_DEVICE,
     VP_UNKNOWN,
     VP_LEVEL_LOW,
     {"At the peak of GPU_0_bfc on node0", "20 B each, allocated by aten::to", ""},
     20},
    {"F36",
     undonated,
     VP_NO_DEVICE,
     VP_UNKNOWN,
     VP_LEVEL_LOW,
     {"jit_step on node0", "1 undonated argument: up to 20.0 MiB of its 100.0 MiB",
      "argument 0 (x.1) for fusion in jit(step)/update (train.py:7)."},
     20 * FF_MIB},
    {"F37",
     padded,
     VP_NO_DEVICE,
     VP_UNKNOWN,
     VP_LEVEL_MEDIUM,
     {"80.0 MiB of 100.0 MiB (80.00%)", "1 buffer; the worst is x.1: dimension 1: 3 of 128", ""},
     80 * FF_MIB},
    {"F38",
     large_temporary,
     VP_NO_DEVICE,
     VP_UNKNOWN,
     VP_LEVEL_LOW,
     {"40.0 MiB of the 100.0 MiB (40.00%)",
      "exp.2 (f32[8]) in jit(step)/attention/exp (model.py:12)", ""},
     40 * FF_MIB},
    {"F39",
     planned_gaps,
     VP_NO_DEVICE,
     VP_UNKNOWN,
     VP_LEVEL_LOW,
     {"2.0 MiB of the 10.0 MiB (20.00%)", "jit_step on node0",
      "the largest buffer is exp.2 (f32[8]) in jit(step)/attention/exp (model.py:12), 10.0 MiB."},
     2 * FF_MIB},
    {"F40",
     waiting_argument,
     VP_NO_DEVICE,
     VP_UNKNOWN,
     VP_LEVEL_LOW,
     {"jit_step on node0 holds 90.0 MiB of 100.0 MiB (90.00%)", "in 1 buffer that",
      "x.1 for 60.00% of it"},
     90 * FF_MIB},
    {"F23",
     cut_file,
     VP_NO_DEVICE,
     VP_UNKNOWN,
     VP_LEVEL_HIGH,
     {"the file ends inside an event", "", ""}},
    {"F50", one_hot, 1, 100 * MS, VP_LEVEL_HIGH, {"10.00%", "op2", "train.py:9, 40 calls"}},
    {"F51", recomputed, 0, 150 * MS, VP_LEVEL_MEDIUM, {"15.00%", "op4 at train.py:9", "forward"}},
    {"F52",
     repeated_forward,
     0,
     100 * MS,
     VP_LEVEL_MEDIUM,
     {"jit_loss computes matmuls that jit_step", "train.py:11, in 10 of 10", "(10.00%"}},
    {"F53", unrolled, 0, 90 * MS, VP_LEVEL_MEDIUM, {"9.00%", "op4", "40 calls of 2.40 ms each"}},
    {"F47", float64, 0, 93 * MS, VP_LEVEL_MEDIUM, {"19.38%", "op4", "train.py:9"}},
    {"F48", small_programs, 0, 84 * MS, VP_LEVEL_MEDIUM, {"8 programs", "jit_add", "train.py:11"}},
    {"F49",
     evaluation,
     0,
     150 * MS,
     VP_LEVEL_HIGH,
     {"jit_evaluate", "12 times in 2 of 10", "15.00%"}},
    {"F24", repeated, 0, 200 * MS, VP_LEVEL_MEDIUM, {"jit_step", "3.0 per step", "30.00%"}},
};
#define FIRINGS (sizeof firings / sizeof *firings)

static bool needs_no_device(const char *id)
{
    return ff_rule(id)->needs & FND_NEED_ZONES;
}

static void test_clear_report_is_clear(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_make(&f);

    assert_int_equal(f.r.finding_count, ff_rules());
    for (size_t i = 0; i < f.r.finding_count; i++)
        if (f.r.findings[i].status !=
            (needs_no_device(f.r.findings[i].id) ? VP_NOT_EVALUATED : VP_CLEAR))
            fail_msg("%s: status %d, %s", f.r.findings[i].id, f.r.findings[i].status,
                     f.r.findings[i].message ? f.r.findings[i].message : "");
    ff_free(&f);
}

static void check_texts(const struct firing *want, const vp_finding *got)
{
    assert_non_null(got->message);
    for (size_t i = 0; i < 3; i++)
        if (!strstr(got->message, want->says[i]))
            fail_msg("%s does not say \"%s\": %s", want->id, want->says[i], got->message);
    assert_int_equal(got->message[strlen(got->message) - 1], '.');
    assert_true(got->suggestion && strlen(got->suggestion) > 40);
}

static bool is_made_to_fire(const char *id)
{
    for (size_t i = 0; i < FIRINGS; i++)
        if (!strcmp(firings[i].id, id))
            return true;
    return false;
}

/* Each change makes its own rule fire, and first; with the amount worked out beside it. The
 * rules for programs without a device: tests/golden/test_host_only.py. */
static void test_every_rule_fires(void **state)
{
    (void)state;
    for (const finding_rule *rule = findings_rules; rule->id; rule++)
        if (!is_made_to_fire(rule->id) && !needs_no_device(rule->id))
            fail_msg("nothing makes %s fire", rule->id);
    for (size_t i = 0; i < FIRINGS; i++) {
        const struct firing *want = &firings[i];
        ff f;
        ff_init(&f);
        want->change(&f);
        ff_make(&f);
        const vp_finding *got = &f.r.findings[0];
        if (strcmp(got->id, want->id) != 0)
            fail_msg("%s: %s is first", want->id, got->id);
        if (got->status != VP_FIRED || got->impact_ps != want->impact_ps ||
            got->severity != want->level)
            fail_msg("%s: status %d, %lld ps, level %d", want->id, got->status,
                     (long long)got->impact_ps, got->severity);
        if (got->impact_bytes != (want->impact_bytes ? want->impact_bytes : VP_UNKNOWN))
            fail_msg("%s: %lld bytes", want->id, (long long)got->impact_bytes);
        check_texts(want, got);
        if (want->device != VP_NO_DEVICE && got->where_count &&
            got->where[0].device != want->device)
            fail_msg("%s: on device %u", want->id, got->where[0].device);
        ff_free(&f);
    }
}

/* ---- Nothing to judge by ---- */

static void without_steps(ff *f)
{
    f->r.steps = (vp_steps){0};
}

static void without_host(ff *f)
{
    f->r.host_op_count = 0;
}

static void without_causes(ff *f)
{
    for (int d = 0; d < 2; d++) {
        memset(f->devices[d].cause_ps, 0, sizeof f->devices[d].cause_ps);
        f->devices[d].cause_ps[VP_CAUSE_UNKNOWN] = f->devices[d].breakdown.idle_ps;
    }
}

static void without_launches(ff *f)
{
    f->devices[0].launch.calls = f->devices[1].launch.calls = VP_UNKNOWN;
}

static void one_device(ff *f)
{
    f->r.balance = (vp_balance){.devices = 1, .straggler = VP_NO_DEVICE};
}

static void unmatched(ff *f)
{
    f->r.balance.matched = 3;
}

static void other_clocks(ff *f)
{
    f->r.balance.aligned = false;
    f->r.host_count = 2;
    f->hosts[1] = "node1";
}

static void by_scope(ff *f)
{
    f->r.group = VP_GROUP_SCOPE;
}

static void without_peak(ff *f)
{
    for (int d = 0; d < FF_DEVICES; d++)
        f->devices[d].mfu.peak_gflops = VP_UNKNOWN;
}

static void without_memory(ff *f)
{
    f->r.memory_count = 0;
}

static void without_room(ff *f)
{
    for (size_t i = 0; i < f->r.device_count; i++)
        f->devices[i].memory_bytes = VP_UNKNOWN;
}

static void without_memory_and_room(ff *f)
{
    without_memory(f);
    without_room(f);
}

static void without_leaks(ff *f)
{
    f->memory[0].leak_steps = 2;
}

static void without_fragments(ff *f)
{
    f->memory[0].fragmented_of_bytes = VP_UNKNOWN;
}

/* Compiled, and never run. */
static void without_plans(ff *f)
{
    f->plans[0].ran = false;
}

static void without_pageable(ff *f)
{
    f->transfers[0].pageable_count = f->transfers[1].pageable_count = VP_UNKNOWN;
}

static void ops_only(ff *f)
{
    f->r.depth = VP_DEPTH_OPS;
}

static void without_device(ff *f)
{
    f->r.has_devices = false;
}

static void without_capture(ff *f)
{
    f->r.capture_ps = VP_UNKNOWN;
}

static void three_steps(ff *f)
{
    f->r.steps.counted = 3;
}

static void without_modules(ff *f)
{
    f->r.module_count = 0;
}

/* As on GPUs and CPUs, whose ops do not tell which run they are of. */
static void uncounted_modules(ff *f)
{
    for (size_t i = 0; i < f->r.module_count; i++)
        f->r.modules[i].repeat_runs = VP_UNKNOWN;
}

static void test_every_missing_input_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        void (*change)(ff *);
        const char *missing;
    } rows[] = {{"F1", without_device, "a device"},
                {"F2", ops_only, "the full analysis"},
                {"F3", without_causes, "host labels or launch correlation"},
                {"F4", without_device, "a device"},
                {"F5", ops_only, "the full analysis"},
                {"F6", ops_only, "the full analysis"},
                {"F7", without_pageable, "copies with a memory kind"},
                {"F8", without_host, "host events"},
                {"F9", without_launches, "launch correlation"},
                {"F10", without_host, "host events"},
                {"F10", without_capture, "the length of the capture"},
                {"F11", without_host, "host events"},
                {"F12", without_steps, "steps"},
                {"F12", three_steps, "five complete steps with a duration"},
                {"F13", without_steps, "steps"},
                {"F14", without_causes, "host labels or launch correlation"},
                {"F15", one_device, "two or more devices that run the same modules"},
                {"F16", one_device, "two or more devices that run the same modules"},
                {"F16", unmatched, "four collective calls matched across devices"},
                {"F16", other_clocks, "aligned host clocks"},
                {"F17", by_scope, "ops grouped by name"},
                {"F18", by_scope, "ops grouped by name"},
                {"F19", ops_only, "the full analysis"},
                {"F33", without_peak, "a device with a known peak, and FLOP of its ops"},
                {"F34", without_peak, "a device with a known peak, and FLOP of its ops"},
                {"F35", ops_only, "the full analysis"},
                {"F20", ops_only, "the full analysis"},
                {"F21", without_device, "a device"},
                {"F22", without_memory_and_room,
                 "memory events with a limit, or memory plans and the device's memory size"},
                {"F40", without_room, "a known device memory size"},
                {"F30", without_leaks, "allocations with addresses in five steps"},
                {"F31", without_fragments, "an allocator that reports fragmentation"},
                {"F32", without_leaks, "allocations with addresses in five steps"},
                {"F36", without_plans, "memory plans of executed programs"},
                {"F24", without_modules, "module runs"},
                {"F24", uncounted_modules, "module runs"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ff f;
        ff_init(&f);
        rows[i].change(&f);
        ff_make(&f);
        const vp_finding *got = ff_find(&f, rows[i].id);
        if (got->status != VP_NOT_EVALUATED)
            fail_msg("%s: status %d without %s", rows[i].id, got->status, rows[i].missing);
        assert_int_equal(got->missing_count, 1);
        assert_string_equal(got->missing[0], rows[i].missing);
        ff_free(&f);
    }
}

/* Without any allocator's events a plan that takes more than 90 % of its device says it, of the
 * smallest device of its host; one that fits does not, and the fuller of both is told. */
static void test_plan_beyond_the_device(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    without_memory(&f);
    f.devices[1].memory_bytes = 111 * FF_MIB;
    ff_make(&f);
    const vp_finding *got = ff_find(&f, "F22");
    assert_int_equal(got->status, VP_FIRED);
    assert_int_equal(got->severity, VP_LEVEL_MEDIUM);
    assert_non_null(strstr(got->message,
                           "jit_step on node0 has a memory plan of 100.0 MiB, 90.09% of the "
                           "device's 111.0 MiB; the largest buffer is x.1, 90.0 MiB."));
    assert_int_equal(got->impact_bytes, 100 * FF_MIB - 111 * FF_MIB * 9 / 10);
    assert_string_equal(got->where[0].track, "jit_step");
    ff_free(&f);
    ff_init(&f);
    without_memory(&f);
    f.devices[1].memory_bytes = 112 * FF_MIB;
    ff_make(&f);
    assert_int_equal(ff_find(&f, "F22")->status, VP_CLEAR);
    ff_free(&f);
    ff_init(&f);
    f.memory[0].peak_bytes = f.memory[0].total_bytes * 95 / 100;
    f.devices[1].memory_bytes = 100 * FF_MIB;
    ff_make(&f);
    got = ff_find(&f, "F22");
    assert_int_equal(got->severity, VP_LEVEL_HIGH); /* 100 % of the plan's */
    assert_non_null(strstr(got->message, "has a memory plan"));
    ff_free(&f);
}

/* A report of nothing at all: every rule answers, no figure is made up. */
static void test_empty_report(void **state)
{
    (void)state;
    vp_arena arena;
    vp_arena_init(&arena);
    vp_report r = {
        .step = VP_UNKNOWN, .capture_ps = VP_UNKNOWN, .owner_ = &arena, .has_devices = true};
    assert_int_equal(findings_make(&r), 0);
    for (size_t i = 0; i < r.finding_count; i++) {
        const vp_finding *f = &r.findings[i];
        assert_true(f->status == VP_CLEAR || f->status == VP_NOT_EVALUATED);
        assert_true(f->value == f->value); /* no NaN */
        assert_int_equal(f->impact_ps, VP_UNKNOWN);
    }
    vp_arena_free(&arena);
}

/* Devices without a single op have windows of no length: no share, no division. */
static void test_empty_windows(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    for (int d = 0; d < 2; d++)
        f.devices[d] = (vp_device){.name = "GPU 0", .kind = VP_DEVICE_GPU};
    f.r.steps.median_ps = f.r.steps.max_ps = 0;
    for (int i = 0; i < FF_STEPS; i++)
        f.steps[i].dur_ps = 0;
    ff_make(&f);
    for (size_t i = 0; i < f.r.finding_count; i++) {
        const vp_finding *got = &f.r.findings[i];
        if (got->status == VP_FIRED)
            fail_msg("%s: %s", got->id, got->message);
        assert_true(got->value == got->value && got->value < 1e18);
    }
    ff_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_clear_report_is_clear),
                                       cmocka_unit_test(test_every_rule_fires),
                                       cmocka_unit_test(test_every_missing_input_is_named),
                                       cmocka_unit_test(test_plan_beyond_the_device),
                                       cmocka_unit_test(test_empty_report),
                                       cmocka_unit_test(test_empty_windows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
