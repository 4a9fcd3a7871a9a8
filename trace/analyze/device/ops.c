#include "trace/analyze/device/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/device/classify.h"
#include "trace/analyze/device/kernel_launch.h"
#include "trace/analyze/device/op_operators.h"
#include "trace/analyze/device/op_places.h"
#include "trace/analyze/device/scopes.h"
#include "trace/analyze/device/sweep.h"
#include "trace/analyze/result/order_statistics.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/freelist.h"
#include "trace/base/sums.h"

/* The group of each kind; made once per trace, shared by its devices. */
struct grouping {
    const trace *t;
    vp_arena arena;
    vp_intern names;    /* of group keys and labels */
    uint32_t *group_of; /* by kind */
    uint8_t *class_of;  /* by kind */
    uint8_t *sweep_of;  /* by kind: sweep_class */
    uint32_t count;
    bool raw;
    vp_sid *label;   /* by group */
    uint32_t *first; /* by group: one of its kinds */
    size_t label_cap, first_cap;
};

static vp_str or_text(vp_str s, const char *otherwise)
{
    return s.n ? s : vp_str_of(otherwise);
}

/* The category of an op, in the producer's words. For XLA:CPU's ops only the opcode is known, for a
 * GPU kernel that of its instruction. */
static vp_str category_of(const trace *t, const trace_kind *k)
{
    vp_sid said = k->category ? k->category : k->opcode ? k->opcode : k->hlo_opcode;
    return trace_str(t, said);
}

static int put_group_label(vp_buf *b, const trace *t, const trace_kind *k, vp_group by,
                           bool normalize, vp_op_class class)
{
    static const char *const class_names[] = {"compute", "communication", "copy"};
    vp_str name = trace_str(t, k->name);
    switch (by) {
    case VP_GROUP_CATEGORY:
        return vp_buf_str(b, or_text(category_of(t, k), class_names[class]));
    case VP_GROUP_SCOPE:
        return vp_buf_str(b, or_text(trace_str(t, k->scope), "(no scope)"));
    case VP_GROUP_SOURCE:
        return vp_buf_str(b, or_text(trace_str(t, k->source), "(no source)"));
    case VP_GROUP_MODULE:
        return vp_buf_str(b, or_text(trace_str(t, k->module), "(no module)"));
    case VP_GROUP_OPERATOR:
    case VP_GROUP_OUTERMOST:
        return vp_buf_str(b,
                          or_text(kind_operator(t, k, by == VP_GROUP_OUTERMOST), "(no operator)"));
    case VP_GROUP_RAW:
        return vp_buf_str(b, or_text(name, "(no name)"));
    case VP_GROUP_NAME:
    case VP_GROUP_STACK:
        break;
    }
    return normalize && name.n ? cl_normalize(b, name) : vp_buf_str(b, or_text(name, "(no name)"));
}

bool grouping_by_scope(vp_group by)
{
    return by == VP_GROUP_SCOPE || by == VP_GROUP_STACK;
}

/* The key of a group. By name it is (class, category, label), since a name alone would mix
 * different ops; by stack it includes the scope, and raw the launch configuration. Other groupings
 * use only the label. */
static int put_group_key(vp_buf *key, const trace *t, const trace_kind *k, vp_group by,
                         vp_op_class class, vp_str label)
{
    key->n = 0;
    if (by == VP_GROUP_RAW)
        VP_TRY(kernel_launch_key(key, trace_str(t, k->launch)));
    if (by == VP_GROUP_STACK) {
        vp_buf_u64(key, k->scope);
        vp_buf_putc(key, ' ');
    }
    if (by == VP_GROUP_NAME || by == VP_GROUP_RAW || by == VP_GROUP_CATEGORY ||
        by == VP_GROUP_STACK) {
        vp_buf_putc(key, (char)('0' + class));
        vp_buf_str(key, trace_str(t, k->category));
    }
    vp_buf_putc(key, 0);
    return vp_buf_str(key, label);
}

/* Groups that do not depend on the place of an op (scope, source, operators). */
static bool is_placeless(vp_group by)
{
    return by == VP_GROUP_NAME || by == VP_GROUP_RAW || by == VP_GROUP_CATEGORY ||
           by == VP_GROUP_MODULE;
}

