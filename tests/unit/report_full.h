/* A report with every section of the full analysis, by hand: the TPU run of report_fixture.h with
 * steps, gaps, collectives and other data added. Every text is either plain or the same hostile
 * one, to test escaping. */
#ifndef VP_TESTS_REPORT_FULL_H
#define VP_TESTS_REPORT_FULL_H

#include "tests/unit/report_fixture.h"

#define FULL_STEPS 24

typedef struct full {
    fx f;
    const char *hostile; /* NULL: the plain texts */
    vp_step steps[FULL_STEPS];
    vp_step_device step_devices[FULL_STEPS];
    vp_step_group step_groups[2];
    int64_t course[FULL_STEPS];
    vp_split splits[3];
    vp_folded_scope folded[2];
    vp_gap gaps[2];
    vp_idle_label labels[2];
    vp_collective collectives[2];
    vp_transfer transfers[2];
    vp_function functions[2];
    vp_host_op host_ops[2];
    vp_replay replays[1];
    vp_user_function user_functions[1];
    int64_t sample_at[3], sample_bytes[3];
    vp_memory_item holders[2];
    vp_leak leaks[1];
    vp_memory memory[1];
    vp_place places[2];
    const char *texts[4];
    vp_finding findings[4];
} full;

static inline const char *full_text(const full *x, const char *plain)
{
    return x->hostile ? x->hostile : plain;
}

/* 24 steps of 10 ms: the first is partial, the last takes five times as long, every sixth is heavy
 * with 16 ms. Each has 6 parts compute, 2, 1 and 1 of the others. */
static inline void full_steps(full *x)
{
    for (int i = 0; i < FULL_STEPS; i++) {
        int64_t tenth = i + 1 == FULL_STEPS ? 5 * FX_MS : i % 6 == 5 ? FX_MS * 16 / 10 : FX_MS;
        int64_t start = 5 * FX_MS + i * 10 * FX_MS;
        x->course[i] = tenth / 2;
        x->step_devices[i] = (vp_step_device){.device = 0,
                                              .start_ps = start,
                                              .dur_ps = 10 * tenth,
                                              .breakdown = {.window_ps = 10 * tenth,
                                                            .compute_ps = 6 * tenth,
                                                            .exposed_comm_ps = 2 * tenth,
                                                            .exposed_copy_ps = tenth,
                                                            .idle_ps = tenth,
                                                            .busy_ps = 9 * tenth},
                                              .cause_ps = {[VP_CAUSE_INPUT] = tenth}};
        x->steps[i] = (vp_step){.number = 100 + i,
                                .name = full_text(x, "train"),
                                .start_ps = start,
                                .dur_ps = 10 * tenth,
                                .device = 0,
                                .partial = i == 0,
                                .step_class = i % 6 == 5 && i + 1 < FULL_STEPS ? VP_STEP_HEAVY
                                                                               : VP_STEP_NORMAL,
                                .devices = &x->step_devices[i],
                                .device_count = 1};
    }
    x->step_groups[0] = (vp_step_group){VP_STEP_NORMAL, 19, 10 * FX_MS, 190 * FX_MS, 1, 101};
    x->step_groups[1] = (vp_step_group){VP_STEP_HEAVY, 3, 16 * FX_MS, 48 * FX_MS, 6, 105};
    x->f.r.steps = (vp_steps){.source = VP_STEPS_PROFILER,
                              .list = x->steps,
                              .count = FULL_STEPS,
                              .counted = FULL_STEPS - 1,
                              .median_ps = 10 * FX_MS,
                              .p90_ps = 16 * FX_MS,
                              .p95_ps = 16 * FX_MS,
                              .mad_ps = 20 * FX_US,
                              .mean_ps = 12 * FX_MS,
                              .min_ps = 10 * FX_MS,
                              .max_ps = 50 * FX_MS,
                              .cv = 0.6899,
                              .excess_ps = 58 * FX_MS,
                              .groups = x->step_groups,
                              .group_count = 2};
}

/* Op 2 of the TPU run is the mixed one: docs/reference/metrics.md#sample-profiles lists its parts.
 */
