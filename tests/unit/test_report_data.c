/* trace/report/: JSON (docs/reference/json.md#conventions) and CSV, read back by jansson and by a
 * CSV reader of ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "tests/unit/report_fixture.h"
#include "trace/base/json.h"
#include "trace/base/mem.h"

static json_t *as_json(const vp_report *r, const vp_view *v)
{
    vp_buf b;
    json_error_t e;
    vp_buf_init(&b, 256u << 20);
    assert_int_equal(rep_json(&b, r, v), 0);
    json_t *root = json_loadb(b.p, b.n, JSON_REJECT_DUPLICATES, &e);
    if (!root)
        fail_msg("%s at %d", e.text, e.position);
    vp_buf_free(&b);
    return root;
}

static void assert_keys(json_t *object, const char *const *want)
{
    const char *key;
    json_t *value;
    size_t i = 0;
    json_object_foreach(object, key, value)
    { /* jansson keeps the order of the text */
        assert_non_null(want[i]);
        assert_string_equal(key, want[i++]);
    }
    assert_null(want[i]);
}

static int64_t int_at(json_t *object, const char *key)
{
    json_t *v = json_object_get(object, key);
    assert_true(json_is_integer(v));
    return json_integer_value(v);
}

static double share_at(json_t *object, const char *key)
{
    json_t *v = json_object_get(object, key);
    assert_true(json_is_number(v));
    return json_number_value(v);
}

static void assert_null_at(json_t *object, const char *key)
{
    assert_true(json_is_null(json_object_get(object, key)));
}

static void test_keys_and_their_order(void **state)
{
    (void)state;
    static const char *const top[] = {"schema",
                                      "tool",
                                      "session",
                                      "window",
                                      "analysis",
                                      "complete",
                                      "devices",
                                      "ops",
                                      "scopes",
                                      "folded_scopes",
                                      "modules",
                                      "steps",
                                      "gaps",
                                      "idle_labels",
                                      "collectives",
                                      "transfers",
                                      "compile",
                                      "balance",
                                      "mfu_mean",
                                      "launch",
                                      "host_ops",
                                      "host_op_total",
                                      "threads",
                                      "activities",
                                      "replays",
                                      "user_functions",
                                      "torch_costs",
                                      "torch",
                                      "args",
                                      "arg_total",
                                      "counters",
                                      "counter_total",
                                      "meta",
                                      "meta_total",
                                      "world_size",
                                      "ranks",
                                      "memory",
                                      "memory_static",
                                      "memory_programs",
                                      "quality",
                                      "findings",
                                      NULL};
    static const char *const session[] = {
        "id", "name", "path", "kind", "captured_unix_ns", "base_unix_ns", "hosts", "files", NULL};
    static const char *const device[] = {"name",
                                         "host",
                                         "kind",
                                         "events",
                                         "window",
                                         "breakdown",
                                         "own_clock",
                                         "model",
                                         "timeline_ns",
                                         "self_ps",
                                         "idle_causes",
                                         "memory_bytes",
                                         "gap_count",
                                         "steps_counted",
                                         "barriers",
                                         "barrier_ps",
                                         "exposed_wait_ps",
                                         "hygiene",
                                         "mfu",
                                         NULL};
    static const char *const breakdown[] = {
        "window_ps", "compute_ps", "exposed_comm_ps", "exposed_copy_ps", "idle_ps",
        "busy_ps",   "comm_ps",    "copy_ps",         "overlap_comm_ps", NULL};
    static const char *const op[] = {"device",
                                     "host",
                                     "device_index",
                                     "class",
                                     "category",
                                     "name",
                                     "calls",
                                     "total_ps",
                                     "inner_ps",
                                     "inner_calls",
                                     "self_ps",
                                     "threads",
                                     "mean_ps",
                                     "min_ps",
                                     "p50_ps",
                                     "p95_ps",
                                     "max_ps",
                                     "stddev_ps",
                                     "self_share_of_ops",
                                     "self_share_of_window",
                                     "cumulative_share",
                                     "per_step_ps",
                                     "bytes",
                                     "flops",
                                     "gb_per_s",
                                     "gflop_per_s",
                                     "scope",
                                     "source",
                                     "module",
                                     "operator",
                                     "outermost_operator",
                                     "operators",
                                     "raw_names",
                                     "scopes",
                                     "sources",
                                     "launch",
                                     "slowest",
                                     "step_self_ps",
                                     "step_calls",
                                     "idle_before_ps",
                                     "per_step_points_ps",
                                     "caller",
                                     "avoidable",
                                     "roof",
                                     "splits",
                                     NULL};
    static const char *const scope[] = {
        "path",   "name",           "self_ps",     "total_ps", "calls", "bytes",    "flops",
        "source", "idle_before_ps", "backward_ps", "remat_ps", "roof",  "children", NULL};
    static const char *const quality[] = {"code",  "severity", "message", "file",
                                          "event", "byte",     "partial", NULL};
    fx f;
    fx_tpu(&f);
    json_t *root = as_json(&f.r, NULL);
    assert_keys(root, top);
    assert_keys(json_object_get(root, "session"), session);
    json_t *d = json_array_get(json_object_get(root, "devices"), 0);
    assert_keys(d, device);
    assert_keys(json_object_get(d, "breakdown"), breakdown);
    assert_keys(json_array_get(json_object_get(root, "ops"), 0), op);
    assert_keys(json_array_get(json_object_get(root, "scopes"), 0), scope);
    assert_keys(json_array_get(json_object_get(root, "quality"), 0), quality);
    assert_string_equal(json_string_value(json_object_get(root, "schema")),
                        "view_profile.report/1");
    json_decref(root);
    fx_free(&f);
}