static int grouping_add_group(grouping *g, vp_sid label, uint32_t kind)
{
    VP_TRY(vp_grow(&g->label, &g->label_cap, (size_t)g->count + 1, sizeof *g->label, UINT32_MAX));
    VP_TRY(vp_grow(&g->first, &g->first_cap, (size_t)g->count + 1, sizeof *g->first, UINT32_MAX));
    g->label[g->count] = label;
    g->first[g->count++] = kind;
    return 0;
}

/* normalize: there are devices; only their ops are grouped. */
static int grouping_assign_kind(grouping *g, vp_map *by_key, vp_buf *label, vp_buf *key,
                                uint32_t kind, vp_group by, bool normalize)
{
    const trace_kind *k = &g->t->kinds[kind];
    uint32_t from = trace_kind_origin(g->t, kind);
    bool placed = from != kind, is_host = normalize && !k->is_op; /* never asked for */
    vp_op_class class = placed    ? (vp_op_class)g->class_of[from]
                        : is_host ? VP_COMPUTE
                                  : cl_class(g->t, k);
    g->class_of[kind] = (uint8_t) class;
    g->sweep_of[kind] = placed ? g->sweep_of[from] : sweep_class(g->t, k, class);
    if (placed && is_placeless(by)) {
        g->group_of[kind] = g->group_of[from];
        return 0;
    }
    vp_sid label_id, key_id;
    label->n = 0;
    VP_TRY(put_group_label(label, g->t, k, by, normalize && !is_host, class));
    VP_TRY(vp_intern_put(&g->names, vp_buf_view(label), &label_id));
    VP_TRY(put_group_key(key, g->t, k, by, class, vp_buf_view(label)));
    VP_TRY(vp_intern_put(&g->names, vp_buf_view(key), &key_id));
    uint32_t group = vp_map_get(by_key, key_id);
    if (group == VP_MAP_NONE) {
        group = g->count;
        VP_TRY(grouping_add_group(g, label_id, kind));
        VP_TRY(vp_map_set(by_key, key_id, group));
    }
    g->group_of[kind] = group;
    return 0;
}

int grouping_new(grouping **out, const trace *t, vp_group by, bool normalize)
{
    vp_map by_key;
    vp_buf label, key;
    grouping *g = vp_calloc(1, sizeof *g);
    VP_NEED(g);
    g->t = t;
    g->raw = by == VP_GROUP_RAW;
    vp_arena_init(&g->arena);
    vp_map_init(&by_key);
    vp_buf_init(&label, SIZE_MAX / 8);
    vp_buf_init(&key, SIZE_MAX / 8);
    g->group_of = vp_calloc(t->kind_count, sizeof *g->group_of);
    g->class_of = vp_calloc(t->kind_count, sizeof *g->class_of);
    g->sweep_of = vp_calloc(t->kind_count, sizeof *g->sweep_of);
    int rc = vp_intern_init(&g->names, &g->arena);
    if (!g->group_of || !g->class_of || !g->sweep_of)
        rc = vp_no_memory();
    for (uint32_t k = 0; rc >= 0 && k < t->kind_count; k++)
        rc = grouping_assign_kind(g, &by_key, &label, &key, k, by, normalize);
    vp_map_free(&by_key);
    vp_buf_free(&label);
    vp_buf_free(&key);
    if (rc < 0) {
        grouping_free(g);
        return rc;
    }
    *out = g;
    return 0;
}

void grouping_free(grouping *g)
{
    if (!g)
        return;
    vp_intern_free(&g->names);
    vp_arena_free(&g->arena);
    vp_free(g->group_of);
    vp_free(g->class_of);
    vp_free(g->sweep_of);
    vp_free(g->label);
    vp_free(g->first);
    vp_free(g);
}

const uint8_t *grouping_classes(const grouping *g)
{
    return g->class_of;
}

const uint8_t *grouping_sweep_classes(const grouping *g)
{
    return g->sweep_of;
}

const uint32_t *grouping_groups(const grouping *g)
{
    return g->group_of;
}

