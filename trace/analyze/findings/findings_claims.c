/* The ledger: which rule takes which part of a device's window. */
#include "trace/analyze/findings/findings_run.h"

int64_t fd_of(int64_t ps, int64_t num, int64_t den)
{
    return den > 0 ? (int64_t)((__int128)ps * num / den) : 0;
}

bool fd_above(int64_t part_ps, int64_t whole_ps, int64_t permille)
{
    return whole_ps > 0 && (__int128)part_ps * 1000 > (__int128)whole_ps * permille;
}

bool fd_at_least(int64_t part_ps, int64_t whole_ps, int64_t permille)
{
    return whole_ps > 0 && (__int128)part_ps * 1000 >= (__int128)whole_ps * permille;
}

bool fd_exceeds(const fd_run *run, int64_t part_ps, int64_t whole_ps, finding_limit limit)
{
    return fd_above(part_ps, whole_ps, run->rule->limits[limit]);
}

bool fd_reaches(const fd_run *run, int64_t part_ps, int64_t whole_ps, finding_limit limit)
{
    return fd_at_least(part_ps, whole_ps, run->rule->limits[limit]);
}

int64_t fd_limit_of(const fd_run *run, int64_t ps, finding_limit limit)
{
    return fd_of(ps, run->rule->limits[limit], 1000);
}

int64_t fd_limit_ps(const fd_run *run)
{
    return run->rule->limits[FD_TIME] * FD_US;
}

const finding_rule *fd_rule_of(const fd_run *run, void (*rule)(fd_run *))
{
    const finding_rule *at = run->rules;
    while (at->run != rule)
        at++;
    return at;
}

double fd_share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

int64_t fd_sum(const int64_t *ps, unsigned first, unsigned count)
{
    int64_t sum = 0;
    for (unsigned i = first; i < first + count; i++)
        sum += ps[i] > 0 ? ps[i] : 0;
    return sum;
}

static int64_t at_most(int64_t ps, int64_t limit)
{
    return ps < 0 ? 0 : ps < limit ? ps : limit;
}

/* Directions overlap each other, so that their sum may exceed what is exposed: earlier ones go
 * first. What no direction names is left to "other". */
static void copy_cells(const fd_run *run, uint32_t device, int64_t *whole)
{
    const vp_report *r = run->r;
    int64_t left = r->devices[device].breakdown.exposed_copy_ps;
    uint32_t i;
    for (FD_ROWS(i, &run->transfers, device)) {
        const vp_transfer *t = &r->transfers[i];
        if (t->host_only || t->direction >= VP_DIRECTIONS)
            continue;
        int64_t ps = at_most(t->exposed_ps, left);
        whole[FD_COPY + t->direction] += ps;
        left -= ps;
    }
    whole[FD_COPY + VP_OTHER_COPY] += left;
}

void fd_cells_init(fd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++) {
        const vp_device *dev = &r->devices[d];
        fd_cells *c = &run->devices[d];
        int64_t idle = dev->breakdown.idle_ps;
        for (unsigned k = 0; k < VP_CAUSES; k++) {
            c->whole_ps[FD_IDLE + k] = at_most(dev->cause_ps[k], idle);
            idle -= c->whole_ps[FD_IDLE + k];
        }
        c->whole_ps[FD_IDLE + VP_CAUSE_UNKNOWN] += idle;
        copy_cells(run, d, c->whole_ps);
        c->whole_ps[FD_COMM] = dev->breakdown.exposed_comm_ps;
        c->whole_ps[FD_COMPUTE] = dev->breakdown.compute_ps;
        for (unsigned k = 0; k < FD_CELLS; k++)
            c->left_ps[k] = c->whole_ps[k];
    }
    run->compile_left_ps = at_most(r->compile.total_ps, r->capture_ps);
}

fd_claim *fd_offer(fd_run *run, uint32_t device, uint32_t cells, int64_t gross_ps, double value)
{
    fd_claim *c = &run->claims[run->claim_count++];
    *c = (fd_claim){.device = device, .gross_ps = gross_ps, .value = value};
    run->devices[device].offered |= run->rule_bit;
    for (unsigned k = 0; k < FD_CELLS; k++)
        if (cells & FD_BIT(k))
            c->part_ps[k] = run->devices[device].whole_ps[k];
    return c;
}

void fd_keep_value(fd_run *run, double value)
{
    if (value > run->f->value)
        run->f->value = value;
}

void fd_offer_share(fd_run *run, uint32_t device, uint32_t cells, int64_t ps, int64_t whole_ps,
                    bool (*fires)(const fd_run *, int64_t, int64_t, finding_limit))
{
    double share = fd_share(ps, whole_ps);
    fd_keep_value(run, share);
    if (fires(run, ps, whole_ps, FD_SHARE))
        fd_offer(run, device, cells, ps, share);
}

static int64_t left_of(const fd_cells *cells, unsigned k, int64_t part_ps)
{
    return fd_of(at_most(part_ps, cells->whole_ps[k]), cells->left_ps[k], cells->whole_ps[k]);
}

