/* Profilers and contexts with real recordings: what they say, where the profiles go, and what is in
 * them, read back by our own reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "include/view_profile.h"
#include "include/view_profile_capture.h"
#include "tests/unit/listed.h"
#include "trace/base/system/temp_tree.h"
#include "trace/base/time.h"
#include "trace/capture/control/control.h"

typedef struct place {
    vp_temp_tree tree;
    char dir[VP_PATH_MAX + 16];
    char said[8192]; /* lines */
    size_t said_n;
    int synced;
} place;

static pthread_mutex_t saying = PTHREAD_MUTEX_INITIALIZER; /* files are written on a thread */

static void keep_said(void *ctx, int level, const char *message)
{
    place *p = ctx;
    pthread_mutex_lock(&saying);
    static const char letters[] = {'I', 'W', 'E'};
    p->said_n += (size_t)snprintf(p->said + p->said_n, sizeof p->said - p->said_n, "%c %s\n",
                                  letters[level], message);
    pthread_mutex_unlock(&saying);
}

static void write_said(void *ctx, int level, const char *message)
{
    fprintf(ctx, "%c %s\n", "IWE"[level], message);
}

static void note_sync(void *ctx)
{
    ((place *)ctx)->synced++;
}

static int make_place(void **state)
{
    place *p = calloc(1, sizeof *p);
    assert_int_equal(vp_temp_tree_make(&p->tree, "vp_test_profiler"), 0);
    snprintf(p->dir, sizeof p->dir, "%s/profiles", p->tree.path);
    *state = p;
    return 0;
}

static int drop_place(void **state)
{
    place *p = *state;
    if (getenv("VP_SHOW"))
        fprintf(stderr, "%s", p->said);
    vp_temp_tree_free(&p->tree);
    free(p);
    return 0;
}

static vp_schedule schedule_in(place *p)
{
    vp_schedule s = VP_SCHEDULE_INIT;
    s.profiling_dir = p->dir;
    s.start_step = -1;
    s.recording.pool_bytes = 1 << 20;
    s.recording.log = keep_said;
    s.recording.device_sync = note_sync;
    s.recording.ctx = p;
    return s;
}

static void sleep_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static void work(void)
{
    VP_SCOPE("work");
    sleep_ms(1);
}

static void run_steps(vp_profiler *p, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        assert_int_equal(vp_begin_step(p, i), 0);
        work();
        assert_int_equal(vp_end_step(p, 10), 0);
    }
}

static bool exists(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool exists(const char *format, ...)
{
    char path[2 * VP_PATH_MAX];
    struct stat st;
    va_list args;
    va_start(args, format);
    vsnprintf(path, sizeof path, format, args);
    va_end(args);
    return stat(path, &st) == 0;
}

/* The numbers of the steps of every session beneath dir, oldest session first: "3 4|7". */
static void steps_in(char *out, size_t cap, const char *dir)
{
    vp_catalog *c;
    size_t n = 0;
    *out = '\0';
    if (vp_catalog_open(&c, dir) < 0)
        return;
    for (size_t i = vp_catalog_count(c); i-- > 0;) {
        const vp_session *s;
        vp_report *r;
        assert_int_equal(vp_catalog_session(&s, c, i), 0);
        assert_int_equal(vp_report_make(&r, c, s, NULL), 0);
        for (size_t k = 0; k < r->steps.count; k++)
            n += (size_t)snprintf(out + n, cap - n, "%s%lld", k ? " " : "",
                                  (long long)r->steps.list[k].number);
        if (i)
            n += (size_t)snprintf(out + n, cap - n, "|");
        vp_report_free(r);
    }
    vp_catalog_free(c);
}

/* ---- Steps ---- */

static void a_window_of_steps(void **state)
{
    place *at = *state;
    vp_profiler *p;
    vp_result last = VP_RESULT_INIT;
    vp_step_stats stats = VP_STEP_STATS_INIT;
    char expected[4 * VP_PATH_MAX], steps[256];
    vp_schedule s = schedule_in(at);
    s.start_step = 3;
    s.num_steps = 2;
    s.model_params = 100;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    assert_int_equal(vp_profiler_last(&last, p), VP_EEMPTY);
    assert_false(exists("%s", at->dir)); /* no directory before the first capture */
    int64_t begin = vp_now_ns();
    run_steps(p, 0, 3);
    assert_false(vp_is_profiling(p));
    assert_int_equal(vp_begin_step(p, 3), 0);
    assert_true(vp_is_profiling(p));
    work();
    assert_int_equal(vp_end_step(p, 10), 0);
    run_steps(p, 4, 8);
    double all = (double)(vp_now_ns() - begin) / 1e9;
    assert_false(vp_is_profiling(p));
    assert_int_equal(vp_profiler_last(&last, p), 0);
    assert_int_equal(at->synced, 1);
    assert_int_equal(last.zones, 4); /* two steps, work in each */
    assert_int_equal(vp_profiler_stats(&stats, p), 0);
    assert_int_equal(stats.steps, 8);
    assert_int_equal(stats.captures, 1);
    assert_int_equal(stats.tokens, 80);
    assert_true(stats.avg_step_time >= 0.001 && stats.avg_step_time * 8 <= all);
    vp_profiler_free(p);
    snprintf(expected, sizeof expected,
             "I Profiler enabled for next 2 steps\nI Profiling directory: %s\n"
             "I Stopping profiler after 2 steps\nI Trace saved to: %s/plugins/profile/",
             at->dir, at->dir);
    assert_memory_equal(at->said, expected, strlen(expected));
    steps_in(steps, sizeof steps, at->dir);
    assert_string_equal(steps, "3 4");
}

static void flops_of_the_window(void **state)
{
    place *at = *state;
    vp_profiler *p;
    char path[VP_PATH_MAX + 40];
    vp_schedule s = schedule_in(at);
    s.start_step = 1;
    s.num_steps = 4;
    s.model_params = 1e6;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    run_steps(p, 0, 6);
    vp_profiler_free(p);
    snprintf(path, sizeof path, "%s/flop_stats.json", at->dir);
    json_t *j = json_load_file(path, 0, NULL);
    assert_non_null(j);
    /* 4 captured, the first of them cold */
    assert_int_equal(json_integer_value(json_object_get(j, "profiling_steps")), 3);
    assert_int_equal(json_integer_value(json_object_get(j, "total_tokens")), 30);
    double rate = json_number_value(json_object_get(j, "tokens_per_sec"));
    assert_true(rate > 0 && rate <= 10 / 0.001);
    assert_true(json_is_null(json_object_get(j, "mfu_percent")));
    json_decref(j);
}

/* A child has the allocator of the sanitizer as some thread of its parent had it at the fork, which
 * may be locked for good; the search for leaks at the child's exit would wait for it. LeakSanitizer
 * asks for this function. */
static pid_t tests_pid;
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return getpid() != tests_pid;
}