uint32_t grouping_count(const grouping *g)
{
    return g->count;
}

vp_str grouping_label(const grouping *g, uint32_t group)
{
    return vp_intern_get(&g->names, g->label[group]);
}

/* Sums of one group of one device. */
typedef struct tally {
    int64_t calls, self_ps, total_ps, inner_ps, inner_calls, bytes, flops;
    int64_t threads;
    size_t track;         /* the last counted track, + 1 */
    size_t slowest_track; /* that of the slowest, + 1 */
    int64_t slowest_dur, slowest_start;
    int64_t raw_names, best_self; /* best_self: self time of the kind that represents the group */
    uint32_t best_kind;
    int64_t min_ps, p50_ps, p95_ps;
    double stddev_ps;
    op_place place;
    op_operator caller;
    size_t first; /* start of its durations in the shared array */
    size_t filled;
} tally;

struct ops_sums {
    kind_list times; /* of its own memory */
    tally *v;        /* by the group's number on the device */
    uint64_t events, crossings;
};

void ops_sums_free(ops_sums *s)
{
    if (!s)
        return;
    vp_free(s->times.kind);
    vp_free(s->times.self_ps);
    vp_free(s->times.calls);
    vp_free(s->times.group);
    vp_free(s->v);
    vp_free(s);
}

struct ops_workspace {
    vp_freelist_item item;
    kind_times sums;   /* by kind; of the current device */
    uint8_t *seen;     /* by kind or group; all 0 between uses */
    uint32_t *slot_of; /* by kind: its group among the device's */
    uint32_t *at;      /* by group: the same */
    /* For all events, by group; touching new memory costs as much as filling it. */
    int64_t *durations;
    size_t durations_cap;
    size_t kinds;
};

void ops_workspace_free(ops_workspace *r)
{
    if (!r)
        return;
    vp_free(r->sums.self_ps);
    vp_free(r->sums.calls);
    vp_free(r->seen);
    vp_free(r->slot_of);
    vp_free(r->at);
    vp_free(r->durations);
    vp_free(r);
}

int ops_workspace_new(ops_workspace **out, const grouping *g, const trace *t)
{
    ops_workspace *r = vp_calloc(1, sizeof *r);
    VP_NEED(r);
    r->kinds = t->kind_count;
    r->sums.self_ps = vp_calloc(r->kinds, sizeof *r->sums.self_ps);
    r->sums.calls = vp_calloc(r->kinds, sizeof *r->sums.calls);
    r->seen = vp_calloc(r->kinds, 1);
    r->slot_of = vp_calloc(r->kinds, sizeof *r->slot_of);
    r->at = vp_calloc(g->count, sizeof *r->at);
    if (!r->sums.self_ps || !r->sums.calls || !r->seen || !r->slot_of || !r->at) {
        ops_workspace_free(r);
        return vp_no_memory();
    }
    *out = r;
    return 0;
}

static int by_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the n numbers below `max` that are marked in seen, and clears the marks. Unless they are
 * few, it scans all marks in order instead of sorting. */
static void list_marked_in_order(uint32_t *v, uint32_t n, uint8_t *seen, size_t max)
{
    if (n < max / 16) {
        qsort(v, n, sizeof *v, by_u32);
        for (uint32_t i = 0; i < n; i++)
            seen[v[i]] = 0;
        return;
    }
    for (uint32_t i = 0, found = 0; found < n; i++)
        if (seen[i]) {
            v[found++] = i;
            seen[i] = 0;
        }
}

static int find_kinds(kind_list *l, size_t *cap, track_set set, uint8_t *seen)
{
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        for (size_t e = 0; e < k->count; e++) {
            uint32_t kind = trace_kind_of(k, e);
            if (seen[kind])
                continue;
            seen[kind] = 1;
            VP_TRY(vp_grow(&l->kind, cap, (size_t)l->n + 1, sizeof *l->kind, UINT32_MAX));
            l->kind[l->n++] = kind;
        }
    }
    return 0;
}

