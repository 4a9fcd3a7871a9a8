/* The indexes that the server keeps: how many may wait for one, and what stays in memory. */
#include "tests/unit/skip.h"
#include "tests/unit/tree.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "server/routes/timeline/timelines.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

#define TRACE                                                                                      \
    "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":7,\"name\":\"a\"}]}"
#define MANY 8
/* Analyses that run at once (turns.c). */
#define PLACES 2

static tree dir;
static store *st;
static catalog *c;
static timelines *all;

static void open_with(uint64_t kept_max, uint64_t late_events)
{
    tree_make(&dir);
    for (int i = 0; i < MANY + PLACES; i++) {
        char rel[100];
        snprintf(rel, sizeof rel, "plugins/profile/run%02d/h.trace.json", i);
        tree_text(&dir, rel, TRACE, 1700000001);
    }
    assert_int_equal(store_open(&st, dir.root, NULL, NULL, false), 0);
    assert_int_equal(store_wait(st, -1), 0);
    c = store_catalog(st);
    assert_int_equal(timelines_open(&all, st, kept_max, late_events), 0);
}

static void open_all(uint64_t kept_max)
{
    open_with(kept_max, UINT64_MAX);
}

static void close_all(void)
{
    timelines_close(all);
    catalog_free(c);
    store_close(st);
    tree_remove(&dir);
}

static const cat_session *session(int i)
{
    char name[16];
    snprintf(name, sizeof name, "run%02d", i);
    const cat_session *s = catalog_find(c, vp_str_of(name));
    assert_non_null(s);
    return s;
}

/* ---- Who waits ------------------------------------------------------------------------------ */

static atomic_int held;
static atomic_bool let_go;

/* Holds a place of the analyses. */
static int hold(void *ctx, uint32_t host, const trace *t, derived *d)
{
    (void)ctx, (void)host, (void)t;
    derived_free(d);
    atomic_fetch_add(&held, 1);
    while (!atomic_load(&let_go))
        usleep(1000);
    return 0;
}

static void *hold_place(void *ctx)
{
    int *rc = ctx; /* which, then how it ended */
    *rc = store_look(st, c, session(MANY + *rc), NULL, hold, NULL, NULL);
    return NULL;
}

typedef struct asking {
    pthread_t thread;
    int number, rc;
    atomic_bool waited, done;
} asking;

static bool still_there(const void *ctx)
{
    atomic_store(&((asking *)ctx)->waited, true);
    return false;
}

static void *ask(void *ctx)
{
    asking *a = ctx;
    timeline_held *h = NULL;
    a->rc = timelines_get(&h, all, c, session(a->number), 0, &(store_asker){still_there, a});
    timeline_release(&h);
    atomic_store(&a->done, true);
    return NULL;
}

/* With those who wait for reports, 12 at most, one of 16 workers has nobody to wait for. */
static void no_more_wait_than_leave_a_worker(void **state)
{
    asking a[MANY] = {0};
    pthread_t holder[PLACES];
    int ends[PLACES], waiting = 0, refused = 0;
    (void)state;
    open_all(UINT64_MAX);
    for (int i = 0; i < PLACES; i++) {
        ends[i] = i;
        assert_int_equal(pthread_create(&holder[i], NULL, hold_place, &ends[i]), 0);
    }
    while (atomic_load(&held) < PLACES)
        usleep(1000);
    for (int i = 0; i < MANY; i++) {
        a[i].number = i / 2; /* those who join an index that is being made wait too */
        assert_int_equal(pthread_create(&a[i].thread, NULL, ask, &a[i]), 0);
    }
    for (int i = 0; i < MANY; i++)
        while (!atomic_load(&a[i].waited) && !atomic_load(&a[i].done))
            usleep(1000);
    for (int i = 0; i < MANY; i++)
        waiting += !atomic_load(&a[i].done);
    atomic_store(&let_go, true);
    for (int i = 0; i < MANY; i++) {
        pthread_join(a[i].thread, NULL);
        assert_true(a[i].rc == 0 || a[i].rc == VP_EBUSY);
        refused += a[i].rc == VP_EBUSY;
    }
    for (int i = 0; i < PLACES; i++) {
        pthread_join(holder[i], NULL);
        assert_int_equal(ends[i], 0);
    }
    assert_int_equal(waiting, 3);
    assert_int_equal(refused, MANY - 3);
    a[0].rc = -1;
    ask(&a[0]);
    assert_int_equal(a[0].rc, 0); /* there is room again */
    close_all();
}

/* ---- What stays ----------------------------------------------------------------------------- */

static int made(int number)
{
    const timeline_added *added;
    timeline_held *h = NULL;
    int rc = timelines_get(&h, all, c, session(number), 0, NULL);
    if (rc >= 0)
        rc = timeline_wait(&added, h, NULL);
    timeline_release(&h);
    return rc;
}

/* One above the bound is not made anew for each request. */
static void the_one_used_last_stays(void **state)
{
    (void)state;
    open_all(1);
    assert_int_equal(made(0), 0);
    assert_int_equal(made(1), 0);
    for (int i = 0; i < 2; i++) {
        char rel[100];
        snprintf(rel, sizeof rel, "plugins/profile/run%02d/h.trace.json", i);
        assert_int_equal(unlink(tree_at(&dir, rel)), 0);
    }
    assert_int_equal(made(1), 0);
    assert_true(made(0) < 0); /* there was no room for it beside */
    close_all();
}

/* ---- Late indexes --------------------------------------------------------------------------- */

static void a_late_index_is_the_same(void **state)
{
    (void)state;
    uint64_t bytes[2];
    for (int late = 0; late < 2; late++) {
        const timeline_added *added = NULL;
        timeline_held *h = NULL;
        open_with(UINT64_MAX, late ? 1 : UINT64_MAX);
        assert_int_equal(timelines_get(&h, all, c, session(0), 0, NULL), 0);
        assert_int_equal(timeline_wait(&added, h, NULL), 0);
        assert_non_null(added);
        assert_int_equal(timeline_index(h)->event_count, 1);
        assert_int_equal(timeline_index(h)->start_ps, 0);
        assert_int_equal(timeline_index(h)->end_ps, 7000000);
        bytes[late] = tl_bytes(timeline_index(h)) + tl_bytes(added->x);
        timeline_release(&h);
        close_all();
    }
    assert_int_equal(bytes[0], bytes[1]);
}

/* Whichever allocation fails once, there is an index or a reason. An analysis that fails before it
 * has told of the trace again does not cost the index: it is made of a second reading. */
static void a_late_index_without_an_analysis(void **state)
{
    (void)state;
    uint64_t n = 1;
    int shown = 0, refused = 0;
    for (uint64_t k = 0; k < n; k += 1 + n / 60) {
        open_with(UINT64_MAX, 1);
        vp_mem_fail_at(k, false); /* 0: none, to count them */
        int rc = made(0);
        uint64_t asked = vp_mem_fail_at(0, false);
        n = k ? n : asked;
        shown += rc >= 0;
        refused += rc < 0;
        assert_true(rc >= 0 || rc == VP_ENOMEM);
        close_all();
    }
    print_message("%d shown, %d refused\n", shown, refused);
    assert_true(shown > refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_wait_than_leave_a_worker),
        cmocka_unit_test(the_one_used_last_stays),
        cmocka_unit_test(a_late_index_is_the_same),
        cmocka_unit_test(a_late_index_without_an_analysis),
    };
    return cmocka_run_group_tests_name("timelines", tests, NULL, NULL);
}
