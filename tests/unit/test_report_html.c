/* trace/report/: the page. What it must never hold, what it always holds, and that it is one
 * well-formed tree whatever the names in a profile say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/html_check.h"
#include "tests/unit/report_fixture.h"
#include "trace/base/mem.h"

/* ---- Escaping ---- */

static char *escaped(const char *s, size_t n)
{
    vp_buf b;
    vp_buf_init(&b, 1 << 20);
    assert_int_equal(rep_html_escape(&b, (vp_str){s, n}), 0);
    return vp_buf_take(&b, NULL);
}

static void test_escape(void **state)
{
    (void)state;
    static const struct {
        const char *in, *want;
    } cases[] = {
        {"", ""},
        {"plain ünïcode 字", "plain ünïcode 字"},
        {"&<>\"'", "&amp;&lt;&gt;&quot;&#39;"},
        {"&amp;", "&amp;amp;"},
        {"\x1b[31m\n\t\x7f", "\\x1b[31m\\x0a\\x09\\x7f"},
        {"a\xe2\x80\xa8"
         "b\xe2\x80\xa9",
         "a\\u{2028}b\\u{2029}"},
        {"\xe2\x80\xae\xe2\x81\xa6\xd8\x9c", "\\u{202e}\\u{2066}\\u{61c}"},
        {"\xff\xc0\xaf\xed\xa0\x80", "\\xff\\xc0\\xaf\\xed\\xa0\\x80"},
        {"\xe2<\x80>", "\\xe2&lt;\\x80&gt;"}, /* a cut sequence swallows no markup */
        {"\xf0\x9f\x98", "\\xf0\\x9f\\x98"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *got = escaped(cases[i].in, strlen(cases[i].in));
        assert_string_equal(got, cases[i].want);
        vp_free(got);
    }
    char *nul = escaped("a\0b", 3);
    assert_string_equal(nul, "a\\x00b");
    vp_free(nul);
}

/* No byte sequence of up to two bytes and an '<' leaves anything that means something. */
static void test_escape_of_all_pairs(void **state)
{
    (void)state;
    for (int a = 0; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
            char in[4] = {(char)a, (char)b, '<', '"'};
            char *got = escaped(in, 4);
            for (const char *p = got; *p; p++)
                assert_true((unsigned char)*p >= 0x20 && *p != 0x7f && !strchr("<>\"'", *p));
            vp_free(got);
        }
    }
}

/* ---- The page ---- */

static void test_stands_alone(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    char *html = page_of(&f.r, (vp_view)VP_VIEW_INIT, NULL);
    assert_true(assert_well_formed(html) > 200);
    assert_null(strstr(html, "http:"));
    assert_null(strstr(html, "https:"));
    assert_null(strstr(html, "url("));
    assert_null(strstr(html, "@import"));
    assert_null(strstr(html, "<link"));
    assert_null(strstr(html, "<form"));
    assert_int_equal(occurrences(html, "<style>"), 1);
    assert_int_equal(occurrences(html, "href=\""), occurrences(html, "href=\"#"));
    vp_free(html);
    fx_free(&f);
}

static void test_served(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    char *html = page_of(&f.r, (vp_view)VP_VIEW_INIT, &served);
    assert_well_formed(html);
    assert_null(strstr(html, "<style>")); /* style-src 'self' would refuse it */
    assert_non_null(strstr(html, "<link rel=\"stylesheet\" href=\"/prefix/static/report.css\">"));
    assert_non_null(strstr(html, "href=\"/prefix/perfetto/x\""));
    assert_non_null(strstr(html, "href=\"/prefix/tensorboard/x\""));
    assert_non_null(strstr(html, "href=\"/prefix/\""));
    assert_non_null(strstr(html, "<form method=\"get\" role=\"search\">"));
    assert_non_null(strstr(html, "href=\"?group=scope&amp;by=self&amp;n=20#ops\""));
    assert_non_null(strstr(html, "href=\"?group=name&amp;by=calls&amp;n=20#ops\""));
    /* 12,345,678 ps and the call's 347,218,750 ps after it, each end to the nearest ns. */
    assert_non_null(strstr(html, "href=\"/prefix/perfetto/x?at=12346..359564\""));
    vp_free(html);
    f.hosts[1] = "other"; /* now the timeline must be that of the device's host */
    f.r.host_count = 2;
    f.devices[0].host = "a b";
    html = page_of(&f.r, (vp_view)VP_VIEW_INIT, &served);
    assert_non_null(strstr(html, "href=\"/prefix/perfetto/x/a%20b?at=12346..359564\""));
    vp_free(html);
    rep_links own = served; /* a timeline of ours comes first */
    own.timeline = "/session/x/timeline";
    html = page_of(&f.r, (vp_view)VP_VIEW_INIT, &own);
    assert_well_formed(html);
    assert_non_null(
        strstr(html, "href=\"/prefix/session/x/timeline?host=a%20b&amp;at=12346..359564\""));
    assert_null(strstr(html, "/prefix/perfetto/x/a%20b?at="));
    vp_free(html);
    f.r.host_count = 1;
    html = page_of(&f.r, (vp_view)VP_VIEW_INIT, &own);
    assert_non_null(strstr(html, "href=\"/prefix/session/x/timeline?at=12346..359564\""));
    vp_free(html);
    fx_free(&f);
}

