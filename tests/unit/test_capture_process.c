/* Processes that end in the middle of something, and processes that fork: what they leave behind is
 * read from their .vpcap, or was written by them. */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/unit/capture_tools.h"
#include "tests/unit/skip.h"
#include "trace/base/system/temp_tree.h"
#include "trace/capture/session/session.h"

/* The file of this name in the one run directory there is, as an image. */
static void read_left(const char *name)
{
    char path[sizeof here.path + 512];
    struct dirent *e;
    int found = 0;
    DIR *d = opendir(tree_at(&here, "plugins/profile"));
    assert_non_null(d);
    while ((e = readdir(d)))
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/plugins/profile/%s/%s", here.root, e->d_name, name);
            found++;
        }
    closedir(d);
    assert_int_equal(found, 1);
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    void *image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(image != MAP_FAILED);
    close(fd);
    vpcap *v;
    assert_int_equal(vpcap_open(&v, image, (size_t)st.st_size), 0);
    seen_image(v);
    vpcap_free(v);
    munmap(image, (size_t)st.st_size);
}

static int wait_for(pid_t child)
{
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Shared with a child: how many counters it has surely recorded. */
static _Atomic int64_t *done;

static void record_until_killed(vp_capture_mode mode)
{
    vp_config cfg = here_config();
    vp_recording *r;
    cfg.mode = mode;
    cfg.pool_bytes = mode == VP_RING ? 256 * 1024 : (size_t)16 << 20;
    if (vp_start(&r, &cfg) < 0)
        _exit(1);
    VP_SCOPE("the whole run");
    VP_BEGIN("a pair");
    for (int64_t i = 0; mode == VP_RING || i < 150000; i++) {
        VP_COUNTER("i", i);
        *done = i + 1;
    }
    for (;;)
        pause();
}

static void kill_one(vp_capture_mode mode, int round)
{
    *done = 0;
    pid_t child = fork();
    if (child == 0)
        record_until_killed(mode);
    while (*done < 1000 + 997 * round)
        usleep(100);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_true(WIFSIGNALED(wait_for(child)));
    read_left("host.vpcap");
    assert_false(seen.info.finished);
    assert_true(seen.info.torn <= 1);
    assert_int_equal(seen.thread_count, 1);
    /* the counters, then the two zones that nobody ended, innermost first */
    uint32_t n = seen.event_count - 2;
    assert_string_equal(seen.events[n].name, "a pair");
    assert_true(seen.events[n].e.open);
    assert_string_equal(seen.events[n + 1].name, "the whole run");
    assert_true(seen.events[n + 1].e.open);
    assert_true(seen.events[n + 1].e.dur_ps >= seen.events[n].e.dur_ps);
    int64_t last = seen.events[n - 1].e.number + 1;
    assert_true(last == *done || last == *done + 1); /* all, or one more than it could tell */
    for (uint32_t i = 0; i < n; i++)
        assert_true(seen.events[i].e.number == i || mode == VP_RING);
    for (uint32_t i = 1; i < n; i++)
        assert_int_equal(seen.events[i].e.number, seen.events[i - 1].e.number + 1);
}

static void killed(vp_capture_mode mode)
{
    for (int round = 0; round < 10; round++) {
        kill_one(mode, round);
        vp_remove_tree(tree_at(&here, "plugins"));
    }
}

static void ten_kills_with_the_first_kept(void **state)
{
    (void)state;
    killed(VP_KEEP_FIRST);
}

static void ten_kills_in_a_ring(void **state)
{
    (void)state;
    killed(VP_RING);
}

/* What the child's writer saw, told by its exit status. */
static int tell(uint64_t *bytes, int run_fd, const vpcap *v, const struct gpu_activity *gpu,
                unsigned outputs)
{
    int rc = seen_write(bytes, run_fd, v, gpu, outputs);
    *done = seen.info.truncated && seen.event_count == 2 && seen_count("ended") == 1 &&
            seen_count("open") == 1 && seen_find("open")->e.open;
    return rc;
}

static void leave_in_a_zone(bool by_exit, bool no_atexit)
{
    vp_config cfg = here_config();
    vp_recording *r;
    cap_writer = tell;
    cfg.export_now = false;
    cfg.no_atexit = no_atexit;
    if (vp_start(&r, &cfg) < 0)
        _exit(1);
    VP_SCOPE("open");
    {
        VP_SCOPE("ended");
    }
    if (by_exit)
        exit(0);
    _exit(0);
}

static void exit_in_a_zone_writes(void **state)
{
    (void)state;
    *done = 0;
    pid_t child = fork();
    if (child == 0)
        leave_in_a_zone(true, false);
    wait_for(child);
    assert_int_equal(*done, 1);
}

static void underscore_exit_leaves_the_image(void **state)
{
    (void)state;
    for (int by_exit = 0; by_exit < 2; by_exit++) {
        pid_t child = fork();
        *done = 0;
        if (child == 0)
            leave_in_a_zone(by_exit, true);
        wait_for(child);
        assert_int_equal(*done, 0);
        read_left("host.vpcap");
        assert_false(seen.info.finished);
        assert_int_equal(seen.event_count, 2);
        assert_string_equal(seen.events[0].name, "ended");
        assert_true(seen_find("open")->e.open);
        vp_remove_tree(tree_at(&here, "plugins"));
    }
}

/* ---- Scopes that a jump left ---- */

static jmp_buf home;

static void go_home(int unused)
{
    (void)unused;
    longjmp(home, 1);
}

/* Volatile: the compiler warns of a recursion that it sees does not return. */
static void (*volatile leave_by)(int);

__attribute__((noinline)) static void jump_out(int depth)
{
    VP_SCOPE("left");
    if (depth)
        jump_out(depth - 1);
    leave_by(0);
}

static void jumps_out_of_functions(void)
{
    for (volatile int i = 0; i < 1000; i++)
        if (!setjmp(home))
            jump_out(2);
}

static void jumps_within_a_function(void)
{
    for (volatile int i = 0; i < 1000; i++) {
        if (!setjmp(home)) {
            VP_SCOPE("left");
            longjmp(home, 1);
        }
        if (!setjmp(home)) {
            VP_SCOPE("left");
            VP_SCOPE("left");
            longjmp(home, 1);
        }
    }
}

__attribute__((noinline)) static void jump_to_itself(void)
{
    if (!setjmp(home)) {
        VP_SCOPE("left");
        jump_out(1);
    }
}

static void jumps_of_an_inner_scope(void)
{
    for (int i = 0; i < 1000; i++) {
        VP_SCOPE("around");
        jump_to_itself();
    }
}

/* Deeper than the list of open zones goes. */
static void jumps_from_far_below(void)
{
    for (volatile int i = 0; i < 30; i++)
        if (!setjmp(home))
            jump_out(99);
}

static void *exit_thread_in_a_zone(void *ctx)
{
    VP_SCOPE("left");
    VP_SCOPE("left");
    VP_BEGIN("left");
    pthread_exit(ctx);
}

static void a_thread_leaves(void)
{
    for (int i = 0; i < 1000; i++) {
        pthread_t t;
        pthread_create(&t, NULL, exit_thread_in_a_zone, NULL);
        pthread_join(t, NULL);
    }
}

static const struct {
    void (*leave)(void);
    uint64_t left, around; /* exactly */
} leavers[] = {{jumps_out_of_functions, 3000, 0},
               {jumps_within_a_function, 3000, 0},
               {jumps_of_an_inner_scope, 3000, 1000},
               {jumps_from_far_below, 3000, 0},
               {a_thread_leaves, 3000, 0}};
static size_t leaver;

static int tell_open(uint64_t *bytes, int run_fd, const vpcap *v, const struct gpu_activity *gpu,
                     unsigned outputs)
{
    uint64_t left = 0;
    int rc = seen_write(bytes, run_fd, v, gpu, outputs);
    for (uint32_t i = 0; i < seen.thread_count; i++)
        left += seen.threads[i].left;
    bool none_open = seen_count("left") == 0;
    bool around = seen_count("around") == leavers[leaver].around;
    bool mine = seen_count("open") == 12 && seen_count("also open") == 1;
    for (uint32_t i = 0; i < seen.event_count; i++)
        mine = mine && (seen.events[i].e.open || strcmp(seen.events[i].name, "around") == 0);
    *done = none_open + 2 * around + 4 * mine + 8 * (left == leavers[leaver].left);
    return rc;
}

static void exit_in_twelve(int n)
{
    VP_SCOPE("open");
    if (n > 1)
        exit_in_twelve(n - 1);
    VP_SCOPE("also open");
    leave_by(0);
}

/* Only what is open is shown as open, also when as many scopes were left as the list has places. */
static void what_a_jump_left_is_not_open(void **state)
{
    (void)state;
    for (leaver = 0; leaver < sizeof leavers / sizeof *leavers; leaver++) {
        *done = 0;
        pid_t child = fork();
        if (child == 0) {
            vp_config cfg = here_config();
            vp_recording *r;
            cfg.pool_bytes = (size_t)8 << 20;
            cap_writer = tell_open;
            if (vp_start(&r, &cfg) < 0)
                _exit(1);
            leave_by = go_home;
            leavers[leaver].leave();
            leave_by = exit;
            exit_in_twelve(12);
        }
        wait_for(child);
        assert_int_equal(*done, 15);
    }
}

static int count_ticks(uint64_t *bytes, int run_fd, const vpcap *v, const struct gpu_activity *gpu,
                       unsigned outputs)
{
    int rc = seen_write(bytes, run_fd, v, gpu, outputs);
    *done = (int64_t)seen_count("tick");
    return rc;
}

/* Makes the zone that is open begin with the one before it, which takes that many ticks. */
static void begin_together(uint32_t dur)
{
    vp__chunk *c = vp__me->chunk;
    vp__record *last = (vp__record *)(void *)c + (uint32_t)c->state - 1;
    last->dur = dur;
    vp__me->block->scopes[vp__me->scope_depth - 1].start = last->start;
}

/* As where ticks are long: the next zone of a loop may begin in that in which the last one began
 * and ended. One that lasted ended later, so what is open is the same, whose place on the list is
 * only not free yet. */
static void zones_of_one_tick_are_two(void **state)
{
    (void)state;
    for (uint32_t dur = 0; dur < 2; dur++) {
        *done = 0;
        pid_t child = fork();
        if (child == 0) {
            vp_config cfg = here_config();
            vp_recording *r;
            cap_writer = count_ticks;
            if (vp_start(&r, &cfg) < 0)
                _exit(1);
            for (int i = 0; i < 3; i++) {
                VP_SCOPE("tick");
                if (i == 2) {
                    begin_together(dur);
                    exit(0);
                }
            }
        }
        wait_for(child);
        assert_int_equal(*done, dur ? 2 : 3);
    }
}

static int slow_write(uint64_t *bytes, int run_fd, const vpcap *v, const struct gpu_activity *gpu,
                      unsigned outputs)
{
    usleep(200000);
    (*done)++;
    return seen_write(bytes, run_fd, v, gpu, outputs);
}

static void exit_waits_for_what_is_being_written(void **state)
{
    (void)state;
    *done = 0;
    pid_t child = fork();
    if (child == 0) {
        vp_config cfg = here_config();
        vp_recording *r;
        cap_writer = slow_write;
        cfg.export_now = false;
        if (vp_start(&r, &cfg) < 0 || vp_stop(r, NULL) < 0)
            _exit(1);
        exit(0);
    }
    wait_for(child);
    assert_int_equal(*done, 1);
}

/* ---- exit() in a callback ---- */

enum { IN_SYNC, IN_LOG_OF_START, IN_LOG_OF_WRITING };
static int exit_where;
static vp_recording *exiting;

static void exit_in_sync(void *ctx)
{
    (void)ctx;
    /* what is being ended cannot be waited for here, and nothing hangs that tries */
    if (vp_stop(exiting, NULL) == 0 || vp_wait(exiting, NULL) == 0)
        _exit(3);
    if (exit_where == IN_SYNC)
        exit(0);
}

static void exit_in_log(void *ctx, int level, const char *message)
{
    (void)ctx;
    (void)level;
    bool of_start = strncmp(message, "No device activity", 18) == 0;
    if (of_start ? exit_where == IN_LOG_OF_START : exit_where == IN_LOG_OF_WRITING)
        exit(0);
}

static int count_writes(uint64_t *bytes, int run_fd, const vpcap *v, const struct gpu_activity *gpu,
                        unsigned outputs)
{
    (*done)++;
    return seen_write(bytes, run_fd, v, gpu, outputs);
}

static vp_config exiting_config(int where)
{
    vp_config cfg = here_config();
    exit_where = where;
    cap_writer = count_writes;
    cfg.device_sync = exit_in_sync;
    cfg.log = exit_in_log;
    *done = 0;
    alarm(60); /* one that hangs is ended by that */
    return cfg;
}

enum { BY_STOP, BY_STOP_ASIDE, BY_TIME, BY_EXIT, WAYS };

static void end_by(int way, vp_config cfg)
{
    cfg.export_now = way == BY_STOP;
    cfg.duration_ms = way == BY_TIME ? 20 : 0;
    cfg.gpu = VP_GPU_AUTO;
    if (vp_start(&exiting, &cfg) < 0)
        _exit(1);
    if (way == BY_STOP || way == BY_STOP_ASIDE)
        vp_stop(exiting, NULL);
    for (; way != BY_EXIT;)
        pause(); /* another thread is the one that exits */
    exit(0);
}

static void exit_in_a_callback_ends_and_writes(void **state)
{
    (void)state;
    for (int where = IN_SYNC; where <= IN_LOG_OF_WRITING; where++)
        for (int way = 0; way < WAYS; way++) {
            if (where == IN_LOG_OF_START && way != BY_EXIT)
                continue;
            vp_config cfg = exiting_config(where);
            pid_t child = fork();
            if (child == 0) {
                alarm(60);
                end_by(way, cfg);
            }
            assert_int_equal(wait_for(child), 0);
            assert_int_equal(*done, 1);
            vp_remove_tree(tree_at(&here, "plugins"));
        }
    alarm(0);
}

static void *exit_now(void *ctx)
{
    exit(0);
    return ctx;
}

static void wait_for_who_exits(void *ctx)
{
    pthread_t t;
    (void)ctx;
    pthread_create(&t, NULL, exit_now, NULL);
    pthread_join(t, NULL);
}

/* Then nothing can be written, but what was recorded is in the image. */
static void a_callback_that_waits_for_the_exit_is_given_up(void **state)
{
    (void)state;
    vp_config cfg = exiting_config(IN_SYNC);
    cfg.device_sync = wait_for_who_exits;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        cap_callback_ms = 50;
        if (vp_start(&exiting, &cfg) < 0)
            _exit(1);
        {
            VP_SCOPE("recorded");
        }
        vp_stop(exiting, NULL);
        _exit(2);
    }
    assert_int_equal(wait_for(child), 0);
    alarm(0);
    assert_int_equal(*done, 0);
    read_left("host.vpcap");
    assert_int_equal(seen_count("recorded"), 1);
}

