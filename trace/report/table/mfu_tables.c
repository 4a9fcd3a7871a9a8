#include "trace/report/table/mfu_tables.h"

#include <stdlib.h>
#include <string.h>

#include "trace/analyze/result/look_up.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/table/columns.h"
#include "trace/report/labels/mfu_words.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

static double rate_or_nan(int64_t amount, int64_t ps, double scale)
{
    return amount > 0 && ps > 0 ? (double)amount / (double)ps * scale : (double)NAN;
}

static roof_row roof_row_of(const vp_roof *roof, const char *name)
{
    int64_t ps = rep_roof_ps(roof);
    return (roof_row){.name = name,
                      .roof = roof,
                      .bound = rep_bound(roof) ? rep_bound(roof) : "-",
                      .source = rep_cost_words[roof->source],
                      .device = VP_NO_DEVICE,
                      .time_ps = ps,
                      .gflop_s = rate_or_nan(roof->flops, ps, 1e3),
                      .gb_s = rate_or_nan(roof->bytes, ps, 1e3),
                      .intensity = rep_intensity(roof),
                      .of_bound = 100 * rep_of_bound(roof)};
}

static int by_roof_time(const void *a, const void *b)
{
    const roof_row *x = a, *y = b;
    if (x->time_ps != y->time_ps)
        return x->time_ps > y->time_ps ? -1 : 1;
    return x->device != y->device ? (x->device > y->device) - (x->device < y->device)
                                  : strcmp(x->name, y->name);
}

static bool is_known(const vp_roof *roof)
{
    return (roof->flops > 0 || roof->bytes > 0) && rep_roof_ps(roof) > 0;
}

static void close_rows(roof_row *v, size_t *n, size_t most)
{
    if (*n)
        qsort(v, *n, sizeof *v, by_roof_time);
    *n = *n < most ? *n : most;
}

int roof_rows_of_ops(roof_row **out, size_t *n, const vp_report *r, const vp_view *v, size_t most)
{
    *n = 0;
    *out = vp_calloc(r->op_count + 1, sizeof **out);
    VP_NEED(*out);
    for (size_t i = 0; i < r->op_count; i++) {
        const vp_op *op = &r->ops[i];
        if (!is_known(&op->roof) || op->device >= r->device_count ||
            !rep_device_matches(r, v, op->device))
            continue;
        roof_row row = roof_row_of(&op->roof, op->name);
        row.op = op;
        row.device = op->device;
        (*out)[(*n)++] = row;
    }
    close_rows(*out, n, most);
    return 0;
}

/* A scope with one child and no other time is shown once, with the child's outer name. */
static bool is_all_of(const vp_report *r, const vp_scope *s)
{
    return s->parent != UINT32_MAX &&
           rep_roof_ps(&r->scopes[s->parent].roof) == rep_roof_ps(&s->roof);
}

int roof_rows_of_scopes(roof_row **out, size_t *n, const vp_report *r, size_t most)
{
    *n = 0;
    *out = vp_calloc(r->scope_count + 1, sizeof **out);
    VP_NEED(*out);
    for (size_t i = 0; i < r->scope_count; i++)
        if (is_known(&r->scopes[i].roof) && r->scopes[i].roof.flops > 0 &&
            !is_all_of(r, &r->scopes[i]))
            (*out)[(*n)++] = roof_row_of(&r->scopes[i].roof, r->scopes[i].path);
    close_rows(*out, n, most);
    return 0;
}

