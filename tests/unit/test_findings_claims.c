/* Who may claim which time, in which order findings stand, and what partial data do to them. */
#include "findings_fixture.h"

#include "include/view_profile_status.h"

static void assert_explained(const ff *f, const char *id, const char *by)
{
    const vp_finding *got = ff_find(f, id);
    if (got->status != VP_EXPLAINED || got->explained_count != 1)
        fail_msg("%s: status %d, explained by %zu", id, got->status, got->explained_count);
    assert_string_equal(got->explained_by[0], by);
    assert_non_null(got->message);
}

static void assert_fired(const ff *f, const char *id, int64_t impact_ps, int64_t gross_ps)
{
    const vp_finding *got = ff_find(f, id);
    if (got->status != VP_FIRED || got->impact_ps != impact_ps || got->gross_ps != gross_ps)
        fail_msg("%s: status %d, %lld of %lld ps", id, got->status, (long long)got->impact_ps,
                 (long long)got->gross_ps);
}

/* 200 ms of input stalls: F14 takes them; of the 240 ms idle 40 are left, less than what is normal
 * (5 % of 1 s). */
static void test_idle_after_an_input_stall(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_INPUT, 200 * MS);
    ff_make(&f);
    assert_fired(&f, "F14", 200 * MS, 200 * MS);
    assert_explained(&f, "F1", "F14");
    assert_explained(&f, "F3", "F14"); /* late launches are 83 % of the idle time */
    assert_int_equal(ff_find(&f, "F1")->gross_ps, 190 * MS);
    assert_int_equal(ff_find(&f, "F1")->impact_ps, 0);
    ff_free(&f);
}

/* The same stall beside 300 ms that nobody explains: F1 keeps 240 + 300 - 200 - 50. */
static void test_idle_with_a_rest(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_INPUT, 200 * MS);
    ff_idle(&f, 0, VP_CAUSE_UNKNOWN, 300 * MS);
    ff_make(&f);
    assert_fired(&f, "F14", 200 * MS, 200 * MS);
    assert_fired(&f, "F1", 290 * MS, 490 * MS);
    assert_string_equal(f.r.findings[0].id, "F1");
    ff_free(&f);
}

static void test_launch_bound_takes_from_host_bound(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_HOST, 200 * MS);
    f.devices[0].launch.kernel_p50_ps = 4 * US;
    f.devices[0].launch.short_kernels = 900;
    ff_make(&f);
    assert_fired(&f, "F9", 200 * MS, 200 * MS);
    assert_explained(&f, "F3", "F9");
    assert_explained(&f, "F1", "F9");
    ff_free(&f);
}

/* GPU 1 waits 95 of its 100 ms exposed communication for GPU 0: what is left (5 ms) is 0.5 % and
 * stays F4's own on that device, but GPU 0, which nobody keeps waiting, has nothing over 5 %. */
static void test_communication_after_a_straggler(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    vp_breakdown *b = &f.devices[1].breakdown;
    b->compute_ps -= 85 * MS;
    b->exposed_comm_ps = 100 * MS;
    b->overlap_comm_ps = 0;
    f.collectives[0] = (vp_collective){.name = "all-reduce", .device = 1, .wait_ps = 97 * MS};
    f.r.collective_count = 1;
    f.r.balance.straggler_last = 10;
    f.r.balance.wait_ps = 97 * MS;
    ff_make(&f);
    assert_fired(&f, "F16", 97 * MS / 2, 97 * MS / 2);
    assert_explained(&f, "F4", "F16");
    assert_explained(&f, "F5", "F16");
    ff_free(&f);
}

/* Offload on a TPU: copy-done is 760 ms, 578 in and 182 out. F6 claims it by direction, F20 is what
 * it looks like. */
