/* trace/report/flame/: where frames lie, and what the picture is made of. */
#include "tests/unit/html_check.h"
#include "tests/unit/report_fixture.h"
#include "trace/base/limits.h"
#include "trace/report/flame/flame_label.h"
#include "trace/report/flame/flame_layout.h"
#include "trace/report/flame/flame_svg.h"
#include "trace/report/flame/stack_stream.h"
#include "trace/report/flame/stacks.h"

#define ROOT FLAME_NO_PARENT

static flame_layout laid_out(const flame_node *nodes, size_t n)
{
    flame_layout l;
    assert_int_equal(flame_layout_of(&l, nodes, n, 0), 0);
    assert_true(l.n <= VP_FLAME_FRAMES_MAX && l.rows <= VP_FLAME_ROWS_MAX);
    return l;
}

static void check_box(const flame_layout *l, size_t i, uint32_t row, int64_t x, int64_t width)
{
    assert_true(i < l->n);
    assert_int_equal(l->v[i].row, row);
    assert_int_equal(l->v[i].x, x);
    assert_int_equal(l->v[i].width, width);
}

static void test_places(void **state)
{
    (void)state;
    const flame_node nodes[] = {
        {ROOT, false, 90}, {0, false, 60}, {1, false, 20}, {0, false, 15}, {ROOT, false, 30}};
    flame_layout l = laid_out(nodes, 5);
    assert_int_equal(l.n, 5);
    assert_int_equal(l.rows, 3);
    assert_int_equal(l.all, 120);
    assert_int_equal(l.hidden, 0);
    check_box(&l, 0, 0, 0, 7500);
    check_box(&l, 1, 1, 0, 5000);
    check_box(&l, 2, 2, 0, 1666);
    check_box(&l, 3, 1, 5000, 1250);
    check_box(&l, 4, 0, 7500, 2500);
    flame_layout_free(&l);
}

/* Of a wider whole the rest stays free. */
static void test_of_a_wider_whole(void **state)
{
    (void)state;
    const flame_node nodes[] = {{ROOT, false, 90}, {0, false, 60}};
    flame_layout l;
    assert_int_equal(flame_layout_of(&l, nodes, 2, 180), 0);
    assert_int_equal(l.all, 180);
    check_box(&l, 0, 0, 0, 5000);
    check_box(&l, 1, 1, 0, 3333);
    flame_layout_free(&l);
    assert_int_equal(flame_layout_of(&l, nodes, 2, 45), 0);
    assert_int_equal(l.all, 90);
    flame_layout_free(&l);
}

/* A chain is one frame as long as each is all that the one above has. */
static void test_joined(void **state)
{
    (void)state;
    const flame_node nodes[] = {
        {ROOT, false, 100}, {0, true, 100}, {1, true, 100}, {2, true, 60}, {3, true, 60}};
    flame_layout l = laid_out(nodes, 5);
    assert_int_equal(l.n, 2);
    assert_int_equal(l.v[0].first, 0);
    assert_int_equal(l.v[0].last, 2);
    assert_int_equal(l.v[1].first, 3);
    assert_int_equal(l.v[1].last, 4);
    check_box(&l, 1, 1, 0, 6000);
    flame_layout_free(&l);
}

/* Of what no tree can say, each gets what is left. */
static void test_damaged(void **state)
{
    (void)state;
    const flame_node nodes[] = {{ROOT, false, 100}, {0, false, 80},          {0, false, 80},
                                {0, false, 5},      {1, false, -7},          {1, false, INT64_MAX},
                                {6, false, 50},     {ROOT, false, INT64_MIN}};
    flame_layout l = laid_out(nodes, 8);
    assert_int_equal(l.all, 150); /* one that is its own parent is a root */
    check_box(&l, 0, 0, 0, 6666);
    check_box(&l, 1, 1, 0, 5333);
    check_box(&l, 2, 1, 5333, 1333);
    check_box(&l, 3, 2, 0, 5333);
    check_box(&l, 4, 0, 6666, 3334);
    assert_int_equal(l.n, 5);
    flame_layout_free(&l);
    const flame_node large[] = {{ROOT, false, INT64_MAX}, {ROOT, false, INT64_MAX}};
    l = laid_out(large, 2);
    assert_int_equal(l.all, INT64_MAX);
    check_box(&l, 0, 0, 0, 10000);
    assert_int_equal(l.n, 1);
    flame_layout_free(&l);
}

