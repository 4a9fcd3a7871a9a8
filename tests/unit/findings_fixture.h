/* A report on which no rule fires and every rule is evaluated: two GPUs of one host, ten steps of
 * 100 ms, a window of 1 s with 940 ms compute, 15 ms exposed communication, 5 ms exposed copies and
 * 40 ms idle. Tests change one value and state the result. */
#ifndef VP_TESTS_FINDINGS_FIXTURE_H
#define VP_TESTS_FINDINGS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/analyze/findings/findings.h"
#include "trace/base/arena.h"
#include "trace/base/mem.h"

#define MS INT64_C(1000000000)
#define US INT64_C(1000000)
#define FF_DEVICES 4
#define FF_STEPS 10
#define FF_OPS 10
#define FF_MIB (INT64_C(1) << 20)

typedef struct ff {
    vp_report r;
    vp_arena arena;
    vp_device devices[FF_DEVICES];
    vp_op ops[FF_DEVICES * FF_OPS];
    vp_split splits[2];
    vp_step steps[FF_STEPS];
    vp_step_device step_devices[FF_STEPS];
    vp_step_group groups[1];
    vp_gap gaps[40];
    vp_idle_label labels[2];
    vp_collective collectives[FF_DEVICES];
    int64_t sample_start_ps[1], sample_dur_ps[1];
    vp_transfer transfers[4];
    vp_function functions[2];
    vp_host_op host_ops[2];
    vp_memory memory[1];
    vp_memory_plan plans[1];
    vp_plan_buffer buffers[2];
    vp_plan_donation donations[1];
    vp_memory_item holders[2];
    vp_leak leaks[1];
    vp_module modules[2];
    vp_quality quality[2];
    vp_thread threads[3];
    vp_activity activities[2];
    vp_torch_cost torch_costs[2];
    const char *hosts[2];
} ff;

static inline void ff_device(vp_device *d, const char *name)
{
    *d = (vp_device){.name = name,
                     .host = "node0",
                     .kind = VP_DEVICE_GPU,
                     .events = 1000,
                     .end_ps = 1000 * MS,
                     .self_ps = 960 * MS,
                     .memory_bytes = 125 * FF_MIB,
                     .breakdown = {.window_ps = 1000 * MS,
                                   .compute_ps = 940 * MS,
                                   .exposed_comm_ps = 15 * MS,
                                   .exposed_copy_ps = 5 * MS,
                                   .idle_ps = 40 * MS,
                                   .busy_ps = 960 * MS,
                                   .comm_ps = 100 * MS,
                                   .copy_ps = 5 * MS,
                                   .overlap_comm_ps = 85 * MS},
                     .gap_count = 1000,
                     .launch = {.calls = 1000,
                                .linked_ops = 1000,
                                .kernels = 1000,
                                .kernel_p50_ps = 900 * US,
                                .short_kernels = 10,
                                .call_p50_ps = 5 * US}};
    d->cause_ps[VP_CAUSE_LATENCY] = 40 * MS;
    d->mfu = (vp_mfu){.chip = "H100 SXM",
                      .peak_source = VP_PEAK_NAME,
                      .dtype = VP_DTYPE_BF16,
                      .peak_gflops = 989400,
                      .bandwidth_mb_s = 3352000,
                      .flops = 494700000000000,
                      .peak_ps = 500 * MS,
                      .cell_ps = {[VP_CELL_USEFUL] = 500 * MS,
                                  [VP_CELL_INEFFICIENCY] = 90 * MS,
                                  [VP_CELL_NM_MEMORY] = 200 * MS,
                                  [VP_CELL_UNKNOWN] = 150 * MS}};
}

