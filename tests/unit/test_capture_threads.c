/* Many threads, full pools, rings and signals: every zone that ended is accounted for, exactly. */
#include <pthread.h>

#include "tests/unit/capture_signals.h"
#include "tests/unit/capture_stops.h"
#include "trace/base/time.h"
#include "trace/vpcap/vpcap_layout.h"

static void two_threads_and_a_stop(void **state)
{
    (void)state;
    two_threads_and_stops(200);
}

#define ZONES_FULL 20000

/* A pool of 128 KiB: 31 pages of slots behind one of a head and a block; 16 bytes a zone. The zone
 * that finds no room is the last one that ends while the recording is on. */
static void a_full_pool_counts_exactly(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    vp_result result = VP_RESULT_INIT;
    uint64_t lost = 0, while_on = 0;
    cfg.pool_bytes = 32 * VP__PAGE;
    int64_t begin = vp_now_ns();
    assert_int_equal(vp_start(&r, &cfg), 0);
    for (int i = 0; i < ZONES_FULL; i++) {
        while_on += cap_generation() != 0;
        VP_SCOPE("zone");
    }
    assert_false(vp_recording_active(r));
    int64_t until_full_ns = vp_now_ns() - begin;
    usleep(20000);
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones + result.dropped_full, while_on);
    assert_int_equal(result.dropped_full, 1);
    assert_true(result.truncated);
    /* 32 pages less the heads of three chunks (of 1, 16 and 15 pages) and the block */
    assert_int_equal(result.zones,
                     (32 * VP__PAGE - 3 * sizeof(vp__chunk) - sizeof(vp__block)) / VP__SLOT);
    int64_t last = 0;
    for (uint32_t i = 0; i < seen.event_count; i++) {
        const vpcap_event *e = &seen.events[i].e;
        lost += e->kind == VPCAP_LOST ? (uint64_t)e->number : 0;
        last = e->open || e->kind == VPCAP_LOST ? last : e->start_ps + e->dur_ps;
    }
    assert_int_equal(lost, result.dropped_full);
    assert_int_equal(seen_count("zone"),
                     result.zones + 1); /* the last one is there without its end */
    assert_int_equal(seen.threads[0].dropped_full, result.dropped_full);
    assert_int_equal(seen.threads[0].written, result.zones);
    assert_true(seen.info.full);
    assert_true(seen.info.later_ns >= 20000000); /* it slept meanwhile */
    /* it lasted until then, not until it was stopped */
    assert_true(seen.info.end_ps >= last && seen.info.end_ps <= until_full_ns * 1000);
    assert_in_range(seen.info.end_ps / 1000, result.duration_ns - 1, result.duration_ns);
}

typedef struct filler {
    vp_recording *r;
    pthread_barrier_t *begin;
    uint64_t surely, perhaps;
} filler;

static void *fill_the_pool(void *ctx)
{
    filler *f = ctx;
    uint32_t before;
    pthread_barrier_wait(f->begin);
    do {
        before = cap_generation();
        {
            VP_SCOPE("zone");
        }
        f->surely += before && cap_generation() == before;
        f->perhaps += before != 0;
    } while (before);
    return NULL;
}

/* It is over for both threads at one time, though one of them has room left in its chunk; and the
 * next one to start finds nothing on. */
static void a_full_pool_ends_it_for_all(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    pthread_barrier_t begin;
    assert_int_equal(pthread_barrier_init(&begin, NULL, 2), 0);
    cfg.pool_bytes = 64 * VP__PAGE;
    for (int round = 0; round < 20; round++) {
        vp_recording *r, *next;
        vp_result result = VP_RESULT_INIT;
        pthread_t threads[2];
        assert_int_equal(vp_start(&r, &cfg), 0);
        filler f[2] = {{r, &begin, 0, 0}, {r, &begin, 0, 0}};
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, fill_the_pool, &f[i]), 0);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        if (round % 2) {
            assert_int_equal(vp_start(&next, &cfg), 0);
            assert_int_equal(vp_stop(next, NULL), 0);
        }
        vp_result status = VP_RESULT_INIT;
        if (round % 4 == 2)
            assert_int_equal(cap_active_status(&status), VP_EINACTIVE);
        assert_int_equal((round % 4 ? vp_stop : vp_wait)(r, &result), 0);
        assert_true(result.truncated);
        assert_in_range(result.zones + result.dropped_full, f[0].surely + f[1].surely,
                        f[0].perhaps + f[1].perhaps);
        assert_in_range(result.dropped_full, 1, 2);
    }
    pthread_barrier_destroy(&begin);
}