static void test_empty(void **state)
{
    (void)state;
    const flame_node none[] = {{ROOT, false, 0}, {0, false, 0}};
    flame_layout l = laid_out(none, 2);
    assert_int_equal(l.n, 0);
    flame_layout_free(&l);
    l = laid_out(NULL, 0);
    assert_int_equal(l.n, 0);
    flame_layout_free(&l);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Each frame lies within its parent's, none over its neighbour, and what is shown and what is not
 * is all that there is. */
static void check_tree(const flame_node *nodes, size_t n)
{
    flame_layout l = laid_out(nodes, n);
    uint32_t *box_of = vp_realloc_array(NULL, n, sizeof *box_of);
    int64_t *end = vp_calloc(n + 1, sizeof *end), whole_end = 0;
    assert_true(box_of && end);
    for (size_t i = 0; i < n; i++)
        box_of[i] = UINT32_MAX;
    for (size_t i = 0; i < l.n; i++) {
        const flame_box *b = &l.v[i];
        uint32_t up = nodes[b->first].parent;
        assert_true(b->width >= 0 && b->x >= 0 && b->x + b->width <= REP_PERCENT_ALL);
        assert_true(nodes[b->first].weight * FLAME_PARTS_MAX >= l.all);
        box_of[b->first] = (uint32_t)i;
        int64_t *free_from = up == ROOT ? &whole_end : &end[up];
        if (up != ROOT) {
            const flame_box *parent = &l.v[box_of[up]];
            assert_int_equal(b->row, parent->row + 1);
            assert_true(b->x >= parent->x && b->x + b->width <= parent->x + parent->width);
        }
        assert_true(b->x >= *free_from);
        *free_from = b->x + b->width;
    }
    assert_true(l.hidden + l.n <= n);
    assert_true(l.hidden_weight <= l.all);
    vp_free(box_of);
    vp_free(end);
    flame_layout_free(&l);
}

/* Parents first, children of one parent anywhere behind it; weights summed up from below. */
static void random_tree(flame_node *v, size_t n, uint64_t *seed, size_t reach)
{
    for (size_t i = 0; i < n; i++) {
        size_t back = 1 + next_random(seed) % reach;
        v[i] = (flame_node){i < back ? ROOT : (uint32_t)(i - back), false,
                            (int64_t)(next_random(seed) % 1000)};
    }
    for (size_t i = n; i-- > 0;)
        if (v[i].parent != ROOT)
            v[v[i].parent].weight += v[i].weight;
}

static void test_random_trees(void **state)
{
    (void)state;
    flame_node v[3000];
    uint64_t seed = 7;
    for (size_t i = 0; i < 300; i++) {
        size_t n = 1 + next_random(&seed) % (sizeof v / sizeof *v);
        random_tree(v, n, &seed, 1 + next_random(&seed) % n);
        check_tree(v, n);
    }
}

#define MILLION 1000000u

static void test_a_million(void **state)
{
    (void)state;
    uint64_t seed = 9;
    flame_node *v = vp_calloc(MILLION, sizeof *v);
    assert_non_null(v);
    random_tree(v, MILLION, &seed, MILLION);
    check_tree(v, MILLION);
    for (uint32_t i = 0; i < MILLION; i++) /* each below the one before */
        v[i] = (flame_node){i ? i - 1 : ROOT, false, MILLION + 1 - i};
    flame_layout l = laid_out(v, MILLION);
    assert_int_equal(l.n, VP_FLAME_ROWS_MAX);
    assert_int_equal(l.hidden, MILLION - VP_FLAME_ROWS_MAX);
    flame_layout_free(&l);
    for (uint32_t i = 1; i < MILLION; i++) /* or all of it one frame */
        v[i] = (flame_node){i - 1, true, v[0].weight};
    l = laid_out(v, MILLION);
    assert_int_equal(l.n, 1);
    assert_int_equal(l.v[0].last, MILLION - 1);
    flame_layout_free(&l);
    v[0].weight = MILLION - 1;
    for (uint32_t i = 1; i < MILLION; i++) /* or as many below one */
        v[i] = (flame_node){0, false, 1};
    l = laid_out(v, MILLION);
    assert_int_equal(l.n, 1);
    assert_int_equal(l.hidden_weight, MILLION - 1);
    flame_layout_free(&l);
    vp_free(v);
}

/* The widest are drawn where there are too many, and a child never without its parent. */
static void test_the_widest(void **state)
{
    (void)state;
    flame_node v[901];
    v[0] = (flame_node){ROOT, false, 0};
    for (uint32_t i = 1; i <= 900; i++) {
        v[i] = (flame_node){0, false, 1000 + (i * 7919) % 900};
        v[0].weight += v[i].weight;
    }
    flame_layout l = laid_out(v, 901);
    assert_int_equal(l.n, VP_FLAME_FRAMES_MAX);
    for (size_t i = 1; i < l.n; i++)
        assert_true(v[l.v[i].first].weight >= 1000 + 900 - (int64_t)VP_FLAME_FRAMES_MAX + 1);
    flame_layout_free(&l);
}

/* ---- The picture ---- */

static const char *kind(void *ctx, const flame_box *box)
{
    (void)ctx;
    return box->first ? "comp" : "idle";
}

static void name(vp_buf *b, void *ctx, const flame_box *box)
{
    (void)ctx;
    vp_buf_printf(b, "n%u", box->first);
}

static void long_name(vp_buf *b, void *ctx, const flame_box *box)
{
    (void)ctx;
    (void)box;
    vp_buf_puts(b, "transpose");
}

static void check_fit(const char *html, size_t columns, const char *shown)
{
    vp_str s = vp_str_of(html), kept = vp_str_head(s, flame_label_fit(s, columns));
    char got[256];
    snprintf(got, sizeof got, "%.*s%s", VP_STR_ARG(kept), kept.n && kept.n < s.n ? "…" : "");
    assert_string_equal(got, shown);
}

static void test_labels(void **state)
{
    (void)state;
    check_fit("transpose", 9, "transpose");
    check_fit("transpose", 8, "transpo…");
    check_fit("transpose", 4, "tra…");
    check_fit("transpose", 3, "");
    check_fit("ab", 2, "ab");
    check_fit("ab", 1, "");
    check_fit("", 0, "");
    check_fit("a&lt;bc&gt;d&amp;e", 5, "a&lt;bc…"); /* entities are whole */
    check_fit("λμνξοπ", 5, "λμνξ…");
    check_fit("漢字漢字", 8, "漢字漢字");
    check_fit("漢字漢字", 7, "漢字漢…");
    check_fit("漢字漢字", 6, "漢字…");
    check_fit("e\xcc\x81"
              "e\xcc\x81"
              "e\xcc\x81"
              "ee",
              4,
              "e\xcc\x81"
              "e\xcc\x81"
              "e\xcc\x81"
              "…");
    check_fit("\xff\xff\xff\xff\xff", 4, "\xff\xff\xff…");
    check_fit("a&b", 2, "a&b"); /* no entity of ours */
}

/* A number is whole, or not there. */
static void test_numbers_of_labels(void **state)
{
    (void)state;
    check_fit("+18.254 ms jit(f)", 17, "+18.254 ms jit(f)");
    check_fit("+18.254 ms jit(f)", 16, "+18.254 ms jit(…");
    check_fit("−18.254 ms jit(f)", 12, "−18.254 ms …");
    check_fit("−18.254 ms jit(f)", 11, "");
    check_fit("±0.000 ms jit(f)", 3, "");
    check_fit("step: 1.615 ms", 14, "step: 1.615 ms");
    check_fit("step: 1.615 ms", 13, "step: …");
    check_fit("80.0 ms at once in a step of 40.0 ms", 35, "80.0 ms at once in a step of …");
    check_fit("fusion.1234x", 11, "fusion.…"); /* in a name, too */
    check_fit("fusion.1234x", 12, "fusion.1234x");
    check_fit("bq_32-x32", 6, "bq_…");
    check_fit("bq_32-x32", 8, "bq_32-x…");
    check_fit("12", 1, "");
    check_fit("+", 0, "");
}

/* Each width of the picture has the label that fits there, and no two of them overlap. */
static void test_labels_by_width(void **state)
{
    (void)state;
    const flame_node nodes[] = {{ROOT, false, 1000}, {0, false, 100}};
    const flame_look look = {NULL, kind, long_name, name};
    flame_layout l = laid_out(nodes, 2);
    vp_buf b;
    vp_buf_init(&b, 1 << 20);
    assert_int_equal(flame_svg(&b, &l, &look, "what"), 0);
    assert_non_null(strstr(vp_buf_cstr(&b), "<text x=\"0.40em\" y=\"1.14em\">transpose</text>"));
    assert_non_null(strstr(vp_buf_cstr(&b),
                           "/><text class=\"f3 u4\" x=\"0.40em\" y=\"1.14em\">tra…"
                           "</text><text class=\"f4 u5\" x=\"0.40em\" "
                           "y=\"1.14em\">trans…</text><text class=\"f5 u6\" "
                           "x=\"0.40em\" y=\"1.14em\">transp…</text><text "
                           "class=\"f6\" x=\"0.40em\" y=\"1.14em\">transpose</text>"
                           "</svg>"));
    vp_buf_free(&b);
    flame_layout_free(&l);
}

static void test_svg(void **state)
{
    (void)state;
    const flame_node nodes[] = {{ROOT, false, 1000}, {0, false, 980}, {0, false, 10}};
    const flame_look look = {NULL, kind, name, name};
    flame_layout l = laid_out(nodes, 3);
    vp_buf b;
    vp_buf_init(&b, 1 << 20);
    assert_int_equal(flame_svg(&b, &l, &look, "what"), 0);
    assert_string_equal(
        vp_buf_cstr(&b),
        "<div class=\"flames\"><svg class=\"flame\" role=\"img\" aria-label=\"what\" "
        "height=\"3.20em\">\n"
        "<svg x=\"0.00%\" y=\"0.00em\" width=\"100.00%\" height=\"1.60em\"><title>n0</title>"
        "<rect class=\"idle\" width=\"100%\" height=\"100%\"/>"
        "<text x=\"0.40em\" y=\"1.14em\">n0</text></svg>\n"
        "<svg x=\"0.00%\" y=\"1.60em\" width=\"98.00%\" height=\"1.60em\"><title>n1</title>"
        "<rect class=\"comp\" width=\"100%\" height=\"100%\"/>"
        "<text x=\"0.40em\" y=\"1.14em\">n1</text></svg>\n"
        "<svg x=\"98.00%\" y=\"1.60em\" width=\"1.00%\" height=\"1.60em\"><title>n2</title>"
        "<rect class=\"comp\" width=\"100%\" height=\"100%\"/></svg>\n"
        "</svg></div>\n");
    vp_buf_free(&b);
    flame_layout_free(&l);
}

static vp_scope scope(uint32_t parent, const char *path, const char *last, int64_t self,
                      int64_t total)
{
    return (vp_scope){.depth = parent == ROOT ? 0 : 1,
                      .parent = parent,
                      .path = path,
                      .name = last,
                      .self_ps = self * FX_MS,
                      .total_ps = total * FX_MS};
}

static void test_on_the_page(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    vp_scope scopes[] = {
        scope(ROOT, "jit(<f>)", "jit(<f>)", 0, 100), scope(0, "jit(<f>)/main", "main", 10, 100),
        scope(1, "jit(<f>)/main/\"a\"", "\"a\"", 60, 60), scope(1, "jit(<f>)/main/b", "b", 30, 30)};
    scopes[3].backward_ps = 30 * FX_MS;
    f.r.scopes = scopes;
    f.r.scope_count = 4;
    char *html = page_of(&f.r, (vp_view)VP_VIEW_INIT, NULL);
    assert_well_formed(html);
    assert_int_equal(occurrences(html, "class=\"flame\" role=\"img\" aria-label=\""), 1);
    assert_int_equal(occurrences(html, "<svg x=\""), 4);
    assert_non_null(strstr(html, ">all: 100.000 ms op time</text>"));
    assert_non_null(strstr(html, ">jit(&lt;f&gt;)/main</text>")); /* a chain is one frame */
    assert_non_null(
        strstr(html, "<title>jit(&lt;f&gt;)/main/&quot;a&quot;: 60.000 ms, 60.00% of all op time"));
    assert_non_null(strstr(html, "width=\"30.00%\" height=\"1.60em\"><title>jit(&lt;f&gt;)/main/b: "
                                 "30.000 ms, 30.00% of all op time</title><rect class=\"backward"));
    assert_null(strstr(html, "Not drawn"));
    vp_free(html);
    scopes[2].total_ps = scopes[2].self_ps = 0;
    f.r.scope_count = 3;
    scopes[0].total_ps = 0;
    html = page_of(&f.r, (vp_view)VP_VIEW_INIT, NULL);
    assert_int_equal(occurrences(html, "class=\"flame\""), 0);
    vp_free(html);
    fx_free(&f);
}

/* ---- When memory ends ---- */

static int write_stacks(const vp_report *r, flame_form form)
{
    flame_stacks s;
    flame_stream t;
    char *p;
    size_t n;
    int rc = flame_stacks_of(&s, r, NULL);
    if (rc < 0)
        return rc;
    rc = flame_stream_open(&t, &s, form);
    if (rc >= 0) {
        while ((rc = flame_stream_next(&t, &p, &n)) > 0)
            assert_true(n > 0);
        flame_stream_close(&t);
    }
    flame_stacks_free(&s);
    return rc;
}

/* A report that was read may claim any time. */
static void test_stacks_of_any_length(void **state)
{
    (void)state;
    char device[] = "TPU 0", a[] = "a", b[] = "b";
    vp_device d = {.name = device};
    vp_op ops[] = {{.name = a, .self_ps = INT64_MAX, .calls = 1},
                   {.name = b, .self_ps = INT64_MAX - 1, .calls = 1}};
    vp_report r = {
        .has_devices = true, .devices = &d, .device_count = 1, .ops = ops, .op_count = 2};
    flame_stacks s;
    assert_int_equal(flame_stacks_of(&s, &r, NULL), 0);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.v[0].ns, INT64_MAX / 1000);
    flame_stacks_free(&s);
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    fx f;
    fx_tpu(&f);
    for (int form = FLAME_FOLDED; form <= FLAME_SPEEDSCOPE; form++) {
        int rc = VP_ENOMEM;
        for (uint64_t k = 1; rc < 0; k++) {
            vp_mem_fail_at(k, true);
            rc = write_stacks(&f.r, (flame_form)form);
            vp_mem_fail_at(0, false);
            assert_true(rc == 0 || rc == VP_ENOMEM);
            assert_true(k < 1000);
        }
    }
    fx_free(&f);
    flame_layout l = {0};
    flame_node v[600];
    uint64_t seed = 3;
    random_tree(v, 600, &seed, 3);
    for (uint64_t k = 1; !l.n; k++) {
        vp_mem_fail_at(k, false);
        int rc = flame_layout_of(&l, v, 600, 0);
        vp_mem_fail_at(0, false);
        assert_true(rc == 0 ? l.n > 0 : rc == VP_ENOMEM && !l.v);
    }
    flame_layout_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_of_a_wider_whole),
                                       cmocka_unit_test(test_joined),
                                       cmocka_unit_test(test_damaged),
                                       cmocka_unit_test(test_empty),
                                       cmocka_unit_test(test_random_trees),
                                       cmocka_unit_test(test_a_million),
                                       cmocka_unit_test(test_the_widest),
                                       cmocka_unit_test(test_labels),
                                       cmocka_unit_test(test_numbers_of_labels),
                                       cmocka_unit_test(test_labels_by_width),
                                       cmocka_unit_test(test_svg),
                                       cmocka_unit_test(test_on_the_page),
                                       cmocka_unit_test(test_stacks_of_any_length),
                                       cmocka_unit_test(test_every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
