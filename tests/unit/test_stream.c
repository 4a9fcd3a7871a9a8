/* Streams and sources: the same bytes whatever way they are cut, and damage that is reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/bytes/byte_stream.h"

/* 2.5 windows, so that full and partial windows both occur. */
#define BIG (5u << 19)

static char *pattern(size_t n)
{
    char *p = malloc(n + 1);
    for (size_t i = 0; i < n; i++)
        p[i] = (char)(i * 2654435761u >> 11);
    return p;
}

static int file_of(const char *p, size_t n)
{
    int fd;
    assert_int_equal(vp_fs_temp(&fd), 0);
    assert_int_equal(vp_fs_write_all(fd, p, n), 0);
    return fd;
}

/* Reads to the end, scribbling over everything the contract gives to the reader. */
static size_t drain(rd_stream *s, const char *want, size_t n)
{
    char *p;
    size_t got, pos = 0;
    int rc;
    while ((rc = s->next(s, &p, &got)) > 0) {
        assert_true(got > 0);
        assert_true(pos + got <= n);
        assert_memory_equal(p, want + pos, got);
        memset(p - RD_HEADROOM, 0x5a, RD_HEADROOM + got);
        volatile char sum = 0;
        for (size_t i = 0; i < RD_PAD; i++)
            sum = (char)(sum + p[got + i]);
        pos += got;
        assert_int_equal(s->raw_done, (int64_t)pos);
    }
    assert_int_equal(rc, 0);
    assert_int_equal(s->next(s, &p, &got), 0); /* the end stays the end */
    return pos;
}

static void memory_stream_gives_all_bytes_for_any_chunk(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 1000, 4097};
    static const size_t chunks[] = {0, 1, 7, 64, 1000, 5000};
    char *data = pattern(4097);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof chunks / sizeof *chunks; k++) {
            VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
            assert_int_equal(rd_stream_memory(&s, data, sizes[i], chunks[k]), 0);
            assert_int_equal(s->total, sizes[i]);
            assert_int_equal(drain(s, data, sizes[i]), sizes[i]);
            assert_int_equal(s->damage.code, 0);
        }
    free(data);
}

static void fd_stream_gives_the_file_and_leaves_its_offset_alone(void **state)
{
    (void)state;
    char *data = pattern(BIG);
    int fd = file_of(data, BIG);
    VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
    assert_int_equal(rd_stream_fd(&s, fd), 0);
    assert_int_equal(s->raw_total, BIG);
    assert_int_equal(drain(s, data, BIG), BIG);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), BIG); /* where the write left it */
    assert_int_equal(s->damage.code, 0);
    free(data);
}

static void a_stream_fills_memory_of_its_readers(void **state)
{
    (void)state;
    char *data = pattern(BIG), *got = malloc(BIG);
    for (int memory = 0; memory < 2; memory++) {
        VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
        size_t pos = 0, n;
        int rc;
        assert_int_equal(
            memory ? rd_stream_memory(&s, data, BIG, 0) : rd_stream_fd(&s, file_of(data, BIG)), 0);
        while ((rc = s->fill(s, got + pos, BIG - pos < 99991 ? BIG - pos : 99991, &n)) > 0) {
            pos += n;
            assert_int_equal(s->raw_done, (int64_t)pos);
        }
        assert_int_equal(rc, 0);
        assert_int_equal(pos, BIG);
        assert_memory_equal(got, data, BIG);
    }
    free(data);
    free(got);
}

static void fd_stream_of_an_empty_file_just_ends(void **state)
{
    (void)state;
    VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
    assert_int_equal(rd_stream_fd(&s, file_of("", 0)), 0);
    assert_int_equal(drain(s, "", 0), 0);
    assert_int_equal(s->damage.code, 0);
}

