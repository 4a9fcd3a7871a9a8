/* F21: the device calls back into the host's program
 * (docs/reference/findings.md#f21-debug-callback).
 */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

/* The cost of callbacks for a device. */
typedef struct callback_cost {
    int64_t idle_ps;  /* while the host is in a callback */
    int64_t op_ps;    /* ops that are callbacks */
    int64_t input_ps; /* ops whose results only callbacks read */
    int64_t held_ps;  /* late launches after programs with callbacks */
    int64_t recording_ps;
    int64_t total_ps; /* without the recording */
} callback_cost;

static int64_t known_or_zero(int64_t ps)
{
    return ps > 0 ? ps : 0;
}

static callback_cost cost_of_callbacks(const fnd_run *run, uint32_t device)
{
    const vp_hygiene *h = &run->r->devices[device].hygiene;
    callback_cost c = {.idle_ps = run->devices[device].whole_ps[FND_IDLE + VP_CAUSE_CALLBACK],
                       .op_ps = known_or_zero(h->callback_ps),
                       .held_ps = known_or_zero(h->callback_held_ps)};
    int64_t host_ps = c.op_ps + c.held_ps, events = known_or_zero(h->callback_events);
    c.recording_ps = events < host_ps / FND_EVENT_COST_PS ? events * FND_EVENT_COST_PS : host_ps;
    (void)fnd_largest_avoidable(run, device, FND_AVOIDABLE(callback_input_ps), NULL, &c.input_ps);
    c.total_ps = c.idle_ps + host_ps + c.input_ps - c.recording_ps;
    return c;
}

/* Gaps after programs are idle time of the causes for which a launch is late. */
static void offer_held_gaps(const fnd_run *run, fnd_claim *claim, int64_t held_ps)
{
    static const unsigned causes[] = {VP_CAUSE_HOST, VP_CAUSE_CALL,    VP_CAUSE_TRANSFER,
                                      VP_CAUSE_SYNC, VP_CAUSE_LATENCY, VP_CAUSE_UNKNOWN};
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        int64_t whole = run->devices[claim->device].whole_ps[FND_IDLE + causes[i]];
        int64_t ps = held_ps < whole ? held_ps : whole;
        claim->part_ps[FND_IDLE + causes[i]] = ps;
        held_ps -= ps;
    }
}

static void offer_callbacks(fnd_run *run, uint32_t device)
{
    const callback_cost x = cost_of_callbacks(run, device);
    int64_t window = fnd_window(run, device);
    fnd_keep_value(run, fnd_share(x.total_ps, window));
    if (!fnd_reaches(run, x.total_ps, window, FND_SHARE))
        return;
    fnd_claim *c = fnd_offer(run, device, FND_BIT(VP_CAUSE_CALLBACK), x.total_ps,
                             fnd_share(x.total_ps, window));
    c->part_ps[FND_COMPUTE] = x.op_ps + x.input_ps;
    offer_held_gaps(run, c, x.held_ps);
}

/* True if a text is one by which hygiene.c recognizes callbacks: the called function, or the
 * caller. The report has name and scope. */
static bool is_callback_text(const char *text)
{
    static const char *const words[] = {"callback", "debug_print", "outside_call"};
    vp_str s = vp_str_of(text ? text : "");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (vp_str_find(s, vp_str_of(words[i])) < s.n)
            return true;
    return false;
}

/* The callback op with the most time; NULL: none. */
static const vp_op *largest_callback_op(const fnd_run *run, uint32_t device)
{
    const vp_op *worst = NULL;
    uint32_t i;
    for (FND_ROWS(i, &run->ops, device)) {
        const vp_op *op = &run->r->ops[i];
        if ((!worst || op->self_ps > worst->self_ps) &&
            (is_callback_text(op->scope) || is_callback_text(op->name)))
            worst = op;
    }
    return worst;
}

/* The called function: "; it calls log_loss (train.py:20)". */
static const char *called_function(fnd_run *run, uint32_t device)
{
    const vp_activity *best = NULL;
    for (size_t i = 0; i < run->r->activity_count; i++) {
        const vp_activity *x = &run->r->activities[i];
        if (x->kind == VP_ACTIVITY_CALLBACK && x->callee && fnd_concerns_device(run, x, device) &&
            (!best || x->total_ps > best->total_ps))
            best = x;
    }
    return best ? fnd_say(run, "; it calls %s", fnd_short(run, best->callee)) : "";
}

/* "; the largest: debug_print from /app/train.py:20, 12 calls, 3.00 ms" */
static const char *say_callback_op(fnd_run *run, uint32_t device)
{
    const vp_op *op = largest_callback_op(run, device);
    if (!op)
        return "";
    bool named = is_callback_text(op->name);
    return fnd_say(run, "; the largest: %s%s%s%s%s, %s call%s, %s%s", fnd_short(run, op->name),
                   named ? "" : " in ", named ? "" : fnd_path(run, op->scope),
                   op->source ? " from " : "", op->source ? fnd_path(run, op->source) : "",
                   fnd_count(run, op->calls), op->calls == 1 ? "" : "s", fnd_time(run, op->self_ps),
                   called_function(run, device));
}

/* The cost of callbacks in addition to their own time. */
static const char *say_consequences(fnd_run *run, const callback_cost *x, int64_t window_ps)
{
    bool held = !fnd_too_little(x->held_ps, window_ps);
    bool inputs = !fnd_too_little(x->input_ps, window_ps);
    bool recording = !fnd_too_little(x->recording_ps, window_ps);
    return fnd_say(
        run, "%s%s%s%s%s%s", held || inputs ? ". Included: " : "",
        held ? fnd_say(run,
                       "%s until the next launch, since programs with callbacks run synchronously",
                       fnd_time(run, x->held_ps))
             : "",
        held && inputs ? "; " : "",
        inputs ? fnd_say(run, "%s in ops whose results only callbacks read",
                         fnd_time(run, x->input_ps))
               : "",
        recording ? ". Not included: " : "",
        recording ? fnd_say(run, "about %s for recording", fnd_time(run, x->recording_ps)) : "");
}

void fnd_debug_callback(fnd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++)
        offer_callbacks(run, d);
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    int64_t window = fnd_window(run, c->device);
    const callback_cost x = cost_of_callbacks(run, c->device);
    fnd_message(run,
                fnd_say(run, "%s spends %s of its window (%s of %s) in host callbacks%s%s%s.",
                        fnd_worst(run, c), fnd_percent(run, c->gross_ps, window),
                        fnd_time(run, c->gross_ps), fnd_time(run, window),
                        x.idle_ps ? fnd_main_idle_label(run, c, FND_BIT(VP_CAUSE_CALLBACK)) : "",
                        say_callback_op(run, c->device), say_consequences(run, &x, window)));
    fnd_gap_places(run, FND_BIT(VP_CAUSE_CALLBACK));
    const vp_op *op = largest_callback_op(run, c->device);
    if (op)
        fnd_place(run, c->device, op->name, op->slowest_start_ps, op->slowest_dur_ps);
}
