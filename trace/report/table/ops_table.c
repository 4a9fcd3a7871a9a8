#include "trace/report/table/ops_table.h"

#include <math.h>
#include <string.h>

#include "trace/base/log.h"
#include "trace/report/table/columns.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/words.h"

bool ops_is_mixed(const vp_op *op, int64_t all_self_ps)
{
    return rep_cv(op) > 0.5 && (__int128)op->self_ps * 20 >= all_self_ps;
}

static void get_self_bar(tbl_value *out, const void *row)
{
    const ops_row *x = row;
    out->n = x->self_ps;
    out->whole = x->all_self_ps;
    out->scale = x->max_self_ps;
    out->text = x->op ? rep_class_css(x->op->op_class) : "idle";
}

static void get_max(tbl_value *out, const void *row)
{
    const ops_row *x = row;
    out->n = x->max_ps;
    out->start = x->op ? x->op->slowest_start_ps : VP_NO_TIME;
    out->whole = x->op ? x->op->slowest_dur_ps : 0;
    out->at_device = x->op ? x->op->device : VP_NO_DEVICE;
}

static void get_cv(tbl_value *out, const void *row)
{
    const ops_row *x = row;
    out->d = x->cv;
    if (!x->op || !ops_is_mixed(x->op, x->all_self_ps))
        return;
    out->text = "mixed";
    out->below = "A high CV can mean that one name covers several ops: group by scope or raw";
}

/* The mean per complete step, and the course over the steps. */
static void get_course(tbl_value *out, const void *row)
{
    const vp_op *op = ((const ops_row *)row)->op;
    out->blank = !op;
    if (!op)
        return;
    int64_t steps = out->t->r->devices[op->device].steps_counted;
    out->n = steps > 0 && op->step_self_ps >= 0 ? op->step_self_ps / steps : VP_UNKNOWN;
    out->course = op->per_step_ps;
    out->course_count = op->per_step_count;
}

/* The text next to the name: its category, or for a category its class. */
static void get_op_kind(tbl_value *out, const void *row)
{
    const vp_op *op = ((const ops_row *)row)->op;
    out->blank = !op;
    if (!op)
        return;
    out->text = out->t->r->group == VP_GROUP_CATEGORY ? rep_class_name(op->op_class) : op->category;
    out->style = tbl_class_style(op->op_class);
}

enum { GRID, BLOCK, REGISTERS, SHARED, OCCUPANCY, TENSOR_CORES };

static void get_launch(tbl_value *out, const void *row)
{
    const vp_op *op = ((const ops_row *)row)->op;
    const vp_kernel_launch *l = op ? op->launch : NULL;
    out->blank = !l;
    if (!l)
        return;
    const char *const texts[] = {[GRID] = l->grid,
                                 [BLOCK] = l->block,
                                 [OCCUPANCY] = l->occupancy,
                                 [TENSOR_CORES] = l->tensor_cores};
    out->text = texts[out->column->own];
    out->n = out->column->own == REGISTERS ? l->registers : l->shared_bytes;
}

/* ---- Only in CSV ---- */

static void get_session(tbl_value *out, const void *row)
{
    (void)row;
    out->text = out->t->r->session_id;
}

static void get_host(tbl_value *out, const void *row)
{
    out->text = out->t->r->devices[((const ops_row *)row)->op->device].host;
}

static void get_class(tbl_value *out, const void *row)
{
    out->text = rep_class_name(((const ops_row *)row)->op->op_class);
}

static void get_stddev(tbl_value *out, const void *row)
{
    out->n = rep_stddev_ps(((const ops_row *)row)->op);
}

static void get_self_of_window(tbl_value *out, const void *row)
{
    const ops_row *x = row;
    out->n = x->self_ps;
    out->whole = rep_window_of(out->t->r, x->op);
}

static void get_per_step(tbl_value *out, const void *row)
{
    out->n = rep_per_step_ps(out->t->r, ((const ops_row *)row)->op);
}

