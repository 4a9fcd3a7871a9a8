#include "trace/analyze/op_details.h"

#include <stdlib.h>
#include <string.h>

#include "trace/analyze/device/classify.h"
#include "trace/analyze/device/hlo_text.h"
#include "trace/analyze/device/kernel_launch.h"
#include "trace/analyze/device/op_around.h"
#include "trace/analyze/device/op_places.h"
#include "trace/analyze/device/ops.h"
#include "trace/analyze/load.h"
#include "trace/analyze/op_callers.h"
#include "trace/analyze/op_launches.h"
#include "trace/base/arena.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

/* The op to find, and the output. */
typedef struct search {
    op_details *d;
    vp_arena *arena;
    const vp_device *device; /* of the report */
    size_t ordinal;          /* index of the host's device with that name */
    const vp_op *op;         /* of the report */
    const vp_report *r;
    const analysis *a;
    const uint8_t *is_member; /* by kind */
    detail_name *names;       /* all of them */
    size_t name_count, name_cap;
    vp_map by_name;
} search;

static bool is_same_detail_text(const char *a, const char *b)
{
    return vp_str_eq(vp_str_of(a), vp_str_of(b));
}

static bool is_same_op_row(const vp_op *a, const vp_op *b)
{
    return a->op_class == b->op_class && is_same_detail_text(a->category, b->category) &&
           is_same_detail_text(a->name, b->name) && kernel_launch_same(a->launch, b->launch);
}

uint64_t op_key(const vp_op *op)
{
    uint64_t h = (uint64_t)op->op_class;
    const char *const texts[] = {op->category, op->name};
    for (size_t i = 0; i < 2; i++)
        h = vp_fingerprint(texts[i] ? texts[i] : "", texts[i] ? strlen(texts[i]) + 1 : 0, h);
    return op->launch ? kernel_launch_hash(op->launch, h) : h;
}

static bool is_device_on_host(const vp_device *d, const char *host, vp_str device)
{
    return vp_str_eq(vp_str_of(d->name), device) && (!host || is_same_detail_text(d->host, host));
}

size_t op_of_event(const vp_report *r, const char *host, vp_str device, vp_str name, bool exact)
{
    vp_buf b;
    size_t i = 0;
    vp_buf_init(&b, VP_JSON_EVENT_MAX);
    if (r->has_devices && name.n && !exact)
        cl_normalize(&b, name);
    else
        vp_buf_str(&b, name);
    for (; i < r->op_count; i++)
        if (is_device_on_host(&r->devices[r->ops[i].device], host, device) &&
            vp_str_eq(vp_str_of(r->ops[i].name), vp_buf_view(&b)))
            break;
    vp_buf_free(&b);
    return i;
}

