#include "trace/analyze/merge.h"

#include <stdlib.h>

#include "trace/analyze/analyze.h"
#include "trace/analyze/scopes.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

typedef struct merging {
    vp_report *r;
    vp_arena *arena;
    const cat_session *s;
    const host_part *parts;
    int64_t base_unix_ns;
    bool out_of_memory; /* sticky, so that copying needs one check at the end */
} merging;

static const char *copy(merging *m, const char *s)
{
    const char *d = s ? vp_arena_strndup(m->arena, s, strlen(s)) : NULL;
    m->out_of_memory = m->out_of_memory || (s && !d);
    return d;
}

static bool usable(const host_part *p)
{
    return p->wanted && p->status >= 0;
}

/* Aligned times of a host count from its own base: the offset to the report's. */
static int64_t shift_of(const merging *m, const host_result *h)
{
    int64_t ps;
    if (h->base_unix_ns == VP_UNKNOWN || m->base_unix_ns == VP_UNKNOWN ||
        __builtin_mul_overflow(h->base_unix_ns - m->base_unix_ns, INT64_C(1000), &ps))
        return 0;
    return ps;
}

static void choose_base(merging *m)
{
    m->base_unix_ns = VP_UNKNOWN;
    for (size_t i = 0; i < m->s->host_count; i++) {
        int64_t base = m->parts[i].result.base_unix_ns;
        if (!usable(&m->parts[i]))
            continue;
        if (base == VP_UNKNOWN) {
            m->base_unix_ns = VP_UNKNOWN;
            return;
        }
        if (m->base_unix_ns == VP_UNKNOWN || base < m->base_unix_ns)
            m->base_unix_ns = base;
    }
}

typedef struct totals {
    size_t devices, ops, quality, modules;
} totals;

static totals count(const merging *m)
{
    totals n = {0};
    for (size_t i = 0; i < m->s->host_count; i++) {
        const host_result *h = &m->parts[i].result;
        n.quality += m->parts[i].wanted ? h->quality_count + 1 : 0;
        if (!usable(&m->parts[i]))
            continue;
        n.devices += h->device_count;
        n.ops += h->op_count;
        n.modules += h->module_count;
    }
    return n;
}

static void add_devices(merging *m, const host_result *h, const char *host, int64_t shift)
{
    vp_report *r = m->r;
    uint32_t first = (uint32_t)r->device_count;
    for (size_t i = 0; i < h->device_count; i++) {
        vp_device *d = &r->devices[r->device_count++];
        *d = h->devices[i];
        d->name = copy(m, d->name);
        d->host = host;
        d->timeline_ns = h->timeline_ns - shift / 1000;
        if (!d->own_clock) {
            d->start_ps += shift;
            d->end_ps += shift;
        }
        if (r->device_count == 1 || d->start_ps < r->start_ps)
            r->start_ps = d->start_ps;
        if (r->device_count == 1 || d->end_ps > r->end_ps)
            r->end_ps = d->end_ps;
        r->own_clock = r->own_clock || d->own_clock;
    }
    for (size_t i = 0; i < h->op_count; i++) {
        vp_op *op = &r->ops[r->op_count++];
        *op = h->ops[i];
        op->device += first;
        op->category = copy(m, op->category);
        op->name = copy(m, op->name);
        op->scope = copy(m, op->scope);
        op->source = copy(m, op->source);
        op->module = copy(m, op->module);
        op->slowest_start_ps += shift;
    }
}

static void add_quality(merging *m, const host_result *h, const char *file)
{
    for (size_t i = 0; i < h->quality_count; i++) {
        vp_quality *q = &m->r->quality[m->r->quality_count++];
        *q = h->quality[i];
        q->message = copy(m, q->message);
        q->file = file;
    }
}

static void add_failure(merging *m, const vp_error *e, const char *file)
{
    m->r->quality[m->r->quality_count++] = (vp_quality){.code = "unreadable",
                                                        .severity = VP_SEV_ERROR,
                                                        .message = copy(m, e->message),
                                                        .file = file,
                                                        .event = e->event,
                                                        .byte = e->offset,
                                                        .partial = true};
    m->r->partial = true;
}

