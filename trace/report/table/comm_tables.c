#include "trace/report/table/comm_tables.h"

#include "trace/report/table/columns.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

/* The exposed part of a device's window. */
static void share_of_window(tbl_value *out, const vp_report *r, uint32_t device, int64_t exposed_ps)
{
    out->n = exposed_ps;
    out->whole = device < r->device_count ? r->devices[device].breakdown.window_ps : 0;
}

/* ---- Collectives ---- */

static void get_hidden(tbl_value *out, const void *row)
{
    const vp_collective *c = row;
    out->n = c->union_ps < c->exposed_ps ? VP_UNKNOWN : c->union_ps - c->exposed_ps;
}

static void get_collective_share(tbl_value *out, const void *row)
{
    const vp_collective *c = row;
    share_of_window(out, out->t->r, c->device, c->exposed_ps);
}

static void get_algorithm_rate(tbl_value *out, const void *row)
{
    out->d = rep_algorithm_gb_per_s(row);
}

static void get_bus_rate(tbl_value *out, const void *row)
{
    out->d = rep_bus_gb_per_s(row);
}

static void get_bus_factor(tbl_value *out, const void *row)
{
    out->d = rep_bus_factor(row);
}

#define ROW vp_collective
static const tbl_column collective_columns[] = {
    {TBL_NAME, AT(name), ALSO(scope), PAGE("Collective", "Name, with its scope"),
     TERM(8, "collective"), STYLE(TBL_COMM), SHORT(22, 10)},
    {TBL_TEXT, AT(kind), PAGE("Kind", NULL)},
    {TBL_DEVICE, AT(device), PAGE("Device", NULL), NEEDS(TBL_DEVICES), TERM(9, "device"),
     SHORT(12, 8), DROP(1)},
    {TBL_COUNT, AT(group_size), PAGE("Among", "Participants of one call"), TERM(6, "of"), DROP(4)},
    {TBL_COUNT, AT(count), PAGE("Calls", NULL), TERM(3, "calls")},
    {TBL_BYTES, AT(bytes), PAGE("Bytes", "Payload of one participant, over all calls"),
     TERM(4, "bytes"), DROP(2)},
    {TBL_PS, AT(total_ps), PAGE("Total", "Sum of durations"), TERM(2, "total")},
    {TBL_PS, AT(exposed_ps), PAGE("Exposed", "Time during which nothing else runs"),
     TERM_UNIT(1, "exposed")},
    {TBL_PS, GET(get_hidden), PAGE("Hidden", "Time during which other work runs")},
    {TBL_SHARE, GET(get_collective_share),
     PAGE("of window", "Exposed time as a share of the device’s window")},
    {TBL_NUMBER, GET(get_algorithm_rate), DIGITS(2), PAGE("algbw", "Bytes over total time"),
     UNIT(GB_PER_S)},
    {TBL_NUMBER, GET(get_bus_rate), DIGITS(2), PAGE("busbw", "algbw times the factor"),
     UNIT(GB_PER_S), TERM(5, "bus GB/s"), DROP(1)},
    {TBL_RATIO, GET(get_bus_factor), DIGITS(3),
     PAGE("Factor",
          "2(n−1)/n for all-reduce, (n−1)/n for all-gather, reduce-scatter and all-to-all")},
    {TBL_PS, AT(wait_ps),
     PAGE("Waits", "Time spent waiting for the last participant, over matched "
                   "calls"),
     TERM(7, "waits"), DROP(3)},
};
#undef ROW

static bool shows_collective(const tbl *t, const void *row)
{
    return rep_shows_device(t->r, t->v, ((const vp_collective *)row)->device);
}

void tbl_collectives(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Collectives", collective_columns, r->collectives, r->collective_count),
               .r = r, .v = v, .shows = shows_collective, .has = tbl_has(r)};
    t->unit[0] = rep_unit_for(v->unit, tbl_largest(t, offsetof(vp_collective, total_ps)));
}

/* ---- Transfers ---- */

static void get_direction(tbl_value *out, const void *row)
{
    const vp_transfer *x = row;
    out->text = rep_direction_text(x->direction);
    out->below = x->host_only ? "measured on the host" : NULL;
}

static void get_transfer_rate(tbl_value *out, const void *row)
{
    out->d = rep_transfer_gb_per_s(row);
}

static void get_transfer_share(tbl_value *out, const void *row)
{
    const vp_transfer *x = row;
    share_of_window(out, out->t->r, x->device, x->exposed_ps);
}

static void get_largest(tbl_value *out, const void *row)
{
    const vp_transfer *x = row;
    out->n = x->largest_start_ps;
    out->whole = x->largest_dur_ps;
    out->at_device = x->device;
}

#define ROW vp_transfer
static const tbl_column transfer_columns[] = {
    {TBL_NAME, GET(get_direction), PAGE("Direction", NULL), TERM(1, "direction"), STYLE(TBL_COPY)},
    {TBL_DEVICE, AT(device), PAGE("Device", NULL), TERM(8, "device"), SHORT(12, 8), DROP(2)},
    {TBL_COUNT, AT(count), PAGE("Count", "An async start/done pair counts once"), TERM(2, "count")},
    {TBL_BYTES, AT(bytes), PAGE("Bytes", NULL), TERM(3, "bytes")},
    {TBL_PS, AT(busy_ps), PAGE("In flight", "Union of the transfers"), TERM_UNIT(4, "time")},
    {TBL_NUMBER, GET(get_transfer_rate), DIGITS(2), PAGE("GB/s", "Bytes over the time in flight"),
     TERM(6, "GB/s"), DROP(1)},
    {TBL_PS, AT(total_ps), PAGE("Op time", "Sum of its ops’ durations")},
    {TBL_PS, AT(exposed_ps), PAGE("Exposed", "Time during which no compute or communication runs"),
     TERM(5, "exposed")},
    {TBL_SHARE, GET(get_transfer_share),
     PAGE("of window", "Exposed time as a share of the device’s window")},
    {TBL_COUNT, AT(exposed_count), PAGE("Exposed", NULL), UNIT(COUNT)},
    {TBL_COUNT, AT(pageable_count), PAGE("Pageable", "Copies from or to pageable memory"),
     TERM(7, "pageable"), DROP(3)},
    {TBL_PS, AT(largest_dur_ps), PAGE("Longest", NULL)},
    {TBL_BYTES, AT(largest_bytes), PAGE("its bytes", NULL)},
    {TBL_WHEN, GET(get_largest), PAGE("its start", NULL)},
};
#undef ROW

static bool shows_transfer(const tbl *t, const void *row)
{
    return rep_shows_device(t->r, t->v, ((const vp_transfer *)row)->device);
}

void tbl_transfers(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Transfers", transfer_columns, r->transfers, r->transfer_count), .r = r,
               .v = v, .shows = shows_transfer};
    t->unit[0] = rep_unit_for(v->unit, tbl_largest(t, offsetof(vp_transfer, total_ps)));
}
