/* server/fetch/profile_request and profile_answer: the request that XLA's own client sends, byte by
 * byte, and an answer that may be cut anywhere, of which the XSpace alone is passed on. */
#include <stdio.h>
#include <string.h>

#include "server/fetch/grpc/profile_answer.h"
#include "server/fetch/grpc/profile_request.h"
#include "tests/unit/skip.h"
#include "trace/base/err.h"
#include "trace/base/pb.h"
#include "trace/source/fetch_wire.h"

/* ---- The request ----------------------------------------------------------------------------- */

static void put_body(vp_buf *b, uint64_t duration_ms, const char *const *options)
{
    vp_buf_init(b, 4096);
    vp_pb_put_len(b, FETCH_CAPTURE_SESSION, VP_STR("2026_01_02_03_04_05"));
    vp_pb_put_len(b, FETCH_CAPTURE_ROOT, VP_STR("/tmp/p/plugins/profile"));
    vp_pb_put_len(b, FETCH_CAPTURE_HOST, VP_STR("localhost:9999"));
    vp_pb_put_u64(b, FETCH_CAPTURE_DURATION_MS, duration_ms);
    for (; options && *options; options++)
        vp_pb_put_len(b, FETCH_CAPTURE_OPTION, vp_str_of(*options));
}

static int encode(vp_buf *out, uint64_t duration_ms, const char *const *options)
{
    VP_CLEANUP(vp_buf_free) vp_buf body;
    profile_request r;
    put_body(&body, duration_ms, options);
    vp_buf_init(out, 4096);
    int rc = profile_request_read(&r, vp_buf_view(&body));
    return rc < 0 ? rc : profile_request_put(out, &r);
}

/* docs/reference/xprof.md#remote-capture */
static const unsigned char vector[96] =
    "\x08\xc8\x01\x10\xc0\x84\x3d\x1a\x09xplane.pb\x22\x0d\x08\x01\x10\x02\x18\x01\x28\x01\x38\x01"
    "\x48\xc8\x01\x2a\x16/tmp/p/plugins/profile\x32\x13"
    "2026_01_02_03_04_05\x3a\x0elocalhost:9999\x48\x01";

static void test_the_request_is_that_of_xla(void **state)
{
    (void)state;
    VP_CLEANUP(vp_buf_free) vp_buf out;
    assert_int_equal(encode(&out, 200, NULL), 0);
    assert_int_equal(out.n, sizeof vector);
    assert_memory_equal(out.p, vector, sizeof vector);
}

/* Whether the message `in` has this field with this number (text NULL) or text; the first of it. */
static vp_str field_of(vp_str in, uint32_t number, uint64_t *u)
{
    vp_pb p = vp_pb_of(in);
    vp_pb_field f;
    while (vp_pb_next(&p, &f) == 1)
        if (f.number == number) {
            *u = f.u;
            return f.wire == VP_PB_LEN ? f.data : VP_STR("number");
        }
    return VP_STR_NONE;
}

static void test_options_have_their_types(void **state)
{
    (void)state;
    static const char *const given[] = {"include_dataset_ops=false", "tpu_trace_mode=TRACE_COMPUTE",
                                        NULL};
    static const struct {
        const char *option;
        const char *entry; /* field 2 of the map's entry */
    } typed[] = {{"a=true", "\x10\x01"},
                 {"a=false", "\x10\x00"},
                 {"a=17", "\x18\x11"},
                 {"a=x=y", "\x0a\x03x=y"},
                 {"a=", "\x0a\x00"}};
    VP_CLEANUP(vp_buf_free) vp_buf out;
    uint64_t u = 7;
    assert_int_equal(encode(&out, 200, given), 0);
    vp_str opts = field_of(vp_buf_view(&out), 4, &u);
    assert_int_equal(field_of(opts, 1, &u).n, 0); /* false is what is not there */
    vp_str entry = field_of(opts, 12, &u), value = field_of(entry, 2, &u);
    assert_true(vp_str_eq(field_of(entry, 1, &u), VP_STR("tpu_trace_mode")));
    assert_true(vp_str_eq(field_of(value, 1, &u), VP_STR("TRACE_COMPUTE")));
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        const char *one[] = {typed[i].option, NULL};
        VP_CLEANUP(vp_buf_free) vp_buf b;
        assert_int_equal(encode(&b, 200, one), 0);
        vp_str all = field_of(field_of(field_of(vp_buf_view(&b), 4, &u), 12, &u), 2, &u);
        assert_true(all.n >= 2);
        assert_memory_equal(all.p, typed[i].entry, all.n);
    }
}

static void test_what_is_no_request(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"novalue", NULL}, {"=x", NULL}, {"enable_hlo_proto=maybe", NULL}};
    VP_CLEANUP(vp_buf_free) vp_buf out;
    vp_buf_init(&out, 1);
    assert_int_equal(encode(&out, 0, NULL), VP_EARG);
    assert_int_equal(encode(&out, UINT64_C(1) << 40, NULL), VP_EARG);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        vp_buf_free(&out);
        assert_int_equal(encode(&out, 200, wrong[i]), VP_EARG);
    }
}