/* Every file of the session; only the ones that were read have events. */
static int add_files(merging *m)
{
    vp_report *r = m->r;
    r->files = vp_calloc(m->s->file_count, sizeof *r->files);
    if (!r->files)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (size_t i = 0; i < m->s->file_count; i++) {
        const cat_file *f = &m->s->files[i];
        r->files[i] = (vp_report_file){copy(m, f->path), rd_format_name(f->kind.format), f->bytes,
                                       VP_UNKNOWN, false};
    }
    r->file_count = m->s->file_count;
    for (size_t i = 0; i < m->s->host_count; i++) {
        const host_part *p = &m->parts[i];
        if (!p->wanted)
            continue;
        r->files[p->file].partial = !usable(p) || p->result.partial;
        if (usable(p))
            r->files[p->file].events = p->result.events;
    }
    return 0;
}

static int add_hosts(merging *m)
{
    vp_report *r = m->r;
    r->hosts = vp_calloc(m->s->host_count, sizeof *r->hosts);
    if (!r->hosts)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (size_t i = 0; i < m->s->host_count; i++) {
        const host_part *p = &m->parts[i];
        const host_result *h = &p->result;
        if (!p->wanted)
            continue;
        const char *name = copy(m, m->s->hosts[i].name), *file = r->files[p->file].path;
        r->hosts[r->host_count++] = name;
        if (p->status < 0) {
            add_failure(m, &p->error, file);
            continue;
        }
        add_devices(m, h, name, shift_of(m, h));
        add_quality(m, h, file);
        r->events += h->events;
        r->partial = r->partial || h->partial;
        r->has_devices = r->has_devices || h->has_devices;
        if (h->capture_ps > r->capture_ps)
            r->capture_ps = h->capture_ps;
    }
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const vp_module *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->program_id > y->program_id) - (x->program_id < y->program_id);
}

static int by_time(const void *a, const void *b)
{
    const vp_module *x = a, *y = b;
    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return by_name(a, b);
}

/* The median over all runs of a module on all hosts. */
static int median_run(vp_module *out, const merging *m)
{
    size_t n = 0;
    VP_CLEANUP(vp_free_ptr) int64_t *all = vp_realloc_array(NULL, (size_t)out->runs, sizeof *all);
    if (!all)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (size_t i = 0; i < m->s->host_count; i++) {
        const host_result *h = &m->parts[i].result;
        for (size_t k = 0; usable(&m->parts[i]) && k < h->module_count; k++) {
            const module_item *item = &h->modules[k];
            if (!item->samples || item->program_id != out->program_id ||
                strcmp(item->name, out->name) != 0)
                continue;
            memcpy(all + n, item->samples, (size_t)item->runs * sizeof *all);
            n += (size_t)item->runs;
        }
    }
    out->p50_ps = n ? select_kth(all, n, nearest_rank(n, 50)) : VP_UNKNOWN;
    return 0;
}

static int add_modules(merging *m)
{
    vp_report *r = m->r;
    size_t n = 0;
    for (size_t i = 0; i < m->s->host_count; i++) {
        const host_result *h = &m->parts[i].result;
        for (size_t k = 0; usable(&m->parts[i]) && k < h->module_count; k++)
            r->modules[n++] = (vp_module){.name = h->modules[k].name,
                                          .program_id = h->modules[k].program_id,
                                          .runs = h->modules[k].runs,
                                          .total_ps = h->modules[k].total_ps,
                                          .p50_ps = VP_UNKNOWN,
                                          .repeat_steps = VP_UNKNOWN,
                                          .repeat_ps = VP_UNKNOWN,
                                          .repeat_runs = VP_UNKNOWN};
    }
    qsort(r->modules, n, sizeof *r->modules, by_name);
    for (size_t i = 0; i < n; i++) {
        vp_module *last = r->module_count ? &r->modules[r->module_count - 1] : NULL;
        if (last && by_name(last, &r->modules[i]) == 0) {
            last->runs = last->runs < 0 ? last->runs : last->runs + r->modules[i].runs;
            last->total_ps += r->modules[i].total_ps;
        } else {
            r->modules[r->module_count++] = r->modules[i];
        }
    }
    for (size_t i = 0; i < r->module_count; i++) {
        if (r->modules[i].runs > 0)
            VP_TRY(median_run(&r->modules[i], m));
        r->modules[i].name = copy(m, r->modules[i].name);
    }
    qsort(r->modules, r->module_count, sizeof *r->modules, by_time);
    return 0;
}