static int child_of_a_recording(vp_recording *r)
{
    vp_config cfg = here_config();
    vp_recording *mine;
    {
        VP_SCOPE("in the child");
        VP_BEGIN("in the child");
        VP_END();
    }
    if (vp_stop(r, NULL) != VP_EFORKED || vp_wait(r, NULL) != VP_EFORKED ||
        vp_capture_past(r, 1, NULL) != VP_EFORKED || vp_recording_active(r))
        return 2;
    cfg.host = "child";
    if (vp_start(&mine, &cfg) < 0 || !vp_recording_active(mine))
        return 3;
    {
        VP_SCOPE("of its own");
    }
    if (vp_stop(mine, NULL) < 0)
        return 4;
    return seen.event_count == 1 && seen_count("of its own") == 1 ? 0 : 5;
}

/* GCC 12's takes a thread that the child starts for the one of its parent that has that address. */
static void skip_under_thread_sanitizer(void)
{
#ifdef __SANITIZE_THREAD__
    skip_because("ThreadSanitizer knows no threads of a forked child");
#endif
}

/* Until all other threads sleep: GCC 12's AddressSanitizer takes no care of its allocator's locks
 * when a process forks (glibc does), and each thread that starts allocates through it; a child
 * whose parent held one of them waits for ever. */
