/* Two runs as CSV. */
#include "trace/analyze/result/result_words.h"
#include "trace/report/compare/compare_view.h"

#include <math.h>
#include <stdio.h>

#include "trace/report/data/csv_table.h"
#include "trace/report/table/columns.h"
#include "trace/report/labels/words.h"

/* A comparison as rows of one table. Columns and kinds are stable, new ones are appended. Cells
 * that do not apply to a kind are empty. time     mean, median and p90 of the steps; or window: of
 * the slowest device cell     parts of compute at the device's peak: useful, inefficiency, …; they
 * sum to it class    compute, exposed_comm, exposed_copy and idle of a device, which sum to its
 * window op       the rows of the outer join, by |delta| scope    changed nodes of the computation
 * graph, in pre-order; their backward part memory   the peak of an allocator (class allocator), or
 * planned for a program (class program, and the number of its memory); below each its holders by
 * name (class holder) and by scope (class scope) finding  findings that fired in only one of both
 *   caveat   text in `reason`
 *   verdict  with the median, the threshold, and the reason
 *   idle     of the mean step by cause (class) and host activity (name); scope: its caller
 *   cause    the largest change, in `reason` */
typedef struct row {
    const vp_comparison *c;
    const char *kind, *device, *class_name, *category, *name, *scope, *reason;
    const vp_delta *times, *backward; /* may be NULL */
    const vp_compared_op *op;         /* likewise */
    const vp_compared_holder *memory; /* likewise */
    bool is_new, is_gone;
    int64_t threshold_ps; /* VP_UNKNOWN */
    int64_t space;        /* of memory; VP_UNKNOWN */
} row;

static void get_ratio(tbl_value *out, const void *at)
{
    const vp_delta *d = ((const row *)at)->times;
    out->d = d && d->a_ps > 0 && d->b_ps >= 0 ? (double)d->b_ps / (double)d->a_ps : NAN;
}

static void get_flop_ratio(tbl_value *out, const void *at)
{
    const row *r = at;
    out->d = r->op ? rep_flop_time_ratio(r->op) : NAN;
}

/* Values that only one side may have. */
static void get_new(tbl_value *out, const void *at)
{
    const row *r = at;
    out->blank = !r->op && !r->is_new && !r->is_gone;
    out->text = (r->op ? r->op->is_new : r->is_new) ? "true" : "false";
}

static void get_gone(tbl_value *out, const void *at)
{
    const row *r = at;
    out->blank = !r->op && !r->is_new && !r->is_gone;
    out->text = (r->op ? r->op->is_gone : r->is_gone) ? "true" : "false";
}

static void get_significant(tbl_value *out, const void *at)
{
    const row *r = at;
    out->blank = !r->op;
    out->text = r->op && r->op->significant ? "true" : "false";
}