static void test_identities(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    json_t *root = as_json(&f.r, NULL), *op;
    json_t *d = json_array_get(json_object_get(root, "devices"), 0);
    json_t *b = json_object_get(d, "breakdown"), *w = json_object_get(d, "window");
    assert_int_equal(int_at(b, "compute_ps") + int_at(b, "exposed_comm_ps") +
                         int_at(b, "exposed_copy_ps") + int_at(b, "idle_ps"),
                     int_at(b, "window_ps"));
    assert_int_equal(int_at(w, "end_ps") - int_at(w, "start_ps"), int_at(b, "window_ps"));
    int64_t self = 0;
    size_t i;
    double last = 0;
    json_array_foreach(json_object_get(root, "ops"), i, op)
    {
        self += int_at(op, "self_ps");
        double share = (double)self / (67209.0 * FX_US), got = share_at(op, "cumulative_share");
        assert_true(fabs(got - share) < 1e-9);
        assert_true(got > last);
        last = got;
    }
    assert_int_equal(self, 67209 * FX_US);
    assert_true(last == 1.0);
    json_decref(root);
    fx_free(&f);
}

static void test_figures_and_nulls(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    json_t *root = as_json(&f.r, NULL), *ops = json_object_get(root, "ops");
    json_t *first = json_array_get(ops, 0), *second = json_array_get(ops, 1);
    assert_int_equal(int_at(first, "mean_ps"), 347218750);
    /* 88,888,000 bytes in 22.222 ms are 4 GB/s; 177.776 GFLOP in it are 8,000 GFLOP/s. */
    assert_true(share_at(first, "gb_per_s") == 4.0);
    assert_true(share_at(first, "gflop_per_s") == 8000.0);
    assert_int_equal(int_at(json_object_get(first, "slowest"), "start_ps"), 12345678);
    static const char *const unknown[] = {"per_step_ps", "bytes", "flops",  "gb_per_s",
                                          "gflop_per_s", "scope", "source", "module"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_null_at(second, unknown[i]);
    json_t *module = json_array_get(json_object_get(root, "modules"), 1);
    assert_null_at(module, "program_id");
    assert_null_at(module, "p50_ps");
    json_t *quality = json_array_get(json_object_get(root, "quality"), 1);
    assert_null_at(quality, "file");
    assert_null_at(quality, "event");
    assert_null_at(quality, "byte");
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(root, "window"), "clock")), "device");
    json_decref(root);
    fx_free(&f);
}

