/* trace/report/: the page about two reports. */
#include "tests/unit/html_check.h"
#include "tests/unit/report_fixture.h"

#define DELTA(a, b) ((vp_delta){(a)*FX_MS, (b)*FX_MS, ((b) - (a)) * FX_MS})
#define NONE ((vp_delta){VP_UNKNOWN, VP_UNKNOWN, VP_NO_TIME})

typedef struct two {
    vp_comparison c;
    vp_compared_device devices[1];
    vp_compared_op ops[3];
    vp_compared_scope scopes[2], graph[5];
    const char *caveats[1], *ids[2];
} two;

static const char *text(const char *hostile, const char *plain)
{
    return hostile ? hostile : plain;
}

/* A step of 100 ms becomes one of 110: compute +12, communication -3, idle +1. */
static void two_init(two *x, const char *h)
{
    memset(x, 0, sizeof *x);
    x->devices[0] = (vp_compared_device){text(h, "/device:TPU:0"),
                                         DELTA(100, 110),
                                         DELTA(70, 82),
                                         DELTA(20, 17),
                                         DELTA(0, 0),
                                         DELTA(10, 11)};
    x->ops[0] = (vp_compared_op){.device = text(h, "/device:TPU:0"),
                                 .category = text(h, "loop fusion"),
                                 .name = text(h, "fusion"),
                                 .scope = text(h, "jit(step)/mlp"),
                                 .self = DELTA(30, 42),
                                 .calls_a = 5,
                                 .calls_b = 7,
                                 .flops_a = 60000000000,
                                 .flops_b = 84000000000,
                                 .significant = true,
                                 .reason = text(h, "more work at the same rate")};
    x->ops[1] = (vp_compared_op){.name = text(h, "all-reduce"),
                                 .self = DELTA(20, 17),
                                 .calls_a = 5,
                                 .calls_b = 5,
                                 .flops_a = VP_UNKNOWN,
                                 .flops_b = VP_UNKNOWN};
    x->ops[2] = (vp_compared_op){.name = text(h, "fresh"),
                                 .self = {VP_UNKNOWN, FX_MS, VP_NO_TIME},
                                 .calls_a = VP_UNKNOWN,
                                 .calls_b = 1,
                                 .flops_a = VP_UNKNOWN,
                                 .flops_b = VP_UNKNOWN,
                                 .is_new = true};
    x->scopes[0] = (vp_compared_scope){text(h, "jit(step)/mlp"), 1, DELTA(30, 42)};
    x->scopes[1] = (vp_compared_scope){text(h, "jit(step)/mlp/dot"), 2, DELTA(20, 31)};
    x->graph[0] = (vp_compared_scope){text(h, "jit(<s>)"), 0, DELTA(80, 85)};
    x->graph[1] = (vp_compared_scope){text(h, "jit(<s>)/mlp"), 1, DELTA(30, 42)};
    x->graph[2] = (vp_compared_scope){text(h, "jit(<s>)/mlp/old"), 2, DELTA(20, 0)};
    x->graph[3] = (vp_compared_scope){text(h, "jit(<s>)/mlp/new"), 2, DELTA(0, 31)};
    x->graph[4] = (vp_compared_scope){text(h, "jit(<s>)/attn"), 1, DELTA(50, 43), DELTA(40, 1)};
    x->caveats[0] = text(h, "A has 4 devices, B has 8");
    x->ids[0] = text(h, "F4");
    x->ids[1] = text(h, "F12");
    x->c = (vp_comparison){.a_id = text(h, "run a"),
                           .a_name = text(h, "monday"),
                           .b_id = text(h, "runb"),
                           .b_name = text(h, "tuesday"),
                           .per_step = true,
                           .step = DELTA(100, 110),
                           .median = DELTA(100, 110),
                           .p90 = NONE,
                           .devices = x->devices,
                           .device_count = 1,
                           .ops = x->ops,
                           .op_count = 3,
                           .scopes = x->scopes,
                           .scope_count = 2,
                           .graph = x->graph,
                           .graph_count = 5,
                           .steps_a = 20,
                           .steps_b = 21,
                           .threshold_ps = FX_MS,
                           .verdict = VP_REGRESSION,
                           .verdict_reason = text(h, "the median moved by 10 of 1 ms of noise"),
                           .caveats = x->caveats,
                           .caveat_count = 1,
                           .findings_new = x->ids,
                           .new_count = 1,
                           .findings_gone = x->ids + 1,
                           .gone_count = 1};
}

static char *compared(const vp_comparison *c, const rep_links *links)
{
    vp_buf b;
    vp_buf_init(&b, 1 << 20);
    assert_int_equal(rep_compare_html(&b, c, links), 0);
    char *html = vp_buf_take(&b, NULL);
    assert_non_null(html);
    assert_well_formed(html);
    return html;
}

