/* trace/read/pprof: a real profile against its independent decoding, hand-made and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/traces.h"
#include "include/view_profile_status.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/model/catalog/catalog.h"
#include "trace/read/pprof/pprof.h"

static int read_bytes(pp_profile **out, vp_str bytes)
{
    rd_stream *in;
    assert_int_equal(rd_stream_memory(&in, bytes.p, bytes.n, 64), 0);
    int rc = pp_read(out, in);
    rd_stream_close(&in);
    return rc;
}

/* The rows of expected/jax_cpu/memory_prof.tsv: 3 × 1 MiB and 1 × 1 MiB from the list comprehension
 * in allocate_weights (two stacks of JAX below the same line), 200,704 bytes in allocate_batch, and
 * three executables without bytes. */
static void the_real_profile_is_read(void **state)
{
    static const cat_options options = CAT_OPTIONS_INIT;
    char path[VP_PATH_MAX];
    catalog *c;
    rd_stream *in;
    pp_profile *p;
    (void)state;
    traces_path(path, sizeof path, "jax_cpu/memory/memory.prof");
    assert_int_equal(catalog_open(&c, path, &options), 0);
    assert_int_equal(catalog_stream(&in, c, &catalog_get(c, 0)->files[0], false), 0);
    assert_int_equal(pp_read(&p, in), 0);
    rd_stream_close(&in);
    catalog_free(c);
    assert_int_equal(p->samples, 6);
    assert_int_equal(p->total_bytes, 3145728 + 1048576 + 200704);
    assert_int_equal(p->total_count, 8);
    assert_int_equal(p->holder_count, 4);
    const pp_holder *h = p->holders;
    assert_string_equal(h[0].function, "allocate_weights");
    assert_string_equal(h[0].kind, "buffer");
    assert_string_equal(h[0].device, "cpu:0");
    assert_non_null(strstr(h[0].source, "/make_jax_profiles.py:"));
    assert_int_equal(h[0].bytes, 4194304);
    assert_int_equal(h[0].count, 4);
    assert_string_equal(h[1].function, "allocate_batch");
    assert_int_equal(h[1].bytes, 200704);
    assert_string_equal(h[2].function, "allocate_weights");
    assert_string_equal(h[2].kind, "executable");
    assert_null(h[2].device);
    assert_int_equal(h[2].count, 2);
    assert_int_equal(h[3].count, 1);
    assert_int_equal(p->device_count, 2);
    assert_null(p->devices[0].name);
    assert_int_equal(p->devices[0].count, 3);
    assert_string_equal(p->devices[1].name, "cpu:0");
    assert_int_equal(p->devices[1].bytes, 4395008);
    pp_free(p);
}

static void put_numbers(vp_buf *to, uint32_t field, const uint64_t *v, uint32_t n)
{
    vp_buf b;
    vp_buf_init(&b, 1 << 20);
    for (uint32_t i = 0; i < n; i++)
        vp_pb_put_u64(&b, i + 1, v[i]);
    vp_pb_put_len(to, field, vp_buf_view(&b));
    vp_buf_free(&b);
}

/* Samples before the tables they refer to, unpacked numbers, no stacks, ids that nobody defines. */
static vp_buf made(const char *unit)
{
    vp_buf b;
    vp_buf_init(&b, 1 << 20);
    put_numbers(&b, 1, (const uint64_t[]){1, 2}, 2);
    put_numbers(&b, 2, (const uint64_t[]){99, 7}, 2);
    put_numbers(&b, 2, (const uint64_t[]){99, 8}, 2);
    vp_pb_put_len(&b, 6, VP_STR(""));
    vp_pb_put_len(&b, 6, VP_STR("space"));
    vp_pb_put_len(&b, 6, vp_str_of(unit));
    return b;
}

static void tables_may_come_late_or_never(void **state)
{
    vp_buf b = made("bytes");
    pp_profile *p;
    (void)state;
    assert_int_equal(read_bytes(&p, vp_buf_view(&b)), 0);
    vp_buf_free(&b);
    assert_int_equal(p->samples, 2);
    assert_int_equal(p->total_bytes, 15);
    assert_int_equal(p->total_count, 2); /* no count: every sample is one */
    assert_int_equal(p->holder_count, 1);
    assert_null(p->holders[0].function);
    pp_free(p);
}

static void sums_stay_in_range(void **state)
{
    vp_buf b = made("bytes");
    pp_profile *p;
    (void)state;
    put_numbers(&b, 2, (const uint64_t[]){1, INT64_MAX}, 2);
    put_numbers(&b, 2, (const uint64_t[]){1, (uint64_t)-5}, 2); /* nothing is held that often */
    assert_int_equal(read_bytes(&p, vp_buf_view(&b)), 0);
    vp_buf_free(&b);
    assert_int_equal(p->total_bytes, INT64_MAX);
    pp_free(p);
}

static void others_are_refused(void **state)
{
    vp_buf b = made("nanoseconds");
    pp_profile *p = NULL;
    (void)state;
    assert_int_equal(read_bytes(&p, vp_buf_view(&b)), VP_EUNSUPPORTED);
    vp_buf_free(&b);
    assert_int_equal(read_bytes(&p, VP_STR("")), VP_ECORRUPT);
    assert_int_equal(read_bytes(&p, VP_STR("\x0a\x7f")), VP_ECORRUPT);
    assert_null(p);
}

static void every_cut_is_survived(void **state)
{
    vp_buf b = made("bytes");
    (void)state;
    for (size_t n = 0; n < b.n; n++) {
        pp_profile *p;
        if (read_bytes(&p, (vp_str){b.p, n}) == 0)
            pp_free(p);
    }
    vp_buf_free(&b);
}

static void memory_failures_are_clean(void **state)
{
    vp_buf b = made("bytes");
    bool done = false;
    (void)state;
    for (uint64_t k = 1; !done; k++) {
        pp_profile *p = NULL;
        rd_stream *in;
        assert_int_equal(rd_stream_memory(&in, b.p, b.n, 0), 0);
        vp_mem_fail_at(k, true);
        int rc = pp_read(&p, in);
        vp_mem_fail_at(0, false);
        rd_stream_close(&in);
        done = rc == 0;
        assert_true(done || rc == VP_ENOMEM);
        pp_free(p);
    }
    vp_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_real_profile_is_read), cmocka_unit_test(tables_may_come_late_or_never),
        cmocka_unit_test(sums_stay_in_range),       cmocka_unit_test(others_are_refused),
        cmocka_unit_test(every_cut_is_survived),    cmocka_unit_test(memory_failures_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
