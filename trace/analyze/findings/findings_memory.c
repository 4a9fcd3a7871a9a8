/* F22 F30 F31 F32: memory that is full, lost, fragmented, or held twice. Their impact is not a
 * time. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

#include "trace/base/sums.h"

static const char *allocator_phrase(fnd_run *run, const vp_memory *m)
{
    return fnd_say(run, "%s%s%s", m->allocator ? fnd_short(run, m->allocator) : "An allocator",
                   m->host ? " on " : "", m->host ? m->host : "");
}

/* "bmm in Attention_3 (model.py:12)" */
static const char *site_phrase(fnd_run *run, const char *name, const char *scope,
                               const char *source)
{
    bool told = scope && name && strcmp(scope, name) != 0;
    return fnd_say(run, "%s%s%s%s%s%s", fnd_short(run, name), told ? " in " : "",
                   told ? fnd_path(run, scope) : "", source ? " (" : "",
                   source ? fnd_path(run, source) : "", source ? ")" : "");
}

/* The largest holder with a name; NULL: none. */
static const vp_memory_item *largest_of(const vp_memory *m)
{
    for (size_t i = 0; i < m->top_count; i++)
        if (m->top[i].name && m->top[i].name[0] != '(')
            return &m->top[i];
    return NULL;
}

/* The same as the end of a sentence. */
static const char *largest_holder_phrase(fnd_run *run, const vp_memory *m)
{
    const vp_memory_item *x = largest_of(m);
    return x ? fnd_say(run, "; %s holds %s of it", site_phrase(run, x->name, x->scope, x->source),
                       fnd_bytes(run, x->bytes))
             : "";
}

static void place_at_peak(fnd_run *run, const vp_memory *m)
{
    fnd_place_on_host(run, m->host, m->allocator, m->peak_start_ps);
}

static void fire_memory_finding(fnd_run *run, bool severe)
{
    run->f->status = VP_FIRED;
    run->f->severity = severe ? VP_LEVEL_HIGH : VP_LEVEL_MEDIUM;
}

/* ---- F22 ---- */

static const vp_memory *fullest_allocator(const vp_report *r)
{
    const vp_memory *worst = NULL;
    for (size_t i = 0; i < r->memory_count; i++) {
        const vp_memory *m = &r->memory[i];
        if (m->total_bytes <= 0 || m->peak_bytes < 0)
            continue;
        if (!worst || fnd_share(m->peak_bytes, m->total_bytes) >
                          fnd_share(worst->peak_bytes, worst->total_bytes))
            worst = m;
    }
    return worst;
}

/* The allocator with the most failed requests; NULL: none failed. */
static const vp_memory *most_failed_allocator(const vp_report *r)
{
    const vp_memory *worst = NULL;
    for (size_t i = 0; i < r->memory_count; i++) {
        const vp_memory *m = &r->memory[i];
        if (m->out_of_memory > (worst ? worst->out_of_memory : 0))
            worst = m;
    }
    return worst;
}

static void say_exhausted(fnd_run *run, const vp_memory *m)
{
    const vp_memory_item *x = largest_of(m);
    fire_memory_finding(run, true);
    run->f->value = 1;
    run->f->impact_bytes = x ? x->bytes : m->peak_bytes; /* no request has a size */
    fnd_message(run,
                fnd_say(run, "%s failed to serve %s request%s; it peaks at %s of %s reserved%s.",
                        allocator_phrase(run, m), fnd_count(run, m->out_of_memory),
                        m->out_of_memory == 1 ? "" : "s", fnd_bytes(run, m->peak_bytes),
                        fnd_bytes(run, m->reserved_peak_bytes), largest_holder_phrase(run, m)));
    place_at_peak(run, m);
}

/* Fires if the rule's limit is exceeded. */
static bool fire_if_full(fnd_run *run, int64_t taken, int64_t whole)
{
    run->f->value = fnd_share(taken, whole);
    if (!fnd_exceeds(run, taken, whole, FND_SHARE))
        return false;
    fire_memory_finding(run, taken >= fnd_limit_of(run, whole, FND_SEVERE));
    run->f->impact_bytes = taken - fnd_limit_of(run, whole, FND_SHARE);
    return true;
}