static inline void full_ops(full *x)
{
    x->splits[0] = (vp_split){full_text(x, "bf16[8,2048]"),
                              full_text(x, "RowParallelLinear"),
                              full_text(x, "linear.py:7"),
                              64,
                              13678 * FX_US,
                              220 * FX_US,
                              1e6,
                              VP_SPLIT_SHAPE};
    x->splits[1] = (vp_split){.label = full_text(x, "bf16[8,512]"),
                              .calls = 64,
                              .self_ps = 2562 * FX_US,
                              .max_ps = 41 * FX_US,
                              .stddev_ps = 1e5};
    x->splits[2] = (vp_split){
        .label = full_text(x, "f32[8]"), .calls = 1, .self_ps = 290 * FX_US, .max_ps = 290 * FX_US};
    x->f.ops[2].splits = x->splits;
    x->f.ops[2].split_count = 3;
    x->f.ops[0].per_step_ps = x->course;
    x->f.ops[0].per_step_count = FULL_STEPS;
    x->f.ops[0].step_self_ps = 23 * FX_MS;
    x->f.ops[0].idle_before_ps = 12 * FX_US;
    x->f.devices[0].steps_counted = 23;
    x->folded[0] =
        (vp_folded_scope){full_text(x, "transformer/mlp"), 20 * FX_MS, 10 * FX_MS, 5 * FX_MS, 300};
    x->folded[1] = (vp_folded_scope){full_text(x, "transformer/attn"), 5 * FX_MS, 0, 0, 100};
    x->f.r.folded = x->folded;
    x->f.r.folded_count = 2;
    x->f.scopes[4].source = full_text(x, "mlp.py:12");
}

static inline void full_idle(full *x)
{
    vp_device *d = &x->f.devices[0];
    d->cause_ps[VP_CAUSE_INPUT] = 20 * FX_US;
    d->cause_ps[VP_CAUSE_UNKNOWN] = 6 * FX_US;
    d->gap_count = 321;
    d->launch = (vp_launch){.calls = 1000,
                            .linked_ops = 900,
                            .unlinked_ops = 100,
                            .kernels = 800,
                            .kernel_p50_ps = 4 * FX_US,
                            .short_kernels = 600,
                            .short_ps = FX_MS,
                            .call_p50_ps = 5 * FX_US,
                            .call_p95_ps = 9 * FX_US,
                            .delay_p50_ps = 3 * FX_US,
                            .delay_p95_ps = 120 * FX_US,
                            .late_launches = 51,
                            .queue_max = 17,
                            .queue_mean_milli = 2500,
                            .graph_launches = 0};
    d->hygiene = (vp_hygiene){.formatting_ps = FX_MS, .async_done_ps = 2 * FX_MS};
    x->gaps[0] = (vp_gap){
        .device = 0,
        .start_ps = 7 * FX_MS,
        .dur_ps = 12 * FX_US,
        .host_late_ps = 10 * FX_US,
        .in_call_ps = FX_US,
        .latency_ps = FX_US,
        .cause_ps =
            {[VP_CAUSE_INPUT] = 10 * FX_US, [VP_CAUSE_CALL] = FX_US, [VP_CAUSE_LATENCY] = FX_US},
        .label = full_text(x, "next(loader)"),
        .thread = full_text(x, "python"),
        .next_op = full_text(x, "convolution_bitcast_fusion"),
        .scope = full_text(x, "jit(step)/transformer")};
    x->gaps[1] = (vp_gap){.device = 0,
                          .start_ps = 9 * FX_MS,
                          .dur_ps = 6 * FX_US,
                          .cause_ps = {[VP_CAUSE_UNKNOWN] = 6 * FX_US}};
    x->labels[0] = (vp_idle_label){
        0, VP_CAUSE_INPUT, full_text(x, "next(loader)"), full_text(x, "python"), 300, 20 * FX_US};
    x->labels[1] = (vp_idle_label){0, VP_CAUSE_UNKNOWN, NULL, NULL, 21, 6 * FX_US};
    x->f.r.gaps = x->gaps;
    x->f.r.idle_labels = x->labels;
    x->f.r.gap_count = x->f.r.idle_label_count = 2;
}

/* 8 participants, 1 GB in 1 s: 1 GB/s, and 2 * 7/8 = 1.75 times that on the links of an all-reduce.
 */
