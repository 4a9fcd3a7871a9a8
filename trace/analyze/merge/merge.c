#include "trace/analyze/merge/merge.h"

#include <stdlib.h>

#include "trace/analyze/findings/findings.h"
#include "trace/analyze/steps/steps_judge.h"
#include "trace/analyze/merge/balance.h"
#include "trace/analyze/merge/merge_parts.h"
#include "trace/analyze/merge/ranks.h"
#include "trace/analyze/merge/whole.h"
#include "trace/base/order.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* ---- Order of parts ---- */

/* Hosts are in natural order, as in the catalog: host-2 before host-10. */
static int host_order(const char *a, const char *b)
{
    return a && b ? strverscmp(a, b) : (a != NULL) - (b != NULL);
}

static int part_order(const void *a, const void *b)
{
    const vp_report *x = ((const merge_part *)a)->r, *y = ((const merge_part *)b)->r;
    int order = host_order(x->host_count ? x->hosts[0] : NULL, y->host_count ? y->hosts[0] : NULL);
    if (!order)
        order = vp_order(x->base_unix_ns, y->base_unix_ns);
    if (!order)
        order = merge_order(x->session_id, y->session_id);
    if (!order)
        order = vp_order(x->start_ps, y->start_ps);
    return order ? order : vp_order(x->events, y->events);
}

static bool same_host_twice(const vp_report *x, const vp_report *y, const char **host)
{
    if (x->base_unix_ns != y->base_unix_ns || x->events != y->events ||
        x->start_ps != y->start_ps || x->end_ps != y->end_ps)
        return false;
    for (size_t i = 0; i < x->host_count; i++)
        for (size_t k = 0; k < y->host_count; k++)
            if (merge_order(*host = x->hosts[i], y->hosts[k]) == 0)
                return true;
    return false;
}

static int order_parts(merging *m)
{
    const char *host;
    qsort(m->parts, m->count, sizeof *m->parts, part_order);
    for (size_t i = 0; i < m->count; i++) {
        m->parts[i].rank = i;
        if (i && same_host_twice(m->parts[i - 1].r, m->parts[i].r, &host))
            return vp_fail(VP_EARG,
                           "two of the reports are of the same run on host %.100s; merging them "
                           "would count it twice",
                           host ? host : "-");
        if (m->parts[i].r->group != m->parts[0].r->group)
            return vp_fail(VP_EARG, "the reports use different op groups: write all of them with "
                                    "the same --group");
        if (m->parts[i].r->step != m->parts[0].r->step)
            return vp_fail(VP_EARG, "some of the reports are of one step: write all of them with "
                                    "the same --step");
    }
    return 0;
}

/* ---- Clocks ---- */

/* Shifts the times of parts to one clock. Times stay unchanged if a part with events has no Unix
 * time, or if parts are more than VP_TIME_MAX_PS apart, because they are not of one capture. */
static void align_parts(merging *m)
{
    int64_t base = VP_UNKNOWN, ns, ps;
    bool known = true;
    for (size_t i = 0; i < m->count; i++) {
        const vp_report *r = m->parts[i].r;
        if (r->base_unix_ns == VP_UNKNOWN)
            known = known && r->events <= 0;
        else if (base == VP_UNKNOWN || r->base_unix_ns < base)
            base = r->base_unix_ns;
    }
    for (size_t i = 0; known && i < m->count; i++) {
        if (m->parts[i].r->base_unix_ns == VP_UNKNOWN)
            continue;
        known = !__builtin_sub_overflow(m->parts[i].r->base_unix_ns, base, &ns) &&
                !__builtin_mul_overflow(ns, INT64_C(1000), &ps) && ps < VP_TIME_MAX_PS;
        m->parts[i].shift_ps = known ? ps : 0;
    }
    for (size_t i = 0; !known && i < m->count; i++)
        m->parts[i].shift_ps = 0;
    m->r->base_unix_ns = known ? base : VP_UNKNOWN;
}

/* ---- Run, hosts, files, quality ---- */

static const char *common_text(merging *m, size_t at, const char *otherwise)
{
    const char *first, *text;
    memcpy(&first, (const char *)m->parts[0].r + at, sizeof first);
    for (size_t i = 1; i < m->count; i++) {
        memcpy(&text, (const char *)m->parts[i].r + at, sizeof text);
        if (merge_order(first, text) != 0)
            return merge_text(m, otherwise);
    }
    return merge_text(m, first);
}

