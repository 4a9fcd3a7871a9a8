#include "trace/report/table/mfu_tables.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/table/columns.h"
#include "trace/report/words/mfu_words.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"
#include "trace/report/words/words.h"

static double rate(int64_t amount, int64_t ps, double scale)
{
    return amount > 0 && ps > 0 ? (double)amount / (double)ps * scale : (double)NAN;
}

static roof_row row_of(const vp_roof *roof, const char *name)
{
    int64_t ps = rep_roof_ps(roof);
    return (roof_row){.name = name,
                      .roof = roof,
                      .bound = rep_bound(roof) ? rep_bound(roof) : "-",
                      .source = rep_cost_words[roof->source],
                      .device = VP_NO_DEVICE,
                      .time_ps = ps,
                      .gflop_s = rate(roof->flops, ps, 1e3),
                      .gb_s = rate(roof->bytes, ps, 1e3),
                      .intensity = rep_intensity(roof),
                      .of_bound = 100 * rep_of_bound(roof)};
}

static int by_time(const void *a, const void *b)
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
        qsort(v, *n, sizeof *v, by_time);
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
        roof_row row = row_of(&op->roof, op->name);
        row.op = op;
        row.device = op->device;
        (*out)[(*n)++] = row;
    }
    close_rows(*out, n, most);
    return 0;
}

/* A scope with one child and nothing else is shown as the child's outer name: once. */
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
            (*out)[(*n)++] = row_of(&r->scopes[i].roof, r->scopes[i].path);
    close_rows(*out, n, most);
    return 0;
}

#define ROW roof_row
static const tbl_column columns[] = {
    {TBL_NAME, AT(name), PAGE("Name", NULL), TERM(1, "name"), SHORT(28, 12), .tell_apart = true},
    {TBL_DEVICE, AT(device), NEEDS(TBL_DEVICES), TERM_NEEDS(TBL_DEVICES), PAGE("Device", NULL),
     TERM(2, "device"), DROP(3)},
    {TBL_PS, AT(time_ps), PAGE("Time", "Its part of the compute time"), TERM_UNIT(3, "time")},
    {TBL_NUMBER, AT(gflop_s), DIGITS(1), PAGE("GFLOP/s", "FLOP of products over that time"),
     TERM(4, "GFLOP/s"), DROP(2)},
    {TBL_NUMBER, AT(gb_s), DIGITS(1), PAGE("GB/s", "Bytes of main memory over that time"),
     TERM(5, "GB/s"), DROP(2)},
    {TBL_NUMBER, AT(intensity), DIGITS(1), PAGE("FLOP/B", "Intensity"), TERM(6, "FLOP/B"), DROP(1)},
    {TBL_WORD, AT(bound), PAGE("Bound", "What takes longer at the peaks: its FLOP or its bytes"),
     TERM(7, "bound")},
    {TBL_NUMBER, AT(of_bound), DIGITS(1),
     PAGE("% of bound", "What the bound takes over what it took; above 100 a peak is wrong"),
     TERM(8, "%bound")},
    {TBL_WORD, AT(source), PAGE("Cost by", "Who says the FLOP and bytes"), TERM(9, "cost by"),
     DROP(4)},
};

/* Cells that are nothing in all rows have no column. */
enum { HAS_REDONE = 16, HAS_PAD = 32, HAS_UNKNOWN = 64 };

/* Heads on the terminal, the same words as elsewhere. */
#define BRIEF(name, word) static const char BRIEF_##name[] = word;
REP_CELLS_BRIEF(BRIEF)
#undef BRIEF
#define CELL(cell, order)                                                                          \
    TBL_PS, VIA(roof, vp_roof, cell_ps[VP_CELL_##cell]), TERM(order, BRIEF_##cell)
static const tbl_column cell_columns[] = {
    {TBL_NAME, AT(name), PAGE("Scope", NULL), TERM(1, "scope"), SHORT(24, 12), .tell_apart = true},
    {TBL_PS, AT(time_ps), PAGE("Time", "Its part of the compute time: the sum of the cells"),
     TERM_UNIT(2, "time")},
    {CELL(USEFUL, 3), PAGE("Useful", "What the FLOP of its products take at the peak")},
    {CELL(RECOMPUTE, 4), PAGE("Recomputed", "The same of work that is done again"),
     NEEDS(HAS_REDONE), TERM_NEEDS(HAS_REDONE)},
    {CELL(PAD, 5), PAGE("Padding", "What tiles have beyond the shapes, an estimate"),
     NEEDS(HAS_PAD), TERM_NEEDS(HAS_PAD)},
    {CELL(INEFFICIENCY, 6), PAGE("Inefficiency", "What is left of the time of products")},
    {CELL(MEM_EXCESS, 7),
     PAGE("Memory of products", "What the bytes of products take beyond their FLOP")},
    {CELL(NM_MEMORY, 8),
     PAGE("Memory of others", "What the bytes of all other ops take at the full bandwidth")},
    {CELL(NM_EXCESS, 9), PAGE("Others beyond", "What is left of the time of all other ops")},
    {CELL(UNKNOWN, 10), PAGE("Cost unknown", "Ops whose cost nothing says"), NEEDS(HAS_UNKNOWN),
     TERM_NEEDS(HAS_UNKNOWN)},
};
#undef CELL
#undef ROW

void tbl_cells_of_scopes(tbl *t, const vp_report *r, const vp_view *v, const roof_row *rows,
                         size_t n)
{
    *t = (tbl){TBL_ROWS("Where the time of scopes goes", cell_columns, rows, n), .r = r, .v = v};
    for (size_t i = 0; i < n; i++) {
        const int64_t *ps = rows[i].roof->cell_ps;
        t->has |= (ps[VP_CELL_RECOMPUTE] ? HAS_REDONE : 0u) | (ps[VP_CELL_PAD] ? HAS_PAD : 0u) |
                  (ps[VP_CELL_UNKNOWN] ? HAS_UNKNOWN : 0u);
    }
    t->unit[0] = rep_unit_for(v->unit, tbl_largest(t, offsetof(roof_row, time_ps)));
}

void tbl_roofs(tbl *t, const vp_report *r, const vp_view *v, const roof_row *rows, size_t n)
{
    *t = (tbl){TBL_ROWS("How near ops come to the roof", columns, rows, n), .r = r, .v = v};
    t->has = tbl_has(r);
    t->unit[0] = rep_unit_for(v->unit, tbl_largest(t, offsetof(roof_row, time_ps)));
}
