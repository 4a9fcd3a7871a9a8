#include "trace/analyze/merge/balance.h"

#include <string.h>

#include "trace/analyze/result/look_up.h"
#include "trace/analyze/merge/match.h"
#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"

/* ---- Stragglers ---- */

typedef struct tally {
    match m;
    int64_t *last;      /* by device: how often it was last */
    int64_t *host_last; /* by host, for calls with members on several hosts */
    int64_t *wait;      /* by member of one group */
    vp_device *devices;
} tally;

static bool of_several_hosts(const match *m, const match_group *g)
{
    uint32_t first = m->host_of[g->members[0]->device];
    for (size_t i = 1; i < g->count; i++)
        if (m->host_of[g->members[i]->device] != first)
            return true;
    return false;
}

/* Index of the largest value above 0 (the first of equal ones), or SIZE_MAX. */
static size_t index_of_largest(const int64_t *v, size_t n)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < n; i++)
        if (v[i] > 0 && (best == SIZE_MAX || v[i] > v[best]))
            best = i;
    return best;
}

static void add_saturated_times(int64_t *sum, int64_t each, int64_t times)
{
    int64_t more;
    if (__builtin_mul_overflow(each, times, &more) || __builtin_add_overflow(*sum, more, sum))
        *sum = INT64_MAX;
}

static void add_most(int64_t *sum, int64_t each, int64_t times, int64_t most_ps)
{
    add_saturated_times(sum, each, times);
    if (*sum > most_ps) /* concurrent calls */
        *sum = most_ps;
}

/* The device part of the step that contains this time, or NULL. Uses the device's times, because
 * the clocks of hosts may differ by many steps. */
static vp_step_device *step_device_at(const vp_steps *steps, uint32_t device, int64_t ps)
{
    size_t from = 0, to = steps->count;
    vp_step_device *last = NULL; /* the last one that begins before */
    while (from < to) {
        size_t middle = from + (to - from) / 2, i = middle;
        vp_step_device *d = NULL;
        while (i < to && !(d = result_step_device(&steps->list[i], device)))
            i++;
        if (!d || d->start_ps > ps) {
            to = middle;
        } else {
            last = d;
            from = i + 1;
        }
    }
    return last && ps - last->start_ps < last->dur_ps ? last : NULL;
}

/* Exposed part of a member's wait, as far as the call's samples have it. */
static void add_exposed(tally *t, const vp_collective *member, int64_t call, int64_t wait,
                        int64_t weight)
{
    vp_device *d = &t->devices[member->device];
    vp_step_device *s = step_device_at(&t->m.r->steps, member->device, match_start(member, call));
    int64_t exposed = match_exposed(member, call), each = wait < exposed ? wait : exposed;
    d->exposed_wait_ps = d->exposed_wait_ps < 0 ? 0 : d->exposed_wait_ps;
    add_most(&d->exposed_wait_ps, each, weight, d->breakdown.exposed_comm_ps);
    if (s)
        add_most(&s->exposed_wait_ps, each, weight, s->breakdown.exposed_comm_ps);
}

/* The wait of steps is unknown on a device without matched calls. */
static void forget_unmatched(const vp_report *r)
{
    for (size_t i = 0; i < r->steps.count; i++)
        for (size_t k = 0; k < r->steps.list[i].device_count; k++) {
            vp_step_device *d = &r->steps.list[i].devices[k];
            if (d->device >= r->device_count || r->devices[d->device].exposed_wait_ps < 0)
                d->exposed_wait_ps = VP_UNKNOWN;
        }
}

static void add_call(vp_balance *b, tally *t, const match_group *g, int64_t call, size_t last,
                     int64_t weight, bool hosts)
{
    int64_t longest = 0;
    for (size_t i = 0; i < g->count; i++) {
        add_saturated_times(&g->members[i]->wait_ps, t->wait[i], weight);
        add_exposed(t, g->members[i], call, t->wait[i], weight);
        longest = t->wait[i] > longest ? t->wait[i] : longest;
    }
    b->matched += weight;
    add_saturated_times(&b->wait_ps, longest, weight);
    if (last == SIZE_MAX)
        return;
    uint32_t device = g->members[last]->device;
    t->last[device] += weight;
    if (hosts)
        t->host_last[t->m.host_of[device]] += weight;
}

