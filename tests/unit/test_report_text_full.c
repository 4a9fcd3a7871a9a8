/* trace/report/: the sections of the full text report, and the places in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/report_full.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/text/text.h"
#include "trace/report/report.h"

static char *text_of(const vp_report *r, int width)
{
    vp_view v = VP_VIEW_INIT;
    vp_buf b;
    v.width = width;
    vp_buf_init(&b, 64u << 20);
    assert_int_equal(rep_text_full(&b, r, &v), 0);
    return vp_buf_take(&b, NULL);
}

/* Lines hold what is wanted in this order, each behind the one before. */
static void in_order(const char *text, const char *const *wanted, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *at = strstr(text, wanted[i]);
        if (!at)
            fail_msg("no \"%s\" behind \"%s\" in:\n%s", wanted[i], i ? wanted[i - 1] : "", text);
        text = at + 1;
    }
}

#define IN_ORDER(text, ...)                                                                        \
    in_order(text, (const char *const[]){__VA_ARGS__},                                             \
             sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void when_is(int64_t start, vp_unit unit, int64_t dur, const char *want)
{
    vp_buf b;
    vp_buf_init(&b, 4096);
    assert_true(rep_put_when(&b, start, unit, dur) >= 0);
    assert_string_equal(vp_buf_cstr(&b), want);
    vp_buf_free(&b);
}

/* The last digit is a tenth of the length or less, and never more than a clock has. */
static void a_start_is_as_exact_as_its_length(void **state)
{
    const int64_t s = INT64_C(1000000000000);
    (void)state;
    when_is(s + 234567890123, VP_UNIT_S, s, "1.235");
    when_is(s + 234567890123, VP_UNIT_S, 10 * FX_MS, "1.235");
    when_is(s + 234567890123, VP_UNIT_S, 10 * FX_MS - 1, "1.234568");
    when_is(s + 234567890123, VP_UNIT_S, 258 * FX_US, "1.234568");
    when_is(s + 234567890123, VP_UNIT_S, 9 * FX_US, "1.234567890");
    when_is(s + 234567890123, VP_UNIT_S, 1, "1.234567890123");
    when_is(s + 234567890123, VP_UNIT_S, 0, "1.235");
    when_is(7123456, VP_UNIT_US, 100, "7.12346");
    when_is(7123456, VP_UNIT_NS, 1, "7123.5");
    when_is(-s - FX_US, VP_UNIT_S, 95 * FX_US, "-1.000001");
    when_is(VP_NO_TIME, VP_UNIT_S, FX_US, "-");
    when_is(INT64_MIN + 1, VP_UNIT_S, 1, "-9223372.036854775807");
}

static void places_and_gaps_can_be_told_apart(void **state)
{
    full x;
    (void)state;
    full_init(&x, NULL);
    x.f.r.end_ps = INT64_C(2000000000000);
    x.places[0].start_ps = INT64_C(7123456789);
    x.places[0].end_ps = x.places[0].start_ps + 95160000;
    x.gaps[0].start_ps = INT64_C(1235000100000);
    x.gaps[0].dur_ps = 12 * FX_US;
    x.gaps[1] = x.gaps[0];
    x.gaps[1].start_ps += 40 * FX_US;
    x.gaps[1].dur_ps = 11 * FX_US;
    x.f.r.gaps = x.gaps;
    x.f.r.gap_count = 2;
    char *text = text_of(&x.f.r, 120);
    IN_ORDER(text, "at 0.007123 s for 95.16", "Longest gaps", " 12.00  1.235000  ",
             " 11.00  1.235040  ");
    vp_free(text);
    full_free(&x);
}

/* 24 steps, 12 shown: the longest first; without numbers by their place in time. */
static void the_longest_steps_come_first(void **state)
{
    full x;
    (void)state;
    full_init(&x, NULL);
    char *text = text_of(&x.f.r, 100);
    IN_ORDER(text, "Longest steps", "\n 123  235.000", " 50.000 ", "\n 105   55.000", " 16.000 ",
             "\n 111  ", "\n 117  ", "\n 100  ", "\n 101  ", "12 more");
    vp_free(text);
    for (int i = 0; i < FULL_STEPS; i++) {
        x.steps[i].number = VP_UNKNOWN;
        x.steps[i].name = "jit_f";
    }
    text = text_of(&x.f.r, 100);
    IN_ORDER(text, "Longest steps", " #24 ", " #6 ", " #12 ", " #1 ");
    vp_free(text);
    x.f.r.steps.count = 12; /* all of them, by time */
    text = text_of(&x.f.r, 100);
    IN_ORDER(text, "\nSteps\n", " #1 ", " #2 ", " #6 ", " #12 ");
    vp_free(text);
    full_free(&x);
}

/* The page's sections, in text. */
static void kinds_wastes_and_holders(void **state)
{
    full x;
    (void)state;
    full_init(&x, NULL);
    x.f.devices[0].hygiene.remat_ps = 3 * FX_MS;
    x.f.devices[0].hygiene.padding_ps = 4 * FX_MS;
    x.f.devices[0].hygiene.chain_ps = 5 * FX_MS;
    x.f.devices[0].hygiene.duplicate_ps = x.f.devices[0].self_ps;
    x.f.devices[0].hygiene.duplicate_ops = 7;
    x.holders[1] = (vp_memory_item){
        .name = "activations", .bytes = INT64_C(1) << 30, .count = 3, .step = VP_UNKNOWN};
    x.memory[0].top_count = 2;
    char *text = text_of(&x.f.r, 80);
    IN_ORDER(text, "Kinds of steps", "kind", "median ms", "share", "every", "\nnormal", "19",
             "10.000", "190.000", "79.83%", "\nheavy", "3", "16.000", "48.000", "20.17%", "6");
    IN_ORDER(text, "Avoidable work", "100.00% of op time, is in 7 ops with the", "format", "remat",
             "async", "padding", "chains", "/device:TPU:0", "1.000", "3.000", "2.000", "4.000",
             "5.000");
    IN_ORDER(text, "\nMemory\n", "Largest holders of memory", "3.0 GiB", "75.00%", "12", "params",
             "1.0 GiB", "25.00%", "3", "activations");
    vp_str rest = vp_str_of(text), line;
    while (rest.n && vp_take_until(&rest, '\n', SIZE_MAX, &line))
        assert_true(vp_display_width(line) <= 80);
    vp_free(text);
    x.f.devices[0].hygiene = (vp_hygiene){.duplicate_ps = FX_MS, .duplicate_ops = 1};
    text = text_of(&x.f.r, 80);
    assert_null(strstr(text, "avoidable")); /* equal layers alone are nothing to avoid */
    vp_free(text);
    full_free(&x);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_is_as_exact_as_its_length),
        cmocka_unit_test(places_and_gaps_can_be_told_apart),
        cmocka_unit_test(the_longest_steps_come_first),
        cmocka_unit_test(kinds_wastes_and_holders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