static void test_async_waits_after_transfers(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    f.devices[0].kind = VP_DEVICE_TPU;
    f.devices[0].breakdown.compute_ps -= 755 * MS;
    f.devices[0].breakdown.exposed_copy_ps = 760 * MS;
    f.devices[0].hygiene.async_done_ps = 760 * MS;
    f.ops[0].name = "copy-done";
    f.ops[0].op_class = VP_COPY;
    f.ops[0].self_ps = 760 * MS;
    f.transfers[0].exposed_ps = 578 * MS;
    f.transfers[2] = f.transfers[0];
    f.transfers[2].direction = VP_D2H;
    f.transfers[2].exposed_ps = 182 * MS;
    f.r.transfer_count = 3;
    ff_make(&f);
    assert_fired(&f, "F6", 760 * MS, 760 * MS);
    assert_string_equal(f.r.findings[0].id, "F6");
    assert_non_null(strstr(ff_find(&f, "F6")->message, "578.00 ms host→device"));
    assert_non_null(strstr(ff_find(&f, "F6")->message, "182.00 ms device→host"));
    assert_non_null(strstr(ff_find(&f, "F6")->message, "copy-done"));
    assert_explained(&f, "F20", "F6");
    assert_int_equal(ff_find(&f, "F17")->status, VP_CLEAR); /* a wait is no hot op */
    ff_free(&f);
}

/* Copies in and out at the same time: 80 and 60 ms exposed are 100 ms of the device's time. */
static void test_copies_in_both_directions(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    f.devices[0].breakdown.compute_ps -= 95 * MS;
    f.devices[0].breakdown.exposed_copy_ps = f.devices[0].breakdown.copy_ps = 100 * MS;
    f.transfers[0].exposed_ps = 80 * MS;
    f.transfers[2] = f.transfers[0];
    f.transfers[2].direction = VP_D2H;
    f.transfers[2].exposed_ps = 60 * MS;
    f.r.transfer_count = 3;
    ff_make(&f);
    assert_fired(&f, "F6", 100 * MS, 100 * MS);
    ff_free(&f);
}

/* Two rules want the 100 ms of exposed host-to-device copies: pageable memory comes first. */
static void test_transfers_after_pageable(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    f.devices[1].breakdown.compute_ps -= 95 * MS;
    f.devices[1].breakdown.exposed_copy_ps = 100 * MS;
    f.devices[1].breakdown.copy_ps = 100 * MS;
    f.transfers[1].exposed_ps = 100 * MS;
    f.transfers[1].pageable_count = 10;
    f.transfers[1].pageable_ps = 60 * MS;
    ff_make(&f);
    assert_fired(&f, "F7", 60 * MS, 60 * MS);
    assert_fired(&f, "F6", 40 * MS, 100 * MS);
    ff_free(&f);
}

/* 80 ms of input stalls, 40 of them in one gap of 100 ms: the other 60 ms are the gap's own. */
static void test_gap_keeps_what_is_not_claimed(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_INPUT, 80 * MS);
    ff_idle(&f, 0, VP_CAUSE_UNKNOWN, 60 * MS);
    f.gaps[0] = (vp_gap){.start_ps = 100 * MS, .dur_ps = 100 * MS};
    f.gaps[0].cause_ps[VP_CAUSE_INPUT] = 40 * MS;
    f.gaps[0].cause_ps[VP_CAUSE_UNKNOWN] = 60 * MS;
    f.r.gap_count = 1;
    f.devices[0].gap_count = 2;
    ff_make(&f);
    assert_fired(&f, "F14", 80 * MS, 80 * MS);
    assert_fired(&f, "F2", 60 * MS, 100 * MS);
    ff_free(&f);
}

/* Equal gaps are no long gaps, however long. */
static void test_usual_gaps_are_not_long(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_UNKNOWN, 100 * MS);
    for (int i = 0; i < 10; i++)
        f.gaps[i] = (vp_gap){.start_ps = i * 100 * MS, .dur_ps = 10 * MS};
    f.r.gap_count = 10;
    f.devices[0].gap_count = 10;
    ff_make(&f);
    assert_int_equal(ff_find(&f, "F2")->status, VP_CLEAR);
    ff_free(&f);
}

/* Step 6 is 100 ms longer because it compiles: the recompilation is the cause, the outlier not. */
static void test_slow_step_after_a_recompilation(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_COMPILE, 100 * MS);
    f.functions[0] = (vp_function){.host = "node0",
                                   .name = "step",
                                   .compiles = 2,
                                   .repeat_ps = 100 * MS,
                                   .late = 1,
                                   .late_ps = 100 * MS,
                                   .last_start_ps = 600 * MS};
    f.r.compile = (vp_compile){.count = 2,
                               .total_ps = 180 * MS,
                               .late = 1,
                               .late_ps = 100 * MS,
                               .functions = f.functions,
                               .function_count = 1};
    f.steps[6].dur_ps = 220 * MS;
    f.step_devices[6].dur_ps = 220 * MS;
    f.step_devices[6].breakdown.idle_ps += 100 * MS;
    f.step_devices[6].cause_ps[VP_CAUSE_COMPILE] = 100 * MS;
    f.step_devices[6].breakdown.compute_ps += 20 * MS;
    f.r.steps.max_ps = 220 * MS;
    ff_make(&f);
    assert_fired(&f, "F10", 100 * MS, 100 * MS);
    assert_fired(&f, "F12", 20 * MS, 120 * MS); /* the 20 ms of compute are its own */
    assert_true(ff_find(&f, "F10") < ff_find(&f, "F12"));
    ff_free(&f);
}

