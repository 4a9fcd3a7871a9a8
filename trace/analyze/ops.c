#include "trace/analyze/classify.h"
#include "trace/analyze/host.h"
#include "trace/analyze/op_places.h"

#include <math.h>
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Which group each kind belongs to; made once a trace, shared by its devices. */
struct grouping {
    const trace *t;
    vp_arena arena;
    vp_intern names;    /* of group keys and labels */
    uint32_t *group_of; /* by kind */
    uint8_t *class_of;  /* by kind */
    uint32_t count;
    vp_sid *label;   /* by group */
    uint32_t *first; /* by group: one of its kinds */
    size_t label_cap, first_cap;
};

static vp_str or_text(vp_str s, const char *otherwise)
{
    return s.n ? s : vp_str_of(otherwise);
}

/* What kind of op it is, in the producer's words: XLA:CPU tells only the opcode, a GPU kernel that
 * of its instruction. */
static vp_str category_of(const trace *t, const trace_kind *k)
{
    vp_sid said = k->category ? k->category : k->opcode ? k->opcode : k->hlo_opcode;
    return trace_str(t, said);
}

static int put_label(vp_buf *b, const trace *t, const trace_kind *k, vp_group by, bool normalize,
                     vp_op_class class)
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
    case VP_GROUP_RAW:
        return vp_buf_str(b, or_text(name, "(no name)"));
    case VP_GROUP_NAME:
        break;
    }
    return normalize && name.n ? cl_normalize(b, name) : vp_buf_str(b, or_text(name, "(no name)"));
}

/* The key is (class, category, label) where a name alone would mix different ops; the other
 * groupings are by their label alone. */
static int key_of(vp_buf *key, const trace *t, const trace_kind *k, vp_group by, vp_op_class class,
                  vp_str label)
{
    key->n = 0;
    if (by == VP_GROUP_NAME || by == VP_GROUP_RAW || by == VP_GROUP_CATEGORY) {
        vp_buf_putc(key, (char)('0' + class));
        vp_buf_str(key, trace_str(t, k->category));
    }
    vp_buf_putc(key, 0);
    return vp_buf_str(key, label);
}

static int add_group(grouping *g, vp_sid label, uint32_t kind)
{
    VP_TRY(vp_grow(&g->label, &g->label_cap, (size_t)g->count + 1, sizeof *g->label, UINT32_MAX));
    VP_TRY(vp_grow(&g->first, &g->first_cap, (size_t)g->count + 1, sizeof *g->first, UINT32_MAX));
    g->label[g->count] = label;
    g->first[g->count++] = kind;
    return 0;
}

static int assign(grouping *g, vp_map *by_key, vp_buf *label, vp_buf *key, uint32_t kind,
                  vp_group by, bool normalize)
{
    const trace_kind *k = &g->t->kinds[kind];
    vp_op_class class = cl_class(g->t, k);
    vp_sid label_id, key_id;
    label->n = 0;
    VP_TRY(put_label(label, g->t, k, by, normalize, class));
    VP_TRY(vp_intern_put(&g->names, vp_buf_view(label), &label_id));
    VP_TRY(key_of(key, g->t, k, by, class, vp_buf_view(label)));
    VP_TRY(vp_intern_put(&g->names, vp_buf_view(key), &key_id));
    uint32_t group = vp_map_get(by_key, key_id);
    if (group == VP_MAP_NONE) {
        group = g->count;
        VP_TRY(add_group(g, label_id, kind));
        VP_TRY(vp_map_set(by_key, key_id, group));
    }
    g->group_of[kind] = group;
    g->class_of[kind] = (uint8_t) class;
    return 0;
}

int grouping_new(grouping **out, const trace *t, vp_group by, bool normalize)
{
    vp_map by_key;
    vp_buf label, key;
    grouping *g = vp_calloc(1, sizeof *g);
    if (!g)
        return vp_fail(VP_ENOMEM, "out of memory");
    g->t = t;
    vp_arena_init(&g->arena);
    vp_map_init(&by_key);
    vp_buf_init(&label, SIZE_MAX / 8);
    vp_buf_init(&key, SIZE_MAX / 8);
    g->group_of = vp_calloc(t->kind_count, sizeof *g->group_of);
    g->class_of = vp_calloc(t->kind_count, sizeof *g->class_of);
    int rc = vp_intern_init(&g->names, &g->arena);
    if (!g->group_of || !g->class_of)
        rc = vp_fail(VP_ENOMEM, "out of memory");
    for (uint32_t k = 0; rc >= 0 && k < t->kind_count; k++)
        rc = assign(g, &by_key, &label, &key, k, by, normalize);
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
    vp_free(g->label);
    vp_free(g->first);
    vp_free(g);
}

