/* What is said about steps from their durations alone: statistics, warm-up, classes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/analyze/steps/steps_judge.h"
#include "trace/base/mem.h"

static vp_arena arena;

static vp_steps judged(const int64_t *dur, size_t n)
{
    vp_steps s = {.source = VP_STEPS_ANNOTATION, .count = n};
    s.list = vp_calloc(n + 1, sizeof *s.list);
    for (size_t i = 0; i < n; i++)
        s.list[i] = (vp_step){.number = (int64_t)i, .dur_ps = dur[i]};
    assert_int_equal(steps_judge(&s, &arena), 0);
    return s;
}

#define JUDGE(...)                                                                                 \
    judged((const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void done(vp_steps *s)
{
    vp_free(s->list);
    vp_arena_free(&arena);
    vp_arena_init(&arena);
}

/* docs/reference/metrics.md#step-statistics: 100,102,98,101,180 → median 101, MAD 1, z(180) =
 * 79/1.4826 = 53.28, CV 31.93/116.2 = 0.2748, excess (1 + 79)/581 = 13.77 %. */
static void the_example_of_the_reference(void **state)
{
    (void)state;
    vp_steps s = JUDGE(100, 102, 98, 101, 180);
    assert_int_equal(s.counted, 5);
    assert_int_equal(s.median_ps, 101);
    assert_int_equal(s.mad_ps, 1);
    assert_int_equal(s.mean_ps, 116); /* 116.2 */
    assert_int_equal(s.min_ps, 98);
    assert_int_equal(s.max_ps, 180);
    assert_int_equal(s.p90_ps, 180);
    assert_int_equal(s.p95_ps, 180);
    assert_int_equal(s.excess_ps, 80);
    assert_float_equal(s.cv, 0.2748, 0.00005);
    assert_float_equal(steps_robust_z(&s, 180), 53.28, 0.005);
    assert_true(steps_slow(&s, 180));
    assert_false(steps_slow(&s, 102));
    assert_false(steps_slow(&s, 20)); /* far off, but fast */
    assert_false(s.list[4].warm_up);
    assert_int_equal(s.group_count, 0);
    done(&s);
}

/* The same with the slow one first: it is warm-up, and the others are 100, 102, 98, 101. */
static void a_slow_first_step_is_warm_up(void **state)
{
    (void)state;
    vp_steps s = JUDGE(180, 100, 102, 98, 101);
    assert_true(s.list[0].warm_up);
    for (size_t i = 1; i < 5; i++)
        assert_false(s.list[i].warm_up);
    assert_int_equal(s.counted, 4);
    assert_int_equal(s.median_ps, 100);
    assert_int_equal(s.max_ps, 102);
    assert_int_equal(s.excess_ps, 3);
    assert_int_equal(steps_judge(&s, &arena), 0); /* again, as when reports are joined */
    assert_true(s.list[0].warm_up);
    assert_int_equal(s.counted, 4);
    done(&s);
    s = JUDGE(180, 100, 102, 98); /* too few to tell */
    assert_false(s.list[0].warm_up);
    assert_int_equal(s.counted, 4);
    done(&s);
}

static void partial_steps_do_not_count(void **state)
{
    (void)state;
    vp_steps s = {.count = 3, .list = vp_calloc(3, sizeof(vp_step))};
    s.list[0] = (vp_step){.dur_ps = 1, .partial = true};
    s.list[1] = (vp_step){.dur_ps = 50};
    s.list[2] = (vp_step){.dur_ps = 7, .partial = true};
    assert_int_equal(steps_judge(&s, &arena), 0);
    assert_int_equal(s.counted, 1);
    assert_int_equal(s.median_ps, 50);
    assert_int_equal(s.mad_ps, 0);
    assert_true(s.cv == 0);
    s.list[1].partial = true;
    assert_int_equal(steps_judge(&s, &arena), 0);
    assert_int_equal(s.counted, 0);
    assert_int_equal(s.median_ps, VP_UNKNOWN);
    assert_int_equal(s.mean_ps, VP_UNKNOWN);
    assert_int_equal(s.excess_ps, VP_UNKNOWN);
    done(&s);
    s = (vp_steps){0};
    assert_int_equal(steps_judge(&s, &arena), 0);
    assert_int_equal(s.counted, VP_UNKNOWN);
    done(&s);
}

static void nothing_is_divided_by_zero(void **state)
{
    (void)state;
    vp_steps s = JUDGE(0, 0, 0, 0, 0, 0, 0);
    assert_int_equal(s.counted, 7);
    assert_int_equal(s.median_ps, 0);
    assert_true(s.cv == 0);
    assert_true(steps_robust_z(&s, 5) == 0);
    assert_int_equal(s.group_count, 0);
    done(&s);
    /* An MAD of 0: its floor is 0.1 % of the median, so 1,014 of 1,000 is z = 9.44 and no outlier,
     * 1,015 is z = 10.1. */
    s = JUDGE(1000, 1000, 1000, 1000, 1000);
    assert_int_equal(s.mad_ps, 0);
    assert_false(steps_slow(&s, 1014));
    assert_true(steps_slow(&s, 1015));
    done(&s);
    int64_t big = INT64_C(1) << 61;
    s = JUDGE(big, big - 1, big, 1, big, big);
    assert_int_equal(s.median_ps, big);
    assert_true(s.cv > 0.4 && s.cv < 0.5); /* sqrt(5)/5 */
    done(&s);
}

