#include "trace/analyze/merge/match.h"

#include <stdlib.h>
#include <string.h>

#include "trace/analyze/result/order_statistics.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

static int compare_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int same_call(const vp_collective *x, const vp_collective *y)
{
    int order = compare_text(x->kind, y->kind);
    if (!order)
        order = compare_text(x->name, y->name);
    if (!order)
        order = (x->group_size > y->group_size) - (x->group_size < y->group_size);
    return order ? order : compare_text(x->members, y->members);
}

static int by_call_then_device(const void *a, const void *b)
{
    const vp_collective *x = *(vp_collective *const *)a, *y = *(vp_collective *const *)b;
    int order = same_call(x, y);
    return order ? order : (x->device > y->device) - (x->device < y->device);
}

/* True if each participant of the group is present exactly once. If a collective has several
 * groups, this is only known if members are known. */
static bool is_complete_group(vp_collective *const *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (v[i]->device == v[i - 1]->device)
            return false;
    if (!v[0]->members && v[0]->groups > 1)
        return false;
    return n >= 2 && (v[0]->group_size < 0 || (uint64_t)v[0]->group_size == n);
}

static match_group make_group(const vp_report *r, vp_collective **v, size_t n)
{
    match_group g = {v, n, false, true, INT64_MAX, 1};
    for (size_t i = 0; i < n; i++) {
        g.by_length = g.by_length || r->devices[v[i]->device].own_clock;
        g.equal = g.equal && v[i]->count == v[0]->count;
        g.calls = v[i]->count < g.calls ? v[i]->count : g.calls;
        g.stride = v[i]->sample_stride > g.stride ? v[i]->sample_stride : g.stride;
    }
    return g;
}

static int by_group_calls(const void *a, const void *b)
{
    const match_group *x = a, *y = b;
    if (x->calls != y->calls)
        return x->calls > y->calls ? -1 : 1;
    return by_call_then_device(&x->members[0], &y->members[0]);
}

/* Limit for times, so that sums of a few do not overflow. A report read from a file may contain any
 * value. */
#define TIME_MAX (INT64_C(1) << 60)

static bool is_well_sampled(const vp_collective *c, size_t device_count)
{
    bool good = c->device < device_count && c->count > 0 && c->count <= VP_EVENTS_MAX &&
                c->sample_stride > 0 &&
                c->sample_count == (uint64_t)(c->count - 1) / (uint64_t)c->sample_stride + 1;
    for (size_t i = 0; good && i < c->sample_count; i++)
        good = c->sample_start_ps[i] > -TIME_MAX && c->sample_start_ps[i] < TIME_MAX &&
               c->sample_dur_ps[i] >= 0 && c->sample_dur_ps[i] < TIME_MAX;
    return good;
}

static int make_match_groups(match *m, const vp_report *r)
{
    size_t n = 0;
    m->order = vp_calloc(r->collective_count + 1, sizeof(vp_collective *));
    m->groups = vp_calloc(r->collective_count + 1, sizeof *m->groups);
    VP_NEED(m->order && m->groups);
    for (size_t i = 0; i < r->collective_count; i++)
        if (is_well_sampled(&r->collectives[i], r->device_count))
            m->order[n++] = &r->collectives[i];
    qsort(m->order, n, sizeof(vp_collective *), by_call_then_device);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && same_call(m->order[i], m->order[end]) == 0;)
            end++;
        if (is_complete_group(m->order + i, end - i))
            m->groups[m->group_count++] = make_group(r, m->order + i, end - i);
    }
    qsort(m->groups, m->group_count, sizeof *m->groups, by_group_calls);
    return 0;
}

/* Devices of one host are adjacent. */
static int number_hosts(match *m)
{
    const vp_device *d = m->r->devices;
    m->host_of = vp_calloc(m->r->device_count + 1, sizeof *m->host_of);
    m->offset_ps = vp_calloc(m->r->device_count + 1, sizeof *m->offset_ps);
    m->error_ps = vp_calloc(m->r->device_count + 1, sizeof *m->error_ps);
    m->compared = vp_calloc(m->r->device_count + 1, sizeof *m->compared);
    m->known = vp_calloc(m->r->device_count + 1, sizeof *m->known);
    VP_NEED(m->host_of && m->offset_ps && m->error_ps && m->compared && m->known);
    for (size_t i = 0; i < m->r->device_count; i++) {
        bool new = !i || compare_text(d[i].host, d[i - 1].host) != 0;
        m->host_count += new;
        m->host_of[i] = (uint32_t)m->host_count - 1;
    }
    return 0;
}

static size_t sample_of(const vp_collective *c, int64_t call)
{
    return (size_t)(call / c->sample_stride);
}

static int64_t aligned_call_end(const match *m, const vp_collective *c, int64_t call)
{
    size_t i = sample_of(c, call);
    return c->sample_start_ps[i] + c->sample_dur_ps[i] + m->offset_ps[m->host_of[c->device]];
}

/* Latest end of a call among devices of hosts with a known clock, or of one host. */
static int64_t latest_end(const match *m, const match_group *g, int64_t call, uint32_t host)
{
    int64_t end = INT64_MIN;
    for (size_t i = 0; i < g->count; i++) {
        uint32_t h = m->host_of[g->members[i]->device];
        if (host == UINT32_MAX ? m->known[h] : h == host) {
            int64_t e = aligned_call_end(m, g->members[i], call);
            end = e > end ? e : end;
        }
    }
    return end;
}

static bool has_known_host(const match *m, const match_group *g)
{
    for (size_t i = 0; i < g->count; i++)
        if (m->known[m->host_of[g->members[i]->device]])
            return true;
    return false;
}

/* Sets the host's offset to the median, over its calls, of the difference to their ends on hosts
 * with a known clock, and its error to the median absolute deviation. */
