/* Who looks at a session's traces while its report is made sees every host's, whole, once when it
 * is read and once with its analysis. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/traces.h"
#include "tests/unit/tree.h"
#include "trace/analyze/analyze.h"
#include "trace/base/err.h"
#include "trace/model/trace.h"

#define RUN "plugins/profile/2026_02_03_04_05_06/"

typedef struct seen {
    _Atomic int looks[2][2]; /* host, analyzed */
    _Atomic uint64_t events;
    int fails_on; /* host; -1: none */
} seen;

static int look(void *ctx, uint32_t host, const trace *t, derived *d)
{
    bool analyzed = d != NULL;
    seen *s = ctx;
    assert_true(host < 2);
    atomic_fetch_add(&s->looks[host][analyzed], 1);
    if (!analyzed)
        atomic_fetch_add(&s->events, t->event_count);
    derived_free(d);
    return (int)host == s->fails_on ? vp_fail(VP_ELIMIT, "no room") : 0;
}

static void copy(const char *from, const char *to)
{
    char some[1 << 16];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(in >= 0 && out >= 0);
    for (ssize_t n; (n = read(in, some, sizeof some)) > 0;)
        assert_int_equal(write(out, some, (size_t)n), n);
    close(in);
    close(out);
}

static void two_hosts(tree *t)
{
    char real[4096], to[8192];
    tree_make(t);
    traces_path(real, sizeof real,
                "jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb");
    for (int i = 0; i < 2; i++) {
        snprintf(to, sizeof to, RUN "host%c.xplane.pb", 'A' + i);
        tree_dirs_for(t, to);
        copy(real, tree_at(t, to));
    }
}

static int analyzed(vp_report **r, seen *s, int jobs)
{
    tree t;
    catalog *c = NULL;
    vp_report_options opts = VP_REPORT_OPTIONS_INIT;
    opts.jobs = jobs;
    two_hosts(&t);
    assert_int_equal(catalog_open(&c, t.root, NULL), 0);
    assert_int_equal(catalog_latest(c)->host_count, 2);
    int rc = analyze_session_looked(r, c, catalog_latest(c), &opts, look, s);
    catalog_free(c);
    tree_remove(&t);
    return rc;
}

static void test_each_host_is_seen(void **state)
{
    (void)state;
    for (int jobs = 1; jobs <= 2; jobs++) {
        vp_report *r = NULL;
        seen s = {.fails_on = -1};
        assert_int_equal(analyzed(&r, &s, jobs), 0);
        for (int host = 0; host < 2; host++)
            for (int i = 0; i < 2; i++)
                assert_int_equal(s.looks[host][i], 1);
        assert_int_equal(s.events, (uint64_t)r->events);
        analyze_free(r);
    }
}

/* The other host is analysed all the same, and the report says what is missing. */
static void test_a_look_fails_its_host(void **state)
{
    (void)state;
    vp_report *r = NULL;
    seen s = {.fails_on = 1};
    assert_int_equal(analyzed(&r, &s, 2), 0);
    assert_int_equal(s.looks[1][0], 1);
    assert_int_equal(s.looks[1][1], 0);
    assert_int_equal(s.looks[0][1], 1);
    assert_true(r->partial);
    analyze_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_host_is_seen),
        cmocka_unit_test(test_a_look_fails_its_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
