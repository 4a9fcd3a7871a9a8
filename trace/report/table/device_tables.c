#include "trace/report/table/device_tables.h"

#include "trace/report/table/columns.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

#define ROW vp_device

static bool shows_device(const tbl *t, const void *row)
{
    return rep_device_matches(t->r, t->v, (size_t)((const vp_device *)row - t->r->devices));
}

/* ---- Launches ---- */

static void get_unlinked(tbl_value *out, const void *row)
{
    const vp_launch *l = &((const vp_device *)row)->launch;
    out->n = l->unlinked_ops;
    out->whole = l->linked_ops + l->unlinked_ops;
}

static void get_queue_mean(tbl_value *out, const void *row)
{
    out->d = (double)((const vp_device *)row)->launch.queue_mean_milli / 1000;
}

static const tbl_column launch_columns[] = {
    {TBL_NAME, AT(name), ALSO_OF_HOSTS(host), PAGE("Device", NULL), TERM(1, "device"),
     SHORT(12, 6)},
    {TBL_COUNT, AT(launch.calls), PAGE("Calls", "Launch calls on the host"), TERM(2, "calls")},
    {TBL_COUNT, AT(launch.linked_ops), PAGE("Linked", "Op events with a launch call"), UNIT(OPS)},
    {TBL_COUNT, AT(launch.unlinked_ops), PAGE("Unlinked", "Op events without one"), UNIT(OPS)},
    {TBL_SHARE, GET(get_unlinked), TERM(3, "unlinked%"), DROP(3)},
    {TBL_COUNT, AT(launch.kernels), PAGE("Kernels", "Compute kernels"), TERM(4, "kernels")},
    {TBL_PS, AT(launch.kernel_p50_ps), PAGE("Kernel p50", NULL), TERM_UNIT(6, "kernel p50"),
     DROP(2)},
    {TBL_SHARE, AT(launch.short_kernels), ALSO(launch.kernels),
     PAGE("&lt; 10 µs", "Kernels below 10 µs"), TERM(5, "<10us%")},
    {TBL_PS, AT(launch.call_p50_ps), PAGE("Call p50", NULL), TERM(7, "call p50"), DROP(1)},
    {TBL_PS, AT(launch.call_p95_ps), PAGE("Call p95", NULL)},
    {TBL_PS, AT(launch.delay_p50_ps),
     PAGE("Delay p50", "From the end of the call to the start of the op"), TERM(8, "delay p50")},
    {TBL_PS, AT(launch.delay_p95_ps), PAGE("Delay p95", NULL), TERM(9, "p95"), DROP(4)},
    {TBL_COUNT, AT(launch.late_launches), PAGE("Late", "Delays above 100 µs")},
    {TBL_NUMBER, GET(get_queue_mean), DIGITS(1),
     PAGE("Queue mean", "Ops launched but not started, at a launch")},
    {TBL_COUNT, AT(launch.queue_max), PAGE("Queue max", NULL), TERM(10, "queue"), DROP(5)},
    {TBL_COUNT, AT(launch.graph_launches), PAGE("Graphs", "Launches of recorded graphs"),
     TERM(11, "graphs"), DROP(6)},
};

static bool shows_launched(const tbl *t, const void *row)
{
    return ((const vp_device *)row)->launch.calls > 0 && shows_device(t, row);
}

void tbl_launches(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Launches", launch_columns, r->devices, r->device_count), .r = r, .v = v,
               .shows = shows_launched, .has = tbl_has(r)};
    t->unit[0] = rep_unit_for(v->unit, tbl_largest(t, offsetof(vp_device, launch.call_p95_ps)));
}

/* ---- Columns that depend on the devices ---- */

static void device_table_init(device_table *out, const char *title, const vp_report *r,
                              const vp_view *v)
{
    out->t = (tbl){TBL_ROWS(title, out->columns, r->devices, r->device_count), .r = r, .v = v,
                   .shows = shows_device, .has = tbl_has(r)};
    out->t.column_count = 0;
}

static void device_table_add(device_table *out, tbl_column c)
{
    out->columns[out->t.column_count++] = c;
}

