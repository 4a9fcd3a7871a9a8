/* trace/report/: the page of a full analysis. Every section stands there when it has something to
 * say and only then, every time is a place, and no name gets through as markup. */
#include <ctype.h>
#include <math.h>

#include "tests/unit/html_check.h"
#include "tests/unit/report_full.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/html/html.h"

static const char *const section_ids[] = {
    "findings", "where",       "steps",     "ops",     "scopes",  "folded",
    "modules",  "idle",        "launch",    "balance", "compile", "hygiene",
    "host",     "collectives", "transfers", "memory",  "quality", "files"};

static bool has_section(const char *html, const char *id)
{
    char tag[64];
    snprintf(tag, sizeof tag, "<section id=\"%s\"", id);
    return strstr(html, tag) != NULL;
}

/* The table of contents names exactly the sections that there are. */
static void assert_contents(const char *html)
{
    const char *from = strstr(html, "<nav class=\"contents\""), *end = strstr(from, "</nav>");
    size_t entries = 0;
    for (const char *p = from; (p = strstr(p, "href=\"#")) != NULL && p < end; entries++)
        p++;
    assert_int_equal(entries, occurrences(html, "<section "));
    for (size_t i = 0; i < sizeof section_ids / sizeof *section_ids; i++) {
        char link[64];
        snprintf(link, sizeof link, "href=\"#%s\"", section_ids[i]);
        const char *at = strstr(from, link);
        assert_int_equal(at && at < end, has_section(html, section_ids[i]));
    }
}

static void assert_has(const char *html, const char *const *needed, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strstr(html, needed[i]))
            fail_msg("the page lacks: %s", needed[i]);
}

static void test_full_page(void **state)
{
    (void)state;
    static const char *const needed[] = {
        /* findings */
        "<h3>Waits for copies</h3>", "<b>59.50%</b> of window", "threshold 5%",
        "up to <b>40.000 ms</b> (50.00% of the window)",
        "50.000 ms including time claimed by other findings", "Keep the weights on the device.",
        "the capture is partial", "href=\"#finding-F6\">F6</a>", "needs launch calls",
        "exposed communication 1.00%, threshold 5%",
        /* steps: 23 of 24 count; the last is five medians, cut at four */
        "23 of 24", "ProfilerStep annotations", "<title>step 123: 50.000 ms outlier</title>",
        "<title>step 105: 16.000 ms heavy</title>", "<title>step 100: 10.000 ms partial",
        "Kinds of steps",
        /* ops */
        "bf16[8,2048]", "class=\"spark\"",
        /* idle: 20 of 26 us is input, of the longest gap 10 of 12 us */
        "76.92%", "83.33%", "next(loader)", "no recorded event",
        /* 1 GB in 1 s among 8 */
        "<td>1.00</td><td>1.75</td><td>1.750</td>", "<td>0.300</td><td>0.600</td>",
        /* 2 GB in 0.5 s */
        "<td>4.00</td>", "measured on the host",
        /* 55 of a mean of 47.5 */
        "15.79%", "100 of 128 calls", "hostB, 90 calls",
        /* 900 of a capture of 2316.6 ms */
        "38.85%", "train_step", "sync, blocking", "4.0 GiB, 25.00% of the limit",
        /* 5 of 40 ms are computed again; the first scope has 35 of 40 */
        "87.50%"};
    full x;
    full_init(&x, NULL);
    char *html = page_of(&x.f.r, (vp_view)VP_VIEW_INIT, NULL);
    assert_well_formed(html);
    assert_has(html, needed, sizeof needed / sizeof *needed);
    for (size_t i = 0; i < sizeof section_ids / sizeof *section_ids; i++)
        if (!has_section(html, section_ids[i]))
            fail_msg("no section %s", section_ids[i]);
    assert_contents(html);
    assert_int_equal(occurrences(html, "href=\""), occurrences(html, "href=\"#"));
    vp_free(html);
    full_free(&x);
}