static void test_warm_up_is_low(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    f.steps[0].warm_up = true;
    f.steps[0].dur_ps = 400 * MS;
    f.step_devices[0].breakdown.compute_ps = 394 * MS;
    f.r.steps.counted = 9;
    ff_make(&f);
    assert_fired(&f, "F12", 300 * MS, 300 * MS);
    assert_int_equal(ff_find(&f, "F12")->severity, VP_LEVEL_LOW);
    assert_non_null(strstr(ff_find(&f, "F12")->title, "warm-up"));
    ff_free(&f);
}

/* Nothing is slower than steps that take no time at all. */
static void test_steps_without_length_have_no_outliers(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    f.steps[0].warm_up = true;
    f.steps[0].dur_ps = 400 * MS;
    f.r.steps.counted = 9;
    f.r.steps.median_ps = 0;
    ff_make(&f);
    assert_int_equal(ff_find(&f, "F12")->status, VP_NOT_EVALUATED);
    assert_int_equal(ff_find(&f, "F13")->status, VP_NOT_EVALUATED);
    ff_free(&f);
}

/* ---- Several devices and hosts ---- */

static void test_worst_device_speaks_for_all(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_UNKNOWN, 200 * MS);
    ff_idle(&f, 1, VP_CAUSE_UNKNOWN, 300 * MS);
    ff_make(&f);
    assert_fired(&f, "F1", 290 * MS, 290 * MS);
    assert_non_null(strstr(ff_find(&f, "F1")->message, "GPU:1 (worst of 2 devices)"));
    ff_free(&f);
}

/* Every fifth step of ten takes three times as long, and the report says so: that is the program.
 * Where it does not come regularly, it is an outlier. */
static void test_regular_steps_are_no_outliers(void **state)
{
    (void)state;
    for (int regular = 0; regular < 2; regular++) {
        ff f;
        ff_init(&f);
        for (int i = 4; i < 10; i += 5) {
            f.steps[i].dur_ps = 300 * MS;
            f.steps[i].step_class = VP_STEP_HEAVY;
            f.step_devices[i].breakdown.compute_ps = 294 * MS;
        }
        f.groups[0] = (vp_step_group){.step_class = VP_STEP_HEAVY,
                                      .count = 2,
                                      .median_ps = 300 * MS,
                                      .period = regular ? 5 : VP_UNKNOWN};
        f.r.steps.group_count = 1;
        f.r.steps.max_ps = 300 * MS;
        ff_make(&f);
        assert_int_equal(ff_find(&f, "F12")->status, regular ? VP_CLEAR : VP_FIRED);
        assert_true(regular == (ff_find(&f, "F12")->value < 2));
        ff_free(&f);
    }
}

/* ---- What most of a finding is ---- */

static const char *message_of(ff *f, const char *id)
{
    ff_make(f);
    return ff_find(f, id)->message;
}

/* 400 ms late, 390 of them while the host's profile shows nothing: the 10 ms that have a name are
 * no large part. */
static void test_most_has_no_label(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_HOST, 400 * MS);
    f.labels[0] = (vp_idle_label){0, VP_CAUSE_HOST, NULL, NULL, 90, 390 * MS};
    f.labels[1] = (vp_idle_label){0, VP_CAUSE_HOST, "ExecutorState::Process", "main", 3, 10 * MS};
    f.r.idle_label_count = 2;
    const char *says = message_of(&f, "F3");
    assert_non_null(
        strstr(says, "; most of it (390.00 ms) while nothing was recorded on the host"));
    assert_null(strstr(says, "ExecutorState"));
    ff_free(&f);
}

/* What a thread does directly in a step has no name, and neither has an event whose name is empty:
 * it is something, and known by its thread. */
