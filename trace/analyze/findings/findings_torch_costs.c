/* F54 F55, and F19 F45 F46 F47 without devices: what changes to a program of PyTorch would save
 * (docs/reference/metrics.md#pytorch-programs). */
#include "trace/analyze/findings/findings_run.h"

#include "trace/base/str.h"

/* Rows of a kind in one process. */
typedef struct cost_sum {
    const vp_torch_cost *largest; /* NULL: there is none */
    int64_t total_ps, saved_ps;
} cost_sum;

/* Loops may contain each other, so of these only the largest counts. */
static cost_sum sum_costs(const fnd_run *run, uint32_t device, vp_torch_kind kind)
{
    cost_sum s = {0};
    bool nested = kind == VP_TORCH_READS || kind == VP_TORCH_LOOP;
    for (size_t i = 0; i < run->r->torch_cost_count; i++) {
        const vp_torch_cost *x = &run->r->torch_costs[i];
        if (x->kind != kind || x->device != device || (s.largest && nested))
            continue;
        s.largest = s.largest ? s.largest : x; /* rows come by saving */
        s.total_ps += x->total_ps;
        s.saved_ps += x->saved_ps;
    }
    return s;
}

/* Claims what rows of the kind save. Returns the claim if the rule fires or is explained; else
 * NULL. by_total: the evidence is the time of the rows instead of their saving. */
static const fnd_claim *settle_costs(fnd_run *run, vp_torch_kind kind, bool by_total,
                                     finding_limit limit)
{
    for (uint32_t d = 0; !run->r->has_devices && d < run->r->device_count; d++) {
        cost_sum s = sum_costs(run, d, kind);
        int64_t window = fnd_window(run, d), ps = by_total ? s.total_ps : s.saved_ps;
        fnd_keep_value(run, fnd_share(ps, window));
        if (!s.largest || !fnd_reaches(run, ps, window, limit))
            continue;
        fnd_claim *c = fnd_offer(run, d, 0, s.saved_ps, fnd_share(ps, window));
        c->part_ps[FND_COMPUTE] = s.total_ps;
    }
    return fnd_settle(run);
}

static const char *caller_phrase(fnd_run *run, const char *before, const vp_torch_cost *x)
{
    return x->caller ? fnd_say(run, "%s%s", before, fnd_path(run, x->caller)) : "";
}

/* "25.00 ms, 72.70% of the window" */
static const char *time_of_window(fnd_run *run, int64_t ps, const fnd_claim *c)
{
    return fnd_say(run, "%s, %s of the window", fnd_time(run, ps),
                   fnd_percent(run, ps, fnd_window(run, c->device)));
}

static const char *name_of(fnd_run *run, const vp_torch_cost *x)
{
    return x->name ? fnd_short(run, x->name) : "an operator";
}

static void place_cost(fnd_run *run, const vp_torch_cost *x)
{
    fnd_place(run, x->device, x->thread, x->start_ps, x->dur_ps);
}

/* ---- F54 F55 ---- */

void fnd_scalar_reads(fnd_run *run)
{
    const fnd_claim *c = settle_costs(run, VP_TORCH_READS, false, FND_SHARE);
    if (!c)
        return;
    const vp_torch_cost *x = sum_costs(run, c->device, VP_TORCH_READS).largest;
    fnd_message(run,
                fnd_say(run, "%s reads values one by one with %s: %s passes in %s loop%s take %s.",
                        x->caller ? fnd_path(run, x->caller) : "The program", name_of(run, x),
                        fnd_count(run, x->calls), fnd_count(run, x->groups),
                        x->groups == 1 ? "" : "s", time_of_window(run, x->total_ps, c)));
    place_cost(run, x);
}

bool fnd_is_read_in_loop(const fnd_run *run, uint32_t device, const char *call)
{
    vp_str name = vp_str_of(call);
    return (vp_str_eq(name, VP_STR("aten::item")) ||
            vp_str_eq(name, VP_STR("aten::_local_scalar_dense"))) &&
           sum_costs(run, device, VP_TORCH_READS).largest;
}

