#include "trace/report/compare/compare_tables.h"

#include <math.h>

#include "trace/report/compare/compare_view.h"
#include "trace/base/log.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/words.h"

static int64_t longer_ps(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- Times, or the parts of a window ---- */

#define ROW part_row
static const tbl_column part_columns[] = {
    {TBL_OWN, OWN(PART_NAME), PAGE("Part", NULL), TERM(1, "")},
    DELTA_COLUMNS(d, 2, 1),
    {TBL_OWN, OWN(PART_BAR), TERM(6, "less       more"), TERM_NEEDS(PART_BARS), DROP(2)},
};
#undef ROW

void tbl_parts(delta_table *out, const part_row *rows, size_t n, const vp_view *v)
{
    int64_t longest = 0;
    *out = (delta_table){.t = {TBL_ROWS("Parts of the difference", part_columns, rows, n), .v = v}};
    for (size_t i = 0; i < n; i++) {
        longest = longer_ps(longest, longer_ps(rows[i].d.a_ps, rows[i].d.b_ps));
        out->widest = longer_ps(out->widest, rep_delta_size(&rows[i].d));
    }
    out->t.unit[0] = rep_unit_for(v->unit, longest);
}

static int64_t delta_side(const vp_delta *d, bool b)
{
    return b ? d->b_ps : d->a_ps;
}

/* One side, with the data for the cells. */
static size_t side_mfu_cells(mfu_cell out[MFU_CELLS_MAX], const vp_compared_device *c, bool b)
{
    vp_device d = {.exposed_wait_ps =
                       c->wait.delta_ps == VP_NO_TIME ? VP_UNKNOWN : delta_side(&c->wait, b),
                   .breakdown = {.exposed_comm_ps = delta_side(&c->exposed_comm, b),
                                 .exposed_copy_ps = delta_side(&c->exposed_copy, b),
                                 .idle_ps = delta_side(&c->idle, b)}};
    bool known = c->cells[0].delta_ps != VP_NO_TIME;
    for (size_t i = 0; i < VP_CELLS; i++)
        d.mfu.cell_ps[i] = known ? delta_side(&c->cells[i], b) : 0;
    if (!known)
        d.mfu.cell_ps[VP_CELL_UNKNOWN] = delta_side(&c->compute, b);
    for (size_t i = 0; i < VP_CAUSES; i++)
        d.cause_ps[i] = delta_side(&c->causes[i], b);
    return rep_mfu_cells(out, &d);
}

size_t rep_compared_cells(part_row out[PART_CELLS_MAX], const vp_compared_device *d, bool per_step)
{
    mfu_cell a[MFU_CELLS_MAX], b[MFU_CELLS_MAX];
    size_t n = 0;
    if (d->window.delta_ps == VP_NO_TIME)
        return 0;
    size_t cells = side_mfu_cells(a, d, false);
    side_mfu_cells(b, d, true);
    if (d->cells[0].delta_ps == VP_NO_TIME)
        a[VP_CELL_UNKNOWN].name = rep_part_names[REP_COMPUTE];
    for (size_t i = 0; i < cells; i++)
        if (a[i].ps || b[i].ps)
            out[n++] = (part_row){
                a[i].name, a[i].css, {a[i].ps, b[i].ps, b[i].ps - a[i].ps}, TBL_PLAIN, TBL_PLAIN};
    out[n++] = (part_row){per_step ? "= step" : "= window", NULL, d->window, TBL_BOLD, TBL_BOLD};
    return n > 2 ? n : 0;
}

/* ---- Devices ---- */

enum { STEPS = 4, WINDOWS = 8 }; /* has: which kind of times */

#define ROW vp_compared_device
static const tbl_column device_columns[] = {
    {TBL_NAME, AT(name), TERM(1, "device"), SHORT(20, 8)},
    {TBL_OWN_FIGURE, OWN(DELTA_FIGURE), AT(window), TERM_UNIT(2, "step"), TERM_NEEDS(STEPS),
     STYLE(TBL_BOLD)},
    {TBL_OWN_FIGURE, OWN(DELTA_FIGURE), AT(window), TERM_UNIT(2, "window"), TERM_NEEDS(WINDOWS),
     STYLE(TBL_BOLD)},
    {TBL_OWN_FIGURE, OWN(DELTA_CHANGE), AT(window), TERM(3, "change"), DROP(3)},
    {TBL_OWN_FIGURE, OWN(DELTA_FIGURE), AT(compute), TERM(4, "compute")},
    {TBL_OWN_FIGURE, OWN(DELTA_FIGURE), AT(exposed_comm), TERM(5, "exp.comm")},
    {TBL_OWN_FIGURE, OWN(DELTA_FIGURE), AT(exposed_copy), TERM(6, "exp.copy"), DROP(2)},
    {TBL_OWN_FIGURE, OWN(DELTA_FIGURE), AT(idle), TERM(7, "idle")},
};
#undef ROW

void tbl_compared_devices(delta_table *out, const vp_comparison *c, const vp_view *v)
{
    *out =
        (delta_table){.t = {TBL_ROWS("B-A by device", device_columns, c->devices, c->device_count),
                            .v = v, .has = c->per_step ? STEPS : WINDOWS},
                      .c = c};
    for (size_t i = 0; i < c->device_count; i++)
        out->widest = longer_ps(out->widest, rep_delta_size(&c->devices[i].window));
    out->t.unit[0] = rep_unit_for(v->unit, out->widest);
}

/* ---- Ops ---- */

enum { FLOPS = 16 }; /* has */

static void get_below(tbl_value *out, const void *row)
{
    const vp_compared_op *o = row;
    out->text = o->name;
    out->below = o->scope ? o->scope : o->category;
}

static double gflop_per_s(int64_t flops, int64_t ps)
{
    return flops < 0 || ps <= 0 ? NAN : (double)flops / (double)ps * 1000;
}

static void get_gflop_a(tbl_value *out, const void *row)
{
    const vp_compared_op *o = row;
    out->d = gflop_per_s(o->flops_a, o->self.a_ps);
}

static void get_gflop_b(tbl_value *out, const void *row)
{
    const vp_compared_op *o = row;
    out->d = gflop_per_s(o->flops_b, o->self.b_ps);
}

#define ROW vp_compared_op
#define CALLS(number, head)                                                                        \
    {TBL_OWN_FIGURE, OWN(number), PAGE(head, "Per step, on one device"), NEEDS(STEPS)},            \
    {                                                                                              \
        TBL_OWN_FIGURE, OWN(number), PAGE(head, "In the window, on one device"), NEEDS(WINDOWS)    \
    }
static const tbl_column moved_columns[] = {
    {TBL_NAME, GET(get_below), PAGE("Op", "Name, with its scope or category")},
    {TBL_TEXT, AT(device), PAGE("Device", NULL), NEEDS(TBL_DEVICES)},
    DELTA_COLUMNS(self, 1, TBL_DROP_LATE),
    CALLS(MOVED_CALLS_A, "Calls A"),
    CALLS(MOVED_CALLS_B, "Calls B"),
    {TBL_NUMBER, GET(get_gflop_a),
     PAGE("A", "More work at an equal or higher rate does not count "
               "as slower"),
     UNIT(GFLOP_PER_S), NEEDS(FLOPS)},
    {TBL_NUMBER, GET(get_gflop_b), PAGE("B", NULL), UNIT(GFLOP_PER_S), NEEDS(FLOPS)},
    {TBL_OWN_FIGURE, OWN(MOVED_CALLS), TERM(5, "calls"), DROP(3)},
    {TBL_OWN, OWN(MOVED_NAME), TERM(6, "op"), SHORT(24, 12), .tell_apart = true},
    {TBL_OWN, OWN(MOVED_WHY), PAGE("Verdict", "Why this counts as a change or not")},
    {TBL_TEXT, AT(reason), TERM(7, "why"), SHORT(27, 10), DROP(1), STYLE(TBL_DIM)},
};
#undef CALLS
#undef ROW

/* Ops of several devices, or kinds of devices. */
static bool has_devices(const vp_comparison *c)
{
    for (size_t i = 1; i < c->op_count; i++)
        if (!vp_str_eq(vp_str_of(c->ops[i].device), vp_str_of(c->ops[0].device)))
            return true;
    return false;
}

static bool has_flops(const vp_comparison *c)
{
    for (size_t i = 0; i < c->op_count; i++)
        if (c->ops[i].flops_a > 0 && c->ops[i].flops_b > 0)
            return true;
    return false;
}

void tbl_moved(delta_table *out, const vp_comparison *c, const vp_view *v)
{
    *out =
        (delta_table){.t = {TBL_ROWS("Changed ops", moved_columns, c->ops, c->op_count), .v = v,
                            .has = (has_devices(c) ? TBL_DEVICES : 0u) |
                                   (has_flops(c) ? FLOPS : 0u) | (c->per_step ? STEPS : WINDOWS)},
                      .c = c};
}

/* ---- Scopes ---- */

enum { BACKWARD = 16, CELLS = 32 }; /* has */

static vp_cell most_moved(const vp_compared_scope *s)
{
    vp_cell most = 0;
    for (vp_cell i = 1; i < VP_CELLS; i++)
        if (rep_delta_size(&s->cells[i]) > rep_delta_size(&s->cells[most]))
            most = i;
    return most;
}

static const char *most_moved_as(const vp_compared_scope *s, const char *(*name)(vp_cell))
{
    vp_cell most = most_moved(s);
    return rep_delta_size(&s->cells[most]) ? name(most) : "";
}

static void get_most_moved(tbl_value *out, const void *row)
{
    out->text = most_moved_as(row, rep_cell_name);
}

static void get_most_moved_brief(tbl_value *out, const void *row)
{
    out->text = most_moved_as(row, rep_cell_brief);
}

#define ROW vp_compared_scope
static const tbl_column scope_columns[] = {
    {TBL_OWN_NAME, OWN(SCOPE_NAME), PAGE("Scope", NULL), TERM(6, "scope"), SHORT(30, 12)},
    DELTA_COLUMNS(total, 1, 2),
    {TBL_OWN_FIGURE, OWN(DELTA_FIGURE), AT(backward), .says_unit = true,
     PAGE("Backward part", "B − A of backward and rematerialized work"), NEEDS(BACKWARD)},
    {TBL_OWN_FIGURE, OWN(DELTA_FIGURE), AT(backward), TERM(5, "backward"), TERM_NEEDS(BACKWARD),
     DROP(1)},
    {TBL_WORD, GET(get_most_moved),
     PAGE("Mostly", "The MFU breakdown cell with the largest change"), NEEDS(CELLS)},
    {TBL_WORD, GET(get_most_moved_brief), TERM(7, "mostly"), TERM_NEEDS(CELLS), DROP(2),
     STYLE(TBL_DIM)},
};
#undef ROW

static bool has_cells(const vp_comparison *c)
{
    for (size_t i = 0; i < c->scope_count; i++)
        if (rep_delta_size(&c->scopes[i].cells[most_moved(&c->scopes[i])]))
            return true;
    return false;
}

void tbl_compared_scopes(delta_table *out, const vp_comparison *c, const vp_view *v)
{
    *out = (delta_table){
        .t = {TBL_ROWS("Computation graph by difference", scope_columns, c->scopes, c->scope_count),
              .v = v, .has = (rep_has_backward(c) ? BACKWARD : 0u) | (has_cells(c) ? CELLS : 0u)},
        .c = c};
}

/* ---- Idle time ---- */

static void get_idle_cause(tbl_value *out, const void *row)
{
    out->text = rep_cause_name(((const vp_compared_idle *)row)->cause);
}

#define ROW vp_compared_idle
static const tbl_column idle_columns[] = {
    {TBL_OWN_NAME, OWN(IDLE_NAME), PAGE("Host activity", "What the host did meanwhile"),
     TERM(7, "host activity"), SHORT(40, 16)},
    DELTA_COLUMNS(total, 1, 2),
    {TBL_WORD, GET(get_idle_cause), PAGE("Cause", NULL), TERM(6, "cause"), STYLE(TBL_DIM)},
};
#undef ROW

void tbl_compared_idle(delta_table *out, const vp_comparison *c, const vp_view *v)
{
    *out = (delta_table){
        .t = {TBL_ROWS("Idle time by host activity", idle_columns, c->idle, c->idle_count), .v = v},
        .c = c};
    for (size_t i = 0; i < c->idle_count; i++)
        out->widest = longer_ps(out->widest, rep_delta_size(&c->idle[i].total));
}

void rep_put_idle_name(vp_buf *b, const vp_compared_idle *x)
{
    vp_put_escaped(b, vp_str_of(x->label));
    if (x->user && !vp_str_eq(vp_str_of(x->user), vp_str_of(x->label))) {
        vp_buf_puts(b, ", called by ");
        vp_put_escaped(b, vp_str_of(x->user));
    }
}