static void test_without_devices(void **state)
{
    (void)state;
    fx f;
    fx_init(&f);
    f.r.has_devices = false;
    f.r.start_ps = f.r.end_ps = VP_NO_TIME;
    f.r.captured_unix_ns = f.r.base_unix_ns = VP_UNKNOWN;
    f.r.session_kind = NULL;
    json_t *root = as_json(&f.r, NULL), *w = json_object_get(root, "window");
    assert_string_equal(json_string_value(json_object_get(w, "policy")), "capture");
    assert_string_equal(json_string_value(json_object_get(w, "clock")), "aligned");
    assert_null_at(w, "start_ps");
    assert_null_at(json_object_get(root, "session"), "captured_unix_ns");
    assert_null_at(json_object_get(root, "session"), "base_unix_ns");
    assert_null_at(json_object_get(root, "session"), "kind");
    assert_int_equal(json_array_size(json_object_get(root, "ops")), 0);
    json_decref(root);
    fx_free(&f);
}

static void test_filters_and_top(void **state)
{
    (void)state;
    fx f;
    fx_many(&f, 12, VP_DEVICE_TPU);
    vp_view v = {.version = 1, .device = "TPU:7"};
    json_t *root = as_json(&f.r, &v);
    assert_int_equal(json_array_size(json_object_get(root, "devices")), 1);
    assert_int_equal(json_array_size(json_object_get(root, "ops")), 1);
    json_decref(root);
    fx_free(&f);
    fx_tpu(&f);
    v = (vp_view){.version = 1, .top = 7};
    root = as_json(&f.r, &v);
    assert_int_equal(json_array_size(json_object_get(root, "ops")), 7);
    json_decref(root);
    fx_free(&f);
}

/* The tree of `depth` levels, and a second child at every level of even depth. */
static size_t deep_scopes(vp_scope *scopes, uint32_t depth)
{
    size_t n = 0;
    uint32_t parent = UINT32_MAX;
    for (uint32_t d = 0; d < depth; d++) {
        scopes[n] = (vp_scope){d, parent, "p", "p", 1, depth - d, 1};
        parent = (uint32_t)n++;
    }
    for (uint32_t d = depth; d-- > 1;)
        if (d % 2 == 0)
            scopes[n++] = (vp_scope){d, d - 1, "q", "q", 0, 0, 1};
    return n;
}

static void test_deep_scopes_nest(void **state)
{
    (void)state;
    enum { DEPTH = 200 };
    vp_scope *scopes = calloc(2 * DEPTH, sizeof *scopes);
    fx f;
    fx_init(&f);
    f.r.scopes = scopes;
    f.r.scope_count = deep_scopes(scopes, DEPTH);
    json_t *root = as_json(&f.r, NULL), *list = json_object_get(root, "scopes");
    for (int d = 0; d < DEPTH; d++) {
        assert_int_equal(json_array_size(list), d && d % 2 == 0 ? 2 : 1);
        json_t *s = json_array_get(list, 0);
        assert_int_equal(int_at(s, "total_ps"), DEPTH - d);
        list = json_object_get(s, "children");
    }
    assert_int_equal(json_array_size(list), 0);
    json_decref(root);
    free(scopes);
    fx_free(&f);
}

static void test_hostile_names_survive_as_data(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    f.ops[0].name = f.devices[0].name = f.r.session_name = f.quality[0].message = FX_HOSTILE;
    json_t *root = as_json(&f.r, NULL);
    const char *name =
        json_string_value(json_object_get(json_array_get(json_object_get(root, "ops"), 0), "name"));
    /* The same text; only the byte that is no UTF-8 is replaced. */
    assert_int_equal(strncmp(name, FX_HOSTILE, strlen(FX_HOSTILE) - 1), 0);
    assert_string_equal(name + strlen(FX_HOSTILE) - 1, "\xef\xbf\xbd");
    json_decref(root);
    fx_free(&f);
}