static void test_most_has_no_name(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_HOST, 400 * MS);
    f.labels[0] = (vp_idle_label){0, VP_CAUSE_HOST, NULL, "2568503", 14, 390 * MS};
    f.labels[1] = (vp_idle_label){0, VP_CAUSE_HOST, "cudaEventQuery", "2568503", 3, 10 * MS};
    f.r.idle_label_count = 2;
    assert_non_null(strstr(message_of(&f, "F3"),
                           "; most of it in code without events (add annotations or use the Python "
                           "tracer) on thread 2568503 (390.00 ms"));
    ff_free(&f);
}

/* 700 ms of 800 are launched and not begun: no label is to blame for that. */
static void test_most_is_latency(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_LATENCY, 800 * MS);
    f.labels[0] = (vp_idle_label){0, VP_CAUSE_LATENCY, NULL, NULL, 6363, 700 * MS};
    f.labels[1] = (vp_idle_label){0, VP_CAUSE_HOST, "forward", "main", 78, 7 * MS};
    f.r.idle_label_count = 2;
    assert_non_null(strstr(message_of(&f, "F1"), "; most of it (700.00 ms) is latency"));
    ff_free(&f);
}

/* Of 500 ms late a blocking call has 300 (F8): what is said of the other 200 says so. */
static void test_parts_are_of_what_is_left(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_SYNC, 300 * MS);
    ff_idle(&f, 0, VP_CAUSE_HOST, 200 * MS);
    f.host_ops[1] = (vp_host_op){.host = "node0",
                                 .thread = "main",
                                 .name = "cudaFree",
                                 .blocking = true,
                                 .calls = 15,
                                 .idle_ps = 350 * MS,
                                 .blocked_ps = 300 * MS};
    f.r.host_op_count = 2;
    f.labels[0] = (vp_idle_label){0, VP_CAUSE_SYNC, "cudaFree", "main", 3, 300 * MS};
    f.labels[1] = (vp_idle_label){0, VP_CAUSE_HOST, "[param|cuda]", "main", 53, 150 * MS};
    f.r.idle_label_count = 2;
    assert_non_null(strstr(message_of(&f, "F3"),
                           "; of 200.00 ms not claimed by findings above, most in [param|cuda]"));
    assert_non_null(strstr(ff_find(&f, "F8")->message, "(300.00 ms of 1.00 s)"));
    assert_non_null(strstr(ff_find(&f, "F8")->message, "cudaFree (15 calls, 300.00 ms)"));
    ff_free(&f);
}

/* Where next to nothing is left of what a rule speaks of, it speaks of the whole: of 740 ms idle
 * 700 are latency, and a long gap (F2) has them. */
static void test_crumbs_are_no_large_part(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_LATENCY, 660 * MS);
    ff_idle(&f, 0, VP_CAUSE_HOST, 40 * MS);
    f.gaps[0] = (vp_gap){.device = 0, .start_ps = 10 * MS, .dur_ps = 400 * MS};
    f.gaps[0].cause_ps[VP_CAUSE_LATENCY] = 400 * MS;
    f.r.gap_count = 1;
    f.devices[0].gap_count = 1;
    f.labels[0] = (vp_idle_label){0, VP_CAUSE_LATENCY, NULL, NULL, 6363, 700 * MS};
    f.labels[1] = (vp_idle_label){0, VP_CAUSE_HOST, "sparse_data_dist", "main", 78, 40 * MS};
    f.r.idle_label_count = 2;
    const char *says = message_of(&f, "F1");
    assert_int_equal(ff_find(&f, "F2")->status, VP_FIRED);
    assert_non_null(strstr(says, "; most of it (700.00 ms) is latency"));
    assert_null(strstr(says, "sparse_data_dist"));
    ff_free(&f);
}

/* The device idles for 100 ms that a wait may cause: of a wait of 250 ms beside it no part is
 * named that exceeds them. */
static void test_wait_beside_other_causes(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_SYNC, 100 * MS);
    f.host_ops[1] = (vp_host_op){.host = "node0",
                                 .thread = "main",
                                 .name = "cudaFree",
                                 .blocking = true,
                                 .calls = 15,
                                 .blocked_ps = 250 * MS};
    f.r.host_op_count = 2;
    assert_non_null(strstr(message_of(&f, "F8"), "cudaFree (15 calls)."));
    ff_free(&f);
}