static void test_says_what_changed(void **state)
{
    (void)state;
    static const char *const needed[] = {
        "<title>tuesday compared with monday – view_profile</title>",
        "<span class=\"badge bad\">regression</span>",
        "the median moved by 10 of 1 ms of noise",
        "100.000 → 110.000 ms, <b>+10.00%</b>",
        "<b>+12.000</b></td><td>+17.14%</td>", /* compute: 12 of 70 */
        "<b>−3.000</b></td><td>−15.00%</td>",  /* communication: 3 of 20 */
        "<b>±0.000</b>",                       /* copies */
        "<b>+10.000</b></td><td>+10.00%</td>", /* the step itself */
        "A has 4 devices, B has 8",
        "<dt>Only in B</dt><dd>F4</dd>",
        "<dt>Only in A</dt><dd>F12</dd>",
        "more work at the same rate",
        "<td>2000</td><td>2000</td>", /* 60 GFLOP in 30 ms, 84 in 42 */
        "<span class=\"badge\">new</span>",
        "jit(step)/mlp",
        "<span class=\"name\">&#160;&#160;&#160;&#160;dot</span>", /* its parent stands above it */
        "20 and 21",
    };
    two x;
    two_init(&x, NULL);
    char *html = compared(&x.c, NULL);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!strstr(html, needed[i]))
            fail_msg("the page lacks: %s", needed[i]);
    assert_int_equal(occurrences(html, "href=\""), 1); /* the skip link: it stands alone */
    assert_null(strstr(html, ">p90<"));                /* unknown on both sides */
    vp_free(html);
    html = compared(&x.c, &served);
    assert_non_null(strstr(html, "href=\"/prefix/session/run%20a/\">monday</a>"));
    assert_non_null(strstr(html, "href=\"/prefix/api/v1/compare/run%20a/runb\""));
    vp_free(html);
}

/* A and B on one scale, of 110 ms; the difference with room for what is gone: 11 of its own in mlp,
 * 20 that went and 31 that came, and 50 in attn. */
static void test_flames(void **state)
{
    (void)state;
    static const char *const needed[] = {
        "the full width is 110.000 ms",
        "width=\"90.90%\" height=\"1.60em\"><title>step: 100.000 ms, 100.00% of A’s step</title>",
        "width=\"72.72%\" height=\"1.60em\"><title>jit(&lt;s&gt;): 80.000 ms, 80.00% of A’s step",
        "width=\"77.27%\" height=\"1.60em\"><title>jit(&lt;s&gt;): 85.000 ms, 77.27% of B’s step",
        "50.000 ms, 50.00% of A’s step</title><rect class=\"backward\"",
        "43.000 ms, 39.09% of B’s step</title><rect class=\"forward\"",
        "<title>jit(&lt;s&gt;)/mlp/old: −20.000 ms, 20.000 ms → 0.000 ms</title><rect "
        "class=\"better\"",
        "<title>jit(&lt;s&gt;)/mlp/new: +31.000 ms, 0.000 ms → 31.000 ms</title><rect "
        "class=\"worse\"",
        ">+31.000 ms new</text>",
        ">+10.000 ms step</text>",
        ">−7.000 ms attn</text>",
    };
    two x;
    two_init(&x, NULL);
    char *html = compared(&x.c, NULL);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!strstr(html, needed[i]))
            fail_msg("the page lacks: %s", needed[i]);
    assert_int_equal(occurrences(html, "class=\"flame\" role=\"img\""), 3);
    assert_int_equal(occurrences(html, "<svg x="), 5 + 5 + 6); /* without what is not there */
    vp_free(html);
    x.c.step = (vp_delta)DELTA(40, 110); /* less than its ops take */
    html = compared(&x.c, NULL);
    assert_non_null(strstr(html, ">80.000 ms at once in a step of 40.000 ms</text>"));
    vp_free(html);
    x.c.step.a_ps = x.c.step.b_ps = VP_UNKNOWN;
    for (size_t i = 0; i < 5; i++)
        x.graph[i].total = (vp_delta){INT64_MAX, INT64_MAX - 1, -1};
    vp_free(compared(&x.c, NULL));
    x.c.graph_count = 0;
    html = compared(&x.c, NULL);
    assert_int_equal(occurrences(html, "class=\"flame\""), 0);
    vp_free(html);
}

/* The largest difference fills its half of the bar: compute to the right, less to the left. */
static void test_bars_point_to_the_slower_side(void **state)
{
    (void)state;
    two x;
    two_init(&x, NULL);
    char *html = compared(&x.c, NULL);
    assert_non_null(strstr(html, "<rect class=\"worse\" x=\"50.00%\" width=\"50.00%\""));
    assert_non_null(strstr(html, "<rect class=\"better\" x=\"37.50%\" width=\"12.50%\""));
    vp_free(html);
}

static void test_hostile_names(void **state)
{
    (void)state;
    two x;
    two_init(&x, FX_HOSTILE);
    vp_compared_holder held[2] = {{FX_HOSTILE, FX_HOSTILE, FX_HOSTILE, 5 << 20, 7 << 20, 2 << 20},
                                  {FX_HOSTILE, FX_HOSTILE, NULL, 0, 1 << 20, 1 << 20}};
    vp_compared_memory memory[2] = {
        {NULL, FX_HOSTILE, 0, 5 << 20, 8 << 20, 3 << 20, held, 2, held, 2},
        {FX_HOSTILE, NULL, VP_UNKNOWN, 1, 2, 1, NULL, 0, NULL, 0}};
    x.c.memory = memory;
    x.c.memory_count = 2;
    for (int i = 0; i < 2; i++) {
        char *html = compared(&x.c, i ? &served : NULL);
        assert_null(strstr(html, "<img src=x"));
        assert_null(strchr(html, 0x1b));
        assert_null(strchr(html, '\xff'));
        vp_free(html);
    }
}

static void test_nothing_to_compare(void **state)
{
    (void)state;
    vp_comparison c = {.step = NONE,
                       .median = NONE,
                       .p90 = NONE,
                       .steps_a = VP_UNKNOWN,
                       .steps_b = VP_UNKNOWN,
                       .threshold_ps = VP_UNKNOWN,
                       .verdict = VP_UNVERIFIED};
    char *html = compared(&c, &served);
    assert_non_null(strstr(html, "<span class=\"badge warn\">unverified</span>"));
    assert_int_equal(occurrences(html, "<section"), 0);
    vp_free(html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_says_what_changed),
        cmocka_unit_test(test_flames),
        cmocka_unit_test(test_bars_point_to_the_slower_side),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_nothing_to_compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
