/* The site's memory: one catalog at a time, reports kept by use, everything counted. */
#include "tests/unit/skip.h"
#include "tests/unit/tree.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "server/routes/traces/added_tracks.h"
#include "server/routes/store/store.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* One device, two ops: "a" 7 µs in all, "b" 3 µs. */
#define TRACE(extra)                                                                               \
    "{\"traceEvents\":[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":"      \
    "\"/device:TPU:0\"}},{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{"    \
    "\"name\":\"XLA Ops\"}},{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":7,\"name\":\"a\"}," \
    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":7,\"dur\":3,\"name\":\"b\"}" extra "]}"
#define PLAIN TRACE("")
#define THIRD TRACE(",{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":1,\"name\":\"c\"}")

static tree dir;

static int make_runs(void **state)
{
    (void)state;
    tree_make(&dir);
    for (int i = 0; i < 40; i++) {
        char rel[100];
        snprintf(rel, sizeof rel, "plugins/profile/run%02d/h.trace.json", i);
        tree_text(&dir, rel, PLAIN, 1700000001);
    }
    return 0;
}

static int remove_runs(void **state)
{
    (void)state;
    tree_remove(&dir);
    return 0;
}

static const cat_session *session(const catalog *c, int i)
{
    char name[16];
    snprintf(name, sizeof name, "run%02d", i);
    const cat_session *s = catalog_find(c, vp_str_of(name));
    assert_non_null(s);
    return s;
}

static store *open_indexed(const char *root)
{
    store *st;
    assert_int_equal(store_open(&st, root, NULL, NULL, false), 0);
    assert_int_equal(store_wait(st, -1), 0);
    assert_false(store_indexing(st, NULL));
    return st;
}

static bool is_kept(store *st, const cat_session *s, vp_group group)
{
    VP_CLEANUP(store_release) store_report *h = NULL;
    return store_peek(&h, st, s, group);
}

static const store_wanted full_by_name = {VP_GROUP_NAME, VP_DEPTH_FULL, VP_UNKNOWN,
                                          VP_WHERE_DEVICE},
                          full_by_raw = {VP_GROUP_RAW, VP_DEPTH_FULL, VP_UNKNOWN, VP_WHERE_DEVICE},
                          ops_by_name = {VP_GROUP_NAME, VP_DEPTH_OPS, VP_UNKNOWN, VP_WHERE_DEVICE};

static void a_report_is_made_once(void **state)
{
    store *st;
    store_report *a, *b, *other;
    (void)state;
    st = open_indexed(dir.root);
    catalog *c = store_catalog(st);
    assert_false(is_kept(st, session(c, 0), VP_GROUP_NAME));
    assert_int_equal(store_get(&a, st, c, session(c, 0), &full_by_name, NULL), 0);
    assert_int_equal(store_get(&b, st, c, session(c, 0), &full_by_name, NULL), 0);
    assert_int_equal(store_get(&other, st, c, session(c, 0), &full_by_raw, NULL), 0);
    assert_ptr_equal(store_report_of(a), store_report_of(b));
    assert_ptr_not_equal(store_report_of(a), store_report_of(other));
    assert_int_equal(store_report_of(a)->group, VP_GROUP_NAME);
    assert_int_equal(store_report_of(other)->group, VP_GROUP_RAW);
    assert_int_equal(store_report_of(a)->op_count, 2);
    assert_int_equal(store_report_of(a)->devices[0].self_ps, 10000000);
    store_release(&a);
    store_release(&b);
    store_release(&other);
    assert_null(other);
    catalog_free(c);
    store_close(st);
}

/* The index asks for less than a page: what a page left behind is good for it, not the reverse. */
static void a_full_report_answers_for_the_ops_alone(void **state)
{
    store *st;
    store_report *ops, *full, *again;
    (void)state;
    st = open_indexed(dir.root);
    catalog *c = store_catalog(st);
    const cat_session *s = session(c, 5);
    assert_int_equal(store_get(&ops, st, c, s, &ops_by_name, NULL), 0);
    assert_int_equal(store_report_of(ops)->depth, VP_DEPTH_OPS);
    assert_int_equal(store_get(&full, st, c, s, &full_by_name, NULL), 0);
    assert_int_equal(store_report_of(full)->depth, VP_DEPTH_FULL);
    assert_int_equal(store_get(&again, st, c, s, &ops_by_name, NULL), 0);
    assert_ptr_equal(store_report_of(again), store_report_of(full));
    store_release(&again);
    assert_true(store_peek(&again, st, s, VP_GROUP_NAME));
    assert_ptr_equal(store_report_of(again), store_report_of(full));
    store_release(&ops);
    store_release(&full);
    store_release(&again);
    catalog_free(c);
    store_close(st);
}