void fnd_operator_loop(fnd_run *run)
{
    const fnd_claim *c = settle_costs(run, VP_TORCH_LOOP, false, FND_SHARE);
    if (!c)
        return;
    const vp_torch_cost *x = sum_costs(run, c->device, VP_TORCH_LOOP).largest;
    fnd_message(run, fnd_say(run,
                             "%s calls %s %s times in %s loop%s, and its operators are small: %s, "
                             "with their backward pass. One call for the whole batch has this "
                             "overhead once.",
                             x->caller ? fnd_path(run, x->caller) : "The program", name_of(run, x),
                             fnd_count(run, x->calls), fnd_count(run, x->groups),
                             x->groups == 1 ? "" : "s", time_of_window(run, x->total_ps, c)));
    place_cost(run, x);
}

/* ---- F47 F19 ---- */

/* " in fit (train.py:20) (6 calls, 20.00 ms)" */
static const char *largest_phrase(fnd_run *run, const vp_torch_cost *x)
{
    return fnd_say(run, "%s%s (%s call%s, %s)", name_of(run, x), caller_phrase(run, " in ", x),
                   fnd_count(run, x->calls), x->calls == 1 ? "" : "s", fnd_time(run, x->total_ps));
}

/* The second largest row of the kind in the process, as ", then aten::mm in …"; "" if there is
 * none.
 */
static const char *second_phrase(fnd_run *run, const vp_torch_cost *first)
{
    for (const vp_torch_cost *x = first + 1; x < run->r->torch_costs + run->r->torch_cost_count;
         x++)
        if (x->kind == first->kind && x->device == first->device)
            return fnd_say(run, ", then %s", largest_phrase(run, x));
    return "";
}

void fnd_torch_float64(fnd_run *run)
{
    const fnd_claim *c = settle_costs(run, VP_TORCH_FLOAT64, true, FND_SHARE);
    if (!c)
        return;
    cost_sum s = sum_costs(run, c->device, VP_TORCH_FLOAT64);
    fnd_message(run, fnd_say(run,
                             "Operators on float64 tensors take %s, most in %s%s. "
                             "Single precision takes half of that or less.",
                             time_of_window(run, s.total_ps, c), largest_phrase(run, s.largest),
                             second_phrase(run, s.largest)));
    place_cost(run, s.largest);
}

void fnd_torch_layout(fnd_run *run)
{
    const fnd_claim *c = settle_costs(run, VP_TORCH_LAYOUT, true, FND_SHARE);
    if (!c)
        return;
    cost_sum s = sum_costs(run, c->device, VP_TORCH_LAYOUT);
    fnd_message(run, fnd_say(run,
                             "Layout changes, copies of tensors in another order of dimensions, "
                             "take %s, most in %s%s.",
                             time_of_window(run, s.total_ps, c), largest_phrase(run, s.largest),
                             second_phrase(run, s.largest)));
    place_cost(run, s.largest);
}

/* ---- F45 ---- */

/* True if the function's name means evaluation: else a capture between the passes of gradient
 * accumulation would look the same. */
static bool is_evaluation(const char *caller)
{
    static const char *const words[] = {"eval", "valid", "infer", "predict", "test", "score"};
    vp_str name = vp_str_of(caller ? caller : "");
    name = vp_str_head(name, vp_str_find(name, VP_STR(" (")));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (vp_str_find_nocase(name, vp_str_of(words[i])) < name.n)
            return true;
    return false;
}

bool fnd_unused_gradients(fnd_run *run)
{
    const fnd_claim *c = settle_costs(run, VP_TORCH_GRADIENTS, true, FND_SHARE);
    if (!c) {
        run->f->impact_ps = run->f->gross_ps = run->f->window_ps = VP_UNKNOWN;
        return false;
    }
    const vp_torch_cost *x = sum_costs(run, c->device, VP_TORCH_GRADIENTS).largest;
    bool cleared = x->groups >= x->calls;
    if (!cleared && !is_evaluation(x->caller))
        run->f->severity = VP_LEVEL_LOW;
    run->f->title = "Gradients are computed but not used";
    fnd_message(run, fnd_say(run,
                             "No operator reads the gradients of %s backward passes%s, which take "
                             "%s; %s.",
                             fnd_count(run, x->calls), caller_phrase(run, " in ", x),
                             time_of_window(run, x->total_ps, c),
                             cleared ? "zero_grad clears them" : "no optimizer runs"));
    place_cost(run, x);
    return true;
}

/* ---- F46 ---- */

bool fnd_optimizer_saving(fnd_run *run)
{
    return settle_costs(run, VP_TORCH_OPTIMIZER, true, FND_WINDOW) != NULL;
}
