/* CUPTI's activity records become ours: every field of every kind at the offsets of
 * docs/reference/recording.md#cupti-records, and nothing but a count of what is cut off or makes no
 * sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/gpu_maker.h"
#include "trace/capture/gpu/cupti_decode.h"

static const cupti_clock plain = {0, 0, 0, 0};

static const char *call_name(bool runtime, uint32_t id)
{
    if (runtime && id == 211)
        return "cudaLaunchKernel_v7000";
    return !runtime && id == 307 ? "cuLaunchKernel" : NULL;
}

static gpu_activity *decode(gpu_buffer *b, int64_t from)
{
    gpu_activity *a = NULL;
    assert_int_equal(gpu_activity_new(&a, false), 0);
    cupti_decode(a, b->bytes, b->n, &plain, from, gpu_next, call_name);
    return a;
}

static void assert_name(const gpu_activity *a, vp_sid id, const char *want)
{
    vp_str s = gpu_name(a, id);
    assert_true(vp_str_eq(s, vp_str_of(want)));
}

static void test_kernel(void **state)
{
    (void)state;
    gpu_buffer b = {.n = 0};
    gpu_put_kernel(&b, "_Z4gemmPf", 1000, 1500, 2, 7, 4711);
    gpu_activity *a = decode(&b, 0);
    assert_int_equal(a->count, 1);
    const gpu_record *r = a->records;
    assert_int_equal(r->kind, GPU_KERNEL);
    assert_int_equal(r->start_ns, 1000);
    assert_int_equal(r->end_ns, 1500);
    assert_int_equal(r->device, 2);
    assert_int_equal(r->context, 3);
    assert_int_equal(r->stream, 7);
    assert_int_equal(r->correlation, 4711);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(r->kernel.grid[i], 10 + i);
        assert_int_equal(r->kernel.block[i], 13 + i);
    }
    assert_int_equal(r->kernel.registers, 40);
    assert_int_equal(r->kernel.static_shared, 1024);
    assert_int_equal(r->kernel.dynamic_shared, 2048);
    assert_name(a, r->kernel.name, "_Z4gemmPf");
    assert_int_equal(a->damaged + a->dropped + a->outside + a->unknown, 0);
    gpu_activity_free(a);
}

static void test_copies_and_sets(void **state)
{
    (void)state;
    gpu_buffer b = {.n = 0};
    gpu_put_copy(&b, 1, 4096, 100, 200, 13, 5);
    uint8_t *peer = gpu_put(&b, 22);
    peer[4] = 10;
    peer[5] = peer[6] = 3;
    gpu_u64(peer, 8, UINT64_C(5) << 32);
    gpu_u64(peer, 16, 300);
    gpu_u64(peer, 24, 400);
    gpu_u32(peer, 32, 1);
    gpu_u32(peer, 40, 14);
    gpu_u32(peer, 44, 1);
    gpu_u32(peer, 52, 6);
    gpu_u32(peer, 60, 8);
    uint8_t *set = gpu_put(&b, 2);
    gpu_u32(set, 4, 0xff);
    gpu_u64(set, 8, 77);
    gpu_u64(set, 16, 500);
    gpu_u64(set, 24, 600);
    gpu_u32(set, 32, 3);
    gpu_u32(set, 36, 9);
    gpu_u32(set, 40, 15);
    gpu_u32(set, 44, 12);
    gpu_activity *a = decode(&b, 0);
    assert_int_equal(a->count, 3);
    const gpu_record *r = a->records;
    assert_int_equal(r[0].kind, GPU_COPY);
    assert_int_equal(r[0].copy.bytes, 4096);
    assert_int_equal(r[0].copy.copy_kind, 1);
    assert_int_equal(r[0].copy.source_memory, 1);
    assert_int_equal(r[0].copy.destination_memory, 3);
    assert_true(r[0].copy.async);
    assert_int_equal(r[0].correlation, 5);
    assert_int_equal(r[0].stream, 13);
    assert_int_equal(r[1].kind, GPU_PEER_COPY);
    assert_true(r[1].copy.bytes == UINT64_C(5) << 32);
    assert_int_equal(r[1].copy.source, 1);
    assert_int_equal(r[1].copy.destination, 6);
    assert_int_equal(r[1].correlation, 8);
    assert_false(r[1].copy.async);
    assert_int_equal(r[2].kind, GPU_SET);
    assert_int_equal(r[2].set.bytes, 77);
    assert_int_equal(r[2].set.value, 0xff);
    assert_int_equal(r[2].device, 3);
    assert_int_equal(r[2].context, 9);
    assert_int_equal(r[2].stream, 15);
    assert_int_equal(r[2].correlation, 12);
    gpu_activity_free(a);
}

static void test_calls(void **state)
{
    (void)state;
    gpu_buffer b = {.n = 0};
    gpu_put_call(&b, 5, 211, 10, 20, 1234, 1);
    gpu_put_call(&b, 4, 307, 12, 18, 1234, 1);
    gpu_put_call(&b, 5, 9999, 30, 40, 1235, 2);
    uint8_t *o = gpu_put(&b, 17);
    gpu_u32(o, 4, 1 << 16);
    gpu_u64(o, 24, 50);
    gpu_u64(o, 32, 60);
    gpu_activity *a = decode(&b, 0);
    assert_int_equal(a->count, 4);
    const gpu_record *r = a->records;
    assert_int_equal(r[0].kind, GPU_RUNTIME);
    assert_int_equal(r[0].call.tid, 1234);
    assert_int_equal(r[0].call.id, 211);
    assert_name(a, r[0].call.name, "cudaLaunchKernel");
    assert_int_equal(r[1].kind, GPU_DRIVER);
    assert_name(a, r[1].call.name, "cuLaunchKernel");
    assert_name(a, r[2].call.name, ""); /* CUPTI knows no name */
    assert_int_equal(r[3].kind, GPU_OVERHEAD);
    assert_int_equal(r[3].overhead.kind, 1 << 16);
    assert_int_equal(r[3].end_ns, 60);
    gpu_activity_free(a);
}