const uint8_t *grouping_classes(const grouping *g)
{
    return g->class_of;
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

/* What one group of one device adds up to. */
typedef struct tally {
    int64_t calls, self_ps, total_ps, inner_ps, bytes, flops;
    int64_t threads;
    size_t track; /* the last of those, plus 1 */
    int64_t slowest_dur, slowest_start;
    int64_t raw_names, best_self; /* best_self: of the kind that stands for the group */
    uint32_t best_kind;
    op_place place;
    size_t first; /* of its durations in the shared array */
    size_t filled;
} tally;

static int add_kinds(tally *v, const grouping *g, const kind_times *kt, vp_map *seen)
{
    for (uint32_t k = 0; k < g->t->kind_count; k++) {
        const trace_kind *kind = &g->t->kinds[k];
        uint32_t group = g->group_of[k];
        tally *a = &v[group];
        if (!kt->calls[k])
            continue;
        if (!a->calls)
            a->best_self = a->bytes = a->flops = VP_UNKNOWN;
        a->calls += kt->calls[k];
        a->self_ps += kt->self_ps[k];
        if (kind->bytes >= 0)
            a->bytes = (a->bytes < 0 ? 0 : a->bytes) + kind->bytes * kt->calls[k];
        if (kind->flops >= 0)
            a->flops = (a->flops < 0 ? 0 : a->flops) + kind->flops * kt->calls[k];
        if (kt->self_ps[k] > a->best_self) {
            a->best_self = kt->self_ps[k];
            a->best_kind = k;
        }
        uint64_t pair = (uint64_t)group << 32 | kind->name;
        if (vp_map_get(seen, pair) == VP_MAP_NONE) {
            a->raw_names++;
            VP_TRY(vp_map_set(seen, pair, 0));
        }
    }
    return 0;
}

static void fill_durations(tally *v, int64_t *durations, const grouping *g, track_set set)
{
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        for (size_t e = 0; e < k->count; e++) {
            tally *a = &v[g->group_of[k->kind[e]]];
            int64_t dur = k->dur_ps[e];
            a->threads += a->track != i + 1 && !k->spans;
            a->track = i + 1;
            if (!a->filled || dur > a->slowest_dur) {
                a->slowest_dur = dur;
                a->slowest_start = k->aligned_start_ps ? k->aligned_start_ps[e] : k->start_ps[e];
            }
            durations[a->first + a->filled++] = dur;
        }
    }
}

/* Population standard deviation by n Σd² − (Σd)², exact in 128 bits (10^9 calls of an hour each),
 * so that the order of events makes no difference; beyond that in long double. */
double deviation_of(const int64_t *d, size_t n)
{
    unsigned __int128 squares = 0, sum = 0, scaled;
    bool exact = true;
    for (size_t i = 0; i < n; i++) {
        unsigned __int128 x = (unsigned __int128)d[i];
        sum += x;
        exact = exact && !__builtin_add_overflow(squares, x * x, &squares);
    }
    exact = exact && sum < (unsigned __int128)1 << 63 &&
            !__builtin_mul_overflow(squares, (unsigned __int128)n, &scaled);
    if (exact)
        return (double)(sqrtl((long double)(scaled - sum * sum)) / (long double)n);
    long double mean = (long double)sum / (long double)n, variance = 0;
    for (size_t i = 0; i < n; i++)
        variance += ((long double)d[i] - mean) * ((long double)d[i] - mean);
    return (double)sqrtl(variance / (long double)n);
}

static void statistics(vp_op *op, int64_t *d, size_t n)
{
    int64_t least = d[0];
    for (size_t i = 1; i < n; i++)
        least = d[i] < least ? d[i] : least;
    op->min_ps = least;
    op->stddev_ps = deviation_of(d, n);
    op->p50_ps = select_kth(d, n, nearest_rank(n, 50));
    op->p95_ps = select_kth(d, n, nearest_rank(n, 95));
}

