/* An object that lies elsewhere: what is read is what is there, each byte asked for as seldom as
 * may be, by several threads at once; and one that changes, fails or stalls is one failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/source_stub.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/source/object.h"

#define MIB (INT64_C(1) << 20)

/* etag: what the list said. */
static rd_source *open_version(stub *s, const stub_object *o, const char *etag, bool once)
{
    rd_source *in;
    s->objects = o;
    s->n = 1;
    const source_ask ask = {.ask = stub_ask, .ctx = s};
    const object_of of = {.url = "s3://bucket/it", .etag = etag, .bytes = o->bytes, .once = once};
    assert_int_equal(object_source(&in, &ask, &of), 0);
    assert_int_equal(rd_source_size(in), o->bytes);
    return in;
}

static rd_source *open_it(stub *s, const stub_object *o, bool once)
{
    return open_version(s, o, o->etag, once);
}

static bool is_right(const char *p, size_t n, int64_t offset)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)p[i] != stub_byte(offset + (int64_t)i))
            return false;
    return true;
}

static void drain(rd_source *in, int64_t bytes, size_t step)
{
    char *p = vp_malloc(step);
    size_t got;
    for (int64_t at = 0; at < bytes; at += (int64_t)got) {
        assert_int_equal(rd_source_read(in, p, step, at, &got), 0);
        assert_true(got > 0 && is_right(p, got, at));
    }
    assert_int_equal(rd_source_read(in, p, step, bytes, &got), 0);
    assert_int_equal(got, 0);
    vp_free(p);
}

static void each_byte_is_asked_for_once(void **state)
{
    static const int64_t sizes[] = {1, 511, 512 << 10, (512 << 10) + 1, 8 * MIB, 37 * MIB + 11};
    (void)state;
    for (size_t i = 0; i < 2 * (sizeof sizes / sizeof *sizes); i++) {
        stub s = {.fault = STUB_FINE, .frames = i % 2};
        const stub_object o = {.name = "it", .etag = "v1", .bytes = sizes[i / 2]};
        rd_source *in = open_it(&s, &o, false);
        drain(in, o.bytes, 100000);
        drain(in, o.bytes, 1 << 20);
        rd_source_close(in);
        stub_end(&s);
        assert_int_equal(atomic_load(&s.served), o.bytes);
    }
}

static void a_stream_is_read_once(void **state)
{
    (void)state;
    stub s = {.fault = STUB_FINE};
    const stub_object o = {.name = "it", .etag = "v1", .bytes = 90 * MIB + 3};
    rd_stream *in;
    char *p;
    size_t n;
    int64_t at = 0;
    assert_int_equal(rd_stream_source(&in, open_it(&s, &o, true)), 0);
    assert_int_equal(in->total, o.bytes);
    while (in->next(in, &p, &n) == 1) {
        assert_true(is_right(p, n, at));
        at += (int64_t)n;
    }
    in->close(in);
    stub_end(&s);
    assert_int_equal(at, o.bytes);
    assert_int_equal(atomic_load(&s.served), o.bytes);
}

/* The first answer has no bytes before a second is asked for. */
static void what_comes_next_is_asked_for_meanwhile(void **state)
{
    (void)state;
    for (int once = 0; once < 2; once++) {
        stub s = {.fault = STUB_WAITS};
        const stub_object o = {.name = "it", .etag = "v1", .bytes = 90 * MIB};
        rd_source *in = open_it(&s, &o, once);
        char p[100];
        size_t got;
        assert_int_equal(rd_source_read(in, p, sizeof p, 0, &got), 0);
        rd_source_close(in);
        stub_end(&s);
        assert_false(atomic_load(&s.alone));
    }
}

static void two_passes_over_a_large_one_ask_twice(void **state)
{
    (void)state;
    stub s = {.fault = STUB_FINE};
    const stub_object o = {.name = "it", .etag = "v1", .bytes = VP_REMOTE_CACHE_MAX + 30 * MIB};
    rd_source *in = open_it(&s, &o, false);
    drain(in, o.bytes, 1 << 20);
    drain(in, o.bytes, 1 << 20);
    rd_source_close(in);
    stub_end(&s);
    assert_true(atomic_load(&s.served) <= 2 * o.bytes);
}

typedef struct random_reader {
    rd_source *in;
    uint64_t seed;
    int64_t bytes;
    pthread_t thread;
    bool right;
} random_reader;