#define ROW row
#define OF_BOTH(member) VIA(c, vp_comparison, member)
#define TIME(member) VIA(times, vp_delta, member)
#define BACK(member) VIA(backward, vp_delta, member)
#define MEMORY(member) VIA(memory, vp_compared_holder, member)
#define OP(member) VIA(op, vp_compared_op, member)
static const tbl_column columns[] = {
    {TBL_TEXT, OF_BOTH(a_id), CSV(0, "session_a")},
    {TBL_TEXT, OF_BOTH(b_id), CSV(0, "session_b")},
    {TBL_WORD, AT(kind), CSV(0, "kind")},
    {TBL_TEXT, AT(device), CSV(0, "device")},
    {TBL_WORD, AT(class_name), CSV(0, "class")},
    {TBL_TEXT, AT(category), CSV(0, "category")},
    {TBL_TEXT, AT(name), CSV(0, "name")},
    {TBL_TEXT, AT(scope), CSV(0, "scope")},
    {TBL_COUNT, TIME(a_ps), CSV(0, "a_ps")},
    {TBL_COUNT, TIME(b_ps), CSV(0, "b_ps")},
    {TBL_WHEN, TIME(delta_ps), CSV(0, "delta_ps")},
    {TBL_NUMBER, GET(get_ratio), CSV(0, "ratio")},
    {TBL_COUNT, OP(calls_a), CSV(0, "calls_a")},
    {TBL_COUNT, OP(calls_b), CSV(0, "calls_b")},
    {TBL_NUMBER, OP(span_calls_a), CSV(0, "span_calls_a")},
    {TBL_NUMBER, OP(span_calls_b), CSV(0, "span_calls_b")},
    {TBL_COUNT, OP(flops_a), CSV(0, "flops_a")},
    {TBL_COUNT, OP(flops_b), CSV(0, "flops_b")},
    {TBL_NUMBER, GET(get_flop_ratio), CSV(0, "time_per_flop_ratio")},
    {TBL_WORD, GET(get_new), CSV(0, "new")},
    {TBL_WORD, GET(get_gone), CSV(0, "gone")},
    {TBL_WORD, GET(get_significant), CSV(0, "significant")},
    {TBL_TEXT, AT(reason), CSV(0, "reason")},
    {TBL_COUNT, AT(threshold_ps), CSV(0, "threshold_ps")},
    {TBL_COUNT, BACK(a_ps), CSV(0, "backward_a_ps")},
    {TBL_COUNT, BACK(b_ps), CSV(0, "backward_b_ps")},
    {TBL_WHEN, BACK(delta_ps), CSV(0, "backward_delta_ps")},
    {TBL_COUNT, MEMORY(a_bytes), CSV(0, "a_bytes")},
    {TBL_COUNT, MEMORY(b_bytes), CSV(0, "b_bytes")},
    {TBL_WHEN, MEMORY(delta_bytes), CSV(0, "delta_bytes")},
    {TBL_COUNT, AT(space), CSV(0, "space")},
    {TBL_TEXT, MEMORY(source), CSV(0, "source")},
};
#undef MEMORY
#undef OP
#undef BACK
#undef TIME
#undef OF_BOTH
#undef ROW

static void csv_put_compare_row(csv_row_writer *w, const vp_comparison *c, row r)
{
    r.c = c;
    if (!r.memory)
        r.space = VP_UNKNOWN;
    csv_row(w, &r);
}

static void csv_put_time_row(csv_row_writer *w, const vp_comparison *c, const char *name,
                             const vp_delta *d)
{
    csv_put_compare_row(
        w, c, (row){.kind = "time", .name = name, .times = d, .threshold_ps = VP_UNKNOWN});
}