static int align_host(match *m, const match_group *g, uint32_t host)
{
    size_t n = 0, all = (size_t)((g->calls - 1) / g->stride) + 1;
    VP_CLEANUP(vp_free_ptr) int64_t *skew = vp_realloc_array(NULL, all, sizeof *skew);
    VP_NEED(skew);
    for (int64_t call = 0; call < g->calls; call += g->stride)
        skew[n++] = latest_end(m, g, call, UINT32_MAX) - latest_end(m, g, call, host);
    int64_t median = select_kth(skew, n, nearest_rank(n, 50));
    if (median <= -2 * TIME_MAX || median >= 2 * TIME_MAX)
        return 0;
    m->offset_ps[host] = median;
    m->compared[host] = (int64_t)n;
    for (size_t i = 0; i < n; i++)
        skew[i] = skew[i] < median ? median - skew[i] : skew[i] - median;
    m->error_ps[host] = select_kth(skew, n, nearest_rank(n, 50));
    return 0;
}

/* Aligns the hosts of a group with at least one known clock; sets *moved if there are any. All of
 * them become known at once, so that the order of hosts does not matter. */
static int align_group(match *m, const match_group *g, bool *moved)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *found = vp_calloc(g->count, sizeof *found);
    size_t n = 0;
    VP_NEED(found);
    for (size_t i = 0; i < g->count; i++) {
        uint32_t host = m->host_of[g->members[i]->device];
        if (m->known[host] || (n && found[n - 1] == host))
            continue;
        VP_TRY(align_host(m, g, host));
        found[n++] = host;
    }
    for (size_t i = 0; i < n; i++)
        m->known[found[i]] = true;
    *moved = *moved || n;
    return 0;
}

/* Propagates the known clock through groups that contain hosts with and without it. */
static int align_hosts(match *m)
{
    if (!m->host_count)
        return 0;
    m->reference = m->group_count ? m->host_of[m->groups[0].members[0]->device] : 0;
    m->known[m->reference] = true;
    for (bool moved = m->host_count > 1; moved;) {
        moved = false;
        for (size_t i = 0; i < m->group_count; i++)
            if (m->groups[i].equal && has_known_host(m, &m->groups[i]))
                VP_TRY(align_group(m, &m->groups[i], &moved));
    }
    return 0;
}

int match_make(match *m, const vp_report *r)
{
    *m = (match){.r = r};
    VP_TRY(number_hosts(m));
    VP_TRY(make_match_groups(m, r));
    return align_hosts(m);
}

void match_free(match *m)
{
    vp_free(m->order);
    vp_free(m->groups);
    vp_free(m->host_of);
    vp_free(m->offset_ps);
    vp_free(m->error_ps);
    vp_free(m->compared);
    vp_free(m->known);
    *m = (match){0};
}

bool match_aligned(const match *m)
{
    for (size_t h = 0; h < m->host_count; h++)
        if (!m->known[h])
            return false;
    return true;
}

/* True if starts on these hosts are comparable: one host, or all of them aligned. */
static bool are_starts_comparable(const match *m, const match_group *g)
{
    uint32_t first = m->host_of[g->members[0]->device];
    bool one = true, all = true;
    for (size_t i = 0; i < g->count; i++) {
        uint32_t host = m->host_of[g->members[i]->device];
        one = one && host == first;
        all = all && m->known[host];
    }
    return one || all;
}

/* wait = own duration − shortest duration: a collective ends at the same time everywhere, so the
 * participant with the shortest call arrived last. */
static void by_lengths(int64_t *wait, size_t *last, const match_group *g, int64_t call)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < g->count; i++) {
        wait[i] = g->members[i]->sample_dur_ps[sample_of(g->members[i], call)];
        if (wait[i] < least) {
            least = wait[i];
            *last = i;
        }
    }
    for (size_t i = 0; i < g->count; i++)
        wait[i] -= least;
}

/* wait = latest start − own start (docs/reference/metrics.md#devices-and-stragglers). Returns false
 * if the calls do not overlap: these are different calls, since no participant leaves a collective
 * before the last one arrives. */
static bool by_starts(int64_t *wait, size_t *last, const match *m, const match_group *g,
                      int64_t call)
{
    int64_t latest = INT64_MIN, first_end = INT64_MAX;
    for (size_t i = 0; i < g->count; i++) {
        const vp_collective *c = g->members[i];
        int64_t end = aligned_call_end(m, c, call),
                start = end - c->sample_dur_ps[sample_of(c, call)];
        wait[i] = start;
        first_end = end < first_end ? end : first_end;
        if (start > latest) {
            latest = start;
            *last = i;
        }
    }
    for (size_t i = 0; i < g->count; i++)
        wait[i] = latest - wait[i];
    return latest <= first_end;
}

bool match_call(int64_t *wait_ps, size_t *last, int64_t *weight, const match *m,
                const match_group *g, int64_t call)
{
    bool waits = false;
    if (g->by_length ? !g->equal : !are_starts_comparable(m, g))
        return false;
    if (g->by_length)
        by_lengths(wait_ps, last, g, call);
    else if (!by_starts(wait_ps, last, m, g, call))
        return false;
    *weight = g->calls - call < g->stride ? g->calls - call : g->stride;
    for (size_t i = 0; i < g->count; i++)
        waits = waits || wait_ps[i];
    *last = waits ? *last : SIZE_MAX;
    return true;
}

int64_t match_start(const vp_collective *member, int64_t call)
{
    return member->sample_start_ps[sample_of(member, call)];
}

int64_t match_exposed(const vp_collective *member, int64_t call)
{
    return member->sample_exposed_ps ? member->sample_exposed_ps[sample_of(member, call)] : 0;
}