static bool any_has(const tbl *t, const tbl_column *c, bool shown)
{
    for (size_t i = 0; i < t->row_count; i++) {
        const vp_device *d = &t->r->devices[i];
        tbl_value v;
        tbl_get(&v, t, c, d);
        if (v.n > 0 && (!shown || shows_device(t, d)))
            return true;
    }
    return false;
}

/* ---- Avoidable work of ops ---- */

static const tbl_column wastes[] = {
    {TBL_PS, AT(hygiene.formatting_ps),
     PAGE("Formatting", "Transposes, copies, reshapes and bitcast-converts"), TERM(0, "format")},
    {TBL_PS, AT(hygiene.remat_ps), PAGE("Remat", "Rematerialized work"), TERM(0, "remat")},
    {TBL_PS, AT(hygiene.async_done_ps), PAGE("Async waits", "Waits in -done ops"),
     TERM(0, "async")},
    {TBL_PS, AT(hygiene.padding_ps), PAGE("Padding", "Category pad"), TERM(0, "padding")},
    {TBL_PS, AT(hygiene.infeed_ps), PAGE("Infeed", "Infeed and outfeed ops"), TERM(0, "infeed")},
    {TBL_PS, AT(hygiene.callback_ps), PAGE("Callbacks", "Host callbacks as ops"),
     TERM(0, "callback")},
    {TBL_PS, AT(hygiene.chain_ps), PAGE("Chains", "Five or more ops in a row below 5 µs"),
     TERM(0, "chains")},
};

bool tbl_hygiene(device_table *out, const vp_report *r, const vp_view *v)
{
    static const tbl_column first[] = {
        {TBL_NAME, AT(name), ALSO_OF_HOSTS(host), PAGE("Device", NULL), TERM(0, "device"),
         SHORT(12, 6)},
        {TBL_PS, AT(self_ps), PAGE("Self", NULL), TERM_UNIT(0, "self"), DROP(1)},
    };
    /* Shares are dropped first, all together. */
    tbl_column share = {TBL_SHARE, ALSO(self_ps), PAGE("%", "Share of the self time of all ops"),
                        TERM(0, "%"), DROP(2)};
    device_table_init(out, "Avoidable work", r, v);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        device_table_add(out, first[i]);
    for (size_t i = 0; i < sizeof wastes / sizeof *wastes; i++) {
        if (!any_has(&out->t, &wastes[i], true))
            continue;
        share.at = wastes[i].at;
        device_table_add(out, wastes[i]);
        device_table_add(out, share);
    }
    out->t.unit[0] = rep_unit_for(v->unit, tbl_largest(&out->t, offsetof(vp_device, self_ps)));
    return out->t.column_count > sizeof first / sizeof *first;
}

/* ---- Causes of idle time ---- */

static void get_idle_share(tbl_value *out, const void *row)
{
    const vp_breakdown *x = &((const vp_device *)row)->breakdown;
    out->text = "idle";
    out->n = x->idle_ps;
    out->scale = out->whole = x->window_ps;
}

bool tbl_idle_causes(device_table *out, const vp_report *r, const vp_view *v)
{
    static const tbl_column first[] = {
        {TBL_NAME, AT(name), ALSO_OF_HOSTS(host), PAGE("Device", NULL)},
        {TBL_PS, AT(breakdown.idle_ps), PAGE("Idle", NULL)},
        {TBL_BAR, GET(get_idle_share), PAGE("Idle", NULL), UNIT(PERCENT_OF_WINDOW)},
        {TBL_COUNT, AT(gap_count), PAGE("Gaps", NULL)},
    };
    bool any = false;
    device_table_init(out, "Idle time by cause", r, v);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        device_table_add(out, first[i]);
    for (size_t i = 0; i < VP_CAUSES; i++) {
        tbl_column share = {TBL_SHARE, AT(cause_ps), ALSO(breakdown.idle_ps),
                            PAGE(rep_cause_name((vp_cause)i), rep_cause_text((vp_cause)i))};
        share.at += (uint16_t)(i * sizeof(int64_t));
        any |= any_has(&out->t, &share, true);
        if (any_has(&out->t, &share, false))
            device_table_add(out, share);
    }
    out->t.unit[0] =
        rep_unit_for(v->unit, tbl_largest(&out->t, offsetof(vp_device, breakdown.idle_ps)));
    return any;
}