static inline void ff_ops(ff *f)
{
    static const char *const names[FF_OPS] = {"op0", "op1", "op2", "op3", "op4",
                                              "op5", "op6", "op7", "op8", "op9"};
    for (uint32_t i = 0; i < 2 * FF_OPS; i++)
        f->ops[i] = (vp_op){.device = i / FF_OPS,
                            .category = "kernel",
                            .name = names[i % FF_OPS],
                            .calls = 100,
                            .total_ps = 96 * MS,
                            .self_ps = 96 * MS,
                            .min_ps = 960 * US,
                            .p50_ps = 960 * US,
                            .p95_ps = 960 * US,
                            .max_ps = 960 * US,
                            .bytes = VP_UNKNOWN,
                            .flops = VP_UNKNOWN,
                            .raw_names = 1,
                            .avoidable = {.known_ps = 96 * MS},
                            .slowest_start_ps = 10 * MS,
                            .slowest_dur_ps = 960 * US};
    f->r.ops = f->ops;
    f->r.op_count = 2 * FF_OPS;
}

static inline void ff_steps(ff *f)
{
    for (int i = 0; i < FF_STEPS; i++) {
        vp_step_device *d = &f->step_devices[i];
        *d = (vp_step_device){.start_ps = i * 100 * MS,
                              .dur_ps = 100 * MS,
                              .breakdown = {.window_ps = 100 * MS,
                                            .compute_ps = 94 * MS,
                                            .exposed_comm_ps = 2 * MS,
                                            .idle_ps = 4 * MS,
                                            .busy_ps = 96 * MS}};
        d->cause_ps[VP_CAUSE_LATENCY] = 4 * MS;
        f->steps[i] = (vp_step){.number = i,
                                .name = "step",
                                .start_ps = i * 100 * MS,
                                .dur_ps = 100 * MS,
                                .devices = d,
                                .device_count = 1};
    }
    f->r.steps = (vp_steps){.source = VP_STEPS_LINE,
                            .list = f->steps,
                            .count = FF_STEPS,
                            .counted = FF_STEPS,
                            .median_ps = 100 * MS,
                            .p90_ps = 100 * MS,
                            .mean_ps = 100 * MS,
                            .min_ps = 100 * MS,
                            .max_ps = 100 * MS,
                            .groups = f->groups};
}

static inline void ff_lists(ff *f)
{
    vp_report *r = &f->r;
    f->hosts[0] = "node0";
    r->hosts = f->hosts;
    r->host_count = 1;
    r->gaps = f->gaps;
    r->idle_labels = f->labels;
    r->collectives = f->collectives;
    r->transfers = f->transfers;
    r->host_ops = f->host_ops;
    r->memory = f->memory;
    r->modules = f->modules;
    r->quality = f->quality;
    r->threads = f->threads;
    r->activities = f->activities;
    r->torch_costs = f->torch_costs;
    r->compile.functions = f->functions;
    f->host_ops[0] = (vp_host_op){.host = "node0", .thread = "main", .name = "train", .calls = 10};
    r->host_op_count = 1;
    f->memory[0] = (vp_memory){.host = "node0",
                               .allocator = "GPU_0_bfc",
                               .peak_bytes = 500,
                               .peak_start_ps = 7 * MS,
                               .fragmented_bytes = 50,
                               .fragmented_of_bytes = 1000,
                               .top = f->holders,
                               .top_count = 2,
                               .out_of_memory = VP_UNKNOWN,
                               .leak_steps = 8,
                               .leaks = f->leaks,
                               .leak_count = 1,
                               .total_bytes = 1000};
    f->holders[0] = (vp_memory_item){"aten::to", 9, 1, "Loader", "load.py:4", 6};
    f->holders[1] = (vp_memory_item){"aten::to", 9, 1, "Loader", "load.py:4", 7};
    f->leaks[0] = (vp_leak){"append", "Log", "train.py:40", 3, 8, 8};
    r->memory_count = 1;
    /* Buffers of 100 MiB in total, of which a temporary has 10 MiB. */
    f->buffers[0] = (vp_plan_buffer){.instruction = "x.1",
                                     .kind = VP_BUFFER_PARAMETER,
                                     .bytes = 90 * FF_MIB,
                                     .unpadded_bytes = 90 * FF_MIB,
                                     .padded = "dimension 1: 3 of 128"};
    f->buffers[1] = (vp_plan_buffer){.instruction = "exp.2",
                                     .shape = "f32[8]",
                                     .scope = "jit(step)/attention/exp",
                                     .source = "model.py:12",
                                     .kind = VP_BUFFER_TEMP,
                                     .bytes = 10 * FF_MIB,
                                     .unpadded_bytes = 10 * FF_MIB};
    f->donations[0] = (vp_plan_donation){.parameter = "x.1",
                                         .output = "fusion",
                                         .output_scope = "jit(step)/update",
                                         .output_source = "train.py:7",
                                         .bytes = 1000};
    f->plans[0] = (vp_memory_plan){.host = "node0",
                                   .module = "jit_step",
                                   .ran = true,
                                   .replayed = true,
                                   .peak_bytes = 100 * FF_MIB,
                                   .reserved_bytes = 100 * FF_MIB,
                                   .temp_bytes = 10 * FF_MIB,
                                   .instructions = 100,
                                   .live = f->buffers,
                                   .live_count = 2,
                                   .donations = f->donations,
                                   .donation_count = 1};
    r->memory_static = f->plans;
    r->memory_static_count = 1;
    f->modules[0] = (vp_module){.name = "jit_step",
                                .runs = 20,
                                .total_ps = 1900 * MS,
                                .in_steps = FF_STEPS,
                                .in_steps_ps = 1900 * MS,
                                .ops = 10,
                                .op_calls = 20};
    r->module_count = 1;
    for (uint32_t d = 0; d < 2; d++)
        f->transfers[d] = (vp_transfer){.device = d,
                                        .direction = VP_H2D,
                                        .count = 10,
                                        .bytes = 1 << 20,
                                        .total_ps = 5 * MS,
                                        .busy_ps = 5 * MS,
                                        .exposed_ps = 5 * MS,
                                        .exposed_count = 10,
                                        .largest_start_ps = 100 * MS,
                                        .largest_dur_ps = MS};
    r->transfer_count = 2;
}

