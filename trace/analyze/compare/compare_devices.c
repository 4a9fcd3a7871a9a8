/* Two runs, device by device: the classes of a mean step. */
#include <string.h>

#include "trace/analyze/compare/compare_parts.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* ---- Figures of one device ---- */

static cmp_classes unknown_classes(void)
{
    cmp_classes x = {VP_UNKNOWN, VP_UNKNOWN, VP_UNKNOWN,
                     VP_UNKNOWN, VP_UNKNOWN, .wait = VP_UNKNOWN};
    for (size_t i = 0; i < VP_CELLS; i++)
        x.cell[i] = VP_UNKNOWN;
    for (size_t i = 0; i < VP_CAUSES; i++)
        x.cause[i] = VP_UNKNOWN;
    return x;
}

typedef struct class_sums {
    __int128 window, compute, comm, copy, wait, cell[VP_CELLS], cause[VP_CAUSES];
    int64_t n;
} class_sums;

static void class_sums_add(class_sums *s, const vp_breakdown *b, const int64_t *cell_ps,
                           const int64_t *cause_ps, int64_t wait_ps)
{
    for (size_t i = 0; i < VP_CELLS; i++)
        s->cell[i] += cell_ps[i];
    for (size_t i = 0; i < VP_CAUSES; i++)
        s->cause[i] += cause_ps[i];
    s->wait += wait_ps > 0 ? wait_ps : 0;
    s->window += b->window_ps;
    s->compute += b->compute_ps;
    s->comm += b->exposed_comm_ps;
    s->copy += b->exposed_copy_ps;
    s->n++;
}

/* The largest cause absorbs the rounding, so that all add up to idle. */
static void mean_causes(cmp_classes *x, const class_sums *s)
{
    size_t largest = VP_CAUSE_UNKNOWN;
    int64_t rest = x->idle;
    for (size_t i = 0; i < VP_CAUSES; i++) {
        x->cause[i] = cmp_mean(s->cause[i], s->n);
        rest -= x->cause[i];
        largest = s->cause[i] > s->cause[largest] ? i : largest;
    }
    x->cause[largest] += rest;
}

/* Rounded means of the sums. Idle absorbs the rounding, so that the four classes still add up to
 * the window; the unknown cell absorbs it, so that the cells add up to compute. */
static cmp_classes class_means(const class_sums *s, const vp_device *of)
{
    if (!s->n)
        return unknown_classes();
    cmp_classes x = {.window = cmp_mean(s->window, s->n),
                     .compute = cmp_mean(s->compute, s->n),
                     .comm = cmp_mean(s->comm, s->n),
                     .copy = cmp_mean(s->copy, s->n)};
    x.idle = x.window - x.compute - x.comm - x.copy;
    x.cell[VP_CELL_UNKNOWN] = x.compute;
    for (size_t i = 0; i < VP_CELL_UNKNOWN; i++) {
        x.cell[i] = cmp_mean(s->cell[i], s->n);
        x.cell[VP_CELL_UNKNOWN] -= x.cell[i];
    }
    for (size_t i = 0; of->mfu.peak_gflops <= 0 && i < VP_CELLS; i++)
        x.cell[i] = VP_UNKNOWN;
    mean_causes(&x, s);
    x.wait = of->exposed_wait_ps < 0 ? VP_UNKNOWN : cmp_mean(s->wait, s->n);
    x.wait = x.wait > x.comm ? x.comm : x.wait;
    return x;
}

/* Adds up all devices in one pass over the steps. */
static void sum_up_classes(class_sums *v, const cmp_side *s)
{
    const vp_report *r = s->r;
    for (size_t i = 0; !s->per_step && i < r->device_count; i++)
        class_sums_add(&v[i], &r->devices[i].breakdown, r->devices[i].mfu.cell_ps,
                       r->devices[i].cause_ps, r->devices[i].exposed_wait_ps);
    for (size_t i = 0; s->per_step && i < r->steps.count; i++) {
        const vp_step *step = &r->steps.list[i];
        for (size_t k = 0; vp_step_counts(step) && k < step->device_count; k++)
            if (step->devices[k].device < r->device_count)
                class_sums_add(&v[step->devices[k].device], &step->devices[k].breakdown,
                               step->devices[k].cell_ps, step->devices[k].cause_ps,
                               step->devices[k].exposed_wait_ps);
    }
}

