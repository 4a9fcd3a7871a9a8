/* trace/base: slices, exact decimals, buffers with a ceiling, arena, interner, map, wire format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/skip.h"
#include "trace/base/arena.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/log.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"

static void decimals_are_exact(void **state)
{
    static const struct {
        const char *text;
        int64_t base, ps;
    } good[] = {{"0", 0, 0},
                {"1", 0, 1000000},
                {"0.000001", 0, 1},
                {"123.456789", 0, 123456789},
                {"-1.5", 0, -1500000},
                {"1e3", 0, 1000000000},
                {"1.25E-3", 0, 1250},
                {"1623143089861123.456", INT64_C(1623143089861000), 123456000},
                {"0.0000005", 0, 0}, /* half a picosecond: to even */
                {"0.0000015", 0, 2}, /* one and a half: to even */
                {"0.00000050001", 0, 1},
                {"9223372036854.775807", 0, INT64_MAX},
                {"0.1000000000000000000000000000000000000001", 0, 100000},
                {"1e-30", 0, 0},
                {"+2", 0, 2000000},
                {"0e99999", 0, 0}};
    static const char *const bad[] = {"",     "-",  ".", "abc", "1x", "1e", "9223372036854.775808",
                                      "1e40", "NaN"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int64_t ps = -7;
        assert_true(vp_str_us_to_ps(vp_str_of(good[i].text), good[i].base, &ps));
        assert_int_equal(ps, good[i].ps);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t ps = -7;
        assert_false(vp_str_us_to_ps(vp_str_of(bad[i]), 0, &ps));
        assert_int_equal(ps, -7);
    }
}

static void integers_refuse_overflow(void **state)
{
    int64_t v;
    uint64_t u;
    (void)state;
    assert_true(vp_str_to_i64(VP_STR("-9223372036854775808"), &v) && v == INT64_MIN);
    assert_true(vp_str_to_i64(VP_STR("9223372036854775807"), &v) && v == INT64_MAX);
    assert_false(vp_str_to_i64(VP_STR("9223372036854775808"), &v));
    assert_true(vp_str_to_u64(VP_STR("18446744073709551615"), &u) && u == UINT64_MAX);
    assert_false(vp_str_to_u64(VP_STR("18446744073709551616"), &u));
    assert_false(vp_str_to_u64(VP_STR("12a"), &u));
}

/* Letters of either case, and no others: '[' and '{', '@' and '`' differ in the same bit. */
static void endings_ignore_case_alone(void **state)
{
    (void)state;
    assert_true(vp_str_ends_nocase(VP_STR("a.XPlane.PB"), VP_STR(".xplane.pb")));
    assert_true(vp_str_ends_nocase(VP_STR(".gz"), VP_STR(".gz")));
    assert_true(vp_str_ends_nocase(VP_STR("x"), VP_STR("")));
    assert_false(vp_str_ends_nocase(VP_STR("gz"), VP_STR(".gz")));
    assert_false(vp_str_ends_nocase(VP_STR("a.gx"), VP_STR(".gz")));
    assert_false(vp_str_ends_nocase(VP_STR("a["), VP_STR("a{")));
    assert_false(vp_str_ends_nocase(VP_STR("a@"), VP_STR("a`")));
    assert_false(vp_str_ends_nocase(VP_STR("12\x12"), VP_STR("122")));
}

static void take_until_has_a_maximum(void **state)
{
    vp_str in = VP_STR("ab,cdef"), out;
    (void)state;
    assert_true(vp_take_until(&in, ',', 2, &out));
    assert_true(vp_str_eq(out, VP_STR("ab")));
    assert_false(vp_take_until(&in, ',', 3, &out));
    assert_true(vp_take_until(&in, ',', 4, &out));
    assert_true(vp_str_eq(out, VP_STR("cdef")) && in.n == 0);
}

