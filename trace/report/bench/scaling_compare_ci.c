/* As compare_ci.c: Markdown for the summary of a job, JUnit XML for the list of its tests. */
#include "trace/base/limits.h"
#include "trace/report/bench/scaling_compare.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

#define ROWS_MAX 40u
#define NAME_MAX_BYTES 65536u

int rep_results_md(vp_buf *b, const scaling_comparison *c, const vp_view *view)
{
    vp_view v = rep_view(view);
    vp_unit unit = rep_unit_for(v.unit, scaling_longest(c, SCALING_MEDIAN));
    rep_md_verdict(b, c->verdict, c->reason, c->a_name, c->b_name);
    rep_md_heads(b, "median run", unit, true);
    for (size_t i = 0; i < c->count && i < ROWS_MAX; i++) {
        vp_buf name, why;
        vp_buf_init(&name, NAME_MAX_BYTES);
        vp_buf_init(&why, NAME_MAX_BYTES);
        scaling_pair_label(&name, &c->pairs[i]);
        vp_buf_printf(&why, "%s", rep_verdict_name(c->pairs[i].verdict));
        if (c->pairs[i].speed_up > 0)
            vp_buf_printf(&why, ", %.2fx as fast", c->pairs[i].speed_up);
        rep_md_delta(b, vp_buf_cstr(&name), true, &c->pairs[i].times[SCALING_MEDIAN], unit,
                     vp_buf_cstr(&why));
        vp_buf_free_piece(b, &name);
        vp_buf_free_piece(b, &why);
    }
    if (c->count > ROWS_MAX)
        vp_buf_printf(b, "\n%zu more.\n", c->count - ROWS_MAX);
    return b->status;
}

static void put_case(vp_buf *b, const scaling_pair *p, bool failed)
{
    vp_buf name;
    bool skipped = !failed && p->verdict == VP_UNVERIFIED;
    vp_buf_init(&name, NAME_MAX_BYTES);
    scaling_pair_label(&name, p);
    rep_junit_case(b, vp_buf_cstr(&name), p->times[SCALING_MEDIAN].b_ps,
                   failed    ? "failure"
                   : skipped ? "skipped"
                             : NULL,
                   p->reason);
    vp_buf_free_piece(b, &name);
}

int rep_results_junit(vp_buf *b, const scaling_comparison *c, const bool *failed)
{
    size_t failures = 0, skipped = 0;
    int64_t ps = 0;
    vp_buf text;
    for (size_t i = 0; i < c->count; i++) {
        int64_t run = c->pairs[i].times[SCALING_MEDIAN].b_ps;
        failures += failed[i];
        skipped += !failed[i] && c->pairs[i].verdict == VP_UNVERIFIED;
        ps += run > 0 && ps < VP_TIME_MAX_PS ? run : 0;
    }
    vp_buf_init(&text, 16u << 20);
    int rc = rep_results_text(&text, c, &(vp_view){.version = 1, .top = 20, .width = 100});
    rep_junit_begin(b, c->count, failures, skipped, ps);
    for (size_t i = 0; i < c->count; i++) {
        vp_buf_puts(b, i ? REP_JUNIT_NEXT : "");
        put_case(b, &c->pairs[i], failed[i]);
    }
    rc = rep_junit_end(b, rc, vp_buf_view(&text));
    vp_buf_free(&text);
    return rc;
}
