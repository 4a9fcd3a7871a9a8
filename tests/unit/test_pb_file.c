/* Numbers as protobuf has them, and parts whose length is known after they were written, wherever
 * in the file the length comes to lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/base/pb_file.h"

static void expect_varint(uint64_t v)
{
    char got[16];
    uint64_t back = 0;
    unsigned want = 1;
    for (uint64_t rest = v; rest >>= 7;)
        want++;
    memset(got, 0x55, sizeof got);
    assert_int_equal(pf_varint(got, v) - got, want);
    for (unsigned i = 0; i < want; i++) {
        assert_int_equal((unsigned char)got[i] >> 7, i + 1 < want);
        back |= (uint64_t)((unsigned char)got[i] & 0x7f) << (7 * i);
    }
    assert_true(back == v);
}

static void numbers_of_every_length(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t v = UINT64_C(1) << bit;
        expect_varint(v);
        expect_varint(v - 1);
        expect_varint(v | 1);
        for (int i = 0; i < 100; i++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            expect_varint(v | (seed & (v - 1)));
        }
    }
    expect_varint(UINT64_MAX);
}

static size_t read_back(int fd, unsigned char *p, size_t n)
{
    size_t got = 0;
    for (ssize_t k; got < n && (k = pread(fd, p + got, n - got, (off_t)got)) > 0;)
        got += (size_t)k;
    return got;
}

/* `before` bytes, then a part of `inside` bytes, then one byte. */
static void expect_part(size_t before, size_t inside)
{
    char path[] = "/tmp/test_pb_file_XXXXXX";
    pb_file f;
    uint64_t at, n = 0;
    size_t whole = before + 6 + inside + 1;
    char *filler = calloc(before + inside + 1, 1);
    unsigned char *got = malloc(whole + 1);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    memset(filler, 'x', before + inside + 1);
    assert_int_equal(pf_open(&f, fd), 0);
    assert_int_equal(pf_put(&f, filler, before), 0);
    assert_int_equal(pf_begin(&f, 0x0a, &at), 0);
    assert_int_equal(pf_put(&f, filler, inside), 0);
    assert_int_equal(pf_end(&f, at), 0);
    assert_int_equal(pf_put(&f, filler, 1), 0);
    assert_int_equal(pf_flush(&f), 0);
    assert_int_equal(f.flushed, whole);
    assert_int_equal(read_back(fd, got, whole + 1), whole);
    assert_int_equal(got[before], 0x0a);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(got[before + 1 + i] >> 7, i < 4);
        n |= (uint64_t)(got[before + 1 + i] & 0x7f) << (7 * i);
    }
    assert_int_equal(n, inside);
    for (size_t i = 0; i < whole; i++)
        if (i < before || i >= before + 6)
            assert_int_equal(got[i], 'x');
    pf_free(&f);
    close(fd);
    free(filler);
    free(got);
}

static void a_length_may_lie_across_two_writes(void **state)
{
    (void)state;
    for (size_t early = 0; early < 10; early++) {
        expect_part(PF_BUFFER - early, 0);
        expect_part(PF_BUFFER - early, 300);
        expect_part(PF_BUFFER - early, PF_BUFFER);
        expect_part(early, 2 * PF_BUFFER + 17);
    }
}

/* What is written in place goes on behind the buffer's end. */
static void room_is_there_at_the_end_of_a_buffer(void **state)
{
    enum { N = 3 * PF_BUFFER };
    char path[] = "/tmp/test_pb_file_XXXXXX";
    pb_file f;
    size_t n = 0;
    unsigned char *got = malloc(N + PF_ROOM);
    int fd = mkstemp(path);
    (void)state;
    unlink(path);
    assert_int_equal(pf_open(&f, fd), 0);
    for (size_t some = 1; n < N; n += some, some = some * 7 % PF_ROOM + 1) {
        char *p = pf_room(&f);
        for (size_t i = 0; i < some; i++)
            p[i] = (char)((n + i) % 251);
        assert_int_equal(pf_wrote(&f, p + some), 0);
        assert_int_equal(f.flushed % PF_BUFFER, 0);
    }
    assert_int_equal(pf_flush(&f), 0);
    assert_int_equal(read_back(fd, got, N + PF_ROOM), n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(got[i], i % 251);
    pf_free(&f);
    close(fd);
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_length),
        cmocka_unit_test(a_length_may_lie_across_two_writes),
        cmocka_unit_test(room_is_there_at_the_end_of_a_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