static void merge_session(merging *m)
{
    vp_report *r = m->r;
    r->session_id = common_text(m, offsetof(vp_report, session_id), "merged");
    r->session_name = common_text(m, offsetof(vp_report, session_name), "merged");
    r->session_path = common_text(m, offsetof(vp_report, session_path), NULL);
    r->session_kind = common_text(m, offsetof(vp_report, session_kind), NULL);
    r->group = m->parts[0].r->group;
    r->step = m->parts[0].r->step;
    r->one_window = m->parts[0].r->one_window;
    r->where = m->parts[0].r->where;
    r->depth = VP_DEPTH_FULL;
    r->captured_unix_ns = r->capture_ps = VP_UNKNOWN;
    for (size_t i = 0; i < m->count; i++) {
        const vp_report *p = m->parts[i].r;
        if (p->depth != VP_DEPTH_FULL)
            r->depth = p->depth;
        if (p->captured_unix_ns != VP_UNKNOWN &&
            (r->captured_unix_ns == VP_UNKNOWN || p->captured_unix_ns < r->captured_unix_ns))
            r->captured_unix_ns = p->captured_unix_ns;
        if (p->capture_ps > r->capture_ps)
            r->capture_ps = p->capture_ps;
        if (p->events > 0)
            merge_sum(&r->events, p->events);
        r->has_devices = r->has_devices || p->has_devices;
        r->partial = r->partial || p->partial;
    }
}

static int by_merged_host(const void *a, const void *b)
{
    return host_order(*(const char *const *)a, *(const char *const *)b);
}

static void add_hosts(merging *m)
{
    vp_report *r = m->r;
    size_t n = 0;
    for (size_t i = 0; i < m->count; i++)
        n += m->parts[i].r->host_count;
    const char **hosts = merge_room(m, n, sizeof *hosts);
    if (!hosts)
        return;
    n = 0;
    for (size_t i = 0; i < m->count; i++)
        for (size_t k = 0; k < m->parts[i].r->host_count; k++)
            hosts[n++] = m->parts[i].r->hosts[k];
    qsort(hosts, n, sizeof *hosts, by_merged_host);
    r->hosts = hosts;
    for (size_t i = 0; i < n; i++)
        if (!i || host_order(r->hosts[r->host_count - 1], hosts[i]) != 0)
            r->hosts[r->host_count++] = merge_text(m, hosts[i]);
}

/* True if all parts list the same files, as parts of one run do. Each part then has the event
 * counts of its own file. */
static bool list_the_same(const merging *m)
{
    const vp_report *first = m->parts[0].r;
    for (size_t i = 1; i < m->count; i++) {
        const vp_report *r = m->parts[i].r;
        if (r->files == first->files && r->session_path)
            continue;
        if (r->file_count != first->file_count || !r->session_path ||
            merge_order(r->session_id, first->session_id) != 0)
            return false;
        for (size_t k = 0; k < r->file_count; k++)
            if (merge_order(r->files[k].path, first->files[k].path) != 0)
                return false;
    }
    return true;
}

static int by_file(const void *a, const void *b)
{
    const vp_report_file *x = *(const vp_report_file *const *)a;
    const vp_report_file *y = *(const vp_report_file *const *)b;
    int order = merge_order(x->path, y->path);
    if (!order)
        order = vp_order(x->bytes, y->bytes);
    return order ? order : vp_order(x->events, y->events);
}

static void join_files(merging *m)
{
    vp_report *r = m->r;
    const vp_report *first = m->parts[0].r;
    r->files = merge_items(m, first->files, first->file_count, sizeof *r->files);
    r->file_count = r->files ? first->file_count : 0;
    for (size_t i = 1; i < m->count; i++) {
        for (size_t k = 0; m->parts[i].r->files != first->files && k < r->file_count; k++) {
            const vp_report_file *file = &m->parts[i].r->files[k];
            if (file->events > r->files[k].events)
                r->files[k].events = file->events;
            r->files[k].partial = r->files[k].partial || file->partial;
        }
    }
}

static int list_files(merging *m)
{
    vp_report *r = m->r;
    size_t n = 0, at = 0;
    for (size_t i = 0; i < m->count; i++)
        n += m->parts[i].r->file_count;
    VP_CLEANUP(vp_free_ptr) const vp_report_file **v = vp_calloc(n, sizeof *v);
    r->files = merge_room(m, n, sizeof *r->files);
    if (!v || m->out_of_memory)
        return vp_no_memory();
    for (size_t i = 0; i < m->count; i++)
        for (size_t k = 0; k < m->parts[i].r->file_count; k++)
            v[at++] = &m->parts[i].r->files[k];
    qsort(v, n, sizeof *v, by_file);
    for (size_t i = 0; i < n; i++)
        r->files[r->file_count++] = *v[i];
    return 0;
}

static int merge_files(merging *m)
{
    if (list_the_same(m))
        join_files(m);
    else
        VP_TRY(list_files(m));
    for (size_t i = 0; i < m->r->file_count; i++) {
        m->r->files[i].path = merge_text(m, m->r->files[i].path);
        m->r->files[i].kind = merge_text(m, m->r->files[i].kind);
    }
    return 0;
}

