/* The ledger of claims: which rule takes which part of a device's window. */
#include "trace/analyze/findings/findings_run.h"

int64_t fnd_of(int64_t ps, int64_t num, int64_t den)
{
    return den > 0 ? (int64_t)((__int128)ps * num / den) : 0;
}

bool fnd_above(int64_t part_ps, int64_t whole_ps, int64_t permille)
{
    return whole_ps > 0 && (__int128)part_ps * 1000 > (__int128)whole_ps * permille;
}

bool fnd_at_least(int64_t part_ps, int64_t whole_ps, int64_t permille)
{
    return whole_ps > 0 && (__int128)part_ps * 1000 >= (__int128)whole_ps * permille;
}

bool fnd_exceeds(const fnd_run *run, int64_t part_ps, int64_t whole_ps, finding_limit limit)
{
    return fnd_above(part_ps, whole_ps, run->rule->limits[limit]);
}

bool fnd_reaches(const fnd_run *run, int64_t part_ps, int64_t whole_ps, finding_limit limit)
{
    return fnd_at_least(part_ps, whole_ps, run->rule->limits[limit]);
}

int64_t fnd_limit_of(const fnd_run *run, int64_t ps, finding_limit limit)
{
    return fnd_of(ps, run->rule->limits[limit], 1000);
}

int64_t fnd_limit_ps(const fnd_run *run)
{
    return run->rule->limits[FND_TIME] * FND_US;
}

const finding_rule *fnd_rule_of(const fnd_run *run, void (*rule)(fnd_run *))
{
    const finding_rule *at = run->rules;
    while (at->run != rule)
        at++;
    return at;
}

double fnd_share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

int64_t fnd_sum(const int64_t *ps, unsigned first, unsigned count)
{
    int64_t sum = 0;
    for (unsigned i = first; i < first + count; i++)
        sum += ps[i] > 0 ? ps[i] : 0;
    return sum;
}

static int64_t clamp_to_limit(int64_t ps, int64_t limit)
{
    return ps < 0 ? 0 : ps < limit ? ps : limit;
}

/* Exposed copies as cells by direction. Copies of several directions may run concurrently, so their
 * sum can exceed the exposed time: then the earlier rows take their time first. The rest without a
 * direction is "other". */
static void copy_cells(const fnd_run *run, uint32_t device, int64_t *whole)
{
    const vp_report *r = run->r;
    int64_t left = r->devices[device].breakdown.exposed_copy_ps;
    uint32_t i;
    for (FND_ROWS(i, &run->transfers, device)) {
        const vp_transfer *t = &r->transfers[i];
        if (t->host_only || t->direction >= VP_DIRECTIONS)
            continue;
        int64_t ps = clamp_to_limit(t->exposed_ps, left);
        whole[FND_COPY + t->direction] += ps;
        left -= ps;
    }
    whole[FND_COPY + VP_OTHER_COPY] += left;
}

/* Subtracts the time of activities: from a device's idle time with another label, or from a
 * process's busy time. */
static void activity_cells(const fnd_run *run, uint32_t device, int64_t *whole)
{
    unsigned from = run->r->has_devices ? FND_IDLE + VP_CAUSE_HOST : FND_COMPUTE;
    for (int k = 0; k < VP_ACTIVITY_KINDS; k++) {
        unsigned cell = fnd_activity_cell((vp_activity_kind)k);
        if (run->r->has_devices && cell < VP_CAUSES)
            continue; /* idle time has this cause already */
        int64_t ps = clamp_to_limit(fnd_activity_ps(run, device, (vp_activity_kind)k), whole[from]);
        whole[from] -= ps;
        whole[cell] += ps;
    }
}

void fnd_cells_init(fnd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++) {
        const vp_device *dev = &r->devices[d];
        fnd_cells *c = &run->devices[d];
        int64_t idle = dev->breakdown.idle_ps;
        for (unsigned k = 0; k < VP_CAUSES; k++) {
            c->whole_ps[FND_IDLE + k] = clamp_to_limit(dev->cause_ps[k], idle);
            idle -= c->whole_ps[FND_IDLE + k];
        }
        c->whole_ps[FND_IDLE + VP_CAUSE_UNKNOWN] += idle;
        copy_cells(run, d, c->whole_ps);
        c->whole_ps[FND_COMM] = dev->breakdown.exposed_comm_ps;
        c->whole_ps[FND_COMPUTE] = dev->breakdown.compute_ps;
        activity_cells(run, d, c->whole_ps);
        for (unsigned k = 0; k < FND_CELLS; k++)
            c->left_ps[k] = c->whole_ps[k];
    }
    run->compile_left_ps = clamp_to_limit(r->compile.total_ps, r->capture_ps);
}

fnd_claim *fnd_offer(fnd_run *run, uint32_t device, uint32_t cells, int64_t gross_ps, double value)
{
    fnd_claim *c = &run->claims[run->claim_count++];
    *c = (fnd_claim){.device = device, .gross_ps = gross_ps, .value = value};
    run->devices[device].offered |= run->rule_bit;
    for (unsigned k = 0; k < FND_CELLS; k++)
        if (cells & FND_BIT(k))
            c->part_ps[k] = run->devices[device].whole_ps[k];
    return c;
}

void fnd_keep_value(fnd_run *run, double value)
{
    if (value > run->f->value)
        run->f->value = value;
}