static void balance_add_group(vp_balance *b, tally *t, const match_group *g)
{
    bool hosts = of_several_hosts(&t->m, g), any = false;
    for (int64_t call = 0; call < g->calls; call += g->stride) {
        size_t last = SIZE_MAX;
        int64_t weight;
        if (!match_call(t->wait, &last, &weight, &t->m, g, call))
            continue;
        for (size_t i = 0; !any && i < g->count; i++)
            g->members[i]->wait_ps = 0;
        any = true;
        add_call(b, t, g, call, last, weight, hosts);
    }
}

static void name_stragglers(vp_balance *b, const tally *t)
{
    const vp_report *r = t->m.r;
    size_t device = index_of_largest(t->last, r->device_count),
           host = index_of_largest(t->host_last, t->m.host_count);
    if (device != SIZE_MAX) {
        b->straggler = (uint32_t)device;
        b->straggler_last = t->last[device];
    }
    for (size_t i = 0; host != SIZE_MAX && i < r->device_count; i++)
        if (t->m.host_of[i] == host) {
            b->straggler_host = r->devices[i].host;
            b->straggler_host_last = t->host_last[host];
            break;
        }
}

static int find_stragglers(vp_report *r)
{
    vp_balance *b = &r->balance;
    tally t = {.last = vp_calloc(r->device_count + 1, sizeof(int64_t)),
               .host_last = vp_calloc(r->device_count + 1, sizeof(int64_t)),
               .wait = vp_calloc(r->device_count + 1, sizeof(int64_t)),
               .devices = r->devices};
    int rc = t.last && t.host_last && t.wait ? 0 : vp_no_memory();
    for (size_t i = 0; i < r->collective_count; i++)
        r->collectives[i].wait_ps = VP_UNKNOWN;
    for (size_t i = 0; i < r->device_count; i++)
        r->devices[i].exposed_wait_ps = VP_UNKNOWN;
    for (size_t i = 0; i < r->steps.count; i++)
        for (size_t k = 0; k < r->steps.list[i].device_count; k++)
            r->steps.list[i].devices[k].exposed_wait_ps = 0;
    if (rc >= 0)
        rc = match_make(&t.m, r);
    b->wait_ps = 0;
    for (size_t i = 0; rc >= 0 && i < t.m.group_count; i++)
        balance_add_group(b, &t, &t.m.groups[i]);
    if (rc >= 0) {
        b->aligned = match_aligned(&t.m);
        name_stragglers(b, &t);
    }
    forget_unmatched(r);
    b->wait_ps = b->matched ? b->wait_ps : VP_UNKNOWN;
    match_free(&t.m);
    vp_free(t.last);
    vp_free(t.host_last);
    vp_free(t.wait);
    return rc;
}

/* ---- Balance ---- */

/* Main module of a device: the one with the most self time. Devices with the same main module do
 * the same work; without modules (PyTorch), all devices of a kind do. */
typedef struct main_module {
    uint64_t name; /* hash of its name and the kind of device */
    int64_t self_ps;
} main_module;

static uint64_t op_module_key(const vp_report *r, const vp_op *op)
{
    vp_str name = vp_str_of(op->module);
    return vp_fingerprint(name.p, name.n, (uint64_t)r->devices[op->device].kind);
}

static int find_main_modules(main_module *out, const vp_report *r)
{
    VP_CLEANUP(vp_free_ptr) int64_t *sums = vp_calloc(r->op_count + 1, sizeof *sums);
    vp_map by_pair;
    uint32_t n = 0;
    int rc = sums ? 0 : vp_no_memory();
    vp_map_init(&by_pair);
    for (size_t i = 0; rc >= 0 && i < r->op_count; i++) {
        const vp_op *op = &r->ops[i];
        uint64_t name = op->device < r->device_count ? op_module_key(r, op) : 0;
        uint64_t key = name ^ vp_mix(op->device + UINT64_C(1));
        uint32_t at = vp_map_get(&by_pair, key);
        if (op->device >= r->device_count)
            continue;
        if (at == VP_MAP_NONE)
            rc = vp_map_set(&by_pair, key, at = n++);
        sums[at] += op->self_ps;
        main_module *x = &out[op->device];
        if (sums[at] > x->self_ps || (sums[at] == x->self_ps && name < x->name))
            *x = (main_module){name, sums[at]};
    }
    vp_map_free(&by_pair);
    return rc;
}