/* Of a record whose end lies behind the valid bytes nothing is read: the buffer ends there. */
static void test_cut_off(void **state)
{
    (void)state;
    static const uint32_t kinds[] = {1, 2, 3, 4, 5, 10, 17, 22};
    /* The last byte that docs/reference/recording.md#cupti-records names of each: name,
     * correlation, return value, end. */
    static const size_t need[] = {48, 48, 112, 40, 40, 112, 40, 64};
    for (size_t k = 0; k < 8; k++) {
        for (size_t n = 1; n < gpu_record_size(kinds[k]); n++) {
            gpu_buffer *b = calloc(1, sizeof *b);
            uint8_t *p = gpu_put(b, kinds[k]);
            for (size_t at = 8; at + 8 <= gpu_record_size(kinds[k]); at += 8)
                gpu_u64(p, at, 1 + at); /* every start before every end */
            if (need[k] == 112)
                gpu_u64(p, 104, 0);
            uint8_t *exact = malloc(n); /* so that reading further is seen by the sanitizer */
            memcpy(exact, p, n);
            gpu_activity *a = NULL;
            assert_int_equal(gpu_activity_new(&a, false), 0);
            cupti_decode(a, exact, n, &plain, 0, gpu_next, NULL);
            assert_int_equal(a->count, n >= need[k]);
            assert_int_equal(a->damaged, n < need[k]);
            gpu_activity_free(a);
            free(exact);
            free(b);
        }
    }
}

static int next_outside(uint8_t *buffer, size_t valid, void **record)
{
    *record = buffer + valid;
    return 0;
}

static int next_same(uint8_t *buffer, size_t valid, void **record)
{
    (void)valid;
    *record = buffer;
    return 0;
}

