/* When a job is captured next: bounds of chance, drift, what is busy or gone, and that no clock of
 * the day has a say in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/watch/watch_schedule.h"

#define MINUTE 60000
#define MIDDLE UINT32_C(0x80000000)

static watch_pace every(int64_t ms)
{
    return (watch_pace){.every_ms = ms, .duration_ms = 2000};
}

static void chance_is_a_tenth_and_no_more(void **state)
{
    (void)state;
    static const int64_t paces[] = {100, 5000, 10 * MINUTE, INT64_C(366) * 86400000};
    for (size_t i = 0; i < sizeof paces / sizeof *paces; i++) {
        watch_pace p = every(paces[i]);
        assert_int_equal(watch_wait_ms(&p, MIDDLE), paces[i]);
        assert_int_equal(watch_wait_ms(&p, 0), paces[i] - paces[i] / 10);
        assert_in_range(watch_wait_ms(&p, UINT32_MAX), paces[i], paces[i] + paces[i] / 10);
        for (uint32_t random = 0; random < UINT32_MAX - 9999999; random += 9999999)
            assert_in_range(watch_wait_ms(&p, random), paces[i] - paces[i] / 10,
                            paces[i] + paces[i] / 10);
    }
}

/* Evenly spread chance: over many rounds as many as without. */
static void rounds_do_not_drift(void **state)
{
    (void)state;
    watch_pace p = every(10 * MINUTE);
    int64_t sum = 0, n = 100000;
    for (int64_t i = 0; i < n; i++)
        sum += watch_wait_ms(&p, (uint32_t)(i * (UINT32_MAX / n)));
    assert_in_range(sum / n, 10 * MINUTE - 10, 10 * MINUTE + 10);
}

static void many_jobs_leave_the_beat(void **state)
{
    (void)state;
    watch_pace p = every(10 * MINUTE);
    int64_t before = -1;
    for (uint32_t i = 0; i < 100; i++) {
        int64_t wait = watch_wait_ms(&p, i * (UINT32_MAX / 100));
        assert_true(wait > before);
        before = wait;
    }
}

static void what_is_busy_is_tried_soon(void **state)
{
    (void)state;
    watch_pace p = {.every_ms = 10 * MINUTE, .duration_ms = 2000, .busy = true, .in_a_row = 9};
    assert_int_equal(watch_wait_ms(&p, MIDDLE), 10 * MINUTE / 4);
    p.every_ms = 4000; /* not before the other capture can be over */
    assert_int_equal(watch_wait_ms(&p, MIDDLE), 2000);
    p.duration_ms = 4000;
    assert_int_equal(watch_wait_ms(&p, MIDDLE), 4000);
}

static void what_is_gone_is_tried_less_often_up_to_a_bound(void **state)
{
    (void)state;
    static const int64_t expected[] = {MINUTE,     MINUTE,     2 * MINUTE,
                                       4 * MINUTE, 8 * MINUTE, 8 * MINUTE};
    watch_pace p = every(MINUTE);
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++) {
        p.in_a_row = i;
        assert_int_equal(watch_wait_ms(&p, MIDDLE), expected[i]);
    }
    p.in_a_row = UINT32_MAX;
    assert_int_equal(watch_wait_ms(&p, MIDDLE), 8 * MINUTE);
    p.every_ms = 5 * MINUTE; /* never more than ten minutes for that reason */
    assert_int_equal(watch_wait_ms(&p, MIDDLE), 10 * MINUTE);
    p.every_ms = 60 * MINUTE; /* and never sooner than it was asked for */
    assert_int_equal(watch_wait_ms(&p, MIDDLE), 60 * MINUTE);
    p.every_ms = INT64_C(366) * 86400000;
    assert_int_equal(watch_wait_ms(&p, MIDDLE), p.every_ms);
}

/* The next round is due a wait after the start of the last, by a clock that only counts. A round
 * that took long, or a machine that slept, makes it due at once and once: slots that were missed
 * are not made up for. */
static void missed_slots_are_not_made_up_for(void **state)
{
    (void)state;
    watch_pace p = every(MINUTE);
    assert_int_equal(watch_due_ms(&p, MIDDLE, 1000, 5000), 1000 + MINUTE);
    assert_int_equal(watch_due_ms(&p, MIDDLE, 1000, 1000 + MINUTE), 1000 + MINUTE);
    int64_t now = 1000 + 600 * MINUTE; /* stopped for ten hours */
    int64_t due = watch_due_ms(&p, MIDDLE, 1000, now);
    assert_int_equal(due, now);
    assert_int_equal(watch_due_ms(&p, MIDDLE, due, due + 2000), due + MINUTE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chance_is_a_tenth_and_no_more),
        cmocka_unit_test(rounds_do_not_drift),
        cmocka_unit_test(many_jobs_leave_the_beat),
        cmocka_unit_test(what_is_busy_is_tried_soon),
        cmocka_unit_test(what_is_gone_is_tried_less_often_up_to_a_bound),
        cmocka_unit_test(missed_slots_are_not_made_up_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
