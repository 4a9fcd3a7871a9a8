#include "trace/analyze/findings/findings_run.h"

#include <stdlib.h>
#include <string.h>

#include "trace/analyze/result/result_words.h"
#include "trace/base/err.h"

static bool has_launches(const fnd_run *run)
{
    for (uint32_t d = 0; d < run->r->device_count; d++)
        if (fnd_is_launched(run, d))
            return true;
    return false;
}

static bool has_memory(const vp_report *r)
{
    for (size_t i = 0; i < r->memory_count; i++)
        if ((r->memory[i].total_bytes > 0 && r->memory[i].peak_bytes >= 0) ||
            r->memory[i].out_of_memory > 0)
            return true;
    return false;
}

static bool has_leaks(const vp_report *r)
{
    for (size_t i = 0; i < r->memory_count; i++)
        if (r->memory[i].leak_steps >= FND_LEAK_STEPS_LEAST)
            return true;
    return false;
}

static bool has_fragments(const vp_report *r)
{
    for (size_t i = 0; i < r->memory_count; i++)
        if (r->memory[i].fragmented_of_bytes > 0)
            return true;
    return false;
}

static bool has_pageable(const vp_report *r)
{
    for (size_t i = 0; i < r->transfer_count; i++)
        if (r->transfers[i].pageable_count >= 0)
            return true;
    return false;
}

static bool has_peak(const vp_report *r)
{
    for (size_t d = 0; d < r->device_count; d++)
        if (r->devices[d].mfu.peak_gflops > 0 && r->devices[d].mfu.flops > 0)
            return true;
    return false;
}

/* Only lines of modules have the number of runs, ops alone do not. */
static bool has_module_runs(const vp_report *r)
{
    for (size_t i = 0; i < r->module_count; i++)
        if (r->modules[i].repeat_runs >= 0)
            return true;
    return false;
}

static bool has_programs(const vp_report *r)
{
    for (size_t i = 0; i < r->op_count; i++)
        if (r->ops[i].avoidable.known_ps > 0)
            return true;
    return false;
}

static unsigned what_is_there(const fnd_run *run)
{
    const vp_report *r = run->r;
    const vp_balance *b = &r->balance;
    bool steps = r->steps.count && r->steps.counted > 0;
    bool torch = run->words == FND_WORDS_PYTORCH && r->depth == VP_DEPTH_FULL;
    int64_t room;
    const bool there[FND_NEED_COUNT] = {
        [FND_NEED_DEVICE_AT] = r->has_devices,
        [FND_NEED_FULL_AT] = r->depth == VP_DEPTH_FULL,
        [FND_NEED_HOST_AT] = r->host_op_count || r->compile.count > 0,
        [FND_NEED_CAUSES_AT] = fnd_has_causes(r),
        [FND_NEED_LAUNCH_AT] = has_launches(run),
        [FND_NEED_STEPS_AT] = steps,
        [FND_NEED_FIVE_STEPS_AT] =
            steps && r->steps.counted >= FND_STEPS_LEAST && r->steps.median_ps > 0,
        [FND_NEED_SECOND_DEVICE_AT] = b->devices >= 2,
        [FND_NEED_MATCHED_AT] = b->matched >= FND_MATCHED_LEAST,
        [FND_NEED_CLOCKS_AT] = b->aligned || r->host_count < 2,
        [FND_NEED_MODULES_AT] = has_module_runs(r),
        [FND_NEED_NAMES_AT] =
            r->group == VP_GROUP_NAME || r->group == VP_GROUP_RAW || r->group == VP_GROUP_STACK,
        [FND_NEED_MEMORY_AT] = has_memory(r) || fnd_fullest_plan(r, &room),
        [FND_NEED_LEAKS_AT] = has_leaks(r),
        [FND_NEED_FRAGMENTS_AT] = has_fragments(r),
        [FND_NEED_PLANS_AT] = fnd_has_plans(r),
        [FND_NEED_ROOM_AT] = fnd_fullest_plan(r, &room) || !fnd_has_plans(r),
        [FND_NEED_PAGEABLE_AT] = has_pageable(r),
        [FND_NEED_CAPTURE_AT] = r->capture_ps > 0,
        [FND_NEED_TORCH_AT] = torch,
        [FND_NEED_OPERATORS_AT] = r->has_devices || torch,
        [FND_NEED_PEAK_AT] = has_peak(r),
        [FND_NEED_PROGRAMS_AT] = has_programs(r) || !r->has_devices,
        [FND_NEED_ZONES_AT] = !r->has_devices && r->op_count,
    };
    unsigned bits = 0;
    for (size_t i = 0; i < FND_NEED_COUNT; i++)
        bits |= there[i] ? 1u << i : 0;
    return bits;
}

