/* What the environment asks of the recorder, and which ranges of a program are its steps. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/base/err.h"
#include "trace/base/system/live_dir.h"
#include "trace/capture/adapters/step_name.h"
#include "trace/capture/control/environment.h"
#include "trace/capture/pool/recorder.h"

static const char *const *variables; /* name, value, …, NULL */

static const char *get(const char *name)
{
    for (size_t i = 0; variables[i]; i += 2)
        if (!strcmp(variables[i], name))
            return variables[i + 1];
    return NULL;
}

static int parse(environment *e, const char *const *v)
{
    variables = v;
    return environment_read(e, get);
}

#define READ(e, ...) parse(e, (const char *const[]){__VA_ARGS__, NULL})

static void test_all(void **state)
{
    (void)state;
    environment e;
    assert_int_equal(READ(&e, "VIEW_PROFILE", "1", "VIEW_PROFILE_DIR", "/tmp/x",
                          "VIEW_PROFILE_STEPS", "150:5", "VIEW_PROFILE_RING", "64M",
                          "VIEW_PROFILE_SIGNAL", "USR2", "VIEW_PROFILE_GPU", "require"),
                     0);
    assert_true(e.on);
    assert_string_equal(e.dir, "/tmp/x");
    assert_true(e.has_steps);
    assert_int_equal(e.first_step, 150);
    assert_int_equal(e.step_count, 5);
    assert_true(e.ring_bytes == UINT64_C(67108864));
    assert_int_equal(e.signal_number, SIGUSR2);
    assert_int_equal(e.gpu, VP_GPU_REQUIRE);
}

static void test_defaults(void **state)
{
    (void)state;
    environment e;
    assert_int_equal(READ(&e, "HOME", "/"), 0);
    assert_false(e.on);
    assert_int_equal(READ(&e, "VIEW_PROFILE", "0"), 0);
    assert_false(e.on);
    assert_int_equal(READ(&e, "VIEW_PROFILE", ""), 0);
    assert_false(e.on);
    assert_int_equal(READ(&e, "VIEW_PROFILE", "/opt/bin/view_profile"), 0);
    assert_false(e.on); /* somebody's path to the program */
    assert_int_equal(READ(&e, "VIEW_PROFILE", "On"), 0);
    assert_true(e.on);
    assert_int_equal(
        READ(&e, "VIEW_PROFILE", "1", "VIEW_PROFILE_STEPS", "", "VIEW_PROFILE_DIR", ""), 0);
    assert_true(e.on);
    assert_null(e.dir);
    assert_false(e.has_steps);
    assert_int_equal(e.ring_bytes, 0);
    assert_int_equal(e.signal_number, 0);
    assert_int_equal(e.gpu, CAP_GPU_IF_USED);
    assert_int_equal(READ(&e, "VIEW_PROFILE", "1", "VIEW_PROFILE_STEPS", "7"), 0);
    assert_int_equal(e.first_step, 7);
    assert_int_equal(e.step_count, 1);
    assert_int_equal(READ(&e, "VIEW_PROFILE", "1", "VIEW_PROFILE_SIGNAL", "sigusr1"), 0);
    assert_int_equal(e.signal_number, SIGUSR1);
    assert_int_equal(READ(&e, "VIEW_PROFILE", "1", "VIEW_PROFILE_RING", "1048576"), 0);
    assert_int_equal(e.ring_bytes, 1048576);
    /* What is wrong does not matter while nobody asks for anything. */
    assert_int_equal(READ(&e, "VIEW_PROFILE_STEPS", "x"), 0);
}

static void test_nonsense_is_named(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"VIEW_PROFILE_STEPS", "1:5:"},      {"VIEW_PROFILE_STEPS", "1:5:0"},
        {"VIEW_PROFILE_STEPS", "1:5:4"},     {"VIEW_PROFILE_STEPS", "1:5:9:0"},
        {"VIEW_PROFILE_STEPS", "1:5:9:2:1"}, {"VIEW_PROFILE_STEPS", "1:5:9:x"},
        {"VIEW_PROFILE_STEPS", "x"},         {"VIEW_PROFILE_STEPS", "1:"},
        {"VIEW_PROFILE_STEPS", "1:0"},       {"VIEW_PROFILE_STEPS", ":5"},
        {"VIEW_PROFILE_STEPS", "-1:5"},      {"VIEW_PROFILE_STEPS", "99999999999999999999:1"},
        {"VIEW_PROFILE_RING", "64X"},        {"VIEW_PROFILE_RING", "M"},
        {"VIEW_PROFILE_RING", "1023K"},      {"VIEW_PROFILE_RING", "99999999G"},
        {"VIEW_PROFILE_SIGNAL", "KILL"},     {"VIEW_PROFILE_SIGNAL", "12"},
        {"VIEW_PROFILE_GPU", "yes"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        environment e = {.first_step = 77};
        assert_int_equal(READ(&e, "VIEW_PROFILE", "1", wrong[i][0], wrong[i][1]), VP_EARG);
        assert_non_null(strstr(vp_error_last()->message, wrong[i][0]));
        assert_int_equal(e.first_step, 77);
    }
}

