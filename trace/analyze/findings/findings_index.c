/* Looks the report's lists up by device and by host. Merged reports have thousands of devices and
 * hosts: this is done once, so that a rule costs one pass over its list. */
#include "trace/analyze/findings/findings_run.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"

static uint32_t op_device(const fnd_run *run, size_t i)
{
    return run->r->ops[i].device;
}

static uint32_t gap_device(const fnd_run *run, size_t i)
{
    return run->r->gaps[i].device;
}

static uint32_t collective_device(const fnd_run *run, size_t i)
{
    return run->r->collectives[i].device;
}

/* The device of a transfer. Transfers of a CPU are only recorded on the host, and count for its
 * first device. */
static uint32_t transfer_device(const fnd_run *run, size_t i)
{
    uint32_t d = run->r->transfers[i].device;
    return d < run->r->device_count ? d : run->first_cpu;
}

/* A counting sort of rows by device: rows without a device are left out, the others keep their
 * order. */
static int index_rows(fnd_run *run, fnd_index *out, size_t n,
                      uint32_t (*device)(const fnd_run *, size_t))
{
    size_t devices = run->r->device_count;
    out->first = vp_arena_zalloc(&run->scratch, (devices + 2) * sizeof *out->first);
    out->row = vp_arena_alloc(&run->scratch, (n + 1) * sizeof *out->row);
    VP_NEED(out->first && out->row);
    for (size_t i = 0; i < n; i++)
        if (device(run, i) < devices)
            out->first[device(run, i) + 2]++;
    for (size_t d = 2; d < devices + 2; d++)
        out->first[d] += out->first[d - 1];
    for (size_t i = 0; i < n; i++)
        if (device(run, i) < devices)
            out->row[out->first[device(run, i) + 1]++] = (uint32_t)i;
    return 0;
}

/* ---- Hosts ---- */

static int order_host_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int by_host_name(const void *a, const void *b)
{
    const fnd_host *x = a, *y = b;
    return order_host_text(x->name, y->name);
}

fnd_host *fnd_host_of(const fnd_run *run, const char *name)
{
    const fnd_host key = {.name = name};
    if (run->r->host_count < 2)
        return run->hosts;
    return bsearch(&key, run->hosts, run->r->host_count, sizeof key, by_host_name);
}

static int by_host_and_thread(const void *a, const void *b)
{
    const vp_host_op *x = *(const vp_host_op *const *)a, *y = *(const vp_host_op *const *)b;
    int order = order_host_text(x->host, y->host);
    order = order ? order : order_host_text(x->thread, y->thread);
    return order ? order : (x > y) - (x < y);
}

/* The blocking time of a call. Reports of older versions have only its own time, without nested
 * calls. */
int64_t fnd_blocked(const vp_host_op *op)
{
    return op->blocked_ps >= 0 ? op->blocked_ps : op->idle_ps;
}

/* Adds up the waits of one thread. Threads wait at the same time, so sums of several threads are
 * not added: the union of their waits is at least the longest of these sums. */
static void add_thread_waits(fnd_run *run, const vp_host_op *const *op, size_t n)
{
    fnd_host *host = fnd_host_of(run, op[0]->host);
    const vp_host_op *worst = op[0];
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += fnd_blocked(op[i]);
        worst = fnd_blocked(op[i]) > fnd_blocked(worst) ? op[i] : worst;
    }
    if (host && sum > host->wait_ps) {
        host->wait_ps = sum;
        host->wait_op = worst;
    }
}

static int add_host_waits(fnd_run *run)
{
    const vp_report *r = run->r;
    const vp_host_op **list =
        vp_arena_alloc(&run->scratch, (r->host_op_count + 1) * sizeof(const vp_host_op *));
    size_t n = 0;
    VP_NEED(list);
    for (size_t i = 0; i < r->host_op_count; i++)
        if (r->host_ops[i].blocking && fnd_blocked(&r->host_ops[i]) > 0)
            list[n++] = &r->host_ops[i];
    qsort(list, n, sizeof *list, by_host_and_thread);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && !order_host_text(list[end]->host, list[i]->host) &&
                          !order_host_text(list[end]->thread, list[i]->thread);)
            end++;
        add_thread_waits(run, list + i, end - i);
    }
    return 0;
}

static int index_hosts(fnd_run *run)
{
    const vp_report *r = run->r;
    run->hosts = vp_arena_zalloc(&run->scratch, (r->host_count + 1) * sizeof *run->hosts);
    VP_NEED(run->hosts);
    for (size_t i = 0; i < r->host_count; i++)
        run->hosts[i].name = r->hosts[i];
    qsort(run->hosts, r->host_count, sizeof *run->hosts, by_host_name);
    return add_host_waits(run);
}

int fnd_index_all(fnd_run *run)
{
    const vp_report *r = run->r;
    run->first_cpu = VP_NO_DEVICE;
    for (uint32_t d = 0; d < r->device_count && run->first_cpu == VP_NO_DEVICE; d++)
        run->first_cpu = r->devices[d].kind == VP_DEVICE_CPU ? d : VP_NO_DEVICE;
    VP_TRY(index_rows(run, &run->ops, r->op_count, op_device));
    VP_TRY(index_rows(run, &run->gaps, r->gap_count, gap_device));
    VP_TRY(index_rows(run, &run->transfers, r->transfer_count, transfer_device));
    VP_TRY(index_rows(run, &run->collectives, r->collective_count, collective_device));
    return index_hosts(run);
}

/* ---- Ops ---- */

const vp_op *fnd_largest_avoidable(const fnd_run *run, uint32_t device, size_t member,
                                   const vp_map *modules, int64_t *sum)
{
    const vp_op *best = NULL;
    int64_t most = 0, ps;
    uint32_t i;
    *sum = 0;
    for (FND_ROWS(i, &run->ops, device)) {
        const vp_op *op = &run->r->ops[i];
        memcpy(&ps, (const char *)&op->avoidable + member, sizeof ps);
        vp_str module = vp_str_of(op->module);
        if (ps <= 0 ||
            (modules && vp_map_get(modules, vp_hash(module.p, module.n, 0)) == VP_MAP_NONE))
            continue;
        *sum += ps;
        if (ps > most) {
            most = ps;
            best = op;
        }
    }
    return best;
}

const vp_op *fnd_op_of_module(const vp_report *r, const vp_module *m)
{
    const vp_op *best = NULL;
    for (size_t i = 0; i < r->op_count; i++)
        if (r->ops[i].module && r->ops[i].source && !strcmp(r->ops[i].module, m->name) &&
            (!best || r->ops[i].self_ps > best->self_ps))
            best = &r->ops[i];
    return best;
}
