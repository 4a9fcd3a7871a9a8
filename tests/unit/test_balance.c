/* trace/analyze/balance over reports made by hand: figures of
 * docs/reference/metrics.md#devices-and-stragglers, clocks that disagree, calls that cannot be
 * matched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/analyze/merge/balance.h"

#define CALLS 8
#define DEVICES 4

/* A report of `n` devices, each with one row of `calls` all-reduces. */
typedef struct rig {
    vp_report r;
    vp_device devices[DEVICES];
    vp_collective rows[DEVICES];
    int64_t start[DEVICES][CALLS], dur[DEVICES][CALLS], exposed[DEVICES][CALLS];
    vp_op ops[DEVICES];
} rig;

static void make(rig *g, size_t n, int64_t calls)
{
    memset(g, 0, sizeof *g);
    g->r = (vp_report){.step = VP_UNKNOWN,
                       .has_devices = true,
                       .depth = VP_DEPTH_FULL,
                       .devices = g->devices,
                       .device_count = n,
                       .collectives = g->rows,
                       .collective_count = n,
                       .ops = g->ops,
                       .op_count = n};
    for (size_t d = 0; d < n; d++) {
        g->devices[d] =
            (vp_device){.kind = VP_DEVICE_GPU, .host = "h0", .breakdown = {.compute_ps = 100}};
        g->ops[d] = (vp_op){.device = (uint32_t)d, .self_ps = 100, .module = "jit_step"};
        g->rows[d] = (vp_collective){.device = (uint32_t)d,
                                     .kind = "all-reduce",
                                     .name = "all-reduce",
                                     .group_size = VP_UNKNOWN,
                                     .count = calls,
                                     .sample_start_ps = g->start[d],
                                     .sample_dur_ps = g->dur[d],
                                     .sample_exposed_ps = g->exposed[d],
                                     .sample_count = (size_t)calls,
                                     .sample_stride = 1};
    }
}

static void call(rig *g, size_t device, size_t i, int64_t start, int64_t end)
{
    g->start[device][i] = start;
    g->dur[device][i] = end - start;
}

static const vp_balance *balance(rig *g)
{
    assert_int_equal(balance_make(&g->r), 0);
    return &g->r.balance;
}

/* A8: [55, 40] → mean 47, max/mean − 1 = 15.79 %; starts 20 and 28, both end at 50: device 0
 * waits 8 for device 1. */
static void the_example_of_a8(void **state)
{
    rig g;
    (void)state;
    make(&g, 2, 1);
    g.devices[0].breakdown.compute_ps = 55;
    g.devices[1].breakdown.compute_ps = 40;
    call(&g, 0, 0, 20, 50);
    call(&g, 1, 0, 28, 50);
    const vp_balance *b = balance(&g);
    assert_int_equal(b->devices, 2);
    assert_int_equal(b->max_ps, 55);
    assert_int_equal(b->min_ps, 40);
    assert_int_equal(b->mean_ps, 47);
    assert_int_equal(b->busiest, 0);
    assert_int_equal(b->idlest, 1);
    assert_true(b->aligned);
    assert_int_equal(b->matched, 1);
    assert_int_equal(b->wait_ps, 8);
    assert_int_equal(g.rows[0].wait_ps, 8);
    assert_int_equal(g.rows[1].wait_ps, 0);
    assert_int_equal(b->straggler, 1);
    assert_int_equal(b->straggler_last, 1);
    assert_null(b->straggler_host);
}

/* Of the wait of 8 only what nothing covers, and never more than the device's exposed
 * communication; a report that does not say how much a call is exposed has waits all the same. */
static void the_exposed_part_of_waits(void **state)
{
    rig g;
    (void)state;
    make(&g, 3, 2);
    g.rows[2].name = "alone";
    for (size_t d = 0; d < 2; d++) {
        call(&g, d, 0, d ? 28 : 20, 50);
        call(&g, d, 1, d ? 60 : 64, 70);
        g.devices[d].breakdown.exposed_comm_ps = 100;
    }
    call(&g, 2, 0, 20, 50);
    call(&g, 2, 1, 60, 70);
    g.exposed[0][0] = 5; /* of 30 */
    g.exposed[1][1] = 10;
    balance(&g);
    assert_int_equal(g.rows[0].wait_ps, 8);
    assert_int_equal(g.devices[0].exposed_wait_ps, 5);
    assert_int_equal(g.devices[1].exposed_wait_ps, 4);
    assert_int_equal(g.devices[2].exposed_wait_ps, VP_UNKNOWN);
    g.devices[0].breakdown.exposed_comm_ps = 3;
    g.rows[1].sample_exposed_ps = NULL;
    balance(&g);
    assert_int_equal(g.devices[0].exposed_wait_ps, 3);
    assert_int_equal(g.devices[1].exposed_wait_ps, 0);
    assert_int_equal(g.rows[1].wait_ps, 4);
}