static void say_planned(fnd_run *run, const vp_memory_plan *p, int64_t room)
{
    if (!fire_if_full(run, p->reserved_bytes, room))
        return;
    fnd_message(run, fnd_say(run, "%s has a memory plan of %s, %s of the device's %s%s.",
                             fnd_program(run, p), fnd_bytes(run, p->reserved_bytes),
                             fnd_percent(run, p->reserved_bytes, room), fnd_bytes(run, room),
                             fnd_largest_buffer(run, p, false)));
    fnd_place_on_host(run, p->host, p->module, VP_NO_TIME);
}

void fnd_memory(fnd_run *run)
{
    const vp_memory *m = most_failed_allocator(run->r);
    int64_t room = 0;
    if (m) {
        say_exhausted(run, m);
        return;
    }
    m = fullest_allocator(run->r);
    const vp_memory_plan *p = fnd_fullest_plan(run->r, &room);
    /* the measured peak counts, unless only the plan is worse */
    if (p &&
        (!m || fnd_share(p->reserved_bytes, room) > fnd_share(m->peak_bytes, m->total_bytes))) {
        say_planned(run, p, room);
        return;
    }
    if (!m || !fire_if_full(run, m->peak_bytes, m->total_bytes))
        return;
    fnd_message(run, fnd_say(run, "%s peaks at %s, %s of the %s available to it%s.",
                             allocator_phrase(run, m), fnd_bytes(run, m->peak_bytes),
                             fnd_percent(run, m->peak_bytes, m->total_bytes),
                             fnd_bytes(run, m->total_bytes), largest_holder_phrase(run, m)));
    place_at_peak(run, m);
}

/* ---- F30 ---- */

/* Bytes that remain after each further step. */
static int64_t a_step(const vp_memory *m, const vp_leak *l)
{
    return l->bytes / m->leak_steps;
}

/* Memory that remains after one step only, such as the state of optimizers after the first, is not
 * a leak. */
static bool leak_recurs(const fnd_run *run, const vp_memory *m, const vp_leak *l)
{
    return l->steps >= run->rule->limits[FND_NUMBER] &&
           fnd_reaches(run, l->steps, m->leak_steps, FND_PART);
}

typedef struct leaking {
    const vp_memory *m;
    const vp_leak *worst;
    size_t sites;
    int64_t bytes; /* of all that leak */
} leaking;

static leaking worst_leak(fnd_run *run)
{
    leaking found = {NULL, NULL, 0, 0};
    for (size_t i = 0; i < run->r->memory_count; i++) {
        const vp_memory *m = &run->r->memory[i];
        for (size_t k = 0; m->leak_steps > 0 && k < m->leak_count; k++) {
            const vp_leak *l = &m->leaks[k];
            if (!leak_recurs(run, m, l))
                continue;
            fnd_keep_value(run, fnd_share(a_step(m, l), m->peak_bytes));
            if (!fnd_reaches(run, a_step(m, l), m->peak_bytes, FND_SHARE))
                continue;
            found.sites++;
            found.bytes = vp_add_most(found.bytes, l->bytes);
            if (!found.worst || l->bytes > found.worst->bytes) {
                found.worst = l;
                found.m = m;
            }
        }
    }
    return found;
}

void fnd_leak(fnd_run *run)
{
    leaking x = worst_leak(run);
    if (!x.worst)
        return;
    int64_t more = a_step(x.m, x.worst);
    run->f->value = fnd_share(more, x.m->peak_bytes);
    fire_memory_finding(run, fnd_reaches(run, more, x.m->peak_bytes, FND_SEVERE));
    run->f->impact_bytes = x.bytes;
    fnd_message(run, fnd_say(run,
                             "%s holds %s more after each step (in %s of %s steps), allocated by "
                             "%s%s.",
                             allocator_phrase(run, x.m), fnd_bytes(run, more),
                             fnd_count(run, x.worst->steps), fnd_count(run, x.m->leak_steps),
                             site_phrase(run, x.worst->name, x.worst->scope, x.worst->source),
                             x.sites > 1 ? fnd_say(run, " (and %zu more)", x.sites - 1) : ""));
    place_at_peak(run, x.m);
}

/* ---- F31 ---- */

/* Snapshots have the fragmentation at their end. */
static int64_t in_use_at_peak(const vp_memory *m)
{
    return m->out_of_memory >= 0 || m->allocations < 0 ? m->end_bytes : m->peak_bytes;
}