/* 300 ms in one direction and 170 in the other within 310 ms of the device: they overlap. */
static void test_both_directions_at_once(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    f.devices[0].breakdown.compute_ps -= 305 * MS;
    f.devices[0].breakdown.exposed_copy_ps += 305 * MS;
    f.devices[0].breakdown.copy_ps += 305 * MS;
    f.transfers[0].exposed_ps = 300 * MS;
    f.transfers[f.r.transfer_count] = f.transfers[0];
    f.transfers[f.r.transfer_count].direction = VP_D2H;
    f.transfers[f.r.transfer_count++].exposed_ps = 170 * MS;
    assert_non_null(strstr(message_of(&f, "F6"), "(310.00 ms of 1.00 s) for copies"));
    assert_non_null(strstr(ff_find(&f, "F6")->message, ", partly at the same time."));
    ff_free(&f);
}

/* One function is named, and what it shares with the others is no longer said to be its own. */
static void test_functions_compile_together(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    for (int i = 0; i < 2; i++)
        f.functions[i] = (vp_function){.host = "node0",
                                       .name = i ? "other" : "changing_shape",
                                       .compiles = 3,
                                       .late = 3,
                                       .late_ps = i ? 50 * MS : 100 * MS,
                                       .total_ps = 100 * MS};
    f.r.compile = (vp_compile){.count = 6,
                               .total_ps = 200 * MS,
                               .late = 6,
                               .late_ps = 150 * MS,
                               .functions = f.functions,
                               .function_count = 2};
    assert_string_equal(
        message_of(&f, "F10"),
        "changing_shape is compiled 3 times (3 after execution started); with 1 other function: "
        "150.00 ms of avoidable compilation, 7.50% of the capture (2.00 s).");
    ff_free(&f);
}

/* Two hosts compile at the same time: 100 ms each are not 200. */
static void test_hosts_compile_at_the_same_time(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    f.hosts[1] = "node1";
    f.r.host_count = 2;
    f.devices[1].host = "node1";
    for (int i = 0; i < 2; i++)
        f.functions[i] = (vp_function){.host = f.hosts[i],
                                       .name = "step",
                                       .compiles = 2,
                                       .repeat_ps = 100 * MS,
                                       .last_start_ps = 0};
    f.r.compile = (vp_compile){
        .count = 4, .total_ps = 400 * MS, .functions = f.functions, .function_count = 2};
    ff_make(&f);
    assert_fired(&f, "F10", 100 * MS, 100 * MS);
    assert_int_equal(ff_find(&f, "F10")->where_count, 1);
    assert_string_equal(ff_find(&f, "F10")->where[0].host, "node0");
    ff_free(&f);
}

/* ---- Rank, severity, doubt ---- */

static void test_rank(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_INPUT, 50 * MS + 1); /* medium */
    ff_idle(&f, 1, VP_CAUSE_UNKNOWN, 300 * MS);  /* high */
    f.ops[3].self_ps = 300 * MS;                 /* low, without an impact */
    f.r.memory_count = 0;                        /* not evaluated */
    f.quality[0] =
        (vp_quality){"clock-skew", VP_SEV_WARNING, "clocks disagree", NULL, -1, -1, false};
    f.r.quality_count = 1;
    ff_make(&f);
    static const char *const order[] = {"F23", "F1", "F14", "F17"};
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(f.r.findings[i].id, order[i]);
    static const int rank[] = {
        [VP_FIRED] = 0, [VP_EXPLAINED] = 1, [VP_NOT_EVALUATED] = 2, [VP_CLEAR] = 3};
    for (size_t i = 1; i < f.r.finding_count; i++)
        assert_true(rank[f.r.findings[i - 1].status] <= rank[f.r.findings[i].status]);
    assert_int_equal(ff_find(&f, "F23")->severity, VP_LEVEL_MEDIUM);
    ff_free(&f);
}