static void test_ten_thousand_ops(void **state)
{
    (void)state;
    enum { N = 10000 };
    fx f;
    fx_init(&f);
    f.ops = calloc(N, sizeof *f.ops);
    int64_t sum = 0;
    for (int i = 0; i < N; i++) {
        f.ops[i] = fx_op(0, "c", "n", 1, 1 + (i * 7919) % N);
        sum += f.ops[i].self_ps;
    }
    f.r.ops = f.ops;
    f.r.op_count = N;
    f.devices[0] = fx_device("d", VP_DEVICE_GPU, sum, 0, 0, 0);
    f.r.device_count = 1;
    json_t *root = as_json(&f.r, NULL), *op;
    int64_t last = INT64_MAX, seen = 0;
    size_t i;
    json_array_foreach(json_object_get(root, "ops"), i, op)
    {
        assert_true(int_at(op, "self_ps") <= last);
        last = int_at(op, "self_ps");
        seen += last;
    }
    assert_int_equal(i, N);
    assert_int_equal(seen, sum);
    json_decref(root);
    fx_free(&f);
}

/* ---- CSV ---- */

#define CSV_COLUMNS 38
#define CSV_CELL 512

/* One RFC 4180 row into cells; the position behind it, NULL at the end. */
static const char *read_row(const char *p, char cells[][CSV_CELL], size_t *count)
{
    *count = 0;
    if (!*p)
        return NULL;
    for (;;) {
        char *out = cells[(*count)++];
        assert_true(*count <= CSV_COLUMNS);
        if (*p == '"') {
            for (p++; *p != '"' || p[1] == '"'; p++) {
                assert_int_not_equal(*p, 0);
                p += *p == '"';
                *out++ = *p;
            }
            p++;
        } else {
            while (*p != ',' && *p != '\n')
                *out++ = *p++;
        }
        *out = 0;
        if (*p == '\n')
            return p + 1;
        assert_int_equal(*p, ',');
        p++;
    }
}

static char *as_csv(const vp_report *r)
{
    vp_buf b;
    vp_buf_init(&b, 64u << 20);
    assert_int_equal(rep_csv(&b, r, NULL), 0);
    return vp_buf_take(&b, NULL);
}

static void test_csv_as_printed(void **state)
{
    (void)state;
    static const char want[] =
        "session,device,host,class,category,name,calls,total_ps,self_ps,mean_ps,min_ps,p50_ps,"
        "p95_ps,max_ps,stddev_ps,self_share_of_ops,self_share_of_window,cumulative_share,bytes,"
        "flops,gb_per_s,gflop_per_s,scope,source,module,raw_names,slowest_start_ps,slowest_dur_ps,"
        "per_step_ps,grid,block,registers,shared_bytes,occupancy,tensor_cores,"
        "operator,outermost_operator,operators\n"
        "\"2026_01_11_21_26_41\",\"/device:TPU:0\",\"t1v-n-9eb622fc-w-0\",compute,"
        "\"convolution fusion\",\"convolution_bitcast_fusion\",64,22222000000,22222000000,"
        "347218750,347218750,347218750,347218750,347218750,0,0.330640242,0.330512382,0.330640242,"
        "88888000,177776000000,4,8000,\"jit(step)/transformer/layer_3/attn/dot_general\","
        "\"model.py:42\",\"jit_step\",1,12345678,347218750,,,,,,,,,,0\n"
        "\"2026_01_11_21_26_41\",\"/device:TPU:0\",\"t1v-n-9eb622fc-w-0\",compute,\"custom-call\","
        "\"RPA-bq_32-bkvp_64-p_64-\",64,17013000000,17013000000,265828125,265828125,265828125,"
        "265828125,265828125,0,0.253135741,0.253037852,0.583775982,,,,,,,,1,0,265828125,,,,,,,,,"
        ",0\n";
    fx f;
    fx_tpu(&f);
    char *text = as_csv(&f.r);
    assert_int_equal(strncmp(text, want, strlen(want)), 0);
    vp_free(text);
    fx_free(&f);
}

