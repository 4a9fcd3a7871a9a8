/* trace/report/: the text formats, their width, and the numbers as people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/report_fixture.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"
#include "trace/report/text/grid.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/text/text.h"
#include "trace/report/labels/tree.h"

typedef int writer(vp_buf *b, const vp_report *r, const vp_view *v);

static char *written(writer *write, const vp_report *r, vp_view v)
{
    vp_buf b;
    vp_buf_init(&b, 256u << 20);
    assert_int_equal(write(&b, r, &v), 0);
    char *text = vp_buf_take(&b, NULL);
    assert_non_null(text);
    return text;
}

static size_t widest_line(const char *text)
{
    size_t widest = 0;
    vp_str rest = vp_str_of(text), line;
    while (rest.n && vp_take_until(&rest, '\n', SIZE_MAX, &line))
        if (vp_display_width(line) > widest)
            widest = vp_display_width(line);
    return widest;
}

static void assert_put(int (*put)(vp_buf *, int64_t), int64_t v, const char *want)
{
    vp_buf b;
    vp_buf_init(&b, 4096);
    put(&b, v);
    assert_string_equal(vp_buf_cstr(&b), want);
    vp_buf_free(&b);
}

static int put_auto(vp_buf *b, int64_t ps)
{
    return rep_duration(b, ps, VP_UNIT_AUTO, ps);
}

static int put_us(vp_buf *b, int64_t ps)
{
    return rep_duration(b, ps, VP_UNIT_US, 0);
}

static void test_durations(void **state)
{
    (void)state;
    assert_put(put_auto, 0, "0.0 ns");
    assert_put(put_auto, 999949, "999.9 ns"); /* half up: .949 is below the half of .1 */
    assert_put(put_auto, FX_US, "1.00 us");
    assert_put(put_auto, FX_MS - 1, "1000.00 us");
    assert_put(put_auto, FX_MS, "1.000 ms");
    assert_put(put_auto, 67235 * FX_US, "67.235 ms");
    assert_put(put_auto, 2316600 * FX_US, "2.317 s");
    assert_put(put_auto, INT64_MAX, "9223372.037 s");
    assert_put(put_us, 347218750, "347.22 us");
    assert_put(put_us, 94999, "0.095 us"); /* two digits at least */
    assert_put(put_us, 95000, "0.10 us");
    assert_put(put_us, 5000, "0.0050 us");
    assert_put(put_us, 130, "0.00013 us");
    assert_put(put_us, 1, "0.000001 us");
    assert_put(put_us, 0, "0.00 us");
    assert_put(put_auto, 7, "0.007 ns");
    assert_put(put_auto, VP_UNKNOWN, "-");
    assert_put(rep_put_bytes, 1023, "1023 B");
    assert_put(rep_put_bytes, 1536, "1.5 KiB");
    assert_put(rep_put_bytes, 1024 * 1024 - 1, "1.0 MiB");
    assert_put(rep_put_bytes, INT64_MAX, "8.0 EiB");
}

static void test_means_round_half_up(void **state)
{
    (void)state;
    vp_op op = {.calls = 2, .total_ps = 5};
    assert_int_equal(rep_mean_ps(&op), 3);
    op = (vp_op){.calls = 3, .total_ps = 4};
    assert_int_equal(rep_mean_ps(&op), 1);
    op = (vp_op){.calls = 1, .total_ps = INT64_MAX};
    assert_int_equal(rep_mean_ps(&op), INT64_MAX);
    op = (vp_op){.calls = 0, .total_ps = 0};
    assert_int_equal(rep_mean_ps(&op), VP_UNKNOWN);
}

