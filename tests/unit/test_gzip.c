/* gzip: what comes out is what went in, or it is said that it is not. Both backends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/unit/traces.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/gzip/gzip.h"
#include "trace/read/gzip/gzip_backend.h"

enum { ZLIB = 1, ISAL = 2 };

static int backends; /* 2 with ISA-L */

typedef struct bytes {
    unsigned char *p;
    size_t n;
} bytes;

typedef struct outcome {
    int rc; /* 0 or the failure */
    vp_error damage;
    char *p;
    size_t n;
} outcome;

static uint64_t rng = 88172645463325252u;

static uint32_t rnd(void)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)(rng >> 32);
}

enum { RANDOM, TEXT, ZEROS };

static bytes make(int kind, size_t n)
{
    bytes b = {malloc(n + 1), n};
    static const char words[] =
        "{\"ph\":\"X\",\"name\":\"fusion.12\",\"ts\":12345.678,\"dur\":9},\n";
    for (size_t i = 0; i < n; i++) {
        int text = rnd() % 23 ? words[i % (sizeof words - 1)] : 'a' + (int)(rnd() % 26);
        b.p[i] = (unsigned char)(kind == RANDOM ? (int)(rnd() & 255) : kind == ZEROS ? 0 : text);
    }
    return b;
}

static void append(bytes *to, const void *p, size_t n)
{
    to->p = realloc(to->p, to->n + n + 1);
    if (n)
        memcpy(to->p + to->n, p, n);
    to->n += n;
}

/* One gzip member behind what is there. */
static void append_member(bytes *to, bytes plain, int level, int strategy, gz_headerp header)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 31, 8, strategy), Z_OK);
    if (header)
        assert_int_equal(deflateSetHeader(&z, header), Z_OK);
    size_t cap = deflateBound(&z, plain.n) + 1000;
    unsigned char *out = malloc(cap);
    z.next_in = plain.p;
    z.avail_in = (unsigned)plain.n;
    z.next_out = out;
    z.avail_out = (unsigned)cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    append(to, out, cap - z.avail_out);
    deflateEnd(&z);
    free(out);
}

static outcome run_stream(rd_stream *in, bool threaded, int backend)
{
    outcome o = {0};
    bytes all = {0};
    char *p;
    size_t n;
    VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
    assert_int_equal(gz_stream_backend(&s, in, threaded, backend), 0);
    int64_t total = s->raw_total;
    while ((o.rc = s->next(s, &p, &n)) > 0) {
        assert_true(n > 0);
        append(&all, p, n);
        memset(p - RD_HEADROOM, 0xa5, RD_HEADROOM + n); /* the reader's to overwrite */
        assert_true(s->raw_done <= total || total < 0);
    }
    o.damage = s->damage;
    o.p = (char *)all.p;
    o.n = all.n;
    return o;
}

static outcome run(bytes gz, size_t chunk, bool threaded, int backend)
{
    rd_stream *in = NULL;
    assert_int_equal(rd_stream_memory(&in, gz.p, gz.n, chunk), 0);
    return run_stream(in, threaded, backend);
}

static void must_be(bytes gz, size_t chunk, bool threaded, bytes plain)
{
    for (int b = ZLIB; b <= backends; b++) {
        outcome o = run(gz, chunk, threaded, b);
        assert_int_equal(o.rc, 0);
        assert_int_equal(o.damage.code, 0);
        assert_int_equal(o.n, plain.n);
        if (plain.n)
            assert_memory_equal(o.p, plain.p, plain.n);
        free(o.p);
    }
}

static bool intact(const outcome *o)
{
    return o->rc == 0 && o->damage.code == 0;
}

static void all_sizes_levels_and_chunks_round_trip(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 100, 32768, 65537, 300000};
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_FIXED, Z_RLE};
    for (int kind = RANDOM; kind <= ZEROS; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int level = 0; level <= 9; level += 3) {
                bytes plain = make(kind, sizes[i]), gz = {0};
                append_member(&gz, plain, level, strategies[(i + (size_t)level) % 4], NULL);
                must_be(gz, 0, false, plain);
                must_be(gz, sizes[i] < 1000 ? 1 : 997, false, plain);
                free(plain.p);
                free(gz.p);
            }
}