/* Only a server can hand a time to Perfetto; every place is then a link. */
static void test_places_are_links(void **state)
{
    (void)state;
    static const char *const needed[] = {
        "/prefix/perfetto/x?at=7000000..8000000\">7.000 ms</a> for 1.000 ms", /* the finding */
        "/prefix/perfetto/x?at=7000000..7012000\">7.000 ms</a>",              /* the gap */
        "/prefix/perfetto/x?at=15000000..25000000\">15.000 ms</a>",           /* step 101 */
        "/prefix/perfetto/x?at=8000000..9000000\">8.000 ms</a>",    /* the largest transfer */
        "/prefix/perfetto/x?at=90000000..90000001\">90.000 ms</a>", /* the last compile */
    };
    full x;
    full_init(&x, NULL);
    char *html = page_of(&x.f.r, (vp_view)VP_VIEW_INIT, &served);
    assert_well_formed(html);
    assert_has(html, needed, sizeof needed / sizeof *needed);
    assert_null(strstr(html, "<style>"));
    vp_free(html);
    full_free(&x);
}

static void test_findings_alone(void **state)
{
    (void)state;
    full x;
    vp_buf b;
    full_init(&x, NULL);
    vp_buf_init(&b, 1 << 20);
    assert_int_equal(rep_findings_html(&b, &x.f.r, NULL, NULL), 0);
    char *html = vp_buf_take(&b, NULL);
    assert_well_formed(html);
    assert_true(has_section(html, "findings"));
    assert_int_equal(occurrences(html, "<section "), 2); /* and data quality */
    vp_free(html);
    full_free(&x);
}

static void test_full_page_with_hostile_names(void **state)
{
    (void)state;
    full x;
    full_init(&x, FX_HOSTILE);
    for (int i = 0; i < 2; i++) {
        char *html = page_of(&x.f.r, (vp_view)VP_VIEW_INIT, i ? &served : NULL);
        assert_well_formed(html);
        assert_null(strstr(html, "<img src=x"));
        assert_null(strchr(html, 0x1b));
        assert_null(strstr(html, "\xe2\x80\xae"));
        assert_null(strchr(html, '\xff'));
        vp_free(html);
    }
    full_free(&x);
}

/* Two calls of 3 and 1 us: the bins at both ends, the shares of two names. */
static void test_one_op(void **state)
{
    (void)state;
    fx f;
    vp_buf b;
    detail_call calls[] = {{FX_HOSTILE, FX_HOSTILE, 7 * FX_MS, 3000000},
                           {NULL, NULL, VP_NO_TIME, 1000000}};
    detail_name names[] = {{FX_HOSTILE, FX_HOSTILE, FX_HOSTILE, FX_HOSTILE, FX_HOSTILE, .calls = 1,
                            .self_ps = 3000000, .max_ps = 3000000},
                           {.calls = 1, .self_ps = 1000000, .max_ps = 1000000}};
    graph_node nodes[] = {{.name = "f", .opcode = "fusion", .op = 0, .bytes = -1, .calls = 1},
                          {.name = FX_HOSTILE,
                           .opcode = FX_HOSTILE,
                           .shape = FX_HOSTILE,
                           .scope = FX_HOSTILE,
                           .source = FX_HOSTILE,
                           .bytes = 2048,
                           .op = SIZE_MAX,
                           .step = -2}};
    const char *body[] = {FX_HOSTILE};
    op_graph graph = {.text = FX_HOSTILE,
                      .nodes = nodes,
                      .edges = {{true}, {true}},
                      .body = body,
                      .node_count = 2,
                      .body_count = 1,
                      .body_left = 3,
                      .users_left = 2};
    op_details d = {.graph = &graph,
                    .calls = calls,
                    .call_count = 2,
                    .names = names,
                    .name_count = 2,
                    .more_names = 5,
                    .min_ps = 1000000,
                    .max_ps = 3000000};
    d.bins[0] = d.bins[OP_BINS - 1] = 1;
    fx_tpu(&f);
    rep_links links = served;
    links.session = "/session/x/";
    links.tab = "ops";
    vp_buf_init(&b, 1 << 20);
    assert_int_equal(rep_op_html(&b, &f.r, 0, &d, NULL, &links), 0);
    char *html = vp_buf_take(&b, NULL);
    assert_well_formed(html);
    assert_true(has_section(html, "bins") && has_section(html, "calls"));
    assert_true(has_section(html, "names") && has_section(html, "graph"));
    assert_non_null(strstr(html, "Fused instructions: 4"));
    assert_non_null(strstr(html, "2.0 KiB</text>"));
    assert_int_equal(occurrences(html, "height=\"100.00%\"/>"), 2); /* both are the highest */
    assert_non_null(strstr(html, "<p class=\"note\">… 5 more</p>"));
    assert_non_null(strstr(html, "href=\"/prefix/session/x/?group=name&amp;by=self&amp;n=20&amp;"
                                 "tab=ops#ops\""));
    assert_null(strstr(html, "<img src=x"));
    assert_null(strchr(html, 0x1b));
    vp_free(html);
    fx_free(&f);
}

