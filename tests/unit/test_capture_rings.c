/* Rings under threads of different speed: of every thread a ring holds the newest events without a
 * gap, it begins where all threads have theirs, and what made room for newer ones is counted. */
#include <time.h>

#include "tests/unit/capture_tools.h"
#include "tests/unit/skip.h"

#define SPEEDS 3
#define NUMBERS_MAX 200000
/* How far CLOCK_REALTIME may lie beside the recording's own clock. */
#define CLOCK_ERROR_NS 50000

/* Records counters with the numbers from 0 on, and notes the time just before each. */
typedef struct numbered {
    char name[16];
    unsigned pause_us;
    int64_t most;
    _Atomic int64_t told;
    int64_t *before_ns;
} numbered;

static _Atomic bool go_on;

static int64_t unix_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void *number(void *ctx)
{
    numbered *n = ctx;
    vp_thread_name(n->name);
    for (int64_t i = 0; i < n->most && go_on; i++) {
        n->before_ns[i] = unix_ns();
        VP_COUNTER("i", i);
        n->told = i + 1;
        if (n->pause_us)
            usleep(n->pause_us);
    }
    while (go_on)
        usleep(200);
    return NULL;
}

typedef struct team {
    numbered speeds[SPEEDS];
    pthread_t threads[SPEEDS];
} team;

/* One as fast as it can, one slow, and one that says little and then rests. */
static void begin(team *t)
{
    static const unsigned pauses[SPEEDS] = {0, 300, 0};
    static const int64_t most[SPEEDS] = {NUMBERS_MAX, NUMBERS_MAX, 50};
    go_on = true;
    for (int k = 0; k < SPEEDS; k++) {
        numbered *n = &t->speeds[k];
        *n = (numbered){.pause_us = pauses[k], .most = most[k]};
        snprintf(n->name, sizeof n->name, "speed %d", k);
        n->before_ns = calloc(NUMBERS_MAX, sizeof *n->before_ns);
        assert_non_null(n->before_ns);
        assert_int_equal(pthread_create(&t->threads[k], NULL, number, n), 0);
    }
}

static void end(team *t)
{
    go_on = false;
    for (int k = 0; k < SPEEDS; k++)
        pthread_join(t->threads[k], NULL);
}

static void forget(team *t)
{
    for (int k = 0; k < SPEEDS; k++)
        free(t->speeds[k].before_ns);
}

static vp_config ring_config(void)
{
    vp_config cfg = here_config();
    cfg.mode = VP_RING;
    cfg.pool_bytes = 512 * 1024;
    return cfg;
}

/* What there is of a thread has no gap, and ends with `least` - 1 or later; what is missing before
 * it came before the ring begins. */
static void check_thread(const numbered *n, uint32_t thread, int64_t least)
{
    int64_t next = -1, first = -1;
    for (uint32_t i = 0; i < seen.event_count; i++) {
        const vpcap_event *e = &seen.events[i].e;
        if (seen.events[i].thread != thread)
            continue;
        assert_string_equal(seen.events[i].name, "i");
        first = next < 0 ? e->number : first;
        if (next >= 0)
            assert_int_equal(e->number, next);
        assert_true(e->start_ps >= seen.info.begin_ps);
        next = e->number + 1;
    }
    if (next >= 0)
        assert_true(next >= least);
    int64_t missing = next < 0 ? least - 1 : first - 1;
    if (missing >= 0)
        assert_true(n->before_ns[missing] <
                    seen.info.start_unix_ns + seen.info.begin_ps / 1000 + CLOCK_ERROR_NS);
}

static void check(const team *t, const int64_t *least)
{
    unsigned found = 0;
    for (uint32_t i = 0; i < seen.thread_count && i < 8; i++)
        for (int k = 0; k < SPEEDS; k++)
            if (strcmp(seen.thread_names[i], t->speeds[k].name) == 0) {
                check_thread(&t->speeds[k], i, least[k]);
                found++;
            }
    assert_int_equal(found, SPEEDS);
}

/* Until the fast one has gone round the ring some times. */
static void let_it_go_round(const team *t, int64_t numbers)
{
    while (t->speeds[0].told < numbers || t->speeds[1].told < 20 || t->speeds[2].told < 50)
        usleep(500);
}

