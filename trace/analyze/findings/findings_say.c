/* Formats numbers, names and places of findings as parts of a sentence. */
#include "trace/analyze/findings/findings_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace/analyze/result/look_up.h"
#include "trace/base/human.h"

#define MESSAGE_MAX 1024

const char *fnd_say(fnd_run *run, const char *fmt, ...)
{
    char text[MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    const char *copy = vp_arena_strndup(run->arena, text, len);
    run->out_of_memory = run->out_of_memory || !copy;
    return copy ? copy : "";
}

const char *fnd_time(fnd_run *run, int64_t ps)
{
    static const struct unit {
        int64_t ps;
        const char *name;
    } units[] = {{INT64_C(1000000000000), "s"},
                 {INT64_C(1000000000), "ms"},
                 {INT64_C(1000000), "µs"},
                 {INT64_C(1000), "ns"}};
    const struct unit *u = units;
    if (ps < 0)
        return "an unknown time";
    while (u->ps > 1000 && ps < u->ps)
        u++;
    return fnd_say(run, "%.2f %s", (double)ps / (double)u->ps, u->name);
}

const char *fnd_percent(fnd_run *run, int64_t part, int64_t whole)
{
    char text[VP_HUMAN_BYTES];
    return fnd_say(run, "%s", vp_percent_text(text, part, whole));
}

const char *fnd_count(fnd_run *run, int64_t n)
{
    char digits[24], out[32];
    size_t used = 0;
    int len = snprintf(digits, sizeof digits, "%lld", (long long)(n < 0 ? 0 : n));
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = 0;
    return fnd_say(run, "%s", out);
}

const char *fnd_bytes(fnd_run *run, int64_t n)
{
    char text[VP_HUMAN_BYTES];
    return fnd_say(run, "%s", vp_bytes_text(text, n));
}

#define NAME_MAX_BYTES 60u

const char *fnd_short(fnd_run *run, const char *name)
{
    size_t n = name ? strlen(name) : 0;
    if (n <= NAME_MAX_BYTES)
        return name ? name : "-";
    size_t cut = NAME_MAX_BYTES - 3;
    while (cut && ((unsigned char)name[cut] & 0xc0) == 0x80) /* not inside of a character */
        cut--;
    return fnd_say(run, "%.*s…", (int)cut, name);
}

const char *fnd_path(fnd_run *run, const char *path)
{
    size_t n = strlen(path);
    if (n <= NAME_MAX_BYTES)
        return path;
    const char *end = path + n - (NAME_MAX_BYTES - 3);
    while ((*end & 0xc0) == 0x80)
        end++;
    return fnd_say(run, "…%s", end);
}

const char *fnd_called_by(fnd_run *run, const char *caller, const char *after)
{
    return caller ? fnd_say(run, ", called by %s%s", fnd_path(run, caller), after) : "";
}

/* " (rank 3)" if the rank of a host is known and its name does not contain it. */
static const char *rank_of_host(fnd_run *run, const char *host)
{
    const vp_report *r = run->r;
    char name[32];
    for (size_t i = 0; i < r->rank_count; i++) {
        if (!r->ranks[i].host || strcmp(r->ranks[i].host, host) != 0)
            continue;
        snprintf(name, sizeof name, "rank%lld", (long long)r->ranks[i].rank);
        return vp_str_starts(vp_str_of(host), vp_str_of(name))
                   ? ""
                   : fnd_say(run, " (rank %lld)", (long long)r->ranks[i].rank);
    }
    return "";
}

const char *fnd_device(fnd_run *run, uint32_t device)
{
    const vp_device *d = &run->r->devices[device];
    vp_str name = vp_str_of(d->name);
    static const char *const prefixes[] = {"/device:", "/host:"};
    for (size_t i = 0; i < 2; i++)
        if (vp_str_starts(name, vp_str_of(prefixes[i])))
            name = vp_str_skip(name, strlen(prefixes[i]));
    const char *label = name.n ? fnd_short(run, name.p) : "the device";
    return run->r->host_count > 1 && d->host
               ? fnd_say(run, "%s on %s%s", label, d->host, rank_of_host(run, d->host))
               : label;
}

int64_t fnd_window(const fnd_run *run, uint32_t device)
{
    return run->r->devices[device].breakdown.window_ps;
}

int64_t fnd_windows(const fnd_run *run)
{
    int64_t sum = 0;
    for (uint32_t d = 0; d < run->r->device_count; d++)
        sum += fnd_window(run, d);
    return sum;
}

const char *fnd_worst(fnd_run *run, const fnd_claim *c)
{
    const char *name = fnd_device(run, c->device);
    if (run->claim_count < 2)
        return name;
    return fnd_say(run, "%s (worst of %zu devices)", name, run->claim_count);
}

void fnd_message(fnd_run *run, const char *message)
{
    run->f->message = message;
}

/* Appends to a list of a finding. These are short, so they grow one by one in the arena. */
static void finding_add_text(fnd_run *run, const char ***list, size_t *count, const char *text)
{
    const char **grown = vp_arena_alloc(run->arena, (*count + 1) * sizeof *grown);
    if (!grown) {
        run->out_of_memory = true;
        return;
    }
    if (*count)
        memcpy(grown, *list, *count * sizeof *grown);
    grown[(*count)++] = text;
    *list = grown;
}

void fnd_caveat(fnd_run *run, const char *text)
{
    finding_add_text(run, &run->f->caveats, &run->f->caveat_count, text);
}

void fnd_missing(fnd_run *run, const char *text)
{
    run->f->status = VP_NOT_EVALUATED;
    finding_add_text(run, &run->f->missing, &run->f->missing_count, text);
}

void fnd_lacks(fnd_run *run, unsigned need)
{
    fnd_missing(run, findings_need((unsigned)__builtin_ctz(need)));
}

void fnd_place(fnd_run *run, uint32_t device, const char *track, int64_t start_ps, int64_t dur_ps)
{
    vp_finding *f = run->f;
    vp_place *p;
    if (f->where_count == FND_PLACES_MAX)
        return;
    if (!f->where)
        f->where = vp_arena_zalloc(run->arena, FND_PLACES_MAX * sizeof *f->where);
    if (!f->where) {
        run->out_of_memory = true;
        return;
    }
    bool timed = start_ps != VP_NO_TIME && dur_ps >= 0;
    p = &f->where[f->where_count++];
    *p = (vp_place){device, NULL, track, timed ? start_ps : VP_NO_TIME,
                    timed ? start_ps + dur_ps : VP_NO_TIME};
    if (device < run->r->device_count)
        p->host = run->r->devices[device].host;
}

void fnd_place_on_host(fnd_run *run, const char *host, const char *track, int64_t start_ps)
{
    fnd_place(run, VP_NO_DEVICE, track, start_ps, 0);
    if (run->f->where_count)
        run->f->where[0].host = host;
}

void fnd_place_in_step(fnd_run *run, uint32_t device, const char *track)
{
    const vp_steps *steps = &run->r->steps;
    for (size_t i = 0; i < steps->count; i++) {
        const vp_step *s = &steps->list[i];
        const vp_step_device *d = result_step_device(s, device);
        if (d && vp_step_counts(s)) {
            fnd_place(run, device, track, d->start_ps, d->dur_ps);
            return;
        }
    }
    fnd_place(run, device, track, VP_NO_TIME, VP_UNKNOWN);
}

/* True if the label is the user's frame itself: "$train.py:20 train" and "train (train.py:20)". */
static bool is_user_label(const vp_idle_label *l)
{
    const char *place = l->user ? strrchr(l->user, '(') : NULL;
    size_t n = place ? strlen(place) : 0;
    return l->label && n > 2 &&
           vp_str_find(vp_str_of(l->label), (vp_str){place + 1, n - 2}) < strlen(l->label);
}

const char *fnd_label(fnd_run *run, const vp_idle_label *l)
{
    const char *name = l->label ? fnd_short(run, l->label)
                                : "code without events (add annotations or use the Python tracer)";
    if (l->user)
        name = is_user_label(l) ? fnd_path(run, l->user)
                                : fnd_say(run, "%s: %s", fnd_path(run, l->user), name);
    return fnd_say(run, "%s%s%s (%s, %s gap%s)", name,
                   !l->thread                         ? ""
                   : !strncmp(l->thread, "thread", 6) ? " on "
                                                      : " on thread ",
                   l->thread ? fnd_short(run, l->thread) : "", fnd_time(run, l->total_ps),
                   fnd_count(run, l->gaps), l->gaps == 1 ? "" : "s");
}

static int64_t ps_of_causes(const int64_t *cause_ps, uint32_t causes)
{
    int64_t sum = 0;
    for (unsigned k = 0; k < VP_CAUSES; k++)
        if ((causes & FND_BIT(k)) && cause_ps[k] > 0)
            sum += cause_ps[k];
    return sum;
}

void fnd_gap_places(fnd_run *run, uint32_t causes)
{
    const vp_report *r = run->r;
    size_t best[FND_PLACES_MAX], n = 0;
    for (size_t i = 0; i < r->gap_count; i++) {
        int64_t ps = ps_of_causes(r->gaps[i].cause_ps, causes);
        if (ps <= 0 || r->gaps[i].device >= r->device_count ||
            !(run->devices[r->gaps[i].device].offered & run->rule_bit))
            continue;
        size_t at = n < FND_PLACES_MAX ? n++ : FND_PLACES_MAX;
        for (; at && ps > ps_of_causes(r->gaps[best[at - 1]].cause_ps, causes); at--)
            if (at < FND_PLACES_MAX)
                best[at] = best[at - 1];
        if (at < FND_PLACES_MAX)
            best[at] = i;
    }
    for (size_t i = 0; i < n; i++) {
        const vp_gap *g = &r->gaps[best[i]];
        fnd_place(run, g->device, g->thread, g->start_ps, g->dur_ps);
    }
}

fnd_idle_parts fnd_idle_labels(const fnd_run *run, uint32_t device, uint32_t causes)
{
    fnd_idle_parts out = {0};
    for (size_t i = 0; i < run->r->idle_label_count; i++) {
        const vp_idle_label *l = &run->r->idle_labels[i];
        if (l->device != device || l->cause >= VP_CAUSES || !(causes & FND_BIT(l->cause)))
            continue;
        if (l->cause == VP_CAUSE_LATENCY)
            out.latency_ps += l->total_ps;
        else if (!l->label && !l->thread)
            out.silent_ps += l->total_ps;
        else if (!out.label || l->total_ps > out.label->total_ps)
            out.label = l;
    }
    return out;
}

const char *fnd_op_place(fnd_run *run, const vp_op *op)
{
    return op->caller ? fnd_path(run, op->caller) : op->source ? fnd_path(run, op->source) : NULL;
}

const char *fnd_op_at(fnd_run *run, const vp_op *op)
{
    const char *place = fnd_op_place(run, op);
    return fnd_say(run, "%s%s%s", fnd_short(run, op->name),
                   !place       ? ""
                   : op->caller ? " in "
                                : " at ",
                   place ? place : "");
}