/* 32 stay; a held one stays beyond that, and goes by age when it is let go. */
static void the_least_used_report_goes_first(void **state)
{
    store *st;
    store_report *held, *h;
    (void)state;
    st = open_indexed(dir.root);
    catalog *c = store_catalog(st);
    assert_int_equal(store_get(&held, st, c, session(c, 0), &full_by_name, NULL), 0);
    for (int i = 1; i < 40; i++) {
        assert_int_equal(store_get(&h, st, c, session(c, i), &full_by_name, NULL), 0);
        store_release(&h);
        assert_int_equal(store_get(&h, st, c, session(c, 1), &full_by_name, NULL),
                         0); /* stays fresh */
        store_release(&h);
    }
    assert_true(is_kept(st, session(c, 0), VP_GROUP_NAME)); /* held */
    assert_true(is_kept(st, session(c, 1), VP_GROUP_NAME)); /* used */
    assert_false(is_kept(st, session(c, 2), VP_GROUP_NAME));
    assert_true(is_kept(st, session(c, 39), VP_GROUP_NAME));
    int kept = 0;
    for (int i = 0; i < 40; i++)
        kept += is_kept(st, session(c, i), VP_GROUP_NAME);
    assert_int_equal(kept, 32);
    assert_int_equal(store_report_of(held)->op_count, 2);
    store_release(&held);
    catalog_free(c);
    store_close(st);
}

typedef struct asker {
    store *st;
    catalog *c;
    const vp_report *seen;
    int rc;
} asker;

static void *ask(void *arg)
{
    asker *a = arg;
    store_report *h;
    a->rc = store_get(&h, a->st, a->c, session(a->c, 3),
                      &(store_wanted){VP_GROUP_SCOPE, VP_DEPTH_FULL, VP_UNKNOWN, VP_WHERE_DEVICE},
                      NULL);
    if (!a->rc) {
        a->seen = store_report_of(h);
        store_release(&h);
    }
    return NULL;
}

static void equal_requests_share_one_report(void **state)
{
    enum { ASKERS = 12 };
    store *st;
    pthread_t threads[ASKERS];
    asker askers[ASKERS];
    (void)state;
    st = open_indexed(dir.root);
    catalog *c = store_catalog(st);
    for (int i = 0; i < ASKERS; i++) {
        askers[i] = (asker){.st = st, .c = c, .rc = 1};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
    }
    for (int i = 0; i < ASKERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(askers[i].rc, 0);
        assert_ptr_equal(askers[i].seen, askers[0].seen);
    }
    catalog_free(c);
    store_close(st);
}

typedef struct tracks_asker {
    store *st;
    catalog *c;
    store_report *held;
    int rc;
} tracks_asker;

static void *ask_tracks(void *arg)
{
    tracks_asker *a = arg;
    const cat_session *s = session(a->c, 3);
    a->rc = store_get_tracks(&a->held, a->st, a->c, s, &s->hosts[0], NULL);
    return NULL;
}

/* More than may wait for reports at once: none is refused, and one analysis is enough. */
static void all_exports_share_the_tracks_of_a_host(void **state)
{
    enum { ASKERS = 30 };
    store *st;
    pthread_t threads[ASKERS];
    tracks_asker askers[ASKERS];
    store_report *again;
    (void)state;
    st = open_indexed(dir.root);
    catalog *c = store_catalog(st);
    const cat_session *s = session(c, 3);
    for (int i = 0; i < ASKERS; i++) {
        askers[i] = (tracks_asker){.st = st, .c = c, .rc = 1};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_tracks, &askers[i]), 0);
    }
    for (int i = 0; i < ASKERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(askers[i].rc, 0);
        assert_non_null(store_tracks_of(askers[i].held));
        assert_ptr_equal(askers[i].held, askers[0].held);
    }
    assert_true(store_tracks_of(askers[0].held)->track_count > 0);
    store_report *kept = askers[0].held;
    for (int i = 0; i < ASKERS; i++)
        store_release(&askers[i].held);
    assert_int_equal(store_get_tracks(&again, st, c, s, &s->hosts[0], NULL), 0);
    assert_ptr_equal(again, kept);
    store_release(&again);
    assert_int_equal(store_get_tracks(&again, st, c, session(c, 4), &session(c, 4)->hosts[0], NULL),
                     0);
    assert_ptr_not_equal(again, kept);
    store_release(&again);
    assert_false(is_kept(st, s, VP_GROUP_NAME)); /* they are no report */
    catalog_free(c);
    store_close(st);
}

