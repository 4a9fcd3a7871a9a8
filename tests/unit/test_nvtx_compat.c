/* NVTX calls of a program that is linked with the recorder: what has a bound is counted where it
 * ends, and what ends nowhere, too. */
#include <pthread.h>

#include "include/view_profile_nvtx_compat.h"
#include "tests/unit/capture_tools.h"

static void ranges_and_marks(void **state)
{
    (void)state;
    char name[16] = "built";
    vp_recording *r = here_start();
    assert_int_equal(nvtxRangePushA(name), 0);
    strcpy(name, "other");
    assert_int_equal(nvtxRangePushA(name), 1);
    memset(name, 'z', 5);
    assert_int_equal(nvtxRangePop(), 1);
    assert_int_equal(nvtxRangePop(), 0);
    assert_true(nvtxRangePop() < 0);
    nvtxMarkA("mark");
    nvtxRangeId_t id = nvtxRangeStartA("across");
    assert_true(id);
    nvtxRangeEnd(id);
    nvtxRangeEnd(id);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen.event_count, 4);
    assert_int_equal(seen_count("built"), 1);
    assert_int_equal(seen_count("other"), 1);
    assert_int_equal(seen_count("across"), 1);
    assert_int_equal(seen_find("mark")->e.kind, VPCAP_INSTANT);
}

/* Recordings come and go between the two ends of a range: no zone is made of the ends of two. */
static void ranges_across_recordings(void **state)
{
    (void)state;
    assert_int_equal(nvtxRangePushA("off"), NVTX_NO_PUSH_POP_TRACKING);
    vp_recording *r = here_start();
    assert_int_equal(nvtxRangePushA("first"), 0);
    assert_int_equal(nvtxRangePushA("whole"), 1);
    assert_int_equal(nvtxRangePop(), 1);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen.event_count, 1);
    assert_int_equal(seen_count("whole"), 1);
    assert_int_equal(nvtxRangePushA("between"), NVTX_NO_PUSH_POP_TRACKING);
    assert_int_equal(nvtxRangeStartA("between"), 0);
    nvtxMarkA("between");
    r = here_start();
    assert_true(nvtxRangePop() < 0); /* "between" */
    assert_int_equal(nvtxRangePushA("second"), 0);
    assert_int_equal(nvtxRangePop(), 0);
    assert_true(nvtxRangePop() < 0); /* "first" */
    assert_true(nvtxRangePop() < 0); /* "off" */
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen.event_count, 1);
    assert_int_equal(seen_count("second"), 1);
    assert_int_equal(nvtxRangePop(), NVTX_NO_PUSH_POP_TRACKING);
}

/* Who waits for a step hears of all of them, and of their ends, while nothing records yet. */
static int steps_begun, steps_ended;

static void hear(bool begin, uint64_t number)
{
    assert_true(number < 10);
    steps_begun += begin;
    steps_ended += !begin;
}

static void steps_are_told_before_anything_records(void **state)
{
    (void)state;
    cap_on_step(CAP_STEPS_CONTROL, hear);
    for (int i = 0; i < 6; i++) {
        char name[16];
        vp_recording *r = NULL;
        snprintf(name, sizeof name, "step %d", i);
        assert_int_equal(nvtxRangePushA(name), 0);
        if (i == 2)
            r = here_start();
        assert_int_equal(nvtxRangePushA("inner"), 1);
        assert_int_equal(nvtxRangePop(), 1);
        if (r)
            assert_int_equal(vp_stop(r, NULL), 0);
        assert_int_equal(nvtxRangePop(), 0);
    }
    cap_on_step(CAP_STEPS_CONTROL, NULL);
    assert_int_equal(steps_begun, 6);
    assert_int_equal(steps_ended, 6);
    assert_int_equal(seen.event_count, 1);
    assert_int_equal(seen_count("inner"), 1);
}

/* A program that makes a new name every time: what is kept has its name, the rest is counted. */
static void more_names_than_there_is_room_for(void **state)
{
    (void)state;
    enum { NAMES = 200000 };
    vp_config cfg = here_config();
    vp_recording *r;
    vp_result result = VP_RESULT_INIT;
    cfg.pool_bytes = 16 << 20;
    cap_writer = count_write;
    assert_int_equal(vp_start(&r, &cfg), 0);
    for (int i = 0; i < NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "batch %d of many", i * 7);
        nvtxRangePushA(name);
        nvtxRangePop();
    }
    assert_int_equal(vp_stop(r, &result), 0);
    assert_true(result.zones > 1000 && result.dropped_full > 1000);
    assert_int_equal(result.zones + result.dropped_full, NAMES);
}

static void deeper_than_any_program_is(void **state)
{
    (void)state;
    enum { DEPTH = 65536, MORE = 5 };
    vp_config cfg = here_config();
    vp_recording *r;
    vp_result result = VP_RESULT_INIT;
    cfg.pool_bytes = 8 << 20;
    cap_writer = count_write;
    assert_int_equal(vp_start(&r, &cfg), 0);
    for (int i = 0; i < DEPTH; i++)
        assert_true(nvtxRangePushA("deep") >= 0);
    for (int i = 0; i < MORE; i++)
        assert_true(nvtxRangePushA("too deep") < 0);
    for (int i = 0; i < DEPTH; i++)
        assert_true(nvtxRangePop() >= 0);
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, DEPTH);
    assert_int_equal(result.dropped_depth, MORE);
}

static void *forgets_to_pop(void *ctx)
{
    nvtxRangePushA("popped");
    nvtxRangePop();
    nvtxRangePushA("left");
    nvtxRangePushA("left, too");
    return ctx;
}

static void threads_that_end_in_ranges(void **state)
{
    (void)state;
    pthread_t t;
    vp_result result = VP_RESULT_INIT;
    vp_recording *r = here_start();
    pthread_create(&t, NULL, forgets_to_pop, NULL);
    pthread_join(t, NULL);
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, 1);
    assert_int_equal(result.left, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        here_test(ranges_and_marks),
        here_test(ranges_across_recordings),
        here_test(steps_are_told_before_anything_records),
        here_test(more_names_than_there_is_room_for),
        here_test(deeper_than_any_program_is),
        here_test(threads_that_end_in_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