/* The newest zones stay: their numbers are the last ones, without a gap. */
static void a_ring_keeps_the_newest(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    vp_result result = VP_RESULT_INIT;
    cfg.mode = VP_RING;
    cfg.pool_bytes = 256 * 1024;
    assert_int_equal(vp_start(&r, &cfg), 0);
    for (int64_t i = 0; i < 100000; i++)
        VP_COUNTER("i", i);
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones + result.overwritten, 100000);
    assert_int_equal(result.dropped_full, 0);
    assert_int_equal(seen.event_count, result.zones);
    assert_true(result.zones >= 2 * 2000); /* two chunks of 64 KiB, 32 bytes a counter */
    for (uint32_t i = 0; i < seen.event_count; i++)
        assert_int_equal(seen.events[i].e.number, 100000 - (int64_t)(seen.event_count - i));
    assert_true(seen.info.ring);
}

static void the_past_of_a_ring(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    vp_result past = VP_RESULT_INIT, whole = VP_RESULT_INIT;
    cfg.mode = VP_RING;
    assert_int_equal(vp_start(&r, &cfg), 0);
    {
        VP_SCOPE("long ago");
    }
    usleep(300000);
    uint64_t tries = 0;
    do { /* on a busy machine "just now" may be long ago, too */
        assert_true(++tries < 100);
        {
            VP_SCOPE("just now");
        }
        assert_int_equal(vp_capture_past(r, 0.2, &past), 0);
        assert_int_equal(seen_count("long ago"), 0);
    } while (!seen_count("just now"));
    assert_int_equal(past.zones, seen_count("just now"));
    assert_true(vp_recording_active(r));
    assert_int_equal(vp_capture_past(r, 0, &past), 0);
    assert_int_equal(past.zones, 1 + tries);
    {
        VP_SCOPE("afterwards");
    }
    assert_int_equal(vp_stop(r, &whole), 0);
    assert_int_equal(whole.zones, 2 + tries);
    assert_string_not_equal(whole.run_dir, past.run_dir);
}

