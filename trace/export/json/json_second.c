/* Selects the events of the second pass over a Trace Event JSON. */
#include <string.h>

#include "trace/export/json/json_plan.h"

/* Names of tracks without events. */
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

/* Planned begins and ends are in the pairs, and dropped with them; for other events, finds the end
 * of the slice. false: not a slice. */
static bool is_slice(const jp_event *e, const jp_change *changes, size_t count, int64_t *end_ns)
{
    *end_ns = e->end_ns;
    for (size_t i = 0; i < count; i++) {
        if (changes[i].kind == JP_SPAN)
            *end_ns = e->start_ns + changes[i].value;
        if (changes[i].kind == JP_SPAN || changes[i].kind == JP_INSTANT)
            return true;
    }
    return jp_is_of(e->phase, JP_PHASE('X') | JP_MOMENTS |
                                  JP_PHASE('n')); /* instants are slices without a length */
}

/* Flows of slices that are too short are dropped: another slice would get their arrows. */
static bool is_picked(ex_pick *pick, const jp_event *e, const jp_change *changes, size_t count)
{
    int64_t end_ns;
    if (!ex_pick_limits(pick) || !e->timed)
        return true;
    if (is_slice(e, changes, count, &end_ns))
        return ex_pick_takes_number(pick, e->start_ns, end_ns, e->number);
    if (jp_is_of(e->phase, JP_PHASE('B') | JP_PHASE('E') | JP_HALVES))
        return true;
    if (!jp_is_of(e->phase, JP_FLOWS) || !pick->cut)
        return ex_pick_shows(pick, e->start_ns);
    pick->left_out++;
    return false;
}

/* Skips the changes of an event; false: it is dropped. */
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
    if (is_idle(p, e) || !take_changes(s, e, changes, count))
        return EX_EMPTY;
    return is_picked(p->pick, e, *changes, *count) ? EX_KEPT : EX_EMPTY;
}
