/* What the recorder compresses is what zlib inflates, whoever compressed it and in whatever pieces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/capture/write/writer_gzip.h"

enum { MOST = 3 << 20 };

static uint64_t seed = 99;

static uint64_t dice(uint64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % n;
}

static void fill(unsigned char *p, size_t n, int how)
{
    static const char line[] =
        "{\"ph\":\"X\",\"pid\":701,\"tid\":30896,\"ts\":9.363967,\"dur\":0.0";
    for (size_t i = 0; i < n; i++) {
        char text = dice(20) ? line[i % (sizeof line - 1)] : (char)('0' + dice(10));
        p[i] = how == 0 ? 0 : (unsigned char)(how == 1 ? (char)dice(256) : text);
    }
}

static void expect_inflates(int fd, uint64_t bytes, const unsigned char *want, size_t n)
{
    unsigned char *in = malloc(bytes + 1), *out = malloc(n + 1);
    z_stream z = {0};
    assert_int_equal(pread(fd, in, bytes + 1, 0), bytes);
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK); /* gzip: checks the sum and the length */
    z.next_in = in;
    z.avail_in = (unsigned)bytes;
    z.next_out = out;
    z.avail_out = (unsigned)n + 1;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, n);
    assert_int_equal(z.avail_in, 0);
    assert_memory_equal(out, want, n);
    inflateEnd(&z);
    free(in);
    free(out);
}

static void round_trip(bool isal, const unsigned char *p, size_t n, size_t piece)
{
    char path[] = "/tmp/test_writer_gzip_XXXXXX";
    wz_file f;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(wz_open(&f, fd, isal), 0);
#ifdef VP_HAVE_ISAL
    assert_int_equal(f.isal != NULL, isal);
#endif
    for (size_t at = 0, some; at < n; at += some) {
        some = 1 + dice(piece);
        some = some < n - at ? some : n - at;
        assert_int_equal(wz_write(&f, p + at, some), 0);
    }
    assert_int_equal(wz_finish(&f), 0);
    expect_inflates(fd, f.bytes, p, n);
    wz_free(&f);
    close(fd);
}

static void round_trips(bool isal)
{
    static const size_t sizes[] = {0, 1, 77, 65535, 65536, 65537, 1000003, MOST};
    unsigned char *p = malloc(MOST);
    for (int how = 0; how < 3; how++) {
        fill(p, MOST, how);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            round_trip(isal, p, sizes[i], 200000);
            round_trip(isal, p, sizes[i], sizes[i] < 100000 ? 3 : MOST);
        }
    }
    free(p);
}

static void zlib_compresses(void **state)
{
    (void)state;
    round_trips(false);
}

static void and_so_does_isal_where_it_is(void **state)
{
    (void)state;
    round_trips(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(zlib_compresses),
                                       cmocka_unit_test(and_so_does_isal_where_it_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