/* Every fifth step evaluates. */
static void heavy_steps_have_a_period(void **state)
{
    (void)state;
    int64_t v[40];
    for (int i = 0; i < 40; i++)
        v[i] = i % 5 == 3 ? 300 + i % 2 : 100 + i % 3;
    vp_steps s = judged(v, 40);
    assert_int_equal(s.group_count, 2);
    assert_int_equal(s.groups[0].step_class, VP_STEP_NORMAL);
    assert_int_equal(s.groups[0].count, 32);
    assert_int_equal(s.groups[0].period, VP_UNKNOWN); /* 1 1 1 2 1 1 1 2 … */
    assert_int_equal(s.groups[1].step_class, VP_STEP_HEAVY);
    assert_int_equal(s.groups[1].count, 8);
    assert_int_equal(s.groups[1].period, 5);
    assert_int_equal(s.groups[1].median_ps, 300);
    assert_int_equal(s.groups[1].total_ps, 4 * 300 + 4 * 301);
    assert_int_equal(s.groups[1].example, 8); /* 3 takes 301, 8 takes 300 */
    for (int i = 0; i < 40; i++)
        assert_int_equal(s.list[i].step_class, i % 5 == 3 ? VP_STEP_HEAVY : VP_STEP_NORMAL);
    done(&s);
}

/* Accumulation: three light steps, then one that updates; and one stray step, which is no class. */
static void light_steps_and_an_outlier(void **state)
{
    (void)state;
    vp_steps s = JUDGE(20, 20, 20, 50, 20, 20, 21, 51, 20, 20, 20, 50, 20, 20, 20, 400);
    assert_int_equal(s.group_count, 2);
    assert_int_equal(s.groups[0].count, 12);
    assert_int_equal(s.groups[1].count, 3);
    assert_int_equal(s.groups[1].period, 4);
    assert_int_equal(s.list[15].step_class, VP_STEP_NORMAL);
    done(&s);
    s = JUDGE(50, 20, 50, 50, 20, 50, 50, 20, 50);
    assert_int_equal(s.groups[0].step_class, VP_STEP_LIGHT);
    assert_int_equal(s.groups[0].period, 3);
    assert_int_equal(s.groups[1].step_class, VP_STEP_NORMAL);
    done(&s);
    s = JUDGE(10, 20, 10, 10, 20, 10, 20, 10, 10); /* irregular */
    assert_int_equal(s.groups[1].count, 3);
    assert_int_equal(s.groups[1].period, VP_UNKNOWN);
    done(&s);
}

/* Uniform, exponential, and two slow steps: nothing of that is a class. */
static void noise_has_no_classes(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    size_t invented = 0;
    for (int round = 0; round < 2000; round++) {
        int64_t v[60];
        size_t n = 6 + (size_t)round % 55;
        for (size_t i = 0; i < n; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            int64_t u = (int64_t)(random % 1000000);
            v[i] = round % 2 ? 1000000 + u : 1000000 + (__builtin_ctzll(random >> 20) + 1) * u;
        }
        vp_steps s = judged(v, n);
        invented += s.group_count > 0;
        done(&s);
    }
    assert_true(invented <= 20); /* 1 % */
    vp_steps s = JUDGE(100, 101, 99, 100, 102, 180, 100, 98, 101, 100, 100, 99, 100, 260, 101, 100,
                       100, 99, 101, 100, 100, 100);
    assert_int_equal(s.group_count, 0);
    done(&s);
    s = JUDGE(100, 200, 100, 200, 100); /* too few */
    assert_int_equal(s.group_count, 0);
    done(&s);
}

/* Durations that grow by 11 % each: as many segments as there can be. */
static void a_geometric_series_is_no_group(void **state)
{
    (void)state;
    int64_t v[800];
    size_t n = 0;
    for (long double x = 10; x < 2e18L && n < 800; x *= 1.1115L, n += 2)
        v[n] = v[n + 1] = (int64_t)x;
    vp_steps s = judged(v, n);
    int64_t total = 0;
    for (size_t i = 0; i < s.group_count; i++)
        total += s.groups[i].count;
    assert_true(total <= (int64_t)n);
    done(&s);
}

int main(void)
{
    vp_arena_init(&arena);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_reference),
        cmocka_unit_test(a_slow_first_step_is_warm_up),
        cmocka_unit_test(partial_steps_do_not_count),
        cmocka_unit_test(nothing_is_divided_by_zero),
        cmocka_unit_test(heavy_steps_have_a_period),
        cmocka_unit_test(light_steps_and_an_outlier),
        cmocka_unit_test(noise_has_no_classes),
        cmocka_unit_test(a_geometric_series_is_no_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
