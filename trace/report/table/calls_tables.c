#include "trace/report/table/calls_tables.h"

#include "trace/report/table/columns.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/words.h"

enum { SUM, CALL }; /* units */
enum {
    HAS_MARK = 4,    /* some name shows that it uses tensor cores */
    HAS_NAMES = 8,   /* the group has several */
    HAS_PLACED = 16, /* some name's scope was found within a CUDA graph */
};

static void get_rank(tbl_value *out, const void *row)
{
    const op_calls *of = out->t->of;
    out->n = (const detail_call *)row - of->d->calls + 1;
}

static void get_place(tbl_value *out, const void *row)
{
    const detail_call *c = row;
    const op_calls *of = out->t->of;
    out->n = c->start_ps;
    out->whole = c->dur_ps;
    out->at_device = of->op->device;
}

#define ROW detail_call
static const tbl_column call_columns[] = {
    {TBL_RANK, GET(get_rank), PAGE("#", "Rank")},
    {TBL_PS, AT(dur_ps), SCALE(CALL), PAGE("Duration", NULL)},
    {TBL_WHEN, GET(get_place), PAGE("At", "Start time; the link opens it in Perfetto")},
    {TBL_OWN, AT(name), NEEDS(HAS_NAMES), PAGE("Raw name", NULL)},
    {TBL_TEXT, AT(track), PAGE("Track", NULL)},
};
#undef ROW

void tbl_calls(tbl *t, const vp_report *r, const vp_view *v, const op_calls *of)
{
    *t = (tbl){TBL_ROWS("Slowest calls", call_columns, of->d->calls, of->d->call_count), .r = r,
               .v = v, .of = of};
    t->unit[CALL] = rep_unit_for(v->unit, of->op->max_ps);
    t->has = of->d->name_count > 1 ? HAS_NAMES : 0u;
}

#define ROW detail_launch
static const tbl_column launch_columns[] = {
    {TBL_TEXT, AT(how.grid), PAGE("Grid", "Blocks per launch")},
    {TBL_TEXT, AT(how.block), PAGE("Block", "Threads per block")},
    {TBL_COUNT, AT(how.registers), PAGE("Registers", "Per thread")},
    {TBL_BYTES, AT(how.shared_bytes), PAGE("Shared memory", "Per block")},
    {TBL_TEXT, AT(how.occupancy),
     PAGE("Occupancy %", "As estimated by the profiler from the launch")},
    {TBL_COUNT, AT(calls), PAGE("Calls", NULL)},
    {TBL_PS, AT(self_ps), SCALE(SUM), PAGE("Self", NULL)},
};
#undef ROW

void tbl_kernels(tbl *t, const vp_report *r, const vp_view *v, const op_calls *of)
{
    *t = (tbl){
        TBL_ROWS("Launch configurations", launch_columns, of->d->launches, of->d->launch_count),
        .r = r, .v = v, .of = of, .beyond = of->d->more_launches};
    t->unit[SUM] = rep_unit_for(v->unit, of->op->self_ps);
}

#define ROW detail_caller
static const tbl_column caller_columns[] = {
    {TBL_TEXT, AT(operator_name), PAGE("Operator", "The innermost, which launched the calls")},
    {TBL_TEXT, AT(outermost_name), PAGE("Called by", "The operator that the program called")},
    {TBL_TEXT, AT(scope), PAGE("Scope", NULL)},
    {TBL_TEXT, AT(source), PAGE("Source", NULL)},
    {TBL_COUNT, AT(calls), PAGE("Calls", NULL)},
    {TBL_PS, AT(self_ps), SCALE(SUM), PAGE("Self", NULL)},
};
#undef ROW

void tbl_callers(tbl *t, const vp_report *r, const vp_view *v, const op_calls *of)
{
    *t = (tbl){TBL_ROWS("Operators", caller_columns, of->d->callers, of->d->caller_count), .r = r,
               .v = v, .of = of, .beyond = of->d->more_callers};
    t->unit[SUM] = rep_unit_for(v->unit, of->op->self_ps);
}

static void get_name_share(tbl_value *out, const void *row)
{
    const op_calls *of = out->t->of;
    out->n = ((const detail_name *)row)->self_ps;
    out->scale = of->d->names[0].self_ps;
    out->whole = of->op->self_ps;
    out->text = rep_class_css(of->op->op_class);
}

#define ROW detail_name
static const tbl_column name_columns[] = {
    {TBL_NAME, AT(name), ALSO(scope), PAGE("Raw name", "With the scope of most of its self time")},
    {TBL_COUNT, AT(calls), PAGE("Calls", NULL)},
    {TBL_PS, AT(self_ps), SCALE(SUM), PAGE("Self", NULL)},
    {TBL_BAR, GET(get_name_share), PAGE("of the group", NULL), UNIT(PERCENT)},
    {TBL_PS, AT(max_ps), SCALE(CALL), PAGE("Max", NULL)},
    {TBL_TEXT, AT(tensor_cores), NEEDS(HAS_MARK),
     PAGE("Tensor cores",
          "The part of the name that shows it; other kernels may use them as well")},
    {TBL_TEXT, AT(shape), PAGE("Shape", NULL)},
    {TBL_TEXT, AT(source), PAGE("Source", NULL)},
    {TBL_TEXT, AT(placed), NEEDS(HAS_PLACED),
     PAGE("In its graph by",
          "How the instruction of a CUDA graph's kernel was found: by the kernel's name or by its "
          "order in the graph")},
};
#undef ROW

void tbl_names(tbl *t, const vp_report *r, const vp_view *v, const op_calls *of)
{
    *t = (tbl){TBL_ROWS("Names in this group", name_columns, of->d->names, of->d->name_count),
               .r = r, .v = v, .of = of, .beyond = of->d->more_names};
    t->unit[SUM] = rep_unit_for(v->unit, of->op->self_ps);
    t->unit[CALL] = rep_unit_for(v->unit, of->op->max_ps);
    for (size_t i = 0; i < of->d->name_count; i++)
        t->has |= (of->d->names[i].tensor_cores ? HAS_MARK : 0u) |
                  (of->d->names[i].placed ? HAS_PLACED : 0u);
}