static void csv_put_device_rows(csv_row_writer *w, const vp_comparison *c,
                                const vp_compared_device *d)
{
    const struct {
        const char *name;
        const vp_delta *times;
    } parts[] = {{"compute", &d->compute},
                 {"exposed_comm", &d->exposed_comm},
                 {"exposed_copy", &d->exposed_copy},
                 {"idle", &d->idle},
                 {"window", &d->window}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        csv_put_compare_row(w, c,
                            (row){.kind = "class",
                                  .device = d->name,
                                  .name = parts[i].name,
                                  .times = parts[i].times,
                                  .threshold_ps = VP_UNKNOWN});
}

static void csv_put_cell_row(csv_row_writer *w, const vp_comparison *c, const vp_compared_device *d,
                             const char *name, const vp_delta *times)
{
    if (times->delta_ps != VP_NO_TIME)
        csv_put_compare_row(w, c,
                            (row){.kind = "cell",
                                  .device = d->name,
                                  .name = name,
                                  .times = times,
                                  .threshold_ps = VP_UNKNOWN});
}

/* The parts of compute, if both sides have a peak; of exposed communication, if both have matched
 * calls; and of idle time. */
static void csv_put_cell_rows(csv_row_writer *w, const vp_comparison *c,
                              const vp_compared_device *d)
{
    char name[64];
    for (size_t i = 0; i < VP_CELLS; i++)
        csv_put_cell_row(w, c, d, result_cell_words[i], &d->cells[i]);
    csv_put_cell_row(w, c, d, "exposed_wait", &d->wait);
    csv_put_cell_row(w, c, d, "exposed_transfer", &d->transfer);
    for (size_t i = 0; i < VP_CAUSES; i++) {
        snprintf(name, sizeof name, "idle_%s", result_cause_words[i]);
        csv_put_cell_row(w, c, d, name, &d->causes[i]);
    }
}

static void csv_put_op_row(csv_row_writer *w, const vp_comparison *c, const vp_compared_op *op)
{
    csv_put_compare_row(w, c,
                        (row){.kind = "op",
                              .device = op->device,
                              .class_name = rep_class_name(op->op_class),
                              .category = op->category,
                              .name = op->name,
                              .scope = op->scope,
                              .times = &op->self,
                              .op = op,
                              .reason = op->reason,
                              .threshold_ps = VP_UNKNOWN});
}

static void csv_put_holder_rows(csv_row_writer *w, const vp_comparison *c,
                                const vp_compared_memory *m, const char *class_name,
                                const vp_compared_holder *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        csv_put_compare_row(w, c,
                            (row){.kind = "memory",
                                  .device = m->program ? m->program : m->allocator,
                                  .class_name = class_name,
                                  .name = v[i].name,
                                  .scope = v[i].scope,
                                  .memory = &v[i],
                                  .space = m->space,
                                  .threshold_ps = VP_UNKNOWN});
}

static void csv_put_memory_rows(csv_row_writer *w, const vp_comparison *c,
                                const vp_compared_memory *m)
{
    const vp_compared_holder all = {
        .a_bytes = m->a_bytes, .b_bytes = m->b_bytes, .delta_bytes = m->delta_bytes};
    csv_put_holder_rows(w, c, m, m->program ? "program" : "allocator", &all, 1);
    csv_put_holder_rows(w, c, m, "holder", m->holders, m->holder_count);
    csv_put_holder_rows(w, c, m, "scope", m->scopes, m->scope_count);
}

static void csv_put_finding_rows(csv_row_writer *w, const vp_comparison *c, const char *const *ids,
                                 size_t n, bool is_new)
{
    for (size_t i = 0; i < n; i++)
        csv_put_compare_row(w, c,
                            (row){.kind = "finding",
                                  .name = ids[i],
                                  .is_new = is_new,
                                  .is_gone = !is_new,
                                  .threshold_ps = VP_UNKNOWN});
}

int rep_compare_csv(vp_buf *b, const vp_comparison *c)
{
    tbl t = {TBL_COLUMNS(columns)};
    csv_row_writer w;
    csv_init_rows(&w, b, &t);
    csv_put_time_row(&w, c, c->per_step ? "mean" : "window", &c->step);
    if (c->per_step) {
        csv_put_time_row(&w, c, "median", &c->median);
        csv_put_time_row(&w, c, "p90", &c->p90);
    }
    for (size_t i = 0; i < c->device_count; i++)
        csv_put_device_rows(&w, c, &c->devices[i]);
    for (size_t i = 0; i < c->device_count; i++)
        csv_put_cell_rows(&w, c, &c->devices[i]);
    for (size_t i = 0; i < c->op_count; i++)
        csv_put_op_row(&w, c, &c->ops[i]);
    for (size_t i = 0; i < c->scope_count; i++)
        csv_put_compare_row(&w, c,
                            (row){.kind = "scope",
                                  .scope = c->scopes[i].path,
                                  .times = &c->scopes[i].total,
                                  .backward = &c->scopes[i].backward,
                                  .is_new = !c->scopes[i].total.a_ps && c->scopes[i].total.b_ps,
                                  .is_gone = c->scopes[i].total.a_ps && !c->scopes[i].total.b_ps,
                                  .threshold_ps = VP_UNKNOWN});
    for (size_t i = 0; i < c->memory_count; i++)
        csv_put_memory_rows(&w, c, &c->memory[i]);
    csv_put_finding_rows(&w, c, c->findings_new, c->new_count, true);
    csv_put_finding_rows(&w, c, c->findings_gone, c->gone_count, false);
    for (size_t i = 0; i < c->caveat_count; i++)
        csv_put_compare_row(
            &w, c, (row){.kind = "caveat", .reason = c->caveats[i], .threshold_ps = VP_UNKNOWN});
    csv_put_compare_row(&w, c,
                        (row){.kind = "verdict",
                              .name = rep_verdict_name(c->verdict),
                              .times = &c->median,
                              .reason = c->verdict_reason,
                              .threshold_ps = c->threshold_ps});
    for (size_t i = 0; i < c->idle_count; i++)
        csv_put_compare_row(&w, c,
                            (row){.kind = "idle",
                                  .class_name = result_cause_words[c->idle[i].cause],
                                  .name = c->idle[i].label,
                                  .scope = c->idle[i].user,
                                  .times = &c->idle[i].total,
                                  .threshold_ps = VP_UNKNOWN});
    if (c->cause)
        csv_put_compare_row(&w, c,
                            (row){.kind = "cause", .reason = c->cause, .threshold_ps = VP_UNKNOWN});
    return b->status;
}