static void test_says_what_it_shows(void **state)
{
    (void)state;
    static const char *const needed[] = {
        "<title>2026_01_11_21_26_41 – view_profile</title>",
        "Data: partial, 1 warning",
        "67.235 ms, first to last op",
        "device clock",
        "9 of 30 groups by self: 66.268 ms, 98.60% of 67.209 ms op time",
        "; 21 groups below 0.5% hidden (941.00 µs)",
        "others",
        "21 groups",
        "compute <b>93.34%</b>",
        "exposed comm <b>5.11%</b>",
        "exposed copy <b>1.51%</b>",
        "idle <b>0.04%</b>",
        "<th scope=\"col\"",
        "<th scope=\"row\"",
        "<caption",
        "<main id=\"main\">",
        "jit(step)/transformer",
        "vm.trace.json.gz, event 999,999, byte 51,200,331",
        "GFLOP/s",
    };
    fx f;
    fx_tpu(&f);
    char *html = page_of(&f.r, (vp_view)VP_VIEW_INIT, NULL);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!strstr(html, needed[i]))
            fail_msg("the page lacks: %s", needed[i]);
    assert_int_equal(occurrences(html, "<tbody>"), occurrences(html, "<caption"));
    vp_free(html);
    fx_free(&f);
}

/* The widths of a stacked bar and the numbers of its legend sum to 100.00 each. */
static void test_bars_sum_to_all(void **state)
{
    (void)state;
    fx f;
    fx_many(&f, 40, VP_DEVICE_GPU);
    for (int i = 0; i < 40; i++) { /* parts that no decimal fits */
        vp_breakdown *b = &f.devices[i].breakdown;
        b->exposed_copy_ps = 7 * i;
        b->compute_ps -= 7 * i;
    }
    char *html = page_of(&f.r, (vp_view)VP_VIEW_INIT, NULL);
    size_t bars = 0;
    for (const char *p = html; (p = strstr(p, "<svg class=\"stack\"")) != NULL; bars++) {
        const char *bar_end = strstr(p, "</svg>"), *legend_end = strstr(p, "</ul>");
        double width = 0, legend = 0;
        for (const char *q = p; (q = strstr(q, "width=\"")) != NULL && q < bar_end; q++)
            width += strtod(q + 7, NULL);
        for (const char *q = p; (q = strstr(q, "<b>")) != NULL && q < legend_end; q++)
            legend += strtod(q + 3, NULL);
        assert_true(width > 99.9999 && width < 100.0001);
        assert_true(legend > 99.9999 && legend < 100.0001);
        p = legend_end;
    }
    assert_int_equal(bars, 40);
    vp_free(html);
    fx_free(&f);
}

static void test_hostile_names(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    f.r.session_id = f.r.session_name = f.r.session_path = f.r.session_kind = FX_HOSTILE;
    f.hosts[0] = f.devices[0].name = f.devices[0].host = FX_HOSTILE;
    for (int i = 0; i < FX_TPU_OPS; i++)
        f.ops[i].name = f.ops[i].category = f.ops[i].scope = f.ops[i].source = f.ops[i].module =
            FX_HOSTILE;
    for (size_t i = 0; i < f.r.scope_count; i++)
        f.scopes[i].path = f.scopes[i].name = FX_HOSTILE;
    f.modules[0].name = f.files[0].path = f.files[0].kind = FX_HOSTILE;
    f.quality[0].code = f.quality[0].message = f.quality[0].file = FX_HOSTILE;
    f.devices[1] = f.devices[0]; /* a second one brings the device choice */
    f.r.device_count = 2;
    vp_view v = VP_VIEW_INIT;
    v.device = v.host = FX_HOSTILE;
    for (int i = 0; i < 2; i++) {
        char *html = page_of(&f.r, v, i ? &served : NULL);
        assert_well_formed(html);
        assert_null(strstr(html, "<img src=x"));
        assert_null(strchr(html, 0x1b));
        assert_null(strstr(html, "\xe2\x80\xae"));
        assert_null(strchr(html, '\xff'));
        assert_non_null(strstr(html, "&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&amp;&#39;"));
        vp_free(html);
    }
    fx_free(&f);
}

