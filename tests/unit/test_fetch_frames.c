/* trace/source/fetch_frames: what goes in comes out, in pieces too, and what is no frame is one
 * clear failure. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/skip.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/source/fetch_frames.h"

static int ends[2];

static int setup(void **state)
{
    (void)state;
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
}

static int teardown(void **state)
{
    (void)state;
    close(ends[0]);
    return ends[1] < 0 ? 0 : close(ends[1]);
}

static void *put_large(void *payload)
{
    assert_int_equal(fetch_put(ends[1], FETCH_DATA, *(vp_str *)payload), 0);
    assert_int_equal(fetch_put(ends[1], FETCH_DONE, (vp_str){0}), 0);
    return NULL;
}

static void test_the_largest_frame(void **state)
{
    (void)state;
    char *bytes = vp_malloc(FETCH_FRAME_MAX), *got = vp_malloc(FETCH_FRAME_MAX);
    for (size_t i = 0; i < FETCH_FRAME_MAX; i++)
        bytes[i] = (char)(i * 7 + (i >> 9));
    vp_str payload = {bytes, FETCH_FRAME_MAX};
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, put_large, &payload), 0);
    fetch_frame kind;
    size_t n;
    assert_int_equal(fetch_head(ends[0], &kind, &n), 0);
    assert_int_equal(kind, FETCH_DATA);
    assert_int_equal(n, FETCH_FRAME_MAX);
    assert_int_equal(fetch_take(ends[0], got, n), 0);
    assert_memory_equal(got, bytes, n);
    assert_int_equal(fetch_head(ends[0], &kind, &n), 0);
    assert_true(kind == FETCH_DONE && n == 0);
    pthread_join(writer, NULL);
    assert_int_equal(fetch_put(ends[1], FETCH_DATA, (vp_str){bytes, FETCH_FRAME_MAX + 1}),
                     VP_ELIMIT);
    vp_free(bytes);
    vp_free(got);
}

static void test_a_failure_is_told(void **state)
{
    (void)state;
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, FETCH_ASK_MAX);
    vp_fail(VP_ENOTFOUND, "bucket not found");
    assert_int_equal(fetch_put_failure(ends[1], VP_ENOTFOUND, 404), 0);
    vp_error_clear();
    fetch_frame kind;
    assert_int_equal(fetch_next(ends[0], &kind, &b), VP_ENOTFOUND);
    assert_int_equal(kind, FETCH_FAILED);
    assert_string_equal(vp_error_last()->message, "bucket not found");
}

/* Whatever code another process says: a failure stays one. */
static void test_no_failure_is_a_success(void **state)
{
    (void)state;
    static const uint64_t codes[] = {0, 22, UINT64_C(1) << 32, UINT64_MAX};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        VP_CLEANUP(vp_buf_free) vp_buf b;
        vp_buf_init(&b, 64);
        vp_pb_put_u64(&b, FETCH_FAILURE_CODE, codes[i]);
        assert_int_equal(fetch_failure(vp_buf_view(&b)), VP_EREMOTE);
    }
    assert_int_equal(fetch_failure((vp_str){"\x0a\xff", 2}), VP_EREMOTE);
}

static void test_what_is_no_frame(void **state)
{
    (void)state;
    uint32_t head[2] = {FETCH_DATA, FETCH_FRAME_MAX + 1};
    fetch_frame kind;
    size_t n;
    assert_int_equal(write(ends[1], head, sizeof head), sizeof head);
    assert_int_equal(fetch_head(ends[0], &kind, &n), VP_ECORRUPT);
    assert_int_equal(write(ends[1], head, 5), 5); /* and the end in the middle of one */
    close(ends[1]);
    ends[1] = -1;
    assert_int_equal(fetch_head(ends[0], &kind, &n), VP_EREMOTE);
}

static void test_nobody_listens(void **state)
{
    (void)state;
    int gone = ends[0];
    close(gone);
    assert_int_equal(fetch_put(ends[1], FETCH_DATA, VP_STR("x")), VP_ECANCELLED);
    ends[0] = dup(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_largest_frame, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_failure_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_failure_is_a_success, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_no_frame, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nobody_listens, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
