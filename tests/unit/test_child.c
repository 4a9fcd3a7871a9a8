/* child_start and its kin: what the program prints is kept, it inherits nothing, it ends with us.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/remote/child.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"

static child *shell(const char *script)
{
    child *c = NULL;
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    assert_int_equal(child_start(&c, argv), 0);
    return c;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static child_status wait_for_end(child *c)
{
    child_status st;
    for (int i = 0; i < 500; i++) {
        child_look(c, &st);
        if (!st.running)
            return st;
        pause_ms(10);
    }
    fail_msg("the child is still running after 5 s");
    return st;
}

static void test_output_and_exit_code(void **state)
{
    (void)state;
    child *c = shell("echo out; echo err >&2; exit 7");
    child_status st = wait_for_end(c);
    assert_int_equal(st.exit_code, 7);
    assert_string_equal(st.log, "out\nerr\n");
    child_stop(c);
}

static void test_only_the_last_lines_are_kept(void **state)
{
    (void)state;
    child *c = shell("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done");
    child_status st = wait_for_end(c);
    assert_true(strlen(st.log) < CHILD_LOG_MAX);
    assert_int_equal(strncmp(st.log, "line ", 5), 0);
    assert_non_null(strstr(st.log, "\nline 1999\n"));
    child_stop(c);
}

static void test_inherits_no_descriptor(void **state)
{
    (void)state;
    int leak = open("/dev/null", O_RDONLY); /* without O_CLOEXEC on purpose */
    int high = fcntl(leak, F_DUPFD, 50);
    assert_true(high >= 50);
    child *c = shell("cd /proc/self/fd && echo *");
    child_status st = wait_for_end(c);
    /* 3 is the shell's own, of the directory that it lists. */
    assert_null(strstr(st.log, "50"));
    assert_int_equal(strncmp(st.log, "0 1 2", 5), 0);
    child_stop(c);
    close(high);
    close(leak);
}

static void test_blocked_signals_are_not_inherited(void **state)
{
    (void)state;
    sigset_t term, old;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, &old);
    child *c = shell("kill -TERM $$; echo survived");
    child_status st = wait_for_end(c);
    assert_int_equal(st.exit_code, 128 + SIGTERM);
    assert_string_equal(st.log, "");
    child_stop(c);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void test_stop_ends_what_it_started(void **state)
{
    (void)state;
    child_status st;
    child *c = shell("sleep 60 & echo $!; wait");
    for (int i = 0; i < 500; i++) {
        child_look(c, &st);
        if (strchr(st.log, '\n'))
            break;
        pause_ms(10);
    }
    pid_t grandchild = (pid_t)strtol(st.log, NULL, 10);
    assert_true(grandchild > 1);
    child_stop(c);
    for (int i = 0; i < 500 && kill(grandchild, 0) == 0; i++)
        pause_ms(10);
    assert_int_equal(kill(grandchild, 0), -1);
}

static void test_stop_of_a_deaf_child(void **state)
{
    (void)state;
    child *c = shell("trap '' TERM; echo ready; while :; do sleep 1; done");
    child_status st;
    for (int i = 0; i < 500; i++) {
        child_look(c, &st);
        if (strchr(st.log, '\n'))
            break;
        pause_ms(10);
    }
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    child_stop(c);
    clock_gettime(CLOCK_MONOTONIC, &b);
    assert_true(b.tv_sec - a.tv_sec <= 5);
}

static void test_what_cannot_start(void **state)
{
    (void)state;
    child *c = NULL;
    const char *argv[] = {"/nonexistent/program", NULL};
    assert_int_equal(child_start(&c, argv), VP_EIO);
    assert_null(c);
    child_stop(NULL);
}

static void test_find(void **state)
{
    (void)state;
    char path[VP_PATH_MAX];
    char *old = strdup(getenv("PATH") ? getenv("PATH") : "");
    setenv("PATH", "/nonexistent::/bin", 1);
    assert_int_equal(child_find(path, "sh"), 0);
    assert_string_equal(path, "/bin/sh");
    assert_int_equal(child_find(path, "/bin/sh"), 0);
    assert_string_equal(path, "/bin/sh");
    assert_int_equal(child_find(path, "no-such-program"), VP_ENOTFOUND);
    assert_int_equal(child_find(path, "/etc/passwd"), VP_ENOTFOUND);
    setenv("PATH", "", 1);
    assert_int_equal(child_find(path, "sh"), VP_ENOTFOUND);
    setenv("PATH", old, 1);
    free(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_and_exit_code),
        cmocka_unit_test(test_only_the_last_lines_are_kept),
        cmocka_unit_test(test_inherits_no_descriptor),
        cmocka_unit_test(test_blocked_signals_are_not_inherited),
        cmocka_unit_test(test_stop_ends_what_it_started),
        cmocka_unit_test(test_stop_of_a_deaf_child),
        cmocka_unit_test(test_what_cannot_start),
        cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
