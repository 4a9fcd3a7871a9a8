/* F33 F34 F35: distance of matmuls from the peak. They claim no time, because F17 or F19 may claim
 * the time of the same op. */
#include "trace/analyze/findings/findings_run.h"

/* The device with the largest share of the part; UINT32_MAX: no device has a peak and FLOP. */
typedef struct worst {
    uint32_t device;
    int64_t part_ps, whole_ps;
} worst;

static bool is_judged(const vp_device *d)
{
    return d->mfu.peak_gflops > 0 && d->mfu.flops > 0;
}

static worst worst_cell(const vp_report *r, vp_cell cell)
{
    worst w = {.device = UINT32_MAX};
    for (uint32_t d = 0; d < r->device_count; d++) {
        const vp_device *x = &r->devices[d];
        if (is_judged(x) &&
            (w.device == UINT32_MAX || fnd_share(x->mfu.cell_ps[cell], x->breakdown.window_ps) >
                                           fnd_share(w.part_ps, w.whole_ps)))
            w = (worst){d, x->mfu.cell_ps[cell], x->breakdown.window_ps};
    }
    return w;
}

static const vp_op *largest_op_of_cell(const vp_report *r, uint32_t device, vp_cell cell)
{
    const vp_op *most = NULL;
    for (size_t i = 0; i < r->op_count; i++)
        if (r->ops[i].device == device &&
            (!most || r->ops[i].roof.cell_ps[cell] > most->roof.cell_ps[cell]))
            most = &r->ops[i];
    return most && most->roof.cell_ps[cell] > 0 ? most : NULL;
}

/* True if the part reaches the rule's share; then the rule fires, and *op has most of it. */
static bool fire_if_cell_large(fnd_run *run, const worst *w, vp_cell cell, const vp_op **op)
{
    run->f->value = fnd_share(w->part_ps, w->whole_ps);
    if (w->device == UINT32_MAX || !fnd_reaches(run, w->part_ps, w->whole_ps, FND_SHARE))
        return false;
    run->f->status = VP_FIRED;
    run->f->severity = VP_LEVEL_LOW;
    *op = largest_op_of_cell(run->r, w->device, cell);
    if (*op)
        fnd_place(run, w->device, NULL, (*op)->slowest_start_ps, (*op)->slowest_dur_ps);
    return true;
}

static const char *most_in(fnd_run *run, const vp_op *op, vp_cell cell)
{
    return op ? fnd_say(run, ", most of it in %s (%s)", fnd_short(run, op->name),
                        fnd_time(run, op->roof.cell_ps[cell]))
              : "";
}

void fnd_unknown_cost(fnd_run *run)
{
    const worst w = worst_cell(run->r, VP_CELL_UNKNOWN);
    const vp_op *op;
    if (!fire_if_cell_large(run, &w, VP_CELL_UNKNOWN, &op))
        return;
    fnd_message(run, fnd_say(run,
                             "%s of the window of %s is in ops of unknown cost%s, so its MFU is a "
                             "lower bound.",
                             fnd_percent(run, w.part_ps, w.whole_ps), fnd_device(run, w.device),
                             most_in(run, op, VP_CELL_UNKNOWN)));
}

static int64_t roof_time(const vp_roof *roof)
{
    return fnd_sum(roof->cell_ps, 0, VP_CELLS);
}

/* The op whose FLOP exceed its time the most. */
static const vp_op *op_most_above_peak(const vp_report *r, uint32_t device)
{
    const vp_op *most = NULL;
    for (size_t i = 0; i < r->op_count; i++) {
        const vp_op *op = &r->ops[i];
        if (op->device == device && op->roof.flops > 0 &&
            (!most ||
             op->roof.peak_ps - roof_time(&op->roof) > most->roof.peak_ps - roof_time(&most->roof)))
            most = op;
    }
    return most;
}

void fnd_above_peak(fnd_run *run)
{
    const vp_report *r = run->r;
    worst w = {.device = UINT32_MAX};
    for (uint32_t d = 0; d < r->device_count; d++) {
        const vp_device *x = &r->devices[d];
        if (is_judged(x) &&
            (w.device == UINT32_MAX || fnd_share(x->mfu.above_ps, x->breakdown.compute_ps) >
                                           fnd_share(w.part_ps, w.whole_ps)))
            w = (worst){d, x->mfu.above_ps, x->breakdown.compute_ps};
    }
    run->f->value = fnd_share(w.part_ps, w.whole_ps);
    if (w.device == UINT32_MAX || !fnd_exceeds(run, w.part_ps, w.whole_ps, FND_SHARE))
        return;
    const vp_mfu *m = &r->devices[w.device].mfu;
    run->f->status = VP_FIRED;
    run->f->severity = VP_LEVEL_MEDIUM;
    fnd_message(run, fnd_say(run,
                             "%s execution%s on %s %s faster than the peak of %s GFLOP/s%s%s "
                             "allows, by %s of its compute time.",
                             fnd_count(run, m->above_ops), m->above_ops == 1 ? "" : "s",
                             fnd_device(run, w.device), m->above_ops == 1 ? "is" : "are",
                             fnd_count(run, m->peak_gflops), m->chip ? " of " : "",
                             m->chip ? fnd_short(run, m->chip) : "",
                             fnd_percent(run, w.part_ps, w.whole_ps)));
    const vp_op *op = op_most_above_peak(r, w.device);
    if (op)
        fnd_place(run, w.device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
}

void fnd_inefficiency(fnd_run *run)
{
    const worst w = worst_cell(run->r, VP_CELL_INEFFICIENCY);
    const vp_op *op;
    if (!fire_if_cell_large(run, &w, VP_CELL_INEFFICIENCY, &op))
        return;
    if (fnd_reaches(run, w.part_ps, w.whole_ps, FND_SEVERE))
        run->f->severity = VP_LEVEL_MEDIUM;
    fnd_message(run, fnd_say(run,
                             "Matmuls on %s take %s of its window (%s) more than their FLOP and "
                             "bytes need at the peak%s.",
                             fnd_device(run, w.device), fnd_percent(run, w.part_ps, w.whole_ps),
                             fnd_time(run, w.part_ps), most_in(run, op, VP_CELL_INEFFICIENCY)));
}