/* Makes the list of a device's kinds, with space for their figures. */
static int list_kinds(kind_list *l, track_set set, ops_workspace *r)
{
    size_t cap = 0;
    VP_TRY(find_kinds(l, &cap, set, r->seen));
    if (l->n)
        list_marked_in_order(l->kind, l->n, r->seen, r->kinds);
    l->self_ps = vp_calloc(l->n, sizeof *l->self_ps);
    l->calls = vp_calloc(l->n, sizeof *l->calls);
    l->group = vp_calloc(l->n, sizeof *l->group);
    return l->self_ps && l->calls && l->group ? 0 : vp_no_memory();
}

/* Numbers the device's groups in their order. */
static void give_slots(kind_list *l, const grouping *g, ops_workspace *r)
{
    uint32_t *v = l->group;
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t group = g->group_of[l->kind[i]];
        if (!r->seen[group])
            v[l->group_n++] = group;
        r->seen[group] = 1;
        r->sums.self_ps[l->kind[i]] = r->sums.calls[l->kind[i]] = 0;
    }
    list_marked_in_order(v, l->group_n, r->seen, g->count);
    for (uint32_t i = 0; i < l->group_n; i++)
        r->at[v[i]] = i;
    for (uint32_t i = 0; i < l->n; i++)
        r->slot_of[l->kind[i]] = r->at[g->group_of[l->kind[i]]];
}

static void take_sums(kind_list *l, const kind_times *sums)
{
    for (uint32_t i = 0; i < l->n; i++) {
        l->self_ps[i] = sums->self_ps[l->kind[i]];
        l->calls[i] = sums->calls[l->kind[i]];
    }
}

static int tally_add_kinds(tally *v, const grouping *g, const kind_list *l, const uint32_t *slot_of,
                           vp_map *seen)
{
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t k = l->kind[i], slot = slot_of[k];
        const trace_kind *kind = &g->t->kinds[k];
        tally *a = &v[slot];
        if (!a->calls)
            a->best_self = a->bytes = a->flops = VP_UNKNOWN;
        a->calls += l->calls[i];
        a->self_ps += l->self_ps[i];
        a->bytes = vp_add_known(a->bytes, vp_times_known(kind->bytes, l->calls[i]));
        a->flops = vp_add_known(a->flops, vp_times_known(kind->flops, l->calls[i]));
        if (l->self_ps[i] > a->best_self) {
            a->best_self = l->self_ps[i];
            a->best_kind = k;
        }
        uint64_t pair = (uint64_t)slot << 32 | kind->name;
        if (vp_map_get(seen, pair) == VP_MAP_NONE) {
            a->raw_names++;
            VP_TRY(vp_map_set(seen, pair, 0));
        }
    }
    return 0;
}

/* The slowest of track `at`, if only the longest of a kind have a place on the host's clock: it is
 * one of these. */
static void place_slowest(tally *v, const trace_track *k, size_t at, const uint32_t *slot_of)
{
    for (size_t i = 0; i < k->longest_n; i++) {
        const sink_longest *l = &k->longest[i];
        tally *a = &v[slot_of[l->kind]];
        if (a->slowest_track != at || a->slowest_dur != l->dur_ps ||
            a->slowest_start != l->start_ps)
            continue;
        a->slowest_start = l->aligned_start_ps;
        a->slowest_track = 0;
    }
}

static void tally_fill_durations(tally *v, int64_t *durations, const uint32_t *slot_of,
                                 track_set set)
{
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        for (size_t e = 0; e < k->count; e++) {
            tally *a = &v[slot_of[trace_kind_of(k, e)]];
            int64_t dur = trace_dur(k, e);
            a->threads += a->track != i + 1 && !k->spans;
            a->track = i + 1;
            if (!a->filled || dur > a->slowest_dur) {
                a->slowest_dur = dur;
                a->slowest_track = i + 1;
                a->slowest_start = trace_aligned_start(k, e);
            }
            durations[a->first + a->filled++] = dur;
        }
        place_slowest(v, k, i + 1, slot_of);
    }
}