/* Names only the root of what is missing: without a device, its dependents are not named. */
static bool has_needs(fnd_run *run, unsigned there)
{
    unsigned missing = run->rule->needs & ~there;
    const unsigned roots = FND_NEED_DEVICE | FND_NEED_FULL | FND_NEED_ZONES | FND_NEED_OPERATORS;
    if (missing & roots)
        missing &= roots;
    if (missing & FND_NEED_STEPS)
        missing &= ~(unsigned)(FND_NEED_FIVE_STEPS | FND_NEED_MODULES);
    if (missing & FND_NEED_SECOND_DEVICE)
        missing &= ~(unsigned)(FND_NEED_MATCHED | FND_NEED_CLOCKS);
    for (unsigned i = 0; i < FND_NEED_COUNT; i++)
        if (missing & FND_BIT(i))
            fnd_lacks(run, FND_BIT(i));
    return !missing;
}

/* ---- One pass over the table ---- */

static bool is_unreliable_rule(const vp_finding *f)
{
    return f->id == findings_rules[0].id;
}

static bool is_recorded_here(const vp_report *r)
{
    for (size_t i = 0; i < r->meta_count; i++)
        if (r->meta[i].key && !strcmp(r->meta[i].key, "recorder") &&
            vp_str_starts(vp_str_of(r->meta[i].value), VP_STR("view_profile ")))
            return true;
    return false;
}

/* Snapshots are PyTorch's, and are alone or next to its own timelines. */
static bool has_snapshot(const vp_report *r)
{
    for (size_t i = 0; i < r->file_count; i++)
        if (r->files[i].kind && !strcmp(r->files[i].kind, "snapshot"))
            return true;
    return false;
}

/* TensorFlow's own runtime, without JAX: both use XLA and write XSpaces. */
static bool is_tensorflow(const vp_report *r)
{
    static const char *const tensorflow[] = {"TFE_Py_", "EagerLocalExecute", "EagerKernelExecute",
                                             "FunctionRun", "tf_data"};
    bool found = false;
    for (size_t i = 0; i < r->host_op_count; i++) {
        vp_str name = vp_str_of(r->host_ops[i].name ? r->host_ops[i].name : "");
        if (vp_str_starts(name, VP_STR("PjitFunction(")))
            return false;
        for (size_t k = 0; k < sizeof tensorflow / sizeof *tensorflow; k++)
            found = found || vp_str_starts(name, vp_str_of(tensorflow[k]));
    }
    return found;
}

static fnd_words words_of_report(const vp_report *r)
{
    const char *kind = r->session_kind ? r->session_kind : "";
    return !strcmp(kind, "kineto") || has_snapshot(r)       ? FND_WORDS_PYTORCH
           : !strcmp(kind, "chrome") || is_recorded_here(r) ? FND_WORDS_NATIVE
           : is_tensorflow(r)                               ? FND_WORDS_TENSORFLOW
                                                            : FND_WORDS_XLA;
}

/* True if only CPUs compute. A profile of PyTorch without devices may lack a GPU that was used. */
static bool is_all_cpu(const vp_report *r)
{
    for (size_t i = 0; i < r->quality_count; i++)
        if (r->quality[i].code && (!strcmp(r->quality[i].code, "gpu-not-recorded") ||
                                   !strcmp(r->quality[i].code, "no-device")))
            return false;
    for (size_t d = 0; r->has_devices && d < r->device_count; d++)
        if (r->devices[d].kind != VP_DEVICE_CPU)
            return false;
    return true;
}

static const char *rule_advice(const fnd_run *run)
{
    const finding_rule *rule = run->rule;
    const char *own = run->words == FND_WORDS_PYTORCH      ? rule->advice_pytorch
                      : run->words == FND_WORDS_NATIVE     ? rule->advice_native
                      : run->words == FND_WORDS_TENSORFLOW ? rule->advice_tensorflow
                                                           : NULL;
    if (run->words == FND_WORDS_TENSORFLOW && !own)
        own = rule->advice_native;
    if (rule->advice_cpu && run->words != FND_WORDS_NATIVE && is_all_cpu(run->r))
        own = rule->advice_cpu;
    return own ? own : rule->advice_xla;
}

/* Lowers the severity of a finding of a partial profile (docs/reference/findings.md#severity): the
 * missing part may hold the cause, or be so large that the finding is small. */
static void lower_severity(fnd_run *run)
{
    vp_finding *f = run->f;
    if (!run->r->partial || is_unreliable_rule(f))
        return;
    fnd_caveat(run, "The profile is incomplete, and so are these numbers (see data quality). The "
                    "severity is lowered by one level.");
    if (f->severity > VP_LEVEL_LOW)
        f->severity--;
}

