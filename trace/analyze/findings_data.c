#include "trace/analyze/findings_run.h"

#include <string.h>

/* F23 and F22: what says nothing about time. */

/* Notes that are no loss of data and yet make figures wrong. */
static bool spoils_figures(const vp_quality *q)
{
    static const char *const codes[] = {"clock", "graph", "no-device", "overlap", "dropped"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (q->severity != VP_SEV_INFO && q->code &&
            vp_str_starts(vp_str_of(q->code), vp_str_of(codes[i])))
            return true;
    return false;
}

/* Lower is worse. */
static int harm(const vp_quality *q)
{
    return q->partial || q->severity == VP_SEV_ERROR ? 0 : spoils_figures(q) ? 1 : 2;
}

static const vp_quality *worst_note(const vp_report *r, int *worst, size_t *count)
{
    const vp_quality *note = NULL;
    *worst = 2;
    *count = 0;
    for (size_t i = 0; i < r->quality_count; i++) {
        int h = harm(&r->quality[i]);
        *count += h < 2;
        if (h < *worst) {
            note = &r->quality[i];
            *worst = h;
        }
    }
    return note;
}

/* Ops of GPUs that no launch call is known of, where calls are known at all; and where most are. */
typedef struct unlinked {
    int64_t ops, all;
    uint32_t device;
} unlinked;

static unlinked count_unlinked(const vp_report *r)
{
    unlinked u = {0};
    int64_t most = 0;
    for (uint32_t d = 0; d < r->device_count; d++) {
        const vp_launch *l = &r->devices[d].launch;
        if (r->devices[d].kind != VP_DEVICE_GPU || l->calls <= 0)
            continue;
        u.ops += l->unlinked_ops;
        u.all += l->linked_ops + l->unlinked_ops;
        if (l->unlinked_ops > most) {
            most = l->unlinked_ops;
            u.device = d;
        }
    }
    return u;
}

static void say_unlinked(fd_run *run, const unlinked *u)
{
    fd_message(run, fd_say(run,
                           "No launch call is known for %s of all GPU ops (%s of %s, most of them "
                           "on %s), so causes of idle time are incomplete.",
                           fd_percent(run, u->ops, u->all), fd_count(run, u->ops),
                           fd_count(run, u->all), fd_device(run, u->device)));
}

void fd_trace_unreliable(fd_run *run)
{
    int worst;
    size_t notes;
    const vp_report *r = run->r;
    const vp_quality *note = worst_note(r, &worst, &notes);
    const unlinked u = count_unlinked(r);
    bool lost = fd_above(u.ops, u.all, 100);
    run->f->value = (double)(notes + lost);
    if (!note && !lost && !r->partial)
        return;
    run->f->status = VP_FIRED;
    run->f->severity = worst == 0 || r->partial ? VP_LEVEL_HIGH : VP_LEVEL_MEDIUM;
    if (note)
        fd_message(run,
                   fd_say(run, "The profile says of itself: %s%s.",
                          note->message ? note->message : note->code,
                          notes > 1 ? fd_say(run, " (and %zu more; see quality)", notes - 1) : ""));
    else if (lost)
        say_unlinked(run, &u);
    else
        fd_message(run, "A file of this profile is incomplete, so sums and shares miss something.");
}

/* ---- F22 ---- */

static const vp_memory *fullest(const vp_report *r)
{
    const vp_memory *worst = NULL;
    for (size_t i = 0; i < r->memory_count; i++) {
        const vp_memory *m = &r->memory[i];
        if (m->total_bytes <= 0 || m->peak_bytes < 0)
            continue;
        if (!worst || fd_share(m->peak_bytes, m->total_bytes) >
                          fd_share(worst->peak_bytes, worst->total_bytes))
            worst = m;
    }
    return worst;
}

void fd_memory(fd_run *run)
{
    const vp_memory *m = fullest(run->r);
    run->f->value = fd_share(m->peak_bytes, m->total_bytes);
    if (!fd_above(m->peak_bytes, m->total_bytes, 900))
        return;
    run->f->status = VP_FIRED;
    run->f->severity =
        m->peak_bytes >= fd_of(m->total_bytes, 98, 100) ? VP_LEVEL_HIGH : VP_LEVEL_MEDIUM;
    fd_message(
        run, fd_say(run, "%s%s%s peaks at %s, %s of the %s it may use.",
                    m->allocator ? fd_short(run, m->allocator) : "An allocator",
                    m->host ? " on " : "", m->host ? m->host : "", fd_bytes(run, m->peak_bytes),
                    fd_percent(run, m->peak_bytes, m->total_bytes), fd_bytes(run, m->total_bytes)));
    fd_place(run, VP_NO_DEVICE, m->allocator, m->peak_start_ps, 0);
    if (run->f->where_count)
        run->f->where[0].host = m->host;
}