#define ROW ops_row
#define OP(member) VIA(op, vp_op, member)
static const tbl_column ops_columns[] = {
    {TBL_RANK, AT(rank), PAGE("#", "Rank")},
    {TBL_OWN_NAME, PAGE("", "Group, with its category and the scope of most of its self time"),
     TERM(15, ""), SHORT(30, 8)},
    {TBL_PS, AT(self_ps), SCALE(OPS_SUM), SORT(VP_BY_SELF), PAGE("Self", "Time without nested ops"),
     TERM_UNIT(1, "self"), CSV(9, "self_ps")},
    {TBL_BAR, GET(get_self_bar), UNIT(PERCENT),
     PAGE("Self", "Self time as a share of the self time of all ops"), TERM(2, "self%"), DROP(4),
     CSV(16, "self_share_of_ops")},
    {TBL_SHARE, AT(cumulative_ps), ALSO(all_self_ps), UNIT(PERCENT),
     PAGE("Cum.", "Cumulative share, including the rows above"), TERM(3, "sum%"), DROP(5),
     CSV(18, "cumulative_share")},
    {TBL_PS, AT(total_ps), SCALE(OPS_SUM), SORT(VP_BY_TOTAL),
     PAGE("Total", "Time including nested ops"), TERM_UNIT(4, "total"), TERM_NEEDS(OPS_BY_TOTAL),
     CSV(8, "total_ps")},
    {TBL_COUNT, AT(calls), SORT(VP_BY_CALLS), PAGE("Calls", "Number of calls"), TERM(5, "calls"),
     DROP(3), CSV(7, "calls")},
    {TBL_PS, AT(mean_ps), SCALE(OPS_CALL), PAGE("Mean", "Total time / calls"), TERM_UNIT(6, "mean"),
     DROP(2), CSV(10, "mean_ps")},
    {TBL_PS, OP(p50_ps), SCALE(OPS_CALL), PAGE("p50", "Median call"), CSV(12, "p50_ps")},
    {TBL_PS, OP(p95_ps), SCALE(OPS_CALL), PAGE("p95", "95% of calls take at most this long"),
     TERM_UNIT(7, "p95"), DROP(TBL_DROP_LATE), CSV(13, "p95_ps")},
    {TBL_PLACED, GET(get_max), SCALE(OPS_CALL), SORT(VP_BY_MAX), PAGE("Max", "Longest call"),
     TERM_UNIT(8, "max"), DROP(TBL_DROP_LATE + 1), CSV(14, "max_ps")},
    {TBL_RATIO, GET(get_cv), DIGITS(2),
     PAGE("CV", "CV: standard deviation / mean; above 0.5, the group may mix different ops"),
     TERM(9, "cv"), DROP(TBL_DROP_LATE + 2)},
    {TBL_COURSE, GET(get_course), SCALE(OPS_STEP), NEEDS(OPS_STEPS),
     PAGE("Per step", "Mean self time per step, and its course over the steps")},
    {TBL_PS, OP(idle_before_ps), SCALE(OPS_SUM), NEEDS(OPS_IDLE),
     PAGE("Idle before", "Device idle time that ends when one of these ops starts")},
    {TBL_NUMBER, AT(gb_per_s), DIGITS(1), NEEDS(OPS_BYTES),
     PAGE("GB/s", "Bytes accessed per second of total time"), CSV(21, "gb_per_s")},
    {TBL_NUMBER, AT(gflop_per_s), DIGITS(0), NEEDS(OPS_FLOPS),
     PAGE("GFLOP/s", "FLOP per second of total time"), CSV(22, "gflop_per_s")},
    {TBL_TEXT, GET(get_launch), OWN(GRID), NEEDS(OPS_LAUNCH), PAGE("Grid", "Blocks per launch"),
     TERM(10, "grid"), TERM_NEEDS(OPS_LAUNCH), CSV(30, "grid")},
    {TBL_TEXT, GET(get_launch), OWN(BLOCK), NEEDS(OPS_LAUNCH), PAGE("Block", "Threads per block"),
     TERM(11, "block"), TERM_NEEDS(OPS_LAUNCH), CSV(31, "block")},
    {TBL_COUNT, GET(get_launch), OWN(REGISTERS), NEEDS(OPS_LAUNCH), PAGE("Registers", "Per thread"),
     TERM(12, "regs"), TERM_NEEDS(OPS_LAUNCH), DROP(7), CSV(32, "registers")},
    {TBL_BYTES, GET(get_launch), OWN(SHARED), NEEDS(OPS_LAUNCH), PAGE("Shared memory", "Per block"),
     TERM(13, "shared"), TERM_NEEDS(OPS_LAUNCH), DROP(8), CSV(33, "shared_bytes")},
    {TBL_TEXT, GET(get_launch), OWN(OCCUPANCY), CSV(34, "occupancy")},
    {TBL_TEXT, GET(get_launch), OWN(TENSOR_CORES), CSV(35, "tensor_cores")},
    {TBL_TEXT, GET(get_op_kind), TERM(14, ""), DROP(1), SHORT(14, 11)},
    {TBL_OWN, TERM(14, "operator"), TERM_NEEDS(OPS_OPERATOR), DROP(6), SHORT(26, 20)},
    {TBL_TEXT, GET(get_session), CSV(1, "session")},
    {TBL_DEVICE, OP(device), CSV(2, "device")},
    {TBL_TEXT, GET(get_host), CSV(3, "host")},
    {TBL_WORD, GET(get_class), CSV(4, "class")},
    {TBL_TEXT, OP(category), CSV(5, "category")},
    {TBL_TEXT, OP(name), CSV(6, "name")},
    {TBL_COUNT, OP(min_ps), CSV(11, "min_ps")},
    {TBL_COUNT, GET(get_stddev), CSV(15, "stddev_ps")},
    {TBL_SHARE, GET(get_self_of_window), CSV(17, "self_share_of_window")},
    {TBL_COUNT, OP(bytes), CSV(19, "bytes")},
    {TBL_COUNT, OP(flops), CSV(20, "flops")},
    {TBL_TEXT, OP(scope), CSV(23, "scope")},
    {TBL_TEXT, OP(source), CSV(24, "source")},
    {TBL_TEXT, OP(module), CSV(25, "module")},
    {TBL_COUNT, OP(raw_names), CSV(26, "raw_names")},
    {TBL_WHEN, OP(slowest_start_ps), CSV(27, "slowest_start_ps")},
    {TBL_COUNT, OP(slowest_dur_ps), CSV(28, "slowest_dur_ps")},
    {TBL_COUNT, GET(get_per_step), CSV(29, "per_step_ps")},
    {TBL_TEXT, OP(operator_name), CSV(36, "operator")},
    {TBL_TEXT, OP(outermost_name), CSV(37, "outermost_operator")},
    {TBL_COUNT, OP(operators), CSV(38, "operators")},
};
#undef OP
#undef ROW
#define OPS_COLUMNS (sizeof ops_columns / sizeof *ops_columns)
_Static_assert(OPS_COLUMNS <= TBL_COLUMNS_MAX, "a table has room for the columns of ops");