static void members_are_one_stream(void **state)
{
    (void)state;
    bytes plain = {0}, gz = {0};
    for (int i = 0; i < 40; i++) {
        bytes part = make(i % 3, i % 5 ? rnd() % 5000 : 0);
        append_member(&gz, part, i % 10, Z_DEFAULT_STRATEGY, NULL);
        append(&plain, part.p, part.n);
        free(part.p);
    }
    for (size_t chunk = 1; chunk < 40; chunk++)
        must_be(gz, chunk, false, plain);
    must_be(gz, 0, false, plain);
    free(plain.p);
    free(gz.p);
}

static void optional_header_fields_are_skipped_and_checked(void **state)
{
    (void)state;
    bytes plain = make(TEXT, 500);
    for (int hcrc = 0; hcrc < 2; hcrc++) {
        bytes gz = {0};
        gz_header h = {.name = (Bytef *)"a name",
                       .comment = (Bytef *)"a comment",
                       .hcrc = hcrc,
                       .extra = (Bytef *)"extra bytes",
                       .extra_len = 11,
                       .text = 1,
                       .os = 3};
        append_member(&gz, plain, 6, Z_DEFAULT_STRATEGY, &h);
        must_be(gz, 1, false, plain);
        must_be(gz, 0, false, plain);
        gz.p[4] ^= 1; /* the time in the header: covered by the header's checksum only */
        for (int b = ZLIB; b <= backends; b++) {
            outcome o = run(gz, 0, false, b);
            assert_int_equal(intact(&o), !hcrc);
            free(o.p);
        }
        free(gz.p);
    }
    free(plain.p);
}

static void zeros_behind_are_padding_and_anything_else_is_damage(void **state)
{
    (void)state;
    bytes plain = make(TEXT, 5000), gz = {0};
    static const char zeros[512];
    append_member(&gz, plain, 6, Z_DEFAULT_STRATEGY, NULL);
    size_t member = gz.n;
    append(&gz, zeros, sizeof zeros);
    must_be(gz, 0, false, plain);
    must_be(gz, 100, false, plain);
    for (int where = 0; where < 2; where++) {
        gz.p[where ? gz.n - 1 : member] = 'x';
        for (int b = ZLIB; b <= backends; b++) {
            outcome o = run(gz, 0, false, b);
            assert_int_equal(o.rc, 0);
            assert_int_equal(o.n, plain.n);
            assert_int_equal(o.damage.code, VP_ECORRUPT);
            assert_non_null(strstr(o.damage.message, "trailing garbage"));
            assert_true(o.damage.offset >= (int64_t)member);
            free(o.p);
        }
        gz.p[member] = 0;
    }
    free(plain.p);
    free(gz.p);
}

/* Every prefix of a file of three members: the good part of the text, and damage unless it is cut
 * exactly between members. Backends may differ by what one lookup of theirs decodes at once. */
static void every_truncation_gives_a_prefix_and_damage(void **state)
{
    (void)state;
    bytes plain = {0}, gz = {0};
    size_t ends[4] = {0};
    for (int i = 0; i < 3; i++) {
        bytes part = make(i == 1 ? RANDOM : TEXT, 1500);
        append_member(&gz, part, i == 2 ? 0 : 6, Z_DEFAULT_STRATEGY, NULL);
        append(&plain, part.p, part.n);
        ends[i + 1] = gz.n;
        free(part.p);
    }
    for (size_t cut = 0; cut < gz.n; cut++) {
        size_t n[3] = {0};
        for (int b = ZLIB; b <= backends; b++) {
            outcome o = run((bytes){gz.p, cut}, cut % 3 ? 0 : 11, false, b);
            assert_true(o.n <= plain.n);
            if (o.n)
                assert_memory_equal(o.p, plain.p, o.n);
            if (cut == ends[1] || cut == ends[2]) {
                assert_true(intact(&o));
            } else {
                const vp_error *e = o.rc < 0 ? vp_error_last() : &o.damage;
                assert_int_equal(o.rc, o.n ? 0 : VP_ECORRUPT);
                assert_int_equal(e->code, VP_ECORRUPT);
                assert_int_equal(e->offset, (int64_t)cut);
                assert_non_null(strstr(e->message, "cut off"));
            }
            n[b] = o.n;
            free(o.p);
        }
        if (backends == 2)
            assert_true(n[ZLIB] <= n[ISAL] + 258 && n[ISAL] <= n[ZLIB] + 258);
    }
    free(plain.p);
    free(gz.p);
}