int cmp_classes_of(cmp_classes **out, const cmp_side *s)
{
    size_t n = s->r->device_count;
    VP_CLEANUP(vp_free_ptr) class_sums *sums = vp_calloc(n, sizeof *sums);
    cmp_classes *v = vp_calloc(n, sizeof *v);
    if (!sums || !v) {
        vp_free(v);
        return vp_no_memory();
    }
    sum_up_classes(sums, s);
    for (size_t i = 0; i < n; i++)
        v[i] = class_means(&sums[i], &s->r->devices[i]);
    *out = v;
    return 0;
}

/* ---- Matching devices of A and B ---- */

typedef bool pair_fn(const vp_device *a, const vp_device *b);

static bool equal_nullable_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool is_same_device(const vp_device *a, const vp_device *b)
{
    return equal_nullable_text(a->host, b->host) && equal_nullable_text(a->name, b->name);
}

static bool same_name(const vp_device *a, const vp_device *b)
{
    return a->kind == b->kind && equal_nullable_text(a->name, b->name);
}

static bool same_kind(const vp_device *a, const vp_device *b)
{
    return a->kind == b->kind;
}

static bool is_any_device(const vp_device *a, const vp_device *b)
{
    (void)a;
    (void)b;
    return true;
}

/* Pairs the remaining devices of A and B in order: the same pairs if A and B are swapped. */
static void pair_fitting_devices(uint32_t *of_a, bool *taken, const comparing *k, pair_fn *fits)
{
    for (size_t i = 0; i < k->a.r->device_count; i++) {
        for (size_t n = 0; of_a[i] == VP_NO_DEVICE && n < k->b.r->device_count; n++) {
            if (taken[n] || !fits(&k->a.r->devices[i], &k->b.r->devices[n]))
                continue;
            of_a[i] = (uint32_t)n;
            taken[n] = true;
        }
    }
}

static void match_device_pairs(uint32_t *of_a, bool *taken, const comparing *k)
{
    static pair_fn *const ways[] = {is_same_device, same_name, same_kind, is_any_device};
    for (size_t i = 0; i < k->a.r->device_count; i++)
        of_a[i] = VP_NO_DEVICE;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        pair_fitting_devices(of_a, taken, k, ways[i]);
}

static void put_compared_device(comparing *k, const char *name, const cmp_classes *a,
                                const cmp_classes *b)
{
    vp_compared_device *d = &k->c->devices[k->c->device_count++];
    *d = (vp_compared_device){.name = cmp_text(k, name),
                              .window = cmp_delta(a->window, b->window),
                              .compute = cmp_delta(a->compute, b->compute),
                              .exposed_comm = cmp_delta(a->comm, b->comm),
                              .exposed_copy = cmp_delta(a->copy, b->copy),
                              .idle = cmp_delta(a->idle, b->idle)};
    for (size_t i = 0; i < VP_CELLS; i++)
        d->cells[i] = cmp_delta(a->cell[i], b->cell[i]);
    for (size_t i = 0; i < VP_CAUSES; i++)
        d->causes[i] = cmp_delta(a->cause[i], b->cause[i]);
    d->wait = cmp_delta(a->wait, b->wait);
    d->transfer = d->wait.delta_ps == VP_NO_TIME ? cmp_delta(VP_UNKNOWN, VP_UNKNOWN)
                                                 : cmp_delta(a->comm - a->wait, b->comm - b->wait);
}

int cmp_devices(comparing *k)
{
    const vp_report *a = k->a.r, *b = k->b.r;
    size_t n = a->device_count + b->device_count;
    VP_CLEANUP(vp_free_ptr) cmp_classes *ca = NULL, *cb = NULL;
    VP_CLEANUP(vp_free_ptr) uint32_t *of_a = vp_calloc(a->device_count, sizeof *of_a);
    VP_CLEANUP(vp_free_ptr) bool *taken = vp_calloc(b->device_count, sizeof *taken);
    k->c->devices = vp_arena_zalloc(k->arena, n * sizeof *k->c->devices);
    const cmp_classes none = unknown_classes();
    VP_NEED(of_a && taken && k->c->devices);
    VP_TRY(cmp_classes_of(&ca, &k->a));
    VP_TRY(cmp_classes_of(&cb, &k->b));
    match_device_pairs(of_a, taken, k);
    for (size_t i = 0; i < a->device_count; i++)
        put_compared_device(k, a->devices[i].name, &ca[i],
                            of_a[i] == VP_NO_DEVICE ? &none : &cb[of_a[i]]);
    for (size_t i = 0; i < b->device_count; i++)
        if (!taken[i])
            put_compared_device(k, b->devices[i].name, &none, &cb[i]);
    return 0;
}
