/* A machine where recording has none of its short cuts: the kernel has no membarrier, and the
 * processor's clock is not to be trusted. And one whose clock jumps while something is recorded. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "tests/unit/capture_stops.h"
#include "trace/capture/pool/clock.h"
#include "trace/capture/threads/recording_thread.h"

/* For the life of this process: membarrier is a call that does not exist. */
static bool refuse_membarrier(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) == -1 && errno == ENOSYS;
}

/* What threads are writing when a recording ends is waited for, and not one zone is lost. */
static void stops_are_exact(void **state)
{
    (void)state;
    two_threads_and_stops(50);
}

static int64_t ns_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void be_busy(int64_t ns)
{
    int64_t until = ns_now() + ns;
    while (ns_now() < until)
        continue;
}

static void the_plain_clock_tells_the_time(void **state)
{
    (void)state;
    assert_false(clock_is_processor());
    assert_int_equal(clock_rate(), 1000000000);
    int64_t from = ns_now();
    vp_recording *r = here_start();
    assert_int_equal(cap_generation() & 1, 0);
    int64_t ticks = (int64_t)vp_now();
    assert_in_range(ticks, from, ns_now());
    {
        VP_SCOPE("20 ms");
        be_busy(20000000);
    }
    VP_BEGIN("a pair");
    be_busy(1000000);
    VP_END();
    assert_int_equal(vp_stop(r, NULL), 0);
    int64_t all = ns_now() - from;
    assert_in_range(seen_find("20 ms")->e.dur_ps, 20000000000, all * 1000);
    assert_in_range(seen_find("a pair")->e.dur_ps, 1000000000, all * 1000);
}

/* The counter of a machine that was asleep, or moved to another one, may begin anew: what lasted
 * how long is still told as the rate at the start says, and nothing is lost. */
static void a_clock_that_jumps_keeps_durations(void **state)
{
    (void)state;
    static const int64_t jumps[] = {INT64_C(1) << 50, -(INT64_C(1) << 50), INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        vp_recording *r = here_start();
        cap_pool_now.head->start.ticks += (uint64_t)jumps[i];
        int64_t from = ns_now();
        {
            VP_SCOPE("5 ms");
            be_busy(5000000);
        }
        int64_t all = ns_now() - from;
        VP_INSTANT("after");
        assert_int_equal(vp_stop(r, NULL), 0);
        assert_int_equal(seen.event_count, 2);
        if (i < 2) /* the others are beyond what a profile can hold */
            assert_in_range(seen_find("5 ms")->e.dur_ps, 5000000000, all * 1000 + 1000000);
        assert_true(seen_find("5 ms")->e.dur_ps >= 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {here_test(stops_are_exact),
                                       here_test(the_plain_clock_tells_the_time),
                                       here_test(a_clock_that_jumps_keeps_durations)};
    clock_is_plain = true;
    if (!refuse_membarrier())
        print_message("seccomp is not to be had here: with membarrier\n");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