/* Copies are taken while threads write and chunks change hands: what is copied makes sense. */
static void pasts_while_threads_write(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    worker workers[2] = {{0, 0}, {0, 0}};
    pthread_t threads[2];
    cfg.mode = VP_RING;
    cfg.in_memory = true;
    cfg.pool_bytes = 512 * 1024;
    go_on = true;
    assert_int_equal(vp_start(&r, &cfg), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (int round = 0; round < 20; round++) {
        vp_result past = VP_RESULT_INIT;
        assert_int_equal(vp_capture_past(r, 0, &past), 0);
        assert_int_equal(past.zones, seen.event_count);
        for (uint32_t i = 1; i < seen.event_count; i++) {
            const vpcap_event *a = &seen.events[i - 1].e, *b = &seen.events[i].e;
            assert_string_equal(seen.events[i].name, "zone");
            if (seen.events[i].thread == seen.events[i - 1].thread)
                assert_true(a->start_ps + a->dur_ps <= b->start_ps);
        }
    }
    go_on = false;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    vp_result result = VP_RESULT_INIT;
    assert_int_equal(vp_stop(r, &result), 0);
    assert_true(result.zones + result.overwritten >= workers[0].surely + workers[1].surely);
    assert_true(result.zones + result.overwritten <= workers[0].perhaps + workers[1].perhaps);
}

#define NEW_NAMES 900

/* Each zone has a name that is new in the image, and a number after it that has an old one. */
static void *name_and_number(void *ctx)
{
    const char *prefix = ctx;
    for (int64_t i = 0; go_on && i < NEW_NAMES; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s%lld", prefix, (long long)i);
        uint32_t name = vp_name(text);
        {
            VP_SCOPE_DYN(name);
        }
        VP_COUNTER("number", i);
    }
    return NULL;
}

/* Whether the zone before each number is there; a copy that knows fewer names than its events have
 * leaves those out. */
static void check_names(void)
{
    for (uint32_t i = 0; i < seen.event_count; i++) {
        const seen_event *number = &seen.events[i], *zone = number - 1;
        char text[32];
        if (strcmp(number->name, "number") != 0)
            continue;
        assert_true(i > 0 && zone->thread == number->thread);
        snprintf(text, sizeof text, "%lld", (long long)number->e.number);
        assert_string_equal(zone->name + 1, text);
    }
}

static void pasts_while_names_are_made(void **state)
{
    (void)state;
    static char prefixes[2][8];
    vp_config cfg = here_config();
    cfg.in_memory = true;
    cfg.pool_bytes = 4 << 20;
    for (int round = 0; round < 10; round++) {
        pthread_t threads[2];
        vp_recording *r;
        unsigned copies = 0;
        vp_result past = VP_RESULT_INIT, whole = VP_RESULT_INIT;
        go_on = true;
        assert_int_equal(vp_start(&r, &cfg), 0);
        for (int i = 0; i < 2; i++) {
            prefixes[i][0] = (char)('a' + 2 * round + i);
            assert_int_equal(pthread_create(&threads[i], NULL, name_and_number, prefixes[i]), 0);
        }
        for (; copies < 30; copies++) {
            assert_int_equal(vp_capture_past(r, 0, &past), 0);
            check_names();
        }
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(vp_stop(r, &whole), 0);
        assert_int_equal(whole.zones, 2 * 2 * NEW_NAMES);
        assert_int_equal(whole.dropped_full, 0);
        check_names();
    }
}

static uint64_t zones_in_main, zones_in_handler;

static void on_signal(int number)
{
    (void)number;
    {
        VP_SCOPE("in the handler");
    }
    zones_in_handler++;
}

static void zones_often(void)
{
    for (int i = 0; i < 1000; i++) {
        VP_SCOPE("outer");
        VP_SCOPE("inner");
        zones_in_main += 2;
    }
}

static void signals_in_zones(void **state)
{
    (void)state;
    vp_result result = VP_RESULT_INIT;
    zones_in_main = zones_in_handler = 0;
    record_under_signals(&result, on_signal, zones_often, &zones_in_main);
    assert_true(zones_in_handler > 100);
    assert_int_equal(result.zones + result.dropped_signal + result.dropped_full,
                     zones_in_main + zones_in_handler);
    assert_int_equal(result.zones, seen.event_count);
    print_message("%llu zones in handlers, %llu of them dropped\n",
                  (unsigned long long)zones_in_handler, (unsigned long long)result.dropped_signal);
    assert_true(result.dropped_signal <= zones_in_handler);
}

#define STORM 1000

static pthread_barrier_t all_alive;

static void *one_zone(void *ctx)
{
    {
        VP_SCOPE("one");
    }
    if (ctx)
        pthread_barrier_wait(ctx);
    return NULL;
}

static void storm(pthread_barrier_t *barrier, vp_capture_mode mode, vp_result *result)
{
    static pthread_t threads[STORM];
    vp_config cfg = here_config();
    vp_recording *r;
    pthread_attr_t attr;
    cfg.pool_bytes = (size_t)8 << 20;
    cfg.mode = mode;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 * 1024);
    assert_int_equal(vp_start(&r, &cfg), 0);
    for (int i = 0; i < STORM; i++) {
        assert_int_equal(pthread_create(&threads[i], &attr, one_zone, barrier), 0);
        if (!barrier)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; barrier && i < STORM; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(vp_stop(r, result), 0);
    pthread_attr_destroy(&attr);
}

static void a_thousand_threads_at_once_fit_into_8_mib(void **state)
{
    (void)state;
    vp_result result = VP_RESULT_INIT;
    assert_int_equal(pthread_barrier_init(&all_alive, NULL, STORM), 0);
    storm(&all_alive, VP_KEEP_FIRST, &result);
    pthread_barrier_destroy(&all_alive);
    assert_int_equal(result.zones, STORM);
    assert_int_equal(result.threads, STORM);
    assert_int_equal(seen_count("one"), STORM);
    assert_int_equal(seen.thread_count, STORM);
    for (uint32_t i = 0; i < STORM; i++)
        assert_int_equal(seen.threads[i].written, 1);
}

static void a_thousand_threads_one_after_another(void **state)
{
    (void)state;
    vp_result result = VP_RESULT_INIT;
    storm(NULL, VP_KEEP_FIRST, &result);
    assert_int_equal(result.zones, STORM);
    assert_int_equal(seen_count("one"), STORM);
}

static void *many_zones(void *ctx)
{
    for (int i = 0; i < 1000; i++) {
        VP_SCOPE("many");
    }
    return ctx;
}

/* 1,000 zones of 16 bytes are 4 pages; a chunk has 16. What ended threads did not use serves the
 * next ones: else 20 threads would take 340 of these 160 pages. */
static void ended_threads_give_back_what_they_did_not_use(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    vp_result result = VP_RESULT_INIT;
    cfg.pool_bytes = 160 * VP__PAGE;
    assert_int_equal(vp_start(&r, &cfg), 0);
    for (int i = 0; i < 20; i++) {
        pthread_t t;
        assert_int_equal(pthread_create(&t, NULL, many_zones, NULL), 0);
        pthread_join(t, NULL);
    }
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, 20000);
    assert_int_equal(seen_count("many"), 20000);
    assert_int_equal(seen.thread_count, 20);
}