typedef struct quality_entry {
    const vp_quality *q;
    size_t file, order; /* index of its file, and its original position */
} quality_entry;

static int by_quality_place(const void *a, const void *b)
{
    const quality_entry *x = a, *y = b;
    int order = vp_order((int64_t)x->file, (int64_t)y->file);
    return order ? order : vp_order((int64_t)x->order, (int64_t)y->order);
}

static size_t file_at(const vp_report *r, const char *path)
{
    size_t i = 0;
    while (i < r->file_count && merge_order(r->files[i].path, path) != 0)
        i++;
    return i;
}

/* Sorts entries by file, so that the result does not depend on the order of parts and hosts.
 * Reserves one more entry per part, for its steps, and one for missing ranks. */
static int merge_quality(merging *m)
{
    vp_report *r = m->r;
    size_t n = 0;
    for (size_t i = 0; i < m->count; i++)
        n += m->parts[i].r->quality_count;
    VP_CLEANUP(vp_free_ptr) quality_entry *v = vp_calloc(n, sizeof *v);
    r->quality = merge_room(m, n + m->count + 1, sizeof *r->quality);
    if (!v || m->out_of_memory)
        return vp_no_memory();
    n = 0;
    for (size_t i = 0; i < m->count; i++)
        for (size_t k = 0; k < m->parts[i].r->quality_count; k++) {
            const vp_quality *q = &m->parts[i].r->quality[k];
            if (merge_order(q->code, RANKS_MISSING_CODE) == 0)
                continue;
            v[n] = (quality_entry){q, file_at(r, q->file), n};
            n++;
        }
    qsort(v, n, sizeof *v, by_quality_place);
    for (size_t i = 0; i < n; i++) {
        vp_quality *q = &r->quality[r->quality_count++];
        *q = *v[i].q;
        q->code = merge_text(m, q->code);
        q->message = merge_text(m, q->message);
        q->file = merge_text(m, q->file);
    }
    return 0;
}

/* ---- Merging ---- */

int report_new(vp_report **out)
{
    vp_report *r = vp_calloc(1, sizeof *r);
    vp_arena *arena = vp_calloc(1, sizeof *arena);
    if (!r || !arena) {
        vp_free(r);
        vp_free(arena);
        return vp_no_memory();
    }
    vp_arena_init(arena);
    r->owner_ = arena;
    r->step = r->world_size = VP_UNKNOWN;
    *out = r;
    return 0;
}

void analyze_free(vp_report *r)
{
    if (!r)
        return;
    vp_arena_free(r->owner_);
    vp_free(r->owner_);
    vp_free(r);
}

int report_finish(vp_report *r)
{
    VP_TRY(steps_judge(&r->steps, r->owner_));
    if (r->depth == VP_DEPTH_FULL)
        VP_TRY(balance_make(r));
    return findings_make(r);
}

static int fill_merged_report(merging *m)
{
    for (size_t i = 0; i < m->count; i++)
        m->parts[i].device = merge_room(m, m->parts[i].r->device_count, sizeof *m->parts[i].device);
    VP_TRY(order_parts(m));
    align_parts(m);
    merge_session(m);
    add_hosts(m);
    VP_TRY(merge_files(m));
    VP_TRY(merge_quality(m));
    VP_TRY(ranks_merge(m));
    merge_devices(m);
    if (m->out_of_memory)
        return vp_no_memory();
    merge_ops(m);
    VP_TRY(merge_scopes(m));
    VP_TRY(merge_modules(m));
    merge_full(m);
    VP_TRY(merge_steps(m));
    if (m->out_of_memory)
        return vp_no_memory();
    return report_finish(m->r);
}

int merge_reports(vp_report **out, const vp_report *const *parts, size_t n, vp_arena *step_rows)
{
    merging m = {.count = n, .keeps_rows = step_rows};
    if (!n)
        return vp_fail(VP_EARG, "no reports to merge");
    VP_CLEANUP(vp_free_ptr) merge_part *list = vp_calloc(n, sizeof *list);
    VP_NEED(list);
    VP_TRY(report_new(&m.r));
    m.arena = m.r->owner_;
    m.parts = list;
    for (size_t i = 0; i < n; i++)
        list[i].r = parts[i];
    int rc = fill_merged_report(&m);
    if (rc < 0) {
        analyze_free(m.r);
        return rc;
    }
    if (step_rows)
        vp_arena_take_over(m.arena, step_rows);
    *out = m.r;
    return 0;
}

int report_merge(vp_report **out, const vp_report *const *parts, size_t n)
{
    return merge_reports(out, parts, n, NULL);
}
