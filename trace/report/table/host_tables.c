#include "trace/report/table/host_tables.h"

#include <stdio.h>

#include "trace/report/table/columns.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

/* ---- Compiled functions ---- */

static void get_first_compile(tbl_value *out, const void *row)
{
    const vp_function *f = row;
    out->n = f->first_start_ps;
    out->whole = f->first_dur_ps;
    out->host = f->host;
}

static void get_last_compile(tbl_value *out, const void *row)
{
    const vp_function *f = row;
    out->n = f->last_start_ps;
    out->whole = f->last_dur_ps;
    out->host = f->host;
}

#define ROW vp_function
static const tbl_column function_columns[] = {
    {TBL_NAME, AT(name), ALSO_OF_HOSTS(host), PAGE("Function", NULL), TERM(6, "function"),
     SHORT(30, 12)},
    {TBL_COUNT, AT(compiles), PAGE("Compilations", NULL), TERM(2, "compiles")},
    {TBL_COUNT, AT(calls), PAGE("Calls", NULL), TERM(5, "calls"), DROP(2)},
    {TBL_COUNT, AT(cache_hits), PAGE("Cache hits", NULL)},
    {TBL_PS, AT(total_ps), PAGE("Total", NULL), TERM_UNIT(1, "compile")},
    {TBL_PS, AT(repeat_ps), PAGE("Repeats", "All compilations but the first"), TERM(4, "repeated"),
     DROP(1)},
    {TBL_COUNT, AT(late), PAGE("Late", "Compilations after execution started"), TERM(3, "late"),
     DROP(1)},
    {TBL_PS, AT(late_ps), PAGE("Late", NULL)},
    {TBL_WHEN, GET(get_first_compile), PAGE("First at", NULL)},
    {TBL_WHEN, GET(get_last_compile), PAGE("Last at", NULL)},
};
#undef ROW

void tbl_functions(tbl *t, const vp_report *r, const vp_view *v)
{
    const vp_compile *c = &r->compile;
    *t = (tbl){TBL_ROWS("Compiled functions", function_columns, c->functions, c->function_count),
               .r = r, .v = v, .has = tbl_has(r)};
    t->unit[0] = rep_unit_for(v->unit, tbl_largest(t, offsetof(vp_function, total_ps)));
}

/* ---- Work on the host ---- */

static const char *zone_thread_text(tbl_value *out, const vp_host_op *o)
{
    if (o->threads <= 1)
        return o->thread;
    snprintf(out->made, sizeof out->made, "%lld threads", (long long)o->threads);
    return out->made;
}

static void get_event(tbl_value *out, const void *row)
{
    const vp_host_op *o = row;
    out->text = o->name;
    out->below = zone_thread_text(out, o);
}

static void get_threads(tbl_value *out, const void *row)
{
    out->text = zone_thread_text(out, row);
}

static void get_kinds(tbl_value *out, const void *row)
{
    const vp_host_op *o = row;
    snprintf(out->made, sizeof out->made, "%s%s", rep_cause_name(o->cause),
             o->blocking ? ", blocking" : "");
    out->text = out->made;
}

static void get_main_kind(tbl_value *out, const void *row)
{
    const vp_host_op *o = row;
    out->text = o->blocking ? "blocking" : rep_cause_name(o->cause);
}

static void get_longest(tbl_value *out, const void *row)
{
    const vp_host_op *o = row;
    out->n = out->whole = o->max_ps;
    out->start = o->max_start_ps;
    out->host = o->host;
}

#define ROW vp_host_op
static const tbl_column host_op_columns[] = {
    {TBL_NAME, GET(get_event), PAGE("Event", "Name, with its thread"), TERM(6, "name"),
     SHORT(26, 12)},
    {TBL_TEXT, AT(host), PAGE("Host", NULL), NEEDS(TBL_HOSTS)},
    {TBL_WORD, GET(get_kinds), PAGE("Kind", NULL)},
    {TBL_WORD, GET(get_main_kind), TERM(5, "kind"), DROP(1)},
    {TBL_PS, AT(self_ps), PAGE("Self", NULL), TERM_UNIT(1, "self")},
    {TBL_PS, AT(idle_ps),
     PAGE("Devices idle", "Part of self time while all devices of the host "
                          "are idle"),
     TERM(2, "idle")},
    {TBL_PS, AT(total_ps), PAGE("Total", NULL), TERM(3, "total"), DROP(1)},
    {TBL_COUNT, AT(calls), PAGE("Calls", NULL), TERM(4, "calls"), DROP(2)},
    {TBL_PLACED, GET(get_longest), SCALE(HOST_CALL), PAGE("Max", "Longest call")},
    {TBL_TEXT, GET(get_threads), TERM(7, "thread"), STYLE(TBL_DIM), SHORT(14, 8), DROP(3)},
};
#undef ROW

static bool shows_host_op(const tbl *t, const void *row)
{
    return rep_shows_host(t->v, ((const vp_host_op *)row)->host);
}

void tbl_host_ops(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Host events", host_op_columns, r->host_ops, r->host_op_count), .r = r,
               .v = v, .shows = shows_host_op, .has = tbl_has(r)};
    if (!v->host) /* unknown for a single host */
        t->beyond = rep_beyond(r->host_op_total, r->host_op_count);
    t->unit[HOST_SUM] = rep_unit_for(v->unit, tbl_largest(t, offsetof(vp_host_op, total_ps)));
    t->unit[HOST_CALL] = rep_unit_for(v->unit, tbl_largest(t, offsetof(vp_host_op, max_ps)));
}