static bool told(const void *of)
{
    return *(const bool *)of;
}

/* What a download gets behind its events. */
static const derived *behind(added_tracks *t, store *st, catalog *c, const bool *left)
{
    ex_pick pick = {0};
    const derived *made = NULL;
    const cat_session *s = session(c, 3);
    added_tracks_client(t, told, left);
    added_tracks_init(t, &pick, st, c, s, &s->hosts[0]);
    assert_int_equal(pick.added->make(pick.added->ctx, &made), 0);
    return made;
}

/* Nothing is analysed for it, and what it got is told not to be all; as where memory ran out. */
static void a_download_whose_client_left_gets_no_tracks(void **state)
{
    const bool stays = false, left = true;
    (void)state;
    store *st = open_indexed(dir.root);
    catalog *c = store_catalog(st);
    added_tracks t = {0};
    assert_null(behind(&t, st, c, &left));
    assert_true(t.lacking);
    added_tracks_free(&t);
    t = (added_tracks){0};
    vp_mem_fail_at(1, true); /* no memory: another try may have some */
    assert_null(behind(&t, st, c, &stays));
    vp_mem_fail_at(0, false);
    assert_true(t.lacking);
    added_tracks_free(&t);
    t = (added_tracks){0};
    assert_non_null(behind(&t, st, c, &stays));
    assert_false(t.lacking);
    added_tracks_free(&t);
    catalog_free(c);
    store_close(st);
}

static int give(void *ctx, const derived **out)
{
    *out = ctx;
    return 0;
}

/* What has no time among what is exported runs over nothing. */
static void a_slice_beyond_all_time_is_in_no_export(void **state)
{
    derived *d;
    ex_pick pick = {0};
    ex_added_slice s;
    (void)state;
    assert_int_equal(derived_new(&d), 0);
    assert_int_equal(derived_add_group(d, VP_STR("g")), 0);
    d->groups[0].shift_ps = 2000;
    assert_int_equal(derived_add_track(d, DERIVED_STEPS, VP_STR_NONE), 0);
    derived_slice in = {.start_ps = 1000, .end_ps = 3000};
    assert_int_equal(derived_add(d, &in, NULL), 0);
    in = (derived_slice){.start_ps = INT64_MAX - 1000, .end_ps = INT64_MAX};
    assert_int_equal(derived_add(d, &in, NULL), 0);
    assert_int_equal(derived_end_track(d), 0);
    ex_added a = {.make = give, .ctx = d};
    assert_int_equal(ex_added_begin(&a, &pick, NULL, 0, 0), 1);
    assert_int_equal(ex_added_next(&a, &s), 1);
    assert_int_equal(s.start_ns, 3);
    assert_int_equal(s.end_ns, 5);
    assert_int_equal(ex_added_next(&a, &s), 0);
    ex_added_free(&a);
    derived_free(d);
}

static void a_rescan_shows_what_is_new_and_pulls_nothing_away(void **state)
{
    tree own;
    store *st;
    store_report *before, *after;
    (void)state;
    tree_make(&own);
    tree_text(&own, "plugins/profile/run00/h.trace.json", PLAIN, 1700000002);
    st = open_indexed(own.root);
    catalog *old = store_catalog(st);
    assert_int_equal(store_get(&before, st, old, session(old, 0), &full_by_name, NULL), 0);

    assert_int_equal(store_refresh(st, 1000000), 0); /* too soon: nothing happens */
    catalog *same = store_catalog(st);
    assert_ptr_equal(same, old);
    catalog_free(same);

    tree_text(&own, "plugins/profile/run00/h.trace.json", THIRD, 1700000003);
    tree_text(&own, "plugins/profile/run01/h.trace.json", PLAIN, 1700000004);
    assert_int_equal(store_rescan(st, -1), 0);

    catalog *fresh = store_catalog(st);
    assert_int_equal(catalog_count(old), 1);
    assert_int_equal(catalog_count(fresh), 2);
    assert_int_equal(store_get(&after, st, fresh, session(fresh, 0), &full_by_name, NULL), 0);
    assert_int_equal(store_report_of(after)->op_count, 3); /* the file changed: a new report */
    assert_int_equal(store_report_of(before)->op_count, 2);
    store_release(&before);
    store_release(&after);
    catalog_free(old);
    catalog_free(fresh);

    tree_remove(&own);
    assert_int_equal(store_rescan(st, -1), VP_ENOTFOUND);
    catalog *last = store_catalog(st);
    assert_int_equal(catalog_count(last), 2); /* the old list is better than none */
    catalog_free(last);
    store_close(st);
}