/* Whatever the parts are, what is shown of them sums to 100.00. */
static void test_shares_sum_to_all(void **state)
{
    (void)state;
    static const int64_t cases[][4] = {
        {1, 1, 1, 0}, {1, 1, 1, 1},         {55, 10, 10, 25},
        {0, 0, 0, 7}, {1, 0, 0, INT64_MAX}, {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
        {1, 2, 3, 1}, {999999, 1, 1, 1},    {62761, 3434, 1014, 26}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int shares[4], sum = 0;
        rep_shares(shares, cases[i], 4);
        for (size_t k = 0; k < 4; k++) {
            assert_true(shares[k] >= 0);
            sum += shares[k];
        }
        assert_int_equal(sum, REP_PERCENT_ALL);
    }
    int thirds[3], none[2];
    rep_shares(thirds, (const int64_t[]){1, 1, 1}, 3); /* the odd hundredth goes to the first */
    assert_int_equal(thirds[0], 3334);
    assert_int_equal(thirds[2], 3333);
    rep_shares(none, (const int64_t[]){0, 0}, 2);
    assert_int_equal(none[0] + none[1], 0);
}

/* The sample of docs/reference/metrics.md#sample-profiles, column by column. */
static void test_top_as_printed(void **state)
{
    (void)state;
    static const char want[] =
        "run 2026_01_11_21_26_41  host t1v-n-9eb622fc-w-0  /device:TPU:0  window 67.235 ms "
        "(first..last op, device clock)\n"
        "  busy 99.96%  capture 2.317 s\n"
        "Showing 9 of 30 groups, 66.268 ms, 98.60% of 67.209 ms op time; 21 groups below 0.5% "
        "hidden (941.00 us)\n"
        "self ms   self%     sum%  calls  mean us  p95 us  max us    cv  category            op\n"
        " 22.222  33.06%   33.06%     64   347.22  347.22  347.22  0.00  convolution fusion  "
        "convolution_bitcast_fusion\n"
        " 17.013  25.31%   58.38%     64   265.83  265.83  265.83  0.00  custom-call         "
        "RPA-bq_32-bkvp_64-p_64-\n"
        " 16.531  24.60%   82.97%    129   128.15  220.27  290.27  0.73  convolution fusion  "
        "fusion\n"
        "  3.556   5.29%   88.26%     64    55.56   55.56   55.56  0.00  convolution fusion  "
        "add_bitcast_fusion\n"
        "  3.434   5.11%   93.37%    129    26.62   26.62   26.62  0.00  all-reduce          "
        "all-reduce\n"
        "  1.390   2.07%   95.44%    128    10.86   10.86   10.86  0.00  loop fusion         "
        "multiply_reduce_fusion\n"
        "  1.014   1.51%   96.95%    258     3.93    3.93    3.93  0.00  data formatting     copy\n"
        "  0.661   0.98%   97.93%     64    10.33   10.33   10.33  0.00  loop fusion         "
        "copy_bitcast_fusion\n"
        "  0.447   0.67%   98.60%     64     6.98    6.98    6.98  0.00  loop fusion         "
        "tanh_fusion\n"
        "  0.941   1.40%  100.00%     21                                                     "
        "others (21 groups)\n"
        "\n"
        "Data quality\n"
        "warning: vm.trace.json.gz: event 999999, byte 51200331: exactly 1,000,000 events: the "
        "writer's limit, later ones\n"
        "    are missing [capped; numbers are incomplete]\n";
    fx f;
    fx_tpu(&f);
    vp_view v = VP_VIEW_INIT;
    v.width = 112;
    char *text = written(rep_text, &f.r, v);
    assert_string_equal(text, want);
    vp_free(text);
    fx_free(&f);
}

static void test_no_line_is_wider_than_asked(void **state)
{
    (void)state;
    char *long_name = malloc(10241);
    memset(long_name, 'x', 10240);
    long_name[10240] = 0;
    fx f;
    fx_tpu(&f);
    f.ops[0].name = f.ops[1].category = f.devices[0].name = f.devices[0].host = long_name;
    f.r.session_name = f.modules[0].name = f.files[0].path = f.quality[0].message = long_name;
    f.scopes[2].name = f.scopes[2].path = long_name;
    static const int widths[] = {40, 80, 100, 132, 200};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        vp_view v = VP_VIEW_INIT;
        v.width = widths[i];
        char *top = written(rep_text, &f.r, v), *full = written(rep_text_full, &f.r, v);
        assert_true(widest_line(top) <= (size_t)widths[i]);
        if (widths[i] >= 80) /* a breakdown has five columns that stay */
            assert_true(widest_line(full) <= (size_t)widths[i]);
        vp_free(top);
        vp_free(full);
    }
    fx_free(&f);
    free(long_name);
}

static void test_narrow_tables_keep_what_counts(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    vp_view v = VP_VIEW_INIT;
    v.width = 80;
    char *text = written(rep_text, &f.r, v);
    assert_null(strstr(text, " cv "));
    assert_null(strstr(text, "max us"));
    assert_null(strstr(text, "p95 us"));
    assert_non_null(strstr(text, "mean us"));
    assert_non_null(strstr(text, "sum%"));
    assert_non_null(strstr(text, "convolution_…tcast_fusion")); /* both ends tell names apart */
    vp_free(text);
    fx_free(&f);
}