static void measure(const fd_run *run, fd_claim *c)
{
    const fd_cells *cells = &run->devices[c->device];
    int64_t whole = -c->spare_ps, left = -c->spare_ps;
    for (unsigned k = 0; k < FD_CELLS; k++) {
        whole += at_most(c->part_ps[k], cells->whole_ps[k]);
        left += left_of(cells, k, c->part_ps[k]);
    }
    c->alone_ps = at_most(c->gross_ps, whole > 0 ? whole : 0);
    c->rest_ps = at_most(c->alone_ps, left > 0 ? left : 0);
}

static uint32_t takers_of(const fd_run *run, const fd_claim *c)
{
    uint32_t takers = 0;
    for (unsigned k = 0; k < FD_CELLS; k++)
        if (c->part_ps[k])
            takers |= run->devices[c->device].takers[k];
    return takers;
}

static void take(fd_run *run, const fd_claim *c)
{
    fd_cells *cells = &run->devices[c->device];
    int64_t rest = c->rest_ps;
    for (unsigned k = 0; k < FD_CELLS && rest; k++) {
        int64_t ps = at_most(left_of(cells, k, c->part_ps[k]), rest);
        cells->left_ps[k] -= ps;
        rest -= ps;
        if (ps)
            cells->takers[k] |= run->rule_bit;
    }
}

void fd_take(fd_run *run, uint32_t device, uint32_t cells, int64_t ps)
{
    fd_claim c = {.device = device, .rest_ps = ps};
    for (unsigned k = 0; k < FD_CELLS; k++)
        if (cells & FD_BIT(k))
            c.part_ps[k] = run->devices[device].whole_ps[k];
    take(run, &c);
}

vp_level fd_level(int64_t impact_ps, int64_t window_ps)
{
    if (window_ps <= 0)
        return VP_LEVEL_LOW;
    __int128 hundred = (__int128)impact_ps * 100;
    return hundred >= (__int128)window_ps * 10  ? VP_LEVEL_HIGH
           : hundred >= (__int128)window_ps * 3 ? VP_LEVEL_MEDIUM
                                                : VP_LEVEL_LOW;
}

void fd_explain(fd_run *run, uint32_t takers)
{
    vp_finding *f = run->f;
    size_t n = (size_t)__builtin_popcount(takers);
    const char **ids = vp_arena_zalloc(run->arena, (n + 1) * sizeof *ids);
    if (!ids) {
        run->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < 32; i++)
        if (takers & FD_BIT(i))
            ids[f->explained_count++] = run->rules[i].id;
    f->explained_by = ids;
    f->status = VP_EXPLAINED;
}

bool fd_too_little(int64_t ps, int64_t window_ps)
{
    return ps <= 0 || (__int128)ps * FD_LEAST_SHARE < window_ps;
}

/* What is left of a claim that others took nine tenths of is no finding of its own, as long as it
 * would be low. */
static bool is_remnant(const fd_claim *c, int64_t window_ps)
{
    return c->rest_ps < c->alone_ps / 10 && fd_level(c->rest_ps, window_ps) == VP_LEVEL_LOW;
}

/* Devices that do the same thing differ by noise: of those within 1 % of the worst the first is
 * named, so that the same program gives the same name from run to run. */
static const fd_claim *worst_claim(const fd_run *run)
{
    int64_t rest = 0, gross = 0;
    for (size_t i = 0; i < run->claim_count; i++) {
        rest = run->claims[i].rest_ps > rest ? run->claims[i].rest_ps : rest;
        gross = run->claims[i].alone_ps > gross ? run->claims[i].alone_ps : gross;
    }
    for (size_t i = 0; i < run->claim_count; i++) {
        const fd_claim *c = &run->claims[i];
        if (rest ? fd_at_least(c->rest_ps, rest, 990) : fd_at_least(c->alone_ps, gross, 990))
            return c;
    }
    return NULL;
}

const fd_claim *fd_settle(fd_run *run)
{
    vp_finding *f = run->f;
    for (size_t i = 0; i < run->claim_count; i++)
        measure(run, &run->claims[i]);
    const fd_claim *best = worst_claim(run);
    if (!best)
        return NULL;
    uint32_t takers = takers_of(run, best);
    int64_t window = run->r->devices[best->device].breakdown.window_ps;
    f->value = best->value;
    f->window_ps = window;
    f->gross_ps = best->alone_ps;
    f->impact_ps = best->rest_ps;
    f->severity = fd_level(best->rest_ps, window);
    if (fd_too_little(best->rest_ps, window) || is_remnant(best, window)) {
        if (!takers || fd_too_little(best->alone_ps, window))
            return NULL;
        fd_explain(run, takers);
        return best;
    }
    f->status = VP_FIRED;
    for (size_t i = 0; i < run->claim_count; i++)
        take(run, &run->claims[i]);
    return best;
}