static void tally_set_statistics(tally *op, int64_t *d)
{
    const size_t n = (size_t)op->calls;
    int64_t least = d[0];
    for (size_t i = 1; i < n; i++)
        least = d[i] < least ? d[i] : least;
    op->min_ps = least;
    op->stddev_ps = deviation_of(d, n);
    const size_t middle = nearest_rank(n, 50); /* which moves the greater ones after it */
    op->p50_ps = select_kth(d, n, middle);
    op->p95_ps = select_kth(d + middle, n - middle, nearest_rank(n, 95) - middle);
}

static int tell_launch(const vp_kernel_launch **out, host_result *h, const trace *t,
                       const trace_kind *k)
{
    vp_kernel_launch *l = vp_arena_alloc(&h->arena, sizeof *l);
    VP_NEED(l);
    VP_TRY(kernel_launch_of(l, &h->arena, trace_str(t, k->launch)));
    *out = l;
    return host_text(&l->tensor_cores, h, tensor_core_mark(trace_str(t, k->name)));
}

static int emit_op(host_result *h, const grouping *g, const tally *a, uint32_t group,
                   uint32_t device)
{
    const trace *t = g->t;
    const trace_kind *k = &t->kinds[a->best_kind], *place = &t->kinds[a->place.kind];
    const trace_kind *caller = &t->kinds[a->caller.kind];
    vp_op op = {.device = device,
                .op_class = (vp_op_class)g->class_of[a->best_kind],
                .calls = a->calls,
                .total_ps = a->total_ps,
                .self_ps = a->self_ps,
                .min_ps = a->min_ps,
                .max_ps = a->slowest_dur,
                .stddev_ps = a->stddev_ps,
                .p50_ps = a->p50_ps,
                .p95_ps = a->p95_ps,
                .bytes = a->bytes,
                .flops = a->flops,
                .raw_names = a->raw_names,
                .scopes = t->launches_unread ? VP_UNKNOWN : a->place.scopes,
                .sources = t->launches_unread ? VP_UNKNOWN : a->place.sources,
                .operators = a->caller.count,
                .step_self_ps = VP_UNKNOWN,
                .step_calls = VP_UNKNOWN,
                .roof = ROOF_NONE,
                .inner_ps = a->inner_ps,
                .inner_calls = a->inner_calls,
                .threads = h->has_devices ? VP_UNKNOWN : a->threads,
                .slowest_start_ps = a->slowest_start - h->origin_ps,
                .slowest_dur_ps = a->slowest_dur};
    VP_TRY(host_text(&op.category, h, category_of(t, k)));
    VP_TRY(host_text(&op.name, h, vp_intern_get(&g->names, g->label[group])));
    VP_TRY(host_text(&op.scope, h, trace_str(t, place->scope)));
    VP_TRY(host_text(&op.source, h, trace_str(t, place->source)));
    VP_TRY(host_text(&op.module, h, trace_str(t, place->module)));
    if (a->caller.count) {
        VP_TRY(host_text(&op.operator_name, h, kind_operator(t, caller, false)));
        VP_TRY(host_text(&op.outermost_name, h, trace_str(t, caller->op_outer)));
    }
    if (g->raw && k->launch)
        VP_TRY(tell_launch(&op.launch, h, t, k));
    VP_TRY(vp_grow(&h->ops, &h->op_cap, h->op_count + 1, sizeof op, SIZE_MAX / 1024));
    h->ops[h->op_count++] = op;
    return 0;
}

/* The order statistics of each group, whose sums are complete. */
static int count_durations(ops_sums *s, track_set set, ops_workspace *r)
{
    if (s->events > r->durations_cap) {
        vp_free_ptr(&r->durations);
        r->durations_cap = 0;
        r->durations = vp_realloc_array(NULL, (size_t)s->events, sizeof *r->durations);
        VP_NEED(r->durations);
        r->durations_cap = (size_t)s->events;
    }
    tally_fill_durations(s->v, r->durations, r->slot_of, set);
    for (uint32_t i = 0; i < s->times.group_n; i++)
        tally_set_statistics(&s->v[i], r->durations + s->v[i].first);
    return 0;
}