#define ROW roof_row
static const tbl_column columns[] = {
    {TBL_NAME, AT(name), PAGE("Name", NULL), TERM(1, "name"), SHORT(28, 12), .tell_apart = true},
    {TBL_DEVICE, AT(device), NEEDS(TBL_DEVICES), TERM_NEEDS(TBL_DEVICES), PAGE("Device", NULL),
     TERM(2, "device"), DROP(3)},
    {TBL_PS, AT(time_ps), PAGE("Time", "Part of the compute time"), TERM_UNIT(3, "time")},
    {TBL_NUMBER, AT(gflop_s), DIGITS(1), PAGE("GFLOP/s", "FLOP of matmuls per second of that time"),
     TERM(4, "GFLOP/s"), DROP(2)},
    {TBL_NUMBER, AT(gb_s), DIGITS(1), PAGE("GB/s", "Main memory bytes per second of that time"),
     TERM(5, "GB/s"), DROP(2)},
    {TBL_NUMBER, AT(intensity), DIGITS(1), PAGE("FLOP/B", "Operational intensity"),
     TERM(6, "FLOP/B"), DROP(1)},
    {TBL_WORD, AT(bound), PAGE("Bound", "The limiting resource at the peaks: compute or memory"),
     TERM(7, "bound")},
    {TBL_NUMBER, AT(of_bound), DIGITS(1),
     PAGE("% of bound", "Minimum time at the bound / actual time; above 100, a peak is wrong"),
     TERM(8, "%bound")},
    {TBL_WORD, AT(source), PAGE("Cost by", "Source of FLOP and bytes"), TERM(9, "cost by"),
     DROP(4)},
};

/* Cells that are 0 in all rows have no column. */
enum {
    HAS_PRODUCTS = 4,
    HAS_COMM = 8,
    HAS_REDONE = 16,
    HAS_PAD = 32,
    HAS_UNKNOWN = 64,
    HAS_COPY = 128
};
#define IF(bit) NEEDS(bit), TERM_NEEDS(bit)

/* Heads on the terminal, the same words as elsewhere. */
#define BRIEF(name, word) static const char BRIEF_##name[] = word;
REP_CELLS_BRIEF(BRIEF)
#undef BRIEF
/* For rows with a pointer to their cells. */
#define CELL(cell, order) TBL_PS, PART(cell_ps[VP_CELL_##cell]), TERM(order, BRIEF_##cell)
#define CELL_COLUMNS                                                                               \
    {CELL(USEFUL, 3), IF(HAS_PRODUCTS), PAGE("Useful", "Time of its matmul FLOP at the peak")},    \
        {CELL(RECOMPUTE, 4), IF(HAS_REDONE), PAGE("Recomputed", "The same for recomputed work")},  \
        {CELL(PAD, 5), IF(HAS_PAD), DROP(3),                                                       \
         PAGE("Padding", "Tile elements outside the shapes (estimate)")},                          \
        {CELL(INEFFICIENCY, 6), IF(HAS_PRODUCTS),                                                  \
         PAGE("Inefficiency", "Remaining time of matmuls")},                                       \
        {CELL(MEM_EXCESS, 7), IF(HAS_PRODUCTS), DROP(2),                                           \
         PAGE("Matmul memory", "Time of matmul bytes beyond their FLOP")},                         \
        {CELL(NM_MEMORY, 8), PAGE("Other ops at memory bound",                                     \
                                  "Time of the bytes of all other ops at full bandwidth")},        \
        {CELL(NM_EXCESS, 9), DROP(1),                                                              \
         PAGE("Other ops above memory bound", "Remaining time of all other ops")},                 \
        {CELL(UNKNOWN, 10), IF(HAS_UNKNOWN),                                                       \
         PAGE("Unknown cost", "Ops without known FLOP and bytes")},
#define PART(member) VIA(roof, vp_roof, member)
static const tbl_column cell_columns[] = {
    {TBL_NAME, AT(name), PAGE("Scope", NULL), TERM(1, "scope"), SHORT(24, 12), .tell_apart = true},
    {TBL_PS, AT(time_ps), PAGE("Time", "Part of the compute time: the sum of the cells"),
     TERM_UNIT(2, "time")},
    CELL_COLUMNS};
#undef PART
#undef ROW