static void a_buffer_stops_at_its_ceiling(void **state)
{
    vp_buf b;
    (void)state;
    vp_buf_init(&b, 8);
    assert_int_equal(vp_buf_put(&b, "12345678", 8), 0);
    assert_int_equal(vp_buf_putc(&b, '9'), VP_ELIMIT);
    assert_int_equal(vp_buf_putc(&b, '9'), VP_ELIMIT); /* and stays failed */
    assert_null(b.p);
    vp_buf_free(&b);
}

/* Wherever the buffer's end lies when a text is formatted, and up to the buffer's maximum. */
static void formatted_text_is_whole(void **state)
{
    enum { MOST = 600 };
    char long_text[MOST + 1];
    (void)state;
    memset(long_text, 'x', MOST);
    for (int filled = 0; filled < 300; filled += 7)
        for (int more = 0; more < MOST - 10; more += 3) {
            vp_buf b;
            vp_buf_init(&b, MOST);
            vp_buf_pad(&b, '.', (size_t)filled);
            int rc = vp_buf_printf(&b, "<%.*s>", more, long_text);
            if (filled + more + 2 > MOST) {
                assert_int_equal(rc, VP_ELIMIT);
                assert_null(b.p);
                continue;
            }
            assert_int_equal(rc, 0);
            assert_int_equal(b.n, filled + more + 2);
            assert_int_equal(b.p[filled], '<');
            assert_int_equal(b.p[b.n - 1], '>');
            assert_memory_equal(b.p + filled + 1, long_text, (size_t)more);
            vp_buf_free(&b);
        }
}

static int collect(void *ctx, const void *p, size_t n)
{
    return vp_buf_put(ctx, p, n);
}

static void a_streaming_buffer_delivers_everything(void **state)
{
    vp_buf all, b;
    (void)state;
    vp_buf_init(&all, 1 << 20);
    vp_buf_init_stream(&b, collect, &all);
    for (int i = 0; i < 20000; i++)
        vp_buf_printf(&b, "%d,", i);
    assert_int_equal(vp_buf_flush(&b), 0);
    assert_true(b.cap < 300000);
    assert_true(vp_str_starts(vp_buf_view(&all), VP_STR("0,1,2,")));
    assert_true(vp_str_ends(vp_buf_view(&all), VP_STR(",19998,19999,")));
    vp_buf_free(&b);
    vp_buf_free(&all);
}

static void json_escapes_what_it_must(void **state)
{
    vp_buf b;
    vp_json j;
    (void)state;
    vp_buf_init(&b, 4096);
    vp_json_init(&j, &b);
    vp_json_begin_object(&j);
    vp_json_kstr(&j, "a\"", VP_STR("x\n\x01\xff\xf0\x9f\x9a\x80"));
    vp_json_kcount(&j, "n", -1);
    vp_json_key(&j, "r");
    vp_json_ratio(&j, 1, 3);
    vp_json_key(&j, "v");
    vp_json_begin_array(&j);
    vp_json_i64(&j, INT64_MIN);
    vp_json_ratio(&j, 1, 0);
    vp_json_end_array(&j);
    vp_json_end_object(&j);
    assert_string_equal(vp_buf_cstr(&b),
                        "{\"a\\\"\":\"x\\n\\u0001\xef\xbf\xbd\xf0\x9f\x9a\x80\",\"n\":null,"
                        "\"r\":0.333333333,\"v\":[-9223372036854775808,null]}");
    vp_buf_free(&b);
}

static void terminal_text_cannot_move_the_cursor(void **state)
{
    vp_buf b;
    (void)state;
    vp_buf_init(&b, 4096);
    vp_put_escaped(&b, VP_STR("a\x1b[31m\n\xe2\x80\xae\xffz"));
    assert_string_equal(vp_buf_cstr(&b), "a\\x1b[31m\\x0a\\u{202e}\\xffz");
    vp_buf_free(&b);
    vp_buf_init(&b, 4096);
    vp_put_escaped(&b, VP_STR("\x7f ~\xc3\xa9z\x1f\xc2\x9f"));
    assert_string_equal(vp_buf_cstr(&b), "\\x7f ~\xc3\xa9z\\x1f\\u{9f}");
    vp_buf_free(&b);
    assert_int_equal(vp_display_width(VP_STR("ab\xe6\xbc\xa2")), 4);
}