typedef struct peers {
    size_t devices;
    int64_t compute_ps;
} peers;

/* True if devices other than GPUs and TPUs count. Next to GPUs or TPUs, they are parts of them;
 * alone, they were recorded as devices. */
static bool others_count(const vp_report *r)
{
    for (size_t i = 0; i < r->device_count; i++)
        if (r->devices[i].kind != VP_DEVICE_OTHER)
            return false;
    return true;
}

static bool is_working_device(const vp_device *d, bool others)
{
    return (others || d->kind != VP_DEVICE_OTHER) && d->breakdown.compute_ps > 0;
}

/* The main module of most devices; with ties, the one with the most work. */
static int largest_peers(uint64_t *name, const vp_report *r, const main_module *modules)
{
    VP_CLEANUP(vp_free_ptr) peers *v = vp_calloc(r->device_count + 1, sizeof *v);
    bool others = others_count(r);
    vp_map by_name;
    peers best = {0, 0};
    uint32_t n = 0;
    int rc = v ? 0 : vp_no_memory();
    vp_map_init(&by_name);
    for (size_t i = 0; rc >= 0 && i < r->device_count; i++) {
        uint32_t at = vp_map_get(&by_name, modules[i].name);
        if (!is_working_device(&r->devices[i], others))
            continue;
        if (at == VP_MAP_NONE)
            rc = vp_map_set(&by_name, modules[i].name, at = n++);
        v[at].devices++;
        v[at].compute_ps += r->devices[i].breakdown.compute_ps;
        if (v[at].devices > best.devices ||
            (v[at].devices == best.devices && v[at].compute_ps > best.compute_ps)) {
            best = v[at];
            *name = modules[i].name;
        }
    }
    vp_map_free(&by_name);
    return rc;
}

static void set_work_spread(vp_balance *b, const vp_report *r, const main_module *modules,
                            uint64_t name)
{
    bool others = others_count(r);
    int64_t sum = 0;
    for (size_t i = 0; i < r->device_count; i++) {
        int64_t work = r->devices[i].breakdown.compute_ps;
        if (!is_working_device(&r->devices[i], others) || modules[i].name != name)
            continue;
        if (!b->devices || work > b->max_ps) {
            b->max_ps = work;
            b->busiest = (uint32_t)i;
        }
        if (!b->devices || work < b->min_ps) {
            b->min_ps = work;
            b->idlest = (uint32_t)i;
        }
        sum += work;
        b->devices++;
    }
    if (b->devices >= 2) {
        b->mean_ps = sum / (int64_t)b->devices;
        return;
    }
    b->max_ps = b->min_ps = VP_UNKNOWN;
    b->busiest = b->idlest = VP_NO_DEVICE;
}

static int find_work_spread(vp_report *r)
{
    VP_CLEANUP(vp_free_ptr)
    main_module *modules = vp_calloc(r->device_count + 1, sizeof *modules);
    uint64_t name = 0;
    VP_NEED(modules);
    VP_TRY(find_main_modules(modules, r));
    VP_TRY(largest_peers(&name, r, modules));
    set_work_spread(&r->balance, r, modules, name);
    return 0;
}

int balance_make(vp_report *r)
{
    r->balance = (vp_balance){.max_ps = VP_UNKNOWN,
                              .mean_ps = VP_UNKNOWN,
                              .min_ps = VP_UNKNOWN,
                              .busiest = VP_NO_DEVICE,
                              .idlest = VP_NO_DEVICE,
                              .wait_ps = VP_UNKNOWN,
                              .straggler = VP_NO_DEVICE};
    if (!r->has_devices || r->depth != VP_DEPTH_FULL)
        return 0;
    VP_TRY(find_work_spread(r));
    return find_stragglers(r);
}