/* An almost empty allocator has no free memory that could be too fragmented. */
void fnd_fragments(fnd_run *run)
{
    const vp_memory *worst = NULL;
    for (size_t i = 0; i < run->r->memory_count; i++) {
        const vp_memory *m = &run->r->memory[i];
        if (m->fragmented_of_bytes <= 0 || m->fragmented_bytes < 0 ||
            !fnd_reaches(run, in_use_at_peak(m), m->fragmented_of_bytes, FND_PART))
            continue;
        fnd_keep_value(run, fnd_share(m->fragmented_bytes, m->fragmented_of_bytes));
        if (!worst || fnd_share(m->fragmented_bytes, m->fragmented_of_bytes) >
                          fnd_share(worst->fragmented_bytes, worst->fragmented_of_bytes))
            worst = m;
    }
    if (!worst || !fnd_exceeds(run, worst->fragmented_bytes, worst->fragmented_of_bytes, FND_SHARE))
        return;
    fire_memory_finding(
        run, fnd_reaches(run, worst->fragmented_bytes, worst->fragmented_of_bytes, FND_SEVERE));
    run->f->impact_bytes = worst->fragmented_bytes;
    fnd_message(run, fnd_say(run, "%s: %s of %s (%s) is free but fragmented%s.",
                             allocator_phrase(run, worst), fnd_bytes(run, worst->fragmented_bytes),
                             fnd_bytes(run, worst->fragmented_of_bytes),
                             fnd_percent(run, worst->fragmented_bytes, worst->fragmented_of_bytes),
                             largest_holder_phrase(run, worst)));
    if (worst->reserved_bytes >= 0 && worst->out_of_memory < 0 && worst->allocations >= 0)
        fnd_caveat(run, "Kineto does not record free blocks. The number is the memory that was "
                        "free when a request of at most that size took more from the device. Small "
                        "requests may do so from a separate pool.");
    place_at_peak(run, worst);
}

/* ---- F32 ---- */

/* Calls by which programs copy data of the host to a device. */
static bool brings_input(const vp_memory_item *x)
{
    static const char *const calls[] = {"DevicePut",   "device_put",         "BufferFromHost",
                                        "HostBuffer",  "aten::to",           "aten::_to_copy",
                                        "aten::copy_", "aten::empty_strided"};
    for (size_t i = 0; x->name && i < sizeof calls / sizeof *calls; i++)
        if (strstr(x->name, calls[i]))
            return true;
    return false;
}

static bool is_same_site_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool of_other_step(const vp_memory_item *x, const vp_memory_item *y)
{
    return x->step >= 0 && y->step >= 0 && x->step != y->step && x->bytes == y->bytes &&
           is_same_site_text(x->name, y->name) && is_same_site_text(x->scope, y->scope) &&
           is_same_site_text(x->source, y->source);
}

/* The input of a step while that of the next step is held, too. Rows are sorted by size. */
static const vp_memory_item *held_twice(const vp_memory *m)
{
    for (size_t i = 0; i < m->top_count; i++)
        for (size_t k = i + 1; brings_input(&m->top[i]) && k < m->top_count; k++)
            if (of_other_step(&m->top[i], &m->top[k]))
                return &m->top[i];
    return NULL;
}

void fnd_double_inputs(fnd_run *run)
{
    for (size_t i = 0; i < run->r->memory_count; i++) {
        const vp_memory *m = &run->r->memory[i];
        const vp_memory_item *x = held_twice(m);
        if (!x)
            continue;
        fnd_keep_value(run, fnd_share(x->bytes, m->peak_bytes));
        if (run->f->status == VP_FIRED || !fnd_reaches(run, x->bytes, m->peak_bytes, FND_SHARE))
            continue;
        run->f->status = VP_FIRED;
        run->f->severity = VP_LEVEL_LOW;
        run->f->impact_bytes = x->bytes;
        fnd_message(run, fnd_say(run,
                                 "At the peak of %s, the inputs of two steps are on the device: %s "
                                 "each, allocated by %s.",
                                 allocator_phrase(run, m), fnd_bytes(run, x->bytes),
                                 site_phrase(run, x->name, x->scope, x->source)));
        place_at_peak(run, m);
    }
}