static void a_file_that_shrinks_gives_its_prefix_and_damage(void **state)
{
    (void)state;
    char *data = pattern(BIG), *p;
    size_t n;
    int fd = file_of(data, BIG);
    VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
    assert_int_equal(rd_stream_fd(&s, fd), 0);
    assert_int_equal(s->next(s, &p, &n), 1);
    assert_int_equal(n, VP_READ_WINDOW);
    assert_int_equal(ftruncate(fd, VP_READ_WINDOW + 10), 0);
    assert_int_equal(s->next(s, &p, &n), 1);
    assert_int_equal(n, 10);
    assert_memory_equal(p, data + VP_READ_WINDOW, 10);
    assert_int_equal(s->next(s, &p, &n), 0);
    assert_int_equal(s->damage.code, VP_ECORRUPT);
    assert_int_equal(s->damage.offset, VP_READ_WINDOW + 10);
    free(data);
}

/* A crash, or somebody's `truncate -s 1T`: what is read is what the disk holds. */
static void text_ends_at_a_hole(void **state)
{
    (void)state;
    char *data = pattern(BIG);
    int fd = file_of(data, BIG);
    assert_int_equal(ftruncate(fd, INT64_C(1) << 40), 0);
    VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
    assert_int_equal(rd_stream_text(&s, fd), 0);
    assert_int_equal(drain(s, data, BIG), BIG);
    assert_int_equal(s->damage.code, VP_ECORRUPT);
    assert_int_equal(s->damage.offset, BIG);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), BIG);
    free(data);
}

static void a_small_hole_is_no_end(void **state)
{
    (void)state;
    char *data = calloc(BIG, 1);
    VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
    int fd = file_of("x", 1);
    data[0] = 'x';
    data[40 << 10] = 'y';
    assert_int_equal(pwrite(fd, "y", 1, 40 << 10), 1);
    assert_int_equal(rd_stream_text(&s, fd), 0);
    assert_int_equal(drain(s, data, BIG), (40 << 10) + 1);
    assert_int_equal(s->damage.code, 0);
    free(data);
}

static void a_file_that_grows_is_read_up_to_its_first_size(void **state)
{
    (void)state;
    int fd = file_of("abc", 3);
    VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
    assert_int_equal(rd_stream_fd(&s, fd), 0);
    assert_int_equal(vp_fs_write_all(fd, "defg", 4), 0);
    assert_int_equal(drain(s, "abc", 3), 3);
}

static void a_read_error_is_a_failure_not_an_end(void **state)
{
    (void)state;
    char *p;
    size_t n;
    VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
    assert_int_equal(rd_stream_fd(&s, file_of("abc", 3)), 0);
    vp_fs_fail_at(1, EIO);
    assert_int_equal(s->next(s, &p, &n), VP_EIO);
    vp_fs_fail_at(0, 0);
}

static void pipe_stream_gives_everything_written(void **state)
{
    (void)state;
    char *data = pattern(50000);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(vp_fs_write_all(ends[1], data, 50000), 0);
    close(ends[1]);
    VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
    assert_int_equal(rd_stream_pipe(&s, ends[0]), 0);
    assert_int_equal(s->total, -1);
    assert_int_equal(drain(s, data, 50000), 50000);
    free(data);
}

static void slurp_obeys_its_maximum(void **state)
{
    (void)state;
    char *data = pattern(100), *all = NULL;
    size_t n = 0;
    for (size_t chunk = 1; chunk < 110; chunk += 9) {
        VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
        assert_int_equal(rd_stream_memory(&s, data, 100, chunk), 0);
        assert_int_equal(rd_stream_slurp(s, 100, &all, &n), 0);
        assert_int_equal(n, 100);
        assert_memory_equal(all, data, 100);
        vp_free(all);
        VP_CLEANUP(rd_stream_close) rd_stream *t = NULL;
        char *untouched = NULL;
        assert_int_equal(rd_stream_memory(&t, data, 100, chunk), 0);
        assert_int_equal(rd_stream_slurp(t, 99, &untouched, &n), VP_ELIMIT);
        assert_null(untouched);
    }
    free(data);
}