/* A ring lives on when threads come and go for ever: the oldest of the ended ones make room. */
static void a_ring_outlives_its_threads(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    vp_result result = VP_RESULT_INIT;
    uint64_t sum = 0;
    cfg.mode = VP_RING;
    cfg.pool_bytes = 64 * VP__PAGE;
    assert_int_equal(vp_start(&r, &cfg), 0);
    for (int i = 0; i < 300; i++) {
        pthread_t t;
        assert_int_equal(pthread_create(&t, NULL, i == 299 ? many_zones : one_zone, NULL), 0);
        pthread_join(t, NULL);
    }
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.dropped_full, 0);
    assert_int_equal(result.zones + result.overwritten, 299 + 1000);
    assert_int_equal(seen_count("many"), 1000); /* the newest */
    assert_int_equal(result.threads, 300);
    for (uint32_t i = 0; i < seen.thread_count; i++)
        sum += seen.threads[i].overwritten;
    assert_int_equal(sum, result.overwritten);
}

static void *named(void *ctx)
{
    vp_thread_name(ctx);
    VP_SCOPE("x");
    return NULL;
}

static void thread_names_do_not_stick_to_the_next(void **state)
{
    (void)state;
    char text[200] = "";
    pthread_t t;
    vp_recording *r = here_start();
    for (int i = 0; i < 65; i++)
        memcpy(text + 3 * i, "\xe2\x82\xac", 3); /* 65 euros: 195 bytes */
    assert_int_equal(pthread_create(&t, NULL, named, text), 0);
    pthread_join(t, NULL);
    assert_int_equal(pthread_create(&t, NULL, one_zone, NULL), 0);
    pthread_join(t, NULL);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen.thread_count, 2);
    assert_int_equal(strlen(seen.thread_names[0]) % 3, 0); /* whole characters */
    assert_memory_equal(seen.thread_names[0], text, strlen(seen.thread_names[0]));
    assert_true(strncmp(seen.thread_names[1], "\xe2", 1) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {here_test(two_threads_and_a_stop),
                                       here_test(a_full_pool_counts_exactly),
                                       here_test(a_full_pool_ends_it_for_all),
                                       here_test(a_ring_keeps_the_newest),
                                       here_test(the_past_of_a_ring),
                                       here_test(pasts_while_threads_write),
                                       here_test(pasts_while_names_are_made),
                                       here_test(signals_in_zones),
                                       here_test(a_thousand_threads_at_once_fit_into_8_mib),
                                       here_test(a_thousand_threads_one_after_another),
                                       here_test(ended_threads_give_back_what_they_did_not_use),
                                       here_test(a_ring_outlives_its_threads),
                                       here_test(thread_names_do_not_stick_to_the_next)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
