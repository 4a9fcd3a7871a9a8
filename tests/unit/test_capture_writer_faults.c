/* Whatever fails while a recording is written, nothing of it stays: no part of a file, no temporary
 * one; and the error says what the system said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/recorded.h"
#include "tests/unit/tree.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/capture/pool/recorder.h"

#define ALL (VP_OUT_XPLANE | VP_OUT_TRACE_JSON | VP_OUT_PERFETTO_JSON)

typedef struct fixture {
    tree t;
    recorded r;
    int out;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    tree_make(&f->t);
    assert_int_equal(rec_make(&f->r, tree_at(&f->t, "prof"), VP_OUT_XPLANE), 0);
    tree_dir(&f->t, "out");
    f->out = open(tree_at(&f->t, "out"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    close(f->out);
    rec_free(&f->r);
    tree_remove(&f->t);
    free(f);
    return 0;
}

static void clear_out(fixture *f)
{
    unlinkat(f->out, "box.xplane.pb", 0);
    unlinkat(f->out, "box.trace.json.gz", 0);
    unlinkat(f->out, "perfetto_trace.json.gz", 0);
    assert_int_equal(tree_count(&f->t, "out"), 0);
}

static void fail_each_write(fixture *f, int error, int code)
{
    uint64_t bytes = 77;
    int rc = -1;
    uint64_t k = 1;
    for (; k < 1000 && rc < 0; k++) {
        vp_fs_fail_at(k, error);
        rc = cap_write(&bytes, f->out, f->r.v, NULL, ALL);
        vp_fs_fail_at(0, 0);
        if (rc < 0) {
            assert_int_equal(rc, code);
            assert_int_equal(bytes, 77); /* untouched */
            assert_int_equal(tree_count(&f->t, "out"), 0);
        }
    }
    assert_int_equal(rc, 0);
    assert_true(k > 10);
    assert_int_equal(tree_count(&f->t, "out"), 3);
    clear_out(f);
}

static void a_full_disk_leaves_nothing(void **state)
{
    fail_each_write(*state, ENOSPC, VP_ENOSPC);
}

static void a_broken_one_neither(void **state)
{
    fail_each_write(*state, EIO, VP_EIO);
}

static void nor_does_a_machine_without_memory(void **state)
{
    fixture *f = *state;
    uint64_t bytes, k = 1;
    int rc = -1;
    for (; k < 2000 && rc < 0; k++) {
        vp_mem_fail_at(k, false);
        rc = cap_write(&bytes, f->out, f->r.v, NULL, ALL);
        vp_mem_fail_at(0, false);
        if (rc < 0) {
            assert_int_equal(rc, VP_ENOMEM);
            assert_int_equal(tree_count(&f->t, "out"), 0);
        }
    }
    assert_int_equal(rc, 0);
    assert_true(k > 20);
    clear_out(f);
}

static void a_directory_that_is_gone_is_an_error(void **state)
{
    fixture *f = *state;
    uint64_t bytes;
    tree_dir(&f->t, "gone");
    int fd = open(tree_at(&f->t, "gone"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(rmdir(tree_at(&f->t, "gone")), 0);
    assert_int_equal(cap_write(&bytes, fd, f->r.v, NULL, ALL), VP_EIO);
    assert_non_null(strstr(vp_error_last()->message, "box.xplane.pb"));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_leaves_nothing),
        cmocka_unit_test(a_broken_one_neither),
        cmocka_unit_test(nor_does_a_machine_without_memory),
        cmocka_unit_test(a_directory_that_is_gone_is_an_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