static void *read_anywhere(void *arg)
{
    random_reader *r = arg;
    char *p = vp_malloc(700000);
    r->right = true;
    for (int i = 0; i < 60; i++) {
        size_t got;
        r->seed = r->seed * 6364136223846793005u + 1442695040888963407u;
        int64_t at = (int64_t)(r->seed >> 20) % r->bytes;
        size_t n = (size_t)(r->seed >> 11) % 700000;
        if (rd_source_read(r->in, p, n, at, &got) < 0 || !is_right(p, got, at) ||
            (got < n && at + (int64_t)got != r->bytes))
            r->right = false;
    }
    vp_free(p);
    return NULL;
}

static void threads_may_read_at_once(void **state)
{
    (void)state;
    stub s = {.fault = STUB_FINE};
    const stub_object o = {.name = "it", .etag = "v1", .bytes = 70 * MIB + 5};
    random_reader r[6];
    for (int once = 0; once < 2; once++) {
        rd_source *in = open_it(&s, &o, once);
        for (size_t i = 0; i < 6; i++) {
            r[i] = (random_reader){.in = in, .seed = i * 77 + 5, .bytes = o.bytes};
            pthread_create(&r[i].thread, NULL, read_anywhere, &r[i]);
        }
        for (size_t i = 0; i < 6; i++) {
            pthread_join(r[i].thread, NULL);
            assert_true(r[i].right);
        }
        rd_source_close(in);
    }
    stub_end(&s);
}

/* The code that reading it fails with, and fails with again. */
static int failure_of(stub_fault fault, const char *etag)
{
    stub s = {.fault = fault};
    const stub_object o = {.name = "it", .etag = "v1", .bytes = 50 * MIB};
    rd_source *in = open_version(&s, &o, etag, false);
    char *p = vp_malloc(1 << 20);
    size_t got;
    int rc = 0;
    for (int64_t at = 0; rc >= 0 && at < o.bytes; at += (int64_t)got)
        rc = rd_source_read(in, p, 1 << 20, at, &got);
    assert_true(rc < 0);
    assert_string_equal(vp_error_last()->path, "s3://bucket/it");
    assert_int_equal(rd_source_read(in, p, 1, o.bytes - 1, &got), rc);
    vp_free(p);
    rd_source_close(in);
    stub_end(&s);
    return rc;
}

static void what_goes_wrong_is_one_failure(void **state)
{
    (void)state;
    assert_int_equal(failure_of(STUB_CHANGES, "v1"), VP_EIO);
    assert_int_equal(failure_of(STUB_CHANGES, ""), VP_EIO);
    assert_int_equal(failure_of(STUB_CUT, "v1"), VP_EREMOTE);
    assert_int_equal(failure_of(STUB_FAILS, "v1"), VP_EPERM);
}

static void *read_one(void *arg)
{
    char c;
    size_t got;
    (void)rd_source_read(arg, &c, 1, 0, &got);
    return NULL;
}

static void one_that_stalls_can_be_closed(void **state)
{
    (void)state;
    stub s = {.fault = STUB_FINE};
    const stub_object o = {.name = "it", .etag = "v1", .bytes = 100 * MIB};
    rd_source *in = open_it(&s, &o, false);
    (void)read_one(in); /* what was asked for ahead goes on */
    s.fault = STUB_STALLS;
    rd_source_close(in);
    stub_end(&s);
}

static void sizes_beyond_reason_are_refused(void **state)
{
    (void)state;
    stub s = {.fault = STUB_FINE};
    const source_ask ask = {.ask = stub_ask, .ctx = &s};
    rd_source *in;
    object_of of = {.url = "s3://bucket/it", .etag = "", .bytes = VP_REMOTE_OBJECT_MAX + 1};
    assert_int_equal(object_source(&in, &ask, &of), VP_ELIMIT);
    of.bytes = -1;
    assert_int_equal(object_source(&in, &ask, &of), VP_ELIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_byte_is_asked_for_once),
        cmocka_unit_test(a_stream_is_read_once),
        cmocka_unit_test(what_comes_next_is_asked_for_meanwhile),
        cmocka_unit_test(two_passes_over_a_large_one_ask_twice),
        cmocka_unit_test(threads_may_read_at_once),
        cmocka_unit_test(what_goes_wrong_is_one_failure),
        cmocka_unit_test(one_that_stalls_can_be_closed),
        cmocka_unit_test(sizes_beyond_reason_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
