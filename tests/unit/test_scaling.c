/* Results of benchmarks, read, compared and written: whichever allocation fails, it is told and
 * nothing is lost. What the figures are: tests/cli/test_compare_results.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/base/mem.h"
#include "trace/report/bench/scaling_compare.h"

static const char results[] =
    "{\"gpu_count\":%d,\"a\":{\"execution_time\":2,\"success\":true,\"first_call_s\":3,"
    "\"warmup_s\":4,\"run_s\":[2,2.1,1.9],\"export_s\":1,\"tensorboard_trace\":\"t\"},"
    "\"b\":{\"execution_time\":1,\"success\":true},"
    "\"c\":{\"execution_time\":1,\"success\":false,\"error\":\"no\\nroom | `here`\"}}";

static void write_results(char *path, int devices)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    assert_true(fprintf(f, results, devices) > 0);
    assert_int_equal(fclose(f), 0);
}

static int read_both(scaling *a, scaling *b, const char *one, const char *two)
{
    int rc = scaling_add(a, one);
    if (rc >= 0)
        rc = scaling_add(b, two);
    scaling_relate(a);
    scaling_relate(b);
    return rc;
}

/* jansson's own allocations do not fail here: it does not use ours. */
static void reading_and_comparing(void **state)
{
    (void)state;
    char one[] = "/tmp/test_scaling_XXXXXX", two[] = "/tmp/test_scaling_XXXXXX";
    uint64_t used, k = 0;
    write_results(one, 1);
    write_results(two, 2);
    do {
        scaling a, b;
        scaling_comparison c = {0};
        scaling_init(&a);
        scaling_init(&b);
        vp_mem_fail_at(++k, false);
        int rc = read_both(&a, &b, one, two);
        if (rc >= 0)
            rc = scaling_compare(&c, &a, &b, one, two);
        used = vp_mem_fail_at(0, false);
        assert_int_equal(rc, used >= k ? VP_ENOMEM : 0);
        if (rc == 0) {
            assert_int_equal(c.count, 3); /* on 1 and on 2 devices */
            assert_int_equal(c.by_verdict[VP_UNVERIFIED], 2);
        }
        scaling_compare_free(&c);
        scaling_free(&a);
        scaling_free(&b);
    } while (used >= k);
    assert_true(k > 8);
    unlink(one);
    unlink(two);
}

typedef int writer(vp_buf *b, const scaling_comparison *c);

static int as_text(vp_buf *b, const scaling_comparison *c)
{
    return rep_results_text(b, c, NULL);
}

static int as_md(vp_buf *b, const scaling_comparison *c)
{
    return rep_results_md(b, c, NULL);
}

static int as_junit(vp_buf *b, const scaling_comparison *c)
{
    const bool failed[] = {true, false, true};
    return rep_results_junit(b, c, failed);
}

static void writing(void **state)
{
    (void)state;
    static writer *const writers[] = {as_text,          as_md,           as_junit,
                                      rep_results_json, rep_results_csv, rep_results_html};
    char one[] = "/tmp/test_scaling_XXXXXX", two[] = "/tmp/test_scaling_XXXXXX";
    scaling a, b;
    scaling_comparison c;
    write_results(one, 1);
    write_results(two, 2);
    scaling_init(&a);
    scaling_init(&b);
    assert_int_equal(read_both(&a, &b, one, two), 0);
    assert_int_equal(scaling_compare(&c, &a, &b, "one", "two"), 0);
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        uint64_t used, k = 0;
        do {
            vp_buf out;
            vp_buf_init(&out, 1u << 20);
            vp_mem_fail_at(++k, false);
            int rc = writers[i](&out, &c);
            used = vp_mem_fail_at(0, false);
            vp_buf_free(&out);
            if (rc != (used >= k ? VP_ENOMEM : 0))
                fail_msg("writer %zu, allocation %llu: %d", i, (unsigned long long)k, rc);
        } while (used >= k);
    }
    scaling_compare_free(&c);
    scaling_free(&a);
    scaling_free(&b);
    unlink(one);
    unlink(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reading_and_comparing),
                                       cmocka_unit_test(writing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
