/* F36 F37 F38 F39 F40: planned use of a device's main memory. Their impact is bytes, not time. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

#include "trace/base/sums.h"

/* The result of a rule for one plan. */
typedef struct charge {
    int64_t bytes, of;                /* saving, and the denominator of the share */
    size_t count;                     /* of buffers or pairs */
    const vp_plan_buffer *buffer;     /* the worst; NULL: none is named */
    const vp_plan_donation *donation; /* likewise */
} charge;

static bool is_large(const fnd_run *run, int64_t bytes)
{
    return bytes >= (int64_t)run->rule->limits[FND_SIZE] << 10;
}

/* Programs that were only compiled take no memory, and other spaces are not a device's scarce
 * memory. */
static bool is_counted_plan(const vp_memory_plan *p)
{
    return p->ran && !p->space;
}

bool fnd_has_plans(const vp_report *r)
{
    for (size_t i = 0; i < r->memory_static_count; i++)
        if (is_counted_plan(&r->memory_static[i]))
            return true;
    return false;
}

const char *fnd_program(fnd_run *run, const vp_memory_plan *p)
{
    return fnd_say(run, "%s%s%s", fnd_short(run, p->module), p->host ? " on " : "",
                   p->host ? p->host : "");
}

/* The smallest memory of the devices of that host; 0: unknown. */
static int64_t room_of(const vp_report *r, const char *host)
{
    int64_t least = 0;
    for (size_t d = 0; d < r->device_count; d++) {
        const vp_device *x = &r->devices[d];
        bool same = vp_str_eq(vp_str_of(x->host), vp_str_of(host));
        if (same && x->memory_bytes > 0 && (!least || x->memory_bytes < least))
            least = x->memory_bytes;
    }
    return least;
}

const vp_memory_plan *fnd_fullest_plan(const vp_report *r, int64_t *room)
{
    const vp_memory_plan *fullest = NULL;
    for (size_t i = 0; i < r->memory_static_count; i++) {
        const vp_memory_plan *p = &r->memory_static[i];
        int64_t has = is_counted_plan(p) && p->reserved_bytes >= 0 ? room_of(r, p->host) : 0;
        if (has && (!fullest || fnd_share(p->reserved_bytes, has) >
                                    fnd_share(fullest->reserved_bytes, *room))) {
            fullest = p;
            *room = has;
        }
    }
    return fullest;
}

const vp_memory_plan *fnd_plan_of(const vp_report *r, const char *module, const char *host)
{
    const vp_memory_plan *best = NULL;
    for (size_t i = 0; i < r->memory_static_count; i++) {
        const vp_memory_plan *p = &r->memory_static[i];
        bool same = vp_str_eq(vp_str_of(p->module), vp_str_of(module)) &&
                    (!host || !p->host || vp_str_eq(vp_str_of(p->host), vp_str_of(host)));
        if (same && is_counted_plan(p) && (!best || p->reserved_bytes > best->reserved_bytes))
            best = p;
    }
    return best;
}

/* "fusion.2 in jit(f)/block (model.py:12)", without unknown parts. */
static const char *place_text(fnd_run *run, const char *what, const char *scope, const char *source)
{
    return fnd_say(run, "%s%s%s%s%s%s", what, scope ? " in " : "",
                   scope ? fnd_path(run, scope) : "", source ? " (" : "",
                   source ? fnd_path(run, source) : "", source ? ")" : "");
}

/* "fusion.2 (f32[8,3]{1,0}) in jit(f)/block (model.py:12)" */
static const char *buffer_text(fnd_run *run, const vp_plan_buffer *b)
{
    const char *what =
        fnd_say(run, "%s%s%s%s", fnd_short(run, b->instruction), b->shape ? " (" : "",
                b->shape ? fnd_short(run, b->shape) : "", b->shape ? ")" : "");
    return place_text(run, what, b->scope ? b->scope : b->origin_scope,
                      b->source ? b->source : b->origin_source);
}

const char *fnd_largest_buffer(fnd_run *run, const vp_memory_plan *p, bool temporary)
{
    for (size_t i = 0; i < p->live_count; i++) {
        const vp_plan_buffer *b = &p->live[i];
        if (b->kind != VP_BUFFER_OTHERS && (!temporary || b->kind == VP_BUFFER_TEMP))
            return fnd_say(run, "; the largest buffer is %s, %s", buffer_text(run, b),
                           fnd_bytes(run, b->bytes));
    }
    return "";
}