/* Two steps, of which device 1's parts begin later than the steps themselves: each has the waits
 * that begin in it, and never more than it has of exposed communication. */
static void waits_are_those_of_steps(void **state)
{
    rig g;
    vp_step_device of[2][2] = {
        {{.device = 0, .start_ps = 0, .dur_ps = 100}, {.device = 1, .start_ps = 10, .dur_ps = 100}},
        {{.device = 0, .start_ps = 100, .dur_ps = 100},
         {.device = 1, .start_ps = 110, .dur_ps = 100}}};
    vp_step steps[2];
    (void)state;
    make(&g, 3, 3);
    memset(steps, 0, sizeof steps);
    g.rows[2].name = "alone";
    for (size_t s = 0; s < 2; s++) {
        steps[s] = (vp_step){
            .start_ps = 100 * (int64_t)s, .dur_ps = 100, .devices = of[s], .device_count = 2};
        for (size_t d = 0; d < 2; d++)
            of[s][d].breakdown.exposed_comm_ps = 7;
    }
    g.r.steps.list = steps;
    g.r.steps.count = 2;
    for (size_t d = 0; d < 3; d++) {
        g.devices[d].breakdown.exposed_comm_ps = 100;
        call(&g, d, 0, d ? 25 : 20, 50);    /* device 0 waits 5 in its first step */
        call(&g, d, 1, d ? 105 : 108, 150); /* device 1 waits 3, still in its first */
        call(&g, d, 2, d ? 160 : 190, 199); /* and 30 in its second, which has 7 */
        for (size_t i = 0; i < 3; i++)
            g.exposed[d][i] = 30;
    }
    balance(&g);
    assert_int_equal(of[0][0].exposed_wait_ps, 5);
    assert_int_equal(of[1][0].exposed_wait_ps, 0);
    assert_int_equal(of[0][1].exposed_wait_ps, 3);
    assert_int_equal(of[1][1].exposed_wait_ps, 7);
    assert_int_equal(g.devices[1].exposed_wait_ps, 33);
    of[1][1].device = 2; /* which is in no call of several */
    of[0][1].device = 9; /* and none at all */
    balance(&g);
    assert_int_equal(of[1][1].exposed_wait_ps, VP_UNKNOWN);
    assert_int_equal(of[0][1].exposed_wait_ps, VP_UNKNOWN);
}

/* Host 1's clock is 1,000,000 ahead; its devices are late by 5 in three of four calls. */
static void clocks_are_aligned_by_ends(void **state)
{
    rig g;
    (void)state;
    make(&g, 4, 4);
    for (size_t d = 0; d < 4; d++) {
        int64_t ahead = d < 2 ? 0 : 1000000;
        g.devices[d].host = d < 2 ? "h0" : "h1";
        for (size_t i = 0; i < 4; i++) {
            int64_t late = d == 3 && i < 3 ? 5 : d == 0 && i == 3 ? 7 : 0;
            call(&g, d, i, ahead + (int64_t)i * 100 + late, ahead + (int64_t)i * 100 + 50);
        }
    }
    const vp_balance *b = balance(&g);
    assert_true(b->aligned);
    assert_int_equal(b->matched, 4);
    assert_int_equal(b->wait_ps, 5 * 3 + 7);
    assert_int_equal(b->straggler, 3);
    assert_int_equal(b->straggler_last, 3);
    assert_string_equal(b->straggler_host, "h1");
    assert_int_equal(b->straggler_host_last, 3);
    assert_int_equal(g.rows[1].wait_ps, 22);
    assert_int_equal(g.rows[0].wait_ps, 15);
}

/* Without a common collective nothing is said across hosts, but within one it is. */
static void hosts_without_a_common_call_are_not_compared(void **state)
{
    rig g;
    (void)state;
    make(&g, 4, 2);
    for (size_t d = 0; d < 4; d++) {
        g.devices[d].host = d < 2 ? "h0" : "h1";
        g.rows[d].name = d < 2 ? "all-reduce" : "all-reduce.b";
        for (size_t i = 0; i < 2; i++)
            call(&g, d, i, (int64_t)i * 100 + (d == 1 ? 4 : 0), (int64_t)i * 100 + 20);
    }
    const vp_balance *b = balance(&g);
    assert_false(b->aligned);
    assert_int_equal(b->matched, 4);
    assert_int_equal(b->wait_ps, 8);
    assert_int_equal(b->straggler, 1);
    assert_null(b->straggler_host);
}

