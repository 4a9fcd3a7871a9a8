/* Files are written aside: no step waits for them, neither a slow one's nor the next capture's, and
 * exit waits for all. Writers here stand before a gate, so that whoever waited for one would be
 * found out. */
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/unit/capture_tools.h"
#include "trace/base/time.h"
#include "trace/capture/session/session.h"

#define GIVE_UP_MS 20000

static _Atomic int *shared; /* with a child: how many were written */
static _Atomic bool is_open;
static _Atomic int entered, gave_up;
static pthread_t caller;

static int wait_at_the_gate(uint64_t *bytes, int run_fd, const vpcap *v,
                            const struct gpu_activity *gpu, unsigned outputs)
{
    entered++;
    gave_up += pthread_equal(pthread_self(), caller) != 0;
    for (int ms = 0; !is_open && ms < GIVE_UP_MS; ms++)
        usleep(1000);
    gave_up += !is_open;
    int rc = seen_write(bytes, run_fd, v, gpu, outputs);
    (*shared)++;
    return rc;
}

static char said[8192];
static size_t said_n;
static double slowest_s; /* of all steps */
static pthread_mutex_t saying = PTHREAD_MUTEX_INITIALIZER;

static void keep_said(void *ctx, int level, const char *message)
{
    (void)ctx;
    (void)level;
    pthread_mutex_lock(&saying);
    said_n += (size_t)snprintf(said + said_n, sizeof said - said_n, "%s\n", message);
    pthread_mutex_unlock(&saying);
}

static vp_schedule gated(void)
{
    vp_schedule s = VP_SCHEDULE_INIT;
    s.profiling_dir = here.root;
    s.start_step = -1;
    s.recording.pool_bytes = 1 << 20;
    s.recording.in_memory = true;
    s.recording.log = keep_said;
    cap_writer = wait_at_the_gate;
    caller = pthread_self();
    is_open = false;
    entered = gave_up = *shared = 0;
    slowest_s = 0;
    said_n = 0;
    said[0] = 0;
    return s;
}

static void note_step(const vp_profiler *p)
{
    vp_step_stats stats = VP_STEP_STATS_INIT;
    assert_int_equal(vp_profiler_stats(&stats, p), 0);
    slowest_s = stats.last > slowest_s ? stats.last : slowest_s;
}

static void step(vp_profiler *p, uint64_t number, unsigned ms)
{
    assert_int_equal(vp_begin_step(p, number), 0);
    usleep(ms * 1000);
    assert_int_equal(vp_end_step(p, 0), 0);
    note_step(p);
}

/* Long enough to be slow by far, and slower than any before, however busy this machine is now. */
static unsigned slow_ms(const vp_profiler *p)
{
    vp_step_stats stats = VP_STEP_STATS_INIT;
    assert_int_equal(vp_profiler_stats(&stats, p), 0);
    return 100 + (unsigned)(20 * 1e3 * stats.median + 1e3 * slowest_s);
}

static unsigned times_said(const char *what)
{
    unsigned n = 0;
    pthread_mutex_lock(&saying);
    for (const char *at = said; (at = strstr(at, what)); at++)
        n++;
    pthread_mutex_unlock(&saying);
    return n;
}

/* How many slow steps are told of as written: what is said of others goes on behind this. */
static unsigned slow_written(void)
{
    return times_said(" times the usual\n");
}

/* With the gate shut the program steps on, and starts the capture that it was about to. */
static void a_slow_step_holds_nothing_up(void **state)
{
    (void)state;
    vp_profiler *p;
    vp_step_stats stats = VP_STEP_STATS_INIT;
    vp_result last = VP_RESULT_INIT;
    vp_schedule s = gated();
    s.slow_step_ratio = 8;
    s.max_profile_count = 1;
    s.start_step = 40;
    s.num_steps = 2;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    uint64_t i = 0;
    for (; i < 20; i++)
        step(p, i, 2);
    step(p, i++, slow_ms(p));
    for (; i < 45; i++)
        step(p, i, 1);
    unsigned slow = slow_written(); /* on a busy machine one may have been slow enough before */
    assert_true(slow >= 1);
    assert_int_equal(*shared, 0);
    is_open = true;
    assert_int_equal(vp_profiler_last(&last, p), 0); /* of both, the later: two steps */
    assert_int_equal(last.zones, 2);
    assert_int_equal(vp_profiler_stats(&stats, p), 0);
    assert_int_equal(stats.captures,
                     slow + 1); /* the slow step took nothing from the one that may be */
    vp_profiler_free(p);
    assert_int_equal(*shared, slow + 1);
    assert_int_equal(gave_up, 0);
    assert_int_equal(times_said("Trace saved to: "), slow + 1);
}

