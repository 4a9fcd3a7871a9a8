/* F14 without devices, F41 F42: work of the training thread that is not the program's own
 * (docs/reference/metrics.md#activities). */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

#include "trace/links/user_frames.h"

static const vp_activity *largest_activity(const fnd_run *run, uint32_t device,
                                           vp_activity_kind kind)
{
    const vp_activity *best = NULL;
    for (size_t i = 0; i < run->r->activity_count; i++) {
        const vp_activity *x = &run->r->activities[i];
        if (x->kind == kind && fnd_concerns_device(run, x, device) &&
            (!best || x->total_ps > best->total_ps))
            best = x;
    }
    return best;
}

void fnd_add_activity_waits(const fnd_run *run, fnd_claim *c, const vp_thread *x)
{
    for (size_t i = 0; i < run->r->activity_count; i++) {
        const vp_activity *a = &run->r->activities[i];
        if (a->device != c->device || !a->thread || !x->name || strcmp(a->thread, x->name) != 0)
            continue;
        int64_t *compute = &c->part_ps[FND_COMPUTE];
        int64_t ps = a->wait_ps < *compute ? a->wait_ps : *compute;
        c->part_ps[fnd_activity_cell(a->kind)] += ps > 0 ? ps : 0;
        *compute -= ps > 0 ? ps : 0;
    }
}

/* The readable form of a frame: "gc.collect" for "$gc collect", "fsync" for "<built-in function
 * fsync>", "save (train.py:20)" for "$train.py:20 save" and "train.py(20): save". */
static const char *call_name(fnd_run *run, const char *name)
{
    static const char builtin[] = "<built-in function ";
    size_t n = name ? strlen(name) : 0;
    vp_str file, line, function;
    if (!n)
        return "-";
    if (links_parse_frame((vp_str){name, n}, &file, &line, &function))
        return fnd_say(run, "%.*s (%.*s:%.*s)", VP_STR_CUT(function, 100u), VP_STR_CUT(file, 200u),
                       VP_STR_CUT(line, 20u));
    if (!strncmp(name, builtin, sizeof builtin - 1) && name[n - 1] == '>')
        return fnd_say(run, "%.*s", (int)(n - sizeof builtin), name + sizeof builtin - 1);
    const char *space = *name == '$' ? strchr(name, ' ') : NULL;
    if (space && !memchr(name, ':', (size_t)(space - name)))
        return fnd_say(run, "%.*s.%s", (int)(space - name - 1), name + 1, space + 1);
    return *name == '$' ? name + 1 : name;
}

/* " in 12 calls of gc.collect by train (train.py:20), 70.00 ms per step" */
static const char *calls_phrase(fnd_run *run, const vp_activity *x)
{
    const char *inside = x->callee ? fnd_say(run, ", mostly in %s", fnd_path(run, x->callee)) : "";
    const char *name = call_name(run, x->name);
    bool same =
        x->callee && ((x->caller && !strcmp(x->callee, x->caller)) || !strcmp(x->callee, name));
    return fnd_say(run, " in %s call%s of %s%s%s", fnd_count(run, x->calls),
                   x->calls == 1 ? "" : "s", fnd_path(run, name), fnd_called_by(run, x->caller, ""),
                   same ? "" : inside);
}

/* ", 70.00 ms in each of 12 steps"; "" if it is in no step. */
static const char *steps_phrase(fnd_run *run, const vp_activity *x)
{
    if (x->steps <= 0)
        return "";
    return fnd_say(run, ", %s in each of %s step%s", fnd_time(run, x->total_ps / x->steps),
                   fnd_count(run, x->steps), x->steps == 1 ? "" : "s");
}

static void place_activity(fnd_run *run, uint32_t device, const vp_activity *x)
{
    fnd_place(run, device, x->thread, x->max_start_ps, x->max_ps);
}

/* ---- F14 ---- */

/* Assumed number of loader workers. More may help less, because they share the cores with the
 * program. */
#define LOADER_WORKERS 2

static bool has_workers(const vp_activity *x)
{
    vp_str name = vp_str_of(x->name ? x->name : "");
    return vp_str_find(name, VP_STR("MultiProcessing")) < name.n ||
           vp_str_find(name, VP_STR("IteratorGetNext")) < name.n;
}

/* The time saved if workers load while the program works: all of it, or as much as they keep up
 * with (docs/reference/findings.md#f14-input-bound). */