static int copy_detail_text(const char **out, const search *s, vp_str text)
{
    *out = NULL;
    if (text.n && !(*out = vp_arena_strndup(s->arena, text.p, text.n)))
        return vp_no_memory();
    return 0;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

typedef struct call_at {
    const trace_track *track;
    size_t event;
} call_at;

static int64_t call_duration(call_at c)
{
    return trace_dur(c.track, c.event);
}

static bool is_longer_call(call_at a, call_at b)
{
    if (call_duration(a) != call_duration(b))
        return call_duration(a) > call_duration(b);
    return trace_aligned_start(a.track, a.event) < trace_aligned_start(b.track, b.event);
}

/* Stores the longest calls so far, in order. Most calls are shorter than the last of them. */
static size_t keep_longest_call(call_at *v, size_t n, call_at c)
{
    if (n == OP_CALLS_MAX && !is_longer_call(c, v[n - 1]))
        return n;
    size_t at = n < OP_CALLS_MAX ? n++ : n - 1;
    for (; at > 0 && is_longer_call(c, v[at - 1]); at--)
        v[at] = v[at - 1];
    v[at] = c;
    return n;
}

static void bin_call_duration(op_details *d, int64_t dur)
{
    int64_t span = d->max_ps - d->min_ps;
    size_t bin = span > 0 ? (size_t)((__int128)(dur - d->min_ps) * OP_BINS / span) : 0;
    d->bins[bin < OP_BINS ? bin : OP_BINS - 1]++;
}

static int put_call(detail_call *out, const search *s, call_at c)
{
    const host_result *h = s->a->h;
    const trace *t = s->a->t;
    /* from the report's times to this analysis's, by the file's own time: their origins depend on
     * what each has read */
    int64_t shift_ps = (h->timeline_ns - s->device->timeline_ns) * 1000;
    *out =
        (detail_call){.start_ps = trace_aligned_start(c.track, c.event) - h->origin_ps + shift_ps,
                      .dur_ps = call_duration(c)};
    VP_TRY(copy_detail_text(&out->name, s,
                            trace_str(t, t->kinds[trace_kind_of(c.track, c.event)].name)));
    return copy_detail_text(&out->track, s, trace_str(t, c.track->name));
}

static int find_calls(search *s, track_set set)
{
    call_at longest[OP_CALLS_MAX];
    op_details *d = s->d;
    size_t n = 0;
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        for (size_t e = 0; e < k->count; e++) {
            if (!s->is_member[trace_kind_of(k, e)])
                continue;
            bin_call_duration(d, trace_dur(k, e));
            n = keep_longest_call(longest, n, (call_at){k, e});
        }
    }
    d->calls = vp_arena_zalloc(s->arena, (n + 1) * sizeof *d->calls);
    VP_NEED(d->calls);
    for (size_t i = 0; i < n; i++)
        VP_TRY(put_call(&d->calls[i], s, longest[i]));
    d->call_count = n;
    return 0;
}

/* ---- Names ---------------------------------------------------------------------------------- */

static int new_name(search *s, const trace_kind *kind)
{
    VP_TRY(vp_grow(&s->names, &s->name_cap, s->name_count + 1, sizeof *s->names, UINT32_MAX - 1));
    s->names[s->name_count] = (detail_name){0};
    return vp_map_set(&s->by_name, kind->name, (uint32_t)s->name_count++);
}

static vp_str shape_of_kind(const trace *t, const trace_kind *k)
{
    hlo_text h;
    vp_str shape = trace_str(t, k->shape);
    return !shape.n && hlo_split(&h, trace_str(t, k->long_name)) ? h.shape : shape;
}

static int add_member_kind(search *s, uint32_t at, const kind_list *times, uint32_t *name_of)
{
    const trace_kind *kind = &s->a->t->kinds[times->kind[at]];
    if (vp_map_get(&s->by_name, kind->name) == VP_MAP_NONE)
        VP_TRY(new_name(s, kind));
    *name_of = vp_map_get(&s->by_name, kind->name);
    s->names[*name_of].calls += times->calls[at];
    s->names[*name_of].self_ps += times->self_ps[at];
    return 0;
}

static int place_name(search *s, detail_name *n, const op_place *place)
{
    const trace *t = s->a->t;
    const trace_kind *kind = &t->kinds[place->kind];
    static const char *const how[] = {[TRACE_BY_NAME] = "name", [TRACE_BY_ORDER] = "order"};
    n->scopes = place->scopes;
    n->placed = how[kind->placed];
    n->sources = place->sources;
    VP_TRY(copy_detail_text(&n->name, s, trace_str(t, kind->name)));
    if (s->device->kind == VP_DEVICE_GPU)
        VP_TRY(copy_detail_text(&n->tensor_cores, s, tensor_core_mark(trace_str(t, kind->name))));
    VP_TRY(copy_detail_text(&n->scope, s, trace_str(t, kind->scope)));
    VP_TRY(copy_detail_text(&n->source, s, trace_str(t, kind->source)));
    return copy_detail_text(&n->shape, s, shape_of_kind(t, kind));
}