/* It is the last step of its past, though others follow before the past is copied. */
static void the_past_ends_with_the_slow_step(void **state)
{
    (void)state;
    vp_profiler *p;
    char usual[80];
    vp_schedule s = gated();
    s.slow_step_ratio = 8;
    is_open = true;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    uint64_t i = 0;
    for (; i < 20; i++)
        step(p, i, 1);
    step(p, i++, slow_ms(p));
    for (; i < 3000; i++)
        step(p, i, 0);
    vp_profiler_free(p);
    assert_true(*shared >= 1); /* the last of them is what was seen */
    assert_int_equal(*shared, slow_written());
    int64_t slowest = -1, number = -1;
    assert_true(seen.event_count > 1);
    for (uint32_t k = 0; k < seen.event_count; k++) {
        const vpcap_event *e = &seen.events[k].e;
        assert_true(e->start_ps + e->dur_ps <= seen.info.end_ps);
        assert_true(k == 0 || e->number == seen.events[k - 1].e.number + 1);
        number = e->number;
        slowest = e->dur_ps > slowest ? e->dur_ps : slowest;
    }
    assert_int_equal(seen.events[seen.event_count - 1].e.dur_ps, slowest);
    snprintf(usual, sizeof usual, "Step %lld took ", (long long)number);
    assert_int_equal(times_said(usual), 1);
}

#define WRITING_MS 300u

static int write_for_long(uint64_t *bytes, int run_fd, const vpcap *v,
                          const struct gpu_activity *gpu, unsigned outputs)
{
    usleep(WRITING_MS * 1000);
    (*shared)++;
    return seen_write(bytes, run_fd, v, gpu, outputs);
}

/* Captures that the step at hand waits for, to be seen well. */
static vp_schedule waited_for(void)
{
    vp_schedule s = gated();
    cap_writer = write_for_long;
    s.recording.export_now = true;
    return s;
}

static void step_with_a_context(vp_profiler *p, uint64_t number, unsigned ms)
{
    assert_int_equal(vp_begin_step(p, number), 0);
    {
        VP_CONTEXT(p, number, "train_step");
        usleep(ms * 1000);
    }
    assert_int_equal(vp_end_step(p, 0), 0);
    note_step(p);
}

/* Steps 10, 20 and 30 start and end a capture each: that is no time of theirs, makes none of them
 * slow, and keeps the slow one's past from nobody. */
static void a_capture_makes_no_step_slow(void **state)
{
    (void)state;
    vp_profiler *p;
    vp_step_stats stats = VP_STEP_STATS_INIT;
    vp_schedule s = waited_for();
    s.slow_step_ratio = 8;
    s.enable_profiling = true;
    s.profile_every_n_steps = 10;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    uint64_t i = 0;
    double all = 0, twentieth = 0;
    for (; i < 25; i++) {
        double wall = (double)vp_now_ns();
        step_with_a_context(p, i, 4);
        wall = ((double)vp_now_ns() - wall) / 1e9;
        assert_int_equal(vp_profiler_stats(&stats, p), 0);
        double most = i && i % 10 == 0 ? wall - WRITING_MS / 1e3 : wall;
        assert_true(stats.last >= 0.004 && stats.last <= most);
        all += stats.last;
        twentieth = i == 20 ? stats.last : twentieth;
    }
    assert_true(stats.avg_step_time < all / 25 + 1e-6 && stats.avg_step_time > all / 25 - 1e-6);
    step_with_a_context(p, i++, slow_ms(p));
    for (; i < 32; i++)
        step_with_a_context(p, i, 4);
    assert_int_equal(times_said("Step 10 took"), 0);
    if (twentieth < 8 * 0.004) /* else it was slow without its capture, on a busy machine */
        assert_int_equal(times_said("Step 20 took"), 0);
    assert_int_equal(times_said("Step 25 took"), 1);
    vp_profiler_free(p);
    assert_int_equal(*shared, 3 + slow_written());
}

/* There is no ring to take its past from; nothing is announced, and the next one has its own. */
static void a_slow_step_of_a_capture_takes_nothing_from_the_next(void **state)
{
    (void)state;
    vp_profiler *p;
    vp_schedule s = gated();
    s.slow_step_ratio = 8;
    s.start_step = 20;
    s.num_steps = 3;
    is_open = true;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    uint64_t i = 0;
    for (; i < 20; i++)
        step(p, i, 4);
    for (; i < 30; i++)
        step(p, i, i == 21 ? slow_ms(p) : 4);
    assert_int_equal(times_said("Step 21 "), 0);
    step(p, i, slow_ms(p));
    assert_int_equal(times_said("Step 30 took"), 1);
    vp_profiler_free(p);
    assert_int_equal(*shared, 1 + slow_written());
}

static void sync_for_long(void *ctx)
{
    (void)ctx;
    usleep(WRITING_MS * 1000);
}