/* Pieces of one arena, small ones and one in a chunk of its own, outlive it as another's, which
 * goes on where it was. */
static void an_arena_takes_another_over(void **state)
{
    (void)state;
    for (int has = 0; has < 4; has++) { /* either may be empty */
        vp_arena a, from;
        vp_arena_init(&a);
        vp_arena_init(&from);
        char *own = has & 1 ? vp_arena_strndup(&a, "own", 3) : NULL;
        char *small = has & 2 ? vp_arena_strndup(&from, "small", 5) : NULL;
        char *large = has & 2 ? vp_arena_zalloc(&from, 1 << 20) : NULL;
        uint64_t bytes = a.bytes + from.bytes;
        vp_arena_take_over(&a, &from);
        assert_int_equal(a.bytes, bytes);
        assert_int_equal(from.bytes, 0);
        assert_string_equal(vp_arena_strndup(&from, "again", 5), "again");
        vp_arena_free(&from);
        char *next = vp_arena_strndup(&a, "next", 4);
        if (own)
            assert_ptr_equal(next, own + 8);
        if (small) {
            assert_string_equal(small, "small");
            assert_int_equal(large[(1 << 20) - 1], 0);
        }
        vp_arena_free(&a);
    }
}

static void interning_is_stable(void **state)
{
    vp_arena a;
    vp_intern in;
    (void)state;
    vp_arena_init(&a);
    assert_int_equal(vp_intern_init(&in, &a), 0);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++) {
            char text[16];
            vp_sid id;
            int n = snprintf(text, sizeof text, "name%u", i);
            assert_int_equal(vp_intern_put(&in, (vp_str){text, (size_t)n}, &id), 0);
            assert_int_equal(id, i + 1);
            assert_true(vp_str_eq(vp_intern_get(&in, id), (vp_str){text, (size_t)n}));
        }
    assert_int_equal(vp_intern_get(&in, 999999).n, 0);
    vp_intern_free(&in);
    vp_arena_free(&a);
}

static void a_map_finds_what_was_set(void **state)
{
    vp_map m;
    (void)state;
    vp_map_init(&m);
    assert_int_equal(vp_map_get(&m, 5), VP_MAP_NONE);
    for (uint64_t i = 0; i < 10000; i++)
        assert_int_equal(vp_map_set(&m, i << 40, (uint32_t)i), 0);
    assert_int_equal(vp_map_set(&m, 7ull << 40, 42), 0);
    assert_int_equal(m.count, 10000);
    for (uint64_t i = 0; i < 10000; i++)
        assert_int_equal(vp_map_get(&m, i << 40), i == 7 ? 42 : i);
    assert_int_equal(vp_map_get(&m, 1), VP_MAP_NONE);
    vp_map_free(&m);
}

static void the_wire_format_round_trips(void **state)
{
    vp_buf b;
    vp_pb_field f;
    (void)state;
    vp_buf_init(&b, 4096);
    vp_pb_put_u64(&b, 1, UINT64_MAX);
    vp_pb_put_len(&b, 200, VP_STR("hello"));
    vp_pb_put_double(&b, 3, 1.5);
    vp_pb r = vp_pb_of(vp_buf_view(&b));
    assert_int_equal(vp_pb_next(&r, &f), 1);
    assert_true(f.number == 1 && f.u == UINT64_MAX);
    assert_int_equal(vp_pb_next(&r, &f), 1);
    assert_true(f.number == 200 && vp_str_eq(f.data, VP_STR("hello")));
    assert_int_equal(vp_pb_next(&r, &f), 1);
    double d;
    memcpy(&d, &f.u, sizeof d);
    assert_true(f.wire == VP_PB_FIXED64 && d == 1.5);
    assert_int_equal(vp_pb_next(&r, &f), 0);
    for (size_t n = 1; n < b.n; n++) { /* cut anywhere: never past the end, never a false field */
        vp_pb cut = vp_pb_of((vp_str){b.p, n});
        int rc;
        while ((rc = vp_pb_next(&cut, &f)) > 0)
            ;
        assert_true(rc == 0 || (rc == VP_ECORRUPT && cut.p < cut.end));
    }
    vp_buf_free(&b);
}