static void test_hostile_steps_end(void **state)
{
    (void)state;
    gpu_buffer b = {.n = 0};
    gpu_activity *a = NULL;
    gpu_put_kernel(&b, "k", 1, 2, 0, 0, 1);
    assert_int_equal(gpu_activity_new(&a, false), 0);
    cupti_decode(a, b.bytes, b.n, &plain, 0, next_outside, NULL);
    assert_int_equal(a->count, 0);
    assert_int_equal(a->damaged, 1);
    cupti_decode(a, b.bytes, b.n, &plain, 0, next_same, NULL);
    assert_int_equal(a->count, 1); /* the record once, not for ever */
    assert_int_equal(a->damaged, 2);
    gpu_activity_free(a);
}

static void test_senseless_times_are_counted(void **state)
{
    (void)state;
    gpu_buffer b = {.n = 0};
    gpu_put_kernel(&b, "never ran", 0, 0, 0, 0, 1);
    gpu_put_kernel(&b, "never ended", 5, 0, 0, 0, 2);
    gpu_put_kernel(&b, "backwards", 9, 5, 0, 0, 3);
    gpu_put_kernel(&b, "beyond", 5, UINT64_MAX, 0, 0, 4);
    gpu_put_kernel(&b, "before the recording", 99, 150, 0, 0, 5);
    gpu_put_kernel(&b, "fine", 100, 150, 0, 0, 6);
    gpu_put(&b, 51);
    gpu_put_kernel(&b, NULL, 101, 101, 0, 0, 7);
    gpu_activity *a = decode(&b, 100);
    assert_int_equal(a->count, 2);
    assert_name(a, a->records[0].kernel.name, "fine");
    assert_name(a, a->records[1].kernel.name, "");
    assert_int_equal(a->damaged, 4);
    assert_int_equal(a->outside, 1);
    assert_int_equal(a->unknown, 1);
    gpu_activity_free(a);
}

static void test_clock(void **state)
{
    (void)state;
    /* Only the offset is known. */
    cupti_clock offset = {1000, 5000, 1000, 5000};
    assert_int_equal(cupti_clock_unix(&offset, 1000), 5000);
    assert_int_equal(cupti_clock_unix(&offset, 1700), 5700);
    assert_int_equal(cupti_clock_unix(&offset, 300), 4300);
    /* The device's clock runs 1 in 1000 slow: 1,000 of its ns are 1,001 of ours. */
    const int64_t day = INT64_C(1700000000000000000);
    cupti_clock drift = {0, day, 1000000, day + 1001000};
    assert_true(cupti_clock_unix(&drift, 0) == day);
    assert_true(cupti_clock_unix(&drift, 500000) == day + 500500);
    assert_true(cupti_clock_unix(&drift, 1000000) == day + 1001000);
    assert_true(cupti_clock_unix(&drift, UINT64_MAX) == INT64_MAX);
    assert_true(cupti_clock_unix(&drift, INT64_MAX) == INT64_MAX);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"cudaMemcpy_v3020", "cudaMemcpy"},
                                           {"cuLaunchKernel", "cuLaunchKernel"},
                                           {"cuMemcpyHtoD_v2_ptsz", "cuMemcpyHtoD_v2_ptsz"},
                                           {"cuCtx_v", "cuCtx_v"},
                                           {"_v1", ""},
                                           {"", ""}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(vp_str_eq(cupti_plain_name(names[i][0]), vp_str_of(names[i][1])));
    assert_int_equal(cupti_plain_name(NULL).n, 0);
}

static void test_finish_orders_and_drops_inner_calls(void **state)
{
    (void)state;
    gpu_buffer b = {.n = 0};
    gpu_put_kernel(&b, "b", 300, 400, 0, 0, 2);
    gpu_put_kernel(&b, "a", 100, 400, 0, 0, 1);
    gpu_put_kernel(&b, "by the driver", 500, 600, 0, 0, 3);
    gpu_put_call(&b, 5, 211, 50, 60, 1, 1); /* the runtime starts 1 and 2 */
    gpu_put_call(&b, 4, 307, 52, 58, 1, 1);
    gpu_put_call(&b, 5, 211, 70, 80, 1, 2);
    gpu_put_call(&b, 4, 307, 90, 95, 1, 3); /* the driver starts 3 */
    gpu_put_call(&b, 4, 1, 96, 97, 1, 4);   /* starts nothing */
    gpu_put_call(&b, 5, 1, 98, 99, 1, 5);   /* a synchronisation: stays */
    gpu_activity *a = decode(&b, 0);
    assert_int_equal(a->count, 9);
    gpu_activity_finish(a);
    static const int64_t starts[] = {50, 70, 90, 98, 100, 300, 500};
    assert_int_equal(a->count, 7);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(a->records[i].start_ns, starts[i]);
    assert_int_equal(a->records[2].kind, GPU_DRIVER);
    gpu_activity_free(a);
}