/* ---- The answer ------------------------------------------------------------------------------ */

typedef struct got {
    char bytes[4096];
    size_t n;
    size_t fails_at;
} got;

static int keep(void *ctx, const void *data, size_t n)
{
    got *g = ctx;
    if (g->fails_at && g->n + n >= g->fails_at)
        return vp_fail(VP_ENOSPC, "the disk is full");
    memcpy(g->bytes + g->n, data, n);
    g->n += n;
    return 0;
}

/* Two planes, the second with a long name, a warning, and a field of a later version. */
static void put_xspace(vp_buf *b)
{
    char name[300];
    VP_CLEANUP(vp_buf_free) vp_buf plane;
    memset(name, 'n', sizeof name);
    vp_buf_init(&plane, 1024);
    vp_buf_init(b, 2048);
    vp_pb_put_u64(&plane, 1, 300);
    vp_pb_put_len(&plane, 2, VP_STR("/host:CPU"));
    vp_pb_put_len(&plane, 3, VP_STR("anything that a line may be"));
    vp_pb_put_len(b, 1, vp_buf_view(&plane));
    vp_buf_free(&plane);
    vp_pb_put_len(&plane, 2, (vp_str){name, sizeof name});
    vp_pb_put_fixed64(&plane, 90, 5);
    vp_pb_put_len(b, 1, vp_buf_view(&plane));
    vp_pb_put_len(b, 1, VP_STR_NONE);
    vp_pb_put_len(b, 3, VP_STR("a warning"));
    vp_pb_put_len(b, 4, VP_STR("a host"));
}

static void put_frame(vp_buf *b, vp_str message)
{
    unsigned char head[5] = {0, 0, 0, (unsigned char)(message.n >> 8), (unsigned char)message.n};
    vp_buf_init(b, 8192);
    vp_buf_put(b, head, sizeof head);
    vp_buf_str(b, message);
}

/* The response with that XSpace, or with it in two parts, as protobuf allows. */
static void put_answer(vp_buf *b, vp_str xspace, size_t part)
{
    VP_CLEANUP(vp_buf_free) vp_buf message;
    vp_buf_init(&message, 4096);
    vp_pb_put_u64(&message, 7, 0);
    vp_pb_put_len(&message, 8, vp_str_head(xspace, part));
    vp_pb_put_len(&message, 90, VP_STR("a field of a later version"));
    if (part < xspace.n)
        vp_pb_put_len(&message, 8, vp_str_skip(xspace, part));
    put_frame(b, vp_buf_view(&message));
}

static int feed(got *g, vp_str text, size_t piece)
{
    profile_answer a;
    profile_answer_init(&a, keep, g);
    for (size_t at = 0; at < text.n; at += piece)
        VP_TRY(profile_answer_push(&a, text.p + at, piece < text.n - at ? piece : text.n - at));
    return profile_answer_end(&a);
}

static void test_cut_at_every_byte(void **state)
{
    (void)state;
    VP_CLEANUP(vp_buf_free) vp_buf xspace, answer;
    put_xspace(&xspace);
    put_answer(&answer, vp_buf_view(&xspace), xspace.n);
    for (size_t cut = 0; cut <= answer.n; cut++) {
        got g = {.n = 0};
        profile_answer a;
        profile_answer_init(&a, keep, &g);
        assert_int_equal(profile_answer_push(&a, answer.p, cut), 0);
        if (cut < answer.n)
            assert_int_equal(profile_answer_end(&a), VP_ECORRUPT);
        assert_int_equal(profile_answer_push(&a, answer.p + cut, answer.n - cut), 0);
        assert_int_equal(profile_answer_end(&a), 0);
        assert_int_equal(g.n, xspace.n);
        assert_memory_equal(g.bytes, xspace.p, g.n);
        assert_int_equal(a.planes, 3);
        assert_int_equal(a.xspace_bytes, xspace.n);
    }
    for (size_t piece = 1; piece < 40; piece++) {
        got g = {.n = 0};
        assert_int_equal(feed(&g, vp_buf_view(&answer), piece), 0);
        assert_int_equal(g.n, xspace.n);
        assert_memory_equal(g.bytes, xspace.p, g.n);
    }
}

static void test_an_xspace_in_two_parts(void **state)
{
    (void)state;
    VP_CLEANUP(vp_buf_free) vp_buf xspace, answer;
    put_xspace(&xspace);
    size_t first = 2 + (unsigned char)xspace.p[1]; /* the first plane */
    put_answer(&answer, vp_buf_view(&xspace), first);
    got g = {.n = 0};
    assert_int_equal(feed(&g, vp_buf_view(&answer), 3), 0);
    assert_int_equal(g.n, xspace.n);
    assert_memory_equal(g.bytes, xspace.p, g.n);
}

