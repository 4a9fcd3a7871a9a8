#include "trace/report/table/idle_tables.h"

#include "trace/report/table/columns.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

static int64_t device_idle_ps(const vp_report *r, uint32_t device)
{
    return device < r->device_count ? r->devices[device].breakdown.idle_ps : 0;
}

static void say_cause(tbl_value *out, vp_cause cause)
{
    out->text = rep_cause_name(cause);
    out->below = rep_cause_text(cause);
}

/* ---- Gaps ---- */

static void get_gap_start(tbl_value *out, const void *row)
{
    const vp_gap *g = row;
    out->n = g->start_ps;
    out->whole = out->t->of ? *(const int64_t *)out->t->of : g->dur_ps;
    out->at_device = g->device;
}

static void get_gap_share(tbl_value *out, const void *row)
{
    const vp_gap *g = row;
    out->n = g->dur_ps;
    out->whole = device_idle_ps(out->t->r, g->device);
}

/* The cause with most of the gap. */
static void get_main_cause(tbl_value *out, const void *row)
{
    const vp_gap *g = row;
    vp_cause best = VP_CAUSE_UNKNOWN;
    for (int i = 0; i < VP_CAUSES; i++)
        if (g->cause_ps[i] > g->cause_ps[best])
            best = (vp_cause)i;
    say_cause(out, best);
    out->n = g->cause_ps[best];
    out->whole = g->dur_ps;
}

#define ROW vp_gap
static const tbl_column gap_columns[] = {
    {TBL_WHEN, GET(get_gap_start), SCALE(GAP_START),
     PAGE("At", "Start, relative to the start of the profile"), TERM_UNIT(2, "at"), DROP(1)},
    {TBL_DEVICE, AT(device), PAGE("Device", NULL), NEEDS(TBL_DEVICES), TERM(6, "device"),
     SHORT(12, 8), DROP(2)},
    {TBL_PS, AT(dur_ps), PAGE("Length", NULL), TERM_UNIT(1, "gap")},
    {TBL_SHARE, GET(get_gap_share), PAGE("of idle", "Share of the device's idle time")},
    {TBL_WORD, GET(get_main_cause), PAGE("Cause", "Cause of most of the gap, with its share"),
     TERM(3, "cause")},
    {TBL_TEXT, AT(label), PAGE("Host activity", NULL), TERM(4, "host activity"), SHORT(22, 10)},
    {TBL_TEXT, AT(thread), PAGE("Thread", "Thread that launches the next op")},
    {TBL_TEXT, AT(next_op), PAGE("Next op", NULL), TERM(5, "then"), SHORT(22, 10)},
    {TBL_TEXT, AT(scope), PAGE("Scope", "Scope of the next op")},
};
#undef ROW

static bool shows_gap(const tbl *t, const void *row)
{
    return rep_shows_device(t->r, t->v, ((const vp_gap *)row)->device);
}

void tbl_gaps(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Longest gaps", gap_columns, r->gaps, r->gap_count), .r = r, .v = v,
               .shows = shows_gap, .has = tbl_has(r)};
    t->unit[GAP_LENGTH] = rep_unit_for(v->unit, tbl_largest(t, offsetof(vp_gap, dur_ps)));
    t->unit[GAP_START] = rep_unit_for(v->unit, r->end_ps);
}

/* ---- Labels ---- */

static void get_label(tbl_value *out, const void *row)
{
    const vp_idle_label *l = row;
    out->text = l->label ? l->label : "no recorded event";
    out->below = l->thread;
}

static void get_cause(tbl_value *out, const void *row)
{
    say_cause(out, ((const vp_idle_label *)row)->cause);
}

static void get_label_share(tbl_value *out, const void *row)
{
    const vp_idle_label *l = row;
    out->text = "idle";
    out->n = l->total_ps;
    out->scale = out->whole = device_idle_ps(out->t->r, l->device);
}

#define ROW vp_idle_label
static const tbl_column label_columns[] = {
    {TBL_NAME, GET(get_label), PAGE("Label", "Label, with its thread")},
    {TBL_TEXT, AT(label), TERM(5, "label"), SHORT(24, 10)},
    {TBL_TEXT, AT(thread), TERM(6, "thread"), STYLE(TBL_DIM), SHORT(14, 8), DROP(2)},
    {TBL_DEVICE, AT(device), PAGE("Device", NULL), NEEDS(TBL_DEVICES), TERM(7, "device"),
     SHORT(12, 8), DROP(1)},
    {TBL_WORD, GET(get_cause), PAGE("Cause", NULL), TERM(4, "cause")},
    {TBL_PS, AT(total_ps), PAGE("Idle", NULL), TERM_UNIT(1, "idle")},
    {TBL_BAR, GET(get_label_share), PAGE("Idle", "Share of the device's idle time"), UNIT(PERCENT),
     TERM(2, "idle%")},
    {TBL_COUNT, AT(gaps), PAGE("Gaps", NULL), TERM(3, "gaps"), DROP(3)},
};
#undef ROW

static bool shows_label(const tbl *t, const void *row)
{
    return rep_shows_device(t->r, t->v, ((const vp_idle_label *)row)->device);
}

void tbl_idle_labels(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){
        TBL_ROWS("Idle time by host activity", label_columns, r->idle_labels, r->idle_label_count),
        .r = r, .v = v, .shows = shows_label, .has = tbl_has(r)};
    t->unit[0] = rep_unit_for(v->unit, tbl_largest(t, offsetof(vp_idle_label, total_ps)));
}
