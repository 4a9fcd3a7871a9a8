/* Where a time of a device's own clock lies on the host's: exactly, in whole numbers, and in the
 * order in which the device says it. */
#include <pthread.h>

#include "tests/unit/capture_tools.h"
#include "trace/capture/pool/clock.h"
#include "trace/capture/pool/device_clock.h"

#define HOST_HZ UINT64_C(3000000000)

static device_clock fresh(double hz)
{
    return (device_clock){.hz_q20 = (uint64_t)(hz * 1048576)};
}

static void add(device_clock *c, uint64_t device, uint64_t host)
{
    assert_int_equal(device_clock_add_pair(c, (device_pair){device, host}), 0);
}

static uint64_t at(const device_clock *c, uint64_t device)
{
    uint64_t host = 0;
    assert_int_equal(device_clock_at(&host, c, device, HOST_HZ), 0);
    return host;
}

static void one_pair_and_the_rate_as_given(void **state)
{
    (void)state;
    device_clock c = fresh(1e9); /* three of the host's ticks each */
    uint64_t host;
    assert_int_equal(device_clock_at(&host, &c, 5, HOST_HZ), VP_ECLOCK);
    add(&c, 1000, 500000);
    assert_int_equal(at(&c, 1000), 500000);
    assert_int_equal(at(&c, 1001), 500003);
    assert_int_equal(at(&c, 999), 499997);
    assert_int_equal(at(&c, 1000 + 3600 * UINT64_C(1000000000)), 500000 + 3600 * HOST_HZ);
    /* before the host's own time 0, and farther than it can count */
    add(&c, 1000, 500000);
    assert_int_equal(c.count, 1);
    device_clock early = fresh(1e9);
    add(&early, UINT64_C(1) << 40, 1000);
    assert_int_equal(device_clock_at(&host, &early, 0, HOST_HZ), VP_ECLOCK);
    assert_int_equal(device_clock_at(&host, &early, UINT64_MAX, HOST_HZ), VP_ECLOCK);
}

static void between_pairs_on_the_line_through_them(void **state)
{
    (void)state;
    device_clock c = fresh(1e6); /* which is wrong by far, and does not matter any more */
    add(&c, 100, 1000);
    add(&c, 200, 3000); /* 20 a tick */
    add(&c, 300, 4000); /* 10 a tick */
    assert_int_equal(at(&c, 100), 1000);
    assert_int_equal(at(&c, 150), 2000);
    assert_int_equal(at(&c, 200), 3000);
    assert_int_equal(at(&c, 250), 3500);
    assert_int_equal(at(&c, 300), 4000);
    /* outside: the rate from the first to the last, 15 a tick */
    assert_int_equal(at(&c, 310), 4150);
    assert_int_equal(at(&c, 90), 850);
}

/* Beyond 2^53, where a double has no odd numbers left. */
static void no_tick_is_lost_in_large_numbers(void **state)
{
    (void)state;
    device_clock c = fresh(1e9);
    uint64_t d = (UINT64_C(1) << 62) + 1, h = (UINT64_C(1) << 61) + 1;
    add(&c, d, h);
    add(&c, d + 1000000007, h + 3 * UINT64_C(1000000007));
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(at(&c, d + i * 1000003), h + 3 * i * 1000003);
}

static void backwards_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    device_clock c = fresh(1e9);
    add(&c, 100, 1000);
    add(&c, 200, 2000);
    assert_int_equal(device_clock_add_pair(&c, (device_pair){199, 3000}), VP_ECLOCK);
    assert_non_null(strstr(vp_error_last()->message, "device"));
    assert_int_equal(device_clock_add_pair(&c, (device_pair){300, 1999}), VP_ECLOCK);
    assert_non_null(strstr(vp_error_last()->message, "host"));
    assert_int_equal(c.count, 2);
    add(&c, 200, 2500); /* the same tick again: the first word holds */
    assert_int_equal(c.count, 2);
    assert_int_equal(at(&c, 200), 2000);
    add(&c, 300, 2500);
    assert_int_equal(at(&c, 250), 2250);
}

/* Any number of pairs: some of them stay, evenly, and the order of times is always kept. */
static void many_pairs(void **state)
{
    (void)state;
    device_clock c = fresh(1e9);
    uint64_t device = 1, host = 1 << 20, seed = 1, first = 1;
    for (int i = 0; i < 100000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        device += 1 + (seed >> 33) % 1000;
        host += (seed >> 40) % 3000;
        add(&c, device, host);
    }
    assert_true(c.count > DEVICE_PAIRS_MAX / 2 && c.count <= DEVICE_PAIRS_MAX);
    assert_int_equal(c.pairs[c.count - 1].device, device);
    assert_int_equal(at(&c, device), host);
    assert_true(c.pairs[0].device < first + 1001);
    uint64_t before = 0;
    for (uint64_t d = first; d < device + 100000; d += 997) {
        uint64_t now = at(&c, d);
        assert_true(now >= before);
        before = now;
    }
}

