/* F17 F24 F19 F18: ops of the device. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

/* Ops that other rules cover. */
static bool has_own_rule(const vp_op *op)
{
    static const char *const names[] = {"-done", "infeed", "outfeed", "callback"};
    vp_str name = vp_str_of(op->name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (vp_str_find_nocase(name, vp_str_of(names[i])) < name.n)
            return true;
    return op->op_class != VP_COMPUTE;
}

/* ---- F17 ---- */

/* The part of a group that is evaluated as one op (docs/reference/findings.md#f17-hot-op). In a
 * group of several shapes it is the largest shape. With one shape it is the whole group, over all
 * layouts, scopes and lines of the program. */
typedef struct judged {
    const vp_op *op;
    const char *shape; /* the label of that shape; NULL: the whole group */
    int64_t self_ps, calls;
} judged;

static const char *outside_layout(const char *s)
{
    for (int depth = 0; *s && (depth || *s == '{'); s++)
        depth += *s == '{' ? 1 : *s == '}' ? -1 : 0;
    return s;
}

static bool same_shape(const char *a, const char *b)
{
    for (;; a++, b++) {
        a = outside_layout(a);
        b = outside_layout(b);
        if (*a != *b || !*a)
            return *a == *b;
    }
}

static judged judge_op_shapes(const vp_op *op)
{
    judged best = {op, NULL, 0, 0};
    for (size_t i = 0; i < op->split_count; i++) {
        judged one = {op, op->splits[i].label, 0, 0};
        if (!one.shape || op->splits[i].by > VP_SPLIT_LAYOUT)
            break;
        for (size_t k = 0; k < op->split_count; k++)
            if (op->splits[k].label && same_shape(one.shape, op->splits[k].label)) {
                one.self_ps += op->splits[k].self_ps;
                one.calls += op->splits[k].calls;
            }
        best = one.self_ps > best.self_ps ? one : best;
    }
    return best.shape ? best : (judged){op, NULL, op->self_ps, op->calls};
}

/* The shape without its layout, up to 60 bytes. */
static const char *say_shape(fnd_run *run, const char *label)
{
    char text[128];
    size_t n = 0;
    for (const char *s = outside_layout(label); *s && n + 1 < sizeof text; s = outside_layout(s))
        text[n++] = *s++;
    text[n] = 0;
    return fnd_short(run, fnd_say(run, "%s", text));
}

static judged hottest_op(const vp_report *r)
{
    judged best = {0};
    double most = 0;
    for (size_t i = 0; i < r->op_count; i++) {
        const vp_op *op = &r->ops[i];
        if (op->device >= r->device_count || has_own_rule(op))
            continue;
        judged j = judge_op_shapes(op);
        double share = fnd_share(j.self_ps, r->devices[op->device].self_ps);
        if (share > most) {
            most = share;
            best = j;
        }
    }
    return best;
}

static bool is_custom_call(const vp_op *op)
{
    return op->category && strstr(op->category, "custom");
}

void fnd_hot_op(fnd_run *run)
{
    const vp_report *r = run->r;
    const judged hot = hottest_op(r);
    const vp_op *op = hot.op;
    if (!op)
        return;
    const vp_device *d = &r->devices[op->device];
    int64_t ps = hot.self_ps;
    run->f->value = fnd_share(ps, d->self_ps);
    if (ps < fnd_limit_ps(run) || !fnd_reaches(run, ps, d->self_ps, FND_SHARE))
        return;
    run->f->status = VP_FIRED;
    run->f->severity =
        fnd_reaches(run, ps, d->self_ps, FND_SEVERE) ? VP_LEVEL_MEDIUM : VP_LEVEL_LOW;
    fnd_message(run,
                fnd_say(run, "%s%s%s%s takes %s of the op time of %s (%s of %s) in %s call%s%s%s.",
                        is_custom_call(op) ? "The custom kernel " : "", fnd_short(run, op->name),
                        hot.shape ? " " : "", hot.shape ? say_shape(run, hot.shape) : "",
                        fnd_percent(run, ps, d->self_ps), fnd_device(run, op->device),
                        fnd_time(run, ps), fnd_time(run, d->self_ps), fnd_count(run, hot.calls),
                        hot.calls == 1 ? "" : "s", op->source ? ", from " : "",
                        op->source ? fnd_op_place(run, op) : ""));
    fnd_place(run, op->device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
}

/* ---- F24 ---- */

static int64_t repeated_ps(const vp_module *m)
{
    return m->repeat_ps - fnd_of(m->repeat_ps, m->repeat_steps, m->repeat_runs);
}

static const vp_module *most_repeated(const fnd_run *run)
{
    const vp_report *r = run->r;
    const vp_module *best = NULL;
    for (size_t i = 0; i < r->module_count; i++) {
        const vp_module *m = &r->modules[i];
        if (m->repeat_steps <= 0 || m->repeat_runs <= 0 || m->repeat_ps <= 0 ||
            !fnd_reaches(run, m->repeat_steps, r->steps.counted, FND_PART))
            continue;
        if (!best || m->repeat_ps > best->repeat_ps)
            best = m;
    }
    return best;
}

/* F24. Modules are summed over all devices, so their share is of the sum of all windows. */
void fnd_repeated_work(fnd_run *run)
{
    const vp_report *r = run->r;
    const vp_module *m = most_repeated(run);
    int64_t windows = fnd_windows(run);
    if (!m)
        return;
    run->f->value = fnd_share(m->repeat_ps, windows);
    if (!fnd_reaches(run, m->repeat_ps, windows, FND_SHARE))
        return;
    for (uint32_t d = 0; d < r->device_count; d++)
        fnd_offer(run, d, FND_BIT(FND_COMPUTE), fnd_of(repeated_ps(m), fnd_window(run, d), windows),
                  run->f->value);
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    if (run->f->severity > VP_LEVEL_MEDIUM)
        run->f->severity = VP_LEVEL_MEDIUM;
    fnd_message(
        run, fnd_say(run,
                     "%s runs %s times in %s steps, %.1f per step, %s in total (%s of the "
                     "devices' windows). One run per step is enough if its inputs do not change.",
                     fnd_short(run, m->name), fnd_count(run, m->repeat_runs),
                     fnd_count(run, m->repeat_steps), fnd_share(m->repeat_runs, m->repeat_steps),
                     fnd_time(run, m->repeat_ps), fnd_percent(run, m->repeat_ps, windows)));
    fnd_place_in_step(run, c->device, m->name);
}

/* ---- F19 ---- */

/* HLO programs give more detail: fusions may change layouts, and a copy with the same layout does
 * not change it. */
static int64_t formatting_of_device(const fnd_run *run, uint32_t device)
{
    int64_t ps = run->r->devices[device].hygiene.formatting_ps;
    uint32_t i;
    for (FND_ROWS(i, &run->ops, device)) {
        const vp_avoidable *x = &run->r->ops[i].avoidable;
        ps += x->fused_layout_ps - x->plain_copy_ps;
    }
    return ps > 0 ? ps : 0;
}

static const vp_op *largest_formatting(const vp_report *r, uint32_t device)
{
    static const char *const stems[] = {"transpose", "reshape", "bitcast-convert", "copy"};
    const vp_op *best = NULL;
    for (size_t i = 0; i < r->op_count; i++) {
        const vp_op *op = &r->ops[i];
        if (op->device != device || has_own_rule(op) || (best && op->self_ps <= best->self_ps))
            continue;
        bool is_one = (op->category && !strcmp(op->category, "data formatting")) ||
                      op->avoidable.fused_layout_ps * 2 > op->self_ps;
        if (op->avoidable.plain_copy_ps * 2 > op->self_ps)
            continue;
        for (size_t k = 0; k < sizeof stems / sizeof *stems; k++)
            is_one = is_one || vp_str_find_nocase(vp_str_of(op->name), vp_str_of(stems[k])) <
                                   strlen(op->name);
        best = is_one ? op : best;
    }
    return best;
}

void fnd_data_formatting(fnd_run *run)
{
    const vp_report *r = run->r;
    const uint32_t cells =
        FND_BIT(FND_COMPUTE) | FND_BIT(FND_COPY + VP_D2D) | FND_BIT(FND_COPY + VP_OTHER_COPY);
    if (!r->has_devices) {
        fnd_torch_layout(run);
        return;
    }
    for (uint32_t d = 0; d < r->device_count; d++) {
        int64_t ps = formatting_of_device(run, d);
        fnd_offer_share(run, d, cells, ps, r->devices[d].self_ps, fnd_reaches);
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    const vp_op *op = largest_formatting(r, c->device);
    fnd_message(run,
                fnd_say(run,
                        "%s spends %s of its op time (%s of %s) on layout changes and data "
                        "formatting%s.",
                        fnd_worst(run, c),
                        fnd_percent(run, c->gross_ps, r->devices[c->device].self_ps),
                        fnd_time(run, c->gross_ps), fnd_time(run, r->devices[c->device].self_ps),
                        op ? fnd_say(run, "; the largest: %s, %s call%s, %s", fnd_op_at(run, op),
                                     fnd_count(run, op->calls), op->calls == 1 ? "" : "s",
                                     fnd_time(run, op->self_ps))
                           : ""));
    if (op)
        fnd_place(run, c->device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
}

/* ---- F18 ---- */

bool fnd_varies(const fnd_run *run, double stddev_ps, int64_t calls, int64_t total_ps)
{
    const uint16_t *limits = run->rule->limits;
    return calls > limits[FND_NUMBER] &&
           stddev_ps * (double)calls > (double)total_ps * (limits[FND_SPREAD] / 1000.);
}

/* F18. In a group of several shapes only the largest part is one op, and its median is unknown. */
static bool is_uneven_op(const fnd_run *run, const vp_op *op)
{
    int64_t all = run->r->devices[op->device].self_ps;
    if (op->split_count > 1) {
        const vp_split *s = &op->splits[0];
        return fnd_reaches(run, s->self_ps, all, FND_SHARE) &&
               fnd_varies(run, s->stddev_ps, s->calls, s->self_ps);
    }
    return fnd_reaches(run, op->self_ps, all, FND_SHARE) &&
           fnd_varies(run, op->stddev_ps, op->calls, op->total_ps);
}

/* The saving if all calls took the median: (mean − p50) · calls, at most the op's self time
 * (docs/reference/findings.md#f18-op-variance). */
static int64_t op_excess(const vp_op *op)
{
    __int128 ps = (__int128)op->total_ps - (__int128)op->p50_ps * op->calls;
    if (op->split_count > 1 || ps <= 0)
        return 0;
    return ps < op->self_ps ? (int64_t)ps : op->self_ps;
}

static const vp_op *most_uneven_op(const fnd_run *run, uint32_t device)
{
    const vp_op *worst = NULL;
    uint32_t i;
    for (FND_ROWS(i, &run->ops, device)) {
        const vp_op *op = &run->r->ops[i];
        if (!has_own_rule(op) && is_uneven_op(run, op) &&
            (!worst || op_excess(op) > op_excess(worst)))
            worst = op;
    }
    return worst;
}

static double op_variation(const vp_op *op)
{
    const vp_split *s = op->split_count > 1 ? op->splits : NULL;
    int64_t calls = s ? s->calls : op->calls, total = s ? s->self_ps : op->total_ps;
    return total > 0 ? (s ? s->stddev_ps : op->stddev_ps) * (double)calls / (double)total : 0;
}

static void say_uneven(fnd_run *run, const vp_op *op)
{
    const vp_split *s = op->split_count > 1 ? op->splits : NULL;
    const char *name = fnd_short(run, op->name);
    if (s)
        fnd_message(
            run, fnd_say(run, "%s%s%s varies widely (CV %.1f over %s calls): mean %s, slowest %s.",
                         name, s->label ? " " : "", s->label ? fnd_short(run, s->label) : "",
                         op_variation(op), fnd_count(run, s->calls),
                         fnd_time(run, s->self_ps / s->calls), fnd_time(run, s->max_ps)));
    else
        fnd_message(run,
                    fnd_say(run, "%s varies widely (CV %.1f over %s calls): median %s, slowest %s.",
                            name, op_variation(op), fnd_count(run, op->calls),
                            fnd_time(run, op->p50_ps), fnd_time(run, op->max_ps)));
    if (run->r->devices[op->device].kind != VP_DEVICE_GPU || op->split_count)
        return;
    run->f->severity = VP_LEVEL_LOW;
    fnd_caveat(run, "GPU kernels with the same name may process arrays of different sizes, which "
                    "this profile does not show; severity is therefore low.");
}

void fnd_op_variance(fnd_run *run)
{
    const vp_report *r = run->r;
    const vp_op *op = NULL;
    for (uint32_t d = 0; d < r->device_count; d++) {
        const vp_op *o = most_uneven_op(run, d);
        if (o)
            fnd_offer(run, d, FND_BIT(FND_COMPUTE), op_excess(o), op_variation(o));
        op = op ? op : o;
    }
    const fnd_claim *c = fnd_settle(run);
    if (!op || (!c && op_excess(op)))
        return;
    if (c) {
        op = most_uneven_op(run, c->device);
    } else { /* parts of several shapes: uneven, but by an unknown amount */
        run->f->status = VP_FIRED;
        run->f->severity = VP_LEVEL_LOW;
        run->f->value = op_variation(op);
        run->f->impact_ps = run->f->gross_ps = VP_UNKNOWN;
    }
    say_uneven(run, op);
    fnd_place(run, op->device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
}
