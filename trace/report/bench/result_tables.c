#include "trace/report/bench/result_tables.h"

#include <math.h>

#include "trace/report/compare/compare_view.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/words.h"

void result_put_factor(vp_buf *b, double v, const char *unit, int digits)
{
    if (v > 0)
        vp_buf_printf(b, "%.*f%s", digits, v, unit);
    else
        vp_buf_putc(b, '-');
}

static double factor_or_nan(double factor)
{
    return factor > 0 ? factor : (double)NAN;
}

/* ---- By the number of devices ---- */

static void get_speed_up(tbl_value *out, const void *row)
{
    out->d = factor_or_nan(((const scaling_row *)row)->speed_up);
}

static void get_trace(tbl_value *out, const void *row)
{
    const scaling_row *r = row;
    out->text = r->ok ? r->trace : r->error ? r->error : "failed";
    out->style = r->ok ? TBL_DIM : TBL_BAD;
}

#define ROW scaling_row
static const tbl_column scaling_columns[] = {
    {TBL_NAME, AT(method), PAGE("Method", NULL), TERM(1, "method"), SHORT(24, 8)},
    {TBL_COUNT, AT(devices), PAGE("Devices", NULL), TERM(2, "devices")},
    {TBL_PS, AT(time_ps), PAGE("Time", NULL), TERM_UNIT(3, "time")},
    {TBL_PS, AT(first_call_ps), PAGE("First call", "With compilation"), TERM(4, "first call"),
     DROP(2)},
    {TBL_RATIO, GET(get_speed_up), DIGITS(2), PAGE("Speed-up", "Relative to the fewest devices")},
    {TBL_OWN_FIGURE, OWN(RESULT_SPEED_UP), TERM(5, "speed-up"), STYLE(TBL_BOLD)},
    {TBL_OWN_BAR, OWN(RESULT_EFFICIENCY),
     PAGE("Efficiency", "Speed-up divided by the growth in devices"), TERM(6, "efficiency"),
     STYLE(TBL_BOLD)},
    {TBL_TEXT, GET(get_trace), PAGE("Trace", NULL), TERM(7, "trace"), SHORT(20, 10),
     .keep_end = true},
};
#undef ROW

void tbl_scaling(tbl *t, const scaling_row *rows, size_t n, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Time by number of devices", scaling_columns, rows, n), .css_class = "runs",
               .v = v};
    t->unit[0] = rep_unit_for(v->unit, tbl_largest(t, offsetof(scaling_row, time_ps)));
}

/* ---- Pairs ---- */

static void get_pair_speed_up(tbl_value *out, const void *row)
{
    out->d = factor_or_nan(((const pair_row *)row)->pair->speed_up);
}

static void get_pair_efficiency(tbl_value *out, const void *row)
{
    out->d = factor_or_nan(100 * ((const pair_row *)row)->pair->efficiency);
}

/* Longer and shorter are highlighted, unverified differences are not. */
static void get_verdict(tbl_value *out, const void *row)
{
    vp_verdict verdict = ((const pair_row *)row)->pair->verdict;
    out->text = rep_verdict_name(verdict);
    out->style = verdict == VP_REGRESSION    ? TBL_BAD
                 : verdict == VP_IMPROVEMENT ? TBL_BOLD
                                             : TBL_DIM;
}

#define ROW pair_row
static const tbl_column pair_columns[] = {
    {TBL_OWN_NAME, OWN(RESULT_NAME), PAGE("Method", NULL), TERM(1, "method"), SHORT(28, 10)},
    {TBL_OWN_FIGURE, OWN(RESULT_DEVICES), PAGE("Devices", NULL), TERM(2, "devices")},
    DELTA_COLUMNS(d, 3, 1),
    {TBL_PS, VIA(pair, scaling_pair, threshold_ps),
     PAGE("Noise", "Smaller differences are not significant"), NEEDS(RESULT_OF_RUNS),
     TERM(7, "noise"), TERM_NEEDS(RESULT_OF_RUNS), DROP(3)},
    {TBL_RATIO, GET(get_pair_speed_up), DIGITS(2), PAGE("Speed-up", "Time of A / time of B"),
     NEEDS(RESULT_OF_RUNS)},
    {TBL_RATIO, GET(get_pair_efficiency), DIGITS(2), UNIT(PERCENT),
     PAGE("Efficiency", "Speed-up / (devices of B / devices of A)"), NEEDS(RESULT_OF_RUNS)},
    {TBL_OWN_FIGURE, OWN(RESULT_SPEED_UP), TERM(8, "speed-up"), TERM_NEEDS(RESULT_OF_RUNS)},
    {TBL_OWN_FIGURE, OWN(RESULT_EFFICIENCY), TERM(9, "efficiency"),
     TERM_NEEDS(RESULT_OF_RUNS | RESULT_SCALES), DROP(2)},
    {TBL_OWN_FIGURE, OWN(RESULT_RUNS), TERM(9, "runs"), TERM_NEEDS(RESULT_OF_RUNS | RESULT_ALIKE),
     DROP(2)},
    {TBL_WORD, GET(get_verdict), TERM(10, "verdict"), TERM_NEEDS(RESULT_OF_RUNS)},
    {TBL_OWN, OWN(RESULT_JUDGED), PAGE("Verdict", NULL), NEEDS(RESULT_OF_RUNS)},
};
#undef ROW

static bool has_scaling(const scaling_comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->pairs[i].a && c->pairs[i].b && c->pairs[i].a->devices != c->pairs[i].b->devices)
            return true;
    return false;
}

pair_row pair_row_of(const scaling_pair *pair, size_t time)
{
    return (pair_row){pair, pair->times[time]};
}

void tbl_pairs(delta_table *out, const scaling_comparison *c, size_t time, const vp_view *v)
{
    *out = (delta_table){.t = {TBL_COLUMNS(pair_columns), .v = v,
                               .has = (time == SCALING_MEDIAN ? RESULT_OF_RUNS : 0u) |
                                      (has_scaling(c) ? RESULT_SCALES : RESULT_ALIKE)}};
    for (size_t i = 0; i < c->count; i++) {
        int64_t size = rep_delta_size(&c->pairs[i].times[time]);
        out->widest = size > out->widest ? size : out->widest;
    }
    out->t.unit[0] = rep_unit_for(v->unit, scaling_longest(c, time));
}