static int64_t saved_by_workers(const vp_activity *x, int64_t input_ps, int64_t window_ps)
{
    int64_t rest = window_ps - input_ps, late = input_ps / LOADER_WORKERS - rest;
    return has_workers(x) || late <= 0 ? input_ps : input_ps - late;
}

static const char working_loader_advice[] =
    "Load in worker processes: DataLoader(num_workers=…, persistent_workers=True, "
    "prefetch_factor=…), Grain with worker processes, or tf.data with num_parallel_calls and "
    "prefetch. A thread with a queue gains nothing if the loader is Python code, which holds the "
    "GIL. Cache what does not change, and decode less.";
static const char waiting_loader_advice[] =
    "Read ahead: the loader mostly waits for storage or the network, so worker processes "
    "(DataLoader num_workers, persistent_workers=True) or a few threads with a bounded queue hide "
    "it. Keep the files near, and read larger pieces.";
static const char late_workers_advice[] =
    "Use more workers (num_workers) and a deeper prefetch (prefetch_factor), keep them alive "
    "(persistent_workers=True), and decode less per item. Leave cores to them: "
    "torch.set_num_threads.";

static const char *loader_advice(const vp_activity *x)
{
    return has_workers(x)                 ? late_workers_advice
           : 2 * x->wait_ps > x->total_ps ? waiting_loader_advice
                                          : working_loader_advice;
}

void fnd_advise_loader(fnd_run *run, uint32_t device)
{
    const vp_activity *x = largest_activity(run, device, VP_ACTIVITY_INPUT);
    if (x && (run->words == FND_WORDS_PYTORCH || run->words == FND_WORDS_XLA))
        run->f->suggestion = loader_advice(x);
}

void fnd_host_input(fnd_run *run)
{
    const uint32_t cell = FND_BIT(VP_CAUSE_INPUT);
    for (uint32_t d = 0; d < run->r->device_count; d++) {
        int64_t ps = run->devices[d].whole_ps[VP_CAUSE_INPUT], window = fnd_window(run, d);
        const vp_activity *x = largest_activity(run, d, VP_ACTIVITY_INPUT);
        fnd_keep_value(run, fnd_share(ps, window));
        if (x && fnd_exceeds(run, ps, window, FND_SHARE))
            fnd_offer(run, d, cell, saved_by_workers(x, ps, window), fnd_share(ps, window));
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    const vp_activity *x = largest_activity(run, c->device, VP_ACTIVITY_INPUT);
    int64_t ps = run->devices[c->device].whole_ps[VP_CAUSE_INPUT];
    fnd_take(run, c->device, cell, ps); /* the rest would be input, too */
    run->f->title = "Input-bound: training waits for data";
    fnd_message(
        run,
        fnd_say(run,
                "The training thread of %s loads or waits for data for %s of the window "
                "(%s of %s)%s%s%s.",
                fnd_worst(run, c), fnd_percent(run, ps, fnd_window(run, c->device)),
                fnd_time(run, ps), fnd_time(run, fnd_window(run, c->device)), calls_phrase(run, x),
                steps_phrase(run, x),
                c->gross_ps < ps ? "; with two workers, the loader would still set the pace" : ""));
    fnd_advise_loader(run, c->device);
    place_activity(run, c->device, x);
}

/* ---- F41 F42 ---- */

static void settle_activity(fnd_run *run, vp_activity_kind kind, const char *what)
{
    unsigned cell = fnd_activity_cell(kind);
    for (uint32_t d = 0; d < run->r->device_count; d++)
        fnd_offer_share(run, d, FND_BIT(cell), run->devices[d].whole_ps[cell], fnd_window(run, d),
                        fnd_reaches);
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    const vp_activity *x = largest_activity(run, c->device, kind);
    fnd_message(run, fnd_say(run, "%s %s%s for %s of the window (%s of %s)%s%s.", fnd_worst(run, c),
                             run->r->has_devices ? "waits while the training thread " : "", what,
                             fnd_percent(run, c->gross_ps, fnd_window(run, c->device)),
                             fnd_time(run, c->gross_ps), fnd_time(run, fnd_window(run, c->device)),
                             calls_phrase(run, x), steps_phrase(run, x)));
    place_activity(run, c->device, x);
}

void fnd_garbage(fnd_run *run)
{
    settle_activity(run, VP_ACTIVITY_GC, "collects garbage");
}

void fnd_blocking_write(fnd_run *run)
{
    settle_activity(run, VP_ACTIVITY_WRITE, "writes files");
}
