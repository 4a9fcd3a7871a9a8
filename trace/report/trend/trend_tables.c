#include "trace/report/trend/trend_tables.h"

#include "trace/report/table/columns.h"
#include "trace/report/labels/numbers.h"

int64_t trend_time_of(const trend_run *r)
{
    return r->per_step ? r->median_ps : r->window_ps;
}

static void get_time(tbl_value *out, const void *row)
{
    out->n = trend_time_of(row);
}

#define ROW trend_run
static const tbl_column run_columns[] = {
    {TBL_OWN, OWN(TREND_CAPTURED), TERM(1, "captured"), DROP(6), STYLE(TBL_DIM)},
    {TBL_NAME, AT(name), ALSO(device), PAGE("Run", NULL), TERM(2, "run"), SHORT(19, 10),
     .keep_end = true},
    {TBL_COUNT, AT(steps), PAGE("Steps", NULL), TERM(3, "steps"), DROP(5)},
    {TBL_PS, GET(get_time), PAGE("Median", "Of counted steps; if there are none, of the window"),
     TERM_UNIT(4, "median"), STYLE(TBL_BOLD)},
    {TBL_OWN_FIGURE, OWN(TREND_CHANGE), TERM(5, "change")},
    {TBL_PS, AT(p90_ps), PAGE("p90", NULL), TERM(6, "p90"), DROP(4)},
    {TBL_PS, AT(compute_ps), PAGE("Compute", "Mean on the slowest device"), TERM(7, "compute"),
     DROP(1)},
    {TBL_PS, AT(exposed_comm_ps), PAGE("Exposed comm", NULL), TERM(8, "exp.comm"), DROP(1)},
    {TBL_PS, AT(exposed_copy_ps), PAGE("Exposed copy", NULL), TERM(9, "exp.copy"), DROP(1)},
    {TBL_PS, AT(idle_ps), PAGE("Idle", NULL), TERM(10, "idle"), DROP(1)},
    {TBL_OWN_BAR, OWN(TREND_PARTS), PAGE("Its parts", NULL)},
};
#undef ROW

void tbl_runs(tbl *out, const trend *t, const vp_view *v)
{
    int64_t longest = 0;
    *out = (tbl){TBL_ROWS("Runs", run_columns, t->runs, t->count), .css_class = "runs", .of = t,
                 .v = v};
    for (size_t i = 0; i < t->count; i++)
        if (trend_time_of(&t->runs[i]) > longest)
            longest = trend_time_of(&t->runs[i]);
    out->unit[0] = rep_unit_for(v->unit, longest);
}

/* The first or last known time. */
static int64_t known_trend_time(const trend_row *row, size_t runs, bool last)
{
    for (size_t i = 0; i < runs; i++) {
        int64_t x = row->self_ps[last ? runs - 1 - i : i];
        if (x >= 0)
            return x;
    }
    return VP_UNKNOWN;
}

static void get_first_trend_time(tbl_value *out, const void *row)
{
    out->n = known_trend_time(row, ((const trend *)out->t->of)->count, false);
}

static void get_last_trend_time(tbl_value *out, const void *row)
{
    out->n = known_trend_time(row, ((const trend *)out->t->of)->count, true);
}

static void get_op(tbl_value *out, const void *row)
{
    const trend_op *op = ((const trend_row *)row)->op;
    out->text = op->name;
    out->below = op->category;
}

#define ROW trend_row
static const tbl_column op_columns[] = {
    {TBL_NAME, GET(get_op), PAGE("Op", NULL), TERM(5, "op"), SHORT(28, 12)},
    {TBL_PS, AT(moved_ps), PAGE("Change", "Largest minus smallest self time"),
     TERM_UNIT(1, "moved")},
    {TBL_PS, VIA(op, trend_op, self_ps), PAGE("Largest", NULL)},
    {TBL_PS, GET(get_first_trend_time), TERM(2, "first")},
    {TBL_PS, GET(get_last_trend_time), TERM(3, "last")},
    {TBL_OWN, OWN(TREND_COURSE), PAGE("By run", NULL), TERM(4, "by run"), DROP(1)},
};
#undef ROW

void tbl_trend_ops(tbl *out, const trend *t, const trend_row *rows, size_t n, const vp_view *v)
{
    *out = (tbl){TBL_ROWS("Most changed ops", op_columns, rows, n), .css_class = "ops", .of = t,
                 .v = v};
    if (n)
        out->unit[0] = rep_unit_for(v->unit, rows->op->self_ps);
}