static void apply_rule(fnd_run *run, size_t i, unsigned there)
{
    const finding_rule *rule = &findings_rules[i];
    vp_finding *f = run->f;
    *f = (vp_finding){.id = rule->id,
                      .name = rule->name,
                      .status = VP_CLEAR,
                      .title = rule->title_ops && run->words != FND_WORDS_NATIVE ? rule->title_ops
                                                                                 : rule->title,
                      .metric = rule->metric,
                      .unit = rule->unit,
                      .denominator = rule->denominator,
                      .threshold = findings_threshold(rule),
                      .impact_ps = VP_UNKNOWN,
                      .gross_ps = VP_UNKNOWN,
                      .window_ps = VP_UNKNOWN,
                      .impact_bytes = VP_UNKNOWN};
    run->rule = rule;
    run->rule_bit = FND_RULE(i);
    run->claim_count = 0;
    if (has_needs(run, there))
        rule->run(run);
    if (f->status != VP_FIRED && f->status != VP_EXPLAINED)
        return;
    f->suggestion = f->suggestion ? f->suggestion : rule_advice(run);
    if (rule->caveat)
        fnd_caveat(run, rule->caveat);
    if (rule->at_most_medium && f->severity > VP_LEVEL_MEDIUM)
        f->severity = VP_LEVEL_MEDIUM; /* the time is lost, but the cause is unknown */
    lower_severity(run);
}

/* ---- Rank ---- */

static int status_rank(const vp_finding *f)
{
    static const int rank[] = {
        [VP_FIRED] = 0, [VP_EXPLAINED] = 1, [VP_NOT_EVALUATED] = 2, [VP_CLEAR] = 3};
    return rank[f->status];
}

static const finding_rule *rule_of_finding(const vp_finding *f)
{
    const finding_rule *rule = findings_rules;
    while (rule->id && rule->id != f->id)
        rule++;
    return rule;
}

static bool is_symptom(const vp_finding *f)
{
    return rule_of_finding(f)->symptom && f->impact_ps >= 0;
}

static bool stands_before(const vp_finding *a, const vp_finding *b)
{
    int x = status_rank(a), y = status_rank(b);
    if (x != y)
        return x < y;
    if (x > 1)
        return false; /* in the order of the table */
    if (is_unreliable_rule(a) != is_unreliable_rule(b))
        return is_unreliable_rule(a);
    if (is_symptom(a) != is_symptom(b) && a->severity > VP_LEVEL_LOW && b->severity > VP_LEVEL_LOW)
        return is_symptom(b);
    if (a->severity != b->severity)
        return a->severity > b->severity;
    if (rule_of_finding(a)->startup != rule_of_finding(b)->startup)
        return rule_of_finding(b)->startup;
    if (a->impact_ps != b->impact_ps)
        return a->impact_ps > b->impact_ps;
    return a->impact_bytes > b->impact_bytes;
}

/* An insertion sort, since there are only dozens of rows, and equal ones must keep the order of
 * claim. */
static void rank_findings(vp_finding *f, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        vp_finding row = f[i];
        size_t at = i;
        for (; at && stands_before(&row, &f[at - 1]); at--)
            f[at] = f[at - 1];
        f[at] = row;
    }
}

static int evaluate_rules(fnd_run *run)
{
    vp_report *r = run->r;
    size_t n = 0;
    while (findings_rules[n].id)
        n++;
    vp_finding *findings = vp_arena_zalloc(run->arena, n * sizeof *findings);
    run->devices = vp_arena_zalloc(&run->scratch, (r->device_count + 1) * sizeof *run->devices);
    run->claims = vp_arena_zalloc(&run->scratch, (r->device_count + 1) * sizeof *run->claims);
    VP_NEED(run->devices && run->claims && findings);
    VP_TRY(fnd_index_all(run));
    VP_TRY(fnd_index_replays(run));
    fnd_cells_init(run);
    run->rule = fnd_rule_of(run, fnd_straggler);
    run->straggling = fnd_straggles(run);
    unsigned there = what_is_there(run);
    for (size_t i = 0; i < n; i++) {
        run->f = &findings[i];
        apply_rule(run, i, there);
    }
    if (run->out_of_memory)
        return vp_no_memory();
    rank_findings(findings, n);
    r->findings = findings;
    r->finding_count = n;
    return 0;
}

int findings_make(vp_report *r)
{
    fnd_run run = {.r = r,
                   .arena = r->owner_,
                   .rules = findings_rules,
                   .step_wait_device = VP_NO_DEVICE,
                   .words = words_of_report(r)};
    vp_arena_init(&run.scratch);
    int rc = evaluate_rules(&run);
    vp_arena_free(&run.scratch);
    return rc;
}

/* ---- Gates ---- */

static int level_of_word(const char *word)
{
    for (int i = 0; result_level_words[i]; i++)
        if (vp_str_eq_nocase(vp_str_of(word), vp_str_of(result_level_words[i])))
            return i;
    return -1;
}

bool findings_word_matches(const vp_finding *f, const char *word)
{
    int level = level_of_word(word);
    if (level >= 0)
        return (int)f->severity >= level;
    return vp_str_eq_nocase(vp_str_of(word), vp_str_of(f->id)) ||
           vp_str_eq_nocase(vp_str_of(word), vp_str_of(f->name));
}

bool findings_word_known(const char *word)
{
    for (const finding_rule *rule = findings_rules; rule->id; rule++)
        if (vp_str_eq_nocase(vp_str_of(word), vp_str_of(rule->id)) ||
            vp_str_eq_nocase(vp_str_of(word), vp_str_of(rule->name)))
            return true;
    return level_of_word(word) >= 0;
}
