/* Step statistics and flop_stats.json, against sums made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "trace/base/fs.h"
#include "trace/base/mem.h"
#include "trace/base/system/temp_tree.h"
#include "trace/capture/disk/small_files.h"
#include "trace/capture/plan/step_stats.h"
#include "trace/capture/write/flop_stats.h"

#define MS UINT64_C(1000000)
#define SECOND INT64_C(1000000000)

static void mean_and_deviation(void **state)
{
    /* 2, 4, 4, 4, 5, 5, 7, 9: mean 5, deviation 2 */
    static const uint64_t ms[] = {2, 4, 4, 4, 5, 5, 7, 9};
    step_stats s = {0};
    (void)state;
    assert_true(step_stats_stddev(&s) == 0 && step_stats_median(&s) == 0);
    for (size_t i = 0; i < 8; i++)
        step_stats_add(&s, ms[i] * MS);
    assert_int_equal(s.count, 8);
    assert_true(fabs(s.mean - 0.005) < 1e-12);
    assert_true(fabs(step_stats_stddev(&s) - 0.002) < 1e-12);
    assert_int_equal(step_stats_recent_median_ns(&s), 4 * MS); /* the lower of the middle two */
}

/* Lengths of nine orders of magnitude: the histogram's median is within 1/16 of the exact one. */
static void the_median_is_near_at_every_length(void **state)
{
    (void)state;
    for (uint64_t ns = 1; ns < 1000 * (uint64_t)SECOND; ns = ns * 5 / 4 + 1) {
        step_stats s = {0};
        for (unsigned i = 0; i < 5; i++)
            step_stats_add(&s, i < 2 ? ns / 10 : i > 2 ? ns * 10 : ns);
        double off = fabs(step_stats_median(&s) * 1e9 - (double)ns);
        assert_true(off <= (double)ns / 16 + 1e-6);
    }
    step_stats s = {0};
    step_stats_add(&s, UINT64_MAX);
    assert_true(step_stats_median(&s) > 1.8e10 * 0.93);
}

static void the_recent_median_forgets(void **state)
{
    step_stats s = {0};
    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        step_stats_add(&s, 900 * MS);
    for (unsigned i = 0; i < 64; i++)
        step_stats_add(&s, 10 * MS + i);
    assert_int_equal(step_stats_recent_median_ns(&s), 10 * MS + 31);
}

static void the_slowest_step_of_a_minute_is_told(void **state)
{
    step_stats s = {0};
    (void)state;
    for (unsigned i = 0; i < 15; i++)
        step_stats_add(&s, 10 * MS);
    assert_int_equal(step_stats_pace(&s, 1000 * MS, 2, 0), STEP_USUAL); /* of 15 nobody knows */
    step_stats_add(&s, 10 * MS);
    assert_int_equal(step_stats_pace(&s, 20 * MS - 1, 2, 0), STEP_USUAL);
    assert_int_equal(step_stats_pace(&s, 20 * MS, 2, 0), STEP_SLOWEST);
    assert_int_equal(step_stats_pace(&s, 20 * MS, 2, 1), STEP_SLOWEST); /* that one was not told */
    step_stats_tell_slow(&s, 32 * MS, 0);
    assert_int_equal(step_stats_pace(&s, 32 * MS, 2, SECOND), STEP_SLOW);
    step_stats_pass_slow(&s);
    assert_int_equal(step_stats_pace(&s, 170 * MS, 2, 30 * SECOND), STEP_SLOWEST);
    step_stats_tell_slow(&s, 170 * MS, 30 * SECOND);
    assert_int_equal(step_stats_pace(&s, 169 * MS, 2, 60 * SECOND - 1), STEP_SLOW);
    step_stats_pass_slow(&s);
    assert_int_equal(step_stats_passed(&s, 60 * SECOND - 1), 0);
    assert_int_equal(step_stats_passed(&s, 60 * SECOND), 2);
    assert_int_equal(step_stats_passed(&s, 60 * SECOND), 0); /* told once */
    assert_int_equal(step_stats_pace(&s, 20 * MS, 2, 60 * SECOND), STEP_SLOWEST);
    assert_int_equal(step_stats_pace(&s, 900 * MS, 0, 600 * SECOND), STEP_USUAL); /* switched off */
}