static int place_names(search *s, const uint32_t *name_of, const kind_list *times)
{
    VP_CLEANUP(vp_free_ptr)
    op_place *places = vp_realloc_array(NULL, s->name_count + 1, sizeof *places);
    VP_NEED(places);
    VP_TRY(op_places(places, (uint32_t)s->name_count, s->a->t, name_of, times));
    for (size_t i = 0; i < s->name_count; i++)
        VP_TRY(place_name(s, &s->names[i], &places[i]));
    return 0;
}

static void find_longest_calls(search *s, track_set set)
{
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        for (size_t e = 0; e < k->count; e++) {
            if (!s->is_member[trace_kind_of(k, e)])
                continue;
            detail_name *n =
                &s->names[vp_map_get(&s->by_name, set.t->kinds[trace_kind_of(k, e)].name)];
            n->max_ps = trace_dur(k, e) > n->max_ps ? trace_dur(k, e) : n->max_ps;
        }
    }
}

static int by_detail_self(const void *a, const void *b)
{
    const detail_name *x = a, *y = b;
    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps ? -1 : 1;
    return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

static int find_detail_names(search *s, const device_work *w)
{
    const uint32_t kinds = s->a->t->kind_count;
    VP_CLEANUP(vp_free_ptr)
    uint32_t *name_of = vp_realloc_array(NULL, (size_t)kinds + 1, sizeof *name_of);
    VP_NEED(name_of);
    for (uint32_t i = 0; i < w->times.n; i++) {
        uint32_t k = w->times.kind[i];
        name_of[k] = UINT32_MAX;
        if (s->is_member[k])
            VP_TRY(add_member_kind(s, i, &w->times, &name_of[k]));
    }
    VP_TRY(place_names(s, name_of, &w->times));
    find_longest_calls(s, w->set);
    qsort(s->names, s->name_count, sizeof *s->names, by_detail_self);
    size_t n = s->name_count < OP_NAMES_MAX ? s->name_count : OP_NAMES_MAX;
    s->d->names = vp_arena_zalloc(s->arena, (n + 1) * sizeof *s->d->names);
    VP_NEED(s->d->names);
    memcpy(s->d->names, s->names, n * sizeof *s->names);
    s->d->name_count = n;
    s->d->more_names = s->name_count - n;
    return 0;
}

/* ---- The op in the trace -------------------------------------------------------------------- */

static bool find_detail_device(uint32_t *out, const search *s, const host_result *h)
{
    size_t seen = 0;
    for (uint32_t i = 0; i < h->device_count; i++)
        if (is_same_detail_text(h->devices[i].name, s->device->name) && seen++ == s->ordinal) {
            *out = i;
            return true;
        }
    return false;
}

static bool find_detail_op(uint32_t *out, const search *s, const host_result *h, uint32_t device)
{
    for (uint32_t i = 0; i < h->op_count; i++)
        if (h->ops[i].device == device && is_same_op_row(&h->ops[i], s->op)) {
            *out = i;
            return true;
        }
    return false;
}

static void mark_members(uint8_t *is_member, const analysis *a, uint32_t device, uint32_t op)
{
    const uint32_t *op_of_group = ops_by_group(a, device);
    const kind_list *l = &a->devices[device].times;
    for (uint32_t i = 0; i < l->n; i++)
        is_member[l->kind[i]] = op_of_group[grouping_groups(a->g)[l->kind[i]]] == op;
}

/* Nodes refer to the report's ops instead of this analysis's. */
static int find_graph(search *s, uint32_t device)
{
    op_graph *g;
    VP_TRY(op_around(&g, s->arena, s->a, device, s->is_member));
    for (size_t i = 0; g && i < g->node_count; i++) {
        const vp_op *op = g->nodes[i].op == SIZE_MAX ? NULL : &s->a->h->ops[g->nodes[i].op];
        g->nodes[i].op = SIZE_MAX;
        for (size_t k = 0; op && k < s->r->op_count; k++)
            if (s->r->ops[k].device == s->op->device && is_same_op_row(&s->r->ops[k], op))
                g->nodes[i].op = k;
    }
    s->d->graph = g;
    return 0;
}

static int look_up_op_details(void *ctx, const analysis *a)
{
    search *s = ctx;
    uint32_t device, op;
    VP_CLEANUP(vp_free_ptr) uint8_t *is_member = vp_calloc((size_t)a->t->kind_count + 1, 1);
    VP_NEED(is_member);
    if (!find_detail_device(&device, s, a->h) || !find_detail_op(&op, s, a->h, device))
        return vp_fail(VP_ENOTFOUND, "the file no longer has this op");
    mark_members(is_member, a, device, op);
    s->a = a;
    s->is_member = is_member;
    s->d->min_ps = a->h->ops[op].min_ps;
    s->d->max_ps = a->h->ops[op].max_ps;
    VP_TRY(find_calls(s, a->devices[device].set));
    VP_TRY(find_detail_names(s, &a->devices[device]));
    VP_TRY(op_launches(s->d, s->arena, a, device, is_member));
    VP_TRY(op_callers(s->d, s->arena, a, device, is_member));
    return find_graph(s, device);
}

/* ---- The door ------------------------------------------------------------------------------- */

static int read_host(search *s, const catalog *c, const cat_session *session, uint32_t host,
                     const vp_report *r, const vp_report_options *opts)
{
    host_result result;
    uint32_t used;
    load_options lo = {.group = r->group,
                       .depth = VP_DEPTH_OPS,
                       .one_step = r->step != VP_UNKNOWN,
                       .step = r->step,
                       .where = r->where,
                       .programs = true,
                       .threads = opts->jobs > 0 ? opts->jobs : vp_cpus(),
                       .progress = opts->progress,
                       .progress_ctx = opts->progress_ctx,
                       .watch = {.done = look_up_op_details, .ctx = s}};
    vp_map_init(&s->by_name);
    int rc = load_host(&result, &used, c, session, host, &lo);
    host_result_free(&result);
    vp_map_free(&s->by_name);
    vp_free(s->names);
    return rc;
}

static int host_index_of(uint32_t *out, const cat_session *s, const char *name)
{
    for (uint32_t i = 0; i < s->host_count; i++)
        if (!name || is_same_detail_text(s->hosts[i].name, name)) {
            *out = i;
            return 0;
        }
    return vp_fail(VP_ENOTFOUND, "the run no longer has this host");
}

static int new_details(op_details **out, vp_arena **arena)
{
    op_details *d = vp_calloc(1, sizeof *d);
    *arena = vp_calloc(1, sizeof **arena);
    if (!d || !*arena) {
        vp_free(d);
        vp_free(*arena);
        return vp_no_memory();
    }
    vp_arena_init(*arena);
    d->owner_ = *arena;
    *out = d;
    return 0;
}

int analyze_op(op_details **out, const catalog *c, const cat_session *s, const vp_report *r,
               size_t op, const vp_report_options *opts)
{
    static const vp_report_options defaults = VP_REPORT_OPTIONS_INIT;
    const vp_op *o = &r->ops[op];
    const vp_device *device = &r->devices[o->device];
    search look_for = {.device = device, .op = o, .r = r};
    uint32_t host = 0;
    VP_TRY(host_index_of(&host, s, device->host));
    for (const vp_device *d = r->devices; d < device; d++)
        look_for.ordinal += is_same_detail_text(d->name, device->name) &&
                            is_same_detail_text(d->host, device->host);
    VP_TRY(new_details(&look_for.d, &look_for.arena));
    int rc = read_host(&look_for, c, s, host, r, opts ? opts : &defaults);
    if (rc < 0)
        op_details_free(look_for.d);
    else
        *out = look_for.d;
    return rc;
}

void op_details_free(op_details *d)
{
    if (!d)
        return;
    vp_arena_free(d->owner_);
    vp_free(d->owner_);
    vp_free(d);
}