static inline void ff_init(ff *f)
{
    memset(f, 0, sizeof *f);
    vp_arena_init(&f->arena);
    f->r = (vp_report){.step = VP_UNKNOWN,
                       .session_id = "run",
                       .session_name = "run",
                       .session_kind = "kineto",
                       .captured_unix_ns = VP_UNKNOWN,
                       .base_unix_ns = VP_UNKNOWN,
                       .has_devices = true,
                       .end_ps = 1000 * MS,
                       .capture_ps = 2000 * MS,
                       .events = 5000,
                       .devices = f->devices,
                       .device_count = 2,
                       .owner_ = &f->arena};
    ff_device(&f->devices[0], "/device:GPU:0");
    ff_device(&f->devices[1], "/device:GPU:1");
    ff_ops(f);
    ff_steps(f);
    ff_lists(f);
    f->r.balance = (vp_balance){.devices = 2,
                                .max_ps = 940 * MS,
                                .mean_ps = 940 * MS,
                                .min_ps = 940 * MS,
                                .idlest = 1,
                                .aligned = true,
                                .matched = 10,
                                .straggler = 0,
                                .straggler_last = 4};
}

static inline void ff_free(ff *f)
{
    vp_arena_free(&f->arena);
}

static inline void ff_make(ff *f)
{
    assert_int_equal(findings_make(&f->r), 0);
}

static inline size_t ff_rules(void)
{
    size_t n = 0;
    while (findings_rules[n].id)
        n++;
    return n;
}

/* The row of the table; an unknown rule fails the test. */
static inline const finding_rule *ff_rule(const char *id)
{
    for (const finding_rule *rule = findings_rules; rule->id; rule++)
        if (!strcmp(rule->id, id))
            return rule;
    fail_msg("no rule %s", id);
    return NULL;
}

static inline const vp_finding *ff_find(const ff *f, const char *id)
{
    for (size_t i = 0; i < f->r.finding_count; i++)
        if (!strcmp(f->r.findings[i].id, id))
            return &f->r.findings[i];
    fail_msg("no rule %s", id);
    return NULL;
}

/* More idle time on a device, taken from its compute time; the window stays. */
static inline void ff_idle(ff *f, uint32_t device, vp_cause cause, int64_t ps)
{
    vp_device *d = &f->devices[device];
    d->breakdown.idle_ps += ps;
    d->breakdown.compute_ps -= ps;
    d->breakdown.busy_ps -= ps;
    d->cause_ps[cause] += ps;
}

#endif