/* Evaluates every plan, and fires for the one with the most bytes, which are the impact. *others:
 * the number of others. NULL: none. */
static const vp_memory_plan *worst_plan(fnd_run *run,
                                        charge (*ask)(const fnd_run *, const vp_memory_plan *),
                                        charge *worst, size_t *others)
{
    const vp_memory_plan *found = NULL;
    double share = 0;
    *worst = (charge){0};
    *others = 0;
    for (size_t i = 0; i < run->r->memory_static_count; i++) {
        const vp_memory_plan *p = &run->r->memory_static[i];
        charge c = is_counted_plan(p) ? ask(run, p) : (charge){0};
        fnd_keep_value(run, fnd_share(c.bytes, c.of));
        if (c.bytes <= 0 || !fnd_reaches(run, c.bytes, c.of, FND_SHARE))
            continue;
        *others += found != NULL;
        if (found && c.bytes <= worst->bytes)
            continue;
        found = p;
        *worst = c;
        share = fnd_share(c.bytes, c.of);
    }
    if (!found)
        return NULL;
    run->f->status = VP_FIRED;
    run->f->severity = VP_LEVEL_LOW;
    run->f->value = share;
    run->f->impact_bytes = worst->bytes;
    fnd_place_on_host(run, found->host, found->module, VP_NO_TIME);
    return found;
}

static const char *more_programs_phrase(fnd_run *run, size_t others)
{
    return others ? fnd_say(run, " (and %zu more program%s)", others, others == 1 ? "" : "s") : "";
}

/* ---- F36 ---- */

static charge undonated_charge(const fnd_run *run, const vp_memory_plan *p)
{
    charge c = {.of = p->reserved_bytes};
    for (size_t i = 0; i < p->donation_count; i++) {
        const vp_plan_donation *d = &p->donations[i];
        if (!is_large(run, d->bytes))
            continue;
        c.bytes = vp_add_most(c.bytes, d->bytes);
        c.donation = c.donation ? c.donation : d;
        c.count++;
    }
    return c;
}

static const char *donation_phrase(fnd_run *run, const vp_plan_donation *d)
{
    bool scoped = d->scope && *d->scope;
    return fnd_say(run, "argument %s (%s%s%s) for %s", fnd_count(run, d->parameter_number),
                   fnd_short(run, d->parameter), scoped ? ", " : "",
                   scoped ? fnd_path(run, d->scope) : "",
                   place_text(run, fnd_short(run, d->output), d->output_scope, d->output_source));
}

/* On a CPU, each run allocates memory for its temporaries and results before it begins, and the
 * memory of replaced results is released. The part of that time that is for undonated results, by
 * bytes. */
static int64_t allocation_ps(const fnd_run *run, uint32_t device, const vp_memory_plan *p,
                             int64_t bytes)
{
    const vp_report *r = run->r;
    int64_t latency = run->devices[device].whole_ps[FND_IDLE + VP_CAUSE_LATENCY], before = 0;
    int64_t all = vp_add_most(p->temp_bytes, p->output_bytes);
    uint32_t i;
    if (r->devices[device].kind != VP_DEVICE_CPU)
        return 0;
    for (FND_ROWS(i, &run->ops, device))
        if (vp_str_eq(vp_str_of(r->ops[i].module), vp_str_of(p->module)))
            before = vp_add_most(before, r->ops[i].idle_before_ps);
    before = before < latency ? before : latency;
    return bytes < all ? fnd_of(before, bytes, all) : before;
}

/* Claims the time of the copies, and of the memory that they need. NULL: the copies are
 * below the threshold. */
static const fnd_claim *claim_argument_copies(fnd_run *run, const vp_memory_plan *p, int64_t bytes)
{
    const uint32_t cells =
        FND_BIT(FND_COMPUTE) | FND_BIT(FND_COPY + VP_D2D) | FND_BIT(FND_COPY + VP_OTHER_COPY);
    for (uint32_t d = 0; d < run->r->device_count; d++) {
        int64_t ps;
        fnd_largest_avoidable(run, d, FND_AVOIDABLE(argument_copy_ps), NULL, &ps);
        if (!fnd_reaches(run, ps, fnd_window(run, d), FND_WINDOW))
            continue;
        int64_t idle = allocation_ps(run, d, p, bytes), slowed;
        fnd_largest_avoidable(run, d, FND_AVOIDABLE(copy_slowed_ps), NULL, &slowed);
        ps += idle + slowed;
        fnd_offer(run, d, cells, ps, fnd_share(ps, fnd_window(run, d)))
            ->part_ps[FND_IDLE + VP_CAUSE_LATENCY] = idle;
    }
    return fnd_settle(run);
}