/* TPU: starts on the aligned clock jump, but calls end together: who is shortest came last. */
static void own_clocks_compare_lengths(void **state)
{
    rig g;
    (void)state;
    make(&g, 2, 2);
    for (size_t d = 0; d < 2; d++) {
        g.devices[d].own_clock = true;
        g.devices[d].kind = VP_DEVICE_TPU;
        for (size_t i = 0; i < 2; i++)
            call(&g, d, i, (int64_t)(d * 5000 + i * 70),
                 (int64_t)(d * 5000 + i * 70 + (d ? 9 : 2)));
    }
    const vp_balance *b = balance(&g);
    assert_int_equal(b->matched, 2);
    assert_int_equal(b->straggler, 0);
    assert_int_equal(b->straggler_last, 2);
    assert_int_equal(g.rows[1].wait_ps, 14);
    assert_int_equal(b->wait_ps, 14);
}

/* Nobody leaves before the last one came: calls that do not overlap are not the same. Neither are
 * those of a part of the group, nor those of another order of magnitude of participants. */
static void what_is_no_common_call_is_not_matched(void **state)
{
    rig g;
    (void)state;
    make(&g, 2, 2);
    call(&g, 0, 0, 0, 10);
    call(&g, 1, 0, 11, 20);
    call(&g, 0, 1, 100, 110);
    call(&g, 1, 1, 101, 110);
    assert_int_equal(balance(&g)->matched, 1);
    assert_int_equal(g.r.balance.wait_ps, 1);
    for (size_t d = 0; d < 2; d++)
        g.rows[d].group_size = 8;
    const vp_balance *b = balance(&g);
    assert_int_equal(b->matched, 0);
    assert_int_equal(b->wait_ps, VP_UNKNOWN);
    assert_int_equal(b->straggler, VP_NO_DEVICE);
    assert_int_equal(g.rows[0].wait_ps, VP_UNKNOWN);
}

/* Devices 0 and 2, 1 and 3 reduce among themselves: nobody waits for the other pair, although its
 * calls come later and have the same name. */
static void pairs_wait_among_themselves(void **state)
{
    rig g;
    (void)state;
    make(&g, 4, 2);
    for (size_t d = 0; d < 4; d++) {
        g.rows[d].group_size = 2;
        g.rows[d].groups = 2;
        g.rows[d].members = d % 2 ? "1,3" : "0,2";
        for (size_t i = 0; i < 2; i++)
            call(&g, d, i,
                 (int64_t)(i * 1000 + d % 2 * 500 +
                           (d == 2   ? 4
                            : d == 3 ? 1
                                     : 0)),
                 (int64_t)(i * 1000 + d % 2 * 500 + 20));
    }
    const vp_balance *b = balance(&g);
    assert_int_equal(b->matched, 4);
    assert_int_equal(g.rows[0].wait_ps, 8);
    assert_int_equal(g.rows[1].wait_ps, 2);
    assert_int_equal(g.rows[2].wait_ps, 0);
    assert_int_equal(g.rows[3].wait_ps, 0);
    assert_int_equal(b->wait_ps, 10);
    assert_int_equal(b->straggler, 2); /* the first of two that were last twice */
    g.rows[3].count = 1;               /* as if its second call was not recorded */
    g.rows[3].sample_count = 1;
    assert_int_equal(balance(&g)->matched, 3);
}

/* Two rows of groups of two are not one group: that is known where members are, or where there is
 * only one group. */
static void one_group_of_several_needs_members(void **state)
{
    rig g;
    (void)state;
    make(&g, 2, 1);
    for (size_t d = 0; d < 2; d++) {
        g.rows[d].group_size = 2;
        g.rows[d].groups = 4;
        call(&g, d, 0, (int64_t)d * 3, 20);
    }
    assert_int_equal(balance(&g)->matched, 0);
    assert_int_equal(g.rows[0].wait_ps, VP_UNKNOWN);
    g.rows[0].groups = g.rows[1].groups = 1;
    assert_int_equal(balance(&g)->matched, 1);
    g.rows[0].members = "0,4"; /* their partners are on another host */
    g.rows[1].members = "1,5";
    assert_int_equal(balance(&g)->matched, 0);
    g.rows[1].members = "0,4";
    assert_int_equal(balance(&g)->matched, 1);
    assert_int_equal(g.rows[0].wait_ps, 3);
}

/* 7 calls on one device at stride 2, 8 at stride 1 on the other: calls 0, 2, 4 and 6 are compared,
 * and stand for 2 + 2 + 2 + 1. */