static void test_hostile_names_reach_no_terminal(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    f.ops[0].name = f.ops[1].category = f.devices[0].host = f.r.session_name = FX_HOSTILE;
    f.modules[0].name = f.files[0].path = f.files[0].kind = f.quality[0].message = FX_HOSTILE;
    f.quality[0].code = f.quality[0].file = f.scopes[5].name = FX_HOSTILE;
    vp_view v = VP_VIEW_INIT;
    v.width = 300;
    char *text = written(rep_text_full, &f.r, v);
    assert_null(strchr(text, 0x1b));
    assert_null(strstr(text, "\xe2\x80\xae"));
    assert_null(strchr(text, '\xff'));
    assert_non_null(strstr(text, "\\x1b[31m\\u{202e}evil\\xff"));
    vp_free(text);
    fx_free(&f);
}

static void test_colour_only_when_asked(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    vp_view v = VP_VIEW_INIT;
    char *plain = written(rep_text_full, &f.r, v);
    assert_null(strchr(plain, 0x1b));
    v.color = true;
    char *coloured = written(rep_text_full, &f.r, v);
    assert_non_null(strchr(coloured, 0x1b));
    size_t k = 0; /* without its colours it is the plain text */
    for (const char *p = coloured; *p; p++) {
        if (*p == 0x1b) {
            p = strchr(p, 'm');
            continue;
        }
        assert_int_equal(*p, plain[k]);
        k++;
    }
    assert_int_equal(plain[k], 0);
    vp_free(plain);
    vp_free(coloured);
    fx_free(&f);
}

static void test_many_devices_show_the_busiest(void **state)
{
    (void)state;
    fx f;
    fx_many(&f, 40, VP_DEVICE_TPU);
    vp_view v = VP_VIEW_INIT;
    char *text = written(rep_text, &f.r, v);
    assert_non_null(strstr(text, "/device:TPU:39  window 50.000 ms"));
    assert_null(strstr(text, "/device:TPU:38  window"));
    assert_non_null(strstr(text, "39 other devices (show the table of one with --device NAME):"));
    assert_non_null(strstr(text, "… 15 more\n")); /* 24 lines of 39 */
    vp_free(text);
    v.device = "TPU:3";
    text = written(rep_text, &f.r, v);
    assert_non_null(strstr(text, "/device:TPU:3  window 14.000 ms"));
    assert_null(strstr(text, "TPU:33"));
    assert_null(strstr(text, "other device"));
    vp_free(text);
    v.device = "GPU 0";
    vp_buf b;
    vp_buf_init(&b, 1 << 20);
    assert_int_equal(rep_text(&b, &f.r, &v), VP_ENOTFOUND);
    vp_buf_free(&b);
    fx_free(&f);
}

static void test_two_kinds_show_both(void **state)
{
    (void)state;
    fx f;
    fx_many(&f, 5, VP_DEVICE_GPU);
    f.devices[0].kind = VP_DEVICE_CPU;
    bool full[5];
    size_t matching;
    vp_view v = VP_VIEW_INIT;
    rep_pick_devices(full, &matching, &f.r, &v);
    assert_int_equal(matching, 5);
    assert_true(full[0] && full[4]);
    assert_false(full[1] || full[2] || full[3]);
    fx_free(&f);
}

static void test_empty_and_deviceless(void **state)
{
    (void)state;
    fx f;
    fx_init(&f);
    f.r.has_devices = false;
    f.r.start_ps = f.r.end_ps = VP_NO_TIME;
    vp_view v = VP_VIEW_INIT;
    char *text = written(rep_text, &f.r, v);
    assert_string_equal(text, "No events in this profile.\n");
    vp_free(text);
    vp_free(written(rep_text_full, &f.r, v));
    fx_free(&f);
    fx_many(&f, 1, VP_DEVICE_OTHER);
    f.r.has_devices = false;
    text = written(rep_text, &f.r, v);
    assert_non_null(strstr(text, "process /device:TPU:0"));
    assert_non_null(strstr(text, " self time\n"));
    assert_non_null(strstr(text, "event\n"));
    vp_free(text);
    f.r.op_count = 0;
    text = written(rep_text, &f.r, v);
    assert_non_null(strstr(text, "No op events here."));
    vp_free(text);
    fx_free(&f);
}

/* Shown + others = all, for any cut. */
static void test_rows_close(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    for (size_t top = 0; top <= 31; top++) {
        for (int by = VP_BY_SELF; by <= VP_BY_MAX; by++) {
            vp_view v = {.version = 1, .top = top, .sort = (vp_sort)by};
            rep_rows t;
            assert_int_equal(rep_rows_of(&t, &f.r, &v, 0), 0);
            assert_int_equal(t.shown_self_ps + t.others_self_ps, 67209 * FX_US);
            assert_int_equal(t.shown + t.others, FX_TPU_OPS);
            assert_true(!top || t.shown <= top);
            assert_true(t.hidden <= t.others);
            rep_rows_free(&t);
        }
    }
    fx_free(&f);
}

