/* Two runs as CSV. */
#include "trace/report/compare/compare_view.h"

#include <math.h>

#include "trace/report/data/csv_cells.h"
#include "trace/report/words/words.h"

/* Everything that a comparison says as rows of one table. Columns and kinds are stable, new ones go
 * to the end. Cells that a kind has no use for are empty.
 *   time     mean, median and p90 of the steps; or window: of the slowest device
 *   class    compute, exposed_comm, exposed_copy and idle of a device, which sum to its window
 *   op       the rows of the outer join, by |delta|
 *   scope    what moved of the computation graph, in pre-order; what of it goes back
 *   finding  that fired in one of the two only
 *   caveat   in reason
 *   verdict  with the median, the threshold that it had to pass, and why */
static const char header[] =
    "session_a,session_b,kind,device,class,category,name,scope,a_ps,b_ps,delta_ps,ratio,calls_a,"
    "calls_b,span_calls_a,span_calls_b,flops_a,flops_b,time_per_flop_ratio,new,gone,significant,"
    "reason,threshold_ps,backward_a_ps,backward_b_ps,backward_delta_ps\n";

typedef struct row {
    const char *kind, *device, *class_name, *category, *name, *scope, *reason;
    const vp_delta *times, *backward; /* may be NULL */
    const vp_compared_op *op;         /* likewise */
    bool is_new, is_gone;
    int64_t threshold_ps; /* VP_UNKNOWN */
} row;

static double ratio_of(const vp_delta *d)
{
    return d->a_ps > 0 && d->b_ps >= 0 ? (double)d->b_ps / (double)d->a_ps : NAN;
}

static void put_flag(vp_buf *b, bool known, bool v)
{
    vp_buf_puts(b, !known ? "," : v ? ",true" : ",false");
}

static void put_row(vp_buf *b, const vp_comparison *c, const row *r)
{
    static const vp_delta unknown = {VP_UNKNOWN, VP_UNKNOWN, VP_NO_TIME};
    const vp_delta *d = r->times ? r->times : &unknown;
    const vp_delta *back = r->backward ? r->backward : &unknown;
    const vp_compared_op *op = r->op;
    rep_csv_text(b, c->a_id);
    rep_csv_next_text(b, c->b_id);
    vp_buf_printf(b, ",%s", r->kind);
    rep_csv_next_text(b, r->device);
    vp_buf_printf(b, ",%s", r->class_name ? r->class_name : "");
    rep_csv_next_text(b, r->category);
    rep_csv_next_text(b, r->name);
    rep_csv_next_text(b, r->scope);
    rep_csv_next_i64(b, d->a_ps, VP_UNKNOWN);
    rep_csv_next_i64(b, d->b_ps, VP_UNKNOWN);
    rep_csv_next_i64(b, d->delta_ps, VP_NO_TIME);
    rep_csv_next_double(b, ratio_of(d));
    rep_csv_next_i64(b, op ? op->calls_a : VP_UNKNOWN, VP_UNKNOWN);
    rep_csv_next_i64(b, op ? op->calls_b : VP_UNKNOWN, VP_UNKNOWN);
    rep_csv_next_double(b, op ? op->span_calls_a : NAN);
    rep_csv_next_double(b, op ? op->span_calls_b : NAN);
    rep_csv_next_i64(b, op ? op->flops_a : VP_UNKNOWN, VP_UNKNOWN);
    rep_csv_next_i64(b, op ? op->flops_b : VP_UNKNOWN, VP_UNKNOWN);
    rep_csv_next_double(b, op ? rep_flop_time_ratio(op) : NAN);
    bool either = op || r->is_new || r->is_gone;
    put_flag(b, either, op ? op->is_new : r->is_new);
    put_flag(b, either, op ? op->is_gone : r->is_gone);
    put_flag(b, op, op && op->significant);
    rep_csv_next_text(b, r->reason);
    rep_csv_next_i64(b, r->threshold_ps, VP_UNKNOWN);
    rep_csv_next_i64(b, back->a_ps, VP_UNKNOWN);
    rep_csv_next_i64(b, back->b_ps, VP_UNKNOWN);
    rep_csv_next_i64(b, back->delta_ps, VP_NO_TIME);
    vp_buf_putc(b, '\n');
}

static void put_time(vp_buf *b, const vp_comparison *c, const char *name, const vp_delta *d)
{
    put_row(b, c, &(row){.kind = "time", .name = name, .times = d, .threshold_ps = VP_UNKNOWN});
}

static void put_device(vp_buf *b, const vp_comparison *c, const vp_compared_device *d)
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
        put_row(b, c,
                &(row){.kind = "class",
                       .device = d->name,
                       .name = parts[i].name,
                       .times = parts[i].times,
                       .threshold_ps = VP_UNKNOWN});
}

static void put_op(vp_buf *b, const vp_comparison *c, const vp_compared_op *op)
{
    put_row(b, c,
            &(row){.kind = "op",
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

static void put_findings(vp_buf *b, const vp_comparison *c, const char *const *ids, size_t n,
                         bool is_new)
{
    for (size_t i = 0; i < n; i++)
        put_row(b, c,
                &(row){.kind = "finding",
                       .name = ids[i],
                       .is_new = is_new,
                       .is_gone = !is_new,
                       .threshold_ps = VP_UNKNOWN});
}

int rep_compare_csv(vp_buf *b, const vp_comparison *c)
{
    vp_buf_puts(b, header);
    put_time(b, c, c->per_step ? "mean" : "window", &c->step);
    if (c->per_step) {
        put_time(b, c, "median", &c->median);
        put_time(b, c, "p90", &c->p90);
    }
    for (size_t i = 0; i < c->device_count; i++)
        put_device(b, c, &c->devices[i]);
    for (size_t i = 0; i < c->op_count; i++)
        put_op(b, c, &c->ops[i]);
    for (size_t i = 0; i < c->scope_count; i++)
        put_row(b, c,
                &(row){.kind = "scope",
                       .scope = c->scopes[i].path,
                       .times = &c->scopes[i].total,
                       .backward = &c->scopes[i].backward,
                       .threshold_ps = VP_UNKNOWN});
    put_findings(b, c, c->findings_new, c->new_count, true);
    put_findings(b, c, c->findings_gone, c->gone_count, false);
    for (size_t i = 0; i < c->caveat_count; i++)
        put_row(b, c,
                &(row){.kind = "caveat", .reason = c->caveats[i], .threshold_ps = VP_UNKNOWN});
    put_row(b, c,
            &(row){.kind = "verdict",
                   .name = rep_verdict_name(c->verdict),
                   .times = &c->median,
                   .reason = c->verdict_reason,
                   .threshold_ps = c->threshold_ps});
    return b->status;
}