/* "aten::mm", or "aten::mm +2" if two other operators launched calls of the group, too. */
static void text_put_operator(vp_buf *b, const vp_op *op)
{
    vp_put_escaped(b, op->operator_name ? vp_str_of(op->operator_name) : VP_STR("-"));
    if (op->operators > 1)
        vp_buf_printf(b, " +%lld", (long long)op->operators - 1);
}

static tbl_style text_put_op_cell(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    const ops_row *x = row;
    (void)t;
    if (c->kind == TBL_OWN && x->op)
        text_put_operator(b, x->op);
    else if (c->kind == TBL_OWN)
        return TBL_PLAIN;
    else if (x->op)
        vp_put_escaped(b, x->op->name ? vp_str_of(x->op->name) : VP_STR("-"));
    else
        vp_buf_printf(b, "others (%zu group%s)", x->others, x->others == 1 ? "" : "s");
    return TBL_PLAIN;
}

static tbl_style op_row_style(const tbl *t, const void *row)
{
    (void)t;
    return ((const ops_row *)row)->op ? TBL_PLAIN : TBL_DIM;
}

/* The kind of groups, for both formats. */
static void name_columns(tbl_column *columns, const vp_report *r)
{
    static const char *const keys[] = {"Op",       "Category", "Scope",    "Source",  "Module",
                                       "Raw name", "Op",       "Operator", "Operator"};
    bool paths = r->group == VP_GROUP_SCOPE || r->group == VP_GROUP_SOURCE;
    for (size_t i = 0; i < OPS_COLUMNS; i++) {
        tbl_column *c = &columns[i];
        if (c->get == get_op_kind) {
            c->text = r->group == VP_GROUP_CATEGORY ? "class" : "category";
            c->drop = paths ? TBL_DROP_LATE + 3 : c->drop; /* paths need its space, and more */
        }
        if (c->kind != TBL_OWN_NAME)
            continue;
        c->head = r->has_devices ? keys[r->group] : "Event";
        c->text = !r->has_devices ? "event"
                  : r->group == VP_GROUP_NAME || r->group == VP_GROUP_STACK
                      ? "op"
                      : rep_group_name(r->group);
        c->want = paths ? 44 : c->want;
        c->min = r->group == VP_GROUP_RAW ? 20 : c->min; /* names of kernels have equal starts and
                                                          * ends */
        c->keep_end = paths;
        c->place = r->group == VP_GROUP_SOURCE;
    }
}