static int count_groups(ops_sums *s, const grouping *g, track_set set, ops_workspace *workspace)
{
    const uint32_t n = s->times.group_n;
    VP_CLEANUP(vp_free_ptr) group_times *totals = vp_calloc(n, sizeof *totals);
    VP_CLEANUP(vp_free_ptr) op_place *places = vp_realloc_array(NULL, n, sizeof *places);
    VP_CLEANUP(vp_free_ptr) op_operator *callers = vp_realloc_array(NULL, n, sizeof *callers);
    vp_map seen;
    s->v = vp_calloc(n, sizeof *s->v);
    VP_NEED(s->v && totals && places && callers);
    workspace->sums.crossings = 0;
    VP_TRY(self_times(&workspace->sums, totals, set, workspace->slot_of, n));
    s->crossings = workspace->sums.crossings;
    take_sums(&s->times, &workspace->sums);
    vp_map_init(&seen);
    int rc = tally_add_kinds(s->v, g, &s->times, workspace->slot_of, &seen);
    vp_map_free(&seen);
    VP_TRY(rc);
    VP_TRY(op_places(places, n, g->t, workspace->slot_of, &s->times));
    VP_TRY(op_operators(callers, n, g->t, workspace->slot_of, &s->times));
    for (uint32_t i = 0; i < n; i++) {
        s->v[i].first = (size_t)s->events;
        s->v[i].place = places[i];
        s->v[i].caller = callers[i];
        s->v[i].total_ps = totals[i].total_ps;
        s->v[i].inner_ps = totals[i].inner_ps;
        s->v[i].inner_calls = totals[i].inner_calls;
        s->events += (uint64_t)s->v[i].calls;
    }
    return count_durations(s, set, workspace);
}

int ops_count(ops_sums **out, const grouping *g, track_set set, ops_workspace *workspace)
{
    ops_sums *s = *out = vp_calloc(1, sizeof *s);
    VP_NEED(s);
    VP_TRY(list_kinds(&s->times, set, workspace));
    give_slots(&s->times, g, workspace);
    return count_groups(s, g, set, workspace);
}

static int copy_kind_list(kind_list *out, host_result *h, const kind_list *l)
{
    *out = (kind_list){.n = l->n, .group_n = l->group_n};
    if (!l->n)
        return 0;
    out->kind = vp_arena_alloc(&h->arena, l->n * sizeof *out->kind);
    out->self_ps = vp_arena_alloc(&h->arena, l->n * sizeof *out->self_ps);
    out->calls = vp_arena_alloc(&h->arena, l->n * sizeof *out->calls);
    out->group = vp_arena_alloc(&h->arena, l->group_n * sizeof *out->group);
    VP_NEED(out->kind && out->self_ps && out->calls && out->group);
    memcpy(out->kind, l->kind, l->n * sizeof *l->kind);
    memcpy(out->self_ps, l->self_ps, l->n * sizeof *l->self_ps);
    memcpy(out->calls, l->calls, l->n * sizeof *l->calls);
    memcpy(out->group, l->group, l->group_n * sizeof *l->group);
    return 0;
}

int ops_tell(host_result *h, const grouping *g, const ops_sums *s, uint32_t device,
             kind_list *times, kind_times *all)
{
    vp_device *d = &h->devices[device];
    VP_TRY(copy_kind_list(times, h, &s->times));
    for (uint32_t i = 0; i < times->n; i++) {
        all->self_ps[times->kind[i]] += times->self_ps[i];
        all->calls[times->kind[i]] += times->calls[i];
    }
    all->crossings += s->crossings;
    d->events = (int64_t)s->events;
    for (uint32_t i = 0; i < times->group_n; i++) {
        d->self_ps += s->v[i].self_ps;
        VP_TRY(emit_op(h, g, &s->v[i], times->group[i], device));
    }
    return 0;
}

/* The ops of a device are next to each other in h->ops, in the order of their groups. */
void ops_by_group_in(uint32_t *op_of, const analysis *a, uint32_t device)
{
    const device_work *w = &a->devices[device];
    for (uint32_t i = 0; i < w->times.group_n; i++)
        op_of[w->times.group[i]] = w->first_op + i;
}

const uint32_t *ops_by_group(const analysis *a, uint32_t device)
{
    ops_by_group_in(a->op_of_group, a, device);
    return a->op_of_group;
}