static void samples_stand_for_their_stride(void **state)
{
    rig g;
    (void)state;
    make(&g, 2, 8);
    g.rows[0].count = 7;
    g.rows[0].sample_stride = 2;
    g.rows[0].sample_count = 4;
    for (size_t i = 0; i < 8; i++)
        call(&g, 1, i, (int64_t)i * 100 + 3, (int64_t)i * 100 + 20);
    for (size_t i = 0; i < 4; i++)
        call(&g, 0, i, (int64_t)i * 200, (int64_t)i * 200 + 20);
    const vp_balance *b = balance(&g);
    assert_int_equal(b->matched, 7);
    assert_int_equal(b->wait_ps, 21);
    assert_int_equal(b->straggler_last, 7);
}

static void all_at_once_has_no_straggler(void **state)
{
    rig g;
    (void)state;
    make(&g, 3, 2);
    for (size_t d = 0; d < 3; d++)
        for (size_t i = 0; i < 2; i++)
            call(&g, d, i, (int64_t)i * 100, (int64_t)i * 100 + 20 + (int64_t)d);
    const vp_balance *b = balance(&g);
    assert_int_equal(b->matched, 2);
    assert_int_equal(b->wait_ps, 0);
    assert_int_equal(b->straggler, VP_NO_DEVICE);
}

/* A device that runs something else, or nothing, is not compared. */
static void only_peers_are_compared(void **state)
{
    rig g;
    (void)state;
    make(&g, 4, 1);
    g.ops[1].module = "jit_other";
    g.devices[1].breakdown.compute_ps = 1;
    g.devices[2].breakdown.compute_ps = 0;
    g.devices[3].breakdown.compute_ps = 80;
    const vp_balance *b = balance(&g);
    assert_int_equal(b->devices, 2);
    assert_int_equal(b->max_ps, 100);
    assert_int_equal(b->min_ps, 80);
    assert_int_equal(b->idlest, 3);
    g.devices[3].breakdown.compute_ps = 0;
    g.r.device_count = 1;
    b = balance(&g);
    assert_int_equal(b->devices, 1);
    assert_int_equal(b->max_ps, VP_UNKNOWN);
    assert_int_equal(b->busiest, VP_NO_DEVICE);
}

/* What a program recorded as its devices is compared; a part of a TPU beside TPUs is not. */
static void devices_of_other_kinds(void **state)
{
    rig g;
    (void)state;
    make(&g, 3, 1);
    for (size_t d = 0; d < 3; d++)
        g.devices[d].kind = VP_DEVICE_OTHER;
    g.devices[2].breakdown.compute_ps = 400;
    const vp_balance *b = balance(&g);
    assert_int_equal(b->devices, 3);
    assert_int_equal(b->busiest, 2);
    assert_int_equal(b->mean_ps, 200);
    g.devices[0].kind = VP_DEVICE_TPU;
    b = balance(&g);
    assert_int_equal(b->devices, 1);
    assert_int_equal(b->busiest, VP_NO_DEVICE);
}

/* A report that was read back may claim anything. */
static void wild_figures_do_no_harm(void **state)
{
    rig g;
    (void)state;
    make(&g, 3, 2);
    g.rows[0].device = 77;
    g.rows[1].count = INT64_MAX;
    g.start[2][0] = INT64_MAX;
    g.dur[2][1] = INT64_MIN;
    g.ops[0].device = 900;
    assert_int_equal(balance(&g)->matched, 0);
    make(&g, 2, 2);
    g.rows[0].count = g.rows[1].count = (INT64_C(1) << 32) - 17;
    g.rows[0].sample_stride = g.rows[1].sample_stride = INT64_C(1) << 31;
    call(&g, 0, 0, -(INT64_C(1) << 59), INT64_C(1) << 58);
    call(&g, 1, 0, INT64_C(1) << 57, INT64_C(1) << 58);
    assert_int_equal(balance(&g)->wait_ps, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_a8),
        cmocka_unit_test(the_exposed_part_of_waits),
        cmocka_unit_test(waits_are_those_of_steps),
        cmocka_unit_test(clocks_are_aligned_by_ends),
        cmocka_unit_test(hosts_without_a_common_call_are_not_compared),
        cmocka_unit_test(own_clocks_compare_lengths),
        cmocka_unit_test(what_is_no_common_call_is_not_matched),
        cmocka_unit_test(pairs_wait_among_themselves),
        cmocka_unit_test(one_group_of_several_needs_members),
        cmocka_unit_test(samples_stand_for_their_stride),
        cmocka_unit_test(all_at_once_has_no_straggler),
        cmocka_unit_test(only_peers_are_compared),
        cmocka_unit_test(devices_of_other_kinds),
        cmocka_unit_test(wild_figures_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