void tbl_ops(ops_table *out, const vp_report *r, const vp_view *v)
{
    memcpy(out->columns, ops_columns, sizeof ops_columns);
    name_columns(out->columns, r);
    out->t = (tbl){.title = "Ops",
                   .columns = out->columns,
                   .column_count = OPS_COLUMNS,
                   .r = r,
                   .v = v,
                   .has = v->sort == VP_BY_TOTAL ? OPS_BY_TOTAL : 0,
                   .own_text = text_put_op_cell,
                   .row_style = op_row_style};
    bool by_operator = r->group == VP_GROUP_OPERATOR || r->group == VP_GROUP_OUTERMOST ||
                       r->group == VP_GROUP_SCOPE; /* scopes end with their operator */
    for (size_t i = 0; i < r->op_count; i++)
        out->t.has |= (r->ops[i].launch ? OPS_LAUNCH : 0u) |
                      (r->ops[i].outermost_name && !by_operator ? OPS_OPERATOR : 0u);
    for (size_t i = 0; out->t.has & OPS_OPERATOR && i < OPS_COLUMNS; i++)
        if (out->columns[i].get == get_op_kind) /* operators are more useful and need its space */
            out->columns[i].drop = TBL_DROP_LATE + 3;
}

ops_row ops_row_of(const vp_op *op, int64_t all_self_ps, int64_t max_self_ps)
{
    return (ops_row){.op = op,
                     .self_ps = op->self_ps,
                     .all_self_ps = all_self_ps,
                     .max_self_ps = max_self_ps,
                     .total_ps = op->total_ps,
                     .calls = op->calls,
                     .mean_ps = rep_mean_ps(op),
                     .max_ps = op->max_ps,
                     .cv = rep_cv(op),
                     .gb_per_s = rep_gb_per_s(op),
                     .gflop_per_s = rep_gflop_per_s(op)};
}

ops_row ops_row_of_split(const rep_rows *rows, const vp_split *s)
{
    double mean = s->calls > 0 ? (double)s->self_ps / (double)s->calls : 0;
    return (ops_row){.split = s,
                     .rank = VP_UNKNOWN,
                     .self_ps = s->self_ps,
                     .all_self_ps = rows->all_self_ps,
                     .max_self_ps = rows->max_self_ps,
                     .cumulative_ps = TBL_BLANK,
                     .total_ps = TBL_BLANK,
                     .calls = s->calls,
                     .mean_ps = s->calls > 0 ? s->self_ps / s->calls : VP_UNKNOWN,
                     .max_ps = s->max_ps,
                     .cv = mean > 0 ? s->stddev_ps / mean : NAN,
                     .gb_per_s = TBL_BLANK_NUMBER,
                     .gflop_per_s = TBL_BLANK_NUMBER};
}

ops_row ops_row_of_others(const rep_rows *rows)
{
    return (ops_row){.others = rows->others,
                     .rank = VP_UNKNOWN,
                     .self_ps = rows->others_self_ps,
                     .all_self_ps = rows->all_self_ps,
                     .max_self_ps = rows->max_self_ps,
                     .cumulative_ps = rows->shown_self_ps + rows->others_self_ps,
                     .total_ps = rows->others_total_ps,
                     .calls = rows->others_calls,
                     .mean_ps = TBL_BLANK,
                     .max_ps = TBL_BLANK,
                     .cv = TBL_BLANK_NUMBER,
                     .gb_per_s = TBL_BLANK_NUMBER,
                     .gflop_per_s = TBL_BLANK_NUMBER};
}