static void test_csv_is_rectangular(void **state)
{
    (void)state;
    static char cells[CSV_COLUMNS][CSV_CELL];
    static const struct {
        const char *name, *want;
    } cases[] = {
        {"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
        {"+1", "'+1"},
        {"-1", "'-1"},
        {"@SUM(A1)", "'@SUM(A1)"},
        {"a,\"b\"", "a,\"b\""},
        {"two\nlines\r\n\t", "two\\x0alines\\x0d\\x0a\\x09"}, /* a row is one line */
        {"a=b", "a=b"},
        {FX_HOSTILE, "\"><img src=x onerror=alert(1)>&'\\x1b[31m\\u{202e}evil\\xff"},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    fx f;
    fx_tpu(&f);
    for (size_t i = 0; i < CASES; i++)
        f.ops[i].name = cases[i].name;
    char *text = as_csv(&f.r);
    const char *p = text;
    size_t rows = 0, count;
    int64_t self = 0;
    while ((p = read_row(p, cells, &count)) != NULL) {
        assert_int_equal(count, CSV_COLUMNS);
        if (rows && rows <= CASES)
            assert_string_equal(cells[5], cases[rows - 1].want);
        self += rows++ ? strtoll(cells[8], NULL, 10) : 0;
    }
    assert_int_equal(rows, FX_TPU_OPS + 1);
    assert_int_equal(self, 67209 * FX_US);
    vp_free(text);
    fx_free(&f);
}

static void test_failures_travel(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    vp_buf b;
    vp_buf_init(&b, 1000); /* too small for any of them */
    assert_int_equal(rep_json(&b, &f.r, NULL), VP_ELIMIT);
    vp_buf_free(&b);
    vp_buf_init(&b, 1000);
    assert_int_equal(rep_csv(&b, &f.r, NULL), VP_ELIMIT);
    vp_buf_free(&b);
    vp_buf_init(&b, 500);
    assert_int_equal(rep_text_full(&b, &f.r, NULL), VP_ELIMIT);
    vp_buf_free(&b);
    vp_buf_init(&b, 5000);
    assert_int_equal(rep_html(&b, &f.r, NULL, NULL), VP_ELIMIT);
    vp_buf_free(&b);
    fx_free(&f);
}

static int html_alone(vp_buf *b, const vp_report *r, const vp_view *v)
{
    return rep_html(b, r, v, NULL);
}

/* Whichever allocation fails: the code comes back, nothing leaks (the sanitizers watch), and no
 * output that misses something passes for a whole one. */
static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    static int (*const writers[])(vp_buf *, const vp_report *, const vp_view *) = {
        rep_text, rep_text_full, rep_json, rep_csv, html_alone};
    fx f;
    fx_tpu(&f);
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        uint64_t k = 0, used;
        do {
            vp_buf b;
            vp_buf_init(&b, 16u << 20);
            vp_mem_fail_at(++k, false);
            int rc = writers[i](&b, &f.r, NULL);
            used = vp_mem_fail_at(0, false);
            vp_buf_free(&b);
            assert_int_equal(rc, used >= k ? VP_ENOMEM : 0);
        } while (used >= k);
        assert_true(k > 3); /* something was allocated at all */
    }
    fx_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_and_their_order),
        cmocka_unit_test(test_identities),
        cmocka_unit_test(test_figures_and_nulls),
        cmocka_unit_test(test_without_devices),
        cmocka_unit_test(test_filters_and_top),
        cmocka_unit_test(test_deep_scopes_nest),
        cmocka_unit_test(test_hostile_names_survive_as_data),
        cmocka_unit_test(test_ten_thousand_ops),
        cmocka_unit_test(test_csv_as_printed),
        cmocka_unit_test(test_csv_is_rectangular),
        cmocka_unit_test(test_failures_travel),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