/* Where all groups are small, none is hidden for being small. */
static void test_flat_profiles_keep_their_rows(void **state)
{
    (void)state;
    fx f;
    fx_init(&f);
    f.ops = calloc(1000, sizeof *f.ops);
    for (int i = 0; i < 1000; i++)
        f.ops[i] = fx_op(0, "c", "n", 1, FX_US);
    f.r.ops = f.ops;
    f.r.op_count = 1000;
    f.devices[0] = fx_device("d", VP_DEVICE_TPU, 1000 * FX_US, 0, 0, 0);
    f.r.device_count = 1;
    vp_view v = VP_VIEW_INIT;
    rep_rows t;
    assert_int_equal(rep_rows_of(&t, &f.r, &v, 0), 0);
    assert_int_equal(t.shown, 20);
    assert_int_equal(t.hidden, 980);
    rep_rows_free(&t);
    fx_free(&f);
}

static void test_sorting(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    static const struct {
        vp_sort by;
        const char *first;
    } cases[] = {{VP_BY_SELF, "convolution_bitcast_fusion"}, {VP_BY_CALLS, "copy"}};
    for (size_t i = 0; i < 2; i++) {
        vp_view v = {.version = 1, .sort = cases[i].by};
        uint32_t *rows;
        size_t n, matching;
        assert_int_equal(rep_select(&rows, &n, &matching, &f.r, &v), 0);
        assert_int_equal(n, FX_TPU_OPS);
        assert_int_equal(matching, FX_TPU_OPS);
        assert_string_equal(f.ops[rows[0]].name, cases[i].first);
        vp_free(rows);
    }
    fx_free(&f);
}

/* Per device, so that a cut list is fair to all of them; slowest over all devices first. */
static void test_select_counts_per_device(void **state)
{
    (void)state;
    fx f;
    fx_many(&f, 3, VP_DEVICE_TPU);
    vp_view v = {.version = 1, .top = 1};
    uint32_t *rows;
    size_t n, matching;
    assert_int_equal(rep_select(&rows, &n, &matching, &f.r, &v), 0);
    assert_int_equal(n, 3);
    assert_int_equal(f.ops[rows[0]].device, 2);
    assert_int_equal(f.ops[rows[2]].device, 0);
    vp_free(rows);
    fx_free(&f);
}

static void test_device_ends(void **state)
{
    (void)state;
    fx f;
    fx_many(&f, 12, VP_DEVICE_TPU);
    static const struct {
        const char *key;
        int matches;
    } cases[] = {{"TPU:1", 1}, {"tpu:1", 1}, {"1", 1}, {"/device:TPU:1", 1}, {"PU:1", 0}, {"", 0},
                 {":1", 1},    {"11", 1},    {"2", 1}, {"x/device:TPU:1", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vp_view v = {.version = 1, .device = cases[i].key};
        int matches = 0;
        for (size_t d = 0; d < 12; d++)
            matches += rep_device_matches(&f.r, &v, d);
        assert_int_equal(matches, cases[i].matches);
    }
    fx_free(&f);
}

/* The shown rows of every level and its "more" row sum to the parent's share, whatever is cut. */
static void test_tree_loses_no_time(void **state)
{
    (void)state;
    enum { WIDE = 100 };
    static vp_scope scopes[1 + WIDE];
    static char names[WIDE][8];
    int64_t sum = 0;
    for (uint32_t i = 0; i < WIDE; i++) {
        snprintf(names[i], sizeof names[i], "c%u", i);
        scopes[1 + i] = (vp_scope){1, 0, names[i], names[i], i, i, 1};
        sum += i;
    }
    scopes[0] = (vp_scope){0, UINT32_MAX, "root", "root", 50, 50 + sum, WIDE};
    vp_report r = {.step = VP_UNKNOWN, .scopes = scopes, .scope_count = 1 + WIDE};
    tree_limits limits = {.depth = 8, .breadth = 5, .rows = 1000, .min_ps = 0};
    tree t;
    assert_int_equal(tree_init(&t, &r, &limits), 0);
    assert_int_equal(tree_next(&t), TREE_OPEN);
    assert_int_equal(t.scope->total_ps, 50 + sum);
    int64_t seen = t.scope->self_ps, last = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(tree_next(&t), TREE_LEAF);
        assert_true(t.scope->total_ps <= last);
        last = t.scope->total_ps;
        seen += t.scope->total_ps;
    }
    assert_int_equal(tree_next(&t), TREE_MORE);
    assert_int_equal(t.more, WIDE - 5);
    assert_int_equal(seen + t.more_total_ps, 50 + sum);
    assert_int_equal(tree_next(&t), TREE_CLOSE);
    assert_int_equal(tree_next(&t), TREE_END);
    tree_free(&t);
}