static void test_step_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *name, *word;
        uint64_t number;
    } steps[] = {{"step 7", "step", 7},
                 {"Step #12", "Step", 12},
                 {"train_step_150", "train_step", 150},
                 {"ProfilerStep#3", "ProfilerStep", 3},
                 {"iteration: 0", "iteration", 0},
                 {"iter1000000", "iter", 1000000},
                 {"train step (4)", "train step", 4},
                 {"epoch 2 step=9", "epoch 2 step", 9}};
    static const char *const others[] = {
        "footstep 7", "step",           "7",       "",
        "steps 7",    "step 7 forward", "layer 3", "step 9999999999999999999",
        "stepper3"};
    uint64_t n;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        vp_str s = vp_str_of(steps[i].name);
        assert_true(step_number(s, &n));
        assert_true(n == steps[i].number);
        assert_true(vp_str_eq(step_name(s), vp_str_of(steps[i].word)));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(step_number(vp_str_of(others[i]), &n));
    assert_true(vp_str_eq(step_name(VP_STR("layer 3")), VP_STR("layer 3")));
    assert_true(step_word(VP_STR("train_step")));
    assert_false(step_word(VP_STR("overstep")));
    assert_false(step_word(VP_STR("")));
}

static bool ask(step_rule *r, const char *name, bool outermost, uint64_t *n)
{
    *n = 99;
    return step_of_range(r, vp_str_of(name), outermost, n);
}

static void test_outermost_range_that_repeats(void **state)
{
    (void)state;
    step_rule r = {.chosen = 0};
    uint64_t n;
    assert_false(ask(&r, "load data", true, &n));
    assert_false(ask(&r, "train", true, &n)); /* step 0, unseen: it could have been the only one */
    assert_false(ask(&r, "forward", false, &n));
    assert_false(ask(&r, "forward", false, &n)); /* again, but inside of something */
    assert_true(ask(&r, "train", true, &n));
    assert_int_equal(n, 1);
    assert_false(ask(&r, "load data", true, &n)); /* the step is known by now */
    assert_false(ask(&r, "load data", true, &n));
    assert_true(ask(&r, "train", true, &n));
    assert_int_equal(n, 2);
    /* A number in a name says more than that. */
    assert_true(ask(&r, "step 40", false, &n));
    assert_int_equal(n, 40);
    assert_false(ask(&r, "train", true, &n));
}

static void test_many_names_are_no_steps(void **state)
{
    (void)state;
    step_rule r = {.chosen = 0};
    uint64_t n;
    char name[32];
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "request %d", i);
        assert_false(ask(&r, name, true, &n));
    }
    assert_false(ask(&r, "request 999", true, &n)); /* no room was left for it */
    assert_true(ask(&r, "request 0", true, &n));
}

static void test_live_directory(void **state)
{
    (void)state;
    char base[] = "/tmp/vp_live_XXXXXX", dir[VP_PATH_MAX], path[64];
    assert_non_null(mkdtemp(base));
    assert_int_equal(setenv("XDG_RUNTIME_DIR", base, 1), 0);
    assert_int_equal(vp_live_dir(dir, false), VP_ENOTFOUND);
    assert_int_equal(vp_live_dir(dir, true), 0);
    assert_int_equal(vp_live_dir(dir, true), 0);
    snprintf(path, sizeof path, "%s/view_profile", base);
    assert_string_equal(dir, path);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(chmod(path, 0755), 0); /* others could look into it */
    assert_int_equal(vp_live_dir(dir, true), VP_EREFUSED);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink("/tmp", path), 0); /* somebody else's, by a link */
    assert_int_equal(vp_live_dir(dir, true), VP_EREFUSED);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(base), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_nonsense_is_named),
        cmocka_unit_test(test_step_numbers),
        cmocka_unit_test(test_outermost_range_that_repeats),
        cmocka_unit_test(test_many_names_are_no_steps),
        cmocka_unit_test(test_live_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