static void wait_for_sleep(void)
{
    bool all_sleep = false;
    while (!all_sleep) {
        DIR *d = opendir("/proc/self/task");
        struct dirent *e;
        assert_non_null(d);
        all_sleep = true;
        while ((e = readdir(d))) {
            char path[300], line[300];
            if (e->d_name[0] == '.' || atoi(e->d_name) == getpid())
                continue;
            snprintf(path, sizeof path, "/proc/self/task/%s/stat", e->d_name);
            FILE *f = fopen(path, "r");
            const char *end = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
            all_sleep = all_sleep && (!f || (end && end[2] == 'S')); /* no file: it has ended */
            if (f)
                fclose(f);
        }
        closedir(d);
        if (!all_sleep)
            usleep(1000);
    }
}

static void fork_in_a_zone(void **state)
{
    (void)state;
    skip_under_thread_sanitizer();
    vp_recording *r = here_start();
    wait_for_sleep();
    {
        VP_SCOPE("around the fork");
        pid_t child = fork();
        if (child == 0)
            _exit(child_of_a_recording(r));
        int status = wait_for(child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    vp_result result = VP_RESULT_INIT;
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, 1);
    assert_int_equal(seen_count("around the fork"), 1);
    assert_int_equal(seen_count("in the child"), 0);
}

static void a_child_that_follows(void **state)
{
    (void)state;
    skip_under_thread_sanitizer();
    vp_config cfg = here_config();
    vp_recording *r;
    char name[64], path[sizeof here.path];
    cfg.follow_fork = true;
    assert_int_equal(vp_start(&r, &cfg), 0);
    wait_for_sleep();
    pid_t child = fork();
    if (child == 0) {
        {
            VP_SCOPE("followed");
        }
        _exit(vp_stop(r, NULL) == VP_EFORKED ? 0 : 1);
    }
    assert_int_equal(wait_for(child), 0);
    snprintf(path, sizeof path, "%s", vp_recording_dir(r));
    snprintf(name, sizeof name, "host_%d.vpcap", (int)child);
    read_left(name); /* beside its parent's */
    assert_int_equal(seen_count("followed"), 1);
    assert_int_equal(seen.info.pid, child);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen_count("followed"), 0);
}

