/* trace/analyze/wait_names: which zones wait, by the words of their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/analyze/host/threads.h"

static void check(wait_kind want, const char *const *names)
{
    for (; *names; names++)
        if (wait_kind_of(vp_str_of(*names), VP_STR_NONE) != want)
            fail_msg("%s is of kind %d", *names, (int)wait_kind_of(vp_str_of(*names), VP_STR_NONE));
}

static void waiting_names(void **state)
{
    static const char *const locks[] = {"pthread_mutex_lock",
                                        "std::mutex::lock",
                                        "Lock contention",
                                        "futex",
                                        "SpinLock",
                                        "lock",
                                        NULL};
    static const char *const stops[] = {"usleep",
                                        "time.sleep",
                                        "clock_nanosleep",
                                        "MPI_Barrier",
                                        "barrier",
                                        "join",
                                        "join_workers",
                                        "std::thread::join",
                                        "Thread.join",
                                        "Thread.join (/usr/lib/python3.12/threading.py:1115)",
                                        NULL};
    static const char *const idle[] = {"wait",
                                       "pthread_cond_wait",
                                       "cond_timedwait",
                                       "epoll_wait",
                                       "WaitForSingleObject",
                                       "future.wait",
                                       "select.epoll.poll",
                                       "recvfrom",
                                       "MPI_Recv",
                                       "_thread.lock.acquire",
                                       "wait_for_lock",
                                       "waitUntil",
                                       NULL};
    static const char *const none[] = {"str.join",
                                       "posixpath.join",
                                       "unlock",
                                       "mutex_unlock",
                                       "clock",
                                       "block_decode",
                                       "await fetch",
                                       "tokio::task::poll",
                                       "Future::poll",
                                       "mutex_init",
                                       "render",
                                       "",
                                       "load (/src/lock/wait.py:3)",
                                       "try_lock",
                                       "pollution",
                                       "WriteFile",
                                       "parking",
                                       "_thread.lock.release",
                                       NULL};
    (void)state;
    check(WAIT_LOCK, locks);
    check(WAIT_ANY, stops);
    check(WAIT_IDLE, idle);
    check(WAIT_NONE, none);
    assert_int_equal(wait_kind_of(VP_STR("SharedIndex"), VP_STR("lock")), WAIT_LOCK);
    assert_int_equal(wait_kind_of(VP_STR("SharedIndex"), VP_STR("io,wait")), WAIT_IDLE);
    assert_int_equal(wait_kind_of(VP_STR("SharedIndex"), VP_STR("index")), WAIT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waiting_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