static int add_scopes(merging *m)
{
    VP_CLEANUP(vp_free_ptr) scope_item *items = NULL;
    vp_report *r = m->r;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < m->s->host_count; i++) {
        const host_result *h = &m->parts[i].result;
        if (!usable(&m->parts[i]) || !h->scope_count)
            continue;
        VP_TRY(vp_grow(&items, &cap, n + h->scope_count, sizeof *items, UINT32_MAX));
        memcpy(items + n, h->scopes, h->scope_count * sizeof *items);
        n += h->scope_count;
    }
    VP_TRY(scopes_tree(&r->scopes, &r->scope_count, m->arena, items, n));
    return scopes_fold(&r->folded, &r->folded_count, m->arena, items, n);
}

static int by_self(const void *a, const void *b)
{
    const vp_op *x = a, *y = b;
    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order ? order : (int)x->op_class - (int)y->op_class;
}

static int fill(merging *m, vp_group group, vp_depth depth)
{
    vp_report *r = m->r;
    const cat_session *s = m->s;
    totals n = count(m);
    r->session_id = copy(m, s->id);
    r->session_name = copy(m, s->name);
    r->session_path = copy(m, s->path);
    r->session_kind = copy(m, s->kind);
    r->captured_unix_ns = s->captured_unix_ns;
    r->base_unix_ns = m->base_unix_ns;
    r->capture_ps = VP_UNKNOWN;
    r->group = group;
    r->depth = depth;
    r->devices = vp_calloc(n.devices, sizeof *r->devices);
    r->ops = vp_calloc(n.ops, sizeof *r->ops);
    r->quality = vp_calloc(n.quality, sizeof *r->quality);
    r->modules = vp_calloc(n.modules, sizeof *r->modules);
    if (!r->devices || !r->ops || !r->quality || !r->modules)
        return vp_fail(VP_ENOMEM, "out of memory");
    VP_TRY(add_files(m));
    VP_TRY(add_hosts(m));
    VP_TRY(add_modules(m));
    VP_TRY(add_scopes(m));
    if (m->out_of_memory)
        return vp_fail(VP_ENOMEM, "out of memory");
    qsort(r->ops, r->op_count, sizeof *r->ops, by_self);
    return 0;
}

int merge_hosts(vp_report **out, const cat_session *s, const host_part *parts, vp_group group,
                vp_depth depth)
{
    const host_part *failed = NULL;
    size_t good = 0;
    for (size_t i = 0; i < s->host_count; i++) {
        good += usable(&parts[i]);
        if (parts[i].wanted && parts[i].status < 0 && !failed)
            failed = &parts[i];
    }
    if (!good)
        return failed ? vp_fail_copy(&failed->error) : vp_fail(VP_EEMPTY, "nothing to analyse");
    vp_report *r = vp_calloc(1, sizeof *r);
    vp_arena *arena = vp_calloc(1, sizeof *arena);
    if (!r || !arena) {
        vp_free(r);
        vp_free(arena);
        return vp_fail(VP_ENOMEM, "out of memory");
    }
    vp_arena_init(arena);
    r->owner_ = arena;
    merging m = {.r = r, .arena = arena, .s = s, .parts = parts};
    choose_base(&m);
    int rc = fill(&m, group, depth);
    if (rc < 0) {
        analyze_free(r);
        return rc;
    }
    *out = r;
    return 0;
}

void analyze_free(vp_report *r)
{
    if (!r)
        return;
    vp_arena_free(r->owner_);
    vp_free(r->owner_);
    vp_free(r->hosts);
    vp_free(r->files);
    vp_free(r->devices);
    vp_free(r->ops);
    vp_free(r->modules);
    vp_free(r->quality);
    vp_free(r->findings);
    vp_free(r);
}
