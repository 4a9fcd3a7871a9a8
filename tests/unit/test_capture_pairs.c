/* Pairs of VP_BEGIN and VP_END where their short way and their long one meet: signals, stops, full
 * chunks and pools, and recordings that begin or end inside a pair. */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/unit/capture_signals.h"
#include "tests/unit/capture_stops.h"

static uint64_t pairs_in_main, pairs_in_handler;

static void on_signal(int number)
{
    (void)number;
    VP_BEGIN("in the handler");
    VP_END();
    pairs_in_handler++;
}

static void begin_and_end_often(void)
{
    for (int i = 0; i < 1000; i++) {
        VP_BEGIN("outer");
        VP_BEGIN("inner");
        VP_END();
        VP_END();
        pairs_in_main += 2;
    }
}

/* A handler that finds its thread busy loses a beginning and an end, never one without the other.
 */
static void signals_in_pairs(void **state)
{
    (void)state;
    vp_result result = VP_RESULT_INIT;
    pairs_in_main = pairs_in_handler = 0;
    record_under_signals(&result, on_signal, begin_and_end_often, &pairs_in_main);
    assert_true(pairs_in_handler > 100);
    assert_int_equal(result.dropped_full, 0);
    assert_int_equal(result.unmatched_ends, 0);
    assert_int_equal(result.dropped_signal % 2, 0);
    assert_int_equal(result.zones + result.dropped_signal / 2, pairs_in_main + pairs_in_handler);
    assert_int_equal(result.zones, seen.event_count);
}

static atomic_bool enough;

static void *begin_and_end(void *ctx)
{
    while (!enough) {
        VP_BEGIN("outer");
        VP_BEGIN("inner");
        VP_END();
        VP_END();
    }
    return ctx;
}

/* Recordings begin and end inside pairs: what is counted is written, and of each thread at most the
 * two ends whose beginnings were before are without one. */
static void stops_in_pairs(void **state)
{
    (void)state;
    pthread_t threads[2];
    vp_config cfg = here_config();
    uint64_t zones = 0;
    cfg.in_memory = true;
    cfg.pool_bytes = (size_t)4 << 20;
    cap_writer = count_write;
    enough = false;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, begin_and_end, NULL), 0);
    for (int i = 0; i < 100 || zones <= 100;
         i++) { /* on a busy machine threads may sleep for rounds */
        vp_recording *r;
        vp_result result = VP_RESULT_INIT;
        assert_int_equal(vp_start(&r, &cfg), 0);
        nanosleep(&(struct timespec){0, i % 7 * 100000}, NULL);
        assert_int_equal(vp_stop(r, &result), 0);
        assert_int_equal(result.zones, seen.event_count);
        assert_int_equal(result.dropped_signal, 0);
        assert_true(result.unmatched_ends <= 4);
        zones += result.zones;
    }
    enough = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* Across the ends of chunks, until the pool is full, which is counted exactly. */
static void pairs_fill_a_pool(void **state)
{
    (void)state;
    enum { PAIRS = 40000 };
    vp_config cfg = here_config();
    vp_recording *r;
    vp_result result = VP_RESULT_INIT;
    cfg.in_memory = true;
    cfg.pool_bytes = (size_t)256 << 10;
    assert_int_equal(vp_start(&r, &cfg), 0);
    for (int i = 0; i < PAIRS; i++) {
        VP_BEGIN("pair");
        VP_END();
    }
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, seen_count("pair"));
    assert_true(result.zones > 15000 && result.zones < 17000);
    assert_true(result.dropped_full > 0 && result.zones + result.dropped_full <= PAIRS);
    assert_int_equal(result.unmatched_ends, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {here_test(signals_in_pairs), here_test(stops_in_pairs),
                                       here_test(pairs_fill_a_pool)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