static void *fork_often(void *ctx)
{
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            VP_SCOPE("in the child");
            _exit(0);
        }
        if (child < 0 || waitpid(child, NULL, 0) != child)
            return NULL;
    }
    return ctx;
}

/* Forks while others record, start and stop: no child hangs on a lock that a thread held. */
static void forks_among_starts_and_stops(void **state)
{
    (void)state;
    skip_under_thread_sanitizer();
    pthread_t t;
    void *ok = NULL;
    vp_config cfg = here_config();
    cfg.in_memory = true;
    cfg.pool_bytes = 1;
    alarm(60);
    assert_int_equal(pthread_create(&t, NULL, fork_often, &cfg), 0);
    for (int i = 0; i < 100; i++) {
        vp_recording *r;
        assert_int_equal(vp_start(&r, &cfg), 0);
        vp_name("a name");
        {
            VP_SCOPE("in the parent");
        }
        assert_int_equal(vp_stop(r, NULL), 0);
        assert_int_equal(seen_count("in the parent"), 1);
    }
    pthread_join(t, &ok);
    alarm(0);
    assert_ptr_equal(ok, &cfg);
}

static int share(void **state)
{
    (void)state;
    done = mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return done == MAP_FAILED;
}

int main(void)
{
    const struct CMUnitTest tests[] = {here_test(ten_kills_with_the_first_kept),
                                       here_test(ten_kills_in_a_ring),
                                       here_test(exit_in_a_zone_writes),
                                       here_test(underscore_exit_leaves_the_image),
                                       here_test(what_a_jump_left_is_not_open),
                                       here_test(zones_of_one_tick_are_two),
                                       here_test(exit_waits_for_what_is_being_written),
                                       here_test(exit_in_a_callback_ends_and_writes),
                                       here_test(a_callback_that_waits_for_the_exit_is_given_up),
                                       here_test(fork_in_a_zone),
                                       here_test(a_child_that_follows),
                                       here_test(forks_among_starts_and_stops)};
    return cmocka_run_group_tests(tests, share, NULL);
}