static inline void full_communication(full *x)
{
    x->collectives[0] = (vp_collective){.kind = full_text(x, "all-reduce"),
                                        .name = full_text(x, "all-reduce"),
                                        .scope = full_text(x, "transformer/mlp"),
                                        .group_size = 8,
                                        .groups = 4,
                                        .members = "0-28:4",
                                        .count = 129,
                                        .bytes = 1000000000,
                                        .total_ps = 1000 * FX_MS,
                                        .union_ps = 900 * FX_MS,
                                        .exposed_ps = 300 * FX_MS,
                                        .wait_ps = 5 * FX_MS};
    x->collectives[1] = (vp_collective){.kind = full_text(x, "other"),
                                        .name = full_text(x, "barrier-cores"),
                                        .group_size = VP_UNKNOWN,
                                        .groups = VP_UNKNOWN,
                                        .count = 1,
                                        .bytes = VP_UNKNOWN,
                                        .total_ps = FX_MS,
                                        .union_ps = FX_MS,
                                        .exposed_ps = 0,
                                        .wait_ps = VP_UNKNOWN};
    x->transfers[0] = (vp_transfer){.direction = VP_H2D,
                                    .count = 300,
                                    .bytes = 2000000000,
                                    .total_ps = 800 * FX_MS,
                                    .busy_ps = 500 * FX_MS,
                                    .exposed_ps = 40 * FX_MS,
                                    .exposed_count = 12,
                                    .pageable_count = VP_UNKNOWN,
                                    .pageable_ps = VP_UNKNOWN,
                                    .largest_bytes = 1 << 20,
                                    .largest_start_ps = 8 * FX_MS,
                                    .largest_dur_ps = FX_MS};
    x->transfers[1] = (vp_transfer){.device = VP_NO_DEVICE,
                                    .direction = VP_D2H,
                                    .count = 2,
                                    .bytes = VP_UNKNOWN,
                                    .busy_ps = FX_MS,
                                    .total_ps = FX_MS,
                                    .exposed_ps = VP_UNKNOWN,
                                    .exposed_count = VP_UNKNOWN,
                                    .pageable_count = VP_UNKNOWN,
                                    .largest_bytes = VP_UNKNOWN,
                                    .largest_start_ps = VP_NO_TIME,
                                    .largest_dur_ps = VP_UNKNOWN,
                                    .host_only = true};
    x->f.r.collectives = x->collectives;
    x->f.r.transfers = x->transfers;
    x->f.r.collective_count = x->f.r.transfer_count = 2;
}

static inline void full_host(full *x)
{
    x->functions[0] = (vp_function){.host = "t1v-n-9eb622fc-w-0",
                                    .name = full_text(x, "train_step"),
                                    .compiles = 3,
                                    .calls = 24,
                                    .cache_hits = VP_UNKNOWN,
                                    .total_ps = 900 * FX_MS,
                                    .repeat_ps = 600 * FX_MS,
                                    .late = 2,
                                    .late_ps = 600 * FX_MS,
                                    .first_start_ps = FX_MS,
                                    .last_start_ps = 90 * FX_MS};
    x->f.r.compile = (vp_compile){.count = 3,
                                  .total_ps = 900 * FX_MS,
                                  .lower_ps = 100 * FX_MS,
                                  .late = 2,
                                  .late_ps = 600 * FX_MS,
                                  .before_steps_ps = 300 * FX_MS,
                                  .cache_hits = VP_UNKNOWN,
                                  .cache_misses = VP_UNKNOWN,
                                  .functions = x->functions,
                                  .function_count = 1};
    x->host_ops[0] = (vp_host_op){.host = "t1v-n-9eb622fc-w-0",
                                  .thread = full_text(x, "python"),
                                  .name = full_text(x, "PjRtFuture::Await"),
                                  .cause = VP_CAUSE_SYNC,
                                  .blocking = true,
                                  .calls = 24,
                                  .total_ps = 240 * FX_MS,
                                  .self_ps = 200 * FX_MS,
                                  .idle_ps = 20 * FX_US,
                                  .blocked_ps = 25 * FX_US,
                                  .max_ps = 30 * FX_MS,
                                  .max_start_ps = 60 * FX_MS};
    x->replays[0] = (vp_replay){.host = full_text(x, "host"),
                                .thread = full_text(x, "python"),
                                .recorded_ps = 240 * FX_MS,
                                .replayed_ps = 239 * FX_MS,
                                .unwaited_ps = 200 * FX_MS,
                                .waits = 24,
                                .waiter = full_text(x, "train (train.py:20)")};
    x->f.r.replays = x->replays;
    x->f.r.replay_count = 1;
    x->user_functions[0] = (vp_user_function){.host = full_text(x, "host"),
                                              .name = full_text(x, "log (train.py:30)"),
                                              .calls = 24,
                                              .total_ps = 48 * FX_MS,
                                              .max_ps = 3 * FX_MS,
                                              .max_start_ps = 60 * FX_MS,
                                              .launches = 48,
                                              .run_ps = 4 * FX_MS,
                                              .reads = 24,
                                              .without_ps = 190 * FX_MS};
    x->f.r.user_functions = x->user_functions;
    x->f.r.user_function_count = 1;
    x->f.r.host_ops = x->host_ops;
    x->f.r.host_op_count = 1;
    for (int i = 0; i < 3; i++) {
        x->sample_at[i] = (i * i + 1) * FX_MS;
        x->sample_bytes[i] = INT64_C(1) << (30 + i);
    }
    x->holders[0] = (vp_memory_item){.name = full_text(x, "params"),
                                     .bytes = INT64_C(3) << 30,
                                     .count = 12,
                                     .scope = full_text(x, "jit(step)/init"),
                                     .source = full_text(x, "train.py:12"),
                                     .step = 3};
    x->leaks[0] = (vp_leak){full_text(x, "append"),
                            full_text(x, "jit(step)/log"),
                            full_text(x, "train.py:40"),
                            3 << 20,
                            24,
                            6};
    x->memory[0] = (vp_memory){.host = "t1v-n-9eb622fc-w-0",
                               .allocator = full_text(x, "TPU_0_bfc"),
                               .peak_bytes = INT64_C(1) << 32,
                               .peak_start_ps = 5 * FX_MS,
                               .total_bytes = INT64_C(1) << 34,
                               .allocations = 4000,
                               .frees = 3900,
                               .end_bytes = INT64_C(1) << 30,
                               .lifetime_peak_bytes = INT64_C(5) << 30,
                               .reserved_bytes = INT64_C(6) << 30,
                               .reserved_peak_bytes = INT64_C(7) << 30,
                               .fragmented_bytes = INT64_C(1) << 20,
                               .fragmented_of_bytes = INT64_C(6) << 30,
                               .allocated_bytes = INT64_C(90) << 30,
                               .out_of_memory = 1,
                               .steps = 8,
                               .step_allocations = 800,
                               .leak_steps = 6,
                               .leaks = x->leaks,
                               .leak_count = 1,
                               .sample_start_ps = x->sample_at,
                               .sample_bytes = x->sample_bytes,
                               .sample_count = 3,
                               .top = x->holders,
                               .top_count = 1};
    x->f.r.memory = x->memory;
    x->f.r.memory_count = 1;
}