static void say_argument_copies(fnd_run *run, const fnd_claim *c, const vp_memory_plan *p,
                                const vp_plan_donation *d)
{
    int64_t ps;
    const vp_op *op =
        fnd_largest_avoidable(run, c->device, FND_AVOIDABLE(argument_copy_ps), NULL, &ps);
    int64_t idle = c->part_ps[FND_IDLE + VP_CAUSE_LATENCY], slowed;
    fnd_largest_avoidable(run, c->device, FND_AVOIDABLE(copy_slowed_ps), NULL, &slowed);
    fnd_message(
        run,
        fnd_say(run,
                "%s spends %s of its window (%s of %s) on copies of arguments that are not "
                "donated: %s, %s call%s%s%s. %s could use the memory of %s.",
                fnd_worst(run, c), fnd_percent(run, ps, fnd_window(run, c->device)),
                fnd_time(run, ps), fnd_time(run, fnd_window(run, c->device)),
                fnd_short(run, op->name), fnd_count(run, op->calls), op->calls == 1 ? "" : "s",
                idle > 0 ? fnd_say(run, "; it waits %s for their memory", fnd_time(run, idle)) : "",
                slowed > 0 ? fnd_say(run, "; other ops take %s longer during copies",
                                     fnd_time(run, slowed))
                           : "",
                fnd_program(run, p), donation_phrase(run, d)));
    fnd_place(run, op->device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
}

void fnd_missing_donation(fnd_run *run)
{
    charge c;
    size_t others;
    const vp_memory_plan *p = worst_plan(run, undonated_charge, &c, &others);
    const fnd_claim *copies = p ? claim_argument_copies(run, p, c.bytes) : NULL;
    if (!p)
        return;
    run->f->status = VP_FIRED;
    const vp_plan_donation *d = c.donation;
    if (copies) {
        say_argument_copies(run, copies, p, d);
    } else {
        run->f->severity = VP_LEVEL_LOW;
        fnd_message(run,
                    fnd_say(run,
                            "%s could write results into the memory of %zu undonated argument%s: "
                            "up to %s of its %s reserved, starting with %s%s.",
                            fnd_program(run, p), c.count, c.count == 1 ? "" : "s",
                            fnd_bytes(run, c.bytes), fnd_bytes(run, c.of), donation_phrase(run, d),
                            more_programs_phrase(run, others)));
    }
    if (d->also_scratch)
        fnd_caveat(run, "The result's memory is used as scratch first. Less is saved, since the "
                        "scratch then needs other memory.");
}

/* ---- F37 ---- */

static int64_t padding_of_buffer(const vp_plan_buffer *b)
{
    return b->unpadded_bytes < 0 || !b->padded ? 0 : b->bytes - b->unpadded_bytes;
}

static charge padding_charge(const fnd_run *run, const vp_memory_plan *p)
{
    charge c = {.of = p->peak_bytes};
    for (size_t i = 0; i < p->live_count; i++) {
        const vp_plan_buffer *b = &p->live[i];
        if (!is_large(run, b->bytes) || !fnd_reaches(run, padding_of_buffer(b), b->bytes, FND_PART))
            continue;
        c.bytes += padding_of_buffer(b);
        c.count++;
        if (!c.buffer || padding_of_buffer(b) > padding_of_buffer(c.buffer))
            c.buffer = b;
    }
    return c;
}

void fnd_padding(fnd_run *run)
{
    charge c;
    size_t others;
    const vp_memory_plan *p = worst_plan(run, padding_charge, &c, &others);
    if (!p)
        return;
    run->f->severity = VP_LEVEL_MEDIUM;
    fnd_message(run, fnd_say(run,
                             "At the peak of %s, %s of %s (%s) is layout padding in %zu buffer%s; "
                             "the worst is %s: %s, wastes %s%s.",
                             fnd_program(run, p), fnd_bytes(run, c.bytes), fnd_bytes(run, c.of),
                             fnd_percent(run, c.bytes, c.of), c.count, c.count == 1 ? "" : "s",
                             buffer_text(run, c.buffer), c.buffer->padded,
                             fnd_bytes(run, padding_of_buffer(c.buffer)),
                             more_programs_phrase(run, others)));
}

/* ---- F38 ---- */

static charge temporary_charge(const fnd_run *run, const vp_memory_plan *p)
{
    charge c = {.of = p->peak_bytes};
    for (size_t i = 0; i < p->live_count; i++) {
        const vp_plan_buffer *b = &p->live[i];
        if (b->kind != VP_BUFFER_TEMP || !is_large(run, b->bytes) || b->bytes <= c.bytes)
            continue;
        c.bytes = b->bytes;
        c.buffer = b;
    }
    return c;
}

void fnd_large_temporary(fnd_run *run)
{
    charge c;
    size_t others;
    const vp_memory_plan *p = worst_plan(run, temporary_charge, &c, &others);
    if (!p)
        return;
    fnd_message(
        run, fnd_say(run, "One temporary takes %s of the %s (%s) that %s uses at its peak: %s%s.",
                     fnd_bytes(run, c.bytes), fnd_bytes(run, c.of), fnd_percent(run, c.bytes, c.of),
                     fnd_program(run, p), buffer_text(run, c.buffer),
                     more_programs_phrase(run, others)));
}

/* ---- F39 ---- */

static charge planned_gap_charge(const fnd_run *run, const vp_memory_plan *p)
{
    bool told = p->replayed && p->fragmentation_bytes >= 0 && is_large(run, p->fragmentation_bytes);
    return (charge){.bytes = told ? p->fragmentation_bytes : 0, .of = p->temp_bytes};
}

void fnd_planned_gaps(fnd_run *run)
{
    charge c;
    size_t others;
    const vp_memory_plan *p = worst_plan(run, planned_gap_charge, &c, &others);
    if (!p)
        return;
    fnd_message(run, fnd_say(run,
                             "%s of the %s (%s) that %s reserves for temporaries is unused at its "
                             "peak%s%s.",
                             fnd_bytes(run, c.bytes), fnd_bytes(run, c.of),
                             fnd_percent(run, c.bytes, c.of), fnd_program(run, p),
                             fnd_largest_buffer(run, p, true), more_programs_phrase(run, others)));
}

/* ---- F40 ---- */

/* True if it could be offloaded: it is large, and not read for long. */
static bool is_offloadable_buffer(const fnd_run *run, const vp_memory_plan *p,
                                  const vp_plan_buffer *b)
{
    return (b->kind == VP_BUFFER_TEMP || b->kind == VP_BUFFER_PARAMETER) &&
           is_large(run, b->bytes) && fnd_reaches(run, b->unused, p->instructions, FND_PART);
}

static charge offloadable_charge(const fnd_run *run, const vp_memory_plan *p)
{
    charge c = {.of = p->peak_bytes};
    if (!fnd_reaches(run, p->reserved_bytes, room_of(run->r, p->host), FND_WINDOW))
        return c;
    for (size_t i = 0; i < p->live_count; i++) {
        const vp_plan_buffer *b = &p->live[i];
        if (!is_offloadable_buffer(run, p, b))
            continue;
        c.bytes += b->bytes;
        c.buffer = c.buffer ? c.buffer : b;
        c.count++;
    }
    return c;
}

void fnd_offload(fnd_run *run)
{
    charge c;
    size_t others;
    const vp_memory_plan *p = worst_plan(run, offloadable_charge, &c, &others);
    if (!p)
        return;
    fnd_message(run, fnd_say(run,
                             "At its peak, %s holds %s of %s (%s) in %zu buffer%s that no "
                             "instruction reads for at least half of the program: %s for %s of "
                             "it%s.",
                             fnd_program(run, p), fnd_bytes(run, c.bytes), fnd_bytes(run, c.of),
                             fnd_percent(run, c.bytes, c.of), c.count, c.count == 1 ? "" : "s",
                             buffer_text(run, c.buffer),
                             fnd_percent(run, c.buffer->unused, p->instructions),
                             more_programs_phrase(run, others)));
}
