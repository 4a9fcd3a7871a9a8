/* Sets of times against a row of moments, each in the set or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/analyze/device/sweep.h"

#define MOMENTS 400

static uint64_t seed = 1;

static int64_t below(int64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (int64_t)(seed >> 33) % n;
}

typedef enum order { ASCENDING, NEARLY, ANY } order;

/* n spans up to 20 long, and the moments in them. */
static void fill(spans *s, bool *in, int n, order how)
{
    for (int i = 0; i < n; i++) {
        int64_t start = how == ANY ? below(MOMENTS - 20) : (int64_t)i * (MOMENTS - 60) / n;
        start += how == NEARLY ? below(40) : 0;
        int64_t end = start + below(20);
        assert_int_equal(spans_add(s, start, end), 0);
        for (int64_t t = start; t < end; t++)
            in[t] = true;
    }
}

static void check(const spans *s, const bool *in)
{
    size_t i = 0, hint = 0, near = 0;
    int64_t length = 0;
    for (int64_t t = 0; t < MOMENTS; t++) {
        if (in[t] && (!t || !in[t - 1]))
            assert_int_equal(s->v[i].start, t);
        if (in[t] && (t + 1 == MOMENTS || !in[t + 1]))
            assert_int_equal(s->v[i++].end, t + 1);
        assert_int_equal(spans_contain(s, t, &hint), in[t]);
        assert_int_equal(spans_cut(s, t, t + 1, &near), in[t]);
        near = (size_t)below((int64_t)s->n + 2); /* wherever it is looked for first */
        length += in[t];
    }
    assert_int_equal(s->n, i);
    assert_int_equal(spans_length(s), length);
}

static void test_unions(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        spans a = {0}, b = {0};
        bool in_a[MOMENTS] = {0}, in_b[MOMENTS] = {0}, in_any[MOMENTS];
        int64_t common = 0;
        fill(&a, in_a, (int)below(40), round % 3);
        fill(&b, in_b, (int)below(40), round / 3 % 3);
        assert_int_equal(spans_union(&a), 0);
        assert_int_equal(spans_union(&b), 0);
        check(&a, in_a);
        check(&b, in_b);
        for (int t = 0; t < MOMENTS; t++) {
            in_any[t] = in_a[t] || in_b[t];
            common += in_a[t] && in_b[t];
        }
        assert_int_equal(spans_overlap(&a, &b), common);
        assert_int_equal(spans_unite(&a, &b), 0);
        check(&a, in_any);
        spans_free(&a);
        spans_free(&b);
    }
}

/* What is no further from the span before is joined to it, with the moments between. */
static void test_near(void **state)
{
    (void)state;
    spans s = {0};
    assert_int_equal(spans_add_near(&s, 0, 10, 5), 0);
    assert_int_equal(spans_add_near(&s, 15, 20, 5), 0);
    assert_int_equal(spans_add_near(&s, 16, 18, 5), 0);
    assert_int_equal(spans_add_near(&s, 26, 30, 5), 0);
    assert_int_equal(spans_add_near(&s, 31, 31, 5), 0); /* empty */
    assert_int_equal(spans_add_near(&s, INT64_MAX - 1, INT64_MAX, 5), 0);
    assert_int_equal(spans_add_near(&s, INT64_MIN, INT64_MIN + 1, 5), 0); /* before it */
    assert_int_equal(s.n, 4);
    static const span want[] = {
        {0, 20}, {26, 30}, {INT64_MAX - 1, INT64_MAX}, {INT64_MIN, INT64_MIN + 1}};
    assert_memory_equal(s.v, want, sizeof want);
    spans_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unions), cmocka_unit_test(test_near)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