static void check_source(rd_source *s, const char *data, size_t n)
{
    char buf[64];
    size_t got;
    assert_int_equal(rd_source_size(s), (int64_t)n);
    assert_int_equal(rd_source_read(s, buf, 10, 5, &got), 0);
    assert_int_equal(got, 10);
    assert_memory_equal(buf, data + 5, 10);
    assert_int_equal(rd_source_read(s, buf, 64, (int64_t)n - 3, &got), 0);
    assert_int_equal(got, 3);
    assert_memory_equal(buf, data + n - 3, 3);
    assert_int_equal(rd_source_read(s, buf, 64, (int64_t)n, &got), 0);
    assert_int_equal(got, 0);
    assert_int_equal(rd_source_read(s, buf, 64, INT64_MAX, &got), 0);
    assert_int_equal(got, 0);
    assert_int_equal(rd_source_read(s, buf, 1, -1, &got), VP_EARG);
}

static void sources_read_anywhere(void **state)
{
    (void)state;
    char *data = pattern(1000);
    rd_source *s = NULL;
    assert_int_equal(rd_source_fd(&s, file_of(data, 1000)), 0);
    check_source(s, data, 1000);
    rd_source_close(s);
    assert_int_equal(rd_source_memory(&s, data, 1000), 0);
    check_source(s, data, 1000);
    rd_source_close(s);
    rd_source_close(NULL);
    free(data);
}

/* Exactly the limit stays in memory, one byte more goes to a file; both read the same. */
static void a_spool_holds_a_stream_of_any_size(void **state)
{
    (void)state;
    size_t limit = VP_SPOOL_MEMORY_MAX;
    char *data = pattern(limit + 1);
    static const size_t extra[] = {0, 1};
    for (size_t i = 0; i < 2; i++) {
        VP_CLEANUP(rd_stream_close) rd_stream *in = NULL;
        rd_source *s = NULL;
        vp_error damage;
        assert_int_equal(rd_stream_memory(&in, data, limit + extra[i], 0), 0);
        in->damage = (vp_error){.code = VP_ECORRUPT, .message = "told"};
        assert_int_equal(rd_source_spool(&s, in, &damage), 0);
        check_source(s, data, limit + extra[i]);
        assert_string_equal(damage.message, "told");
        rd_source_close(s);
    }
    free(data);
}

static void running_out_of_memory_is_an_error_and_leaks_nothing(void **state)
{
    (void)state;
    for (uint64_t k = 1; k <= 2; k++) {
        rd_stream *s = NULL;
        vp_mem_fail_at(k, false);
        assert_int_equal(rd_stream_memory(&s, "x", 1, 0), VP_ENOMEM);
        vp_mem_fail_at(k, false);
        assert_int_equal(rd_stream_fd(&s, file_of("x", 1)), VP_ENOMEM);
        vp_mem_fail_at(0, false);
        assert_null(s);
    }
    rd_source *src = NULL;
    vp_mem_fail_at(1, false);
    assert_int_equal(rd_source_fd(&src, file_of("x", 1)), VP_ENOMEM);
    vp_mem_fail_at(0, false);
    assert_null(src);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_stream_gives_all_bytes_for_any_chunk),
        cmocka_unit_test(fd_stream_gives_the_file_and_leaves_its_offset_alone),
        cmocka_unit_test(a_stream_fills_memory_of_its_readers),
        cmocka_unit_test(fd_stream_of_an_empty_file_just_ends),
        cmocka_unit_test(a_file_that_shrinks_gives_its_prefix_and_damage),
        cmocka_unit_test(text_ends_at_a_hole),
        cmocka_unit_test(a_small_hole_is_no_end),
        cmocka_unit_test(a_file_that_grows_is_read_up_to_its_first_size),
        cmocka_unit_test(a_read_error_is_a_failure_not_an_end),
        cmocka_unit_test(pipe_stream_gives_everything_written),
        cmocka_unit_test(slurp_obeys_its_maximum),
        cmocka_unit_test(sources_read_anywhere),
        cmocka_unit_test(a_spool_holds_a_stream_of_any_size),
        cmocka_unit_test(running_out_of_memory_is_an_error_and_leaks_nothing),
    };
    return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