/* high from 10 %, medium from 3 %, low from 0.5 %, exactly; below, clear. */
static void test_levels(void **state)
{
    (void)state;
    static const struct {
        int64_t late_ps;
        vp_finding_status status;
        vp_level level;
    } rows[] = {{200 * MS, VP_FIRED, VP_LEVEL_HIGH},  {200 * MS - 1, VP_FIRED, VP_LEVEL_MEDIUM},
                {60 * MS, VP_FIRED, VP_LEVEL_MEDIUM}, {60 * MS - 1, VP_FIRED, VP_LEVEL_LOW},
                {10 * MS, VP_FIRED, VP_LEVEL_LOW},    {10 * MS - 1, VP_CLEAR, VP_LEVEL_LOW}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) { /* of a capture of 2 s */
        ff f;
        ff_init(&f);
        f.r.compile.count = f.r.compile.late = 1;
        f.r.compile.total_ps = f.r.compile.late_ps = rows[i].late_ps;
        ff_make(&f);
        assert_int_equal(ff_find(&f, "F10")->status, rows[i].status);
        assert_int_equal(ff_find(&f, "F10")->severity, rows[i].level);
        ff_free(&f);
    }
}

static void test_partial_data_lower_the_severity(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 1, VP_CAUSE_UNKNOWN, 300 * MS);
    f.quality[0] = (vp_quality){"capped", VP_SEV_WARNING, "1,000,000 events", NULL, -1, -1, true};
    f.r.quality_count = 1;
    f.r.partial = true;
    ff_make(&f);
    assert_string_equal(f.r.findings[0].id, "F23");
    assert_int_equal(f.r.findings[0].severity, VP_LEVEL_HIGH);
    assert_string_equal(f.r.findings[1].id, "F1");
    assert_int_equal(f.r.findings[1].severity, VP_LEVEL_MEDIUM);
    bool said = false;
    for (size_t i = 0; i < f.r.findings[1].caveat_count; i++)
        said = said || strstr(f.r.findings[1].caveats[i], "incomplete");
    assert_true(said);
    ff_free(&f);
}

/* ---- Invariants ---- */

static uint64_t random_bits(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

static int64_t some(uint64_t *seed, int64_t most)
{
    return most > 0 ? (int64_t)(random_bits(seed) % (uint64_t)(most + 1)) : 0;
}

static void random_device(ff *f, uint64_t *seed)
{
    vp_device *d = &f->devices[0];
    vp_breakdown *b = &d->breakdown;
    int64_t left = 1000 * MS;
    left -= b->idle_ps = some(seed, left);
    left -= b->exposed_comm_ps = some(seed, left);
    left -= b->exposed_copy_ps = some(seed, left);
    b->compute_ps = left;
    b->busy_ps = 1000 * MS - b->idle_ps;
    b->comm_ps = b->exposed_comm_ps + some(seed, b->compute_ps);
    b->overlap_comm_ps = b->comm_ps - b->exposed_comm_ps;
    d->self_ps = b->busy_ps + some(seed, b->busy_ps);
    memset(d->cause_ps, 0, sizeof d->cause_ps);
    int64_t idle = b->idle_ps;
    for (int k = 0; k + 1 < VP_CAUSES; k++)
        idle -= d->cause_ps[k] = some(seed, idle);
    d->cause_ps[VP_CAUSE_UNKNOWN] = idle;
    d->hygiene.formatting_ps = some(seed, d->self_ps);
    d->hygiene.async_done_ps = some(seed, d->self_ps);
    d->hygiene.callback_ps = some(seed, b->compute_ps);
    d->launch.kernel_p50_ps = some(seed, 20 * US);
    d->launch.short_kernels = some(seed, 1000);
    f->transfers[0].exposed_ps = some(seed, b->exposed_copy_ps);
    f->transfers[0].pageable_ps = some(seed, f->transfers[0].exposed_ps);
    f->transfers[0].pageable_count = 1;
}

/* Whatever the figures: what findings on one device claim never adds up to more than its window,
 * no share is above one, and what is explained names who did it, above it. */
static void test_claims_never_exceed_the_window(void **state)
{
    (void)state;
    uint64_t seed = 42;
    for (int round = 0; round < 3000; round++) {
        ff f;
        ff_init(&f);
        f.r.device_count = 1;
        f.r.op_count = f.r.transfer_count = 1;
        f.r.balance = (vp_balance){.devices = 1, .straggler = VP_NO_DEVICE};
        random_device(&f, &seed);
        ff_make(&f);
        int64_t claimed = 0;
        for (size_t i = 0; i < f.r.finding_count; i++) {
            const vp_finding *got = &f.r.findings[i];
            if (got->impact_ps > 0) {
                assert_true(got->impact_ps <= got->gross_ps);
                assert_true(got->impact_ps <= got->window_ps);
                claimed += got->status == VP_FIRED ? got->impact_ps : 0;
            }
            if (got->status != VP_EXPLAINED)
                continue;
            assert_true(got->explained_count > 0);
            for (size_t k = 0; k < got->explained_count; k++)
                assert_int_equal(ff_find(&f, got->explained_by[k])->status, VP_FIRED);
        }
        assert_true(claimed <= 1000 * MS);
        ff_free(&f);
    }
}

static void test_twice_is_once(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_INPUT, 200 * MS);
    ff_make(&f);
    const char *first = f.r.findings[0].message;
    ff_make(&f);
    assert_int_equal(f.r.finding_count, ff_rules());
    assert_string_equal(f.r.findings[0].message, first);
    ff_free(&f);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    ff f;
    ff_init(&f);
    ff_idle(&f, 0, VP_CAUSE_INPUT, 200 * MS);
    int failures = 0, rc;
    do {
        vp_arena_free(&f.arena);
        vp_arena_init(&f.arena);
        vp_mem_fail_at((uint64_t)failures + 1, true);
        rc = findings_make(&f.r);
        vp_mem_fail_at(0, false);
        if (rc < 0) {
            assert_int_equal(rc, VP_ENOMEM);
            assert_null(f.r.findings);
            failures++;
        }
    } while (rc < 0);
    assert_true(failures >= 2); /* the report's arena and the scratch one */
    ff_free(&f);
}