void fnd_offer_share(fnd_run *run, uint32_t device, uint32_t cells, int64_t ps, int64_t whole_ps,
                     bool (*fires)(const fnd_run *, int64_t, int64_t, finding_limit))
{
    double share = fnd_share(ps, whole_ps);
    fnd_keep_value(run, share);
    if (fires(run, ps, whole_ps, FND_SHARE))
        fnd_offer(run, device, cells, ps, share);
}

static int64_t left_of(const fnd_cells *cells, unsigned k, int64_t part_ps)
{
    return fnd_of(clamp_to_limit(part_ps, cells->whole_ps[k]), cells->left_ps[k],
                  cells->whole_ps[k]);
}

static void measure_claim(const fnd_run *run, fnd_claim *c)
{
    const fnd_cells *cells = &run->devices[c->device];
    int64_t whole = -c->spare_ps, left = -c->spare_ps;
    for (unsigned k = 0; k < FND_CELLS; k++) {
        whole += clamp_to_limit(c->part_ps[k], cells->whole_ps[k]);
        left += left_of(cells, k, c->part_ps[k]);
    }
    c->alone_ps = clamp_to_limit(c->gross_ps, whole > 0 ? whole : 0);
    c->rest_ps = clamp_to_limit(c->alone_ps, left > 0 ? left : 0);
}

static uint64_t takers_of(const fnd_run *run, const fnd_claim *c)
{
    uint64_t takers = 0;
    for (unsigned k = 0; k < FND_CELLS; k++)
        if (c->part_ps[k])
            takers |= run->devices[c->device].takers[k];
    return takers;
}

static void take_claim(fnd_run *run, const fnd_claim *c)
{
    fnd_cells *cells = &run->devices[c->device];
    int64_t rest = c->rest_ps;
    for (unsigned k = 0; k < FND_CELLS && rest; k++) {
        int64_t ps = clamp_to_limit(left_of(cells, k, c->part_ps[k]), rest);
        cells->left_ps[k] -= ps;
        rest -= ps;
        if (ps)
            cells->takers[k] |= run->rule_bit;
    }
}

void fnd_take(fnd_run *run, uint32_t device, uint32_t cells, int64_t ps)
{
    fnd_claim c = {.device = device, .rest_ps = ps};
    for (unsigned k = 0; k < FND_CELLS; k++)
        if (cells & FND_BIT(k))
            c.part_ps[k] = run->devices[device].whole_ps[k];
    take_claim(run, &c);
}

vp_level fnd_level(int64_t impact_ps, int64_t window_ps)
{
    if (window_ps <= 0)
        return VP_LEVEL_LOW;
    __int128 hundred = (__int128)impact_ps * 100;
    return hundred >= (__int128)window_ps * 10  ? VP_LEVEL_HIGH
           : hundred >= (__int128)window_ps * 3 ? VP_LEVEL_MEDIUM
                                                : VP_LEVEL_LOW;
}

void fnd_explain(fnd_run *run, uint64_t takers)
{
    vp_finding *f = run->f;
    size_t n = (size_t)__builtin_popcountll(takers);
    const char **ids = vp_arena_zalloc(run->arena, (n + 1) * sizeof *ids);
    if (!ids) {
        run->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < 64; i++)
        if (takers & FND_RULE(i))
            ids[f->explained_count++] = run->rules[i].id;
    f->explained_by = ids;
    f->status = VP_EXPLAINED;
}

bool fnd_too_little(int64_t ps, int64_t window_ps)
{
    return ps <= 0 || (__int128)ps * FND_LEAST_SHARE < window_ps;
}

/* A claim of which other rules took nine tenths is not a finding of its own if the rest is low. */
static bool is_remnant(const fnd_claim *c, int64_t window_ps)
{
    return c->rest_ps < c->alone_ps / 10 && fnd_level(c->rest_ps, window_ps) == VP_LEVEL_LOW;
}

/* Equal devices differ by noise. The first of those within 1% of the worst is named, so that the
 * same program names the same device in each run. */
static const fnd_claim *worst_claim(const fnd_run *run)
{
    int64_t rest = 0, gross = 0;
    for (size_t i = 0; i < run->claim_count; i++) {
        rest = run->claims[i].rest_ps > rest ? run->claims[i].rest_ps : rest;
        gross = run->claims[i].alone_ps > gross ? run->claims[i].alone_ps : gross;
    }
    for (size_t i = 0; i < run->claim_count; i++) {
        const fnd_claim *c = &run->claims[i];
        if (rest ? fnd_at_least(c->rest_ps, rest, 990) : fnd_at_least(c->alone_ps, gross, 990))
            return c;
    }
    return NULL;
}

const fnd_claim *fnd_settle(fnd_run *run)
{
    vp_finding *f = run->f;
    for (size_t i = 0; i < run->claim_count; i++)
        measure_claim(run, &run->claims[i]);
    const fnd_claim *best = worst_claim(run);
    if (!best)
        return NULL;
    uint64_t takers = takers_of(run, best);
    int64_t window = run->r->devices[best->device].breakdown.window_ps;
    f->value = best->value;
    f->window_ps = window;
    f->gross_ps = best->alone_ps;
    f->impact_ps = best->rest_ps;
    f->severity = fnd_level(best->rest_ps, window);
    if (fnd_too_little(best->rest_ps, window) || is_remnant(best, window)) {
        if (!takers || fnd_too_little(best->alone_ps, window))
            return NULL;
        fnd_explain(run, takers);
        return best;
    }
    f->status = VP_FIRED;
    for (size_t i = 0; i < run->claim_count; i++)
        take_claim(run, &run->claims[i]);
    return best;
}
