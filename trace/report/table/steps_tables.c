#include "trace/report/table/steps_tables.h"

#include "trace/analyze/result/look_up.h"
#include "trace/report/table/columns.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/words.h"

/* ---- Steps ---- */

static void get_step_start(tbl_value *out, const void *row)
{
    const vp_step *s = row;
    out->n = s->start_ps;
    out->whole = s->dur_ps;
    out->at_device = s->device;
}

static void get_of_median(tbl_value *out, const void *row)
{
    out->n = ((const vp_step *)row)->dur_ps;
    out->whole = out->t->r->steps.median_ps;
}

static void get_step_part(tbl_value *out, const void *row)
{
    const vp_breakdown *d = rep_critical(row);
    int64_t parts[REP_PARTS];
    out->n = VP_UNKNOWN;
    if (!d)
        return;
    rep_breakdown_parts(parts, d);
    out->n = parts[out->column->own];
}

/* Steps without a device row. */
static void get_step_device(tbl_value *out, const void *row)
{
    const vp_step *s = row;
    out->text = s->device < out->t->r->device_count ? out->t->r->devices[s->device].name : NULL;
}

static void get_mark(tbl_value *out, const void *row)
{
    const vp_step *s = row;
    out->text = s->partial                        ? "cut by the capture"
                : s->warm_up                      ? "warm-up"
                : s->step_class != VP_STEP_NORMAL ? rep_step_class_name(s->step_class)
                                                  : "";
}

enum { HAS_MFU = 4 }; /* a device that computed in steps has a peak, and FLOP */

static bool has_mfu(const vp_report *r)
{
    for (size_t i = 0; i < r->device_count; i++)
        if (r->devices[i].mfu.peak_gflops > 0 && r->devices[i].mfu.flops > 0)
            return true;
    return false;
}

/* For its critical device. */
static void get_mfu(tbl_value *out, const void *row)
{
    const vp_step *s = row;
    const vp_step_device *d = result_step_device(s, s->device);
    out->n = d ? d->peak_ps : VP_UNKNOWN;
    out->whole = d ? d->dur_ps : out->whole;
}

#define ROW vp_step
static const tbl_column step_columns[] = {
    {TBL_OWN, OWN(STEP_NAME), PAGE("Step", NULL)},
    {TBL_OWN_FIGURE, OWN(STEP_NAME), TERM(1, "step"), SHORT(14, 6)},
    {TBL_WHEN, GET(get_step_start), SCALE(STEP_START),
     PAGE("At", "Start, relative to the start of the profile"), TERM_UNIT(2, "at"), DROP(3)},
    {TBL_DEVICE, AT(device), PAGE("Device", "Slowest device"), NEEDS(TBL_DEVICES)},
    {TBL_PS, AT(dur_ps), PAGE("Length", NULL), TERM_UNIT(3, "duration")},
    {TBL_SHARE, GET(get_of_median), PAGE("of median", NULL)},
    {TBL_PS, GET(get_step_part), OWN(REP_COMPUTE), PAGE("Compute", NULL), TERM(4, "compute")},
    {TBL_PS, GET(get_step_part), OWN(REP_COMM),
     PAGE("Exp. comm", "Communication during which nothing else runs"), TERM(5, "exp.comm")},
    {TBL_PS, GET(get_step_part), OWN(REP_COPY),
     PAGE("Exp. copy", "Copies during which nothing "
                       "else runs"),
     TERM(6, "exp.copy")},
    {TBL_PS, GET(get_step_part), OWN(REP_IDLE), PAGE("Idle", NULL), TERM(7, "idle")},
    {TBL_SHARE, GET(get_mfu), PAGE("MFU", "Matmul time at the peak / step duration"),
     TERM(7, "mfu"), NEEDS(HAS_MFU), TERM_NEEDS(HAS_MFU), DROP(4)},
    {TBL_TEXT, GET(get_step_device), TERM(8, "on"), SHORT(12, 8), DROP(1)},
    {TBL_WORD, GET(get_mark), TERM(9, ""), STYLE(TBL_DIM), DROP(2)},
    {TBL_OWN, OWN(STEP_MARKS), PAGE("Marks", NULL)},
};
#undef ROW

void tbl_steps(tbl *t, const vp_report *r, const vp_view *v, const vp_step *const *steps, size_t n)
{
    const vp_steps *s = &r->steps;
    *t = (tbl){TBL_ROWS("Steps", step_columns, steps, n), .r = r, .v = v, .row_at = tbl_pointed,
               .has = tbl_has(r) | (has_mfu(r) ? HAS_MFU : 0u)};
    t->unit[STEP_LENGTH] = rep_unit_for(v->unit, s->counted > 0 ? s->max_ps : s->list[0].dur_ps);
    t->unit[STEP_START] = rep_unit_for(v->unit, r->end_ps);
}

/* ---- Kinds of steps ---- */

static void get_step_kind(tbl_value *out, const void *row)
{
    out->text = rep_step_class_name(((const vp_step_group *)row)->step_class);
}

static void get_step_kind_share(tbl_value *out, const void *row)
{
    const vp_steps *s = &out->t->r->steps;
    out->n = ((const vp_step_group *)row)->total_ps;
    for (size_t i = 0; i < s->group_count; i++)
        out->whole += s->groups[i].total_ps;
}

#define ROW vp_step_group
static const tbl_column kind_columns[] = {
    {TBL_NAME, GET(get_step_kind), PAGE("Kind", NULL), TERM(0, "kind")},
    {TBL_COUNT, AT(count), PAGE("Steps", NULL), TERM(0, "steps")},
    {TBL_PS, AT(median_ps), PAGE("Median", NULL), TERM_UNIT(0, "median")},
    {TBL_PS, AT(total_ps), PAGE("Total", NULL), TERM_UNIT(0, "total"), DROP(1)},
    {TBL_SHARE, GET(get_step_kind_share), PAGE("Share", "Share of the time of all kinds"),
     TERM(0, "share")},
    {TBL_COUNT, AT(period), PAGE("Every", "Steps between occurrences"), TERM(0, "every")},
    {TBL_COUNT, AT(example), PAGE("Example", "Step closest to the median"), TERM(0, "example"),
     DROP(2)},
};
#undef ROW

void tbl_step_kinds(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Kinds of steps", kind_columns, r->steps.groups, r->steps.group_count),
               .r = r, .v = v};
    t->unit[0] = rep_unit_for(v->unit, tbl_largest(t, offsetof(vp_step_group, total_ps)));
}