static inline void full_findings(full *x)
{
    x->places[0] = (vp_place){0, NULL, full_text(x, "XLA Ops"), 7 * FX_MS, 8 * FX_MS};
    x->places[1] = (vp_place){VP_NO_DEVICE, "t1v-n-9eb622fc-w-0", NULL, VP_NO_TIME, VP_NO_TIME};
    x->texts[0] = full_text(x, "the capture is partial");
    x->texts[1] = full_text(x, "F6");
    x->texts[2] = full_text(x, "launch calls");
    x->findings[0] = (vp_finding){.id = full_text(x, "F6"),
                                  .name = full_text(x, "transfers"),
                                  .status = VP_FIRED,
                                  .severity = VP_LEVEL_HIGH,
                                  .title = full_text(x, "Waits for copies"),
                                  .message = full_text(x, "TPU:0 waits 40 ms for copies."),
                                  .suggestion = full_text(x, "Keep the weights on the device."),
                                  .metric = full_text(x, "exposed host to device time"),
                                  .unit = full_text(x, "share"),
                                  .denominator = full_text(x, "window"),
                                  .value = 0.595,
                                  .threshold = 0.05,
                                  .impact_ps = 40 * FX_MS,
                                  .gross_ps = 50 * FX_MS,
                                  .window_ps = 80 * FX_MS,
                                  .where = x->places,
                                  .where_count = 2,
                                  .caveats = &x->texts[0],
                                  .caveat_count = 1};
    x->findings[1] = x->findings[0];
    x->findings[1].id = full_text(x, "F1");
    x->findings[1].name = full_text(x, "device-idle");
    x->findings[1].status = VP_EXPLAINED;
    x->findings[1].explained_by = &x->texts[1];
    x->findings[1].explained_count = 1;
    x->findings[2] = (vp_finding){.id = full_text(x, "F9"),
                                  .name = full_text(x, "launch-bound"),
                                  .status = VP_NOT_EVALUATED,
                                  .missing = &x->texts[2],
                                  .missing_count = 1};
    x->findings[3] = (vp_finding){.id = full_text(x, "F4"),
                                  .name = full_text(x, "exposed-comm"),
                                  .status = VP_CLEAR,
                                  .metric = full_text(x, "exposed communication"),
                                  .unit = full_text(x, "share"),
                                  .value = 0.01,
                                  .threshold = 0.05};
    x->f.r.findings = x->findings;
    x->f.r.finding_count = 4;
}

static inline void full_init(full *x, const char *hostile)
{
    memset(x, 0, sizeof *x);
    fx_tpu(&x->f);
    x->hostile = hostile;
    full_steps(x);
    full_ops(x);
    full_idle(x);
    full_communication(x);
    full_host(x);
    full_findings(x);
    x->f.r.balance = (vp_balance){.devices = 2,
                                  .max_ps = 55 * FX_MS,
                                  .mean_ps = 47500 * FX_US,
                                  .min_ps = 40 * FX_MS,
                                  .busiest = 0,
                                  .idlest = 0,
                                  .aligned = true,
                                  .matched = 128,
                                  .wait_ps = 3 * FX_MS,
                                  .straggler = 0,
                                  .straggler_last = 100,
                                  .straggler_host = full_text(x, "hostB"),
                                  .straggler_host_last = 90};
}

static inline void full_free(full *x)
{
    fx_free(&x->f);
}

#endif