/* ---- flop_stats.json ---- */

static json_t *read_back(const flop_stats *f, const vp_schedule *s)
{
    vp_buf b;
    vp_buf_init(&b, 1 << 20);
    assert_int_equal(flop_stats_put(&b, f, s), 0);
    json_t *j = json_loadb(b.p, b.n, 0, NULL);
    vp_buf_free(&b);
    assert_non_null(j);
    return j;
}

static void near(const json_t *j, const char *key, double v)
{
    double is = json_number_value(json_object_get(j, key));
    if (!(fabs(is - v) <= 1e-8 * fabs(v)))
        fail_msg("%s is %.12g, not %.12g", key, is, v);
}

/* Cold: 100 tokens in 9 s. Warm: 1000 in 0.5 s, 3000 in 1.5 s: 2000 tokens/s; 7e6 parameters:
 * 42e6 operations a token, 0.084 TFLOP/s, of 0.7: 12 %. */
static void rates_leave_the_cold_step_out(void **state)
{
    flop_stats f = {0};
    vp_schedule s = VP_SCHEDULE_INIT;
    (void)state;
    s.model_params = 7e6;
    s.peak_tflops = 0.7;
    flop_stats_add(&f, 100, 9000 * MS);
    flop_stats_add(&f, 1000, 500 * MS);
    flop_stats_add(&f, 3000, 1500 * MS);
    json_t *j = read_back(&f, &s);
    assert_string_equal(json_string_value(json_object_get(j, "schema")),
                        "view_profile.flop_stats/1");
    near(j, "profiling_steps", 2);
    near(j, "total_tokens", 4000);
    near(j, "total_time_sec", 2);
    near(j, "tokens_per_sec", 2000);
    near(j, "model_params", 7e6);
    near(j, "flops_per_token", 42e6);
    near(j, "achieved_tflops", 0.084);
    near(j, "peak_tflops", 0.7);
    near(j, "mfu_percent", 12);
    near(j, "cold_steps", 1);
    near(j, "cold_step_time", 9);
    const json_t *tokens = json_object_get(j, "per_step_tokens");
    assert_int_equal(json_array_size(tokens), 2);
    assert_int_equal(json_integer_value(json_array_get(tokens, 1)), 3000);
    assert_int_equal(json_array_size(json_object_get(j, "per_step_times")), 2);
    json_decref(j);
    flop_stats_reset(&f);
    flop_stats_add(&f, 5, MS); /* cold again */
    assert_int_equal(f.count, 0);
    flop_stats_free(&f);
}

static void what_is_unknown_is_null(void **state)
{
    static const char *const keys[] = {"tokens_per_sec",  "model_params", "flops_per_token",
                                       "achieved_tflops", "peak_tflops",  "mfu_percent"};
    flop_stats f = {0};
    vp_schedule s = VP_SCHEDULE_INIT;
    (void)state;
    json_t *j = read_back(&f, &s);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_true(json_is_null(json_object_get(j, keys[i])));
    assert_true(json_is_null(json_object_get(j, "cold_step_time")));
    assert_int_equal(json_integer_value(json_object_get(j, "profiling_steps")), 0);
    json_decref(j);
}

static void sums_hold_what_the_list_cannot(void **state)
{
    flop_stats f = {0};
    vp_schedule s = VP_SCHEDULE_INIT;
    (void)state;
    for (unsigned i = 0; i <= FLOP_STATS_LISTED + 10; i++)
        flop_stats_add(&f, 1, MS);
    assert_int_equal(f.listed, FLOP_STATS_LISTED);
    assert_int_equal(f.tokens, FLOP_STATS_LISTED + 10);
    flop_stats_free(&f);
    vp_mem_fail_at(1, true);
    flop_stats_add(&f, 1, MS);
    flop_stats_add(&f, 1, MS);
    vp_mem_fail_at(0, false);
    flop_stats_add(&f, 1, MS); /* no hole in the list */
    assert_int_equal(f.listed, 0);
    assert_int_equal(f.count, 2);
    flop_stats_free(&f);
    (void)s;
}

/* ---- Files ---- */