static int emit_op(host_result *h, const grouping *g, const tally *a, uint32_t group,
                   uint32_t device, int64_t *durations)
{
    const trace *t = g->t;
    const trace_kind *k = &t->kinds[a->best_kind], *place = &t->kinds[a->place.kind];
    vp_op op = {.device = device,
                .op_class = (vp_op_class)g->class_of[a->best_kind],
                .calls = a->calls,
                .total_ps = a->total_ps,
                .self_ps = a->self_ps,
                .max_ps = a->slowest_dur,
                .bytes = a->bytes,
                .flops = a->flops,
                .raw_names = a->raw_names,
                .scopes = a->place.scopes,
                .sources = a->place.sources,
                .step_self_ps = VP_UNKNOWN,
                .inner_ps = a->inner_ps,
                .threads = h->has_devices ? VP_UNKNOWN : a->threads,
                .slowest_start_ps = a->slowest_start - h->origin_ps,
                .slowest_dur_ps = a->slowest_dur};
    VP_TRY(host_text(&op.category, h, category_of(t, k)));
    VP_TRY(host_text(&op.name, h, vp_intern_get(&g->names, g->label[group])));
    VP_TRY(host_text(&op.scope, h, trace_str(t, place->scope)));
    VP_TRY(host_text(&op.source, h, trace_str(t, place->source)));
    VP_TRY(host_text(&op.module, h, trace_str(t, place->module)));
    statistics(&op, durations + a->first, (size_t)a->calls);
    VP_TRY(vp_grow(&h->ops, &h->op_cap, h->op_count + 1, sizeof op, SIZE_MAX / 1024));
    h->ops[h->op_count++] = op;
    return 0;
}

static int tally_device(host_result *h, const grouping *g, track_set set, uint32_t device,
                        kind_times *kt, tally *v, group_times *totals)
{
    vp_map seen;
    size_t events = 0;
    vp_map_init(&seen);
    VP_TRY(self_times(kt, totals, set, g->group_of, g->count));
    int rc = add_kinds(v, g, kt, &seen);
    vp_map_free(&seen);
    VP_TRY(rc);
    VP_CLEANUP(vp_free_ptr)
    op_place *places = vp_realloc_array(NULL, (size_t)g->count + 1, sizeof *places);
    if (!places)
        return vp_fail(VP_ENOMEM, "out of memory");
    VP_TRY(op_places(places, g->count, g->t, g->group_of, kt));
    for (uint32_t i = 0; i < g->count; i++) {
        v[i].first = events;
        v[i].place = places[i];
        v[i].total_ps = totals[i].total_ps;
        v[i].inner_ps = totals[i].inner_ps;
        events += (size_t)v[i].calls;
        h->devices[device].self_ps += v[i].self_ps;
    }
    h->devices[device].events = (int64_t)events;
    VP_CLEANUP(vp_free_ptr) int64_t *durations = vp_realloc_array(NULL, events, sizeof *durations);
    if (!durations)
        return vp_fail(VP_ENOMEM, "out of memory");
    fill_durations(v, durations, g, set);
    for (uint32_t i = 0; i < g->count; i++)
        if (v[i].calls)
            VP_TRY(emit_op(h, g, &v[i], i, device, durations));
    return 0;
}

int ops_of_device(host_result *h, const grouping *g, track_set set, uint32_t device, kind_times *kt)
{
    VP_CLEANUP(vp_free_ptr) tally *v = vp_calloc(g->count, sizeof *v);
    VP_CLEANUP(vp_free_ptr) group_times *totals = vp_calloc(g->count, sizeof *totals);
    if (!v || !totals)
        return vp_fail(VP_ENOMEM, "out of memory");
    return tally_device(h, g, set, device, kt, v, totals);
}

/* A device's ops stand together in the order of their groups. */
int ops_by_group(uint32_t **out, const analysis *a, uint32_t device)
{
    const host_result *h = a->h;
    const int64_t *calls = a->devices[device].times->calls;
    uint32_t op = 0, *v = vp_realloc_array(NULL, (size_t)a->g->count + 1, sizeof *v);
    if (!v)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < a->g->count; i++)
        v[i] = UINT32_MAX;
    for (uint32_t k = 0; k < a->t->kind_count; k++)
        if (calls[k])
            v[a->g->group_of[k]] = 0;
    while (op < h->op_count && h->ops[op].device != device)
        op++;
    for (uint32_t i = 0; i < a->g->count; i++)
        if (v[i] != UINT32_MAX)
            v[i] = op++;
    *out = v;
    return 0;
}
