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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/local/child.h"
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
    for (int i = 0; i < 6000; i++) {
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
    for (int i = 0; i < 6000; i++) {
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
    for (int i = 0; i < 6000; i++) {
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

/* A file that every start adds a line to. */
static size_t lines_in(const char *path)
{
    char text[256] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    size_t lines = 0;
    for (ssize_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    if (fd >= 0)
        close(fd);
    return lines;
}

static void test_one_that_is_kept_comes_back_until_it_is_hopeless(void **state)
{
    (void)state;
    char path[] = "/tmp/vp_test_child_XXXXXX", script[128];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(script, sizeof script, "echo x >>%s; sleep 0.05; echo bye; exit 3", path);
    child *c = shell(script);
    child_keep(c);
    child_status st = wait_for_end(c);
    assert_int_equal(st.exit_code, 3);
    assert_int_equal(st.restarts, 5);
    assert_int_equal(lines_in(path), 6);
    assert_non_null(strstr(st.log, "bye\nview_profile: exited with code 3, restarting\nbye\n"));
    child_stop(c);
    unlink(path);
}

static void test_a_stop_is_no_reason_to_come_back(void **state)
{
    (void)state;
    child_status st;
    child *c = shell("echo $$; sleep 60");
    child_keep(c);
    for (int i = 0; i < 6000; i++) {
        child_look(c, &st);
        if (strchr(st.log, '\n'))
            break;
        pause_ms(10);
    }
    pid_t pid = (pid_t)strtol(st.log, NULL, 10);
    assert_true(pid > 1 && kill(pid, 0) == 0);
    child_stop(c);
    pause_ms(400); /* longer than the pause before it would be started again */
    assert_int_equal(kill(pid, 0), -1);
}

/* The kernel tells it when we are gone: a process of ours starts one and is killed. */
static void test_it_ends_when_we_are_killed(void **state)
{
    (void)state;
    int fds[2];
    char text[32] = "";
    assert_int_equal(pipe(fds), 0);
    pid_t we = fork();
    assert_true(we >= 0);
    if (!we) {
        child_status st;
        const char *argv[] = {"/bin/sh", "-c", "echo $$; exec sleep 60", NULL};
        child *c = NULL;
        if (child_start(&c, argv) < 0)
            _exit(1);
        do
            child_look(c, &st);
        while (!strchr(st.log, '\n'));
        if (write(fds[1], st.log, strlen(st.log)) < 0)
            _exit(1);
        pause();
        _exit(0);
    }
    assert_true(read(fds[0], text, sizeof text - 1) > 0);
    pid_t pid = (pid_t)strtol(text, NULL, 10);
    assert_true(pid > 1 && kill(pid, 0) == 0);
    kill(we, SIGKILL);
    waitpid(we, NULL, 0);
    char path[64], state_of = 'R';
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    for (int i = 0; i < 500 && state_of != 'Z'; i++) { /* nobody may bury it in a container */
        char stat_text[256] = "";
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            break;
        ssize_t n = read(fd, stat_text, sizeof stat_text - 1);
        close(fd);
        const char *end = n > 0 ? strrchr(stat_text, ')') : NULL;
        state_of = end ? end[2] : 'Z';
        pause_ms(10);
    }
    assert_true(state_of == 'Z' || access(path, F_OK) != 0);
    close(fds[0]);
    close(fds[1]);
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
        cmocka_unit_test(test_one_that_is_kept_comes_back_until_it_is_hopeless),
        cmocka_unit_test(test_a_stop_is_no_reason_to_come_back),
        cmocka_unit_test(test_it_ends_when_we_are_killed),
        cmocka_unit_test(test_what_cannot_start),
        cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