/* A tab shows its sections and no other; every tab that is there is known. */
static void test_tabs(void **state)
{
    (void)state;
    full x;
    full_init(&x, NULL);
    rep_links links = served;
    links.tab = "quality";
    assert_true(rep_tab_known("quality") && rep_tab_known("all"));
    assert_false(rep_tab_known("") || rep_tab_known("Quality") || rep_tab_known("op"));
    char *html = page_of(&x.f.r, (vp_view)VP_VIEW_INIT, &links);
    assert_well_formed(html);
    assert_int_equal(occurrences(html, "<section "), 1);
    assert_true(has_section(html, "quality"));
    assert_int_equal(occurrences(html, "aria-current=\"page\""), 1);
    vp_free(html);
    full_free(&x);
}

/* A filter ignores case, looks at scopes, and drops the others from sums and from the CSV. */
static void test_filter(void **state)
{
    (void)state;
    fx f;
    rep_rows rows;
    vp_view v = VP_VIEW_INIT;
    fx_tpu(&f);
    v.top = 0;
    assert_int_equal(rep_rows_of(&rows, &f.r, &v, 0), 0);
    size_t all = rows.matching;
    assert_true(all > 1);
    const vp_op *first = &f.r.ops[rows.index[0]];
    rep_rows_free(&rows);
    char upper[64];
    size_t n = 0;
    for (; first->name[n] && n < sizeof upper - 1; n++)
        upper[n] = (char)toupper((unsigned char)first->name[n]);
    upper[n] = 0;
    v.filter = upper;
    assert_int_equal(rep_rows_of(&rows, &f.r, &v, 0), 0);
    assert_in_range(rows.matching, 1, all - 1);
    assert_ptr_equal(&f.r.ops[rows.index[0]], first);
    assert_int_equal(rows.others, 0);
    rep_rows_free(&rows);
    assert_int_equal(rep_rows_most(&rows, &f.r, &(vp_view){.version = 1}, 0, 1), 0);
    assert_int_equal(rows.shown, 1);
    assert_int_equal(rows.others, all - 1);
    rep_rows_free(&rows);
    v.filter = "no op has this";
    char *html = page_of(&f.r, v, &served);
    assert_non_null(strstr(html, "no group contains “no op has this”"));
    vp_free(html);
    fx_free(&f);
}

/* What was not analysed, or not found, is not announced. */
static void test_empty_sections_do_not_appear(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    char *html = page_of(&f.r, (vp_view)VP_VIEW_INIT, NULL);
    assert_contents(html);
    assert_int_equal(occurrences(html, "<section "), 6);
    static const char *const there[] = {"where", "ops", "scopes", "modules", "quality", "files"};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        assert_true(has_section(html, there[i]));
    vp_free(html);
    fx_free(&f);
}

/* What another finding explains has its places too, each a link to its time range. */
static void test_explained_rules_lead_to_their_places(void **state)
{
    (void)state;
    full x;
    full_init(&x, NULL);
    char *html = page_of(&x.f.r, (vp_view)VP_VIEW_INIT, &served);
    const char *rules = strstr(html, "explained by the findings above"), *end;
    assert_non_null(rules);
    end = strstr(rules, "</details>");
    const char *link = strstr(rules, "<a title=\"Show this in Perfetto\"");
    assert_true(link && link < end);
    vp_free(html);
    full_free(&x);
}