static void the_newest_of_threads_of_different_speed(void **state)
{
    (void)state;
    vp_config cfg = ring_config();
    vp_recording *r;
    vp_result result = VP_RESULT_INIT;
    static team t;
    int64_t least[SPEEDS];
    assert_int_equal(vp_start(&r, &cfg), 0);
    begin(&t);
    let_it_go_round(&t, 100000);
    end(&t);
    uint64_t all = 0, overwritten = 0;
    for (int k = 0; k < SPEEDS; k++) {
        least[k] = t.speeds[k].told;
        all += (uint64_t)t.speeds[k].told;
    }
    assert_int_equal(vp_stop(r, &result), 0);
    check(&t, least);
    assert_int_equal(result.zones + result.overwritten, all);
    assert_int_equal(result.zones, seen.event_count);
    for (uint32_t i = 0; i < seen.thread_count; i++)
        overwritten += seen.threads[i].overwritten;
    assert_int_equal(overwritten, result.overwritten);
    /* the recording is as long as what it holds */
    assert_true(seen.info.begin_ps > 0);
    assert_in_range((uint64_t)result.duration_ns,
                    (uint64_t)(seen.info.end_ps - seen.info.begin_ps) / 1000 - 1,
                    (uint64_t)(seen.info.end_ps - seen.info.begin_ps) / 1000 + 1);
    forget(&t);
}

/* The same of copies that are taken while all of them write: each holds what had been recorded when
 * it was asked for. */
static void pasts_of_threads_of_different_speed(void **state)
{
    (void)state;
    vp_config cfg = ring_config();
    vp_recording *r;
    static team t;
    cfg.in_memory = true;
    assert_int_equal(vp_start(&r, &cfg), 0);
    begin(&t);
    for (int round = 1; round <= 8; round++) {
        vp_result past = VP_RESULT_INIT;
        int64_t least[SPEEDS];
        let_it_go_round(&t, 20000 * round);
        for (int k = 0; k < SPEEDS; k++)
            least[k] = t.speeds[k].told;
        assert_int_equal(vp_capture_past(r, 0, &past), 0);
        check(&t, least);
        assert_int_equal(past.zones, seen.event_count);
        assert_true(past.overwritten > 0);
    }
    end(&t);
    assert_int_equal(vp_stop(r, NULL), 0);
    forget(&t);
}

/* A past of some seconds that the ring has not lasts as long as what it has. */
static void a_past_is_as_long_as_its_window(void **state)
{
    (void)state;
    vp_config cfg = ring_config();
    vp_recording *r;
    vp_result past = VP_RESULT_INIT, brief = VP_RESULT_INIT;
    assert_int_equal(vp_start(&r, &cfg), 0);
    for (int64_t i = 0; i < 100000; i++)
        VP_COUNTER("i", i);
    usleep(20000);
    assert_int_equal(vp_capture_past(r, 3600, &past), 0);
    assert_true(seen.info.begin_ps > 0);
    assert_in_range((uint64_t)past.duration_ns,
                    (uint64_t)(seen.info.end_ps - seen.info.begin_ps) / 1000 - 1,
                    (uint64_t)(seen.info.end_ps - seen.info.begin_ps) / 1000 + 1);
    assert_int_equal(past.zones + past.overwritten, 100000);
    assert_true(past.zones > 8000); /* nobody writes: all that is there, 32 bytes each */
    assert_int_equal(vp_capture_past(r, 0.01, &brief), 0);
    if (!is_emulated()) /* there the counter is measured by a clock that others hold up */
        assert_in_range((uint64_t)brief.duration_ns, 9999000, 10001000);
    assert_int_equal(brief.zones, 0);
    assert_int_equal(vp_stop(r, NULL), 0);
}

static void *some_zones(void *ctx)
{
    for (int64_t i = 0; i < 50; i++)
        VP_COUNTER("ended", i);
    return ctx;
}

/* Of threads that have ended and made room nothing is left: the ring begins after them. */
static void threads_that_made_room_come_before(void **state)
{
    (void)state;
    vp_config cfg = ring_config();
    vp_recording *r;
    vp_result result = VP_RESULT_INIT;
    cfg.pool_bytes = 64 * VP__PAGE;
    assert_int_equal(vp_start(&r, &cfg), 0);
    VP_INSTANT("the first");
    for (int i = 0; i < 200; i++) {
        pthread_t t;
        assert_int_equal(pthread_create(&t, NULL, some_zones, NULL), 0);
        pthread_join(t, NULL);
    }
    VP_INSTANT("the last");
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(seen_count("the first"), 0);
    assert_int_equal(seen_count("the last"), 1);
    assert_int_equal(seen_count("ended") % 50, 0);
    assert_true(seen_count("ended") >= 50);
    assert_int_equal(result.zones, seen.event_count);
    assert_int_equal(result.zones + result.overwritten, 200 * 50 + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        here_test(the_newest_of_threads_of_different_speed),
        here_test(pasts_of_threads_of_different_speed),
        here_test(a_past_is_as_long_as_its_window),
        here_test(threads_that_made_room_come_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
