/* F43 to F46: how a program of PyTorch is written, and how it was recorded. What a change would
 * save is known only without devices (findings_torch_costs.c). */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

#include "trace/base/str.h"

static void fire(fnd_run *run, bool severe)
{
    run->f->status = VP_FIRED;
    run->f->severity = severe ? VP_LEVEL_MEDIUM : VP_LEVEL_LOW;
}

static void place_on_only_host(fnd_run *run, const char *track, int64_t start_ps, int64_t dur_ps)
{
    fnd_place(run, run->r->has_devices ? VP_NO_DEVICE : 0, track, start_ps, dur_ps);
}

/* ---- F43 ---- */

/* Device ops are recorded by the device, and cost the host nothing while it runs. */
static int64_t host_events(const vp_report *r)
{
    int64_t n = r->events;
    for (size_t d = 0; r->has_devices && d < r->device_count; d++)
        n -= r->devices[d].kind == VP_DEVICE_CPU ? 0 : r->devices[d].events;
    return n > 0 ? n : 0;
}

void fnd_overhead(fnd_run *run)
{
    const vp_report *r = run->r;
    int64_t hosts = r->host_count > 1 ? (int64_t)r->host_count : 1, n = host_events(r) / hosts;
    int64_t ps = n > INT64_MAX / FND_EVENT_COST_PS ? INT64_MAX : n * FND_EVENT_COST_PS;
    run->f->value = fnd_share(ps < r->capture_ps ? ps : r->capture_ps, r->capture_ps);
    if (!fnd_exceeds(run, ps, r->capture_ps, FND_SHARE))
        return;
    fire(run, fnd_exceeds(run, ps, r->capture_ps, FND_SEVERE));
    fnd_message(run,
                fnd_say(run,
                        "Recording %s host events%s costs about %s, %s of the capture of %s: "
                        "the program runs faster without the profiler.",
                        fnd_count(run, n), hosts > 1 ? " per host" : "", fnd_time(run, ps),
                        fnd_percent(run, ps < r->capture_ps ? ps : r->capture_ps, r->capture_ps),
                        fnd_time(run, r->capture_ps)));
    place_on_only_host(run, NULL, r->start_ps, r->end_ps - r->start_ps);
}

/* ---- F44 ---- */

#define RESUME "torch_dynamo_resume_in_"

typedef struct breaks {
    int64_t frames, runs;  /* frames of torch.compile that run; runs of the most frequent one */
    int64_t least;         /* of the least frequent one */
    int64_t resumed;       /* calls of the functions after a graph break */
    const vp_function *at; /* the one of them with the most calls */
} breaks;

static breaks count_breaks(const vp_report *r)
{
    breaks b = {.least = INT64_MAX};
    for (size_t i = 0; i < r->compile.function_count; i++) {
        const vp_function *f = &r->compile.functions[i];
        vp_str name = vp_str_of(f->name ? f->name : "");
        if (vp_str_find(name, VP_STR(RESUME)) < name.n) {
            b.resumed += f->calls;
            b.at = !b.at || f->calls > b.at->calls ? f : b.at;
        } else if (vp_str_starts(name, VP_STR("frame ")) && f->calls > 0) {
            b.frames++;
            b.runs = f->calls > b.runs ? f->calls : b.runs;
            b.least = f->calls < b.least ? f->calls : b.least;
        }
    }
    return b;
}

void fnd_graph_breaks(fnd_run *run)
{
    const breaks b = count_breaks(run->r);
    const int64_t runs = b.runs > 0 ? b.runs : 1, limit = run->rule->limits[FND_NUMBER];
    /* Regions that always run together are parts of one function, as far as the profile shows. */
    bool together = b.frames >= 2 && b.least == b.runs && b.runs >= limit;
    int64_t count = b.at ? b.resumed : together ? (b.frames - 1) * b.runs : 0;
    run->f->value = (double)count / (double)runs;
    if (count < limit || !b.frames)
        return;
    fire(run, b.at && count >= 3 * runs);
    if (b.at)
        fnd_message(run, fnd_say(run,
                                 "Compiled code goes back to Python %s times in %s calls (%s "
                                 "compiled frame%s), most often into %s (%s).",
                                 fnd_count(run, count), fnd_count(run, runs),
                                 fnd_count(run, b.frames), b.frames == 1 ? "" : "s",
                                 fnd_short(run, b.at->name), fnd_count(run, b.at->calls)));
    else
        fnd_message(run, fnd_say(run,
                                 "A compiled call runs %s regions instead of one, %s times: %s "
                                 "graph break%s per call.",
                                 fnd_count(run, b.frames), fnd_count(run, b.runs),
                                 fnd_count(run, b.frames - 1), b.frames == 2 ? "" : "s"));
    place_on_only_host(run, NULL, run->r->start_ps, run->r->end_ps - run->r->start_ps);
}

/* ---- F45 ---- */

static int64_t torch_window(const vp_report *r)
{
    return r->end_ps - r->start_ps;
}

void fnd_unused_autograd(fnd_run *run)
{
    const vp_torch *t = &run->r->torch;
    int64_t window = torch_window(run->r);
    if (fnd_unused_gradients(run))
        return;
    run->f->value = fnd_share(t->unused_ps < window ? t->unused_ps : window, window);
    if (t->unused_ops < run->rule->limits[FND_NUMBER] ||
        !fnd_exceeds(run, t->unused_ps, window, FND_SHARE))
        return;
    fire(run, fnd_exceeds(run, t->unused_ps, window, FND_SEVERE));
    fnd_message(run, fnd_say(run,
                             "Autograd records %s of %s operations for a backward pass that never "
                             "runs; these take %s, %s of the window.",
                             fnd_count(run, t->unused_ops), fnd_count(run, t->recorded_ops),
                             fnd_time(run, t->unused_ps), fnd_percent(run, t->unused_ps, window)));
    place_on_only_host(run, NULL, t->unused_start_ps, t->unused_dur_ps);
}

/* ---- F46 ---- */

void fnd_optimizer_loop(fnd_run *run)
{
    const vp_torch *t = &run->r->torch;
    int64_t window = torch_window(run->r), steps = t->optimizer_steps;
    int64_t single = t->optimizer_ops - t->grouped_ops;
    run->f->value = steps > 0 ? (double)single / (double)steps : 0;
    if (steps <= 0 || single < run->rule->limits[FND_NUMBER] * steps ||
        !fnd_exceeds(run, t->optimizer_ps, window, FND_WINDOW) ||
        (t->optimizer_ops > 0 && t->grouped_ops * 2 > t->optimizer_ops))
        return;
    if (!run->r->has_devices && !fnd_optimizer_saving(run))
        return;
    run->f->value = fnd_share(single, steps);
    if (run->r->has_devices)
        fire(run, fnd_exceeds(run, t->optimizer_ps, window, FND_SEVERE));
    fnd_message(run,
                fnd_say(run,
                        "%s updates parameters one by one: %s operations per step, and %s of "
                        "the window (%s of %s) in %s step%s.",
                        t->optimizer ? fnd_short(run, t->optimizer) : "The optimizer",
                        fnd_count(run, single / steps), fnd_percent(run, t->optimizer_ps, window),
                        fnd_time(run, t->optimizer_ps), fnd_time(run, window),
                        fnd_count(run, steps), steps == 1 ? "" : "s"));
    place_on_only_host(run, NULL, t->optimizer_start_ps, t->optimizer_dur_ps);
}