__attribute__((constructor)) static void note_pid(void)
{
    tests_pid = getpid();
}

/* Ends the calling process as exit() does; or only a child of it, and itself without. */
static _Noreturn void leave(bool by_a_child)
{
    int status;
    pid_t child = by_a_child ? fork() : -1;
    if (child == 0 || !by_a_child)
        exit(0);
    _exit(waitpid(child, &status, 0) != child);
}

/* The steps of a capture that exit() ends, as the number of warm ones in flop_stats.json; -1: there
 * is no such file. */
static int steps_of_an_exit(place *at, bool no_atexit, bool by_a_child)
{
    char path[VP_PATH_MAX + 40];
    int status;
    pid_t child = fork();
    if (child == 0) {
        vp_profiler *p;
        vp_schedule s = schedule_in(at);
        s.start_step = 1;
        s.num_steps = 50;
        s.recording.no_atexit = no_atexit;
        if (vp_profiler_new(&p, &s) < 0)
            _exit(1);
        run_steps(p, 0, 5);
        leave(by_a_child);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    snprintf(path, sizeof path, "%s/flop_stats.json", at->dir);
    json_t *j = json_load_file(path, 0, NULL);
    int n = j ? (int)json_integer_value(json_object_get(j, "profiling_steps")) : -1;
    json_decref(j);
    unlink(path);
    return n;
}

static void flops_of_an_exit(void **state)
{
    place *at = *state;
    assert_int_equal(steps_of_an_exit(at, false, false), 3); /* 1 is cold, 2 to 4 are not */
    assert_int_equal(steps_of_an_exit(at, true, false), -1);
    assert_int_equal(steps_of_an_exit(at, false, true), -1); /* it is none of the child's */
}

static vp_profiler *signalled;
static int signal_result;

static void on_signal(int number)
{
    (void)number;
    signal_result = vp_capture_async(signalled, 2);
}

static void captures_on_demand(void **state)
{
    place *at = *state;
    vp_profiler *p;
    char steps[256];
    vp_schedule s = schedule_in(at);
    s.max_profile_count = 0; /* stands against no wish */
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    signalled = p;
    signal(SIGUSR1, on_signal);
    run_steps(p, 0, 2);
    raise(SIGUSR1);
    assert_int_equal(signal_result, 0);
    assert_int_equal(vp_begin_step(p, 2), 0);
    raise(SIGUSR1);
    assert_int_equal(signal_result, VP_EBUSY);
    assert_int_equal(vp_end_step(p, 0), 0);
    run_steps(p, 3, 6);
    assert_int_equal(vp_capture_async(p, 1), 0);
    assert_int_equal(vp_capture_async(p, 3), 0); /* asked twice: the larger */
    assert_int_equal(vp_capture_async(p, 2), 0);
    run_steps(p, 6, 12);
    vp_profiler_free(p);
    signal(SIGUSR1, SIG_DFL);
    assert_non_null(strstr(at->said, "W Profiler already active, ignoring capture_async()\n"
                                     "I Stopping profiler after 2 steps\n"));
    steps_in(steps, sizeof steps, at->dir);
    /* Within one second the one that was written last counts as the newest. */
    assert_true(strcmp(steps, "2 3|6 7 8") == 0 || strcmp(steps, "6 7 8|2 3") == 0);
}

static void the_time_limit_ends_it(void **state)
{
    place *at = *state;
    vp_profiler *p;
    vp_result last = VP_RESULT_INIT;
    vp_schedule s = schedule_in(at);
    s.start_step = 1;
    s.num_steps = 100000;
    s.profile_duration_ms = 40;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    uint64_t i = 0;
    for (; i < 5000 && !(i > 2 && !vp_is_profiling(p)); i++)
        run_steps(p, i, i + 1);
    assert_true(i < 5000);
    assert_int_equal(vp_profiler_last(&last, p), 0);
    assert_true(last.duration_ns >= 35 * 1000000);
    assert_true(last.zones >= 2);
    vp_profiler_free(p);
}

static void ending_in_the_middle_keeps_it(void **state)
{
    place *at = *state;
    vp_profiler *p;
    char steps[64];
    vp_schedule s = schedule_in(at);
    s.start_step = 1;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    run_steps(p, 0, 3);
    assert_true(vp_is_profiling(p));
    vp_profiler_free(p);
    assert_non_null(strstr(at->said, "W Profiler still active on exit, stopping...\n"));
    steps_in(steps, sizeof steps, at->dir);
    assert_string_equal(steps, "1 2");
}

/* What is said when exit() comes in the middle of a capture or, over, after it: in at->said. */
static void say_of_an_exit(place *at, bool of_context, bool over, bool by_a_child, bool no_atexit)
{
    char path[VP_PATH_MAX + 8];
    int status;
    snprintf(path, sizeof path, "%s/said", at->tree.path);
    pid_t child = fork();
    if (child == 0) {
        vp_profiler *p;
        vp_schedule s = schedule_in(at);
        FILE *f = fopen(path, "w");
        if (!f)
            _exit(1);
        setvbuf(f, NULL, _IOLBF, 0);
        s.recording.log = write_said;
        s.recording.ctx = f;
        s.recording.device_sync = NULL;
        s.recording.no_atexit = no_atexit;
        s.enable_profiling = of_context;
        s.profile_every_n_steps = 1;
        s.start_step = of_context ? -1 : 1;
        s.num_steps = over ? 2 : 50;
        if (vp_profiler_new(&p, &s) < 0)
            _exit(1);
        vp_context c = {.profiler = NULL};
        if (of_context)
            c = vp_context_begin(p, 1, "c");
        else
            run_steps(p, 0, 5);
        if (of_context && over)
            vp_context_end(&c);
        leave(by_a_child);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    at->said[fread(at->said, 1, sizeof at->said - 1, f)] = '\0';
    fclose(f);
}

static void an_exit_in_a_capture_is_told(void **state)
{
    place *at = *state;
    static const char warning[] = "W Profiler still active on exit, stopping...\n";
    for (int of_context = 0; of_context < 2; of_context++) {
        say_of_an_exit(at, of_context, false, false, false);
        const char *told = strstr(at->said, warning);
        assert_non_null(told);
        assert_null(strstr(told + 1, warning));
        assert_non_null(strstr(told, "I Trace saved to: ")); /* before it is stopped */
        say_of_an_exit(at, of_context, true, false, false);
        assert_null(strstr(at->said, warning));
        say_of_an_exit(at, of_context, false, true, false); /* it is none of the child's */
        assert_null(strstr(at->said, warning));
        say_of_an_exit(at, of_context, false, false, true);
        assert_null(strstr(at->said, warning));
    }
}

static unsigned times_said(const place *at, const char *what)
{
    unsigned n = 0;
    pthread_mutex_lock(&saying);
    for (const char *s = at->said; (s = strstr(s, what)); s++)
        n++;
    pthread_mutex_unlock(&saying);
    return n;
}

/* Returns how long the profiler says that it took, in ms. */
static double run_step_of(vp_profiler *p, uint64_t number, double ms)
{
    vp_step_stats stats = VP_STEP_STATS_INIT;
    assert_int_equal(vp_begin_step(p, number), 0);
    sleep_ms((long)ms);
    assert_int_equal(vp_end_step(p, 0), 0);
    assert_int_equal(vp_profiler_stats(&stats, p), 0);
    return stats.last * 1e3;
}

/* Steps of 4 ms. Returns whether each was below 16 ms, so that next to the others none is slow:
 * a machine that is busy may wake us much later. */
static bool run_usual(vp_profiler *p, uint64_t first, uint64_t end)
{
    bool usual = true;
    for (uint64_t i = first; i < end; i++)
        usual = run_step_of(p, i, 4) < 16 && usual;
    return usual;
}

/* A profiler that wrote the past of its 20th step, which took *slow_ms, and of no other. The whole
 * begins anew, in a directory of its own, where the machine made another step slow. */
static vp_profiler *after_a_slow_step(place *at, double *slow_ms)
{
    vp_step_stats stats = VP_STEP_STATS_INIT;
    for (unsigned n = 0;; n++) {
        vp_profiler *p;
        vp_schedule s;
        snprintf(at->dir, sizeof at->dir, "%s/profiles%u", at->tree.path, n);
        at->said[at->said_n = 0] = '\0';
        s = schedule_in(at);
        s.slow_step_ratio = 8;
        assert_int_equal(vp_profiler_new(&p, &s), 0);
        if (run_usual(p, 0, 20)) {
            assert_int_equal(times_said(at, "times the usual"), 0);
            *slow_ms = run_step_of(p, 20, 320); /* ten times the longest that is usual, and more */
            assert_int_equal(vp_profiler_stats(&stats, p), 0);
            assert_int_equal(stats.captures, 1);
            assert_int_equal(times_said(at, "W Step 20 took "), 1);
            if (run_usual(p, 21, 23))
                return p;
        }
        vp_profiler_free(p);
    }
}

static void a_slow_step_keeps_its_past(void **state)
{
    place *at = *state;
    char steps[256];
    vp_profiler *p;
    double slow, less;
    do {
        p = after_a_slow_step(at, &slow);
        less = run_step_of(p, 23, 160); /* within a minute, and less slow */
        vp_profiler_free(p);
    } while (less >= slow); /* a busy machine may have it otherwise */
    assert_int_equal(times_said(at, "W Step 23 was not captured: it took "), 1);
    assert_int_equal(times_said(at, "times the usual, but within a minute of a longer one"), 1);
    assert_int_equal(times_said(at, "I 1 other slow step was not written"), 1);
    assert_int_equal(times_said(at, " times the usual"), 2);
    assert_int_equal(sessions_in(at->dir), 1); /* what the ring held at the end is nobody's */
    steps_in(steps, sizeof steps, at->dir);
    size_t n = strlen(steps);
    assert_true(n > 3);
    assert_string_equal(steps + n - 3, " 20"); /* it, and what came before */
}

/* What is found first need not be what matters: the worst of a minute is kept, too. */
static void a_slower_step_is_kept_within_the_minute(void **state)
{
    place *at = *state;
    double slow;
    vp_step_stats stats = VP_STEP_STATS_INIT;
    vp_profiler *p = after_a_slow_step(at, &slow);
    run_step_of(p, 23, slow + 1);
    assert_int_equal(vp_profiler_stats(&stats, p), 0);
    vp_profiler_free(p);
    assert_int_equal(times_said(at, "W Step 23 took "), 1);
    assert_int_equal(stats.captures, 2);
    assert_int_equal(sessions_in(at->dir), 2);
}

/* The ring that waits for a slow step is no session, and a process that ends leaves none of it; one
 * that is killed in it leaves what it did last. */
static void the_ring_is_a_session_of_the_dead_only(void **state)
{
    place *at = *state;
    for (int by_exit = 1; by_exit >= 0; by_exit--) {
        int status, ready[2];
        char byte = 0;
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork();
        if (child == 0) {
            vp_profiler *p;
            vp_schedule s = schedule_in(at);
            s.slow_step_ratio = 1000;
            if (vp_profiler_new(&p, &s) < 0)
                _exit(1);
            run_steps(p, 0, 3);
            if (write(ready[1], "x", 1) != 1)
                _exit(1);
            while (!by_exit)
                pause();
            exit(0);
        }
        assert_int_equal(read(ready[0], &byte, 1), 1);
        if (!by_exit) {
            assert_int_equal(sessions_in(at->dir), 0);
            assert_int_equal(kill(child, SIGKILL), 0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(sessions_in(at->dir), !by_exit);
        close(ready[0]);
        close(ready[1]);
    }
}

static void a_capture_goes_before_the_ring(void **state)
{
    place *at = *state;
    vp_profiler *p;
    char steps[64];
    vp_schedule s = schedule_in(at);
    s.slow_step_ratio = 1000;
    s.start_step = 2;
    s.num_steps = 2;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    run_steps(p, 0, 8);
    vp_profiler_free(p);
    steps_in(steps, sizeof steps, at->dir);
    assert_string_equal(steps, "2 3");
}

/* All that is written lies where the program was when it said so. */
static void chdir_moves_nothing(void **state)
{
    place *at = *state;
    vp_profiler *p;
    vp_recording *r;
    vp_config cfg = VP_CONFIG_INIT;
    vp_schedule s = schedule_in(at);
    char before[VP_PATH_MAX];
    s.start_step = 1;
    s.num_steps = 1;
    s.profiling_dir = "profiles";
    cfg.dir = "./alone";
    cfg.export_now = true;
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(at->tree.path), 0);
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    assert_int_equal(vp_start(&r, &cfg), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(vp_capture_past(r, 0, NULL), 0);
    assert_int_equal(vp_stop(r, NULL), 0);
    run_steps(p, 0, 3);
    vp_profiler_free(p);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(sessions_in(at->dir), 1);
    assert_true(exists("%s/flop_stats.json", at->dir));
    snprintf(at->dir, sizeof at->dir, "%s/alone", at->tree.path);
    assert_int_equal(sessions_in(at->dir), 2);
}

/* ---- What goes wrong ---- */

static void training_goes_on_when_a_capture_cannot_start(void **state)
{
    place *at = *state;
    vp_profiler *p;
    vp_step_stats stats = VP_STEP_STATS_INIT;
    vp_schedule s = schedule_in(at);
    s.start_step = 1;
    s.enable_profiling = true;
    s.profile_every_n_steps = 4;
    FILE *f = fopen(at->dir, "w"); /* where the directory should be */
    fclose(f);
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    run_steps(p, 0, 4);
    char said[VP_PATH_MAX + 100]; /* with the path that is in the way */
    snprintf(said, sizeof said, "E Profiler could not start: %s/", at->dir);
    assert_non_null(strstr(at->said, said));
    vp_context c = vp_context_begin(p, 4, "eval");
    assert_null(c.recording);
    vp_context_end(&c);
    snprintf(said, sizeof said, "E Capture eval_step_4 could not start: %s/", at->dir);
    assert_non_null(strstr(at->said, said));
    assert_int_equal(vp_profiler_stats(&stats, p), 0);
    assert_int_equal(stats.captures, 0);
    assert_int_equal(unlink(at->dir), 0);
    c = vp_context_begin(p, 8, "eval"); /* a failure does not count, and the next one is due */
    assert_non_null(c.recording);
    vp_context_end(&c);
    vp_profiler_free(p);
    assert_int_equal(sessions_in(at->dir), 1);
}

static void anothers_recording_is_left_alone(void **state)
{
    place *at = *state;
    vp_profiler *p;
    vp_recording *theirs;
    vp_config cfg = VP_CONFIG_INIT;
    char dir[VP_PATH_MAX + 16], steps[64];
    vp_schedule s = schedule_in(at);
    s.start_step = 1;
    s.enable_profiling = true;
    s.profile_every_n_steps = 1;
    s.slow_step_ratio = 3;
    snprintf(dir, sizeof dir, "%s/theirs", at->tree.path);
    cfg.dir = dir;
    cfg.pool_bytes = 1 << 20;
    cfg.export_now = true;
    assert_int_equal(vp_start(&theirs, &cfg), 0);
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(vp_begin_step(p, i), 0);
        VP_CONTEXT(p, i, "inner"); /* a zone of theirs */
        assert_int_equal(vp_end_step(p, 0), 0);
    }
    vp_profiler_free(p);
    assert_non_null(strstr(at->said, "W Step 1 was not captured: Profiler already active: "));
    assert_true(vp_recording_active(theirs));
    vp_result result = VP_RESULT_INIT;
    assert_int_equal(vp_stop(theirs, &result), 0);
    assert_int_equal(result.zones, 6); /* three steps, three contexts */
    assert_false(exists("%s", at->dir));
    steps_in(steps, sizeof steps, dir);
    assert_string_equal(steps, "0 1 2");
}

/* Why a step was not captured is said, and once a minute, however many steps that hits. */
static void what_is_not_captured_is_told(void **state)
{
    place *at = *state;
    vp_profiler *p;
    vp_recording *theirs;
    vp_step_stats stats = VP_STEP_STATS_INIT;
    vp_config cfg = VP_CONFIG_INIT;
    vp_schedule s = schedule_in(at);
    s.start_step = 1;
    s.steps_every = 1;
    s.num_steps = 1;
    s.max_profile_count = 2;
    s.slow_step_ratio = 8;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    cfg.dir = at->dir;
    cfg.in_memory = true;
    cfg.pool_bytes = 1 << 20;
    assert_int_equal(vp_start(&theirs, &cfg), 0);
    run_steps(p, 0, 20);
    assert_int_equal(vp_profiler_stats(&stats, p), 0);
    run_step_of(p, 20, 10 * 1e3 * stats.median + 60);
    assert_int_equal(vp_stop(theirs, NULL), 0);
    assert_int_equal(times_said(at, "W Step 1 was not captured: Profiler already active: "), 1);
    assert_int_equal(times_said(at, "Profiler already active"), 1);
    assert_int_equal(times_said(at, "was not captured: it took "), 1);
    assert_int_equal(times_said(at, "times the usual, but another recording was active"), 1);
    run_steps(p, 21, 30);
    assert_int_equal(times_said(at, "I Step 23 was not captured: max_profile_count (2) is reached"),
                     1);
    assert_int_equal(times_said(at, "max_profile_count"), 1);
    vp_profiler_free(p);
}

static void what_contexts_do_not_capture_is_told(void **state)
{
    place *at = *state;
    vp_profiler *p;
    vp_recording *theirs;
    vp_config cfg = VP_CONFIG_INIT;
    vp_schedule s = schedule_in(at);
    s.enable_profiling = true;
    s.profile_every_n_steps = 2;
    s.max_profile_count = 1;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    cfg.dir = at->dir;
    cfg.in_memory = true;
    cfg.pool_bytes = 1 << 20;
    assert_int_equal(vp_start(&theirs, &cfg), 0);
    for (uint64_t i = 1; i < 9; i++) {
        VP_CONTEXT(p, i, "train");
    }
    assert_int_equal(vp_stop(theirs, NULL), 0);
    assert_int_equal(times_said(at, "W Step 2 was not captured: Profiler already active: "), 1);
    assert_int_equal(times_said(at, "was not captured"), 1);
    for (uint64_t i = 9; i < 20; i++) {
        VP_CONTEXT(p, i, "train");
    }
    assert_int_equal(times_said(at, "I Step 12 was not captured: max_profile_count (1) is reached"),
                     1);
    assert_int_equal(times_said(at, "was not captured"), 2);
    vp_profiler_free(p);
}

/* ---- Steps that something else marks ---- */

static void *mark_two(void *arg)
{
    for (uint64_t i = 0; i < 2; i++) {
        VP_STEP("train", i);
        sleep_ms(2);
    }
    return arg;
}

/* Each once, whatever marks it, and however many do. */
static void steps_are_counted_however_they_are_marked(void **state)
{
    place *at = *state;
    vp_profiler *p, *other;
    pthread_t thread;
    vp_step_stats stats = VP_STEP_STATS_INIT;
    vp_schedule s = schedule_in(at);
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    assert_int_equal(vp_profiler_new(&other, &s), 0);
    for (uint64_t i = 0; i < 3; i++) {
        VP_STEP("train", i);
        sleep_ms(2);
    }
    for (uint64_t i = 3; i < 5; i++) {
        VP_CONTEXT(p, i, "train_step");
        VP_STEP("train", i); /* the same step */
        sleep_ms(2);
    }
    assert_int_equal(vp_step_begin("train", 5), 0);
    sleep_ms(2);
    assert_int_equal(vp_step_end(), 0);
    assert_int_equal(vp_profiler_stats(&stats, p), 0);
    assert_int_equal(stats.steps, 6);
    assert_true(stats.avg_step_time >= 0.002 && stats.last >= 0.002 && stats.median >= 0.0018);
    assert_int_equal(vp_begin_step(p, 6), 0);
    for (uint64_t i = 0; i < 4; i++) {
        VP_STEP("batch", i); /* parts of p's own step */
    }
    assert_int_equal(vp_end_step(p, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, mark_two, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(vp_profiler_stats(&stats, p), 0);
    assert_int_equal(stats.steps, 9);
    assert_int_equal(vp_profiler_stats(&stats, other), 0);
    assert_int_equal(stats.steps, 3 + 1 + 4 + 2); /* none of p's */
    vp_profiler_free(p);
    vp_profiler_free(other);
    mark_two(NULL); /* nobody hears them */
}

/* What starts and ends inside a step is not its time, as in vp_begin_step. */
static void a_captured_context_is_a_step(void **state)
{
    place *at = *state;
    vp_profiler *p;
    vp_step_stats stats = VP_STEP_STATS_INIT;
    vp_schedule s = schedule_in(at);
    s.enable_profiling = true;
    s.profile_every_n_steps = 1;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    for (uint64_t i = 1; i < 3; i++) {
        VP_CONTEXT(p, i, "train_step");
        sleep_ms(2);
    }
    assert_int_equal(vp_profiler_stats(&stats, p), 0);
    assert_int_equal(stats.steps, 2);
    assert_int_equal(stats.captures, 2);
    vp_profiler_free(p);
}

static void what_makes_no_sense(void **state)
{
    place *at = *state;
    vp_schedule s = schedule_in(at);
    vp_profiler *p = NULL;
    vp_step_stats stats = {.version = 7};
    vp_result result = {.version = 0};
    s.num_steps = 0;
    assert_int_equal(vp_profiler_new(&p, &s), VP_EARG);
    assert_null(p);
    assert_int_equal(vp_profiler_new(&p, NULL), VP_EARG);
    s.num_steps = 1;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    assert_int_equal(vp_end_step(p, 0), VP_EARG);
    assert_int_equal(vp_profiler_stats(&stats, p), VP_EVERSION);
    assert_int_equal(vp_profiler_last(&result, p), VP_EVERSION);
    assert_int_equal(vp_profiler_last(NULL, p), VP_EARG);
    assert_int_equal(stats.version, 7);
    vp_profiler_free(p);
    vp_profiler_free(NULL);
    assert_int_equal(vp_begin_step(NULL, 0), VP_EARG);
    assert_int_equal(vp_capture_async(NULL, 0), VP_EARG);
    assert_false(vp_is_profiling(NULL));
    vp_context_end(NULL);
}

/* ---- Contexts ---- */

static void contexts_of_every_second_step(void **state)
{
    place *at = *state;
    vp_profiler *p;
    char dir[VP_PATH_MAX + 64], steps[64];
    vp_schedule s = schedule_in(at);
    s.enable_profiling = true;
    s.profile_every_n_steps = 2;
    s.max_profile_count = 2;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    for (uint64_t i = 0; i < 9; i++) {
        assert_int_equal(vp_profile_due(p, i), i == 2 || i == 4);
        VP_CONTEXT(p, i, "my/operation");
        assert_int_equal(vp_is_profiling(p), i == 2 || i == 4);
        VP_CONTEXT(p, i, "inner"); /* due, too: a zone of the outer one */
        work();
    }
    vp_profiler_free(p);
    assert_int_equal(sessions_in(at->dir), 2);
    for (unsigned i = 2; i <= 4; i += 2) {
        snprintf(dir, sizeof dir, "%s/my_operation_step_%u", at->dir, i);
        snprintf(steps, sizeof steps, "%u", i);
        char got[64];
        steps_in(got, sizeof got, dir);
        assert_string_equal(got, steps);
    }
    assert_non_null(strstr(at->said, "I Starting capture: my_operation_step_2\n"));
    assert_non_null(strstr(at->said, "I Finished capture: my_operation_step_2\n"));
    assert_null(strstr(at->said, "_step_6"));
}

static void *twice(void *arg)
{
    return (char *)arg + 1;
}

static void a_call_returns_what_it_returns(void **state)
{
    place *at = *state;
    vp_profiler *p;
    char text[2] = "";
    vp_schedule s = schedule_in(at);
    s.enable_profiling = true;
    s.profile_every_n_steps = 3;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    assert_ptr_equal(vp_profile_call(p, 1, "call", twice, text), text + 1);
    assert_ptr_equal(vp_profile_call(p, 3, "call", twice, text), text + 1);
    assert_ptr_equal(vp_profile_call(NULL, 3, NULL, twice, text), text + 1);
    vp_profiler_free(p);
    assert_true(exists("%s/call_step_3/plugins/profile", at->dir));
    assert_int_equal(sessions_in(at->dir), 1);
}

/* As many as may be in one second, each in a run of its own. */
static void captures_in_one_second(void **state)
{
    place *at = *state;
    vp_profiler *p;
    vp_schedule s = schedule_in(at);
    s.max_profile_count = UINT64_MAX;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    for (uint64_t i = 1; i <= 5; i++) {
        assert_int_equal(vp_capture_async(p, 1), 0);
        run_steps(p, i, i + 1);
    }
    vp_profiler_free(p);
    assert_int_equal(sessions_in(at->dir), 5);
}

/* How often the report of the only session beneath dir says this of its quality. */
static unsigned times_reported(const char *dir, const char *what)
{
    vp_catalog *c;
    const vp_session *s;
    vp_report *r;
    unsigned n = 0;
    assert_int_equal(vp_catalog_open(&c, dir), 0);
    assert_int_equal(vp_catalog_session(&s, c, 0), 0);
    assert_int_equal(vp_report_make(&r, c, s, NULL), 0);
    for (size_t i = 0; i < r->quality_count; i++)
        n += strstr(r->quality[i].message, what) != NULL;
    vp_report_free(r);
    vp_catalog_free(c);
    return n;
}

/* With a GPU its activity is there; without one the result, the log and the profile say why not,
 * and the host's is there anyway. This process has no CUDA, where a program may have it. */
static void the_gpu_is_asked_for(void **state)
{
    place *at = *state;
    vp_profiler *p;
    vp_result last = VP_RESULT_INIT;
    vp_schedule s = schedule_in(at);
    s.start_step = 1;
    s.num_steps = 1;
    s.profile_gpu_trace = true;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    run_steps(p, 0, 3);
    assert_int_equal(vp_profiler_last(&last, p), 0);
    vp_profiler_free(p);
    assert_int_equal(last.zones, 2);
    assert_int_equal(last.gpu_status, VP_EGPU_UNAVAILABLE);
    assert_non_null(
        strstr(at->said, "I No device activity: the CUDA driver (libcuda.so.1) was not loaded"));
    assert_int_equal(times_reported(at->dir, "the CUDA driver (libcuda.so.1) was not loaded"), 1);
}

/* The recording stays the parent's; a child that goes on stepping does it no harm. */
static void a_child_in_the_middle(void **state)
{
    place *at = *state;
    vp_profiler *p;
    char steps[64];
    int status;
    vp_schedule s = schedule_in(at);
    s.start_step = 1;
    s.num_steps = 3;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    run_steps(p, 0, 2);
    pid_t child = fork();
    if (child == 0) {
        run_steps(p, 2, 6);
        vp_profiler_free(p);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    run_steps(p, 2, 5);
    vp_profiler_free(p);
    steps_in(steps, sizeof steps, at->dir);
    assert_string_equal(steps, "1 2 3");
}

/* ---- All at once ---- */

typedef struct crowd {
    vp_profiler *p;
    _Atomic bool over;
} crowd;

static void *validate(void *arg)
{
    crowd *c = arg;
    for (uint64_t i = 1; !c->over; i++) {
        VP_CONTEXT(c->p, i, "validate");
        work();
    }
    return NULL;
}

static void *ask(void *arg)
{
    crowd *c = arg;
    while (!c->over) {
        vp_step_stats stats = VP_STEP_STATS_INIT;
        vp_result last = VP_RESULT_INIT;
        vp_capture_async(c->p, 2);
        assert_int_equal(vp_profiler_stats(&stats, c->p), 0);
        int rc = vp_profiler_last(&last, c->p);
        assert_true(rc == 0 || rc == VP_EEMPTY);
        sleep_ms(1);
    }
    return NULL;
}

/* Steps, contexts on two threads, wishes and questions: what was counted is what lies there. */
static void threads_at_once(void **state)
{
    place *at = *state;
    crowd c = {.over = false};
    pthread_t threads[3];
    vp_step_stats stats = VP_STEP_STATS_INIT;
    vp_schedule s = schedule_in(at);
    s.recording.log = NULL;
    s.recording.device_sync = NULL;
    s.enable_profiling = true;
    s.profile_every_n_steps = 7;
    s.max_profile_count = 100000;
    s.slow_step_ratio = 3;
    s.profile_duration_ms = 20;
    assert_int_equal(vp_profiler_new(&c.p, &s), 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, i < 2 ? validate : ask, &c);
    for (uint64_t i = 0; i < 150 || stats.captures <= 5; i++) { /* others may sleep for long */
        run_steps(c.p, i, i + 1);
        assert_int_equal(vp_profiler_stats(&stats, c.p), 0);
    }
    c.over = true;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    while (vp_is_profiling(c.p)) /* what was asked for last */
        run_steps(c.p, 150, 151);
    vp_profiler_stats(&stats, c.p);
    vp_profiler_free(c.p);
    assert_int_equal(sessions_in(at->dir), stats.captures);
}

/* A program may free its profiler before it stops to answer. */
static void the_socket_forgets_who_is_gone(void **state)
{
    place *at = *state;
    vp_profiler *p;
    vp_buf b;
    vp_schedule s = schedule_in(at);
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    mkdir(at->dir, 0700);
    assert_int_equal(setenv("XDG_RUNTIME_DIR", at->dir, 1), 0);
    assert_int_equal(vp_control_start(p), 0);
    run_steps(p, 0, 3);
    vp_buf_init(&b, 4096);
    control_answer(&b, VP_STR("STATUS"));
    assert_non_null(strstr(vp_buf_cstr(&b), "\"steps\":3"));
    vp_profiler_free(p);
    vp_buf_free(&b);
    vp_buf_init(&b, 4096);
    control_answer(&b, VP_STR("STATUS"));
    assert_non_null(strstr(vp_buf_cstr(&b), "\"state\":\"idle\""));
    vp_buf_free(&b);
    vp_control_stop();
}

/* What the socket answers, as text. */
static void ask_socket(char *out, size_t cap, const char *line)
{
    vp_buf b;
    vp_buf_init(&b, 1 << 16);
    control_answer(&b, vp_str_of(line));
    snprintf(out, cap, "%s", vp_buf_cstr(&b));
    vp_buf_free(&b);
}

static void ask_while_it_ends(void *answer)
{
    ask_socket(answer, 4096, "STATUS");
}

/* A recording that ends keeps the next from beginning: "idle" would be an invitation. */
static void what_ends_is_not_idle(void **state)
{
    place *at = *state;
    char answer[4096] = "";
    vp_recording *r;
    vp_config cfg = VP_CONFIG_INIT;
    cfg.dir = at->dir;
    cfg.device_sync = ask_while_it_ends;
    cfg.ctx = answer;
    assert_int_equal(vp_start(&r, &cfg), 0);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_non_null(strstr(answer, "\"state\":\"writing\""));
    ask_socket(answer, sizeof answer, "STATUS");
    assert_non_null(strstr(answer, "\"state\":\"idle\""));
}

static void value_of(char *out, size_t cap, const char *answer, const char *key)
{
    const char *at = strstr(answer, key), *end = at ? strpbrk(at + strlen(key), ",}") : NULL;
    assert_non_null(end);
    at += strlen(key);
    snprintf(out, cap, "%.*s", (int)(end - at), at);
}

typedef struct asker {
    char runs[6][VP_PATH_MAX]; /* what STATUS named when it counted the nth capture */
    int wrong;
    _Atomic bool over;
} asker;

/* Now by steps, which the profiler captures, and now by time, which control does. */
static void *ask_for_six(void *arg)
{
    asker *a = arg;
    char answer[1 << 14], n[16];
    for (int i = 0; i < 6; i++) {
        ask_socket(answer, sizeof answer, i % 3 == 2 ? "CAPTURE ms=5" : "CAPTURE steps=2");
        a->wrong += !strstr(answer, "\"ok\":true");
        do {
            ask_socket(answer, sizeof answer, "STATUS");
            value_of(n, sizeof n, answer, "\"captures\":");
            a->wrong += atoi(n) != i && atoi(n) != i + 1;
        } while (atoi(n) <= i && !a->wrong);
        value_of(a->runs[i], VP_PATH_MAX, answer, "\"last_run\":");
    }
    a->over = true;
    return NULL;
}

static void the_socket_names_every_run(void **state)
{
    place *at = *state;
    asker a = {.wrong = 0};
    vp_profiler *p;
    pthread_t thread;
    vp_result last = VP_RESULT_INIT;
    char answer[1 << 14], run[VP_PATH_MAX], real[VP_PATH_MAX];
    vp_schedule s = schedule_in(at);
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    mkdir(at->dir, 0700);
    assert_int_equal(setenv("XDG_RUNTIME_DIR", at->tree.path, 1), 0);
    ask_socket(answer, sizeof answer, "STATUS");
    value_of(run, sizeof run, answer, "\"captures\":");
    assert_int_equal(atoi(run), 0);
    assert_int_equal(vp_control_start(p), 0);
    assert_int_equal(pthread_create(&thread, NULL, ask_for_six, &a), 0);
    for (uint64_t i = 0; !a.over; i++) {
        run_steps(p, i, i + 1);
        if (i % 7 == 0)
            (void)vp_profiler_last(&last, p);
    }
    pthread_join(thread, NULL);
    assert_int_equal(a.wrong, 0);
    for (int i = 0; i < 6; i++) {
        char *path = a.runs[i];
        path[strlen(path) - 1] = '\0'; /* quotes */
        assert_true(exists("%s/.", path + 1));
        for (int k = 0; k < i; k++)
            assert_string_not_equal(a.runs[k], path);
    }
    assert_int_equal(sessions_in(at->dir), 6);
    assert_int_equal(vp_profiler_last(&last, p), 0);
    assert_non_null(realpath(last.run_dir, real));
    assert_string_equal(a.runs[4] + 1, real);
    vp_profiler_free(p);
    ask_socket(answer, sizeof answer, "STATUS"); /* what was captured was */
    value_of(run, sizeof run, answer, "\"captures\":");
    assert_int_equal(atoi(run), 6);
    vp_control_stop();
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, make_place, drop_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_window_of_steps),
        TEST(flops_of_the_window),
        TEST(flops_of_an_exit),
        TEST(captures_on_demand),
        TEST(the_time_limit_ends_it),
        TEST(ending_in_the_middle_keeps_it),
        TEST(an_exit_in_a_capture_is_told),
        TEST(a_slow_step_keeps_its_past),
        TEST(a_slower_step_is_kept_within_the_minute),
        TEST(the_ring_is_a_session_of_the_dead_only),
        TEST(a_capture_goes_before_the_ring),
        TEST(chdir_moves_nothing),
        TEST(training_goes_on_when_a_capture_cannot_start),
        TEST(anothers_recording_is_left_alone),
        TEST(what_is_not_captured_is_told),
        TEST(what_contexts_do_not_capture_is_told),
        TEST(steps_are_counted_however_they_are_marked),
        TEST(a_captured_context_is_a_step),
        TEST(what_makes_no_sense),
        TEST(contexts_of_every_second_step),
        TEST(a_call_returns_what_it_returns),
        TEST(captures_in_one_second),
        TEST(the_gpu_is_asked_for),
        TEST(a_child_in_the_middle),
        TEST(threads_at_once),
        TEST(the_socket_forgets_who_is_gone),
        TEST(what_ends_is_not_idle),
        TEST(the_socket_names_every_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