/* Also a recording that the program starts by itself; what it waits for then is its own work. */
static void only_what_is_ours_is_no_step_time(void **state)
{
    (void)state;
    vp_profiler *p;
    vp_recording *r;
    vp_step_stats stats = VP_STEP_STATS_INIT;
    vp_schedule s = waited_for();
    s.recording.dir = here.root;
    for (int sync = 0; sync < 2; sync++) {
        s.recording.device_sync = sync ? sync_for_long : NULL;
        assert_int_equal(vp_profiler_new(&p, &s), 0);
        assert_int_equal(vp_begin_step(p, 1), 0);
        assert_int_equal(vp_start(&r, &s.recording), 0);
        assert_int_equal(vp_stop(r, NULL), 0);
        assert_int_equal(vp_end_step(p, 0), 0);
        assert_int_equal(vp_profiler_stats(&stats, p), 0);
        assert_int_equal(stats.last >= WRITING_MS / 1e3, sync);
        vp_profiler_free(p);
    }
}

/* As many as may be written at once; what records next waits for none of them. */
static void captures_one_after_another(void **state)
{
    (void)state;
    vp_profiler *p;
    vp_step_stats stats = VP_STEP_STATS_INIT;
    vp_schedule s = gated();
    s.enable_profiling = true;
    s.profile_every_n_steps = 1;
    s.max_profile_count = 4;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    for (uint64_t i = 1; i <= 3; i++) {
        VP_CONTEXT(p, i, "context");
        usleep(1000);
    }
    assert_int_equal(vp_capture_async(p, 1), 0);
    step(p, 4, 1);
    assert_int_equal(*shared, 0);
    is_open = true;
    vp_profiler_stats(&stats, p);
    assert_int_equal(stats.captures, 4);
    vp_profiler_free(p);
    assert_int_equal(*shared, 4);
    assert_int_equal(gave_up, 0);
}

static void *open_soon(void *ctx)
{
    (void)ctx;
    while (entered < 4)
        usleep(1000);
    usleep(20000);
    is_open = true;
    return NULL;
}

/* The fifth waits for a place: nothing is lost, and no more pools are held. */
static void there_is_an_end_to_it(void **state)
{
    (void)state;
    vp_profiler *p;
    pthread_t opener;
    vp_schedule s = gated();
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    pthread_create(&opener, NULL, open_soon, NULL);
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(vp_capture_async(p, 1), 0);
        step(p, i, 1);
        assert_true(i < 4 || is_open);
    }
    vp_profiler_free(p);
    pthread_join(opener, NULL);
    assert_int_equal(*shared, 8);
    assert_int_equal(gave_up, 0);
}

/* ---- VP_PROFILE_SCOPE ---- */

static void record_a_scope(void)
{
    VP_PROFILE_SCOPE(here.root);
    VP_SCOPE("inside");
}

static void a_scope_is_left_at_once(void **state)
{
    (void)state;
    gated();
    record_a_scope();
    assert_int_equal(*shared, 0);
    record_a_scope(); /* another one may record meanwhile */
    is_open = true;
    session_lock();
    while (session_writing(true))
        session_wait();
    session_unlock();
    assert_int_equal(*shared, 2);
    assert_int_equal(gave_up, 0);
}

static int write_slowly(uint64_t *bytes, int run_fd, const vpcap *v, const struct gpu_activity *gpu,
                        unsigned outputs)
{
    usleep(100000);
    (*shared)++;
    return seen_write(bytes, run_fd, v, gpu, outputs);
}

static void exit_waits_for_it(void **state)
{
    (void)state;
    int status;
    *shared = 0;
    pid_t child = fork();
    if (child == 0) {
        cap_writer = write_slowly;
        record_a_scope();
        exit(*shared);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(*shared, 1);
}

static void exit_waits_for_a_slow_steps_past(void **state)
{
    (void)state;
    int status;
    *shared = 0;
    pid_t child = fork();
    if (child == 0) {
        vp_profiler *p;
        vp_schedule s = gated();
        s.slow_step_ratio = 8;
        cap_writer = write_slowly;
        if (vp_profiler_new(&p, &s) < 0)
            _exit(1);
        uint64_t i = 0;
        for (; i < 20; i++)
            step(p, i, 1);
        if (!times_said("times the usual"))
            step(p, i++, slow_ms(p));
        exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(*shared, 1);
}

static int share(void **state)
{
    (void)state;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        here_test(a_slow_step_holds_nothing_up),
        here_test(the_past_ends_with_the_slow_step),
        here_test(a_capture_makes_no_step_slow),
        here_test(a_slow_step_of_a_capture_takes_nothing_from_the_next),
        here_test(only_what_is_ours_is_no_step_time),
        here_test(captures_one_after_another),
        here_test(there_is_an_end_to_it),
        here_test(a_scope_is_left_at_once),
        here_test(exit_waits_for_it),
        here_test(exit_waits_for_a_slow_steps_past)};
    return cmocka_run_group_tests(tests, share, NULL);
}