/* Of any prefix: a failure in words, never a crash; and no byte beyond what came. */
static void test_what_is_no_answer(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        int code;
        const char *says;
    } rows[] = {
        {"", 0, VP_ECORRUPT, "response is empty"},
        {"\1\0\0\0\2\x38\1", 7, VP_ECORRUPT, "compressed"},
        {"HTTP/", 5, VP_ECORRUPT, "not a gRPC message"},
        {"\0\xff\xff\xff\xff\x42", 6, VP_ECORRUPT, "too large: 4294967295 bytes"},
        {"\0\0\0\0\2\x38\1", 7, VP_EEMPTY, "the program ran nothing"},
        {"\0\0\0\0\2\x42\0", 7, VP_EEMPTY, "the program ran nothing"},
        {"\0\0\0\0\0", 5, VP_EUNSUPPORTED, "its own disk"},
        {"\0\0\0\0\2\x38\0", 7, VP_EUNSUPPORTED, "its own disk"},
        {"\0\0\0\0\2\x32\0", 7, VP_EUNSUPPORTED, "returned other files"},
        {"\0\0\0\0\2\x38\1\0", 8, VP_ECORRUPT, "more than one message"},
        {"\0\0\0\0\2\x38\1\0\0\0\0\2", 12, VP_ECORRUPT, "more than one message"},
        {"\0\0\0\0\5\x42\3\x0a\1\x07", 10, VP_ECORRUPT, "no valid XSpace"}, /* a plane of junk */
        {"\0\0\0\0\4\x42\2\x08\1", 9, VP_ECORRUPT, "no valid XSpace"}, /* planes are no number */
        {"\0\0\0\0\4\x42\2\x0a\1", 9, VP_ECORRUPT, "no valid XSpace"}, /* longer than its space */
        {"\0\0\0\0\4\x42\3\x0a\0", 9, VP_ECORRUPT, "not a ProfileResponse"},
        {"\0\0\0\0\x0e\x42\x0chello, world", 19, VP_ECORRUPT, "no valid XSpace"},
        {"\0\0\0\0\x0c\x42\x0a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 17, VP_ECORRUPT,
         "no valid XSpace"},
        {"\0\0\0\0\x0d\x42\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 18, VP_ECORRUPT,
         "too long"},
        {"\0\0\0\0\4\x42\2\x0b\0", 9, VP_ECORRUPT, "no valid XSpace"}, /* a group */
        {"\0\0\0\0\3\x42\1\x0a", 8, VP_ECORRUPT, "no valid XSpace"},   /* a length is missing */
        {"\0\0\0\0\5\x42\3\x28\x80\x80", 10, VP_ECORRUPT, "no valid XSpace"}, /* an open number */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t piece = 1; piece <= rows[i].n + 1; piece++) {
            got g = {.n = 0};
            vp_error_clear();
            assert_int_equal(feed(&g, (vp_str){rows[i].bytes, rows[i].n}, piece), rows[i].code);
            vp_str said = vp_str_of(vp_error_last()->message);
            assert_true(vp_str_find(said, vp_str_of(rows[i].says)) < said.n);
        }
}

/* Any one byte changed: a good answer or a failure, and never more than was sent. */
static void test_changed_bytes(void **state)
{
    (void)state;
    VP_CLEANUP(vp_buf_free) vp_buf xspace, answer;
    put_xspace(&xspace);
    put_answer(&answer, vp_buf_view(&xspace), xspace.n);
    for (size_t at = 0; at < answer.n; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            got g = {.n = 0};
            answer.p[at] ^= (char)(1 << bit);
            int rc = feed(&g, vp_buf_view(&answer), 7);
            assert_true(rc == 0 || rc == VP_ECORRUPT || rc == VP_EUNSUPPORTED || rc == VP_EEMPTY);
            assert_true(g.n <= answer.n);
            answer.p[at] ^= (char)(1 << bit);
        }
}

static void test_a_full_disk_ends_it(void **state)
{
    (void)state;
    VP_CLEANUP(vp_buf_free) vp_buf xspace, answer;
    put_xspace(&xspace);
    put_answer(&answer, vp_buf_view(&xspace), xspace.n);
    got g = {.fails_at = 100};
    assert_int_equal(feed(&g, vp_buf_view(&answer), 16), VP_ENOSPC);
    assert_true(g.n < 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_request_is_that_of_xla),
        cmocka_unit_test(test_options_have_their_types),
        cmocka_unit_test(test_what_is_no_request),
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_an_xspace_in_two_parts),
        cmocka_unit_test(test_what_is_no_answer),
        cmocka_unit_test(test_changed_bytes),
        cmocka_unit_test(test_a_full_disk_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