static bool lists_soon(store *st, size_t count)
{
    for (int waited = 0; waited < 60000; waited += 10) {
        catalog *c = store_catalog(st);
        size_t n = catalog_count(c);
        catalog_free(c);
        if (n == count)
            return true;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    return false;
}

/* Nobody asks: the kernel says that something changed. Directories that are made only now, at any
 * depth, are watched before they are read, so that nothing falls between. */
static void a_run_appears_without_asking(void **state)
{
    tree own;
    store_counts n;
    (void)state;
    tree_make(&own);
    tree_text(&own, "plugins/profile/run00/h.trace.json", PLAIN, 1700000002);
    store *st = open_indexed(own.root);
    store_count(st, &n);
    if (!n.watched) {
        store_close(st);
        tree_remove(&own);
        skip_because("no inotify here, so nothing can be noticed");
    }
    /* the root, plugins, profile, run00, and the root once more as the path that was given */
    assert_int_equal(n.watched, 4);
    assert_true(n.watched_all);
    tree_text(&own, "deep/er/plugins/profile/run01/h.trace.json", PLAIN, 1700000003);
    assert_true(lists_soon(st, 2));
    tree_text(&own, "deep/er/plugins/profile/run02/h.trace.json", PLAIN, 1700000004);
    assert_true(lists_soon(st, 3));
    store_count(st, &n);
    assert_int_equal(n.watched, 10); /* and deep, er, plugins, profile, run01, run02 */
    assert_int_equal(n.sessions, 3);
    assert_true(n.scans >= 3);
    store_close(st);
    tree_remove(&own);
}

/* Standard input, a FIFO here, lets the first scan wait as long as the test wants. */
static void what_is_served_while_the_first_scan_runs(void **state)
{
    int ends[2], keep = dup(STDIN_FILENO);
    store *st;
    store_counts n;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(store_open(&st, "-", NULL, NULL, false), 0);
    assert_true(store_indexing(st, NULL));
    assert_int_equal(store_wait(st, 20), 1);
    store_refresh_soon(st, 0, 20); /* does not wait longer than it was told */
    catalog *none = store_catalog(st);
    assert_int_equal(catalog_count(none), 0);
    assert_null(catalog_latest(none));
    catalog_free(none);
    store_count(st, &n);
    assert_false(n.ready);
    assert_int_equal(write(ends[1], PLAIN, sizeof PLAIN - 1), sizeof PLAIN - 1);
    close(ends[1]);
    assert_int_equal(store_wait(st, -1), 0);
    assert_false(store_indexing(st, NULL));
    store_count(st, &n);
    assert_true(n.ready);
    assert_int_equal(n.sessions, 1);
    assert_int_equal(store_rescan(st, -1), 0); /* it cannot be read twice: nothing happens */
    store_count(st, &n);
    assert_int_equal(n.scans, 1);
    store_close(st);
    dup2(keep, STDIN_FILENO);
    close(keep);
    close(ends[0]);
}

static void failures_are_reported_and_not_kept(void **state)
{
    store *st;
    store_report *h = NULL;
    (void)state;
    st = open_indexed(dir.root);
    catalog *c = store_catalog(st);
    store_cancel(st);
    assert_int_equal(store_get(&h, st, c, session(c, 0), &full_by_name, NULL), VP_ECANCELLED);
    assert_int_equal(vp_error_last()->code, VP_ECANCELLED);
    assert_null(h);
    assert_false(is_kept(st, session(c, 0), VP_GROUP_NAME));
    catalog_free(c);
    store_close(st);
    assert_int_equal(store_open(&st, "/nonexistent/directory", NULL, NULL, false), VP_ENOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_is_made_once),
        cmocka_unit_test(a_full_report_answers_for_the_ops_alone),
        cmocka_unit_test(the_least_used_report_goes_first),
        cmocka_unit_test(equal_requests_share_one_report),
        cmocka_unit_test(all_exports_share_the_tracks_of_a_host),
        cmocka_unit_test(a_slice_beyond_all_time_is_in_no_export),
        cmocka_unit_test(a_download_whose_client_left_gets_no_tracks),
        cmocka_unit_test(a_rescan_shows_what_is_new_and_pulls_nothing_away),
        cmocka_unit_test(a_run_appears_without_asking),
        cmocka_unit_test(what_is_served_while_the_first_scan_runs),
        cmocka_unit_test(failures_are_reported_and_not_kept),
    };
    return cmocka_run_group_tests_name("store", tests, make_runs, remove_runs);
}