/* ---- Gates ---- */

static void test_words_of_fail_on(void **state)
{
    (void)state;
    vp_finding f = {.id = "F14", .name = "input-bound", .severity = VP_LEVEL_MEDIUM};
    assert_true(findings_word_matches(&f, "low"));
    assert_true(findings_word_matches(&f, "Medium"));
    assert_false(findings_word_matches(&f, "high"));
    assert_true(findings_word_matches(&f, "f14"));
    assert_false(findings_word_matches(&f, "F1"));
    assert_true(findings_word_matches(&f, "input-bound"));
    assert_true(findings_word_known("device-idle") && findings_word_known("F24"));
    char none[16];
    snprintf(none, sizeof none, "F%zu", ff_rules() + 1); /* ids count from 1 */
    assert_false(findings_word_known(none) || findings_word_known("") ||
                 findings_word_known("highest"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_idle_after_an_input_stall),
                                       cmocka_unit_test(test_idle_with_a_rest),
                                       cmocka_unit_test(test_launch_bound_takes_from_host_bound),
                                       cmocka_unit_test(test_communication_after_a_straggler),
                                       cmocka_unit_test(test_async_waits_after_transfers),
                                       cmocka_unit_test(test_copies_in_both_directions),
                                       cmocka_unit_test(test_transfers_after_pageable),
                                       cmocka_unit_test(test_gap_keeps_what_is_not_claimed),
                                       cmocka_unit_test(test_usual_gaps_are_not_long),
                                       cmocka_unit_test(test_slow_step_after_a_recompilation),
                                       cmocka_unit_test(test_warm_up_is_low),
                                       cmocka_unit_test(test_steps_without_length_have_no_outliers),
                                       cmocka_unit_test(test_regular_steps_are_no_outliers),
                                       cmocka_unit_test(test_functions_compile_together),
                                       cmocka_unit_test(test_most_has_no_label),
                                       cmocka_unit_test(test_most_has_no_name),
                                       cmocka_unit_test(test_most_is_latency),
                                       cmocka_unit_test(test_parts_are_of_what_is_left),
                                       cmocka_unit_test(test_crumbs_are_no_large_part),
                                       cmocka_unit_test(test_wait_beside_other_causes),
                                       cmocka_unit_test(test_both_directions_at_once),
                                       cmocka_unit_test(test_worst_device_speaks_for_all),
                                       cmocka_unit_test(test_hosts_compile_at_the_same_time),
                                       cmocka_unit_test(test_rank),
                                       cmocka_unit_test(test_levels),
                                       cmocka_unit_test(test_partial_data_lower_the_severity),
                                       cmocka_unit_test(test_claims_never_exceed_the_window),
                                       cmocka_unit_test(test_twice_is_once),
                                       cmocka_unit_test(test_out_of_memory),
                                       cmocka_unit_test(test_words_of_fail_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