/* Full: the first ones stay, or in a ring the last ones; dropped counts the difference exactly. */
static void test_full(void **state)
{
    (void)state;
    for (int ring = 0; ring < 2; ring++) {
        gpu_activity *a = NULL;
        assert_int_equal(gpu_activity_new(&a, ring), 0);
        for (int64_t i = 0; i < (int64_t)GPU_RECORDS_MAX + 10; i++) {
            gpu_record r = {.start_ns = i, .end_ns = i, .kind = GPU_KERNEL, .correlation = 1};
            gpu_activity_add(a, &r);
        }
        gpu_activity_finish(a);
        assert_int_equal(a->count, GPU_RECORDS_MAX);
        assert_int_equal(a->dropped, 10);
        assert_int_equal(a->records[0].start_ns, ring ? 10 : 0);
        assert_int_equal(a->records[a->count - 1].start_ns, GPU_RECORDS_MAX - 1 + (ring ? 10 : 0));
        gpu_activity_free(a);
    }
}

static unsigned steps_left;

static int next_invalid(uint8_t *buffer, size_t valid, void **record)
{
    return steps_left-- ? gpu_next(buffer, valid, record) : 21; /* CUPTI_ERROR_INVALID_KIND */
}

/* Behind a record that CUPTI cannot read there is no way: those that are lost are counted. */
static void test_an_invalid_record(void **state)
{
    (void)state;
    for (unsigned good = 0; good < 5; good++) {
        gpu_buffer b = {.n = 0};
        gpu_activity *a = NULL;
        for (uint32_t i = 0; i < 5; i++)
            gpu_put_call(&b, 5, 211, 50 + i, 60 + i, 1, i + 1);
        assert_int_equal(gpu_activity_new(&a, false), 0);
        steps_left = good;
        cupti_decode(a, b.bytes, b.n, &plain, 0, next_invalid, NULL);
        assert_int_equal(a->count, good);
        assert_int_equal(a->dropped, 5 - good);
        gpu_activity_free(a);
    }
}

/* The driver's calls outnumber all else where the runtime is used: they are let go of before
 * anything that will be shown is. Each kernel here comes with its call of the runtime, that of the
 * driver below it, and a question to the driver that starts nothing. */
static void test_calls_take_no_room(void **state)
{
    (void)state;
    const uint32_t kernels = GPU_RECORDS_MAX * 3 / 4;
    gpu_activity *a = NULL;
    assert_int_equal(gpu_activity_new(&a, false), 0);
    for (uint32_t i = 0; i < kernels; i++) {
        static const uint8_t kinds[] = {GPU_DRIVER, GPU_DRIVER, GPU_RUNTIME, GPU_KERNEL};
        for (uint32_t k = 0; k < 4; k++) {
            gpu_record r = {.start_ns = 10 * (int64_t)i + k,
                            .end_ns = 10 * (int64_t)i + k + 1,
                            .kind = kinds[k],
                            .correlation = 2 * i + 1 + (k == 0)};
            gpu_activity_add(a, &r);
        }
    }
    gpu_activity_finish(a);
    assert_int_equal(a->dropped, 0);
    assert_int_equal(a->count, 2 * kernels);
    gpu_activity_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_copies_and_sets),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_hostile_steps_end),
        cmocka_unit_test(test_senseless_times_are_counted),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_finish_orders_and_drops_inner_calls),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_an_invalid_record),
        cmocka_unit_test(test_calls_take_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
