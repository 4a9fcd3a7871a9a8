#include "trace/report/table/graph_tables.h"

#include "trace/report/table/columns.h"
#include "trace/report/labels/numbers.h"

/* ---- Forward scopes ---- */

int64_t folded_whole_ps(const vp_folded_scope *s)
{
    return s->forward_ps + s->backward_ps + s->remat_ps;
}

static void get_whole(tbl_value *out, const void *row)
{
    out->n = folded_whole_ps(row);
}

#define ROW vp_folded_scope
static const tbl_column folded_columns[] = {
    {TBL_NAME, AT(path), PAGE("Scope", NULL), TERM(5, "scope"), SHORT(24, 12)},
    {TBL_PS, GET(get_whole), PAGE("All", NULL)},
    {TBL_OWN_BAR, PAGE("All", "Share of the self time of all scopes"), UNIT(PERCENT)},
    {TBL_PS, AT(forward_ps), PAGE("<i class=\"dot forward\"></i>Forward", NULL),
     TERM_UNIT(1, "forward")},
    {TBL_PS, AT(backward_ps), PAGE("<i class=\"dot backward\"></i>Backward", NULL),
     TERM(2, "backward")},
    {TBL_PS, AT(remat_ps), PAGE("<i class=\"dot remat\"></i>Remat", "Recomputed instead of stored"),
     TERM(3, "remat")},
    {TBL_COUNT, AT(calls), PAGE("Calls", NULL), TERM(4, "calls"), DROP(1)},
};
#undef ROW

void tbl_folded(tbl *t, const vp_report *r, const vp_view *v, const int64_t *all_ps)
{
    *t =
        (tbl){TBL_ROWS("Forward and backward together", folded_columns, r->folded, r->folded_count),
              .r = r, .v = v, .of = all_ps};
    if (r->folded_count)
        t->unit[0] = rep_unit_for(v->unit, folded_whole_ps(r->folded));
}

/* ---- The tree of scopes ---- */

#define ROW scope_row
static const tbl_column scope_columns[] = {
    {TBL_PS, AT(total_ps), TERM_UNIT(1, "total")},
    {TBL_SHARE, AT(total_ps), ALSO(all_ps), TERM(2, "total%"), DROP(1)},
    {TBL_PS, AT(self_ps), TERM_UNIT(3, "self"), DROP(2)},
    {TBL_COUNT, AT(calls), TERM(4, "calls"), DROP(3)},
    {TBL_OWN_NAME, TERM(5, "scope"), SHORT(24, 12)},
};
#undef ROW

scope_row scope_row_of(const tree *at, tree_event event)
{
    if (event == TREE_MORE)
        return (scope_row){at, true, at->more_total_ps, at->all_ps, TBL_BLANK, at->more_calls};
    return (scope_row){
        at, false, at->scope->total_ps, at->all_ps, at->scope->self_ps, at->scope->calls};
}

static tbl_style scope_row_style(const tbl *t, const void *row)
{
    (void)t;
    return ((const scope_row *)row)->is_more ? TBL_DIM : TBL_PLAIN;
}

void tbl_scopes(tbl *t, const tree *at, const vp_view *v)
{
    *t = (tbl){.title = "Computation graph by op time",
               TBL_COLUMNS(scope_columns),
               .v = v,
               .row_style = scope_row_style};
    t->unit[0] = rep_unit_for(v->unit, at->all_ps);
}

/* ---- Modules ---- */

#define ROW vp_module
static const tbl_column module_columns[] = {
    {TBL_NAME, AT(name), PAGE("Module", NULL), TERM(5, "module"), SHORT(24, 12)},
    {TBL_ID, AT(program_id), PAGE("Program", NULL), TERM(4, "program"), DROP(3)},
    {TBL_COUNT, AT(runs), PAGE("Runs", NULL), TERM(3, "runs"), DROP(2)},
    {TBL_PS, AT(total_ps), PAGE("Total", NULL), TERM_UNIT(1, "total")},
    {TBL_PS, AT(p50_ps), PAGE("p50", NULL), TERM_UNIT(2, "p50"), DROP(1)},
};
#undef ROW

void tbl_modules(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Modules", module_columns, r->modules, r->module_count), .r = r, .v = v};
    t->unit[0] = rep_unit_for(v->unit, tbl_largest(t, offsetof(vp_module, total_ps)));
}