static void the_file_appears_whole(void **state)
{
    vp_temp_tree t = VP_TEMP_TREE_NONE;
    char dir[VP_PATH_MAX + 8], path[VP_PATH_MAX + 40];
    flop_stats f = {0};
    vp_schedule s = VP_SCHEDULE_INIT;
    struct stat st;
    (void)state;
    assert_int_equal(vp_temp_tree_make(&t, "vp_test_flops"), 0);
    snprintf(dir, sizeof dir, "%s/a/b", t.path);
    snprintf(path, sizeof path, "%s/flop_stats.json", dir);
    assert_int_equal(flop_stats_write(&f, &s, dir), 0);
    assert_int_equal(stat(path, &st), 0);
    vp_fs_fail_at(1, ENOSPC);
    flop_stats_add(&f, 1, MS);
    assert_true(flop_stats_write(&f, &s, dir) < 0);
    vp_fs_fail_at(0, 0);
    struct stat after;
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(after.st_ino, st.st_ino); /* as it was, and nothing beside it */
    assert_int_equal(rmdir(dir), -1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
    vp_temp_tree_free(&t);
}

static void directories_of_steps(void **state)
{
    char out[VP_PATH_MAX], name[10001];
    (void)state;
    assert_int_equal(cap_step_dir(out, "profiles", "train_step", 100), 0);
    assert_string_equal(out, "profiles/train_step_step_100");
    assert_int_equal(cap_step_dir(out, "p", "../a/b\n", UINT64_MAX), 0);
    assert_string_equal(out, "p/_._a_b__step_18446744073709551615");
    assert_int_equal(cap_step_dir(out, "p", "", 1), 0);
    assert_string_equal(out, "p/__step_1");
    memset(name, 'x', 10000);
    memcpy(name + 199, "é", 2); /* would be cut in two */
    name[10000] = '\0';
    assert_int_equal(cap_step_dir(out, "p", name, 1), 0);
    assert_int_equal(strlen(out), 2 + 199 + 7);
    memset(name, 'd', 5000);
    name[5000] = '\0';
    assert_int_equal(cap_step_dir(out, name, "x", 1), VP_ELIMIT);
}

static void the_home_directory(void **state)
{
    char out[VP_PATH_MAX];
    (void)state;
    setenv("HOME", "/home/me", 1);
    assert_int_equal(cap_user_dir(out, "~/p", "profiles"), 0);
    assert_string_equal(out, "/home/me/p");
    assert_int_equal(cap_user_dir(out, "~you/p", "profiles"), 0);
    assert_string_equal(out, "~you/p");
    assert_int_equal(cap_user_dir(out, NULL, "profiles"), 0);
    assert_string_equal(out, "profiles");
    assert_int_equal(cap_user_dir(out, "", "profiles"), 0);
    assert_string_equal(out, "profiles");
}

static void a_directory_in_full(void **state)
{
    char here[VP_PATH_MAX], full[VP_PATH_MAX], expected[VP_PATH_MAX + 16], longer[VP_PATH_MAX];
    (void)state;
    assert_string_equal(cap_full_dir(full, "/a/b"), "/a/b");
    assert_non_null(getcwd(here, sizeof here));
    snprintf(expected, sizeof expected, "%s/a/../b", here);
    assert_string_equal(cap_full_dir(full, "././a/../b"), expected);
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_ptr_equal(cap_full_dir(full, longer), longer);
    assert_int_equal(chdir("/"), 0);
    assert_string_equal(cap_full_dir(full, "a"), "/a");
    assert_int_equal(chdir(here), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_and_deviation),
        cmocka_unit_test(the_median_is_near_at_every_length),
        cmocka_unit_test(the_recent_median_forgets),
        cmocka_unit_test(the_slowest_step_of_a_minute_is_told),
        cmocka_unit_test(rates_leave_the_cold_step_out),
        cmocka_unit_test(what_is_unknown_is_null),
        cmocka_unit_test(sums_hold_what_the_list_cannot),
        cmocka_unit_test(the_file_appears_whole),
        cmocka_unit_test(directories_of_steps),
        cmocka_unit_test(the_home_directory),
        cmocka_unit_test(a_directory_in_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