#define ROW cells_of_step
#define PART(member) VIA(on, vp_step_device, member)
static const tbl_column step_columns[] = {
    {TBL_NAME, AT(name), PAGE("Step", NULL), TERM(1, "steps")},
    {TBL_COUNT, AT(number), PAGE("Step", NULL), TERM(1, "step")},
    {TBL_PS, AT(dur_ps), PAGE("Length", "Sum of the following columns"), TERM_UNIT(2, "length")},
    CELL_COLUMNS{TBL_PS, PART(breakdown.exposed_comm_ps), IF(HAS_COMM), PAGE("Exp. comm", NULL),
                 TERM(11, "exp.comm")},
    {TBL_PS, PART(breakdown.exposed_copy_ps), IF(HAS_COPY), PAGE("Exp. copy", NULL),
     TERM(12, "exp.copy")},
    {TBL_PS, PART(breakdown.idle_ps), PAGE("Idle", NULL), TERM(13, "idle")},
};
#undef PART
#undef CELL_COLUMNS
#undef IF
#undef CELL
#undef ROW

static unsigned cells_in(const int64_t *ps)
{
    bool products = ps[VP_CELL_USEFUL] || ps[VP_CELL_INEFFICIENCY] || ps[VP_CELL_MEM_EXCESS];
    return (products ? HAS_PRODUCTS : 0u) | (ps[VP_CELL_RECOMPUTE] ? HAS_REDONE : 0u) |
           (ps[VP_CELL_PAD] ? HAS_PAD : 0u) | (ps[VP_CELL_UNKNOWN] ? HAS_UNKNOWN : 0u);
}

void tbl_cells_of_scopes(tbl *t, const vp_report *r, const vp_view *v, const roof_row *rows,
                         size_t n)
{
    *t = (tbl){TBL_ROWS("MFU breakdown by scope", cell_columns, rows, n), .r = r, .v = v};
    for (size_t i = 0; i < n; i++)
        t->has |= cells_in(rows[i].roof->cell_ps);
    t->unit[0] = rep_unit_for(v->unit, tbl_largest(t, offsetof(roof_row, time_ps)));
}

enum { SLOWEST, MEDIAN, FASTEST };

/* True if a step of this length is a better representative than the current one. */
static bool is_nearer(const vp_steps *s, size_t place, int64_t ps, int64_t than)
{
    if (place == SLOWEST)
        return ps > than;
    return place == FASTEST ? ps < than : llabs(ps - s->median_ps) < llabs(than - s->median_ps);
}

static cells_of_step pick_step(const vp_report *r, size_t place)
{
    static const char *const names[] = {"slowest", "median", "fastest"};
    cells_of_step out = {0};
    for (size_t i = 0; i < r->steps.count; i++) {
        const vp_step *s = &r->steps.list[i];
        const vp_step_device *on = result_step_device(s, s->device);
        if (!on || r->devices[on->device].mfu.peak_gflops <= 0 || !vp_step_counts(s))
            continue;
        if (!out.on || is_nearer(&r->steps, place, on->dur_ps, out.dur_ps))
            out = (cells_of_step){names[place], s->number >= 0 ? s->number : (int64_t)i + 1,
                                  on->dur_ps, on};
    }
    return out;
}

void tbl_cells_of_steps(tbl *t, const vp_report *r, const vp_view *v,
                        cells_of_step rows[CELLS_OF_STEPS_MAX])
{
    size_t n = 0;
    *t = (tbl){TBL_ROWS("MFU breakdown of steps", step_columns, rows, 0), .r = r, .v = v};
    for (size_t place = 0; place < CELLS_OF_STEPS_MAX; place++) {
        rows[n] = pick_step(r, place);
        if (!rows[n].on || (n && rows[n].on == rows[n - 1].on))
            continue;
        const vp_step_device *on = rows[n++].on;
        t->has |= cells_in(on->cell_ps) | (on->breakdown.exposed_comm_ps ? HAS_COMM : 0u) |
                  (on->breakdown.exposed_copy_ps ? HAS_COPY : 0u);
    }
    t->row_count = n;
    t->unit[0] = rep_unit_for(v->unit, rows[0].dur_ps);
}

void tbl_roofs(tbl *t, const vp_report *r, const vp_view *v, const roof_row *rows, size_t n)
{
    *t = (tbl){TBL_ROWS("Roofline by op", columns, rows, n), .r = r, .v = v};
    t->has = tbl_has(r);
    t->unit[0] = rep_unit_for(v->unit, tbl_largest(t, offsetof(roof_row, time_ps)));
}
