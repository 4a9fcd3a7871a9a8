/* Which events the second pass over a Trace Event JSON shows. */
#include <string.h>

#include "trace/export/json_plan.h"

/* Names of tracks on which nothing lies. */
static bool is_idle(const json_plan *p, const jp_event *e)
{
    vp_str what = jp_text(e, EX_NAME);
    if (e->phase != 'M' || e->thread == JP_NONE)
        return false;
    const jp_thread *t = &p->threads[e->thread];
    bool process = what.n > 8 && !memcmp(what.p, "\"process", 8);
    bool thread = what.n > 7 && !memcmp(what.p, "\"thread", 7);
    return (process && !p->processes[t->process].needed) || (thread && !t->needed);
}

/* Halves of pairs and of async spans are not asked for by themselves. Flows go with the slices that
 * were left out for their length: another slice would get their arrows. */
static bool is_picked(ex_pick *pick, const jp_event *e)
{
    if (!pick || !e->timed || strchr("BEben", e->phase))
        return true;
    if (strchr("XiIR", e->phase)) /* instants are slices without a length */
        return ex_pick_takes(pick, e->start_ns, e->end_ns);
    if (strchr("stf", e->phase) && pick->least_ns)
        return false;
    return ex_pick_shows(pick, e->start_ns);
}

/* Steps over the changes of an event; false: it goes. */
static bool take_changes(jp_second *s, const jp_event *e, const jp_change **changes, size_t *count)
{
    const json_plan *p = s->plan;
    bool stays = true;
    *changes = NULL;
    *count = 0;
    if (e->number == JP_NONE)
        return true;
    for (; s->change < p->change_count && p->changes[s->change].event <= e->number; s->change++) {
        const jp_change *c = &p->changes[s->change];
        if (c->event != e->number)
            continue;
        *changes = *count ? *changes : c;
        ++*count;
        stays = stays && c->kind != JP_DROP;
    }
    return stays;
}

int jp_show(jp_second *s, vp_str text, int64_t at, const ex_fields *f, jp_event *e,
            const jp_change **changes, size_t *count)
{
    json_plan *p = s->plan;
    int kept = jp_look(p, text, at, f, e);
    if (kept != EX_KEPT)
        return kept;
    if (is_idle(p, e) || !is_picked(p->pick, e) || !take_changes(s, e, changes, count))
        return EX_EMPTY;
    return EX_KEPT;
}
