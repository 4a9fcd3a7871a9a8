/* How often a gate is wrong, and how often it finds what is there: pairs of built runs of known
 * steps through the comparison itself. VP_NOISE_PAIRS=10000 for the figures in docs/ci.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/analyze/compare/compare.h"
#include "trace/analyze/steps/steps_judge.h"
#include "trace/base/arena.h"

#define STEPS_MAX 100
#define STEP_PS 1e11 /* 100 ms */

enum { GAUSSIAN, LONG_TAILED, DRIFTING, SHAPES };
static const char *const shape_names[] = {"Gaussian", "long-tailed", "drifting"};

static uint64_t seed;

/* splitmix64, in [0, 1). */
static double uniform(void)
{
    uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(1 - uniform())) * cos(2 * 3.14159265358979 * uniform());
}

/* 3 % of deviation; of the long tail, 2 % and one step in ten with an exponential rest of 20 %; of
 * a drift, 1 % around a line that rises or falls by up to 4 %. */
static double length_of(int shape, double place, double slope)
{
    switch (shape) {
    case GAUSSIAN:
        return 1 + 0.03 * normal();
    case LONG_TAILED:
        return 1 + 0.02 * normal() + (uniform() < 0.1 ? -0.2 * log(1 - uniform()) : 0);
    default:
        return 1 + 0.01 * normal() + slope * place;
    }
}

static void build(vp_report *r, vp_step *list, vp_arena *arena, int shape, size_t n, double factor)
{
    double slope = 0.08 * (uniform() - 0.5);
    *r = (vp_report){.depth = VP_DEPTH_FULL, .events = n, .steps = {.list = list, .count = n}};
    for (size_t i = 0; i < n; i++) {
        double place = (double)i / (double)n - 0.5;
        list[i] = (vp_step){.number = (int64_t)i,
                            .dur_ps = (int64_t)(STEP_PS * factor * length_of(shape, place, slope))};
    }
    assert_int_equal(steps_judge(&r->steps, arena), 0);
}

/* How many of the pairs the gate of 5 % stops, and how many are called different at all. */
static void count(size_t pairs, int shape, size_t n, double factor, size_t *stopped,
                  size_t *different)
{
    *stopped = *different = 0;
    for (size_t i = 0; i < pairs; i++) {
        vp_step lists[2][STEPS_MAX];
        vp_report a, b;
        vp_comparison *c = NULL;
        vp_arena arena;
        vp_arena_init(&arena);
        build(&a, lists[0], &arena, shape, n, 1);
        build(&b, lists[1], &arena, shape, n, factor);
        assert_int_equal(compare_make(&c, &a, &b), 0);
        *different += c->verdict == VP_REGRESSION || c->verdict == VP_IMPROVEMENT;
        *stopped += c->verdict == VP_REGRESSION && c->median.delta_ps * 20 > c->median.a_ps;
        compare_free(c);
        vp_arena_free(&arena);
    }
}

static void the_gate_is_seldom_wrong(void **state)
{
    static const size_t steps[] = {3, 5, 10, 30, 100};
    const char *asked = getenv("VP_NOISE_PAIRS");
    size_t pairs = asked ? strtoul(asked, NULL, 10) : 1000;
    (void)state;
    seed = 20260102;
    for (int shape = 0; shape < SHAPES; shape++)
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            size_t wrong, different, found5, found10, ignored;
            count(pairs, shape, steps[k], 1, &wrong, &different);
            count(pairs, shape, steps[k], 1.05, &ignored, &found5);
            count(pairs, shape, steps[k], 1.10, &found10, &ignored);
            printf(
                "%-11s %3zu steps: stopped %.2f %%, different %.2f %%, 5 %% slower seen %.1f %%, "
                "10 %% slower stopped %.1f %%\n",
                shape_names[shape], steps[k], 100.0 * (double)wrong / (double)pairs,
                100.0 * (double)different / (double)pairs, 100.0 * (double)found5 / (double)pairs,
                100.0 * (double)found10 / (double)pairs);
            assert_true(wrong * 100 <= pairs);
            assert_true(different * 100 <= pairs);
            assert_true(steps[k] < 30 || found10 * 100 >= pairs * 95);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_gate_is_seldom_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