/* ---- In a recording ---- */

static void spans_lie_where_their_clock_says(void **state)
{
    (void)state;
    vp_device_id with = vp_device_add(VP_CAPTURE_GPU, 1, "a"),
                 without = vp_device_add(VP_CAPTURE_GPU, 2, "b");
    vp_track_id t = vp_track_add(with, "s"), plain = vp_track_add(without, "s");
    vp_clock_id clock = vp_clock_add(1e9);
    assert_true(clock);
    assert_int_equal(vp_device_clock(with, clock), 0);
    vp_recording *r = here_start();
    uint32_t name = vp_name("op");
    uint64_t h = vp_now();
    assert_int_equal(vp_record_span(t, name, 5, 6, 0, NULL, 0), VP_ECLOCK);
    assert_int_equal(vp_clock_sync(clock, 1000, h), 0);
    assert_int_equal(vp_clock_sync(clock, 2000, h + 1000000), 0);
    assert_int_equal(vp_record_span(t, name, 1500, 1600, 0, NULL, 0), 0);
    assert_int_equal(vp_record_span(plain, name, h + 500000, h + 600000, 0, NULL, 0), 0);
    assert_int_equal(vp_record_transfer(t, VP_COPY_H2D, 64, 1500, 1600, 0, 1, 0), 0);
    assert_int_equal(vp_record_collective(t, VP_ALL_REDUCE, 64, 1, 0, 1, 1500, 1600, 7), 0);
    assert_int_equal(vp_record_span(t, name, 1600, 1500, 0, NULL, 0), VP_EARG);
    assert_int_equal(vp_device_clock(with, 0), 0); /* the recording's again */
    assert_int_equal(vp_record_span(t, name, h + 500000, h + 600000, 0, NULL, 0), 0);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen.event_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(seen.events[i].e.start_ps, seen.events[1].e.start_ps);
        assert_int_equal(seen.events[i].e.dur_ps, seen.events[1].e.dur_ps);
    }
    assert_true(seen.events[0].e.dur_ps > 0);
}

static void what_is_no_clock(void **state)
{
    (void)state;
    vp_device_id d = vp_device_add(VP_CAPTURE_GPU, 3, "c");
    assert_int_equal(vp_clock_add(0), 0);
    assert_int_equal(vp_error_last()->code, VP_EARG);
    assert_int_equal(vp_clock_add(-1e9), 0);
    assert_int_equal(vp_clock_add(__builtin_nan("")), 0);
    assert_int_equal(vp_clock_add(__builtin_inf()), 0);
    assert_int_equal(vp_clock_sync(0, 1, 1), VP_EARG);
    assert_int_equal(vp_clock_sync(9999, 1, 1), VP_EARG);
    assert_int_equal(vp_device_clock(d, 9999), VP_EARG);
    assert_int_equal(vp_device_clock(9999, 0), VP_EARG);
    vp_clock_id c = vp_clock_add(1e9);
    assert_int_equal(vp_clock_sync(c, 1, UINT64_MAX), VP_EARG);
    while (c && c < 1000)
        c = vp_clock_add(1e9);
    assert_int_equal(c, 0);
    assert_int_equal(vp_error_last()->code, VP_ELIMIT);
}

static void *sync_and_record(void *ctx)
{
    const uint32_t *ids = ctx; /* clock, track, name */
    for (int i = 0; i < 2000; i++) {
        uint64_t now = vp_now();
        int rc = vp_clock_sync(ids[0], now, now);
        assert_true(rc == 0 || rc == VP_ECLOCK); /* the other thread was faster */
        assert_int_equal(vp_record_span(ids[1], ids[2], now, now + 1, 0, NULL, 0), 0);
    }
    return NULL;
}

static void clocks_from_two_threads(void **state)
{
    (void)state;
    vp_device_id d = vp_device_add(VP_CAPTURE_CUSTOM, 0, "threads");
    uint32_t ids[3] = {0, vp_track_add(d, "s"), vp_name("op")};
    pthread_t other;
    vp_recording *r = here_start();
    ids[0] = vp_clock_add((double)clock_rate());
    assert_int_equal(vp_device_clock(d, ids[0]), 0);
    pthread_create(&other, NULL, sync_and_record, ids);
    sync_and_record(ids);
    pthread_join(other, NULL);
    vp_result result = VP_RESULT_INIT;
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_pair_and_the_rate_as_given),
        cmocka_unit_test(between_pairs_on_the_line_through_them),
        cmocka_unit_test(no_tick_is_lost_in_large_numbers),
        cmocka_unit_test(backwards_is_refused_and_changes_nothing),
        cmocka_unit_test(many_pairs),
        here_test(spans_lie_where_their_clock_says),
        here_test(clocks_from_two_threads),
        here_test(what_is_no_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
