#include "trace/report/table/breakdown_table.h"

#include "trace/report/table/columns.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"

static void get_breakdown_part(tbl_value *out, const void *row)
{
    int64_t parts[REP_PARTS];
    rep_breakdown_parts(parts, &((const vp_device *)row)->breakdown);
    out->n = parts[out->column->own];
}

/* Shares in whole hundredths, which sum to exactly 100.00%. */
static tbl_style text_put_whole_share(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    int64_t parts[REP_PARTS];
    int shares[REP_PARTS];
    (void)t;
    rep_breakdown_parts(parts, &((const vp_device *)row)->breakdown);
    rep_shares(shares, parts, REP_PARTS);
    rep_put_hundredths(b, shares[c->own]);
    vp_buf_putc(b, '%');
    return TBL_PLAIN;
}

enum { OF_DEVICES = 4, OF_PROCESSES = 8 }; /* flags for `has` */

#define ROW vp_device
static const tbl_column breakdown_columns[] = {
    {TBL_NAME, AT(name), TERM(1, "device"), TERM_NEEDS(OF_DEVICES), SHORT(12, 8)},
    {TBL_NAME, AT(name), TERM(1, "process"), TERM_NEEDS(OF_PROCESSES), SHORT(12, 8)},
    {TBL_NAME, AT(host), TERM(2, "host"), SHORT(8, 4), DROP(TBL_DROP_LATE)},
    {TBL_PS, AT(breakdown.window_ps), TERM_UNIT(3, "window")},
    {TBL_PS, GET(get_breakdown_part), OWN(REP_COMPUTE), TERM_UNIT(4, "compute"),
     DROP(TBL_DROP_LATE + 1)},
    {TBL_OWN_FIGURE, OWN(REP_COMPUTE), TERM(5, "compute%")},
    {TBL_PS, GET(get_breakdown_part), OWN(REP_COMM), TERM_UNIT(6, "exp.comm"),
     DROP(TBL_DROP_LATE + 1)},
    {TBL_OWN_FIGURE, OWN(REP_COMM), TERM(7, "exp.comm%")},
    {TBL_PS, GET(get_breakdown_part), OWN(REP_COPY), TERM_UNIT(8, "exp.copy"),
     DROP(TBL_DROP_LATE + 1)},
    {TBL_OWN_FIGURE, OWN(REP_COPY), TERM(9, "exp.copy%")},
    {TBL_PS, GET(get_breakdown_part), OWN(REP_IDLE), TERM_UNIT(10, "idle"),
     DROP(TBL_DROP_LATE + 1)},
    {TBL_OWN_FIGURE, OWN(REP_IDLE), TERM(11, "idle%")},
};
#undef ROW

static bool is_breakdown_shown(const tbl *t, const void *row)
{
    size_t i = (size_t)((const vp_device *)row - t->r->devices);
    const bool *skip = t->of;
    return !(skip && skip[i]) && rep_device_matches(t->r, t->v, i);
}

void tbl_breakdown(tbl *t, const vp_report *r, const vp_view *v, const bool *skip)
{
    *t = (tbl){TBL_ROWS("Device time breakdown", breakdown_columns, r->devices, r->device_count),
               .r = r,
               .v = v,
               .of = skip,
               .shows = is_breakdown_shown,
               .own_text = text_put_whole_share,
               .has = r->has_devices ? OF_DEVICES : OF_PROCESSES};
    t->unit[0] = rep_unit_for(v->unit, tbl_largest(t, offsetof(vp_device, breakdown.window_ps)));
}