/* docs/reference/formats.md#gzip: libarchive let 40 of 40 pass. Only a header's free fields may
 * change unnoticed, and then every byte of the content is right. */
static void no_flipped_bit_passes_silently(void **state)
{
    (void)state;
    bytes plain = make(TEXT, 400000), gz = {0};
    append_member(&gz, plain, 6, Z_DEFAULT_STRATEGY, NULL);
    size_t reported = 0;
    for (size_t i = 0; i < 1000; i++) {
        size_t bit = i < 80 ? i : rnd() % (gz.n * 8);
        gz.p[bit / 8] ^= (unsigned char)(1u << (bit % 8));
        bool verdict[3] = {0};
        for (int b = ZLIB; b <= backends; b++) {
            outcome o = run(gz, i % 2 ? 0 : 1009, false, b);
            verdict[b] = intact(&o);
            if (verdict[b]) {
                assert_true(bit / 8 >= 3 && bit / 8 < 10); /* FTEXT, MTIME, XFL, OS */
                assert_int_equal(o.n, plain.n);
                assert_memory_equal(o.p, plain.p, plain.n);
            }
            free(o.p);
        }
        assert_true(backends < 2 || verdict[ZLIB] == verdict[ISAL]);
        reported += !verdict[ZLIB];
        gz.p[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    }
    assert_true(reported >= 900);
    free(plain.p);
    free(gz.p);
}

static void what_is_not_gzip_fails_at_once(void **state)
{
    (void)state;
    static const char *const inputs[] = {
        "", "\x1f", "\x1f\x8b", "hello, world", "\x1f\x8b\x07\0", "\x1f\x8c\x08"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (int b = ZLIB; b <= backends; b++) {
            outcome o = run((bytes){(unsigned char *)inputs[i], strlen(inputs[i])}, 0, false, b);
            assert_int_equal(o.rc, VP_ECORRUPT);
            assert_int_equal(o.n, 0);
            assert_true(strlen(vp_error_last()->message) > 10);
        }
    assert_true(gz_is("\x1f\x8b", 2));
    assert_false(gz_is("\x1f\x8b", 1));
    assert_false(gz_is("PK", 2));
}

/* 3 MiB that do not compress: more than the ring holds when repeated. */
static bytes big_gz(bytes *plain, int copies)
{
    bytes gz = {0}, part = make(RANDOM, 3u << 20);
    *plain = (bytes){0};
    for (int i = 0; i < copies; i++) {
        append_member(&gz, part, 1, Z_DEFAULT_STRATEGY, NULL);
        append(plain, part.p, part.n);
    }
    free(part.p);
    return gz;
}

static void a_thread_changes_nothing(void **state)
{
    (void)state;
    bytes plain, gz = big_gz(&plain, 4);
    must_be(gz, 0, true, plain);
    must_be(gz, 4099, true, plain);
    for (int b = ZLIB; b <= backends; b++) { /* cut, and a flipped bit */
        outcome o = run((bytes){gz.p, gz.n - 100}, 0, true, b);
        assert_int_equal(o.rc, 0);
        assert_int_equal(o.damage.code, VP_ECORRUPT);
        assert_int_equal(o.damage.offset, gz.n - 100);
        free(o.p);
        gz.p[gz.n / 2] ^= 4;
        o = run(gz, 0, true, b);
        gz.p[gz.n / 2] ^= 4;
        assert_int_equal(o.rc, 0);
        assert_int_equal(o.damage.code, VP_ECORRUPT);
        assert_true(o.n <= plain.n);
        free(o.p);
    }
    free(plain.p);
    free(gz.p);
}

/* Fills memory that holds trailing garbage. */
static outcome run_filling(bytes gz, int backend, int before)
{
    outcome o = {0};
    bytes all = {0};
    static char piece[300000];
    size_t n;
    rd_stream *in = NULL;
    VP_CLEANUP(rd_stream_close) rd_stream *s = NULL;
    assert_int_equal(rd_stream_memory(&in, gz.p, gz.n, 999), 0);
    assert_int_equal(gz_stream_backend(&s, in, true, backend), 0);
    for (;;) {
        memset(piece, before, sizeof piece);
        o.rc = s->fill(s, piece, sizeof piece, &n);
        if (o.rc <= 0)
            break;
        append(&all, piece, n);
    }
    o.damage = s->damage;
    o.p = (char *)all.p;
    o.n = all.n;
    return o;
}

/* What was in memory before is no data, also where those are damaged. */
static void memory_is_filled_with_data_alone(void **state)
{
    (void)state;
    bytes plain = make(TEXT, 400000), gz = {0};
    append_member(&gz, plain, 6, Z_DEFAULT_STRATEGY, NULL);
    for (int b = ZLIB; b <= backends; b++) {
        outcome o = run_filling(gz, b, 'x');
        assert_int_equal(o.rc, 0);
        assert_int_equal(o.damage.code, 0);
        assert_int_equal(o.n, plain.n);
        assert_memory_equal(o.p, plain.p, plain.n);
        free(o.p);
    }
    for (int i = 0; i < 100; i++) {
        size_t at = 20 + rnd() % (gz.n - 60), cut = 1 + rnd() % 30;
        bytes less = {malloc(gz.n), gz.n - cut};
        memcpy(less.p, gz.p, at);
        memcpy(less.p + at, gz.p + at + cut, gz.n - at - cut);
        for (int b = ZLIB; b <= backends; b++) {
            outcome x = run_filling(less, b, 'x'), y = run_filling(less, b, 'y');
            assert_int_equal(x.rc, y.rc);
            assert_int_equal(x.n, y.n);
            if (x.n)
                assert_memory_equal(x.p, y.p, x.n);
            free(x.p);
            free(y.p);
        }
        free(less.p);
    }
    free(plain.p);
    free(gz.p);
}

static void *never(void *ctx)
{
    return ctx;
}

/* A thread that asks for more stack than there are addresses does not start. */
static void without_a_thread_it_goes_on_alone(void **state)
{
    pthread_attr_t before, huge;
    bytes plain = make(TEXT, 6 << 20), gz = {NULL, 0};
    (void)state;
    append_member(&gz, plain, 1, Z_DEFAULT_STRATEGY, NULL);
    assert_int_equal(pthread_getattr_default_np(&before), 0);
    assert_int_equal(pthread_attr_init(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 50), 0);
    assert_int_equal(pthread_setattr_default_np(&huge), 0);
    pthread_t none;
    assert_int_not_equal(pthread_create(&none, NULL, never, NULL), 0);
    must_be(gz, 0, true, plain);
    assert_int_equal(pthread_setattr_default_np(&before), 0);
    pthread_attr_destroy(&huge);
    pthread_attr_destroy(&before);
    free(plain.p);
    free(gz.p);
}

static void close_stops_a_running_thread(void **state)
{
    (void)state;
    bytes plain, gz = big_gz(&plain, 4);
    for (int reads = 0; reads < 4; reads++) {
        rd_stream *in = NULL, *s = NULL;
        char *p;
        size_t n;
        assert_int_equal(rd_stream_memory(&in, gz.p, gz.n, 0), 0);
        assert_int_equal(gz_stream(&s, in, true), 0);
        for (int i = 0; i < reads; i++)
            assert_int_equal(s->next(s, &p, &n), 1);
        s->close(s); /* LSan and TSan see the rest */
    }
    free(plain.p);
    free(gz.p);
}

/* A stream that fails after some chunks. */
typedef struct failing {
    rd_stream base;
    bytes data;
    size_t pos;
    char chunk[RD_HEADROOM + 4096 + RD_PAD];
} failing;

static int failing_next(rd_stream *s, char **p, size_t *n)
{
    failing *f = (failing *)s;
    if (f->pos + 4096 > f->data.n)
        return vp_fail(VP_EIO, "the disk is gone");
    memcpy(f->chunk + RD_HEADROOM, f->data.p + f->pos, 4096);
    f->pos += 4096;
    *p = f->chunk + RD_HEADROOM;
    *n = 4096;
    return 1;
}

static void failing_close(rd_stream *s)
{
    free(s);
}

static void a_failure_below_comes_through_the_thread(void **state)
{
    (void)state;
    bytes plain, gz = big_gz(&plain, 2);
    for (int threaded = 0; threaded < 2; threaded++) {
        failing *f = calloc(1, sizeof *f);
        f->base = (rd_stream){.next = failing_next, .close = failing_close, .raw_total = -1};
        f->base.total = (int64_t)gz.n;
        f->data = gz;
        outcome o = run_stream(&f->base, threaded, 0);
        assert_int_equal(o.rc, VP_EIO);
        assert_string_equal(vp_error_last()->message, "the disk is gone");
        free(o.p);
    }
    free(plain.p);
    free(gz.p);
}

static void damage_below_is_the_reported_cause(void **state)
{
    (void)state;
    bytes plain = make(RANDOM, 3u << 20), gz = {0};
    int fd;
    append_member(&gz, plain, 1, Z_DEFAULT_STRATEGY, NULL);
    assert_int_equal(vp_fs_temp(&fd), 0);
    assert_int_equal(vp_fs_write_all(fd, gz.p, gz.n), 0);
    rd_stream *in = NULL;
    assert_int_equal(rd_stream_fd(&in, fd), 0);
    assert_int_equal(ftruncate(fd, 2000000), 0);
    outcome o = run_stream(in, true, 0);
    assert_int_equal(o.rc, 0);
    assert_true(o.n > 1900000 && o.n < plain.n);
    assert_memory_equal(o.p, plain.p, o.n);
    assert_int_equal(o.damage.offset, 2000000);
    assert_non_null(strstr(o.damage.message, "truncated while being read"));
    free(o.p);
    free(plain.p);
    free(gz.p);
}

static void out_of_memory_is_an_error_and_takes_the_stream_below(void **state)
{
    (void)state;
    bytes plain, gz = big_gz(&plain, 1);
    int failures = 0;
    for (int b = ZLIB; b <= backends; b++)
        for (uint64_t k = 1; k <= 12; k++) {
            rd_stream *in = NULL, *s = NULL;
            char *p;
            size_t n;
            assert_int_equal(rd_stream_memory(&in, gz.p, gz.n, 0), 0);
            vp_mem_fail_at(k, false);
            int rc = gz_stream_backend(&s, in, true, b);
            if (rc == 0)
                rc = s->next(s, &p, &n);
            vp_mem_fail_at(0, false);
            assert_true(rc == 1 || rc == VP_ENOMEM);
            failures += rc == VP_ENOMEM;
            rd_stream_close(&s);
        }
    assert_true(failures >= 8);
    free(plain.p);
    free(gz.p);
}

static void the_truncated_archive_gives_its_prefix(void **state)
{
    (void)state;
    char path[4096];
    traces_path(path, sizeof path, "archives_made/truncated.tar.gz");
    for (int b = ZLIB; b <= backends; b++) {
        rd_stream *in = NULL;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(rd_stream_fd(&in, fd), 0);
        outcome o = run_stream(in, false, b);
        assert_int_equal(o.rc, 0);
        assert_int_equal(o.damage.code, VP_ECORRUPT);
        assert_int_equal(o.damage.offset, 5567); /* the size of the file */
        assert_true(o.n > 5567);
        free(o.p);
    }
}

/* All above go through both where there are two. */
static void isal_is_tested_too(void **state)
{
    (void)state;
    if (backends < 2)
        skip_because("ISA-L is not built in, zlib alone is tested");
}

int main(void)
{
    backends = gz_backend_isal() ? 2 : 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_sizes_levels_and_chunks_round_trip),
        cmocka_unit_test(members_are_one_stream),
        cmocka_unit_test(optional_header_fields_are_skipped_and_checked),
        cmocka_unit_test(zeros_behind_are_padding_and_anything_else_is_damage),
        cmocka_unit_test(every_truncation_gives_a_prefix_and_damage),
        cmocka_unit_test(no_flipped_bit_passes_silently),
        cmocka_unit_test(what_is_not_gzip_fails_at_once),
        cmocka_unit_test(a_thread_changes_nothing),
        cmocka_unit_test(memory_is_filled_with_data_alone),
        cmocka_unit_test(without_a_thread_it_goes_on_alone),
        cmocka_unit_test(close_stops_a_running_thread),
        cmocka_unit_test(a_failure_below_comes_through_the_thread),
        cmocka_unit_test(damage_below_is_the_reported_cause),
        cmocka_unit_test(out_of_memory_is_an_error_and_takes_the_stream_below),
        cmocka_unit_test(the_truncated_archive_gives_its_prefix),
        cmocka_unit_test(isal_is_tested_too),
    };
    return cmocka_run_group_tests_name("gzip", tests, NULL, NULL);
}
