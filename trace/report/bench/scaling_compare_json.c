/* Two results of benchmarks as JSON and CSV. */
#include <math.h>

#include "trace/base/json.h"
#include "trace/report/bench/scaling_compare.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/data/csv_cells.h"
#include "trace/report/data/report_json.h"
#include "trace/report/labels/words.h"

/* ---- JSON: view_profile.compare_results/1 ---- */

static void put_factor(vp_json *j, const char *key, double v)
{
    vp_json_kdouble(j, key, v > 0 ? v : (double)NAN);
}

static void json_put_pair_side(vp_json *j, const char *key, const scaling_row *r)
{
    vp_json_key(j, key);
    if (!r) {
        vp_json_null(j);
        return;
    }
    vp_json_begin_object(j);
    vp_json_kcstr(j, "method", r->method);
    vp_json_ki64(j, "devices", r->devices);
    vp_json_kbool(j, "success", r->ok);
    vp_json_ki64(j, "runs", (int64_t)r->runs);
    put_factor(j, "speed_up", r->speed_up);
    put_factor(j, "efficiency_percent", 100 * r->efficiency);
    vp_json_kcstr(j, "error", r->error);
    vp_json_kcstr(j, "tensorboard_trace", r->trace);
    vp_json_end_object(j);
}

static void json_put_pair(vp_json *j, const scaling_pair *p)
{
    vp_json_begin_object(j);
    json_put_pair_side(j, "a", p->a);
    json_put_pair_side(j, "b", p->b);
    for (size_t i = 0; i < SCALING_TIMES; i++)
        rep_json_delta(j, scaling_time_words[i], &p->times[i], true);
    vp_json_kcount(j, "threshold_ps", p->threshold_ps);
    put_factor(j, "speed_up", p->speed_up);
    put_factor(j, "efficiency_percent", 100 * p->efficiency);
    vp_json_kcstr(j, "verdict", rep_verdict_name(p->verdict));
    vp_json_kcstr(j, "reason", p->reason);
    vp_json_end_object(j);
}

int rep_results_json(vp_buf *b, const scaling_comparison *c)
{
    vp_json j;
    vp_json_init(&j, b);
    rep_json_head(&j, "view_profile.compare_results/1");
    vp_json_kcstr(&j, "a", c->a_name);
    vp_json_kcstr(&j, "b", c->b_name);
    vp_json_key(&j, "pairs");
    vp_json_begin_array(&j);
    for (size_t i = 0; i < c->count; i++)
        json_put_pair(&j, &c->pairs[i]);
    vp_json_end_array(&j);
    vp_json_kcstr(&j, "verdict", rep_verdict_name(c->verdict));
    vp_json_kcstr(&j, "reason", c->reason);
    vp_json_end_object(&j);
    return vp_buf_putc(b, '\n');
}

/* ---- CSV: columns are stable, new ones go to the end ---- */

static void csv_put_pair_row(vp_buf *b, const scaling_comparison *c, const scaling_pair *p)
{
    rep_csv_text(b, c->a_name);
    rep_csv_next_text(b, c->b_name);
    rep_csv_next_text(b, p->a ? p->a->method : NULL);
    rep_csv_next_text(b, p->b ? p->b->method : NULL);
    rep_csv_next_i64(b, p->a ? p->a->devices : VP_UNKNOWN, VP_UNKNOWN);
    rep_csv_next_i64(b, p->b ? p->b->devices : VP_UNKNOWN, VP_UNKNOWN);
    rep_csv_next_i64(b, p->a ? (int64_t)p->a->runs : VP_UNKNOWN, VP_UNKNOWN);
    rep_csv_next_i64(b, p->b ? (int64_t)p->b->runs : VP_UNKNOWN, VP_UNKNOWN);
    for (size_t i = 0; i < SCALING_TIMES; i++) {
        rep_csv_next_i64(b, p->times[i].a_ps, VP_UNKNOWN);
        rep_csv_next_i64(b, p->times[i].b_ps, VP_UNKNOWN);
        rep_csv_next_i64(b, p->times[i].delta_ps, VP_NO_TIME);
    }
    rep_csv_next_i64(b, p->threshold_ps, VP_UNKNOWN);
    rep_csv_next_double(b, p->speed_up > 0 ? p->speed_up : (double)NAN);
    rep_csv_next_double(b, p->efficiency > 0 ? 100 * p->efficiency : (double)NAN);
    rep_csv_next_text(b, rep_verdict_name(p->verdict));
    rep_csv_next_text(b, p->reason);
    vp_buf_putc(b, '\n');
}

int rep_results_csv(vp_buf *b, const scaling_comparison *c)
{
    vp_buf_puts(b, "results_a,results_b,method_a,method_b,devices_a,devices_b,runs_a,runs_b");
    for (size_t i = 0; i < SCALING_TIMES; i++) {
        const char *word = scaling_time_words[i];
        vp_buf_printf(b, ",%s_a_ps,%s_b_ps,%s_delta_ps", word, word, word);
    }
    vp_buf_puts(b, ",threshold_ps,speed_up,efficiency_percent,verdict,reason\n");
    for (size_t i = 0; i < c->count; i++)
        csv_put_pair_row(b, c, &c->pairs[i]);
    return b->status;
}