/* Ops that share the code of an equal one are no work to avoid. */
static void test_equal_layers_are_no_waste(void **state)
{
    (void)state;
    full x;
    full_init(&x, NULL);
    x.f.devices[0].hygiene.duplicate_ps = x.f.devices[0].self_ps;
    x.f.devices[0].hygiene.duplicate_ops = 7;
    char *html = page_of(&x.f.r, (vp_view)VP_VIEW_INIT, NULL);
    assert_null(strstr(html, "Duplicates"));
    assert_non_null(strstr(html, "is in 7 ops with the same code as another op: repeated layers, "
                                 "not redundant work."));
    vp_free(html);
    x.f.devices[0].hygiene = (vp_hygiene){.duplicate_ps = FX_MS, .duplicate_ops = 7};
    html = page_of(&x.f.r, (vp_view)VP_VIEW_INIT, NULL);
    assert_false(has_section(html, "hygiene"));
    vp_free(html);
    full_free(&x);
}

/* Figures no measurement can have, and 100,000 steps: still one tree, still a page. */
static void test_strange_figures(void **state)
{
    (void)state;
    enum { STEPS = 100000 };
    full x;
    full_init(&x, NULL);
    vp_step *steps = calloc(STEPS, sizeof *steps);
    for (int i = 0; i < STEPS; i++)
        steps[i] = (vp_step){.number = VP_UNKNOWN, .device = VP_NO_DEVICE, .dur_ps = i % 7};
    steps[77].dur_ps = INT64_MAX / 2;
    x.f.r.steps = (vp_steps){.list = steps,
                             .count = STEPS,
                             .counted = 0,
                             .median_ps = VP_UNKNOWN,
                             .p90_ps = VP_UNKNOWN,
                             .p95_ps = VP_UNKNOWN,
                             .mad_ps = VP_UNKNOWN,
                             .mean_ps = VP_UNKNOWN,
                             .min_ps = VP_UNKNOWN,
                             .max_ps = VP_UNKNOWN,
                             .cv = 0,
                             .excess_ps = VP_UNKNOWN};
    x.gaps[0].device = x.collectives[0].device = x.transfers[0].device = VP_NO_DEVICE;
    x.gaps[0].start_ps = x.places[0].start_ps = -7 * FX_MS;
    x.f.devices[0].timeline_ns = INT64_MAX;
    x.sample_bytes[1] = VP_UNKNOWN;
    x.f.devices[0].breakdown.idle_ps = x.f.devices[0].breakdown.window_ps = 0;
    char *html = page_of(&x.f.r, (vp_view)VP_VIEW_INIT, &served);
    assert_well_formed(html);
    assert_contents(html);
    assert_non_null(strstr(html, "Each bar is the slowest of 625 consecutive steps."));
    assert_non_null(strstr(html, "<title>step #78: ")); /* no number, no name: the 78th */
    assert_null(strstr(html, "nan"));
    assert_null(strstr(html, "inf%"));
    assert_true(strlen(html) < 400000);
    vp_free(html);
    free(steps);
    full_free(&x);
}

/* docs/reference/metrics.md#collectives. */
static void test_bandwidths(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        int64_t among;
        double factor;
    } cases[] = {
        {"all-reduce", 8, 1.75},      {"all-reduce", 2, 1},    {"all-reduce", 1, 0},
        {"all-gather", 8, 0.875},     {"all-to-all", 4, 0.75}, {"reduce-scatter", 4, 0.75},
        {"send-recv", VP_UNKNOWN, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vp_collective c = {.kind = cases[i].kind,
                           .group_size = cases[i].among,
                           .bytes = 4000000,
                           .total_ps = 2 * FX_MS}; /* 2 GB/s */
        assert_true(rep_bus_factor(&c) == cases[i].factor);
        assert_true(rep_algorithm_gb_per_s(&c) == 2);
        assert_true(rep_bus_gb_per_s(&c) == 2 * cases[i].factor);
    }
    vp_collective unknown = {.kind = "all-reduce", .group_size = VP_UNKNOWN, .bytes = VP_UNKNOWN};
    assert_true(isnan(rep_bus_factor(&unknown)));
    assert_true(isnan(rep_algorithm_gb_per_s(&unknown)));
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_page),
        cmocka_unit_test(test_places_are_links),
        cmocka_unit_test(test_findings_alone),
        cmocka_unit_test(test_full_page_with_hostile_names),
        cmocka_unit_test(test_one_op),
        cmocka_unit_test(test_tabs),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_empty_sections_do_not_appear),
        cmocka_unit_test(test_explained_rules_lead_to_their_places),
        cmocka_unit_test(test_equal_layers_are_no_waste),
        cmocka_unit_test(test_strange_figures),
        cmocka_unit_test(test_bandwidths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