/* Long names are cut by the style sheet, never in the data. */
static void test_long_names_are_whole(void **state)
{
    (void)state;
    char *name = malloc(10241);
    for (int i = 0; i < 10240; i++)
        name[i] = (char)('a' + i % 26);
    name[10240] = 0;
    fx f;
    fx_tpu(&f);
    f.ops[0].name = name;
    char *html = page_of(&f.r, (vp_view)VP_VIEW_INIT, NULL);
    assert_int_equal(occurrences(html, name), 2); /* text and tooltip */
    vp_free(html);
    fx_free(&f);
    free(name);
}

static void test_deep_and_broad_scopes(void **state)
{
    (void)state;
    enum { DEPTH = 200, BREADTH = 5000 };
    vp_scope *scopes = calloc(DEPTH + BREADTH, sizeof *scopes);
    char(*paths)[8] = calloc(DEPTH + BREADTH, sizeof *paths);
    for (uint32_t i = 0; i < DEPTH + BREADTH; i++) {
        snprintf(paths[i], sizeof paths[i], "s%u", i);
        bool spine = i < DEPTH;
        scopes[i] = (vp_scope){.depth = spine ? i : DEPTH,
                               .parent = !i      ? UINT32_MAX
                                         : spine ? i - 1
                                                 : DEPTH - 1,
                               .path = paths[i],
                               .name = paths[i],
                               .self_ps = FX_US,
                               .total_ps = spine ? (DEPTH + BREADTH - i) * FX_US : FX_US,
                               .calls = 1};
    }
    fx f;
    fx_init(&f);
    f.r.scopes = scopes;
    f.r.scope_count = DEPTH + BREADTH;
    char *html = page_of(&f.r, (vp_view)VP_VIEW_INIT, NULL);
    assert_well_formed(html);
    assert_true(strlen(html) < 100000);
    assert_non_null(strstr(html, "+5168 below")); /* 32 levels are shown of 200 + 5000 scopes */
    vp_free(html);
    scopes[0].self_ps = 0;
    for (uint32_t i = 0; i < DEPTH; i++) { /* a chain without time of its own is one row */
        scopes[i].self_ps = 0;
        scopes[i].total_ps = BREADTH * FX_US;
    }
    html = page_of(&f.r, (vp_view)VP_VIEW_INIT, NULL);
    assert_well_formed(html);
    assert_int_equal(occurrences(html, "<details"), 1);
    assert_non_null(strstr(html, "… 4960 more")); /* 40 of 5,000 siblings are shown */
    vp_free(html);
    free(paths);
    free(scopes);
    fx_free(&f);
}

static void test_empty_deviceless_and_large(void **state)
{
    (void)state;
    fx f;
    fx_init(&f);
    f.r.has_devices = false;
    f.r.start_ps = f.r.end_ps = VP_NO_TIME;
    f.r.session_name = NULL;
    char *html = page_of(&f.r, (vp_view)VP_VIEW_INIT, &served);
    assert_well_formed(html);
    assert_non_null(strstr(html, "No device in this profile"));
    assert_non_null(strstr(html, "No issues: every file was read completely"));
    vp_free(html);
    enum { N = 10000 };
    f.ops = calloc(N, sizeof *f.ops);
    for (int i = 0; i < N; i++)
        f.ops[i] = fx_op(0, NULL, "n", 1, FX_US);
    f.r.ops = f.ops;
    f.r.op_count = N;
    f.devices[0] = fx_device("d", VP_DEVICE_OTHER, N * FX_US, 0, 0, 0);
    f.r.device_count = 1;
    vp_view v = VP_VIEW_INIT;
    v.top = 0;
    html = page_of(&f.r, v, NULL);
    assert_well_formed(html);
    assert_int_equal(occurrences(html, "<tr><td class=\"rank\">"), N);
    assert_null(strstr(html, ">others<"));
    vp_free(html);
    fx_free(&f);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escape),
        cmocka_unit_test(test_escape_of_all_pairs),
        cmocka_unit_test(test_stands_alone),
        cmocka_unit_test(test_served),
        cmocka_unit_test(test_says_what_it_shows),
        cmocka_unit_test(test_bars_sum_to_all),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_long_names_are_whole),
        cmocka_unit_test(test_deep_and_broad_scopes),
        cmocka_unit_test(test_empty_deviceless_and_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