static void damaged_wires_are_refused(void **state)
{
    static const vp_str bad[] = {
        {"\x0b", 1},     /* group start */
        {"\x0f", 1},     /* wire type 7 */
        {"\x00\x01", 2}, /* field number 0 */
        {"\x0a\x05"
         "ab",
         4},                                                  /* length past the end */
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11}, /* varint above 64 bits */
        {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11}, /* length 2^64-1 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        vp_pb r = vp_pb_of(bad[i]);
        vp_pb_field f;
        assert_int_equal(vp_pb_next(&r, &f), VP_ECORRUPT);
    }
}

static void errors_name_the_place(void **state)
{
    char line[200];
    (void)state;
    vp_fail(VP_ECORRUPT, "unterminated string");
    vp_fail_at(VP_ECORRUPT, "a\nb.json", 88123, 51200331);
    vp_fail_at(VP_ECORRUPT, "outer", 1, 1); /* the innermost place wins */
    assert_string_equal(vp_error_line(vp_error_last(), line, sizeof line),
                        "a\\x0ab.json: event 88123, byte 51200331: unterminated string");
}

/* Read calls of this process so far; -1 where the kernel does not count them. */
static long long reads(void)
{
    long long n = -1;
    char line[100];
    FILE *f = fopen("/proc/self/io", "r");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "syscr: %lld", &n) != 1)
        ;
    if (f)
        fclose(f);
    return n;
}

/* To ask the machine what it has left is a tenth of what a small profile takes. */
static void the_machine_is_asked_for_large_work_only(void **state)
{
    long long first, second, third;
    (void)state;
    first = reads();
    second = reads();
    vp_mem_set_ceiling(0);
    vp_mem_renew_ceiling();
    void *p = vp_malloc(1 << 20);
    third = reads();
    assert_non_null(p);
    vp_free(p);
    if (first < 0)
        skip_because("the kernel does not count reads");
    assert_int_equal(third - second, second - first);
}

static void the_machine_gives_no_more_than_it_has(void **state)
{
    long long mb;
    vp_mem_budget budget = {0}, *before = vp_mem_enter(&budget);
    (void)state;
    vp_mem_set_ceiling(0);
    assert_null(vp_malloc(SIZE_MAX / 4));
    assert_int_equal(vp_mem_explain(VP_ENOMEM), VP_ENOMEM);
    assert_int_equal(sscanf(vp_error_last()->message, "it needs more than the %lld MB", &mb), 1);
    assert_true(mb > 0);
    assert_non_null(strstr(vp_error_last()->message, "this machine has left"));
    void *p = vp_malloc(64); /* and goes on giving it */
    assert_non_null(p);
    vp_free(p);
    vp_mem_enter(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_are_exact),
        cmocka_unit_test(integers_refuse_overflow),
        cmocka_unit_test(endings_ignore_case_alone),
        cmocka_unit_test(take_until_has_a_maximum),
        cmocka_unit_test(a_buffer_stops_at_its_ceiling),
        cmocka_unit_test(formatted_text_is_whole),
        cmocka_unit_test(a_streaming_buffer_delivers_everything),
        cmocka_unit_test(json_escapes_what_it_must),
        cmocka_unit_test(terminal_text_cannot_move_the_cursor),
        cmocka_unit_test(an_arena_takes_another_over),
        cmocka_unit_test(interning_is_stable),
        cmocka_unit_test(a_map_finds_what_was_set),
        cmocka_unit_test(the_wire_format_round_trips),
        cmocka_unit_test(damaged_wires_are_refused),
        cmocka_unit_test(errors_name_the_place),
        cmocka_unit_test(the_machine_is_asked_for_large_work_only),
        cmocka_unit_test(the_machine_gives_no_more_than_it_has),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