static void test_tree_folds_chains(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    tree_limits limits = {.depth = 8, .breadth = 8, .rows = 100};
    tree t;
    assert_int_equal(tree_init(&t, &f.r, &limits), 0);
    assert_int_equal(tree_next(&t), TREE_OPEN);
    assert_true(vp_str_eq(t.label, VP_STR("jit(step)/transformer")));
    assert_int_equal(tree_next(&t), TREE_OPEN);
    assert_true(vp_str_eq(t.label, VP_STR("mlp")));
    tree_free(&t);
    fx_free(&f);
}

static void test_units_are_one_a_table(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    vp_view v = VP_VIEW_INIT;
    v.width = 160;
    v.unit = VP_UNIT_NS;
    char *text = written(rep_text, &f.r, v);
    assert_non_null(strstr(text, "self ns"));
    assert_non_null(strstr(text, "22222000.0"));
    assert_non_null(strstr(text, "347218.8")); /* 347,218.75 ns, half up */
    vp_free(text);
    fx_free(&f);
}

static vp_values values_of(const char *host, const char *name)
{
    return (vp_values){.host = host, .key = name, .zone = name, .numbers = 1, .texts = 1};
}

/* Who asks for one host is told of it alone, as on the page. */
static void test_a_host_that_is_asked_for(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    vp_host_op ops[] = {{.host = f.hosts[0], .name = "mine-op", .calls = 1},
                        {.host = "elsewhere", .name = "other-op", .calls = 1}};
    vp_values args[] = {values_of(f.hosts[0], "mine-arg"), values_of("elsewhere", "other-arg")};
    vp_values counters[] = {values_of(f.hosts[0], "mine-c"), values_of("elsewhere", "other-c")};
    vp_meta meta[] = {{.host = f.hosts[0], .key = "mine-key", .value = "1"},
                      {.host = "elsewhere", .key = "other-key", .value = "2"}};
    f.r.host_ops = ops;
    f.r.host_op_count = 2;
    f.r.args = args;
    f.r.arg_count = 2;
    f.r.counters = counters;
    f.r.counter_count = 2;
    f.r.meta = meta;
    f.r.meta_count = 2;
    vp_view v = VP_VIEW_INIT;
    v.width = 160;
    char *all = written(rep_text_full, &f.r, v);
    v.host = f.hosts[0];
    char *one = written(rep_text_full, &f.r, v);
    static const char *const mine[] = {"mine-op", "mine-arg", "mine-c", "mine-key"};
    static const char *const other[] = {"other-op", "other-arg", "other-c", "other-key"};
    for (size_t i = 0; i < 4; i++) {
        assert_non_null(strstr(all, mine[i]));
        assert_non_null(strstr(all, other[i]));
        assert_non_null(strstr(one, mine[i]));
        assert_null(strstr(one, other[i]));
    }
    vp_free(all);
    vp_free(one);
    fx_free(&f);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_means_round_half_up),
        cmocka_unit_test(test_shares_sum_to_all),
        cmocka_unit_test(test_top_as_printed),
        cmocka_unit_test(test_no_line_is_wider_than_asked),
        cmocka_unit_test(test_narrow_tables_keep_what_counts),
        cmocka_unit_test(test_hostile_names_reach_no_terminal),
        cmocka_unit_test(test_colour_only_when_asked),
        cmocka_unit_test(test_many_devices_show_the_busiest),
        cmocka_unit_test(test_two_kinds_show_both),
        cmocka_unit_test(test_empty_and_deviceless),
        cmocka_unit_test(test_rows_close),
        cmocka_unit_test(test_flat_profiles_keep_their_rows),
        cmocka_unit_test(test_sorting),
        cmocka_unit_test(test_select_counts_per_device),
        cmocka_unit_test(test_device_ends),
        cmocka_unit_test(test_tree_loses_no_time),
        cmocka_unit_test(test_tree_folds_chains),
        cmocka_unit_test(test_units_are_one_a_table),
        cmocka_unit_test(test_a_host_that_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
